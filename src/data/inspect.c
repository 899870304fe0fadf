/* What all parts of mfpg_data_check share: memory, texts, oddities, cells. */
#include "inspect.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/names.h"

enum { MOST_TEXT = 900, MOST_LISTED = 12, LONGEST_MARK = 7, NAN_MARK = 3 };

void *mfpg_inspect_alloc(mfpg_inspection *check, ptrdiff_t count, size_t size) {
    void *made = mfpg_alloc(count, size);
    if (!made) check->status = mfpg_fail_memory(check->ctx);
    return made;
}

void *mfpg_inspect_report(mfpg_inspection *check, ptrdiff_t count, size_t size) {
    void *made = mfpg_pool_alloc(check->pool, count, size);
    if (!made) check->status = mfpg_fail_memory(check->ctx);
    return made;
}

char *mfpg_inspect_text(mfpg_inspection *check, mfpg_slice text) {
    char *copy = mfpg_pool_own(check->pool, mfpg_text_copy(text.at, text.length));
    if (!copy) {
        check->status = mfpg_fail_memory(check->ctx);
        return NULL;
    }
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

void mfpg_inspect_odd(mfpg_inspection *check, const char *kind, const char *setting, int64_t line,
    int64_t count, const char *format, ...) {
    mfpg_data_report *report = check->report;
    char text[MOST_TEXT];
    va_list args;
    if (check->status != MFPG_OK) return;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    mfpg_oddity *oddity = mfpg_grow(report->oddity, report->oddities, &check->oddity_room, sizeof *oddity);
    if (!oddity) {
        check->status = mfpg_fail_memory(check->ctx);
        return;
    }
    report->oddity = oddity;
    oddity[report->oddities] = (mfpg_oddity){.kind = kind,
        .setting = setting,
        .line = line,
        .count = count,
        .text = mfpg_inspect_text(check, mfpg_slice_of(text))};
    if (check->status == MFPG_OK) report->oddities++;
}

void mfpg_inspect_list(char *list, size_t size, int64_t count, const char *format, ...) {
    size_t used = strlen(list);
    if (count > MOST_LISTED) return;
    used += (size_t)snprintf(
        list + used, size - used, "%s%s", used ? ", " : "", count == MOST_LISTED ? "..." : "");
    if (count == MOST_LISTED || used >= size) return;
    va_list args;
    va_start(args, format);
    vsnprintf(list + used, size - used, format, args);
    va_end(args);
}

const char *const mfpg_missing_marks[MFPG_MARKS] = {"", "?", "NA", "NaN", "nan", "N/A", "n/a", "#N/A", "NAN",
    "NULL", "null", "Null", "None", "none", "-", "--", ".", "na", "missing", "Missing"};

mfpg_cell_view mfpg_inspect_cell(const mfpg_inspection *check, ptrdiff_t row, ptrdiff_t column) {
    const mfpg_table *table = &check->table;
    mfpg_cell_view cell = {.kind = MFPG_CELL_NUMBER};
    if (table->numbers) {
        cell.value = (double)table->numbers[row * table->columns + column];
        cell.mark = NAN_MARK;
        if (isnan(cell.value)) cell.kind = MFPG_CELL_MISSING;
        if (isinf(cell.value)) cell.kind = MFPG_CELL_TEXT;
        cell.text = mfpg_slice_of(!isinf(cell.value) ? "" : cell.value > 0 ? "inf" : "-inf");
        return cell;
    }
    cell.text = mfpg_slice_trim(mfpg_table_text(table, row, column, NULL));
    if (mfpg_number_parse(cell.text.at, cell.text.length, &cell.value)) return cell;
    cell.kind = MFPG_CELL_TEXT;
    for (int i = 0; i < MFPG_MARKS && cell.text.length <= LONGEST_MARK; i++) {
        if (!mfpg_slice_equal(mfpg_slice_of(mfpg_missing_marks[i]), cell.text)) continue;
        cell.mark = i;
        cell.kind = i < MFPG_CERTAIN_MARKS ? MFPG_CELL_MISSING : MFPG_CELL_DOUBT;
        break;
    }
    return cell;
}
