#include "testing.h"

#include <time.h>

#include "base/error.h"

enum { TASKS = 200 };

typedef struct squares {
    int fails[TASKS];    /* task i fails */
    int64_t slot[TASKS]; /* written by task i */
    int worker[TASKS];
} squares;

static mfpg_status square_or_fail(mfpg_context *ctx, ptrdiff_t index, int worker, void *arg) {
    squares *all = arg;
    all->worker[index] = worker;
    if (all->fails[index]) {
        if (index < 50) nanosleep(&(struct timespec){.tv_nsec = 2000000}, NULL); /* others fail before it */
        return mfpg_fail(ctx, index % 2 ? MFPG_ERR_NUMERIC : MFPG_ERR_INPUT, "task %td failed", index);
    }
    all->slot[index] = (int64_t)index * index;
    return MFPG_OK;
}

static void test_every_task_runs_once_on_a_worker_of_the_context(void **state) {
    (void)state;
    for (int threads = 1; threads <= 4; threads++) {
        mfpg_context *ctx = testing_context(threads);
        squares all = {.slot = {0}};
        CHECK_OK(ctx, mfpg_tasks_run(ctx, TASKS, square_or_fail, &all));
        for (int64_t i = 0; i < TASKS; i++) {
            assert_int_equal(all.slot[i], i * i);
            assert_true(all.worker[i] >= 0 && all.worker[i] < threads);
        }
        assert_string_equal(mfpg_context_message(ctx), "");
        mfpg_context_destroy(ctx);
    }
}

static void test_no_tasks_is_no_work(void **state) {
    (void)state;
    mfpg_context *ctx = testing_context(2);
    CHECK_OK(ctx, mfpg_tasks_run(ctx, 0, square_or_fail, NULL));
    mfpg_context_destroy(ctx);
}

static void test_lowest_failing_task_decides_for_any_number_of_threads(void **state) {
    (void)state;
    const int failing[][3] = {{17, 100, 199}, {0, 1, 2}, {198, 199, 199}, {40, 41, 160}};
    for (int threads = 1; threads <= 3; threads++) {
        for (size_t k = 0; k < sizeof failing / sizeof failing[0]; k++) {
            mfpg_context *ctx = testing_context(threads);
            squares all = {.slot = {0}};
            char expected[64];
            for (int f = 0; f < 3; f++) all.fails[failing[k][f]] = 1;
            snprintf(expected, sizeof expected, "task %d failed", failing[k][0]);
            assert_int_equal(mfpg_tasks_run(ctx, TASKS, square_or_fail, &all),
                failing[k][0] % 2 ? MFPG_ERR_NUMERIC : MFPG_ERR_INPUT);
            assert_string_equal(mfpg_context_message(ctx), expected);
            for (int64_t i = 0; i < failing[k][0]; i++) assert_int_equal(all.slot[i], i * i);
            mfpg_context_destroy(ctx);
        }
    }
}

typedef struct nest {
    int64_t sum[8];
    int went_parallel;
} nest;

typedef struct inner_job {
    int64_t sum;
    int most_worker;
    int fail_at; /* -1: nowhere */
} inner_job;

static mfpg_status inner(mfpg_context *ctx, ptrdiff_t index, int worker, void *arg) {
    inner_job *job = arg;
    if (index == job->fail_at) return mfpg_fail(ctx, MFPG_ERR_DOMAIN, "inner %td", index);
    job->sum += index; /* one thread alone, or the thread sanitizer objects */
    if (worker > job->most_worker) job->most_worker = worker;
    return MFPG_OK;
}

static mfpg_status outer(mfpg_context *ctx, ptrdiff_t index, int worker, void *arg) {
    (void)worker;
    nest *all = arg;
    inner_job job = {.fail_at = -1};
    mfpg_status status = mfpg_tasks_run(ctx, 100, inner, &job);
    all->sum[index] = job.sum * (index + 1);
    if (job.most_worker > 0 || mfpg_context_threads(ctx) != 1) all->went_parallel = 1;
    return status;
}

static mfpg_status outer_failing(mfpg_context *ctx, ptrdiff_t index, int worker, void *arg) {
    (void)worker;
    (void)arg;
    inner_job job = {.fail_at = (int)index};
    return index < 3 ? MFPG_OK : mfpg_tasks_run(ctx, 100, inner, &job);
}

static void test_loops_inside_tasks_run_on_the_tasks_own_context(void **state) {
    (void)state;
    mfpg_context *ctx = testing_context(2);
    nest all = {.went_parallel = 0};
    CHECK_OK(ctx, mfpg_tasks_run(ctx, 8, outer, &all));
    for (int i = 0; i < 8; i++) assert_int_equal(all.sum[i], 4950 * (i + 1));
    assert_false(all.went_parallel);
    assert_int_equal(mfpg_tasks_run(ctx, 8, outer_failing, NULL), MFPG_ERR_DOMAIN);
    assert_string_equal(mfpg_context_message(ctx), "inner 3");
    mfpg_context_destroy(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_task_runs_once_on_a_worker_of_the_context),
        cmocka_unit_test(test_no_tasks_is_no_work),
        cmocka_unit_test(test_lowest_failing_task_decides_for_any_number_of_threads),
        cmocka_unit_test(test_loops_inside_tasks_run_on_the_tasks_own_context),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
