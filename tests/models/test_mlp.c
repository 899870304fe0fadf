/* The network against a plain one in double: its loss, its gradient by differences, clipping of every example, blocks of
 * rows, examples that are no numbers, and its start. */
#include "models/fixture.h"
#include "models/losses.h"

#include <sys/resource.h>

enum { FEATURES = 7, CLASSES = 4, LAYERS = 3, LONGEST = 9 };
static const ptrdiff_t HIDDEN[LAYERS] = {9, 6, 5};

typedef struct setup {
    mfpg_context *ctx;
    mfpg_model *model;
    mfpg_dataset data;
    ptrdiff_t d;
    float *w, *grad, *one, *work;
    uint64_t random;
} setup;

static mfpg_model *make_network(
    mfpg_context *ctx, ptrdiff_t features, ptrdiff_t classes, const ptrdiff_t *hidden, ptrdiff_t layers) {
    mfpg_model *model = NULL;
    mfpg_model_options options = {
        .kind = "mlp", .features = features, .classes = classes, .hidden = hidden, .hidden_layers = layers};
    CHECK_OK(ctx, mfpg_model_create(ctx, &options, &model));
    return model;
}

static setup begin(ptrdiff_t rows) {
    setup s = {.ctx = testing_context(1), .random = testing_seed()};
    s.model = make_network(s.ctx, FEATURES, CLASSES, HIDDEN, LAYERS);
    s.data = make_dataset(rows, FEATURES, 1, &s.random);
    for (ptrdiff_t i = 0; i < rows; i++) s.data.y[i] = (float)(next_word(&s.random) % CLASSES);
    s.d = mfpg_model_parameters(s.model);
    s.w = make_floats(s.d);
    s.grad = make_floats(s.d);
    s.one = make_floats(s.d);
    s.work = make_floats(mfpg_model_workspace(s.model, rows));
    for (ptrdiff_t i = 0; i < s.d; i++) s.w[i] = (float)(0.5 * next_normal(&s.random));
    return s;
}

static void end(setup *s) {
    free(s->w);
    free(s->grad);
    free(s->one);
    free(s->work);
    free_dataset(&s->data);
    mfpg_model_destroy(s->model);
    mfpg_context_destroy(s->ctx);
}

/* The loss of one example, in double, by the definition. w holds weights (inputs x units) and biases layer by layer. */
static double plain_loss(const double *w, const float *x, ptrdiff_t label) {
    double value[LONGEST], next[LONGEST], sum = 0.0;
    ptrdiff_t inputs = FEATURES;
    for (ptrdiff_t i = 0; i < inputs; i++) value[i] = (double)x[i];
    for (int l = 0; l <= LAYERS; l++) {
        ptrdiff_t units = l < LAYERS ? HIDDEN[l] : CLASSES;
        const double *bias = w + inputs * units;
        for (ptrdiff_t u = 0; u < units; u++) {
            next[u] = bias[u];
            for (ptrdiff_t i = 0; i < inputs; i++) next[u] += value[i] * w[i * units + u];
            if (l < LAYERS && next[u] < 0.0) next[u] = 0.0;
        }
        memcpy(value, next, sizeof value);
        w = bias + units;
        inputs = units;
    }
    for (int c = 0; c < CLASSES; c++) sum += exp(value[c]);
    return log(sum) - value[label];
}

static double plain_mean(const setup *s, const double *w) {
    double sum = 0.0;
    for (ptrdiff_t i = 0; i < s->data.rows; i++)
        sum += plain_loss(w, s->data.x + i * FEATURES, (ptrdiff_t)s->data.y[i]);
    return sum / (double)s->data.rows;
}

static void test_loss_and_gradient_equal_those_of_a_plain_network(void **state) {
    (void)state;
    setup s = begin(40);
    double *w = calloc((size_t)s.d, sizeof *w);
    for (ptrdiff_t i = 0; i < s.d; i++) w[i] = (double)s.w[i];
    mfpg_metrics metrics;
    CHECK_OK(s.ctx, mfpg_model_evaluate(s.ctx, s.model, s.w, &s.data, &metrics));
    check_near(metrics.loss, plain_mean(&s, w), 1e-6, 0, "loss"); /* margins in float */
    assert_true(isnan(metrics.auc) && metrics.accuracy >= 0.0 && metrics.majority_rate >= 0.25);
    mfpg_model_gradient(s.model, s.w, &s.data, NULL, 0, (double)s.data.rows, s.grad, s.work);
    double largest = 0.0;
    for (ptrdiff_t i = 0; i < s.d; i++) {
        double kept = w[i];
        w[i] = kept + 1e-6;
        double above = plain_mean(&s, w);
        w[i] = kept - 1e-6;
        double slope = (above - plain_mean(&s, w)) / 2e-6;
        w[i] = kept;
        largest = fmax(largest, fabs(slope));
        /* float sums of 40 terms of order 1, through four layers: a few 1e-6; differences: 1e-15/1e-6 */
        check_near((double)s.grad[i], slope, 0, 1e-5, "slope");
    }
    assert_true(largest > 0.01);
    free(w);
    end(&s);
}

/* Rows beyond one block, in any order, some twice; the clip lies among the norms. */
static void test_clipped_sum_over_blocks_equals_clipping_each_example(void **state) {
    (void)state;
    enum { ROWS = 300, COUNT = 600 };
    setup s = begin(ROWS);
    int32_t rows[COUNT];
    double *expected = calloc((size_t)s.d, sizeof *expected), clip = 1.5;
    int above = 0;
    for (int r = 0; r < COUNT; r++) {
        rows[r] = (int32_t)(next_word(&s.random) % ROWS);
        mfpg_model_gradient(s.model, s.w, &s.data, &rows[r], 1, 1.0, s.one, s.work);
        double norm = norm_of(s.one, s.d);
        above += norm > clip;
        for (ptrdiff_t i = 0; i < s.d; i++) expected[i] += (double)s.one[i] * fmin(1.0, clip / norm) / COUNT;
    }
    assert_true(above > COUNT / 10 && above < COUNT * 9 / 10);
    assert_int_equal(
        0, mfpg_model_clipped_gradient(s.model, s.w, &s.data, rows, COUNT, clip, COUNT, s.grad, s.work));
    /* the clip is shrunk by 2^-21; 600 float additions of partial sums below clip */
    for (ptrdiff_t i = 0; i < s.d; i++) check_near((double)s.grad[i], expected[i], 2e-6, 1e-5, "clipped sum");
    free(expected);
    end(&s);
}

static void test_a_clipped_example_never_exceeds_the_clip(void **state) {
    (void)state;
    setup s = begin(200);
    const double clips[] = {1e-3, 0.37, 1.0};
    for (int32_t r = 0; r < 200; r++)
        for (int c = 0; c < 3; c++) {
            mfpg_model_clipped_gradient(s.model, s.w, &s.data, &r, 1, clips[c], 1.0, s.grad, s.work);
            assert_true(norm_of(s.grad, s.d) <= clips[c]);
        }
    end(&s);
}

/* Inputs near the largest float behind weights that bring them back to order 1: the norm needs double, and the clipped
 * deltas come close to the smallest floats. */
static void test_huge_features_are_clipped_to_the_clip(void **state) {
    (void)state;
    setup s = begin(1);
    for (int step = 0; step < 180; step++) {
        double size = pow(10.0, 20.0 + step / 10.0), clip = step % 2 ? 1.0 : 0.037;
        for (ptrdiff_t i = 0; i < s.d; i++) s.w[i] = (float)fabs(0.3 * next_normal(&s.random));
        for (ptrdiff_t i = 0; i < FEATURES * HIDDEN[0]; i++) s.w[i] = (float)((double)s.w[i] / size);
        for (int j = 0; j < FEATURES; j++) s.data.x[j] = (float)(size * (1.0 + 0.1 * j));
        refresh_norms(&s.data);
        assert_int_equal(
            0, mfpg_model_clipped_gradient(s.model, s.w, &s.data, NULL, 0, clip, 1.0, s.grad, s.work));
        double norm = norm_of(s.grad, s.d);
        assert_true(norm <= clip);
        if (size < 1e34) check_near(norm, clip, 1e-6, 0, "norm of a huge example");
    }
    end(&s);
}

/* Examples that are no numbers, in both blocks, count as zero: the sum has the bits of the one over the others, whose
 * blocks are cut elsewhere. */
static void test_examples_that_are_no_numbers_change_no_bit_of_the_others(void **state) {
    (void)state;
    enum { ROWS = 300 };
    setup s = begin(ROWS);
    int32_t others[ROWS];
    ptrdiff_t count = 0;
    for (int32_t i = 0; i < ROWS; i++)
        if (i != 3 && i != 100 && i != 255 && i != 299) others[count++] = i;
    mfpg_model_clipped_gradient(s.model, s.w, &s.data, others, count, 1.0, ROWS, s.one, s.work);
    s.data.x[3 * FEATURES + 2] = NAN;
    s.data.x[100 * FEATURES] = INFINITY;
    s.data.y[255] = NAN;
    s.data.y[299] = (float)CLASSES;
    refresh_norms(&s.data);
    assert_int_equal(
        4, mfpg_model_clipped_gradient(s.model, s.w, &s.data, NULL, 0, 1.0, ROWS, s.grad, s.work));
    assert_memory_equal(s.grad, s.one, (size_t)s.d * sizeof(float));
    mfpg_metrics metrics;
    CHECK_OK(s.ctx, mfpg_model_evaluate(s.ctx, s.model, s.w, &s.data, &metrics));
    assert_true(isnan(metrics.loss));
    end(&s);
}

/* A hidden unit that overflows float is no reason to lose the others' gradients. */
static void test_an_overflow_on_the_way_counts_as_no_number(void **state) {
    (void)state;
    setup s = begin(20);
    for (ptrdiff_t i = 0; i < s.d; i++) s.w[i] = fabsf(s.w[i]) + 0.1F;
    for (int j = 0; j < FEATURES; j++) s.data.x[4 * FEATURES + j] = 3e38F;
    refresh_norms(&s.data);
    assert_int_equal(
        1, mfpg_model_clipped_gradient(s.model, s.w, &s.data, NULL, 0, 1.0, 20.0, s.grad, s.work));
    assert_true(isfinite(norm_of(s.grad, s.d)));
    end(&s);
}

static void test_the_network_of_the_images_has_six_tensors(void **state) {
    (void)state;
    mfpg_context *ctx = testing_context(1);
    const ptrdiff_t hidden[] = {128, 64}, size[] = {784 * 128, 128, 128 * 64, 64, 64 * 10, 10};
    mfpg_model *model = make_network(ctx, 784, 10, hidden, 2);
    ptrdiff_t end_of_last = 0;
    assert_int_equal(mfpg_model_parameters(model), 109386);
    assert_int_equal(model->tensors, 6);
    for (int t = 0; t < 6; t++) {
        assert_int_equal(model->tensor[t].offset, end_of_last);
        assert_int_equal(model->tensor[t].size, size[t]);
        end_of_last += size[t];
    }
    assert_int_equal(end_of_last, 109386);
    assert_true(mfpg_model_workspace(model, 100) < mfpg_model_workspace(model, 256));
    assert_int_equal(mfpg_model_workspace(model, 256), mfpg_model_workspace(model, 1000000));
    mfpg_model_destroy(model);
    mfpg_context_destroy(ctx);
}

static long peak_kib(void) {
    struct rusage usage;
    assert_int_equal(getrusage(RUSAGE_SELF, &usage), 0);
    return usage.ru_maxrss;
}

/* Field failure F34: the gradients of 1000 examples would fill 417 MiB; clipping takes 2 x 256 rows of layers and one sum,
 * less than 4 MiB beside what was there. */
static void test_clipping_examples_takes_no_memory_for_their_gradients(void **state) {
    (void)state;
    enum { ROWS = 1000, INPUTS = 784 };
    mfpg_context *ctx = testing_context(1);
    uint64_t random = testing_seed();
    const ptrdiff_t hidden[] = {128, 64};
    mfpg_model *model = make_network(ctx, INPUTS, 10, hidden, 2);
    mfpg_key key = mfpg_key_from_seed(1);
    mfpg_dataset data = make_dataset(ROWS, INPUTS, 1, &random);
    float *w = make_floats(mfpg_model_parameters(model)), *grad = make_floats(mfpg_model_parameters(model));
    mfpg_model_start(model, &key, 1, w);
    long before = peak_kib();
    float *work = make_floats(mfpg_model_workspace(model, ROWS));
    assert_int_equal(mfpg_model_clipped_gradient(model, w, &data, NULL, 0, 1.0, ROWS, grad, work), 0);
    assert_true(peak_kib() - before < 4096);
    assert_true(norm_of(grad, mfpg_model_parameters(model)) <= 1.0);
    free(work);
    free(w);
    free(grad);
    free_dataset(&data);
    mfpg_model_destroy(model);
    mfpg_context_destroy(ctx);
}

/* Weights of a layer with n inputs: mean 0 and variance 2/n within five standard errors; biases zero. */
static void test_the_start_has_the_variance_of_he(void **state) {
    (void)state;
    mfpg_context *ctx = testing_context(1);
    const ptrdiff_t hidden[] = {128, 64}, inputs[] = {784, 128, 64};
    mfpg_model *model = make_network(ctx, 784, 10, hidden, 2);
    ptrdiff_t d = mfpg_model_parameters(model);
    float *w = make_floats(d), *again = make_floats(d);
    mfpg_key key = mfpg_key_from_seed(testing_seed());
    mfpg_model_start(model, &key, 1, w);
    mfpg_model_start(model, &key, 1, again);
    assert_memory_equal(w, again, (size_t)d * sizeof *w);
    for (int l = 0; l < 3; l++) {
        mfpg_tensor weight = model->tensor[2 * l], bias = model->tensor[2 * l + 1];
        double sum = 0.0, squares = 0.0, n = (double)weight.size, expected = 2.0 / (double)inputs[l];
        for (ptrdiff_t i = 0; i < weight.size; i++) {
            sum += (double)w[weight.offset + i];
            squares += (double)w[weight.offset + i] * (double)w[weight.offset + i];
        }
        check_near(sum / n, 0, 0, 5 * sqrt(expected / n), "mean of weights");
        check_near(squares / n, expected, 5 * sqrt(2 / n), 0, "variance of weights");
        for (ptrdiff_t i = 0; i < bias.size; i++) assert_true(w[bias.offset + i] == 0.0F);
    }
    mfpg_model_start(model, &key, 0, w);
    for (ptrdiff_t i = 0; i < d; i++) assert_true(w[i] == 0.0F);
    free(w);
    free(again);
    mfpg_model_destroy(model);
    mfpg_context_destroy(ctx);
}

static void test_shapes_out_of_range_are_refused(void **state) {
    (void)state;
    mfpg_context *ctx = testing_context(1);
    ptrdiff_t many[65], none = 0, negative = -1, most = 65536, above = 65537, wide[] = {65536, 65536};
    for (int i = 0; i < 65; i++) many[i] = 2;
    const struct {
        const ptrdiff_t *hidden;
        ptrdiff_t layers, features, classes;
    } bad[] = {{NULL, 1, 3, 2}, {many, 0, 3, 2}, {many, -1, 3, 2}, {many, 65, 3, 2}, {&none, 1, 3, 2},
        {&negative, 1, 3, 2}, {&above, 1, 3, 2}, {wide, 2, 3, 2}, {many, 1, 3, 1}, {many, 1, 0, 2},
        {&most, 1, INT32_MAX - 1, 2}};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        mfpg_model *model = NULL;
        mfpg_model_options options = {.kind = "mlp",
            .features = bad[i].features,
            .classes = bad[i].classes,
            .hidden = bad[i].hidden,
            .hidden_layers = bad[i].layers};
        assert_int_equal(mfpg_model_create(ctx, &options, &model), MFPG_ERR_DOMAIN);
        assert_null(model);
    }
    mfpg_model_destroy(make_network(ctx, 3, 2, many, 64));
    mfpg_context_destroy(ctx);
}

/* A step taken through the products has the bits of a gradient and a step, for batches of none, one, some, and more rows
 * than are passed at once; in place and beside. */
static void test_descending_is_a_gradient_and_a_step(void **state) {
    (void)state;
    enum { ROWS = 300 };
    setup s = begin(ROWS);
    int32_t rows[ROWS];
    for (int32_t i = 0; i < ROWS; i++) rows[i] = (i * 7) % ROWS;
    const ptrdiff_t counts[] = {0, 1, 19, 256, 257, ROWS};
    const float rate = 0.13F;
    float *expected = make_floats(s.d), *out = make_floats(s.d);
    for (size_t k = 0; k < sizeof counts / sizeof counts[0]; k++) {
        mfpg_model_gradient(s.model, s.w, &s.data, rows, counts[k], 20.0, s.grad, s.work);
        for (ptrdiff_t i = 0; i < s.d; i++) {
            volatile float step = rate * s.grad[i];
            expected[i] = s.w[i] - step;
        }
        memset(out, 0x7f, (size_t)s.d * sizeof *out);
        mfpg_model_descend(s.model, s.w, &s.data, rows, counts[k], 20.0, rate, out, s.grad, s.work);
        assert_memory_equal(out, expected, (size_t)s.d * sizeof *out);
        memcpy(out, s.w, (size_t)s.d * sizeof *out);
        mfpg_model_descend(s.model, out, &s.data, rows, counts[k], 20.0, rate, out, s.grad, s.work);
        assert_memory_equal(out, expected, (size_t)s.d * sizeof *out);
    }
    free(expected);
    free(out);
    end(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_loss_and_gradient_equal_those_of_a_plain_network),
        cmocka_unit_test(test_descending_is_a_gradient_and_a_step),
        cmocka_unit_test(test_clipped_sum_over_blocks_equals_clipping_each_example),
        cmocka_unit_test(test_a_clipped_example_never_exceeds_the_clip),
        cmocka_unit_test(test_huge_features_are_clipped_to_the_clip),
        cmocka_unit_test(test_examples_that_are_no_numbers_change_no_bit_of_the_others),
        cmocka_unit_test(test_an_overflow_on_the_way_counts_as_no_number),
        cmocka_unit_test(test_the_network_of_the_images_has_six_tensors),
        cmocka_unit_test(test_clipping_examples_takes_no_memory_for_their_gradients),
        cmocka_unit_test(test_the_start_has_the_variance_of_he),
        cmocka_unit_test(test_shapes_out_of_range_are_refused),
    };
    print_message("seed %" PRIu64 "\n", testing_seed());
    return cmocka_run_group_tests(tests, NULL, NULL);
}
