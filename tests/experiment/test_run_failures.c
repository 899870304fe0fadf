/* Runs that fail: what they say and what they leave. Large blocks of memory are refused. */
#include "fixture.h"

#include <sys/stat.h>

#include "failing_memory.h"
#include "mfpg/experiment.h"

static mfpg_experiment *make(const char *const *settings) {
    mfpg_experiment *experiment = NULL;
    mfpg_config *config = load("seed: 1\nmethod: none\ndata: {format: synthetic, clients: 2}\n");
    for (int i = 0; settings[i]; i++) set(config, settings[i]);
    CHECK_OK(ctx, mfpg_experiment_create(ctx, config, &experiment));
    mfpg_config_destroy(config);
    return experiment;
}

/* The key is named, nothing is written, and the same experiment runs once there is room. */
static void test_too_many_rounds_for_the_memory_are_said_to_be(void **state) {
    (void)state;
    const char *settings[] = {"train.rounds=20000", NULL};
    char folder[96];
    const char *parent = temporary_folder();
    snprintf(folder, sizeof folder, "%s/out", parent);
    mfpg_experiment *experiment = make(settings);
    const size_t limits[] = {1 << 20, 1 << 14}; /* 3.52 MB of reports and 0.16 MB of seconds */
    for (int i = 0; i < 2; i++) {
        largest_block = limits[i];
        mfpg_status status = mfpg_experiment_run(ctx, experiment, &(mfpg_run_options){.folder = folder});
        largest_block = SIZE_MAX;
        assert_int_equal(status, MFPG_ERR_MEMORY);
        MESSAGE_HOLDS("train.rounds", "20000 rounds", "3.68 MB");
        assert_int_equal(access(folder, F_OK), -1);
    }
    volatile int stop = 1;
    assert_int_equal(
        mfpg_experiment_run(ctx, experiment, &(mfpg_run_options){.stop = &stop}), MFPG_ERR_INTERRUPTED);
    mfpg_experiment_destroy(experiment);
    assert_int_equal(rmdir(parent), 0);
}

static void remove_from(const char *folder, const char *name) {
    char path[160];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    assert_int_equal(remove(path), 0);
}

/* Steps this long take the model out of the range of its numbers: the ledger and the configuration are what is left. */
static void test_a_failing_round_names_the_files_that_are_whole(void **state) {
    (void)state;
    const char *settings[] = {
        "train.rounds=50", "train.learning_rate=100", "task.model=quadratic", "data.kind=quadratic", NULL};
    const char *folder = temporary_folder();
    mfpg_experiment *experiment = make(settings);
    assert_int_equal(
        mfpg_experiment_run(ctx, experiment, &(mfpg_run_options){.folder = folder}), MFPG_ERR_NUMERIC);
    ptrdiff_t rounds = (ptrdiff_t)mfpg_experiment_last_round(experiment).round;
    char left[256];
    assert_true(rounds >= 1 && rounds < 50);
    snprintf(
        left, sizeof left, "; completed: %td of 50 rounds; whole in %s: ledger, config.yaml", rounds, folder);
    const char *message = mfpg_context_message(ctx);
    assert_true(strlen(message) > strlen(left));
    assert_string_equal(message + strlen(message) - strlen(left), left);
    assert_memory_equal(message, "round ", 6); /* the cause comes first */
    mfpg_experiment_destroy(experiment);
    remove_from(folder, "ledger");
    remove_from(folder, "config.yaml");
    assert_int_equal(rmdir(folder), 0);
}

static char in_the_way[160];

static void block_clients(void *user, const mfpg_round_report *report, int64_t rounds) {
    (void)user;
    (void)report;
    (void)rounds;
    mkdir(in_the_way, 0777);
}

/* A folder under the name of clients.csv: what was written before it is named, what comes after it is not. */
static void test_a_file_that_cannot_be_written_leaves_those_before_it(void **state) {
    (void)state;
    const char *settings[] = {"train.rounds=2", NULL}, *folder = temporary_folder();
    mfpg_experiment *experiment = make(settings);
    snprintf(in_the_way, sizeof in_the_way, "%s/clients.csv", folder);
    mfpg_run_options options = {.folder = folder, .progress = block_clients};
    assert_int_equal(mfpg_experiment_run(ctx, experiment, &options), MFPG_ERR_IO);
    MESSAGE_HOLDS("clients.csv: cannot write", "completed: 2 of 2 rounds",
        ": ledger, config.yaml, rounds.csv; to go on: mfpg run --resume ");
    assert_null(strstr(mfpg_context_message(ctx), "model.npy"));
    assert_null(strstr(mfpg_context_message(ctx), "rounds.csv, clients.csv"));
    mfpg_experiment_destroy(experiment);
    assert_int_equal(rmdir(in_the_way), 0);
    const char *left[] = {"ledger", "config.yaml", "rounds.csv", "checkpoint"};
    for (int i = 0; i < 4; i++) remove_from(folder, left[i]);
    assert_int_equal(rmdir(folder), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_too_many_rounds_for_the_memory_are_said_to_be),
        cmocka_unit_test(test_a_failing_round_names_the_files_that_are_whole),
        cmocka_unit_test(test_a_file_that_cannot_be_written_leaves_those_before_it),
    };
    return cmocka_run_group_tests(tests, open_context, close_context);
}
