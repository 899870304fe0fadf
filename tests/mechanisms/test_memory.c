/* Models and mechanisms with the k-th allocation failing, and hot paths that must not allocate at all. */
#include "mechanisms/fixture.h"
#include "models/losses.h"
#include "local_round.h"

#include "failing_memory.h"

typedef struct scene {
    mfpg_context *ctx;
    mfpg_model *model;
    mfpg_dataset data;
    float *w;
} scene;

static mfpg_status create_model(scene *s) {
    mfpg_model *model = NULL;
    mfpg_model_options options = {.kind = "logistic", .features = 5};
    mfpg_status status = mfpg_model_create(s->ctx, &options, &model);
    assert_int_equal(status == MFPG_OK, model != NULL);
    mfpg_model_destroy(model);
    return status;
}

static mfpg_status create_mechanism(scene *s) {
    mfpg_mechanism *mechanism = NULL;
    mfpg_status status = mfpg_mechanism_create(s->ctx, &(mfpg_mechanism_options){0}, &mechanism);
    assert_int_equal(status, MFPG_ERR_INPUT); /* no kind */
    mfpg_mechanism_options options = mfpg_mechanism_options_default();
    status = mfpg_mechanism_create(s->ctx, &options, &mechanism);
    assert_int_equal(status == MFPG_OK, mechanism != NULL);
    mfpg_mechanism_destroy(mechanism);
    return status;
}

static mfpg_status evaluate(scene *s) {
    mfpg_metrics metrics;
    return mfpg_model_evaluate(s->ctx, s->model, s->w, &s->data, &metrics);
}

static void sweep(scene *s, mfpg_status (*call)(scene *), long expected) {
    for (int once = 0; once < 2; once++) {
        for (long k = 0; k <= expected; k++) {
            begin_failing(k, once);
            mfpg_status status = call(s);
            assert_int_equal(end_failing(), k < expected);
            assert_int_equal(status, k < expected ? MFPG_ERR_MEMORY : MFPG_OK);
        }
    }
}

static scene begin(const char *model) {
    uint64_t random = testing_seed();
    scene s = {.ctx = testing_context(1)};
    s.model = make_model(s.ctx, model, 5);
    s.data = make_dataset(300, 5, 1, &random);
    s.w = make_floats(mfpg_model_parameters(s.model));
    return s;
}

static void end(scene *s) {
    mfpg_model_destroy(s->model);
    free_dataset(&s->data);
    free(s->w);
    mfpg_context_destroy(s->ctx);
}

static void test_every_failing_allocation_is_reported(void **state) {
    (void)state;
    scene s = begin("logistic");
    sweep(&s, create_model, 3);
    sweep(&s, create_mechanism, 1);
    sweep(&s, evaluate, 5);
    const unsigned char absent[300] = {1};
    s.data.absent = absent;
    sweep(&s, evaluate, 5);
    end(&s);
}

static void check_update(const mfpg_mechanism_options *options, void *user) {
    scene *s = user;
    mfpg_mechanism *mechanism = make_mechanism(s->ctx, options);
    mfpg_key key = mfpg_key_from_seed(1);
    mfpg_stream stream = mfpg_stream_open(&key, MFPG_PURPOSE_TEST, 0, 0);
    float *work = make_floats(mfpg_mechanism_workspace(mechanism, s->model, s->data.rows)),
          *out = make_floats(mfpg_model_parameters(s->model));
    allocations_left = 0;
    CHECK_OK(s->ctx, update_by(s->ctx, mechanism, s->model, &s->data, s->data.rows,
                         multiplier_for(mechanism, 1.0), &stream, &stream, s->w, out, work, NULL));
    allocations_left = -1;
    free(work);
    free(out);
    mfpg_mechanism_destroy(mechanism);
}

static void test_updates_allocate_nothing(void **state) {
    (void)state;
    const char *models[] = {"logistic", "mlp"};
    for (int i = 0; i < 2; i++) {
        scene s = begin(models[i]);
        each_setting(check_update, &s);
        end(&s);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_failing_allocation_is_reported),
        cmocka_unit_test(test_updates_allocate_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
