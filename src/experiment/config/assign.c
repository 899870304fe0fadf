/* Converts the tree of a file or an argument to values of keys. */
#include "settings.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/names.h"

/* The state of one load or argument while it is applied to the configuration. */
typedef struct load {
    mfpg_context *ctx;
    mfpg_config *config;
    const mfpg_yaml_origin *origin;
    mfpg_value_origin kind;
    const char *directory;
} load;

static mfpg_status assign(load *in, const char *path, const mfpg_yaml_node *node);

static int is_section(const char *path) {
    for (ptrdiff_t i = 0; i < mfpg_keys.count; i++)
        if (mfpg_path_is_below(path, mfpg_keys.option[i].name)) return 1;
    return 0;
}

/* ---- unknown keys ---- */

/* Returns the length of the longest prefix of path that is a section; 0 is the top. */
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

/* Returns the key of any section that has this name, or NULL. */
static const char *same_leaf(const char *name) {
    for (ptrdiff_t i = 0; i < mfpg_keys.count; i++)
        if (strcmp(mfpg_path_leaf(mfpg_keys.option[i].name), name) == 0) return mfpg_keys.option[i].name;
    return NULL;
}

/* Returns 1 if name is one of the words between the underscores of leaf, such as epsilon in target_epsilon. */
static int is_word_of(const char *name, const char *leaf) {
    size_t length = strlen(name);
    for (const char *at = leaf; length > 0 && (at = strstr(at, name)); at += length)
        if ((at == leaf || at[-1] == '_') && (!at[length] || at[length] == '_')) return 1;
    return 0;
}

/* Appends "a or b": the keys that have this word in their name. */
static void append_same_word(const char *name, char *out, size_t size) {
    size_t begun = strlen(out), used = begun;
    for (ptrdiff_t i = 0; i < mfpg_keys.count; i++) {
        const char *path = mfpg_keys.option[i].name;
        if (!is_word_of(name, mfpg_path_leaf(path))) continue;
        int wrote = snprintf(out + used, size - used, "%s%s", used > begun ? " or " : "", path);
        if (wrote > 0 && (size_t)wrote < size - used) used += (size_t)wrote;
        out[used] = 0;
    }
}

static void shorten(const char *text, char out[MFPG_PATH_SIZE]) {
    size_t used = 0;
    for (; text[used] && used < 100; used++) out[used] = (unsigned char)text[used] < 0x20 ? '?' : text[used];
    strcpy(out + used, text[used] ? "..." : "");
}

enum { MOST_SIBLINGS = 64, SIBLING_SIZE = 32 };

/* The names directly below a section. */
typedef struct siblings {
    char text[MOST_SIBLINGS][SIBLING_SIZE];
    const char *name[MOST_SIBLINGS]; /* points into text, so the struct must not be moved */
    ptrdiff_t count;
} siblings;

/* Collects the keys of the section path[0..length); length 0 is the top. Keys of one section are consecutive
 * in the list. */
static void collect_siblings(const char *path, size_t length, siblings *out) {
    out->count = 0;
    for (ptrdiff_t i = 0; i < mfpg_keys.count; i++) {
        const char *name = mfpg_keys.option[i].name;
        if (length > 0 && (strncmp(name, path, length) != 0 || name[length] != '.')) continue;
        if (length > 0) name += length + 1;
        int size = (int)strcspn(name, ".");
        const char *last = out->count > 0 ? out->name[out->count - 1] : "";
        if (strncmp(last, name, (size_t)size) == 0 && !last[size]) continue;
        assert(out->count < MOST_SIBLINGS && size < SIBLING_SIZE);
        snprintf(out->text[out->count], SIBLING_SIZE, "%.*s", size, name);
        out->name[out->count] = out->text[out->count];
        out->count++;
    }
}

static mfpg_status refuse_unknown(load *in, const char *path, int line) {
    char place[MFPG_YAML_LOCATION], shown[MFPG_PATH_SIZE], word[MFPG_PATH_SIZE], meant[512] = "", names[512];
    siblings known;
    size_t length = known_length(path);
    snprintf(word, sizeof word, "%s", length ? path + length + 1 : path);
    const char *elsewhere = same_leaf(word);
    word[strcspn(word, ".")] = 0;
    collect_siblings(path, length, &known);
    const char *nearest = mfpg_names_nearest(word, known.name, known.count);
    if (nearest)
        snprintf(meant, sizeof meant, "%.*s%s%s", (int)length, path, length ? "." : "", nearest);
    else if (elsewhere)
        snprintf(meant, sizeof meant, "%s", elsewhere);
    else
        append_same_word(word, meant, sizeof meant);
    mfpg_yaml_location(in->origin, line, place);
    shorten(path, shown);
    return mfpg_fail(in->ctx, MFPG_ERR_INPUT, "%s: %s: unknown key; %s%s%s", place, shown,
        meant[0] ? "did you mean " : "allowed here: ",
        meant[0] ? meant : mfpg_names_join(known.name, known.count, names, sizeof names),
        meant[0] ? "?" : "");
}

/* ---- storing ---- */

/* Clears the keys that this key excludes, unless the same load gave them too. */
static mfpg_status clear_rivals(load *in, ptrdiff_t index, int line) {
    char place[MFPG_YAML_LOCATION];
    const mfpg_option *key = &mfpg_keys.option[index];
    for (ptrdiff_t i = 0; i < mfpg_keys.count; i++) {
        mfpg_value *rival = &in->config->value[i];
        if (i == index || rival->kind == MFPG_VALUE_NOTHING || !mfpg_keys_exclude(key, &mfpg_keys.option[i]))
            continue;
        if (rival->layer == in->config->layer)
            return mfpg_fail(in->ctx, MFPG_ERR_INPUT, "%s: %s: excludes %s, which is given too (%s)",
                mfpg_yaml_location(in->origin, line, place), key->name, mfpg_keys.option[i].name,
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
    mfpg_status status = parse(in, &mfpg_keys.option[index], mfpg_keys.option[index].name, node, &value);
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
    const mfpg_option *key = &mfpg_keys.option[index];
    const char *column = mfpg_path_column(path);
    const mfpg_yaml_node name = {.kind = MFPG_YAML_SCALAR, .line = node->line, .text = (char *)column};
    mfpg_value checked = {0}, value = {0};
    char place[MFPG_YAML_LOCATION];
    mfpg_yaml_location(in->origin, node->line, place);
    if (strlen(column) > (size_t)key->range.high)
        return mfpg_fail(in->ctx, MFPG_ERR_INPUT, "%s: data.categories: a column's name is too long", place);
    mfpg_status status =
        parse(in, key, "data.categories", &name, &checked); /* a column's name is checked as a text too */
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

/* Returns 1 for an empty node; a section whose keys are all commented out reads as one. */
static int is_nothing(const mfpg_yaml_node *node) {
    if (node->kind != MFPG_YAML_SCALAR || !node->plain) return 0;
    return !node->text[0] || strcmp(node->text, "~") == 0 || strcmp(node->text, "null") == 0;
}

static mfpg_status refuse_value_of_section(load *in, const char *path, int line) {
    char place[MFPG_YAML_LOCATION], names[512];
    siblings below;
    collect_siblings(path, strlen(path), &below);
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
