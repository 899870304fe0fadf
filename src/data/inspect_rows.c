/* Rows: how many, and which stand there twice. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "inspect.h"

enum { FEW_ROWS = 20, MOST_TOLD = 12 };

typedef struct row_key {
    uint64_t hash;
    ptrdiff_t row;
} row_key;

static uint64_t hash_bytes(uint64_t h, const void *bytes, size_t length) { /* FNV-1a */
    const unsigned char *at = bytes;
    for (size_t i = 0; i < length; i++) h = (h ^ at[i]) * 1099511628211u;
    return h;
}

static mfpg_slice cell_text(const mfpg_table *table, ptrdiff_t row, ptrdiff_t column) {
    return mfpg_slice_trim(mfpg_table_text(table, row, column, NULL));
}

static uint64_t hash_row(const mfpg_table *table, ptrdiff_t row) {
    uint64_t h = 14695981039346656037u;
    size_t columns = (size_t)table->columns;
    if (table->numbers) return hash_bytes(h, table->numbers + row * table->columns, columns * sizeof(float));
    for (ptrdiff_t j = 0; j < table->columns; j++) {
        mfpg_slice text = cell_text(table, row, j);
        h = hash_bytes(hash_bytes(h, text.at, text.length), "\x1f", 1); /* "a", "bc" is not "ab", "c" */
    }
    return h;
}

static int compare_rows(const mfpg_table *table, ptrdiff_t a, ptrdiff_t b) {
    size_t columns = (size_t)table->columns;
    if (table->numbers)
        return memcmp(table->numbers + a * table->columns, table->numbers + b * table->columns,
            columns * sizeof(float));
    for (ptrdiff_t j = 0; j < table->columns; j++) {
        mfpg_slice x = cell_text(table, a, j), y = cell_text(table, b, j);
        if (x.length != y.length) return x.length < y.length ? -1 : 1;
        int order = memcmp(x.at, y.at, x.length);
        if (order != 0) return order;
    }
    return 0;
}

/* By hash, then by content, so that equal rows are neighbours whoever wrote them, then by row. */
static int order_keys(const void *a, const void *b, void *table) {
    const row_key *x = a, *y = b;
    if (x->hash != y->hash) return x->hash < y->hash ? -1 : 1;
    int order = compare_rows(table, x->row, y->row);
    if (order != 0) return order;
    return (x->row > y->row) - (x->row < y->row);
}

static mfpg_status check_duplicates(mfpg_inspection *check) {
    mfpg_table *table = &check->table;
    row_key *key = mfpg_alloc(table->rows, sizeof *key);
    if (!key) return mfpg_fail_memory(check->ctx);
    for (ptrdiff_t i = 0; i < table->rows; i++) key[i] = (row_key){hash_row(table, i), i};
    qsort_r(key, (size_t)table->rows, sizeof *key, order_keys, table);
    int64_t count = 0;
    ptrdiff_t first = table->rows, of = 0, group = 0;
    for (ptrdiff_t i = 1; i < table->rows; i++) {
        if (key[i].hash != key[i - 1].hash || compare_rows(table, key[i].row, key[i - 1].row) != 0) {
            group = i;
            continue;
        }
        count++;
        if (key[i].row >= first) continue;
        first = key[i].row;
        of = key[group].row;
    }
    free(key);
    if (count == 0) return MFPG_OK;
    return mfpg_inspect_odd(check, "duplicate-rows", NULL, mfpg_table_line(table, first), count,
        "%lld row%s the same as an earlier one, the first that of %s %u; such rows are kept",
        (long long)count, count == 1 ? " is" : "s are", mfpg_inspect_line_word(check),
        mfpg_table_line(table, of));
}

int mfpg_inspect_mostly_missing(const mfpg_inspection *check, ptrdiff_t column) {
    return column < check->features && column != check->label &&
           3 * check->report->column[column].missing > check->table.rows;
}

/* 1 where no cell of the row is missing; without 1: columns that miss many values aside. */
static int is_complete(const mfpg_inspection *check, ptrdiff_t row, int without) {
    mfpg_cell_view cell;
    for (ptrdiff_t j = 0; j < check->features; j++) {
        const mfpg_column_report *column = &check->report->column[j];
        if (column->missing == 0 || (without && mfpg_inspect_mostly_missing(check, j))) continue;
        mfpg_inspect_cell(check, row, j, &cell);
        if (cell.kind == MFPG_CELL_MISSING || (cell.kind == MFPG_CELL_DOUBT && column->texts == 0)) return 0;
    }
    return 1;
}

/* How many rows are used if those with a missing value are dropped; and how many without the columns that miss more
 * than a third of their values. */
static mfpg_status check_complete(mfpg_inspection *check) {
    char list[300] = "";
    int64_t missing = 0, columns = 0, complete = 0, kept = 0;
    for (ptrdiff_t j = 0; j < check->features; j++) {
        const mfpg_column_report *column = &check->report->column[j];
        missing += column->missing;
        if (!mfpg_inspect_mostly_missing(check, j)) continue;
        size_t used = strlen(list);
        if (columns++ < MOST_TOLD)
            snprintf(list + used, sizeof list - used, "%s%s", used ? ", " : "", column->name);
    }
    if (missing == 0) return MFPG_OK;
    for (ptrdiff_t i = 0; i < check->table.rows; i++) {
        complete += is_complete(check, i, 0);
        kept += is_complete(check, i, 1);
    }
    if (columns == 0)
        return mfpg_inspect_odd(check, "incomplete-rows", "data.missing.rows", 0,
            check->table.rows - complete,
            "%lld of %td rows are complete and used with data.missing.rows: drop", (long long)complete,
            check->table.rows);
    return mfpg_inspect_odd(check, "incomplete-rows", "data.drop_columns", 0, check->table.rows - complete,
        "%lld of %td rows are complete; %lld would be without the columns that miss more than a third of "
        "their values "
        "(data.drop_columns: %s%s)",
        (long long)complete, check->table.rows, (long long)kept, list, columns > MOST_TOLD ? ", ..." : "");
}

static mfpg_status check_features(mfpg_inspection *check) {
    if (check->table.columns > 1) return MFPG_OK;
    return mfpg_inspect_odd(check, "one-column", check->table.cells ? NULL : "data.labels", 0, 1,
        "a single column: labels without features%s",
        check->table.cells ? "" : "; data.labels names such a file beside the one of the features");
}

mfpg_status mfpg_inspect_rows(mfpg_inspection *check) {
    mfpg_status status = MFPG_OK;
    if (check->table.rows < FEW_ROWS)
        status = mfpg_inspect_odd(check, "few-rows", NULL, 0, check->table.rows,
            "only %td row%s: too few to learn much from, or to test on", check->table.rows,
            check->table.rows == 1 ? "" : "s");
    if (status == MFPG_OK) status = check_features(check);
    if (status == MFPG_OK) status = check_complete(check);
    if (status == MFPG_OK && check->table.columns > 1) status = check_duplicates(check);
    return status;
}
