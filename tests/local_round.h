/* Updates by an action: the release that a mechanism makes of it, and the update that it is handed. */
#ifndef MFPG_TESTS_LOCAL_ROUND_H
#define MFPG_TESTS_LOCAL_ROUND_H

#include "mfpg/mechanism.h"
#include "mechanisms/mechanism_ops.h"

static inline mfpg_status update_by(mfpg_context *ctx, const mfpg_mechanism *mechanism,
    const mfpg_model *model, const mfpg_dataset *data, ptrdiff_t rows, mfpg_action action,
    const mfpg_stream *noise, const mfpg_stream *batch, const float *w, float *out, float *work,
    mfpg_update_report *report) {
    mfpg_release release;
    const mfpg_local_round round = {
        .data = data, .rows = rows, .release = &release, .noise = noise, .batch = batch};
    mfpg_status status = mfpg_mechanism_release(ctx, mechanism, action, rows, &release);
    if (status != MFPG_OK) return status;
    return mfpg_mechanism_update(ctx, mechanism, model, &round, w, out, work, report);
}

static inline mfpg_status push_by(mfpg_context *ctx, const mfpg_mechanism *mechanism, const mfpg_model *model,
    const mfpg_dataset *raw, mfpg_action action, const mfpg_stream *noise, const float *start,
    mfpg_dataset *noised, float *work, mfpg_update_report *report) {
    mfpg_release release;
    const mfpg_local_round round = {.data = raw, .rows = raw->rows, .release = &release, .noise = noise};
    mfpg_status status = mfpg_mechanism_release(ctx, mechanism, action, raw->rows, &release);
    if (status != MFPG_OK) return status;
    return mfpg_mechanism_push(ctx, mechanism, model, &round, start, noised, work, report);
}

static inline mfpg_status update_records_by(mfpg_context *ctx, const mfpg_mechanism *mechanism,
    const mfpg_model *model, mfpg_dataset *records, mfpg_action action, int pushed, const mfpg_stream *noise,
    const mfpg_stream *batch, const float *w, float *out, float *work, mfpg_update_report *report) {
    mfpg_release release;
    const mfpg_local_round round = {
        .data = records, .rows = records->rows, .release = &release, .noise = noise, .batch = batch};
    mfpg_status status = mfpg_mechanism_release(ctx, mechanism, action, records->rows, &release);
    if (status != MFPG_OK) return status;
    return mfpg_mechanism_update_records(
        ctx, mechanism, model, records, pushed, &round, w, out, work, report);
}

#endif
