/* mfpg init writes a commented configuration or, with --json, the table of keys. */
#include "cli.h"

static json_t *word_json(const void *key, ptrdiff_t index) {
    return json_string(mfpg_option_word(key, index));
}

static json_t *key_json(const void *list, ptrdiff_t index) {
    static const char *const kinds[] = {
        "word", "number", "whole", "truth", "text", "path", "numbers", "wholes", "grid", "texts"};
    const mfpg_option *key = &((const mfpg_options *)list)->option[index];
    char allowed[512];
    ptrdiff_t words = 0;
    while (mfpg_option_word(key, words)) words++;
    return cli_json("key:s type:s words:o default:s example:s unit:s allowed:s used:s help:s", key->name,
        kinds[key->kind], cli_json_array(words, word_json, key), key->default_value, key->example, key->unit,
        mfpg_option_allowed(key, allowed, sizeof allowed), key->used, key->help);
}

static mfpg_status init(cli_call *call) {
    const mfpg_options *keys = mfpg_config_options();
    const char *file = call->argument[0];
    if (call->json && file)
        return mfpg_fail(
            call->ctx, MFPG_ERR_INPUT, "--json prints the keys and writes no file; leave out '%s'", file);
    if (call->json) return cli_json_print(cli_json("keys:o", cli_json_array(keys->count, key_json, keys)));
    if (!file) return mfpg_config_template(call->ctx, stdout);
    mfpg_status status = mfpg_config_template_save(call->ctx, file);
    if (status == MFPG_OK) fprintf(stderr, "wrote %s\n", file);
    return status;
}

const cli_command command_init = {
    .forms = "[FILE]",
    .most = 1,
    .limit = "one file at a time",
    .doc = "Writes a commented configuration that runs as it is: every key with its meaning, unit, range and "
           "default. Without FILE it goes to stdout. A FILE that exists is left as it is (exit code 2)."
           "\vWith --json the table of keys is printed instead and no FILE is written.",
    .run = init,
};
