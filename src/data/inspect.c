/* mfpg_data_check: recognise, read, look at the table from every side. */
#include "inspect.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <zlib.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/names.h"
#include "foreign.h"
#include "readers.h"

enum { MOST_TEXT = 900 };

/* ---- texts and oddities ---- */

char *mfpg_inspect_text(mfpg_slice text) {
    char *copy = mfpg_text_copy(text.at, text.length);
    if (!copy) return NULL;
    for (size_t i = 0; i < text.length; i++)
        if (copy[i] == 0) copy[i] = ' ';
    mfpg_text_flatten(copy, text.length);
    int clean = mfpg_text_is_utf8(copy);
    for (size_t i = 0; i < text.length; i++) {
        unsigned char c = (unsigned char)copy[i], next = (unsigned char)copy[i + 1];
        int control = c == 0xC2 && next >= 0x80 && next < 0xA0; /* U+0080 to U+009F: a terminal obeys them */
        if (control) copy[i] = copy[i + 1] = ' ';
        if (!clean && c >= 0x80) copy[i] = '?';
    }
    return copy;
}

mfpg_status mfpg_inspect_odd(mfpg_inspection *check, const char *kind, const char *setting, int64_t line,
    int64_t count, const char *format, ...) {
    mfpg_data_report *report = check->report;
    char text[MOST_TEXT];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    if (report->oddities == check->oddity_room) {
        ptrdiff_t room = check->oddity_room ? 2 * check->oddity_room : 16;
        mfpg_oddity *larger = mfpg_resize(report->oddity, room, sizeof *larger);
        if (!larger) return mfpg_fail_memory(check->ctx);
        report->oddity = larger;
        check->oddity_room = room;
    }
    mfpg_oddity *odd = &report->oddity[report->oddities];
    *odd = (mfpg_oddity){.kind = kind, .setting = setting, .line = line, .count = count};
    odd->text = mfpg_inspect_text(mfpg_slice_of(text));
    if (!odd->text) return mfpg_fail_memory(check->ctx);
    report->oddities++;
    return MFPG_OK;
}

const char *mfpg_inspect_line_word(const mfpg_inspection *check) {
    return check->table.lines ? "line" : "row";
}

/* ---- reading ---- */

/* A pipe would be waited for, and could be read only once. */
static mfpg_status refuse_pipe(mfpg_context *ctx, const char *path) {
    struct stat info;
    if (stat(path, &info) != 0 || !S_ISFIFO(info.st_mode)) return MFPG_OK;
    return mfpg_fail(ctx, MFPG_ERR_INPUT, "%s: a pipe can be read only once; write a file", path);
}

/* The beginning of a file as its reader will see it: of a gzip file what is in it. */
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
    const mfpg_foreign *foreign = mfpg_foreign_recognise(head, length);
    const mfpg_reader_ops *reader = mfpg_reader_recognise(head, length);
    const char *inside = foreign ? foreign->name : reader ? reader->name : "something unknown";
    if (packed && (!reader || strcmp(reader->name, "idx") != 0) && length > 0)
        return mfpg_fail(ctx, MFPG_ERR_INPUT,
            "%s: byte 0: a gzip file around %s; only IDX files are read compressed: gunzip it first", path,
            inside);
    if (packed) reader = mfpg_reader_recognise((const unsigned char *)"\x1F\x8B", 2);
    if (foreign) return mfpg_foreign_fail(ctx, path, foreign);
    const unsigned char *zero = memchr(head, 0, length);
    if (!reader && zero)
        return mfpg_fail(ctx, MFPG_ERR_INPUT,
            "%s: byte %td: found 0x00, which is part of no text, and the file is of no format that is read: "
            "csv, "
            "libsvm, idx, npy, npz",
            path, zero - head);
    if (!reader)
        return mfpg_reader_find(ctx, "csv", out); /* control characters, but perhaps a table all the same */
    *out = reader;
    return MFPG_OK;
}

/* 1 where the text of the first row's cell stands in a later row of its column too. */
static int recurs(const mfpg_inspection *check, ptrdiff_t column, ptrdiff_t rows, mfpg_slice text) {
    mfpg_cell_view cell;
    for (ptrdiff_t i = 1; i < rows; i++) {
        mfpg_inspect_cell(check, i, column, &cell);
        if (mfpg_slice_equal(cell.text, text)) return 1;
    }
    return 0;
}

/* Guesses whether the first of a table's rows is a header: texts above columns of numbers, or in a table of texts alone
 * words that stand nowhere else. */
static int first_row_is_header(const mfpg_inspection *check) {
    ptrdiff_t rows = check->table.rows < 1000 ? check->table.rows : 1000, above = 0, numbers = 0, numeric = 0;
    int again = 0, gaps = 0;
    mfpg_cell_view first, cell;
    for (ptrdiff_t j = 0; j < check->table.columns; j++) {
        ptrdiff_t known = 0, texts = 0;
        mfpg_inspect_cell(check, 0, j, &first);
        for (ptrdiff_t i = 1; i < rows; i++) {
            mfpg_inspect_cell(check, i, j, &cell);
            known += cell.kind == MFPG_CELL_NUMBER;
            texts += cell.kind == MFPG_CELL_TEXT;
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

/* A text file is read without a header, and again with one where its first row looks like one. */
static mfpg_status read_text(mfpg_inspection *check, const mfpg_reader_ops *reader) {
    mfpg_data_options options = mfpg_data_options_default();
    options.header = 0;
    mfpg_status status = reader->read(check->ctx, check->path, &options, &check->table);
    if (status != MFPG_OK || !check->table.cells) return status;
    check->report->header = first_row_is_header(check);
    if (!check->report->header) return MFPG_OK;
    mfpg_table_clear(&check->table);
    options.header = 1;
    return reader->read(check->ctx, check->path, &options, &check->table);
}

static mfpg_status read_labels(mfpg_inspection *check, const mfpg_reader_ops *reader) {
    const char *path = check->options->labels;
    mfpg_data_options options = mfpg_data_options_default();
    mfpg_table labels = {.part = MFPG_PART_LABELS};
    mfpg_status status = refuse_pipe(check->ctx, path);
    if (status == MFPG_OK) status = mfpg_reader_refuse_foreign(check->ctx, path);
    if (status == MFPG_OK) status = mfpg_reader_of_labels(check->ctx, path, reader, &reader);
    if (status == MFPG_OK) status = reader->read(check->ctx, path, &options, &labels);
    if (status == MFPG_ERR_INPUT) mfpg_reader_explain(check->ctx, path, reader);
    if (status == MFPG_OK) status = mfpg_table_add_label(check->ctx, &check->table, &labels);
    mfpg_table_clear(&labels);
    return status;
}

static mfpg_status read_file(mfpg_inspection *check) {
    const mfpg_reader_ops *reader = NULL;
    mfpg_status status = recognise(check->ctx, check->path, &reader);
    if (status != MFPG_OK) return status;
    if (check->options->labels) check->table.part = MFPG_PART_FEATURES;
    check->report->format = reader->name;
    status = read_text(check, reader);
    check->features = check->table.columns;
    if (status == MFPG_OK && check->options->labels) status = read_labels(check, reader);
    return status;
}

/* ---- the label's column ---- */

static mfpg_status find_label(mfpg_inspection *check) {
    const mfpg_table *table = &check->table;
    const char *wanted = check->options->label_column;
    int guessed = table->notes.of[MFPG_NOTE_LAST_IS_LABEL].count > 0 || table->cells;
    int apart = check->options->labels != NULL;
    check->label = table->label;
    if (apart) guessed = 0;
    /* A pixel is no label. */
    if (guessed && table->high > table->low) check->label = -1;
    /* An array that brought its labels has one column more than it has features. */
    if (!guessed && !apart && table->columns > 1) check->features = table->columns - 1;
    check->report->label_guessed = guessed && check->label >= 0;
    if (!wanted) return MFPG_OK;
    check->label = mfpg_lookup_find(&table->names, mfpg_slice_of(wanted));
    check->report->label_guessed = 0;
    if (check->label >= 0) return MFPG_OK;
    return mfpg_names_unknown(
        check->ctx, "column", wanted, (const char *const *)table->names.keys, table->columns);
}

static mfpg_status take_facts(mfpg_inspection *check) {
    mfpg_data_report *report = check->report;
    const mfpg_table *table = &check->table;
    report->rows = table->rows;
    report->columns = check->features;
    report->separator = table->notes.separator;
    report->majority_rate = (double)NAN;
    report->about = mfpg_inspect_text(mfpg_slice_of(table->notes.about));
    if (!report->about) return mfpg_fail_memory(check->ctx);
    if (check->label < 0) return MFPG_OK;
    report->label = mfpg_inspect_text(mfpg_slice_of(table->names.keys[check->label]));
    return report->label ? MFPG_OK : mfpg_fail_memory(check->ctx);
}

mfpg_status mfpg_data_check(
    mfpg_context *ctx, const char *path, const mfpg_data_check_options *options, mfpg_data_report **out) {
    static const mfpg_data_check_options usual = {0};
    mfpg_inspection check = {.ctx = ctx, .path = path, .options = options ? options : &usual};
    check.report = mfpg_alloc(1, sizeof *check.report);
    if (!check.report) return mfpg_fail_memory(ctx);
    mfpg_status status = read_file(&check);
    if (status == MFPG_OK) status = find_label(&check);
    if (status == MFPG_OK) status = take_facts(&check);
    if (status == MFPG_OK) status = mfpg_inspect_notes(&check);
    if (status == MFPG_OK) status = mfpg_inspect_columns(&check);
    if (status == MFPG_OK) status = mfpg_inspect_label(&check);
    if (status == MFPG_OK) status = mfpg_inspect_rows(&check);
    if (status == MFPG_OK) status = mfpg_inspect_clients(&check);
    if (status == MFPG_OK) status = mfpg_inspect_configuration(&check);
    if (status == MFPG_OK)
        *out = check.report;
    else
        mfpg_data_report_destroy(check.report);
    mfpg_table_clear(&check.table);
    free(check.row_class);
    return status;
}

static void free_counts(mfpg_value_count *value, ptrdiff_t count) {
    for (ptrdiff_t i = 0; i < count; i++) free(value[i].text);
    free(value);
}

void mfpg_data_report_destroy(mfpg_data_report *report) {
    if (!report) return;
    for (ptrdiff_t j = 0; report->column && j < report->columns; j++) {
        free(report->column[j].name);
        free_counts(report->column[j].mark, report->column[j].marks);
        free_counts(report->column[j].value, report->column[j].listed);
    }
    for (ptrdiff_t i = 0; i < report->oddities; i++) free(report->oddity[i].text);
    for (ptrdiff_t i = 0; i < report->client_columns; i++) free(report->client_column[i].column);
    free_counts(report->class_rows, report->classes);
    free(report->column);
    free(report->oddity);
    free(report->client_column);
    free(report->about);
    free(report->label);
    free(report->configuration);
    free(report);
}
