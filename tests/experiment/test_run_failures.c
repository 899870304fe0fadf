/* Runs that fail: what they say and what they leave. This program has its own allocation functions in place of
 * src/base/memory.c, which refuse large blocks. */
#include "fixture.h"

#include "base/memory.h"
#include "mfpg/experiment.h"

static size_t largest = SIZE_MAX; /* bytes of one block */

static int may_allocate(ptrdiff_t count, size_t size) {
    return count >= 0 && (size_t)count <= (size_t)PTRDIFF_MAX / size && (size_t)count * size <= largest;
}

void *mfpg_alloc(ptrdiff_t count, size_t size) {
    return may_allocate(count, size) ? calloc(count > 0 ? (size_t)count : 1, size) : NULL;
}

void *mfpg_resize(void *block, ptrdiff_t count, size_t size) {
    return may_allocate(count, size) ? realloc(block, (count > 0 ? (size_t)count : 1) * size) : NULL;
}

char *mfpg_text_copy(const char *text, size_t length) {
    char *copy = mfpg_alloc((ptrdiff_t)length + 1, 1);
    if (copy) memcpy(copy, text, length);
    return copy;
}

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
    const size_t limits[] = {1 << 20, 1 << 14}; /* 1.44 MB of reports and 0.16 MB of seconds */
    for (int i = 0; i < 2; i++) {
        largest = limits[i];
        mfpg_status status = mfpg_experiment_run(ctx, experiment, &(mfpg_run_options){.folder = folder});
        largest = SIZE_MAX;
        assert_int_equal(status, MFPG_ERR_MEMORY);
        MESSAGE_HOLDS("train.rounds", "20000 rounds", "1.6 MB");
        assert_int_equal(access(folder, F_OK), -1);
    }
    volatile int stop = 1;
    assert_int_equal(
        mfpg_experiment_run(ctx, experiment, &(mfpg_run_options){.stop = &stop}), MFPG_ERR_INTERRUPTED);
    mfpg_experiment_destroy(experiment);
    assert_int_equal(rmdir(parent), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_too_many_rounds_for_the_memory_are_said_to_be),
    };
    return cmocka_run_group_tests(tests, open_context, close_context);
}
