/* A configuration that reads the file: what the oddities say, in the words of YAML. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "inspect.h"

enum { MOST_SOFTMAX = 50 };

/* A text that grows; failed stays 1 once memory has run out. */
typedef struct growing {
    char *text;
    size_t length, room;
    int failed;
} growing;

static void put_bytes(growing *g, const char *bytes, size_t length) {
    if (g->failed) return;
    if (g->length + length + 1 > g->room) {
        size_t room = 2 * (g->length + length + 1);
        char *larger = mfpg_resize(g->text, (ptrdiff_t)room, 1);
        if (!larger) {
            g->failed = 1;
            return;
        }
        g->text = larger;
        g->room = room;
    }
    memcpy(g->text + g->length, bytes, length);
    g->length += length;
    g->text[g->length] = 0;
}

static void put(growing *g, const char *text) {
    put_bytes(g, text, strlen(text));
}

/* A YAML scalar in single quotes, in which only the quote itself is doubled. */
static void put_quoted(growing *g, const char *text) {
    put(g, "'");
    for (; *text; text++) {
        if (*text == '\'') put(g, "'");
        put_bytes(g, text, 1);
    }
    put(g, "'");
}

static void put_item(growing *g, ptrdiff_t index, const char *text) {
    if (index > 0) put(g, ", ");
    put_quoted(g, text);
}

/* ---- columns ---- */

static int is_client(const mfpg_data_report *report, ptrdiff_t j) {
    return report->client_columns > 0 && strcmp(report->client_column[0].column, report->column[j].name) == 0;
}

static int is_category(const mfpg_inspection *check, ptrdiff_t j) {
    const mfpg_column_report *column = &check->report->column[j];
    return column->kind == MFPG_COLUMN_TEXT && check->table.cells && j != check->label &&
           !is_client(check->report, j) && column->values == column->listed &&
           !mfpg_inspect_mostly_missing(check, j);
}

static int is_dropped(const mfpg_inspection *check, ptrdiff_t j) {
    const mfpg_column_report *column = &check->report->column[j];
    if (j == check->label || is_client(check->report, j)) return 0;
    return mfpg_inspect_mostly_missing(check, j) || (column->texts > 0 && !is_category(check, j));
}

static void put_dropped(const mfpg_inspection *check, growing *g) {
    ptrdiff_t count = 0;
    for (ptrdiff_t j = 0; j < check->report->columns; j++) {
        if (!is_dropped(check, j)) continue;
        if (count == 0) put(g, "  drop_columns: [");
        put_item(g, count++, check->report->column[j].name);
    }
    if (count > 0) put(g, "]\n");
}

static void put_categories(const mfpg_inspection *check, growing *g) {
    int any = 0;
    for (ptrdiff_t j = 0; j < check->report->columns; j++) {
        const mfpg_column_report *column = &check->report->column[j];
        if (!is_category(check, j)) continue;
        put(g,
            any ? "    "
                : "  categories: # as found in the file; a certificate takes such a list for public\n    ");
        any = 1;
        put_quoted(g, column->name);
        put(g, ": [");
        for (ptrdiff_t v = 0; v < column->listed; v++) put_item(g, v, column->value[v].text);
        put(g, "]\n");
    }
}

static int mark_is_used(const mfpg_inspection *check, int mark) {
    for (ptrdiff_t j = 0; j < check->report->columns; j++) {
        const mfpg_column_report *column = &check->report->column[j];
        for (ptrdiff_t m = 0; m < column->marks; m++)
            if (strcmp(column->mark[m].text, mfpg_inspect_mark(mark)) == 0 && !is_dropped(check, j)) return 1;
    }
    return 0;
}

static void put_missing(const mfpg_inspection *check, growing *g) {
    int any = 0, other = 0;
    for (int m = 0; m < MFPG_INSPECT_MARKS; m++) {
        if (!mark_is_used(check, m)) continue;
        any = 1;
        other |= !mfpg_inspect_mark_is_default(m);
    }
    if (!any) return;
    put(g, "  missing: {");
    for (int m = 1, count = 0; other && m < MFPG_INSPECT_MARKS; m++) {
        if (!mfpg_inspect_mark_is_default(m) && !mark_is_used(check, m)) continue;
        if (count == 0) put(g, "values: [");
        put_item(g, count++, mfpg_inspect_mark(m));
    }
    put(g, other ? "], rows: drop}\n" : "rows: drop}\n");
}

/* ---- label and model ---- */

static int class_is(const mfpg_data_report *report, ptrdiff_t c, const char *text) {
    return c < report->classes && strcmp(report->class_rows[c].text, text) == 0;
}

/* The classes are 0, 1, ..., as softmax numbers them. */
static int classes_count_up(const mfpg_data_report *report) {
    char number[24];
    for (ptrdiff_t c = 0; c < report->classes; c++) {
        snprintf(number, sizeof number, "%td", c);
        if (!class_is(report, c, number)) return 0;
    }
    return report->classes > 2 && report->classes <= MOST_SOFTMAX;
}

static int classes_are_binary(const mfpg_data_report *report) {
    if (report->classes == 1)
        return class_is(report, 0, "0") || class_is(report, 0, "1") || class_is(report, 0, "-1");
    return report->classes == 2 && class_is(report, 1, "1") &&
           (class_is(report, 0, "0") || class_is(report, 0, "-1"));
}

static const mfpg_value_count *rarest(const mfpg_data_report *report) {
    const mfpg_value_count *least = NULL;
    for (ptrdiff_t c = 0; c < report->classes; c++)
        if (!least || report->class_rows[c].rows < least->rows) least = &report->class_rows[c];
    return least;
}

static int labels_are_texts(const mfpg_data_report *report) {
    double value;
    for (ptrdiff_t c = 0; c < report->classes; c++)
        if (!mfpg_number_parse(report->class_rows[c].text, strlen(report->class_rows[c].text), &value))
            return 1;
    return 0;
}

/* The label's rule, and the model that learns it. */
static void put_label(const mfpg_inspection *check, growing *g, char model[64]) {
    const mfpg_data_report *report = check->report;
    const mfpg_value_count *positive = labels_are_texts(report) ? rarest(report) : NULL;
    int threshold = !positive && report->classes == 2 && !classes_are_binary(report);
    int named = check->options->label_column != NULL;
    strcpy(model, positive || threshold || classes_are_binary(report) ? "logistic" : "linear");
    if (!positive && classes_count_up(report)) snprintf(model, 64, "softmax, classes: %td", report->classes);
    if (!named && !positive && !threshold) return;
    put(g, "  label: {");
    if (named) {
        put(g, "column: ");
        put_quoted(g, report->label);
    }
    if (named && (positive || threshold)) put(g, ", ");
    if (positive) {
        put(g, "positive: ");
        put_quoted(g, positive->text);
    }
    if (threshold) {
        put(g, "positive_above: ");
        put(g, report->class_rows[0].text);
    }
    put(g, "}\n");
}

mfpg_status mfpg_inspect_configuration(mfpg_inspection *check) {
    const mfpg_data_report *report = check->report;
    growing g = {0};
    char model[64];
    int alone = check->table.columns == 1; /* labels, for which the features are wanting */
    put(&g, "data:\n  files: [");
    put_quoted(&g, alone ? "FEATURES" : check->path);
    put(&g, "]\n  format: ");
    put(&g, report->format);
    put(&g, "\n");
    const char *labels = alone ? check->path : check->label < 0 ? "LABELS" : check->options->labels;
    if (labels) {
        put(&g, "  labels: [");
        put_quoted(&g, labels);
        put(&g, "]\n");
    }
    if (check->table.cells && !report->header) put(&g, "  header: false\n");
    put_label(check, &g, model);
    put_dropped(check, &g);
    put_categories(check, &g);
    put_missing(check, &g);
    if (report->client_columns > 0) {
        put(&g, "  partition: {kind: column, column: ");
        put_quoted(&g, report->client_column[0].column);
        put(&g, "}\n");
    }
    if (check->label >= 0) {
        put(&g, "task: {model: ");
        put(&g, model);
        put(&g, "}\n");
    }
    if (g.failed) {
        free(g.text);
        return mfpg_fail_memory(check->ctx);
    }
    check->report->configuration = g.text;
    return MFPG_OK;
}
