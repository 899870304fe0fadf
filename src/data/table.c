#include "table.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"

/* ---- slices ---- */

mfpg_slice mfpg_slice_of(const char *text) {
    return (mfpg_slice){.at = text, .length = strlen(text)};
}

static int is_space(char c) {
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

mfpg_slice mfpg_slice_trim(mfpg_slice slice) {
    while (slice.length > 0 && is_space(slice.at[0])) {
        slice.at++;
        slice.length--;
    }
    while (slice.length > 0 && is_space(slice.at[slice.length - 1])) slice.length--;
    return slice;
}

int mfpg_slice_equal(mfpg_slice a, mfpg_slice b) {
    return a.length == b.length && memcmp(a.at, b.at, a.length) == 0;
}

void mfpg_text_flatten(char *text, size_t length) {
    for (size_t i = 0; i < length; i++)
        if ((unsigned char)text[i] < 0x20 || text[i] == 0x7F) text[i] = ' ';
}

const char *mfpg_slice_show(mfpg_slice slice, char buffer[MFPG_SHOWN_SIZE]) {
    size_t most = MFPG_SHOWN_SIZE - 6, length = slice.length; /* two quotes, three points, the closing 0 */
    if (length > most) {
        length = most;
        while (length > 0 && ((unsigned char)slice.at[length] & 0xC0) == 0x80)
            length--; /* whole characters */
    }
    buffer[0] = '"';
    memcpy(buffer + 1, slice.at, length);
    mfpg_text_flatten(buffer + 1, length);
    strcpy(buffer + 1 + length, length < slice.length ? "...\"" : "\"");
    return buffer;
}

/* ---- lookup ---- */

void *mfpg_grow(void *block, ptrdiff_t count, ptrdiff_t *room, size_t size) {
    if (count < *room) return block;
    ptrdiff_t larger = *room ? 2 * *room : 16;
    void *moved = mfpg_resize(block, larger, size);
    if (moved) *room = larger;
    return moved;
}

/* Returns the slot that holds the text or would hold it; slot_room is a power of two, and the table is never
 * full. */
static ptrdiff_t slot_of(const mfpg_lookup *lookup, mfpg_slice text) {
    uint64_t mask = (uint64_t)lookup->slot_room - 1, h = UINT64_C(14695981039346656037); /* FNV-1a */
    for (size_t i = 0; i < text.length; i++) h = (h ^ (unsigned char)text.at[i]) * UINT64_C(1099511628211);
    uint64_t at = (h ^ (h >> 32)) & mask;
    for (; lookup->slots[at]; at = (at + 1) & mask) {
        uint32_t key = lookup->slots[at] - 1;
        if (mfpg_slice_equal(text, (mfpg_slice){lookup->keys[key], lookup->lengths[key]})) break;
    }
    return (ptrdiff_t)at;
}

ptrdiff_t mfpg_lookup_find(const mfpg_lookup *lookup, mfpg_slice text) {
    return lookup->count == 0 ? -1 : (ptrdiff_t)lookup->slots[slot_of(lookup, text)] - 1;
}

/* Makes room for one more key, with twice as many slots as keys. */
static int grow(mfpg_lookup *lookup) {
    ptrdiff_t same = lookup->key_room;
    char **keys = mfpg_grow(lookup->keys, lookup->count, &same, sizeof *keys);
    if (keys) lookup->keys = keys;
    size_t *lengths = mfpg_grow(lookup->lengths, lookup->count, &lookup->key_room, sizeof *lengths);
    if (lengths) lookup->lengths = lengths;
    if (!keys || !lengths) return 0;
    if (2 * (lookup->count + 1) <= lookup->slot_room) return 1;
    ptrdiff_t room = lookup->slot_room ? 2 * lookup->slot_room : 32;
    uint32_t *slots = mfpg_alloc(room, sizeof *slots);
    if (!slots) return 0;
    free(lookup->slots);
    lookup->slots = slots;
    lookup->slot_room = room;
    for (ptrdiff_t i = 0; i < lookup->count; i++)
        slots[slot_of(lookup, (mfpg_slice){lookup->keys[i], lookup->lengths[i]})] = (uint32_t)i + 1;
    return 1;
}

ptrdiff_t mfpg_lookup_add(mfpg_lookup *lookup, mfpg_slice text) {
    ptrdiff_t found = mfpg_lookup_find(lookup, text);
    if (found >= 0) return found;
    if (lookup->count == INT32_MAX) return -1;
    char *key = grow(lookup) ? mfpg_text_copy(text.at, text.length) : NULL;
    if (!key) return -1;
    lookup->keys[lookup->count] = key;
    lookup->lengths[lookup->count] = text.length;
    lookup->slots[slot_of(lookup, text)] = (uint32_t)lookup->count + 1;
    return lookup->count++;
}

void mfpg_lookup_clear(mfpg_lookup *lookup) {
    for (ptrdiff_t i = 0; i < lookup->count; i++) free(lookup->keys[i]);
    free(lookup->keys);
    free(lookup->lengths);
    free(lookup->slots);
    *lookup = (mfpg_lookup){0};
}

/* ---- tables ---- */

void mfpg_table_clear(mfpg_table *table) {
    free(table->path);
    mfpg_lookup_clear(&table->names);
    free(table->lines);
    free(table->text);
    free(table->cells);
    free(table->numbers);
    *table = (mfpg_table){0};
}

uint32_t mfpg_table_line(const mfpg_table *table, ptrdiff_t row) {
    return table->lines ? table->lines[row] : (uint32_t)row + 1;
}

mfpg_slice mfpg_table_text(
    const mfpg_table *table, ptrdiff_t row, ptrdiff_t column, char buffer[MFPG_NUMBER_SIZE]) {
    ptrdiff_t place = row * table->columns + column;
    if (table->numbers) return mfpg_slice_of(mfpg_number_format((double)table->numbers[place], buffer));
    return (mfpg_slice){table->text + table->cells[place].start, table->cells[place].length};
}

int mfpg_table_number(const mfpg_table *table, ptrdiff_t row, ptrdiff_t column, double *value) {
    if (table->numbers) {
        *value = (double)table->numbers[row * table->columns + column];
        return isfinite(*value);
    }
    mfpg_slice cell = mfpg_slice_trim(mfpg_table_text(table, row, column, NULL));
    return mfpg_number_parse(cell.at, cell.length, value);
}

mfpg_status mfpg_table_name_column(mfpg_context *ctx, mfpg_table *table, uint32_t line, mfpg_slice name) {
    char numbered[24], shown[MFPG_SHOWN_SIZE], place[16] = "";
    ptrdiff_t column = table->names.count;
    if (name.length == 0) {
        snprintf(numbered, sizeof numbered, "c%td", column + 1);
        name = mfpg_slice_of(numbered);
    }
    if (column >= MFPG_MOST_COLUMNS)
        return mfpg_fail(ctx, MFPG_ERR_INPUT, "%s: more than %d columns", table->path, MFPG_MOST_COLUMNS);
    ptrdiff_t number = mfpg_lookup_add(&table->names, name);
    if (number < 0) return mfpg_fail_memory(ctx);
    if (number == column) return MFPG_OK;
    if (line > 0) snprintf(place, sizeof place, ":%u", line);
    return mfpg_fail(ctx, MFPG_ERR_INPUT, "%s%s: columns %td and %td are both called %s", table->path, place,
        number + 1, column + 1, mfpg_slice_show(name, shown));
}

mfpg_status mfpg_table_shape(mfpg_context *ctx, mfpg_table *table, ptrdiff_t rows, ptrdiff_t columns) {
    mfpg_status status = MFPG_OK;
    for (ptrdiff_t j = 0; j < columns && status == MFPG_OK; j++)
        status = mfpg_table_name_column(ctx, table, 0, (mfpg_slice){"", 0});
    table->rows = rows;
    table->columns = columns;
    table->label = columns - 1;
    return status;
}

mfpg_status mfpg_table_add_label(mfpg_context *ctx, mfpg_table *table, const mfpg_table *labels) {
    if (!table->numbers || !labels->numbers)
        return mfpg_fail(ctx, MFPG_ERR_INPUT,
            "%s: data.labels goes with formats of numbers; a text file has a label column", table->path);
    if (labels->columns != 1)
        return mfpg_fail(ctx, MFPG_ERR_INPUT, "%s: %td numbers a row; a file of labels has 1", labels->path,
            labels->columns);
    if (labels->rows != table->rows)
        return mfpg_fail(ctx, MFPG_ERR_INPUT, "%s: %td labels for the %td rows of %s", labels->path,
            labels->rows, table->rows, table->path);
    mfpg_status status = mfpg_table_name_column(ctx, table, 0, mfpg_slice_of("label"));
    if (status != MFPG_OK) return status;
    ptrdiff_t columns = table->columns;
    if (table->rows > PTRDIFF_MAX / (columns + 1)) return mfpg_fail_memory(ctx);
    float *wider = mfpg_resize(table->numbers, table->rows * (columns + 1), sizeof *wider);
    if (!wider) return mfpg_fail_memory(ctx);
    for (ptrdiff_t i = table->rows - 1; i >= 0; i--) { /* from the end: nothing is overwritten */
        memmove(wider + i * (columns + 1), wider + i * columns, (size_t)columns * sizeof *wider);
        wider[i * (columns + 1) + columns] = labels->numbers[i];
    }
    table->numbers = wider;
    table->columns = columns + 1;
    table->label = columns;
    return MFPG_OK;
}

int mfpg_is_text(const unsigned char *bytes, size_t length) {
    for (size_t i = 0; i < length; i++)
        if (bytes[i] < 0x20 && bytes[i] != '\t' && bytes[i] != '\n' && bytes[i] != '\r') return 0;
    return 1;
}

int mfpg_is_decimal_comma(mfpg_slice text) {
    char copy[MFPG_NUMBER_SIZE];
    double value;
    const char *comma = memchr(text.at, ',', text.length);
    if (!comma || text.length >= sizeof copy) return 0;
    memcpy(copy, text.at, text.length);
    copy[comma - text.at] = '.';
    return mfpg_number_parse(copy, text.length, &value);
}

int mfpg_text_is_missing(const mfpg_data_options *options, mfpg_slice text) {
    text = mfpg_slice_trim(text);
    if (text.length == 0) return 1;
    for (ptrdiff_t i = 0; i < options->missing_count; i++) {
        const char *mark = options->missing_values[i];
        if (mark[0] == text.at[0] && mfpg_slice_equal(mfpg_slice_of(mark), text)) return 1;
    }
    return 0;
}
