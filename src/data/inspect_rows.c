/* Examines rows: the classes of their labels, rows that are incomplete or occur twice, and the clients to
 * which they belong. */
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "inspect.h"

enum { MOST_CLASSES = 100, FEW_ROWS = 20, SMALL_CLIENT = 2 };

/* ---- the label ---- */

typedef struct label_facts {
    mfpg_lookup classes; /* texts without a final dot; numbers in their shortest form */
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

static void gather(mfpg_inspection *check, label_facts *facts) {
    char number[MFPG_NUMBER_SIZE];
    check->row_class = mfpg_inspect_alloc(check, check->table.rows, sizeof *check->row_class);
    for (ptrdiff_t i = 0; i < check->table.rows && check->status == MFPG_OK; i++) {
        mfpg_cell_view cell = mfpg_inspect_cell(check, i, check->label);
        check->row_class[i] = -1;
        if (cell.kind == MFPG_CELL_MISSING) continue;
        facts->known++;
        mfpg_slice name = class_of(facts, i, &cell, number);
        if (facts->overflow) continue;
        ptrdiff_t found = mfpg_lookup_add(&facts->classes, name);
        if (found < 0) check->status = mfpg_fail_memory(check->ctx);
        facts->overflow = found >= MOST_CLASSES;
        if (found < 0 || facts->overflow) continue;
        facts->rows[found]++;
        check->row_class[i] = (int32_t)found;
    }
}

static int rising(const void *a, const void *b) {
    const mfpg_value_count *x = a, *y = b;
    double left, right;
    if (mfpg_number_parse(x->text, strlen(x->text), &left) &&
        mfpg_number_parse(y->text, strlen(y->text), &right) && left != right)
        return left < right ? -1 : 1;
    return strcmp(x->text, y->text);
}

static void list_classes(mfpg_inspection *check, const label_facts *facts) {
    mfpg_data_report *report = check->report;
    const mfpg_lookup *classes = &facts->classes;
    const mfpg_value_count *most = NULL;
    report->class_rows = mfpg_inspect_report(check, classes->count, sizeof *report->class_rows);
    for (ptrdiff_t c = 0; c < classes->count && check->status == MFPG_OK; c++) {
        mfpg_slice text = {classes->keys[c], classes->lengths[c]};
        report->class_rows[report->classes++] =
            (mfpg_value_count){mfpg_inspect_text(check, text), facts->rows[c]};
    }
    if (check->status != MFPG_OK) return;
    qsort(report->class_rows, (size_t)report->classes, sizeof *report->class_rows, rising);
    for (ptrdiff_t c = 0; c < report->classes; c++)
        if (!most || report->class_rows[c].rows > most->rows) most = &report->class_rows[c];
    report->majority_rate = (double)most->rows / (double)facts->known;
    if (report->classes == 1)
        mfpg_inspect_odd(check, "one-class", NULL, 0, most->rows,
            "every label is %s: such a client teaches nothing but its own class", most->text);
    else if (report->majority_rate >= 0.9)
        mfpg_inspect_odd(check, "unbalanced", NULL, 0, most->rows,
            "%.1f %% of the labels are %s: compare every accuracy with that, and look at the area under the "
            "ROC curve",
            100 * report->majority_rate, most->text);
}

/* Two numbers other than 0 and 1, or -1 and 1, or more than two numbers, need a threshold to become two
 * classes. */
static void odd_number_label(mfpg_inspection *check) {
    const mfpg_data_report *report = check->report;
    int plain = report->classes == 2;
    if (report->classes < 2 || check->table.high > check->table.low) return;
    for (ptrdiff_t c = 0; c < report->classes; c++) {
        const char *text = report->class_rows[c].text;
        plain = plain && (strcmp(text, "0") == 0 || strcmp(text, "1") == 0 || strcmp(text, "-1") == 0);
    }
    if (!plain)
        mfpg_inspect_odd(check, "several-labels", "data.label.positive_above", 0, report->classes,
            "labels other than 0 and 1; data.label.positive_above: %s makes two classes of them",
            report->class_rows[0].text);
}

static void inspect_label(mfpg_inspection *check) {
    label_facts facts = {0};
    gather(check, &facts);
    if (check->status == MFPG_OK && !facts.overflow && facts.fractions == 0 && facts.known > 0) {
        list_classes(check, &facts);
        if (check->status == MFPG_OK && facts.texts == 0) odd_number_label(check);
    } else {
        free(check->row_class);
        check->row_class = NULL;
    }
    if (facts.texts > 0)
        mfpg_inspect_odd(check, "text-label", "data.label.positive",
            mfpg_table_line(&check->table, facts.text_row), facts.texts,
            "the labels are texts; data.label.positive names the one that means 1");
    int64_t line = facts.dotted > 0 ? mfpg_table_line(&check->table, facts.dotted_row) : 0;
    if (facts.dotted > 0 && facts.undotted == 0)
        mfpg_inspect_odd(check, "label-dots", "data.label.positive", line, facts.dotted,
            "every label ends in a dot; data.label.positive takes labels with and without it for the same");
    else if (facts.dotted > 0)
        mfpg_inspect_odd(check, "label-variants", "data.label.positive", line, facts.dotted,
            "%lld labels end in a dot and %lld do not; data.label.positive takes both for the same",
            (long long)facts.dotted, (long long)facts.undotted);
    mfpg_lookup_clear(&facts.classes);
}

/* ---- rows that occur twice ---- */

static mfpg_slice cell_text(const mfpg_table *table, ptrdiff_t row, ptrdiff_t column) {
    return mfpg_slice_trim(mfpg_table_text(table, row, column, NULL));
}

static int compare_rows(const mfpg_table *table, ptrdiff_t a, ptrdiff_t b) {
    size_t columns = (size_t)table->columns;
    if (table->numbers)
        return memcmp(table->numbers + a * table->columns, table->numbers + b * table->columns,
            columns * sizeof(float));
    for (ptrdiff_t j = 0; j < table->columns; j++) {
        mfpg_slice x = cell_text(table, a, j), y = cell_text(table, b, j);
        if (x.length != y.length) return x.length < y.length ? -1 : 1;
        int order = memcmp(x.at, y.at, x.length);
        if (order != 0) return order;
    }
    return 0;
}

/* Orders by content and then by number, so that equal rows are neighbours. */
static int order_rows(const void *a, const void *b, void *table) {
    ptrdiff_t x = *(const ptrdiff_t *)a, y = *(const ptrdiff_t *)b;
    int order = compare_rows(table, x, y);
    return order != 0 ? order : (x > y) - (x < y);
}

static void find_duplicates(mfpg_inspection *check) {
    mfpg_table *table = &check->table;
    int64_t count = 0;
    ptrdiff_t first = table->rows, of = 0, group = 0;
    ptrdiff_t *row = mfpg_inspect_alloc(check, table->rows, sizeof *row);
    if (!row) return;
    for (ptrdiff_t i = 0; i < table->rows; i++) row[i] = i;
    qsort_r(row, (size_t)table->rows, sizeof *row, order_rows, table);
    for (ptrdiff_t i = 1; i < table->rows; i++) {
        if (compare_rows(table, row[i], row[i - 1]) != 0) {
            group = i;
            continue;
        }
        count++;
        if (row[i] >= first) continue;
        first = row[i];
        of = row[group];
    }
    free(row);
    if (count > 0)
        mfpg_inspect_odd(check, "duplicate-rows", NULL, mfpg_table_line(table, first), count,
            "%lld row%s the same as an earlier one, the first that of %s %u; such rows are kept",
            (long long)count, count == 1 ? " is" : "s are", table->lines ? "line" : "row",
            mfpg_table_line(table, of));
}

/* ---- rows with missing values ---- */

int mfpg_inspect_mostly_missing(const mfpg_inspection *check, ptrdiff_t column) {
    return column < check->features && column != check->label &&
           3 * check->report->column[column].missing > check->table.rows;
}

/* Returns 1 if no cell of the row is missing. without 1: columns that miss many values are ignored. */
static int is_complete(const mfpg_inspection *check, ptrdiff_t row, int without) {
    for (ptrdiff_t j = 0; j < check->features; j++) {
        const mfpg_column_report *column = &check->report->column[j];
        if (column->missing == 0 || (without && mfpg_inspect_mostly_missing(check, j))) continue;
        mfpg_cell_kind kind = mfpg_inspect_cell(check, row, j).kind;
        if (kind == MFPG_CELL_MISSING || (kind == MFPG_CELL_DOUBT && column->texts == 0)) return 0;
    }
    return 1;
}

/* Counts the rows that remain if rows with a missing value are dropped, and if columns that miss more than a
 * third of their values are left out first. */
static void count_complete(mfpg_inspection *check) {
    char list[300] = "";
    ptrdiff_t rows = check->table.rows;
    int64_t missing = 0, columns = 0, complete = 0, kept = 0;
    for (ptrdiff_t j = 0; j < check->features; j++) {
        const mfpg_column_report *column = &check->report->column[j];
        missing += column->missing;
        if (mfpg_inspect_mostly_missing(check, j))
            mfpg_inspect_list(list, sizeof list, columns++, "%s", column->name);
    }
    if (missing == 0) return;
    for (ptrdiff_t i = 0; i < rows; i++) {
        complete += is_complete(check, i, 0);
        kept += is_complete(check, i, 1);
    }
    if (columns == 0)
        mfpg_inspect_odd(check, "incomplete-rows", "data.missing.rows", 0, rows - complete,
            "%lld of %td rows are complete and used with data.missing.rows: drop", (long long)complete, rows);
    else
        mfpg_inspect_odd(check, "incomplete-rows", "data.drop_columns", 0, rows - complete,
            "%lld of %td rows are complete; %lld would be without the columns that miss more than a third of "
            "their values (data.drop_columns: %s)",
            (long long)complete, rows, (long long)kept, list);
}

/* ---- clients ---- */

/* Returns 1 if the name contains one of the words between characters that are not letters: "subject#",
 * "native-country". */
static int names_a_client(const char *name) {
    static const char *const words[] = {"client", "site", "hospital", "clinic", "center", "centre",
        "district", "school", "subject", "patient", "person", "user", "userid", "region", "lea", "ward",
        "bank", "branch", "institution", "station", "state", "country", "provider", "device", "sensor",
        "writer", "speaker", "area", "village", "county"};
    char word[32];
    while (*name) {
        size_t length = 0;
        while (*name && !isalpha((unsigned char)*name)) name++;
        for (; isalpha((unsigned char)*name); name++)
            if (length < sizeof word - 1) word[length++] = (char)tolower((unsigned char)*name);
        word[length] = 0;
        for (size_t i = 0; i < sizeof words / sizeof words[0] && length > 0; i++)
            if (strcmp(word, words[i]) == 0) return 1;
    }
    return 0;
}

/* Rows and classes of the clients of one column. */
typedef struct tally {
    mfpg_lookup names;
    int64_t *rows;  /* number of rows of each client; the array is as long as the rows */
    int32_t *class; /* the client's only class; -1: none yet, -2: several */
} tally;

static void count_clients(mfpg_inspection *check, ptrdiff_t column, tally *t) {
    t->rows = mfpg_inspect_alloc(check, check->table.rows, sizeof *t->rows);
    t->class = mfpg_inspect_alloc(check, check->table.rows, sizeof *t->class);
    for (ptrdiff_t i = 0; i < check->table.rows && check->status == MFPG_OK; i++) {
        ptrdiff_t client = mfpg_lookup_add(&t->names, mfpg_inspect_cell(check, i, column).text);
        int32_t class = check->row_class ? check->row_class[i] : -2;
        if (client < 0)
            check->status = mfpg_fail_memory(check->ctx);
        else if (t->rows[client]++ == 0)
            t->class[client] = class;
        else if (t->class[client] != class)
            t->class[client] = -2;
    }
}

static void report_clients(mfpg_inspection *check, ptrdiff_t column, const tally *t) {
    mfpg_data_report *report = check->report;
    mfpg_client_column found = {.column = check->report->column[column].name,
        .clients = t->names.count,
        .smallest = check->table.rows};
    int64_t small = 0;
    for (ptrdiff_t k = 0; k < t->names.count; k++) {
        if (t->rows[k] < found.smallest) found.smallest = t->rows[k];
        if (t->rows[k] > found.largest) found.largest = t->rows[k];
        found.one_class += t->class[k] >= 0;
        small += t->rows[k] <= SMALL_CLIENT;
    }
    if (!report->client_column)
        report->client_column = mfpg_inspect_report(check, check->features, sizeof *report->client_column);
    if (!report->client_column) return;
    report->client_column[report->client_columns++] = found;
    if (small > 0)
        mfpg_inspect_odd(check, "small-clients", NULL, 0, small,
            "column %s: %lld of %td clients with one or two rows; such a client has no row to test on, and "
            "its own rows are easy to guess from its update",
            found.column, (long long)small, found.clients);
    if (found.one_class > 0)
        mfpg_inspect_odd(check, "one-class-clients", NULL, 0, found.one_class,
            "column %s: %td of %td clients with rows of one class only", found.column, found.one_class,
            found.clients);
}

/* A column that data.partition.column may name: it has two or more clients, with two or more rows each on
 * average. */
static void inspect_client_column(mfpg_inspection *check, ptrdiff_t column) {
    tally t = {0};
    count_clients(check, column, &t);
    if (check->status == MFPG_OK && t.names.count >= 2 && t.names.count <= check->table.rows / 2)
        report_clients(check, column, &t);
    mfpg_lookup_clear(&t.names);
    free(t.rows);
    free(t.class);
}

/* ---- all of it ---- */

void mfpg_inspect_rows(mfpg_inspection *check) {
    const mfpg_table *table = &check->table;
    if (check->label >= 0) inspect_label(check);
    if (table->rows < FEW_ROWS)
        mfpg_inspect_odd(check, "few-rows", NULL, 0, table->rows,
            "only %td row%s: too few to learn much from, or to test on", table->rows,
            mfpg_plural(table->rows));
    if (table->columns == 1)
        mfpg_inspect_odd(check, "one-column", table->cells ? NULL : "data.labels", 0, 1,
            "a single column: labels without features%s",
            table->cells ? "" : "; data.labels names such a file in addition to the one with the features");
    if (check->status == MFPG_OK) count_complete(check);
    if (check->status == MFPG_OK && table->columns > 1) find_duplicates(check);
    for (ptrdiff_t j = 0; table->cells && j < check->features && check->status == MFPG_OK; j++)
        if (j != check->label && names_a_client(table->names.keys[j])) inspect_client_column(check, j);
}
