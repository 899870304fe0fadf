/* mfpg report: report.json, and the tables for readers without scripts, hold what the files hold, no matter
 * who wrote them. What the page makes of it is tested in a browser: tests/scripts/test_report.py. */
#include "report/runs.h"

/* Every cell of a CSV file but those of a column of words is in a cell of the page. */
static void expect_cells(const char *page, const char *file) {
    char *text = read_text(file), *row = strchr(text, '\n') + 1, cell[160];
    for (size_t length; *row; row += length + 1) {
        length = strcspn(row, ",\n");
        if (length > 0 && length < 100 && row[0] >= '0' && row[0] <= '9') {
            snprintf(cell, sizeof cell, ">%.*s<", (int)length, row);
            expect_in(page, cell);
        }
    }
    free(text);
}

static void expect_refused(const char *name, const char *const *parts) {
    char folder[512];
    snprintf(folder, sizeof folder, "%s/%s", place, name);
    const char *run = folder;
    char *path = NULL;
    assert_int_equal(mfpg_report_write(ctx, &run, 1, in_place("page"), &path), MFPG_ERR_INPUT);
    assert_null(path);
    check_message(parts);
}
#define REPORT_REFUSED(name, ...) expect_refused(name, (const char *const[]){__VA_ARGS__, NULL})

static void test_numbers_are_those_of_the_files(void **state) {
    (void)state;
    train(SMALL_RUN, NULL, "a");
    char *page = page_of_one("a"), *summary = read_text("a/summary.json");
    expect_cells(page, "a/rounds.csv");
    expect_cells(page, "a/clients.csv");
    json_t *object = json_loads(summary, 0, NULL);
    for (size_t k = 0; k < 3; k++) { /* the library's own words; they have nothing to escape */
        const json_t *client = json_array_get(json_object_get(object, "clients"), k);
        expect_in(page, json_string_value(json_object_get(client, "promise")));
    }
    for (size_t i = 0; i < json_array_size(json_object_get(object, "assumptions")); i++)
        expect_in(page, json_string_value(json_array_get(json_object_get(object, "assumptions"), i)));
    expect_in(page, "no guarantee: paper_epsilon");
    expect_in(page, "not covered by any certificate");
    json_t *report = cut_report(page);
    expect_cells(page, "a/rounds.csv"); /* without scripts too */
    expect_cells(page, "a/clients.csv");
    json_object_del(object, "clients"); /* which are a list of their own */
    assert_true(json_equal(of_run(report, "summary"), object));
    json_decref(report);
    json_decref(object);
    free(summary);
    free(page);
}

/* The page may load nothing: no address of anything but the anchors of the page itself. */
static void test_a_page_needs_no_network(void **state) {
    (void)state;
    train(SMALL_RUN, NULL, "net");
    char *page = page_of_one("net");
    expect_in(page, "Content-Security-Policy\" content=\"default-src 'none'; style-src 'sha256-");
    assert_null(strstr(page, " src="));
    assert_null(strstr(page, "href=\"h"));
    assert_null(strstr(page, "@import"));
    assert_null(strstr(page, "url("));
    expect_in(page, "Permission is hereby granted"); /* the notice of Chart.js */
    expect_in(page, "Chart.js v3");
    free(page);
}

static void test_the_same_files_give_the_same_page(void **state) {
    (void)state;
    train(SMALL_RUN, NULL, "same");
    char *first = page_of_one("same"), *second = page_of_one("same");
    assert_string_equal(first, second);
    free(first);
    free(second);
}

static void test_methods_without_game_or_promise_say_so(void **state) {
    (void)state;
    train(SMALL_RUN, "method=none", "none");
    json_t *report = report_of("none");
    assert_int_equal(json_array_size(of_run(report, "promise")), 0);
    assert_int_equal(json_array_size(of_run(report, "game")), 0);
    json_decref(report);
    train("seed: 1\nmethod: dp-sgd\ntrain: {rounds: 2}\nevaluate: none\ndata: {format: synthetic, clients: "
          "2, rows: 9, "
          "dimension: 2}\n",
        NULL, "plain");
    report = report_of("plain");
    assert_int_equal(json_array_size(of_run(report, "promise")), 1);
    assert_int_equal(json_array_size(of_run(report, "game")), 0);
    assert_true(json_is_null(of_run(report, "summary.metrics")));
    json_decref(report);
}

#define R "\xEF\xBF\xBD"

/* Names, reasons and keys are text, in whatever place they are; of bytes that are not UTF-8 nothing is left.
 */
static void test_hostile_texts_stay_text(void **state) {
    (void)state;
    train(SMALL_RUN, NULL, "h");
    change("h/summary.json", "\"name\": \"0\"",
        "\"name\": \"</td><script>alert(1)</script><img src=x onerror=alert(2)>\"");
    change("h/summary.json", "\"name\": \"small\"",
        "\"name\": \"\\\"><script>alert(4)</script>\\u2028\\u0000\"");
    change("h/summary.json", "\"promise\": \"someone", "\"promise\": \"</script><!-- who");
    change("h/config.yaml", "name: small", "name: \"</pre><svg onload=alert(3)>\"");
    const char *run = in_place("h");
    assert_int_equal(
        mfpg_report_write(ctx, &run, 1, in_place("page"), NULL), MFPG_ERR_INPUT); /* U+0000 in JSON */
    MESSAGE_HOLDS("summary.json:");
    change("h/summary.json", "\\u0000", "");
    static const char name[] = "a\xFFz\xC0\xAF \xED\xA0\x80\x1B[1m\x7F\xC2\x85\n\xE2\x82<svg&'\"";
    assert_int_equal(rename(in_place("h"), in_place(name)), 0);
    char *page = page_of_one(name);
    assert_null(strstr(page, "<script>alert"));
    assert_null(strstr(page, "<img"));
    assert_null(strstr(page, "<svg"));
    assert_null(strstr(page, "</script><!--"));
    expect_in(page, "<bdi>&lt;/td&gt;&lt;script&gt;alert(1)");
    expect_in(
        page, "<h2><bdi>a" R "z" R R " " R R R R "[1m" R R "\n" R R "&lt;svg&amp;&#39;&quot;</bdi></h2>");
    json_t *report = cut_report(page);
    assert_string_equal(
        json_string_value(of_run(report, "summary.name")), "\"><script>alert(4)</script>\xe2\x80\xa8");
    assert_string_equal(json_string_value(of_run(report, "result.label")),
        "a" R "z" R R " " R R R "\x1B[1m\x7F\xC2\x85\n" R R "<svg&'\"");
    json_decref(report);
    free(page);
}

static void test_folders_that_no_run_has_written_are_refused(void **state) {
    (void)state;
    train(SMALL_RUN, NULL, "bad");
    REPORT_REFUSED("absent", "absent: No such file");
    REPORT_REFUSED("bad/ledger", "a file; expected a run folder");
    change("bad/rounds.csv", "\n3,", "\n4,");
    REPORT_REFUSED("bad", "bad/rounds.csv:4", "found \"4\"");
    change("bad/rounds.csv", "\n4,", "\n3,nan");
    REPORT_REFUSED("bad", "bad/rounds.csv:4", "column loss");
    change("bad/rounds.csv", "\n3,nan", "\n3,");
    change("bad/summary.json", "\"rounds\": 3", "\"rounds\": 7");
    REPORT_REFUSED("bad", "summary.json counts 7 rounds and rounds.csv 3", "not those of one run");
    change("bad/summary.json", "\"rounds\": 7", "\"rounds\": NaN");
    REPORT_REFUSED("bad", "bad/summary.json:");
    change("bad/summary.json", "\"rounds\": NaN", "\"rounds\": 3");
    change("bad/summary.json", "\"unit\": \"example\"", "\"unit\": [1]");
    REPORT_REFUSED("bad", "bad/summary.json: promise.unit", "a text");
    change("bad/summary.json", "\"unit\": [1]", "\"unit\": \"example\"");
    change("bad/config.yaml", "method: mfpg", "methd: mfpg");
    REPORT_REFUSED("bad", "bad/config.yaml:", "methd", "method");
    change("bad/config.yaml", "methd: mfpg", "method: mfep");
    REPORT_REFUSED("bad", "summary.json is of method mfpg and config.yaml of mfep", "not those of one run");
    change("bad/config.yaml", "method: mfep", "method: mfpg");
    assert_int_equal(remove(in_place("bad/clients.csv")), 0);
    REPORT_REFUSED("bad", "bad/clients.csv");
    assert_int_equal(remove(in_place("bad/summary.json")), 0);
    REPORT_REFUSED("bad", "not a run folder", "summary.json");
    write_file(in_place("bad/checkpoint"), "");
    REPORT_REFUSED("bad", "has not ended", "mfpg run --resume");
}

/* Means and ranges of a sweep; its runs are found by their seeds, in the order of those. */
static void test_a_sweep_is_shown_with_bands(void **state) {
    (void)state;
    assert_int_equal(mkdir(in_place("sweep"), 0777), 0);
    train(SMALL_RUN, "seed=2", "sweep/seed-2");
    train(SMALL_RUN, "seed=10", "sweep/seed-10");
    char *page = page_of_one("sweep");
    expect_in(page, "\"first\":2.0,\"last\":10.0,");
    expect_in(page, "loss (mean over rows); mean of 2 seeds");
    expect_in(page, "{\"role\":\"low\",\"title\":\"smallest\"}");
    expect_in(page, "selection over several runs on private data: not covered");
    expect_cells(page, "sweep/seed-2/clients.csv");
    double low, high;
    char cells[3][64];
    char *a = read_text("sweep/seed-2/rounds.csv"), *b = read_text("sweep/seed-10/rounds.csv");
    assert_int_equal(sscanf(strstr(a, "\n1,") + 3, "%63[^,]", cells[0]), 1);
    assert_int_equal(sscanf(strstr(b, "\n1,") + 3, "%63[^,]", cells[1]), 1);
    low = strtod(cells[0], NULL), high = strtod(cells[1], NULL);
    if (low > high)
        memcpy(cells[2], cells[0], 64), memcpy(cells[0], cells[1], 64), memcpy(cells[1], cells[2], 64);
    char expected[200];
    snprintf(
        expected, sizeof expected, "<td><bdi>%s</bdi></td><td><bdi>%s</bdi></td></tr>", cells[0], cells[1]);
    expect_in(page, expected);
    free(a);
    free(b);
    free(page);
    train(SMALL_RUN, "method=mfep", "sweep/seed-3");
    REPORT_REFUSED("sweep", "method: mfpg in", "differ in the seed alone");
}

static void test_several_runs_are_compared(void **state) {
    (void)state;
    train(SMALL_RUN, NULL, "c1");
    train(SMALL_RUN, "game.actions=[0.5,1]", "c2");
    char first[512], second[512];
    snprintf(first, sizeof first, "%s/", in_place("c1")); /* a slash at the end means the same folder */
    snprintf(second, sizeof second, "%s", in_place("c2"));
    char *page = page_of((const char *const[]){first, second}, 2);
    expect_in(page, "2 runs compared");
    expect_in(page, "<th scope=\"row\"><bdi>game.actions</bdi></th><td><bdi>[0.5, 1, "
                    "2]</bdi></td><td><bdi>[0.5, 1]</bdi></td>");
    assert_null(strstr(page, "<bdi>train.rounds</bdi></th><td><bdi>3</bdi></td><td><bdi>3</bdi></td>"));
    expect_in(page, "c1: loss (mean over rows)");
    expect_in(page, "c2: loss (mean over rows)");
    free(page);
    assert_int_equal(mfpg_report_write(ctx, NULL, 0, NULL, NULL), MFPG_ERR_INPUT);
}

/* Many clients by quantiles, many rounds by every so many: half a megabyte, not hundreds. */
static void test_a_page_stays_small(void **state) {
    (void)state;
    train("seed: 1\nmethod: mfpg\ntrain: {rounds: 2}\nprivacy: {unit: example}\nevaluate: none\ndata: "
          "{format: synthetic, "
          "clients: 1200, rows: 2, dimension: 2}\ngame: {actions: continuous, curvature: 1}\n",
        NULL, "many");
    char *page = page_of_one("many");
    expect_in(page, "Quantiles of 1200 clients");
    expect_in(page, "200 of 1200 clients");
    const char *words = strstr(page, "<p>someone who sees every update from this client and guesses whether");
    assert_true(
        words && strstr(words + 1, "<p>someone who sees every update from this client and guesses whether"));
    assert_true(strlen(page) < 500000);
    free(page);
    train(SMALL_RUN, NULL, "long");
    FILE *file = fopen(in_place("long/rounds.csv"), "w");
    fputs(
        "round,loss,accuracy,mean_action,noise_to_signal,epsilon,paper_epsilon,paper_delta,metrics\n", file);
    for (int t = 1; t <= 20000; t++)
        fprintf(file, "%d,0.5123456789012345,0.5,1,2,%.17g,4,0.5,x\n", t, sqrt(t));
    fclose(file);
    change("long/summary.json", "\"rounds\": 3", "\"rounds\": 20000");
    page = page_of_one("long");
    expect_in(page, "One of 17 rounds, and the last");
    expect_in(page, ">20000</bdi></th>");
    assert_true(strlen(page) < 2000000);
    free(page);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_numbers_are_those_of_the_files),
        cmocka_unit_test(test_a_page_needs_no_network),
        cmocka_unit_test(test_the_same_files_give_the_same_page),
        cmocka_unit_test(test_methods_without_game_or_promise_say_so),
        cmocka_unit_test(test_hostile_texts_stay_text),
        cmocka_unit_test(test_folders_that_no_run_has_written_are_refused),
        cmocka_unit_test(test_a_sweep_is_shown_with_bands),
        cmocka_unit_test(test_several_runs_are_compared),
        cmocka_unit_test(test_a_page_stays_small),
    };
    return cmocka_run_group_tests(tests, open_place, close_place);
}
