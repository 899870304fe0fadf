/* Experiments with the k-th allocation failing, for all k until each call succeeds: made from configurations of every
 * method and model, run into a folder, summarised, and their model evaluated on a file. One thread: the count is not
 * shared. */
#include "fixture.h"

#include <ftw.h>
#include <sys/stat.h>

#include "failing_memory.h"
#include "mfpg/experiment.h"
#include "mfpg/loss_table.h"

static char place[64]; /* for everything that this program writes */

/* ---- configurations ---- */

#define SMALL "seed: 1\ntrain: {rounds: 2}\ndata: {format: synthetic, clients: 2, rows: 12, dimension: 2}\n"
#define GAME  "game: {actions: [0.5, 1], curvature: 1}\n"
#define FROM_FILES                                                                                           \
    "seed: 1\ntrain: {rounds: 1}\nprivacy: {unit: example}\ndata: {files: [a.csv, b.csv], label: {column: "  \
    "y, positive: Y}, "                                                                                      \
    "categories: {k: [u, v]}, drop_columns: [note], scale: {bounds: bounds.csv}}\n"

static const struct {
    const char *name, *text;
} cases[] = {
    {"none", SMALL "method: none\n"},
    {"dp-sgd", SMALL "method: dp-sgd\n"},
    {"dp-sgd in batches", SMALL "method: dp-sgd\nprivacy: {unit: example}\n"},
    {"dp-sgd to a target", SMALL "method: dp-sgd\nnoise: {target_epsilon: 3}\n"},
    {"mfep", SMALL "method: mfep\n"},
    {"mapg-dp", SMALL GAME "method: mapg-dp\n"},
    {"mfpg", SMALL GAME "method: mfpg\n"},
    {"noisy choices",
        SMALL "method: mfpg\nprivacy: {unit: example, stop_at_epsilon: 30}\ngame: {cost: paper, update: "
              "each-round, loss_noise: 9, gradient_noise: 9}\n"},
    {"drawn choices",
        SMALL "method: mfpg\nprivacy: {unit: example, stop_at_epsilon: 30}\ngame: {cost: measured, update: "
              "each-round, selection: exponential, selection_epsilon: 0.5}\n"},
    {"a loss table", SMALL "method: mfpg\ngame: {cost: measured, actions: [0.5, 1], loss_table: t.csv}\n"},
    {"records", SMALL "method: {mechanism: input, players: none}\n"},
    {"files", FROM_FILES "method: dp-sgd\n"},
    {"files and a game", FROM_FILES "method: mfpg\ngame: {preferences: {file: p.csv, column: p}}\n"},
    {"softmax", FROM_FILES "method: none\ntask: {model: softmax, classes: 2}\n"},
    {"mlp", FROM_FILES "method: dp-sgd\ntask: {model: mlp, classes: 2, hidden: [3]}\n"},
};
enum { CASES = sizeof cases / sizeof cases[0] };

static void write_files(void) {
    const char *files[][2] = {{"a.csv", "a,k,note,y\n1,u,x,N\n2,v,x,Y\n3,u,x,N\n4,v,x,Y\n5,u,x,N\n"},
        {"b.csv", "a,k,note,y\n6,u,x,Y\n7,v,x,Y\n8,u,x,N\n9,v,x,N\n"},
        {"bounds.csv", "column,low,high\na,0,10\n"}, {"p.csv", "p\n1\n1.5\n"},
        {"t.csv", "action,loss\n0.5,1\n1,2\n"}};
    for (int i = 0; i < 5; i++) {
        char path[160];
        snprintf(path, sizeof path, "%s/%s", place, files[i][0]);
        write_file(path, files[i][1]);
    }
}

static mfpg_config *config_of(int i) {
    mfpg_config *config = NULL;
    CHECK_OK(ctx, mfpg_config_load_text(ctx, cases[i].text, strlen(cases[i].text), "c.yaml", place, &config));
    return config;
}

static mfpg_experiment *experiment_of(int i) {
    mfpg_experiment *experiment = NULL;
    mfpg_config *config = config_of(i);
    CHECK_OK(ctx, mfpg_experiment_create(ctx, config, &experiment));
    mfpg_config_destroy(config);
    return experiment;
}

/* k for the next attempt. A copy of a configuration alone takes a hundred allocations, the same ones every time: with a test
 * scale above 1 none is left out. */
static long next(long k) {
    return k + 1 + (testing_repeats(1) > 1 ? 0 : k / 32);
}

/* A call in which an allocation failed may do without, or say that memory ran out. */
static void check_status(mfpg_status status, long k, int once, const char *what) {
    if (status != MFPG_OK && status != MFPG_ERR_MEMORY)
        fail_msg("%s, allocation %ld%s: %s", what, k, once ? " alone" : "", mfpg_context_message(ctx));
}

/* ---- create ---- */

static void check_equal(const mfpg_experiment *a, const mfpg_experiment *b) {
    char *one = written(mfpg_experiment_config(a)), *other = written(mfpg_experiment_config(b));
    assert_string_equal(one, other);
    free(one);
    free(other);
    assert_int_equal(mfpg_experiment_clients(a), mfpg_experiment_clients(b));
    for (ptrdiff_t k = 0; k < mfpg_experiment_clients(a); k++) {
        mfpg_client_report first, second;
        CHECK_OK(ctx, mfpg_experiment_client(ctx, a, k, &first));
        CHECK_OK(ctx, mfpg_experiment_client(ctx, b, k, &second));
        assert_int_equal(isnan(first.action_value), isnan(second.action_value)); /* without noise */
        if (!isnan(first.action_value)) check_near(first.action_value, second.action_value, 0, 0, "action");
    }
    for (ptrdiff_t j = 0; mfpg_experiment_assumption(b, j); j++) {
        assert_non_null(mfpg_experiment_assumption(a, j));
        assert_string_equal(mfpg_experiment_assumption(a, j), mfpg_experiment_assumption(b, j));
    }
}

/* One that is made although an allocation failed is the one that is made with memory, to the last resolved key and action. */
static int try_create(int i, const mfpg_config *config, const mfpg_experiment *expected, long k, int once) {
    mfpg_experiment *experiment = NULL;
    begin_failing(k, once);
    mfpg_status status = mfpg_experiment_create(ctx, config, &experiment);
    int failed = end_failing();
    check_status(status, k, once, cases[i].name);
    assert_int_equal(status == MFPG_OK, experiment != NULL);
    if (experiment) check_equal(experiment, expected);
    mfpg_experiment_destroy(experiment);
    return failed;
}

static void test_every_configuration_survives_being_made(void **state) {
    (void)state;
    for (int i = 0; i < CASES; i++) {
        mfpg_config *config = config_of(i);
        mfpg_experiment *expected = experiment_of(i);
        for (int once = 0; once < 2; once++)
            for (long k = 0; try_create(i, config, expected, k, once); k = next(k)) continue;
        mfpg_experiment_destroy(expected);
        mfpg_config_destroy(config);
    }
}

/* ---- run ---- */

static int remove_one(const char *path, const struct stat *info, int kind, struct FTW *where) {
    (void)info;
    (void)kind;
    (void)where;
    return remove(path);
}

static void remove_folder(const char *path) {
    if (access(path, F_OK) == 0) assert_int_equal(nftw(path, remove_one, 8, FTW_DEPTH | FTW_PHYS), 0);
}

static char *file_text(const char *run_folder, const char *name) {
    static char text[1 << 16];
    char path[200];
    snprintf(path, sizeof path, "%s/%s", run_folder, name);
    FILE *file = fopen(path, "r");
    if (!file) return NULL;
    text[fread(text, 1, sizeof text - 1, file)] = 0;
    fclose(file);
    return text;
}

/* With a folder it names the end of the ledger there. */
static char *summary_of(int i, const char *run_folder) {
    char *summary = NULL;
    mfpg_experiment *experiment = experiment_of(i);
    CHECK_OK(ctx, mfpg_experiment_run(ctx, experiment, &(mfpg_run_options){.folder = run_folder}));
    CHECK_OK(ctx, mfpg_experiment_summary(ctx, experiment, &summary));
    mfpg_experiment_destroy(experiment);
    if (run_folder) remove_folder(run_folder);
    return summary;
}

/* Where a run says that it succeeded its summary is the whole one; where it fails there is none. */
static int try_run(int i, const char *run_folder, const char *expected, long k, int once) {
    mfpg_experiment *experiment = experiment_of(i);
    begin_failing(k, once);
    mfpg_status status = mfpg_experiment_run(ctx, experiment, &(mfpg_run_options){.folder = run_folder});
    int failed = end_failing();
    mfpg_experiment_destroy(experiment);
    check_status(status, k, once, cases[i].name);
    char *text = file_text(run_folder, "summary.json");
    assert_int_equal(text != NULL, status == MFPG_OK);
    if (text) {
        text[strlen(text) - 1] = 0; /* the line end of the file */
        assert_string_equal(text, expected);
    }
    remove_folder(run_folder);
    return failed;
}

static void test_every_run_survives(void **state) {
    (void)state;
    char run_folder[120];
    snprintf(run_folder, sizeof run_folder, "%s/run", place);
    for (int i = 0; i < CASES; i++) {
        char *expected = summary_of(i, run_folder);
        for (int once = 0; once < 2; once++)
            for (long k = 0; try_run(i, run_folder, expected, k, once); k = next(k)) continue;
        free(expected);
    }
}

/* ---- what is asked afterwards ---- */

static int try_summary(int i, const mfpg_experiment *experiment, const char *expected, long k, int once) {
    char *text = NULL;
    begin_failing(k, once);
    mfpg_status status = mfpg_experiment_summary(ctx, experiment, &text);
    int failed = end_failing();
    check_status(status, k, once, cases[i].name);
    assert_int_equal(status == MFPG_OK, text != NULL);
    if (text) assert_string_equal(text, expected);
    free(text);
    return failed;
}

static void test_a_summary_is_whole_or_refused(void **state) {
    (void)state;
    for (int i = 0; i < CASES; i++) {
        char *expected = summary_of(i, NULL);
        mfpg_experiment *experiment = experiment_of(i);
        CHECK_OK(ctx, mfpg_experiment_run(ctx, experiment, &(mfpg_run_options){0}));
        for (int once = 0; once < 2; once++)
            for (long k = 0; try_summary(i, experiment, expected, k, once); k++) continue;
        mfpg_experiment_destroy(experiment);
        free(expected);
    }
}

static int try_evaluate(
    int i, const char *run_folder, const char *file, const mfpg_metrics *expected, long k, int once) {
    mfpg_metrics metrics = {0};
    begin_failing(k, once);
    mfpg_status status = mfpg_evaluate_file(ctx, run_folder, file, NULL, &metrics);
    int failed = end_failing();
    check_status(status, k, once, cases[i].name);
    if (status == MFPG_OK) assert_true(metrics.loss == expected->loss && metrics.rows == expected->rows);
    return failed;
}

static void test_evaluating_a_file_survives(void **state) {
    (void)state;
    char run_folder[120], file[120];
    snprintf(run_folder, sizeof run_folder, "%s/run", place);
    snprintf(file, sizeof file, "%s/b.csv", place);
    for (int i = 0; i < CASES; i++) {
        mfpg_metrics expected;
        if (!strstr(cases[i].text, "a.csv")) continue; /* made-up data have no files */
        mfpg_experiment *experiment = experiment_of(i);
        CHECK_OK(ctx, mfpg_experiment_run(ctx, experiment, &(mfpg_run_options){.folder = run_folder}));
        mfpg_experiment_destroy(experiment);
        CHECK_OK(ctx, mfpg_evaluate_file(ctx, run_folder, file, NULL, &expected));
        for (int once = 0; once < 2; once++)
            for (long k = 0; try_evaluate(i, run_folder, file, &expected, k, once); k = next(k)) continue;
        remove_folder(run_folder);
    }
}

/* ---- loss tables ---- */

static int try_measure(const mfpg_config *config, const mfpg_loss_table *expected, long k, int once) {
    const mfpg_loss_study study = {.rounds = 1, .draws = 2};
    mfpg_loss_table table = {0};
    begin_failing(k, once);
    mfpg_status status = mfpg_loss_table_measure(ctx, config, &study, &table);
    int failed = end_failing();
    check_status(status, k, once, "measuring a table");
    if (status == MFPG_OK)
        assert_memory_equal(table.row, expected->row, (size_t)table.count * sizeof *table.row);
    else
        assert_null(table.row);
    mfpg_loss_table_clear(&table);
    return failed;
}

static void test_measuring_a_table_survives(void **state) {
    const mfpg_loss_study study = {.rounds = 1, .draws = 2};
    mfpg_loss_table expected;
    int i = 0;
    (void)state;
    while (strcmp(cases[i].name, "a loss table") != 0) i++;
    mfpg_config *config = config_of(i);
    CHECK_OK(ctx, mfpg_loss_table_measure(ctx, config, &study, &expected));
    for (int once = 0; once < 2; once++)
        for (long k = 0; try_measure(config, &expected, k, once); k = next(k)) continue;
    mfpg_loss_table_clear(&expected);
    mfpg_config_destroy(config);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_configuration_survives_being_made),
        cmocka_unit_test(test_every_run_survives),
        cmocka_unit_test(test_a_summary_is_whole_or_refused),
        cmocka_unit_test(test_evaluating_a_file_survives),
        cmocka_unit_test(test_measuring_a_table_survives),
    };
    /* Thousands of files are written and synced: in memory, where there is such a place. */
    strcpy(place, "/dev/shm/mfpg-test-XXXXXX");
    if (!mkdtemp(place)) snprintf(place, sizeof place, "%s", temporary_folder());
    write_files();
    count_json_allocations();
    int failed = cmocka_run_group_tests(tests, open_context, close_context);
    remove_folder(place);
    return failed;
}
