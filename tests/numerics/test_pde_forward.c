/* The forward equation: stationary laws, moments, mass, and what the paper prints. */
#include "testing.h"

#include "forward_line.h"

enum { MOST = FORWARD_MOST };

static double drift[MOST], control[MOST], density[MOST];

static double place(const forward_line *flow, ptrdiff_t i) {
    return flow->low + (double)i * (flow->high - flow->low) / (double)(flow->nodes - 1);
}

static forward_line flow_of(double width, ptrdiff_t nodes, mfpg_pde_scheme scheme, double tilt) {
    forward_line flow = {.low = -width,
        .high = width,
        .nodes = nodes,
        .drift = drift,
        .control = control,
        .horizon = 1,
        .steps = 100,
        .scheme = scheme};
    for (ptrdiff_t i = 0; i < nodes; i++) {
        drift[i] = -place(&flow, i);
        control[i] = 0.5 + tilt * tanh(place(&flow, i));
    }
    return flow;
}

static double mass_of(const forward_line *flow) {
    double sum = 0;
    for (ptrdiff_t i = 0; i < flow->nodes; i++) sum += density[i];
    return sum * (flow->high - flow->low) / (double)(flow->nodes - 1);
}

static void start_normal(const forward_line *flow, double mean, double variance) {
    for (ptrdiff_t i = 0; i < flow->nodes; i++)
        density[i] = exp(-0.5 * pow(place(flow, i) - mean, 2) / variance);
    double mass = mass_of(flow);
    for (ptrdiff_t i = 0; i < flow->nodes; i++) density[i] /= mass;
}

static void run(const forward_line *flow) {
    forward_run(flow, density);
}

/* eps mu = constant exp(int b/eps); the integral by 200 midpoints a cell. */
static double stationary_error(ptrdiff_t nodes, mfpg_pde_scheme scheme, double tilt) {
    forward_line flow = flow_of(5, nodes, scheme, tilt);
    static double exact[MOST];
    double h = 10.0 / (double)(nodes - 1), exponent = 0, total = 0, error = 0;
    for (ptrdiff_t i = 0; i < nodes; i++) {
        for (int j = 0; j < 200 && i > 0; j++) {
            double x = place(&flow, i) - h + (j + 0.5) * h / 200;
            exponent -= x / (0.5 + tilt * tanh(x)) * h / 200;
        }
        exact[i] = exp(exponent - 25) / control[i];
        total += exact[i] * h;
        density[i] = 1.0 / ((double)nodes * h);
    }
    flow.horizon = 1e6; /* implicit steps: four of them forget everything */
    flow.steps = 4;
    run(&flow);
    for (ptrdiff_t i = 0; i < nodes; i++) error += fabs(density[i] - exact[i] / total) * h;
    return error;
}

static double order_between(ptrdiff_t nodes, mfpg_pde_scheme scheme, double tilt) {
    return log2(stationary_error(nodes, scheme, tilt) / stationary_error(2 * nodes - 1, scheme, tilt));
}

/* source: transport_and_pde.md 4.6 a: upwind .97, .97, .98 and hybrid 2.02, 2.00, 1.95; with noise that varies .96,
 * .96, .98 and 1.98, 2.02, 2.02. The domain is not stated there. */
static void test_schemes_have_their_orders_on_three_grids(void **state) {
    (void)state;
    for (int varying = 0; varying < 2; varying++)
        for (ptrdiff_t nodes = 51; nodes <= 201; nodes = 2 * nodes - 1) {
            double tilt = varying ? 0.4 : 0.0;
            check_near(order_between(nodes, MFPG_PDE_UPWIND, tilt), 0.97, 0, 0.02, "order of upwind");
            check_near(order_between(nodes, MFPG_PDE_HYBRID, tilt), 2.00, 0, 0.06, "order of hybrid");
        }
}

/* m' = -m, s' = -2 s + 2 eps. */
static void test_ornstein_uhlenbeck_moments_in_closed_form(void **state) {
    (void)state;
    double error[2];
    for (int fine = 0; fine < 2; fine++) {
        forward_line flow = flow_of(6, 401, MFPG_PDE_HYBRID, 0.0);
        double h = 12.0 / 400, mean = 0, square = 0;
        flow.steps = fine ? 400 : 200;
        start_normal(&flow, 1, 0.25);
        run(&flow);
        for (ptrdiff_t i = 0; i < flow.nodes; i++) {
            mean += h * density[i] * place(&flow, i);
            square += h * density[i] * pow(place(&flow, i), 2);
        }
        error[fine] = fabs(mean - exp(-1.0));
        double variance = 0.25 * exp(-2.0) + 0.5 * (1 - exp(-2.0));
        /* Euler's steps: the decay over a unit of time errs by exp(-1) dt/2, of the variance by about as much */
        check_near(mean, exp(-1.0), 0, 0.55 * exp(-1.0) / (double)flow.steps, "mean");
        check_near(square - mean * mean, variance, 0, 1.0 / (double)flow.steps, "variance");
    }
    check_near(log2(error[0] / error[1]), 1.0, 0, 0.02, "order in time");
}

/* The second route on a small grid: exp(T A^T) by the Taylor series of a thousandth part and ten squarings. */
enum { SMALL = 9 };

static void exponential(double a[SMALL][SMALL]) {
    double sum[SMALL][SMALL] = {{0}}, term[SMALL][SMALL] = {{0}}, product[SMALL][SMALL];
    for (int i = 0; i < SMALL; i++) sum[i][i] = term[i][i] = 1;
    for (int k = 1; k <= 30 + 10; k++) {
        int squares = k > 30;
        for (int i = 0; i < SMALL; i++)
            for (int j = 0; j < SMALL; j++) {
                product[i][j] = 0;
                for (int m = 0; m < SMALL; m++)
                    product[i][j] += squares ? sum[i][m] * sum[m][j] : term[i][m] * a[m][j] / 1024 / k;
            }
        memcpy(squares ? sum : term, product, sizeof product);
        for (int i = 0; i < SMALL && !squares; i++)
            for (int j = 0; j < SMALL; j++) sum[i][j] += term[i][j];
    }
    memcpy(a, sum, sizeof sum);
}

static void test_steps_tend_to_the_matrix_exponential(void **state) {
    (void)state;
    forward_line flow = flow_of(2, SMALL, MFPG_PDE_HYBRID, 0.4);
    double h = 0.5, a[SMALL][SMALL] = {{0}}, expected[SMALL] = {0}, error[2];
    for (int i = 0; i < SMALL;
         i++) { /* here |b| h <= 2 eps at every node but the first two: the rates by hand */
        double noise = fmax(control[i], 0.5 * h * fabs(drift[i]));
        double up = i + 1 < SMALL ? noise / (h * h) + drift[i] / (2 * h) : 0;
        double down = i > 0 ? noise / (h * h) - drift[i] / (2 * h) : 0;
        a[i][i] = -up - down;
        if (i + 1 < SMALL) a[i + 1][i] = up; /* column i: what leaves node i */
        if (i > 0) a[i - 1][i] = down;
    }
    exponential(a);
    start_normal(&flow, 0.5, 0.5);
    for (int i = 0; i < SMALL; i++)
        for (int j = 0; j < SMALL; j++) expected[i] += a[i][j] * density[j];
    for (int fine = 0; fine < 2; fine++) {
        start_normal(&flow, 0.5, 0.5);
        flow.steps = fine ? 2000 : 1000;
        run(&flow);
        error[fine] = 0;
        for (int i = 0; i < SMALL; i++) error[fine] = fmax(error[fine], fabs(density[i] - expected[i]));
    }
    assert_true(error[1] < 2e-4);
    check_near(log2(error[0] / error[1]), 1.0, 0, 0.01, "order in time");
}

/* source: transport_and_pde.md 4.3: eps = .5+.4 tanh x, b = -x, t = .5: mass .99803 by the printed equation, 1 by that of
 * the appendix. The start is not stated; it is the standard normal. The limit is .998015, d mass/dt = int eps'' mu. */
static void test_the_printed_equation_loses_mass_and_the_derived_one_does_not(void **state) {
    (void)state;
    forward_line flow = flow_of(6, 401, MFPG_PDE_HYBRID, 0.4);
    flow.horizon = 0.5;
    flow.steps = 1000;
    start_normal(&flow, 0, 1);
    run(&flow);
    check_near(mass_of(&flow), 1, 0, 1e-13, "mass of the appendix's form");
    for (ptrdiff_t i = 0; i < flow.nodes; i++) assert_true(density[i] > 0);
    flow.printed = 1;
    start_normal(&flow, 0, 1);
    run(&flow);
    check_near(mass_of(&flow), 0.99803, 0, 3e-5, "mass of the printed form");
    /* and keeps it where the noise does not vary */
    flow = flow_of(6, 401, MFPG_PDE_HYBRID, 0);
    flow.printed = 1;
    start_normal(&flow, 0, 1);
    run(&flow);
    check_near(mass_of(&flow), 1, 0, 1e-12, "mass of the printed form with constant noise");
}

/* With eps'' known, one step of the printed form changes the mass by dt int eps'' mu: the second route of its size. */
static void test_the_printed_loss_is_the_second_derivative_of_the_control(void **state) {
    (void)state;
    forward_line flow = flow_of(6, 801, MFPG_PDE_HYBRID, 0.4);
    double h = 12.0 / 800, expected = 0;
    flow.printed = 1;
    flow.horizon = 1e-6;
    flow.steps = 1;
    start_normal(&flow, 1, 0.25);
    for (ptrdiff_t i = 0; i < flow.nodes; i++) {
        double t = tanh(place(&flow, i));
        expected += h * density[i] * 0.4 * -2 * t * (1 - t * t);
    }
    run(&flow);
    /* the second difference of eps errs by h^2/12 times its fourth derivative, some 1e-4; rounding 1e-16/1e-6 */
    check_near((mass_of(&flow) - 1) / 1e-6, expected, 1e-3, 0, "loss of mass a unit of time");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_schemes_have_their_orders_on_three_grids),
        cmocka_unit_test(test_ornstein_uhlenbeck_moments_in_closed_form),
        cmocka_unit_test(test_steps_tend_to_the_matrix_exponential),
        cmocka_unit_test(test_the_printed_equation_loses_mass_and_the_derived_one_does_not),
        cmocka_unit_test(test_the_printed_loss_is_the_second_derivative_of_the_control),
    };
    return cmocka_run_group_tests_name("numerics.pde_forward", tests, NULL, NULL);
}
