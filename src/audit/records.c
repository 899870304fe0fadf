#include "records.h"

#include <math.h>

#include "base/error.h"
#include "base/memory.h"
#include "mechanisms/mechanism_ops.h"

static mfpg_status fill(mfpg_context *ctx, ptrdiff_t features, const mfpg_mechanism *mechanism,
    ptrdiff_t rows, mfpg_dataset *out, ptrdiff_t *hot) {
    *hot = mechanism->options.promise.unit == MFPG_UNIT_EXAMPLE ? 1 : rows;
    *out = (mfpg_dataset){.rows = rows,
        .features = features,
        .x = mfpg_alloc(rows, (size_t)features * sizeof *out->x),
        .y = mfpg_alloc_floats(rows),
        .norm2 = mfpg_alloc(rows, sizeof *out->norm2)};
    if (!out->x || !out->y || !out->norm2) return mfpg_fail_memory(ctx);
    for (ptrdiff_t i = 0; i < rows * features; i++) out->x[i] = 0.0F;
    for (ptrdiff_t i = 0; i < rows; i++) {
        out->y[i] = 0.0F;
        out->norm2[i] = 0.0;
    }
    return MFPG_OK;
}

mfpg_status mfpg_record_data_create(mfpg_context *ctx, ptrdiff_t features, const mfpg_federated_data *like,
    const mfpg_mechanism *const *mechanism, mfpg_canary_data *out) {
    mfpg_canary_data made = {.data = {.clients = like->clients,
                                 .features = features,
                                 .client = mfpg_alloc(like->clients, sizeof *made.data.client),
                                 .public_norm2 = (double)INFINITY},
        .hot = mfpg_alloc(like->clients, sizeof *made.hot)};
    mfpg_status status = made.data.client && made.hot ? MFPG_OK : mfpg_fail_memory(ctx);
    for (ptrdiff_t k = 0; k < like->clients && status == MFPG_OK; k++) {
        made.data.client[k].name = like->client[k].name;
        status = fill(ctx, features, mechanism[k], like->client[k].train.rows, &made.data.client[k].train,
            &made.hot[k]);
    }
    if (status == MFPG_OK)
        *out = made;
    else
        mfpg_canary_data_clear(&made);
    return status;
}

void mfpg_record_set(
    mfpg_canary_data *canaries, const mfpg_mechanism *mechanism, ptrdiff_t k, double value, double excess) {
    mfpg_dataset *data = &canaries->data.client[k].train;
    double size = value * excess * mechanism->options.clip;
    for (ptrdiff_t i = 0; i < canaries->hot[k]; i++) {
        for (ptrdiff_t j = 0; j < data->features; j++)
            data->x[i * data->features + j] = (float)(size * mfpg_canary_entry(data->features, 1, 0, j));
        data->norm2[i] = size * size;
    }
}

double mfpg_record_look(const mfpg_canary_data *canaries, ptrdiff_t k, const mfpg_dataset *noised) {
    double sum = 0.0;
    for (ptrdiff_t i = 0; i < canaries->hot[k]; i++)
        sum += mfpg_canary_project(noised->features, noised->x + i * noised->features);
    return sum / sqrt((double)canaries->hot[k]);
}

double mfpg_record_look_beside(const mfpg_canary_data *canaries, ptrdiff_t k, const mfpg_dataset *noised) {
    ptrdiff_t other = canaries->hot[k];
    if (other >= noised->rows) return (double)NAN;
    return mfpg_canary_project(noised->features, noised->x + other * noised->features);
}

/* A step of the flow along v, where the loss has no gradient (the start is zero): read off the mechanism's own map. What the record
 * moves beside others through their mean is left out of what is looked at: 1/rows of the variance penalty. */
static double keep_of(const mfpg_mechanism *mechanism, double noise_sd, ptrdiff_t rows) {
    double x = 1.0, nothing = 0.0;
    int all = mechanism->options.promise.unit == MFPG_UNIT_CLIENT;
    double mean = all ? 1.0 : 1.0 / (double)rows;
    if (!mechanism->ops->map) return 1.0;
    mechanism->ops->map(mechanism, noise_sd, 1, &nothing, &mean, &x);
    return x;
}

void mfpg_record_law(const mfpg_mechanism *mechanism, double noise_sd, ptrdiff_t rows, int64_t steps,
    double *gap, double *variance) {
    int all = mechanism->options.promise.unit == MFPG_UNIT_CLIENT;
    double keep = keep_of(mechanism, noise_sd, rows);
    double distance = mechanism->options.clip * sqrt(all ? (double)rows : 1.0);
    *gap = distance * keep;
    *variance = noise_sd * noise_sd;
    for (int64_t step = 1; step < steps && mechanism->ops->map; step++) {
        *gap *= keep;
        *variance = *variance * keep * keep + noise_sd * noise_sd;
    }
}
