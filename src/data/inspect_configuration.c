/* Writes a configuration that reads the file: what the oddities require, as YAML. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "inspect.h"

enum { MOST_SOFTMAX = 50 };

/* Writes a prefix and a YAML scalar in single quotes, in which only the quote itself is doubled. */
static void put_quoted(FILE *out, const char *before, const char *text) {
    fprintf(out, "%s'", before);
    for (; *text; text++) {
        if (*text == '\'') fputc('\'', out);
        fputc(*text, out);
    }
    fputc('\'', out);
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
    if (j == check->label || is_client(check->report, j)) return 0;
    return mfpg_inspect_mostly_missing(check, j) ||
           (check->report->column[j].texts > 0 && !is_category(check, j));
}

static void put_columns(const mfpg_inspection *check, FILE *out) {
    const mfpg_data_report *report = check->report;
    ptrdiff_t dropped = 0, categories = 0;
    for (ptrdiff_t j = 0; j < report->columns; j++)
        if (is_dropped(check, j))
            put_quoted(out, dropped++ == 0 ? "  drop_columns: [" : ", ", report->column[j].name);
    if (dropped > 0) fputs("]\n", out);
    for (ptrdiff_t j = 0; j < report->columns; j++) {
        const mfpg_column_report *column = &report->column[j];
        if (!is_category(check, j)) continue;
        if (categories++ == 0)
            fputs("  categories: # as found in the file; a certificate takes such a list for public\n", out);
        put_quoted(out, "    ", column->name);
        for (ptrdiff_t v = 0; v < column->listed; v++)
            put_quoted(out, v == 0 ? ": [" : ", ", column->value[v].text);
        fputs("]\n", out);
    }
}

static int mark_is_used(const mfpg_inspection *check, int mark) {
    for (ptrdiff_t j = 0; j < check->report->columns; j++) {
        const mfpg_column_report *column = &check->report->column[j];
        for (ptrdiff_t m = 0; m < column->marks; m++)
            if (strcmp(column->mark[m].text, mfpg_missing_marks[mark]) == 0 && !is_dropped(check, j))
                return 1;
    }
    return 0;
}

static void put_missing(const mfpg_inspection *check, FILE *out) {
    int any = 0, other = 0, used[MFPG_MARKS], listed = 0;
    for (int m = 0; m < MFPG_MARKS; m++) {
        used[m] = mark_is_used(check, m);
        any |= used[m];
        other |= used[m] && m >= MFPG_DEFAULT_MARKS;
    }
    if (!any) return;
    fputs("  missing: {", out);
    for (int m = 1; other && m < MFPG_MARKS; m++)
        if (m < MFPG_DEFAULT_MARKS || used[m])
            put_quoted(out, listed++ == 0 ? "values: [" : ", ", mfpg_missing_marks[m]);
    fputs(other ? "], rows: drop}\n" : "rows: drop}\n", out);
}

/* ---- label and model ---- */

static int class_is(const mfpg_data_report *report, ptrdiff_t c, const char *text) {
    return c < report->classes && strcmp(report->class_rows[c].text, text) == 0;
}

/* Returns 1 if the classes are 0, 1, ..., as softmax numbers them. */
static int classes_count_up(const mfpg_data_report *report) {
    char number[24];
    for (ptrdiff_t c = 0; c < report->classes; c++) {
        snprintf(number, sizeof number, "%td", c);
        if (!class_is(report, c, number)) return 0;
    }
    return report->classes > 2 && report->classes <= MOST_SOFTMAX;
}

static int classes_are_binary(const mfpg_data_report *report) {
    int low = class_is(report, 0, "0") || class_is(report, 0, "-1");
    return report->classes == 1 ? low || class_is(report, 0, "1")
                                : report->classes == 2 && low && class_is(report, 1, "1");
}

/* Returns the rarest class if one of the classes is a text; otherwise NULL. */
static const char *positive_class(const mfpg_data_report *report) {
    const mfpg_value_count *least = report->class_rows;
    int texts = 0;
    for (ptrdiff_t c = 0; c < report->classes; c++) {
        const mfpg_value_count *class = &report->class_rows[c];
        double value;
        texts |= !mfpg_number_parse(class->text, strlen(class->text), &value);
        if (class->rows < least->rows) least = class;
    }
    return texts ? least->text : NULL;
}

/* Writes the rule for the label, and the model that learns it. */
static void put_label(const mfpg_inspection *check, FILE *out, char model[64]) {
    const mfpg_data_report *report = check->report;
    const char *positive = positive_class(report), *before = "  label: {";
    int threshold = !positive && report->classes == 2 && !classes_are_binary(report);
    strcpy(model, positive || threshold || classes_are_binary(report) ? "logistic" : "linear");
    if (!positive && classes_count_up(report)) snprintf(model, 64, "softmax, classes: %td", report->classes);
    if (check->options->label_column) {
        fputs(before, out);
        put_quoted(out, "column: ", report->label);
        before = ", ";
    }
    if (positive || threshold) fputs(before, out);
    if (positive) put_quoted(out, "positive: ", positive);
    if (threshold) fprintf(out, "positive_above: %s", report->class_rows[0].text);
    if (check->options->label_column || positive || threshold) fputs("}\n", out);
}

void mfpg_inspect_configuration(mfpg_inspection *check) {
    const mfpg_data_report *report = check->report;
    int alone = check->table.columns == 1; /* labels, whose features are in another file */
    const char *labels = alone ? check->path : check->label < 0 ? "LABELS" : check->options->labels;
    size_t length;
    char model[64];
    FILE *out = open_memstream(&check->report->configuration, &length);
    if (!out) {
        check->status = mfpg_fail_memory(check->ctx);
        return;
    }
    put_quoted(out, "data:\n  files: [", alone ? "FEATURES" : check->path);
    fprintf(out, "]\n  format: %s\n", report->format);
    if (labels) {
        put_quoted(out, "  labels: [", labels);
        fputs("]\n", out);
    }
    if (check->table.cells && !report->header) fputs("  header: false\n", out);
    put_label(check, out, model);
    put_columns(check, out);
    put_missing(check, out);
    if (report->client_columns > 0) {
        put_quoted(out, "  partition: {kind: column, column: ", report->client_column[0].column);
        fputs("}\n", out);
    }
    if (check->label >= 0) fprintf(out, "task: {model: %s}\n", model);
    int failed = ferror(out);
    if (fclose(out) != 0) failed = 1;
    if (!mfpg_pool_own(check->pool, check->report->configuration) || failed)
        check->status = mfpg_fail_memory(check->ctx);
}
