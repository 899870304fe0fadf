/* The bound of a composition (pld/pld.h) against closed forms and against an integral of them. */
#include "accountants/fixture.h"

#include "accountants/pld/pld.h"
#include "accountants/sampled/sampled_steps.h"

/* What discretisation may add to delta where delta is asked for: pld/grid_choice.c aims at 2e-3 of it for many steps; for one or two,
 * whose curves have kinks, a few times that. */
#define ABOVE 5e-2

static double curve_delta(const pld_mechanism *mechanism, pld_side side, pld_aim aim) {
    pld_curve *curve = NULL;
    assert_int_equal(pld_curve_create(mechanism, side, aim, &curve), MFPG_OK);
    assert_non_null(curve);
    double delta = pld_curve_delta(curve, aim.epsilon);
    pld_curve_destroy(curve);
    return delta;
}

static void check_above(double bound, double truth, double relative, const char *what) {
    if (bound >= truth * (1.0 - 1e-12) && bound <= truth * (1.0 + relative)) return;
    print_error("%s: bound %.17g of %.17g, off by %.3g\n", what, bound, truth, bound / truth - 1.0);
    fail();
}

static double closed_form(const sampled_step *kind, pld_side side, double epsilon) {
    return sampled_step_delta(kind, side == PLD_ADD ? LOSS_ADD : LOSS_REMOVE, epsilon).upper;
}

/* One step put on a grid, transformed and found again, against its closed form, on all sides. */
static void test_one_step_meets_its_closed_form(void **state) {
    (void)state;
    uint64_t random = announced_seed();
    for (int i = 0; i < testing_repeats(60); i++) {
        sampled_step step = {random_scale(&random, 1e-3, 0.999), random_scale(&random, 0.01, 4.0), 1};
        pld_mechanism mechanism = {.sampled = &step, .used = 1};
        pld_side side = (pld_side)(i % 3);
        sampled_step kind = pld_kind(&mechanism, side, 0);
        double most = side == PLD_ADD ? -0.5 * log1p(-step.rate) : log1p(step.rate * expm1(2.0 * kind.reach));
        double epsilon = i < 6 ? 0.0 : most * random_unit(&random);
        double truth = closed_form(&kind, side, epsilon);
        if (truth < 1e-30) continue; /* the curve is then steeper than any that a grid is made for */
        check_above(curve_delta(&mechanism, side, (pld_aim){epsilon > 0.0 ? truth : 0.0, epsilon}), truth,
            ABOVE, "one step");
    }
}

/* Steps without sampling are one step of the Gaussian mechanism. */
static void test_steps_without_sampling_meet_the_gaussian_curve(void **state) {
    (void)state;
    uint64_t random = announced_seed();
    for (int i = 0; i < testing_repeats(30); i++) {
        pld_mechanism mechanism = {.mu = random_scale(&random, 1e-3, 30.0)};
        pld_side side = (pld_side)(i % 3);
        double mu = side == PLD_REPLACE ? 2.0 * mechanism.mu : mechanism.mu;
        double epsilon = mu * (0.5 * mu + random_between(&random, 0.0, 7.0));
        double truth = mfpg_gdp_delta(mu, epsilon);
        check_above(curve_delta(&mechanism, side, (pld_aim){epsilon > 0.0 ? truth : 0.0, epsilon}), truth,
            ABOVE, "no sampling");
        double delta = random_scale(&random, 1e-100, 0.1), found = -1.0;
        assert_int_equal(pld_side_answer(&mechanism, side, 0, delta, &found), MFPG_OK);
        double exact = mfpg_gdp_epsilon(mu, delta);
        assert_true(found >= exact * (1.0 - 1e-11) && found <= exact + 1e-3 * fmin(1.0, exact) + 1e-15);
    }
}

/* ---- two steps: delta_2(epsilon) = E[delta_1(epsilon - L)], L the loss of the first one ---- */

/* The closed form at any epsilon: delta(e) = 1 - e^e + e^e delta_other_side(-e). */
static double one_step(const sampled_step *kind, pld_side side, double epsilon) {
    if (epsilon >= 0.0) return closed_form(kind, side, epsilon);
    pld_side back = side == PLD_REPLACE ? PLD_REPLACE : side == PLD_ADD ? PLD_REMOVE : PLD_ADD;
    return -expm1(epsilon) + exp(epsilon) * closed_form(kind, back, -epsilon);
}

/* The trapezoid rule in u. For replace the law of the first step is that of remove at losses above 0, its mirror image
 * below, and an atom at 0 (pld_cells.c). */
static double two_steps(
    const sampled_step *first, const sampled_step *second, pld_side side, double epsilon) {
    enum { NODES = 20000 };
    double q = first->rate, w = first->reach, low = side == PLD_REPLACE ? 0.5 * w : -9.0;
    double du = (w + 9.0 - low) / NODES, sum = 0.0;
    for (int i = 0; i <= NODES; i++) {
        double u = low + du * i, v, loss = sampled_loss(q, w, u, &v),
               part = (i == 0 || i == NODES ? 0.5 : 1.0) * du;
        double absent = exp(-0.5 * u * u) / sqrt(2.0 * M_PI),
               present = (1.0 - q) * absent + q * exp(-0.5 * (u - w) * (u - w)) / sqrt(2.0 * M_PI);
        if (side == PLD_ADD) sum += part * absent * one_step(second, side, epsilon + loss);
        if (side != PLD_ADD) sum += part * present * one_step(second, side, epsilon - loss);
        if (side == PLD_REPLACE) sum += part * absent * one_step(second, side, epsilon + loss);
    }
    if (side == PLD_REPLACE) sum += (1.0 - q) * erf(w / sqrt(8.0)) * one_step(second, side, epsilon);
    return sum;
}

static void test_two_steps_meet_the_integral_of_one(void **state) {
    (void)state;
    uint64_t random = announced_seed();
    for (int i = 0; i < testing_repeats(20); i++) {
        sampled_step steps[2] = {{random_scale(&random, 1e-3, 0.5), random_scale(&random, 0.1, 2.0), 1},
            {0.5 + 0.49 * random_unit(&random), random_scale(&random, 0.1, 2.0), 1}};
        pld_mechanism mechanism = {.sampled = steps, .used = 2};
        pld_side side = (pld_side)(i % 3);
        sampled_step first = pld_kind(&mechanism, side, 0), second = pld_kind(&mechanism, side, 1);
        double epsilon = random_between(&random, 0.0, 0.8) * first.reach;
        double truth = two_steps(&first, &second, side, epsilon);
        if (truth < 1e-10) continue; /* beyond the nodes */
        /* the integrand is smooth but for kinks where a loss ends: du^2 = 1e-6 */
        check_above(
            curve_delta(&mechanism, side, (pld_aim){epsilon > 0.0 ? truth : 0.0, epsilon}) * (1.0 + 2e-6),
            truth, ABOVE, "two different steps");
        steps[1] = steps[0];
        second = pld_kind(&mechanism, side, 1);
        sampled_step twice = steps[0];
        twice.count = 2;
        pld_mechanism squared = {.sampled = &twice, .used = 1};
        truth = two_steps(&first, &second, side, epsilon);
        if (truth < 1e-10) continue;
        check_above(
            curve_delta(&squared, side, (pld_aim){epsilon > 0.0 ? truth : 0.0, epsilon}) * (1.0 + 2e-6),
            truth, ABOVE, "two equal steps");
    }
}

/* The trap of theory "replace-one with Poisson sampling": remove and add at twice the reach lie below the truth. */
static void test_replace_is_not_remove_at_twice_the_reach(void **state) {
    (void)state;
    sampled_step step = {0.9, 1.0, 2};
    pld_mechanism mechanism = {.sampled = &step, .used = 1};
    double delta = -1.0;
    assert_int_equal(pld_side_answer(&mechanism, PLD_REPLACE, 1, 0.0, &delta), MFPG_OK);
    assert_true(delta >= 0.776277);
    step.reach = 2.0;
    for (int side = PLD_REMOVE; side <= PLD_ADD; side++) {
        assert_int_equal(pld_side_answer(&mechanism, (pld_side)side, 1, 0.0, &delta), MFPG_OK);
        assert_true(delta < 0.7763);
    }
}

/* ---- what one step is made of ---- */

/* Masses and the chance of infinity are at least those of the loss, together and weighted with e^-loss, and hardly more: nothing of them
 * is lost however fine the grid. Differences of divergences over h have errors of 1e-16/h here. */
static void test_masses_add_up_on_every_grid(void **state) {
    (void)state;
    const double grids[] = {1e-2, 1e-4, 0x1p-20};
    for (int side = PLD_REMOVE; side <= PLD_REPLACE; side++)
        for (int g = 0; g < 3; g++) {
            sampled_step step = {g == 0 ? 0.3 : 1e-3, 1.0, 1};
            pld_setting set = {.tilt = 0.0, .more_tilt = -1.0, .h = grids[g], .n = 256};
            set.kind[0].low = side == PLD_REPLACE ? 0.5 : -8.5;
            set.kind[0].high = 9.5;
            double *circle = calloc((size_t)set.n, sizeof *circle), total = 0.0;
            assert_non_null(circle);
            pld_spread spread;
            pld_cells_fold(&set, &step, (pld_side)side, 0, circle, &spread);
            for (ptrdiff_t k = 0; k < set.n; k++) total += circle[k];
            double offset = exp(-spread.offset), back = spread.further * exp(spread.log_further) * offset;
            double scale = exp(spread.log_scale);
            /* Q has all of P's mass but where P has none: for replace Q's share of the losses above u = 9.5 */
            double room = 1e-11 / fmin(1.0, 1e5 * grids[g]);
            check_near(total * scale + spread.infinite, 1.0, 0.0, room, "mass");
            assert_true(total * scale + spread.infinite >= 1.0 - 1e-15);
            double sums = 4e-16 * 7.0 / grids[g]; /* for as many additions, losses reach to 7 */
            check_near(back * scale, 1.0, 0.0, room + sums, "mass times e^-loss");
            free(circle);
        }
}

/* Replace: where hardly any other loss is near 0 the mass there is (1-q) erf(w/(2 sqrt 2)), what both laws share, and it is rounded up
 * whatever q and w are. */
static void test_what_both_laws_share_is_rounded_up(void **state) {
    (void)state;
    uint64_t random = announced_seed();
    for (int i = 0; i < testing_repeats(200); i++) {
        sampled_step step = {random_between(&random, 0.1, 0.9), random_between(&random, 16.0, 18.0), 1};
        pld_setting set = {.tilt = 0.0, .more_tilt = 0.0, .h = 2.0, .n = 512};
        set.kind[0].low = 0.5 * step.reach;
        set.kind[0].high = step.reach + 9.5;
        double circle[512] = {0};
        pld_spread spread;
        pld_cells_fold(&set, &step, PLD_REPLACE, 0, circle, &spread);
        long double shared = (1.0L - (long double)step.rate) * erfl((long double)step.reach / sqrtl(8.0L));
        assert_true((long double)circle[0] >= shared);
        assert_true(circle[0] <= (double)shared * (1.0 + 1e-14));
    }
}

/* ---- cases that no grid carries, and long ones ---- */

static void test_what_no_grid_carries_is_said_and_not_answered(void **state) {
    (void)state;
    const sampled_step hopeless[] = {{0.5, 100.0, 10}, {0.5, 1e-300, 3}, {0.5, 50.0, INT64_MAX}};
    for (int i = 0; i < 3; i++) {
        pld_mechanism mechanism = {.sampled = &hopeless[i], .used = 1};
        double epsilon = -1.0, delta = -1.0;
        assert_int_equal(pld_side_answer(&mechanism, PLD_REMOVE, 0, 1e-6, &epsilon), MFPG_OK);
        assert_int_equal(pld_side_answer(&mechanism, PLD_REMOVE, 1, 1.0, &delta), MFPG_OK);
        assert_true(epsilon >= 0.0 && delta >= 0.0 && delta <= 1.0);
        if (i != 1) assert_true(isinf(epsilon) && delta == 1.0);
    }
    pld_mechanism nothing = {0};
    double epsilon = -1.0, delta = -1.0;
    assert_int_equal(pld_answer(&nothing, MFPG_ADJACENCY_REPLACE, 0, 1e-6, &epsilon), MFPG_OK);
    assert_int_equal(pld_answer(&nothing, MFPG_ADJACENCY_ZERO_OUT, 1, 1.0, &delta), MFPG_OK);
    assert_true(epsilon == 0.0 && delta == 0.0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one_step_meets_its_closed_form),
        cmocka_unit_test(test_steps_without_sampling_meet_the_gaussian_curve),
        cmocka_unit_test(test_two_steps_meet_the_integral_of_one),
        cmocka_unit_test(test_replace_is_not_remove_at_twice_the_reach),
        cmocka_unit_test(test_masses_add_up_on_every_grid),
        cmocka_unit_test(test_what_both_laws_share_is_rounded_up),
        cmocka_unit_test(test_what_no_grid_carries_is_said_and_not_answered),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
