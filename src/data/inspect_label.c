/* The label: its classes and their balance. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "inspect.h"

enum { MOST_CLASSES = 100 };

/* What is gathered about the labels. */
typedef struct label_facts {
    mfpg_lookup classes; /* texts without a trailing dot; numbers in their shortest form */
    int64_t rows[MOST_CLASSES];
    int64_t known, dotted, undotted, fractions, texts;
    ptrdiff_t dotted_row, text_row;
    int overflow; /* more than MOST_CLASSES */
} label_facts;

static mfpg_slice class_of(label_facts *facts, ptrdiff_t row, const mfpg_cell_view *cell, char *number) {
    mfpg_slice text = cell->text;
    if (cell->kind == MFPG_CELL_NUMBER) {
        facts->fractions += cell->value != floor(cell->value);
        return mfpg_slice_of(mfpg_number_format(cell->value, number));
    }
    if (facts->texts++ == 0) facts->text_row = row;
    if (text.length > 1 && text.at[text.length - 1] == '.') {
        text.length--;
        if (facts->dotted++ == 0) facts->dotted_row = row;
    } else {
        facts->undotted++;
    }
    return text;
}

static mfpg_status gather(mfpg_inspection *check, label_facts *facts) {
    char number[MFPG_NUMBER_SIZE];
    mfpg_cell_view cell;
    for (ptrdiff_t i = 0; i < check->table.rows; i++) {
        mfpg_inspect_cell(check, i, check->label, &cell);
        check->row_class[i] = -1;
        if (cell.kind == MFPG_CELL_MISSING) continue;
        facts->known++;
        mfpg_slice name = class_of(facts, i, &cell, number);
        if (facts->overflow) continue;
        ptrdiff_t found = mfpg_lookup_add(&facts->classes, name);
        if (found < 0) return mfpg_fail_memory(check->ctx);
        facts->overflow = found >= MOST_CLASSES;
        if (facts->overflow) continue;
        facts->rows[found]++;
        check->row_class[i] = (int32_t)found;
    }
    return MFPG_OK;
}

static int rising(const void *a, const void *b) {
    const mfpg_value_count *x = a, *y = b;
    double left, right;
    if (mfpg_number_parse(x->text, strlen(x->text), &left) &&
        mfpg_number_parse(y->text, strlen(y->text), &right) && left != right)
        return left < right ? -1 : 1;
    return strcmp(x->text, y->text);
}

static mfpg_status list_classes(mfpg_inspection *check, const label_facts *facts) {
    mfpg_data_report *report = check->report;
    int64_t most = 0;
    report->class_rows = mfpg_alloc(facts->classes.count, sizeof *report->class_rows);
    if (!report->class_rows) return mfpg_fail_memory(check->ctx);
    for (; report->classes < facts->classes.count; report->classes++) {
        ptrdiff_t c = report->classes;
        char *text = mfpg_inspect_text((mfpg_slice){facts->classes.keys[c], facts->classes.lengths[c]});
        if (!text) return mfpg_fail_memory(check->ctx);
        report->class_rows[c] = (mfpg_value_count){text, facts->rows[c]};
        if (facts->rows[c] > most) most = facts->rows[c];
    }
    report->majority_rate = (double)most / (double)facts->known;
    qsort(report->class_rows, (size_t)report->classes, sizeof *report->class_rows, rising);
    return MFPG_OK;
}

static mfpg_status odd_dots(mfpg_inspection *check, const label_facts *facts) {
    if (facts->dotted == 0) return MFPG_OK;
    int64_t line = mfpg_table_line(&check->table, facts->dotted_row);
    if (facts->undotted == 0)
        return mfpg_inspect_odd(check, "label-dots", "data.label.positive", line, facts->dotted,
            "every label ends in a dot; data.label.positive takes labels with and without it for the same");
    return mfpg_inspect_odd(check, "label-variants", "data.label.positive", line, facts->dotted,
        "%lld labels end in a dot and %lld do not; data.label.positive takes both for the same",
        (long long)facts->dotted, (long long)facts->undotted);
}

static mfpg_status odd_balance(mfpg_inspection *check) {
    const mfpg_data_report *report = check->report;
    const mfpg_value_count *most = NULL;
    for (ptrdiff_t c = 0; c < report->classes; c++)
        if (!most || report->class_rows[c].rows > most->rows) most = &report->class_rows[c];
    if (!most) return MFPG_OK;
    if (report->classes == 1)
        return mfpg_inspect_odd(check, "one-class", NULL, 0, most->rows,
            "every label is %s: such a client teaches nothing but its own class", most->text);
    if (report->majority_rate < 0.9) return MFPG_OK;
    return mfpg_inspect_odd(check, "unbalanced", NULL, 0, most->rows,
        "%.1f %% of the labels are %s: compare every accuracy with that, and look at the area under the ROC "
        "curve",
        100 * report->majority_rate, most->text);
}

static mfpg_status odd_text_label(mfpg_inspection *check, const label_facts *facts) {
    if (facts->texts == 0) return MFPG_OK;
    return mfpg_inspect_odd(check, "text-label", "data.label.positive",
        mfpg_table_line(&check->table, facts->text_row), facts->texts,
        "the labels are texts; data.label.positive names the one that means 1");
}

/* Two numbers other than 0 and 1, or -1 and 1, and several numbers need a threshold to be two classes. */
static mfpg_status odd_number_label(mfpg_inspection *check, const label_facts *facts) {
    const mfpg_data_report *report = check->report;
    if (facts->texts > 0 || report->classes < 2 || check->table.high > check->table.low) return MFPG_OK;
    int plain = 1;
    for (ptrdiff_t c = 0; c < report->classes; c++) {
        const char *text = report->class_rows[c].text;
        plain = plain && (strcmp(text, "0") == 0 || strcmp(text, "1") == 0 || strcmp(text, "-1") == 0);
    }
    if (plain && report->classes == 2) return MFPG_OK;
    return mfpg_inspect_odd(check, "several-labels", "data.label.positive_above", 0, report->classes,
        "labels other than 0 and 1; data.label.positive_above: %s makes two classes of them",
        report->class_rows[0].text);
}

mfpg_status mfpg_inspect_label(mfpg_inspection *check) {
    if (check->label < 0) return MFPG_OK;
    label_facts facts = {0};
    check->row_class = mfpg_alloc(check->table.rows, sizeof *check->row_class);
    mfpg_status status = check->row_class ? gather(check, &facts) : mfpg_fail_memory(check->ctx);
    if (status == MFPG_OK && !facts.overflow && facts.fractions == 0 && facts.known > 0) {
        status = list_classes(check, &facts);
        if (status == MFPG_OK) status = odd_balance(check);
        if (status == MFPG_OK) status = odd_number_label(check, &facts);
    } else if (status == MFPG_OK) {
        free(check->row_class);
        check->row_class = NULL;
    }
    if (status == MFPG_OK) status = odd_text_label(check, &facts);
    if (status == MFPG_OK) status = odd_dots(check, &facts);
    mfpg_lookup_clear(&facts.classes);
    return status;
}
