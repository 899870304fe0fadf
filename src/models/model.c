#include "mfpg/model.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/names.h"
#include "numerics/linalg/linalg.h"
#include "ops.h"

#define ENTRY(id) extern const mfpg_model_ops mfpg_model_##id;
#include "models.def"
#undef ENTRY

static const mfpg_model_ops *const KINDS[] = {
#define ENTRY(id) &mfpg_model_##id,
#include "models.def"
#undef ENTRY
};

enum { KIND_COUNT = sizeof KINDS / sizeof KINDS[0] };

/* Row numbers are int32 and every count of parameters must fit in them too. */
static const ptrdiff_t MOST_PARAMETERS = INT32_MAX;

const char *mfpg_model_kind_name(ptrdiff_t index) {
    return index >= 0 && index < KIND_COUNT ? KINDS[index]->name : NULL;
}

const char *mfpg_model_kind_help(ptrdiff_t index) {
    return index >= 0 && index < KIND_COUNT ? KINDS[index]->help : NULL;
}

int mfpg_model_facts(const char *kind) {
    int i = 0;
    while (kind && i < KIND_COUNT && strcmp(kind, KINDS[i]->name) != 0) i++;
    if (!kind || i == KIND_COUNT) return 0;
    const mfpg_model_ops *ops = KINDS[i];
    return (ops->classes == MFPG_CLASSES_OF_OPTIONS ? MFPG_MODEL_TAKES_CLASSES : 0) |
           (ops->hidden ? MFPG_MODEL_TAKES_HIDDEN : 0) | (ops->classes == 2 ? MFPG_MODEL_BINARY : 0) |
           (ops->sums_rows ? MFPG_MODEL_SUMS_ROWS : 0) | (ops->glm ? MFPG_MODEL_OF_MARGIN : 0) |
           (ops->glm && ops->glm->squares ? MFPG_MODEL_SQUARES : 0) |
           (ops->input_gradient ? MFPG_MODEL_SMOOTH : 0);
}

static mfpg_status find_kind(mfpg_context *ctx, const char *kind, const mfpg_model_ops **out) {
    const char *names[KIND_COUNT];
    for (int i = 0; i < KIND_COUNT; i++) {
        names[i] = KINDS[i]->name;
        if (kind && strcmp(kind, names[i]) == 0) {
            *out = KINDS[i];
            return MFPG_OK;
        }
    }
    return mfpg_names_unknown(ctx, "model", kind, names, KIND_COUNT);
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

/* Lays the tensors one behind the other. */
static mfpg_status lay_out(mfpg_context *ctx, mfpg_model *model, const ptrdiff_t *size) {
    for (ptrdiff_t t = 0; t < model->tensors; t++) {
        if (size[t] < 1 || size[t] > MOST_PARAMETERS - model->parameters)
            return mfpg_fail(ctx, MFPG_ERR_DOMAIN, "model %s: more than %td parameters", model->ops->name,
                MOST_PARAMETERS);
        model->tensor[t] = (mfpg_tensor){.offset = model->parameters, .size = size[t]};
        model->parameters += size[t];
    }
    return MFPG_OK;
}

mfpg_status mfpg_model_create(mfpg_context *ctx, const mfpg_model_options *options, mfpg_model **out) {
    const mfpg_model_ops *ops = NULL;
    mfpg_status status = find_kind(ctx, options->kind, &ops);
    if (status != MFPG_OK) return status;
    if (options->features < 1 || options->features >= MOST_PARAMETERS)
        return mfpg_fail(ctx, MFPG_ERR_DOMAIN, "model %s: %td features; at least 1 and below %td are allowed",
            ops->name, options->features, MOST_PARAMETERS);
    ptrdiff_t classes = ops->classes == MFPG_CLASSES_OF_OPTIONS ? options->classes : ops->classes;
    if (ops->classes == MFPG_CLASSES_OF_OPTIONS && (classes < 2 || classes > MFPG_MOST_CLASSES))
        return mfpg_fail(ctx, MFPG_ERR_DOMAIN, "model %s: %td classes; 2 to %d are allowed", ops->name,
            classes, MFPG_MOST_CLASSES);
    if (ops->hidden) status = check_hidden(ctx, ops, options);
    if (status != MFPG_OK) return status;
    if (classes > 0 && options->features > MOST_PARAMETERS / classes)
        return mfpg_fail(
            ctx, MFPG_ERR_DOMAIN, "model %s: more than %td parameters", ops->name, MOST_PARAMETERS);
    ptrdiff_t tensors = ops->tensors(options);
    mfpg_model *model = mfpg_alloc(1, sizeof *model);
    ptrdiff_t *size = mfpg_alloc(tensors, sizeof *size);
    mfpg_tensor *tensor = mfpg_alloc(tensors, sizeof *tensor);
    if (!model || !size || !tensor) {
        status = mfpg_fail_memory(ctx);
        goto done;
    }
    *model = (mfpg_model){
        .ops = ops, .features = options->features, .classes = classes, .tensors = tensors, .tensor = tensor};
    ops->shape(options, size);
    status = lay_out(ctx, model, size);
done:
    free(size);
    if (status == MFPG_OK) {
        *out = model;
    } else {
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

ptrdiff_t mfpg_model_features(const mfpg_model *model) {
    return model->features;
}

ptrdiff_t mfpg_model_parameters(const mfpg_model *model) {
    return model->parameters;
}

ptrdiff_t mfpg_model_tensors(const mfpg_model *model) {
    return model->tensors;
}

mfpg_tensor mfpg_model_tensor(const mfpg_model *model, ptrdiff_t index) {
    return model->tensor[index];
}

int mfpg_model_is_classifier(const mfpg_model *model) {
    return model->classes > 0;
}

ptrdiff_t mfpg_model_classes(const mfpg_model *model) {
    return model->classes;
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
    if (model->ops->start) {
        model->ops->start(model, key, he, w);
    } else {
        memset(w, 0, (size_t)model->parameters * sizeof *w);
    }
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

void mfpg_model_gradient(const mfpg_model *model, const float *w, const mfpg_dataset *data,
    const int32_t *rows, ptrdiff_t count, double divisor, float *grad, float *work) {
    mfpg_batch batch = batch_of(data, rows, count);
    if (batch.count == 0) memset(grad, 0, (size_t)model->parameters * sizeof *grad);
    for (ptrdiff_t first = 0; first < batch.count; first += MFPG_BLOCK_ROWS) {
        mfpg_dataset part;
        mfpg_batch block = mfpg_batch_block(&batch, first, &part);
        model->ops->backward(model, w, &block, work);
        model->ops->accumulate(model, &block, (float)(1.0 / divisor), first == 0, work, grad);
    }
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

int64_t mfpg_model_clipped_gradient(const mfpg_model *model, const float *w, const mfpg_dataset *data,
    const int32_t *rows, ptrdiff_t count, double clip, double divisor, float *grad, float *work) {
    mfpg_batch batch = batch_of(data, rows, count);
    int64_t nonfinite = 0;
    if (batch.count == 0) memset(grad, 0, (size_t)model->parameters * sizeof *grad);
    for (ptrdiff_t first = 0; first < batch.count; first += MFPG_BLOCK_ROWS) {
        mfpg_dataset part;
        mfpg_batch block = mfpg_batch_block(&batch, first, &part);
        model->ops->backward(model, w, &block, work);
        nonfinite += model->ops->clip(model, &block, clip, 1.0 / divisor, work);
        model->ops->accumulate(model, &block, 1.0F, first == 0, work, grad);
    }
    return nonfinite;
}
