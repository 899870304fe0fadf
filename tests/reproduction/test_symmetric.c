/* Small symmetric systems and eigenvalues. */
#include "testing.h"

#include "reproduction/symmetric.h"

static double next(uint64_t *state) { /* splitmix64, on [-1, 1) */
    uint64_t z = (*state += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return (double)((z ^ (z >> 31)) >> 11) * 0x1p-52 - 1.0;
}

static void test_closed_forms(void **state) {
    (void)state;
    /* [[2, 1], [1, 2]]: 1 and 3; the second difference of length n: 2 - 2 cos(j pi/(n + 1)) */
    double two[4] = {2, 1, 1, 2}, value[16];
    mfpg_symmetric_eigenvalues(2, two, value);
    check_near(value[0], 1, 1e-15, 0, "small");
    check_near(value[1], 3, 1e-15, 0, "large");
    enum { N = 12 };
    double chain[N * N] = {0}, b[N];
    for (int i = 0; i < N; i++) {
        chain[i * N + i] = 2;
        if (i > 0) chain[i * N + i - 1] = chain[(i - 1) * N + i] = -1;
    }
    double copy[N * N];
    memcpy(copy, chain, sizeof copy);
    mfpg_symmetric_eigenvalues(N, copy, value);
    for (int j = 0; j < N; j++) /* absolute errors of some roundings of the norm 4 */
        check_near(value[j], 2 - 2 * cos((j + 1) * M_PI / (N + 1)), 0, 1e-14, "chain");
    /* -x'' = 2 on the chain: x_i = (i + 1)(N - i) */
    for (int i = 0; i < N; i++) b[i] = 2;
    assert_true(mfpg_symmetric_solve(N, chain, b));
    for (int i = 0; i < N; i++) check_near(b[i], (i + 1) * (N - i), 1e-13, 0, "parabola");
}

/* Trace and sum of squares stay; a system's residual is small; indefinite and singular matrices are refused. */
static void test_random_matrices(void **state) {
    (void)state;
    uint64_t seed = testing_seed();
    enum { N = 9 };
    for (int repeat = 0; repeat < testing_repeats(50); repeat++) {
        double a[N * N], copy[N * N], value[N], b[N], x[N], trace = 0, squares = 0, sum = 0, sum2 = 0;
        for (int i = 0; i < N; i++)
            for (int j = 0; j <= i; j++) a[i * N + j] = a[j * N + i] = next(&seed);
        for (int i = 0; i < N * N; i++) squares += a[i] * a[i];
        for (int i = 0; i < N; i++) trace += a[i * N + i];
        memcpy(copy, a, sizeof a);
        mfpg_symmetric_eigenvalues(N, copy, value);
        for (int i = 0; i < N; i++) {
            sum += value[i];
            sum2 += value[i] * value[i];
            assert_true(i == 0 || value[i] >= value[i - 1]);
        }
        check_near(sum, trace, 0, 1e-13, "trace");
        check_near(sum2, squares, 1e-13, 0, "sum of squares");
        for (int i = 0; i < N; i++) a[i * N + i] += 0.5 - value[0]; /* least eigenvalue 1/2 */
        for (int i = 0; i < N; i++) x[i] = b[i] = next(&seed);
        memcpy(copy, a, sizeof a);
        assert_true(mfpg_symmetric_solve(N, copy, x));
        for (int i = 0; i < N; i++) {
            double product = 0;
            for (int j = 0; j < N; j++) product += a[i * N + j] * x[j];
            check_near(product, b[i], 0, 1e-13, "residual"); /* condition below 20 */
        }
        for (int i = 0; i < N; i++) a[i * N + i] -= 1; /* least eigenvalue -1/2 */
        assert_false(mfpg_symmetric_solve(N, a, x));
    }
    double singular[9] = {1, 2, 3, 2, 4, 6, 3, 6, 10}, right[3] = {1, 1, 1}, zero[1] = {0};
    assert_false(mfpg_symmetric_solve(3, singular, right));
    assert_false(mfpg_symmetric_solve(1, zero, right));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_closed_forms),
        cmocka_unit_test(test_random_matrices),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
