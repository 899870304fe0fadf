/* Sums of a set's losses: what a client may measure of its own data and release with noise. */
#include <math.h>

#include "ops.h"

/* The largest even number of units that is at most the clip: an example whose loss is no number counts as half of it. */
int64_t mfpg_model_clipped_loss_most(double clip, double unit) {
    double half = 0.5 * clip / unit;
    return half < 0x1p62 ? 2 * (int64_t)half : 0; /* 0 if there is no unit */
}

/* In multiples of the unit, of which `most` are the clip. */
static int64_t clipped(double loss, double per_unit, int64_t most) {
    if (isnan(loss)) return most / 2; /* no loss at all: it counts as an absent example does */
    return (int64_t)fmin(fmax(loss, 0.0) * per_unit, (double)most);
}

int64_t mfpg_model_clipped_loss(const mfpg_model *model, const float *w, const mfpg_dataset *data,
    double clip, double unit, float *work) {
    mfpg_prediction prediction[MFPG_BLOCK_ROWS];
    mfpg_batch all = {.data = data, .count = data->rows};
    int64_t most = mfpg_model_clipped_loss_most(clip, unit), sum = 0;
    for (ptrdiff_t first = 0; first < data->rows; first += MFPG_BLOCK_ROWS) {
        mfpg_dataset part;
        mfpg_batch block = mfpg_batch_block(&all, first, &part);
        model->ops->predict(model, w, &block, work, prediction);
        for (ptrdiff_t i = 0; i < block.count; i++)
            sum += mfpg_batch_is_absent(&block, i) ? most / 2 : clipped(prediction[i].loss, 1.0 / unit, most);
    }
    return sum;
}

/* Adds without losing what rounding cuts off (Knuth's two-sum). */
static void add(double term, double *sum, double *lost) {
    double total = *sum + term, part = total - *sum;
    *lost += (*sum - (total - part)) + (term - part);
    *sum = total;
}

double mfpg_model_loss(const mfpg_model *model, const float *w, const mfpg_dataset *data, float *work) {
    mfpg_prediction prediction[MFPG_BLOCK_ROWS];
    mfpg_batch all = {.data = data, .count = data->rows};
    double sum = 0.0, lost = 0.0;
    for (ptrdiff_t first = 0; first < data->rows; first += MFPG_BLOCK_ROWS) {
        mfpg_dataset part;
        mfpg_batch block = mfpg_batch_block(&all, first, &part);
        model->ops->predict(model, w, &block, work, prediction);
        for (ptrdiff_t i = 0; i < block.count; i++)
            if (!mfpg_batch_is_absent(&block, i)) add(prediction[i].loss, &sum, &lost);
    }
    return isfinite(sum) ? sum + lost : sum;
}
