#include "run_table.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/file.h"
#include "base/memory.h"
#include "base/number.h"
#include "data/slice.h"

enum { MOST_COLUMNS = 256 };
static const size_t LARGEST_FILE = (size_t)1 << 30;

void run_table_clear(run_table *table) {
    free(table->path);
    free(table->text);
    free(table->name);
    free(table->cell);
    free(table->number);
    free(table->line);
    *table = (run_table){0};
}

ptrdiff_t run_table_column(const run_table *table, const char *name) {
    for (ptrdiff_t c = 0; c < table->columns; c++)
        if (strcmp(table->name[c], name) == 0) return c;
    return -1;
}

const char *run_table_text(const run_table *table, ptrdiff_t row, ptrdiff_t column) {
    return table->cell[row * table->columns + column];
}

double run_table_number(const run_table *table, ptrdiff_t row, ptrdiff_t column) {
    return table->number[row * table->columns + column];
}

/* ---- fields ---- */

typedef struct reader {
    mfpg_context *ctx;
    run_table *table;
    char *at;
    ptrdiff_t line;
    int ended; /* the last field ended its row */
} reader;

static mfpg_status fail_at(const reader *from, const char *what) {
    return mfpg_fail(from->ctx, MFPG_ERR_INPUT, "%s:%td: %s", from->table->path, from->line, what);
}

/* The rest of a quoted field, in place; at stands behind the opening quote. */
static mfpg_status take_quoted(reader *from, const char **field) {
    char *to = from->at, *at = from->at;
    *field = to;
    for (; *at; at++) {
        if (*at == '\n') from->line++;
        if (*at == '"' && at[1] != '"') break;
        if (*at == '"') at++;
        *to++ = *at;
    }
    if (!*at) return fail_at(from, "a quoted field has no end");
    from->at = at + 1;
    if (*from->at != ',' && *from->at != '\n') return fail_at(from, "something stands behind a quoted field");
    from->ended = *from->at == '\n';
    *from->at++ = 0;
    *to = 0;
    return MFPG_OK;
}

/* One field; every row ends with a line end, so that a file that was cut is found out. */
static mfpg_status take_field(reader *from, const char **field) {
    if (*from->at == '"') {
        from->at++;
        return take_quoted(from, field);
    }
    *field = from->at;
    while (*from->at && *from->at != ',' && *from->at != '\n') from->at++;
    if (!*from->at) return fail_at(from, "the line has no end: the file is cut short");
    from->ended = *from->at == '\n';
    *from->at++ = 0;
    return MFPG_OK;
}

static mfpg_status take_header(reader *from) {
    run_table *table = from->table;
    table->name = mfpg_alloc(MOST_COLUMNS, sizeof *table->name);
    if (!table->name) return mfpg_fail_memory(from->ctx);
    while (!from->ended) {
        if (table->columns == MOST_COLUMNS) return fail_at(from, "more than 256 columns");
        mfpg_status status = take_field(from, &table->name[table->columns]);
        if (status != MFPG_OK) return status;
        if (run_table_column(table, table->name[table->columns]) >= 0) return fail_at(from, "a column twice");
        table->columns++;
    }
    from->line++;
    return MFPG_OK;
}

/* Whether "a,b,c" has the name. */
static int lists(const char *names, const char *name) {
    size_t length = strlen(name);
    for (const char *at = names; at; at = strchr(at, ',')) {
        if (*at == ',') at++;
        if (strncmp(at, name, length) == 0 && (at[length] == ',' || at[length] == 0)) return 1;
    }
    return 0;
}

static mfpg_status check_names(const reader *from, const char *names) {
    for (const char *at = names; *at;) {
        char name[64];
        size_t length = strcspn(at, ",");
        snprintf(name, sizeof name, "%.*s", (int)length, at);
        if (run_table_column(from->table, name) < 0)
            return mfpg_fail(from->ctx, MFPG_ERR_INPUT, "%s:1: there is no column '%s'; expected: %s",
                from->table->path, name, names);
        at += length + (at[length] == ',');
    }
    return MFPG_OK;
}

static mfpg_status take_number(const reader *from, const char *name, const char *field, double *value) {
    *value = NAN;
    if (!*field || mfpg_number_parse(field, strlen(field), value)) return MFPG_OK;
    if (strcmp(field, "inf") == 0) {
        *value = INFINITY;
        return MFPG_OK;
    }
    char shown[MFPG_SHOWN_SIZE];
    return mfpg_fail(from->ctx, MFPG_ERR_INPUT,
        "%s:%td: column %s: found %s; allowed: a number, inf, or nothing", from->table->path, from->line,
        name, mfpg_slice_show(mfpg_slice_of(field), shown));
}

static mfpg_status take_row(reader *from, const char *is_number) {
    run_table *table = from->table;
    ptrdiff_t first = table->rows * table->columns;
    table->line[table->rows] = from->line;
    from->ended = 0;
    for (ptrdiff_t c = 0; c < table->columns; c++) {
        if (from->ended) return fail_at(from, "the row has too few fields");
        mfpg_status status = take_field(from, &table->cell[first + c]);
        if (status != MFPG_OK) return status;
        table->number[first + c] = NAN;
        if (is_number[c])
            status = take_number(from, table->name[c], table->cell[first + c], &table->number[first + c]);
        if (status != MFPG_OK) return status;
    }
    if (!from->ended) return fail_at(from, "the row has too many fields");
    table->rows++;
    from->line++;
    return MFPG_OK;
}

/* ---- the file ---- */

static ptrdiff_t count_lines(const char *text) {
    ptrdiff_t lines = 0;
    for (; *text; text++) lines += *text == '\n';
    return lines;
}

static mfpg_status take_rows(reader *from, const char *numbers) {
    run_table *table = from->table;
    char is_number[MOST_COLUMNS];
    ptrdiff_t most = count_lines(from->at);
    for (ptrdiff_t c = 0; c < table->columns; c++) is_number[c] = (char)lists(numbers, table->name[c]);
    if (most > PTRDIFF_MAX / 64 / table->columns) return fail_at(from, "too many rows");
    table->line = mfpg_alloc(most, sizeof *table->line);
    table->cell = mfpg_alloc(most * table->columns, sizeof *table->cell);
    table->number = mfpg_alloc(most * table->columns, sizeof *table->number);
    if (!table->line || !table->cell || !table->number) return mfpg_fail_memory(from->ctx);
    mfpg_status status = MFPG_OK;
    while (*from->at && status == MFPG_OK) {
        if (table->rows == most) return fail_at(from, "the line has no end: the file is cut short");
        status = take_row(from, is_number);
    }
    return status;
}

mfpg_status run_table_read(mfpg_context *ctx, const char *folder, const char *file, const char *names,
    const char *numbers, run_table *out) {
    run_table made = {.path = mfpg_path_join(folder, file)};
    size_t length = 0;
    mfpg_status status = made.path ? MFPG_OK : mfpg_fail_memory(ctx);
    if (status == MFPG_OK) status = mfpg_file_read(ctx, made.path, LARGEST_FILE, &made.text, &length);
    reader from = {.ctx = ctx, .table = &made, .at = made.text, .line = 1};
    if (status == MFPG_OK && strlen(made.text) < length) status = fail_at(&from, "a byte 0: no text");
    if (status == MFPG_OK) status = take_header(&from);
    if (status == MFPG_OK) status = check_names(&from, names);
    if (status == MFPG_OK) status = take_rows(&from, numbers);
    if (status == MFPG_OK)
        *out = made;
    else
        run_table_clear(&made);
    return status;
}

mfpg_status run_table_check_count(
    mfpg_context *ctx, const run_table *table, const char *column, ptrdiff_t first) {
    ptrdiff_t c = run_table_column(table, column);
    for (ptrdiff_t i = 0; i < table->rows; i++) {
        if (run_table_number(table, i, c) == (double)(first + i)) continue;
        char shown[MFPG_SHOWN_SIZE];
        return mfpg_fail(ctx, MFPG_ERR_INPUT,
            "%s:%td: column %s: found %s; expected %td, one row after the other", table->path, table->line[i],
            column, mfpg_slice_show(mfpg_slice_of(run_table_text(table, i, c)), shown), first + i);
    }
    return MFPG_OK;
}
