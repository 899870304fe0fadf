#include "keys.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/names.h"
#include "base/number.h"
#include "mfpg/accountant.h"
#include "mfpg/hidden_state.h"
#include "mfpg/model.h"
#include "mfpg/mechanism.h"

enum { ALLOWED_SIZE = 512 };

/* Accountants whose epsilon holds: all but those that print the paper's formulas. */
static const char *certifying_accountant(ptrdiff_t index) {
    ptrdiff_t certifying = -1;
    for (ptrdiff_t i = 0;; i++) {
        const char *name = mfpg_accountant_name(i);
        if (!name) return NULL;
        if (strncmp(name, "paper_", 6) != 0) certifying++;
        if (certifying == index) return name;
    }
}

#define NO_WORDS          NULL, NULL
#define WORDS(...)        (const char *const[]){__VA_ARGS__, NULL}, NULL
#define NAMES(f)          NULL, f
#define WORDS_AND(f, ...) (const char *const[]){__VA_ARGS__, NULL}, f
#define ANY                                                                                                  \
    { -INFINITY, INFINITY, 0, 0 }
#define FROM(a)                                                                                              \
    { a, INFINITY, 0, 0 }
#define ABOVE(a)                                                                                             \
    { a, INFINITY, 1, 0 }
#define BETWEEN(a, b)                                                                                        \
    { a, b, 0, 0 }
#define FROM_BELOW(a, b)                                                                                     \
    { a, b, 0, 1 }
#define ABOVE_UP_TO(a, b)                                                                                    \
    { a, b, 1, 0 }
#define WHOLE_MAX     9007199254740991.0 /* 2^53 - 1: a larger number may be another one as a double */
#define COUNT_MAX     2147483647.0
#define DEFAULT(text) text, NULL
#define EXAMPLE(text) NULL, text
#define SECTION(path, title)
#define KEY(path, form, words, range, value, unit, when, alternative, help)                                  \
    {path, MFPG_FORM_##form, words, range, value, unit, MFPG_WHEN_##when, alternative, help},

static const mfpg_setting keys[] = {
#include "keys.def"
};

#undef KEY
#undef SECTION
#define SECTION(path, title) {path, title},
#define KEY(path, form, words, range, value, unit, when, alternative, help)

static const struct {
    const char *path, *title;
} sections[] = {
#include "keys.def"
};

#define WHEN_WORDS(identifier, words) words,
static const char *const when_words[] = {MFPG_WHENS(WHEN_WORDS)};

ptrdiff_t mfpg_settings_count(void) {
    return (ptrdiff_t)(sizeof keys / sizeof keys[0]);
}

const mfpg_setting *mfpg_settings_get(ptrdiff_t index) {
    return index >= 0 && index < mfpg_settings_count() ? &keys[index] : NULL;
}

const char *mfpg_when_words(mfpg_when when) {
    return when_words[when];
}

const char *mfpg_section_title(const char *path, size_t length) {
    for (size_t i = 0; i < sizeof sections / sizeof sections[0]; i++)
        if (strlen(sections[i].path) == length && memcmp(sections[i].path, path, length) == 0)
            return sections[i].title;
    return "";
}

/* ---- paths ---- */

const char *mfpg_path_leaf(const char *path) {
    const char *dot = strrchr(path, '.');
    return dot ? dot + 1 : path;
}

size_t mfpg_path_parent_length(const char *path) {
    const char *dot = strrchr(path, '.');
    return dot ? (size_t)(dot - path) : 0;
}

int mfpg_path_is_below(const char *path, const char *below) {
    size_t length = strlen(path);
    return strncmp(path, below, length) == 0 && below[length] == '.';
}

const char *mfpg_path_column(const char *path) {
    static const char parent[] = "data.categories.";
    size_t length = sizeof parent - 1;
    return strncmp(path, parent, length) == 0 && path[length] ? path + length : NULL;
}

ptrdiff_t mfpg_config_key_find(const char *path) {
    for (ptrdiff_t i = 0; i < mfpg_settings_count(); i++) {
        if (strcmp(keys[i].path, path) == 0) return i;
        if (mfpg_path_column(keys[i].path) && mfpg_path_column(path)) return i;
    }
    return -1;
}

int mfpg_settings_exclude(const mfpg_setting *a, const mfpg_setting *b) {
    if (mfpg_path_is_below(a->path, b->path) || mfpg_path_is_below(b->path, a->path)) return 1;
    size_t length = mfpg_path_parent_length(a->path);
    return a->alternative && b->alternative && length == mfpg_path_parent_length(b->path) &&
           memcmp(a->path, b->path, length) == 0 && strcmp(a->alternative, b->alternative) != 0;
}

static int siblings_have(const mfpg_siblings *out, const char *name, size_t length) {
    for (ptrdiff_t i = 0; i < out->count; i++)
        if (strlen(out->name[i]) == length && memcmp(out->name[i], name, length) == 0) return 1;
    return 0;
}

void mfpg_siblings_collect(const char *path, size_t length, mfpg_siblings *out) {
    out->count = 0;
    for (ptrdiff_t i = 0; i < mfpg_settings_count(); i++) {
        const char *name = keys[i].path;
        if (length > 0) {
            if (strncmp(name, path, length) != 0 || name[length] != '.') continue;
            name += length + 1;
        }
        size_t size = strcspn(name, ".");
        if (siblings_have(out, name, size)) continue;
        assert(out->count < MFPG_SIBLINGS && size < MFPG_SIBLING_SIZE);
        char *copy = out->text[out->count];
        memcpy(copy, name, size);
        copy[size] = 0;
        out->name[out->count++] = copy;
    }
}

/* ---- words and ranges ---- */

const char *mfpg_setting_word(const mfpg_setting *key, ptrdiff_t index) {
    ptrdiff_t fixed = 0;
    if (index < 0) return NULL;
    for (; key->words && key->words[fixed]; fixed++)
        if (fixed == index) return key->words[fixed];
    return key->name ? key->name(index - fixed) : NULL;
}

int mfpg_range_holds(const mfpg_range *range, double value) {
    int above = range->open_low ? value > range->low : value >= range->low;
    int below = range->open_high ? value < range->high : value <= range->high;
    return above && below;
}

static void describe_range(const mfpg_range *range, char *out, size_t size) {
    char low[MFPG_NUMBER_SIZE + 16] = "", high[MFPG_NUMBER_SIZE + 16] = "";
    int whole = range->high >= 1e6 && isfinite(range->high);
    if (isfinite(range->low))
        snprintf(low, sizeof low, " %s %g", range->open_low ? "above" : "from", range->low);
    if (isfinite(range->high))
        snprintf(high, sizeof high, whole ? " %s %.0f" : " %s %g", range->open_high ? "below" : "up to",
            range->high);
    snprintf(out, size, "%s%s", low, high);
}

static void describe_form(const mfpg_setting *key, char *out, size_t size) {
    char range[128];
    describe_range(&key->range, range, sizeof range);
    out[0] = 0;
    switch (key->form) {
    case MFPG_FORM_WORD: break;
    case MFPG_FORM_NUMBER: snprintf(out, size, "a number%s", range); break;
    case MFPG_FORM_WHOLE: snprintf(out, size, "a whole number%s", range); break;
    case MFPG_FORM_TRUTH: snprintf(out, size, "true, false"); break;
    case MFPG_FORM_TEXT:
        snprintf(
            out, size, key->range.high > 1 ? "a text of at most %g bytes" : "one character", key->range.high);
        break;
    case MFPG_FORM_PATH: snprintf(out, size, "the name of a file or folder"); break;
    case MFPG_FORM_NUMBERS: snprintf(out, size, "a list of numbers%s", range); break;
    case MFPG_FORM_WHOLES: snprintf(out, size, "a list of whole numbers%s", range); break;
    case MFPG_FORM_GRID: snprintf(out, size, "a list of ascending numbers%s", range); break;
    case MFPG_FORM_TEXTS: snprintf(out, size, "a list of texts"); break;
    }
}

char *mfpg_setting_allowed(const mfpg_setting *key, char *out, size_t size) {
    const char *words[64], *word;
    char form[192];
    ptrdiff_t count = 0;
    if (size == 0) return out;
    while (count < 64 && (word = mfpg_setting_word(key, count))) words[count++] = word;
    describe_form(key, form, sizeof form);
    mfpg_names_join(words, count, out, size);
    size_t used = strlen(out);
    snprintf(out + used, size - used, "%s%s", used > 0 && form[0] ? ", or " : "", form);
    return out;
}

/* ---- the public face ---- */

int mfpg_config_key_get(ptrdiff_t index, mfpg_config_key *out) {
    const mfpg_setting *key = mfpg_settings_get(index);
    if (!key) return 0;
    *out = (mfpg_config_key){.path = key->path,
        .section = mfpg_section_title(key->path, strcspn(key->path, ".")),
        .form = key->form,
        .default_value = key->default_value,
        .example = key->example,
        .unit = key->unit,
        .used = mfpg_when_words(key->when),
        .help = key->help};
    return 1;
}

const char *mfpg_config_key_word(ptrdiff_t index, ptrdiff_t word) {
    const mfpg_setting *key = mfpg_settings_get(index);
    return key ? mfpg_setting_word(key, word) : NULL;
}

char *mfpg_config_key_allowed(ptrdiff_t index, char *out, size_t size) {
    const mfpg_setting *key = mfpg_settings_get(index);
    if (size > 0) out[0] = 0;
    return key ? mfpg_setting_allowed(key, out, size) : out;
}

mfpg_status mfpg_config_keys_print(mfpg_context *ctx, FILE *out) {
    size_t last = 0;
    const char *group = "";
    for (ptrdiff_t i = 0; i < mfpg_settings_count(); i++) {
        const mfpg_setting *key = &keys[i];
        char allowed[ALLOWED_SIZE];
        size_t length = strcspn(key->path, ".");
        const char *title = mfpg_section_title(key->path, length);
        int begins = length != last || memcmp(group, key->path, length) != 0;
        if (title[0] && begins) fprintf(out, "\n%s\n", title);
        group = key->path;
        last = length;
        fprintf(out, "  %-34s %-12s %s%s%s%s\n", key->path, key->default_value ? key->default_value : "-",
            key->help, key->when == MFPG_WHEN_ALWAYS ? "" : " (", mfpg_when_words(key->when),
            key->when == MFPG_WHEN_ALWAYS ? "" : ")");
        fprintf(out, "  %-34s %-12s   %s%s%s\n", "", "", mfpg_setting_allowed(key, allowed, sizeof allowed),
            key->unit[0] ? "; " : "", key->unit);
    }
    return ferror(out) ? mfpg_fail(ctx, MFPG_ERR_IO, "cannot write the table of keys") : MFPG_OK;
}
