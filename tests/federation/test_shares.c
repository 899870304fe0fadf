/* The views of sums: clients hand out integers on one grid, and the model moves by their sum, which no order can change. */
#include "fixture.h"

#include "federation/federation_core.h"
#include "base/grid_noise.h"

enum { CLIENTS = 5, MESSAGE = 512 };

static mfpg_mechanism_options options_of(int kind, mfpg_unit unit, int64_t steps, mfpg_view view) {
    mfpg_mechanism_options o = mfpg_mechanism_options_default();
    o.kind = kind ? "entropic" : "gaussian";
    o.promise = (mfpg_promise){unit, MFPG_ADJACENCY_ZERO_OUT, view};
    o.local_steps = steps;
    return o;
}

/* Clients of their own noise: multipliers 1, 1.5, 2, ... */
static fixture open_shares(int threads, const mfpg_mechanism_options *o) {
    fixture f = fixture_open(threads, "logistic", CLIENTS, 16, o, multiplier(1.0));
    for (int k = 0; k < CLIENTS; k++) f.action[k] = multiplier(1.0 + 0.5 * k);
    return f;
}

/* Two rounds by hand: every client's share by its own call, added up as integers. */
static void check_by_hand(fixture *f, ptrdiff_t d) {
    mfpg_release release[CLIENTS];
    int64_t *share = calloc((size_t)d, sizeof *share), *sum = calloc((size_t)d, sizeof *sum);
    float *w = calloc((size_t)d, sizeof *w), *out = calloc((size_t)d, sizeof *out);
    CHECK_OK(f->ctx, fixture_plan(f, release));
    for (uint64_t round = 0; round < 2; round++) {
        memset(sum, 0, (size_t)d * sizeof *sum);
        for (ptrdiff_t k = 0; k < CLIENTS; k++) {
            const mfpg_dataset *data = &f->data->client[k].train;
            mfpg_stream noise = mfpg_stream_open(&f->key, MFPG_PURPOSE_NOISE, round, (uint64_t)k),
                        batch = mfpg_stream_open(&f->key, MFPG_PURPOSE_BATCH, round, (uint64_t)k);
            const mfpg_local_round local = {.data = data,
                .rows = data->rows,
                .release = &release[k],
                .noise = &noise,
                .batch = &batch,
                .share = share};
            ptrdiff_t floats = mfpg_mechanism_workspace(f->mechanism, f->model, data->rows);
            float *work = aligned_alloc(64, ((size_t)floats * sizeof *work / 64 + 1) * 64);
            CHECK_OK(
                f->ctx, mfpg_mechanism_update(f->ctx, f->mechanism, f->model, &local, w, out, work, NULL));
            for (ptrdiff_t i = 0; i < d; i++) sum[i] += share[i];
            free(work);
        }
        for (ptrdiff_t i = 0; i < d; i++) w[i] = (float)((double)w[i] + release[0].grid * (double)sum[i]);
        fixture_round(f);
        assert_memory_equal(mfpg_federation_model(f->federation), w, (size_t)d * sizeof *w);
    }
    free(share);
    free(sum);
    free(w);
    free(out);
}

static void test_the_model_moves_by_the_sum_of_shares(void **state) {
    (void)state;
    for (int threads = 1; threads <= 4; threads *= 2)
        for (int kind = 0; kind < 2; kind++)
            for (int unit = 0; unit < 2; unit++)
                for (int64_t steps = 1; steps <= 3; steps += 2)
                    for (int view = MFPG_VIEW_AVERAGE; view <= MFPG_VIEW_FINAL; view++) {
                        mfpg_mechanism_options o = options_of(kind, (mfpg_unit)unit, steps, (mfpg_view)view);
                        fixture f = open_shares(threads, &o);
                        CHECK_OK(f.ctx, fixture_start(&f));
                        check_by_hand(&f, mfpg_model_parameters(f.model));
                        fixture_close(&f);
                    }
}

/* The largest power of two up to a sixteenth of the smallest share's noise, the same for all; views of their own have their own. */
static void test_one_grid_fits_the_smallest_noise(void **state) {
    (void)state;
    for (int view = 0; view <= MFPG_VIEW_FINAL; view++) {
        mfpg_mechanism_options o = options_of(0, MFPG_UNIT_CLIENT, 1, (mfpg_view)view);
        fixture f = open_shares(1, &o);
        mfpg_release release[CLIENTS];
        f.options.weights = MFPG_WEIGHTS_EXAMPLES;
        CHECK_OK(f.ctx, fixture_plan(&f, release));
        double least = HUGE_VAL;
        for (int k = 0; k < CLIENTS; k++) least = fmin(least, release[k].weight * release[k].noise_sd);
        for (int k = 0; k < CLIENTS; k++) {
            double expected =
                view == MFPG_VIEW_LOCAL ? mfpg_grid_for(release[k].noise_sd) : mfpg_grid_for(least);
            assert_true(release[k].grid == expected);
        }
        fixture_close(&f);
    }
}

static mfpg_status plan_on(double grid, char message[MESSAGE]) {
    mfpg_mechanism_options o = options_of(0, MFPG_UNIT_CLIENT, 1, MFPG_VIEW_AVERAGE);
    fixture f = open_shares(1, &o);
    mfpg_release release[CLIENTS];
    f.options.grid = grid;
    mfpg_plan *plan = NULL;
    mfpg_status status = mfpg_plan_create(f.ctx, &f.options, f.data, f.mechanisms, f.action, &plan);
    snprintf(message, MESSAGE, "%s", mfpg_context_message(f.ctx));
    if (status == MFPG_OK)
        for (int k = 0; k < CLIENTS; k++) {
            release[k] = mfpg_plan_release(plan, k);
            assert_true(release[k].grid == grid);
        }
    mfpg_plan_destroy(plan);
    fixture_close(&f);
    return status;
}

/* Noise .01 and weight 1/5: a share's noise is .002, a quarter of it 5e-4. */
static void test_a_grid_that_does_not_fit_is_refused(void **state) {
    (void)state;
    char message[MESSAGE];
    assert_int_equal(plan_on(0x1p-12, message), MFPG_OK);
    assert_int_equal(plan_on(0x1p-11, message), MFPG_OK);
    assert_int_equal(plan_on(0x1p-10, message), MFPG_ERR_INPUT);
    assert_non_null(strstr(message, "coarser than a quarter of the noise"));
    assert_int_equal(plan_on(0.0003, message), MFPG_ERR_INPUT);
    assert_non_null(strstr(message, "power of two"));
    assert_int_equal(plan_on(0x1p-60, message), MFPG_ERR_INPUT);
    assert_non_null(strstr(message, "finer than"));
}

/* A hidden state is rounded on a grid so fine that what it adds to a step is 2^-30 of the noise, in all dimensions together; the
 * certificate holds that. */
static void test_hidden_states_have_a_fine_grid(void **state) {
    (void)state;
    mfpg_mechanism_options o = options_of(0, MFPG_UNIT_EXAMPLE, 2, MFPG_VIEW_FINAL);
    fixture f = open_shares(1, &o);
    f.options.hidden = MFPG_HIDDEN_GLM;
    f.options.hidden_smoothness = 1.0;
    f.options.accountant = "hidden-state";
    CHECK_OK(f.ctx, fixture_start(&f));
    const mfpg_plan *plan = f.federation->plan;
    double least = HUGE_VAL, d = (double)mfpg_model_parameters(f.model);
    for (int k = 0; k < CLIENTS; k++) {
        mfpg_release release = mfpg_plan_release(plan, k);
        least = fmin(least, release.weight * release.noise_sd);
        /* c = 1 + 2^-22 a step: S (1 + c) of the data, and 2^-30 sd (2 c + c^2) of rounded states, two of them in a round */
        double c = 1.0 + 0x1p-22, bare = release.sensitivity * (1.0 + c);
        double rounded = 0x1p-30 * release.noise_sd * (2.0 + 1.0);
        assert_true(release.hidden_shift >= bare + 0.999 * rounded);
        check_near(release.hidden_shift, bare + rounded, 1e-9, 0, "shift of a round");
    }
    assert_true(plan->grid == plan->inner_grid && plan->grid * sqrt(d) <= 0x1p-30 * least);
    assert_true(plan->grid * sqrt(d) > 0x1p-32 * least);
    fixture_round(&f);
    fixture_close(&f);
}

/* A clip of 2^20 deviations of the noise leaves no room for a grid that is finer than 2^-30 of the noise. */
static void test_hidden_states_whose_grid_is_too_fine_are_refused(void **state) {
    (void)state;
    mfpg_mechanism_options o = options_of(0, MFPG_UNIT_EXAMPLE, 1, MFPG_VIEW_FINAL);
    fixture f = open_shares(1, &o);
    f.options.hidden = MFPG_HIDDEN_GLM;
    f.options.hidden_smoothness = 1.0;
    f.options.accountant = "hidden-state";
    for (int k = 0; k < CLIENTS; k++) f.action[k] = multiplier(0x1p-20);
    assert_int_equal(fixture_start(&f), MFPG_ERR_INPUT);
    assert_non_null(strstr(mfpg_context_message(f.ctx), "need a grid of"));
    assert_non_null(strstr(mfpg_context_message(f.ctx), "finer than"));
    f.options.hidden = MFPG_HIDDEN_NONE;
    f.options.accountant = "gdp";
    CHECK_OK(f.ctx, fixture_start(&f));
    fixture_close(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_model_moves_by_the_sum_of_shares),
        cmocka_unit_test(test_one_grid_fits_the_smallest_noise),
        cmocka_unit_test(test_a_grid_that_does_not_fit_is_refused),
        cmocka_unit_test(test_hidden_states_have_a_fine_grid),
        cmocka_unit_test(test_hidden_states_whose_grid_is_too_fine_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
