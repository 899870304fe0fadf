/* Every model of models.def with the k-th allocation failing, for all k until the call succeeds. */
#include "models/fixture.h"
#include "models/losses.h"

#include "failing_memory.h"

typedef struct scene {
    mfpg_context *ctx;
    mfpg_model_options options;
    mfpg_model *model;
    mfpg_dataset data;
    float *w;
    mfpg_metrics expected;
} scene;

static mfpg_status create(void *arg) {
    scene *s = arg;
    mfpg_model *model = NULL;
    mfpg_status status = mfpg_model_create(s->ctx, &s->options, &model);
    assert_int_equal(status == MFPG_OK, model != NULL);
    mfpg_model_destroy(model);
    return status;
}

/* What succeeds is the whole answer. */
static mfpg_status evaluate(void *arg) {
    scene *s = arg;
    mfpg_metrics metrics;
    mfpg_status status = mfpg_model_evaluate(s->ctx, s->model, s->w, &s->data, &metrics);
    if (status != MFPG_OK) return status;
    check_near(metrics.loss, s->expected.loss, 0, 0, s->options.kind);
    assert_int_equal(metrics.rows, s->data.rows);
    return MFPG_OK;
}

static void test_every_model_survives(void **state) {
    (void)state;
    static const ptrdiff_t hidden[] = {4, 3};
    uint64_t random = testing_seed();
    scene s = {.ctx = testing_context(1), .data = make_dataset(300, 5, 2, &random)};
    ptrdiff_t kinds = 0;
    for (; mfpg_kind_name(&mfpg_models, kinds); kinds++) {
        s.options = (mfpg_model_options){.kind = mfpg_kind_name(&mfpg_models, kinds),
            .features = 5,
            .classes = 2,
            .hidden = hidden,
            .hidden_layers = 2};
        assert_true(sweep_allocations(create, &s) >= 1);
        CHECK_OK(s.ctx, mfpg_model_create(s.ctx, &s.options, &s.model));
        s.w = calloc((size_t)mfpg_model_parameters(s.model), sizeof *s.w);
        assert_non_null(s.w);
        CHECK_OK(s.ctx, mfpg_model_evaluate(s.ctx, s.model, s.w, &s.data, &s.expected));
        assert_true(sweep_allocations(evaluate, &s) >= 1);
        free(s.w);
        mfpg_model_destroy(s.model);
    }
    assert_true(kinds >= 5);
    free_dataset(&s.data);
    mfpg_context_destroy(s.ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_every_model_survives)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
