/* Projections of a network as large as the paper's: every tensor, by itself, after the noise; the cap leaves the large alone. */
#include "mechanisms/fixture.h"
#include "local_round.h"

#include "models/losses.h"
#include "numerics/transport/transport_report.h"

enum { FEATURES = 784, UNITS = 128, CLASSES = 10, ROWS = 4, TENSORS = 4 }; /* 784 x 128 = 100,352 weights */

typedef struct scene {
    mfpg_context *ctx;
    mfpg_model *model;
    mfpg_dataset data;
    ptrdiff_t size;
    float *w, *noised;
} scene;

static scene begin(void) {
    uint64_t random = testing_seed();
    const ptrdiff_t hidden[] = {UNITS};
    const mfpg_model_options options = {
        .kind = "mlp", .features = FEATURES, .classes = CLASSES, .hidden = hidden, .hidden_layers = 1};
    mfpg_key key = mfpg_key_from_seed(testing_seed());
    scene s = {.ctx = testing_context(1)};
    CHECK_OK(s.ctx, mfpg_model_create(s.ctx, &options, &s.model));
    s.data = make_dataset(ROWS, FEATURES, 1, &random);
    s.size = mfpg_model_parameters(s.model);
    s.w = make_floats(s.size);
    s.noised = make_floats(s.size);
    mfpg_model_start(s.model, &key, 1, s.w);
    return s;
}

static void end(scene *s) {
    free(s->w);
    free(s->noised);
    free_dataset(&s->data);
    mfpg_model_destroy(s->model);
    mfpg_context_destroy(s->ctx);
}

static mfpg_update_report update(scene *s, mfpg_regularisation regularisation, ptrdiff_t cap, float *out) {
    mfpg_mechanism_options options = mfpg_mechanism_options_default();
    options.kind = "entropic";
    options.promise.unit = MFPG_UNIT_EXAMPLE;
    options.regularisation = regularisation;
    options.transport_cap = cap;
    options.step = 0.01;
    mfpg_mechanism *mechanism = make_mechanism(s->ctx, &options);
    mfpg_update_report report;
    mfpg_key key = mfpg_key_from_seed(testing_seed());
    mfpg_stream noise = mfpg_stream_open(&key, MFPG_PURPOSE_NOISE, 0, 0);
    float *work = make_floats(mfpg_mechanism_workspace(mechanism, s->model, ROWS));
    CHECK_OK(s->ctx, update_by(s->ctx, mechanism, s->model, &s->data, ROWS, strength_of(0.02), &noise, &noise,
                         s->w, out, work, &report));
    free(work);
    mfpg_mechanism_destroy(mechanism);
    return report;
}

/* An update with a cap (0: none) against the noised one, each of its tensors up to `largest` projected. */
static void check(mfpg_regularisation regularisation, ptrdiff_t cap, ptrdiff_t largest, int projected) {
    scene s = begin();
    float *out = make_floats(s.size);
    mfpg_transport_report told = {0};
    mfpg_update_report plain = update(&s, (mfpg_regularisation){0}, 0, s.noised);
    assert_int_equal(plain.transport.projections, 0);
    assert_int_equal(s.model->tensors, TENSORS);
    assert_int_equal(s.model->tensor[0].size, FEATURES * UNITS);
    for (ptrdiff_t t = 0; t < TENSORS; t++) {
        mfpg_tensor tensor = s.model->tensor[t];
        mfpg_sinkhorn_result one;
        if (tensor.size > largest) continue;
        CHECK_OK(
            s.ctx, mfpg_sinkhorn_project(s.ctx, tensor.size, regularisation, s.noised + tensor.offset, &one));
        mfpg_transport_count(&told, t, &one);
    }
    mfpg_update_report report = update(&s, regularisation, cap, out);
    assert_memory_equal(out, s.noised, (size_t)s.size * sizeof *out);
    assert_memory_equal(&report.transport, &told, sizeof told);
    assert_int_equal(told.projections, projected);
    free(out);
    end(&s);
}

static void test_every_tensor_is_projected_however_large(void **state) {
    (void)state;
    check((mfpg_regularisation){.value = 1e-3}, 0, PTRDIFF_MAX, TENSORS);
    check(
        (mfpg_regularisation){.value = 0.1, .scale = MFPG_REGULARISATION_VARIANCE}, 0, PTRDIFF_MAX, TENSORS);
}

/* The paper's 512: of 100,352, 128, 1280 and 10 entries, two tensors are small enough. */
static void test_the_paper_s_cap_leaves_the_weights_alone(void **state) {
    (void)state;
    check((mfpg_regularisation){.value = 1e-3}, 512, 512, 2);
    check((mfpg_regularisation){.value = 1e-3}, 1280, 1280, 3);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_tensor_is_projected_however_large),
        cmocka_unit_test(test_the_paper_s_cap_leaves_the_weights_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
