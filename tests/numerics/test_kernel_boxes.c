/* The kernel summed by boxes against the kernel summed entry by entry, and the clouds that only boxes can carry. */
#include "testing.h"

#include <sys/resource.h>

#include "mfpg/random.h"
#include "mfpg/transport.h"
#include "numerics/transport/kernel_boxes.h"
#include "numerics/transport/kernel_rows.h"

enum { LARGE = TESTING_SANITIZED ? 20352 : 100352 };

static void draw(uint64_t number, ptrdiff_t n, float *x) {
    mfpg_key key = mfpg_key_from_seed(testing_seed());
    mfpg_stream stream = mfpg_stream_open(&key, MFPG_PURPOSE_TEST, number, 0);
    mfpg_stream_gaussian(&stream, 0, n, x);
}

/* Evenly on (-width/2, width/2), from normal numbers. */
static void draw_even(uint64_t number, ptrdiff_t n, double width, float *x) {
    draw(number, n, x);
    for (ptrdiff_t i = 0; i < n; i++) x[i] = (float)(width * (0.5 * erfc(-(double)x[i] / sqrt(2.0)) - 0.5));
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
    mfpg_kernel_boxes *boxes = NULL;
    mfpg_kernel_rows *rows = NULL;
    double *out = malloc(5 * (size_t)n * sizeof *out), *a = out, *b = a + n, *c = b + n, *d = c + n;
    CHECK_OK(ctx, mfpg_kernel_boxes_create(ctx, n, x, eta, &boxes));
    CHECK_OK(ctx, mfpg_kernel_rows_create(ctx, n, x, 1.0 / eta, &rows));
    mfpg_kernel_boxes_pull(boxes, u, c, d + n);
    mfpg_kernel_boxes_weigh(boxes, u, a);
    mfpg_kernel_rows_weigh(rows, u, b);
    mfpg_kernel_rows_pull(rows, u, d);
    double bound = mfpg_kernel_boxes_error(boxes, u) + mfpg_kernel_rows_error(rows, u);
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
    mfpg_kernel_boxes_destroy(boxes);
    mfpg_kernel_rows_destroy(rows);
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

static double mean_of(ptrdiff_t n, const float *x) {
    double sum = 0.0;
    for (ptrdiff_t i = 0; i < n; i++) sum += (double)x[i];
    return sum / (double)n;
}

/* The scaling that belongs to a cloud, by boxes, and some of its row sums with the C library's exp, entry by entry. */
static void check_rows_directly(ptrdiff_t n, double eta, const float *cloud) {
    mfpg_context *ctx = testing_context(1);
    mfpg_kernel_boxes *boxes = NULL;
    double *x = malloc(3 * (size_t)n * sizeof *x), *u = x + n, *f = u + n;
    for (ptrdiff_t i = 0; i < n; i++) x[i] = (double)cloud[i];
    qsort(x, (size_t)n, sizeof *x, ascending);
    for (ptrdiff_t i = n; i-- > 0;) x[i] -= x[0];
    CHECK_OK(ctx, mfpg_kernel_boxes_create(ctx, n, x, eta, &boxes));
    for (ptrdiff_t i = 0; i < n; i++) u[i] = 1.0;
    for (int round = 0; round < 22; round++) {
        mfpg_kernel_boxes_weigh(boxes, u, f);
        for (ptrdiff_t i = 0; i < n; i++)
            u[i] = round == 0 ? 1.0 / sqrt(f[i]) : u[i] * pow(u[i] * f[i], -2.0 / 3);
    }
    mfpg_kernel_boxes_weigh(boxes, u, f);
    double bound = mfpg_kernel_boxes_error(boxes, u);
    assert_true(bound < 1e-10);
    for (ptrdiff_t i = 0; i < n; i += n / 15) {
        double sum = 0.0;
        for (ptrdiff_t j = 0; j < n; j++) sum += exp(-(x[i] - x[j]) * (x[i] - x[j]) / eta) * u[j];
        /* 22 rounds of a third leave nothing of the residual; then the certificate, and n roundings of the sum */
        check_near(u[i] * sum, 1.0, 0, 1e-9, "row sum, entry by entry");
        check_near(u[i] * sum, u[i] * f[i], 0, bound + 1e-12, "row sum against its certificate");
    }
    mfpg_kernel_boxes_destroy(boxes);
    mfpg_context_destroy(ctx);
    free(x);
}

static void check_large(uint64_t number, int even, double eta) {
    static float x[LARGE], before[LARGE];
    static double sorted[2][LARGE];
    if (even)
        draw_even(number, LARGE, 0.1, x);
    else
        draw(number, LARGE, x);
    memcpy(before, x, sizeof x);
    mfpg_sinkhorn_result result = project(LARGE, eta, x);
    assert_true(result.converged && result.residual <= 1e-9 && result.iterations <= 18);
    assert_true(result.kernel_error > 0.0 && result.kernel_error < 1e-10);
    assert_true(result.variance_ratio > 0.0 && result.variance_ratio < 1.0);
    /* means of 1e5 floats, each rounded to 6e-8 of at most 5: the average of so many roundings */
    check_near(mean_of(LARGE, x), mean_of(LARGE, before), 0, 1e-8, "mean");
    for (ptrdiff_t i = 0; i < LARGE; i++) {
        /* a map that keeps the order: the images, sorted, belong to the points, sorted */
        sorted[0][i] = (double)before[i];
        sorted[1][i] = (double)x[i];
    }
    for (int s = 0; s < 2; s++) qsort(sorted[s], LARGE, sizeof sorted[s][0], ascending);
    assert_true(sorted[1][0] >= sorted[0][0] && sorted[1][LARGE - 1] <= sorted[0][LARGE - 1]);
    if (number % 3 == 0) check_rows_directly(LARGE, eta, before);
}

static void test_a_hundred_thousand_points_meet_their_row_sums(void **state) {
    (void)state;
    for (int e = 0; e < 4; e++)
        for (int even = 0; even < 2; even++) check_large((uint64_t)(2 * e + even), even, pow(10.0, e - 3));
}

/* Both routes at a size where the full kernel is still at hand: the images agree to 1e-8 of the spread. */
static void test_images_agree_with_the_full_kernel(void **state) {
    (void)state;
    enum { N = 2000 };
    static double kernel[N * (size_t)N];
    for (double eta = 1e-3; eta < 2; eta *= 30) {
        float x[N], y[N];
        double u[N], f[N];
        draw(71, N, x);
        memcpy(y, x, sizeof x);
        mfpg_sinkhorn_result result = project(N, eta, y);
        assert_true(result.converged);
        for (int i = 0; i < N; i++) {
            u[i] = 1.0;
            for (int j = 0; j < N; j++)
                kernel[i * (size_t)N + j] = exp(-pow((double)x[i] - (double)x[j], 2) / eta);
        }
        for (int round = 0; round < 35; round++) {
            for (int i = 0; i < N; i++) {
                f[i] = 0.0;
                for (int j = 0; j < N; j++) f[i] += kernel[i * (size_t)N + j] * u[j];
            }
            for (int i = 0; i < N; i++) u[i] = sqrt(u[i] / f[i]);
        }
        for (int i = 0; i < N; i++) {
            double image = 0.0;
            for (int j = 0; j < N; j++) image += u[i] * kernel[i * (size_t)N + j] * u[j] * (double)x[j];
            /* residuals of 1e-9; then the rounding to float, 6e-8 relative */
            check_near((double)y[i], image, 6e-8, 1e-8, "image");
        }
    }
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
        cmocka_unit_test(test_a_hundred_thousand_points_meet_their_row_sums),
        cmocka_unit_test(test_images_agree_with_the_full_kernel),
        cmocka_unit_test(test_reordering_a_large_cloud_changes_no_bit),
        cmocka_unit_test(test_memory_is_linear),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
