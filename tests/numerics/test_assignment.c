/* The cheapest assignment: by hand, against all permutations, and the ways it must not depend on. */
#include "testing.h"

#include "mfpg/random.h"
#include "numerics/sorting.h"

enum { MOST = 7 };

static double cost_of(ptrdiff_t n, const double *cost, const ptrdiff_t *column) {
    double sum = 0;
    for (ptrdiff_t i = 0; i < n; i++) sum += cost[i * n + column[i]];
    return sum;
}

static void check_permutation(ptrdiff_t n, const ptrdiff_t *column) {
    int seen[MOST] = {0};
    for (ptrdiff_t i = 0; i < n; i++) {
        assert_true(column[i] >= 0 && column[i] < n);
        assert_int_equal(seen[column[i]]++, 0);
    }
}

/* The cheapest of all permutations that begin with the first `fixed` columns given. */
static double cheapest(ptrdiff_t n, const double *cost, ptrdiff_t *column, ptrdiff_t fixed) {
    double best = (double)INFINITY;
    if (fixed == n) return cost_of(n, cost, column);
    for (ptrdiff_t i = fixed; i < n; i++) {
        ptrdiff_t kept = column[fixed];
        column[fixed] = column[i];
        column[i] = kept;
        best = fmin(best, cheapest(n, cost, column, fixed + 1));
        column[i] = column[fixed];
        column[fixed] = kept;
    }
    return best;
}

static void test_greed_is_not_cheapest(void **state) {
    (void)state;
    mfpg_context *ctx = testing_context(1);
    const double cost[] = {1, 2, 3, 2, 4, 6, 3, 6, 9}; /* the diagonal costs 14, its mirror 10 */
    ptrdiff_t column[3];
    CHECK_OK(ctx, mfpg_assign(ctx, 3, cost, column));
    assert_true(column[0] == 2 && column[1] == 1 && column[2] == 0);
    const double one = -5;
    CHECK_OK(ctx, mfpg_assign(ctx, 1, &one, column));
    assert_true(column[0] == 0);
    mfpg_context_destroy(ctx);
}

static void test_no_permutation_is_cheaper(void **state) {
    (void)state;
    mfpg_context *ctx = testing_context(1);
    mfpg_key key = mfpg_key_from_seed(testing_seed());
    for (int r = 0; r < testing_repeats(60); r++) {
        mfpg_stream stream = mfpg_stream_open(&key, MFPG_PURPOSE_TEST, 0, (uint64_t)r);
        ptrdiff_t n = 1 + r % MOST, column[MOST], order[MOST];
        double cost[MOST * MOST];
        mfpg_stream_uniform(&stream, 0, n * n, cost);
        if (r % 3 == 0) /* ties */
            for (ptrdiff_t i = 0; i < n * n; i++) cost[i] = floor(4 * cost[i]);
        for (ptrdiff_t i = 0; i < n; i++) order[i] = i;
        CHECK_OK(ctx, mfpg_assign(ctx, n, cost, column));
        check_permutation(n, column);
        double best = cheapest(n, cost, order, 0);
        if (fabs(cost_of(n, cost, column) - best) >
            1e-12 * (double)n) /* sums of n numbers below 4 in another order */
            print_error("seed %llu, case %d\n", (unsigned long long)testing_seed(), r);
        check_near(cost_of(n, cost, column), best, 0, 1e-12 * (double)n, "cost");
    }
    mfpg_context_destroy(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_greed_is_not_cheapest),
        cmocka_unit_test(test_no_permutation_is_cheaper),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
