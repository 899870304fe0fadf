/* Mechanisms that noise records: the push against its formula, the joint map against its constant, the exact law of linear
 * regression against the certificates, and what is refused. */
#include "accountants/accounting.h"
#include "mechanisms/fixture.h"
#include "mechanisms/mechanism_ops.h"
#include "local_round.h"

#include "mfpg/accountant.h"
#include "models/losses.h"

enum { FEATURES = 4, ROWS = 7, D = FEATURES + 1 };

typedef struct setup {
    mfpg_context *ctx;
    mfpg_model *model;
    mfpg_dataset raw, noised;
    float w[D], out[D], other[D];
    float *work;
    uint64_t random;
} setup;

static mfpg_dataset room_for(const mfpg_dataset *raw) {
    return (mfpg_dataset){.rows = raw->rows,
        .features = raw->features,
        .x = make_floats(raw->rows * raw->features),
        .y = raw->y,
        .norm2 = calloc((size_t)raw->rows, sizeof(double))};
}

static void free_room(mfpg_dataset *noised) {
    free(noised->x);
    free(noised->norm2);
}

static setup begin(const char *model) {
    setup s = {.ctx = testing_context(1), .random = testing_seed()};
    s.model = make_model(s.ctx, model, FEATURES);
    s.raw = make_dataset(ROWS, FEATURES, (s.model->classes > 0), &s.random);
    s.noised = room_for(&s.raw);
    s.work = aligned_alloc(64, 1 << 14);
    for (int i = 0; i < D; i++) s.w[i] = (float)next_normal(&s.random);
    return s;
}

static void end(setup *s) {
    free(s->work);
    free_room(&s->noised);
    free_dataset(&s->raw);
    mfpg_model_destroy(s->model);
    mfpg_context_destroy(s->ctx);
}

static mfpg_mechanism_options options_of(const char *kind) {
    mfpg_mechanism_options options = mfpg_mechanism_options_default();
    options.kind = kind;
    options.particles = MFPG_PARTICLES_DATA;
    options.promise.unit = MFPG_UNIT_EXAMPLE;
    options.promise.adjacency = MFPG_ADJACENCY_REPLACE;
    return options;
}

/* The flow of the records under a model whose curvature bound is declared. */
static mfpg_mechanism_options flow_for(const setup *s) {
    mfpg_mechanism_options options = options_of("entropic");
    options.input_smoothness = mfpg_model_input_smoothness(s->model, s->w);
    options.variance_penalty = 0.3;
    options.prior_variance = 2.0;
    return options;
}

static mfpg_stream records_stream(uint64_t round) {
    mfpg_key key = mfpg_key_from_seed(testing_seed());
    return mfpg_stream_open(&key, MFPG_PURPOSE_RECORDS, round, 3);
}

static void push(setup *s, const mfpg_mechanism *mechanism, const mfpg_dataset *raw, mfpg_action action,
    mfpg_dataset *noised) {
    mfpg_stream noise = records_stream(0);
    assert_true(mfpg_mechanism_workspace(mechanism, s->model, raw->rows) <= (1 << 12));
    CHECK_OK(s->ctx, push_by(s->ctx, mechanism, s->model, raw, action, &noise, s->w, noised, s->work, NULL));
}

/* ---- what is released ---- */

static void test_releases_are_those_of_the_theory(void **state) {
    (void)state;
    mfpg_context *ctx = testing_context(1);
    mfpg_mechanism_options options = options_of("input");
    options.clip = 3.0;
    options.batch_rate = 0.5; /* batches come after the push */
    options.local_steps = 5;
    for (int unit = 0; unit < 2; unit++)
        for (int adjacency = 0; adjacency < 2; adjacency++) {
            options.promise.unit = (mfpg_unit)unit;
            options.promise.adjacency = (mfpg_adjacency)adjacency;
            mfpg_mechanism *mechanism = make_mechanism(ctx, &options);
            mfpg_release release = release_of(ctx, mechanism, budget_of(0.8), 16);
            assert_int_equal(release.particles, MFPG_PARTICLES_DATA);
            assert_true(release.steps == 1 && release.sampling_rate == 1.0 && release.contraction == 1.0);
            assert_true(release.last_sd == release.noise_sd);
            check_near(release.sensitivity, unit == MFPG_UNIT_CLIENT ? 12.0 : 3.0, 1e-15, 0, "C, C sqrt n");
            double mu =
                mu_of(&release, options.promise.adjacency); /* law game: mu is the budget, or half of it */
            check_near(mu, adjacency == MFPG_ADJACENCY_REPLACE ? 0.8 : 0.4, 1e-14, 0, "mu of a budget");
            mfpg_mechanism_destroy(mechanism);
        }
    options.law = MFPG_LAW_CLASSICAL;
    options.promise = (mfpg_promise){MFPG_UNIT_EXAMPLE, MFPG_ADJACENCY_ZERO_OUT, MFPG_VIEW_LOCAL};
    mfpg_mechanism *mechanism = make_mechanism(ctx, &options);
    mfpg_release release = release_of(ctx, mechanism, budget_of(0.5), 16);
    check_near(release.noise_sd, 3.0 * sqrt(2.0 * log(1.25e5)) / 0.5, 1e-14, 0, "classical");
    mfpg_mechanism_destroy(mechanism);
    mfpg_context_destroy(ctx);
}

/* Theory S5.2: D = 2, strength 1, prior variance 1, step 0.1, start zero: c = 0.9, mu = 4.02. */
static void test_a_flow_contracts_as_the_theory_says(void **state) {
    (void)state;
    mfpg_context *ctx = testing_context(1);
    mfpg_mechanism_options options = options_of("entropic");
    mfpg_mechanism *mechanism = make_mechanism(ctx, &options);
    mfpg_release release = release_of(ctx, mechanism, strength_of(1.0), 16);
    check_near(release.contraction, 0.9, 1e-14, 0, "c");
    assert_true(release.contraction >= 0.9);
    check_near(release.noise_sd, sqrt(0.2), 1e-15, 0, "s");
    check_near(mu_of(&release, MFPG_ADJACENCY_REPLACE) * release.contraction, 4.0249224, 1e-7, 0, "mu");
    mfpg_mechanism_destroy(mechanism);
    options.input_smoothness = 18.0; /* c = |1 - 0.1 (18 + 1 + 0.01)| = 0.901 */
    mechanism = make_mechanism(ctx, &options);
    check_near(release_of(ctx, mechanism, strength_of(1.0), 16).contraction, 0.901, 1e-14, 0, "turned round");
    mfpg_mechanism_destroy(mechanism);
    options.scale =
        MFPG_SCALE_SENSITIVITY; /* strength in units of S^2 = (2C)^2: mu = c/sqrt(2 strength tau) */
    options.input_smoothness = 0.0;
    for (double clip = 0.5; clip < 3.0; clip *= 2.0) {
        options.clip = clip;
        options.prior_variance = clip * clip;
        mechanism = make_mechanism(ctx, &options);
        release = release_of(ctx, mechanism, strength_of(0.7), 16);
        check_near(mu_of(&release, MFPG_ADJACENCY_REPLACE), 1.0 / sqrt(0.14), 1e-14, 0, "free of the clip");
        check_near(release.contraction, 1.0 - 0.28, 1e-14, 0, "c of e = 2.8 C^2");
        mfpg_mechanism_destroy(mechanism);
    }
    mfpg_context_destroy(ctx);
}

/* ---- the push, by hand ---- */

static void test_input_adds_one_gaussian_vector_a_record(void **state) {
    (void)state;
    setup s = begin("logistic");
    mfpg_mechanism_options options = options_of("input");
    options.clip = 1.5;
    mfpg_mechanism *mechanism =
        on_fine_grid(s.ctx, &options, budget_of(1.0), ROWS, make_mechanism(s.ctx, &options));
    double sd = release_of(s.ctx, mechanism, budget_of(1.0), ROWS).noise_sd;
    mfpg_stream noise = records_stream(0);
    push(&s, mechanism, &s.raw, budget_of(1.0), &s.noised);
    int clipped = 0;
    for (int i = 0; i < ROWS; i++) {
        float z[FEATURES];
        mfpg_stream_gaussian(&noise, (uint64_t)i, FEATURES, z);
        double norm = sqrt(s.raw.norm2[i]), factor = fmin(1.0, 1.5 / norm), norm2 = 0.0;
        clipped += norm > 1.5;
        for (int j = 0; j < FEATURES; j++) {
            double x = (double)s.noised.x[i * FEATURES + j];
            /* the clip keeps 2^-21 away from C, and x is rounded to float */
            check_near(
                x, factor * (double)s.raw.x[i * FEATURES + j] + sd * (double)z[j], 1e-6, 1e-6, "x + sd z");
            norm2 += x * x;
        }
        check_near(s.noised.norm2[i], norm2, 1e-14, 0, "norm2");
    }
    assert_true(clipped > 0 && clipped < ROWS);
    mfpg_mechanism_destroy(mechanism);
    end(&s);
}

static void test_entropic_flows_at_the_start(void **state) {
    (void)state;
    setup s = begin("logistic");
    mfpg_mechanism_options options = flow_for(&s);
    options.clip = 1.5;
    mfpg_mechanism *mechanism =
        on_fine_grid(s.ctx, &options, strength_of(0.6), ROWS, make_mechanism(s.ctx, &options));
    double e = 0.6, sd = sqrt(2.0 * e * 0.1);
    mfpg_stream noise = records_stream(0);
    double x[ROWS][FEATURES], mean[FEATURES] = {0};
    for (int i = 0; i < ROWS; i++)
        for (int j = 0; j < FEATURES; j++) {
            x[i][j] = fmin(1.0, 1.5 / sqrt(s.raw.norm2[i])) * (double)s.raw.x[i * FEATURES + j];
            mean[j] += x[i][j] / ROWS;
        }
    push(&s, mechanism, &s.raw, strength_of(e), &s.noised);
    for (int i = 0; i < ROWS; i++) {
        float z[FEATURES];
        double margin = (double)s.w[FEATURES], sign = 2.0 * (double)s.raw.y[i] - 1.0;
        for (int j = 0; j < FEATURES; j++) margin += (double)s.w[j] * x[i][j];
        double slope = -sign / (1.0 + exp(sign * margin));
        mfpg_stream_gaussian(&noise, (uint64_t)i, FEATURES, z);
        for (int j = 0; j < FEATURES; j++) {
            double moved =
                x[i][j] - 0.1 * (slope * (double)s.w[j] + e / 2.0 * x[i][j] + 0.3 * (x[i][j] - mean[j]));
            check_near(
                (double)s.noised.x[i * FEATURES + j], moved + sd * (double)z[j], 1e-6, 1e-6, "Algorithm 3");
        }
    }
    mfpg_mechanism_destroy(mechanism);
    end(&s);
}

/* ---- neighbours: the same noise in both runs cancels, what is left is the distance behind the first map ---- */

static double apart(const mfpg_dataset *a, const mfpg_dataset *b) {
    double sum = 0.0;
    for (ptrdiff_t i = 0; i < a->rows * a->features; i++) {
        double gap = (double)a->x[i] - (double)b->x[i];
        sum += gap * gap;
    }
    return sqrt(sum);
}

static void draw_row(float *row, double scale, uint64_t *random) {
    for (int j = 0; j < FEATURES; j++) row[j] = (float)(scale * next_normal(random));
}

static void test_no_neighbour_comes_out_further_than_the_certificate(void **state) {
    (void)state;
    static const char *const models[] = {"quadratic", "linear", "logistic"};
    for (int m = 0; m < 3; m++) {
        setup s = begin(models[m]);
        mfpg_dataset neighbour = make_dataset(ROWS, FEATURES, 0, &s.random), second = room_for(&s.raw);
        double closest = 0.0;
        for (int run = 0; run < testing_repeats(600); run++) {
            for (int i = 0; i < D; i++) s.w[i] = (float)((run % 4) * next_normal(&s.random));
            mfpg_mechanism_options options = run % 5 ? flow_for(&s) : options_of("input");
            options.promise.unit = run % 2 ? MFPG_UNIT_CLIENT : MFPG_UNIT_EXAMPLE;
            options.promise.adjacency = run % 3 ? MFPG_ADJACENCY_REPLACE : MFPG_ADJACENCY_ZERO_OUT;
            /* stable: step (M0 + e/sigma^2 + lambda) < 2 */
            options.step =
                fmin(0.1, 1.9 / (options.input_smoothness + 0.55)) * (0.1 + 0.9 * next_uniform(&s.random));
            for (int i = 0; i < ROWS; i++) {
                int differs = options.promise.unit == MFPG_UNIT_CLIENT || i == 2;
                float *row = neighbour.x + i * FEATURES, *own = s.raw.x + i * FEATURES;
                draw_row(own, 1.0, &s.random);
                memcpy(row, own, FEATURES * sizeof *row);
                if (differs && options.promise.adjacency == MFPG_ADJACENCY_ZERO_OUT)
                    memset(row, 0, FEATURES * sizeof *row);
                else if (differs) /* the opposite point is as far as a record gets */
                    for (int j = 0; j < FEATURES; j++) row[j] = -own[j];
                neighbour.y[i] = s.raw.y[i]; /* labels are public */
            }
            mfpg_mechanism *mechanism = make_mechanism(s.ctx, &options);
            mfpg_action action = run % 5 ? strength_of(0.5) : budget_of(1.0);
            mechanism = on_fine_grid(s.ctx, &options, action, ROWS, mechanism);
            mfpg_release release = release_of(s.ctx, mechanism, action, ROWS);
            assert_int_equal(mfpg_mechanism_check_start(s.ctx, mechanism, s.model, s.w), MFPG_OK);
            push(&s, mechanism, &s.raw, action, &s.noised);
            push(&s, mechanism, &neighbour, action, &second);
            double doubled = options.promise.adjacency == MFPG_ADJACENCY_REPLACE ? 2.0 : 1.0;
            double bound = release.contraction * doubled * release.sensitivity;
            double found = apart(&s.noised, &second);
            if (found > bound * (1.0 + 1e-6)) /* coordinates are rounded to float */
                fail_msg("%s: %.9g apart, certified %.9g", models[m], found, bound);
            closest = fmax(closest, found / bound);
            mfpg_mechanism_destroy(mechanism);
        }
        assert_true(closest > 0.99); /* attained, up to the clip's distance from C */
        free_dataset(&neighbour);
        free_room(&second);
        end(&s);
    }
}

/* ---- linear regression: the law of x_K is Gaussian, and known ---- */

/* Two records under x' = x - tau [w (w.x + b - y) + kap x] + s z with w fixed: along w the map multiplies by
 * a = 1 - tau (|w|^2 + kap), across it by 1 - tau kap. Exact mu^2 of x_K is the sum over both of gap^2/variance. */
static double exact_mu(double along, double across, const double gap[2], double s, int steps) {
    double sum = 0.0;
    const double a[2] = {along, across};
    for (int d = 0; d < 2; d++) {
        double mean = gap[d], variance = 0.0;
        for (int k = 0; k < steps; k++) {
            mean *= a[d];
            variance = a[d] * a[d] * variance + s * s;
        }
        sum += mean * mean / variance;
    }
    return sqrt(sum);
}

static void test_the_exact_law_stays_below_the_certificates(void **state) {
    (void)state;
    uint64_t random = testing_seed();
    int attained = 0;
    for (int run = 0; run < testing_repeats(3000); run++) {
        double tau = 0.01 + 0.2 * next_uniform(&random), kap = 2.0 * next_uniform(&random);
        double w2 = (2.0 / tau - kap) * next_uniform(&random), s = 0.1 + next_uniform(&random);
        double angle = 6.3 * next_uniform(&random), distance = 2.0;
        int steps = 1 + (int)(30.0 * next_uniform(&random)), pure = run % 3; /* 1: along w, 2: across */
        const double gap[2] = {pure == 1   ? distance
                               : pure == 2 ? 0.0
                                           : distance * cos(angle),
            pure == 1   ? 0.0
            : pure == 2 ? distance
                        : distance * sin(angle)};
        double along = 1.0 - tau * (w2 + kap), across = 1.0 - tau * kap;
        double c = mfpg_flow_contraction(tau, kap, 0.0, w2);
        double exact = exact_mu(along, across, gap, s, steps);
        double last = mfpg_data_exogenous_mu(distance, s, c, steps), any = c * distance / s;
        assert_true(exact <= last * (1.0 + 1e-12) && last <= any * (1.0 + 1e-12));
        int reaches =
            (pure == 1 && fabs(along) >= fabs(across)) || (pure == 2 && fabs(across) >= fabs(along));
        /* c is rounded up by up to 24 units, which K steps magnify by at most K/(1-c^2) */
        if (reaches && c < 0.99) check_near(last, exact, 1e-10, 0, "attained");
        attained += reaches && c < 0.99;
    }
    assert_true(attained > testing_repeats(3000) / 6);
}

/* The program's own flow has that law: with the same noise two runs stay as far apart as the means. */
static void test_the_programs_flow_has_the_exact_law(void **state) {
    (void)state;
    setup s = begin("linear");
    mfpg_mechanism_options options = options_of("entropic");
    options.variance_penalty = 0.0;
    options.clip = 1.0;
    options.input_smoothness = mfpg_model_input_smoothness(s.model, s.w);
    options.local_steps = 6;
    options.learning_rate = 1e-30; /* the model stands still: an exogenous one */
    mfpg_mechanism *mechanism =
        on_fine_grid(s.ctx, &options, strength_of(1.0), ROWS, make_mechanism(s.ctx, &options));
    mfpg_dataset opposite = make_dataset(ROWS, FEATURES, 0, &s.random), second = room_for(&s.raw);
    double w2 = 0.0;
    for (int j = 0; j < FEATURES; j++) w2 += (double)s.w[j] * (double)s.w[j];
    for (int i = 0; i < ROWS; i++) { /* one record along w, the others equal */
        opposite.y[i] = s.raw.y[i];
        for (int j = 0; j < FEATURES; j++) {
            float own = i == 2 ? s.w[j] : s.raw.x[i * FEATURES + j];
            s.raw.x[i * FEATURES + j] = own;
            opposite.x[i * FEATURES + j] = i == 2 ? -own : own;
        }
    }
    push(&s, mechanism, &s.raw, strength_of(1.0), &s.noised);
    push(&s, mechanism, &opposite, strength_of(1.0), &second);
    mfpg_stream noise = records_stream(0);
    mfpg_dataset *both[] = {&s.noised, &second};
    double a = 1.0 - 0.1 * (w2 + 1.0);
    for (int b = 0; b < 2; b++)
        CHECK_OK(s.ctx, update_records_by(s.ctx, mechanism, s.model, both[b], strength_of(1.0), 1, &noise,
                            &noise, s.w, s.out, s.work, NULL));
    double shared = fmin(1.0, sqrt(w2)); /* w may be shorter than the clip */
    check_near(apart(&s.noised, &second), 2.0 * shared * pow(fabs(a), 6), 1e-4, 1e-6, "a^6 D"); /* floats */
    mfpg_mechanism_destroy(mechanism);
    free_dataset(&opposite);
    free_room(&second);
    end(&s);
}

/* ---- training on the noised records ---- */

/* Plain gradient steps: bit for bit those of mechanism none on the same rows. */
static void test_training_is_plain_and_reads_noised_records_only(void **state) {
    (void)state;
    setup s = begin("logistic");
    for (int batches = 0; batches < 2; batches++) {
        mfpg_mechanism_options options = options_of("input");
        options.local_steps = 3;
        options.learning_rate = 0.4;
        options.batch_rate = batches ? 0.5 : 1.0;
        mfpg_mechanism *mechanism = make_mechanism(s.ctx, &options);
        options.kind = "none";
        options.particles = MFPG_PARTICLES_PARAMETERS;
        mfpg_mechanism *none = make_mechanism(s.ctx, &options);
        mfpg_stream noise = records_stream(1);
        push(&s, mechanism, &s.raw, budget_of(1.0), &s.noised);
        float *before = make_floats(ROWS * FEATURES);
        memcpy(before, s.noised.x, ROWS * FEATURES * sizeof *before);
        CHECK_OK(s.ctx, update_records_by(s.ctx, mechanism, s.model, &s.noised, budget_of(1.0), 0, &noise,
                            &noise, s.w, s.out, s.work, NULL));
        CHECK_OK(s.ctx,
            update_by(s.ctx, none, s.model, &s.noised, ROWS, (mfpg_action){.control = MFPG_CONTROL_NONE},
                &noise, &noise, s.w, s.other, s.work, NULL));
        assert_memory_equal(s.out, s.other, sizeof s.out);
        assert_memory_equal(before, s.noised.x, ROWS * FEATURES * sizeof *before); /* drawn once, and kept */
        free(before);
        mfpg_mechanism_destroy(mechanism);
        mfpg_mechanism_destroy(none);
    }
    end(&s);
}

/* The push is the flow of the first local step: pushed 1 flows once less, and no noise vector is used twice. */
static void test_later_steps_flow_on_with_noise_of_their_own(void **state) {
    (void)state;
    setup s = begin("linear");
    mfpg_mechanism_options options = flow_for(&s);
    options.local_steps = 2;
    options.learning_rate = 1e-30;
    mfpg_mechanism *mechanism = make_mechanism(s.ctx, &options);
    mechanism = on_fine_grid(s.ctx, &options, strength_of(0.5), ROWS, mechanism);
    double sd = release_of(s.ctx, mechanism, strength_of(0.5), ROWS).noise_sd;
    mfpg_stream noise = records_stream(0);
    push(&s, mechanism, &s.raw, strength_of(0.5), &s.noised);
    mfpg_dataset silent = room_for(&s.raw);
    memcpy(silent.x, s.noised.x, ROWS * FEATURES * sizeof *silent.x);
    CHECK_OK(s.ctx, update_records_by(s.ctx, mechanism, s.model, &s.noised, strength_of(0.5), 1, &noise,
                        &noise, s.w, s.out, s.work, NULL));
    double mean[FEATURES] = {0};
    for (int i = 0; i < ROWS * FEATURES; i++) mean[i % FEATURES] += (double)silent.x[i] / ROWS;
    for (int i = 0; i < ROWS; i++) { /* one step by hand, with vector ROWS + i */
        float z[FEATURES];
        double gradient[FEATURES], scratch[1];
        float *x = silent.x + i * FEATURES;
        mfpg_stream_gaussian(&noise, (uint64_t)(ROWS + i), FEATURES, z);
        mfpg_model_input_gradient(s.model, s.w, x, s.raw.y[i], gradient, scratch);
        for (int j = 0; j < FEATURES; j++) {
            double at = (double)x[j];
            double moved = at - 0.1 * (gradient[j] + 0.25 * at + 0.3 * (at - mean[j])) + sd * (double)z[j];
            check_near((double)s.noised.x[i * FEATURES + j], moved, 1e-6, 1e-6, "second step");
        }
    }
    free_room(&silent);
    mfpg_mechanism_destroy(mechanism);
    end(&s);
}

static void test_records_that_are_no_numbers_become_zero(void **state) {
    (void)state;
    setup s = begin("linear");
    mfpg_mechanism_options options = options_of("input");
    mfpg_mechanism *mechanism =
        on_fine_grid(s.ctx, &options, budget_of(1.0), ROWS, make_mechanism(s.ctx, &options));
    mfpg_stream noise = records_stream(0);
    mfpg_update_report report;
    double sd = release_of(s.ctx, mechanism, budget_of(1.0), ROWS).noise_sd;
    s.raw.x[0] = NAN;
    s.raw.x[FEATURES + 1] = INFINITY;
    CHECK_OK(s.ctx,
        push_by(s.ctx, mechanism, s.model, &s.raw, budget_of(1.0), &noise, s.w, &s.noised, s.work, &report));
    assert_int_equal(report.nonfinite, 2);
    for (int i = 0; i < 2; i++) {
        float z[FEATURES];
        mfpg_stream_gaussian(&noise, (uint64_t)i, FEATURES, z);
        for (int j = 0; j < FEATURES; j++)
            check_near((double)s.noised.x[i * FEATURES + j], sd * (double)z[j], 0, 1e-5 * sd, "noise alone");
    }
    mfpg_mechanism_destroy(mechanism);
    end(&s);
}

/* ---- refusals ---- */

static void refuse_options(mfpg_context *ctx, mfpg_mechanism_options options, const char *part) {
    mfpg_mechanism *mechanism = NULL;
    assert_int_not_equal(mfpg_mechanism_create(ctx, &options, &mechanism), MFPG_OK);
    assert_null(mechanism);
    if (!strstr(mfpg_context_message(ctx), part)) fail_msg("no '%s' in: %s", part, mfpg_context_message(ctx));
}

static void test_mechanisms_that_noise_no_data_are_refused(void **state) {
    (void)state;
    mfpg_context *ctx = testing_context(1);
    refuse_options(ctx, options_of("gaussian"), "noises parameters only");
    refuse_options(ctx, options_of("none"), "noises parameters only");
    mfpg_mechanism_options options = options_of("entropic");
    options.regularisation.value = 1.0;
    refuse_options(ctx, options, "Sinkhorn");
    options = options_of("entropic");
    options.input_smoothness = NAN;
    refuse_options(ctx, options, "input smoothness");
    options = options_of("entropic");
    options.particles = (mfpg_particles)2;
    refuse_options(ctx, options, "particles");
    mfpg_context_destroy(ctx);
}

static void test_raw_records_are_never_trained_on(void **state) {
    (void)state;
    setup s = begin("logistic");
    mfpg_mechanism_options options = options_of("input");
    mfpg_mechanism *data = make_mechanism(s.ctx, &options);
    options.kind = "gaussian";
    options.particles = MFPG_PARTICLES_PARAMETERS;
    mfpg_mechanism *parameters = make_mechanism(s.ctx, &options);
    mfpg_stream noise = records_stream(0);
    assert_int_equal(update_by(s.ctx, data, s.model, &s.raw, ROWS, budget_of(1.0), &noise, &noise, s.w, s.out,
                         s.work, NULL),
        MFPG_ERR_INPUT);
    assert_int_equal(
        push_by(s.ctx, parameters, s.model, &s.raw, budget_of(1.0), &noise, s.w, &s.noised, s.work, NULL),
        MFPG_ERR_INPUT);
    assert_int_equal(update_records_by(s.ctx, parameters, s.model, &s.noised, budget_of(1.0), 1, &noise,
                         &noise, s.w, s.out, s.work, NULL),
        MFPG_ERR_INPUT);
    mfpg_mechanism_destroy(data);
    mfpg_mechanism_destroy(parameters);
    end(&s);
}

static void test_starts_without_a_declared_bound_are_refused(void **state) {
    (void)state;
    setup s = begin("logistic");
    mfpg_mechanism_options options = options_of("entropic");
    mfpg_mechanism *flow = make_mechanism(s.ctx, &options); /* declares a bound of 0 */
    assert_int_equal(mfpg_mechanism_check_start(s.ctx, flow, s.model, s.w), MFPG_ERR_INPUT);
    const float zero[D] = {0};
    CHECK_OK(s.ctx, mfpg_mechanism_check_start(s.ctx, flow, s.model, zero));
    mfpg_model *network = make_model(s.ctx, "mlp", FEATURES);
    float *start = make_floats(mfpg_model_parameters(network));
    assert_int_equal(mfpg_mechanism_check_start(s.ctx, flow, network, start), MFPG_ERR_INPUT);
    assert_non_null(strstr(mfpg_context_message(s.ctx), "mlp"));
    options = options_of("input"); /* noise alone needs no bound, whatever the model */
    mfpg_mechanism *input = make_mechanism(s.ctx, &options);
    CHECK_OK(s.ctx, mfpg_mechanism_check_start(s.ctx, input, network, start));
    free(start);
    mfpg_model_destroy(network);
    mfpg_mechanism_destroy(flow);
    mfpg_mechanism_destroy(input);
    end(&s);
}

static void test_unstable_and_silent_flows_are_refused(void **state) {
    (void)state;
    mfpg_context *ctx = testing_context(1);
    mfpg_mechanism_options options = options_of("entropic");
    options.input_smoothness = 10.0;
    mfpg_mechanism *mechanism = make_mechanism(ctx, &options);
    mfpg_release release;
    release_of(ctx, mechanism, strength_of(9.98), 1); /* tau (e + lambda + M0) = 1.999 */
    assert_int_equal(mfpg_mechanism_release(ctx, mechanism, strength_of(10.0), 1, &release), MFPG_ERR_DOMAIN);
    assert_non_null(strstr(mfpg_context_message(ctx), "curvature"));
    assert_true(isinf(release.sensitivity) && release.noise_sd == 0.0);
    mfpg_mechanism_destroy(mechanism);
    options = options_of("input");
    options.clip = 1000.0;
    mechanism = make_mechanism(ctx, &options);
    assert_int_equal(
        mfpg_mechanism_release(ctx, mechanism, multiplier_of(1e-13), 1, &release), MFPG_ERR_DOMAIN);
    assert_non_null(strstr(mfpg_context_message(ctx), "finer than 2^-40 of the sensitivity"));
    mfpg_mechanism_destroy(mechanism);
    const double bad[] = {NAN, -1.0, HUGE_VAL};
    for (int i = 0; i < 3; i++) {
        assert_true(isinf(mfpg_flow_contraction(bad[i], 1, 1, 1)));
        assert_true(isinf(mfpg_flow_contraction(1, bad[i], 1, 1)));
        assert_true(isinf(mfpg_flow_contraction(1, 1, bad[i], 1)));
        assert_true(isinf(mfpg_flow_contraction(1, 1, 1, bad[i])));
    }
    mfpg_context_destroy(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_releases_are_those_of_the_theory),
        cmocka_unit_test(test_a_flow_contracts_as_the_theory_says),
        cmocka_unit_test(test_input_adds_one_gaussian_vector_a_record),
        cmocka_unit_test(test_entropic_flows_at_the_start),
        cmocka_unit_test(test_no_neighbour_comes_out_further_than_the_certificate),
        cmocka_unit_test(test_the_exact_law_stays_below_the_certificates),
        cmocka_unit_test(test_the_programs_flow_has_the_exact_law),
        cmocka_unit_test(test_training_is_plain_and_reads_noised_records_only),
        cmocka_unit_test(test_later_steps_flow_on_with_noise_of_their_own),
        cmocka_unit_test(test_records_that_are_no_numbers_become_zero),
        cmocka_unit_test(test_mechanisms_that_noise_no_data_are_refused),
        cmocka_unit_test(test_raw_records_are_never_trained_on),
        cmocka_unit_test(test_starts_without_a_declared_bound_are_refused),
        cmocka_unit_test(test_unstable_and_silent_flows_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
