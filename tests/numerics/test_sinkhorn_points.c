/* The symmetric projection in several dimensions, against closed forms, the full kernel and the projection in one. */
#include "testing.h"

#include "mfpg/random.h"
#include "mfpg/transport.h"

enum { MOST = 700 };

static void draw(uint64_t number, ptrdiff_t n, float *x) {
    mfpg_key key = mfpg_key_from_seed(testing_seed());
    mfpg_stream stream = mfpg_stream_open(&key, MFPG_PURPOSE_TEST, number, 0);
    mfpg_stream_gaussian(&stream, 0, n, x);
}

static mfpg_sinkhorn_result project(int threads, ptrdiff_t n, ptrdiff_t d, double eta, float *x) {
    mfpg_context *ctx = testing_context(threads);
    mfpg_sinkhorn_result result = {0};
    CHECK_OK(ctx, mfpg_sinkhorn_project_points(ctx, n, d, (mfpg_regularisation){.value = eta}, x, &result));
    mfpg_context_destroy(ctx);
    assert_true(result.converged && result.residual <= 1e-9 && result.kernel_error < 1e-11);
    return result;
}

/* Two points at distance r move to distance r tanh(r^2/(2 eta)), along their line. */
static void test_a_pair_moves_along_its_line(void **state) {
    (void)state;
    for (ptrdiff_t d = 2; d <= 9; d++) {
        float x[18] = {0}, direction[9];
        double r2 = 0.0;
        draw((uint64_t)d, d, direction);
        for (ptrdiff_t k = 0; k < d; k++) x[k] = direction[k] + 3.0f, x[d + k] = 3.0f - direction[k];
        for (ptrdiff_t k = 0; k < d; k++) r2 += pow((double)x[k] - (double)x[d + k], 2);
        double factor = tanh(r2 / (2.0 * 0.8 * (double)d));
        float before[18];
        memcpy(before, x, sizeof x);
        project(1, 2, d, 0.8 * (double)d, x);
        for (ptrdiff_t k = 0; k < d; k++) /* the residual 1e-9, then floats near 3 to 2^-23 each */
            check_near((double)x[k] - (double)x[d + k], factor * ((double)before[k] - (double)before[d + k]),
                1e-8, 6e-7, "image of a pair");
    }
}

static void reference(ptrdiff_t n, ptrdiff_t d, double eta, const float *x, double *y) {
    double *kernel = malloc((size_t)(n * n) * sizeof *kernel), u[MOST], f[MOST];
    for (ptrdiff_t i = 0; i < n; i++)
        for (ptrdiff_t j = 0; j < n; j++) {
            double r2 = 0.0;
            for (ptrdiff_t k = 0; k < d; k++) r2 += pow((double)x[i * d + k] - (double)x[j * d + k], 2);
            kernel[i * n + j] = exp(-r2 / eta);
        }
    for (ptrdiff_t i = 0; i < n; i++) u[i] = 1.0;
    for (int round = 0; round < 45; round++) {
        for (ptrdiff_t i = 0; i < n; i++) {
            f[i] = 0.0;
            for (ptrdiff_t j = 0; j < n; j++) f[i] += kernel[i * n + j] * u[j];
        }
        for (ptrdiff_t i = 0; i < n; i++) u[i] = sqrt(u[i] / f[i]);
    }
    for (ptrdiff_t i = 0; i < n; i++)
        for (ptrdiff_t k = 0; k < d; k++) {
            y[i * d + k] = 0.0;
            for (ptrdiff_t j = 0; j < n; j++)
                y[i * d + k] += u[i] * kernel[i * n + j] * u[j] * (double)x[j * d + k];
        }
    free(kernel);
}

static void test_images_match_the_full_kernel(void **state) {
    (void)state;
    const ptrdiff_t sizes[] = {1, 2, 3, 5, 63, 64, 65, 257, MOST}, dimensions[] = {2, 3, 8};
    const double etas[] = {1e-2, 0.5, 10, 1e4};
    for (size_t s = 0; s < sizeof sizes / sizeof sizes[0]; s++)
        for (size_t k = 0; k < 3; k++) {
            ptrdiff_t n = sizes[s], d = dimensions[k];
            float x[MOST * 8];
            double y[MOST * 8], sum[2] = {0};
            draw(100 * s + k, n * d, x);
            reference(n, d, etas[(s + k) % 4], x, y);
            for (ptrdiff_t i = 0; i < n * d; i++) sum[0] += (double)x[i];
            mfpg_sinkhorn_result result = project(2, n, d, etas[(s + k) % 4], x);
            assert_true(result.variance_ratio <= 1.0 + 1e-12);
            for (ptrdiff_t i = 0; i < n * d; i++) {
                /* residuals of 1e-9 sqrt(n), then the rounding to float */
                check_near((double)x[i], y[i], 2 * 0x1p-24, 3e-8 * 4, "image against the full kernel");
                sum[1] += (double)x[i];
            }
            check_near(sum[1], sum[0], 0, 5 * 0x1p-24 * (double)(n * d), "sum of all coordinates");
        }
}

static void test_a_flat_cloud_is_one_dimensional(void **state) {
    (void)state;
    float line[300], plane[900];
    draw(7, 300, line);
    for (int i = 0; i < 300; i++) plane[3 * i] = 2.0f, plane[3 * i + 1] = line[i], plane[3 * i + 2] = -1.0f;
    mfpg_sinkhorn_result flat = project(1, 300, 3, 0.05, plane), one = project(1, 300, 1, 0.05, line);
    check_near(flat.variance_ratio, one.variance_ratio, 1e-8, 0, "variance ratio");
    for (int i = 0; i < 300; i++) {
        check_near((double)plane[3 * i + 1], (double)line[i], 2 * 0x1p-24, 2e-8, "coordinate that varies");
        assert_true(plane[3 * i] == 2.0f && plane[3 * i + 2] == -1.0f);
    }
}

static void test_threads_change_no_bit(void **state) {
    (void)state;
    float x[2][MOST * 4];
    draw(9, MOST * 4, x[0]);
    memcpy(x[1], x[0], sizeof x[0]);
    project(1, MOST, 4, 0.7, x[0]);
    project(4, MOST, 4, 0.7, x[1]);
    assert_memory_equal(x[0], x[1], sizeof x[0]);
}

static void test_far_offsets_and_duplicates_do_no_harm(void **state) {
    (void)state;
    float x[40], y[40];
    draw(11, 20, x);
    memcpy(x + 20, x, 20 * sizeof *x); /* every point twice */
    for (int i = 0; i < 40; i++) x[i] = (float)(int)(64 * x[i]) / 64, y[i] = x[i] + 65536.0f;
    project(1, 20, 2, 0.3, x);
    project(1, 20, 2, 0.3, y);
    for (int i = 0; i < 20; i++) assert_true(x[i] == x[i + 20] && y[i] == y[i + 20]);
    for (int i = 0; i < 40; i++)
        check_near((double)y[i] - 65536.0, (double)x[i], 0, 0x1p-8, "the same, far away, to its last float");
}

static void test_bad_arguments_are_refused(void **state) {
    (void)state;
    mfpg_context *ctx = testing_context(1);
    mfpg_sinkhorn_result result;
    float x[4] = {0, 1, 2, NAN};
    assert_int_equal(mfpg_sinkhorn_project_points(ctx, 2, 2, (mfpg_regularisation){.value = 1}, x, &result),
        MFPG_ERR_DOMAIN);
    assert_non_null(strstr(mfpg_context_message(ctx), "coordinate 1 of point 1 is nan"));
    x[3] = 3;
    const double bad[] = {0, -1, NAN, INFINITY};
    for (int i = 0; i < 4; i++)
        assert_int_equal(
            mfpg_sinkhorn_project_points(ctx, 2, 2, (mfpg_regularisation){.value = bad[i]}, x, &result),
            MFPG_ERR_DOMAIN);
    assert_int_equal(mfpg_sinkhorn_project_points(ctx, -1, 2, (mfpg_regularisation){.value = 1}, x, &result),
        MFPG_ERR_DOMAIN);
    assert_int_equal(mfpg_sinkhorn_project_points(ctx, 2, 0, (mfpg_regularisation){.value = 1}, x, &result),
        MFPG_ERR_DOMAIN);
    assert_int_equal(mfpg_sinkhorn_project_points(
                         ctx, (ptrdiff_t)1 << 40, 2, (mfpg_regularisation){.value = 1}, x, &result),
        MFPG_ERR_DOMAIN);
    CHECK_OK(ctx, mfpg_sinkhorn_project_points(ctx, 0, 2, (mfpg_regularisation){.value = 1}, x, &result));
    mfpg_context_destroy(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_pair_moves_along_its_line),
        cmocka_unit_test(test_images_match_the_full_kernel),
        cmocka_unit_test(test_a_flat_cloud_is_one_dimensional),
        cmocka_unit_test(test_threads_change_no_bit),
        cmocka_unit_test(test_far_offsets_and_duplicates_do_no_harm),
        cmocka_unit_test(test_bad_arguments_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
