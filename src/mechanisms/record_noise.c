/* Records through noise: clipped, mapped with the gradients at the public start, and noised once (theory
 * S5.2, S5.3). Afterwards only the noised records are read, so further steps of their flow, and any
 * training, cost no privacy. */
#include "mechanism_ops.h"

#include <math.h>

#include "base/error.h"
#include "base/grid_noise.h"
#include "models/clip_factor.h"
#include "models/losses.h"
#include "numerics/linalg/linalg.h"

/* The memory for one record. The doubles come first, because the workspace begins at a multiple of their
 * size. */
typedef struct record_work {
    double *x, *gradient, *mean; /* features */
    double *margins;             /* one a class */
} record_work;

ptrdiff_t mfpg_records_workspace(const mfpg_model *model) {
    ptrdiff_t n = model->features;
    return 2 * (3 * n + model->classes); /* a double needs the space of two floats */
}

static record_work divide_workspace(const mfpg_model *model, float *work) {
    ptrdiff_t n = model->features;
    record_work parts = {.x = (double *)(void *)work};
    parts.gradient = parts.x + n;
    parts.mean = parts.gradient + n;
    parts.margins = parts.mean + n;
    return parts;
}

static void mean_of(const mfpg_dataset *records, double *mean) {
    ptrdiff_t n = records->features;
    for (ptrdiff_t j = 0; j < n; j++) mean[j] = 0.0;
    for (ptrdiff_t i = 0; i < records->rows; i++)
        for (ptrdiff_t j = 0; j < n; j++) mean[j] += (double)records->x[i * n + j];
    for (ptrdiff_t j = 0; j < n; j++) mean[j] /= (double)records->rows;
}

/* Writes the record's mapped features without noise to x. */
static void map_record(const mfpg_mechanism *mechanism, const mfpg_model *model, double noise_sd,
    const float *w, const mfpg_dataset *records, ptrdiff_t i, record_work *work) {
    ptrdiff_t n = records->features;
    const float *record = records->x + i * n;
    for (ptrdiff_t j = 0; j < n; j++) work->x[j] = (double)record[j];
    if (!mechanism->ops->map) return;
    mfpg_model_input_gradient(model, w, record, records->y[i], work->gradient, work->margins);
    mechanism->ops->map(mechanism, noise_sd, n, work->gradient, work->mean, work->x);
}

/* A record on its way through the noise. */
typedef struct noising {
    const double *x;
    double grid;
    float *to;
    double norm2;
} noising;

static void give(ptrdiff_t first, ptrdiff_t n, double *x, void *arg) {
    const noising *all = arg;
    for (ptrdiff_t j = 0; j < n; j++) x[j] = all->x[first + j] / all->grid;
}

static void take(ptrdiff_t first, ptrdiff_t n, const double *k, void *arg) {
    noising *all = arg;
    for (ptrdiff_t j = 0; j < n; j++) {
        float noised = (float)(k[j] * all->grid);
        all->to[first + j] = noised;
        all->norm2 += (double)noised * (double)noised;
    }
}

static int all_in_range(const double *x, ptrdiff_t n, double most) {
    for (ptrdiff_t j = 0; j < n; j++)
        if (!(fabs(x[j]) <= most)) return 0;
    return 1;
}

/* The step noises every record with a separate vector; records are processed one by one, so the noise of all
 * is never held in memory. */
mfpg_status mfpg_records_flow(mfpg_context *ctx, const mfpg_mechanism *mechanism, const mfpg_model *model,
    const mfpg_local_round *round, int64_t step, const float *w, mfpg_dataset *records, float *work) {
    const mfpg_release *release = round->release;
    record_work parts = divide_workspace(model, work);
    if (mechanism->ops->map) mean_of(records, parts.mean);
    for (ptrdiff_t i = 0; i < records->rows; i++) {
        uint64_t vector = (uint64_t)step * (uint64_t)records->rows + (uint64_t)i;
        noising one = {.x = parts.x, .grid = release->grid, .to = records->x + i * records->features};
        map_record(mechanism, model, release->noise_sd, w, records, i, &parts);
        int fits = all_in_range(parts.x, records->features, MFPG_GRID_LARGEST_X * release->grid);
        if (fits)
            mfpg_grid_noise_visit(mfpg_widest_registers(), round->noise, vector, records->features,
                release->noise_sd / release->grid, give, take, &one);
        if (!fits || !isfinite(one.norm2))
            return mfpg_fail(ctx, MFPG_ERR_NUMERIC,
                "mechanism %s: record %td is no longer finite in local step %lld; smaller steps may help",
                mechanism->ops->name, i + 1, (long long)step + 1);
        records->norm2[i] = one.norm2;
    }
    return MFPG_OK;
}

/* Sets noised->x to the raw features clipped to norm C; a record that is not finite becomes zero and is
 * counted. */
static int64_t clip_records(const mfpg_mechanism *mechanism, const mfpg_dataset *raw, mfpg_dataset *noised) {
    ptrdiff_t n = raw->features;
    int64_t nonfinite = 0;
    for (ptrdiff_t i = 0; i < raw->rows; i++) {
        const float *from = raw->x + i * n;
        float *to = noised->x + i * n;
        double factor = mfpg_clip_factor(mfpg_vector_norm(n, from), mechanism->options.clip);
        nonfinite += factor == 0.0;
        for (ptrdiff_t j = 0; j < n; j++) to[j] = factor == 0.0 ? 0.0F : (float)((double)from[j] * factor);
    }
    return nonfinite;
}

mfpg_status mfpg_mechanism_push(mfpg_context *ctx, const mfpg_mechanism *mechanism, const mfpg_model *model,
    const mfpg_local_round *round, const float *start, mfpg_dataset *noised, float *work,
    mfpg_update_report *report) {
    if (mechanism->ops->particles != MFPG_PARTICLES_DATA)
        return mfpg_fail(ctx, MFPG_ERR_INPUT, "mechanism %s noises no records", mechanism->ops->name);
    mfpg_status status = mfpg_mechanism_check_release(ctx, mechanism, round->release, round->data->rows);
    if (status != MFPG_OK) return status;
    int64_t nonfinite = clip_records(mechanism, round->data, noised);
    if (report) *report = (mfpg_update_report){.nonfinite = nonfinite};
    return mfpg_records_flow(ctx, mechanism, model, round, 0, start, noised, work);
}

mfpg_status mfpg_mechanism_check_start(
    mfpg_context *ctx, const mfpg_mechanism *mechanism, const mfpg_model *model, const float *w) {
    if (!mechanism->ops->map) return MFPG_OK;
    double bound = mfpg_model_input_smoothness(model, w);
    if (bound <= mechanism->options.input_smoothness) return MFPG_OK;
    if (isinf(bound))
        return mfpg_fail(ctx, MFPG_ERR_INPUT,
            "mechanism %s over data: no bound is known on the curvature of model %s in its features at the "
            "start, so "
            "that nothing is certifiable",
            mechanism->ops->name, mfpg_model_name(model));
    return mfpg_fail(ctx, MFPG_ERR_INPUT,
        "mechanism %s over data: the curvature of model %s in its features is up to %.6g at the start; "
        "declared: %.6g",
        mechanism->ops->name, mfpg_model_name(model), bound, mechanism->options.input_smoothness);
}
