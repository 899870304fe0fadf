#include "ledger_files.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/number.h"
#include "ledger_summary.h"

/* ---- do they go together? ---- */

static mfpg_status check_another_file(mfpg_context *ctx, const account_file *a, const account_file *b) {
    struct stat first, second;
    if (stat(a->path, &first) != 0 || stat(b->path, &second) != 0) return MFPG_OK; /* reading says why */
    if (first.st_dev != second.st_dev || first.st_ino != second.st_ino) return MFPG_OK;
    return mfpg_fail(ctx, MFPG_ERR_INPUT, "--ledger: %s and %s are one file, named twice", a->path, b->path);
}

static mfpg_status check_key(mfpg_context *ctx, const account_file *a, const account_file *b, const char *key,
    const char *first, const char *second) {
    if (strcmp(first, second) == 0) return MFPG_OK;
    return mfpg_fail(ctx, MFPG_ERR_INPUT,
        "--ledger: %s is %s in %s, but %s in %s; ledgers of one promise are priced together", key, first,
        a->path, second, b->path);
}

static mfpg_status check_promise(mfpg_context *ctx, const account_file *a, const account_file *b) {
    const mfpg_ledger_header *x = &a->header, *y = &b->header;
    char first[MFPG_NUMBER_SIZE], second[MFPG_NUMBER_SIZE];
    mfpg_status status = check_key(
        ctx, a, b, "particles", mfpg_particles_name(x->particles), mfpg_particles_name(y->particles));
    if (status == MFPG_OK)
        status =
            check_key(ctx, a, b, "unit", mfpg_unit_name(x->promise.unit), mfpg_unit_name(y->promise.unit));
    if (status == MFPG_OK)
        status = check_key(ctx, a, b, "adjacency", mfpg_adjacency_name(x->promise.adjacency),
            mfpg_adjacency_name(y->promise.adjacency));
    if (status == MFPG_OK)
        status =
            check_key(ctx, a, b, "view", mfpg_view_name(x->promise.view), mfpg_view_name(y->promise.view));
    if (status == MFPG_OK)
        status = check_key(
            ctx, a, b, "delta", mfpg_number_format(x->delta, first), mfpg_number_format(y->delta, second));
    return status;
}

/* Clients are known by their numbers; if both runs name them, the names agree. */
static mfpg_status check_names(mfpg_context *ctx, const account_file *a, const account_file *b) {
    for (int64_t k = 0; a->beside && b->beside && k < a->header.clients && k < b->header.clients; k++) {
        const char *first = account_name_beside(a->beside, k), *second = account_name_beside(b->beside, k);
        if (!first || !second || strcmp(first, second) == 0) continue;
        return mfpg_fail(ctx, MFPG_ERR_INPUT,
            "--ledger: client %lld is '%.60s' in %s, but '%.60s' in %s; what they spent does not add up",
            (long long)k, first, a->path, second, b->path);
    }
    return MFPG_OK;
}

/* ---- files ---- */

static mfpg_status open_file(
    mfpg_context *ctx, const char *named, account_visit visit, void *user, account_file *out) {
    out->path = account_ledger_path(named);
    if (!out->path) return mfpg_fail_memory(ctx);
    mfpg_status status = account_read_beside(ctx, out->path, &out->beside);
    return status == MFPG_OK ? mfpg_ledger_read(ctx, out->path, &out->header, visit, user, NULL) : status;
}

static mfpg_status add_file(mfpg_context *ctx, account_files *files, const account_file *next) {
    const account_file *first = files->file;
    mfpg_status status = MFPG_OK;
    if (next == first) {
        files->all = next->header;
        return MFPG_OK;
    }
    for (const account_file *before = first; before < next && status == MFPG_OK; before++) {
        status = check_another_file(ctx, before, next);
        if (status == MFPG_OK) status = check_promise(ctx, before, next);
        if (status == MFPG_OK) status = check_names(ctx, before, next);
    }
    if (files->all.clients < next->header.clients) files->all.clients = next->header.clients;
    files->all.seeded |= next->header.seeded;
    return status;
}

mfpg_status account_files_open(
    mfpg_context *ctx, const mfpg_question *q, account_visit visit, void *user, account_files *out) {
    out->file = mfpg_alloc(q->ledger.count, sizeof *out->file);
    if (!out->file) return mfpg_fail_memory(ctx);
    mfpg_status status = MFPG_OK;
    while (out->count < q->ledger.count && status == MFPG_OK) {
        account_file *next = &out->file[out->count];
        status = open_file(ctx, q->ledger.text[out->count++], visit, user, next);
        if (status == MFPG_OK) status = add_file(ctx, out, next);
    }
    return status;
}

void account_files_clear(account_files *files) {
    for (ptrdiff_t i = 0; i < files->count; i++) {
        free(files->file[i].path);
        json_decref(files->file[i].beside);
    }
    free(files->file);
    *files = (account_files){0};
}

mfpg_status account_files_read(
    mfpg_context *ctx, const account_files *files, account_visit visit, void *user, mfpg_ledger_file *out) {
    for (ptrdiff_t i = 0; i < files->count; i++) {
        const account_file *file = &files->file[i];
        out[i].path = mfpg_text_copy(file->path, strlen(file->path));
        if (!out[i].path) return mfpg_fail_memory(ctx);
        mfpg_status status = mfpg_ledger_read(ctx, file->path, NULL, visit, user, &out[i].end);
        if (status == MFPG_OK)
            status = account_check_end(ctx, file->path, file->beside, &out[i].end, &out[i].confirmed);
        if (status != MFPG_OK) return status;
    }
    return MFPG_OK;
}

const char *account_files_name(const account_files *files, int64_t client) {
    const char *name = NULL;
    for (ptrdiff_t i = 0; i < files->count && !name; i++)
        name = account_name_beside(files->file[i].beside, client);
    return name;
}
