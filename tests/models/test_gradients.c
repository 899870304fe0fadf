/* Gradients of every model in models.def: against differences of the loss, against explicit gradients of single
 * examples, and what clipping does to examples that are too long or not finite. */
#include "models/fixture.h"
#include "models/losses.h"

enum { ROWS = 17, FEATURES = 11, MOST_PARAMETERS = 128 };

/* The loss of a network has kinks, which differences of a finite width straddle, and no bound on its curvature; test_mlp
 * has its own tests in their stead. */
static int is_network(const char *kind) {
    return strcmp(kind, "mlp") == 0;
}

typedef struct setup {
    mfpg_context *ctx;
    mfpg_model *model;
    mfpg_dataset data;
    ptrdiff_t d;
    float *w, *grad, *work;
    uint64_t random;
} setup;

static setup begin(const char *kind, ptrdiff_t rows, ptrdiff_t features) {
    setup s = {.ctx = testing_context(1), .random = testing_seed()};
    s.model = make_model(s.ctx, kind, features);
    s.data = make_dataset(rows, features, (s.model->classes > 0), &s.random);
    s.d = mfpg_model_parameters(s.model);
    s.w = make_floats(s.d);
    s.grad = make_floats(s.d);
    s.work = make_floats(mfpg_model_workspace(s.model, rows));
    for (ptrdiff_t i = 0; i < s.d; i++) s.w[i] = (float)(0.3 * next_normal(&s.random));
    return s;
}

static void end(setup *s) {
    free(s->w);
    free(s->grad);
    free(s->work);
    free_dataset(&s->data);
    mfpg_model_destroy(s->model);
    mfpg_context_destroy(s->ctx);
}

/* The divisor at which the gradient is that of the model's own loss. */
static double own_divisor(const setup *s) {
    return mfpg_model_sums_rows(s->model) ? 1.0 : (double)s->data.rows;
}

static double loss_at(const setup *s, const float *w) {
    mfpg_metrics metrics;
    CHECK_OK(s->ctx, mfpg_model_evaluate(s->ctx, s->model, w, &s->data, &metrics));
    return metrics.loss;
}

/* The gradient of one example by itself, unclipped. */
static void example_gradient(setup *s, int32_t row, float *out) {
    mfpg_model_gradient(s->model, s->w, &s->data, &row, 1, 1.0, out, s->work);
}

static void test_gradient_is_the_slope_of_the_loss(void **state) {
    (void)state;
    for (ptrdiff_t k = 0; mfpg_kind_name(&mfpg_models, k); k++) {
        if (is_network(mfpg_kind_name(&mfpg_models, k))) continue;
        setup s = begin(mfpg_kind_name(&mfpg_models, k), ROWS, FEATURES);
        double scale = mfpg_model_sums_rows(s.model) ? ROWS : 1.0;
        mfpg_model_gradient(s.model, s.w, &s.data, NULL, 0, own_divisor(&s), s.grad, s.work);
        for (ptrdiff_t i = 0; i < s.d; i++) {
            float kept = s.w[i], up = kept + 0x1p-6F, down = kept - 0x1p-6F;
            s.w[i] = up;
            double above = loss_at(&s, s.w);
            s.w[i] = down;
            double below = loss_at(&s, s.w);
            s.w[i] = kept;
            /* Mean losses: the third derivative (below 0.1 |x_i|^3, mean about 0.2) gives h^2/6 of it, 1e-5; margins
             * in float (relative 2^-24, times a residual of order 1) give 1e-6/h, 1e-5. Sums: times the rows. */
            double slope = (above - below) / ((double)up - (double)down);
            check_near((double)s.grad[i], slope, 0.0, 1e-4 * scale, mfpg_kind_name(&mfpg_models, k));
        }
        end(&s);
    }
}

static void test_batch_is_the_sum_over_its_rows(void **state) {
    (void)state;
    for (ptrdiff_t k = 0; mfpg_kind_name(&mfpg_models, k); k++) {
        setup s = begin(mfpg_kind_name(&mfpg_models, k), ROWS, FEATURES);
        const int32_t rows[] = {3, 16, 0, 3, 9}; /* any order, repeats allowed */
        double expected[MOST_PARAMETERS] = {0};
        float *one = make_floats(s.d);
        for (int r = 0; r < 5; r++) {
            example_gradient(&s, rows[r], one);
            for (ptrdiff_t i = 0; i < s.d; i++) expected[i] += (double)one[i] / 2.5;
        }
        mfpg_model_gradient(s.model, s.w, &s.data, rows, 5, 2.5, s.grad, s.work);
        /* five terms of order 1 in float: 5 roundings of 2^-24 of a size below 10 */
        for (ptrdiff_t i = 0; i < s.d; i++)
            check_near((double)s.grad[i], expected[i], 1e-6, 5e-6, "batch gradient");
        free(one);
        end(&s);
    }
}

static void test_all_rows_equal_their_list(void **state) {
    (void)state;
    for (ptrdiff_t k = 0; mfpg_kind_name(&mfpg_models, k); k++) {
        setup s = begin(mfpg_kind_name(&mfpg_models, k), ROWS, FEATURES);
        int32_t rows[ROWS];
        float *again = make_floats(s.d);
        for (int i = 0; i < ROWS; i++) rows[i] = i;
        mfpg_model_gradient(s.model, s.w, &s.data, NULL, 0, 3.0, s.grad, s.work);
        mfpg_model_gradient(s.model, s.w, &s.data, rows, ROWS, 3.0, again, s.work);
        assert_memory_equal(s.grad, again, (size_t)s.d * sizeof(float));
        mfpg_model_clipped_gradient(s.model, s.w, &s.data, NULL, 0, 0.5, 3.0, s.grad, s.work);
        mfpg_model_clipped_gradient(s.model, s.w, &s.data, rows, ROWS, 0.5, 3.0, again, s.work);
        assert_memory_equal(s.grad, again, (size_t)s.d * sizeof(float));
        free(again);
        end(&s);
    }
}

static void test_empty_batch_gives_zeros(void **state) {
    (void)state;
    for (ptrdiff_t k = 0; mfpg_kind_name(&mfpg_models, k); k++) {
        setup s = begin(mfpg_kind_name(&mfpg_models, k), ROWS, FEATURES);
        const int32_t none = 0;
        for (int clipped = 0; clipped < 2; clipped++) {
            for (ptrdiff_t i = 0; i < s.d; i++) s.grad[i] = 7.0F;
            if (clipped) {
                assert_int_equal(0,
                    mfpg_model_clipped_gradient(s.model, s.w, &s.data, &none, 0, 1.0, 5.0, s.grad, s.work));
            } else {
                mfpg_model_gradient(s.model, s.w, &s.data, &none, 0, 5.0, s.grad, s.work);
            }
            for (ptrdiff_t i = 0; i < s.d; i++) assert_true(s.grad[i] == 0.0F);
        }
        end(&s);
    }
}

/* Against the definition: form every example's gradient, clip it, add. The clip lies among the norms, so that some
 * examples are scaled and some are not. */
static void test_clipped_sum_equals_clipping_each_example(void **state) {
    (void)state;
    for (ptrdiff_t k = 0; mfpg_kind_name(&mfpg_models, k); k++) {
        setup s = begin(mfpg_kind_name(&mfpg_models, k), ROWS, FEATURES);
        float *one = make_floats(s.d);
        double norm[ROWS], expected[MOST_PARAMETERS] = {0}, clip = 0.0;
        int above = 0;
        for (int r = 0; r < ROWS; r++) {
            example_gradient(&s, r, one);
            norm[r] = norm_of(one, s.d);
            clip += norm[r] / ROWS;
        }
        for (int r = 0; r < ROWS; r++) {
            example_gradient(&s, r, one);
            above += norm[r] > clip;
            for (ptrdiff_t i = 0; i < s.d; i++)
                expected[i] += (double)one[i] * fmin(1.0, clip / norm[r]) / 20.0;
        }
        assert_true(above > 0 && above < ROWS);
        assert_int_equal(
            0, mfpg_model_clipped_gradient(s.model, s.w, &s.data, NULL, 0, clip, 20.0, s.grad, s.work));
        /* the clip is shrunk by 2^-21 and 17 terms are added in float: below 1e-6 of a size below clip */
        for (ptrdiff_t i = 0; i < s.d; i++)
            check_near((double)s.grad[i], expected[i], 2e-6, 2e-6 * clip, "clipped sum");
        free(one);
        end(&s);
    }
}

/* Sets of very many rows keep no norms: what a model computes in their place has the same bits. */
static void test_norms_that_are_not_kept_change_no_bit(void **state) {
    (void)state;
    const int32_t rows[] = {5, 190, 77, 5};
    for (ptrdiff_t k = 0; mfpg_kind_name(&mfpg_models, k); k++) {
        setup s = begin(mfpg_kind_name(&mfpg_models, k), 200, FEATURES);
        float *expected = make_floats(s.d);
        for (int listed = 0; listed < 2; listed++) {
            mfpg_dataset bare = s.data;
            bare.norm2 = NULL;
            const int32_t *list = listed ? rows : NULL;
            mfpg_model_clipped_gradient(s.model, s.w, &s.data, list, 4, 0.3, 4.0, expected, s.work);
            mfpg_model_clipped_gradient(s.model, s.w, &bare, list, 4, 0.3, 4.0, s.grad, s.work);
            assert_memory_equal(s.grad, expected, (size_t)s.d * sizeof(float));
        }
        free(expected);
        end(&s);
    }
}

static void test_clipped_example_never_exceeds_the_clip(void **state) {
    (void)state;
    const double clips[] = {1e-3, 0.37, 1.0};
    for (ptrdiff_t k = 0; mfpg_kind_name(&mfpg_models, k); k++) {
        setup s = begin(mfpg_kind_name(&mfpg_models, k), 200, FEATURES);
        for (int32_t r = 0; r < 200; r++) {
            for (int c = 0; c < 3; c++) {
                mfpg_model_clipped_gradient(s.model, s.w, &s.data, &r, 1, clips[c], 1.0, s.grad, s.work);
                assert_true(norm_of(s.grad, s.d) <= clips[c]);
            }
        }
        end(&s);
    }
}

/* One example of four is not finite: the sum is that of the other three, and one is counted. */
static void test_example_that_is_no_number_counts_as_zero(void **state) {
    (void)state;
    const float bad[] = {NAN, INFINITY};
    for (ptrdiff_t k = 0; mfpg_kind_name(&mfpg_models, k); k++) {
        for (int b = 0; b < 4; b++) {
            setup s = begin(mfpg_kind_name(&mfpg_models, k), 4, FEATURES);
            const int32_t others[] = {0, 1, 3};
            float *expected = make_floats(s.d);
            mfpg_model_clipped_gradient(s.model, s.w, &s.data, others, 3, 1.0, 4.0, expected, s.work);
            if (b < 2) {
                s.data.x[2 * FEATURES + 5] = bad[b];
            } else if (b == 2) {
                s.data.y[2] = NAN;
            } else {
                for (int j = 0; j < FEATURES; j++) s.data.x[2 * FEATURES + j] = INFINITY;
            }
            refresh_norms(&s.data);
            int64_t counted =
                mfpg_model_clipped_gradient(s.model, s.w, &s.data, NULL, 0, 1.0, 4.0, s.grad, s.work);
            assert_int_equal(counted, 1);
            assert_memory_equal(s.grad, expected, (size_t)s.d * sizeof(float));
            free(expected);
            end(&s);
        }
    }
}

/* Features of 1e20 overflow a float norm (1e40); the norm in double does not, so the example is clipped, not lost. Near
 * the largest float the clipped residual is subnormal: then the example may vanish, but must not exceed the clip. */
static void test_huge_features_are_clipped_to_the_clip(void **state) {
    (void)state;
    const double clips[] = {1.0, 0.037};
    for (ptrdiff_t k = 0; mfpg_kind_name(&mfpg_models, k); k++) {
        setup s = begin(mfpg_kind_name(&mfpg_models, k), 1, 2);
        memset(s.w, 0, (size_t)s.d * sizeof(float));
        s.data.y[0] = 1.0F;
        for (int step = 0; step < 370; step++) {
            double size = pow(10.0, 20.0 + step / 20.0), clip = clips[step % 2];
            s.data.x[0] = s.data.x[1] = (float)size;
            refresh_norms(&s.data);
            assert_int_equal(
                0, mfpg_model_clipped_gradient(s.model, s.w, &s.data, NULL, 0, clip, 1.0, s.grad, s.work));
            double norm = norm_of(s.grad, s.d);
            assert_true(norm <= clip);
            mfpg_model_gradient(s.model, s.w, &s.data, NULL, 0, 1.0, s.grad, s.work);
            double whole =
                norm_of(s.grad, s.d); /* zero weights hide the features from a network's gradient */
            if (size < 1e34) check_near(norm, fmin(clip, whole), 1e-6, 0.0, "norm of a huge example");
        }
        end(&s);
    }
}

/* The largest eigenvalue of the Hessian along the gradient's direction, by differences of gradients, stays below the
 * public bound for examples inside the ball. */
static void test_curvature_bounds_the_change_of_gradients(void **state) {
    (void)state;
    for (ptrdiff_t k = 0; mfpg_kind_name(&mfpg_models, k); k++) {
        setup s = begin(mfpg_kind_name(&mfpg_models, k), ROWS, FEATURES);
        double largest = 0.0, ones = mfpg_model_sums_rows(s.model) ? 0.0 : 1.0; /* the bias */
        for (int i = 0; i < ROWS; i++) largest = fmax(largest, s.data.norm2[i] + ones);
        double bound = mfpg_model_curvature(s.model, largest);
        if (isnan(bound)) {
            assert_true(mfpg_model_sums_rows(s.model) || is_network(mfpg_kind_name(&mfpg_models, k)));
            end(&s);
            continue;
        }
        float *there = make_floats(s.d), *moved = make_floats(s.d);
        double steepest = 0.0;
        for (int trial = 0; trial < 100; trial++) {
            double distance2 = 0.0, change2 = 0.0;
            for (ptrdiff_t i = 0; i < s.d; i++) {
                moved[i] = s.w[i] + (float)(0.2 * next_normal(&s.random));
                distance2 += ((double)moved[i] - (double)s.w[i]) * ((double)moved[i] - (double)s.w[i]);
            }
            mfpg_model_gradient(s.model, s.w, &s.data, NULL, 0, ROWS, s.grad, s.work);
            mfpg_model_gradient(s.model, moved, &s.data, NULL, 0, ROWS, there, s.work);
            for (ptrdiff_t i = 0; i < s.d; i++)
                change2 += ((double)there[i] - (double)s.grad[i]) * ((double)there[i] - (double)s.grad[i]);
            steepest = fmax(steepest, sqrt(change2 / distance2));
        }
        assert_true(steepest > 0.01 * bound && steepest <= bound);
        free(there);
        free(moved);
        end(&s);
    }
}

static void test_curvature_constants(void **state) {
    (void)state;
    mfpg_context *ctx = testing_context(1);
    const struct {
        const char *kind;
        double factor;
    } known[] = {{"logistic", 0.25}, {"softmax", 0.5}, {"linear", 1.0}, {"quadratic", NAN}, {"mlp", NAN}};
    for (int k = 0; k < 5; k++) {
        mfpg_model *model = make_model(ctx, known[k].kind, 4);
        double bound = mfpg_model_curvature(model, 21.0);
        assert_true(isnan(known[k].factor) ? isnan(bound) : bound == 21.0 * known[k].factor);
        assert_true(isnan(mfpg_model_curvature(model, NAN)));
        assert_true(isnan(mfpg_model_curvature(model, -1.0)));
        mfpg_model_destroy(model);
    }
    mfpg_context_destroy(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_gradient_is_the_slope_of_the_loss),
        cmocka_unit_test(test_batch_is_the_sum_over_its_rows),
        cmocka_unit_test(test_all_rows_equal_their_list),
        cmocka_unit_test(test_empty_batch_gives_zeros),
        cmocka_unit_test(test_clipped_sum_equals_clipping_each_example),
        cmocka_unit_test(test_norms_that_are_not_kept_change_no_bit),
        cmocka_unit_test(test_clipped_example_never_exceeds_the_clip),
        cmocka_unit_test(test_example_that_is_no_number_counts_as_zero),
        cmocka_unit_test(test_huge_features_are_clipped_to_the_clip),
        cmocka_unit_test(test_curvature_bounds_the_change_of_gradients),
        cmocka_unit_test(test_curvature_constants),
    };
    print_message("seed %" PRIu64 "\n", testing_seed());
    return cmocka_run_group_tests(tests, NULL, NULL);
}
