/* The kernel summed by boxes against the kernel summed entry by entry, and the clouds that only boxes can carry. */
#include "testing.h"

#include <sys/resource.h>

#include "mfpg/random.h"
#include "mfpg/transport.h"
#include "numerics/transport/kernels.h"

static void draw(uint64_t number, ptrdiff_t n, float *x) {
    mfpg_key key = mfpg_key_from_seed(testing_seed());
    mfpg_stream stream = mfpg_stream_open(&key, MFPG_PURPOSE_TEST, number, 0);
    mfpg_stream_gaussian(&stream, 0, n, x);
}

static int ascending(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* n ascending points from 0: normal, with clumps of equal ones and some far away. */
static void make_points(uint64_t number, ptrdiff_t n, double *x) {
    float *drawn = malloc((size_t)n * sizeof *drawn);
    draw(number, n, drawn);
    for (ptrdiff_t i = 0; i < n; i++) {
        x[i] = (double)drawn[i];
        if (i % 7 == 3) x[i] = x[i - 1];
        if (i % 97 == 5) x[i] *= 40.0;
    }
    qsort(x, (size_t)n, sizeof *x, ascending);
    for (ptrdiff_t i = n; i-- > 0;) x[i] -= x[0];
    free(drawn);
}

static void check_products(ptrdiff_t n, double eta, const double *x, const double *u) {
    mfpg_context *ctx = testing_context(1);
    mfpg_kernel boxes = {0}, rows = {0};
    double *out = malloc(5 * (size_t)n * sizeof *out), *a = out, *b = a + n, *c = b + n, *d = c + n;
    CHECK_OK(ctx, mfpg_kernel_boxes(ctx, n, x, eta, &boxes));
    CHECK_OK(ctx, mfpg_kernel_rows(ctx, n, x, eta, &rows));
    CHECK_OK(ctx, boxes.pull(ctx, boxes.self, u, c, d + n));
    CHECK_OK(ctx, boxes.weigh(ctx, boxes.self, u, a));
    CHECK_OK(ctx, rows.weigh(ctx, rows.self, u, b));
    CHECK_OK(ctx, rows.pull(ctx, rows.self, u, d, d + n));
    double bound = boxes.error(boxes.self, u) + rows.error(rows.self, u);
    double sum = 0.0, weights = 0.0, reach = fmin(14.0 * sqrt(eta), x[n - 1]);
    for (ptrdiff_t i = 0; i < n; i++) {
        /* the bound is for u_i out_i, the certificate of the row sums */
        check_near(u[i] * a[i], u[i] * b[i], 0, bound, "weight by boxes");
        /* distances reach over 13 boxes at most, so a pull is off by as many times the error of an entry */
        check_near(u[i] * c[i], u[i] * d[i], 0, reach * bound, "pull by boxes");
        sum += u[i] * c[i];
        weights += u[i];
    }
    /* exactly antisymmetric, so only roundings are left: of expansions of 12 terms for each pair of weights */
    check_near(sum, 0.0, 0, 100 * 0x1p-53 * reach * weights * weights, "sum of all pulls");
    mfpg_kernel_destroy(&boxes);
    mfpg_kernel_destroy(&rows);
    mfpg_context_destroy(ctx);
    free(out);
}

static void test_boxes_give_the_products_of_the_rows(void **state) {
    (void)state;
    const ptrdiff_t sizes[] = {1, 2, 7, 8, 9, 63, 500, 1503};
    const double etas[] = {1e-6, 1e-3, 0.04, 0.5, 3, 1e3, 1e9};
    double x[1503], u[1503];
    for (size_t s = 0; s < sizeof sizes / sizeof sizes[0]; s++)
        for (size_t e = 0; e < sizeof etas / sizeof etas[0]; e++) {
            make_points(100 * s + e, sizes[s], x);
            for (ptrdiff_t i = 0; i < sizes[s]; i++) u[i] = 0.1 + 0.9 * fabs(sin((double)i));
            check_products(sizes[s], etas[e], x, u);
        }
}

/* Clumps at every distance, from a box's width to far beyond the reach. */
static void test_gaps_between_boxes_are_skipped_and_nothing_else(void **state) {
    (void)state;
    double x[400], u[400];
    for (double gap = 0.4; gap < 40; gap *= 1.13) {
        for (int i = 0; i < 400; i++) {
            x[i] = (double)(i / 50) * gap + 0.31 * sin((double)(i % 50)) + 0.31;
            u[i] = 1.0 / (1 + i % 3);
        }
        qsort(x, 400, sizeof *x, ascending);
        for (int i = 400; i-- > 0;) x[i] -= x[0];
        check_products(400, 1.0, x, u);
    }
}

static mfpg_sinkhorn_result project(ptrdiff_t n, double eta, float *x) {
    mfpg_context *ctx = testing_context(1);
    mfpg_sinkhorn_result result = {0};
    CHECK_OK(ctx, mfpg_sinkhorn_project(ctx, n, (mfpg_regularisation){.value = eta}, x, &result));
    mfpg_context_destroy(ctx);
    return result;
}

static void test_reordering_a_large_cloud_changes_no_bit(void **state) {
    (void)state;
    enum { N = 30000 };
    static float x[N], y[N];
    draw(81, N, x);
    for (int i = 0; i < N; i += 5) x[i] = x[(i * 7) % N];
    for (int i = 0; i < N; i++) y[(i * 7919) % N] = x[i]; /* 7919 is prime and no factor of N */
    project(N, 0.03, x);
    project(N, 0.03, y);
    for (int i = 0; i < N; i++) assert_true(y[(i * 7919) % N] == x[i]);
}

/* Their kernel would take 8 TB. */
static void test_memory_is_linear(void **state) {
    (void)state;
    enum { N = TESTING_SANITIZED ? 100000 : 1000000 };
    float *x = malloc(N * sizeof *x);
    draw(91, N, x);
    struct rusage before, after;
    getrusage(RUSAGE_SELF, &before);
    mfpg_sinkhorn_result result = project(N, 0.01, x);
    getrusage(RUSAGE_SELF, &after);
    assert_true(result.converged);
    if (!TESTING_SANITIZED) assert_true(after.ru_maxrss - before.ru_maxrss < 100 * 1024); /* KiB */
    free(x);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_boxes_give_the_products_of_the_rows),
        cmocka_unit_test(test_gaps_between_boxes_are_skipped_and_nothing_else),
        cmocka_unit_test(test_reordering_a_large_cloud_changes_no_bit),
        cmocka_unit_test(test_memory_is_linear),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
