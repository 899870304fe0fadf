/* The coupled game: its closed form, its certificate, its limits. */
#include "testing.h"

#include "forward_line.h"

static const double ONE = 1;

/* The game that has a closed form (transport_and_pde.md 4.6 c): with quadratic losses and no prior V_xx depends on time
 * alone, and the mean on nothing but kappa. */
static mfpg_pde_model oracle(void) {
    return (mfpg_pde_model){.potential = mfpg_pde_quadratic(1),
        .running = mfpg_pde_quadratic(1),
        .attraction = 0.5,
        .prior_variance = (double)INFINITY,
        .horizon = 1,
        .start_mean = 1,
        .start_variance = 0.25,
        .cost = {.scale = 0.5, .rate = 2, .offset = 0.2},
        .control_low = 0.05,
        .control_high = 1.5,
        .weight = &ONE,
        .types = 1};
}

/* A game without a closed form: two wells, a prior, and types that pull at one another. */
static const double WEIGHTS[] = {0.5, 1, 2}, SHARES[] = {0.5, 0.3, 0.2};
static mfpg_pde_model wells(void) {
    mfpg_pde_model model = oracle();
    model.potential = model.running = mfpg_pde_double_well(1, 0.5);
    model.prior_variance = 1;
    model.attraction = 2;
    model.start_mean = 0.3;
    model.weight = WEIGHTS;
    model.share = SHARES;
    model.types = 3;
    return model;
}

static mfpg_pde_options grid(double width, ptrdiff_t nodes, ptrdiff_t steps) {
    mfpg_pde_options options = mfpg_pde_options_default();
    options.low = -width;
    options.high = width;
    options.nodes = nodes;
    options.steps = steps;
    return options;
}

static mfpg_pde_solution *solve_with(
    int threads, const mfpg_pde_model *model, const mfpg_pde_options *options) {
    mfpg_context *ctx = testing_context(threads);
    mfpg_pde_solution *solution = NULL;
    CHECK_OK(ctx, mfpg_pde_solve(ctx, model, options, &solution));
    mfpg_context_destroy(ctx);
    return solution;
}

static mfpg_pde_solution *solve(const mfpg_pde_model *model, const mfpg_pde_options *options) {
    return solve_with(1, model, options);
}

typedef struct errors {
    double mean, variance, curvature, control;
} errors;

/* eps*(t) = clip(eps0 + log(theta C / A)/theta), A = q/(2k) (1 - exp(-2k(T-t))), k = kappa + lambda. */
static double exact_control(double t) {
    double a = (1 - exp(-3 * (1 - t))) / 3;
    return a > 0 ? fmin(fmax(0.2 + log(1 / a) / 2, 0.05), 1.5) : 1.5;
}

/* s' = -2 k s + 2 eps*(t) by variation of constants: 1e5 midpoints, exact to 1e-9 with the kink where eps* is cut. */
static double exact_variance(void) {
    double sum = 0.25 * exp(-3.0);
    for (int i = 0; i < 100000; i++) {
        double t = (i + 0.5) / 100000;
        sum += 2 * exact_control(t) * exp(-3 * (1 - t)) / 100000;
    }
    return sum;
}

static errors measure(mfpg_pde_scheme scheme, ptrdiff_t nodes, ptrdiff_t steps) {
    mfpg_pde_model model = oracle();
    mfpg_pde_options options = grid(8, nodes, steps);
    options.scheme = scheme;
    mfpg_pde_solution *s = solve(&model, &options);
    ptrdiff_t i = (nodes - 1) / 2;
    double a = (s->value[i + 1] - 2 * s->value[i] + s->value[i - 1]) / (s->step * s->step);
    errors e = {fabs(s->moments[steps].mean - exp(-1.0)), fabs(s->moments[steps].variance - exact_variance()),
        fabs(a - (1 - exp(-3.0)) / 3), fabs(s->control[i] - exact_control(0))};
    assert_true(s->converged && s->iterations <= 12);
    assert_true(s->mass_error <= 1e-13 && s->least_density > 0);
    assert_int_equal(s->policy_unfinished, 0);
    check_near(s->exploitability, 0, 0, 1e-12, "exploitability"); /* 200 x 50 x a rounding of a cost of 0.6 */
    assert_true(s->exploitability >= -1e-13);
    mfpg_pde_solution_destroy(s);
    return e;
}

/* source: the table of transport_and_pde.md 4.6 c. Its domain is not stated: on -8 to 8 all of its numbers appear. */
static void test_the_coupled_closed_form_is_reached_as_tabled(void **state) {
    (void)state;
    const struct {
        ptrdiff_t nodes, steps;
        errors upwind, hybrid;
    } table[] = {{101, 50, {7.3e-3, 4.1e-2, 1.3e-2, 2.0e-2}, {7.3e-3, 6.7e-3, 1.5e-3, 2.4e-3}},
        {201, 100, {3.7e-3, 2.0e-2, 6.5e-3, 1.0e-2}, {3.7e-3, 3.4e-3, 7.5e-4, 1.2e-3}},
        {401, 200, {1.8e-3, 1.0e-2, 3.3e-3, 5.1e-3}, {1.8e-3, 1.7e-3, 3.7e-4, 5.9e-4}}};
    check_near(exact_variance(), 0.745753, 0, 1e-6, "variance"); /* source: the same section */
    errors last = {0};
    for (int row = 0; row < 3; row++)
        for (int scheme = 0; scheme < 2; scheme++) {
            const errors *expected = scheme == MFPG_PDE_UPWIND ? &table[row].upwind : &table[row].hybrid;
            errors found = measure((mfpg_pde_scheme)scheme, table[row].nodes, table[row].steps);
            /* two printed digits: half of the last one is at most 4 percent */
            check_near(found.mean, expected->mean, 0.04, 0, "error of the mean");
            check_near(found.variance, expected->variance, 0.04, 0, "error of the variance");
            check_near(found.curvature, expected->curvature, 0.04, 0, "error of V_xx");
            check_near(found.control, expected->control, 0.04, 0, "error of eps*(0)");
            if (scheme == MFPG_PDE_HYBRID && row > 0) {
                check_near(log2(last.mean / found.mean), 1, 0, 0.05, "order of the mean");
                check_near(log2(last.variance / found.variance), 1, 0, 0.05, "order of the variance");
            }
            if (scheme == MFPG_PDE_HYBRID) last = found;
        }
    assert_true(fmax(last.mean, last.variance) <= 2e-3);
}

/* Where the control is in the open interval, it is the closed form of the discrete V_xx. */
static void test_the_control_is_the_closed_form_of_the_value(void **state) {
    (void)state;
    mfpg_pde_model model = oracle();
    mfpg_pde_options options = grid(8, 201, 100);
    mfpg_pde_solution *s = solve(&model, &options);
    int interior = 0;
    for (ptrdiff_t n = 0; n < s->steps; n++)
        for (ptrdiff_t i = 60; i <= 140; i++) {
            const double *v = s->value + n * s->nodes + i;
            double e = s->control[n * s->nodes + i], slope = (v[1] - 2 * v[0] + v[-1]) / (s->step * s->step);
            double expected = mfpg_pde_optimal_control(&model.cost, 1, slope, 0.05, 1.5);
            /* the old control stays where a new one gains less than rounding: 1e-14 of the Hamiltonian, 1e-7 of eps */
            check_near(e, expected, 0, 1e-6, "control");
            interior += e > 0.05 && e < 1.5;
        }
    assert_true(interior > 1000);
    mfpg_pde_solution_destroy(s);
}

/* What others play does not matter there, so a player that is alone pays the same as one of five types. */
static void test_types_are_solved_side_by_side(void **state) {
    (void)state;
    const double weights[] = {0.5, 1, 1.5};
    mfpg_pde_model model = oracle();
    mfpg_pde_options options = grid(8, 101, 50);
    mfpg_pde_solution *alone = solve(&model, &options);
    model.weight = weights;
    model.types = 3;
    mfpg_pde_solution *together = solve(&model, &options);
    ptrdiff_t field = (alone->steps + 1) * alone->nodes;
    for (ptrdiff_t i = 0; i < field; i++)
        check_near(together->density[field + i], alone->density[i], 1e-6, 1e-9, "density of the middle type");
    double last = 0;
    for (int k = 0; k < 3; k++) { /* the stronger the wish for privacy, the more noise */
        double e = together->moments[k * 51].mean_control;
        assert_true(e > last);
        last = e;
    }
    mfpg_pde_solution_destroy(alone);
    mfpg_pde_solution_destroy(together);
}

static void test_a_game_without_a_closed_form_has_its_certificate(void **state) {
    (void)state;
    mfpg_pde_model model = wells();
    mfpg_pde_options options = grid(4, 161, 80);
    mfpg_pde_solution *s = solve(&model, &options);
    assert_true(s->converged && s->residual <= 8e-10 && !s->fictitious);
    assert_true(s->mass_error <= 1e-13 && s->least_density > 0);
    check_near(s->exploitability, 0, 0, 1e-11, "exploitability");
    assert_true(s->exploitability >= -1e-12 && s->exploitability_largest >= s->exploitability - 1e-15);
    mfpg_pde_options plain = options;
    plain.method = MFPG_PDE_PICARD; /* the same equilibrium by another way */
    mfpg_pde_solution *other = solve(&model, &plain);
    for (ptrdiff_t n = 0; n <= s->steps; n++)
        check_near(s->mean_path[n], other->mean_path[n], 0, 1e-9, "path of the mean");
    mfpg_pde_solution_destroy(s);
    mfpg_pde_solution_destroy(other);
}

/* Without a closed form: the same game on three grids, each twice as fine in time, or in space. What is looked at is what
 * depends on the one much more than on the other: the cost hardly changes with the steps, the mean hardly with the nodes. */
static void test_finer_grids_agree_ever_better(void **state) {
    (void)state;
    mfpg_pde_model model = wells();
    double mean[3], cost[3];
    for (int k = 0; k < 3; k++) {
        mfpg_pde_options in_time = grid(4, 81, 20 << k), in_space = grid(4, (40 << k) + 1, 10);
        mfpg_pde_solution *s = solve(&model, &in_time);
        mean[k] = s->mean_path[s->steps];
        mfpg_pde_solution_destroy(s);
        s = solve(&model, &in_space);
        cost[k] = s->cost;
        mfpg_pde_solution_destroy(s);
    }
    check_near(log2((mean[0] - mean[1]) / (mean[1] - mean[2])), 1, 0, 0.1, "order in time, of the mean");
    check_near(log2((cost[0] - cost[1]) / (cost[1] - cost[2])), 2, 0, 0.1, "order in space, of the cost");
}

/* The closed form that the library offers is the one above, and is not offered where there is none. */
static void test_the_closed_form_is_offered_where_it_holds(void **state) {
    (void)state;
    mfpg_pde_model model = oracle();
    mfpg_pde_exact exact;
    assert_int_equal(mfpg_pde_closed_form(&model, 0, 1, &exact), 1);
    check_near(exact.variance, exact_variance(), 0, 1e-7, "variance");
    check_near(exact.mean, exp(-1.0), 1e-15, 0, "mean");
    assert_true(exact.curvature == 0 && exact.control == 1.5);
    assert_int_equal(mfpg_pde_closed_form(&model, 0, 0.3, &exact), 1);
    check_near(exact.control, exact_control(0.3), 1e-14, 0, "control");
    /* k = 0: A grows with the time that is left */
    model.potential = mfpg_pde_quadratic(0);
    model.attraction = 0;
    assert_int_equal(mfpg_pde_closed_form(&model, 0, 0.3, &exact), 1);
    check_near(exact.curvature, 0.7, 1e-15, 0, "V_xx");
    model.prior_variance = 1;
    assert_int_equal(mfpg_pde_closed_form(&model, 0, 0.3, &exact), 0);
    model = wells();
    assert_int_equal(mfpg_pde_closed_form(&model, 0, 0.3, &exact), 0);
}

/* One turn is a reply to a population that stays where it starts: something can be gained against its true flow. Each
 * further turn leaves less, also by fictitious play. */
static void test_what_has_not_converged_says_so_and_can_be_exploited(void **state) {
    (void)state;
    mfpg_pde_model model = wells();
    mfpg_pde_options options = grid(4, 161, 80);
    double last = (double)INFINITY, first = 0;
    const int turns[] = {1, 2, 3};
    for (int i = 0; i < 3; i++) {
        options.iterations = turns[i];
        options.method = MFPG_PDE_PICARD;
        mfpg_pde_solution *s = solve(&model, &options);
        assert_false(s->converged);
        assert_int_equal(s->iterations, turns[i]);
        assert_true(s->residual > 1e-9 && s->exploitability > 1e-15 && s->exploitability < 0.5 * last);
        last = s->exploitability;
        if (i == 0) first = last;
        mfpg_pde_solution_destroy(s);
    }
    options.method = MFPG_PDE_FICTITIOUS;
    options.iterations = 20;
    mfpg_pde_solution *s = solve(&model, &options);
    assert_true(!s->converged && s->exploitability < 1e-6);
    mfpg_pde_solution_destroy(s);
    options.method = MFPG_PDE_AUTO;
    options.iterations = 4; /* the second half falls back to it, and the best path is kept */
    s = solve(&model, &options);
    assert_true(!s->converged && s->fictitious && s->exploitability < 0.1 * first);
    mfpg_pde_solution_destroy(s);
}

/* A game whose replies overshoot: plain iteration goes round and round, and what it ends with can be exploited. Found by
 * trying a few hundred random games. */
static void test_secants_and_shorter_steps_end_where_plain_iteration_cycles(void **state) {
    (void)state;
    const double weights[] = {8.89, 0.246};
    mfpg_pde_model model = {.potential = mfpg_pde_double_well(1.04, 0.78),
        .running = mfpg_pde_double_well(0.559, 4.07),
        .attraction = 1.44,
        .prior_variance = 0.267,
        .horizon = 2.88,
        .start_mean = 0.724,
        .start_variance = 0.223,
        .cost = {0.243, 1.91, 0.2},
        .control_low = 0.05,
        .control_high = 1.94,
        .weight = weights,
        .types = 2};
    model.running.coefficient[1] = -0.27;
    mfpg_pde_options options = grid(4, 61, 180);
    options.iterations = 40;
    mfpg_pde_solution *s[3];
    for (int method = 0; method < 3; method++) {
        options.method = (mfpg_pde_method)method;
        s[method] = solve(&model, &options);
    }
    const mfpg_pde_solution *found = s[MFPG_PDE_AUTO], *played = s[MFPG_PDE_FICTITIOUS];
    assert_true(found->converged && !found->fictitious && found->exploitability < 1e-11);
    assert_true(!s[MFPG_PDE_PICARD]->converged && s[MFPG_PDE_PICARD]->exploitability > 0.1);
    /* fictitious play is on its way to the same place: 40 turns leave about a fortieth of the first error, and costs are
     * flat to first order at a reply */
    assert_true(!played->converged && played->exploitability < 1e-3);
    for (ptrdiff_t n = 0; n <= found->steps; n++)
        check_near(played->mean_path[n], found->mean_path[n], 0, 5e-2, "path of fictitious play");
    for (int method = 0; method < 3; method++) mfpg_pde_solution_destroy(s[method]);
}

/* A few controls: every policy of a tiny game tried by hand is no better than the value. */
static void test_few_controls_are_the_best_of_all_sequences(void **state) {
    (void)state;
    const double controls[] = {0.1, 0.5, 1.2};
    mfpg_pde_model model = oracle();
    model.controls = controls;
    model.control_count = 3;
    mfpg_pde_options options = grid(8, 101, 4);
    mfpg_pde_solution *s = solve(&model, &options);
    for (ptrdiff_t i = 0; i < (s->steps + 1) * s->nodes; i++)
        assert_true(s->control[i] == 0.1 || s->control[i] == 0.5 || s->control[i] == 1.2);
    double least = (double)INFINITY;
    for (int plan = 0; plan < 81; plan++) { /* controls that depend on time alone, each its own flow */
        double cost = 0, mean = 1;
        static double density[101], drift[101], control[101];
        for (int i = 0; i < 101; i++) density[i] = s->density[i];
        for (int n = 0, rest = plan; n < 4; n++, rest /= 3) {
            for (int i = 0; i < 101; i++) {
                double x = -8 + 0.16 * i;
                drift[i] = -x - 0.5 * (x - mean);
                control[i] = controls[rest % 3];
            }
            forward_run(&(forward_line){-8, 8, 101, drift, control, 0.25, 1, MFPG_PDE_HYBRID, 0}, density);
            mean = 0;
            for (int i = 0; i < 101; i++) {
                double x = -8 + 0.16 * i;
                mean += 0.16 * x * density[i];
                cost += 0.25 * 0.16 * density[i] * (0.5 * x * x + 0.5 * exp(-2 * (control[i] - 0.2)));
            }
        }
        least = fmin(least, cost);
    }
    /* the best feedback is no worse, and here, where V_xx hardly depends on x, hardly better */
    assert_true(s->cost <= least + 1e-12);
    check_near(s->cost, least, 1e-3, 0, "cost of the best plan in time");
    check_near(s->exploitability, 0, 0, 1e-12, "exploitability");
    mfpg_pde_solution_destroy(s);
}

/* With one constant control the flow is the gradient flow of the free energy, which falls and ends at its least value:
 * for L = x^2/2 and a prior of variance 1 the law N(0, eps/k), k = 1 + eps + lambda. */
static void test_the_free_energy_falls_along_a_flow_of_constant_noise(void **state) {
    (void)state;
    mfpg_pde_model model = oracle();
    model.control_low = model.control_high = 0.5;
    model.prior_variance = 1;
    model.horizon = 6;
    mfpg_pde_options options = grid(6, 401, 600);
    mfpg_pde_solution *s = solve(&model, &options);
    for (ptrdiff_t n = 0; n < s->steps;
         n++) /* the discrete flow ends h^2 beside the least: 1e-9 of the energy */
        assert_true(s->moments[n + 1].free_energy <= s->moments[n].free_energy + 1e-9);
    double variance = 0.5 / 2.0; /* k = 2 */
    double kl = 0.5 * (variance - 1 - log(variance));
    double least = 0.5 * variance + 0.5 * kl + 0.25 * variance;
    /* exp(-1.5 x 6) of the start's mean is left, squared 1e-8 */
    check_near(s->moments[s->steps].free_energy, least, 0, 2e-5, "free energy at the end");
    assert_true(s->moments[0].free_energy > least + 0.5);
    mfpg_pde_solution_destroy(s);
}

static void test_threads_change_no_bit(void **state) {
    (void)state;
    mfpg_pde_model model = wells();
    mfpg_pde_options options = grid(4, 121, 40);
    mfpg_pde_solution *one = solve_with(1, &model, &options), *many = solve_with(3, &model, &options);
    size_t count = (size_t)(one->types * (one->steps + 1) * one->nodes);
    assert_memory_equal(one->value, many->value, count * sizeof(double));
    assert_memory_equal(one->control, many->control, count * sizeof(double));
    assert_memory_equal(one->density, many->density, count * sizeof(double));
    assert_true(one->exploitability == many->exploitability && one->iterations == many->iterations);
    mfpg_pde_solution_destroy(one);
    mfpg_pde_solution_destroy(many);
}

/* The same game seen in a mirror, and with every cost doubled. */
static void test_mirrors_and_units_of_cost_change_nothing(void **state) {
    (void)state;
    mfpg_pde_model model = wells(), mirrored = wells(), doubled = wells();
    mfpg_pde_options options = grid(4, 121, 40);
    mirrored.start_mean = -model.start_mean;
    doubled.cost.scale *= 2;
    for (int k = 0; k < 5; k++) doubled.running.coefficient[k] *= 2;
    mfpg_pde_solution *a = solve(&model, &options), *b = solve(&mirrored, &options),
                      *c = solve(&doubled, &options);
    for (ptrdiff_t n = 0; n <= a->steps; n++) {
        /* a control stays where another gains less than rounding, so it is known to 1e-7 */
        check_near(b->mean_path[n], -a->mean_path[n], 0, 1e-8, "mean in the mirror");
        check_near(c->mean_path[n], a->mean_path[n], 0, 1e-8, "mean with costs doubled");
    }
    check_near(b->cost, a->cost, 1e-10, 0, "cost in the mirror");
    check_near(c->cost, 2 * a->cost, 1e-10, 0, "doubled cost");
    mfpg_pde_solution_destroy(a);
    mfpg_pde_solution_destroy(b);
    mfpg_pde_solution_destroy(c);
}

static void expect_refused(const mfpg_pde_model *model, const mfpg_pde_options *options, const char *words) {
    mfpg_context *ctx = testing_context(1);
    mfpg_pde_solution *solution = NULL;
    assert_int_equal(mfpg_pde_solve(ctx, model, options, &solution), MFPG_ERR_DOMAIN);
    assert_null(solution);
    if (!strstr(mfpg_context_message(ctx), words)) {
        print_error("no '%s' in: %s\n", words, mfpg_context_message(ctx));
        fail();
    }
    mfpg_context_destroy(ctx);
}

static void test_grids_that_are_too_coarse_are_refused_with_the_reason(void **state) {
    (void)state;
    mfpg_pde_model model = oracle();
    mfpg_pde_options options = grid(8, 31, 50);
    expect_refused(&model, &options, "wider than the standard deviation 0.5; take at least 33 nodes");
    options.nodes = 33;
    mfpg_pde_solution_destroy(solve(&model, &options));
    options = grid(2, 401, 50);
    expect_refused(&model, &options, "does not hold the start: 0.0228 of its mass");
    options = grid(3.6, 401, 50);
    expect_refused(&model, &options, "too narrow");
    options = grid(8, 401, 2);
    expect_refused(&model, &options, "take at least 3 steps of time");
    options.steps = 3;
    mfpg_pde_solution_destroy(solve(&model, &options));
    options = grid(8, 101, 50);
    options.scheme = MFPG_PDE_UPWIND;
    model.control_high = 0.08;
    expect_refused(&model, &options, "or the hybrid scheme");
    options.scheme = MFPG_PDE_HYBRID;
    mfpg_pde_solution_destroy(solve(&model, &options));
}

static void test_wrong_numbers_are_refused_by_name(void **state) {
    (void)state;
    const double nan = (double)NAN, falling[] = {0.5, 0.1}, twice[] = {0.5, 0.5}, negative[] = {-1};
    const double shares[] = {0.7};
    const char *const words[] = {"the attraction", "prior's variance", "prior's variance", "the horizon",
        "mean at the start", "variance at the start", "the scale", "the rate", "the offset", "least control",
        "largest control", "increasing", "increasing", "a control is -1", "number of controls",
        "number of types", "weight is nan", "weight is -1", "sum of the types' shares", "of the loss",
        "of the running loss", "cost of the least control"};
    for (int k = 0; k < (int)(sizeof words / sizeof *words); k++) {
        mfpg_pde_model m = oracle();
        if (k == 0) m.attraction = -1;
        if (k == 1) m.prior_variance = 0;
        if (k == 2) m.prior_variance = nan;
        if (k == 3) m.horizon = nan;
        if (k == 4) m.start_mean = nan;
        if (k == 5) m.start_variance = 0;
        if (k == 6) m.cost.scale = nan;
        if (k == 7) m.cost.rate = 0;
        if (k == 8) m.cost.offset = (double)INFINITY;
        if (k == 9) m.control_low = -0.1;
        if (k == 10) m.control_high = 0.01;
        if (k >= 11 && k <= 13) m.controls = k == 11 ? falling : k == 12 ? twice : negative;
        m.control_count = k == 13 ? 1 : 2;
        if (k == 14) m.controls = falling, m.control_count = 0;
        if (k == 15) m.types = 0;
        if (k == 16) m.weight = &nan;
        if (k == 17) m.weight = negative;
        if (k == 18) m.share = shares;
        if (k == 19) m.potential.coefficient[3] = nan;
        if (k == 20) m.running.coefficient[0] = (double)INFINITY;
        if (k == 21) m.cost.rate = 1e6;
        mfpg_pde_options o = grid(8, 101, 50);
        expect_refused(&m, &o, words[k]);
    }
}

static void test_wrong_grids_are_refused_by_name(void **state) {
    (void)state;
    const char *const words[] = {"lower end", "upper end", "number of nodes", "number of nodes",
        "steps of time", "iterations", "tolerance", "scheme", "method", "2^28"};
    for (int k = 0; k < 10; k++) {
        mfpg_pde_model m = oracle();
        mfpg_pde_options o = grid(8, 101, 50);
        if (k == 0) o.low = (double)NAN;
        if (k == 1) o.high = -8;
        if (k == 2) o.nodes = 4;
        if (k == 3) o.nodes = PTRDIFF_MAX;
        if (k == 4) o.steps = 0;
        if (k == 5) o.iterations = 0;
        if (k == 6) o.tolerance = (double)NAN;
        if (k == 7) o.scheme = (mfpg_pde_scheme)2;
        if (k == 8) o.method = (mfpg_pde_method)3;
        if (k == 9) o.nodes = o.steps = 100000;
        expect_refused(&m, &o, words[k]);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_coupled_closed_form_is_reached_as_tabled),
        cmocka_unit_test(test_the_control_is_the_closed_form_of_the_value),
        cmocka_unit_test(test_types_are_solved_side_by_side),
        cmocka_unit_test(test_a_game_without_a_closed_form_has_its_certificate),
        cmocka_unit_test(test_finer_grids_agree_ever_better),
        cmocka_unit_test(test_the_closed_form_is_offered_where_it_holds),
        cmocka_unit_test(test_what_has_not_converged_says_so_and_can_be_exploited),
        cmocka_unit_test(test_secants_and_shorter_steps_end_where_plain_iteration_cycles),
        cmocka_unit_test(test_few_controls_are_the_best_of_all_sequences),
        cmocka_unit_test(test_the_free_energy_falls_along_a_flow_of_constant_noise),
        cmocka_unit_test(test_threads_change_no_bit),
        cmocka_unit_test(test_mirrors_and_units_of_cost_change_nothing),
        cmocka_unit_test(test_grids_that_are_too_coarse_are_refused_with_the_reason),
        cmocka_unit_test(test_wrong_numbers_are_refused_by_name),
        cmocka_unit_test(test_wrong_grids_are_refused_by_name),
    };
    return cmocka_run_group_tests_name("numerics.pde_solve", tests, NULL, NULL);
}
