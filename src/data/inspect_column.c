/* What is odd about columns: texts, missing marks, values that may stand for a missing one. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "inspect_column.h"

enum { MOST_TOLD = 12, MANY_VALUES = 10, FEW_VALUES = 20 };

static int64_t line_of(const mfpg_inspection *check, ptrdiff_t row) {
    return mfpg_table_line(&check->table, row);
}

static mfpg_status odd_infinite(
    mfpg_inspection *check, const mfpg_column_facts *facts, const mfpg_column_report *column) {
    return mfpg_inspect_odd(check, "infinite", "data.drop_columns", line_of(check, facts->text_row),
        facts->texts, "column %s: %lld infinite value%s; data.drop_columns leaves the column out",
        column->name, (long long)facts->texts, facts->texts == 1 ? "" : "s");
}

static mfpg_status odd_commas(
    mfpg_inspection *check, ptrdiff_t j, const mfpg_column_facts *facts, const mfpg_column_report *column) {
    char shown[MFPG_SHOWN_SIZE];
    mfpg_cell_view cell;
    mfpg_inspect_cell(check, facts->comma_row, j, &cell);
    return mfpg_inspect_odd(check, "decimal-comma", "data.drop_columns", line_of(check, facts->comma_row),
        facts->decimal_commas,
        "column %s: %lld number%s with a decimal comma, such as %s; write points, no setting reads commas "
        "(data.drop_columns leaves the column out)",
        column->name, (long long)facts->decimal_commas, facts->decimal_commas == 1 ? "" : "s",
        mfpg_slice_show(cell.text, shown));
}

static mfpg_status odd_texts_among_numbers(
    mfpg_inspection *check, ptrdiff_t j, const mfpg_column_facts *facts, const mfpg_column_report *column) {
    char shown[MFPG_SHOWN_SIZE];
    mfpg_cell_view cell;
    mfpg_inspect_cell(check, facts->text_row, j, &cell);
    return mfpg_inspect_odd(check, "text-among-numbers", "data.missing.values",
        line_of(check, facts->text_row), facts->texts,
        "column %s: %lld text%s among %lld numbers, the first %s; where it means missing, "
        "data.missing.values may "
        "name it; data.drop_columns leaves the column out",
        column->name, (long long)facts->texts, facts->texts == 1 ? "" : "s", (long long)facts->numbers,
        mfpg_slice_show(cell.text, shown));
}

static void note_texts(mfpg_inspection *check, const mfpg_column_facts *facts,
    const mfpg_column_report *column, mfpg_shared_facts *all) {
    size_t used = strlen(all->texts), room = sizeof all->texts - used;
    int64_t line = line_of(check, facts->text_row);
    if (all->text_columns == 0 || line < all->text_line) all->text_line = line;
    all->text_cells += facts->texts;
    if (all->text_columns++ < MOST_TOLD)
        snprintf(all->texts + used, room, "%s%s (%td%s value%s)", used ? ", " : "", column->name,
            column->values, column->values == MFPG_INSPECT_VALUES ? " and more" : "",
            column->values == 1 ? "" : "s");
    else if (all->text_columns == MOST_TOLD + 1)
        snprintf(all->texts + used, room, ", ...");
}

static mfpg_status odd_text_columns(mfpg_inspection *check, const mfpg_shared_facts *all) {
    if (all->text_columns == 0) return MFPG_OK;
    return mfpg_inspect_odd(check, "text-columns", "data.categories", all->text_line, all->text_columns,
        "%lld text column%s: %s; data.categories lists the values of a text column and makes numbers of "
        "them, "
        "data.drop_columns leaves it out",
        (long long)all->text_columns, all->text_columns == 1 ? "" : "s", all->texts);
}

/* Numbers that people write for "not known": beyond all others by far. */
static mfpg_status odd_sentinels(
    mfpg_inspection *check, const mfpg_column_facts *facts, const mfpg_column_report *column) {
    static const double low[] = {-9, -99, -999, -9999}, high[] = {999, 9999, 99999, 999999};
    char number[MFPG_NUMBER_SIZE];
    for (int i = 0; i < 8; i++) {
        const mfpg_extreme *e = i < 4 ? &facts->low : &facts->high;
        double value = i < 4 ? low[i] : high[i - 4];
        int apart = i < 4 ? e->next >= 0 : e->next >= 0 && e->next <= value / 2;
        if (e->count == 0 || e->value != value || !apart) continue;
        mfpg_number_format(value, number);
        mfpg_status status = mfpg_inspect_odd(check, "suspicious-value", "data.missing.values",
            line_of(check, e->row), e->count,
            "column %s: %s in %lld row%s, the next value is %g: perhaps it means missing; "
            "data.missing.values: "
            "[\"%s\"] says so%s",
            column->name, number, (long long)e->count, e->count == 1 ? "" : "s", e->next, number,
            check->table.numbers ? " in a text file; in an array, write NaN" : "");
        if (status != MFPG_OK) return status;
    }
    return MFPG_OK;
}

/* Nothing between 0 and values that are all far from it, as in a blood pressure of 0. */
static mfpg_status odd_zeros(
    mfpg_inspection *check, const mfpg_column_facts *facts, const mfpg_column_report *column) {
    double span = facts->high.value - facts->least_positive, step = span / (double)facts->values.count;
    if (check->table.sparse || check->table.high > check->table.low) return MFPG_OK;
    if (facts->zeros == 0 || facts->low.value < 0 || facts->values.count < MANY_VALUES) return MFPG_OK;
    if (!(facts->least_positive >= 0.1 * span && facts->least_positive >= 4 * step)) return MFPG_OK;
    return mfpg_inspect_odd(check, "zero-as-missing", "data.drop_columns", line_of(check, facts->zero_row),
        facts->zeros,
        "column %s: %lld zero%s, all other values are between %g and %g: perhaps 0 means missing here; write "
        "such "
        "cells as ? (data.missing.values: [\"0\"] would count in every column), or leave the column out "
        "(data.drop_columns)",
        column->name, (long long)facts->zeros, facts->zeros == 1 ? "" : "s", facts->least_positive,
        facts->high.value);
}

static void note_marks(
    mfpg_inspection *check, const mfpg_column_facts *facts, const char *name, mfpg_shared_facts *all) {
    for (int m = 0; m < MFPG_INSPECT_MARKS; m++) {
        if (facts->mark[m] == 0) continue;
        int64_t line = line_of(check, facts->mark_row[m]);
        if (all->columns[m] == 0 || line < all->line[m]) all->line[m] = line;
        all->cells[m] += facts->mark[m];
        size_t used = strlen(all->where[m]), room = sizeof all->where[m] - used;
        if (all->columns[m]++ < MOST_TOLD)
            snprintf(
                all->where[m] + used, room, "%s%s %lld", used ? ", " : "", name, (long long)facts->mark[m]);
        else if (all->columns[m] == MOST_TOLD + 1)
            snprintf(all->where[m] + used, room, ", ...");
    }
}

static mfpg_status odd_marks(mfpg_inspection *check, const mfpg_shared_facts *all) {
    mfpg_status status = MFPG_OK;
    for (int m = 0; m < MFPG_INSPECT_MARKS && status == MFPG_OK; m++) {
        if (all->cells[m] == 0) continue;
        char shown[32] = "an empty cell", setting[96] = "";
        if (mfpg_inspect_mark(m)[0]) snprintf(shown, sizeof shown, "\"%s\"", mfpg_inspect_mark(m));
        if (check->table.numbers) strcpy(shown, "NaN");
        if (!mfpg_inspect_mark_is_default(m))
            snprintf(setting, sizeof setting, "data.missing.values: [%s] makes it one, then ", shown);
        status = mfpg_inspect_odd(check, "missing-mark", "data.missing.rows", all->line[m], all->cells[m],
            "missing mark %s: %lld cell%s in %lld column%s (%s); %sdata.missing.rows: drop counts such rows "
            "without using them, data.missing.impute: mean fills them in",
            shown, (long long)all->cells[m], all->cells[m] == 1 ? "" : "s", (long long)all->columns[m],
            all->columns[m] == 1 ? "" : "s", all->where[m], setting);
    }
    return status;
}

/* Columns of one value and columns of none, each in one line. */
static mfpg_status odd_kind(
    mfpg_inspection *check, mfpg_column_kind kind, const char *word, const char *what) {
    char list[300] = "";
    int64_t count = 0;
    const mfpg_data_report *report = check->report;
    for (ptrdiff_t j = 0; j < report->columns; j++) {
        if (report->column[j].kind != kind || j == check->label) continue;
        size_t used = strlen(list);
        if (count++ < MOST_TOLD)
            snprintf(list + used, sizeof list - used, "%s%s", used ? ", " : "", report->column[j].name);
    }
    if (count == 0) return MFPG_OK;
    return mfpg_inspect_odd(check, word, "data.drop_columns", 0, count,
        "%lld column%s %s: %s%s; data.drop_columns leaves columns out", (long long)count,
        count == 1 ? "" : "s", what, list, count > MOST_TOLD ? ", ..." : "");
}

/* Texts in their three kinds: values of arrays that are infinite, numbers written otherwise, and real texts. */
static mfpg_status inspect_texts(
    mfpg_inspection *check, ptrdiff_t j, const mfpg_column_facts *facts, mfpg_shared_facts *all) {
    const mfpg_column_report *column = &check->report->column[j];
    if (check->table.numbers) return odd_infinite(check, facts, column);
    if (2 * facts->decimal_commas >= facts->texts) return odd_commas(check, j, facts, column);
    if (facts->texts < facts->numbers && column->values > FEW_VALUES)
        return odd_texts_among_numbers(check, j, facts, column);
    if (j != check->label) note_texts(check, facts, column, all); /* a label is told apart */
    return MFPG_OK;
}

mfpg_status mfpg_inspect_column(
    mfpg_inspection *check, ptrdiff_t j, const mfpg_column_facts *facts, mfpg_shared_facts *all) {
    const mfpg_column_report *column = &check->report->column[j];
    mfpg_status status = MFPG_OK;
    note_marks(check, facts, column->name, all);
    if (facts->texts > 0) status = inspect_texts(check, j, facts, all);
    if (facts->numbers > 0 && j != check->label) {
        if (status == MFPG_OK) status = odd_sentinels(check, facts, column);
        if (status == MFPG_OK) status = odd_zeros(check, facts, column);
    }
    return status;
}

mfpg_status mfpg_inspect_shared(mfpg_inspection *check, const mfpg_shared_facts *all) {
    mfpg_status status = odd_text_columns(check, all);
    if (status == MFPG_OK) status = odd_marks(check, all);
    if (status == MFPG_OK)
        status = odd_kind(check, MFPG_COLUMN_CONSTANT, "constant-columns",
            "with one value in every row, from which nothing is learned");
    if (status == MFPG_OK)
        status = odd_kind(check, MFPG_COLUMN_EMPTY, "empty-columns", "without a single value");
    return status;
}
