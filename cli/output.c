/* What the commands print: messages and exit codes, numbers, JSON; and the colours of the terminal. */
#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli.h"

/* ---- exit codes and messages ---- */

const char *cli_exit_meaning(ptrdiff_t index, int *code) {
    static const struct {
        int code;
        const char *meaning;
    } codes[] = {{CLI_DONE, "done"}, {CLI_FAILED, "failed while running: what, where, and what was saved"},
        {CLI_WRONG_INPUT, "the input is wrong: where, what was found, and what is allowed"},
        {CLI_BROKEN_PROMISE, "a promise is broken (audit): which one, and what was proved"},
        {CLI_INTERRUPTED, "interrupted: what was saved, and how to go on"}};
    if (index < 0 || index >= (ptrdiff_t)(sizeof codes / sizeof codes[0])) return NULL;
    *code = codes[index].code;
    return codes[index].meaning;
}

int cli_exit_code(mfpg_status status) {
    switch (status) {
    case MFPG_OK: return CLI_DONE;
    case MFPG_ERR_INPUT:
    case MFPG_ERR_DOMAIN: return CLI_WRONG_INPUT;
    case MFPG_ERR_INTERRUPTED: return CLI_INTERRUPTED;
    case MFPG_ERR_IO:
    case MFPG_ERR_MEMORY:
    case MFPG_ERR_NUMERIC: break;
    }
    return CLI_FAILED;
}

/* If a file is read twice, its warnings are printed once. */
static void print_warning(void *user, const char *text) {
    static char last[1024];
    (void)user;
    if (strcmp(last, text) == 0) return;
    snprintf(last, sizeof last, "%s", text);
    fprintf(stderr, "mfpg: %swarning:%s %s\n", cli_colour_begin(stderr, CLI_YELLOW), cli_colour_end(stderr),
        text);
}

void cli_warn(const char *text) {
    print_warning(NULL, text);
}

mfpg_context *cli_context(int threads) {
    mfpg_context_options options = mfpg_context_options_default();
    mfpg_context *ctx = NULL;
    options.threads = threads;
    options.warn = print_warning;
    options.group = cli_group();
    mfpg_status status = mfpg_context_create(&options, &ctx);
    if (status == MFPG_OK) return ctx;
    cli_error("", "cannot start: %s", mfpg_status_text(status));
    exit(CLI_FAILED);
}

void cli_error(const char *name, const char *format, ...) {
    va_list args;
    fprintf(stderr, "%smfpg%s%s:%s ", cli_colour_begin(stderr, CLI_RED), name[0] ? " " : "", name,
        cli_colour_end(stderr));
    va_start(args, format);
    vfprintf(stderr, format, args);
    va_end(args);
    putc('\n', stderr);
}

int cli_finish(const cli_call *call, mfpg_status status) {
    const char *message = call->ctx ? mfpg_context_message(call->ctx) : "";
    int code = status == MFPG_OK ? call->code : cli_exit_code(status);
    if (status != MFPG_OK) cli_error(call->name, "%s", message[0] ? message : mfpg_status_text(status));
    if (fflush(stdout) == 0 && !ferror(stdout)) return code;
    cli_error(call->name, "cannot write the output: %s", strerror(errno));
    return CLI_FAILED;
}

const char *cli_page(const char *name) {
    const cli_embedded *page = cli_pages;
    while (strcmp(page->name, name) != 0) page++; /* the build has put it there */
    return page->bytes;
}

/* ---- numbers ---- */

int cli_parse_number(const char *text, double *value) {
    /* The program never sets a locale, so strtod reads a decimal point. */
    char *end;
    if (!text[0] || text[strspn(text, "0123456789+-.eE")]) return 0;
    double parsed = strtod(text, &end);
    if (*end || end == text || !isfinite(parsed)) return 0;
    *value = parsed;
    return 1;
}

double cli_or(double value, double fallback) {
    return isnan(value) ? fallback : value;
}

const char *cli_text_up(double value, char out[CLI_TEXT_SIZE]) {
    snprintf(out, CLI_TEXT_SIZE, "%.6g", value);
    if (isfinite(value) && strtod(out, NULL) < value * (1 - 1e-12))
        snprintf(out, CLI_TEXT_SIZE, "%.6g", value + pow(10, floor(log10(value)) - 5));
    return out;
}

const char *cli_text_down(double value, char out[CLI_TEXT_SIZE]) {
    snprintf(out, CLI_TEXT_SIZE, "%.6g", value);
    if (value > 0 && isfinite(value) && strtod(out, NULL) > value * (1 + 1e-12))
        snprintf(out, CLI_TEXT_SIZE, "%.6g", value - pow(10, floor(log10(value)) - 5));
    return out;
}

/* ---- JSON ---- */

json_t *cli_json_number(double value) {
    if (isnan(value)) return json_null();
    if (isinf(value)) return json_string(value > 0 ? "inf" : "-inf");
    return json_real(value);
}

json_t *cli_json_text(const char *text) {
    json_t *value = text ? json_string(text) : json_null();
    char *copy = value ? NULL : strdup(text);
    if (!copy) return value;
    for (char *at = copy; *at; at++)
        if ((unsigned char)*at >= 0x80) *at = '?';
    value = json_string(copy);
    free(copy);
    return value;
}

static json_t *number_at(const void *values, ptrdiff_t index) {
    return cli_json_number(((const double *)values)[index]);
}

json_t *cli_json_array(ptrdiff_t count, json_t *(*one)(const void *user, ptrdiff_t index), const void *user) {
    json_t *array = json_array();
    for (ptrdiff_t i = 0; i < count && array; i++) {
        if (json_array_append_new(array, one(user, i)) == 0) continue;
        json_decref(array);
        array = NULL;
    }
    return array;
}

json_t *cli_json_numbers(const double *values, ptrdiff_t count) {
    return cli_json_array(count, number_at, values);
}

/* Adds the next value of the list according to its kind. */
static json_t *next_value(char kind, va_list *args) {
    switch (kind) {
    case 'n': return cli_json_number(va_arg(*args, double));
    case 'i': return json_integer(va_arg(*args, int64_t));
    case 'b': return json_boolean(va_arg(*args, int));
    case 's': return cli_json_text(va_arg(*args, const char *));
    default: return va_arg(*args, json_t *);
    }
}

static int says_nothing(const json_t *value) {
    return json_is_null(value) || (json_is_integer(value) && json_integer_value(value) == 0) ||
           (json_is_string(value) && json_string_length(value) == 0);
}

static json_t *add_values(json_t *object, const char *fields, va_list *args) {
    int failed = !object;
    for (const char *at = fields; *at;) {
        char name[64];
        size_t length = strcspn(at, ":");
        snprintf(name, sizeof name, "%.*s", (int)length, at);
        json_t *value = next_value((char)tolower(at[length + 1]), args);
        if (isupper((unsigned char)at[length + 1]) && says_nothing(value))
            json_decref(value);
        else
            failed |= json_object_set_new(object, name, value) != 0;
        at += length + 2 + (at[length + 2] == ' ');
    }
    if (failed) json_decref(object);
    return failed ? NULL : object;
}

json_t *cli_json_add(json_t *object, const char *fields, ...) {
    va_list args;
    va_start(args, fields);
    json_t *added = add_values(object, fields, &args);
    va_end(args);
    return added;
}

json_t *cli_json(const char *fields, ...) {
    va_list args;
    va_start(args, fields);
    json_t *object = add_values(json_object(), fields, &args);
    va_end(args);
    return object;
}

mfpg_status cli_json_print(json_t *object) {
    int failed = !object || json_dumpf(object, stdout, JSON_INDENT(2)) != 0;
    json_decref(object);
    if (failed && !ferror(stdout)) return MFPG_ERR_MEMORY;
    putchar('\n');
    return MFPG_OK;
}

/* ---- the terminal ---- */

int cli_terminal(FILE *stream) {
    const char *terminal = getenv("TERM");
    return isatty(fileno(stream)) && terminal && *terminal && strcmp(terminal, "dumb") != 0;
}

int cli_colours(FILE *stream) {
    const char *refused = getenv("NO_COLOR");
    return !(refused && *refused) && cli_terminal(stream);
}

const char *cli_colour_begin(FILE *stream, cli_colour which) {
    static const char *const sequences[] = {
        [CLI_RED] = "\033[1;31m", [CLI_YELLOW] = "\033[1;33m", [CLI_BOLD] = "\033[1m"};
    return cli_colours(stream) ? sequences[which] : "";
}

const char *cli_colour_end(FILE *stream) {
    return cli_colours(stream) ? "\033[0m" : "";
}
