/* The attack by optimisation: it finds what the closed form finds, whatever the length of the gradient, reads labels, and takes batches
 * for which there is no closed form. */
#include "inversion_fixture.h"

#include "base/streams.h"
#include "models/losses.h"
#include "numerics/linalg/linalg.h"

static void test_single_examples_come_back(void **state) {
    (void)state;
    static const char *const models[] = {"mlp", "softmax", "logistic"};
    for (int m = 0; m < 3; m++) {
        victim v;
        mfpg_inversion *found = NULL;
        mfpg_mechanism_options o = example_unit();
        o.clip = 0.1;
        victim_open(&v, 1, models[m], &o, 0.05);
        v.options.iterations = 300;
        v.options.examples = 5;
        v.options.levels = 2;
        v.options.trials = 1;
        CHECK_OK(v.ctx, victim_invert(&v, &found));
        mfpg_inversion_level none = mfpg_inversion_at(found, 0), much = mfpg_inversion_at(found, 1);
        assert_false(mfpg_inversion_summarise(found).labels_known);
        /* the angle between gradients is convex enough without hidden layers; with them some starts end beside the truth. Chance:
         * uniform pictures differ by 1/6 in mean square, 7.8 dB */
        assert_true(
            none.optimisation.median.psnr > (m == 0 ? 16 : 40) && none.optimisation.median.pearson > 0.9);
        assert_true(much.optimisation.median.psnr < 12 && fabs(much.optimisation.median.pearson) < 0.7);
        mfpg_inversion_destroy(found);
        victim_close(&v);
    }
}

/* Features outside [0, 1] are searched for in their own box. */
static void test_other_boxes_are_searched(void **state) {
    (void)state;
    victim v;
    mfpg_inversion *found = NULL;
    mfpg_mechanism_options o = example_unit();
    victim_open(&v, 1, "mlp", &o, 1.0);
    for (int i = 0; i < ROWS * FEATURES; i++) v.x[i] = 4.0F * v.x[i] - 3.0F;
    v.options.iterations = 300;
    v.options.examples = 5;
    v.options.levels = 2;
    v.options.trials = 1;
    CHECK_OK(v.ctx, victim_invert(&v, &found));
    mfpg_inversion_summary s = mfpg_inversion_summarise(found);
    assert_true(s.low < -2.9 && s.low >= -3 && s.high > 0.9 && s.high <= 1);
    assert_true(mfpg_inversion_at(found, 0).closed_form.median.psnr > 90);
    assert_true(mfpg_inversion_at(found, 0).optimisation.median.psnr > 25);
    mfpg_inversion_destroy(found);
    victim_close(&v);
}

typedef struct attacked {
    victim v;
    mfpg_inversion_subject subject;
    mfpg_inversion_step step[2];
    int levels;
    float *gradient, *work;
    mfpg_dataset batch;
} attacked;

static void attacked_open(attacked *a, ptrdiff_t batch) {
    mfpg_mechanism_options o = example_unit();
    victim_open(&a->v, 1, "mlp", &o, 1.0);
    a->v.options.batch = a->v.options.examples = batch;
    a->v.options.levels = 2;
    a->v.options.iterations = 200;
    a->v.options.width = SIDE;
    CHECK_OK(a->v.ctx, mfpg_inversion_subject_create(a->v.ctx, &a->v.options, &a->v.data, a->v.model,
                           a->v.mechanisms, a->v.action, a->v.w, &a->subject));
    CHECK_OK(a->v.ctx, mfpg_inversion_steps_create(a->v.ctx, &a->subject, a->step, &a->levels));
    ptrdiff_t size = mfpg_inversion_optimise_workspace(&a->subject),
              other = mfpg_inversion_workspace(&a->subject, a->step, a->levels);
    a->gradient = calloc((size_t)a->subject.parameters, sizeof *a->gradient);
    a->work = calloc((size_t)(size > other ? size : other), sizeof *a->work);
    assert_true(a->gradient && a->work);
    a->batch = (mfpg_dataset){
        .rows = batch, .features = FEATURES, .x = a->subject.victims.x, .y = a->subject.victims.y};
    mfpg_inversion_gradient(&a->subject, &a->step[0], &a->batch, a->gradient, a->work);
}

static void attacked_close(attacked *a) {
    free(a->gradient);
    free(a->work);
    mfpg_inversion_steps_clear(a->step, a->levels);
    mfpg_inversion_subject_clear(&a->subject);
    victim_close(&a->v);
}

/* Powers of two leave all digits of floats alone; the cosine's rounding may differ, the signs of its slope do not. */
static void test_the_length_of_the_gradient_does_not_matter(void **state) {
    (void)state;
    attacked a;
    float x[2][2 * FEATURES];
    attacked_open(&a, 2);
    const mfpg_stream start = mfpg_inversion_stream(&a.subject, MFPG_INVERSION_START, 0, 0);
    for (int twice = 0; twice < 2; twice++) {
        mfpg_inversion_optimise(&a.subject, &a.step[0], a.gradient, a.batch.y, 2, &start, x[twice], a.work);
        mfpg_vector_scale(a.subject.parameters, 2.0, a.gradient);
    }
    for (int i = 0; i < 2 * FEATURES; i++) check_near((double)x[0][i], (double)x[1][i], 0, 1e-6, "pixel");
    attacked_close(&a);
}

static void test_labels_are_read_off_the_gradient(void **state) {
    (void)state;
    static const char *const models[] = {"mlp", "softmax", "logistic", "linear"};
    for (int m = 0; m < 4; m++) {
        victim v;
        mfpg_inversion_subject subject;
        mfpg_mechanism_options o = example_unit();
        victim_open(&v, 1, models[m], &o, 1.0);
        CHECK_OK(v.ctx, mfpg_inversion_subject_create(
                            v.ctx, &v.options, &v.data, v.model, v.mechanisms, v.action, v.w, &subject));
        float *gradient = calloc((size_t)subject.parameters, sizeof *gradient);
        float *work = calloc((size_t)mfpg_model_workspace(v.model, 1), sizeof *work);
        assert_true(gradient && work);
        for (ptrdiff_t i = 0; i < subject.victims.rows; i++) {
            const mfpg_dataset one = {.rows = 1,
                .features = FEATURES,
                .x = subject.victims.x + i * FEATURES,
                .y = subject.victims.y + i};
            mfpg_model_clipped_gradient(v.model, v.w, &one, NULL, 0, 0.01, 1.0, gradient, work);
            float label = mfpg_inversion_label(&subject, gradient);
            assert_true(m == 3 ? isnan(label) : label == one.y[0]);
        }
        free(gradient);
        free(work);
        mfpg_inversion_subject_clear(&subject);
        victim_close(&v);
    }
}

/* Two examples of one batch, each clipped by itself. */
static void test_batches_come_back(void **state) {
    (void)state;
    victim v;
    mfpg_inversion *found = NULL;
    mfpg_mechanism_options o = example_unit();
    victim_open(&v, 1, "mlp", &o, 1.0);
    v.options.batch = 2;
    v.options.examples = 8;
    v.options.iterations = 500;
    v.options.levels = 2;
    v.options.trials = 1;
    CHECK_OK(v.ctx, victim_invert(&v, &found));
    mfpg_inversion_level none = mfpg_inversion_at(found, 0);
    mfpg_inversion_summary s = mfpg_inversion_summarise(found);
    assert_true(none.optimisation.median.psnr > s.mean.median.psnr + 5);
    mfpg_inversion_destroy(found);
    victim_close(&v);
}

/* Total variation against central differences: two pictures of 3 lines of 4, in the middle, at borders, in corners, and where neighbours
 * are equal, in which case both sides of the kink cancel. */
static void test_the_slope_of_total_variation_is_its_derivative(void **state) {
    (void)state;
    enum { WIDTH = 4, LINES = 3, PICTURE = WIDTH * LINES, SIZE = 2 * PICTURE };
    const float weight = 0.5F, step = 0x1p-10F;
    const mfpg_key key = mfpg_key_from_seed(testing_seed());
    mfpg_stream stream = mfpg_stream_open(&key, MFPG_PURPOSE_TEST, 0, 0);
    float x[SIZE], slope[SIZE] = {0}, scratch[SIZE];
    for (int i = 0; i < SIZE; i++) x[i] = (float)mfpg_stream_below(&stream, (uint64_t)i, 8) / 8.0F;
    x[1] = x[0];
    x[PICTURE + WIDTH] = x[PICTURE];
    double at = mfpg_total_variation(SIZE, PICTURE, WIDTH, x, weight, slope), expected = 0.0;
    for (int i = 0; i < SIZE; i++) {
        int column = i % WIDTH, line = i % PICTURE / WIDTH;
        if (column < WIDTH - 1) expected += fabs((double)x[i + 1] - (double)x[i]);
        if (line < LINES - 1) expected += fabs((double)x[i + WIDTH] - (double)x[i]);
    }
    check_near(at, expected, 1e-12, 0, "total variation");
    int nonzero = 0;
    for (int i = 0; i < SIZE; i++) {
        float kept = x[i];
        x[i] = kept + step;
        double above = mfpg_total_variation(SIZE, PICTURE, WIDTH, x, weight, scratch);
        x[i] = kept - step;
        double below = mfpg_total_variation(SIZE, PICTURE, WIDTH, x, weight, scratch);
        x[i] = kept;
        double derivative = (above - below) / (2.0 * (double)step);
        check_near((double)slope[i], (double)weight * derivative, 0, 1e-9, "slope");
        nonzero += slope[i] != 0.0F;
    }
    assert_true(nonzero > SIZE / 4);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_slope_of_total_variation_is_its_derivative),
        cmocka_unit_test(test_single_examples_come_back),
        cmocka_unit_test(test_other_boxes_are_searched),
        cmocka_unit_test(test_the_length_of_the_gradient_does_not_matter),
        cmocka_unit_test(test_labels_are_read_off_the_gradient),
        cmocka_unit_test(test_batches_come_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
