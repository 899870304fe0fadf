/* mfpg data check: what a data file is, before anybody trains on it. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "mfpg/data_check.h"
#include "mfpg/dataset.h"

#include "options.h"

enum {
    OPTION_LABELS = 'l',
    OPTION_LABEL = 'c',
    MOST_COLUMNS = 40,
    MOST_CLASSES = 20,
    NAME_WIDTH = 28,
    CONTENT_WIDTH = 48
};

typedef struct settings {
    cli_common common;
    const char *verb, *file;
    mfpg_data_check_options check;
} settings;

static const struct argp_option options[] = {
    {"labels", OPTION_LABELS, "FILE", 0,
        "File of labels, for formats that may keep them apart (idx, npy, npz)", 0},
    {"label", OPTION_LABEL, "COLUMN", 0, "Column of the label; the last one by default", 0}, {0}};

static error_t parse(int key, char *text, struct argp_state *state) {
    settings *chosen = state->input;
    switch (key) {
    case ARGP_KEY_INIT: state->child_inputs[0] = &chosen->common; return 0;
    case OPTION_LABELS: chosen->check.labels = text; return 0;
    case OPTION_LABEL: chosen->check.label_column = text; return 0;
    case ARGP_KEY_ARG:
        if (!chosen->verb && strcmp(text, "check") != 0)
            cli_wrong_argument(state, "unknown verb '%.60s'; allowed: check", text);
        if (chosen->file) cli_wrong_argument(state, "one file at a time; '%.60s' is a second", text);
        *(chosen->verb ? &chosen->file : &chosen->verb) = text;
        return 0;
    case ARGP_KEY_END:
        if (!chosen->file) cli_wrong_argument(state, "'check' and a data file are needed");
        return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp_child children[] = {{.argp = &cli_common_argp}, {0}};
static const struct argp argp = {.options = options,
    .parser = parse,
    .args_doc = "check FILE",
    .doc = "Recognises the format of FILE by its content, reads all of it, and tells what is in it: rows, "
           "columns, the "
           "balance of the labels, everything unusual with its line, the key of the configuration that "
           "handles it, and a "
           "configuration that reads the file."
           "\vExit code 0 where settings can read the file, 2 where none can: then the message says where "
           "and why. "
           "What is printed is computed on private data.",
    .children = children};

/* ---- one JSON object ---- */

static json_t *counts_json(const mfpg_value_count *list, ptrdiff_t count) {
    json_t *object = json_object();
    for (ptrdiff_t i = 0; i < count; i++)
        json_object_set_new(object, list[i].text, json_integer(list[i].rows));
    return object;
}

static const char *kind_word(mfpg_column_kind kind) {
    switch (kind) {
    case MFPG_COLUMN_NUMBER: return "number";
    case MFPG_COLUMN_TEXT: return "text";
    case MFPG_COLUMN_CONSTANT: return "constant";
    case MFPG_COLUMN_EMPTY: break;
    }
    return "empty";
}

static json_t *column_json(const mfpg_column_report *column) {
    json_t *object = json_pack("{s:s, s:s, s:I, s:I, s:I, s:o, s:o}", "name", column->name, "kind",
        kind_word(column->kind), "numbers", (json_int_t)column->numbers, "texts", (json_int_t)column->texts,
        "missing", (json_int_t)column->missing, "low", cli_json_number(column->low), "high",
        cli_json_number(column->high));
    if (column->values > 0) json_object_set_new(object, "values", json_integer(column->values));
    if (column->marks > 0) json_object_set_new(object, "marks", counts_json(column->mark, column->marks));
    if (column->listed > 0)
        json_object_set_new(object, "commonest", counts_json(column->value, column->listed));
    return object;
}

static json_t *finding_json(const mfpg_oddity *odd) {
    return json_pack("{s:s, s:s?, s:I, s:I}", "kind", odd->kind, "setting", odd->setting, "count",
        (json_int_t)odd->count, "line", (json_int_t)odd->line);
}

/* "line 3: TEXT", or "row 3" for arrays, or the text alone. */
static const char *odd_place(const mfpg_data_report *report, const mfpg_oddity *odd, char place[40]) {
    int text = !(mfpg_reader_facts(report->format) & MFPG_READER_ARRAYS);
    place[0] = 0;
    if (odd->line > 0) snprintf(place, 40, "%s %lld", text ? "line" : "row", (long long)odd->line);
    return place;
}

static void add_oddities(const mfpg_data_report *report, json_t *object) {
    json_t *texts = json_array(), *findings = json_array();
    for (ptrdiff_t i = 0; i < report->oddities; i++) {
        char place[40];
        odd_place(report, &report->oddity[i], place);
        json_array_append_new(
            texts, json_sprintf("%s%s%s", place, place[0] ? ": " : "", report->oddity[i].text));
        json_array_append_new(findings, finding_json(&report->oddity[i]));
    }
    json_object_set_new(object, "oddities", texts);
    json_object_set_new(object, "findings", findings);
}

static void add_label(const mfpg_data_report *report, json_t *object) {
    json_object_set_new(object, "label", report->label ? json_string(report->label) : json_null());
    if (report->classes == 0) return;
    json_object_set_new(object, "classes", counts_json(report->class_rows, report->classes));
    json_object_set_new(object, "majority_rate", cli_json_number(report->majority_rate));
}

static void add_clients(const mfpg_data_report *report, json_t *object) {
    json_t *array = json_array();
    for (ptrdiff_t i = 0; i < report->client_columns; i++) {
        const mfpg_client_column *found = &report->client_column[i];
        json_array_append_new(
            array, json_pack("{s:s, s:I, s:I, s:I, s:I}", "column", found->column, "clients",
                       (json_int_t)found->clients, "smallest", (json_int_t)found->smallest, "largest",
                       (json_int_t)found->largest, "one_class", (json_int_t)found->one_class));
    }
    json_object_set_new(object, "clients", array);
}

static int print_json(const char *file, const mfpg_data_report *report) {
    json_t *object = json_object(), *columns = json_array();
    (void)file;
    json_object_set_new(object, "format", json_string(report->format));
    json_object_set_new(object, "rows", json_integer(report->rows));
    json_object_set_new(object, "columns", json_integer(report->columns));
    if (report->about[0]) json_object_set_new(object, "about", json_string(report->about));
    if (report->separator) {
        json_object_set_new(object, "header", json_boolean(report->header));
        json_object_set_new(object, "separator", json_stringn(&report->separator, 1));
    }
    add_label(report, object);
    add_clients(report, object);
    add_oddities(report, object);
    for (ptrdiff_t j = 0; j < report->columns; j++)
        json_array_append_new(columns, column_json(&report->column[j]));
    json_object_set_new(object, "column_details", columns);
    json_object_set_new(object, "configuration", json_string(report->configuration));
    return cli_json_print("data", object);
}

/* ---- for people ---- */

/* At most width characters of a UTF-8 text, padded with blanks. */
static void print_padded(const char *text, int width) {
    int used = 0;
    for (; *text && used < width; used++) {
        do putchar((unsigned char)*text++);
        while (((unsigned char)*text & 0xC0) == 0x80);
    }
    for (; used < width; used++) putchar(' ');
}

static void print_missing(const mfpg_column_report *column) {
    for (ptrdiff_t m = 0; m < column->marks; m++)
        printf("%s%lld %s", m ? ", " : "", (long long)column->mark[m].rows,
            column->mark[m].text[0] ? column->mark[m].text : "empty");
}

/* Adds what fits behind a text, whole or not at all; 1 where it did. */
static int append(char *text, size_t room, const char *separator, const char *more) {
    size_t used = strlen(text);
    if (used + strlen(separator) + strlen(more) >= room) return 0;
    strcat(strcat(text, separator), more);
    return 1;
}

/* The range of numbers, or the commonest texts. */
static void print_content(const mfpg_column_report *column) {
    char content[CONTENT_WIDTH - 4] = "", whole[CONTENT_WIDTH + 1];
    ptrdiff_t shown = 0;
    if (column->kind == MFPG_COLUMN_NUMBER)
        snprintf(content, sizeof content, "%.6g to %.6g", column->low, column->high);
    else if (column->kind == MFPG_COLUMN_CONSTANT && column->listed == 0)
        snprintf(content, sizeof content, "always %.6g", column->low);
    else if (column->kind == MFPG_COLUMN_TEXT)
        snprintf(content, sizeof content, "%td%s", column->values, column->values == 1000 ? " and more" : "");
    for (; shown < column->listed; shown++)
        if (!append(content, sizeof content, shown ? ", " : ": ", column->value[shown].text)) break;
    snprintf(whole, sizeof whole, "%s%s", content, shown < column->listed ? ", ..." : "");
    print_padded(whole, CONTENT_WIDTH);
}

static void print_columns(const mfpg_data_report *report) {
    printf("\n  %-*s kind      %-*s missing\n", NAME_WIDTH, "column", CONTENT_WIDTH, "values");
    for (ptrdiff_t j = 0; j < report->columns; j++) {
        const mfpg_column_report *column = &report->column[j];
        printf("  ");
        print_padded(column->name, NAME_WIDTH);
        printf(" %-9s ", kind_word(column->kind));
        print_content(column);
        putchar(' ');
        print_missing(column);
        putchar('\n');
    }
}

/* Hundreds of columns in one line. */
static void print_many_columns(const mfpg_data_report *report) {
    double low = (double)NAN, high = (double)NAN;
    int64_t kinds[4] = {0}, missing = 0;
    for (ptrdiff_t j = 0; j < report->columns; j++) {
        const mfpg_column_report *column = &report->column[j];
        kinds[column->kind]++;
        missing += column->missing;
        if (!(column->low >= low)) low = isnan(column->low) ? low : column->low;
        if (!(column->high <= high)) high = isnan(column->high) ? high : column->high;
    }
    printf("           %lld of numbers, %lld of text, %lld constant, %lld empty; values %.6g to %.6g, %lld "
           "missing "
           "(each column: --json)\n",
        (long long)kinds[MFPG_COLUMN_NUMBER], (long long)kinds[MFPG_COLUMN_TEXT],
        (long long)kinds[MFPG_COLUMN_CONSTANT], (long long)kinds[MFPG_COLUMN_EMPTY], low, high,
        (long long)missing);
}

static void print_label(const mfpg_data_report *report) {
    if (!report->label) {
        printf("label      none in this file\n");
        return;
    }
    printf("label      %s%s", report->label,
        report->label_guessed ? ", the last column (another: --label COLUMN)" : "");
    if (report->classes == 0) {
        printf(": no classes, but numbers or many texts\n");
        return;
    }
    printf(": %td class%s\n", report->classes, report->classes == 1 ? "" : "es");
    for (ptrdiff_t c = 0; c < report->classes && c < MOST_CLASSES; c++) {
        printf("             ");
        print_padded(report->class_rows[c].text, NAME_WIDTH);
        printf(" %8lld\n", (long long)report->class_rows[c].rows);
    }
    if (report->classes > MOST_CLASSES) printf("             ... (all: --json)\n");
    printf("majority   %.4f, the accuracy of always answering the commonest class\n", report->majority_rate);
}

/* A name may hold anything: what a terminal would obey, or is no UTF-8, is shown as \xNN. */
static void print_name(const char *name) {
    json_t *text = json_string(name);
    int utf8 = text != NULL;
    json_decref(text);
    for (const unsigned char *at = (const unsigned char *)name; *at; at++)
        if (*at < ' ' || *at == 0x7F || (*at >= 0x80 && !utf8))
            printf("\\x%02x", *at);
        else
            putchar(*at);
}

static void print_format(const char *file, const mfpg_data_report *report) {
    printf("file       ");
    print_name(file);
    printf("\nformat     %s", report->format);
    if (report->separator) {
        const char separator[] = {report->separator, 0};
        const char *word = report->separator == ','    ? "commas"
                           : report->separator == ';'  ? "semicolons"
                           : report->separator == '\t' ? "tabs"
                           : report->separator == ' '  ? "blanks"
                                                       : separator;
        printf(", separated by %s, %s", word, report->header ? "with a header" : "without a header");
    }
    if (report->about[0]) printf(": %s", report->about);
    printf("\nrows       %lld\ncolumns    %td\n", (long long)report->rows, report->columns);
}

static void print_clients(const mfpg_data_report *report) {
    for (ptrdiff_t i = 0; i < report->client_columns; i++) {
        const mfpg_client_column *found = &report->client_column[i];
        printf("clients    %td by column %s, of %lld to %lld rows (data.partition.column)\n", found->clients,
            found->column, (long long)found->smallest, (long long)found->largest);
    }
}

static int print_text(const char *file, const mfpg_data_report *report) {
    print_format(file, report);
    if (report->columns > MOST_COLUMNS) print_many_columns(report);
    print_label(report);
    print_clients(report);
    if (report->columns <= MOST_COLUMNS) print_columns(report);
    printf("\noddities   %td\n", report->oddities);
    for (ptrdiff_t i = 0; i < report->oddities; i++) {
        char place[40];
        odd_place(report, &report->oddity[i], place);
        printf("  %s%s%s\n", place, place[0] ? ": " : "", report->oddity[i].text);
    }
    printf("\nA configuration that reads it:\n\n%s", report->configuration);
    return cli_finish("data", CLI_DONE);
}

int command_data(int argc, char **argv) {
    settings chosen = {0};
    cli_parse(&argp, "data", argc, argv, &chosen);
    mfpg_context *ctx = cli_context(1);
    mfpg_data_report *report = NULL;
    mfpg_status status = mfpg_data_check(ctx, chosen.file, &chosen.check, &report);
    int code = status != MFPG_OK    ? cli_fail(ctx, "data", status)
               : chosen.common.json ? print_json(chosen.file, report)
                                    : print_text(chosen.file, report);
    mfpg_data_report_destroy(report);
    mfpg_context_destroy(ctx);
    return code;
}
