/* Columns: numbers or texts, their range, missing marks. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "inspect_column.h"

enum { MOST_LISTED = 50, COUNTED_COLUMNS = 256 };

/* ---- gathering ---- */

static void meet(mfpg_extreme *e, double value, ptrdiff_t row, int closer) {
    if (e->count > 0 && value == e->value) {
        e->count++;
    } else if (e->count == 0 || closer) {
        if (e->count > 0) e->next = e->value;
        *e = (mfpg_extreme){value, e->count > 0 ? e->next : (double)NAN, 1, row};
    } else if (isnan(e->next) || fabs(value - e->value) < fabs(e->next - e->value)) {
        e->next = value;
    }
}

static void gather_number(mfpg_column_facts *facts, double value, ptrdiff_t row) {
    facts->numbers++;
    meet(&facts->low, value, row, value < facts->low.value);
    meet(&facts->high, value, row, value > facts->high.value);
    if (value > 0 && !(value >= facts->least_positive)) facts->least_positive = value;
    if (value == 0 && facts->zeros++ == 0) facts->zero_row = row;
}

/* "12,5" */
static int is_decimal_comma(mfpg_slice text) {
    char copy[32];
    double value;
    const char *comma = memchr(text.at, ',', text.length);
    if (!comma || text.length >= sizeof copy) return 0;
    memcpy(copy, text.at, text.length);
    copy[comma - text.at] = '.';
    return mfpg_number_parse(copy, text.length, &value);
}

static void gather_text(mfpg_column_facts *facts, mfpg_slice text, ptrdiff_t row) {
    if (facts->texts++ == 0) facts->text_row = row;
    if (is_decimal_comma(text) && facts->decimal_commas++ == 0) facts->comma_row = row;
}

static void gather_mark(mfpg_column_facts *facts, int mark, ptrdiff_t row) {
    if (facts->mark[mark]++ == 0) facts->mark_row[mark] = row;
}

static mfpg_status gather_value(
    mfpg_inspection *check, mfpg_column_facts *facts, const mfpg_cell_view *cell) {
    float number = (float)cell->value;
    mfpg_slice key = cell->text;
    if (check->table.numbers) key = (mfpg_slice){(const char *)&number, sizeof number};
    ptrdiff_t found = facts->values.count < MFPG_INSPECT_VALUES ? mfpg_lookup_add(&facts->values, key)
                                                                : mfpg_lookup_find(&facts->values, key);
    if (found < 0 && facts->values.count < MFPG_INSPECT_VALUES) return mfpg_fail_memory(check->ctx);
    if (found >= 0) facts->rows[found]++;
    return MFPG_OK;
}

/* Marks such as "none" are missing among numbers, and a value among texts. */
static void settle_doubts(mfpg_column_facts *facts, int64_t doubts, ptrdiff_t first) {
    if (doubts == 0) return;
    if (facts->texts == 0 && facts->numbers > 0) {
        facts->missing += doubts;
        return;
    }
    if (facts->texts == 0 || first < facts->text_row) facts->text_row = first;
    facts->texts += doubts;
    for (int m = 0; m < MFPG_INSPECT_MARKS; m++)
        if (mfpg_inspect_mark_is_doubtful(m)) facts->mark[m] = 0;
}

static mfpg_status gather(mfpg_inspection *check, ptrdiff_t column, mfpg_column_facts *facts) {
    int counted = check->table.cells || check->table.columns <= COUNTED_COLUMNS;
    int64_t doubts = 0;
    ptrdiff_t first_doubt = 0;
    mfpg_status status = MFPG_OK;
    mfpg_cell_view cell;
    facts->least_positive = (double)NAN;
    facts->rows = mfpg_alloc(MFPG_INSPECT_VALUES, sizeof *facts->rows);
    if (!facts->rows) return mfpg_fail_memory(check->ctx);
    for (ptrdiff_t i = 0; i < check->table.rows && status == MFPG_OK; i++) {
        mfpg_inspect_cell(check, i, column, &cell);
        if (cell.kind == MFPG_CELL_DOUBT && doubts++ == 0) first_doubt = i;
        if (cell.kind == MFPG_CELL_MISSING) facts->missing++;
        if (cell.kind == MFPG_CELL_MISSING || cell.kind == MFPG_CELL_DOUBT) gather_mark(facts, cell.mark, i);
        if (cell.kind == MFPG_CELL_NUMBER) gather_number(facts, cell.value, i);
        if (cell.kind == MFPG_CELL_TEXT) gather_text(facts, cell.text, i);
        if (counted && cell.kind != MFPG_CELL_MISSING) status = gather_value(check, facts, &cell);
    }
    settle_doubts(facts, doubts, first_doubt);
    return status;
}

static void clear_facts(mfpg_column_facts *facts) {
    mfpg_lookup_clear(&facts->values);
    free(facts->rows);
    *facts = (mfpg_column_facts){0};
}

/* ---- the report of a column ---- */

static mfpg_status push_count(
    mfpg_context *ctx, mfpg_value_count **list, ptrdiff_t *count, mfpg_slice text, int64_t rows) {
    mfpg_value_count *larger = mfpg_resize(*list, *count + 1, sizeof *larger);
    if (!larger) return mfpg_fail_memory(ctx);
    *list = larger;
    larger[*count] = (mfpg_value_count){mfpg_inspect_text(text), rows};
    if (!larger[*count].text) return mfpg_fail_memory(ctx);
    ++*count;
    return MFPG_OK;
}

static mfpg_status list_marks(
    mfpg_inspection *check, const mfpg_column_facts *facts, mfpg_column_report *column) {
    mfpg_status status = MFPG_OK;
    for (int m = 0; m < MFPG_INSPECT_MARKS && status == MFPG_OK; m++)
        if (facts->mark[m] > 0)
            status = push_count(check->ctx, &column->mark, &column->marks,
                mfpg_slice_of(mfpg_inspect_mark(m)), facts->mark[m]);
    return status;
}

/* The commonest values, by repeated search for the next: there are at most 1000 x 50 comparisons. */
static mfpg_status list_values(
    mfpg_inspection *check, const mfpg_column_facts *facts, mfpg_column_report *column) {
    mfpg_status status = MFPG_OK;
    int64_t limit = INT64_MAX;
    ptrdiff_t from = 0;
    while (status == MFPG_OK && column->listed < MOST_LISTED && column->listed < facts->values.count) {
        ptrdiff_t best = -1;
        for (ptrdiff_t i = 0; i < facts->values.count;
             i++) { /* fewer rows than the last, or as many further on */
            int open = facts->rows[i] < limit || (facts->rows[i] == limit && i >= from);
            if (open && (best < 0 || facts->rows[i] > facts->rows[best])) best = i;
        }
        limit = facts->rows[best];
        from = best + 1;
        mfpg_slice text = {facts->values.keys[best], facts->values.lengths[best]};
        status = push_count(check->ctx, &column->value, &column->listed, text, limit);
    }
    return status;
}

static mfpg_status describe(
    mfpg_inspection *check, ptrdiff_t j, const mfpg_column_facts *facts, mfpg_column_report *column) {
    column->numbers = facts->numbers;
    column->texts = facts->texts;
    column->missing = facts->missing;
    column->values = facts->values.count;
    column->low = facts->numbers > 0 ? facts->low.value : (double)NAN;
    column->high = facts->numbers > 0 ? facts->high.value : (double)NAN;
    int one_number = facts->texts == 0 && column->low == column->high;
    int one_text = facts->numbers == 0 && facts->values.count == 1;
    column->kind = facts->numbers + facts->texts == 0 ? MFPG_COLUMN_EMPTY
                   : one_number || one_text           ? MFPG_COLUMN_CONSTANT
                   : facts->texts > 0                 ? MFPG_COLUMN_TEXT
                                                      : MFPG_COLUMN_NUMBER;
    column->name = mfpg_inspect_text(mfpg_slice_of(check->table.names.keys[j]));
    if (!column->name) return mfpg_fail_memory(check->ctx);
    mfpg_status status = list_marks(check, facts, column);
    if (status == MFPG_OK && facts->texts > 0 && check->table.cells)
        status = list_values(check, facts, column);
    return status;
}

static mfpg_status check_column(mfpg_inspection *check, ptrdiff_t j, mfpg_shared_facts *all) {
    mfpg_column_facts facts = {0};
    mfpg_status status = gather(check, j, &facts);
    if (status == MFPG_OK) status = describe(check, j, &facts, &check->report->column[j]);
    if (status == MFPG_OK) status = mfpg_inspect_column(check, j, &facts, all);
    clear_facts(&facts);
    return status;
}

mfpg_status mfpg_inspect_columns(mfpg_inspection *check) {
    mfpg_shared_facts all = {0};
    mfpg_status status = MFPG_OK;
    check->report->column = mfpg_alloc(check->features, sizeof *check->report->column);
    if (!check->report->column) return mfpg_fail_memory(check->ctx);
    for (ptrdiff_t j = 0; j < check->features && status == MFPG_OK; j++)
        status = check_column(check, j, &all);
    if (status == MFPG_OK) status = mfpg_inspect_shared(check, &all);
    return status;
}
