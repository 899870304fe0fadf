#define TESTED_UNIT MFPG_UNIT_EXAMPLE
/* The accountant pld with sampled examples where an allocation fails, and how much memory its largest grids take. */
#include "failing_memory.h"

#include <sys/resource.h>

#include "accountants/accounting.h"
#include "accountants/fixture.h"

typedef struct scene {
    mfpg_context *ctx;
    mfpg_adjacency adjacency;
} scene;

static mfpg_status record_and_ask(void *arg) {
    scene *s = arg;
    mfpg_accountant_options options = mfpg_accountant_options_default();
    options.promise.unit = MFPG_UNIT_EXAMPLE;
    options.promise.adjacency = s->adjacency;
    mfpg_release release = release_of(1.0, 2.0), next = release;
    release.sampling_rate = 0.1;
    next.sampling_rate = 0.2;
    double epsilon = 0.0, delta = 0.0, other = 0.0;
    mfpg_accountant *accountant = NULL;
    mfpg_status status = mfpg_accountant_create(s->ctx, "pld", &options, &accountant);
    assert_int_equal(status == MFPG_OK, accountant != NULL);
    if (status != MFPG_OK) return status;
    status = mfpg_accountant_record_times(s->ctx, accountant, &release, 20);
    if (status != MFPG_OK) { /* what was not recorded is never forgotten */
        assert_int_equal(mfpg_accountant_epsilon(s->ctx, accountant, 1e-5, &epsilon), MFPG_OK);
        assert_true(isinf(epsilon));
    }
    if (status == MFPG_OK) status = mfpg_accountant_epsilon(s->ctx, accountant, 1e-5, &epsilon);
    if (status == MFPG_OK) status = mfpg_accountant_delta(s->ctx, accountant, 0.5, &delta);
    if (status == MFPG_OK)
        status = mfpg_accountant_epsilon_under(s->ctx, accountant, MFPG_ADJACENCY_REPLACE, 1e-5, &other);
    if (status != MFPG_OK) assert_true(isinf(epsilon) || isinf(delta) || isinf(other));
    int failed_before = has_failed;
    int affordable = mfpg_accountant_affords(s->ctx, accountant, &next, 1e-5, 8.0);
    if (!failed_before && !has_failed) assert_int_equal(affordable, 1); /* else it may be 0, but not wrong */
    assert_int_equal(mfpg_accountant_affords(s->ctx, accountant, &next, 1e-5, 0.1), 0);
    mfpg_accountant_destroy(accountant);
    return status;
}

static void test_every_failing_allocation_is_survived(void **state) {
    (void)state;
    scene s = {.ctx = testing_context(1)};
    assert_true(sweep_allocations(record_and_ask, &s) >= 50);
    s.adjacency = MFPG_ADJACENCY_REPLACE;
    assert_true(sweep_allocations(record_and_ask, &s) >= 50);
    mfpg_context_destroy(s.ctx);
}

/* A thousand million steps, which want a grid finer than there is: 256 MiB at most, and no single block above 33 MB. */
static void test_the_largest_grids_keep_to_their_memory(void **state) {
    (void)state;
    mfpg_context *ctx = testing_context(1);
    mfpg_accountant_options options = mfpg_accountant_options_default();
    options.promise.unit = MFPG_UNIT_EXAMPLE;
    options.promise.adjacency = MFPG_ADJACENCY_ADD;
    mfpg_accountant *accountant = NULL;
    CHECK_OK(ctx, mfpg_accountant_create(ctx, "pld", &options, &accountant));
    mfpg_release release = release_of(1.0, 1.0);
    release.sampling_rate = 1e-6;
    CHECK_OK(ctx, mfpg_accountant_record_times(ctx, accountant, &release, 1000000000));
    struct rusage before, after;
    getrusage(RUSAGE_SELF, &before);
    double epsilon = -1.0;
    largest_block = (size_t)33554432 + 64;
    CHECK_OK(ctx, mfpg_accountant_epsilon(ctx, accountant, 1e-5, &epsilon));
    largest_block = SIZE_MAX;
    getrusage(RUSAGE_SELF, &after);
    assert_true(TESTING_SANITIZED || after.ru_maxrss - before.ru_maxrss <= 256 * 1024);
    /* mu of the central limit, q sqrt(T (e - 1)) = 0.0415, which is nearly exact for so many steps: 0.1299 */
    assert_true(epsilon >= 0.129 && epsilon <= 0.132);
    mfpg_accountant_destroy(accountant);
    mfpg_context_destroy(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_failing_allocation_is_survived),
        cmocka_unit_test(test_the_largest_grids_keep_to_their_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
