/* mfpg init: a commented configuration, or with --json the table of keys. */
#include <stdio.h>

#include "mfpg/config.h"

#include "options.h"

typedef struct settings {
    cli_common common;
    const char *file; /* NULL: stdout */
} settings;

static error_t parse(int key, char *text, struct argp_state *state) {
    settings *chosen = state->input;
    switch (key) {
    case ARGP_KEY_INIT: state->child_inputs[0] = &chosen->common; return 0;
    case ARGP_KEY_ARG:
        if (chosen->file) cli_wrong_argument(state, "one file at a time; '%.60s' is a second", text);
        chosen->file = text;
        return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp_child children[] = {{.argp = &cli_common_argp}, {0}};
static const struct argp argp = {.parser = parse,
    .args_doc = "[FILE]",
    .doc = "Writes a commented configuration that runs as it is: every key with its meaning, unit, range and "
           "default. "
           "Without FILE it goes to stdout. A FILE that exists is left as it is (exit code 2)."
           "\vWith --json the table of keys is printed instead and no FILE is written.",
    .children = children};

static json_t *key_as_json(const mfpg_option *key) {
    static const char *const kinds[] = {
        "word", "number", "whole", "truth", "text", "path", "numbers", "wholes", "grid", "texts"};
    char allowed[512];
    json_t *words = json_array();
    const char *word;
    for (ptrdiff_t i = 0; (word = mfpg_option_word(key, i)); i++)
        json_array_append_new(words, json_string(word));
    return json_pack("{s:s, s:s, s:o, s:s?, s:s?, s:s, s:s, s:s, s:s}", "key", key->name, "type",
        kinds[key->kind], "words", words, "default", key->default_value, "example", key->example, "unit",
        key->unit, "allowed", mfpg_option_allowed(key, allowed, sizeof allowed), "used", key->used, "help",
        key->help);
}

static int print_keys(void) {
    json_t *keys = json_array();
    const mfpg_options *list = mfpg_config_options();
    for (ptrdiff_t i = 0; i < list->count; i++) json_array_append_new(keys, key_as_json(&list->option[i]));
    return cli_json_print("init", json_pack("{s:o}", "keys", keys));
}

int command_init(int argc, char **argv) {
    settings chosen = {0};
    cli_parse(&argp, "init", argc, argv, &chosen);
    if (chosen.common.json && chosen.file)
        return cli_refuse("init", "--json prints the keys and writes no file; leave out '%s'", chosen.file);
    if (chosen.common.json) return print_keys();
    mfpg_context *ctx = cli_context(1);
    mfpg_status status =
        chosen.file ? mfpg_config_template_save(ctx, chosen.file) : mfpg_config_template(ctx, stdout);
    int code = status == MFPG_OK ? CLI_DONE : cli_fail(ctx, "init", status);
    if (code == CLI_DONE && chosen.file) fprintf(stderr, "wrote %s\n", chosen.file);
    mfpg_context_destroy(ctx);
    return code;
}
