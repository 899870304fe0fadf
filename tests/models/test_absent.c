/* Rows that keep their place without contributing: exact zeros in every sum, nothing in any metric, for every model. */
#include "models/fixture.h"
#include "models/losses.h"

/* More than one block of rows; every third row is absent. */
enum { ROWS = 300, FEATURES = 7 };

typedef struct setup {
    mfpg_context *ctx;
    mfpg_model *model;
    mfpg_dataset data;
    unsigned char absent[ROWS];
    int32_t present[ROWS]; /* numbers of the rows that are not absent */
    ptrdiff_t presents, d;
    float *w, *grad, *other, *work;
    uint64_t random;
} setup;

static void begin(const char *kind, setup *s) {
    *s = (setup){.ctx = testing_context(1), .random = testing_seed()};
    s->model = make_model(s->ctx, kind, FEATURES);
    s->data = make_dataset(ROWS, FEATURES, (s->model->classes > 0), &s->random);
    s->d = mfpg_model_parameters(s->model);
    s->w = make_floats(s->d);
    s->grad = make_floats(s->d);
    s->other = make_floats(s->d);
    s->work = make_floats(mfpg_model_workspace(s->model, ROWS));
    for (ptrdiff_t i = 0; i < s->d; i++) s->w[i] = (float)(0.3 * next_normal(&s->random));
    for (int32_t i = 0; i < ROWS; i++) {
        s->absent[i] = i % 3 == 1;
        if (!s->absent[i]) s->present[s->presents++] = i;
    }
    s->data.absent = s->absent;
}

static void end(setup *s) {
    free(s->w);
    free(s->grad);
    free(s->other);
    free(s->work);
    free_dataset(&s->data);
    mfpg_model_destroy(s->model);
    mfpg_context_destroy(s->ctx);
}

/* Other values in the absent rows. */
static void change_absent(setup *s) {
    for (ptrdiff_t i = 0; i < ROWS; i++) {
        if (!s->absent[i]) continue;
        for (ptrdiff_t j = 0; j < FEATURES; j++)
            s->data.x[i * FEATURES + j] = (float)(1e3 * next_normal(&s->random));
        s->data.y[i] = 1.0F - s->data.y[i];
    }
    refresh_norms(&s->data);
}

static void gradient(setup *s, int clipped, const int32_t *rows, ptrdiff_t count, float *out) {
    if (clipped)
        assert_int_equal(
            mfpg_model_clipped_gradient(s->model, s->w, &s->data, rows, count, 0.5, 10.0, out, s->work), 0);
    else
        mfpg_model_gradient(s->model, s->w, &s->data, rows, count, 10.0, out, s->work);
}

static void test_absent_rows_add_exact_zeros(void **state) {
    (void)state;
    setup s;
    const char *kind;
    for (ptrdiff_t m = 0; (kind = mfpg_kind_name(&mfpg_models, m)); m++) {
        begin(kind, &s);
        for (int clipped = 0; clipped < 2; clipped++) {
            gradient(&s, clipped, NULL, 0, s.grad);
            change_absent(&s);
            gradient(&s, clipped, NULL, 0, s.other);
            assert_memory_equal(s.grad, s.other, (size_t)s.d * sizeof *s.grad);
            gradient(
                &s, clipped, s.present, s.presents, s.other); /* the same terms, other blocks: rounding */
            for (ptrdiff_t i = 0; i < s.d; i++)
                check_near((double)s.other[i], (double)s.grad[i], 1e-4, 1e-4, kind);
            assert_true(norm_of(s.grad, s.d) > 1e-3);
        }
        end(&s);
    }
}

/* A batch that drew absent rows only, and a step on it. */
static void test_batches_of_absent_rows_are_zero(void **state) {
    (void)state;
    setup s;
    const char *kind;
    const int32_t rows[] = {1, 4, 7};
    for (ptrdiff_t m = 0; (kind = mfpg_kind_name(&mfpg_models, m)); m++) {
        begin(kind, &s);
        for (int clipped = 0; clipped < 2; clipped++) {
            gradient(&s, clipped, rows, 3, s.grad);
            for (ptrdiff_t i = 0; i < s.d; i++) assert_true(s.grad[i] == 0.0F);
        }
        mfpg_model_descend(s.model, s.w, &s.data, rows, 3, 1.0, 0.5F, s.other, s.grad, s.work);
        for (ptrdiff_t i = 0; i < s.d; i++) assert_true(s.other[i] == s.w[i]);
        end(&s);
    }
}

static void test_metrics_are_those_of_the_other_rows(void **state) {
    (void)state;
    setup s;
    const char *kind;
    for (ptrdiff_t m = 0; (kind = mfpg_kind_name(&mfpg_models, m)); m++) {
        begin(kind, &s);
        mfpg_dataset alone = make_dataset(s.presents, FEATURES, 0, &s.random);
        for (ptrdiff_t i = 0; i < s.presents; i++) {
            memcpy(alone.x + i * FEATURES, s.data.x + s.present[i] * FEATURES, FEATURES * sizeof *alone.x);
            alone.y[i] = s.data.y[s.present[i]];
        }
        refresh_norms(&alone);
        mfpg_metrics all, some;
        CHECK_OK(s.ctx, mfpg_model_evaluate(s.ctx, s.model, s.w, &s.data, &all));
        CHECK_OK(s.ctx, mfpg_model_evaluate(s.ctx, s.model, s.w, &alone, &some));
        assert_int_equal(all.rows, s.presents);
        check_near(all.loss, some.loss, 1e-6, 0, kind);
        if (s.model->classes > 0) {
            assert_true(all.accuracy == some.accuracy && all.majority_rate == some.majority_rate);
            check_near(all.auc, some.auc, 1e-12, 0, kind);
        }
        /* of a measured loss they are the middle of the range, of a loss without end nothing */
        double unit = mfpg_model_sum_unit(2.0, ROWS);
        int64_t whole = mfpg_model_clipped_loss(s.model, s.w, &s.data, 2.0, unit, s.work),
                part = mfpg_model_clipped_loss(s.model, s.w, &alone, 2.0, unit, s.work);
        assert_true(whole - (ROWS - s.presents) * (mfpg_model_clipped_loss_most(2.0, unit) / 2) == part);
        check_near(mfpg_model_loss(s.model, s.w, &s.data, s.work),
            mfpg_model_loss(s.model, s.w, &alone, s.work), 1e-6, 0, kind);
        free_dataset(&alone);
        memset(s.absent, 1, ROWS);
        CHECK_OK(s.ctx, mfpg_model_evaluate(s.ctx, s.model, s.w, &s.data, &all));
        assert_true(all.rows == 0 && isnan(all.loss) && isnan(all.accuracy));
        end(&s);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_absent_rows_add_exact_zeros),
        cmocka_unit_test(test_batches_of_absent_rows_are_zero),
        cmocka_unit_test(test_metrics_are_those_of_the_other_rows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
