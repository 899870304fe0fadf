#include "config_state.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/names.h"

/* One load or one argument on its way into the configuration. */
typedef struct load {
    mfpg_context *ctx;
    mfpg_config *config;
    const mfpg_yaml_origin *origin;
    mfpg_value_origin kind;
    const char *directory;
} load;

static mfpg_status assign(load *in, const char *path, const mfpg_yaml_node *node);

static int is_section(const char *path) {
    for (ptrdiff_t i = 0; i < mfpg_settings_count(); i++)
        if (mfpg_path_is_below(path, mfpg_settings_get(i)->name)) return 1;
    return 0;
}

/* ---- keys that are none ---- */

/* Length of the longest beginning of path that is a section; 0 is the top. */
static size_t known_length(const char *path) {
    char part[MFPG_PATH_SIZE];
    size_t known = 0;
    for (size_t end = strcspn(path, "."); path[end]; end += 1 + strcspn(path + end + 1, ".")) {
        snprintf(part, sizeof part, "%.*s", (int)end, path);
        if (!is_section(part)) break;
        known = end;
    }
    return known;
}

/* The key anywhere in the table that has this name, for whoever forgot its section. */
static const char *same_leaf(const char *name) {
    for (ptrdiff_t i = 0; i < mfpg_settings_count(); i++)
        if (strcmp(mfpg_path_leaf(mfpg_settings_get(i)->name), name) == 0) return mfpg_settings_get(i)->name;
    return NULL;
}

/* 1 where name is one of the words between the underscores of leaf: epsilon of target_epsilon. */
static int is_word_of(const char *name, const char *leaf) {
    size_t length = strlen(name);
    for (const char *at = leaf; length > 0 && (at = strstr(at, name)); at += length)
        if ((at == leaf || at[-1] == '_') && (!at[length] || at[length] == '_')) return 1;
    return 0;
}

/* "a or b": the keys that have this word in their name; empty where there is none. */
static void same_word(const char *name, char *out, size_t size) {
    size_t used = 0;
    out[0] = 0;
    for (ptrdiff_t i = 0; i < mfpg_settings_count(); i++) {
        const char *path = mfpg_settings_get(i)->name;
        if (!is_word_of(name, mfpg_path_leaf(path))) continue;
        int wrote = snprintf(out + used, size - used, "%s%s", used ? " or " : "", path);
        if (wrote > 0 && (size_t)wrote < size - used) used += (size_t)wrote;
        out[used] = 0;
    }
}

static void shorten(const char *text, char out[MFPG_PATH_SIZE]) {
    size_t used = 0;
    for (; text[used] && used < 100; used++) out[used] = (unsigned char)text[used] < 0x20 ? '?' : text[used];
    strcpy(out + used, text[used] ? "..." : "");
}

static mfpg_status refuse_unknown(load *in, const char *path, int line) {
    char place[MFPG_YAML_LOCATION], shown[MFPG_PATH_SIZE], here[512];
    mfpg_siblings siblings;
    size_t length = known_length(path);
    char word[MFPG_PATH_SIZE];
    snprintf(word, sizeof word, "%s", length ? path + length + 1 : path);
    const char *elsewhere = same_leaf(word);
    word[strcspn(word, ".")] = 0;
    mfpg_siblings_collect(path, length, &siblings);
    const char *nearest = mfpg_names_nearest(word, siblings.name, siblings.count);
    mfpg_yaml_location(in->origin, line, place);
    shorten(path, shown);
    if (elsewhere && !nearest)
        return mfpg_fail(
            in->ctx, MFPG_ERR_INPUT, "%s: %s: no such key; did you mean %s?", place, shown, elsewhere);
    if (nearest)
        return mfpg_fail(in->ctx, MFPG_ERR_INPUT, "%s: %s: no such key; did you mean %.*s%s%s?", place, shown,
            (int)length, path, length ? "." : "", nearest);
    same_word(word, here, sizeof here);
    if (here[0])
        return mfpg_fail(
            in->ctx, MFPG_ERR_INPUT, "%s: %s: no such key; did you mean %s?", place, shown, here);
    return mfpg_fail(in->ctx, MFPG_ERR_INPUT, "%s: %s: no such key; allowed here: %s", place, shown,
        mfpg_names_join(siblings.name, siblings.count, here, sizeof here));
}

/* ---- storing ---- */

/* Clears what the key excludes, unless the same load gave that too. */
static mfpg_status clear_rivals(load *in, ptrdiff_t index, int line) {
    char place[MFPG_YAML_LOCATION];
    const mfpg_option *key = mfpg_settings_get(index);
    for (ptrdiff_t i = 0; i < mfpg_settings_count(); i++) {
        mfpg_value *rival = &in->config->value[i];
        if (i == index || rival->kind == MFPG_VALUE_NOTHING ||
            !mfpg_settings_exclude(key, mfpg_settings_get(i)))
            continue;
        if (rival->layer == in->config->layer)
            return mfpg_fail(in->ctx, MFPG_ERR_INPUT, "%s: %s: excludes %s, which is given too (%s)",
                mfpg_yaml_location(in->origin, line, place), key->name, mfpg_settings_get(i)->name,
                rival->source);
        mfpg_value_clear(rival);
    }
    return MFPG_OK;
}

static mfpg_status parse(
    load *in, const mfpg_option *key, const char *path, const mfpg_yaml_node *node, mfpg_value *out) {
    char place[MFPG_YAML_LOCATION], where[MFPG_YAML_LOCATION + MFPG_PATH_SIZE];
    mfpg_value value = {0};
    snprintf(where, sizeof where, "%s: %s", mfpg_yaml_location(in->origin, node->line, place), path);
    mfpg_status status = mfpg_value_parse(in->ctx, key, where, in->directory, node, &value);
    if (status != MFPG_OK) return status;
    value.origin = in->kind;
    value.layer = in->config->layer;
    value.source = mfpg_text_copy(place, strlen(place));
    if (!value.source) {
        mfpg_value_clear(&value);
        return mfpg_fail_memory(in->ctx);
    }
    *out = value;
    return MFPG_OK;
}

static mfpg_status store(load *in, ptrdiff_t index, const mfpg_yaml_node *node) {
    mfpg_value value = {0};
    mfpg_status status = parse(in, mfpg_settings_get(index), mfpg_settings_get(index)->name, node, &value);
    if (status == MFPG_OK) status = clear_rivals(in, index, node->line);
    if (status != MFPG_OK) {
        mfpg_value_clear(&value);
        return status;
    }
    mfpg_value_clear(&in->config->value[index]);
    in->config->value[index] = value;
    return MFPG_OK;
}

static mfpg_category_line *category_line(mfpg_config *config, const char *column) {
    for (ptrdiff_t i = 0; i < config->categories; i++)
        if (strcmp(config->category[i].column, column) == 0) return &config->category[i];
    mfpg_category_line *larger =
        mfpg_resize(config->category, config->categories + 1, sizeof *config->category);
    if (!larger) return NULL;
    config->category = larger;
    mfpg_category_line *line = &larger[config->categories];
    *line = (mfpg_category_line){.column = mfpg_text_copy(column, strlen(column))};
    if (!line->column) return NULL;
    config->categories++;
    return line;
}

static mfpg_status store_category(load *in, ptrdiff_t index, const char *path, const mfpg_yaml_node *node) {
    const mfpg_option *key = mfpg_settings_get(index);
    const char *column = mfpg_path_column(path);
    const mfpg_yaml_node name = {.kind = MFPG_YAML_SCALAR, .line = node->line, .text = (char *)column};
    mfpg_value checked = {0}, value = {0};
    char place[MFPG_YAML_LOCATION];
    mfpg_yaml_location(in->origin, node->line, place);
    if (strlen(column) > (size_t)key->range.high)
        return mfpg_fail(in->ctx, MFPG_ERR_INPUT, "%s: data.categories: a column's name is too long", place);
    mfpg_status status =
        parse(in, key, "data.categories", &name, &checked); /* a column's name is such a text too */
    mfpg_value_clear(&checked);
    if (status == MFPG_OK) status = parse(in, key, path, node, &value);
    if (status != MFPG_OK) return status;
    mfpg_category_line *line = value.count > 0 ? category_line(in->config, column) : NULL;
    if (!line) {
        mfpg_value_clear(&value);
        return value.count == 0 && node->kind == MFPG_YAML_LIST && node->count == 0
                   ? mfpg_fail(in->ctx, MFPG_ERR_INPUT, "%s: %s: the list is empty", place, path)
                   : mfpg_fail_memory(in->ctx);
    }
    mfpg_value_clear(&line->value);
    line->value = value;
    return MFPG_OK;
}

/* ---- walking ---- */

static mfpg_status refuse_repeat(load *in, const char *path, const mfpg_yaml_node *mapping, ptrdiff_t index) {
    char place[MFPG_YAML_LOCATION], shown[MFPG_PATH_SIZE];
    const mfpg_yaml_node *entry = &mapping->child[index];
    for (ptrdiff_t i = 0; i < index; i++) {
        if (strcmp(mapping->child[i].name, entry->name) != 0) continue;
        shorten(path, shown);
        return mfpg_fail(in->ctx, MFPG_ERR_INPUT, "%s: %s: given twice; first in line %d",
            mfpg_yaml_location(in->origin, entry->line, place), shown, mapping->child[i].line);
    }
    return MFPG_OK;
}

static mfpg_status refuse_long(load *in, const char *path, int line) {
    char place[MFPG_YAML_LOCATION];
    mfpg_yaml_location(in->origin, line, place);
    return mfpg_fail(in->ctx, MFPG_ERR_INPUT, "%s: %s%sa key is too long", place, path, path[0] ? ": " : "");
}

static mfpg_status assign_mapping(load *in, const char *path, const mfpg_yaml_node *mapping) {
    mfpg_status status = MFPG_OK;
    for (ptrdiff_t i = 0; i < mapping->count && status == MFPG_OK; i++) {
        const mfpg_yaml_node *entry = &mapping->child[i];
        char below[MFPG_PATH_SIZE];
        int wrote = snprintf(below, sizeof below, "%s%s%s", path, path[0] ? "." : "", entry->name);
        if (wrote < 0 || wrote >= (int)sizeof below) return refuse_long(in, path, entry->line);
        status = refuse_repeat(in, below, mapping, i);
        if (status == MFPG_OK) status = assign(in, below, entry);
    }
    return status;
}

/* A section whose keys are all commented out reads as nothing. */
static int is_nothing(const mfpg_yaml_node *node) {
    if (node->kind != MFPG_YAML_SCALAR || !node->plain) return 0;
    return !node->text[0] || strcmp(node->text, "~") == 0 || strcmp(node->text, "null") == 0;
}

static mfpg_status refuse_value_of_section(load *in, const char *path, int line) {
    char place[MFPG_YAML_LOCATION], names[512];
    mfpg_siblings below;
    mfpg_siblings_collect(path, strlen(path), &below);
    return mfpg_fail(in->ctx, MFPG_ERR_INPUT, "%s: %s: must be a mapping of keys; allowed in it: %s",
        mfpg_yaml_location(in->origin, line, place), path,
        mfpg_names_join(below.name, below.count, names, sizeof names));
}

static mfpg_status assign(load *in, const char *path, const mfpg_yaml_node *node) {
    ptrdiff_t index = mfpg_config_key_find(path);
    int section = is_section(path);
    if (index < 0 && !section) return refuse_unknown(in, path, node->line);
    if (section && node->kind == MFPG_YAML_MAPPING) return assign_mapping(in, path, node);
    if (index < 0) return is_nothing(node) ? MFPG_OK : refuse_value_of_section(in, path, node->line);
    if (mfpg_path_column(path)) return store_category(in, index, path, node);
    return store(in, index, node);
}

mfpg_status mfpg_config_assign(mfpg_context *ctx, mfpg_config *config, const mfpg_yaml_origin *origin,
    mfpg_value_origin kind, const char *directory, const char *path, const mfpg_yaml_node *tree) {
    load in = {ctx, config, origin, kind, directory};
    config->layer++;
    return path[0] ? assign(&in, path, tree) : assign_mapping(&in, "", tree);
}
