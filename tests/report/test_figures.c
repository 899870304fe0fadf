/* The charts of a report as files: the numbers of the run, and scripts that hold no text of a run. */
#include "report/runs.h"

#include <unistd.h>

static void report(const char *name) {
    char folder[512];
    snprintf(folder, sizeof folder, "%s/%s", place, name);
    const char *run = folder;
    CHECK_OK(ctx, mfpg_report_write(ctx, &run, 1, NULL, NULL));
}

static void expect_line(const char *text, const char *line) {
    if (!strstr(text, line)) fail_msg("no '%s' in\n%s", line, text);
}

static void test_tables_hold_the_numbers_of_the_run(void **state) {
    (void)state;
    train(SMALL_RUN, NULL, "a");
    report("a");
    char *rounds = read_text("a/rounds.csv"), *figure = read_text("a/figures/loss.csv"), expected[128],
         loss[64];
    assert_int_equal(strncmp(figure, "round,loss (mean over rows)\n", 28), 0);
    for (int t = 1; t <= 3; t++) {
        char start[8];
        snprintf(start, sizeof start, "\n%d,", t);
        assert_int_equal(sscanf(strstr(rounds, start) + 3, "%63[^,]", loss), 1);
        snprintf(expected, sizeof expected, "\n%d,%s\n", t, loss);
        expect_line(figure, expected);
    }
    free(rounds);
    free(figure);
    char *script = read_text("a/figures/loss.gp"), *all = read_text("a/figures/figures.gp");
    expect_line(script, "name = 'loss'\n");
    expect_line(script, "file using 1:2 with lines ls 1 title columnheader(2)");
    expect_line(all, "load 'loss.gp'\n");
    expect_line(all, "load 'preference-against-action.gp'\n");
    free(script);
    free(all);
    assert_int_equal(access(in_place("a/figures/style.gp"), R_OK), 0);
}

/* What gnuplot would run must hold no name, whatever it is called: a backquote in double quotes is a command
 * of the shell. */
static void test_no_text_of_a_run_is_in_a_script(void **state) {
    (void)state;
    train(SMALL_RUN, NULL, "evil");
    change("evil/summary.json", "\"name\": \"0\"", "\"name\": \"`touch x`'; system('touch y')\"");
    report("evil");
    char command[1024];
    snprintf(command, sizeof command, "grep -l touch %s/evil/figures/*.gp", place);
    assert_int_not_equal(system(command), 0);
    char *table = read_text("evil/figures/epsilon-of-each-client.csv");
    expect_line(table, "\n`touch x`'; system('touch y'),0,");
    free(table);
}

/* A run folder of somebody else may hold links to what is not theirs. */
static void test_links_in_a_run_folder_are_not_followed(void **state) {
    (void)state;
    train(SMALL_RUN, NULL, "l");
    write_file(in_place("mine"), "mine");
    const char *run = in_place("l");
    char folder[512];
    snprintf(folder, sizeof folder, "%s", run);
    run = folder;
    assert_int_equal(symlink(in_place("mine"), in_place("l/report.html")), 0);
    assert_int_equal(mfpg_report_write(ctx, &run, 1, NULL, NULL), MFPG_ERR_INPUT);
    MESSAGE_HOLDS("l/report.html", "symbolic link", "--out");
    assert_int_equal(remove(in_place("l/report.html")), 0);
    assert_int_equal(mkdir(in_place("l/figures"), 0777), 0);
    assert_int_equal(symlink(in_place("mine"), in_place("l/figures/loss.svg")), 0);
    assert_int_equal(mfpg_report_write(ctx, &run, 1, NULL, NULL), MFPG_ERR_INPUT);
    MESSAGE_HOLDS("l/figures/loss.svg", "symbolic link");
    char *text = read_text("mine");
    assert_string_equal(text, "mine");
    free(text);
}

/* Epsilons of infinity are no figure; their table is there all the same. */
static void test_a_chart_without_numbers_has_no_script(void **state) {
    (void)state;
    train(SMALL_RUN, "method=none", "none");
    report("none");
    assert_int_equal(access(in_place("none/figures/loss.gp"), R_OK), 0);
    assert_int_equal(access(in_place("none/figures/epsilon.csv"), R_OK), 0);
    assert_int_equal(access(in_place("none/figures/epsilon.gp"), R_OK), -1);
}

static int is_there(const char *name) {
    return access(in_place(name), F_OK) == 0;
}

/* Charts of an earlier page go with their pictures; files of somebody else stay, also if a list that somebody
 * else wrote names them. */
static void test_charts_of_an_earlier_page_are_removed(void **state) {
    (void)state;
    train(SMALL_RUN, NULL, "old");
    report("old");
    write_file(in_place("old/figures/accuracy.svg"), "");
    write_file(in_place("old/figures/mine.svg"), "");
    write_file(in_place("old/kept.svg"), "");
    change("old/figures/figures.gp", "reset\n",
        "load '../kept.gp'\n# ../kept: x\nload 'kept\nload '.gp'\nmine.svg\n# mine\nreset\n");
    FILE *file = fopen(in_place("old/rounds.csv"), "w");
    assert_non_null(file);
    fputs(
        "round,loss,accuracy,mean_action,noise_to_signal,epsilon,paper_epsilon,paper_delta,metrics\n", file);
    for (int t = 1; t <= 3; t++) fprintf(file, "%d,0.5,,1,2,inf,4,0.5,x\n", t);
    assert_int_equal(fclose(file), 0);
    assert_true(is_there("old/figures/accuracy.gp"));
    report("old");
    assert_false(is_there("old/figures/accuracy.csv"));
    assert_false(is_there("old/figures/accuracy.gp"));
    assert_false(is_there("old/figures/accuracy.svg"));
    assert_true(is_there("old/figures/loss.gp"));
    assert_true(is_there("old/figures/mine.svg"));
    assert_true(is_there("old/kept.svg"));
    change("old/rounds.csv", "1,0.5,", "1,,");
    change("old/rounds.csv", "2,0.5,", "2,,");
    change("old/rounds.csv", "3,0.5,", "3,,");
    report("old"); /* nor does a table without a script stay behind */
    assert_false(is_there("old/figures/loss.csv"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_tables_hold_the_numbers_of_the_run),
        cmocka_unit_test(test_no_text_of_a_run_is_in_a_script),
        cmocka_unit_test(test_links_in_a_run_folder_are_not_followed),
        cmocka_unit_test(test_charts_of_an_earlier_page_are_removed),
        cmocka_unit_test(test_a_chart_without_numbers_has_no_script),
    };
    return cmocka_run_group_tests(tests, open_place, close_place);
}
