/* Manual pages: every command has one with all its options, every key stands in mfpg-config, and those who read pages find
 * nothing wrong with them. */
#include "cli/program.h"

#include "mfpg/config.h"

static const char *const commands[] = {
#define COMMAND(name, help) #name,
#include "../../cli/commands.def"
#undef COMMAND
};

enum { COMMANDS = sizeof commands / sizeof commands[0] };

/* As text without its escapes: fonts, and signs by name. */
static void plain(char *text) {
    char *to = text;
    for (const char *at = text; *at; at++) {
        if (*at != '\\') {
            *to++ = *at;
        } else if (at[1] == 'f') {
            at += 2;
        } else if (at[1] == '-') {
            *to++ = *++at;
        } else if (at[1] == '(') {
            *to++ = strncmp(at + 2, "aq", 2) == 0 ? '\'' : strncmp(at + 2, "ha", 2) == 0 ? '^' : '~';
            at += 3;
        } else if (at[1] == 'e') {
            *to++ = '\\';
            at++;
        }
    }
    *to = 0;
}

/* Every --option that the help names stands in the page, and the other way round as often. */
static void test_every_option_of_every_command_is_in_its_page(void **state) {
    (void)state;
    for (int i = 0; i < COMMANDS; i++) {
        char arguments[64], page[1 << 16];
        int options = 0;
        snprintf(arguments, sizeof arguments, "man %s", commands[i]);
        expect(arguments, 0);
        assert_true(strlen(ran.out) < sizeof page);
        strcpy(page, ran.out);
        plain(page);
        assert_memory_equal(page, ".TH MFPG-", 9);
        assert_non_null(strstr(page, ".SH SYNOPSIS"));
        assert_non_null(strstr(page, ".SH EXIT STATUS"));
        snprintf(arguments, sizeof arguments, "%s --help", commands[i]);
        expect(arguments, 0);
        for (const char *at = ran.out; (at = strstr(at, "--")); at += 2) {
            const char *line = at;
            char name[64];
            while (line > ran.out && line[-1] != '\n') line--;
            size_t length = strspn(at + 2, "abcdefghijklmnopqrstuvwxyz-");
            if (strspn(line, " -?,abcdefghijklmnopqrstuvwxyz=DIRNFLE") < (size_t)(at - line) || at - line > 8)
                continue; /* in prose */
            snprintf(name, sizeof name, "--%.*s", (int)length, at + 2);
            if (!strstr(page, name)) fail_msg("mfpg man %s: no %s", commands[i], name);
            options++;
        }
        assert_true(options >= 2); /* --json and --help */
    }
}

static void test_every_key_is_in_the_page_of_the_configuration(void **state) {
    (void)state;
    char page[1 << 17];
    const mfpg_options *keys = mfpg_config_options();
    expect("man config", 0);
    assert_true(strlen(ran.out) < sizeof page);
    strcpy(page, ran.out);
    plain(page);
    for (ptrdiff_t i = 0; i < keys->count; i++) {
        const mfpg_option *key = &keys->option[i];
        char line[128], allowed[512];
        snprintf(line, sizeof line, ".TP\n%s\n", key->name);
        const char *found = strstr(page, line);
        if (!found) fail_msg("no %s", key->name);
        assert_non_null(strstr(found, key->help));
        assert_non_null(strstr(found, mfpg_option_allowed(key, allowed, sizeof allowed)));
    }
}

/* Every page is given to a command that prints what is wrong with it. */
static void lint_pages(const char *lint) {
    const char *pages[COMMANDS + 2] = {"", "config"};
    for (int i = 0; i < COMMANDS; i++) pages[i + 2] = commands[i];
    for (int i = 0; i < COMMANDS + 2; i++) {
        char command[1024];
        snprintf(command, sizeof command,
            "'%s' man %s | %s >%s/said; test ! -s %s/said || { cat %s/said; false; }", MFPG_PROGRAM, pages[i],
            lint, folder, folder, folder);
        if (system(command) != 0) fail_msg("mfpg man %s is not right for %s", pages[i], lint);
    }
    remove_from_folder("said");
}

/* man formats pages by groff. */
static void test_groff_finds_nothing_wrong(void **state) {
    (void)state;
    need_program("groff", "groff-base");
    lint_pages("groff -man -Kutf8 -Tutf8 -ww -z - 2>&1");
}

/* A page without a date is as it should be. */
static void test_mandoc_finds_nothing_wrong(void **state) {
    (void)state;
    need_program("mandoc", "mandoc");
    lint_pages("mandoc -T lint -W warning 2>&1 | grep -v 'missing date'");
}

static void test_wrong_pages_are_refused(void **state) {
    (void)state;
    REFUSED("man rnu", "unknown page \"rnu\", did you mean \"run\"?", "config");
    REFUSED("man run list", "one page at a time");
    expect("man", 0);
    for (int i = 0; i < COMMANDS; i++) assert_non_null(strstr(ran.out, commands[i]));
    json_t *object = run_json("man --json");
    assert_int_equal(json_array_size(json_object_get(object, "pages")), COMMANDS + 2);
    json_decref(object);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(
            test_every_option_of_every_command_is_in_its_page, open_folder, close_folder),
        cmocka_unit_test_setup_teardown(
            test_every_key_is_in_the_page_of_the_configuration, open_folder, close_folder),
        cmocka_unit_test_setup_teardown(test_groff_finds_nothing_wrong, open_folder, close_folder),
        cmocka_unit_test_setup_teardown(test_mandoc_finds_nothing_wrong, open_folder, close_folder),
        cmocka_unit_test_setup_teardown(test_wrong_pages_are_refused, open_folder, close_folder),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
