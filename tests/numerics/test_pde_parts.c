/* The pieces of the continuous game: the matrices of a step, the control of a node, Anderson's mixing. */
#include "testing.h"

#include <float.h>

#include "mfpg/random.h"
#include "numerics/pde/pde_parts.h"

enum { N = 12 };

static double uniform(mfpg_stream *stream) {
    double u;
    mfpg_stream_uniform(stream, stream->client++, 1, &u); /* the number of the stream counts the draws */
    return u;
}

static mfpg_stream stream_of(uint64_t round) {
    mfpg_key key = mfpg_key_from_seed(testing_seed());
    return mfpg_stream_open(&key, MFPG_PURPOSE_TEST, round, 0);
}

/* Rates over sixteen orders of magnitude, as a fine grid and a long step have them. */
static void draw_chain(mfpg_stream *stream, mfpg_chain *chain) {
    for (int i = 0; i < N; i++) {
        chain->up[i] = i + 1 < N ? pow(10.0, 16.0 * uniform(stream) - 8.0) : 0.0;
        chain->down[i] = i > 0 ? pow(10.0, 16.0 * uniform(stream) - 8.0) : 0.0;
    }
    mfpg_chain_factor(chain);
}

/* The second route: Gaussian elimination with pivoting on the full matrix, in long double. */
static void solve_dense(long double a[N][N], long double *x) {
    for (int k = 0; k < N; k++) {
        int best = k;
        for (int i = k + 1; i < N; i++)
            if (fabsl(a[i][k]) > fabsl(a[best][k])) best = i;
        for (int j = 0; j < N; j++) {
            long double held = a[k][j];
            a[k][j] = a[best][j];
            a[best][j] = held;
        }
        long double held = x[k];
        x[k] = x[best];
        x[best] = held;
        for (int i = k + 1; i < N; i++) {
            long double factor = a[i][k] / a[k][k];
            for (int j = k; j < N; j++) a[i][j] -= factor * a[k][j];
            x[i] -= factor * x[k];
        }
    }
    for (int k = N - 1; k >= 0; k--) {
        for (int j = k + 1; j < N; j++) x[k] -= a[k][j] * x[j];
        x[k] /= a[k][k];
    }
}

static void fill_dense(const mfpg_chain *chain, int transposed, long double a[N][N]) {
    memset(a, 0, sizeof(long double[N][N]));
    for (int i = 0; i < N; i++) {
        a[i][i] = 1.0L + (long double)chain->up[i] + (long double)chain->down[i];
        if (i + 1 < N) a[transposed ? i + 1 : i][transposed ? i : i + 1] = -(long double)chain->up[i];
        if (i > 0) a[transposed ? i - 1 : i][transposed ? i : i - 1] = -(long double)chain->down[i];
    }
}

static void test_steps_solve_the_matrix_and_its_transpose(void **state) {
    (void)state;
    double up[N], down[N], pivot[N], x[N], y[N];
    mfpg_chain chain = {N, up, down, pivot};
    mfpg_stream stream = stream_of(1);
    for (int r = 0; r < testing_repeats(200); r++) {
        long double a[N][N], dense[N];
        /* moderate rates, where the elimination that checks is accurate itself */
        for (int i = 0; i < N; i++) {
            up[i] = i + 1 < N ? 3.0 * uniform(&stream) : 0.0;
            down[i] = i > 0 ? 3.0 * uniform(&stream) : 0.0;
            x[i] = y[i] = uniform(&stream) - 0.5;
        }
        mfpg_chain_factor(&chain);
        mfpg_chain_solve(&chain, x);
        fill_dense(&chain, 0, a);
        for (int i = 0; i < N; i++) dense[i] = (long double)y[i];
        solve_dense(a, dense);
        for (int i = 0; i < N; i++) check_near(x[i], (double)dense[i], 1e-13, 1e-14, "solution");
        for (int i = 0; i < N; i++) dense[i] = (long double)y[i];
        mfpg_chain_solve_transposed(&chain, y);
        fill_dense(&chain, 1, a);
        solve_dense(a, dense);
        for (int i = 0; i < N; i++) check_near(y[i], (double)dense[i], 1e-13, 1e-14, "transposed");
    }
}

/* What makes the forward equation keep its mass, whatever the rates; and constants are kept backward. */
static void test_a_step_keeps_mass_sign_and_constants(void **state) {
    (void)state;
    double up[N], down[N], pivot[N], p[N], v[N];
    mfpg_chain chain = {N, up, down, pivot};
    mfpg_stream stream = stream_of(2);
    for (int r = 0; r < testing_repeats(2000); r++) {
        double before = 0, after = 0;
        draw_chain(&stream, &chain);
        for (int i = 0; i < N; i++) {
            p[i] = pow(10.0, -300.0 * uniform(&stream)) * (uniform(&stream) < 0.3 ? 0.0 : 1.0);
            v[i] = 1.0;
            before += p[i];
        }
        mfpg_chain_solve_transposed(&chain, p);
        mfpg_chain_solve(&chain, v);
        for (int i = 0; i < N; i++) {
            assert_true(p[i] >= 0.0);
            after += p[i];
            check_near(v[i], 1.0, 4 * N * DBL_EPSILON, 0, "a constant");
        }
        check_near(after, before, 4 * N * DBL_EPSILON, 0, "mass");
    }
}

static void test_any_tridiagonal_system_is_solved(void **state) {
    (void)state;
    mfpg_stream stream = stream_of(3);
    for (int r = 0; r < testing_repeats(200); r++) {
        double low[N], diagonal[N], high[N], x[N];
        long double a[N][N] = {{0}}, dense[N];
        for (int i = 0; i < N; i++) {
            low[i] = uniform(&stream) - 0.5;
            high[i] = uniform(&stream) - 0.5;
            a[i][i] = (long double)(diagonal[i] = 2.0 + uniform(&stream));
            if (i > 0) a[i][i - 1] = (long double)low[i];
            if (i + 1 < N) a[i][i + 1] = (long double)high[i];
            dense[i] = (long double)(x[i] = uniform(&stream) - 0.5);
        }
        mfpg_tridiagonal_solve(N, low, diagonal, high, x);
        solve_dense(a, dense);
        for (int i = 0; i < N; i++) check_near(x[i], (double)dense[i], 1e-13, 1e-14, "solution");
    }
}

/* source: theory_vectors.csv T131 to T137 (epsstar_closed); theta = alpha K tau/2, eps0 = (lambda + G)/alpha, and
 * C_d = min(sqrt d, 10) over sqrt N. */
static void test_the_closed_form_has_its_known_values_and_saturates(void **state) {
    (void)state;
    const struct {
        double alpha, rounds, tau, lambda, gradient;
        int d, clients;
        double beta, slope, expected;
    } known[] = {{1, 10, 0.1, 0.01, 0.5, 5, 5, 1, 0.1, 3.72887582487},
        {1, 10, 0.1, 0.01, 0.5, 5, 5, 1, 0.2, 2.34258146375}, {1, 10, 0.1, 0.01, 0.5, 5, 5, 1, -0.1, 5},
        {2, 20, 0.1, 0.01, 1, 20, 8, 1, 0.4, 1.53879163919},
        {1, 15, 0.1, 0.01, 0.3, 20, 8, 0.5, 0.3, 1.218385223}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        mfpg_pde_cost cost = {.scale = fmin(sqrt(known[i].d), 10) / sqrt(known[i].clients),
            .rate = 0.5 * known[i].alpha * known[i].rounds * known[i].tau,
            .offset = (known[i].lambda + known[i].gradient) / known[i].alpha};
        double e = mfpg_pde_optimal_control(&cost, known[i].beta, known[i].slope, 0.1, 5);
        check_near(e, known[i].expected, 1e-9, 0, "eps*"); /* the tolerance of the vectors */
    }
    const mfpg_pde_cost cost = {0.5, 2, 0.2};
    assert_true(mfpg_pde_optimal_control(&cost, 1, 0, 0.1, 5) == 5);
    assert_true(
        mfpg_pde_optimal_control(&cost, 1, 1e9, 0.1, 5) == 0.1); /* the logarithm's argument is small */
    assert_true(mfpg_pde_optimal_control(&cost, 0, 1, 0.1, 5) == 0.1);
    assert_true(isnan(mfpg_pde_optimal_control(&cost, 1, (double)NAN, 0.1, 5)));
    double last = 0;
    for (double beta = 0.5; beta < 3; beta *= 1.2) { /* the paper's prose has it falling */
        double e = mfpg_pde_optimal_control(&cost, beta, 0.4, 0.01, 50);
        assert_true(e > last && e > mfpg_pde_optimal_control(&cost, beta, 0.5, 0.01, 50));
        last = e;
    }
}

static double total(const mfpg_node *node, const mfpg_pde_cost *cost, double weight, double e) {
    return weight * mfpg_control_cost(cost, e) + mfpg_node_change(node, e);
}

static mfpg_node draw_node(mfpg_stream *stream, int scheme) {
    double h = pow(10.0, -2.0 * uniform(stream));
    return (mfpg_node){.scheme = (mfpg_pde_scheme)scheme,
        .h = h,
        .inverse_h = 1.0 / h,
        .drift = 8.0 * (uniform(stream) - 0.5),
        .pull = uniform(stream) < 0.3 ? 0.0 : 8.0 * (uniform(stream) - 0.5),
        .above = h * (uniform(stream) - 0.5),
        .below = h * (uniform(stream) - 0.5)};
}

/* No point of a fine mesh is better than the reply, over sign changes of the drift and switches of the scheme. */
static void test_the_reply_is_the_least_of_a_fine_mesh(void **state) {
    (void)state;
    mfpg_stream stream = stream_of(4);
    int several = 0;
    for (int r = 0; r < testing_repeats(400); r++) {
        mfpg_node node = draw_node(&stream, r % 2);
        double low = 0.5 * uniform(&stream) * (r % 3 > 0), weight = 2.0 * uniform(&stream);
        mfpg_controls controls = {.cost = {uniform(&stream), 0.5 + 3.0 * uniform(&stream), uniform(&stream)},
            .low = low,
            .high = low + 2.0 * uniform(&stream)};
        mfpg_reply reply = mfpg_node_reply(&node, &controls, weight);
        double found = total(&node, &controls.cost, weight, reply.control), least = (double)INFINITY;
        assert_true(reply.control >= controls.low && reply.control <= controls.high);
        check_near(reply.cost, weight * mfpg_control_cost(&controls.cost, reply.control), 1e-14, 0, "cost");
        for (int k = 0; k <= 4000; k++) {
            double e = controls.low + k * (controls.high - controls.low) / 4000.0;
            least = fmin(least, total(&node, &controls.cost, weight, e));
        }
        if (!(found <= least + 1e-12 * (1.0 + fabs(least)))) {
            print_error("seed %llu, repeat %d: reply %.17g costs %.17g, the mesh %.17g\n",
                (unsigned long long)testing_seed(), r, reply.control, found, least);
            fail();
        }
        several += reply.control > controls.low && reply.control < controls.high;
    }
    assert_true(several > 40); /* the draws are not all cut to the ends */
}

static void test_rates_are_those_of_a_chain_and_carry_drift_and_noise(void **state) {
    (void)state;
    mfpg_stream stream = stream_of(5);
    for (int r = 0; r < testing_repeats(2000); r++) {
        double h = pow(10.0, -2.0 * uniform(&stream)), drift = 10.0 * (uniform(&stream) - 0.5),
               e = uniform(&stream);
        mfpg_pde_scheme scheme = (mfpg_pde_scheme)(r % 2);
        mfpg_rates rates = mfpg_generator_rates(scheme, h, 1.0 / h, drift, e);
        double noise = mfpg_scheme_noise(scheme, h, drift, e);
        assert_true(rates.up >= 0 && rates.down >= 0 && noise >= e);
        check_near((rates.up - rates.down) * h, drift, 1e-12, 1e-12 * noise / h, "drift");
        check_near(0.5 * (rates.up + rates.down) * h * h, noise, 1e-12, 0, "noise");
        if (scheme == MFPG_PDE_HYBRID && fabs(drift) * h <= 2 * e) assert_true(noise == e);
    }
}

/* With as many differences as dimensions, mixing is exact on affine maps, here one on which plain iteration diverges. */
static void test_mixing_ends_on_affine_maps(void **state) {
    (void)state;
    const double matrix[3][3] = {{0.5, -1.2, 0.1}, {0.7, 0.4, -0.3}, {0.2, 0.9, -1.5}},
                 shift[3] = {1, -2, 0.5};
    double x[3] = {0}, f[3], size = 0;
    mfpg_pool memory = {0};
    mfpg_anderson mixing = mfpg_anderson_start(3, &memory);
    assert_false(memory.failed);
    for (int step = 0; step < 8; step++) {
        size = 0;
        for (int i = 0; i < 3; i++) {
            f[i] = shift[i] - x[i];
            for (int j = 0; j < 3; j++) f[i] += matrix[i][j] * x[j];
            size = fmax(size, fabs(f[i]));
        }
        mfpg_anderson_step(&mixing, step % 2 ? 1 : 0.3, x, f);
    }
    check_near(size, 0, 0, 1e-10, "residual after eight steps");
    mfpg_pool_clear(&memory);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_steps_solve_the_matrix_and_its_transpose),
        cmocka_unit_test(test_a_step_keeps_mass_sign_and_constants),
        cmocka_unit_test(test_any_tridiagonal_system_is_solved),
        cmocka_unit_test(test_the_closed_form_has_its_known_values_and_saturates),
        cmocka_unit_test(test_the_reply_is_the_least_of_a_fine_mesh),
        cmocka_unit_test(test_rates_are_those_of_a_chain_and_carry_drift_and_noise),
        cmocka_unit_test(test_mixing_ends_on_affine_maps),
    };
    return cmocka_run_group_tests_name("numerics.pde_parts", tests, NULL, NULL);
}
