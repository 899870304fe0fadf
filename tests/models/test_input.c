/* The loss as a function of an example's features: gradient against differences of the loss and against closed forms, and
 * the bound on its curvature against gradients of many pairs. */
#include "models/fixture.h"
#include "models/losses.h"

enum { FEATURES = 5, CLASSES = 4, MOST = CLASSES * (FEATURES + 1) };

static const char *const smooth[] = {"quadratic", "linear", "logistic", "softmax"};

static mfpg_model *model_of(mfpg_context *ctx, const char *kind) {
    mfpg_model *model = NULL;
    const mfpg_model_options options = {.kind = kind, .features = FEATURES, .classes = CLASSES};
    CHECK_OK(ctx, mfpg_model_create(ctx, &options, &model));
    return model;
}

static float label_of(const mfpg_model *model, uint64_t *random) {
    ptrdiff_t classes = model->classes;
    return classes > 0 ? (float)(next_word(random) % (uint64_t)classes) : (float)next_normal(random);
}

static void fill(float *v, int n, double scale, uint64_t *random) {
    for (int i = 0; i < n; i++) v[i] = (float)(scale * next_normal(random));
}

/* The loss of one example in double: margins, then the formula of the model. */
static double loss_of(const char *kind, const float *w, const double *x, double y) {
    double margin[CLASSES] = {0}, sum = 0.0;
    int classes = strcmp(kind, "softmax") == 0 ? CLASSES : 1;
    const float *bias = w + classes * FEATURES;
    for (int c = 0; c < classes; c++) {
        margin[c] = strcmp(kind, "quadratic") == 0 ? 0.0 : (double)bias[c];
        for (int i = 0; i < FEATURES; i++) margin[c] += (double)w[c * FEATURES + i] * x[i];
        sum += exp(margin[c]);
    }
    if (classes > 1) return log(sum) - margin[(int)y];
    if (strcmp(kind, "logistic") == 0) return log1p(exp(-(2.0 * y - 1.0) * margin[0]));
    return 0.5 * (margin[0] - y) * (margin[0] - y);
}

static void test_gradient_is_the_slope_of_the_loss(void **state) {
    (void)state;
    mfpg_context *ctx = testing_context(1);
    uint64_t random = testing_seed();
    for (size_t m = 0; m < 4; m++) {
        mfpg_model *model = model_of(ctx, smooth[m]);
        assert_int_equal(model->features, FEATURES);
        for (int run = 0; run < testing_repeats(50); run++) {
            float w[MOST], x[FEATURES], y = label_of(model, &random);
            double gradient[FEATURES], work[CLASSES], at[FEATURES];
            fill(w, (int)mfpg_model_parameters(model), 1.0, &random);
            fill(x, FEATURES, 1.0, &random);
            assert_true(model->classes <= CLASSES);
            mfpg_model_input_gradient(model, w, x, y, gradient, work);
            for (int i = 0; i < FEATURES; i++) at[i] = (double)x[i];
            for (int i = 0; i < FEATURES; i++) {
                double h = 1e-5, x0 = at[i];
                at[i] = x0 + h;
                double up = loss_of(smooth[m], w, at, (double)y);
                at[i] = x0 - h;
                double down = loss_of(smooth[m], w, at, (double)y);
                at[i] = x0;
                /* central differences: error h^2 times the third derivative, and 1e-16 loss/h by rounding */
                check_near(gradient[i], (up - down) / (2.0 * h), 1e-8, 1e-8, smooth[m]);
            }
        }
        mfpg_model_destroy(model);
    }
    mfpg_context_destroy(ctx);
}

static double distance(const double *a, const double *b) {
    double sum = 0.0;
    for (int i = 0; i < FEATURES; i++) sum += (a[i] - b[i]) * (a[i] - b[i]);
    return sqrt(sum);
}

/* |grad(x) - grad(x')| <= M0 |x - x'|, and by convexity the step x - tau grad is no further apart than 1 or |1 - tau M0|. */
static void test_no_pair_exceeds_the_bound_on_the_curvature(void **state) {
    (void)state;
    mfpg_context *ctx = testing_context(1);
    uint64_t random = testing_seed();
    for (size_t m = 0; m < 4; m++) {
        mfpg_model *model = model_of(ctx, smooth[m]);
        double closest = 0.0;
        for (int run = 0; run < testing_repeats(2000); run++) {
            float w[MOST], x[2][FEATURES], y = label_of(model, &random);
            double gradient[2][FEATURES], work[CLASSES], at[2][FEATURES], inner = 0.0;
            fill(w, (int)mfpg_model_parameters(model), run % 2 ? 1.0 : 0.2, &random);
            fill(x[0], FEATURES, 1.0, &random);
            fill(x[1], FEATURES, 0.1, &random);
            for (int i = 0; i < FEATURES; i++) x[1][i] += x[0][i];
            for (int p = 0; p < 2; p++) {
                mfpg_model_input_gradient(model, w, x[p], y, gradient[p], work);
                for (int i = 0; i < FEATURES; i++) at[p][i] = (double)x[p][i];
            }
            double bound = mfpg_model_input_smoothness(model, w), apart = distance(at[0], at[1]);
            double moved = distance(gradient[0], gradient[1]);
            assert_true(moved <= bound * apart * (1.0 + 1e-12));
            for (int i = 0; i < FEATURES; i++)
                inner += (gradient[0][i] - gradient[1][i]) * (at[0][i] - at[1][i]);
            assert_true(inner >= -1e-15); /* convex */
            closest = fmax(closest, moved / (bound * apart));
        }
        assert_true(closest > 0.3); /* the bound is not idle */
        mfpg_model_destroy(model);
    }
    mfpg_context_destroy(ctx);
}

static void test_bounds_have_their_closed_forms(void **state) {
    (void)state;
    mfpg_context *ctx = testing_context(1);
    const float w[MOST] = {3, 0, 4, 0, 0, 7}; /* the last is the bias, which does not count */
    const double expected[] = {25.0, 25.0, 6.25};
    for (size_t m = 0; m < 3; m++) {
        mfpg_model *model = model_of(ctx, smooth[m]);
        double bound = mfpg_model_input_smoothness(model, w);
        check_near(bound, expected[m], 1e-14, 0, smooth[m]);
        assert_true(bound >= expected[m]);
        mfpg_model_destroy(model);
    }
    mfpg_model *model = model_of(ctx, "softmax");
    float rows[MOST] = {0};
    rows[0] = 3; /* the first class (3, 0, 4, 0, 0), the others zero: operator norm 5 */
    rows[2] = 4;
    check_near(mfpg_model_input_smoothness(model, rows), 12.5, 1e-14, 0, "one class");
    for (int c = 0; c < CLASSES; c++)
        for (int i = 0; i < FEATURES; i++)
            rows[c * FEATURES + i] = i == c; /* the identity: norm 1, Frobenius 2 */
    check_near(mfpg_model_input_smoothness(model, rows), 0.5, 1e-14, 0, "rows that do not meet");
    mfpg_model_destroy(model);
    mfpg_context_destroy(ctx);
}

/* Squares below half a unit of 1 are lost one by one where they are added to it: |v|^2 = 1 + 4095 x 0.98 2^-53. */
static void test_bounds_cover_what_their_sums_lose(void **state) {
    (void)state;
    enum { MANY = 4096 };
    static float w[CLASSES * (MANY + 1)];
    const double factor[] = {1.0, 1.0, 0.25, 0.5};
    mfpg_context *ctx = testing_context(1);
    w[0] = 1;
    for (int i = 1; i < MANY; i++) w[i] = 0x1.675p-27F;
    for (size_t m = 0; m < 4; m++) {
        mfpg_model *model = NULL;
        const mfpg_model_options options = {.kind = smooth[m], .features = MANY, .classes = CLASSES};
        CHECK_OK(ctx, mfpg_model_create(ctx, &options, &model));
        double bound = mfpg_model_input_smoothness(model, w) / factor[m];
        assert_true(bound >= 1.0 + 4095 * 0.98 * 0x1p-53 && bound <= 1.0 + 1e-11);
        mfpg_model_destroy(model);
    }
    mfpg_context_destroy(ctx);
}

static void test_what_has_no_bound_is_infinity(void **state) {
    (void)state;
    mfpg_context *ctx = testing_context(1);
    float zero[256] = {0};
    mfpg_model *network = make_model(ctx, "mlp", FEATURES);
    assert_true(isinf(mfpg_model_input_smoothness(network, zero)));
    mfpg_model_destroy(network);
    for (size_t m = 0; m < 4; m++) {
        mfpg_model *model = model_of(ctx, smooth[m]);
        assert_true(mfpg_model_input_smoothness(model, zero) == 0.0);
        for (int bad = 0; bad < 2; bad++) {
            float w[MOST] = {0};
            w[1] = bad ? NAN : INFINITY;
            assert_true(isinf(mfpg_model_input_smoothness(model, w)));
        }
        mfpg_model_destroy(model);
    }
    mfpg_context_destroy(ctx);
}

/* A label that the bound does not speak of leaves no number, never a gradient. */
static void test_labels_that_are_none_leave_no_number(void **state) {
    (void)state;
    mfpg_context *ctx = testing_context(1);
    uint64_t random = testing_seed();
    const float labels[] = {-1.0F, 2.5F, 4.0F, NAN};
    for (size_t m = 2; m < 4; m++) {
        mfpg_model *model = model_of(ctx, smooth[m]);
        for (int l = 0; l < 4; l++) {
            float w[MOST], x[FEATURES];
            double gradient[FEATURES], work[CLASSES];
            fill(w, MOST, 1.0, &random);
            fill(x, FEATURES, 1.0, &random);
            mfpg_model_input_gradient(model, w, x, labels[l], gradient, work);
            assert_true(isnan(gradient[0]));
        }
        mfpg_model_destroy(model);
    }
    mfpg_context_destroy(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_gradient_is_the_slope_of_the_loss),
        cmocka_unit_test(test_no_pair_exceeds_the_bound_on_the_curvature),
        cmocka_unit_test(test_bounds_have_their_closed_forms),
        cmocka_unit_test(test_bounds_cover_what_their_sums_lose),
        cmocka_unit_test(test_what_has_no_bound_is_infinity),
        cmocka_unit_test(test_labels_that_are_none_leave_no_number),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
