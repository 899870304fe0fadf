/* The fields of a struct that a list of options fills: nothing given, a value typed, all freed. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/names.h"
#include "value.h"

enum { MOST_OPTIONS = 128 };

static void *field_of(const mfpg_option *option, void *fields) {
    return (char *)fields + option->offset;
}

static void put_nothing(const mfpg_option *option, void *fields) {
    void *field = field_of(option, fields);
    switch (option->field) {
    case MFPG_HOLDS_INT: *(int *)field = option->kind == MFPG_OPTION_WORD ? -1 : 0; break;
    case MFPG_HOLDS_NUMBER: *(double *)field = (double)NAN; break;
    case MFPG_HOLDS_WHOLE: *(ptrdiff_t *)field = 0; break;
    case MFPG_HOLDS_CHAR: *(char *)field = 0; break;
    case MFPG_HOLDS_TEXT: *(char **)field = NULL; break;
    case MFPG_HOLDS_NUMBERS: *(mfpg_number_list *)field = (mfpg_number_list){0}; break;
    case MFPG_HOLDS_TEXTS: *(mfpg_text_list *)field = (mfpg_text_list){0}; break;
    case MFPG_HOLDS_SERIES: *(mfpg_numbers *)field = (mfpg_numbers){0}; break;
    case MFPG_HOLDS_NONE:
    case MFPG_HOLDS_NAMES:
    case MFPG_HOLDS_VALUES: break; /* of configurations only */
    }
}

void mfpg_options_begin(const mfpg_options *list, void *fields) {
    for (ptrdiff_t i = 0; i < list->count; i++) put_nothing(&list->option[i], fields);
}

void mfpg_options_clear(const mfpg_options *list, void *fields) {
    for (ptrdiff_t i = 0; i < list->count; i++) {
        const mfpg_option *option = &list->option[i];
        void *field = field_of(option, fields);
        if (option->field == MFPG_HOLDS_TEXT) free(*(char **)field);
        if (option->field == MFPG_HOLDS_NUMBERS) free(((mfpg_number_list *)field)->value);
        if (option->field == MFPG_HOLDS_TEXTS) free(((mfpg_text_list *)field)->text);
        if (option->field == MFPG_HOLDS_SERIES) free((char *)((mfpg_numbers *)field)->text);
        put_nothing(option, fields);
    }
}

int mfpg_option_is_given(const mfpg_option *option, const void *fields) {
    const void *field = (const char *)fields + option->offset;
    switch (option->field) {
    case MFPG_HOLDS_INT: return *(const int *)field > (option->kind == MFPG_OPTION_WORD ? -1 : 0);
    case MFPG_HOLDS_NUMBER: return !isnan(*(const double *)field);
    case MFPG_HOLDS_WHOLE: return *(const ptrdiff_t *)field != 0;
    case MFPG_HOLDS_CHAR: return *(const char *)field != 0;
    case MFPG_HOLDS_TEXT: return *(char *const *)field != NULL;
    case MFPG_HOLDS_NUMBERS: return ((const mfpg_number_list *)field)->value != NULL;
    case MFPG_HOLDS_TEXTS: return ((const mfpg_text_list *)field)->text != NULL;
    case MFPG_HOLDS_SERIES:
        return ((const mfpg_numbers *)field)->text || ((const mfpg_numbers *)field)->value;
    default: return 0;
    }
}

/* ---- typed values ---- */

/* A list as it is typed: parts between commas. The parts are cut out of text, which must outlive the node. */
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

/* A text is taken as it is; its reader knows what it may be. */
static mfpg_status put_text(mfpg_context *ctx, const char *text, char **field) {
    char *copy = mfpg_text_copy(text, strlen(text));
    if (!copy) return mfpg_fail_memory(ctx);
    free(*field);
    *field = copy;
    return MFPG_OK;
}

static mfpg_status add_text(mfpg_context *ctx, const char *text, mfpg_text_list *field) {
    const char **texts = mfpg_alloc(field->count + 1, sizeof *texts);
    char **block = NULL;
    if (texts) {
        for (ptrdiff_t i = 0; i < field->count; i++) texts[i] = field->text[i];
        texts[field->count] = text;
        block = mfpg_texts_pack(texts, field->count + 1);
    }
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
        free(((mfpg_number_list *)field)->value);
        *(mfpg_number_list *)field = (mfpg_number_list){value.numbers, value.count};
    } else if (option->field == MFPG_HOLDS_INT) {
        *(int *)field = (int)value.choice;
    } else if (option->field == MFPG_HOLDS_WHOLE) {
        *(ptrdiff_t *)field = (ptrdiff_t)value.number;
    } else if (option->field == MFPG_HOLDS_CHAR) {
        *(char *)field = value.text[0];
        mfpg_value_clear(&value);
    } else {
        *(double *)field = value.number;
    }
    return MFPG_OK;
}

static mfpg_status refuse_unknown(mfpg_context *ctx, const mfpg_options *list, const char *name) {
    const char *names[MOST_OPTIONS];
    ptrdiff_t count = 0;
    for (; count < list->count && count < MOST_OPTIONS; count++) names[count] = list->option[count].name;
    return mfpg_names_unknown(ctx, "option", name, names, count);
}

mfpg_status mfpg_option_set(
    mfpg_context *ctx, const mfpg_options *list, const char *name, const char *value, void *fields) {
    ptrdiff_t index = name ? mfpg_option_find(list, name) : -1;
    if (index < 0) return refuse_unknown(ctx, list, name);
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
