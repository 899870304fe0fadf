/* What the cells of a table hold. */
#include <math.h>
#include <string.h>

#include "inspect.h"

/* The default marks of data.missing.values first, then others that mean nothing else, then those that may be values. */
static const char *const marks[MFPG_INSPECT_MARKS] = {"", "?", "NA", "NaN", "nan", "N/A", "n/a", "#N/A",
    "NAN", "NULL", "null", "Null", "None", "none", "-", "--", ".", "na", "missing", "Missing"};
enum { DEFAULTS = 5, CERTAIN = 12, NAN_MARK = 3 };

const char *mfpg_inspect_mark(int index) {
    return index >= 0 && index < MFPG_INSPECT_MARKS ? marks[index] : NULL;
}

int mfpg_inspect_mark_is_default(int index) {
    return index < DEFAULTS;
}

int mfpg_inspect_mark_is_doubtful(int index) {
    return index >= CERTAIN;
}

static void view_number(double value, mfpg_cell_view *cell) {
    cell->value = value;
    cell->kind = isnan(value) ? MFPG_CELL_MISSING : isinf(value) ? MFPG_CELL_TEXT : MFPG_CELL_NUMBER;
    cell->mark = NAN_MARK;
    cell->text = mfpg_slice_of(isinf(value) ? (value > 0 ? "inf" : "-inf") : "");
}

void mfpg_inspect_cell(const mfpg_inspection *check, ptrdiff_t row, ptrdiff_t column, mfpg_cell_view *cell) {
    const mfpg_table *table = &check->table;
    if (table->numbers) {
        view_number((double)table->numbers[row * table->columns + column], cell);
        return;
    }
    cell->text = mfpg_slice_trim(mfpg_table_text(table, row, column, cell->buffer));
    cell->kind = MFPG_CELL_NUMBER;
    if (mfpg_number_parse(cell->text.at, cell->text.length, &cell->value)) return;
    cell->kind = MFPG_CELL_TEXT;
    for (int i = 0; i < MFPG_INSPECT_MARKS && cell->text.length <= 7; i++) {
        if (strlen(marks[i]) != cell->text.length || memcmp(marks[i], cell->text.at, cell->text.length) != 0)
            continue;
        cell->mark = i;
        cell->kind = i < CERTAIN ? MFPG_CELL_MISSING : MFPG_CELL_DOUBT;
        return;
    }
}
