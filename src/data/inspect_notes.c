/* What the reader met on its way, as sentences. */
#include <stdio.h>
#include <string.h>

#include "inspect.h"

/* "%lld" stands for the count. */
static const struct note_text {
    mfpg_note_kind note;
    const char *kind, *setting, *one, *many;
} texts[] = {
    {MFPG_NOTE_BYTE_ORDER_MARK, "byte-order-mark", NULL,
        "the file begins with a byte order mark, which is skipped", NULL},
    {MFPG_NOTE_CR_LF, "cr-lf", NULL, "1 line ends in CR LF, as on Windows; both line ends are read",
        "%lld lines end in CR LF, as on Windows; both line ends are read"},
    {MFPG_NOTE_CR_ALONE, "cr-alone", NULL, "1 line ends in CR alone, which is read",
        "%lld lines end in CR alone, which is read"},
    {MFPG_NOTE_NO_LAST_LINE_END, "no-last-line-end", NULL,
        "the last line has no line end, which is read; a file cut short looks the same", NULL},
    {MFPG_NOTE_BLANK_LINE, "blank-lines", NULL, "1 blank line, which is skipped",
        "%lld blank lines, which are skipped"},
    {MFPG_NOTE_COMMENT_LINE, "comment-lines", NULL, "1 comment line, which is skipped",
        "%lld comment lines, which are skipped"},
    {MFPG_NOTE_BLANKS_AT_SEPARATOR, "blank-behind-separator", NULL,
        "1 separator with a blank behind it, which is no part of the value",
        "%lld separators with a blank behind them, which is no part of the value"},
    {MFPG_NOTE_TRAILING_BLANKS, "trailing-blanks", NULL, "1 line ends in a blank, which is skipped",
        "%lld lines end in a blank, which is skipped"},
    {MFPG_NOTE_EXPLICIT_ZERO, "explicit-zeros", NULL,
        "1 entry is written as 0, the same as if it were left out",
        "%lld entries are written as 0, the same as if they were left out"},
    {MFPG_NOTE_GZIP, "gzip", NULL, "the file is compressed by gzip and read as it is", NULL},
    {MFPG_NOTE_BIG_ENDIAN, "big-endian", NULL,
        "sizes and values stand with the highest byte first, as the format demands", NULL},
    {MFPG_NOTE_COLUMNS_FIRST, "columns-first", NULL,
        "the array stands column by column (fortran_order) and is turned while it is read", NULL},
};

static mfpg_status check_separator(mfpg_inspection *check) {
    const char *name = NULL;
    switch (check->table.notes.separator) {
    case ';': name = "semicolons"; break;
    case '\t': name = "tabs"; break;
    case ' ': name = "blanks"; break;
    }
    if (!name) return MFPG_OK;
    return mfpg_inspect_odd(check, "separator", "data.separator", 0, check->table.rows,
        "values are separated by %s, which is found out; data.separator would fix it", name);
}

static mfpg_status check_header(mfpg_inspection *check) {
    if (!check->table.cells || check->report->header) return MFPG_OK;
    return mfpg_inspect_odd(check, "no-header", "data.header", mfpg_table_line(&check->table, 0), 1,
        "the first row seems to be data, not a header; data.header: false, and data.columns may name the "
        "columns");
}

/* Where the last feature is rare, another file of the same data may well lack it. */
static mfpg_status check_top_index(mfpg_inspection *check) {
    const mfpg_table *table = &check->table;
    int64_t rows = 0, first = 0;
    ptrdiff_t top = check->features - 1;
    if (!table->sparse) return MFPG_OK;
    for (ptrdiff_t i = 0; i < table->rows; i++)
        if (table->numbers[i * table->columns + top] != 0 && rows++ == 0) first = mfpg_table_line(table, i);
    if (rows > table->rows / 100) return MFPG_OK;
    return mfpg_inspect_odd(check, "top-index", NULL, first, rows,
        "the largest index, %td, stands in %lld of %td rows: other files of the same data may lack it or go "
        "beyond "
        "it, which is read as 0",
        top + 1, (long long)rows, table->rows);
}

static mfpg_status check_labels(mfpg_inspection *check) {
    const mfpg_table *table = &check->table;
    if (check->options->labels || table->notes.of[MFPG_NOTE_LAST_IS_LABEL].count == 0) return MFPG_OK;
    if (check->label < 0)
        return mfpg_inspect_odd(check, "no-labels", "data.labels", 0, 0,
            "the file holds no labels; data.labels names the file that does (here: --labels FILE)");
    return mfpg_inspect_odd(check, "last-column-label", "data.labels", 0, 0,
        "the last column counts as the label unless data.labels names a file of labels (here: --labels FILE) "
        "or "
        "data.label.column another column");
}

static mfpg_status check_bounds(mfpg_inspection *check) {
    const mfpg_table *table = &check->table;
    if (!(table->low < table->high) || check->features < 2) return MFPG_OK;
    return mfpg_inspect_odd(check, "byte-values", "data.scale", 0, check->features,
        "values are bytes with the public bounds %g and %g, and are mapped to [0, 1] unless data.scale says "
        "otherwise",
        table->low, table->high);
}

mfpg_status mfpg_inspect_notes(mfpg_inspection *check) {
    const mfpg_notes *notes = &check->table.notes;
    mfpg_status status = check_header(check);
    if (status == MFPG_OK) status = check_separator(check);
    for (size_t i = 0; i < sizeof texts / sizeof texts[0] && status == MFPG_OK; i++) {
        const struct note_text *t = &texts[i];
        int64_t count = notes->of[t->note].count;
        char text[160];
        const char *number = t->many ? strstr(t->many, "%lld") : NULL;
        if (count == 0) continue;
        snprintf(text, sizeof text, "%s", t->one);
        if (count > 1 && number) snprintf(text, sizeof text, "%lld%s", (long long)count, number + 4);
        status = mfpg_inspect_odd(check, t->kind, t->setting, notes->of[t->note].line, count, "%s", text);
    }
    if (status == MFPG_OK) status = check_top_index(check);
    if (status == MFPG_OK) status = check_bounds(check);
    if (status == MFPG_OK) status = check_labels(check);
    return status;
}
