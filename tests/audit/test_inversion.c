/* Gradient inversion: exact without noise whatever the clip, as predicted with noise, the guesses among candidates within
 * what noise admits, and beyond it where noise is left out. */
#include "inversion_fixture.h"

#include "base/streams.h"
#include "audit/planning.h"

/* ---- closed forms ---- */

static void test_a_clip_protects_nothing(void **state) {
    (void)state;
    static const char *const models[] = {"mlp", "softmax", "logistic"};
    for (int m = 0; m < 3; m++) {
        for (int unit = 0; unit < 3; unit++) {
            victim v;
            mfpg_inversion *found = NULL;
            mfpg_mechanism_options o = example_unit();
            o.promise.unit = unit == 0 ? MFPG_UNIT_EXAMPLE : MFPG_UNIT_CLIENT;
            o.clip_at = unit == 2 ? MFPG_CLIP_UPDATE : MFPG_CLIP_STEP;
            o.clip = 0.01;
            victim_open(&v, 1, models[m], &o, 1.0);
            v.options.trials = 1;
            v.options.levels = 2;
            CHECK_OK(v.ctx, victim_invert(&v, &found));
            mfpg_inversion_summary s = mfpg_inversion_summarise(found);
            assert_true(s.clip_factor.most < 0.1);
            assert_true(isinf(mfpg_inversion_at(found, 0).mu));
            for (ptrdiff_t i = 0; i < s.examples; i++) {
                const float *x = mfpg_inversion_picture_of(found, MFPG_PICTURE_ORIGINAL, 0, i);
                const float *y = mfpg_inversion_picture_of(found, MFPG_PICTURE_CLOSED_FORM, 0, i);
                for (int j = 0; j < FEATURES; j++) /* quotients of sums of floats */
                    check_near((double)y[j], (double)x[j], 0, 2e-6, models[m]);
            }
            mfpg_inversion_destroy(found);
            victim_close(&v);
        }
    }
}

/* Rows 20 and on are absent: none is a victim, and their features say nothing of the range. */
static void test_absent_rows_are_not_rebuilt(void **state) {
    (void)state;
    victim v;
    unsigned char absent[ROWS] = {0};
    mfpg_inversion *found = NULL;
    mfpg_mechanism_options o = example_unit();
    victim_open(&v, 1, "softmax", &o, (double)INFINITY);
    for (int i = 20; i < ROWS; i++) {
        absent[i] = 1;
        for (int j = 0; j < FEATURES; j++) v.x[i * FEATURES + j] = 9.0F;
    }
    v.client.train.absent = absent;
    v.options.examples = ROWS;
    v.options.candidates = ROWS;
    v.options.trials = 1;
    CHECK_OK(v.ctx, victim_invert(&v, &found));
    mfpg_inversion_summary s = mfpg_inversion_summarise(found);
    assert_int_equal(s.examples, 18); /* of 20, two are known to the attacker */
    for (ptrdiff_t i = 0; i < s.examples; i++)
        assert_true(mfpg_inversion_picture_of(found, MFPG_PICTURE_ORIGINAL, 0, i)[0] <= 1.0F);
    mfpg_inversion_destroy(found);
    victim_close(&v);
}

static void test_zeros_come_back_as_zeros(void **state) {
    (void)state;
    const double dw[6] = {0}, db[2] = {0};
    double x[3] = {7, 7, 7}, work[2];
    mfpg_invert_least_squares(2, 3, dw, db, x);
    assert_true(x[0] == 0 && x[1] == 0 && x[2] == 0);
    x[0] = 7;
    assert_true(mfpg_invert_singular(2, 3, dw, db, x, work) == 0 && x[0] == 0);
}

/* What is left of a known signal after noise, over 4000 draws, against the prediction. */
static void test_noise_does_what_is_predicted(void **state) {
    (void)state;
    enum { UNITS = 32, INPUTS = 20, DRAWS = 2000 };
    mfpg_key key = mfpg_key_from_seed(testing_seed());
    const double deviations[] = {0.002, 0.02, 0.1};
    for (int c = 0; c < 3; c++) {
        double sd = deviations[c], x[INPUTS], d[UNITS], dw[UNITS * INPUTS], db[UNITS], got[INPUTS],
               signal = 0, norm2 = 0, slope = 0, mse = 0;
        float z[UNITS * (INPUTS + 1)];
        for (int j = 0; j < INPUTS; j++) {
            x[j] = 0.2 + 0.03 * j;
            norm2 += x[j] * x[j];
        }
        for (int i = 0; i < UNITS; i++) {
            d[i] = 0.05 * sin(i + 1.0);
            signal += d[i] * d[i];
        }
        mfpg_stream stream = mfpg_stream_open(&key, MFPG_PURPOSE_TEST, 2, (uint64_t)c);
        for (int r = 0; r < DRAWS; r++) {
            mfpg_stream_gaussian(&stream, (uint64_t)r, UNITS * (INPUTS + 1), z);
            for (int i = 0; i < UNITS; i++) {
                const float *of_row = z + i * (INPUTS + 1);
                db[i] = d[i] + sd * (double)of_row[INPUTS];
                for (int j = 0; j < INPUTS; j++) dw[i * INPUTS + j] = d[i] * x[j] + sd * (double)of_row[j];
            }
            mfpg_invert_least_squares(UNITS, INPUTS, dw, db, got);
            for (int j = 0; j < INPUTS; j++) {
                slope += got[j] * x[j] / norm2 / DRAWS;
                mse += (got[j] - x[j]) * (got[j] - x[j]) / INPUTS / DRAWS;
            }
        }
        prediction_of_inversion p = plan_inversion(signal, sd, UNITS, norm2, INPUTS);
        /* second order: the next terms are of order 2/UNITS; 2000 draws of the sums have relative errors below 2 % */
        check_near(slope, p.slope, 0.05, 0.01, "slope");
        check_near(mse, p.mse, 0.12, 0, "mse");
    }
    assert_true(isnan(plan_inversion(0, 1, 1, 1, 1).mse));
    assert_true(isnan(plan_inversion(1, (double)NAN, 1, 1, 1).mse));
}

/* ---- likeness ---- */

static void test_equal_pictures_are_alike(void **state) {
    (void)state;
    double x[256], y[256];
    for (int i = 0; i < 256; i++) x[i] = y[i] = (i * 37 % 256) / 255.0;
    assert_true(mfpg_picture_psnr(256, x, y) == 100);
    check_near(mfpg_picture_ssim(16, 16, x, y), 1, 0, 1e-12, "ssim");
    check_near(mfpg_picture_pearson(256, x, y), 1, 0, 1e-12, "pearson");
    for (int i = 0; i < 256; i++) y[i] = 0.25;
    assert_true(mfpg_picture_pearson(256, x, y) == 0);
    /* a constant against a constant: the term of the means alone, in every window */
    for (int i = 0; i < 256; i++) x[i] = 0.75;
    double expected = (2 * 0.75 * 0.25 + 1e-4) / (0.75 * 0.75 + 0.25 * 0.25 + 1e-4);
    check_near(mfpg_picture_ssim(16, 16, x, y), expected, 1e-12, 0, "ssim of constants");
    x[3] = (double)NAN;
    assert_true(isnan(mfpg_picture_psnr(256, x, y)));
}

/* Six places of the window, by centred moments in exact sums (Python's math.fsum). */
static void test_windows_agree_with_another_route(void **state) {
    (void)state;
    double x[13 * 12], y[13 * 12];
    for (int i = 0; i < 13 * 12; i++) {
        x[i] = (i * 29 % 64) / 63.0;
        y[i] = (i * i * 7 + 3) % 64 / 63.0 * 0.5 + 0.5 * x[i];
    }
    check_near(mfpg_picture_ssim(13, 12, x, y), 0.5725360637848337, 1e-12, 0, "ssim");
    check_near(mfpg_picture_ssim(13, 12, y, x), 0.5725360637848337, 1e-12, 0, "ssim, exchanged");
}

/* ---- batches ---- */

static void test_a_batch_that_comes_back_in_another_order_is_exact(void **state) {
    (void)state;
    victim v;
    mfpg_inversion *found = NULL;
    mfpg_mechanism_options o = example_unit();
    victim_open(&v, 1, "mlp", &o, 1.0);
    v.options.batch = 2;
    v.options.levels = 2;
    v.options.trials = 1;
    CHECK_OK(v.ctx, victim_invert(&v, &found));
    mfpg_inversion_summary s = mfpg_inversion_summarise(found);
    assert_true(s.labels_known && s.batch == 2 && s.examples == 10);
    assert_true(s.exclusive_rows.median >= 4); /* two of each example, that agree: so it is in most batches */
    mfpg_inversion_level level = mfpg_inversion_at(found, 0);
    assert_true(level.closed_form.median.psnr > s.mean.median.psnr + 10);
    assert_true(level.closed_form.best.psnr == 100);
    mfpg_inversion_destroy(found);
    victim_close(&v);
}

/* ---- candidates ---- */

static mfpg_inversion_level last_level(const mfpg_inversion *found) {
    return mfpg_inversion_at(found, mfpg_inversion_summarise(found).levels - 1);
}

static void test_honest_noise_stays_within_the_cap(void **state) {
    (void)state;
    static const char *const kinds[] = {"gaussian", "entropic"};
    const double mus[] = {0.3, 1, 2, 4};
    for (int kind = 0; kind < 2; kind++) {
        for (int c = 0; c < 4; c++) {
            victim v;
            mfpg_inversion *found = NULL;
            mfpg_mechanism_options o = example_unit();
            o.kind = kinds[kind];
            o.clip = 0.5;
            o.promise.unit = c % 2 ? MFPG_UNIT_CLIENT : MFPG_UNIT_EXAMPLE;
            victim_open(&v, 2, "mlp", &o, mus[c]);
            CHECK_OK(v.ctx, victim_invert(&v, &found));
            mfpg_inversion_summary s = mfpg_inversion_summarise(found);
            mfpg_inversion_level level = last_level(found);
            assert_true(s.stands && s.levels == 6 && level.configured);
            check_near(level.mu, mus[c], 1e-9, 0, "mu");
            double rounding = c % 2 ? 0.0 : o.sum_rounding; /* which the noise of the example unit covers */
            check_near(level.noise_sd, 0.5 / mus[c] * (1.0 + rounding), 1e-6, 0, "noise");
            assert_true(level.cap == mfpg_identification_cap(level.mu, 20) && level.rate <= 1);
            assert_true(mfpg_inversion_at(found, 0).correct == v.options.trials); /* no noise, no doubt */
            assert_true(mfpg_inversion_at(found, 0).median_rank == 1);
            mfpg_inversion_destroy(found);
            victim_close(&v);
        }
    }
}

/* Both mechanisms at one mu: what the entropic flow does without data is public, and is taken off before the quotient. */
static void test_terms_without_data_are_taken_off(void **state) {
    (void)state;
    double psnr[2];
    for (int kind = 0; kind < 2; kind++) {
        victim v;
        mfpg_inversion *found = NULL;
        mfpg_mechanism_options o = example_unit();
        o.promise.unit = MFPG_UNIT_CLIENT;
        o.kind = kind ? "entropic" : "gaussian";
        o.variance_penalty = 1;
        o.prior_variance = 1e-4;
        victim_open(&v, 1, "softmax", &o, 300.0);
        for (ptrdiff_t i = 0; i < mfpg_model_parameters(v.model); i++) v.w[i] = 0.01F * (float)(i % 7 - 2);
        v.options.levels = 2;
        v.options.trials = 1;
        CHECK_OK(v.ctx, victim_invert(&v, &found));
        psnr[kind] = last_level(found).closed_form.median.psnr;
        mfpg_inversion_destroy(found);
        victim_close(&v);
    }
    assert_true(psnr[0] > 20);
    check_near(psnr[1], psnr[0], 0, 1,
        "entropic beside gaussian, dB"); /* the same noise vectors; roundings of floats differ */
}

/* Releases what was clipped without the noise that was announced. */
static mfpg_status without_noise(mfpg_context *ctx, const mfpg_inversion_subject *subject,
    const mfpg_inversion_step *step, const mfpg_dataset *batch, const mfpg_stream *noise, float *gradient,
    float *work) {
    (void)ctx;
    (void)noise;
    mfpg_inversion_gradient(subject, step, batch, gradient, work);
    return MFPG_OK;
}

/* Half of the noise. */
static mfpg_status half_noise(mfpg_context *ctx, const mfpg_inversion_subject *subject,
    const mfpg_inversion_step *step, const mfpg_dataset *batch, const mfpg_stream *noise, float *gradient,
    float *work) {
    mfpg_status status = without_noise(ctx, subject, step, batch, noise, gradient, work);
    mfpg_stream_gaussian_add(noise, 0, subject->parameters, (float)(0.5 * step->sd), gradient);
    return status;
}

static void test_noise_that_is_left_out_breaks_the_cap(void **state) {
    (void)state;
    const mfpg_inversion_release faults[] = {without_noise, half_noise};
    for (int fault = 0; fault < 2; fault++) {
        victim v;
        mfpg_inversion_subject subject;
        mfpg_inversion *found = NULL;
        mfpg_mechanism_options o = example_unit();
        o.clip = 0.1; /* binds: all candidates' gradients have this length */
        victim_open(&v, 1, "mlp", &o, 2.0);
        v.options.trials = 2000;
        v.options.examples = 1;
        v.options.confidence = 0.99;
        v.options.levels = 2;
        CHECK_OK(v.ctx, mfpg_inversion_subject_create(
                            v.ctx, &v.options, &v.data, v.model, v.mechanisms, v.action, v.w, &subject));
        CHECK_OK(v.ctx, mfpg_inversion_create_by(v.ctx, &subject, faults[fault], &found));
        mfpg_inversion_level level = last_level(found);
        assert_true(!mfpg_inversion_summarise(found).stands && !level.stands && level.lower > level.cap);
        assert_true(mfpg_inversion_at(found, 0).stands); /* nothing is promised there */
        mfpg_inversion_destroy(found);
        mfpg_inversion_subject_clear(&subject);
        victim_close(&v);
    }
}

/* ---- the same answer everywhere ---- */

static void test_threads_change_nothing(void **state) {
    (void)state;
    mfpg_inversion *found[2] = {NULL, NULL};
    victim v[2];
    mfpg_mechanism_options o = example_unit();
    for (int i = 0; i < 2; i++) {
        victim_open(&v[i], i == 0 ? 1 : 4, "mlp", &o, 30.0);
        v[i].options.batch = 2;
        v[i].options.trials = 50;
        v[i].options.iterations = 5;
        v[i].options.width = SIDE;
        CHECK_OK(v[i].ctx, victim_invert(&v[i], &found[i]));
    }
    mfpg_inversion_summary a = mfpg_inversion_summarise(found[0]), b = mfpg_inversion_summarise(found[1]);
    assert_memory_equal(&a.mean, &b.mean, sizeof a.mean);
    for (int l = 0; l < a.levels; l++) {
        mfpg_inversion_level x = mfpg_inversion_at(found[0], l), y = mfpg_inversion_at(found[1], l);
        assert_true(x.correct == y.correct && x.median_rank == y.median_rank);
        assert_memory_equal(&x.closed_form, &y.closed_form, sizeof x.closed_form);
        assert_memory_equal(&x.optimisation, &y.optimisation, sizeof x.optimisation);
        for (ptrdiff_t i = 0; i < a.examples; i++)
            assert_memory_equal(mfpg_inversion_picture_of(found[0], MFPG_PICTURE_OPTIMISATION, l, i),
                mfpg_inversion_picture_of(found[1], MFPG_PICTURE_OPTIMISATION, l, i),
                FEATURES * sizeof(float));
    }
    for (int i = 0; i < 2; i++) {
        mfpg_inversion_destroy(found[i]);
        victim_close(&v[i]);
    }
}

/* ---- doors ---- */

static void refused(victim *v, mfpg_status status, const char *words) {
    mfpg_inversion *found = NULL;
    assert_int_equal(victim_invert(v, &found), status);
    assert_null(found);
    assert_non_null(strstr(mfpg_context_message(v->ctx), words));
}

static void test_what_cannot_be_attacked_is_refused(void **state) {
    (void)state;
    victim v;
    mfpg_mechanism_options o = example_unit();
    victim_open(&v, 1, "mlp", &o, 1.0);
    const mfpg_inversion_options good = v.options;
    v.options.candidates = 1;
    refused(&v, MFPG_ERR_DOMAIN, "candidates 1; allowed are 2 to");
    v.options = good;
    v.options.batch = 65;
    refused(&v, MFPG_ERR_DOMAIN, "batch 65");
    v.options = good;
    v.options.confidence = (double)NAN;
    refused(&v, MFPG_ERR_DOMAIN, "confidence");
    v.options = good;
    v.options.width = 7;
    refused(&v, MFPG_ERR_DOMAIN, "width 7");
    v.options = good;
    v.options.examples = 3;
    v.options.batch = 4;
    refused(&v, MFPG_ERR_INPUT, "a batch of 4");
    v.options = good;
    const int now = 1;
    v.options.stop = &now;
    refused(&v, MFPG_ERR_INTERRUPTED, "interrupted after 0 of");
    v.options = good;
    v.x[17] = NAN;
    refused(&v, MFPG_ERR_NUMERIC, "'victim'");
    victim_close(&v);
    victim_open(&v, 1, "quadratic", &o, 1.0);
    refused(&v, MFPG_ERR_INPUT, "quadratic has no biases");
    victim_close(&v);
}

static void test_without_a_mechanism_there_is_one_level(void **state) {
    (void)state;
    victim v;
    mfpg_inversion *found = NULL;
    mfpg_mechanism_options o = example_unit();
    victim_open(&v, 1, "mlp", &o, (double)INFINITY);
    CHECK_OK(v.ctx, victim_invert(&v, &found));
    mfpg_inversion_summary s = mfpg_inversion_summarise(found);
    assert_true(s.levels == 1 && s.stands && s.clip_factor.least == 1);
    assert_true(isinf(mfpg_inversion_at(found, 0).clip) && mfpg_inversion_at(found, 0).configured);
    assert_null(mfpg_inversion_picture_of(found, MFPG_PICTURE_OPTIMISATION, 0, 0));
    assert_null(mfpg_inversion_picture_of(found, MFPG_PICTURE_ORIGINAL, 1, 0));
    mfpg_inversion_destroy(found);
    victim_close(&v);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_clip_protects_nothing),
        cmocka_unit_test(test_absent_rows_are_not_rebuilt),
        cmocka_unit_test(test_zeros_come_back_as_zeros),
        cmocka_unit_test(test_noise_does_what_is_predicted),
        cmocka_unit_test(test_equal_pictures_are_alike),
        cmocka_unit_test(test_windows_agree_with_another_route),
        cmocka_unit_test(test_a_batch_that_comes_back_in_another_order_is_exact),
        cmocka_unit_test(test_honest_noise_stays_within_the_cap),
        cmocka_unit_test(test_terms_without_data_are_taken_off),
        cmocka_unit_test(test_noise_that_is_left_out_breaks_the_cap),
        cmocka_unit_test(test_threads_change_nothing),
        cmocka_unit_test(test_what_cannot_be_attacked_is_refused),
        cmocka_unit_test(test_without_a_mechanism_there_is_one_level),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
