/* Data particles in a federation: every client's records are noised once, in the first round in which it
 * takes part, and kept. In every round the map is evaluated at the public initial model, for which the
 * certificate's constant was computed. The global model of a later round has no bound that could be fixed
 * beforehand (theory S5.2). */
#include <math.h>
#include <string.h>

#include <sodium.h>

#include "base/error.h"
#include "base/memory.h"
#include "federation_core.h"

static mfpg_status find_kind(mfpg_context *ctx, mfpg_federation *f) {
    f->particles = mfpg_mechanism_particles(f->mechanism[0]);
    for (ptrdiff_t k = 1; k < f->clients; k++)
        if (mfpg_mechanism_particles(f->mechanism[k]) != f->particles)
            return mfpg_fail(ctx, MFPG_ERR_INPUT,
                "client '%s' adds noise to %s, client '%s' to %s: a federation has only one kind of "
                "certificate",
                f->data->client[0].name, mfpg_particles_name(f->particles), f->data->client[k].name,
                mfpg_particles_name(mfpg_mechanism_particles(f->mechanism[k])));
    return MFPG_OK;
}

static mfpg_status check_start(mfpg_context *ctx, const mfpg_federation *f) {
    mfpg_status status = MFPG_OK;
    for (ptrdiff_t k = 0; k < f->clients && status == MFPG_OK; k++)
        if (k == 0 || f->mechanism[k] != f->mechanism[k - 1])
            status = mfpg_mechanism_check_start(ctx, f->mechanism[k], f->model, f->records->start);
    return status;
}

/* The records of all clients are parts of one block. */
static void copy_shapes(mfpg_federation *f) {
    ptrdiff_t rows = 0, features = f->data->features;
    for (ptrdiff_t k = 0; k < f->clients; k++) rows += f->data->client[k].train.rows;
    float *x = mfpg_pool_own(&f->kept, mfpg_alloc(rows, (size_t)features * sizeof *x));
    double *norm2 = mfpg_pool_own(&f->kept, mfpg_alloc(rows, sizeof *norm2));
    for (ptrdiff_t k = 0; k < f->clients && !f->kept.failed; k++) {
        const mfpg_dataset *raw = &f->data->client[k].train;
        f->records->of_client[k] =
            (mfpg_dataset){.rows = raw->rows, .features = features, .x = x, .y = raw->y, .norm2 = norm2};
        x += raw->rows * features;
        norm2 += raw->rows;
    }
}

static mfpg_status begin(mfpg_context *ctx, mfpg_federation *f) {
    mfpg_status status = find_kind(ctx, f);
    if (status != MFPG_OK || f->particles != MFPG_PARTICLES_DATA) return status;
    noised_records *r = f->records = mfpg_pool_own(&f->kept, mfpg_alloc(1, sizeof *r));
    if (!r) return mfpg_fail_memory(ctx);
    r->of_client = mfpg_pool_own(&f->kept, mfpg_alloc(f->clients, sizeof *r->of_client));
    r->is_noised = mfpg_pool_own(&f->kept, mfpg_alloc(f->clients, sizeof *r->is_noised));
    r->digest = mfpg_pool_own(&f->kept, mfpg_alloc(f->clients, sizeof *r->digest));
    r->fresh = mfpg_pool_own(&f->kept, mfpg_alloc(f->clients, sizeof *r->fresh));
    r->start = mfpg_pool_own(&f->kept, mfpg_alloc(f->dimension, sizeof *r->start));
    if (!f->kept.failed) copy_shapes(f);
    if (f->kept.failed) return mfpg_fail_memory(ctx);
    memcpy(r->start, f->w, (size_t)f->dimension * sizeof *r->start);
    return check_start(ctx, f);
}

/* ---- a round ---- */

mfpg_status mfpg_federation_update_records(mfpg_context *ctx, mfpg_federation *f, ptrdiff_t k,
    const mfpg_local_round *round, workspace *own, mfpg_update_report *report) {
    const mfpg_mechanism *mechanism = f->mechanism[k];
    mfpg_dataset *records = &f->records->of_client[k];
    mfpg_stream noise = mfpg_stream_open(&f->key, MFPG_PURPOSE_RECORDS, (uint64_t)f->round, (uint64_t)k);
    mfpg_local_round of_records = *round;
    mfpg_update_report pushed = {0};
    mfpg_status status = MFPG_OK;
    int fresh = !f->records->is_noised[k];
    of_records.noise = &noise;
    if (fresh)
        status = mfpg_mechanism_push(
            ctx, mechanism, f->model, &of_records, f->records->start, records, own->scratch, &pushed);
    if (status == MFPG_OK)
        status = mfpg_mechanism_update_records(
            ctx, mechanism, f->model, records, fresh, &of_records, f->w, own->model, own->scratch, report);
    if (status == MFPG_OK && fresh)
        crypto_generichash((unsigned char *)f->records->digest[k], sizeof f->records->digest[k],
            (const unsigned char *)records->x,
            (size_t)records->rows * (size_t)records->features * sizeof *records->x, NULL, 0);
    report->nonfinite += pushed.nonfinite;
    return status;
}

static void exchange_digest(mfpg_federation *f, ptrdiff_t k, int64_t words[2], int tell) {
    if (tell)
        memcpy(words, f->records->digest[k], sizeof f->records->digest[k]);
    else
        memcpy(f->records->digest[k], words, sizeof f->records->digest[k]);
}

mfpg_status mfpg_federation_find_fresh(mfpg_context *ctx, mfpg_federation *f) {
    noised_records *r = f->records;
    r->fresh_count = 0;
    for (ptrdiff_t i = 0; i < f->cohort_size; i++) {
        ptrdiff_t k = mfpg_federation_member(f, i);
        if (!r->is_noised[k]) r->fresh[r->fresh_count++] = k;
    }
    return r->fresh_count ? mfpg_federation_exchange(ctx, f, f->cohort_size, exchange_digest) : MFPG_OK;
}

/* ---- state that is kept between rounds: per client a word that is 1 if it is noised, the norms of its
 * records, and their features ---- */

static size_t norms_of(const mfpg_dataset *records) {
    return (size_t)records->rows * sizeof *records->norm2;
}

static size_t features_of(const mfpg_dataset *records) {
    return (size_t)records->rows * (size_t)records->features * sizeof *records->x;
}

/* The size per client is in whole words, so that the states of several ranks can be added. */
static size_t size_of(const mfpg_dataset *records) {
    return sizeof(int64_t) + norms_of(records) + (features_of(records) + 7) / 8 * 8;
}

static int64_t bytes(const mfpg_federation *f) {
    size_t sum = 0;
    for (ptrdiff_t k = 0; f->records && k < f->clients; k++) sum += size_of(&f->records->of_client[k]);
    return (int64_t)sum;
}

static void save(const mfpg_federation *f, void *to) {
    char *at = to;
    for (ptrdiff_t k = 0; k < f->clients; k++) {
        const mfpg_dataset *records = &f->records->of_client[k];
        const int64_t noised = f->records->is_noised[k];
        if (mfpg_federation_owns(f, k)) {
            memcpy(at, &noised, sizeof noised);
            memcpy(at + sizeof noised, records->norm2, norms_of(records));
            memcpy(at + sizeof noised + norms_of(records), records->x, features_of(records));
        }
        at += size_of(records);
    }
}

static const char *fault_of(const mfpg_dataset *records) {
    for (ptrdiff_t i = 0; i < records->rows; i++)
        if (!(records->norm2[i] >= 0.0 && isfinite(records->norm2[i])))
            return "the norm of a noised record is impossible";
    for (ptrdiff_t i = 0; i < records->rows * records->features; i++)
        if (!isfinite(records->x[i])) return "a noised record has an entry that is not finite";
    return NULL;
}

static mfpg_status restore(mfpg_context *ctx, mfpg_federation *f, const void *from) {
    const char *at = from;
    for (ptrdiff_t k = 0; k < f->clients; k++) {
        mfpg_dataset *records = &f->records->of_client[k];
        int64_t noised;
        memcpy(&noised, at, sizeof noised);
        memcpy(records->norm2, at + sizeof noised, norms_of(records));
        memcpy(records->x, at + sizeof noised + norms_of(records), features_of(records));
        const char *fault =
            noised != f->records->is_noised[k] ? "the ledger counts other rounds for it" : fault_of(records);
        if (fault) return mfpg_fail(ctx, MFPG_ERR_INPUT, "client '%s': %s", f->data->client[k].name, fault);
        at += size_of(records);
    }
    return MFPG_OK;
}

const federation_part mfpg_part_records = {
    .begin = begin, .bytes = bytes, .save = save, .restore = restore, .gathers = 1};
