/* LIBSVM text: one example a line, `label index:value index:value ...`, indices from 1 and rising, missing ones are 0. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/file.h"
#include "base/memory.h"
#include "base/number.h"
#include "readers.h"

/* A sparse file as a dense table can be far larger than the file; more than this many entries per byte are
 * refused. */
enum { ENTRIES_A_BYTE = 64, ENTRIES_ANYWAY = 1 << 20 };

typedef struct scanner {
    mfpg_context *ctx;
    mfpg_notes *notes; /* NULL if they have been taken already */
    const char *path, *begin, *at, *end;
    uint32_t line;
} scanner;

static mfpg_status fail_at(const scanner *s, const char *what, mfpg_slice found) {
    char shown[MFPG_SHOWN_SIZE];
    return mfpg_fail(
        s->ctx, MFPG_ERR_INPUT, "%s:%u: %s, found %s", s->path, s->line, what, mfpg_slice_show(found, shown));
}

/* Returns the next word of the line; empty at the end of the line or the start of a comment. */
static mfpg_slice next_word(scanner *s) {
    while (s->at < s->end && (*s->at == ' ' || *s->at == '\t' || *s->at == '\r')) s->at++;
    const char *begin = s->at;
    if (s->at < s->end && *s->at == '#')
        while (s->at < s->end && *s->at != '\n') s->at++, begin = s->at;
    while (s->at < s->end && !strchr(" \t\r\n#", *s->at)) s->at++;
    return (mfpg_slice){begin, (size_t)(s->at - begin)};
}

static void take_note(const scanner *s, mfpg_note_kind kind) {
    if (s->notes) mfpg_notes_add(s->notes, kind, s->line);
}

/* Moves past the end of the line; returns 0 at the end of the file. */
static int next_line(scanner *s) {
    while (s->at < s->end && *s->at != '\n') s->at++;
    if (s->at >= s->end) return 0;
    if (s->at > s->begin && s->at[-1] == '\r') take_note(s, MFPG_NOTE_CR_LF);
    s->at++;
    s->line++;
    return s->at < s->end;
}

/* index:value */
static mfpg_status parse_pair(
    const scanner *s, mfpg_slice word, ptrdiff_t above, ptrdiff_t *index, double *value) {
    const char *colon = memchr(word.at, ':', word.length);
    double number;
    if (!colon || !mfpg_number_parse(word.at, (size_t)(colon - word.at), &number))
        return fail_at(s, "index:value expected", word);
    if (!(number >= 1.0) || number > MFPG_MOST_COLUMNS - 1 || number != floor(number))
        return fail_at(s, "an index is a whole number from 1 to 65534", word);
    if ((ptrdiff_t)number <= above) return fail_at(s, "indices of a line rise", word);
    *index = (ptrdiff_t)number;
    if (!mfpg_number_parse(colon + 1, (size_t)(word.at + word.length - colon - 1), value))
        return fail_at(s, "the value after the colon is a finite number", word);
    return MFPG_OK;
}

/* Reads one example into numbers (features, then the label), or only its largest index if numbers is NULL. */
static mfpg_status read_example(
    scanner *s, mfpg_slice label, ptrdiff_t columns, float *numbers, ptrdiff_t *largest) {
    double value;
    ptrdiff_t index = 0;
    if (!mfpg_number_parse(label.at, label.length, &value))
        return fail_at(s, "a line begins with its label, a number", label);
    if (numbers) numbers[columns - 1] = (float)value;
    for (mfpg_slice word = next_word(s); word.length > 0; word = next_word(s)) {
        mfpg_status status = parse_pair(s, word, index, &index, &value);
        if (status != MFPG_OK) return status;
        if (numbers) numbers[index - 1] = (float)value;
        if (value == 0) take_note(s, MFPG_NOTE_EXPLICIT_ZERO);
    }
    const char *last = s->at - 1; /* the label comes before it */
    if (*last == '\r') last--;
    if (*last == ' ' || *last == '\t') take_note(s, MFPG_NOTE_TRAILING_BLANKS);
    if (index > *largest) *largest = index;
    return MFPG_OK;
}

/* Processes all examples: counts them if the table has no numbers yet, and otherwise fills them in. */
static mfpg_status read_examples(
    mfpg_context *ctx, mfpg_table *table, size_t length, ptrdiff_t *rows, ptrdiff_t *largest) {
    scanner s = {.ctx = ctx,
        .notes = table->numbers ? NULL : &table->notes,
        .path = table->path,
        .begin = table->text,
        .at = table->text,
        .end = table->text + length,
        .line = 1};
    mfpg_status status = MFPG_OK;
    *rows = *largest = 0;
    if (length >= 3 && memcmp(s.at, "\xEF\xBB\xBF", 3) == 0) {
        take_note(&s, MFPG_NOTE_BYTE_ORDER_MARK);
        s.at += 3;
    }
    do {
        const char *line = s.at;
        mfpg_slice label = next_word(&s);
        if (label.length == 0) {
            int comment = s.at > line && memchr(line, '#', (size_t)(s.at - line));
            if (s.at > line || s.at < s.end)
                take_note(&s, comment ? MFPG_NOTE_COMMENT_LINE : MFPG_NOTE_BLANK_LINE);
            continue;
        }
        float *numbers = table->numbers ? table->numbers + *rows * table->columns : NULL;
        if (table->numbers) table->lines[*rows] = s.line;
        status = read_example(&s, label, table->columns, numbers, largest);
        ++*rows;
    } while (status == MFPG_OK && next_line(&s));
    if (length > 0 && table->text[length - 1] != '\n') take_note(&s, MFPG_NOTE_NO_LAST_LINE_END);
    return status;
}

/* Names the columns and allocates the numbers of a dense table. */
static mfpg_status prepare(mfpg_context *ctx, mfpg_table *table, ptrdiff_t features, size_t length) {
    char name[24];
    mfpg_status status = MFPG_OK;
    for (ptrdiff_t j = 0; j <= features && status == MFPG_OK; j++) {
        snprintf(name, sizeof name, "%td", j + 1);
        status = mfpg_table_name_column(ctx, table, 0, mfpg_slice_of(j < features ? name : "label"));
    }
    if (status != MFPG_OK) return status;
    table->columns = features + 1;
    table->label = features;
    table->sparse = 1;
    double entries = (double)table->rows * (double)table->columns;
    if (entries > ENTRIES_ANYWAY + (double)ENTRIES_A_BYTE * (double)length)
        return mfpg_fail(ctx, MFPG_ERR_INPUT,
            "%s: %td rows of %td columns are too sparse for a dense table (%d entries a byte)", table->path,
            table->rows, table->columns, ENTRIES_A_BYTE);
    table->numbers = mfpg_alloc(table->rows * table->columns, sizeof *table->numbers);
    table->lines = mfpg_alloc(table->rows, sizeof *table->lines);
    return table->numbers && table->lines ? MFPG_OK : mfpg_fail_memory(ctx);
}

static mfpg_status read_libsvm(
    mfpg_context *ctx, const char *path, const mfpg_data_options *options, mfpg_table *table) {
    (void)options;
    size_t length = 0;
    ptrdiff_t features = 0;
    table->path = mfpg_text_copy(path, strlen(path));
    if (!table->path) return mfpg_fail_memory(ctx);
    mfpg_status status = mfpg_file_read(ctx, path, MFPG_MOST_BYTES, &table->text, &length);
    if (status == MFPG_OK) status = read_examples(ctx, table, length, &table->rows, &features);
    if (status == MFPG_OK && features == 0)
        status = mfpg_fail(ctx, MFPG_ERR_INPUT, "%s:1: no example with a feature in the whole file", path);
    if (status == MFPG_OK) status = prepare(ctx, table, features, length);
    if (status == MFPG_OK) status = read_examples(ctx, table, length, &table->rows, &features);
    free(table->text); /* only the numbers are used from here on */
    table->text = NULL;
    return status;
}

/* Returns 1 if the first line that is not a comment has a number followed only by words with a colon. */
static int sniff_libsvm(const unsigned char *head, size_t length) {
    size_t mark = length >= 3 && memcmp(head, "\xEF\xBB\xBF", 3) == 0 ? 3 : 0;
    const char *begin = (const char *)head + mark;
    scanner s = {.begin = begin, .at = begin, .end = (const char *)head + length};
    mfpg_slice label = next_word(&s);
    while (label.length == 0 && next_line(&s)) label = next_word(&s);
    double number;
    if (!mfpg_number_parse(label.at, label.length, &number)) return 0;
    ptrdiff_t pairs = 0;
    for (mfpg_slice word = next_word(&s); word.length > 0 && s.at < s.end; word = next_word(&s), pairs++)
        if (!memchr(word.at, ':', word.length)) return 0;
    return pairs > 0;
}

const mfpg_reader_ops mfpg_reader_libsvm = {
    .name = "libsvm",
    .help = "label index:value index:value ..., what is left out is 0",
    .infers_features = 1,
    .sniff = sniff_libsvm,
    .read = read_libsvm,
};
