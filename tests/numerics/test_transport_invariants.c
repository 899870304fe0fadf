/* What the barycentric map has to keep, at a hundred thousand points: four regularisations, N(0,1) and U(-.05, .05). */
#include "testing.h"

#include "mfpg/random.h"
#include "numerics/transport/transport_report.h"

enum { N = TESTING_SANITIZED ? 20352 : 100352, RUNS = 8 };

typedef struct pair {
    float x, y;
} pair;

typedef struct cloud {
    double eta;
    int even;
    float x[N], y[N]; /* before and after */
    pair sorted[N];   /* by x */
    double mean, variance, largest;
    mfpg_sinkhorn_result result;
} cloud;

static int by_x(const void *a, const void *b) {
    const pair *p = a, *q = b;
    return (p->x > q->x) - (p->x < q->x);
}

static double mean_of(const float *x) {
    double sum = 0.0;
    for (int i = 0; i < N; i++) sum += (double)x[i];
    return sum / N;
}

static double covariance_of(const float *x, const float *y) {
    double sum = 0.0, a = mean_of(x), b = mean_of(y);
    for (int i = 0; i < N; i++) sum += ((double)x[i] - a) * ((double)y[i] - b);
    return sum / N;
}

static mfpg_sinkhorn_result project(mfpg_regularisation regularisation, float *x) {
    mfpg_context *ctx = testing_context(1);
    mfpg_sinkhorn_result result = {0};
    CHECK_OK(ctx, mfpg_sinkhorn_project(ctx, N, regularisation, x, &result));
    mfpg_context_destroy(ctx);
    return result;
}

/* Run 0 .. RUNS - 1: the cloud, its image, and both in order. */
static cloud *make(int run) {
    static cloud c;
    mfpg_key key = mfpg_key_from_seed(testing_seed());
    mfpg_stream stream = mfpg_stream_open(&key, MFPG_PURPOSE_TEST, (uint64_t)run, 0);
    c.eta = pow(10.0, run / 2 - 3);
    c.even = run % 2;
    mfpg_stream_gaussian(&stream, 0, N, c.x);
    for (int i = 0; i < N && c.even; i++)
        c.x[i] = (float)(0.05 - 0.1 * (0.5 * erfc((double)c.x[i] / sqrt(2.0))));
    memcpy(c.y, c.x, sizeof c.x);
    c.mean = mean_of(c.x);
    c.variance = covariance_of(c.x, c.x);
    c.largest = 0.0;
    c.result = project((mfpg_regularisation){.value = c.eta}, c.y);
    assert_true(c.result.converged && c.result.residual <= 1e-9 && c.result.iterations <= 18);
    assert_true(c.result.eta == c.eta && 0.0 < c.result.kernel_error && c.result.kernel_error < 1e-9);
    for (int i = 0; i < N; i++) {
        c.sorted[i] = (pair){c.x[i], c.y[i]};
        c.largest = fmax(c.largest, fabs((double)c.x[i]));
    }
    qsort(c.sorted, N, sizeof *c.sorted, by_x);
    return &c;
}

/* Invariants 1 to 3: mean, order, and that the image is below the cloud in convex order. */
static void test_mean_order_and_contraction(void **state) {
    (void)state;
    for (int run = 0; run < RUNS; run++) {
        const cloud *c = make(run);
        /* kept but for the rounding of the images to float: N independent errors of 2^-25 of the largest at most */
        check_near(mean_of(c->y), c->mean, 0, 6 * 0x1p-25 * c->largest / sqrt(N), "mean");
        for (int i = 1; i < N; i++) {
            const pair *p = &c->sorted[i];
            assert_true(p[-1].y <= p->y && (p[-1].x != p->x || p[-1].y == p->y));
        }
        assert_true(c->sorted[0].x <= c->sorted[0].y && c->sorted[N - 1].y <= c->sorted[N - 1].x);
        assert_true(c->result.variance_ratio > 0.0 && c->result.variance_ratio < 1.0);
        check_near(
            c->result.variance_ratio, covariance_of(c->y, c->y) / c->variance, 1e-6, 1e-12, "variance ratio");
        for (double at = -1.0; at <= 1.0; at += 0.25) { /* convex: distances from any point, by Jensen */
            double before = 0.0, after = 0.0;
            for (int i = 0; i < N; i++) {
                before += fabs((double)c->x[i] - at * c->largest);
                after += fabs((double)c->y[i] - at * c->largest);
            }
            assert_true(after <= before * (1.0 + 1e-8));
        }
    }
}

/* Invariants 4 and 5: the population's slope rho = 4 s^2/(eta + sqrt(eta^2 + 16 s^4)) of normal clouds; of any, where eta is
 * far above the variance, 2 s^2/eta to first order. */
static void test_slopes_are_those_of_the_closed_forms(void **state) {
    (void)state;
    for (int run = 0; run < RUNS; run++) {
        const cloud *c = make(run);
        double slope = covariance_of(c->x, c->y) / c->variance, s2 = c->variance;
        double rho = 4.0 * s2 / (c->eta + sqrt(c->eta * c->eta + 16.0 * s2 * s2));
        if (!c->even) {
            /* the sample is not its population: kurtosis to 0.015 in 1e5, which counts by (1 - rho)^2, and tails */
            check_near(slope, rho, 0, TESTING_SANITIZED ? 2e-4 : 6e-5, "slope of a normal cloud");
            check_near(
                c->result.variance_ratio, rho * rho, 0, TESTING_SANITIZED ? 6e-4 : 2e-4, "its variance");
        } else if (c->eta >= 100.0 * s2) {
            /* the next term is smaller by s^2/eta; then the images' rounding to floats */
            check_near(slope, 2.0 * s2 / c->eta, 3.0 * s2 / c->eta, 1e-6, "slope far above the variance");
            check_near(slope, rho, 3.0 * s2 / c->eta, 1e-6, "and that of a normal cloud");
        }
    }
    /* measured by another program at this size, to two digits: what U(-.05, .05) keeps */
    const double kept[] = {0.027, 2.8e-4, 2.8e-6};
    for (int e = 1; e < 4; e++)
        check_near(
            make(2 * e + 1)->result.variance_ratio, kept[e - 1], 0.05, 0, "variance kept of even clouds");
}

/* Invariant 7: for small eta the map is x + (eta/4) (log density)', so it takes eta/2 off the variance of a smooth cloud, and
 * undoes noise of variance 2 e tau where eta = 4 e tau. */
static void test_small_regularisations_undo_noise(void **state) {
    (void)state;
    for (int run = 0; run < 4; run += 2) {
        const cloud *c = make(run);
        for (double at = -1.5; at < 2.0; at += 0.5) {
            double moved = 0.0,
                   place = 0.0; /* on average: a point's own drift follows the gaps of its sample */
            int count = 0;
            for (int i = 0; i < N; i++)
                if (fabs((double)c->x[i] - at) < 0.25) {
                    moved += (double)c->y[i] - (double)c->x[i];
                    place += (double)c->x[i];
                    count++;
                }
            check_near(moved / count, -0.25 * c->eta * place / count / c->variance, 0,
                (TESTING_SANITIZED ? 0.2 : 0.1) * c->eta, "drift to where points are denser");
        }
        check_near(c->result.variance_ratio * c->variance, c->variance - 0.5 * c->eta, 0, 0.02 * c->eta,
            "variance less eta/2");
    }
    const double noise = 0.02; /* 2 e tau */
    static float x[N];
    mfpg_key key = mfpg_key_from_seed(testing_seed());
    mfpg_stream stream = mfpg_stream_open(&key, MFPG_PURPOSE_TEST, 77, 0);
    mfpg_stream_gaussian(&stream, 0, N, x);
    double before = covariance_of(x, x);
    for (int i = 0; i < N; i++) x[i] *= (float)sqrt(1.0 + noise / before); /* as if noise had come to it */
    project((mfpg_regularisation){.value = 2.0 * noise}, x);
    check_near(covariance_of(x, x), before, 0, noise * noise, "the variance before the noise");
}

/* Invariant 6: y(a x + b; a^2 eta) = a y(x; eta) + b, here with a of which no power of two is near; a relative regularisation
 * follows by itself. */
static void test_scales_and_offsets_go_through(void **state) {
    (void)state;
    static float moved[N], relative[2][N];
    const double a = -0.7, b = 0.3;
    for (int run = 0; run < RUNS; run += 3) {
        const cloud *c = make(run);
        for (int i = 0; i < N; i++) moved[i] = (float)(a * (double)c->x[i] + b);
        for (int k = 0; k < 2; k++) memcpy(relative[k], k ? moved : c->x, sizeof moved);
        project((mfpg_regularisation){.value = a * a * c->eta}, moved);
        const mfpg_regularisation half = {.value = 0.5, .scale = MFPG_REGULARISATION_VARIANCE};
        mfpg_sinkhorn_result one = project(half, relative[0]), other = project(half, relative[1]);
        check_near(one.eta, 0.5 * c->variance, 1e-9, 0, "half the variance");
        check_near(other.eta, a * a * one.eta, 1e-6, 0, "half the variance of the other cloud");
        check_near(one.variance_ratio, other.variance_ratio, 1e-5, 0, "the same share of the variance");
        /* floats near b; the map stretches their rounding by 2 at most (theory S2.6), and eta is worth as much */
        double rounding = 4 * 0x1p-24 * (0.7 * c->largest + b);
        for (int i = 0; i < N; i += 7) {
            check_near((double)moved[i], a * (double)c->y[i] + b, 0, rounding, "scaled and moved");
            check_near(
                (double)relative[1][i], a * (double)relative[0][i] + b, 0, rounding, "likewise, relative");
        }
    }
}

/* A relative regularisation is the absolute one of the same cloud, to the bit; of a constant there is none. */
static void test_a_relative_regularisation_is_an_absolute_one(void **state) {
    (void)state;
    static float x[N], y[N];
    for (int run = 0; run < 2; run++) {
        memcpy(x, make(run)->x, sizeof x);
        memcpy(y, x, sizeof x);
        const mfpg_regularisation tenth = {.value = 0.1, .scale = MFPG_REGULARISATION_VARIANCE};
        mfpg_sinkhorn_result one = project(tenth, x);
        mfpg_sinkhorn_result other = project((mfpg_regularisation){.value = one.eta}, y);
        assert_memory_equal(x, y, sizeof x);
        assert_true(one.variance_ratio == other.variance_ratio && one.iterations == other.iterations);
    }
    for (int i = 0; i < N; i++) x[i] = y[i] = 0.1f;
    mfpg_sinkhorn_result none =
        project((mfpg_regularisation){.value = 0.1, .scale = MFPG_REGULARISATION_VARIANCE}, x);
    assert_memory_equal(x, y, sizeof x);
    assert_true(none.eta == 0.0 && none.variance_ratio == 1.0 && none.residual == 0.0 && none.converged);
}

/* Counted in any order, and in parts, projections give the same bits. */
static void test_reports_do_not_depend_on_the_order(void **state) {
    (void)state;
    mfpg_transport_report forward = {0}, backward = {0}, halves[2] = {{0}};
    double sum = 0.0;
    for (int i = 0; i < 100; i++) {
        const int at[] = {i, 99 - i};
        for (int k = 0; k < 2; k++) {
            const mfpg_sinkhorn_result r = {.iterations = at[k] * 37 % 18,
                .residual = 1e-9 * fabs(sin(at[k])),
                .kernel_error = 1e-12 * fabs(cos(at[k])),
                .variance_ratio = at[k] % 10 == 3 ? 0.01 : fabs(sin(at[k] * at[k]))};
            mfpg_transport_count(k ? &backward : &forward, at[k] % 7, &r);
            if (k == 0) mfpg_transport_count(&halves[at[k] % 2], at[k] % 7, &r);
            if (k == 0) sum += r.variance_ratio;
        }
    }
    mfpg_transport_add(&halves[1], &halves[0]);
    assert_memory_equal(&forward, &backward, sizeof forward);
    assert_memory_equal(&forward, &halves[1], sizeof forward);
    assert_int_equal(forward.projections, 100);
    assert_int_equal(forward.iterations, 17);
    check_near(mfpg_transport_mean_ratio(&forward), sum / 100, 0, 0x1p-30, "mean ratio");
    mfpg_transport_add(&forward, &(mfpg_transport_report){0});
    assert_memory_equal(&forward, &backward, sizeof forward);
    assert_true(isnan(mfpg_transport_mean_ratio(&(mfpg_transport_report){0})));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_mean_order_and_contraction),
        cmocka_unit_test(test_slopes_are_those_of_the_closed_forms),
        cmocka_unit_test(test_small_regularisations_undo_noise),
        cmocka_unit_test(test_scales_and_offsets_go_through),
        cmocka_unit_test(test_a_relative_regularisation_is_an_absolute_one),
        cmocka_unit_test(test_reports_do_not_depend_on_the_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
