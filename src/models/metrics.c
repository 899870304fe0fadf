/* Loss, accuracy, AUC and majority rate of a set. */
#include "model_ops.h"

#include <math.h>
#include <stdlib.h>

#include "base/error.h"
#include "base/memory.h"

typedef struct ranked {
    float score;
    int positive;
} ranked;

/* Predictions of a set, block by block; every worker has a workspace. */
typedef struct predicting {
    const mfpg_model *model;
    const float *w;
    const mfpg_dataset *data;
    float *work;
    ptrdiff_t work_size; /* of one worker */
    mfpg_prediction *out;
} predicting;

static mfpg_status predict_block(mfpg_context *ctx, ptrdiff_t index, int worker, void *arg) {
    (void)ctx;
    const predicting *p = arg;
    ptrdiff_t first = index * MFPG_BLOCK_ROWS;
    mfpg_dataset part;
    mfpg_batch all = {.data = p->data, .count = p->data->rows};
    mfpg_batch block = mfpg_batch_block(&all, first, &part);
    p->model->ops->predict(p->model, p->w, &block, p->work + worker * p->work_size, p->out + first);
    return MFPG_OK;
}

static mfpg_status predict_all(mfpg_context *ctx, predicting *p) {
    ptrdiff_t blocks = (p->data->rows - 1) / MFPG_BLOCK_ROWS + 1;
    int workers = mfpg_context_threads(ctx);
    p->work_size = mfpg_model_workspace(p->model, p->data->rows);
    p->work = mfpg_alloc(workers, (size_t)p->work_size * sizeof *p->work);
    if (!p->work) return mfpg_fail_memory(ctx);
    if (workers > 1)
        mfpg_tasks_run(ctx, blocks, predict_block, p); /* no task fails */
    else /* the few rows of one client within a loop over clients do not justify a parallel loop */
        for (ptrdiff_t i = 0; i < blocks; i++) predict_block(ctx, i, 0, p);
    free(p->work);
    return MFPG_OK;
}

/* Labels are 0 .. classes-1; count has a slot for each. */
static double share_of_majority(const mfpg_dataset *data, ptrdiff_t classes, ptrdiff_t *count) {
    ptrdiff_t most = 0;
    for (ptrdiff_t i = 0; i < data->rows; i++) {
        float y = data->y[i];
        if (!(y >= 0.0F && y < (float)classes)) continue;
        ptrdiff_t same = ++count[(ptrdiff_t)y];
        if (same > most) most = same;
    }
    return (double)most / (double)data->rows;
}

static int by_score(const void *left, const void *right) {
    float a = ((const ranked *)left)->score, b = ((const ranked *)right)->score;
    return (a > b) - (a < b);
}

/* Returns the share of (positive, negative) pairs in the right order, with ties as half, computed from mean
 * ranks (Mann and Whitney). */
static double area_under_curve(const mfpg_prediction *prediction, const mfpg_dataset *data, ranked *order) {
    double positives = 0.0, rank_sum = 0.0;
    for (ptrdiff_t i = 0; i < data->rows; i++) {
        if (isnan(prediction[i].score)) return NAN; /* no order */
        order[i] = (ranked){.score = prediction[i].score, .positive = data->y[i] > 0.5F};
        positives += order[i].positive;
    }
    double negatives = (double)data->rows - positives;
    if (positives == 0.0 || negatives == 0.0) return NAN;
    qsort(order, (size_t)data->rows, sizeof *order, by_score);
    for (ptrdiff_t first = 0, end; first < data->rows; first = end) {
        double tied = 0.0;
        for (end = first; end < data->rows && order[end].score == order[first].score; end++)
            tied += order[end].positive;
        rank_sum += tied * 0.5 * (double)(first + 1 + end); /* ranks first+1 .. end */
    }
    return (rank_sum - 0.5 * positives * (positives + 1.0)) / (positives * negatives);
}

/* Moves predictions and labels of the rows that are not absent to the front; *present becomes the set of
 * these rows, with labels only. */
static void leave_out_absent(
    const mfpg_dataset *data, mfpg_prediction *prediction, float *label, mfpg_dataset *present) {
    *present = (mfpg_dataset){.features = data->features, .y = label};
    for (ptrdiff_t i = 0; i < data->rows; i++) {
        if (data->absent[i]) continue;
        prediction[present->rows] = prediction[i];
        label[present->rows++] = data->y[i];
    }
}

mfpg_status mfpg_model_evaluate(
    mfpg_context *ctx, const mfpg_model *model, const float *w, const mfpg_dataset *data, mfpg_metrics *out) {
    ptrdiff_t rows = data->rows, classes = model->classes;
    *out = (mfpg_metrics){.loss = NAN, .accuracy = NAN, .auc = NAN, .majority_rate = NAN};
    if (rows == 0) return MFPG_OK;
    mfpg_prediction *prediction = mfpg_alloc(rows, sizeof *prediction);
    ptrdiff_t *count = mfpg_alloc(classes, sizeof *count);
    ranked *order = mfpg_alloc(classes == 2 ? rows : 0, sizeof *order);
    float *label = mfpg_alloc(data->absent ? rows : 0, sizeof *label);
    mfpg_dataset present = *data;
    predicting all = {.model = model, .w = w, .data = data, .out = prediction};
    mfpg_status status =
        prediction && count && order && label ? predict_all(ctx, &all) : mfpg_fail_memory(ctx);
    if (status == MFPG_OK && data->absent) leave_out_absent(data, prediction, label, &present);
    if (status == MFPG_OK && present.rows > 0) {
        double sum = 0.0, right = 0.0;
        for (ptrdiff_t i = 0; i < present.rows; i++) {
            sum += prediction[i].loss;
            right += (float)prediction[i].chosen == present.y[i];
        }
        out->rows = present.rows;
        out->loss = model->ops->sums_rows ? sum : sum / (double)present.rows;
        if (classes > 0) out->accuracy = right / (double)present.rows;
        if (classes > 0) out->majority_rate = share_of_majority(&present, classes, count);
        if (classes == 2) out->auc = area_under_curve(prediction, &present, order);
    }
    free(order);
    free(count);
    free(prediction);
    free(label);
    return status;
}
