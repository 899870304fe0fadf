/* Comma-separated values: RFC 4180 and the common variations in real files. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/file.h"
#include "base/memory.h"
#include "readers.h"

enum { MOST_RECORD_BYTES = 1 << 24 };

/* The state of the scan of a file. The text ends with a 0 and contains no other. */
typedef struct scanner {
    mfpg_context *ctx;
    mfpg_table *table;
    char *at;       /* the next byte */
    uint32_t line;  /* its line, from 1 */
    char separator; /* a blank means runs of blanks and tabs */
    ptrdiff_t cells, cell_room, line_room;
} scanner;

static mfpg_status fail_at(const scanner *s, uint32_t line, const char *what) {
    return mfpg_fail(s->ctx, MFPG_ERR_INPUT, "%s:%u: %s", s->table->path, line, what);
}

static int is_blank(const scanner *s, char c) {
    return c == ' ' || (c == '\t' && s->separator != '\t');
}

static int ends_line(char c) {
    return c == '\n' || c == '\r' || c == 0;
}

static int ends_field(const scanner *s, char c) {
    return c == s->separator || ends_line(c) || (c == '\t' && s->separator == ' ');
}

static void skip_blanks(scanner *s) {
    while (is_blank(s, *s->at)) s->at++;
}

/* Skips LF, CR LF or a lone CR. */
static void end_line(scanner *s) {
    mfpg_notes *notes = &s->table->notes;
    if (*s->at == 0) return;
    if (s->at[0] == '\r')
        mfpg_notes_add(notes, s->at[1] == '\n' ? MFPG_NOTE_CR_LF : MFPG_NOTE_CR_ALONE, s->line);
    if (s->at[0] == '\r' && s->at[1] == '\n') s->at++;
    s->at++;
    s->line++;
}

static mfpg_status push_cell(scanner *s, const char *start, const char *end) {
    mfpg_cell *cells = mfpg_grow(s->table->cells, s->cells, &s->cell_room, sizeof *cells);
    if (!cells) return mfpg_fail_memory(s->ctx);
    s->table->cells = cells;
    cells[s->cells++] = (mfpg_cell){(uint32_t)(start - s->table->text), (uint32_t)(end - start)};
    return MFPG_OK;
}

/* Reads a field in quotes: doubled quotes become one in place, line ends are kept. Blanks outside the quotes
 * are dropped. */
static mfpg_status read_quoted(scanner *s) {
    uint32_t first_line = s->line;
    char *start = ++s->at, *to = start;
    for (;;) {
        if (*s->at == 0) return fail_at(s, first_line, "the quote that starts in this line is never closed");
        if (s->at[0] == '"') {
            if (s->at[1] != '"') break;
            s->at++;
        }
        if (s->at[0] == '\n' || (s->at[0] == '\r' && s->at[1] != '\n')) s->line++;
        *to++ = *s->at++;
    }
    s->at++;
    if (!ends_field(s, *s->at)) {
        skip_blanks(s);
        if (!ends_field(s, *s->at))
            return fail_at(s, first_line, "text after the closing quote of a field that starts in this line");
    }
    return push_cell(s, start, to);
}

static mfpg_status read_field(scanner *s) {
    skip_blanks(s);
    if (*s->at == '"') return read_quoted(s);
    char *start = s->at;
    while (!ends_field(s, *s->at)) s->at++;
    char *end = s->at;
    while (end > start && is_blank(s, end[-1])) end--;
    return push_cell(s, start, end);
}

/* Reads one record and appends its cells. */
static mfpg_status read_record(scanner *s, ptrdiff_t *fields) {
    ptrdiff_t first = s->cells;
    const char *record = s->at;
    uint32_t line = s->line;
    for (;;) {
        mfpg_status status = read_field(s);
        if (status != MFPG_OK) return status;
        if (s->at - record > MOST_RECORD_BYTES) return fail_at(s, line, "a row of more than 16 MiB");
        if (s->cells - first > MFPG_MOST_COLUMNS)
            return mfpg_fail(s->ctx, MFPG_ERR_INPUT, "%s:%u: more than %d columns", s->table->path, line,
                MFPG_MOST_COLUMNS);
        if (s->separator == ' ') skip_blanks(s);
        if (ends_line(*s->at)) break;
        if (s->separator != ' ') s->at++;
        if (is_blank(s, *s->at)) mfpg_notes_add(&s->table->notes, MFPG_NOTE_BLANKS_AT_SEPARATOR, s->line);
    }
    end_line(s);
    *fields = s->cells - first;
    return MFPG_OK;
}

/* Skips blank lines and comment lines, which start with a bar. Returns 0 at the end of the text. */
static int find_record(scanner *s) {
    for (;;) {
        char *at = s->at;
        int comment = *at == '|' && s->separator != '|';
        if (comment)
            while (!ends_line(*at)) at++;
        while (is_blank(s, *at)) at++;
        if (!ends_line(*at)) return 1;
        s->at = at;
        if (*at == 0 && !comment) return 0;
        mfpg_notes_add(&s->table->notes, comment ? MFPG_NOTE_COMMENT_LINE : MFPG_NOTE_BLANK_LINE, s->line);
        if (*at == 0) return 0;
        end_line(s);
    }
}

/* Returns the most frequent of , ; tab outside quotes in the current line (ties: in the order ; tab ,); if
 * there is none, a blank, provided that the line contains one. */
static char find_separator(const char *line) {
    ptrdiff_t commas = 0, semicolons = 0, tabs = 0, blanks = 0;
    int quoted = 0;
    while (*line == ' ') line++;
    for (; *line && (quoted || !ends_line(*line)); line++) {
        if (*line == '"') quoted = !quoted;
        if (quoted) continue;
        commas += *line == ',';
        semicolons += *line == ';';
        tabs += *line == '\t';
        blanks += *line == ' ' && !ends_line(line[1]) && line[1] != ' ';
    }
    if (semicolons > 0 && semicolons >= tabs && semicolons >= commas) return ';';
    if (tabs > 0 && tabs >= commas) return '\t';
    if (commas > 0 || blanks == 0) return ',';
    return ' ';
}

static mfpg_status fail_field_count(const scanner *s, uint32_t line, ptrdiff_t found, ptrdiff_t expected) {
    const char quoted[] = {'"', s->separator, '"', 0};
    const char *word = s->separator == '\t' ? "tab" : s->separator == ' ' ? "blank" : quoted;
    return mfpg_fail(s->ctx, MFPG_ERR_INPUT, "%s:%u: found %td field%s, expected %td (separator: %s)",
        s->table->path, line, found, found == 1 ? "" : "s", expected, word);
}

/* Returns 1 if the header looks like a row of data: every field is a number or a missing mark, and the
 * numbers do not simply count up. */
static int is_row_of_data(const mfpg_data_options *options, const mfpg_table *table, ptrdiff_t fields) {
    double previous = NAN;
    int counted = 1;
    for (ptrdiff_t i = 0; i < fields; i++) {
        mfpg_slice field = {table->text + table->cells[i].start, table->cells[i].length};
        double value;
        if (mfpg_number_parse(field.at, field.length, &value)) {
            counted = counted && (isnan(previous) || value == previous + 1);
            previous = value;
        } else if (!mfpg_text_is_missing(options, field)) {
            return 0;
        } else if (field.length > 0) {
            counted = 0;
        }
    }
    return !counted;
}

static mfpg_status read_header(scanner *s, const mfpg_data_options *options) {
    mfpg_table *table = s->table;
    ptrdiff_t fields = 0;
    uint32_t line = s->line;
    mfpg_status status = read_record(s, &fields);
    if (status != MFPG_OK) return status;
    if (is_row_of_data(options, table, fields))
        return fail_at(s, line,
            "the header holds numbers only, as a row of data would: set data.header to false if the file has "
            "no header");
    for (ptrdiff_t i = 0; i < fields && status == MFPG_OK; i++) {
        mfpg_slice name = {table->text + table->cells[i].start, table->cells[i].length};
        mfpg_text_flatten(table->text + table->cells[i].start, name.length);
        status = mfpg_table_name_column(s->ctx, table, line, mfpg_slice_trim(name));
    }
    table->columns = fields;
    s->cells = 0;
    return status;
}

/* Names the columns of a file without header, after its first row was read. */
static mfpg_status name_columns(
    scanner *s, const mfpg_data_options *options, ptrdiff_t fields, uint32_t line) {
    if (options->columns && options->column_count != fields)
        return mfpg_fail(s->ctx, MFPG_ERR_INPUT, "%s:%u: found %td field%s, but data.columns has %td names",
            s->table->path, line, fields, fields == 1 ? "" : "s", options->column_count);
    mfpg_status status = MFPG_OK;
    for (ptrdiff_t i = 0; i < fields && status == MFPG_OK; i++)
        status = mfpg_table_name_column(
            s->ctx, s->table, 0, mfpg_slice_of(options->columns ? options->columns[i] : ""));
    s->table->columns = fields;
    return status;
}

static mfpg_status read_rows(scanner *s, const mfpg_data_options *options, ptrdiff_t least) {
    mfpg_table *table = s->table;
    while (find_record(s)) {
        uint32_t line = s->line;
        ptrdiff_t fields = 0;
        mfpg_status status = read_record(s, &fields);
        if (status == MFPG_OK && table->columns == 0) status = name_columns(s, options, fields, line);
        if (status == MFPG_OK && fields != table->columns)
            status = fail_field_count(s, line, fields, table->columns);
        if (status != MFPG_OK) return status;
        uint32_t *lines = mfpg_grow(table->lines, table->rows, &s->line_room, sizeof *lines);
        if (!lines) return mfpg_fail_memory(s->ctx);
        table->lines = lines;
        lines[table->rows++] = line;
    }
    if (table->columns == 0) return fail_at(s, s->line, "the file is empty");
    return table->rows >= least ? MFPG_OK : fail_at(s, s->line, "no row after the header");
}

/* Zero bytes mean that the file is not a text, or a text with two bytes per character. */
static mfpg_status check_text(mfpg_context *ctx, const mfpg_table *table, size_t length) {
    const char *zero = memchr(table->text, 0, length);
    if (!zero) return MFPG_OK;
    uint32_t line = 1;
    for (const char *c = table->text; c < zero; c++) line += *c == '\n' || (*c == '\r' && c[1] != '\n');
    const unsigned char *head = (const unsigned char *)table->text;
    int wide = length > 1 && ((head[0] == 0xFF && head[1] == 0xFE) || (head[0] == 0xFE && head[1] == 0xFF));
    return mfpg_fail(ctx, MFPG_ERR_INPUT, "%s:%u: %s", table->path, line,
        wide ? "the file is UTF-16; save it as UTF-8" : "a zero byte; this is not a text file");
}

mfpg_status mfpg_csv_read(mfpg_context *ctx, const char *path, const mfpg_data_options *options,
    ptrdiff_t least, mfpg_table *table) {
    size_t length = 0;
    table->path = mfpg_text_copy(path, strlen(path));
    if (!table->path) return mfpg_fail_memory(ctx);
    mfpg_status status = mfpg_file_read(ctx, path, MFPG_MOST_BYTES, &table->text, &length);
    if (status == MFPG_OK) status = check_text(ctx, table, length);
    if (status != MFPG_OK) return status;
    scanner s = {.ctx = ctx, .table = table, .at = table->text, .line = 1, .separator = options->separator};
    if (length >= 3 && memcmp(s.at, "\xEF\xBB\xBF", 3) == 0) {
        mfpg_notes_add(&table->notes, MFPG_NOTE_BYTE_ORDER_MARK, 1);
        s.at += 3;
    }
    if (find_record(&s)) {
        if (!s.separator) s.separator = find_separator(s.at);
        if (options->header) status = read_header(&s, options);
    }
    if (status == MFPG_OK) status = read_rows(&s, options, least);
    if (length > 0 && s.at == table->text + length && !ends_line(s.at[-1]))
        mfpg_notes_add(&table->notes, MFPG_NOTE_NO_LAST_LINE_END, s.line);
    table->notes.separator = s.separator;
    table->label = table->columns - 1;
    return status;
}

static mfpg_status read_csv(
    mfpg_context *ctx, const char *path, const mfpg_data_options *options, mfpg_table *table) {
    return mfpg_csv_read(ctx, path, options, 1, table);
}

static int sniff_csv(const unsigned char *head, size_t length) {
    return length > 0 && mfpg_is_text(head, length);
}

const mfpg_reader_ops mfpg_reader_csv = {
    .name = "csv",
    .help = "values separated by commas, semicolons, tabs or blanks, with or without a header",
    .sniff = sniff_csv,
    .read = read_csv,
};
