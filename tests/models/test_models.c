/* Shapes, names, closed forms of losses and scores. */
#include "models/fixture.h"
#include "models/losses.h"

static mfpg_metrics scores(
    mfpg_context *ctx, const mfpg_model *model, const float *w, const mfpg_dataset *data) {
    mfpg_metrics metrics;
    CHECK_OK(ctx, mfpg_model_evaluate(ctx, model, w, data, &metrics));
    return metrics;
}

static void test_shapes_of_every_model(void **state) {
    (void)state;
    mfpg_context *ctx = testing_context(1);
    ptrdiff_t kinds = 0;
    for (; mfpg_kind_name(&mfpg_models, kinds); kinds++) {
        assert_non_null(mfpg_kind_help(&mfpg_models, kinds));
        mfpg_model *model = make_model(ctx, mfpg_kind_name(&mfpg_models, kinds), 20);
        assert_string_equal(mfpg_model_name(model), mfpg_kind_name(&mfpg_models, kinds));
        ptrdiff_t end = 0; /* the tensors tile the parameters */
        for (ptrdiff_t t = 0; t < model->tensors; t++) {
            mfpg_tensor tensor = model->tensor[t];
            assert_int_equal(tensor.offset, end);
            assert_true(tensor.size > 0);
            end += tensor.size;
        }
        assert_int_equal(end, mfpg_model_parameters(model));
        float *w = make_floats(end);
        mfpg_key key = {.seeded = 1};
        w[0] = w[end - 1] = 5.0F;
        int network = strcmp(mfpg_kind_name(&mfpg_models, kinds), "mlp") == 0;
        mfpg_model_start(model, &key, !network, w); /* no hidden layer: "he" is zero too */
        for (ptrdiff_t i = 0; i < end; i++) assert_true(w[i] == 0.0F);
        free(w);
        mfpg_model_destroy(model);
    }
    assert_true(kinds >= 3);
    assert_null(mfpg_kind_name(&mfpg_models, -1));
    assert_null(mfpg_kind_help(&mfpg_models, kinds));
    mfpg_model *logistic = make_model(ctx, "logistic", 20), *quadratic = make_model(ctx, "quadratic", 5);
    assert_int_equal(mfpg_model_parameters(logistic), 21);
    assert_int_equal(mfpg_model_parameters(quadratic), 5);
    mfpg_model_destroy(logistic);
    mfpg_model_destroy(quadratic);
    mfpg_model_destroy(NULL);
    mfpg_context_destroy(ctx);
}

static void test_wrong_options_are_refused(void **state) {
    (void)state;
    mfpg_context *ctx = testing_context(1);
    mfpg_model *model = NULL;
    mfpg_model_options options = {.kind = "logistc", .features = 3};
    assert_int_equal(mfpg_model_create(ctx, &options, &model), MFPG_ERR_INPUT);
    assert_non_null(strstr(mfpg_context_message(ctx), "\"logistic\""));
    options.kind = NULL;
    assert_int_equal(mfpg_model_create(ctx, &options, &model), MFPG_ERR_INPUT);
    options.kind = "logistic";
    const ptrdiff_t bad[] = {0, -1, INT32_MAX, PTRDIFF_MAX};
    for (int i = 0; i < 4; i++) {
        options.features = bad[i];
        assert_int_equal(mfpg_model_create(ctx, &options, &model), MFPG_ERR_DOMAIN);
    }
    assert_null(model);
    mfpg_context_destroy(ctx);
}

static void test_logistic_at_zero_weights(void **state) {
    (void)state;
    mfpg_context *ctx = testing_context(1);
    mfpg_model *model = make_model(ctx, "logistic", 2);
    float x[] = {1, 2, -3, 4, 0.5F, -1}, y[] = {1, 0, 0}, w[3] = {0}, grad[3], work[3];
    double norm2[] = {5, 25, 1.25};
    mfpg_dataset data = {.rows = 3, .features = 2, .x = x, .y = y, .norm2 = norm2};
    mfpg_metrics metrics = scores(ctx, model, w, &data);
    check_near(metrics.loss, log(2.0), 1e-15, 0.0, "log-loss at zero");
    check_near(metrics.auc, 0.5, 0.0, 0.0, "area where everything is tied");
    check_near(metrics.majority_rate, 2.0 / 3.0, 1e-15, 0.0, "majority");
    check_near(metrics.accuracy, 2.0 / 3.0, 1e-15, 0.0, "accuracy of the constant answer 0");
    mfpg_model_gradient(model, w, &data, NULL, 0, 3.0, grad, work);
    /* residuals -1/2, 1/2, 1/2: exact in float but for the division by 3 */
    check_near((double)grad[0], (-0.5 - 1.5 + 0.25) / 3.0, 2e-7, 0.0, "gradient");
    check_near((double)grad[1], (-1.0 + 2.0 - 0.5) / 3.0, 2e-7, 0.0, "gradient");
    check_near((double)grad[2], 0.5 / 3.0, 2e-7, 0.0, "gradient of the bias");
    mfpg_model_destroy(model);
    mfpg_context_destroy(ctx);
}

/* Margins far in both tails: the loss is |m| on the wrong side and e^-|m| on the right one, the residual -+1 or
 * e^-|m|. */
static void test_logistic_is_stable_in_its_tails(void **state) {
    (void)state;
    mfpg_context *ctx = testing_context(1);
    mfpg_model *model = make_model(ctx, "logistic", 1);
    const float margins[] = {-1e30F, -300.0F, -40.0F, 40.0F, 300.0F, 1e30F};
    for (int m = 0; m < 6; m++) {
        for (int label = 0; label < 2; label++) {
            float x = 1.0F, y = (float)label, w[] = {margins[m], 0.0F}, grad[2], work[1];
            double norm2 = 1.0, size = fabs((double)margins[m]);
            mfpg_dataset data = {.rows = 1, .features = 1, .x = &x, .y = &y, .norm2 = &norm2};
            int right = (margins[m] > 0.0F) == label;
            check_near(scores(ctx, model, w, &data).loss, right ? exp(-size) : size, 1e-14, 0.0, "tail loss");
            mfpg_model_gradient(model, w, &data, NULL, 0, 1.0, grad, work);
            double sign = label ? -1.0 : 1.0;
            /* expf and subnormal results: relative 1e-6 where the value is a normal float */
            check_near((double)grad[1], sign * (right ? exp(-size) : 1.0), 1e-6, 1e-44, "tail residual");
        }
    }
    mfpg_model_destroy(model);
    mfpg_context_destroy(ctx);
}

static void test_squared_losses_by_hand(void **state) {
    (void)state;
    mfpg_context *ctx = testing_context(1);
    mfpg_model *quadratic = make_model(ctx, "quadratic", 2), *linear = make_model(ctx, "linear", 2);
    float x[] = {1, 2, 3, -1}, y[] = {1, 4}, w[] = {2, 1, 0.5F}; /* x.w = 4, 5 */
    double norm2[] = {5, 10};
    mfpg_dataset data = {.rows = 2, .features = 2, .x = x, .y = y, .norm2 = norm2};
    mfpg_metrics sum = scores(ctx, quadratic, w, &data), mean = scores(ctx, linear, w, &data);
    check_near(sum.loss, 0.5 * (9.0 + 1.0), 0.0, 0.0, "quadratic loss: a sum");
    check_near(mean.loss, 0.25 * (3.5 * 3.5 + 1.5 * 1.5), 0.0, 0.0, "linear loss: a mean, with bias");
    assert_true(isnan(mean.accuracy) && isnan(mean.auc) && isnan(mean.majority_rate));
    assert_int_equal(mean.rows, 2);
    float grad[3], work[2];
    mfpg_model_gradient(quadratic, w, &data, NULL, 0, 1.0, grad, work);
    assert_true(grad[0] == 6.0F && grad[1] == 5.0F); /* 3 (1,2) + 1 (3,-1) */
    mfpg_model_gradient(linear, w, &data, NULL, 0, 2.0, grad, work);
    assert_true(
        grad[0] == 4.0F && grad[1] == 2.75F && grad[2] == 2.5F); /* (3.5 (1,2,1) + 1.5 (3,-1,1)) / 2 */
    mfpg_model_destroy(quadratic);
    mfpg_model_destroy(linear);
    mfpg_context_destroy(ctx);
}

/* By ranks against counting all pairs, with many ties: scores are small whole numbers. */
static void test_area_equals_counting_pairs(void **state) {
    (void)state;
    mfpg_context *ctx = testing_context(1);
    mfpg_model *model = make_model(ctx, "logistic", 1);
    uint64_t random = testing_seed();
    float w[] = {1.0F, 0.0F};
    for (int trial = 0; trial < testing_repeats(20); trial++) {
        ptrdiff_t rows = 2 + (ptrdiff_t)(next_word(&random) % 700); /* beyond one block of the forward pass */
        mfpg_dataset data = make_dataset(rows, 1, 1, &random);
        for (ptrdiff_t i = 0; i < rows; i++) data.x[i] = (float)(next_word(&random) % 7) - 3.0F;
        data.y[0] = 0.0F;
        data.y[1] = 1.0F;
        double won = 0.0, pairs = 0.0, right = 0.0, loss = 0.0;
        for (ptrdiff_t i = 0; i < rows; i++) {
            right += (data.x[i] > 0.0F) == (data.y[i] > 0.0F);
            loss += log(1.0 + exp((data.y[i] > 0.0F ? -1.0 : 1.0) * (double)data.x[i])) / (double)rows;
            for (ptrdiff_t j = 0; j < rows; j++) {
                if (data.y[i] <= data.y[j]) continue;
                pairs += 1.0;
                won += data.x[i] > data.x[j] ? 1.0 : data.x[i] == data.x[j] ? 0.5 : 0.0;
            }
        }
        mfpg_metrics metrics = scores(ctx, model, w, &data);
        check_near(metrics.auc, won / pairs, 1e-14, 0.0, "area under the curve");
        check_near(metrics.accuracy, right / (double)rows, 1e-15, 0.0, "accuracy");
        check_near(metrics.loss, loss, 1e-13, 0.0, "log-loss");
        free_dataset(&data);
    }
    mfpg_model_destroy(model);
    mfpg_context_destroy(ctx);
}

static void test_scores_that_do_not_exist_are_nan(void **state) {
    (void)state;
    mfpg_context *ctx = testing_context(1);
    mfpg_model *model = make_model(ctx, "logistic", 1);
    float x[] = {1, 2}, y[] = {1, 1}, w[] = {1.0F, 0.0F};
    double norm2[] = {1, 4};
    mfpg_dataset data = {.rows = 2, .features = 1, .x = x, .y = y, .norm2 = norm2};
    mfpg_metrics metrics = scores(ctx, model, w, &data);
    assert_true(isnan(metrics.auc)); /* one class */
    assert_true(metrics.accuracy == 1.0 && metrics.majority_rate == 1.0);
    w[0] = NAN; /* a model that diverged */
    y[0] = 0.0F;
    metrics = scores(ctx, model, w, &data);
    assert_true(isnan(metrics.loss) && isnan(metrics.auc) && metrics.accuracy == 0.0);
    data.rows = 0;
    metrics = scores(ctx, model, w, &data);
    assert_true(isnan(metrics.loss) && isnan(metrics.accuracy) && isnan(metrics.auc) && metrics.rows == 0);
    mfpg_model_destroy(model);
    mfpg_context_destroy(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_shapes_of_every_model),
        cmocka_unit_test(test_wrong_options_are_refused),
        cmocka_unit_test(test_logistic_at_zero_weights),
        cmocka_unit_test(test_logistic_is_stable_in_its_tails),
        cmocka_unit_test(test_squared_losses_by_hand),
        cmocka_unit_test(test_area_equals_counting_pairs),
        cmocka_unit_test(test_scores_that_do_not_exist_are_nan),
    };
    print_message("seed %" PRIu64 "\n", testing_seed());
    return cmocka_run_group_tests(tests, NULL, NULL);
}
