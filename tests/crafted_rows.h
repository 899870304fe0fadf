/* Rows that move a float sum by many clips when one of them changes, and the float sum as a double of the program as it was. */
#ifndef MFPG_TESTS_CRAFTED_ROWS_H
#define MFPG_TESTS_CRAFTED_ROWS_H

#include "models/fixture.h"

#include "models/model_ops.h"

/* Rows that move one entry of the gradient by `step` 2^10 each, with signals of 1/2: the others' entries are next to
 * nothing. Labels and features give either sign: a network needs features above zero. */
static inline void craft_row(const mfpg_model *model, mfpg_dataset *data, ptrdiff_t row, double step) {
    const char *kind = mfpg_model_name(model);
    int network = strcmp(kind, "mlp") == 0;
    data->x[row] = (float)(0x1p11 * (network ? fabs(step) : step));
    data->y[row] = network ? step > 0 : strcmp(kind, "softmax") == 0;
    if (!(model->classes > 0)) data->y[row] = -0.5F;
    data->norm2[row] = (double)data->x[row] * (double)data->x[row];
}

/* n = 2^(k+1). The first half brings a float sum to 2^k + 1/2. Above 2^k a float's unit U is 2^(k-23), and four times - U/2
 * are four ties to even, which change nothing; then + 2 U lifts the sum. Without the first row the sum is below 2^k, the
 * unit is half as large, and the five add up to nothing. Models that add four rows before they add these to the sum have
 * each of the five as four rows. */
static inline void craft(const mfpg_model *model, mfpg_dataset *data, int k) {
    ptrdiff_t n = data->rows, row = 0, big = ((ptrdiff_t)129 << k) / 128,
              adjusting = (ptrdiff_t)4 << (k - 14);
    int rows_of_step = strcmp(mfpg_model_name(model), "mlp") == 0 ? 1 : 4;
    for (; row < big; row++) craft_row(model, data, row, 127.0 / 128.0);
    for (; row < big + adjusting; row++)
        craft_row(model, data, row,
            (ldexp(1, k - 14) + 0.5) / (double)adjusting); /* the big ones sum to 2^k - 2^(k-14) */
    for (ptrdiff_t i = 0; row < n; row++, i++) {
        ptrdiff_t of_cycle = i / rows_of_step % 5;
        craft_row(model, data, row, ldexp(of_cycle < 4 ? -0.5 : 2.0, k - 23) / rows_of_step);
    }
}

/* The sum as it was until it became integers: blocks of 256 rows, added to one running float sum. */
static inline void float_sum(const mfpg_model *model, const float *w, const mfpg_dataset *data,
    const int32_t *rows, ptrdiff_t count, double clip, float *work, double *out) {
    ptrdiff_t d = mfpg_model_parameters(model);
    float *sum = make_floats(d);
    mfpg_batch all = {data, rows, count};
    for (ptrdiff_t first = 0; first < count; first += MFPG_BLOCK_ROWS) {
        mfpg_dataset part;
        mfpg_batch block = mfpg_batch_block(&all, first, &part);
        model->ops->backward(model, w, &block, work);
        model->ops->clip(model, &block, clip, 1.0, work);
        model->ops->accumulate(model, &block, 1.0F, first == 0, work, sum);
    }
    for (ptrdiff_t i = 0; i < d; i++) out[i] = (double)sum[i];
    free(sum);
}

/* The model of a crafted set, of one feature; its parameters w; and the clip, which is the norm of a row's gradient or a little more. */
static inline mfpg_model *crafted_model(mfpg_context *ctx, const char *kind, float *w, double *clip) {
    mfpg_model *model = NULL;
    const ptrdiff_t hidden = 1;
    mfpg_model_options options = {
        .kind = kind, .features = 1, .classes = 2, .hidden = &hidden, .hidden_layers = 1};
    CHECK_OK(ctx, mfpg_model_create(ctx, &options, &model));
    int network = strcmp(kind, "mlp") == 0, two = network || strcmp(kind, "softmax") == 0;
    if (network) w[0] = 1;              /* the unit shows the feature, and its output has weight 0 */
    *clip = 1024 * (two ? sqrt(2) : 1); /* entries that move, one for each class */
    return model;
}

#endif
