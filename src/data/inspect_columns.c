/* Examines columns: numbers or texts, their range, missing marks, values that may mean a missing one. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "inspect.h"

enum { MOST_VALUES = 1000, MOST_LISTED = 50, COUNTED_COLUMNS = 256, MANY_VALUES = 10, FEW_VALUES = 20 };

/* The extreme value of a column, and the value next to it. */
typedef struct extreme {
    double value, next;
    int64_t count;
    ptrdiff_t row; /* the first with it */
} extreme;

/* What is gathered about one column. */
typedef struct column_facts {
    ptrdiff_t number;
    mfpg_column_report *column;
    int64_t mark[MFPG_MARKS];
    ptrdiff_t mark_row[MFPG_MARKS];
    int64_t zeros, decimal_commas;
    ptrdiff_t zero_row, comma_row, text_row;
    extreme low, high;
    double least_positive;
    mfpg_lookup values; /* different texts, up to MOST_VALUES */
    int64_t *rows;      /* of each value; MOST_VALUES */
} column_facts;

/* What is gathered about all columns together. */
typedef struct shared_facts {
    int64_t text_columns, text_line;
    char texts[400]; /* "workclass (8 values), ..." */
    int64_t cells[MFPG_MARKS], columns[MFPG_MARKS], line[MFPG_MARKS];
    char list[MFPG_MARKS][256]; /* "chol 23, fbs 8, ..." */
} shared_facts;

/* ---- gathering ---- */

static void meet(extreme *e, double value, ptrdiff_t row, int closer) {
    if (e->count > 0 && value == e->value) {
        e->count++;
    } else if (e->count == 0 || closer) {
        *e = (extreme){value, e->count > 0 ? e->value : (double)NAN, 1, row};
    } else if (isnan(e->next) || fabs(value - e->value) < fabs(e->next - e->value)) {
        e->next = value;
    }
}

static void count_number(column_facts *facts, double value, ptrdiff_t row) {
    facts->column->numbers++;
    meet(&facts->low, value, row, value < facts->low.value);
    meet(&facts->high, value, row, value > facts->high.value);
    if (value > 0 && !(value >= facts->least_positive)) facts->least_positive = value;
    if (value == 0 && facts->zeros++ == 0) facts->zero_row = row;
}

static void count_value(mfpg_inspection *check, column_facts *facts, const mfpg_cell_view *cell) {
    float number = (float)cell->value;
    int full = facts->values.count == MOST_VALUES;
    mfpg_slice key = check->table.numbers ? (mfpg_slice){(const char *)&number, sizeof number} : cell->text;
    ptrdiff_t found = full ? mfpg_lookup_find(&facts->values, key) : mfpg_lookup_add(&facts->values, key);
    if (found >= 0)
        facts->rows[found]++;
    else if (!full)
        check->status = mfpg_fail_memory(check->ctx);
}

/* Marks such as "none" mean missing among numbers, but are a value among texts. */
static void settle_doubts(column_facts *facts, int64_t doubts, ptrdiff_t first) {
    if (doubts == 0) return;
    if (facts->column->texts == 0 && facts->column->numbers > 0) {
        facts->column->missing += doubts;
        return;
    }
    if (facts->column->texts == 0 || first < facts->text_row) facts->text_row = first;
    facts->column->texts += doubts;
    for (int m = MFPG_CERTAIN_MARKS; m < MFPG_MARKS; m++) facts->mark[m] = 0;
}

static void gather(mfpg_inspection *check, column_facts *facts) {
    int counted = check->table.cells || check->table.columns <= COUNTED_COLUMNS;
    int64_t doubts = 0;
    ptrdiff_t first_doubt = 0;
    facts->least_positive = (double)NAN;
    facts->rows = mfpg_inspect_alloc(check, MOST_VALUES, sizeof *facts->rows);
    for (ptrdiff_t i = 0; i < check->table.rows && check->status == MFPG_OK; i++) {
        mfpg_cell_view cell = mfpg_inspect_cell(check, i, facts->number);
        switch (cell.kind) {
        case MFPG_CELL_NUMBER: count_number(facts, cell.value, i); break;
        case MFPG_CELL_TEXT:
            if (facts->column->texts++ == 0) facts->text_row = i;
            if (mfpg_is_decimal_comma(cell.text) && facts->decimal_commas++ == 0) facts->comma_row = i;
            break;
        case MFPG_CELL_MISSING: facts->column->missing++; break;
        case MFPG_CELL_DOUBT:
            if (doubts++ == 0) first_doubt = i;
            break;
        }
        int marked = cell.kind == MFPG_CELL_MISSING || cell.kind == MFPG_CELL_DOUBT;
        if (marked && facts->mark[cell.mark]++ == 0) facts->mark_row[cell.mark] = i;
        if (counted && cell.kind != MFPG_CELL_MISSING) count_value(check, facts, &cell);
    }
    settle_doubts(facts, doubts, first_doubt);
}

/* ---- the report of a column ---- */

/* Finds the most frequent values by repeated search for the next one; there are at most 1000 x 50
 * comparisons. */
static void list_values(mfpg_inspection *check, const column_facts *facts) {
    mfpg_column_report *column = facts->column;
    const mfpg_lookup *values = &facts->values;
    int64_t limit = INT64_MAX;
    ptrdiff_t from = 0;
    column->value = mfpg_inspect_report(check, MOST_LISTED, sizeof *column->value);
    while (check->status == MFPG_OK && column->listed < MOST_LISTED && column->listed < values->count) {
        ptrdiff_t best = -1;
        for (ptrdiff_t i = 0; i < values->count; i++) {
            /* fewer rows than the last, or as many further on */
            int open = facts->rows[i] < limit || (facts->rows[i] == limit && i >= from);
            if (open && (best < 0 || facts->rows[i] > facts->rows[best])) best = i;
        }
        limit = facts->rows[best];
        from = best + 1;
        mfpg_slice text = {values->keys[best], values->lengths[best]};
        column->value[column->listed++] = (mfpg_value_count){mfpg_inspect_text(check, text), limit};
    }
}

static void describe(mfpg_inspection *check, const column_facts *facts) {
    mfpg_column_report *column = facts->column;
    column->values = facts->values.count;
    column->low = column->numbers > 0 ? facts->low.value : (double)NAN;
    column->high = column->numbers > 0 ? facts->high.value : (double)NAN;
    int one_number = column->texts == 0 && column->low == column->high;
    int one_text = column->numbers == 0 && column->values == 1;
    column->kind = column->numbers + column->texts == 0 ? MFPG_COLUMN_EMPTY
                   : one_number || one_text             ? MFPG_COLUMN_CONSTANT
                   : column->texts > 0                  ? MFPG_COLUMN_TEXT
                                                        : MFPG_COLUMN_NUMBER;
    column->name = mfpg_inspect_text(check, mfpg_slice_of(check->table.names.keys[facts->number]));
    if (column->missing > 0) column->mark = mfpg_inspect_report(check, MFPG_MARKS, sizeof *column->mark);
    for (int m = 0; m < MFPG_MARKS && check->status == MFPG_OK; m++)
        if (facts->mark[m] > 0)
            column->mark[column->marks++] = (mfpg_value_count){
                mfpg_inspect_text(check, mfpg_slice_of(mfpg_missing_marks[m])), facts->mark[m]};
    if (column->texts > 0 && check->table.cells) list_values(check, facts);
}

/* ---- oddities of one column ---- */

static int64_t line_of(const mfpg_inspection *check, ptrdiff_t row) {
    return mfpg_table_line(&check->table, row);
}

/* Texts are of three kinds: infinite values of arrays, numbers in another notation, and real texts. */
static void odd_texts(mfpg_inspection *check, const column_facts *facts, shared_facts *all) {
    const mfpg_column_report *column = facts->column;
    const char *s = mfpg_plural(facts->column->texts);
    long long texts = facts->column->texts;
    int64_t line = line_of(check, facts->text_row);
    char shown[MFPG_SHOWN_SIZE];
    if (check->table.numbers) {
        mfpg_inspect_odd(check, "infinite", "data.drop_columns", line, texts,
            "column %s: %lld infinite value%s; data.drop_columns leaves the column out", column->name, texts,
            s);
    } else if (2 * facts->decimal_commas >= facts->column->texts) {
        mfpg_inspect_odd(check, "decimal-comma", "data.drop_columns", line_of(check, facts->comma_row),
            facts->decimal_commas,
            "column %s: %lld number%s with a decimal comma, such as %s; write points, no setting reads "
            "commas (data.drop_columns leaves the column out)",
            column->name, (long long)facts->decimal_commas, mfpg_plural(facts->decimal_commas),
            mfpg_slice_show(mfpg_inspect_cell(check, facts->comma_row, facts->number).text, shown));
    } else if (facts->column->texts < facts->column->numbers && column->values > FEW_VALUES) {
        mfpg_inspect_odd(check, "text-among-numbers", "data.missing.values", line, texts,
            "column %s: %lld text%s among %lld numbers, the first %s; if it means missing, "
            "data.missing.values may name it; data.drop_columns leaves the column out",
            column->name, texts, s, (long long)facts->column->numbers,
            mfpg_slice_show(mfpg_inspect_cell(check, facts->text_row, facts->number).text, shown));
    } else if (facts->number != check->label) { /* the label is reported on its own */
        if (all->text_columns == 0 || line < all->text_line) all->text_line = line;
        mfpg_inspect_list(all->texts, sizeof all->texts, all->text_columns++, "%s (%td%s value%s)",
            column->name, column->values, column->values == MOST_VALUES ? " and more" : "",
            mfpg_plural(column->values));
    }
}

/* Numbers that people write for "not known": far from all others. */
static void odd_sentinels(mfpg_inspection *check, const column_facts *facts) {
    static const double low[] = {-9, -99, -999, -9999}, high[] = {999, 9999, 99999, 999999};
    char number[MFPG_NUMBER_SIZE];
    for (int i = 0; i < 8; i++) {
        const extreme *e = i < 4 ? &facts->low : &facts->high;
        double value = i < 4 ? low[i] : high[i - 4];
        int apart = i < 4 ? e->next >= 0 : e->next >= 0 && e->next <= value / 2;
        if (e->count == 0 || e->value != value || !apart) continue;
        mfpg_number_format(value, number);
        mfpg_inspect_odd(check, "suspicious-value", "data.missing.values", line_of(check, e->row), e->count,
            "column %s: %s in %lld row%s, the next value is %g: perhaps it means missing; "
            "data.missing.values: [\"%s\"] says so%s",
            facts->column->name, number, (long long)e->count, mfpg_plural(e->count), e->next, number,
            check->table.numbers ? " in a text file; in an array, write NaN" : "");
    }
}

/* A 0 far from all other values may mean "missing", as for a blood pressure of 0. */
static void odd_zeros(mfpg_inspection *check, const column_facts *facts) {
    double span = facts->high.value - facts->least_positive, step = span / (double)facts->values.count;
    if (check->table.sparse || check->table.high > check->table.low) return;
    if (facts->zeros == 0 || facts->low.value < 0 || facts->values.count < MANY_VALUES) return;
    if (!(facts->least_positive >= 0.1 * span && facts->least_positive >= 4 * step)) return;
    mfpg_inspect_odd(check, "zero-as-missing", "data.drop_columns", line_of(check, facts->zero_row),
        facts->zeros,
        "column %s: %lld zero%s, all other values are between %g and %g: perhaps 0 means missing here; write "
        "such cells as ? (data.missing.values: [\"0\"] would count in every column), or leave the column out "
        "(data.drop_columns)",
        facts->column->name, (long long)facts->zeros, mfpg_plural(facts->zeros), facts->least_positive,
        facts->high.value);
}

static void inspect_column(mfpg_inspection *check, ptrdiff_t j, shared_facts *all) {
    mfpg_column_report *column = &check->report->column[j];
    column_facts facts = {.number = j, .column = column};
    gather(check, &facts);
    if (check->status == MFPG_OK) describe(check, &facts);
    for (int m = 0; m < MFPG_MARKS && check->status == MFPG_OK; m++) {
        if (facts.mark[m] == 0) continue;
        int64_t line = line_of(check, facts.mark_row[m]);
        if (all->columns[m] == 0 || line < all->line[m]) all->line[m] = line;
        all->cells[m] += facts.mark[m];
        mfpg_inspect_list(all->list[m], sizeof all->list[m], all->columns[m]++, "%s %lld", column->name,
            (long long)facts.mark[m]);
    }
    if (check->status == MFPG_OK && column->texts > 0) odd_texts(check, &facts, all);
    if (check->status == MFPG_OK && column->numbers > 0 && j != check->label) {
        odd_sentinels(check, &facts);
        odd_zeros(check, &facts);
    }
    mfpg_lookup_clear(&facts.values);
    free(facts.rows);
}

/* ---- oddities of all columns together ---- */

static void odd_marks(mfpg_inspection *check, const shared_facts *all) {
    for (int m = 0; m < MFPG_MARKS; m++) {
        if (all->cells[m] == 0) continue;
        char shown[32] = "an empty cell", setting[96] = "";
        if (mfpg_missing_marks[m][0]) snprintf(shown, sizeof shown, "\"%s\"", mfpg_missing_marks[m]);
        if (check->table.numbers) strcpy(shown, "NaN");
        if (m >= MFPG_DEFAULT_MARKS)
            snprintf(setting, sizeof setting, "data.missing.values: [%s] makes it one, then ", shown);
        mfpg_inspect_odd(check, "missing-mark", "data.missing.rows", all->line[m], all->cells[m],
            "missing mark %s: %lld cell%s in %lld column%s (%s); %sdata.missing.rows: drop counts such rows "
            "without using them, data.missing.impute: mean fills them in",
            shown, (long long)all->cells[m], mfpg_plural(all->cells[m]), (long long)all->columns[m],
            mfpg_plural(all->columns[m]), all->list[m], setting);
    }
}

/* Reports all columns of that kind in one line. */
static void odd_kind(mfpg_inspection *check, mfpg_column_kind kind, const char *word, const char *what) {
    char list[300] = "";
    int64_t count = 0;
    const mfpg_data_report *report = check->report;
    for (ptrdiff_t j = 0; j < report->columns; j++)
        if (report->column[j].kind == kind && j != check->label)
            mfpg_inspect_list(list, sizeof list, count++, "%s", report->column[j].name);
    if (count > 0)
        mfpg_inspect_odd(check, word, "data.drop_columns", 0, count,
            "%lld column%s %s: %s; data.drop_columns leaves columns out", (long long)count,
            mfpg_plural(count), what, list);
}

void mfpg_inspect_columns(mfpg_inspection *check) {
    shared_facts all = {0};
    check->report->column = mfpg_inspect_report(check, check->features, sizeof *check->report->column);
    for (ptrdiff_t j = 0; j < check->features && check->status == MFPG_OK; j++)
        inspect_column(check, j, &all);
    if (check->status != MFPG_OK) return;
    if (all.text_columns > 0)
        mfpg_inspect_odd(check, "text-columns", "data.categories", all.text_line, all.text_columns,
            "%lld text column%s: %s; data.categories lists the values of a text column and makes numbers of "
            "them, data.drop_columns leaves it out",
            (long long)all.text_columns, mfpg_plural(all.text_columns), all.texts);
    odd_marks(check, &all);
    odd_kind(check, MFPG_COLUMN_CONSTANT, "constant-columns",
        "with one value in every row, from which nothing is learned");
    odd_kind(check, MFPG_COLUMN_EMPTY, "empty-columns", "without a single value");
}
