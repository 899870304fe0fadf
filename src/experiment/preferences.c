/* Preferences from a file: one row a client, one of its columns. */
#include <math.h>

#include "base/error.h"
#include "data/readers.h"
#include "internal.h"

static mfpg_status take_column(
    mfpg_context *ctx, const mfpg_table *table, ptrdiff_t column, ptrdiff_t clients, double *out) {
    if (table->rows != clients)
        return mfpg_fail(ctx, MFPG_ERR_INPUT, "%s: has %td rows for %td clients; one row a client is needed",
            table->path, table->rows, clients);
    for (ptrdiff_t k = 0; k < clients; k++) {
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

mfpg_status mfpg_read_preferences(
    mfpg_context *ctx, const char *path, const char *column, ptrdiff_t clients, double *out) {
    const mfpg_reader_ops *csv;
    mfpg_data_options options = mfpg_data_options_default();
    mfpg_table table = {0};
    mfpg_status status = mfpg_reader_find(ctx, "csv", &csv);
    if (status == MFPG_OK) status = csv->read(ctx, path, &options, &table);
    ptrdiff_t found = 0;
    if (status == MFPG_OK && column) found = mfpg_lookup_find(&table.names, mfpg_slice_of(column));
    if (status == MFPG_OK && (found < 0 || (!column && table.columns != 1)))
        status =
            mfpg_fail(ctx, MFPG_ERR_INPUT, "%s:1: game.preferences.column: the file has no column \"%s\"",
                path, column ? column : "(none named, several there)");
    if (status == MFPG_OK) status = take_column(ctx, &table, found, clients, out);
    mfpg_table_clear(&table);
    return status;
}
