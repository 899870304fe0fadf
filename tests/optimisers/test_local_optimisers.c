/* Optimisers of a client's steps: every line of local.def within mechanisms, momentum by hand, and who refuses a memory. */
#include "federation/fixture.h"

#include "local_round.h"
#include "mechanisms/mechanism_ops.h"
#include "models/losses.h"

static const float start[] = {0.25F, -0.5F, 1.0F, 0.125F};
enum { STEPS = 3, N = 4 };

/* The model after a round of a client's steps; the multiplier 1 for mechanisms with noise. */
static void train(const mfpg_mechanism_options *options, float out[N]) {
    fixture f = fixture_open(1, "quadratic", 1, 12, options, multiplier(1.0));
    mfpg_stream noise = mfpg_stream_open(&f.key, MFPG_PURPOSE_NOISE, 0, 0),
                batch = mfpg_stream_open(&f.key, MFPG_PURPOSE_BATCH, 0, 0);
    const mfpg_dataset *data = &f.data->client[0].train;
    mfpg_action action = mfpg_mechanism_action_for(f.mechanism, 1.0, data->rows);
    float *work = calloc((size_t)mfpg_mechanism_workspace(f.mechanism, f.model, data->rows), sizeof *work);
    assert_int_equal(mfpg_model_parameters(f.model), N);
    CHECK_OK(f.ctx, update_by(f.ctx, f.mechanism, f.model, data, data->rows, action, &noise, &batch, start,
                        out, work, NULL));
    free(work);
    fixture_close(&f);
}

static mfpg_mechanism_options options_of(const char *kind, mfpg_clip_at clip_at, double rate) {
    mfpg_mechanism_options o = mfpg_mechanism_options_default();
    o.kind = kind;
    o.clip_at = clip_at;
    o.batch_rate = rate;
    o.local_steps = STEPS;
    o.clip = 0.5;
    return o;
}

static void test_momentum_0_has_the_bits_of_sgd(void **state) {
    (void)state;
    const mfpg_mechanism_options plain[] = {options_of("none", MFPG_CLIP_STEP, 1.0),
        options_of("gaussian", MFPG_CLIP_STEP, 0.5), options_of("gaussian", MFPG_CLIP_UPDATE, 1.0),
        options_of("entropic", MFPG_CLIP_STEP, 1.0), options_of("entropic", MFPG_CLIP_UPDATE, 0.5)};
    for (size_t i = 0; i < sizeof plain / sizeof plain[0]; i++) {
        float sgd[N], zero[N], momentum[N];
        mfpg_mechanism_options o = plain[i];
        train(&o, sgd);
        o.optimiser = (mfpg_local_optimiser_options){.kind = "momentum", .momentum = 0.0};
        train(&o, zero);
        o.optimiser.momentum = 0.5;
        train(&o, momentum);
        assert_memory_equal(sgd, zero, sizeof sgd);
        assert_memory_not_equal(sgd, momentum, sizeof sgd);
        o.local_steps = 1; /* nothing comes before it */
        train(&o, momentum);
        o.optimiser.kind = "sgd";
        train(&o, sgd);
        assert_memory_equal(sgd, momentum, sizeof sgd);
    }
}

/* x_{s+1} = x_s - eta g(x_s) + beta (x_s - x_{s-1}), in doubles; the clip at the update has the same free steps and room enough. */
static void test_momentum_is_the_heavy_ball(void **state) {
    (void)state;
    mfpg_mechanism_options o = options_of("none", MFPG_CLIP_STEP, 1.0);
    const double eta = o.learning_rate, beta = 0.75;
    float got[N];
    double x[N], before[N];
    o.optimiser = (mfpg_local_optimiser_options){.kind = "momentum", .momentum = beta};
    train(&o, got);
    fixture f = fixture_open(1, "quadratic", 1, 12, &o, multiplier(1.0));
    const mfpg_dataset *data = &f.data->client[0].train;
    float *work = calloc((size_t)mfpg_model_workspace(f.model, data->rows), sizeof *work);
    for (int i = 0; i < N; i++) x[i] = before[i] = (double)start[i];
    for (int step = 0; step < STEPS; step++) {
        float at[N], gradient[N];
        for (int i = 0; i < N; i++) at[i] = (float)x[i];
        double divisor = mfpg_model_sums_rows(f.model) ? 1.0 : (double)data->rows;
        mfpg_model_gradient(f.model, at, data, NULL, 0, divisor, gradient, work);
        for (int i = 0; i < N; i++) {
            double next = x[i] - eta * (double)gradient[i] + beta * (x[i] - before[i]);
            before[i] = x[i];
            x[i] = next;
        }
    }
    for (int i = 0; i < N; i++) check_near((double)got[i], x[i], 1e-5, 1e-6, "momentum");
    free(work);
    fixture_close(&f);
}

/* Every line of the list: a memory is a fact, which a map of the state refuses with the key. */
static void test_only_plain_steps_are_maps_of_their_state(void **state) {
    (void)state;
    mfpg_context *ctx = testing_context(1);
    for (ptrdiff_t i = 0; mfpg_kind_name(&mfpg_local_optimisers, i); i++) {
        mfpg_mechanism_options o = options_of("gaussian", MFPG_CLIP_STEP, 1.0);
        mfpg_mechanism *mechanism = NULL;
        mfpg_release release;
        mfpg_step_map map;
        o.optimiser.kind = mfpg_kind_name(&mfpg_local_optimisers, i);
        CHECK_OK(ctx, mfpg_mechanism_create(ctx, &o, &mechanism));
        CHECK_OK(ctx, mfpg_mechanism_release(ctx, mechanism, multiplier(1.0), 10, &release));
        assert_true(strlen(mfpg_kind_help(&mfpg_local_optimisers, i)) > 0);
        assert_int_equal(mechanism->optimiser->vectors > 0, mechanism->optimiser->carry != NULL);
        mfpg_status status = mfpg_mechanism_step_map(ctx, mechanism, &release, &map);
        assert_int_equal(status, mechanism->optimiser->vectors > 0 ? MFPG_ERR_INPUT : MFPG_OK);
        if (status != MFPG_OK) assert_non_null(strstr(mfpg_context_message(ctx), "train.optimiser"));
        mfpg_mechanism_destroy(mechanism);
    }
    assert_null(mfpg_kind_help(&mfpg_local_optimisers, mfpg_kind_name(&mfpg_local_optimisers, 1) ? 99 : 1));
    mfpg_context_destroy(ctx);
}

static void test_unknown_kinds_and_impossible_numbers_are_refused(void **state) {
    (void)state;
    mfpg_context *ctx = testing_context(1);
    mfpg_mechanism_options o = mfpg_mechanism_options_default();
    mfpg_mechanism *mechanism = NULL;
    o.optimiser.kind = "momentun";
    assert_int_equal(mfpg_mechanism_create(ctx, &o, &mechanism), MFPG_ERR_INPUT);
    assert_non_null(strstr(mfpg_context_message(ctx), "momentum"));
    const double wrong[] = {1.0, -0.1, NAN, INFINITY};
    o.optimiser.kind = "momentum";
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        o.optimiser.momentum = wrong[i];
        assert_int_equal(mfpg_mechanism_create(ctx, &o, &mechanism), MFPG_ERR_DOMAIN);
    }
    assert_null(mechanism);
    mfpg_context_destroy(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_momentum_0_has_the_bits_of_sgd),
        cmocka_unit_test(test_momentum_is_the_heavy_ball),
        cmocka_unit_test(test_only_plain_steps_are_maps_of_their_state),
        cmocka_unit_test(test_unknown_kinds_and_impossible_numbers_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
