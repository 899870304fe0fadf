/* Preferences from a file: one row a client, one of its columns. */
#include <math.h>
#include <stdlib.h>

#include "mfpg/names.h"

#include "base/error.h"
#include "base/memory.h"
#include "data/readers.h"
#include "internal.h"

static mfpg_status take_column(mfpg_context *ctx, const mfpg_table *table, ptrdiff_t column, double *out) {
    for (ptrdiff_t k = 0; k < table->rows; k++) {
        if (mfpg_table_number(table, k, column, &out[k]) && out[k] > 0.0) continue;
        char buffer[MFPG_NUMBER_SIZE];
        mfpg_slice text = mfpg_table_text(table, k, column, buffer);
        return mfpg_fail(ctx, MFPG_ERR_INPUT,
            "%s:%u: column \"%s\": a preference is a positive finite number, found \"%.*s\"", table->path,
            mfpg_table_line(table, k), table->names.keys[column], (int)(text.length < 40 ? text.length : 40),
            text.at);
    }
    return MFPG_OK;
}

static mfpg_status find_column(
    mfpg_context *ctx, const mfpg_table *table, const char *column, ptrdiff_t *out) {
    if (table->rows < 1)
        return mfpg_fail(ctx, MFPG_ERR_INPUT, "%s: has no rows; one row a client is needed", table->path);
    *out = column ? mfpg_lookup_find(&table->names, mfpg_slice_of(column)) : 0;
    if (*out >= 0 && (column || table->columns == 1)) return MFPG_OK;
    if (!column)
        return mfpg_fail(ctx, MFPG_ERR_INPUT,
            "%s:1: has %td columns; the column of preferences must be named", table->path, table->columns);
    mfpg_status status =
        mfpg_names_unknown(ctx, "column", column, (const char *const *)table->names.keys, table->columns);
    return mfpg_fail_in(ctx, status, "%s:1", table->path);
}

mfpg_status mfpg_read_preferences(
    mfpg_context *ctx, const char *path, const char *column, ptrdiff_t *count, double **out) {
    const mfpg_reader_ops *csv;
    mfpg_data_options options = mfpg_data_options_default();
    mfpg_table table = {0};
    mfpg_status status = mfpg_reader_find(ctx, "csv", &csv);
    if (status == MFPG_OK) status = csv->read(ctx, path, &options, &table);
    ptrdiff_t found = 0;
    double *list = NULL;
    if (status == MFPG_OK) status = find_column(ctx, &table, column, &found);
    if (status == MFPG_OK && !(list = mfpg_alloc(table.rows, sizeof *list))) status = mfpg_fail_memory(ctx);
    if (status == MFPG_OK) status = take_column(ctx, &table, found, list);
    if (status == MFPG_OK) {
        *count = table.rows;
        *out = list;
    } else {
        free(list);
    }
    mfpg_table_clear(&table);
    return status;
}
