/* mfpg data check describes a data file before it is used for training. */
#include <math.h>
#include <string.h>

#include "mfpg/data_check.h"
#include "mfpg/dataset.h"

#include "cli.h"

enum { MOST_COLUMNS = 40, MOST_CLASSES = 20, NAME_WIDTH = 28, CONTENT_WIDTH = 48 };

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

static json_t *column_json(const void *report, ptrdiff_t index) {
    const mfpg_column_report *c = &((const mfpg_data_report *)report)->column[index];
    json_t *object = cli_json("name:s kind:s numbers:i texts:i missing:i low:n high:n values:I", c->name,
        kind_word(c->kind), c->numbers, c->texts, c->missing, c->low, c->high, c->values);
    if (c->marks > 0) object = cli_json_add(object, "marks:o", counts_json(c->mark, c->marks));
    if (c->listed > 0) object = cli_json_add(object, "commonest:o", counts_json(c->value, c->listed));
    return object;
}

static json_t *finding_json(const void *report, ptrdiff_t index) {
    const mfpg_oddity *odd = &((const mfpg_data_report *)report)->oddity[index];
    return cli_json("kind:s setting:s count:i line:i", odd->kind, odd->setting, odd->count, odd->line);
}

/* Writes "line 3: ", or "row 3: " for arrays, or nothing. */
static const char *odd_place(const mfpg_data_report *report, const mfpg_oddity *odd, char place[40]) {
    int text = !(mfpg_reader_facts(report->format) & MFPG_READER_ARRAYS);
    place[0] = 0;
    if (odd->line > 0) snprintf(place, 40, "%s %lld: ", text ? "line" : "row", (long long)odd->line);
    return place;
}

static json_t *oddity_json(const void *report, ptrdiff_t index) {
    const mfpg_oddity *odd = &((const mfpg_data_report *)report)->oddity[index];
    char place[40];
    json_t *text = json_sprintf("%s%s", odd_place(report, odd, place), odd->text);
    return text ? text : cli_json_text(odd->text);
}

static json_t *client_json(const void *report, ptrdiff_t index) {
    const mfpg_client_column *found = &((const mfpg_data_report *)report)->client_column[index];
    return cli_json("column:s clients:i smallest:i largest:i one_class:i", found->column, found->clients,
        found->smallest, found->largest, found->one_class);
}

static json_t *report_json(const mfpg_data_report *r) {
    json_t *object = cli_json("format:s rows:i columns:i about:S", r->format, r->rows, r->columns, r->about);
    if (r->separator)
        object = cli_json_add(object, "header:b separator:o", r->header, json_stringn(&r->separator, 1));
    object = cli_json_add(object, "label:s", r->label);
    if (r->classes > 0)
        object = cli_json_add(
            object, "classes:o majority_rate:n", counts_json(r->class_rows, r->classes), r->majority_rate);
    return cli_json_add(object, "clients:o oddities:o findings:o column_details:o configuration:s",
        cli_json_array(r->client_columns, client_json, r), cli_json_array(r->oddities, oddity_json, r),
        cli_json_array(r->oddities, finding_json, r), cli_json_array(r->columns, column_json, r),
        r->configuration);
}

/* ---- for people ---- */

/* Prints at most width characters of a UTF-8 text, padded with blanks. */
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

/* Appends to a text only if it fits completely; returns 1 if it did. */
static int append(char *text, size_t room, const char *separator, const char *more) {
    size_t used = strlen(text);
    if (used + strlen(separator) + strlen(more) >= room) return 0;
    strcat(strcat(text, separator), more);
    return 1;
}

/* Prints the range of numbers, or the most frequent texts. */
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
           "missing (each column: --json)\n",
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
    printf("majority   %.4f, the accuracy of always predicting the most frequent class\n",
        report->majority_rate);
}

/* A name may contain anything: bytes that would control a terminal, or that are not UTF-8, are shown as
 * \xNN. */
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

static void print_report(const char *file, const mfpg_data_report *report) {
    print_format(file, report);
    if (report->columns > MOST_COLUMNS) print_many_columns(report);
    print_label(report);
    print_clients(report);
    if (report->columns <= MOST_COLUMNS) print_columns(report);
    printf("\noddities   %td\n", report->oddities);
    for (ptrdiff_t i = 0; i < report->oddities; i++) {
        char place[40];
        printf("  %s%s\n", odd_place(report, &report->oddity[i], place), report->oddity[i].text);
    }
    printf("\nA configuration that reads it:\n\n%s", report->configuration);
}

/* ---- the command ---- */

typedef mfpg_data_check_options settings;

static mfpg_status data(cli_call *call) {
    const char *verb = call->argument[0], *file = call->argument[1];
    mfpg_data_report *report = NULL;
    if (strcmp(verb, "check") != 0)
        return mfpg_fail(call->ctx, MFPG_ERR_INPUT, "unknown verb '%.60s'; allowed: check", verb);
    mfpg_status status = mfpg_data_check(call->ctx, file, call->options, &report);
    if (status == MFPG_OK && call->json)
        status = cli_json_print(report_json(report));
    else if (status == MFPG_OK)
        print_report(file, report);
    mfpg_data_report_destroy(report);
    return status;
}

const cli_command command_data = {
    .list = CLI_LIST(CLI_OPTION("labels", 'l', PATH, "FILE", labels,
                         "File of labels, for formats that may keep them apart (idx, npy, npz)"),
        CLI_OPTION(
            "label", 'c', TEXT, "COLUMN", label_column, "Column of the label; the last one by default")),
    .size = sizeof(settings),
    .forms = "check FILE",
    .least = 2,
    .most = 2,
    .needed = "'check' and a data file are needed",
    .limit = "one file at a time",
    .doc = "Recognises the format of FILE by its content, reads all of it, and tells what is in it: rows, "
           "columns, the balance of the labels, everything unusual with its line, the key of the "
           "configuration that handles it, and a configuration that reads the file."
           "\vExit code 0 if settings can read the file, 2 if none can: then the message says where and why. "
           "What is printed is computed on private data.",
    .run = data,
};
