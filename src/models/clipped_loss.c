/* The sum of a set's clipped losses: what a client may measure of its own data and release with noise. */
#include <math.h>

#include "ops.h"

static double clipped(double loss, double clip) {
    if (isnan(loss)) return 0.5 * clip; /* no loss at all: it counts as an absent example does */
    return fmin(fmax(loss, 0.0), clip);
}

/* Adds without losing what rounding cuts off (Knuth's two-sum): one loss then moves the sum by no more than itself. */
static void add(double term, double *sum, double *lost) {
    double total = *sum + term, part = total - *sum;
    *lost += (*sum - (total - part)) + (term - part);
    *sum = total;
}

double mfpg_model_clipped_loss(
    const mfpg_model *model, const float *w, const mfpg_dataset *data, double clip, float *work) {
    mfpg_prediction prediction[MFPG_BLOCK_ROWS];
    mfpg_batch all = {.data = data, .count = data->rows};
    double sum = 0.0, lost = 0.0;
    for (ptrdiff_t first = 0; first < data->rows; first += MFPG_BLOCK_ROWS) {
        mfpg_dataset part;
        mfpg_batch block = mfpg_batch_block(&all, first, &part);
        model->ops->predict(model, w, &block, work, prediction);
        for (ptrdiff_t i = 0; i < block.count; i++) add(clipped(prediction[i].loss, clip), &sum, &lost);
    }
    return sum + lost;
}
