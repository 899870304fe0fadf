/* mfpg report and mfpg compare as people type them. */
#include "cli/program.h"

#define CONFIG                                                                                               \
    "seed: 3\nmethod: mfpg\nprivacy: {unit: example}\ndata: {format: synthetic, clients: 2, rows: 20, "      \
    "dimension: 2}\n"                                                                                        \
    "train: {rounds: 2}\ngame: {actions: [0.5, 1], curvature: 1}\n"

static int open_runs(void **state) {
    if (open_folder(state) != 0) return -1;
    write_in_folder("c.yaml", CONFIG);
    expect("run c.yaml --out a", 0);
    if (!strstr(ran.out, "Written to a; as a page: mfpg report a\n")) return -1;
    expect("run c.yaml method=mfep noise.action=3 --out b", 0);
    expect("run c.yaml seed=1..2 --out s", 0);
    return 0;
}

static int close_runs(void **state) {
    char command[128];
    snprintf(command, sizeof command, "rm -r %s/*", folder);
    return system(command) || close_folder(state);
}

static int is_in_folder(const char *name) {
    char path[256];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return access(path, F_OK) == 0;
}

static void expect_out(const char *part) {
    if (!strstr(ran.out, part)) fail_msg("no '%s' in:\n%s", part, ran.out);
}

/* Where programs are not found, none draws for seconds. Returns what to give back. */
static char *hide_gnuplot(void) {
    char *path = strdup(getenv("PATH"));
    setenv("PATH", "/nowhere", 1);
    return path;
}

static void show_gnuplot(char *path) {
    setenv("PATH", path, 1);
    free(path);
}

static void test_a_page_goes_where_it_is_expected(void **state) {
    (void)state;
    char *path = hide_gnuplot();
    expect("report a", 0);
    assert_int_equal(strncmp(ran.out, "Written to a/report.html\n", 25), 0);
    assert_true(is_in_folder("a/report.html"));
    expect("report a b s", 0);
    assert_true(is_in_folder("report.html"));
    json_t *object = run_json("report s --out deep/er --json");
    assert_string_equal(json_string_value(json_object_get(object, "report")), "deep/er/report.html");
    assert_true(is_in_folder("deep/er/report.html"));
    json_decref(object);
    expect("report ./a/", 0); /* a page beside a run does not keep it from being read again */
    show_gnuplot(path);
}

/* With gnuplot there are three pictures of each figure. */
static void test_gnuplot_draws_the_figures(void **state) {
    (void)state;
    need_program("gnuplot", "gnuplot-nox");
    expect("report b --out drawn", 0);
    assert_true(is_in_folder("drawn/figures/loss.csv"));
    assert_true(is_in_folder("drawn/figures/loss.svg"));
    assert_true(is_in_folder("drawn/figures/loss.png"));
    assert_true(is_in_folder("drawn/figures/loss.pdf"));
    expect_out("Figures as SVG, PNG and PDF: drawn/figures\n");
    assert_string_equal(ran.err, "");
}

/* Without gnuplot a message says what is missing; data and scripts are written all the same. */
static void test_figures_without_gnuplot_are_data_and_scripts(void **state) {
    (void)state;
    char *path = hide_gnuplot();
    expect("report b --out bare", 0);
    show_gnuplot(path);
    assert_string_equal(ran.out, "Written to bare/report.html\n");
    assert_non_null(strstr(ran.err, "gnuplot is not installed (Debian: gnuplot-nox)"));
    assert_true(is_in_folder("bare/figures/loss.csv"));
    assert_true(is_in_folder("bare/figures/loss.gp"));
    assert_false(is_in_folder("bare/figures/loss.svg"));
}

static void test_what_is_no_run_is_refused(void **state) {
    (void)state;
    REFUSED("report", "a run folder is needed");
    REFUSED("report c.yaml", "c.yaml: a file; expected a run folder");
    REFUSED("report nowhere", "nowhere: No such file or directory");
    REFUSED("report a --output x", "unrecognized option '--output'");
    REFUSED("compare a", "two run folders are needed");
    REFUSED("compare a b s", "two runs at a time");
    REFUSED("compare a nowhere", "nowhere");
}

static void test_two_runs_stand_side_by_side(void **state) {
    (void)state;
    expect("compare a b", 0);
    expect_out("Configuration: the keys that differ\n");
    expect_out("\n  method                      mfpg                      mfep\n");
    expect_out("\n  noise.action                nothing                   3\n");
    assert_null(strstr(ran.out, "train.rounds"));
    expect_out("\n  largest epsilon (nats)");
    expect_out("not covered by any certificate");
    assert_null(strchr(ran.out, '\033')); /* no terminal, no colours */
    expect("compare a a", 0);
    expect_out("Configuration: all keys are the same\n");
    expect("compare a s", 0);
    expect_out("\n  seeds (runs)                1                         2\n");
}

/* Writes a number into the game of a run's summary. */
static void set_mean_action(const char *run, double value) {
    char path[300];
    snprintf(path, sizeof path, "%s/%s/summary.json", folder, run);
    json_t *summary = json_load_file(path, 0, NULL);
    assert_non_null(summary);
    json_object_set_new(json_object_get(summary, "game"), "mean_action", json_real(value));
    assert_int_equal(json_dump_file(summary, path, 0), 0);
    json_decref(summary);
}

/* Six digits, and as many more as it takes to tell two numbers apart. */
static void test_numbers_have_the_digits_in_which_they_differ(void **state) {
    (void)state;
    set_mean_action("s/seed-1", 0.123456781);
    set_mean_action("s/seed-2", 0.123456789);
    expect("compare s/seed-1 s/seed-2", 0);
    expect_out("\n  mean action (no unit)       0.12345678                0.12345679\n");
    expect("compare s/seed-1 s/seed-1", 0);
    expect_out("\n  mean action (no unit)       0.123457                  0.123457\n");
}

/* A run that was interrupted keeps its checkpoint, with the key of the noise in it; one line names each. */
static void test_a_checkpoint_that_is_left_is_warned_of(void **state) {
    (void)state;
    char *path = hide_gnuplot();
    expect("report a s --out quiet", 0);
    assert_null(strstr(ran.err, "key of the noise"));
    write_in_folder("a/checkpoint", "");
    write_in_folder("s/seed-2/checkpoint", "");
    expect("report a s --out warned", 0);
    assert_non_null(strstr(ran.err, "mfpg: warning: a/checkpoint: holds the key of the noise"));
    assert_non_null(strstr(ran.err, "mfpg: warning: s/seed-2/checkpoint: holds the key of the noise"));
    assert_null(strstr(ran.err, "seed-1/"));
    expect("compare b a", 0);
    assert_non_null(strstr(ran.err, "warning: a/checkpoint: holds the key of the noise"));
    expect("compare b b", 0);
    assert_string_equal(ran.err, "");
    remove_from_folder("a/checkpoint");
    remove_from_folder("s/seed-2/checkpoint");
    show_gnuplot(path);
}

/* The numbers are the files' own, and the difference has a sign. */
static void test_json_holds_the_numbers_of_the_files(void **state) {
    (void)state;
    json_t *object = run_json("compare a b --json");
    const json_t *client = json_array_get(json_object_get(object, "clients"), 1);
    char path[256];
    json_error_t error;
    snprintf(path, sizeof path, "%s/a/summary.json", folder);
    json_t *summary = json_load_file(path, 0, &error);
    assert_non_null(summary);
    const json_t *own = json_array_get(json_object_get(summary, "clients"), 1);
    assert_true(json_number_value(json_array_get(json_object_get(client, "epsilon"), 0)) ==
                json_get_number(own, "epsilon"));
    assert_string_equal(json_string_value(json_object_get(client, "name")), "1");
    assert_true(json_is_true(json_object_get(object, "comparable")));
    assert_int_equal(json_array_size(json_object_get(object, "runs")), 2);
    json_decref(summary);
    json_decref(object);
}

/* What the delta of one run is says nothing about the epsilon of another. */
static void test_promises_that_differ_are_not_compared(void **state) {
    (void)state;
    expect("run c.yaml privacy.delta=1e-6 --out d", 0);
    expect("run c.yaml method=none --out n", 0);
    expect("compare a d", 0);
    expect_out("Not comparable: delta differs");
    expect("compare a n", 0);
    expect_out("Not comparable: one of the runs promises nothing");
}

/* script gives the program a terminal. */
static int run_on_terminal(const char *environment) {
    char command[1024];
    snprintf(command, sizeof command,
        "cd %s && %s script -qec \"'%s' compare a b\" /dev/null >%s.out 2>%s.err </dev/null", folder,
        environment, MFPG_PROGRAM, folder, folder);
    int status = system(command);
    read_into("out", ran.out);
    read_into("err", ran.err);
    return WEXITSTATUS(status);
}

static void test_colours_are_for_terminals_alone(void **state) {
    (void)state;
    need_program("script", "bsdutils");
    assert_int_equal(run_on_terminal("env -u NO_COLOR TERM=xterm"), 0);
    expect_out("\033[32m");
    assert_int_equal(run_on_terminal("env NO_COLOR=1 TERM=xterm"), 0);
    assert_null(strchr(ran.out, '\033'));
    assert_int_equal(run_on_terminal("env -u NO_COLOR TERM=dumb"), 0);
    assert_null(strchr(ran.out, '\033'));
}

/* A name that would command the terminal is shown, not sent. */
static void test_a_hostile_name_commands_no_terminal(void **state) {
    (void)state;
    char command[1024];
    snprintf(command, sizeof command,
        "cd %s && cp -r a evil && sed -i '0,/\"name\": \"0\"/s//\"name\": \"\\\\u001b[2Jx\"/' "
        "evil/summary.json",
        folder);
    assert_int_equal(system(command), 0);
    expect("compare evil a", 0);
    assert_null(strchr(ran.out, '\033'));
    expect_out("\\x1b[2Jx");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_page_goes_where_it_is_expected),
        cmocka_unit_test(test_gnuplot_draws_the_figures),
        cmocka_unit_test(test_figures_without_gnuplot_are_data_and_scripts),
        cmocka_unit_test(test_what_is_no_run_is_refused),
        cmocka_unit_test(test_two_runs_stand_side_by_side),
        cmocka_unit_test(test_numbers_have_the_digits_in_which_they_differ),
        cmocka_unit_test(test_a_checkpoint_that_is_left_is_warned_of),
        cmocka_unit_test(test_json_holds_the_numbers_of_the_files),
        cmocka_unit_test(test_promises_that_differ_are_not_compared),
        cmocka_unit_test(test_colours_are_for_terminals_alone),
        cmocka_unit_test(test_a_hostile_name_commands_no_terminal),
    };
    return cmocka_run_group_tests(tests, open_runs, close_runs);
}
