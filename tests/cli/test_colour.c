/* Colours: on a terminal, and nowhere else. */
#include "cli/terminal.h"

static void show(const char *kind, const char *const *arguments) {
    char *argv[8] = {(char[]){"mfpg"}};
    for (int i = 0; arguments[i]; i++) argv[i + 1] = strdup(arguments[i]);
    terminal_open(argv, kind);
    terminal_close();
    for (int i = 1; argv[i]; i++) free(argv[i]);
    assert_true(screen.length > 0);
}
#define SHOWN(kind, ...) show(kind, (const char *const[]){__VA_ARGS__, NULL})

static int coloured(void) {
    return strchr(screen.out, '\033') != NULL;
}

static void test_a_terminal_shows_colours(void **state) {
    (void)state;
    unsetenv("NO_COLOR");
    SHOWN("xterm", "--help");
    assert_non_null(strstr(screen.out, "\033[1mCommands\033[0m"));
    SHOWN("xterm", "lits");
    assert_non_null(strstr(screen.out, "\033[1;31mmfpg:\033[0m unknown command"));
    SHOWN("xterm", "list", "models");
    assert_non_null(strstr(screen.out, "\033[1mmodels\033[0m"));
    SHOWN("xterm", "account", "--steps", "x");
    assert_non_null(strstr(screen.out, "\033[1;31mmfpg account:\033[0m --steps"));
    SHOWN("xterm", "run", "clincs");
    assert_non_null(strstr(screen.out, "\033[1;31mmfpg run:\033[0m clincs"));
    setenv("NO_COLOR", "", 1); /* empty counts as absent (no-color.org) */
    SHOWN("xterm", "--help");
    assert_true(coloured());
    unsetenv("NO_COLOR");
}

static void test_nobody_else_does(void **state) {
    (void)state;
    SHOWN("dumb", "--help");
    assert_false(coloured());
    SHOWN("", "lits");
    assert_false(coloured());
    setenv("NO_COLOR", "1", 1);
    SHOWN("xterm", "--help");
    assert_false(coloured());
    SHOWN("xterm", "run", "clincs");
    assert_false(coloured());
    unsetenv("NO_COLOR");
    setenv("TERM", "xterm", 1);
    REFUSED("run clincs", "mfpg run: clincs"); /* a file */
    assert_null(strchr(ran.err, '\033'));
    expect("list", 0);
    assert_null(strchr(ran.out, '\033'));
}

/* The bar that is drawn over itself is for terminals that can; others get lines. */
static void test_progress_is_drawn_where_it_can_be(void **state) {
    (void)state;
    SHOWN("xterm", "run", "clinics", "train.rounds=2", "--out", "a");
    assert_non_null(strstr(screen.out, "\r\033[K["));
    SHOWN("dumb", "run", "clinics", "train.rounds=2", "--out", "b");
    assert_false(coloured());
    assert_non_null(strstr(screen.out, "2/2  loss"));
    char command[256];
    snprintf(command, sizeof command, "rm -r %s/a %s/b", folder, folder);
    assert_int_equal(system(command), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_a_terminal_shows_colours, open_folder, close_folder),
        cmocka_unit_test_setup_teardown(test_nobody_else_does, open_folder, close_folder),
        cmocka_unit_test_setup_teardown(test_progress_is_drawn_where_it_can_be, open_folder, close_folder),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
