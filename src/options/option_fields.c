/* The fields of a struct that a list of options fills: set to "not given", filled with a value, and freed. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/names.h"
#include "value.h"

enum { MOST_OPTIONS = 128 };

/* Number of bytes of each field, and how many at its beginning tell that it holds a value. Numbers, words
 * and truth values have a special value for "not given"; all other fields are then zero. */
static const struct {
    size_t size, given;
} fields_of[] = {
    [MFPG_HOLDS_NONE] = {0, 0},
    [MFPG_HOLDS_INT] = {sizeof(int), 0},
    [MFPG_HOLDS_NUMBER] = {sizeof(double), 0},
    [MFPG_HOLDS_WHOLE] = {sizeof(ptrdiff_t), sizeof(ptrdiff_t)},
    [MFPG_HOLDS_CHAR] = {1, 1},
    [MFPG_HOLDS_TEXT] = {sizeof(char *), sizeof(char *)},
    [MFPG_HOLDS_NUMBERS] = {sizeof(mfpg_number_list), sizeof(double *)},
    [MFPG_HOLDS_TEXTS] = {sizeof(mfpg_text_list), sizeof(char **)},
    [MFPG_HOLDS_SERIES] = {sizeof(mfpg_numbers), offsetof(mfpg_numbers, count)},
    [MFPG_HOLDS_NAMES] = {0, 0},  /* of configurations only */
    [MFPG_HOLDS_VALUES] = {0, 0}, /* likewise */
};

static void *field_of(const mfpg_option *option, void *fields) {
    return (char *)fields + option->offset;
}

static void put_nothing(const mfpg_option *option, void *fields) {
    void *field = field_of(option, fields);
    if (option->field == MFPG_HOLDS_INT)
        *(int *)field = option->kind == MFPG_OPTION_WORD ? -1 : 0;
    else if (option->field == MFPG_HOLDS_NUMBER)
        *(double *)field = (double)NAN;
    else
        memset(field, 0, fields_of[option->field].size);
}

void mfpg_options_begin(const mfpg_options *list, void *fields) {
    for (ptrdiff_t i = 0; i < list->count; i++) put_nothing(&list->option[i], fields);
}

/* The first member of a field points to what it owns. */
void mfpg_options_clear(const mfpg_options *list, void *fields) {
    for (ptrdiff_t i = 0; i < list->count; i++) {
        const mfpg_option *option = &list->option[i];
        void *owned = NULL;
        if (option->field >= MFPG_HOLDS_TEXT && option->field <= MFPG_HOLDS_SERIES)
            memcpy(&owned, field_of(option, fields), sizeof owned);
        free(owned);
        put_nothing(option, fields);
    }
}

int mfpg_option_is_given(const mfpg_option *option, const void *fields) {
    const char *field = (const char *)fields + option->offset;
    if (option->field == MFPG_HOLDS_INT)
        return *(const int *)(const void *)field > (option->kind == MFPG_OPTION_WORD ? -1 : 0);
    if (option->field == MFPG_HOLDS_NUMBER) return !isnan(*(const double *)(const void *)field);
    for (size_t i = 0; i < fields_of[option->field].given; i++)
        if (field[i]) return 1;
    return 0;
}

/* ---- typed values ---- */

/* Parses a list as it is typed, with parts between commas. The parts are cut out of text, which must outlive
 * the node. */
static mfpg_status split(mfpg_context *ctx, char *text, mfpg_yaml_node *out) {
    ptrdiff_t parts = 1;
    for (const char *at = text; *at; at++) parts += *at == ',';
    out->child = mfpg_alloc(parts, sizeof *out->child);
    if (!out->child) return mfpg_fail_memory(ctx);
    out->kind = MFPG_YAML_LIST;
    for (char *at = text; out->count < parts; at += strlen(at) + 1) {
        at[strcspn(at, ",")] = 0;
        out->child[out->count++] = (mfpg_yaml_node){.kind = MFPG_YAML_SCALAR, .plain = 1, .text = at};
    }
    return MFPG_OK;
}

static mfpg_status parse_typed(
    mfpg_context *ctx, const mfpg_option *option, const char *text, mfpg_value *out) {
    char where[64], *copy = mfpg_text_copy(text, strlen(text));
    mfpg_yaml_node node = {.kind = MFPG_YAML_SCALAR, .plain = 1, .text = copy};
    snprintf(where, sizeof where, "--%s", option->name);
    mfpg_status status = copy ? MFPG_OK : mfpg_fail_memory(ctx);
    if (status == MFPG_OK && option->field == MFPG_HOLDS_NUMBERS) status = split(ctx, copy, &node);
    if (status == MFPG_OK) status = mfpg_value_parse(ctx, option, where, "", &node, out);
    free(node.child);
    free(copy);
    return status;
}

/* A text is taken unchanged; the code that reads it checks it. */
static mfpg_status put_text(mfpg_context *ctx, const char *text, char **field) {
    char *copy = mfpg_text_copy(text, strlen(text));
    if (!copy) return mfpg_fail_memory(ctx);
    free(*field);
    *field = copy;
    return MFPG_OK;
}

static mfpg_status add_text(mfpg_context *ctx, const char *text, mfpg_text_list *field) {
    const char **texts = mfpg_alloc(field->count + 1, sizeof *texts);
    if (texts && field->count > 0) memcpy(texts, field->text, (size_t)field->count * sizeof *texts);
    if (texts) texts[field->count] = text;
    char **block = texts ? mfpg_texts_pack(texts, field->count + 1) : NULL;
    free(texts);
    if (!block) return mfpg_fail_memory(ctx);
    free(field->text);
    *field = (mfpg_text_list){block, field->count + 1};
    return MFPG_OK;
}

static mfpg_status put_value(mfpg_context *ctx, const mfpg_option *option, const char *text, void *field) {
    mfpg_value value = {0};
    mfpg_status status = parse_typed(ctx, option, text, &value);
    if (status != MFPG_OK) return status;
    if (option->field == MFPG_HOLDS_NUMBERS) {
        mfpg_number_list *list = field;
        free(list->value);
        *list = (mfpg_number_list){value.numbers, value.count};
        return MFPG_OK;
    }
    if (option->field == MFPG_HOLDS_INT)
        *(int *)field = option->kind == MFPG_OPTION_WHOLE ? (int)value.number : (int)value.choice;
    if (option->field == MFPG_HOLDS_WHOLE) *(ptrdiff_t *)field = (ptrdiff_t)value.number;
    if (option->field == MFPG_HOLDS_CHAR) *(char *)field = value.text[0];
    if (option->field == MFPG_HOLDS_NUMBER) *(double *)field = value.number;
    mfpg_value_clear(&value);
    return MFPG_OK;
}

mfpg_status mfpg_option_set(
    mfpg_context *ctx, const mfpg_options *list, const char *name, const char *value, void *fields) {
    ptrdiff_t index = name ? mfpg_option_find(list, name) : -1;
    if (index < 0) {
        const char *names[MOST_OPTIONS];
        ptrdiff_t count = list->count < MOST_OPTIONS ? list->count : MOST_OPTIONS;
        for (ptrdiff_t i = 0; i < count; i++) names[i] = list->option[i].name;
        return mfpg_names_unknown(ctx, "option", name, names, count);
    }
    const mfpg_option *option = &list->option[index];
    void *field = field_of(option, fields);
    if (!value != (option->kind == MFPG_OPTION_FLAG))
        return mfpg_fail(ctx, MFPG_ERR_INPUT, "--%s takes %s", name, value ? "no value" : "a value");
    if (option->kind == MFPG_OPTION_FLAG) {
        *(int *)field = 1;
        return MFPG_OK;
    }
    switch (option->field) {
    case MFPG_HOLDS_TEXT:
    case MFPG_HOLDS_SERIES: return put_text(ctx, value, field); /* the text of a series comes first */
    case MFPG_HOLDS_TEXTS: return add_text(ctx, value, field);
    default: return put_value(ctx, option, value, field);
    }
}
