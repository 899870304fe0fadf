/* mfpg_data_check recognises a file, reads it, and examines the table. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <zlib.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/names.h"
#include "inspect.h"
#include "readers.h"

/* ---- reading ---- */

/* Opening a pipe could block, and a pipe can be read only once. */
static mfpg_status refuse_pipe(mfpg_context *ctx, const char *path) {
    struct stat info;
    if (stat(path, &info) != 0 || !S_ISFIFO(info.st_mode)) return MFPG_OK;
    return mfpg_fail(ctx, MFPG_ERR_INPUT, "%s: a pipe can be read only once; write a file", path);
}

/* Returns the beginning of a file as its reader will see it; for a gzip file, of its content. */
static mfpg_status read_head(
    mfpg_context *ctx, const char *path, unsigned char head[MFPG_SNIFF_SIZE], size_t *length, int *packed) {
    mfpg_status status = refuse_pipe(ctx, path);
    if (status == MFPG_OK) status = mfpg_reader_head(ctx, path, head, length);
    if (status != MFPG_OK) return status;
    if (*length == 0) return mfpg_fail(ctx, MFPG_ERR_INPUT, "%s: byte 0: the file is empty", path);
    *packed = *length >= 2 && head[0] == 0x1F && head[1] == 0x8B;
    if (!*packed) return MFPG_OK;
    gzFile file = gzopen(path, "rb");
    if (!file) return mfpg_fail_memory(ctx);
    int got = gzread(file, head, MFPG_SNIFF_SIZE);
    gzclose(file);
    if (got < 0) return mfpg_fail(ctx, MFPG_ERR_INPUT, "%s: byte 0: the compressed data are damaged", path);
    *length = (size_t)got;
    return MFPG_OK;
}

static mfpg_status recognise(mfpg_context *ctx, const char *path, const mfpg_reader_ops **out) {
    unsigned char head[MFPG_SNIFF_SIZE];
    size_t length = 0;
    int packed = 0;
    mfpg_status status = read_head(ctx, path, head, &length, &packed);
    if (status != MFPG_OK) return status;
    const mfpg_unsupported *format = mfpg_unsupported_recognise(head, length);
    const mfpg_reader_ops *reader = mfpg_reader_recognise(head, length);
    if (packed && length > 0 && (!reader || !reader->unpacks))
        return mfpg_fail(ctx, MFPG_ERR_INPUT,
            "%s: byte 0: a gzip file around %s; only idx and npy are read compressed: gunzip it first", path,
            format   ? format->name
            : reader ? reader->name
                     : "something unknown");
    if (packed && !reader) reader = mfpg_reader_recognise((const unsigned char *)"\x1F\x8B", 2);
    if (format) return mfpg_unsupported_fail(ctx, path, format);
    const unsigned char *zero = memchr(head, 0, length);
    if (!reader && zero)
        return mfpg_fail(ctx, MFPG_ERR_INPUT,
            "%s: byte %td: found 0x00, which no text has, and the file has no format that is read: csv, "
            "libsvm, idx, npy, npz",
            path, zero - head);
    *out = reader;
    /* A text with control characters may still be a table. */
    return reader ? MFPG_OK : mfpg_reader_find(ctx, "csv", out);
}

/* Returns 1 if the text of the first row's cell also occurs in a later row of its column. */
static int recurs(const mfpg_inspection *check, ptrdiff_t column, ptrdiff_t rows, mfpg_slice text) {
    for (ptrdiff_t i = 1; i < rows; i++)
        if (mfpg_slice_equal(mfpg_inspect_cell(check, i, column).text, text)) return 1;
    return 0;
}

/* Guesses whether the first row of a table is a header: texts above columns of numbers or, in a table of
 * texts only, words that occur nowhere else. */
static int first_row_is_header(const mfpg_inspection *check) {
    ptrdiff_t rows = check->table.rows < 1000 ? check->table.rows : 1000, above = 0, numbers = 0, numeric = 0;
    int again = 0, gaps = 0;
    for (ptrdiff_t j = 0; j < check->table.columns; j++) {
        ptrdiff_t known = 0, texts = 0;
        mfpg_cell_view first = mfpg_inspect_cell(check, 0, j);
        for (ptrdiff_t i = 1; i < rows; i++) {
            mfpg_cell_kind kind = mfpg_inspect_cell(check, i, j).kind;
            known += kind == MFPG_CELL_NUMBER;
            texts += kind == MFPG_CELL_TEXT;
        }
        numeric += known > texts;
        above += known > texts && first.kind == MFPG_CELL_TEXT;
        numbers += first.kind == MFPG_CELL_NUMBER;
        gaps += first.kind == MFPG_CELL_MISSING;
        if (first.kind == MFPG_CELL_TEXT && known <= texts) again |= recurs(check, j, rows, first.text);
    }
    if (above > 0) return above >= numbers;
    return numbers == 0 && numeric == 0 && gaps == 0 && !again && rows > 1;
}

/* A text file is read without a header, and again with one if its first row looks like a header. */
static mfpg_status read_file(mfpg_inspection *check) {
    const mfpg_reader_ops *reader = NULL;
    const char *labels_path = check->options->labels;
    mfpg_data_options options = mfpg_data_options_default();
    mfpg_status status = recognise(check->ctx, check->path, &reader);
    if (status != MFPG_OK) return status;
    if (labels_path) check->table.part = MFPG_PART_FEATURES;
    check->report->format = reader->name;
    options.header = 0;
    status = reader->read(check->ctx, check->path, &options, &check->table);
    if (status == MFPG_OK && check->table.cells && first_row_is_header(check)) {
        options.header = check->report->header = 1;
        mfpg_table_clear(&check->table);
        status = reader->read(check->ctx, check->path, &options, &check->table);
    }
    check->features = check->table.columns;
    if (status != MFPG_OK || !labels_path) return status;
    mfpg_table labels = {.part = MFPG_PART_LABELS};
    options = mfpg_data_options_default();
    status = refuse_pipe(check->ctx, labels_path);
    if (status == MFPG_OK) status = mfpg_reader_read(check->ctx, reader, labels_path, &options, &labels);
    if (status == MFPG_OK) status = mfpg_table_add_label(check->ctx, &check->table, &labels);
    mfpg_table_clear(&labels);
    return status;
}

/* ---- what the file is ---- */

static mfpg_status find_label(mfpg_inspection *check) {
    const mfpg_table *table = &check->table;
    const char *wanted = check->options->label_column;
    int apart = check->options->labels != NULL;
    int guessed = !apart && (table->notes.of[MFPG_NOTE_LAST_IS_LABEL].count > 0 || table->cells);
    check->label = table->label;
    /* A pixel is not a label. */
    if (guessed && table->high > table->low) check->label = -1;
    /* An array file that includes its labels has one column more than features. */
    if (!guessed && !apart && table->columns > 1) check->features = table->columns - 1;
    check->report->label_guessed = guessed && check->label >= 0;
    if (!wanted) return MFPG_OK;
    check->label = mfpg_lookup_find(&table->names, mfpg_slice_of(wanted));
    check->report->label_guessed = 0;
    if (check->label >= 0) return MFPG_OK;
    return mfpg_names_unknown(
        check->ctx, "column", wanted, (const char *const *)table->names.keys, table->columns);
}

static void describe(mfpg_inspection *check) {
    mfpg_data_report *report = check->report;
    const mfpg_table *table = &check->table;
    report->rows = table->rows;
    report->columns = check->features;
    report->separator = table->notes.separator;
    report->majority_rate = (double)NAN;
    report->about = mfpg_inspect_text(check, mfpg_slice_of(table->notes.about));
    if (check->label >= 0)
        report->label = mfpg_inspect_text(check, mfpg_slice_of(table->names.keys[check->label]));
}

/* ---- what its reader noted ---- */

/* many: "%lld" is the count. */
static const struct note_text {
    mfpg_note_kind note;
    const char *kind, *one, *many;
} notes[] = {
    {MFPG_NOTE_BYTE_ORDER_MARK, "byte-order-mark", "the file begins with a byte order mark, which is skipped",
        NULL},
    {MFPG_NOTE_CR_LF, "cr-lf", "1 line ends in CR LF, as on Windows; both line ends are read",
        "%lld lines end in CR LF, as on Windows; both line ends are read"},
    {MFPG_NOTE_CR_ALONE, "cr-alone", "1 line ends in CR alone, which is read",
        "%lld lines end in CR alone, which is read"},
    {MFPG_NOTE_NO_LAST_LINE_END, "no-last-line-end",
        "the last line has no line end, which is read; a file cut short looks the same", NULL},
    {MFPG_NOTE_BLANK_LINE, "blank-lines", "1 blank line, which is skipped",
        "%lld blank lines, which are skipped"},
    {MFPG_NOTE_COMMENT_LINE, "comment-lines", "1 comment line, which is skipped",
        "%lld comment lines, which are skipped"},
    {MFPG_NOTE_BLANKS_AT_SEPARATOR, "blank-behind-separator",
        "1 separator is followed by a blank, which is not part of the value",
        "%lld separators are followed by a blank, which is not part of the value"},
    {MFPG_NOTE_TRAILING_BLANKS, "trailing-blanks", "1 line ends in a blank, which is skipped",
        "%lld lines end in a blank, which is skipped"},
    {MFPG_NOTE_EXPLICIT_ZERO, "explicit-zeros", "1 entry is written as 0, the same as if it were left out",
        "%lld entries are written as 0, the same as if they were left out"},
    {MFPG_NOTE_GZIP, "gzip", "the file is compressed by gzip and read as it is", NULL},
    {MFPG_NOTE_BIG_ENDIAN, "big-endian",
        "sizes and values have the highest byte first, as the format demands", NULL},
    {MFPG_NOTE_COLUMNS_FIRST, "columns-first",
        "the array is stored column by column (fortran_order) and is turned while it is read", NULL},
};

/* If the last feature is rare, another file of the same data may lack it. */
static void note_top_index(mfpg_inspection *check) {
    const mfpg_table *table = &check->table;
    int64_t rows = 0, first = 0;
    ptrdiff_t top = check->features - 1;
    for (ptrdiff_t i = 0; i < table->rows; i++)
        if (table->numbers[i * table->columns + top] != 0 && rows++ == 0) first = mfpg_table_line(table, i);
    if (rows <= table->rows / 100)
        mfpg_inspect_odd(check, "top-index", NULL, first, rows,
            "the largest index, %td, is in %lld of %td rows: other files of the same data may lack it or go "
            "beyond it, which is read as 0",
            top + 1, (long long)rows, table->rows);
}

static void inspect_notes(mfpg_inspection *check) {
    const mfpg_table *table = &check->table;
    char separator = table->notes.separator;
    if (table->cells && !check->report->header)
        mfpg_inspect_odd(check, "no-header", "data.header", mfpg_table_line(table, 0), 1,
            "the first row seems to be data, not a header; data.header: false, and data.columns may name the "
            "columns");
    if (separator && separator != ',')
        mfpg_inspect_odd(check, "separator", "data.separator", 0, table->rows,
            "values are separated by %s, as the file shows; data.separator would fix it",
            separator == ';'    ? "semicolons"
            : separator == '\t' ? "tabs"
                                : "blanks");
    for (size_t i = 0; i < sizeof notes / sizeof notes[0]; i++) {
        const struct note_text *t = &notes[i];
        int64_t count = table->notes.of[t->note].count;
        uint32_t line = table->notes.of[t->note].line;
        if (count > 1 && t->many)
            mfpg_inspect_odd(
                check, t->kind, NULL, line, count, "%lld%s", (long long)count, t->many + strlen("%lld"));
        else if (count > 0)
            mfpg_inspect_odd(check, t->kind, NULL, line, count, "%s", t->one);
    }
    if (table->sparse) note_top_index(check);
    if (table->low < table->high && check->features > 1)
        mfpg_inspect_odd(check, "byte-values", "data.scale", 0, check->features,
            "values are bytes with the public bounds %g and %g, and are mapped to [0, 1] unless data.scale "
            "says otherwise",
            table->low, table->high);
    if (check->options->labels || table->notes.of[MFPG_NOTE_LAST_IS_LABEL].count == 0) return;
    if (check->label < 0)
        mfpg_inspect_odd(check, "no-labels", "data.labels", 0, 0,
            "the file holds no labels; data.labels names the file that does (here: --labels FILE)");
    else
        mfpg_inspect_odd(check, "last-column-label", "data.labels", 0, 0,
            "the last column counts as the label unless data.labels names a file of labels (here: --labels "
            "FILE) or data.label.column another column");
}

/* ---- all of it ---- */

mfpg_status mfpg_data_check(
    mfpg_context *ctx, const char *path, const mfpg_data_check_options *options, mfpg_data_report **out) {
    static const mfpg_data_check_options usual = {0};
    static void (*const parts[])(mfpg_inspection * check) = {
        describe, inspect_notes, mfpg_inspect_columns, mfpg_inspect_rows, mfpg_inspect_configuration};
    mfpg_inspection check = {.ctx = ctx, .path = path, .options = options ? options : &usual};
    mfpg_owned_report *owned = mfpg_inspect_alloc(&check, 1, sizeof *owned);
    if (!owned) return check.status;
    check.report = &owned->report;
    check.pool = &owned->pool;
    check.status = read_file(&check);
    if (check.status == MFPG_OK) check.status = find_label(&check);
    for (size_t i = 0; i < sizeof parts / sizeof parts[0] && check.status == MFPG_OK; i++) parts[i](&check);
    if (check.status == MFPG_OK)
        *out = check.report;
    else
        mfpg_data_report_destroy(check.report);
    mfpg_table_clear(&check.table);
    free(check.row_class);
    return check.status;
}

void mfpg_data_report_destroy(mfpg_data_report *report) {
    if (!report) return;
    mfpg_pool_clear(&((mfpg_owned_report *)report)->pool);
    free(report->oddity);
    free(report);
}
