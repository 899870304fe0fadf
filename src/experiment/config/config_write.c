/* Writes a configuration as text (complete, as it was given, or as a commented template), and compares two
 * configurations. */
#include "settings.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "mfpg/version.h"

#include "base/error.h"
#include "base/file.h"
#include "base/number.h"

/* ---- values as YAML ---- */

/* Returns 1 for texts that YAML readers would not read as texts. */
static int reads_as_other(const char *text) {
    static const char *const special[] = {
        "true", "false", "yes", "no", "on", "off", "y", "n", "null", ".", ".."};
    double number;
    for (size_t i = 0; i < sizeof special / sizeof special[0]; i++)
        if (strcasecmp(text, special[i]) == 0) return 1;
    return mfpg_number_parse(text, strlen(text), &number);
}

static int is_plain(const char *text) {
    static const char first[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_/.";
    static const char others[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_/.0123456789+-";
    return text[0] && strchr(first, text[0]) && text[strspn(text, others)] == 0 && !reads_as_other(text);
}

/* Returns the character at `at` (in UTF-8) if YAML refuses or folds it unless it is escaped (C1 controls,
 * line separators, byte order marks, non-characters), and otherwise 0. */
static unsigned special_character(const unsigned char *at) {
    if (at[0] == 0xC2 && at[1] >= 0x80 && at[1] <= 0x9F) return at[1];
    if (at[0] < 0xE0 || at[0] > 0xEF) return 0;
    unsigned code = (at[0] & 0x0Fu) << 12 | (at[1] & 0x3Fu) << 6 | (at[2] & 0x3Fu);
    return code == 0x2028 || code == 0x2029 || code == 0xFEFF || code >= 0xFFFE ? code : 0;
}

static void print_text(const char *text, FILE *out) {
    if (is_plain(text)) {
        fputs(text, out);
        return;
    }
    putc('"', out);
    for (const unsigned char *at = (const unsigned char *)text; *at; at++) {
        unsigned code = special_character(at);
        if (code) {
            fprintf(out, "\\u%04X", code);
            at += code < 0x800 ? 1 : 2;
        } else if (*at == '"' || *at == '\\') {
            fprintf(out, "\\%c", *at);
        } else if (*at < 0x20 || *at == 0x7F) {
            fprintf(out, "\\x%02X", *at);
        } else {
            putc(*at, out);
        }
    }
    putc('"', out);
}

static void print_number(double value, FILE *out) {
    char text[MFPG_NUMBER_SIZE];
    fputs(mfpg_number_format(value, text), out);
}

/* Prints a path that has the same meaning from any folder. */
static void print_path(const char *path, FILE *out) {
    char resolved[PATH_MAX], folder[PATH_MAX];
    if (realpath(path, resolved)) {
        print_text(resolved, out);
        return;
    }
    char *joined = getcwd(folder, sizeof folder) ? mfpg_path_join(folder, path) : NULL;
    print_text(joined ? joined : path, out);
    free(joined);
}

static void print_value(const mfpg_value *value, int absolute_path, FILE *out) {
    switch (value->kind) {
    case MFPG_VALUE_NOTHING: break;
    case MFPG_VALUE_WORD: fputs(value->word, out); break;
    case MFPG_VALUE_NUMBER: print_number(value->number, out); break;
    case MFPG_VALUE_TRUTH: fputs(value->number != 0 ? "true" : "false", out); break;
    case MFPG_VALUE_TEXT:
        if (absolute_path)
            print_path(value->text, out);
        else
            print_text(value->text, out);
        break;
    case MFPG_VALUE_NUMBERS:
    case MFPG_VALUE_TEXTS:
        putc('[', out);
        for (ptrdiff_t i = 0; i < value->count; i++) {
            if (i) fputs(", ", out);
            if (value->kind == MFPG_VALUE_NUMBERS)
                print_number(value->numbers[i], out);
            else
                print_text(value->texts[i], out);
        }
        putc(']', out);
        break;
    }
}

/* ---- sections ---- */

typedef struct writer {
    const mfpg_config *config;
    FILE *out;
    char section[MFPG_PATH_SIZE]; /* path of the last header */
} writer;

static void indent(writer *to, size_t depth) {
    for (size_t i = 0; i < depth; i++) fputs("  ", to->out);
}

static size_t depth_of(const char *path) {
    size_t depth = 0;
    for (; *path; path++) depth += *path == '.';
    return depth;
}

/* Writes the section headers that lead to path[0..length), except those already written. */
static void open_section(writer *to, const char *path, size_t length) {
    for (size_t end = 0, depth = 0; end < length; end++, depth++) {
        size_t begin = end;
        end += strcspn(path + end, ".");
        if (end > length) end = length;
        int open = strncmp(to->section, path, end) == 0 && (to->section[end] == 0 || to->section[end] == '.');
        if (open) continue;
        indent(to, depth);
        fprintf(to->out, "%.*s:\n", (int)(end - begin), path + begin);
        snprintf(to->section, sizeof to->section, "%.*s", (int)end, path);
    }
}

static void write_key(writer *to, ptrdiff_t index, int absolute_paths) {
    const mfpg_option *key = &mfpg_keys.option[index];
    const mfpg_value *value = &to->config->value[index];
    open_section(to, key->name, mfpg_path_parent_length(key->name));
    indent(to, depth_of(key->name));
    fprintf(to->out, "%s: ", mfpg_path_leaf(key->name));
    print_value(value, absolute_paths && key->kind == MFPG_OPTION_PATH, to->out);
    if (value->origin == MFPG_ORIGIN_AUTO) fprintf(to->out, "  # %s", value->source);
    putc('\n', to->out);
}

static void write_categories(writer *to, const char *path) {
    for (ptrdiff_t i = 0; i < to->config->categories; i++) {
        const mfpg_category_line *line = &to->config->category[i];
        open_section(to, path, mfpg_path_parent_length(path));
        indent(to, depth_of(path));
        print_text(line->column, to->out);
        fputs(": ", to->out);
        print_value(&line->value, 0, to->out);
        putc('\n', to->out);
    }
}

static mfpg_status finish(mfpg_context *ctx, FILE *out) {
    if (fflush(out) == 0 && !ferror(out)) return MFPG_OK;
    return mfpg_fail(ctx, MFPG_ERR_IO, "cannot write the configuration: %s", strerror(errno));
}

/* ---- the configuration of a run ---- */

static void write_unused(writer *to) {
    int first = 1;
    for (ptrdiff_t i = 0; i < mfpg_keys.count; i++) {
        const mfpg_option *key = &mfpg_keys.option[i];
        const mfpg_value *value = &to->config->value[i];
        if (value->kind == MFPG_VALUE_NOTHING || mfpg_config_counts(to->config, i)) continue;
        if (key->kind == MFPG_OPTION_PATH && value->origin == MFPG_ORIGIN_DEFAULT)
            continue; /* says nothing */
        if (first) fputs("\n# of no effect in this run:\n", to->out);
        first = 0;
        fprintf(to->out, "# %s: ", key->name);
        print_value(value, 0, to->out);
        fprintf(to->out, "  (used %s)\n", key->used);
    }
}

/* Returns 1 if the key must be written. A path that was not given is the folder of the configuration's file,
 * which a copy elsewhere must name. The name of the run is always written, so the text is never empty. */
static int is_given(const mfpg_config *config, ptrdiff_t index) {
    const mfpg_value *value = &config->value[index];
    const mfpg_option *key = &mfpg_keys.option[index];
    return value->origin != MFPG_ORIGIN_DEFAULT || strcmp(key->name, "name") == 0 ||
           (key->kind == MFPG_OPTION_PATH && value->kind == MFPG_VALUE_TEXT &&
               mfpg_config_counts(config, index));
}

static void write_keys(writer *to, int (*is_wanted)(const mfpg_config *config, ptrdiff_t index)) {
    for (ptrdiff_t i = 0; i < mfpg_keys.count; i++) {
        const char *path = mfpg_keys.option[i].name;
        int column = mfpg_path_column(path) != NULL, holds = to->config->value[i].kind != MFPG_VALUE_NOTHING;
        if (column && (is_wanted == is_given || is_wanted(to->config, i))) write_categories(to, path);
        if (!column && holds && is_wanted(to->config, i)) write_key(to, i, 1);
    }
}

mfpg_status mfpg_config_write(mfpg_context *ctx, const mfpg_config *config, FILE *out) {
    writer to = {.config = config, .out = out};
    fprintf(out, "# mfpg %s: a complete configuration, every value that counts\n", mfpg_version());
    write_keys(&to, mfpg_config_counts);
    write_unused(&to);
    return finish(ctx, out);
}

mfpg_status mfpg_config_write_given(mfpg_context *ctx, const mfpg_config *config, FILE *out) {
    writer to = {.config = config, .out = out};
    fprintf(out, "# mfpg %s: a configuration as it was given\n", mfpg_version());
    write_keys(&to, is_given);
    return finish(ctx, out);
}

/* ---- the commented configuration ---- */

static void write_help(writer *to, const mfpg_option *key, size_t depth) {
    char allowed[512];
    indent(to, depth);
    fprintf(to->out, "## %s%s%s\n", key->help, key->used[0] ? "; used " : "", key->used);
    indent(to, depth);
    fprintf(to->out, "##   %s%s%s%s%s\n", mfpg_option_allowed(key, allowed, sizeof allowed),
        key->unit[0] ? "; unit: " : "", key->unit, key->default_value ? "; default: " : "",
        key->default_value ? key->default_value : "");
}

/* Returns 1 if the key's parent is a key too and has a value: the key can then only replace it. */
static int replaces_parent(const writer *to, const mfpg_option *key) {
    size_t length = mfpg_path_parent_length(key->name);
    if (mfpg_path_column(key->name)) return 1;
    for (ptrdiff_t i = 0; i < mfpg_keys.count; i++) {
        const char *path = mfpg_keys.option[i].name;
        if (strlen(path) == length && memcmp(path, key->name, length) == 0)
            return to->config->value[i].kind != MFPG_VALUE_NOTHING;
    }
    return 0;
}

static int same_alternative(const mfpg_option *a, const mfpg_option *b) {
    return mfpg_path_are_siblings(a->name, b->name) && !mfpg_keys_exclude(a, b);
}

static const char *sample(const mfpg_option *key) {
    return key->default_value ? key->default_value : key->example;
}

/* Writes "# actions: {min: 0.1, max: 2}" after the help of the last of these keys. */
static void write_replacement(writer *to, ptrdiff_t index) {
    const mfpg_option *key = &mfpg_keys.option[index];
    size_t length = mfpg_path_parent_length(key->name), depth = depth_of(key->name) - 1;
    char parent[MFPG_PATH_SIZE];
    ptrdiff_t first = index;
    snprintf(parent, sizeof parent, "%.*s", (int)length, key->name);
    open_section(to, parent, mfpg_path_parent_length(parent));
    write_help(to, key, depth);
    if (index + 1 < mfpg_keys.count && same_alternative(key, key + 1)) return;
    while (first > 0 && same_alternative(key, &mfpg_keys.option[first - 1])) first--;
    indent(to, depth);
    fprintf(to->out, "# %s: {", mfpg_path_leaf(parent));
    for (ptrdiff_t i = first; i <= index; i++) {
        const mfpg_option *member = &mfpg_keys.option[i];
        fprintf(to->out, "%s%s: %s", i > first ? ", " : "",
            mfpg_path_column(member->name) ? "column" : mfpg_path_leaf(member->name), sample(member));
    }
    fputs("}\n", to->out);
}

static void write_documented(writer *to, ptrdiff_t index) {
    const mfpg_option *key = &mfpg_keys.option[index];
    size_t depth = depth_of(key->name);
    if (replaces_parent(to, key)) {
        write_replacement(to, index);
        return;
    }
    open_section(to, key->name, mfpg_path_parent_length(key->name));
    write_help(to, key, depth);
    int step = key->facts == MFPG_FACT_GRADIENT || strcmp(key->name, "entropic.step") == 0;
    int counts = to->config->value[index].kind != MFPG_VALUE_NOTHING && mfpg_config_counts(to->config, index);
    if (counts && !step) { /* methods with the other kind of step refuse a step that is given */
        write_key(to, index, 0);
        return;
    }
    indent(to, depth);
    fprintf(to->out, "# %s: %s\n", mfpg_path_leaf(key->name), sample(key));
}

static void write_template(const mfpg_config *config, FILE *out) {
    writer to = {.config = config, .out = out};
    fputs("# A configuration of mfpg with every key. It runs as it is, on made-up data; for your own files "
          "set\n"
          "# data.format and data.files. Lines after # are alternatives, or keys of other methods;\n"
          "# lines after ## explain the key below.\n\n",
        out);
    ptrdiff_t last = 0;
    for (ptrdiff_t i = 0; i < mfpg_keys.count; i++) {
        ptrdiff_t group = mfpg_option_group(&mfpg_keys, i);
        if (group != last) fprintf(out, "\n# ---- %s ----\n", mfpg_option_section(&mfpg_keys, i));
        last = group;
        write_documented(&to, i);
    }
}

mfpg_status mfpg_config_template(mfpg_context *ctx, FILE *out) {
    mfpg_config *config = NULL;
    mfpg_status status = mfpg_config_create(ctx, &config);
    if (status == MFPG_OK) status = mfpg_config_set(ctx, config, "data.format=synthetic");
    if (status == MFPG_OK) status = mfpg_config_set(ctx, config, "data.kind=clinics");
    if (status == MFPG_OK) {
        write_template(config, out);
        status = finish(ctx, out);
    }
    mfpg_config_destroy(config);
    return status;
}

mfpg_status mfpg_config_template_save(mfpg_context *ctx, const char *path) {
    struct stat info;
    mfpg_file file = {0};
    if (lstat(path, &info) == 0)
        return mfpg_fail(
            ctx, MFPG_ERR_INPUT, "%s: exists already and was left as it is; choose another name", path);
    mfpg_status status = mfpg_file_create(ctx, path, &file);
    if (status != MFPG_OK) return status;
    status = mfpg_config_template(ctx, file.stream);
    if (status == MFPG_ERR_IO)
        status = mfpg_fail(ctx, MFPG_ERR_IO, "%s: cannot write: %s", path, strerror(errno));
    if (status == MFPG_OK) status = mfpg_file_commit(ctx, &file);
    mfpg_file_abandon(&file);
    return status;
}

/* ---- do two say the same? ---- */

static void print_categories(const mfpg_config *config, FILE *out) {
    for (ptrdiff_t i = 0; i < config->categories; i++) {
        fputs(i > 0 ? ", " : "{", out);
        print_text(config->category[i].column, out);
        fputs(": ", out);
        print_value(&config->category[i].value, 0, out);
    }
    fputs(config->categories > 0 ? "}" : MFPG_NO_VALUE, out);
}

char *mfpg_config_value(const mfpg_config *config, ptrdiff_t index) {
    char *text = NULL;
    size_t size = 0;
    const mfpg_option *key = &mfpg_keys.option[index];
    FILE *stream = open_memstream(&text, &size);
    if (!stream) return NULL;
    if (mfpg_path_column(key->name))
        print_categories(config, stream);
    else if (config->value[index].kind == MFPG_VALUE_NOTHING || !mfpg_config_counts(config, index))
        fputs(MFPG_NO_VALUE, stream);
    else
        print_value(&config->value[index], key->kind == MFPG_OPTION_PATH, stream);
    if (fclose(stream) == 0) return text;
    free(text);
    return NULL;
}

static int same_categories(const mfpg_config *a, const mfpg_config *b) {
    int same = a->categories == b->categories;
    for (ptrdiff_t i = 0; same && i < a->categories; i++)
        same = strcmp(a->category[i].column, b->category[i].column) == 0 &&
               mfpg_value_equal(&a->category[i].value, &b->category[i].value);
    return same;
}

mfpg_status mfpg_config_compare(mfpg_context *ctx, const mfpg_config *config, const char *here,
    const mfpg_config *other, const char *there, int without_paths) {
    mfpg_status status = MFPG_OK;
    if (!same_categories(config, other))
        return mfpg_fail(
            ctx, MFPG_ERR_INPUT, "data.categories: other columns or values in %s than in %s", here, there);
    for (ptrdiff_t i = 0; i < mfpg_keys.count && status == MFPG_OK; i++) {
        const mfpg_option *key = &mfpg_keys.option[i];
        if (mfpg_path_column(key->name) || (without_paths && key->kind == MFPG_OPTION_PATH)) continue;
        char *own = mfpg_config_value(config, i), *theirs = mfpg_config_value(other, i);
        if (!own || !theirs)
            status = mfpg_fail_memory(ctx);
        else if (strcmp(own, theirs) != 0)
            status = mfpg_fail(
                ctx, MFPG_ERR_INPUT, "%s: %.300s in %s, %.300s in %s", key->name, own, here, theirs, there);
        free(own);
        free(theirs);
    }
    return status;
}
