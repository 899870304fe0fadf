#include "options.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mfpg/names.h"

/* ---- options of every command ---- */

enum { OPTION_JSON = 0x1000 };

static const struct argp_option common_options[] = {
    {"json", OPTION_JSON, 0, 0, "Print one JSON object", -1}, {0}};

static error_t parse_common(int key, char *text, struct argp_state *state) {
    cli_common *common = state->input;
    (void)text;
    if (key != OPTION_JSON) return ARGP_ERR_UNKNOWN;
    common->json = 1;
    return 0;
}

const struct argp cli_common_argp = {.options = common_options, .parser = parse_common};

/* ---- exit codes and messages ---- */

int cli_exit_code(mfpg_status status) {
    switch (status) {
    case MFPG_OK: return CLI_DONE;
    case MFPG_ERR_INPUT:
    case MFPG_ERR_DOMAIN: return CLI_WRONG_INPUT;
    case MFPG_ERR_IO:
    case MFPG_ERR_MEMORY:
    case MFPG_ERR_NUMERIC: return CLI_FAILED;
    case MFPG_ERR_INTERRUPTED: return CLI_INTERRUPTED;
    }
    return CLI_FAILED;
}

static void print_warning(void *user, const char *text) {
    (void)user;
    fprintf(stderr, "mfpg: warning: %s\n", text);
}

mfpg_context *cli_context(int threads) {
    mfpg_context_options options = mfpg_context_options_default();
    mfpg_context *ctx = NULL;
    options.threads = threads;
    options.warn = print_warning;
    mfpg_status status = mfpg_context_create(&options, &ctx);
    if (status != MFPG_OK) {
        fprintf(stderr, "mfpg: cannot start: %s\n", mfpg_status_text(status));
        exit(CLI_FAILED);
    }
    return ctx;
}

int cli_fail(const mfpg_context *ctx, const char *command, mfpg_status status) {
    const char *message = mfpg_context_message(ctx);
    fprintf(stderr, "mfpg %s: %s\n", command, message[0] ? message : mfpg_status_text(status));
    return cli_exit_code(status);
}

int cli_refuse(const char *command, const char *format, ...) {
    va_list args;
    fprintf(stderr, "mfpg %s: ", command);
    va_start(args, format);
    vfprintf(stderr, format, args);
    va_end(args);
    putc('\n', stderr);
    return CLI_WRONG_INPUT;
}

int cli_finish(const char *command, int code) {
    if (fflush(stdout) == 0 && !ferror(stdout)) return code;
    fprintf(stderr, "mfpg %s: cannot write the output: %s\n", command, strerror(errno));
    return CLI_FAILED;
}

/* ---- values of options ---- */

int cli_parse_number(const char *text, double *value) {
    /* The program never sets a locale, so strtod reads a decimal point. */
    char *end;
    if (!text[0] || text[strspn(text, "0123456789+-.eE")]) return 0;
    double parsed = strtod(text, &end);
    if (*end || end == text || !isfinite(parsed)) return 0;
    *value = parsed;
    return 1;
}

double cli_number(const struct argp_state *state, const char *option, const char *text,
    int (*allowed)(double value), const char *words) {
    double value = 0;
    if (!cli_parse_number(text, &value) || !allowed(value))
        argp_error(state, "--%s: found '%.60s'; allowed: %s", option, text, words);
    return value;
}

int cli_choice(const struct argp_state *state, const char *option, const char *text, const char *const *names,
    int count) {
    for (int i = 0; i < count; i++)
        if (strcmp(names[i], text) == 0) return i;
    char list[512] = "";
    for (int i = 0; i < count; i++) {
        size_t used = strlen(list);
        snprintf(list + used, sizeof list - used, "%s%s", i ? ", " : "", names[i]);
    }
    const char *nearest = mfpg_names_nearest(text, names, count);
    argp_error(state, "--%s: found '%.60s'; allowed: %s%s%s%s", option, text, list,
        nearest ? "; did you mean " : "", nearest ? nearest : "", nearest ? "?" : "");
    return 0;
}

int cli_is_positive(double value) {
    return value > 0;
}

int cli_is_not_negative(double value) {
    return value >= 0;
}

int cli_is_rate(double value) {
    return value >= 0 && value <= 1;
}

int cli_is_delta(double value) {
    return value >= 0 && value < 1;
}

int cli_is_steps(double value) {
    return value >= 0 && value <= 9007199254740992.0 && value == floor(value);
}

/* ---- JSON ---- */

const char *cli_text_up(double value, char out[CLI_TEXT_UP]) {
    snprintf(out, CLI_TEXT_UP, "%.6g", value);
    if (isfinite(value) && strtod(out, NULL) < value * (1 - 1e-12))
        snprintf(out, CLI_TEXT_UP, "%.6g", value + pow(10, floor(log10(value)) - 5));
    return out;
}

const char *cli_text_down(double value, char out[CLI_TEXT_UP]) {
    snprintf(out, CLI_TEXT_UP, "%.6g", value);
    if (value > 0 && isfinite(value) && strtod(out, NULL) > value * (1 + 1e-12))
        snprintf(out, CLI_TEXT_UP, "%.6g", value - pow(10, floor(log10(value)) - 5));
    return out;
}

json_t *cli_json_number(double value) {
    if (isnan(value)) return json_null();
    if (isinf(value)) return json_string(value > 0 ? "inf" : "-inf");
    return json_real(value);
}

int cli_json_print(const char *command, json_t *object) {
    int failed = !object || json_dumpf(object, stdout, JSON_INDENT(2)) != 0;
    json_decref(object);
    if (failed && !ferror(stdout)) {
        fprintf(stderr, "mfpg %s: out of memory\n", command);
        return CLI_FAILED;
    }
    putchar('\n');
    return cli_finish(command, CLI_DONE);
}
