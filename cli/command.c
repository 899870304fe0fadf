/* A command line read by the table of its command: argp parses and prints the help, and the library's lists of options say what
 * a value may be. */
#include <argp.h>
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "mfpg/names.h"

#include "cli.h"

/* ---- options ---- */

typedef struct settings {
    ptrdiff_t threads;
    int json, help;
} settings;

/* The common options; --threads is first because not every command has it, and the last two are argp's own. */
static const mfpg_option common[] = {
    CLI_WHOLE("threads", 't', 1, 1024, threads,
        "Threads (default: all the machine's); results do not depend on it"),
    CLI_OPTION("json", 0, FLAG, NULL, json, "Print one JSON object"),
    CLI_OPTION("help", '?', FLAG, NULL, help, "Every option with its unit and default"),
    CLI_OPTION("usage", 0, FLAG, NULL, help, "The options alone"),
};
static const mfpg_options commons = {.option = common, .count = sizeof common / sizeof common[0]};

enum { MOST_OPTIONS = 128, FIRST_KEY = 0x1000 };

static const mfpg_options *list_of(const cli_command *command) {
    static const mfpg_options none = {0};
    return command->list ? command->list : command->list_of ? command->list_of() : &none;
}

/* Returns the index among the common options; below 0 for one of the command's own. */
static ptrdiff_t common_index(const cli_command *command, ptrdiff_t index) {
    ptrdiff_t beyond = index - list_of(command)->count;
    return beyond < 0 ? -1 : beyond + (command->threads != CLI_OPTION_THREADS);
}

const mfpg_option *cli_command_option(const cli_command *command, ptrdiff_t index) {
    ptrdiff_t at = common_index(command, index);
    if (at < 0) return &list_of(command)->option[index];
    return at < commons.count ? &common[at] : NULL;
}

const char *cli_command_section(const cli_command *command, ptrdiff_t index) {
    return common_index(command, index) < 0 ? mfpg_option_section(list_of(command), index) : NULL;
}

/* ---- rows of argp ---- */

typedef struct argp_rows {
    struct argp_option row[MOST_OPTIONS];
    char words[1024]; /* "a|b" of the options that take words */
} argp_rows;

/* Writes "a|b" at *end, which moves past the closing 0. */
static const char *join_words(const mfpg_option *option, char **end) {
    const char *word, *begin = *end;
    for (ptrdiff_t i = 0; (word = mfpg_option_word(option, i)); i++)
        *end += sprintf(*end, "%s%s", i ? "|" : "", word);
    *end += 1;
    return begin;
}

/* A heading before the options of each group, and a row of zeros at the end; the key of option i is its letter or FIRST_KEY + i.
 * --threads comes first: argp counts an option without a group to that of the row before it. */
static void fill_rows(const cli_command *command, argp_rows *out) {
    const mfpg_option *option;
    char *end = out->words;
    int count = command->threads == CLI_OPTION_THREADS, group = 0;
    *out = (argp_rows){0};
    for (ptrdiff_t i = 0; (option = cli_command_option(command, i)) && count < MOST_OPTIONS - 2; i++) {
        const char *section = cli_command_section(command, i);
        int words = option->kind == MFPG_OPTION_WORD && !option->argument;
        int in_group = section ? (int)mfpg_option_group(list_of(command), i) : option == common ? 0 : -1;
        if (option == &common[2]) break; /* what follows is argp's */
        if (in_group > group) out->row[count++] = (struct argp_option){.doc = section, .group = in_group};
        group = in_group;
        out->row[option == common ? 0 : count++] = (struct argp_option){.name = option->name,
            .key = option->letter ? option->letter : FIRST_KEY + (int)i,
            .arg = words ? join_words(option, &end) : option->argument,
            .flags = option->help[0] ? 0 : OPTION_HIDDEN,
            .doc = option->help,
            .group = group};
        assert(end < out->words + sizeof out->words / 2); /* the next has room */
    }
}

/* ---- parsing ---- */

typedef struct parsing {
    const cli_command *command;
    cli_call *call;
    settings common;
    char *given;
} parsing;

/* Returns the key of the configuration that a word means, as a whole or by its last part, with - for _; NULL
 * for none. */
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

static int takes_keys(const cli_command *command) {
    return command->forms && strstr(command->forms, "KEY=VALUE") != NULL;
}

/* The first argument that is not KEY=VALUE is the configuration; all others are KEY=VALUE. */
static mfpg_status take_argument(parsing *p, char *text) {
    cli_call *call = p->call;
    int keys = takes_keys(p->command);
    const char *meant = keys ? key_of(text) : NULL;
    if (keys && strchr(text, '='))
        call->assignment[call->assignments++] = text;
    else if (call->arguments < p->command->most)
        call->argument[call->arguments++] = text;
    else if (meant)
        return mfpg_fail(
            call->ctx, MFPG_ERR_INPUT, "'%.60s' is not KEY=VALUE; give it as %s=VALUE", text, meant);
    else if (keys)
        return mfpg_fail(call->ctx, MFPG_ERR_INPUT,
            "'%.60s' is not KEY=VALUE, and the configuration is %.200s already", text, call->argument[0]);
    else if (p->command->most == 0)
        return mfpg_fail(call->ctx, MFPG_ERR_INPUT, "'%.60s' is not an option", text);
    else
        return mfpg_fail(
            call->ctx, MFPG_ERR_INPUT, "'%.60s' is one argument too many: %s", text, p->command->limit);
    return MFPG_OK;
}

static mfpg_status take_option(parsing *p, ptrdiff_t index, const char *text) {
    const char *name = cli_command_option(p->command, index)->name;
    if (common_index(p->command, index) >= 0)
        return mfpg_option_set(p->call->ctx, &commons, name, text, &p->common);
    p->given[index] = 1;
    return mfpg_option_set(p->call->ctx, list_of(p->command), name, text, p->call->options);
}

static error_t parse(int key, char *text, struct argp_state *state) {
    parsing *p = state->input;
    const mfpg_option *option = NULL;
    ptrdiff_t i = 0;
    mfpg_status status = MFPG_OK;
    while ((option = cli_command_option(p->command, i)) &&
           key != (option->letter ? option->letter : FIRST_KEY + i))
        i++;
    if (option)
        status = take_option(p, i, text);
    else if (key == ARGP_KEY_ARG)
        status = take_argument(p, text);
    else if (key != ARGP_KEY_END)
        return ARGP_ERR_UNKNOWN;
    else if (p->call->arguments < p->command->least)
        status = mfpg_fail(p->call->ctx, MFPG_ERR_INPUT, "%s", p->command->needed);
    if (status == MFPG_OK) return 0;
    cli_error(p->call->name, "%s\nTry '%s --help' for every option.", mfpg_context_message(p->call->ctx),
        state->name);
    exit(cli_exit_code(status));
}

/* getopt accepts every prefix of a name, and reports what is wrong with one that it cannot complete. */
static int begins_a_name(const cli_command *command, const char *word) {
    const mfpg_option *option;
    for (ptrdiff_t i = 0; (option = cli_command_option(command, i)); i++)
        if (strncmp(option->name, word, strlen(word)) == 0) return 1;
    return 0;
}

/* Refuses unknown options and suggests the nearest name. Users often write keys of the configuration as
 * options. */
static void check_names(const parsing *p, int argc, char **argv) {
    const char *names[MOST_OPTIONS], *command = p->call->name;
    const mfpg_option *option;
    ptrdiff_t count = 0;
    for (; count < MOST_OPTIONS && (option = cli_command_option(p->command, count)); count++)
        names[count] = option->name;
    for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++) {
        char word[64];
        if (strncmp(argv[i], "--", 2) != 0) continue;
        snprintf(word, sizeof word, "%.*s", (int)strcspn(argv[i] + 2, "="), argv[i] + 2);
        if (begins_a_name(p->command, word)) continue;
        const char *nearest = mfpg_names_nearest(word, names, count);
        const char *meant = takes_keys(p->command) ? key_of(word) : NULL;
        if (meant)
            cli_error(command, "unrecognized option '--%s'; a key of the configuration is given as %s=VALUE",
                word, meant);
        else
            cli_error(command, "unrecognized option '--%s'%s%s%s; mfpg %s --help lists all", word,
                nearest ? "; did you mean --" : "", nearest ? nearest : "", nearest ? "?" : "", command);
        exit(CLI_WRONG_INPUT);
    }
}

static void parse_line(parsing *p, int argc, char **argv) {
    argp_rows rows;
    const struct argp argp = {
        .options = rows.row, .parser = parse, .args_doc = p->command->forms, .doc = p->command->doc};
    check_names(p, argc, argv);
    fill_rows(p->command, &rows);
    argp_parse(&argp, argc, argv, 0, NULL, p);
    p->call->json = p->common.json;
    p->call->threads = p->common.threads;
}

/* ---- running ---- */

static void *begin(const cli_command *command, mfpg_context *ctx) {
    if (command->begin) return command->begin(ctx);
    void *options = calloc(1, command->size + 1);
    if (options) mfpg_options_begin(list_of(command), options);
    return options;
}

static void end(const cli_command *command, void *options) {
    if (options && command->end) {
        command->end(options);
    } else if (options) {
        mfpg_options_clear(list_of(command), options);
        free(options);
    }
}

int cli_run(const char *name, const cli_command *command, int argc, char **argv) {
    cli_call call = {.name = name, .ctx = cli_context(1)};
    parsing p = {.command = command, .call = &call, .given = calloc(MOST_OPTIONS, 1)};
    call.given = p.given;
    call.options = begin(command, call.ctx);
    call.argument = calloc((size_t)argc, 2 * sizeof *call.argument);
    mfpg_status status = p.given && call.options && call.argument ? MFPG_OK : MFPG_ERR_MEMORY;
    if (status == MFPG_OK) {
        call.assignment = call.argument + argc;
        parse_line(&p, argc, argv);
        if (command->threads != CLI_ONE_THREAD) {
            mfpg_context_destroy(call.ctx);
            call.ctx = cli_context((int)call.threads);
        }
        status = command->run(&call);
    }
    int code = cli_finish(&call, status);
    end(command, call.options);
    free(call.argument);
    free(p.given);
    mfpg_context_destroy(call.ctx);
    return code;
}

mfpg_status cli_assign(cli_call *call, mfpg_config *config) {
    mfpg_status status = MFPG_OK;
    for (int i = 0; i < call->assignments && status == MFPG_OK; i++)
        status = mfpg_config_set(call->ctx, config, call->assignment[i]);
    return status;
}

mfpg_status cli_open_config(cli_call *call, mfpg_config **out) {
    mfpg_status status = mfpg_config_open(call->ctx, call->argument[0], out);
    return status == MFPG_OK ? cli_assign(call, *out) : status;
}
