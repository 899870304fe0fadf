/* Making a configuration: defaults, files, arguments, copies. */
#include "settings.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/file.h"
#include "base/memory.h"
#include "base/number.h"

enum { FILE_LIMIT = 1 << 20 };

/* ---- making and freeing ---- */

void mfpg_config_destroy(mfpg_config *config) {
    if (!config) return;
    for (ptrdiff_t i = 0; config->value && i < mfpg_keys.count; i++) mfpg_value_clear(&config->value[i]);
    for (ptrdiff_t i = 0; i < config->categories; i++) {
        mfpg_value_clear(&config->category[i].value);
        free(config->category[i].column);
    }
    free(config->value);
    free(config->category);
    free(config->file);
    free(config->directory);
    free(config);
}

/* Creates a configuration without values; NULL if memory runs out. */
static mfpg_config *allocate(const char *file, const char *directory) {
    mfpg_config *config = mfpg_alloc(1, sizeof *config);
    if (!config) return NULL;
    config->value = mfpg_alloc(mfpg_keys.count, sizeof *config->value);
    config->directory = mfpg_text_copy(directory, strlen(directory));
    config->file = file ? mfpg_text_copy(file, strlen(file)) : NULL;
    if (config->value && config->directory && (config->file || !file)) return config;
    mfpg_config_destroy(config);
    return NULL;
}

static mfpg_status set_defaults(mfpg_context *ctx, mfpg_config *config) {
    const mfpg_yaml_origin origin = {"default", 0};
    mfpg_status status = MFPG_OK;
    for (ptrdiff_t i = 0; i < mfpg_keys.count && status == MFPG_OK; i++) {
        const mfpg_option *key = &mfpg_keys.option[i];
        mfpg_yaml_node tree = {0};
        if (!key->default_value) continue;
        status = mfpg_value_tree(ctx, &origin, key->default_value, &tree);
        if (status == MFPG_OK)
            status = mfpg_value_parse(ctx, key, key->name, config->directory, &tree, &config->value[i]);
        mfpg_yaml_clear(&tree);
    }
    return status;
}

/* Returns what was created on success, and frees it on failure. */
static mfpg_status finish(mfpg_status status, mfpg_config *made, mfpg_config **out) {
    if (status == MFPG_OK) {
        mfpg_config_settle(made);
        *out = made;
    } else {
        mfpg_config_destroy(made);
    }
    return status;
}

static mfpg_status create(mfpg_context *ctx, const char *file, const char *directory, mfpg_config **out) {
    mfpg_config *config = allocate(file, directory);
    return finish(config ? set_defaults(ctx, config) : mfpg_fail_memory(ctx), config, out);
}

mfpg_status mfpg_config_create(mfpg_context *ctx, mfpg_config **out) {
    return create(ctx, NULL, "", out);
}

static mfpg_status copy_categories(mfpg_context *ctx, const mfpg_config *config, mfpg_config *copy) {
    copy->category = mfpg_alloc(config->categories, sizeof *copy->category);
    if (!copy->category) return mfpg_fail_memory(ctx);
    for (ptrdiff_t i = 0; i < config->categories; i++) {
        const mfpg_category_line *line = &config->category[i];
        mfpg_category_line *to = &copy->category[copy->categories++];
        to->column = mfpg_text_copy(line->column, strlen(line->column));
        if (!to->column) return mfpg_fail_memory(ctx);
        mfpg_status status = mfpg_value_copy(ctx, &line->value, &to->value);
        if (status != MFPG_OK) return status;
    }
    return MFPG_OK;
}

mfpg_status mfpg_config_copy(mfpg_context *ctx, const mfpg_config *config, mfpg_config **out) {
    mfpg_config *copy = allocate(config->file, config->directory);
    mfpg_status status = copy ? copy_categories(ctx, config, copy) : mfpg_fail_memory(ctx);
    for (ptrdiff_t i = 0; i < mfpg_keys.count && status == MFPG_OK; i++)
        status = mfpg_value_copy(ctx, &config->value[i], &copy->value[i]);
    if (copy) copy->layer = config->layer;
    return finish(status, copy, out);
}

/* ---- reading ---- */

mfpg_status mfpg_config_load_text(mfpg_context *ctx, const char *text, size_t length, const char *origin,
    const char *directory, mfpg_config **out) {
    const mfpg_yaml_origin source = {origin, 1};
    mfpg_config *config = NULL;
    mfpg_yaml_node tree = {0};
    if (length > FILE_LIMIT)
        return mfpg_fail(ctx, MFPG_ERR_INPUT, "%s: larger than the limit of %d bytes", origin, FILE_LIMIT);
    mfpg_status status = mfpg_yaml_parse(ctx, &source, text, length, &tree);
    if (status == MFPG_OK && tree.kind != MFPG_YAML_MAPPING)
        status = mfpg_fail(ctx, MFPG_ERR_INPUT,
            "%s:%d: not a mapping of keys; `mfpg init` writes a configuration, `mfpg data check FILE` "
            "explains a data file",
            origin, tree.line > 0 ? tree.line : 1);
    if (status == MFPG_OK) status = create(ctx, origin, directory ? directory : "", &config);
    if (status == MFPG_OK)
        status = mfpg_config_assign(ctx, config, &source, MFPG_ORIGIN_FILE, config->directory, "", &tree);
    mfpg_yaml_clear(&tree);
    return finish(status, config, out);
}

/* A run without a name gets the name of its file, if the key allows it. */
static mfpg_status name_after_file(mfpg_context *ctx, mfpg_config *config, const char *path) {
    char stem[256];
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    if (mfpg_config_given(config, "name") || strlen(name) >= sizeof stem) return MFPG_OK;
    char *dot = strrchr(strcpy(stem, name), '.');
    if (dot > stem && (strcmp(dot, ".yaml") == 0 || strcmp(dot, ".yml") == 0)) *dot = 0;
    if (strchr("[{\"'", stem[0])) return MFPG_OK; /* empty, or it would read as YAML */
    mfpg_status status = mfpg_config_resolve(ctx, config, "name", stem, "the configuration's file");
    return status == MFPG_ERR_INPUT ? MFPG_OK : status;
}

mfpg_status mfpg_config_load(mfpg_context *ctx, const char *path, mfpg_config **out) {
    char *text = NULL;
    size_t length = 0;
    mfpg_config *config = NULL;
    mfpg_status status = mfpg_file_read(ctx, path, FILE_LIMIT, &text, &length);
    if (status != MFPG_OK) return status;
    const char *slash = strrchr(path, '/');
    char *directory = mfpg_text_copy(path, slash ? (size_t)(slash - path) + (slash == path) : 0);
    status = directory ? mfpg_config_load_text(ctx, text, length, path, directory, &config)
                       : mfpg_fail_memory(ctx);
    free(directory);
    free(text);
    if (status == MFPG_OK) status = name_after_file(ctx, config, path);
    return finish(status, config, out);
}

static mfpg_status set_path(
    mfpg_context *ctx, mfpg_config *config, const char *argument, const char *equals) {
    char name[MFPG_YAML_LOCATION], path[MFPG_PATH_SIZE];
    size_t shown = strlen(argument), length = (size_t)(equals - argument);
    snprintf(name, sizeof name, "argument '%.*s%s'", shown > 100 ? 100 : (int)shown, argument,
        shown > 100 ? "..." : "");
    const mfpg_yaml_origin origin = {name, 0};
    if (length == 0 || length >= sizeof path)
        return mfpg_fail(ctx, MFPG_ERR_INPUT, "%s: unknown key; it must be KEY=VALUE", name);
    memcpy(path, argument, length);
    path[length] = 0;
    mfpg_yaml_node tree = {0};
    mfpg_status status = mfpg_value_tree(ctx, &origin, equals + 1, &tree);
    if (status == MFPG_OK)
        status = mfpg_config_assign(ctx, config, &origin, MFPG_ORIGIN_ARGUMENT, "", path, &tree);
    mfpg_yaml_clear(&tree);
    return status;
}

mfpg_status mfpg_config_set(mfpg_context *ctx, mfpg_config *config, const char *argument) {
    const char *equals = strchr(argument, '=');
    if (!equals)
        return mfpg_fail(
            ctx, MFPG_ERR_INPUT, "argument '%.100s': must be KEY=VALUE, such as train.rounds=50", argument);
    mfpg_config *changed = NULL;
    mfpg_status status = mfpg_config_copy(ctx, config, &changed);
    if (status == MFPG_OK) status = set_path(ctx, changed, argument, equals);
    if (status == MFPG_OK) {
        const mfpg_config old = *config;
        *config = *changed;
        *changed = old;
        mfpg_config_settle(config);
    }
    mfpg_config_destroy(changed);
    return status;
}

mfpg_status mfpg_config_set_path(mfpg_context *ctx, mfpg_config *config, const char *key, const char *name) {
    char argument[4300];
    int used = snprintf(argument, sizeof argument, "%s=%s", key, name);
    if (used < 0 || (size_t)used >= sizeof argument)
        return mfpg_fail(ctx, MFPG_ERR_INPUT, "%s: the name '%.60s...' is too long", key, name);
    return mfpg_config_set(ctx, config, argument);
}

/* The most seeds of a sweep. It is more than any practical sweep, and results of this many runs still fit
 * into memory. */
static const double MOST_SEEDS = 1e6;

mfpg_status mfpg_config_sweep(
    mfpg_context *ctx, const char *argument, int *sweep, int64_t *first, int64_t *last) {
    const char *dots = strstr(argument, "..");
    double low, high;
    *sweep = 0;
    if (strncmp(argument, "seed=", 5) != 0 || !dots) return MFPG_OK;
    const char *begin = argument + 5, *end = dots + 2;
    int numbers =
        mfpg_number_parse(begin, (size_t)(dots - begin), &low) && mfpg_number_parse(end, strlen(end), &high);
    if (!numbers || low != floor(low) || high != floor(high) || !(low >= 0) || !(high < 9007199254740992.0) ||
        !(low <= high))
        return mfpg_fail(ctx, MFPG_ERR_INPUT,
            "argument '%.100s': must be seed=A..B with whole numbers from 0, A at most B", argument);
    if (high - low >= MOST_SEEDS)
        return mfpg_fail(ctx, MFPG_ERR_INPUT,
            "argument '%.100s': seed: found a range of %.16g seeds; allowed: at most %g in one sweep",
            argument, high - low + 1.0, MOST_SEEDS);
    *sweep = 1;
    *first = (int64_t)low;
    *last = (int64_t)high;
    return MFPG_OK;
}

/* ---- resolving ---- */

mfpg_status mfpg_config_resolve(
    mfpg_context *ctx, mfpg_config *config, const char *path, const char *value, const char *why) {
    const mfpg_yaml_origin origin = {"resolved value", 0};
    ptrdiff_t index = mfpg_config_key_find(path);
    mfpg_yaml_node tree = {0};
    mfpg_value resolved = {0};
    if (index < 0 || mfpg_path_column(path))
        return mfpg_fail(ctx, MFPG_ERR_INPUT, "%s: unknown key, which cannot be resolved", path);
    mfpg_status status = mfpg_value_tree(ctx, &origin, value, &tree);
    if (status == MFPG_OK)
        status = mfpg_value_parse(ctx, &mfpg_keys.option[index], path, "", &tree, &resolved);
    mfpg_yaml_clear(&tree);
    if (status != MFPG_OK) return status;
    resolved.origin = MFPG_ORIGIN_AUTO;
    resolved.layer = config->value[index].layer;
    size_t room = strlen(why) + sizeof "auto: ";
    resolved.source = mfpg_alloc((ptrdiff_t)room, 1);
    if (!resolved.source) {
        mfpg_value_clear(&resolved);
        return mfpg_fail_memory(ctx);
    }
    snprintf(resolved.source, room, "auto: %s", why);
    for (char *at = resolved.source; *at; at++)
        if ((unsigned char)*at < 0x20) *at = ' '; /* it becomes a comment, which must be one line */
    mfpg_value_clear(&config->value[index]);
    config->value[index] = resolved;
    mfpg_config_settle(config);
    return MFPG_OK;
}

mfpg_status mfpg_config_resolve_number(
    mfpg_context *ctx, mfpg_config *config, const char *path, double value, const char *why) {
    char text[MFPG_NUMBER_SIZE];
    return mfpg_config_resolve(ctx, config, path, mfpg_number_format(value, text), why);
}
