#include "testing.h"

#include <float.h>

#include "base/streams.h"
#include "mfpg/random.h"
#include "mfpg/transport.h"

enum { MOST = 530 };

static const double HALF_ULP = 0x1p-24; /* of a float result, relative */

static void draw_normal(uint64_t number, ptrdiff_t n, float *x) {
    mfpg_key key = mfpg_key_from_seed(testing_seed());
    mfpg_stream stream = mfpg_stream_open(&key, MFPG_PURPOSE_TEST, number, 0);
    mfpg_stream_gaussian(&stream, 0, n, x);
}

static mfpg_sinkhorn_result project(ptrdiff_t n, double eta, float *x) {
    mfpg_context *ctx = testing_context(1);
    mfpg_sinkhorn_result result = {0};
    CHECK_OK(ctx, mfpg_sinkhorn_project(ctx, n, (mfpg_regularisation){.value = eta}, x, &result));
    mfpg_context_destroy(ctx);
    assert_true(result.converged && result.residual <= 1e-9);
    return result;
}

static double mean_of(ptrdiff_t n, const float *x) {
    double sum = 0;
    for (ptrdiff_t i = 0; i < n; i++) sum += (double)x[i];
    return sum / (double)n;
}

static double variance_of(ptrdiff_t n, const float *x) {
    double mean = mean_of(n, x), sum = 0;
    for (ptrdiff_t i = 0; i < n; i++) sum += ((double)x[i] - mean) * ((double)x[i] - mean);
    return sum / (double)n;
}

/* Two points at distance r: the image distance is r tanh(r^2 / (2 eta)), the mean stays. */
static void test_two_points_have_their_closed_form(void **state) {
    (void)state;
    /* source: theory_vectors.csv T127 and T128, S2.6 barycentric image of {0, r} */
    const struct {
        float r;
        double eta, first, second;
    } known[] = {
        {1.407262f, 1.0, 0.170669442658, 1.23659255734}, {0.5f, 0.1, 0.0379290900106, 0.462070909989}};
    for (int i = 0; i < 2; i++) {
        float x[2] = {0, known[i].r};
        project(2, known[i].eta, x);
        /* 1.407262 as a float errs by 3e-8 and the map stretches by 1.6 at most; then the result's rounding */
        check_near((double)x[0], known[i].first, 1e-7, 5e-8, "first point");
        check_near((double)x[1], known[i].second, 1e-7, 5e-8, "second point");
    }
    for (float r = 0.01f; r < 20.0f; r *= 1.37f) {
        float x[2] = {-0.5f * r, 0.5f * r};
        project(2, 0.8, x);
        double distance = (double)r * tanh((double)r * (double)r / 1.6);
        /* the plan is within the residual 1e-9 of the exact one */
        check_near((double)x[1] - (double)x[0], distance, 2 * HALF_ULP, 2e-9 * (double)r, "image distance");
    }
}

/* source: theory_vectors.csv T130: sup tanh u + 2u sech^2 u = 1.60163892941 at u = 0.990155, r = sqrt(2 eta u) */
static void test_the_map_of_a_pair_stretches_by_its_known_maximum(void **state) {
    (void)state;
    const double r = sqrt(2 * 0.990155), step = 0.0078125;
    float narrow[2] = {0, (float)(r - step)}, wide[2] = {0, (float)(r + step)};
    double between = (double)wide[1] - (double)narrow[1];
    project(2, 1.0, narrow);
    project(2, 1.0, wide);
    double slope = ((double)wide[1] - (double)wide[0] - (double)narrow[1] + (double)narrow[0]) / between;
    /* step^2 / 6 times a third derivative of some -4, and four roundings of 6e-8 over two steps */
    check_near(slope, 1.60163892941, 0, 6e-5, "slope at the maximum");
}

/* The second route: the full kernel with the C library's exp and averaging of the two half-steps (theta = 1/2). */
static void reference(ptrdiff_t n, double eta, const float *x, double *y) {
    double *kernel = malloc((size_t)(n * n) * sizeof *kernel), *u = malloc(2 * (size_t)n * sizeof *u),
           *sum = u + n;
    assert_true(kernel && u);
    for (ptrdiff_t i = 0; i < n; i++) {
        u[i] = 1;
        for (ptrdiff_t j = 0; j < n; j++) {
            double d = (double)x[i] - (double)x[j];
            kernel[i * n + j] = exp(-d * d / eta);
        }
    }
    for (int round = 0; round < 45; round++) {
        for (ptrdiff_t i = 0; i < n; i++) {
            sum[i] = 0;
            for (ptrdiff_t j = 0; j < n; j++) sum[i] += kernel[i * n + j] * u[j];
        }
        for (ptrdiff_t i = 0; i < n; i++) u[i] = sqrt(u[i] / sum[i]);
    }
    for (ptrdiff_t i = 0; i < n; i++) {
        y[i] = 0;
        for (ptrdiff_t j = 0; j < n; j++) y[i] += u[i] * kernel[i * n + j] * u[j] * (double)x[j];
    }
    free(kernel);
    free(u);
}

static void check_against_reference(ptrdiff_t n, double eta, float scale, uint64_t number) {
    float x[MOST];
    double expected[MOST], largest = 0;
    draw_normal(number, n, x);
    for (ptrdiff_t i = 0; i < n; i++) {
        x[i] *= scale;
        largest = fmax(largest, fabs((double)x[i]));
    }
    float before[MOST];
    memcpy(before, x, sizeof x);
    reference(n, eta, before, expected);
    mfpg_sinkhorn_result result = project(n, eta, x);
    assert_true(result.iterations <= 25);
    /* both plans have row sums 1 to 1e-9, hence scalings to 1e-9 sqrt(n); then the rounding to float */
    double tolerance = 1e-9 * sqrt((double)n) * largest;
    for (ptrdiff_t i = 0; i < n; i++)
        check_near((double)x[i], expected[i], 2 * HALF_ULP, tolerance, "image against the full kernel");
    check_near(mean_of(n, x), mean_of(n, before), 0, HALF_ULP * largest, "mean");
    double ratio = variance_of(n, x) / variance_of(n, before);
    /* rounding the images to float moves their standard deviation by at most that much */
    double rounding = 2 * HALF_ULP * largest / sqrt(variance_of(n, before));
    check_near(result.variance_ratio, ratio, 0, rounding, "variance ratio");
    assert_true(result.variance_ratio <= 1.0);
}

static void test_images_match_the_full_kernel_at_every_regularisation(void **state) {
    (void)state;
    const ptrdiff_t sizes[] = {3, 10, 101};
    const double etas[] = {1e-4, 1e-3, 1e-2, 0.1, 1, 10, 1000};
    for (size_t s = 0; s < 3; s++)
        for (size_t e = 0; e < sizeof etas / sizeof etas[0]; e++)
            check_against_reference(sizes[s], etas[e], e % 2 ? 0.05f : 1.0f, e);
    check_against_reference(MOST, 10.0, 1.0f, 9); /* too many entries to store: rows are made anew */
}

static void test_iterations_do_not_grow_with_n_or_regularisation(void **state) {
    (void)state;
    static float x[2000];
    for (double eta = 1e-6; eta < 1e4; eta *= 10) {
        draw_normal(20, 400, x);
        assert_true(project(400, eta, x).iterations <= 25);
    }
    draw_normal(21, 2000, x);
    assert_true(project(2000, 1e-3, x).iterations <= 25);
}

static int ascending(const void *a, const void *b) {
    float x = *(const float *)a, y = *(const float *)b;
    return (x > y) - (x < y);
}

static void test_the_map_keeps_order_and_range(void **state) {
    (void)state;
    float x[300];
    for (double eta = 1e-3; eta < 1e3; eta *= 10) {
        draw_normal(30, 300, x);
        x[7] = 100; /* far from the others */
        qsort(x, 300, sizeof *x, ascending);
        float low = x[0], high = x[299];
        project(300, eta, x);
        for (int i = 1; i < 300; i++) assert_true(x[i - 1] <= x[i]);
        assert_true(low <= x[0] && x[299] <= high);
    }
}

static void test_reordering_reorders_and_scaling_by_two_scales(void **state) {
    (void)state;
    float x[200], shuffled[200], doubled[200];
    ptrdiff_t order[200];
    mfpg_key key = mfpg_key_from_seed(testing_seed());
    mfpg_stream stream = mfpg_stream_open(&key, MFPG_PURPOSE_TEST, 41, 0);
    mfpg_stream_permutation(&stream, 200, order);
    draw_normal(40, 200, x);
    for (int i = 0; i < 200; i++) {
        shuffled[i] = x[order[i]];
        doubled[i] = 2 * x[i];
    }
    project(200, 0.05, x);
    project(200, 0.05, shuffled);
    project(200, 0.2, doubled);
    for (int i = 0; i < 200; i++) {
        assert_true(shuffled[i] == x[order[i]]);
        assert_true(doubled[i] == 2 * x[i]);
    }
}

/* Field failure O10: squares of differences, so that no cost is below 0 or lost in a common offset. */
static void test_duplicates_and_a_large_offset_do_no_harm(void **state) {
    (void)state;
    float x[96], moved[96];
    draw_normal(50, 32, x);
    for (int i = 0; i < 96; i++) {
        x[i] = roundf(16 * x[i % 32]) / 16; /* every value three times; 1e6 + x is exact */
        moved[i] = 1e6f + x[i];
    }
    mfpg_sinkhorn_result near = project(96, 0.1, x), far = project(96, 0.1, moved);
    assert_int_equal(near.iterations, far.iterations);
    assert_true(near.residual == far.residual);
    check_near(near.variance_ratio, far.variance_ratio, 1e-9, 0, "variance ratio with an offset");
    for (int i = 0; i < 96; i++) {
        assert_true(x[i] == x[i % 32] && moved[i] == moved[i % 32]);
        check_near(
            (double)moved[i], 1e6 + (double)x[i], 0, 0.5 / 16 + 1e-6, "with an offset"); /* floats near 1e6 */
    }
}

/* Field failure O12: a point whose kernel row holds nothing but itself stays where it is, and nothing becomes infinite;
 * the others go on as if it were not there. */
static void test_an_isolated_point_leaves_the_cluster_alone(void **state) {
    (void)state;
    float alone[40], with[41];
    draw_normal(55, 40, alone);
    memcpy(with, alone, sizeof alone);
    with[40] = 1e6f;
    project(40, 1.0, alone);
    project(41, 1.0, with);
    assert_true(with[40] == 1e6f);
    for (int i = 0; i < 40; i++) check_near((double)with[i], (double)alone[i], HALF_ULP * 4, 1e-8, "cluster");
}

/* Field failures O3 and O9: whatever the cloud and the regularisation, the flag is what the last residual says, and what
 * comes out is finite and within the range of what went in, converged or not. */
static void test_the_flag_is_that_of_the_residual(void **state) {
    (void)state;
    mfpg_context *ctx = testing_context(1);
    for (int round = 0; round < 200; round++) {
        float x[24];
        mfpg_sinkhorn_result result = {0};
        draw_normal(100 + (uint64_t)round, 24, x);
        float low = INFINITY, high = -INFINITY, scale = powf(10.0f, (float)(round % 13) - 6.0f);
        for (int i = 0; i < 24; i++) {
            x[i] *= i % 5 == 0 ? 1.0f : scale; /* clusters and points far from them */
            low = fminf(low, x[i]);
            high = fmaxf(high, x[i]);
        }
        CHECK_OK(ctx, mfpg_sinkhorn_project(
                          ctx, 24, (mfpg_regularisation){.value = pow(10.0, round % 17 - 10)}, x, &result));
        assert_int_equal(result.converged, result.residual <= 1e-9);
        assert_true(result.iterations <= 200 && isfinite(result.residual) && isfinite(result.variance_ratio));
        for (int i = 0; i < 24; i++) assert_true(x[i] >= low && x[i] <= high);
    }
    mfpg_context_destroy(ctx);
}

static void test_tiny_regularisation_changes_nothing(void **state) {
    (void)state;
    const double etas[] = {1e-30, 1e-100, 1e-200, 5e-324};
    for (int e = 0; e < 4; e++) {
        float x[50], before[50];
        draw_normal(60, 50, x);
        x[3] = x[4]; /* equal points share their mass and stay */
        memcpy(before, x, sizeof x);
        mfpg_sinkhorn_result result = project(50, etas[e], x);
        assert_memory_equal(x, before, sizeof x);
        check_near(result.variance_ratio, 1, 1e-15, 0, "variance ratio");
    }
}

static void test_huge_regularisation_collapses_to_the_mean(void **state) {
    (void)state;
    const double etas[] = {1e12, 1e100, DBL_MAX};
    for (int e = 0; e < 3; e++) {
        float x[50];
        draw_normal(61, 50, x);
        double mean = mean_of(50, x), variance = variance_of(50, x);
        /* y = mean + (2/eta) Var (x - mean) */
        mfpg_sinkhorn_result result = project(50, etas[e], x);
        for (int i = 0; i < 50; i++) check_near((double)x[i], mean, 2 * HALF_ULP, 1e-9, "collapse");
        assert_true(result.variance_ratio <= 1.01 * (4 * variance * variance / (etas[e] * etas[e])) + 1e-18);
    }
}

/* Normal quantiles at (i + 1/2) / n, by bisection. */
static void normal_grid(ptrdiff_t n, float *x) {
    for (ptrdiff_t i = 0; i < n; i++) {
        double low = -8, high = 8;
        for (int step = 0; step < 50; step++) {
            double middle = 0.5 * (low + high);
            if (0.5 * erfc(-middle / sqrt(2.0)) < ((double)i + 0.5) / (double)n)
                low = middle;
            else
                high = middle;
        }
        x[i] = (float)low;
    }
}

/* Slope of the map in the middle half of a grid of n normal quantiles, less that of the Gaussian law itself. N(m, s^2)
 * is mapped linearly, by k = sqrt(1 + a^2) - a with a = eta / (4 s^2). */
static double slope_error(ptrdiff_t n, double eta) {
    float x[MOST], y[MOST];
    normal_grid(n, x);
    memcpy(y, x, sizeof x);
    project(n, eta, y);
    double a = eta / (4 * variance_of(n, x)), inner = 0, square = 0;
    for (ptrdiff_t i = n / 4; i < 3 * n / 4; i++) {
        inner += (double)x[i] * (double)y[i];
        square += (double)x[i] * (double)x[i];
    }
    return fabs(inner / square - (sqrt(1 + a * a) - a));
}

static void test_a_normal_cloud_shrinks_by_the_gaussian_closed_form(void **state) {
    (void)state;
    for (double eta = 0.01; eta < 20; eta *= 4) {
        /* The grid has no tail beyond its last quantile, which pulls the middle too: an error that falls with n. */
        double coarse = slope_error(100, eta), fine = slope_error(480, eta);
        check_near(fine, 0, 0, 1.5e-3, "slope of the middle");
        assert_true(fine < 0.4 * coarse);
    }
}

static void test_no_point_one_point_and_a_constant_stay(void **state) {
    (void)state;
    float none = 7, one = -3.25f, constant[40], spread[3] = {-3e38f, 0, 3e38f};
    mfpg_sinkhorn_result result = project(0, 1.0, &none);
    assert_true(none == 7 && result.iterations == 0 && result.residual == 0 && result.variance_ratio == 1);
    result = project(1, 1.0, &one);
    assert_true(one == -3.25f && result.residual == 0 && result.variance_ratio == 1);
    for (int i = 0; i < 40; i++) constant[i] = 0.1f;
    result = project(40, 0.5, constant);
    for (int i = 0; i < 40; i++) assert_true(constant[i] == 0.1f);
    assert_true(result.variance_ratio == 1);
    project(3, 1.0, spread); /* the ends of the float range */
    assert_true(spread[0] == -3e38f && spread[1] == 0 && spread[2] == 3e38f);
}

static void test_bad_arguments_are_refused_and_change_nothing(void **state) {
    (void)state;
    mfpg_context *ctx = testing_context(1);
    mfpg_sinkhorn_result result = {.iterations = -5};
    static float x[4097];
    const double bad[] = {0, -1, (double)NAN, (double)INFINITY, -0.0};
    x[0] = 1, x[1] = 2;
    for (int i = 0; i < 5; i++)
        assert_int_equal(mfpg_sinkhorn_project(ctx, 2, (mfpg_regularisation){.value = bad[i]}, x, &result),
            MFPG_ERR_DOMAIN);
    assert_int_equal(
        mfpg_sinkhorn_project(ctx, -1, (mfpg_regularisation){.value = 1}, x, &result), MFPG_ERR_DOMAIN);
    assert_int_equal(
        mfpg_sinkhorn_project(ctx, (ptrdiff_t)1 << 31, (mfpg_regularisation){.value = 1}, x, &result),
        MFPG_ERR_DOMAIN);
    x[2] = NAN;
    assert_int_equal(
        mfpg_sinkhorn_project(ctx, 3, (mfpg_regularisation){.value = 1}, x, &result), MFPG_ERR_DOMAIN);
    assert_non_null(strstr(mfpg_context_message(ctx), "entry 2"));
    x[2] = -INFINITY;
    assert_int_equal(
        mfpg_sinkhorn_project(ctx, 3, (mfpg_regularisation){.value = 1}, x, &result), MFPG_ERR_DOMAIN);
    assert_true(x[0] == 1 && x[1] == 2 && result.iterations == -5);
    mfpg_context_destroy(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_two_points_have_their_closed_form),
        cmocka_unit_test(test_the_map_of_a_pair_stretches_by_its_known_maximum),
        cmocka_unit_test(test_images_match_the_full_kernel_at_every_regularisation),
        cmocka_unit_test(test_iterations_do_not_grow_with_n_or_regularisation),
        cmocka_unit_test(test_the_map_keeps_order_and_range),
        cmocka_unit_test(test_reordering_reorders_and_scaling_by_two_scales),
        cmocka_unit_test(test_duplicates_and_a_large_offset_do_no_harm),
        cmocka_unit_test(test_an_isolated_point_leaves_the_cluster_alone),
        cmocka_unit_test(test_the_flag_is_that_of_the_residual),
        cmocka_unit_test(test_tiny_regularisation_changes_nothing),
        cmocka_unit_test(test_huge_regularisation_collapses_to_the_mean),
        cmocka_unit_test(test_a_normal_cloud_shrinks_by_the_gaussian_closed_form),
        cmocka_unit_test(test_no_point_one_point_and_a_constant_stay),
        cmocka_unit_test(test_bad_arguments_are_refused_and_change_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
