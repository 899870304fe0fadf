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

static json_t *key_as_json(ptrdiff_t index, const mfpg_config_key *key) {
    static const char *const forms[] = {
        "word", "number", "whole", "truth", "text", "path", "numbers", "wholes", "grid", "texts"};
    char allowed[512];
    json_t *words = json_array();
    const char *word;
    for (ptrdiff_t i = 0; (word = mfpg_config_key_word(index, i)); i++)
        json_array_append_new(words, json_string(word));
    return json_pack("{s:s, s:s, s:o, s:s?, s:s?, s:s, s:s, s:s, s:s}", "key", key->path, "type",
        forms[key->form], "words", words, "default", key->default_value, "example", key->example, "unit",
        key->unit, "allowed", mfpg_config_key_allowed(index, allowed, sizeof allowed), "used", key->used,
        "help", key->help);
}

static int print_keys(void) {
    json_t *keys = json_array();
    mfpg_config_key key;
    for (ptrdiff_t i = 0; mfpg_config_key_get(i, &key); i++)
        json_array_append_new(keys, key_as_json(i, &key));
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
