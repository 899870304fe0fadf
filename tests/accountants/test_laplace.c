/* The inverted Laplace transform: its parts against closed forms and brute force, its enclosures against a direct integral
 * and against each other. */
#include "accountants/fixture.h"

#include "accountants/exact/loss.h"
#include "accountants/sampled/sampled_steps.h"

static const loss_direction both[] = {LOSS_REMOVE, LOSS_ADD};

/* ---- moments ---- */

/* M(1) - 1 and M(2) - 1 of removing are E[(1+v)^2] - 1 and E[(1+v)^3] - 1: binomial sums (Mironov, Talwar, Zhang 2019). */
static void test_moments_meet_the_binomial_sums(void **state) {
    (void)state;
    const sampled_step kinds[] = {{0.01, 1, 1}, {1e-7, 1e-3, 1}, {0.5, 0.5, 1}, {0.999, 2, 1}, {1e-6, 4, 1}};
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        double q = kinds[i].rate, w2 = kinds[i].reach * kinds[i].reach, second = q * q * expm1(w2);
        double third = 3 * (1 - q) * q * q * expm1(w2) + q * q * q * expm1(3 * w2);
        for (int c = 1; c <= 2; c++) {
            loss_nodes *nodes = loss_nodes_open(&kinds[i], LOSS_REMOVE, c, 0.1, 4096);
            loss_value at = loss_nodes_next(nodes);
            double exact = c == 1 ? second : third;
            assert_true(fabsl(at.re - exact) <= at.error + 1e-15L * exact);
            assert_true(at.error <= 1e-10L * exact && fabsl(at.im) <= at.error); /* loosest at 1e-6, 4 */
            check_near(expm1(loss_moments_at(&kinds[i], LOSS_REMOVE, c).log_m), exact, 1e-8, 0, "real line");
            loss_nodes_close(nodes);
        }
    }
}

/* E[(1+v) e^(zl)] or E[e^(-zl)] on the real line with a tiny step, which is exact until e^(iyl) turns within a step. */
static void brute_moment(
    const sampled_step *kind, loss_direction direction, double c, double y, double out[2]) {
    double step = 1e-3, re = 0, im = 0;
    for (double u = -14; u < 14 + 2 * c * kind->reach; u += step) {
        double x = kind->reach * u - 0.5 * kind->reach * kind->reach, l = log1p(kind->rate * expm1(x));
        double loss = direction == LOSS_REMOVE ? l : -l;
        double size =
            exp(-0.5 * u * u + (direction == LOSS_REMOVE ? l : 0) + c * loss) * step / sqrt(2 * M_PI);
        re += size * cos(y * loss);
        im += size * sin(y * loss);
    }
    out[0] = re - 1;
    out[1] = im;
}

/* The three ways along the line: the recurrences, the same in double precision, and straight to a point. */
static void test_moments_along_the_line_are_within_their_errors(void **state) {
    (void)state;
    const sampled_step kinds[] = {{0.01, 1, 1}, {0.3, 0.7, 1}, {0.9, 0.2, 1}, {1e-4, 1.6, 1}};
    for (size_t i = 0; i < 4; i++)
        for (int d = 0; d < 2; d++) {
            double c = 2.5, h = 0.5, want[2];
            loss_nodes *nodes = loss_nodes_open(&kinds[i], both[d], c, h, 4096);
            for (int j = 0; j < 60; j++) {
                if (j == 30) loss_nodes_hurry(nodes);
                loss_value next = loss_nodes_next(nodes), at = loss_nodes_at(nodes, j * h);
                brute_moment(&kinds[i], both[d], c, j * h, want);
                assert_true(
                    hypot((double)next.re - want[0], (double)next.im - want[1]) <= next.error + 1e-13);
                assert_true(hypotl(next.re - at.re, next.im - at.im) <= next.error + at.error);
                assert_true(at.error < 1e-9 && next.error < 1e-12); /* no bound that bounds nothing */
            }
            loss_nodes_close(nodes);
        }
}

/* ---- the end of the sum ---- */

static void test_what_is_left_out_is_bounded(void **state) {
    (void)state;
    const sampled_step kinds[] = {{0.01, 1, 1000}, {0.2, 0.5, 50}, {0.05, 1.2, 30}};
    for (size_t i = 0; i < 3; i++)
        for (int d = 0; d < 2; d++) {
            double c = 4, h = 0.7;
            loss_nodes *nodes = loss_nodes_open(&kinds[i], both[d], c, h, 4096);
            decaying part = {&kinds[i], both[d], nodes, loss_nodes_next(nodes),
                sqrt(loss_moments_at(&kinds[i], both[d], c).variance) * (1 + 1e-6)};
            double from = 0, bound = INFINITY, sum = 0;
            int points = 0;
            for (; isinf(bound); from += h)
                bound = loss_decay_bound(&part, 1, 0, c, h, from + h, 12, &points);
            assert_true(points > 0 && points < 100);
            for (int j = 1; j < 20000; j++) {
                double y = from + j * h;
                loss_value at = loss_nodes_at(nodes, y);
                double size = hypot(1 + (double)at.re, (double)at.im) / (1 + (double)part.start.re);
                sum += h / (y * y) * pow(size, (double)kinds[i].count);
            }
            assert_true(sum <= bound);
            assert_true(
                bound <= 1e-4 / from); /* need 12: e^-12 is 6.1e-6, times a few for steps near the start */
            loss_nodes_close(nodes);
        }
}

/* ---- enclosures ---- */

/* delta of one step at any epsilon: below 0 by the other direction. */
static double one_step(const sampled_step *kind, int d, double epsilon) {
    if (epsilon >= 0) return sampled_step_delta(kind, both[d], epsilon).upper;
    return 1 - exp(epsilon) + exp(epsilon) * sampled_step_delta(kind, both[1 - d], -epsilon).upper;
}

/* Two steps: the mean of one step's curve over the other's loss. The midpoint rule is within 1e-8 of it, kinks included. */
static double two_steps(const sampled_step *kind, int d, double epsilon) {
    double step = 2e-4, sum = 0;
    for (double u = -12 + step / 2; u < 14; u += step) {
        double x = kind->reach * u - 0.5 * kind->reach * kind->reach, l = log1p(kind->rate * expm1(x));
        double density = exp(-0.5 * u * u + (d == 0 ? l : 0)) * step / sqrt(2 * M_PI);
        sum += density * one_step(kind, d, epsilon - (d == 0 ? l : -l));
    }
    return sum;
}

static void test_two_steps_meet_a_direct_integral(void **state) {
    (void)state;
    const sampled_step kinds[] = {{0.2, 1, 2}, {0.9, 0.5, 2}};
    for (size_t i = 0; i < 2; i++)
        for (int d = 0; d < 2; d++) {
            const loss_sum sum = {&kinds[i], 1, 0, both[d]};
            double epsilon = d == 0 ? 0.8 : 0.2, want = two_steps(&kinds[i], d, epsilon);
            mfpg_bounds found = laplace_delta(&sum, epsilon, 1e-5);
            assert_true(found.lower <= want * (1 + 1e-6) && found.upper >= want * (1 - 1e-6));
            assert_true(found.upper - found.lower <= 1e-5 * found.upper);
        }
}

/* One step through the general path, which has a closed form. */
static void test_one_step_meets_the_closed_form(void **state) {
    (void)state;
    const sampled_step kinds[] = {{0.9, 0.5, 1}, {0.3, 1, 1}};
    for (size_t i = 0; i < 2; i++)
        for (int d = 0; d < 2; d++) {
            const loss_sum sum = {&kinds[i], 1, 0, both[d]};
            mfpg_bounds want = sampled_step_delta(&kinds[i], both[d], 0.1),
                        found = laplace_delta(&sum, 0.1, 1e-4);
            assert_true(found.lower <= want.upper && found.upper >= want.lower);
            assert_true(found.upper - found.lower <= 1e-4 * found.upper && want.upper - want.lower < 1e-8);
            mfpg_bounds back = sampled_step_epsilon(&kinds[i], both[d], want.upper);
            check_near(back.upper, 0.1, 1e-9, 0, "and back");
            /* the ends of epsilon are those of delta, to the last bit */
            assert_true(sampled_step_delta(&kinds[i], both[d], back.upper).upper <= want.upper);
            assert_true(sampled_step_delta(&kinds[i], both[d], back.lower).lower >= want.upper);
        }
}

/* Almost no sampling, and none: both within the width of the Gaussian mechanism. Gaussian steps may also join. */
static void test_the_limit_of_no_sampling(void **state) {
    (void)state;
    for (int d = 0; d < 2; d++) {
        const sampled_step almost = {1 - 1e-9, 0.5, 9};
        double all = mfpg_gdp_epsilon(0.5 * sqrt(10), 1e-5);
        mfpg_bounds found = laplace_epsilon(&(loss_sum){&almost, 1, 0.25, both[d]}, 1e-5, 1e-6);
        check_near(found.upper, all, 1e-6, 0, "q = 1 - 1e-9");
        found = laplace_epsilon(&(loss_sum){NULL, 0, 2.5, both[d]}, 1e-5, 1e-6);
        assert_true(
            found.lower <= all && found.upper >= all * (1 - 1e-12) && found.upper - found.lower < 1e-6);
    }
}

static sampled_step random_kind(uint64_t *random) {
    sampled_step kind = {random_scale(random, 1e-4, 1), 1 / random_scale(random, 0.4, 20), 0};
    kind.count = (int64_t)random_scale(random, 10, 1e6);
    return kind;
}

/* Asked more or less precisely, as one kind or as two of the same: the enclosures of one number meet. */
static void test_enclosures_of_one_number_meet(void **state) {
    (void)state;
    uint64_t random = announced_seed();
    for (int run = 0; run < testing_repeats(20); run++) {
        sampled_step kind = random_kind(&random), halves[] = {kind, kind};
        halves[0].count = kind.count / 3;
        halves[1].count = kind.count - kind.count / 3;
        double delta = random_scale(&random, 1e-10, 1e-3);
        for (int d = 0; d < 2; d++) {
            const loss_sum sum = {&kind, 1, 0, both[d]}, split = {halves, 2, 0, both[d]};
            mfpg_bounds fine = laplace_epsilon(&sum, delta, 1e-8), usual = laplace_epsilon(&sum, delta, 1e-6),
                        coarse = laplace_epsilon(&split, delta, 1e-3);
            assert_true(fmax(fine.lower, fmax(usual.lower, coarse.lower)) <=
                        fmin(fine.upper, fmin(usual.upper, coarse.upper)));
            assert_true(laplace_chernoff(&sum, delta) >= usual.lower);
            if (!(fine.lower > 0)) continue;
            mfpg_bounds there = laplace_delta(&sum, fine.upper, 1e-4); /* what is delta there? */
            assert_true(there.lower <= delta && there.upper >= delta * (1 - 1e-3));
        }
    }
}

/* Adding at an epsilon within a few units of mu, where all that is sampled away is next to nothing or nearly everything. Values:
 * q (1 - (1 - e^-e)/q) e^e G(-log(1 - (1 - e^-e)/q)) of the Gaussian curve G at 60 digits. */
static void test_one_step_of_little_reach(void **state) {
    (void)state;
    const struct {
        double rate, noise, epsilon, delta;
    } rows[] = {
        {2.9408517347601237e-07, 2211553674.946908, 7.37291062431437e-17, 2.4137059954903249e-17},
        {0.9995389249579058, 6385482.138799176, 1.0405583126526625e-08, 5.7382782566845045e-8},
        {0.9927418989887334, 79913255.21100655, 8.323067906797724e-08, 1.8561642892752288e-20},
        {0.5, 100.0, 0.01, 4.1315693025969958e-5},
        {0.1, 2.0, 0.05, 0.0015459859939190762},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const sampled_step kind = {rows[i].rate, 1.0 / rows[i].noise, 1};
        mfpg_bounds bounds = sampled_step_delta(&kind, LOSS_ADD, rows[i].epsilon);
        /* 1/noise is rounded, which moves delta by some x^2 < 100 roundings. */
        assert_true(bounds.lower <= rows[i].delta * (1.0 + 2e-14));
        assert_true(
            bounds.upper >= rows[i].delta * (1.0 - 2e-14) && bounds.upper <= rows[i].delta * (1.0 + 1e-7));
    }
}

/* With so much fictitious noise that the curve is far from that of the steps the lower end is below it still. */
static void test_fictitious_noise_leaves_the_ends_sound(void **state) {
    (void)state;
    const sampled_step kind = {0.3, 1, 30};
    for (int d = 0; d < 2; d++) {
        const loss_sum sum = {&kind, 1, 0, both[d]};
        for (double epsilon = 1.0; epsilon < 6.0; epsilon += 1.5) {
            mfpg_bounds truth = laplace_delta(&sum, epsilon, 1e-8);
            loss_saddle at = loss_saddle_for(&sum, 1, epsilon);
            loss_line line = loss_line_for(&sum, at.c, epsilon, log(truth.upper), 1e-6);
            assert_true(truth.upper <= truth.lower * (1.0 + 1e-7) && line.h > 0.0);
            for (double tau2 = 1e-4; tau2 < 20.0; tau2 *= 3.0) {
                laplace_curve curve;
                double work = 1e8;
                if (laplace_curve_build(&sum, &line, tau2, epsilon, log(truth.upper), &work, &curve)) {
                    laplace_value here = laplace_curve_at(&curve, epsilon);
                    assert_true(here.lower <= truth.upper && here.upper >= truth.lower);
                }
                laplace_curve_clear(&curve);
            }
        }
    }
}

/* What fictitious noise takes off the lower end is t e^(t/8) p, with p = delta'' - delta' the density of the loss, by differences. */
static void test_the_lower_end_gives_up_what_the_density_says(void **state) {
    (void)state;
    const sampled_step kind = {0.3, 1, 30};
    const double step = 1e-3, tau2 = 0.03;
    for (int d = 0; d < 2; d++) {
        const loss_sum sum = {&kind, 1, 0, both[d]};
        loss_saddle at = loss_saddle_for(&sum, 1, 2.0);
        double log_delta = log(laplace_delta(&sum, 2.0, 1e-8).upper), work = 1e8;
        loss_line line = loss_line_for(&sum, at.c, 2.0, log_delta, 1e-9);
        laplace_curve curve;
        assert_true(laplace_curve_build(&sum, &line, tau2, 2.0, log_delta, &work, &curve));
        for (double epsilon = 1.0; epsilon < 3.25; epsilon += 0.5) {
            laplace_value here = laplace_curve_at(&curve, epsilon);
            double before = laplace_curve_at(&curve, epsilon - step).delta,
                   after = laplace_curve_at(&curve, epsilon + step).delta;
            double density =
                (after - 2 * here.delta + before) / (step * step) - (after - before) / (2 * step);
            check_near(here.delta - here.lower, tau2 * exp(tau2 / 8) * density, 1e-4, 0, "given up");
        }
        laplace_curve_clear(&curve);
    }
}

/* At a tiny delta the terms can cancel so far that slopes have the wrong sign; ends are then still ends, and found in time. */
static void test_cancelled_terms_end_the_search(void **state) {
    (void)state;
    const sampled_step kind = {1e-4, 0.02, 3};
    for (int d = 0; d < 2; d++) {
        const loss_sum sum = {&kind, 1, 0, both[d]};
        mfpg_bounds bounds = laplace_epsilon(&sum, 1e-30, 1e-6);
        assert_true(bounds.lower <= bounds.upper && bounds.lower >= 0.0);
        /* Sampling only helps. */
        assert_true(bounds.upper > 0.0 && bounds.upper < mfpg_gdp_epsilon(0.02 * sqrt(3.0), 1e-30));
        if (d == 1) assert_true(bounds.upper <= -3.0 * log1p(-1e-4) * (1.0 + 1e-9));
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_moments_meet_the_binomial_sums),
        cmocka_unit_test(test_moments_along_the_line_are_within_their_errors),
        cmocka_unit_test(test_what_is_left_out_is_bounded),
        cmocka_unit_test(test_two_steps_meet_a_direct_integral),
        cmocka_unit_test(test_one_step_meets_the_closed_form),
        cmocka_unit_test(test_the_limit_of_no_sampling),
        cmocka_unit_test(test_enclosures_of_one_number_meet),
        cmocka_unit_test(test_one_step_of_little_reach),
        cmocka_unit_test(test_fictitious_noise_leaves_the_ends_sound),
        cmocka_unit_test(test_the_lower_end_gives_up_what_the_density_says),
        cmocka_unit_test(test_cancelled_terms_end_the_search),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
