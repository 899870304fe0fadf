/* Data particles in a federation: every client's records are noised once, in the first round that it takes part in, and
 * kept. Whenever that is, the push uses the public start, for which the certificate's constant was computed: the global
 * model of a later round has no bound fixed beforehand (theory S5.2). */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "mechanisms/mechanism_ops.h"
#include "internal.h"

static mfpg_status copy_shape(mfpg_context *ctx, const mfpg_dataset *raw, mfpg_dataset *out) {
    *out = (mfpg_dataset){.rows = raw->rows, .features = raw->features, .y = raw->y};
    out->x = mfpg_alloc(raw->rows, (ptrdiff_t)sizeof *out->x * raw->features);
    out->norm2 = mfpg_alloc(raw->rows, sizeof *out->norm2);
    return out->x && out->norm2 ? MFPG_OK : mfpg_fail_memory(ctx);
}

static mfpg_status find_kind(mfpg_context *ctx, mfpg_federation *f) {
    f->particles = mfpg_mechanism_particles(f->mechanism[0]);
    for (ptrdiff_t k = 1; k < f->clients; k++)
        if (mfpg_mechanism_particles(f->mechanism[k]) != f->particles)
            return mfpg_fail(ctx, MFPG_ERR_INPUT,
                "client '%s' noises %s, client '%s' %s: one federation has one kind of certificate",
                f->data->client[0].name, mfpg_particles_name(f->particles), f->data->client[k].name,
                mfpg_particles_name(mfpg_mechanism_particles(f->mechanism[k])));
    return MFPG_OK;
}

static mfpg_status check_start(mfpg_context *ctx, const mfpg_federation *f) {
    mfpg_status status = MFPG_OK;
    for (ptrdiff_t k = 0; k < f->clients && status == MFPG_OK; k++)
        if (k == 0 || f->mechanism[k] != f->mechanism[k - 1])
            status = mfpg_mechanism_check_start(ctx, f->mechanism[k], f->model, f->first);
    return status;
}

mfpg_status mfpg_federation_prepare_records(mfpg_context *ctx, mfpg_federation *f) {
    mfpg_status status = find_kind(ctx, f);
    if (status != MFPG_OK || f->particles != MFPG_PARTICLES_DATA) return status;
    f->records = mfpg_alloc(f->clients, sizeof *f->records);
    f->noised = mfpg_alloc(f->clients, sizeof *f->noised);
    f->fresh = mfpg_alloc(f->clients, sizeof *f->fresh);
    f->first = mfpg_alloc(f->dimension, sizeof *f->first);
    if (!f->records || !f->noised || !f->fresh || !f->first) return mfpg_fail_memory(ctx);
    memcpy(f->first, f->w, (size_t)f->dimension * sizeof *f->first);
    status = check_start(ctx, f);
    for (ptrdiff_t k = 0; k < f->clients && status == MFPG_OK; k++)
        status = copy_shape(ctx, &f->data->client[k].train, &f->records[k]);
    return status;
}

void mfpg_federation_clear_records(mfpg_federation *f) {
    for (ptrdiff_t k = 0; f->records && k < f->clients; k++) {
        free(f->records[k].x);
        free(f->records[k].norm2);
    }
    free(f->records);
    free(f->noised);
    free(f->fresh);
    free(f->first);
}

mfpg_status mfpg_federation_update_records(mfpg_context *ctx, mfpg_federation *f, ptrdiff_t k,
    const mfpg_local_round *round, workspace *own, mfpg_update_report *report) {
    const mfpg_mechanism *mechanism = f->mechanism[k];
    mfpg_stream noise = mfpg_stream_open(&f->key, MFPG_PURPOSE_RECORDS, (uint64_t)f->round, (uint64_t)k);
    mfpg_local_round of_records = *round;
    mfpg_update_report pushed = {0};
    mfpg_status status = MFPG_OK;
    of_records.noise = &noise;
    if (!f->noised[k])
        status = mfpg_mechanism_push(
            ctx, mechanism, f->model, &of_records, f->first, &f->records[k], own->scratch, &pushed);
    if (status == MFPG_OK)
        status = mfpg_mechanism_update_records(ctx, mechanism, f->model, &f->records[k], !f->noised[k],
            &of_records, f->w, own->model, own->scratch, report);
    report->nonfinite += pushed.nonfinite;
    return status;
}
