/* Processes features after their rows were assigned to clients: means for missing values, scaling by public
 * bounds or by the clients' own rows, an affine shift, a norm. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/names.h"
#include "frame.h"
#include "readers.h"
#include "schema.h"

/* ---- means for missing values ---- */

/* Sums and counts of the known values over training rows, and counts of the unknown ones over all rows. */
static void count_values(const mfpg_frame *frame, double *sum, ptrdiff_t *known, ptrdiff_t *unknown) {
    for (ptrdiff_t i = 0; i < frame->rows; i++) {
        const float *x = frame->x + i * frame->features;
        for (ptrdiff_t j = 0; j < frame->features; j++) {
            if (isnan(x[j])) {
                unknown[j]++;
            } else if (!frame->test[i]) {
                sum[j] += (double)x[j];
                known[j]++;
            }
        }
    }
}

/* Replaces missing values of a feature by its mean over all training rows. */
static mfpg_status impute(mfpg_context *ctx, mfpg_frame *frame) {
    mfpg_pool memory = {0};
    double *mean = mfpg_pool_alloc(&memory, frame->features, sizeof *mean);
    ptrdiff_t *known = mfpg_pool_alloc(&memory, frame->features, sizeof *known);
    ptrdiff_t *unknown = mfpg_pool_alloc(&memory, frame->features, sizeof *unknown);
    mfpg_status status = memory.failed ? mfpg_fail_memory(ctx) : MFPG_OK;
    if (status == MFPG_OK) count_values(frame, mean, known, unknown);
    for (ptrdiff_t j = 0; j < frame->features && status == MFPG_OK; j++) {
        if (known[j] > 0)
            mean[j] /= (double)known[j];
        else if (unknown[j] > 0)
            status = mfpg_fail(ctx, MFPG_ERR_INPUT,
                "column \"%s\": no training row has a value, so there is no mean for the %td missing ones",
                frame->feature_names[j], unknown[j]);
    }
    for (ptrdiff_t i = 0; i < frame->rows * frame->features && status == MFPG_OK; i++)
        if (isnan(frame->x[i])) frame->x[i] = (float)mean[i % frame->features];
    /* Set even if nothing was missing, because with other rows of the same clients something might have
     * been. */
    frame->fitted_on_private = 1;
    mfpg_pool_clear(&memory);
    return status;
}

/* ---- files with two numbers for each feature ---- */

typedef struct feature_file {
    mfpg_context *ctx;
    mfpg_frame *frame;
    mfpg_table table;
    const char *first_name, *second_name;
    ptrdiff_t column, first, second; /* the columns with the feature's name and its two numbers */
    mfpg_lookup features;            /* names of the frame's features */
} feature_file;

static mfpg_status open_file(feature_file *f, const char *path, const char *header) {
    mfpg_data_options plain = mfpg_data_options_default();
    mfpg_status status = mfpg_csv_read(f->ctx, path, &plain, 1, &f->table);
    if (status != MFPG_OK) return status;
    f->column = mfpg_lookup_find(&f->table.names, mfpg_slice_of("column"));
    f->first = mfpg_lookup_find(&f->table.names, mfpg_slice_of(f->first_name));
    f->second = mfpg_lookup_find(&f->table.names, mfpg_slice_of(f->second_name));
    if (f->column < 0 || f->first < 0 || f->second < 0)
        return mfpg_fail(f->ctx, MFPG_ERR_INPUT, "%s:1: the header must name %s", path, header);
    for (ptrdiff_t j = 0; j < f->frame->features; j++)
        if (mfpg_lookup_add(&f->features, mfpg_slice_of(f->frame->feature_names[j])) < 0)
            return mfpg_fail_memory(f->ctx);
    return MFPG_OK;
}

static void close_file(feature_file *f) {
    mfpg_table_clear(&f->table);
    mfpg_lookup_clear(&f->features);
}

static mfpg_status fail_unknown(
    const feature_file *f, ptrdiff_t row, const char *what, mfpg_slice name, const mfpg_lookup *known) {
    char shown[MFPG_SHOWN_SIZE];
    char *word = mfpg_text_copy(name.at, name.length);
    if (!word) return mfpg_fail_memory(f->ctx);
    const char *nearest = mfpg_names_nearest(word, (const char *const *)known->keys, known->count);
    mfpg_status status = mfpg_fail(f->ctx, MFPG_ERR_INPUT, "%s:%u: the data have no %s %s%s%s%s",
        f->table.path, mfpg_table_line(&f->table, row), what, mfpg_slice_show(name, shown),
        nearest ? "; did you mean \"" : "", nearest ? nearest : "", nearest ? "\"?" : "");
    free(word);
    return status;
}

/* The two numbers of a row. */
static mfpg_status read_pair(const feature_file *f, ptrdiff_t row, double *first, double *second) {
    char shown[MFPG_SHOWN_SIZE];
    if (mfpg_table_number(&f->table, row, f->first, first) &&
        mfpg_table_number(&f->table, row, f->second, second))
        return MFPG_OK;
    return mfpg_fail(f->ctx, MFPG_ERR_INPUT, "%s:%u: column %s: %s and %s must be finite numbers",
        f->table.path, mfpg_table_line(&f->table, row),
        mfpg_slice_show(mfpg_table_text(&f->table, row, f->column, NULL), shown), f->first_name,
        f->second_name);
}

/* ---- public bounds ---- */

static mfpg_status read_bounds(
    feature_file *f, ptrdiff_t row, const mfpg_schema *schema, unsigned char *given) {
    char shown[MFPG_SHOWN_SIZE];
    double low, high;
    mfpg_slice name = mfpg_table_text(&f->table, row, f->column, NULL);
    ptrdiff_t feature = mfpg_lookup_find(&f->features, name);
    if (feature < 0 && schema && mfpg_lookup_find(&schema->names, name) >= 0) return MFPG_OK;
    if (feature < 0) return fail_unknown(f, row, "column", name, &f->features);
    if (given[feature])
        return mfpg_fail(f->ctx, MFPG_ERR_INPUT, "%s:%u: column %s is given twice", f->table.path,
            mfpg_table_line(&f->table, row), mfpg_slice_show(name, shown));
    given[feature] = 1;
    mfpg_status status = read_pair(f, row, &low, &high);
    if (status != MFPG_OK) return status;
    if (!(low < high) || !isfinite(high - low))
        return mfpg_fail(f->ctx, MFPG_ERR_INPUT, "%s:%u: column %s: low must be less than high",
            f->table.path, mfpg_table_line(&f->table, row), mfpg_slice_show(name, shown));
    f->frame->low[feature] = low;
    f->frame->high[feature] = high;
    return MFPG_OK;
}

/* Indicators start with [0, 1], all other features without bounds. */
static void start_bounds(const mfpg_schema *schema, mfpg_frame *frame) {
    for (ptrdiff_t j = 0; j < frame->features; j++) frame->low[j] = frame->high[j] = NAN;
    for (ptrdiff_t i = 0; schema && i < schema->columns; i++) {
        const mfpg_column *column = &schema->column[i];
        if (column->role != MFPG_ROLE_CATEGORY) continue;
        for (ptrdiff_t v = 1; v < column->category->count; v++) {
            frame->low[column->feature + v - 1] = 0;
            frame->high[column->feature + v - 1] = 1;
        }
    }
}

mfpg_status mfpg_bounds_read(
    mfpg_context *ctx, const char *path, const mfpg_schema *schema, mfpg_frame *frame) {
    feature_file f = {.ctx = ctx, .frame = frame, .first_name = "low", .second_name = "high"};
    unsigned char *given = mfpg_alloc(frame->features, sizeof *given);
    mfpg_status status = given ? mfpg_frame_allocate_bounds(ctx, frame) : mfpg_fail_memory(ctx);
    if (status == MFPG_OK) status = open_file(&f, path, "column, low and high");
    if (status == MFPG_OK) start_bounds(schema, frame);
    for (ptrdiff_t row = 0; row < f.table.rows && status == MFPG_OK; row++)
        status = read_bounds(&f, row, schema, given);
    for (ptrdiff_t j = 0; j < frame->features && status == MFPG_OK; j++)
        if (isnan(frame->low[j]))
            status = mfpg_fail(
                ctx, MFPG_ERR_INPUT, "%s: no bounds for column \"%s\"", path, frame->feature_names[j]);
    close_file(&f);
    free(given);
    return status;
}

/* Clips every value to the frame's bounds and maps them to its range. */
static void scale_by_bounds(mfpg_frame *frame) {
    double begin = frame->range[0], width = frame->range[1] - begin;
    for (ptrdiff_t i = 0; i < frame->rows; i++) {
        float *x = frame->x + i * frame->features;
        for (ptrdiff_t j = 0; j < frame->features; j++) {
            double low = frame->low[j], high = frame->high[j];
            double value = (double)x[j], clipped = value < low ? low : value > high ? high : value;
            x[j] = (float)(begin + width * ((clipped - low) / (high - low)));
        }
    }
}

/* ---- the clients' own means and deviations ---- */

static int is_measured(const mfpg_frame *frame, ptrdiff_t row) {
    return !frame->test[row] && !frame->absent[row];
}

/* Means and standard deviations (divisor: the number of rows) over the training rows, in two passes. The sum of up to 2^29
 * equal floats is exact in double, and so is their mean: a constant feature has deviation 0. */
static void measure(const mfpg_frame *frame, double *mean, double *deviation) {
    ptrdiff_t features = frame->features, count = 0;
    for (ptrdiff_t i = 0; i < frame->rows; i++) {
        const float *x = frame->x + i * features;
        if (!is_measured(frame, i)) continue;
        count++;
        for (ptrdiff_t j = 0; j < features; j++) mean[j] += (double)x[j];
    }
    if (count == 0) return;
    for (ptrdiff_t j = 0; j < features; j++) mean[j] /= (double)count;
    for (ptrdiff_t i = 0; i < frame->rows; i++) {
        const float *x = frame->x + i * features;
        if (!is_measured(frame, i)) continue;
        for (ptrdiff_t j = 0; j < features; j++)
            deviation[j] += ((double)x[j] - mean[j]) * ((double)x[j] - mean[j]);
    }
    for (ptrdiff_t j = 0; j < features; j++) deviation[j] = sqrt(deviation[j] / (double)count);
}

/* A feature that is constant in the training rows becomes 0. */
static mfpg_status standardise(
    mfpg_context *ctx, mfpg_frame *frame, const double *mean, const double *deviation) {
    char place[MFPG_PLACE_SIZE], number[MFPG_NUMBER_SIZE];
    for (ptrdiff_t i = 0; i < frame->rows; i++) {
        float *x = frame->x + i * frame->features;
        for (ptrdiff_t j = 0; j < frame->features && !frame->absent[i]; j++) {
            x[j] = deviation[j] > 0 ? (float)(((double)x[j] - mean[j]) / deviation[j]) : 0.0f;
            if (!isfinite(x[j]))
                return mfpg_fail(ctx, MFPG_ERR_INPUT,
                    "%s: column \"%s\" is too large for its standard deviation %s",
                    mfpg_frame_place(frame, i, place), frame->feature_names[j],
                    mfpg_number_format(deviation[j], number));
        }
    }
    return MFPG_OK;
}

static mfpg_status scale_from_data(mfpg_context *ctx, mfpg_frame *frame) {
    double *mean = mfpg_alloc(frame->features, 2 * sizeof *mean);
    if (!mean) return mfpg_fail_memory(ctx);
    double *deviation = mean + frame->features;
    measure(frame, mean, deviation);
    mfpg_status status = standardise(ctx, frame, mean, deviation);
    frame->fitted_on_private = 1;
    free(mean);
    return status;
}

/* ---- the affine shift of FLRA: x <- scale x + shift, feature by feature, for all clients or with numbers for each client
 * (Reisizadeh, Farnia, Pedarsani and Jadbabaie, "Robust federated learning: the case of affine distribution shifts", 2020).
 * It is deterministic: by itself it hides nothing. ---- */

enum { EVERYBODY = -1, NOBODY = -2 };

/* One line of the file. */
typedef struct entry {
    ptrdiff_t client; /* or EVERYBODY, NOBODY */
    ptrdiff_t feature;
    double scale, shift;
    uint32_t line;
} entry;

typedef struct affine_file {
    feature_file file;
    const mfpg_data_options *options;
    ptrdiff_t client;    /* the column with the client's name; -1: there is none */
    mfpg_lookup clients; /* names of the frame's clients */
    entry *entry;        /* sorted: first those for all clients, then client by client */
    ptrdiff_t count;
    /* clients + 2: entries of client k are first[k + 1] .. first[k + 2] - 1 (those for all clients: k = -1) */
    ptrdiff_t *first;
    mfpg_pool memory;
} affine_file;

/* Returns the client to which a line applies. A file that is not of the run may hold fewer clients, or none
 * that are known by name. */
static mfpg_status find_client(const affine_file *a, ptrdiff_t row, ptrdiff_t *client) {
    const mfpg_table *table = &a->file.table;
    mfpg_slice name = a->client >= 0 ? mfpg_table_text(table, row, a->client, NULL) : (mfpg_slice){0};
    *client = EVERYBODY;
    if (name.length == 0) return MFPG_OK;
    if (a->options->other_file && a->options->partition != MFPG_PARTITION_COLUMN)
        return mfpg_fail(a->file.ctx, MFPG_ERR_INPUT,
            "%s:%u: shifts one client by numbers of its own, but the clients of another file's rows are not "
            "known",
            table->path, mfpg_table_line(table, row));
    *client = mfpg_lookup_find(&a->clients, name);
    if (*client >= 0) return MFPG_OK;
    *client = NOBODY;
    return a->options->other_file ? MFPG_OK : fail_unknown(&a->file, row, "client", name, &a->clients);
}

static mfpg_status read_entry(affine_file *a, ptrdiff_t row) {
    mfpg_slice name = mfpg_table_text(&a->file.table, row, a->file.column, NULL);
    entry read = {.line = mfpg_table_line(&a->file.table, row)};
    mfpg_status status = find_client(a, row, &read.client);
    if (status != MFPG_OK || read.client == NOBODY) return status;
    read.feature = mfpg_lookup_find(&a->file.features, name);
    if (read.feature < 0) return fail_unknown(&a->file, row, "feature", name, &a->file.features);
    status = read_pair(&a->file, row, &read.scale, &read.shift);
    if (status == MFPG_OK) a->entry[a->count++] = read;
    return status;
}

static int by_client(const void *a, const void *b) {
    const entry *x = a, *y = b;
    if (x->client != y->client) return x->client < y->client ? -1 : 1;
    if (x->feature != y->feature) return x->feature < y->feature ? -1 : 1;
    return x->line < y->line ? -1 : x->line > y->line;
}

static mfpg_status read_affine(affine_file *a) {
    const mfpg_frame *frame = a->file.frame;
    mfpg_context *ctx = a->file.ctx;
    mfpg_status status =
        open_file(&a->file, a->options->affine_file, "column, scale and shift, and may name client");
    if (status != MFPG_OK) return status;
    a->client = mfpg_lookup_find(&a->file.table.names, mfpg_slice_of("client"));
    for (ptrdiff_t k = 0; a->client >= 0 && k < frame->clients; k++)
        if (mfpg_lookup_add(&a->clients, mfpg_slice_of(frame->client_names[k])) < 0)
            return mfpg_fail_memory(ctx);
    a->entry = mfpg_pool_alloc(&a->memory, a->file.table.rows, sizeof *a->entry);
    a->first = mfpg_pool_alloc(&a->memory, frame->clients + 2, sizeof *a->first);
    if (a->memory.failed) return mfpg_fail_memory(ctx);
    for (ptrdiff_t row = 0; row < a->file.table.rows && status == MFPG_OK; row++) status = read_entry(a, row);
    if (status != MFPG_OK) return status;
    qsort(a->entry, (size_t)a->count, sizeof *a->entry, by_client);
    for (ptrdiff_t i = 0; i < a->count; i++) {
        const entry *e = &a->entry[i], *last = e - (i > 0);
        if (i > 0 && e->client == last->client && e->feature == last->feature)
            return mfpg_fail(ctx, MFPG_ERR_INPUT, "%s:%u: column \"%s\" is given twice, first in line %u",
                a->file.table.path, e->line, frame->feature_names[e->feature], last->line);
        a->first[e->client + 2]++;
    }
    for (ptrdiff_t k = 0; k <= frame->clients; k++) a->first[k + 1] += a->first[k];
    return MFPG_OK;
}

/* The entries of a client (or EVERYBODY) move the features of `from` into `to`; a client's own come after those for all,
 * and begin again from the value as it was. */
static void shift(const affine_file *a, ptrdiff_t client, const float *from, float *to) {
    for (ptrdiff_t i = a->first[client + 1]; i < a->first[client + 2]; i++) {
        const entry *e = &a->entry[i];
        to[e->feature] = (float)(e->scale * (double)from[e->feature] + e->shift);
    }
}

/* The common test set uses the numbers for all clients. */
static mfpg_status shift_rows(const affine_file *a, float *raw) {
    const mfpg_frame *frame = a->file.frame;
    char place[MFPG_PLACE_SIZE];
    for (ptrdiff_t i = 0; i < frame->rows; i++) {
        float *x = frame->x + i * frame->features;
        if (frame->absent[i]) continue;
        memcpy(raw, x, (size_t)frame->features * sizeof *raw);
        shift(a, EVERYBODY, raw, x);
        if (frame->client[i] < frame->clients) shift(a, frame->client[i], raw, x);
        for (ptrdiff_t j = 0; j < frame->features; j++)
            if (!isfinite(x[j]))
                return mfpg_fail(a->file.ctx, MFPG_ERR_INPUT,
                    "%s: column \"%s\" leaves the range of numbers when shifted by %s",
                    mfpg_frame_place(frame, i, place), frame->feature_names[j], a->file.table.path);
    }
    return MFPG_OK;
}

/* The sum of squares of the largest value that each feature has for any client: shift and rounding are monotone, so it is at
 * one of the two ends of the range. */
static double shifted_norm2(const affine_file *a, float *ends, float *moved, double *largest) {
    const mfpg_frame *frame = a->file.frame;
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

static mfpg_status apply_affine(mfpg_context *ctx, const mfpg_data_options *options, mfpg_frame *frame) {
    affine_file a = {.options = options,
        .file = {.ctx = ctx, .frame = frame, .first_name = "scale", .second_name = "shift"}};
    float *raw = mfpg_pool_alloc(&a.memory, frame->features, sizeof *raw);
    float *moved = mfpg_pool_alloc(&a.memory, frame->features, sizeof *moved);
    double *largest = mfpg_pool_alloc(&a.memory, frame->features, sizeof *largest);
    mfpg_status status = a.memory.failed ? mfpg_fail_memory(ctx) : read_affine(&a);
    if (status == MFPG_OK) status = shift_rows(&a, raw);
    if (status == MFPG_OK && frame->low) {
        frame->shifted = 1;
        frame->shifted_norm2 = shifted_norm2(&a, raw, moved, largest);
    }
    close_file(&a.file);
    mfpg_lookup_clear(&a.clients);
    mfpg_pool_clear(&a.memory);
    return status;
}

/* ---- all of it ---- */

/* Shortens every row that is longer than norm > 0, whatever the other rows are. The bound holds of the floats: rounding of the
 * factor and of every entry could exceed it by 2^-24 of it. */
static void scale_to_norm(double norm, mfpg_frame *frame) {
    for (ptrdiff_t i = 0; i < frame->rows; i++) {
        float *x = frame->x + i * frame->features;
        double sum = 0.0;
        for (ptrdiff_t j = 0; j < frame->features; j++) sum += (double)x[j] * (double)x[j];
        if (sum <= norm * norm) continue;
        double factor = norm / sqrt(sum) * (1.0 - 0x1p-22);
        for (ptrdiff_t j = 0; j < frame->features; j++) x[j] = (float)(factor * (double)x[j]);
    }
}

mfpg_status mfpg_frame_scale(mfpg_context *ctx, const mfpg_data_options *options, mfpg_frame *frame) {
    mfpg_status status = MFPG_OK;
    if (frame->files > 0 && options->missing == MFPG_MISSING_MEAN) status = impute(ctx, frame);
    if (status == MFPG_OK && mfpg_data_has_range(options) && !frame->low)
        status = mfpg_fail(ctx, MFPG_ERR_INPUT,
            "data.range: is about public bounds, which data.scale.bounds gives; there are none here");
    if (status == MFPG_OK && frame->low) {
        frame->range[1] = 1.0;
        if (mfpg_data_has_range(options)) memcpy(frame->range, options->range, sizeof frame->range);
        scale_by_bounds(frame);
    }
    if (status == MFPG_OK && options->scale == MFPG_SCALE_FROM_DATA) status = scale_from_data(ctx, frame);
    if (status == MFPG_OK && options->affine_file) status = apply_affine(ctx, options, frame);
    if (status == MFPG_OK && options->norm > 0) scale_to_norm(options->norm, frame);
    return status;
}
