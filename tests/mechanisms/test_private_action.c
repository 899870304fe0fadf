/* Private actions: vectors of theory S4, the sensitivities of raw measurements, and the law of the choice. */
#include "fixture.h"

#include "mfpg/accountant.h"
#include "mechanisms/mechanism_ops.h"
#include "mechanisms/private_action.h"
#include "models/losses.h"

static mfpg_context *ctx;

/* ---- closed forms ---- */

/* T217, T218 (S4): T joint releases under replace, example of n rows. */
static void test_measurements_cost_what_the_reference_says(void **state) {
    const struct {
        const char *source;
        double rows, loss_clip, loss_noise, clip, gradient_noise, rounds, expected;
    } rows[] = {
        {"T217 S4", 200, 5, 0.25, 1, 0.1, 10, 0.4472135955},
        {"T218 S4", 500, 10, 0.2, 1, 0.05, 15, 0.495983870705},
    };
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        mfpg_measurement change = {rows[i].loss_clip / rows[i].rows, 2 * rows[i].clip / rows[i].rows};
        mfpg_measurement noise = {rows[i].loss_noise, rows[i].gradient_noise};
        double mu = sqrt(rows[i].rounds) * mfpg_measurement_mu(&change, &noise);
        check_near(mu, rows[i].expected, 1e-9, 0, rows[i].source); /* the rows' own tolerance */
        mfpg_mechanism_options o = mfpg_mechanism_options_default();
        o.clip = rows[i].clip;
        o.promise = (mfpg_promise){MFPG_UNIT_EXAMPLE, MFPG_ADJACENCY_REPLACE, MFPG_VIEW_LOCAL};
        mfpg_mechanism *mechanism = make_mechanism(ctx, &o);
        for (ptrdiff_t kind = 0; mfpg_kind_name(&mfpg_models, kind); kind++) {
            const ptrdiff_t hidden = 3;
            mfpg_model_options shape = {.kind = mfpg_kind_name(&mfpg_models, kind),
                .features = 20,
                .classes = 2,
                .hidden = &hidden,
                .hidden_layers = 1};
            mfpg_model *model = NULL;
            CHECK_OK(ctx, mfpg_model_create(ctx, &shape, &model));
            change = mfpg_measurement_change(
                mechanism, model, (ptrdiff_t)rows[i].rows, rows[i].loss_clip, MFPG_ADJACENCY_REPLACE);
            double charged = sqrt(rows[i].rounds) * mfpg_measurement_mu(&change, &noise);
            double sums = mfpg_model_sum_rounding(model); /* of the gradients; the loss costs nothing more */
            assert_true(charged >= mu && charged <= mu * (1 + sums + 1e-8));
            mfpg_model_destroy(model);
        }
        mfpg_mechanism_destroy(mechanism);
    }
}

static void test_what_is_released_without_noise_costs_everything(void **state) {
    (void)state;
    mfpg_measurement change = {1, 1}, noise = {1, 0}, only_loss = {1, 0};
    assert_true(isinf(mfpg_measurement_mu(&change, &noise)));
    assert_true(mfpg_measurement_mu(&only_loss, &noise) >= 1.0);
    check_near(mfpg_measurement_mu(&only_loss, &noise), 1, 1e-14, 0, "one part");
    noise.loss = NAN;
    assert_true(isinf(mfpg_measurement_mu(&only_loss, &noise)));
    change.loss = NAN;
    noise = (mfpg_measurement){1, 1};
    assert_true(isinf(mfpg_measurement_mu(&change, &noise)));
}

/* T220, T221 (S4). */
static void test_choices_have_the_probabilities_of_the_reference(void **state) {
    const struct {
        const char *source;
        ptrdiff_t count;
        double disutility[5], epsilon, change, expected[5];
    } rows[] = {
        {"T220 S4", 5, {1, 1.2, 1.5, 2, 3}, 1, 0.1,
            {0.686460627648, 0.252534752085, 0.0563481196759, 0.00462533532605, 3.11652642799e-05}},
        {"T221 S4", 3, {0.7, 0.71, 0.72}, 0.5, 0.02, {0.37575653614, 0.33160397927, 0.29263948459}},
    };
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        uint64_t weight[5], total = 0;
        mfpg_choice_weights(rows[i].disutility, rows[i].count, rows[i].epsilon, rows[i].change, weight);
        for (ptrdiff_t j = 0; j < rows[i].count; j++) total += weight[j];
        for (ptrdiff_t j = 0; j < rows[i].count; j++)
            check_near((double)weight[j] / (double)total, rows[i].expected[j], 1e-9, 0, rows[i].source);
    }
}

/* S4: about .627 epsilon for small epsilon (sqrt(2 pi)/4); by the definition, Phi(mu/2) = 1/(1 + exp(-epsilon/2)). */
static void test_mu_of_a_choice_solves_its_definition(void **state) {
    (void)state;
    const double epsilons[] = {1e-6, 0.01, 0.5, 1, 3, 20, 300};
    check_near(mfpg_choice_mu(1e-3), sqrt(2 * acos(-1)) / 4 * 1e-3, 1e-6, 0, "slope at 0");
    for (size_t i = 0; i < sizeof epsilons / sizeof epsilons[0]; i++) {
        double mu = mfpg_choice_mu(epsilons[i]), missed = 0.5 * erfc(mu / 2 / sqrt(2));
        double expected = 1 / (1 + exp(epsilons[i] / 2));
        assert_true(missed <= expected * (1 + 1e-15)); /* rounded up */
        check_near(missed, expected, 1e-9, 0, "tail");
    }
    assert_true(mfpg_choice_mu(0) == 0.0);
    assert_true(isinf(mfpg_choice_mu(NAN)) && isinf(mfpg_choice_mu(-1)) && isinf(mfpg_choice_mu(1e9)));
}

/* A mu-GDP bound is worth having only if it is one: the two laws of the worst pair of range epsilon, tested at every
 * threshold, never beat G_mu (delta of mu at every epsilon above theirs). */
static void test_mu_of_a_choice_bounds_every_pair_of_that_range(void **state) {
    (void)state;
    for (double epsilon = 0.1; epsilon < 6; epsilon *= 1.7) {
        double mu = mfpg_choice_mu(epsilon);
        for (double low = -epsilon + epsilon / 64; low < -epsilon / 128; low += epsilon / 64) {
            /* two outcomes with log ratios low + epsilon and low */
            double q = (1 - exp(low)) / (exp(low + epsilon) - exp(low)), p = q * exp(low + epsilon);
            for (double at = 0; at < low + epsilon; at += epsilon / 50) {
                double needed = p - exp(at) * q;
                assert_true(needed <= mfpg_gdp_delta(mu, at) * (1 + 1e-12));
            }
        }
    }
}

static void test_weights_bound_ratios_and_never_vanish(void **state) {
    uint64_t seed = testing_seed(), weight[2][8];
    (void)state;
    print_message("seed %llu\n", (unsigned long long)seed);
    for (int repeat = 0; repeat < testing_repeats(2000); repeat++) {
        double u[8], v[8], epsilon = exp(6 * next_uniform(&seed) - 4),
                           change = exp(8 * next_uniform(&seed) - 6);
        double spread = exp(10 * next_uniform(&seed)) * change, total[2] = {0};
        for (int j = 0; j < 8; j++) {
            u[j] = spread * next_uniform(&seed);
            v[j] = u[j] + change * (2 * next_uniform(&seed) - 1);
        }
        mfpg_choice_weights(u, 8, epsilon, change, weight[0]);
        mfpg_choice_weights(v, 8, epsilon, change, weight[1]);
        for (int j = 0; j < 8; j++) {
            total[0] += (double)weight[0][j];
            total[1] += (double)weight[1][j];
        }
        for (int j = 0; j < 8; j++) {
            assert_true(weight[0][j] >= 1);
            /* one ticket, in a lottery of at least 2^59, beside the ratio */
            double p = (double)weight[0][j] / total[0], q = (double)weight[1][j] / total[1];
            assert_true(p <= exp(epsilon) * q * (1 + 1e-12) + 0x1p-58);
        }
    }
    const double broken[] = {NAN, 1, INFINITY, -INFINITY};
    mfpg_choice_weights(broken, 4, 1, 1, weight[0]);
    for (int j = 0; j < 4; j++) assert_true(weight[0][j] >= 1 && weight[0][j] <= UINT64_C(1) << 61);
}

/* 20000 draws: standard error of a share at most 0.0036. */
static void test_draws_follow_the_weights(void **state) {
    (void)state;
    const uint64_t weight[] = {UINT64_C(1) << 60, 1, UINT64_C(3) << 60};
    mfpg_key key = mfpg_key_from_seed(5);
    int count[3] = {0};
    for (uint64_t client = 0; client < 20000; client++) {
        mfpg_stream stream = mfpg_stream_open(&key, MFPG_PURPOSE_CHOICE, 7, client);
        count[mfpg_choice_draw(&stream, weight, 3)]++;
    }
    check_near(count[0] / 20000.0, 0.25, 0, 4 * 0.0031, "share");
    assert_int_equal(count[1], 0);
}

static void test_blurred_measurements_stay_in_range_and_use_both_draws(void **state) {
    (void)state;
    mfpg_key key = mfpg_key_from_seed(6);
    mfpg_measurement middle = {2.5, 0.5}, noise = {0.5, 0.1}, most = {5, 1}, loud = {100, 100};
    double sum[2] = {0}, square[2] = {0}, cross = 0;
    for (uint64_t client = 0; client < 20000; client++) {
        mfpg_stream stream = mfpg_stream_open(&key, MFPG_PURPOSE_MEASURE, 3, client);
        mfpg_measurement m = mfpg_measurement_blur(&middle, &noise, &most, &stream);
        double z[] = {(m.loss - 2.5) / 0.5, (m.gradient_norm - 0.5) / 0.1};
        for (int i = 0; i < 2; i++) {
            sum[i] += z[i];
            square[i] += z[i] * z[i];
        }
        cross += z[0] * z[1];
        m = mfpg_measurement_blur(&middle, &loud, &most, &stream);
        assert_true(m.loss >= 0 && m.loss <= 5 && m.gradient_norm >= 0 && m.gradient_norm <= 1);
    }
    for (int i = 0; i < 2; i++) { /* 4 standard errors of 20000 draws */
        check_near(sum[i] / 20000, 0, 0, 4 / sqrt(20000), "mean");
        check_near(square[i] / 20000, 1, 0, 4 * sqrt(2.0 / 20000), "variance");
    }
    check_near(cross / 20000, 0, 0, 4 / sqrt(20000), "covariance");
}

/* ---- neighbours ---- */

enum { ROWS = 700, MOST_FEATURES = 6 }; /* three blocks of rows */

typedef struct table {
    float x[ROWS * MOST_FEATURES], y[ROWS];
    double norm2[ROWS];
    mfpg_dataset set;
} table;

static void refresh(table *t, ptrdiff_t row) {
    double sum = 0;
    for (ptrdiff_t j = 0; j < t->set.features; j++) {
        double value = (double)t->x[row * t->set.features + j];
        sum += value * value;
    }
    t->norm2[row] = sum;
}

/* Anything a file might hold: usual numbers, huge ones, infinities, no numbers. */
static float wild(uint64_t *seed) {
    const float odd[] = {NAN, INFINITY, -INFINITY, 3e38F, -1e30F, 0.0F, 1e-40F};
    double which = next_uniform(seed);
    return which < 0.1 ? odd[(int)(70 * which)]
                       : (float)(exp(8 * next_uniform(seed) - 4) * (which < 0.55 ? 1 : -1));
}

static void fill_row(uint64_t *seed, table *t, ptrdiff_t row, int tame) {
    for (ptrdiff_t j = 0; j < t->set.features; j++)
        t->x[row * t->set.features + j] = tame ? (float)(4 * next_uniform(seed) - 2) : wild(seed);
    t->y[row] = (float)(next_uniform(seed) < 0.5);
    refresh(t, row);
}

typedef struct neighbours {
    mfpg_model *model;
    mfpg_mechanism *mechanism;
    float *w, *work;
    double loss_clip;
} neighbours;

static neighbours draw_neighbours(uint64_t *seed, const char *kind, mfpg_unit unit, table *t) {
    const ptrdiff_t hidden[] = {3};
    neighbours out = {.loss_clip = exp(4 * next_uniform(seed) - 2)};
    t->set = (mfpg_dataset){.rows = 1 + (ptrdiff_t)(next_uniform(seed) * ROWS),
        .features = 1 + (ptrdiff_t)(next_uniform(seed) * MOST_FEATURES),
        .x = t->x,
        .y = t->y,
        .norm2 = t->norm2};
    mfpg_model_options shape = {
        .kind = kind, .features = t->set.features, .classes = 2, .hidden = hidden, .hidden_layers = 1};
    CHECK_OK(ctx, mfpg_model_create(ctx, &shape, &out.model));
    mfpg_mechanism_options o = mfpg_mechanism_options_default();
    o.clip = exp(4 * next_uniform(seed) - 2);
    o.promise.unit = unit;
    out.mechanism = make_mechanism(ctx, &o);
    out.w = calloc((size_t)mfpg_model_parameters(out.model), sizeof *out.w);
    out.work = calloc((size_t)mfpg_measure_workspace(out.model, t->set.rows), sizeof *out.work);
    for (ptrdiff_t i = 0; i < mfpg_model_parameters(out.model); i++)
        out.w[i] = (float)(2 * next_uniform(seed) - 1);
    return out;
}

static void drop_neighbours(neighbours *n) {
    mfpg_model_destroy(n->model);
    mfpg_mechanism_destroy(n->mechanism);
    free(n->w);
    free(n->work);
}

static mfpg_measurement measure(const neighbours *n, const table *t, ptrdiff_t rows) {
    mfpg_measurement m = {
        .loss = mfpg_measure_loss(n->model, &t->set, rows, n->loss_clip, n->w, n->work),
        .gradient_norm = mfpg_measure_gradient_norm(n->mechanism, n->model, &t->set, rows, n->w, n->work),
    };
    assert_true(m.loss >= 0 && m.loss <= n->loss_clip); /* NaN passes neither */
    assert_true(m.gradient_norm >= 0);
    return m;
}

static void check_moved(const neighbours *n, const mfpg_measurement *a, const mfpg_measurement *b,
    ptrdiff_t rows, mfpg_adjacency adjacency) {
    mfpg_measurement change = mfpg_measurement_change(n->mechanism, n->model, rows, n->loss_clip, adjacency);
    assert_true(fabs(a->loss - b->loss) <= change.loss);
    assert_true(fabs(a->gradient_norm - b->gradient_norm) <= change.gradient_norm);
}

/* One example becomes any other (replace), or is absent (zero-out: fewer rows than declared). */
static void test_one_example_moves_measurements_by_no_more_than_stated(void **state) {
    static table t;
    uint64_t seed = testing_seed();
    (void)state;
    print_message("seed %llu\n", (unsigned long long)seed);
    for (int repeat = 0; repeat < testing_repeats(60); repeat++) {
        for (ptrdiff_t kind = 0; mfpg_kind_name(&mfpg_models, kind); kind++) {
            neighbours n = draw_neighbours(&seed, mfpg_kind_name(&mfpg_models, kind), MFPG_UNIT_EXAMPLE, &t);
            ptrdiff_t rows = t.set.rows;
            for (ptrdiff_t i = 0; i < rows; i++) fill_row(&seed, &t, i, repeat % 2);
            mfpg_measurement a = measure(&n, &t, rows), b;
            ptrdiff_t changed = (ptrdiff_t)(next_uniform(&seed) * (double)rows);
            fill_row(&seed, &t, changed, next_uniform(&seed) < 0.3);
            b = measure(&n, &t, rows);
            check_moved(&n, &a, &b, rows, MFPG_ADJACENCY_REPLACE);
            t.set.rows = rows - 1; /* the last row is absent */
            a = measure(&n, &t, rows);
            check_moved(&n, &a, &b, rows, MFPG_ADJACENCY_ZERO_OUT);
            t.set.rows = 0;
            a = measure(&n, &t, rows);
            check_near(a.loss, n.loss_clip / 2, 1e-15, 0, "loss of nobody");
            assert_true(a.gradient_norm == 0.0);
            drop_neighbours(&n);
        }
    }
}

/* All data of a client become any other, or are absent. */
static void test_one_client_moves_measurements_by_no_more_than_stated(void **state) {
    static table t;
    uint64_t seed = testing_seed();
    (void)state;
    for (int repeat = 0; repeat < testing_repeats(30); repeat++) {
        for (ptrdiff_t kind = 0; mfpg_kind_name(&mfpg_models, kind); kind++) {
            neighbours n = draw_neighbours(&seed, mfpg_kind_name(&mfpg_models, kind), MFPG_UNIT_CLIENT, &t);
            ptrdiff_t rows = t.set.rows;
            mfpg_measurement m[3];
            for (int i = 0; i < 3; i++) {
                for (ptrdiff_t row = 0; row < rows; row++) fill_row(&seed, &t, row, i == 0);
                if (i == 2) t.set.rows = 0;
                m[i] = measure(&n, &t, rows);
            }
            check_moved(&n, &m[0], &m[1], rows, MFPG_ADJACENCY_REPLACE);
            check_moved(&n, &m[0], &m[2], rows, MFPG_ADJACENCY_ZERO_OUT);
            check_moved(&n, &m[1], &m[2], rows, MFPG_ADJACENCY_ZERO_OUT);
            drop_neighbours(&n);
        }
    }
}

/* The norm is the root of an exact sum of squares, at most a unit below it, and the loss a mean of whole units. */
static void test_measurements_come_from_whole_numbers(void **state) {
    static table t;
    uint64_t seed = testing_seed();
    (void)state;
    for (ptrdiff_t kind = 0; mfpg_kind_name(&mfpg_models, kind); kind++) {
        neighbours n = draw_neighbours(&seed, mfpg_kind_name(&mfpg_models, kind), MFPG_UNIT_EXAMPLE, &t);
        ptrdiff_t rows = t.set.rows, d = mfpg_model_parameters(n.model);
        for (ptrdiff_t i = 0; i < rows; i++) fill_row(&seed, &t, i, 1);
        double clip = mfpg_mechanism_sensitivity(n.mechanism, 1), unit = mfpg_model_sum_unit(clip, rows);
        int64_t *sum = calloc((size_t)d, sizeof *sum);
        long double squares = 0;
        mfpg_model_clipped_sum(n.model, n.w, &t.set, NULL, 0, clip, unit, sum, n.work);
        for (ptrdiff_t i = 0; i < d; i++) squares += (long double)sum[i] * (long double)sum[i];
        mfpg_measurement m = measure(&n, &t, rows);
        double norm = (double)(sqrtl(squares) * (long double)unit / (long double)rows);
        check_near(m.gradient_norm, fmin(norm, clip), 1e-15, unit / (double)rows, "norm");
        unit = mfpg_model_sum_unit(n.loss_clip, rows);
        int64_t losses = mfpg_model_clipped_loss(n.model, n.w, &t.set, n.loss_clip, unit, n.work);
        check_near(m.loss, (double)losses * unit / (double)rows, 1e-15, 2 * unit, "loss");
        free(sum);
        drop_neighbours(&n);
    }
}

/* The second route: losses and gradients of logistic regression row by row in double. */
static void test_measurements_are_what_they_say(void **state) {
    static table t;
    uint64_t seed = testing_seed();
    (void)state;
    for (int unit = MFPG_UNIT_CLIENT; unit <= MFPG_UNIT_EXAMPLE; unit++) {
        neighbours n = draw_neighbours(&seed, "logistic", (mfpg_unit)unit, &t);
        ptrdiff_t rows = t.set.rows, d = t.set.features;
        double clip = mfpg_mechanism_sensitivity(n.mechanism, unit == MFPG_UNIT_EXAMPLE ? 1 : rows), loss = 0;
        double sum[MOST_FEATURES + 1] = {0}, norm = 0;
        for (ptrdiff_t i = 0; i < rows; i++) {
            fill_row(&seed, &t, i, 1);
            double margin = (double)n.w[d], size = 1;
            for (ptrdiff_t j = 0; j < d; j++) margin += (double)t.x[i * d + j] * (double)n.w[j];
            double sign = t.y[i] > 0.5F ? 1 : -1, slope = -sign / (1 + exp(sign * margin));
            loss += fmin(n.loss_clip, log1p(exp(-sign * margin)));
            for (ptrdiff_t j = 0; j < d; j++) size += (double)t.x[i * d + j] * (double)t.x[i * d + j];
            double factor = unit == MFPG_UNIT_EXAMPLE ? fmin(1, clip / (fabs(slope) * sqrt(size))) : 1;
            for (ptrdiff_t j = 0; j < d; j++) sum[j] += factor * slope * (double)t.x[i * d + j];
            sum[d] += factor * slope;
        }
        for (ptrdiff_t j = 0; j <= d; j++) norm += sum[j] * sum[j] / (double)rows / (double)rows;
        mfpg_measurement m = measure(&n, &t, rows);
        check_near(m.loss, loss / (double)rows, 1e-6, 0, "loss"); /* margins are floats */
        check_near(m.gradient_norm, fmin(sqrt(norm), clip), 1e-4, 1e-6, "gradient norm");
        drop_neighbours(&n);
    }
}

static int setup(void **state) {
    (void)state;
    ctx = testing_context(1);
    return 0;
}

static int teardown(void **state) {
    (void)state;
    mfpg_context_destroy(ctx);
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_measurements_cost_what_the_reference_says),
        cmocka_unit_test(test_what_is_released_without_noise_costs_everything),
        cmocka_unit_test(test_choices_have_the_probabilities_of_the_reference),
        cmocka_unit_test(test_mu_of_a_choice_solves_its_definition),
        cmocka_unit_test(test_mu_of_a_choice_bounds_every_pair_of_that_range),
        cmocka_unit_test(test_weights_bound_ratios_and_never_vanish),
        cmocka_unit_test(test_draws_follow_the_weights),
        cmocka_unit_test(test_blurred_measurements_stay_in_range_and_use_both_draws),
        cmocka_unit_test(test_one_example_moves_measurements_by_no_more_than_stated),
        cmocka_unit_test(test_one_client_moves_measurements_by_no_more_than_stated),
        cmocka_unit_test(test_measurements_come_from_whole_numbers),
        cmocka_unit_test(test_measurements_are_what_they_say),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
