#include "affine.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/names.h"
#include "readers.h"

enum { EVERYBODY = -1, NOBODY = -2 };

/* One line of the file. */
typedef struct entry {
    ptrdiff_t client; /* or EVERYBODY, NOBODY */
    ptrdiff_t feature;
    double scale, shift;
    uint32_t line;
} entry;

typedef struct affine_file {
    mfpg_context *ctx;
    const mfpg_data_options *options;
    mfpg_frame *frame;
    mfpg_table table;
    ptrdiff_t column, scale, shift, client; /* where the file has them; client -1: no such column */
    mfpg_lookup features, clients;
    entry *entry; /* sorted: those for everybody first, then client by client */
    ptrdiff_t count;
    ptrdiff_t
        *first; /* clients + 2: entries of client k are first[k + 1] .. first[k + 2] - 1, for everybody -1 */
} affine_file;

/* ---- reading ---- */

static mfpg_status open_file(affine_file *a) {
    const mfpg_reader_ops *csv;
    mfpg_data_options plain = mfpg_data_options_default();
    mfpg_status status = mfpg_reader_find(a->ctx, "csv", &csv);
    if (status == MFPG_OK) status = csv->read(a->ctx, a->options->affine_file, &plain, &a->table);
    if (status != MFPG_OK) return status;
    a->column = mfpg_lookup_find(&a->table.names, mfpg_slice_of("column"));
    a->scale = mfpg_lookup_find(&a->table.names, mfpg_slice_of("scale"));
    a->shift = mfpg_lookup_find(&a->table.names, mfpg_slice_of("shift"));
    a->client = mfpg_lookup_find(&a->table.names, mfpg_slice_of("client"));
    if (a->column >= 0 && a->scale >= 0 && a->shift >= 0) return MFPG_OK;
    return mfpg_fail(a->ctx, MFPG_ERR_INPUT,
        "%s:1: the header must name column, scale and shift, and may name client", a->options->affine_file);
}

static mfpg_status list_names(affine_file *a) {
    char number[24];
    for (ptrdiff_t j = 0; j < a->frame->features; j++)
        if (mfpg_lookup_add(&a->features, mfpg_slice_of(a->frame->feature_names[j])) < 0)
            return mfpg_fail_memory(a->ctx);
    for (ptrdiff_t k = 0; a->client >= 0 && k < a->frame->clients; k++)
        if (mfpg_lookup_add(&a->clients, mfpg_slice_of(mfpg_frame_client_name(a->frame, k, number))) < 0)
            return mfpg_fail_memory(a->ctx);
    return MFPG_OK;
}

static mfpg_status fail_unknown(
    const affine_file *a, ptrdiff_t row, const char *what, mfpg_slice name, const mfpg_lookup *known) {
    char shown[MFPG_SHOWN_SIZE];
    char *word = mfpg_text_copy(name.at, name.length);
    if (!word) return mfpg_fail_memory(a->ctx);
    const char *nearest = mfpg_names_nearest(word, (const char *const *)known->keys, known->count);
    mfpg_status status = mfpg_fail(a->ctx, MFPG_ERR_INPUT, "%s:%u: there is no %s %s%s%s%s", a->table.path,
        mfpg_table_line(&a->table, row), what, mfpg_slice_show(name, shown),
        nearest ? "; did you mean \"" : "", nearest ? nearest : "", nearest ? "\"?" : "");
    free(word);
    return status;
}

/* Whose row it is. A file that is not of the run may hold fewer clients, or none that are known by name. */
static mfpg_status find_client(const affine_file *a, ptrdiff_t row, ptrdiff_t *client) {
    mfpg_slice name = {0};
    if (a->client >= 0) name = mfpg_table_text(&a->table, row, a->client, NULL);
    *client = EVERYBODY;
    if (name.length == 0) return MFPG_OK;
    if (a->options->other_file && a->options->partition != MFPG_PARTITION_COLUMN)
        return mfpg_fail(a->ctx, MFPG_ERR_INPUT,
            "%s:%u: shifts one client by numbers of its own, and whose rows another file holds is not known",
            a->table.path, mfpg_table_line(&a->table, row));
    *client = mfpg_lookup_find(&a->clients, name);
    if (*client >= 0) return MFPG_OK;
    *client = NOBODY;
    return a->options->other_file ? MFPG_OK : fail_unknown(a, row, "client", name, &a->clients);
}

static mfpg_status read_row(affine_file *a, ptrdiff_t row) {
    mfpg_slice name = mfpg_table_text(&a->table, row, a->column, NULL);
    entry read = {.line = mfpg_table_line(&a->table, row)};
    mfpg_status status = find_client(a, row, &read.client);
    if (status != MFPG_OK || read.client == NOBODY) return status;
    read.feature = mfpg_lookup_find(&a->features, name);
    if (read.feature < 0) return fail_unknown(a, row, "feature", name, &a->features);
    if (!mfpg_table_number(&a->table, row, a->scale, &read.scale) ||
        !mfpg_table_number(&a->table, row, a->shift, &read.shift))
        return mfpg_fail(a->ctx, MFPG_ERR_INPUT,
            "%s:%u: column \"%s\": scale and shift must be finite numbers", a->table.path, read.line,
            a->frame->feature_names[read.feature]);
    a->entry[a->count++] = read;
    return MFPG_OK;
}

static int by_client(const void *a, const void *b) {
    const entry *x = a, *y = b;
    if (x->client != y->client) return x->client < y->client ? -1 : 1;
    if (x->feature != y->feature) return x->feature < y->feature ? -1 : 1;
    return x->line < y->line ? -1 : x->line > y->line;
}

static mfpg_status index_entries(affine_file *a) {
    qsort(a->entry, (size_t)a->count, sizeof *a->entry, by_client);
    for (ptrdiff_t i = 1; i < a->count; i++)
        if (a->entry[i].client == a->entry[i - 1].client && a->entry[i].feature == a->entry[i - 1].feature)
            return mfpg_fail(a->ctx, MFPG_ERR_INPUT, "%s:%u: column \"%s\" is given twice, first in line %u",
                a->table.path, a->entry[i].line, a->frame->feature_names[a->entry[i].feature],
                a->entry[i - 1].line);
    a->first = mfpg_alloc(a->frame->clients + 2, sizeof *a->first);
    if (!a->first) return mfpg_fail_memory(a->ctx);
    for (ptrdiff_t i = 0; i < a->count; i++) a->first[a->entry[i].client + 2]++;
    for (ptrdiff_t k = 0; k <= a->frame->clients; k++) a->first[k + 1] += a->first[k];
    return MFPG_OK;
}

static mfpg_status read_file(affine_file *a) {
    mfpg_status status = open_file(a);
    if (status == MFPG_OK) status = list_names(a);
    if (status != MFPG_OK) return status;
    a->entry = mfpg_alloc(a->table.rows, sizeof *a->entry);
    if (!a->entry) return mfpg_fail_memory(a->ctx);
    for (ptrdiff_t row = 0; row < a->table.rows && status == MFPG_OK; row++) status = read_row(a, row);
    return status == MFPG_OK ? index_entries(a) : status;
}

/* ---- shifting ---- */

/* The entries of a client (or EVERYBODY) move the features of `from` into `to`; a client's own come after those for all,
 * and begin again from the value as it was. */
static void shift(const affine_file *a, ptrdiff_t client, const float *from, float *to) {
    for (ptrdiff_t i = a->first[client + 1]; i < a->first[client + 2]; i++) {
        const entry *e = &a->entry[i];
        to[e->feature] = (float)(e->scale * (double)from[e->feature] + e->shift);
    }
}

static mfpg_status shift_rows(const affine_file *a, float *raw) {
    const mfpg_frame *frame = a->frame;
    char place[MFPG_PLACE_SIZE];
    for (ptrdiff_t i = 0; i < frame->rows; i++) {
        float *x = frame->x + i * frame->features;
        if (frame->absent[i]) continue;
        memcpy(raw, x, (size_t)frame->features * sizeof *raw);
        shift(a, EVERYBODY, raw, x);
        if (frame->client[i] < frame->clients) shift(a, frame->client[i], raw, x);
        for (ptrdiff_t j = 0; j < frame->features; j++)
            if (!isfinite(x[j]))
                return mfpg_fail(a->ctx, MFPG_ERR_INPUT,
                    "%s: column \"%s\" leaves the range of numbers when shifted by %s",
                    mfpg_frame_place(frame, i, place), frame->feature_names[j], a->table.path);
    }
    return MFPG_OK;
}

/* The largest that each feature can be for anybody: shift and rounding are monotone, so it is one of the two ends. */
static double shifted_norm2(const affine_file *a, float *ends, float *moved, double *largest) {
    const mfpg_frame *frame = a->frame;
    double sum = 0.0;
    for (int end = 0; end < 2; end++) {
        float at = (float)(end ? frame->range[0] + (frame->range[1] - frame->range[0]) : frame->range[0]);
        for (ptrdiff_t j = 0; j < frame->features; j++) ends[j] = moved[j] = at;
        shift(a, EVERYBODY, ends, moved);
        for (ptrdiff_t j = 0; j < frame->features; j++) largest[j] = fmax(largest[j], fabs((double)moved[j]));
        for (ptrdiff_t i = a->first[1]; i < a->count; i++) {
            const entry *e = &a->entry[i];
            float own = (float)(e->scale * (double)at + e->shift);
            largest[e->feature] = fmax(largest[e->feature], fabs((double)own));
        }
    }
    for (ptrdiff_t j = 0; j < frame->features; j++) sum += largest[j] * largest[j];
    return sum * (1.0 + (double)frame->features * 0x1p-52);
}

static mfpg_status apply(affine_file *a) {
    mfpg_frame *frame = a->frame;
    float *raw = mfpg_alloc(frame->features, sizeof *raw),
          *moved = mfpg_alloc(frame->features, sizeof *moved);
    double *largest = mfpg_alloc(frame->features, sizeof *largest);
    mfpg_status status = raw && moved && largest ? shift_rows(a, raw) : mfpg_fail_memory(a->ctx);
    if (status == MFPG_OK && frame->low) {
        frame->shifted = 1;
        frame->shifted_norm2 = shifted_norm2(a, raw, moved, largest);
    }
    free(raw);
    free(moved);
    free(largest);
    return status;
}

mfpg_status mfpg_affine_apply(mfpg_context *ctx, const mfpg_data_options *options, mfpg_frame *frame) {
    affine_file a = {.ctx = ctx, .options = options, .frame = frame};
    mfpg_status status = read_file(&a);
    if (status == MFPG_OK) status = apply(&a);
    mfpg_table_clear(&a.table);
    mfpg_lookup_clear(&a.features);
    mfpg_lookup_clear(&a.clients);
    free(a.entry);
    free(a.first);
    return status;
}
