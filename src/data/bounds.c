#include "bounds.h"

#include <math.h>
#include <stdlib.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/names.h"
#include "mfpg/dataset.h"
#include "readers.h"

typedef struct bounds_file {
    mfpg_context *ctx;
    mfpg_table table;
    ptrdiff_t column, low, high; /* where the file has them */
    const mfpg_schema *schema;
    mfpg_lookup features; /* names of the frame's features */
} bounds_file;

static mfpg_status open_file(bounds_file *b, const char *path) {
    const mfpg_reader_ops *csv;
    mfpg_data_options options = mfpg_data_options_default();
    mfpg_status status = mfpg_reader_find(b->ctx, "csv", &csv);
    if (status == MFPG_OK) status = csv->read(b->ctx, path, &options, &b->table);
    if (status != MFPG_OK) return status;
    b->column = mfpg_lookup_find(&b->table.names, mfpg_slice_of("column"));
    b->low = mfpg_lookup_find(&b->table.names, mfpg_slice_of("low"));
    b->high = mfpg_lookup_find(&b->table.names, mfpg_slice_of("high"));
    if (b->column >= 0 && b->low >= 0 && b->high >= 0) return MFPG_OK;
    return mfpg_fail(b->ctx, MFPG_ERR_INPUT, "%s:1: the header must name column, low and high", path);
}

static mfpg_status find_feature(bounds_file *b, ptrdiff_t row, mfpg_slice name, ptrdiff_t *feature) {
    *feature = mfpg_lookup_find(&b->features, name);
    if (*feature >= 0 || (b->schema && mfpg_lookup_find(&b->schema->names, name) >= 0)) return MFPG_OK;
    char shown[MFPG_SHOWN_SIZE];
    char *word = mfpg_text_copy(name.at, name.length);
    if (!word) return mfpg_fail_memory(b->ctx);
    const char *nearest = mfpg_names_nearest(word, (const char *const *)b->features.keys, b->features.count);
    mfpg_status status = mfpg_fail(b->ctx, MFPG_ERR_INPUT, "%s:%u: the data have no column %s%s%s%s",
        b->table.path, mfpg_table_line(&b->table, row), mfpg_slice_show(name, shown),
        nearest ? "; did you mean \"" : "", nearest ? nearest : "", nearest ? "\"?" : "");
    free(word);
    return status;
}

static mfpg_status read_bounds_row(bounds_file *b, ptrdiff_t row, mfpg_frame *frame, unsigned char *given) {
    char shown[MFPG_SHOWN_SIZE];
    mfpg_slice name = mfpg_table_text(&b->table, row, b->column, NULL);
    uint32_t line = mfpg_table_line(&b->table, row);
    ptrdiff_t feature;
    mfpg_status status = find_feature(b, row, name, &feature);
    if (status != MFPG_OK || feature < 0) return status;
    if (given[feature])
        return mfpg_fail(b->ctx, MFPG_ERR_INPUT, "%s:%u: column %s is given twice", b->table.path, line,
            mfpg_slice_show(name, shown));
    given[feature] = 1;
    double low, high;
    if (!mfpg_table_number(&b->table, row, b->low, &low) ||
        !mfpg_table_number(&b->table, row, b->high, &high))
        return mfpg_fail(b->ctx, MFPG_ERR_INPUT, "%s:%u: column %s: low and high must be finite numbers",
            b->table.path, line, mfpg_slice_show(name, shown));
    if (!(low < high) || !isfinite(high - low))
        return mfpg_fail(b->ctx, MFPG_ERR_INPUT, "%s:%u: column %s: low must be less than high",
            b->table.path, line, mfpg_slice_show(name, shown));
    frame->low[feature] = low;
    frame->high[feature] = high;
    return MFPG_OK;
}

/* Indicators start with [0, 1], everything else without bounds. */
static void start_bounds(const mfpg_schema *schema, mfpg_frame *frame) {
    for (ptrdiff_t j = 0; j < frame->features; j++) frame->low[j] = frame->high[j] = NAN;
    for (ptrdiff_t i = 0; schema && i < schema->columns; i++) {
        const mfpg_column *column = &schema->column[i];
        if (column->role != MFPG_ROLE_CATEGORY) continue;
        for (ptrdiff_t v = 1; v < column->category.listed->count; v++) {
            frame->low[column->feature + v - 1] = 0;
            frame->high[column->feature + v - 1] = 1;
        }
    }
}

static mfpg_status read_rows(bounds_file *b, mfpg_frame *frame, unsigned char *given) {
    mfpg_status status = MFPG_OK;
    for (ptrdiff_t j = 0; j < frame->features; j++)
        if (mfpg_lookup_add(&b->features, mfpg_slice_of(frame->feature_names[j])) < 0)
            return mfpg_fail_memory(b->ctx);
    for (ptrdiff_t row = 0; row < b->table.rows && status == MFPG_OK; row++)
        status = read_bounds_row(b, row, frame, given);
    for (ptrdiff_t j = 0; j < frame->features && status == MFPG_OK; j++)
        if (isnan(frame->low[j]))
            status = mfpg_fail(b->ctx, MFPG_ERR_INPUT, "%s: no bounds for column \"%s\"", b->table.path,
                frame->feature_names[j]);
    return status;
}

mfpg_status mfpg_bounds_read(
    mfpg_context *ctx, const char *path, const mfpg_schema *schema, mfpg_frame *frame) {
    bounds_file b = {.ctx = ctx, .schema = schema};
    mfpg_status status = MFPG_OK;
    unsigned char *given = mfpg_alloc(frame->features, sizeof *given);
    frame->low = mfpg_alloc(frame->features, sizeof *frame->low);
    frame->high = mfpg_alloc(frame->features, sizeof *frame->high);
    if (!given || !frame->low || !frame->high) status = mfpg_fail_memory(ctx);
    if (status == MFPG_OK) status = open_file(&b, path);
    if (status == MFPG_OK) {
        start_bounds(schema, frame);
        status = read_rows(&b, frame, given);
    }
    mfpg_table_clear(&b.table);
    mfpg_lookup_clear(&b.features);
    free(given);
    return status;
}
