/* Models by name, the passes over batches that all models share, and sums of losses. */
#include "model_ops.h"

#include <assert.h>
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/names.h"
#include "numerics/linalg/linalg.h"

#define ENTRY(id) extern const mfpg_model_ops mfpg_model_##id;
#include "models.def"
#undef ENTRY

static const void *const KINDS[] = {
#define ENTRY(id) &mfpg_model_##id,
#include "models.def"
#undef ENTRY
};

const mfpg_kinds mfpg_models = MFPG_KINDS(KINDS);

/* Row numbers are int32, and every count of parameters must fit into int32 too. */
static const ptrdiff_t MOST_PARAMETERS = INT32_MAX;

int mfpg_model_facts(const char *kind) {
    const mfpg_model_ops *ops = mfpg_kind_find(&mfpg_models, kind);
    if (!ops) return 0;
    return (ops->classes == MFPG_CLASSES_OF_OPTIONS ? MFPG_MODEL_TAKES_CLASSES : 0) |
           (ops->hidden ? MFPG_MODEL_TAKES_HIDDEN : 0) | (ops->classes == 2 ? MFPG_MODEL_BINARY : 0) |
           (ops->sums_rows ? MFPG_MODEL_SUMS_ROWS : 0) | (ops->glm ? MFPG_MODEL_OF_MARGIN : 0) |
           (ops->glm && ops->glm->squares ? MFPG_MODEL_SQUARES : 0) |
           (ops->input_gradient ? MFPG_MODEL_SMOOTH : 0);
}

static mfpg_status check_hidden(
    mfpg_context *ctx, const mfpg_model_ops *ops, const mfpg_model_options *options) {
    ptrdiff_t layers = options->hidden_layers;
    if (layers < 1 || layers > MFPG_MOST_LAYERS || !options->hidden)
        return mfpg_fail(ctx, MFPG_ERR_DOMAIN, "model %s: %td hidden layers; 1 to %d are allowed", ops->name,
            layers, MFPG_MOST_LAYERS);
    for (ptrdiff_t l = 0; l < layers; l++)
        if (options->hidden[l] < 1 || options->hidden[l] > MFPG_MOST_UNITS)
            return mfpg_fail(ctx, MFPG_ERR_DOMAIN,
                "model %s: hidden layer %td has %td units; 1 to %d are allowed", ops->name, l + 1,
                options->hidden[l], MFPG_MOST_UNITS);
    return MFPG_OK;
}

static mfpg_status check_options(
    mfpg_context *ctx, const mfpg_model_ops *ops, const mfpg_model_options *o, ptrdiff_t classes) {
    if (o->features < 1 || o->features >= MOST_PARAMETERS)
        return mfpg_fail(ctx, MFPG_ERR_DOMAIN, "model %s: %td features; at least 1 and below %td are allowed",
            ops->name, o->features, MOST_PARAMETERS);
    if (ops->classes == MFPG_CLASSES_OF_OPTIONS && (classes < 2 || classes > MFPG_MOST_CLASSES))
        return mfpg_fail(ctx, MFPG_ERR_DOMAIN, "model %s: %td classes; 2 to %d are allowed", ops->name,
            classes, MFPG_MOST_CLASSES);
    mfpg_status status = ops->hidden ? check_hidden(ctx, ops, o) : MFPG_OK;
    if (status == MFPG_OK && classes > 0 && o->features > MOST_PARAMETERS / classes)
        return mfpg_fail(
            ctx, MFPG_ERR_DOMAIN, "model %s: more than %td parameters", ops->name, MOST_PARAMETERS);
    return status;
}

mfpg_status mfpg_model_create(mfpg_context *ctx, const mfpg_model_options *options, mfpg_model **out) {
    const mfpg_model_ops *ops = mfpg_kind_find(&mfpg_models, options->kind);
    if (!ops) return mfpg_kind_unknown(ctx, "model", options->kind, &mfpg_models, NULL);
    ptrdiff_t classes = ops->classes == MFPG_CLASSES_OF_OPTIONS ? options->classes : ops->classes;
    mfpg_status status = check_options(ctx, ops, options, classes);
    if (status != MFPG_OK) return status;
    ptrdiff_t tensors = ops->shape(ops, options, NULL);
    mfpg_model *model = mfpg_alloc(1, sizeof *model);
    mfpg_tensor *tensor = mfpg_alloc(tensors, sizeof *tensor);
    ptrdiff_t *size = mfpg_alloc(tensors, sizeof *size);
    if (!model || !tensor || !size) {
        status = mfpg_fail_memory(ctx);
        goto done;
    }
    *model = (mfpg_model){
        .ops = ops, .features = options->features, .classes = classes, .tensors = tensors, .tensor = tensor};
    ops->shape(ops, options, size);
    for (ptrdiff_t t = 0; t < tensors; t++) { /* one after the other in the flat vector */
        if (size[t] < 1 || size[t] > MOST_PARAMETERS - model->parameters) {
            status = mfpg_fail(
                ctx, MFPG_ERR_DOMAIN, "model %s: more than %td parameters", ops->name, MOST_PARAMETERS);
            goto done;
        }
        tensor[t] = (mfpg_tensor){.offset = model->parameters, .size = size[t]};
        model->parameters += size[t];
    }
    *out = model;
done:
    free(size);
    if (status != MFPG_OK) {
        free(tensor);
        free(model);
    }
    return status;
}

void mfpg_model_destroy(mfpg_model *model) {
    if (!model) return;
    free(model->tensor);
    free(model);
}

const char *mfpg_model_name(const mfpg_model *model) {
    return model->ops->name;
}

ptrdiff_t mfpg_model_parameters(const mfpg_model *model) {
    return model->parameters;
}

int mfpg_model_sums_rows(const mfpg_model *model) {
    return model->ops->sums_rows;
}

double mfpg_model_curvature(const mfpg_model *model, double norm2) {
    return norm2 >= 0.0 ? model->ops->curvature * norm2 : (double)NAN;
}

ptrdiff_t mfpg_model_workspace(const mfpg_model *model, ptrdiff_t rows) {
    return model->ops->workspace(model, rows < MFPG_BLOCK_ROWS ? rows : MFPG_BLOCK_ROWS);
}

void mfpg_model_start(const mfpg_model *model, const mfpg_key *key, int he, float *w) {
    memset(w, 0, (size_t)model->parameters * sizeof *w);
    if (model->ops->start) model->ops->start(model, key, he, w);
}

static mfpg_batch batch_of(const mfpg_dataset *data, const int32_t *rows, ptrdiff_t count) {
    return (mfpg_batch){.data = data, .rows = rows, .count = rows ? count : data->rows};
}

mfpg_batch mfpg_batch_part(const mfpg_batch *batch, ptrdiff_t first, ptrdiff_t count, mfpg_dataset *data) {
    if (batch->rows) return (mfpg_batch){.data = batch->data, .rows = batch->rows + first, .count = count};
    const mfpg_dataset *all = batch->data;
    *data = (mfpg_dataset){.rows = count,
        .features = all->features,
        .x = all->x + first * all->features,
        .y = all->y + first,
        .norm2 = all->norm2 ? all->norm2 + first : NULL,
        .absent = all->absent ? all->absent + first : NULL};
    return (mfpg_batch){.data = data, .count = count};
}

mfpg_batch mfpg_batch_block(const mfpg_batch *batch, ptrdiff_t first, mfpg_dataset *data) {
    ptrdiff_t left = batch->count - first;
    return mfpg_batch_part(batch, first, left < MFPG_BLOCK_ROWS ? left : MFPG_BLOCK_ROWS, data);
}

/* clip NAN: gradients as they are. */
static int64_t add_gradients(const mfpg_model *model, const float *w, mfpg_batch batch, double clip,
    double divisor, float *grad, float *work) {
    int64_t nonfinite = 0;
    float alpha = isnan(clip) ? (float)(1.0 / divisor) : 1.0F;
    if (batch.count == 0) memset(grad, 0, (size_t)model->parameters * sizeof *grad);
    for (ptrdiff_t first = 0; first < batch.count; first += MFPG_BLOCK_ROWS) {
        mfpg_dataset part;
        mfpg_batch block = mfpg_batch_block(&batch, first, &part);
        model->ops->backward(model, w, &block, work);
        if (!isnan(clip)) nonfinite += model->ops->clip(model, &block, clip, 1.0 / divisor, work);
        model->ops->accumulate(model, &block, alpha, first == 0, work, grad);
    }
    return nonfinite;
}

void mfpg_model_gradient(const mfpg_model *model, const float *w, const mfpg_dataset *data,
    const int32_t *rows, ptrdiff_t count, double divisor, float *grad, float *work) {
    add_gradients(model, w, batch_of(data, rows, count), (double)NAN, divisor, grad, work);
}

int64_t mfpg_model_clipped_gradient(const mfpg_model *model, const float *w, const mfpg_dataset *data,
    const int32_t *rows, ptrdiff_t count, double clip, double divisor, float *grad, float *work) {
    return add_gradients(model, w, batch_of(data, rows, count), clip, divisor, grad, work);
}

void mfpg_model_descend(const mfpg_model *model, const float *w, const mfpg_dataset *data,
    const int32_t *rows, ptrdiff_t count, double divisor, float rate, float *out, float *grad, float *work) {
    mfpg_batch batch = batch_of(data, rows, count);
    if (model->ops->descend && batch.count > 0 && batch.count <= MFPG_BLOCK_ROWS) {
        model->ops->backward(model, w, &batch, work);
        model->ops->descend(model, &batch, (float)(1.0 / divisor), -rate, w, work, out);
        return;
    }
    mfpg_model_gradient(model, w, data, rows, count, divisor, grad, work);
    if (out != w) memcpy(out, w, (size_t)model->parameters * sizeof *out);
    mfpg_vector_axpy(model->parameters, -rate, grad, out);
}

/* ---- sums of losses: what a client may measure on its own data and release with noise ---- */

int64_t mfpg_model_clipped_loss_most(double clip, double unit) {
    double half = 0.5 * clip / unit;
    return half < 0x1p62 ? 2 * (int64_t)half : 0; /* 0 if there is no unit */
}

/* Returns the loss in multiples of the unit; `most` of them equal the clip. */
static int64_t clipped(double loss, double per_unit, int64_t most) {
    if (isnan(loss)) return most / 2; /* an undefined loss counts like that of an absent example */
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

/* Adds and keeps what rounding cuts off (Knuth's two-sum). */
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

/* ---- the loss of one example as a function of its features, for flows of the records themselves (theory S5.2) ----
 *
 * With margins W x + b its Hessian is W' A W, A that in the margins: at most margin_curvature |W|^2, whatever x. */

double mfpg_model_input_smoothness(const mfpg_model *model, const float *w) {
    if (!model->ops->weights_norm2) return (double)INFINITY;
    double bound = model->ops->margin_curvature * model->ops->weights_norm2(model, w);
    return isfinite(bound) ? bound * (1.0 + 4.0 * DBL_EPSILON) : (double)INFINITY;
}

void mfpg_model_input_gradient(
    const mfpg_model *model, const float *w, const float *x, float y, double *out, double *work) {
    assert(model->ops->input_gradient);
    model->ops->input_gradient(model, w, x, y, out, work);
}
