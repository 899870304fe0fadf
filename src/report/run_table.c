#include "run_table.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/fields.h"
#include "base/file.h"
#include "base/memory.h"
#include "data/readers.h"

void run_table_clear(run_table *table) {
    mfpg_table_clear(&table->cells);
    free(table->number);
    *table = (run_table){0};
}

ptrdiff_t run_table_column(const run_table *table, const char *name) {
    return mfpg_lookup_find(&table->cells.names, mfpg_slice_of(name));
}

const char *run_table_text(const run_table *table, ptrdiff_t row, ptrdiff_t column) {
    return table->cells.text + table->cells.cells[row * table->cells.columns + column].start;
}

double run_table_number(const run_table *table, ptrdiff_t row, ptrdiff_t column) {
    return table->number[row * table->cells.columns + column];
}

/* The reader of data files forgives what no run writes: other line ends, blank lines, comments, a byte order mark. */
static mfpg_status check_as_written(mfpg_context *ctx, const mfpg_table *table) {
    for (int kind = 0; kind < MFPG_NOTES; kind++)
        if (table->notes.of[kind].count > 0)
            return mfpg_fail(ctx, MFPG_ERR_INPUT, "%s:%u: %s", table->path, table->notes.of[kind].line,
                kind == MFPG_NOTE_NO_LAST_LINE_END ? "the line has no end: the file is cut short"
                                                   : "this is not what a run writes");
    return MFPG_OK;
}

/* Every column of the table of fields that a file must have. */
static mfpg_status check_names(
    mfpg_context *ctx, const run_table *table, const mfpg_fields *fields, int places) {
    for (const mfpg_record_field *f = fields->field; f < fields->field + fields->count; f++) {
        if (!(f->places & places) || (f->places & MFPG_FIELD_OPTIONAL)) continue;
        if (run_table_column(table, f->name) < 0)
            return mfpg_fail(ctx, MFPG_ERR_INPUT, "%s:1: there is no column '%s', which a %s has",
                table->cells.path, f->name, fields->record);
    }
    return MFPG_OK;
}

static mfpg_status fail_cell(
    mfpg_context *ctx, const run_table *table, ptrdiff_t row, ptrdiff_t column, const char *allowed) {
    char shown[MFPG_SHOWN_SIZE];
    return mfpg_fail(ctx, MFPG_ERR_INPUT, "%s:%u: column %s: found %s; %s", table->cells.path,
        mfpg_table_line(&table->cells, row), table->cells.names.keys[column],
        mfpg_slice_show(mfpg_slice_of(run_table_text(table, row, column)), shown), allowed);
}

static mfpg_status take_number(mfpg_context *ctx, const run_table *table, ptrdiff_t row, ptrdiff_t column) {
    const char *text = run_table_text(table, row, column);
    double *value = &table->number[row * table->cells.columns + column];
    if (!*text || mfpg_table_number(&table->cells, row, column, value)) return MFPG_OK;
    if (strcmp(text, "inf") != 0)
        return fail_cell(ctx, table, row, column, "allowed: a number, inf, or nothing");
    *value = INFINITY;
    return MFPG_OK;
}

/* What stands behind a cell in the text is a separator, a quote or a line end, which nothing needs any more. */
static mfpg_status take_cells(mfpg_context *ctx, run_table *table, const mfpg_fields *fields, int places) {
    const mfpg_table *read = &table->cells;
    table->rows = read->rows;
    table->number = mfpg_alloc(read->rows * read->columns, sizeof *table->number);
    if (!table->number) return mfpg_fail_memory(ctx);
    for (ptrdiff_t i = 0; i < read->rows * read->columns; i++) {
        read->text[read->cells[i].start + read->cells[i].length] = 0;
        table->number[i] = NAN;
    }
    mfpg_status status = MFPG_OK;
    for (ptrdiff_t c = 0; c < read->columns && status == MFPG_OK; c++) {
        const mfpg_record_field *field = mfpg_fields_find(fields, places, read->names.keys[c]);
        if (!field || !mfpg_field_is_number(field)) continue;
        for (ptrdiff_t i = 0; i < read->rows && status == MFPG_OK; i++)
            status = take_number(ctx, table, i, c);
    }
    return status;
}

mfpg_status run_table_read(mfpg_context *ctx, const char *folder, const char *file, const mfpg_fields *fields,
    int places, run_table *out) {
    mfpg_data_options options = mfpg_data_options_default();
    options.separator = ',';
    run_table made = {0};
    char *path = mfpg_path_join(folder, file);
    mfpg_status status = path ? mfpg_csv_read(ctx, path, &options, 0, &made.cells) : mfpg_fail_memory(ctx);
    if (status == MFPG_OK) status = check_names(ctx, &made, fields, places);
    if (status == MFPG_OK) status = check_as_written(ctx, &made.cells);
    if (status == MFPG_OK) status = take_cells(ctx, &made, fields, places);
    free(path);
    if (status == MFPG_OK)
        *out = made;
    else
        run_table_clear(&made);
    return status;
}

mfpg_status run_table_check_count(
    mfpg_context *ctx, const run_table *table, const char *column, ptrdiff_t first) {
    char expected[64];
    ptrdiff_t c = run_table_column(table, column);
    for (ptrdiff_t i = 0; i < table->rows; i++) {
        if (run_table_number(table, i, c) == (double)(first + i)) continue;
        snprintf(expected, sizeof expected, "expected %td, one row after the other", first + i);
        return fail_cell(ctx, table, i, c, expected);
    }
    return MFPG_OK;
}
