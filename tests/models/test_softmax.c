/* Softmax regression beyond the contract that all models share: closed forms, logistic regression as its case of two
 * classes, more classes than two, and labels that are no class. */
#include "fixture.h"
#include "models/losses.h"

enum { ROWS = 40, FEATURES = 3 };

static mfpg_model *make_softmax(mfpg_context *ctx, ptrdiff_t classes) {
    mfpg_model *model = NULL;
    mfpg_model_options options = {.kind = "softmax", .features = FEATURES, .classes = classes};
    CHECK_OK(ctx, mfpg_model_create(ctx, &options, &model));
    return model;
}

static mfpg_dataset make_classes(ptrdiff_t classes, uint64_t *random) {
    mfpg_dataset data = make_dataset(ROWS, FEATURES, 2, random);
    for (ptrdiff_t i = 0; i < ROWS; i++) data.y[i] = (float)(next_word(random) % (uint64_t)classes);
    return data;
}

static void test_zero_weights_answer_all_classes_alike(void **state) {
    (void)state;
    mfpg_context *ctx = testing_context(1);
    uint64_t random = 5;
    for (ptrdiff_t classes = 2; classes <= 7; classes++) {
        mfpg_model *model = make_softmax(ctx, classes);
        mfpg_dataset data = make_classes(classes, &random);
        float *w = make_floats(mfpg_model_parameters(model));
        mfpg_metrics metrics;
        assert_int_equal(mfpg_model_parameters(model), classes * (FEATURES + 1));
        assert_int_equal(model->classes, classes);
        CHECK_OK(ctx, mfpg_model_evaluate(ctx, model, w, &data, &metrics));
        check_near(metrics.loss, log((double)classes), 1e-12, 0, "loss at zero weights");
        assert_true(isnan(metrics.auc) == (classes != 2));
        free(w);
        free_dataset(&data);
        mfpg_model_destroy(model);
    }
    mfpg_context_destroy(ctx);
}

/* With w_0 = 0 the two classes are logistic regression in w_1: the same loss, and class 1's gradient is logistic's. */
static void test_two_classes_are_logistic_regression(void **state) {
    (void)state;
    mfpg_context *ctx = testing_context(1);
    uint64_t random = 6;
    mfpg_model *soft = make_softmax(ctx, 2), *logistic = make_model(ctx, "logistic", FEATURES);
    mfpg_dataset data = make_classes(2, &random);
    float w[2 * FEATURES + 2] = {0}, v[FEATURES + 1], grad[2 * FEATURES + 2], other[FEATURES + 1];
    float *work = make_floats(mfpg_model_workspace(soft, ROWS));
    for (int j = 0; j < FEATURES; j++) w[FEATURES + j] = v[j] = (float)next_normal(&random);
    w[2 * FEATURES + 1] = v[FEATURES] = 0.3F;
    mfpg_metrics a, b;
    CHECK_OK(ctx, mfpg_model_evaluate(ctx, soft, w, &data, &a));
    CHECK_OK(ctx, mfpg_model_evaluate(ctx, logistic, v, &data, &b));
    check_near(a.loss, b.loss, 1e-6, 0, "loss"); /* margins in float */
    check_near(a.accuracy, b.accuracy, 0, 0, "accuracy");
    check_near(a.auc, b.auc, 1e-12, 0, "area under the curve");
    mfpg_model_gradient(soft, w, &data, NULL, 0, ROWS, grad, work);
    mfpg_model_gradient(logistic, v, &data, NULL, 0, ROWS, other, work);
    for (int j = 0; j < FEATURES; j++) {
        check_near((double)grad[FEATURES + j], (double)other[j], 1e-5, 1e-6, "gradient of class 1");
        check_near((double)grad[j], -(double)other[j], 1e-5, 1e-6, "gradient of class 0");
    }
    check_near((double)grad[2 * FEATURES + 1], (double)other[FEATURES], 1e-5, 1e-6, "bias of class 1");
    free(work);
    free_dataset(&data);
    mfpg_model_destroy(soft);
    mfpg_model_destroy(logistic);
    mfpg_context_destroy(ctx);
}

/* Five classes: the slope of the loss by differences, and clipping against each example's own gradient. */
static void test_many_classes_have_the_slope_of_their_loss(void **state) {
    (void)state;
    enum { CLASSES = 5, D = CLASSES * (FEATURES + 1) };
    mfpg_context *ctx = testing_context(1);
    uint64_t random = 7;
    mfpg_model *model = make_softmax(ctx, CLASSES);
    mfpg_dataset data = make_classes(CLASSES, &random);
    float w[D], grad[D], one[D];
    float *work = make_floats(mfpg_model_workspace(model, ROWS));
    for (int i = 0; i < D; i++) w[i] = (float)(0.5 * next_normal(&random));
    mfpg_model_gradient(model, w, &data, NULL, 0, ROWS, grad, work);
    for (int i = 0; i < D; i++) {
        mfpg_metrics up, down;
        float kept = w[i];
        w[i] = kept + 0x1p-6F;
        CHECK_OK(ctx, mfpg_model_evaluate(ctx, model, w, &data, &up));
        w[i] = kept - 0x1p-6F;
        CHECK_OK(ctx, mfpg_model_evaluate(ctx, model, w, &data, &down));
        w[i] = kept;
        /* h^2/6 of the third derivative and margins in float over h: 1e-5 each, as for the other models */
        check_near((double)grad[i], (up.loss - down.loss) / 0x1p-5, 0, 1e-4, "slope");
    }
    double expected[D] = {0}, clip = 0.7;
    for (int32_t r = 0; r < ROWS; r++) {
        mfpg_model_gradient(model, w, &data, &r, 1, 1.0, one, work);
        double norm = norm_of(one, D);
        for (int i = 0; i < D; i++) expected[i] += (double)one[i] * fmin(1.0, clip / norm) / ROWS;
    }
    assert_int_equal(0, mfpg_model_clipped_gradient(model, w, &data, NULL, 0, clip, ROWS, grad, work));
    for (int i = 0; i < D; i++) check_near((double)grad[i], expected[i], 2e-6, 2e-6 * clip, "clipped sum");
    free(work);
    free_dataset(&data);
    mfpg_model_destroy(model);
    mfpg_context_destroy(ctx);
}

static void test_a_label_that_is_no_class_counts_as_no_number(void **state) {
    (void)state;
    mfpg_context *ctx = testing_context(1);
    const float labels[] = {3.0F, -1.0F, 1.5F, NAN, 1e30F};
    for (int i = 0; i < 5; i++) {
        uint64_t random = 8;
        mfpg_model *model = make_softmax(ctx, 3);
        mfpg_dataset data = make_classes(3, &random);
        float w[3 * (FEATURES + 1)] = {0}, grad[3 * (FEATURES + 1)];
        float *work = make_floats(mfpg_model_workspace(model, ROWS));
        data.y[4] = labels[i];
        mfpg_metrics metrics;
        CHECK_OK(ctx, mfpg_model_evaluate(ctx, model, w, &data, &metrics));
        assert_true(isnan(metrics.loss));
        assert_int_equal(1, mfpg_model_clipped_gradient(model, w, &data, NULL, 0, 1.0, ROWS, grad, work));
        for (int j = 0; j < 3 * (FEATURES + 1); j++) assert_true(isfinite(grad[j]));
        free(work);
        free_dataset(&data);
        mfpg_model_destroy(model);
    }
    mfpg_context_destroy(ctx);
}

static void test_numbers_of_classes_out_of_range_are_refused(void **state) {
    (void)state;
    mfpg_context *ctx = testing_context(1);
    const ptrdiff_t classes[] = {-1, 0, 1, 65537, PTRDIFF_MAX};
    for (int i = 0; i < 5; i++) {
        mfpg_model *model = NULL;
        mfpg_model_options options = {.kind = "softmax", .features = FEATURES, .classes = classes[i]};
        assert_int_equal(mfpg_model_create(ctx, &options, &model), MFPG_ERR_DOMAIN);
        assert_null(model);
    }
    mfpg_model *model = NULL;
    mfpg_model_options huge = {.kind = "softmax", .features = 1 << 20, .classes = 65536};
    assert_int_equal(mfpg_model_create(ctx, &huge, &model), MFPG_ERR_DOMAIN);
    mfpg_context_destroy(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_zero_weights_answer_all_classes_alike),
        cmocka_unit_test(test_two_classes_are_logistic_regression),
        cmocka_unit_test(test_many_classes_have_the_slope_of_their_loss),
        cmocka_unit_test(test_a_label_that_is_no_class_counts_as_no_number),
        cmocka_unit_test(test_numbers_of_classes_out_of_range_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
