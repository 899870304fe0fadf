/* A run folder belongs to one run, also where several reach for it at once. */
#include "fixture.h"

#include <sys/mman.h>
#include <sys/wait.h>

#include "mfpg/experiment.h"

enum { PROCESSES = 4 };

static char folder[80];

/* NULL on any failure: a child process must not fail a test, which is its parent's. */
static mfpg_experiment *experiment_of_seed(int seed) {
    char text[160];
    mfpg_config *config = NULL;
    mfpg_experiment *experiment = NULL;
    snprintf(text, sizeof text,
        "seed: %d\nmethod: none\ndata: {format: synthetic, clients: 2}\ntrain: {rounds: 1}\n", seed);
    if (mfpg_config_load_text(ctx, text, strlen(text), "c.yaml", NULL, &config) == MFPG_OK)
        mfpg_experiment_create(ctx, config, &experiment);
    mfpg_config_destroy(config);
    return experiment;
}

/* In a process of its own: waits until all have come as far, then reaches for the folder. Exit code: the status, 98 where
 * there is no experiment, 99 where a refusal does not say what to do. */
static void reach(int seed, int *ready) {
    mfpg_experiment *experiment = experiment_of_seed(seed);
    __atomic_add_fetch(ready, 1, __ATOMIC_SEQ_CST);
    if (!experiment) _exit(98);
    while (__atomic_load_n(ready, __ATOMIC_SEQ_CST) < PROCESSES) usleep(50);
    mfpg_status status = mfpg_experiment_run(ctx, experiment, &(mfpg_run_options){.folder = folder});
    int named = strstr(mfpg_context_message(ctx), folder) && strstr(mfpg_context_message(ctx), "--out");
    _exit(status == MFPG_OK || named ? (int)status : 99);
}

static int seed_in(const char *name) {
    char path[160], line[256];
    int seed = -1;
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    while (fgets(line, sizeof line, file) && sscanf(line, "seed: %d", &seed) != 1) continue;
    fclose(file);
    return seed;
}

static void remove_run(void) {
    const char *names[] = {
        "clients.csv", "config.yaml", "ledger", "model.npy", "rounds.csv", "summary.json", "timings.csv"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        char path[160];
        snprintf(path, sizeof path, "%s/%s", folder, names[i]);
        assert_int_equal(remove(path), 0);
    }
    assert_int_equal(rmdir(folder), 0); /* nothing but these */
}

/* Exactly one succeeds, and the configuration in the folder is its own: no loser has written over it. */
static void test_of_several_runs_at_once_one_has_the_folder(void **state) {
    (void)state;
    int *ready = mmap(NULL, sizeof *ready, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    assert_true(ready != MAP_FAILED);
    for (int repeat = 0; repeat < testing_repeats(15); repeat++) {
        pid_t process[PROCESSES];
        int winner = -1;
        *ready = 0;
        for (int i = 0; i < PROCESSES; i++) {
            process[i] = fork();
            assert_true(process[i] >= 0);
            if (process[i] == 0) reach(100 + i, ready);
        }
        for (int i = 0; i < PROCESSES; i++) {
            int code;
            assert_int_equal(waitpid(process[i], &code, 0), process[i]);
            assert_true(WIFEXITED(code));
            if (WEXITSTATUS(code) == MFPG_OK) {
                assert_int_equal(winner, -1);
                winner = i;
            } else {
                assert_int_equal(WEXITSTATUS(code), MFPG_ERR_INPUT);
            }
        }
        assert_int_equal(seed_in("config.yaml"), 100 + winner);
        remove_run();
    }
    munmap(ready, sizeof *ready);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_of_several_runs_at_once_one_has_the_folder)};
    const char *parent = temporary_folder();
    snprintf(folder, sizeof folder, "%s/run", parent);
    int failed = cmocka_run_group_tests(tests, open_context, close_context);
    rmdir(parent);
    return failed;
}
