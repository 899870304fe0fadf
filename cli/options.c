#include "options.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mfpg/config.h"
#include "mfpg/names.h"

#include "colour.h"
#include "option_table.h"

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

/* ---- names of options ---- */

enum { MOST_NAMES = 96 };

typedef struct option_names {
    const char *name[MOST_NAMES];
    int count;
} option_names;

static void collect_names(const struct argp *argp, option_names *out) {
    for (const struct argp_option *o = argp->options; o && (o->name || o->key || o->doc || o->group); o++)
        if (o->name && !(o->flags & OPTION_DOC) && out->count < MOST_NAMES) out->name[out->count++] = o->name;
    for (const struct argp_child *child = argp->children; child && child->argp; child++)
        collect_names(child->argp, out);
}

/* getopt takes every beginning of a name, and says of one that it cannot complete what is wrong with it. */
static int begins_a_name(const option_names *names, const char *word, size_t length) {
    for (int i = 0; i < names->count; i++)
        if (strncmp(names->name[i], word, length) == 0) return 1;
    return 0;
}

/* The key of the configuration that a word means, whole or its last part, with - for _; NULL for none. */
static const char *key_of(const char *word) {
    const mfpg_options *keys = mfpg_config_options();
    for (ptrdiff_t i = 0; i < keys->count; i++) {
        const char *path = keys->option[i].name, *dot = strrchr(path, '.');
        const char *leaf = strchr(word, '.') || !dot ? path : dot + 1;
        size_t at = 0;
        while (word[at] && (word[at] == leaf[at] || (word[at] == '-' && leaf[at] == '_'))) at++;
        if (!word[at] && !leaf[at]) return path;
    }
    return NULL;
}

/* Keys stand where options of other programs do; whoever tries is told. */
static const char *key_for_option(const struct argp *argp, const char *word) {
    return argp->args_doc && strstr(argp->args_doc, "KEY=VALUE") ? key_of(word) : NULL;
}

static void check_names(const struct argp *argp, const char *command, int argc, char **argv) {
    option_names names = {.name = {"help", "usage", "program-name", "HANG"}, .count = 4};
    collect_names(argp, &names);
    for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++) {
        if (strncmp(argv[i], "--", 2) != 0) continue;
        size_t length = strcspn(argv[i] + 2, "=");
        char word[64];
        snprintf(word, sizeof word, "%.*s", (int)(length < 63 ? length : 63), argv[i] + 2);
        if (begins_a_name(&names, argv[i] + 2, length)) continue;
        const char *nearest = mfpg_names_nearest(word, names.name, names.count);
        const char *meant = key_for_option(argp, word);
        if (meant)
            exit(cli_refuse(command,
                "unrecognized option '--%s'; a key of the configuration is given as %s=VALUE", word, meant));
        exit(cli_refuse(command, "unrecognized option '--%s'%s%s%s; mfpg %s --help lists all", word,
            nearest ? "; did you mean --" : "", nearest ? nearest : "", nearest ? "?" : "", command));
    }
}

/* Set by cli_describe for the one call of a command that follows. */
static struct {
    void (*visit)(void *user, const struct argp *argp);
    void *user;
} described;

void cli_describe_next(void (*visit)(void *user, const struct argp *argp), void *user) {
    described.visit = visit;
    described.user = user;
}

void cli_parse(const struct argp *argp, const char *command, int argc, char **argv, void *input) {
    if (described.visit) {
        described.visit(described.user, argp);
        exit(cli_finish(command, CLI_DONE));
    }
    check_names(argp, command, argc, argv);
    argp_parse(argp, argc, argv, 0, NULL, input);
}

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
    case MFPG_ERR_IO:
    case MFPG_ERR_MEMORY:
    case MFPG_ERR_NUMERIC: return CLI_FAILED;
    case MFPG_ERR_INTERRUPTED: return CLI_INTERRUPTED;
    }
    return CLI_FAILED;
}

/* A file that is read twice need not warn twice. */
static void print_warning(void *user, const char *text) {
    static char last[1024];
    (void)user;
    if (strcmp(last, text) == 0) return;
    snprintf(last, sizeof last, "%s", text);
    fprintf(
        stderr, "mfpg: %swarning:%s %s\n", colour_begin(stderr, COLOUR_WARNING), colour_end(stderr), text);
}

void cli_take_argument(const struct argp_state *state, char *text, const char **configuration,
    char **arguments, int *argument_count) {
    int assigns = strchr(text, '=') != NULL;
    if (!*configuration && !assigns) {
        *configuration = text;
        return;
    }
    const char *meant = assigns ? NULL : key_of(text);
    if (meant) cli_wrong_argument(state, "'%.60s' is no KEY=VALUE; give it as %s=VALUE", text, meant);
    if (!assigns)
        cli_wrong_argument(
            state, "'%.60s' is no KEY=VALUE, and the configuration is %.200s already", text, *configuration);
    arguments[(*argument_count)++] = text;
}

void cli_warn(const char *text) {
    print_warning(NULL, text);
}

void cli_warn_of_game(const mfpg_solution *solution) {
    char text[1024];
    for (ptrdiff_t i = 0; mfpg_solution_warning(solution, i, text, sizeof text); i++)
        print_warning(NULL, text);
}

mfpg_context *cli_context(int threads) {
    mfpg_context_options options = mfpg_context_options_default();
    mfpg_context *ctx = NULL;
    options.threads = threads;
    options.warn = print_warning;
    options.group = cli_group();
    mfpg_status status = mfpg_context_create(&options, &ctx);
    if (status != MFPG_OK) {
        cli_begin_error("");
        fprintf(stderr, "cannot start: %s\n", mfpg_status_text(status));
        exit(CLI_FAILED);
    }
    return ctx;
}

void cli_begin_error(const char *command) {
    fprintf(stderr, "%smfpg%s%s:%s ", colour_begin(stderr, COLOUR_ERROR), command[0] ? " " : "", command,
        colour_end(stderr));
}

int cli_fail(const mfpg_context *ctx, const char *command, mfpg_status status) {
    const char *message = mfpg_context_message(ctx);
    cli_begin_error(command);
    fprintf(stderr, "%s\n", message[0] ? message : mfpg_status_text(status));
    return cli_exit_code(status);
}

int cli_refuse(const char *command, const char *format, ...) {
    va_list args;
    cli_begin_error(command);
    va_start(args, format);
    vfprintf(stderr, format, args);
    va_end(args);
    putc('\n', stderr);
    return CLI_WRONG_INPUT;
}

int cli_finish(const char *command, int code) {
    if (fflush(stdout) == 0 && !ferror(stdout)) return code;
    int error = errno;
    cli_begin_error(command);
    fprintf(stderr, "cannot write the output: %s\n", strerror(error));
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
        cli_wrong_argument(state, "--%s: found '%.60s'; allowed: %s", option, text, words);
    return value;
}

static int is_thread_count(double value) {
    return value >= 1 && value <= 1024 && value == floor(value);
}

int cli_threads(const struct argp_state *state, const char *text) {
    return (int)cli_number(state, "threads", text, is_thread_count, "a whole number from 1 to 1024");
}

void cli_wrong_argument(const struct argp_state *state, const char *format, ...) {
    va_list args;
    const char *command = strchr(state->name, ' ');
    cli_begin_error(command ? command + 1 : "");
    va_start(args, format);
    vfprintf(stderr, format, args);
    va_end(args);
    fprintf(stderr, "\nTry '%s --help' for every option.\n", state->name);
    exit(CLI_WRONG_INPUT);
}

enum { MOST_WORDS = 16 };

int cli_choice(const struct argp_state *state, int key, const char *text) {
    option_table options;
    char word[MOST_WORDS][WORD_SIZE], list[512] = "";
    const char *names[MOST_WORDS];
    int count = 0;
    option_table_read(state->root_argp, &options);
    const option_row *option = option_table_by_key(&options, key);
    for (; count < MOST_WORDS && placeholder_part(option->argument, count, word[count]); count++) {
        if (strcmp(word[count], text) == 0) return count;
        names[count] = word[count];
        size_t used = strlen(list);
        snprintf(list + used, sizeof list - used, "%s%s", count ? ", " : "", word[count]);
    }
    const char *nearest = mfpg_names_nearest(text, names, count);
    cli_wrong_argument(state, "--%s: found '%.60s'; allowed: %s%s%s%s", option->name, text, list,
        nearest ? "; did you mean " : "", nearest ? nearest : "", nearest ? "?" : "");
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
        cli_begin_error(command);
        fputs("out of memory\n", stderr);
        return CLI_FAILED;
    }
    putchar('\n');
    return cli_finish(command, CLI_DONE);
}
