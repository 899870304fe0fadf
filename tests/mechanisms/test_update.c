/* Local updates: against the algorithms written out in double, and what noise, batches and clips have to keep. */
#include "mechanisms/fixture.h"
#include "mechanisms/mechanism_ops.h"
#include "models/losses.h"
#include "local_round.h"

#include "mfpg/privatise.h"
#include "mfpg/transport.h"
#include "whole_grid.h"

enum { FEATURES = 6, D = FEATURES + 1, ROWS = 12 };

typedef struct setup {
    mfpg_context *ctx;
    mfpg_model *model;
    mfpg_dataset data;
    float *w, *out, *other, *work;
    ptrdiff_t work_size;
    uint64_t random;
} setup;

static setup begin(void) {
    setup s = {.ctx = testing_context(1), .random = testing_seed(), .work_size = 4096};
    s.model = make_model(s.ctx, "logistic", FEATURES);
    s.data = make_dataset(ROWS, FEATURES, 1, &s.random);
    s.w = make_floats(D);
    s.out = make_floats(D);
    s.other = make_floats(D);
    s.work = make_floats(s.work_size);
    for (int i = 0; i < D; i++) s.w[i] = (float)next_normal(&s.random);
    return s;
}

static void end(setup *s) {
    free(s->w);
    free(s->out);
    free(s->other);
    free(s->work);
    free_dataset(&s->data);
    mfpg_model_destroy(s->model);
    mfpg_context_destroy(s->ctx);
}

static mfpg_stream stream_of(mfpg_purpose purpose, uint64_t round, uint64_t client) {
    mfpg_key key = mfpg_key_from_seed(testing_seed());
    return mfpg_stream_open(&key, purpose, round, client);
}

/* One update of a client in a round into out. */
static mfpg_update_report update(setup *s, const mfpg_mechanism *mechanism, const mfpg_dataset *data,
    ptrdiff_t rows, mfpg_action action, uint64_t round, uint64_t client, float *out) {
    mfpg_stream noise = stream_of(MFPG_PURPOSE_NOISE, round, client);
    mfpg_stream batch = stream_of(MFPG_PURPOSE_BATCH, round, client);
    mfpg_update_report report;
    assert_true(mfpg_mechanism_workspace(mechanism, s->model, data->rows) <= s->work_size);
    CHECK_OK(s->ctx, update_by(s->ctx, mechanism, s->model, data, rows, action, &noise, &batch, s->w, out,
                         s->work, &report));
    return report;
}

/* ---- the algorithms in double; logistic regression, all rows ---- */

static void reference_gradient(
    const mfpg_dataset *data, const double *x, double clip_example, double *gradient) {
    for (int i = 0; i < D; i++) gradient[i] = 0.0;
    for (ptrdiff_t r = 0; r < data->rows; r++) {
        double margin = x[FEATURES], one[D], norm2 = 0.0;
        for (int j = 0; j < FEATURES; j++) margin += x[j] * (double)data->x[r * FEATURES + j];
        double residual = 1.0 / (1.0 + exp(-margin)) - (double)data->y[r];
        for (int j = 0; j < D; j++) {
            one[j] = residual * (j < FEATURES ? (double)data->x[r * FEATURES + j] : 1.0);
            norm2 += one[j] * one[j];
        }
        double factor = fmin(1.0, clip_example / sqrt(norm2));
        for (int j = 0; j < D; j++) gradient[j] += factor * one[j] / (double)data->rows;
    }
}

static void reference_clip(double *v, double clip) {
    double norm2 = 0.0;
    for (int i = 0; i < D; i++) norm2 += v[i] * v[i];
    double factor = fmin(1.0, clip / sqrt(norm2));
    for (int i = 0; i < D; i++) v[i] *= factor;
}

/* The data-free part of Algorithm 3's drift, in place. */
static void reference_regularise(const mfpg_mechanism_options *o, double e, double *x) {
    double mean = 0.0;
    for (int i = 0; i < D; i++) mean += x[i] / D;
    for (int i = 0; i < D; i++)
        x[i] -= o->step * (e / o->prior_variance * x[i] + o->variance_penalty * (x[i] - mean));
}

/* Algorithms 2 and 3 as they stand in the paper, from w, with the noise of the given stream. */
static void reference_update(const mfpg_mechanism_options *o, const mfpg_dataset *data, const float *w,
    double strength, double noise_sd, const mfpg_stream *noise, double *x) {
    int entropic = strcmp(o->kind, "entropic") == 0, none = strcmp(o->kind, "none") == 0;
    int at_update = o->clip_at == MFPG_CLIP_UPDATE && !none, example = o->promise.unit == MFPG_UNIT_EXAMPLE;
    double rate = entropic ? o->step : o->learning_rate, g[D], start[D];
    float z[D];
    for (int i = 0; i < D; i++) start[i] = x[i] = (double)w[i];
    for (int64_t step = 0; step < o->local_steps; step++) {
        reference_gradient(data, x, example && !none ? o->clip : HUGE_VAL, g);
        if (!example && !none && !at_update) reference_clip(g, o->clip);
        if (entropic && !at_update) reference_regularise(o, strength, x);
        for (int i = 0; i < D; i++) x[i] -= rate * g[i];
        if (none || at_update) continue;
        mfpg_stream_gaussian(noise, (uint64_t)step, D, z);
        for (int i = 0; i < D; i++) x[i] += noise_sd * (double)z[i];
    }
    if (!at_update) return;
    for (int i = 0; i < D; i++) x[i] -= start[i];
    reference_clip(x, o->clip);
    if (entropic) reference_regularise(o, strength, start);
    mfpg_stream_gaussian(noise, 0, D, z);
    for (int i = 0; i < D; i++) x[i] += start[i] + noise_sd * (double)z[i];
}

static void check_against_reference(const mfpg_mechanism_options *given, void *user) {
    setup *s = user;
    mfpg_mechanism_options options = *given;
    if (options.batch_rate < 1.0) return;
    options.clip = 0.11; /* active for client gradients, for most examples, and for updates */
    options.learning_rate = 0.3;
    options.prior_variance = 2.0;
    options.variance_penalty = 0.5;
    mfpg_mechanism *mechanism = make_mechanism(s->ctx, &options);
    mfpg_action action = multiplier_for(mechanism, 1.5);
    mechanism = on_fine_grid(s->ctx, &options, action, ROWS, mechanism);
    mfpg_release release = release_of(s->ctx, mechanism, action, ROWS);
    double e = release.noise_sd * release.noise_sd / (2.0 * options.step), expected[D];
    mfpg_stream noise = stream_of(MFPG_PURPOSE_NOISE, 3, 5);
    reference_update(&options, &s->data, s->w, e, release.noise_sd, &noise, expected);
    mfpg_update_report report = update(s, mechanism, &s->data, ROWS, action, 3, 5, s->out);
    /* three steps, each a few roundings of 2^-24 of weights below 4; the clip's shrinking is below that */
    for (int i = 0; i < D; i++) check_near((double)s->out[i], expected[i], 0.0, 4e-6, options.kind);
    assert_int_equal(report.nonfinite, 0);
    assert_int_equal(report.steps, release.steps);
    assert_int_equal(report.transport.projections, 0);
    mfpg_mechanism_destroy(mechanism);
}

static void test_every_setting_equals_its_algorithm(void **state) {
    (void)state;
    setup s = begin();
    each_setting(check_against_reference, &s);
    end(&s);
}

/* The paper's own settings, to the last digits: one step, the strength and the budget given, not calibrated. */
static void test_one_step_by_hand(void **state) {
    (void)state;
    setup s = begin();
    mfpg_mechanism_options options = mfpg_mechanism_options_default();
    mfpg_stream noise = stream_of(MFPG_PURPOSE_NOISE, 0, 0);
    double expected[D];
    for (int kind = 0; kind < 2; kind++) {
        options.kind = kind ? "entropic" : "gaussian";
        double sd = kind ? sqrt(2.0 * 1.5 * 0.1) : 0.01 * 2.0 / 1.5; /* sqrt(2 e tau); eta 2 C/b */
        mfpg_action action = kind ? strength_of(1.5) : budget_of(1.5);
        mfpg_mechanism *mechanism = make_mechanism(s.ctx, &options);
        mechanism = on_fine_grid(s.ctx, &options, action, ROWS, mechanism);
        update(&s, mechanism, &s.data, ROWS, action, 0, 0, s.out);
        reference_update(&options, &s.data, s.w, 1.5, sd, &noise, expected);
        for (int i = 0; i < D; i++) check_near((double)s.out[i], expected[i], 0.0, 5e-7, options.kind);
        mfpg_mechanism_destroy(mechanism);
    }
    end(&s);
}

static void test_signal_norm_is_that_of_the_clipped_displacement(void **state) {
    (void)state;
    setup s = begin();
    mfpg_mechanism_options options = mfpg_mechanism_options_default();
    options.clip = 1e-3; /* active: each step moves by rate x clip, nearly in one direction */
    options.local_steps = 4;
    for (int kind = 0; kind < 2; kind++) {
        options.kind = kind ? "entropic" : "gaussian";
        mfpg_mechanism *mechanism = make_mechanism(s.ctx, &options);
        double rate = kind ? options.step : options.learning_rate;
        mfpg_action little = multiplier_of(4.0); /* 4e-5 and 4e-4: no other direction */
        mfpg_update_report report = update(&s, mechanism, &s.data, ROWS, little, 0, 0, s.out);
        check_near(report.signal_norm, 4.0 * rate * 1e-3, 1e-3, 0.0, "signal of four steps");
        mfpg_dataset empty = s.data;
        empty.rows = 0;
        report = update(&s, mechanism, &empty, ROWS, little, 0, 0, s.out);
        assert_true(report.signal_norm == 0.0);
        mfpg_mechanism_destroy(mechanism);
    }
    end(&s);
}

/* ---- noise ---- */

/* From w = 0 and without data an update is noise alone, in one step: its sd over many draws is the one released. */
static void check_noise_sd(const mfpg_mechanism_options *given, void *user) {
    setup *s = user;
    enum { DRAWS = 400 };
    mfpg_mechanism_options options = *given;
    options.local_steps = 1;
    mfpg_mechanism *mechanism = make_mechanism(s->ctx, &options);
    mfpg_action action = mfpg_mechanism_action_for(mechanism, 1.3, ROWS);
    mfpg_release release = release_of(s->ctx, mechanism, action, ROWS);
    mfpg_dataset empty = s->data;
    empty.rows = 0;
    double sum = 0.0, squares = 0.0, n = (double)DRAWS * D;
    memset(s->w, 0, D * sizeof(float));
    for (uint64_t draw = 0; draw < DRAWS; draw++) {
        update(s, mechanism, &empty, ROWS, action, draw, 2, s->out);
        for (int i = 0; i < D; i++) {
            sum += (double)s->out[i];
            squares += (double)s->out[i] * (double)s->out[i];
        }
    }
    if (action.control == MFPG_CONTROL_NONE) {
        assert_true(squares == 0.0);
    } else { /* five standard errors: of the mean sd/sqrt n, of the sd 1/sqrt(2n) of itself */
        check_near(sum / n, 0.0, 0.0, 5.0 * release.noise_sd / sqrt(n), "mean of the noise");
        check_near(sqrt(squares / n), release.noise_sd, 5.0 / sqrt(2.0 * n), 0.0, "sd of the noise");
    }
    mfpg_mechanism_destroy(mechanism);
}

static void test_noise_has_the_released_sd(void **state) {
    (void)state;
    setup s = begin();
    each_setting(check_noise_sd, &s);
    end(&s);
}

/* The state moves by whole steps of the grid, and by those of the exact law: without data, by the rounded noise. A state so large
 * that its own rounding exceeds the noise is rounded afterwards, which is post-processing, and no error. */
static void test_the_state_moves_by_whole_steps(void **state) {
    (void)state;
    setup s = begin();
    mfpg_mechanism_options options = mfpg_mechanism_options_default();
    mfpg_mechanism *mechanism = make_mechanism(s.ctx, &options);
    mfpg_stream noise = stream_of(MFPG_PURPOSE_NOISE, 0, 0);
    mfpg_dataset empty = s.data;
    empty.rows = 0;
    const double nothing[D] = {0};
    for (int k = 1; k < 30; k++) {
        mfpg_action action = multiplier_of(k / 7.0);
        mfpg_release release = release_of(s.ctx, mechanism, action, ROWS);
        int64_t steps[D];
        assert_true(release.grid == mfpg_grid_for(release.noise_sd));
        whole_grid_noise(&noise, 0, D, nothing, release.noise_sd, release.grid, steps);
        for (int i = 0; i < D; i++) s.w[i] = k % 3 == 0 ? 131072.0F : (float)(k % 3 - 1) * 16.0F;
        update(&s, mechanism, &empty, ROWS, action, 0, 0, s.out);
        for (int i = 0; i < D; i++)
            assert_true(s.out[i] == (float)((double)s.w[i] + release.grid * (double)steps[i]));
    }
    mfpg_mechanism_destroy(mechanism);
    end(&s);
}

/* The noise that is added is the release's own: handed one with more noise, an update has more; one that is not this mechanism's is
 * refused. */
static void test_what_is_added_is_what_the_release_says(void **state) {
    (void)state;
    setup s = begin();
    mfpg_mechanism_options options = mfpg_mechanism_options_default();
    mfpg_mechanism *mechanism = make_mechanism(s.ctx, &options);
    mfpg_stream noise = stream_of(MFPG_PURPOSE_NOISE, 0, 0);
    mfpg_release release = release_of(s.ctx, mechanism, multiplier_of(1.0), ROWS), bad[6];
    const mfpg_local_round quiet = {
        .data = &s.data, .rows = ROWS, .release = &release, .noise = &noise, .batch = &noise};
    CHECK_OK(s.ctx, mfpg_mechanism_update(s.ctx, mechanism, s.model, &quiet, s.w, s.out, s.work, NULL));
    double near = 0.0, far = 0.0;
    for (int i = 0; i < D; i++) near += fabs((double)s.out[i] - (double)s.w[i]);
    for (int i = 0; i < 6; i++) bad[i] = release;
    release.noise_sd *= 64.0;
    release.grid *= 64.0;
    CHECK_OK(s.ctx, mfpg_mechanism_update(s.ctx, mechanism, s.model, &quiet, s.w, s.out, s.work, NULL));
    for (int i = 0; i < D; i++) far += fabs((double)s.out[i] - (double)s.w[i]);
    assert_true(far > 10.0 * near);
    bad[0].sensitivity *= 0.99;
    bad[1].steps = 2;
    bad[2].unit = MFPG_UNIT_EXAMPLE;
    bad[3].noise_sd = 0.0;
    bad[4].grid *= 8.0;
    bad[5].grid *= 0.7;
    for (int i = 0; i < 6; i++) {
        const mfpg_local_round round = {
            .data = &s.data, .rows = ROWS, .release = &bad[i], .noise = &noise, .batch = &noise};
        assert_int_equal(mfpg_mechanism_update(s.ctx, mechanism, s.model, &round, s.w, s.out, s.work, NULL),
            i < 4 ? MFPG_ERR_INPUT : MFPG_ERR_DOMAIN);
    }
    mfpg_mechanism_destroy(mechanism);
    end(&s);
}

/* A share of a sum: the same data and noise, weighted, on the common grid, counted from the broadcast model; after several local steps
 * it holds the earlier ones too. */
static void test_shares_are_weighted_updates_on_the_common_grid(void **state) {
    (void)state;
    setup s = begin();
    for (int kind = 0; kind < 2; kind++)
        for (int unit = 0; unit < 2; unit++)
            for (int64_t steps = 1; steps <= 3; steps += 2) {
                mfpg_mechanism_options options = mfpg_mechanism_options_default();
                options.kind = kind ? "entropic" : "gaussian";
                options.promise.unit = unit ? MFPG_UNIT_EXAMPLE : MFPG_UNIT_CLIENT;
                options.local_steps = steps;
                mfpg_mechanism *mechanism = make_mechanism(s.ctx, &options);
                mfpg_stream noise = stream_of(MFPG_PURPOSE_NOISE, 0, 0);
                mfpg_release release = release_of(s.ctx, mechanism, multiplier_of(2.0), ROWS);
                int64_t share[D];
                release.weight = 0.3;
                release.grid = mfpg_grid_for(0.3 * release.noise_sd);
                mfpg_local_round round = {.data = &s.data,
                    .rows = ROWS,
                    .release = &release,
                    .noise = &noise,
                    .batch = &noise,
                    .share = share};
                CHECK_OK(s.ctx,
                    mfpg_mechanism_update(s.ctx, mechanism, s.model, &round, s.w, s.out, s.work, NULL));
                for (int i = 0; i < D;
                     i++) /* half a step for the state's own rounding, and that of out to float */
                    check_near((double)share[i] * release.grid, 0.3 * ((double)s.out[i] - (double)s.w[i]),
                        0.0, 0.51 * release.grid + 1e-7, options.kind);
                release.grid *= 8.0;
                assert_int_equal(
                    mfpg_mechanism_update(s.ctx, mechanism, s.model, &round, s.w, s.out, s.work, NULL),
                    MFPG_ERR_DOMAIN);
                mfpg_mechanism_destroy(mechanism);
            }
    end(&s);
}

/* A client of another system that trains in the same floats sends the same integers, clipped or not. */
static void test_share_of_a_foreign_update_is_that_of_the_round(void **state) {
    (void)state;
    setup s = begin();
    for (int i = 0; i < 8; i++) {
        mfpg_mechanism_options options = mfpg_mechanism_options_default();
        options.clip_at = MFPG_CLIP_UPDATE;
        options.local_steps = 3;
        options.learning_rate = 0.5;
        options.clip = i % 2 ? 100.0 : 1e-3 * (1 + i);
        mfpg_mechanism *mechanism = make_mechanism(s.ctx, &options);
        mfpg_stream noise = stream_of(MFPG_PURPOSE_NOISE, 4, (uint64_t)i);
        mfpg_release release = release_of(s.ctx, mechanism, multiplier_of(i < 4 ? 1.0 : 1e-3), ROWS);
        int64_t share[D], foreign[D];
        int zeroed = -1;
        release.weight = 0.3;
        release.grid = mfpg_grid_for(0.3 * release.noise_sd);
        mfpg_local_round round = {.data = &s.data,
            .rows = ROWS,
            .release = &release,
            .noise = &noise,
            .batch = &noise,
            .share = share};
        CHECK_OK(s.ctx, mfpg_mechanism_update(s.ctx, mechanism, s.model, &round, s.w, s.out, s.work, NULL));
        float x[D], gradient[D];
        memcpy(x, s.w, sizeof x);
        for (int step = 0; step < 3; step++) {
            mfpg_model_gradient(s.model, x, &s.data, NULL, 0, ROWS, gradient, s.work);
            for (int j = 0; j < D; j++) x[j] += -0.5f * gradient[j];
        }
        for (int j = 0; j < D; j++) x[j] -= s.w[j];
        double last = x[D - 1];
        mfpg_buffer parts[] = {{x, D - 1, MFPG_ELEMENT_FLOAT32}, {&last, 1, MFPG_ELEMENT_FLOAT64}};
        CHECK_OK(s.ctx, mfpg_privatise_share(s.ctx, mechanism, &release, &noise, parts, 2, foreign, &zeroed));
        assert_int_equal(zeroed, 0);
        assert_memory_equal(foreign, share, sizeof share);
        assert_true(last == (double)x[D - 1]); /* the update itself is left as it was */
        mfpg_mechanism_destroy(mechanism);
    }
    end(&s);
}

/* Noise is one vector over all tensors and coordinates: no part repeats another, no round or client repeats another. */
static void test_noise_is_never_reused(void **state) {
    (void)state;
    setup s = begin();
    enum { DRAWS = 15000 };
    mfpg_mechanism_options options = mfpg_mechanism_options_default();
    options.local_steps = 2;
    mfpg_mechanism *mechanism = make_mechanism(s.ctx, &options);
    mfpg_action action = multiplier_of(1.0);
    double sd = release_of(s.ctx, mechanism, action, ROWS).noise_sd;
    mfpg_dataset empty = s.data;
    empty.rows = 0;
    memset(s.w, 0, D * sizeof(float));
    double halves = 0.0, clients = 0.0, squares = 0.0;
    for (uint64_t draw = 0; draw < DRAWS; draw++) {
        update(&s, mechanism, &empty, ROWS, action, draw, 0, s.out);
        update(&s, mechanism, &empty, ROWS, action, draw, 1, s.other);
        for (int i = 0; i < D; i++) {
            clients += (double)s.out[i] * (double)s.other[i];
            squares += (double)s.out[i] * (double)s.out[i];
            if (i < D / 2) halves += (double)s.out[i] * (double)s.out[i + D / 2];
        }
    }
    double n = (double)DRAWS * D; /* 1e5 draws */
    /* two steps with noise of their own: variance 2; one draw used twice would give 4 */
    check_near(squares / n, 2.0 * sd * sd, 5.0 * sqrt(2.0 / n), 0.0, "variance of two steps");
    assert_true(fabs(clients / squares) < 0.02);
    assert_true(fabs(halves / squares) * (double)D / (D / 2) < 0.02);
    mfpg_mechanism_destroy(mechanism);
    end(&s);
}

/* ---- batches ---- */

/* Rate 1/2, two declared rows: leaving out the second moves the state by rate C/(q N) where the coin takes it and by
 * nothing where not. A divisor that followed the batch or the data at hand would move the first row's part as well. */
static void test_divisor_is_the_declared_one(void **state) {
    (void)state;
    setup s = begin();
    mfpg_mechanism_options options = mfpg_mechanism_options_default();
    options.promise.unit = MFPG_UNIT_EXAMPLE;
    options.batch_rate = 0.5;
    options.clip = 0.01; /* shorter than every gradient here */
    options.learning_rate = 1.0;
    mfpg_mechanism *mechanism = make_mechanism(s.ctx, &options);
    mfpg_action little = multiplier_of(0.01);
    mechanism = on_fine_grid(s.ctx, &options, little, 2, mechanism);
    mfpg_release release = release_of(s.ctx, mechanism, little, 2);
    check_near(release.sensitivity, 0.01 * (1.0 + options.sum_rounding), 1e-14, 0.0, "C/(q N)");
    mfpg_dataset two = s.data, one = s.data;
    two.rows = 2;
    one.rows = 1;
    int taken = 0;
    for (uint64_t round = 0; round < 100; round++) {
        update(&s, mechanism, &two, 2, little, round, 0, s.out);
        update(&s, mechanism, &one, 2, little, round, 0, s.other);
        for (int i = 0; i < D; i++) s.out[i] -= s.other[i];
        double moved = norm_of(s.out, D);
        if (moved > 0.0) check_near(moved, 0.01, 1e-4, 0.0, "shift of one example");
        taken += moved > 0.0;
    }
    assert_true(taken > 25 && taken < 75); /* five standard errors of a fair coin */
    mfpg_mechanism_destroy(mechanism);
    end(&s);
}

/* Four rows at rate 1e-6: all three batches are empty; three steps are released and three draws of noise go in. */
static void test_empty_batches_are_noise_steps(void **state) {
    (void)state;
    setup s = begin();
    mfpg_mechanism_options options = mfpg_mechanism_options_default();
    options.batch_rate = 1e-6;
    options.local_steps = 3;
    mfpg_dataset four = s.data;
    four.rows = 4;
    for (int unit = 0; unit < 2; unit++) {
        options.promise.unit = unit ? MFPG_UNIT_EXAMPLE : MFPG_UNIT_CLIENT;
        mfpg_mechanism *mechanism = make_mechanism(s.ctx, &options);
        mfpg_action action = multiplier_of(unit ? 1e-4 : 1.0);
        mechanism = on_fine_grid(s.ctx, &options, action, 4, mechanism);
        mfpg_release release = release_of(s.ctx, mechanism, action, 4);
        assert_int_equal(release.steps, 3);
        mfpg_update_report report = update(&s, mechanism, &four, 4, action, 1, 1, s.out);
        assert_int_equal(report.steps, 3);
        assert_true(report.signal_norm == 0.0);
        mfpg_stream noise = stream_of(MFPG_PURPOSE_NOISE, 1, 1);
        float z[D];
        double expected[D];
        for (int i = 0; i < D; i++) expected[i] = (double)s.w[i];
        for (uint64_t step = 0; step < 3; step++) {
            mfpg_stream_gaussian(&noise, step, D, z);
            for (int i = 0; i < D; i++) expected[i] += release.noise_sd * (double)z[i];
        }
        for (int i = 0; i < D; i++) check_near((double)s.out[i], expected[i], 0.0, 1e-6, "noise alone");
        mfpg_mechanism_destroy(mechanism);
    }
    end(&s);
}

/* A batch gradient over q N estimates the full one: the mean over many batches comes close. The quadratic model with
 * the client unit follows its sum instead. */
static void test_poisson_batches_are_unbiased(void **state) {
    (void)state;
    setup s = begin();
    mfpg_model *quadratic = make_model(s.ctx, "quadratic", FEATURES);
    mfpg_mechanism_options options = mfpg_mechanism_options_default();
    options.kind = "none";
    options.learning_rate = 0.01;
    enum { DRAWS = 4000 };
    for (int sums = 0; sums < 2; sums++) {
        const mfpg_model *model = sums ? quadratic : s.model;
        ptrdiff_t d = mfpg_model_parameters(model);
        double mean[D] = {0}, square[D] = {0};
        options.batch_rate = 1.0;
        mfpg_mechanism *full = make_mechanism(s.ctx, &options);
        options.batch_rate = 0.4;
        mfpg_mechanism *part = make_mechanism(s.ctx, &options);
        mfpg_action no = {.control = MFPG_CONTROL_NONE};
        for (uint64_t round = 0; round < DRAWS; round++) {
            mfpg_stream batch = stream_of(MFPG_PURPOSE_BATCH, round, 0);
            CHECK_OK(s.ctx,
                update_by(s.ctx, part, model, &s.data, ROWS, no, &batch, &batch, s.w, s.other, s.work, NULL));
            for (ptrdiff_t i = 0; i < d; i++) {
                double moved = (double)s.other[i] - (double)s.w[i];
                mean[i] += moved / DRAWS;
                square[i] += moved * moved / DRAWS;
            }
        }
        mfpg_stream unused = stream_of(MFPG_PURPOSE_BATCH, 0, 0);
        CHECK_OK(s.ctx,
            update_by(s.ctx, full, model, &s.data, ROWS, no, &unused, &unused, s.w, s.out, s.work, NULL));
        mfpg_model_gradient(model, s.w, &s.data, NULL, 0, sums ? 1.0 : ROWS, s.other, s.work);
        for (ptrdiff_t i = 0; i < d; i++) {
            double moved = (double)s.out[i] - (double)s.w[i];
            check_near(moved, -0.01 * (double)s.other[i], 1e-5, 1e-6, "full step");
            double error = sqrt((square[i] - mean[i] * mean[i]) / DRAWS);
            check_near(mean[i], moved, 0.0, 5.0 * error + 1e-7, "mean of batch steps");
        }
        mfpg_mechanism_destroy(full);
        mfpg_mechanism_destroy(part);
    }
    mfpg_model_destroy(quadratic);
    end(&s);
}

/* ---- sensitivity and values that are no numbers ---- */

/* With equal noise, data moves a one-step state by at most the released sensitivity (zero-out) or twice it (replace). */
static void check_sensitivity(const mfpg_mechanism_options *given, void *user) {
    setup *s = user;
    mfpg_mechanism_options options = *given;
    options.local_steps = options.clip_at == MFPG_CLIP_UPDATE ? 3 : 1;
    options.clip = 0.2;
    mfpg_mechanism *mechanism = make_mechanism(s->ctx, &options);
    if (mfpg_mechanism_control(mechanism) == MFPG_CONTROL_NONE) {
        mfpg_mechanism_destroy(mechanism);
        return;
    }
    mfpg_action action = multiplier_of(0.5);
    mechanism = on_fine_grid(s->ctx, &options, action, ROWS, mechanism);
    double bound = release_of(s->ctx, mechanism, action, ROWS).sensitivity;
    int example = options.promise.unit == MFPG_UNIT_EXAMPLE;
    for (int trial = 0; trial < 20; trial++) {
        double size = pow(10.0, 3.0 * next_uniform(&s->random));
        mfpg_dataset absent = s->data, other = make_dataset(ROWS, FEATURES, 1, &s->random);
        for (int i = 0; i < ROWS * FEATURES; i++) other.x[i] *= (float)size;
        if (example) { /* neighbours differ in the last row */
            memcpy(other.x, s->data.x, (ROWS - 1) * FEATURES * sizeof(float));
            memcpy(other.y, s->data.y, (ROWS - 1) * sizeof(float));
        }
        refresh_norms(&other);
        absent.rows = example ? ROWS - 1 : 0;
        const mfpg_dataset *neighbour[] = {&absent, &other};
        for (int replace = 0; replace < 2; replace++) {
            update(s, mechanism, &s->data, ROWS, action, 9, 0, s->out);
            update(s, mechanism, neighbour[replace], ROWS, action, 9, 0, s->other);
            for (int i = 0; i < D; i++) s->out[i] -= s->other[i];
            /* float addition to weights below 4: 2^-23 a coordinate */
            assert_true(norm_of(s->out, D) <= bound * (replace ? 2.0 : 1.0) + 2e-6);
        }
        free_dataset(&other);
    }
    mfpg_mechanism_destroy(mechanism);
}

static void test_data_move_the_state_by_the_sensitivity_at_most(void **state) {
    (void)state;
    setup s = begin();
    each_setting(check_sensitivity, &s);
    end(&s);
}

/* A client whose data are no numbers sends what a client without data would send, and says so to itself. */
static void test_gradient_that_is_no_number_becomes_zero(void **state) {
    (void)state;
    setup s = begin();
    mfpg_dataset bad = make_dataset(4, FEATURES, 1, &s.random), none = bad;
    bad.x[FEATURES + 2] = NAN;
    refresh_norms(&bad);
    none.rows = 0;
    for (int kind = 0; kind < 2; kind++) {
        for (int clip_at = 0; clip_at < 2; clip_at++) {
            mfpg_mechanism_options options = mfpg_mechanism_options_default();
            options.kind = kind ? "entropic" : "gaussian";
            options.clip_at = clip_at ? MFPG_CLIP_UPDATE : MFPG_CLIP_STEP;
            options.local_steps = 2;
            mfpg_mechanism *mechanism = make_mechanism(s.ctx, &options);
            mfpg_action action = multiplier_of(1.0);
            mfpg_update_report report = update(&s, mechanism, &bad, 4, action, 0, 0, s.out);
            assert_int_equal(report.nonfinite, clip_at ? 1 : 2);
            update(&s, mechanism, &none, 4, action, 0, 0, s.other);
            assert_memory_equal(s.out, s.other, D * sizeof(float));
            mfpg_mechanism_destroy(mechanism);
        }
    }
    free_dataset(&bad);
    end(&s);
}

/* Four examples, one no number: the update is that of the other three with the same noise. */
static void test_example_that_is_no_number_is_left_out(void **state) {
    (void)state;
    setup s = begin();
    mfpg_mechanism_options options = mfpg_mechanism_options_default();
    options.promise.unit = MFPG_UNIT_EXAMPLE;
    mfpg_mechanism *mechanism = make_mechanism(s.ctx, &options);
    mfpg_dataset four = s.data, three = s.data;
    four.rows = 4;
    three.rows = 3;
    s.data.x[3 * FEATURES] = NAN;
    refresh_norms(&four);
    mfpg_update_report report = update(&s, mechanism, &four, 4, multiplier_of(1.0), 0, 0, s.out);
    assert_int_equal(report.nonfinite, 1);
    report = update(&s, mechanism, &three, 4, multiplier_of(1.0), 0, 0, s.other);
    assert_int_equal(report.nonfinite, 0);
    assert_memory_equal(s.out, s.other, D * sizeof(float));
    mfpg_mechanism_destroy(mechanism);
    end(&s);
}

static void test_divergence_is_an_error(void **state) {
    (void)state;
    setup s = begin();
    mfpg_model *linear = make_model(s.ctx, "linear", FEATURES);
    mfpg_mechanism_options options = mfpg_mechanism_options_default();
    options.kind = "none";
    options.learning_rate = 1e6;
    options.local_steps = 50;
    mfpg_mechanism *mechanism = make_mechanism(s.ctx, &options);
    mfpg_stream stream = stream_of(MFPG_PURPOSE_NOISE, 0, 0);
    mfpg_action no = {.control = MFPG_CONTROL_NONE};
    assert_int_equal(
        update_by(s.ctx, mechanism, linear, &s.data, ROWS, no, &stream, &stream, s.w, s.out, s.work, NULL),
        MFPG_ERR_NUMERIC);
    assert_non_null(strstr(mfpg_context_message(s.ctx), "no longer finite"));
    assert_int_equal(update_by(s.ctx, mechanism, linear, &s.data, ROWS, budget_of(1.0), &stream, &stream, s.w,
                         s.out, s.work, NULL),
        MFPG_ERR_DOMAIN);
    mfpg_mechanism_destroy(mechanism);
    mfpg_model_destroy(linear);
    end(&s);
}

/* ---- transport ---- */

static void test_transport_follows_the_noised_step(void **state) {
    (void)state;
    setup s = begin();
    mfpg_mechanism_options options = mfpg_mechanism_options_default();
    options.kind = "entropic";
    mfpg_mechanism *plain = make_mechanism(s.ctx, &options);
    options.regularisation.value = 1.0;
    mfpg_mechanism *projected = make_mechanism(s.ctx, &options);
    options.transport_cap = D - 1;
    mfpg_mechanism *capped = make_mechanism(s.ctx, &options);
    update(&s, plain, &s.data, ROWS, strength_of(1.0), 0, 0, s.out);
    update(&s, capped, &s.data, ROWS, strength_of(1.0), 0, 0, s.other);
    assert_memory_equal(s.out, s.other, D * sizeof(float)); /* the one tensor is larger than the cap */
    mfpg_sinkhorn_result result;
    CHECK_OK(s.ctx, mfpg_sinkhorn_project(s.ctx, D, (mfpg_regularisation){.value = 1.0}, s.out, &result));
    mfpg_update_report report = update(&s, projected, &s.data, ROWS, strength_of(1.0), 0, 0, s.other);
    assert_memory_equal(s.out, s.other, D * sizeof(float));
    const mfpg_transport_report *told = &report.transport;
    assert_true(told->least_ratio == result.variance_ratio && told->largest_ratio == told->least_ratio);
    assert_true(told->projections == 1 && told->least_ratio < 1.0 && told->least_tensor == 0);
    assert_true(told->residual == result.residual && told->kernel_error == result.kernel_error);
    assert_int_equal(told->iterations, result.iterations);
    assert_true(result.converged);
    check_near(mfpg_transport_mean_ratio(told), result.variance_ratio, 0, 0x1p-30, "mean of one ratio");
    mfpg_mechanism_destroy(plain);
    mfpg_mechanism_destroy(projected);
    mfpg_mechanism_destroy(capped);
    end(&s);
}

/* ---- the contract of every mechanism ---- */

static void check_contract(const mfpg_mechanism_options *options, void *user) {
    setup *s = user;
    mfpg_mechanism *mechanism = make_mechanism(s->ctx, options);
    mfpg_action action = multiplier_for(mechanism, 1.0);
    int noisy = action.control != MFPG_CONTROL_NONE;
    memset(s->work, 0xFF, (size_t)s->work_size * sizeof(float)); /* every float of it NaN */
    update(s, mechanism, &s->data, ROWS, action, 4, 1, s->out);
    for (int i = 0; i < D; i++) assert_true(isfinite(s->out[i]));
    update(
        s, mechanism, &s->data, ROWS, action, 4, 1, s->other); /* the workspace as another client left it */
    assert_memory_equal(s->out, s->other, D * sizeof(float));
    update(s, mechanism, &s->data, ROWS, action, 4, 2, s->other);
    assert_int_equal(noisy || options->batch_rate < 1.0, memcmp(s->out, s->other, D * sizeof(float)) != 0);
    update(s, mechanism, &s->data, ROWS, action, 5, 1, s->other);
    assert_int_equal(noisy || options->batch_rate < 1.0, memcmp(s->out, s->other, D * sizeof(float)) != 0);
    mfpg_mechanism_destroy(mechanism);
}

static void test_contract_of_every_setting(void **state) {
    (void)state;
    setup s = begin();
    each_setting(check_contract, &s);
    for (ptrdiff_t k = 0; mfpg_kind_name(&mfpg_mechanisms, k); k++)
        assert_non_null(mfpg_kind_help(&mfpg_mechanisms, k));
    assert_null(mfpg_kind_name(&mfpg_mechanisms, -1));
    mfpg_mechanism_destroy(NULL);
    end(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_setting_equals_its_algorithm),
        cmocka_unit_test(test_one_step_by_hand),
        cmocka_unit_test(test_signal_norm_is_that_of_the_clipped_displacement),
        cmocka_unit_test(test_noise_has_the_released_sd),
        cmocka_unit_test(test_the_state_moves_by_whole_steps),
        cmocka_unit_test(test_what_is_added_is_what_the_release_says),
        cmocka_unit_test(test_shares_are_weighted_updates_on_the_common_grid),
        cmocka_unit_test(test_share_of_a_foreign_update_is_that_of_the_round),
        cmocka_unit_test(test_noise_is_never_reused),
        cmocka_unit_test(test_divisor_is_the_declared_one),
        cmocka_unit_test(test_empty_batches_are_noise_steps),
        cmocka_unit_test(test_poisson_batches_are_unbiased),
        cmocka_unit_test(test_data_move_the_state_by_the_sensitivity_at_most),
        cmocka_unit_test(test_gradient_that_is_no_number_becomes_zero),
        cmocka_unit_test(test_example_that_is_no_number_is_left_out),
        cmocka_unit_test(test_divergence_is_an_error),
        cmocka_unit_test(test_transport_follows_the_noised_step),
        cmocka_unit_test(test_contract_of_every_setting),
    };
    print_message("seed %" PRIu64 "\n", testing_seed());
    return cmocka_run_group_tests(tests, NULL, NULL);
}
