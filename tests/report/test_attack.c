/* Attacks on the page of a run: what audit.json proved, no more and no less, no matter who wrote it. */
#include "report/runs.h"

#include <unistd.h>

#include "base/number.h"

/* The run's promises under attack; audit.json goes into its folder. */
static void attack(const char *text, const char *argument, const char *name, int64_t runs) {
    mfpg_config *config = load(text);
    mfpg_experiment *experiment = NULL;
    mfpg_audit_options options = mfpg_audit_options_default();
    mfpg_audit_plan plan;
    options.runs = runs;
    if (argument) set(config, argument);
    CHECK_OK(ctx, mfpg_experiment_create(ctx, config, &experiment));
    mfpg_audit_client *client = calloc((size_t)mfpg_experiment_clients(experiment), sizeof *client);
    assert_non_null(client);
    CHECK_OK(ctx, mfpg_experiment_audit(ctx, experiment, &options, client, &plan));
    CHECK_OK(ctx, mfpg_experiment_write_audit(ctx, experiment, &options, client, &plan, in_place(name)));
    free(client);
    mfpg_experiment_destroy(experiment);
    mfpg_config_destroy(config);
}

static void expect_cell(const char *page, const json_t *client, const char *key) {
    char cell[128], number[MFPG_NUMBER_SIZE];
    const json_t *value = json_object_get(client, key);
    assert_non_null(value);
    if (json_is_null(value)) return;
    snprintf(cell, sizeof cell, "<td><bdi>%s</bdi></td>",
        json_is_string(value) ? json_string_value(value)
                              : mfpg_number_format(json_number_value(value), number));
    expect_in(page, cell);
}

/* With so little noise that an attack proves something. */
#define BARE_RUN                                                                                             \
    "seed: 1\nmethod: mfep\ntrain: {rounds: 3}\nprivacy: {unit: example}\nnoise: {action: 0.002}\n"          \
    "data: {format: synthetic, clients: 3, rows: 20, dimension: 2}\n"

static void test_numbers_are_those_of_the_audit(void **state) {
    (void)state;
    static const char *const keys[] = {"mu", "mu_lower", "gap", "mu_estimate", "round_mu", "round_mu_lower",
        "epsilon", "epsilon_lower", "epsilon_lower_direct", "delta", "route", "pattern"};
    train(BARE_RUN, NULL, "a");
    json_t *report = report_of("a");
    assert_true(json_is_null(of_run(report, "audit")));
    json_decref(report);
    attack(BARE_RUN, NULL, "a", 300);
    char *page = page_of_one("a");
    report = cut_report(page);
    char *text = read_text("a/audit.json");
    json_t *audit = json_loads(text, 0, NULL);
    for (size_t k = 0; k < 3; k++)
        for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++)
            expect_cell(page, json_array_get(json_object_get(audit, "clients"), k), keys[i]);
    const json_t *reach = of_run(report, "audit.reach");
    assert_true(json_number_value(json_array_get(reach, 0)) >= 0.0 &&
                json_number_value(json_array_get(reach, 1)) > 0.0);
    expect_in(page, "<td><bdi>stands</bdi></td>");
    assert_int_equal(json_integer_value(of_run(report, "audit.runs")), 300);
    assert_int_equal(json_integer_value(of_run(report, "audit.patterns")), 3);
    expect_in(page, "<bdi>mu estimated (no proof)</bdi>");
    assert_null(strstr(page, "class=\"broken\""));
    json_decref(report);
    json_decref(audit);
    free(text);
    free(page);
}

/* Before everything else, and in the client's rows. */
static void test_a_broken_promise_is_conspicuous(void **state) {
    (void)state;
    train(SMALL_RUN, NULL, "b");
    attack(SMALL_RUN, NULL, "b", 40);
    change("b/audit.json", "\"mu_lower\": ", "\"mu_lower\": 7");
    change("b/audit.json", "\"stands\": true", "\"stands\": false");
    change("b/audit.json", "  \"stands\": true,\n  \"promise\"", "  \"stands\": false,\n  \"promise\"");
    char *page = page_of_one("b"), *alarm = strstr(page, "An attack has broken a promise of this run."),
         *first = strstr(page, "<h2>");
    assert_true(alarm && first && alarm < first);
    expect_in(page, "<tr class=\"broken\"><th scope=\"row\"><bdi>0</bdi></th>");
    expect_in(page, "<td><bdi>BROKEN</bdi></td>");
    assert_null(strstr(page, "<tr class=\"broken\"><th scope=\"row\"><bdi>1</bdi></th>"));
    free(page);
    train(SMALL_RUN, NULL, "whole");
    char folders[2][512];
    snprintf(folders[0], sizeof folders[0], "%s/b", place);
    snprintf(folders[1], sizeof folders[1], "%s/whole", place);
    char *path = NULL;
    CHECK_OK(ctx,
        mfpg_report_write(ctx, (const char *const[]){folders[0], folders[1]}, 2, in_place("page"), &path));
    free(path);
    page = read_text("page/report.html");
    expect_in(page, "Attacks have broken promises of 1 of these 2 runs.");
    expect_in(page, "<td><bdi>BROKEN</bdi></td><td><bdi>0.");
    expect_in(page, "<td><bdi>none made</bdi></td><td><bdi>0.");
    free(page);
}

#define LAST_MODEL                                                                                           \
    "seed: 1\nname: last\nmethod: mfep\ntask: {model: quadratic}\ndata: {format: synthetic, kind: "          \
    "quadratic, clients: 2, rows: 1, dimension: 1, test_fraction: 0}\nevaluate: train\nprivacy: {unit: "     \
    "client, adjacency: replace, view: final, clip: 1, assume: convex, smoothness: 0}\nnoise: {action: "     \
    "2}\ntrain: {rounds: 60}\n"

/* Total variation is next to the paper's bound only if the paper has one, and the verdict is of the file's
 * numbers. */
static void test_the_papers_bound_is_next_to_it(void **state) {
    (void)state;
    train(LAST_MODEL, NULL, "p");
    attack(LAST_MODEL, NULL, "p", 2000);
    char *page = page_of_one("p"), *text = read_text("p/audit.json");
    json_t *audit = json_loads(text, 0, NULL);
    const json_t *client = json_array_get(json_object_get(audit, "clients"), 0);
    expect_cell(page, client, "paper_delta");
    expect_cell(page, client, "tv_lower");
    expect_cell(page, client, "distance");
    expect_in(page, "<bdi>no guarantee: the paper&#39;s bound</bdi>");
    expect_in(page, "<td><bdi>refuted</bdi></td>"); /* 60 rounds: it says 0.036, the truth is 0.26 */
    assert_null(strstr(page, "<td><bdi>not refuted</bdi></td>"));
    json_t *report = cut_report(page);
    assert_int_equal(json_integer_value(of_run(report, "audit.refuted")), 2);
    assert_int_equal(json_integer_value(of_run(report, "audit.judged")), 2);
    json_decref(report);
    json_decref(audit);
    free(text);
    free(page);
    page = page_of_one("a"); /* of the first test: view local */
    json_decref(cut_report(page));
    assert_null(strstr(page, "Total variation under attack"));
    free(page);
}

#define SAMPLED_RUN                                                                                          \
    "seed: 1\nmethod: dp-sgd\ntrain: {rounds: 3, batch: {size: 5}}\nprivacy: {unit: example, accountant: "   \
    "rdp}\ndata: {format: synthetic, clients: 2, rows: 20, dimension: 2}\n"

/* Poisson batches have no mu; the most that pairs may be in order is shown instead. */
static void test_without_mu_pairs_are_shown(void **state) {
    (void)state;
    train(SAMPLED_RUN, NULL, "q");
    attack(SAMPLED_RUN, NULL, "q", 100);
    char *page = page_of_one("q"), *text = read_text("q/audit.json");
    json_t *audit = json_loads(text, 0, NULL);
    const json_t *client = json_array_get(json_object_get(audit, "clients"), 1);
    assert_true(json_is_null(json_object_get(client, "mu")));
    expect_cell(page, client, "auc_cap");
    expect_cell(page, client, "auc_lower");
    expect_in(page, "Pairs in order under attack");
    assert_null(strstr(page, "<bdi>mu promised</bdi>")); /* a column that nobody has anything in */
    json_decref(audit);
    free(text);
    free(page);
}

static void expect_refused(const char *from, const char *to, const char *const *parts) {
    const char *run = in_place("r");
    char folder[512];
    snprintf(folder, sizeof folder, "%s", run);
    run = folder;
    change("r/audit.json", from, to);
    if (mfpg_report_write(ctx, &run, 1, in_place("page"), NULL) != MFPG_ERR_INPUT)
        fail_msg("'%s' for '%s' is taken", to, from);
    check_message(parts);
    change("r/audit.json", to, from);
}
#define AUDIT_REFUSED(from, to, ...) expect_refused(from, to, (const char *const[]){__VA_ARGS__, NULL})

static void test_what_no_audit_has_written_is_refused(void **state) {
    (void)state;
    train(SMALL_RUN, NULL, "r");
    attack(SMALL_RUN, NULL, "r", 40);
    AUDIT_REFUSED("\"runs\": 40", "\"runs\": NaN", "r/audit.json:");
    AUDIT_REFUSED("\"runs\": 40", "\"runs\": 1e999", "r/audit.json:");
    AUDIT_REFUSED("\"runs\": 40", "\"runs\": 40, \"runs\": 40", "r/audit.json:", "uplicate");
    AUDIT_REFUSED("\"runs\": 40", "\"runs\": -40", "runs", "a whole number from 1");
    AUDIT_REFUSED(
        "\"confidence\": 0.98999999999999999", "\"confidence\": 1.5", "confidence", "between 0 and 1");
    AUDIT_REFUSED("\"mu\": ", "\"mu\": -", "entry 0: mu:", "a number from 0");
    AUDIT_REFUSED("\"mu\": ", "\"mu\": [], \"x\": ", "entry 0: mu:", "a number from 0");
    AUDIT_REFUSED("\"mu_lower\": ", "\"mu_lower\": 9", "said to stand", "mu_lower 9", "exceeds mu ");
    AUDIT_REFUSED("\"stands\": true", "\"stands\": 1", "entry 0: stands:", "true or false");
    AUDIT_REFUSED("\"stands\": true", "\"stands\": false", "audit.json: stands:", "imply: false");
    AUDIT_REFUSED("\"route\": \"", "\"route\": 3, \"x\": \"", "entry 0: route:", "a text");
    AUDIT_REFUSED(
        "\"client\": \"0\"", "\"client\": \"z\"", "client 0 is 'z', of the run '0'", "not one of this run");
    AUDIT_REFUSED(
        "\"view\": \"local\"", "\"view\": \"final\"", "a promise of view final", "view local", "mfpg audit");
    AUDIT_REFUSED(
        "\"view\": \"local\",\n    \"delta\": ", "\"view\": \"local\",\n    \"delta\": 2", "promise.delta");
    char *text = read_text("r/audit.json");
    write_file(in_place("r/audit.json"), "[]\n");
    const char *run = in_place("r");
    assert_int_equal(mfpg_report_write(ctx, &run, 1, in_place("page"), NULL), MFPG_ERR_INPUT);
    MESSAGE_HOLDS("audit.json", "not a JSON object");
    write_file(in_place("r/audit.json"), text);
    change(
        "r/audit.json", "\"runs\": 40", "\"later\": {\"any\": [null]}, \"runs\": 40"); /* unknown: anything */
    change("r/audit.json", "\"route\": \"", "\"route\": \"</td><script>alert(1)</script><img src=x>");
    char *page = page_of_one("r");
    assert_null(strstr(page, "<script>alert"));
    assert_null(strstr(page, "<img"));
    expect_in(page, "&lt;script&gt;alert(1)");
    free(page);
    free(text);
}

/* Of many clients those that are nearest to being broken. */
static void test_many_clients_are_told_by_the_nearest(void **state) {
    (void)state;
    train(SMALL_RUN, "data.clients=230", "many");
    attack(SMALL_RUN, "data.clients=230", "many", 20);
    change("many/audit.json", "\"stands\": true\n    }\n  ],\n  \"stands\": true",
        "\"stands\": false\n    }\n  ],\n  \"stands\": false");
    char *page = page_of_one("many");
    json_t *report = cut_report(page);
    assert_int_equal(json_array_size(of_run(report, "audit.clients")), 200);
    expect_in(page, "200 of 230 clients: those of whose promise least is left");
    expect_in(page, "<tr class=\"broken\"><th scope=\"row\"><bdi>229</bdi></th><td><bdi>229</bdi></td>");
    char *section = strstr(page, "Mu under attack");
    assert_non_null(section);
    expect_in(section, "<bdi>198</bdi></th><td><bdi>198</bdi></td>");
    assert_null(strstr(
        section, "<bdi>199</bdi></th><td><bdi>199</bdi></td>")); /* nothing proved of others: in order */
    json_decref(report);
    free(page);
}

static int64_t runs_of_audit(const char *name) {
    json_t *report = report_of(name);
    int64_t runs = json_integer_value(of_run(report, "audit.runs"));
    json_decref(report);
    return runs;
}

/* A sweep's audit is in its folder, or in that of its first run. */
static void test_a_sweep_has_one_audit(void **state) {
    (void)state;
    assert_int_equal(mkdir(in_place("sweep"), 0777), 0);
    train(SMALL_RUN, "seed=1", "sweep/seed-1");
    train(SMALL_RUN, "seed=2", "sweep/seed-2");
    attack(SMALL_RUN, NULL, "sweep/seed-1", 20);
    assert_int_equal(runs_of_audit("sweep"), 20);
    attack(SMALL_RUN, NULL, "sweep", 40);
    assert_int_equal(runs_of_audit("sweep"), 40);
}

/* The audit plays every round of the configuration; a run may have spent something else. */
static void test_another_epsilon_than_the_runs_is_told(void **state) {
    (void)state;
    train(SMALL_RUN, NULL, "e");
    attack(SMALL_RUN, "train.rounds=5", "e", 20);
    json_t *other = report_of("e"), *same = report_of("a");
    assert_true(json_is_true(of_run(other, "other_epsilons")));
    assert_true(json_is_false(of_run(same, "other_epsilons")));
    json_decref(other);
    json_decref(same);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_numbers_are_those_of_the_audit),
        cmocka_unit_test(test_a_broken_promise_is_conspicuous),
        cmocka_unit_test(test_the_papers_bound_is_next_to_it),
        cmocka_unit_test(test_without_mu_pairs_are_shown),
        cmocka_unit_test(test_what_no_audit_has_written_is_refused),
        cmocka_unit_test(test_many_clients_are_told_by_the_nearest),
        cmocka_unit_test(test_a_sweep_has_one_audit),
        cmocka_unit_test(test_another_epsilon_than_the_runs_is_told),
    };
    return cmocka_run_group_tests(tests, open_place, close_place);
}
