/* Federations of many clients: what they leave in files, and that memory does not grow with the rounds. */
#include "fixture.h"

#include <jansson.h>
#include <malloc.h>

#include "mfpg/experiment.h"

static const char *parent;

static mfpg_experiment *experiment_of(const char *text) {
    mfpg_config *config = load(text);
    mfpg_experiment *experiment = NULL;
    CHECK_OK(ctx, mfpg_experiment_create(ctx, config, &experiment));
    mfpg_config_destroy(config);
    return experiment;
}

/* ---- summary.json ---- */

/* Programs that ask are given what the file has. */
static void check_summary_is_that_of_the_file(const mfpg_experiment *experiment, const json_t *file) {
    char *json = NULL;
    CHECK_OK(ctx, mfpg_experiment_summary(ctx, experiment, &json));
    json_t *summary = json_loads(json, 0, NULL);
    assert_true(json_equal(json_object_get(summary, "clients"), json_object_get(file, "clients")));
    json_decref(summary);
    free(json);
}

/* That of the run folder. */
static json_t *summary_of(int clients) {
    char text[400], folder[200], path[240];
    snprintf(text, sizeof text,
        "seed: 1\nmethod: mfpg\ntrain: {rounds: 2}\ngame: {curvature: 1, actions: {min: 0.1, max: 2}}\n"
        "data: {format: synthetic, clients: %d, rows: 2, dimension: 2, test_rows: 10}\n",
        clients);
    mfpg_experiment *experiment = experiment_of(text);
    snprintf(folder, sizeof folder, "%s/%d", parent, clients);
    CHECK_OK(ctx, mfpg_experiment_run(ctx, experiment, &(mfpg_run_options){.folder = folder}));
    snprintf(path, sizeof path, "%s/summary.json", folder);
    json_t *summary = json_load_file(path, 0, NULL);
    assert_non_null(summary);
    check_summary_is_that_of_the_file(experiment, summary);
    mfpg_experiment_destroy(experiment);
    const char *names[] = {"ledger", "config.yaml", "rounds.csv", "free_energy.csv", "clients.csv",
        "model.npy", "timings.csv", "summary.json"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        snprintf(path, sizeof path, "%s/%s", folder, names[i]);
        assert_int_equal(remove(path), 0);
    }
    assert_int_equal(rmdir(folder), 0);
    return summary;
}

static double at(const json_t *clients, const char *column, size_t level) {
    return json_number_value(json_array_get(json_object_get(clients, column), level));
}

/* Preferences are evenly spaced from 0.5 to 1.5 and every client's numbers move with its own: the quantiles at 0, 1/2 and 1
 * are those of the first, the middle and the last client. */
static void test_quantiles_stand_for_more_than_a_thousand_clients(void **state) {
    (void)state;
    json_t *listed = summary_of(1000), *described = summary_of(1001);
    const json_t *list = json_object_get(listed, "clients"), *all = json_object_get(described, "clients");
    assert_int_equal(json_array_size(list), 1000);
    assert_int_equal(json_integer_value(json_object_get(all, "count")), 1001);
    assert_string_equal(json_string_value(json_object_get(all, "file")), "clients.csv");
    assert_int_equal(json_array_size(json_object_get(all, "level")), 21);
    assert_true(at(all, "level", 10) == 0.5);
    assert_true(at(all, "preference", 0) == 0.5 && at(all, "preference", 20) == 1.5);
    check_near(at(all, "preference", 10), 1.0, 1e-12, 0, "middle preference");
    const json_t *first = json_array_get(list, 0), *last = json_array_get(list, 999);
    /* the game of 1001 clients is not quite that of 1000, but its clients differ by a factor sqrt(3) */
    double low = json_number_value(json_object_get(last, "epsilon")),
           high = json_number_value(json_object_get(first, "epsilon"));
    assert_true(high > 1.2 * low);
    check_near(at(all, "epsilon", 0), low, 0.01, 0, "smallest epsilon");
    check_near(at(all, "epsilon", 20), high, 0.01, 0, "largest epsilon");
    for (size_t i = 1; i < 21; i++) assert_true(at(all, "epsilon", i) >= at(all, "epsilon", i - 1));
    assert_true(at(all, "rounds", 0) == 2 && at(all, "rounds", 20) == 2);
    assert_int_equal(json_integer_value(json_object_get(all, "certified")), 1001);
    assert_true(json_is_null(json_object_get(all, "names")));
    json_decref(listed);
    json_decref(described);
}

/* ---- memory ---- */

/* Bytes in use after every round of a run without files. */
typedef struct watch {
    int64_t rounds;
    size_t used[16];
} watch;

static void look(void *user, const mfpg_round_report *report, int64_t rounds) {
    watch *w = user;
    struct mallinfo2 info = mallinfo2(); /* zeros where a sanitizer has the memory */
    (void)report;
    (void)rounds;
    if (w->rounds < 16) w->used[w->rounds++] = info.uordblks + info.hblkhd;
}

enum { SLACK = 1024 }; /* the allocator may hand out a piece that is some bytes longer than asked */

static void check_flat(const char *text, size_t most) {
    watch seen = {0};
    mfpg_experiment *experiment = experiment_of(text);
    CHECK_OK(ctx,
        mfpg_experiment_run(ctx, experiment, &(mfpg_run_options){.progress = look, .progress_user = &seen}));
    assert_int_equal(seen.rounds, 10);
    for (int64_t i = 2; i < seen.rounds; i++) {
        if (seen.used[i] <= seen.used[1] + SLACK) continue;
        print_error("round %d: %zu bytes, after round 2 %zu\n", (int)i + 1, seen.used[i], seen.used[1]);
        fail();
    }
    if (seen.used[1] > most) print_error("%zu bytes after round 2, at most %zu\n", seen.used[1], most);
    assert_true(seen.used[1] <= most);
    mfpg_experiment_destroy(experiment);
}

/* Row F33 of the field's failures: a network of 109,386 parameters, more clients with MFPG_TEST_SCALE (1000 at 20). */
static void test_rounds_of_a_network_leave_no_memory_behind(void **state) {
    (void)state;
    char text[400];
    int clients = testing_repeats(50);
    snprintf(text, sizeof text,
        "seed: 1\nmethod: mfpg\ntask: {model: mlp, hidden: [128, 64], classes: 10}\ntrain: {rounds: 10}\n"
        "game: {curvature: 1}\nevaluate: none\n"
        "data: {format: synthetic, clients: %d, rows: 1, dimension: 784, test_fraction: 0}\n",
        clients);
    check_flat(text, (size_t)clients * 5000 + (16u << 20));
}

/* Two rows of four features with label and norm are 56 bytes; what the run knows of a client may take some 450 more. Most of
 * that is the game's arrays, the two views of the client's rows and the release that is planned, with its place for a secure sum. */
static void test_many_small_clients_take_few_bytes_each(void **state) {
    (void)state;
    const char *text = "seed: 1\nmethod: mfpg\ntrain: {rounds: 10}\n"
                       "game: {curvature: 1, actions: {min: 0.1, max: 2}}\n"
                       "data: {format: synthetic, clients: 20000, rows: 2, dimension: 4, test_rows: 10}\n";
    check_flat(text, (size_t)20000 * 504 + (1u << 20));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_quantiles_stand_for_more_than_a_thousand_clients),
        cmocka_unit_test(test_rounds_of_a_network_leave_no_memory_behind),
        cmocka_unit_test(test_many_small_clients_take_few_bytes_each),
    };
    parent = temporary_folder();
    int failed = cmocka_run_group_tests(tests, open_context, close_context);
    rmdir(parent);
    return failed;
}
