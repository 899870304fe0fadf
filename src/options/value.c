#include "value.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/file.h"
#include "base/memory.h"
#include "base/names.h"
#include "base/number.h"

enum { FOUND_SIZE = 80, SHOWN_BYTES = 48 };

/* What every parser of this file needs for its messages. */
typedef struct request {
    mfpg_context *ctx;
    const mfpg_option *option;
    const char *where, *directory;
} request;

void mfpg_value_clear(mfpg_value *value) {
    free(value->text);
    free(value->numbers);
    free(value->texts);
    free(value->source);
    *value = (mfpg_value){0};
}

/* ---- texts ---- */

static int is_control(char c) {
    return (unsigned char)c < 0x20 || c == 0x7F;
}

/* Accepts UTF-8 without control characters except tab, because the text is written to tables and terminals. */
static int text_is_printable(const char *text) {
    for (size_t length; *text; text += length) {
        length = mfpg_utf8_length(text, 4); /* the closing 0 ends every character */
        if (length == 0 || (is_control(*text) && *text != '\t')) return 0;
    }
    return 1;
}

/* Writes 'text', shortened for a line, with control characters replaced. */
static void quote_found(const char *text, char out[FOUND_SIZE]) {
    size_t used = 0;
    out[used++] = '\'';
    while (*text && used < SHOWN_BYTES) {
        size_t length = mfpg_utf8_length(text, 4);
        if (length == 0 || is_control(*text)) {
            out[used++] = '?';
            text++;
        } else {
            memcpy(out + used, text, length);
            used += length;
            text += length;
        }
    }
    strcpy(out + used, *text ? "...'" : "'");
}

static void describe_found(const mfpg_yaml_node *node, char out[FOUND_SIZE]) {
    if (node->kind == MFPG_YAML_LIST) {
        strcpy(out, "a list");
    } else if (node->kind == MFPG_YAML_MAPPING) {
        strcpy(out, "a mapping");
    } else if (!node->text[0]) {
        strcpy(out, node->plain ? "nothing" : "an empty text");
    } else {
        quote_found(node->text, out);
    }
}

static mfpg_status refuse(const request *in, const mfpg_yaml_node *node) {
    char found[FOUND_SIZE], allowed[512];
    const char *words[MFPG_OPTION_WORDS], *nearest = NULL;
    describe_found(node, found);
    if (node->kind == MFPG_YAML_SCALAR)
        nearest = mfpg_names_nearest(node->text, words, mfpg_option_words(in->option, words));
    int quoted = node->kind == MFPG_YAML_SCALAR && !node->plain && node->text[0];
    return mfpg_fail(in->ctx, MFPG_ERR_INPUT, "%s: found %s%s; allowed: %s%s%s%s", in->where,
        quoted ? "the text " : "", found, mfpg_option_allowed(in->option, allowed, sizeof allowed),
        nearest ? "; did you mean " : "", nearest ? nearest : "", nearest ? "?" : "");
}

/* ---- numbers ---- */

/* 0 also for NaN. */
static int range_holds(const mfpg_range *range, double value) {
    int above = range->open_low ? value > range->low : value >= range->low;
    int below = range->open_high ? value < range->high : value <= range->high;
    return above && below;
}

static int scalar_number(const mfpg_option *option, const mfpg_yaml_node *node, double *out) {
    double number;
    if (node->kind != MFPG_YAML_SCALAR || !node->plain) return 0;
    if (!mfpg_number_parse(node->text, strlen(node->text), &number)) return 0;
    int whole = option->kind == MFPG_OPTION_WHOLE || option->kind == MFPG_OPTION_WHOLES;
    if (whole && (number != floor(number) || number > 0x1p53)) return 0;
    if (!range_holds(&option->range, number)) return 0;
    *out = number + 0.0; /* -0 becomes 0 */
    return 1;
}

/* Requires ascending order without repetition, because a grid in another order is usually a mistake. */
static mfpg_status check_ascends(const request *in, const double *numbers, ptrdiff_t count) {
    char found[MFPG_NUMBER_SIZE], before[MFPG_NUMBER_SIZE];
    for (ptrdiff_t i = 1; i < count; i++)
        if (!(numbers[i] > numbers[i - 1]))
            return mfpg_fail(in->ctx, MFPG_ERR_INPUT,
                "%s: found %s after %s; allowed: numbers in ascending order, each once", in->where,
                mfpg_number_format(numbers[i], found), mfpg_number_format(numbers[i - 1], before));
    return MFPG_OK;
}

static mfpg_status parse_numbers(const request *in, const mfpg_yaml_node *node, mfpg_value *out) {
    int single = node->kind == MFPG_YAML_SCALAR;
    ptrdiff_t count = single ? 1 : node->count;
    if (node->kind == MFPG_YAML_MAPPING) return refuse(in, node);
    if (count == 0) return mfpg_fail(in->ctx, MFPG_ERR_INPUT, "%s: the list is empty", in->where);
    out->numbers = mfpg_alloc(count, sizeof *out->numbers);
    if (!out->numbers) return mfpg_fail_memory(in->ctx);
    for (ptrdiff_t i = 0; i < count; i++) {
        const mfpg_yaml_node *entry = single ? node : &node->child[i];
        if (!scalar_number(in->option, entry, &out->numbers[i])) return refuse(in, entry);
    }
    out->count = count;
    out->kind = MFPG_VALUE_NUMBERS;
    return in->option->kind == MFPG_OPTION_GRID ? check_ascends(in, out->numbers, count) : MFPG_OK;
}

/* ---- words, truths, texts, paths ---- */

static int parse_word(const request *in, const mfpg_yaml_node *node, mfpg_value *out) {
    const char *word;
    if (node->kind != MFPG_YAML_SCALAR) return 0;
    for (ptrdiff_t i = 0; (word = mfpg_option_word(in->option, i)); i++) {
        if (strcmp(word, node->text) != 0) continue;
        *out = (mfpg_value){.kind = MFPG_VALUE_WORD, .word = word, .choice = i};
        return 1;
    }
    return 0;
}

static mfpg_status parse_truth(const request *in, const mfpg_yaml_node *node, mfpg_value *out) {
    if (node->kind != MFPG_YAML_SCALAR || !node->plain) return refuse(in, node);
    if (strcmp(node->text, "true") == 0)
        out->number = 1;
    else if (strcmp(node->text, "false") != 0)
        return refuse(in, node);
    out->kind = MFPG_VALUE_TRUTH;
    return MFPG_OK;
}

static mfpg_status check_text(const request *in, const mfpg_yaml_node *node) {
    if (node->kind != MFPG_YAML_SCALAR || (node->plain && !node->text[0])) return refuse(in, node);
    if (!text_is_printable(node->text))
        return mfpg_fail(
            in->ctx, MFPG_ERR_INPUT, "%s: the text holds control characters or is not UTF-8", in->where);
    if (in->option->kind != MFPG_OPTION_PATH && !range_holds(&in->option->range, (double)strlen(node->text)))
        return refuse(in, node);
    return MFPG_OK;
}

/* Reads a text, or a path, which is joined with its folder. */
static mfpg_status parse_text(const request *in, const mfpg_yaml_node *node, mfpg_value *out) {
    int path = in->option->kind == MFPG_OPTION_PATH;
    mfpg_status status = check_text(in, node);
    if (status != MFPG_OK) return status;
    if (path && !node->text[0]) return refuse(in, node);
    const char *text = path && strcmp(node->text, ".") == 0 && in->directory[0] ? in->directory : node->text;
    out->text =
        path && text == node->text ? mfpg_path_join(in->directory, text) : mfpg_text_copy(text, strlen(text));
    if (!out->text) return mfpg_fail_memory(in->ctx);
    out->kind = MFPG_VALUE_TEXT;
    return MFPG_OK;
}

char **mfpg_texts_pack(const char *const *texts, ptrdiff_t count) {
    size_t bytes = (size_t)count * sizeof(char *);
    for (ptrdiff_t i = 0; i < count; i++) bytes += strlen(texts[i]) + 1;
    char **block = mfpg_alloc((ptrdiff_t)bytes, 1);
    if (!block) return NULL;
    char *at = (char *)(block + count);
    for (ptrdiff_t i = 0; i < count; i++) {
        block[i] = strcpy(at, texts[i]);
        at += strlen(texts[i]) + 1;
    }
    return block;
}

static mfpg_status parse_texts(const request *in, const mfpg_yaml_node *node, mfpg_value *out) {
    int single = node->kind == MFPG_YAML_SCALAR;
    ptrdiff_t count = single ? 1 : node->count;
    mfpg_status status = MFPG_OK;
    if (node->kind == MFPG_YAML_MAPPING) return refuse(in, node);
    const char **texts = mfpg_alloc(count, sizeof *texts);
    if (!texts) return mfpg_fail_memory(in->ctx);
    for (ptrdiff_t i = 0; i < count && status == MFPG_OK; i++) {
        const mfpg_yaml_node *entry = single ? node : &node->child[i];
        status = check_text(in, entry);
        texts[i] = entry->text;
    }
    if (status == MFPG_OK) {
        out->texts = mfpg_texts_pack(texts, count);
        status = out->texts ? MFPG_OK : mfpg_fail_memory(in->ctx);
    }
    free(texts);
    out->count = count;
    out->kind = MFPG_VALUE_TEXTS;
    return status;
}

/* ---- values ---- */

mfpg_status mfpg_value_parse(mfpg_context *ctx, const mfpg_option *option, const char *where,
    const char *directory, const mfpg_yaml_node *node, mfpg_value *out) {
    const request in = {ctx, option, where, directory};
    mfpg_value value = {0};
    mfpg_status status = MFPG_OK;
    if (!parse_word(&in, node, &value)) {
        switch (option->kind) {
        case MFPG_OPTION_WORD: status = refuse(&in, node); break;
        case MFPG_OPTION_NUMBER:
        case MFPG_OPTION_WHOLE:
            value.kind = MFPG_VALUE_NUMBER;
            if (!scalar_number(option, node, &value.number)) status = refuse(&in, node);
            break;
        case MFPG_OPTION_FLAG:
        case MFPG_OPTION_TRUTH: status = parse_truth(&in, node, &value); break;
        case MFPG_OPTION_SERIES:
        case MFPG_OPTION_TEXT:
        case MFPG_OPTION_PATH: status = parse_text(&in, node, &value); break;
        case MFPG_OPTION_NUMBERS:
        case MFPG_OPTION_WHOLES:
        case MFPG_OPTION_GRID: status = parse_numbers(&in, node, &value); break;
        case MFPG_OPTION_TEXTS: status = parse_texts(&in, node, &value); break;
        }
    }
    if (status == MFPG_OK)
        *out = value;
    else
        mfpg_value_clear(&value);
    return status;
}

mfpg_status mfpg_value_copy(mfpg_context *ctx, const mfpg_value *value, mfpg_value *out) {
    mfpg_value copy = *value;
    if (value->text) copy.text = mfpg_text_copy(value->text, strlen(value->text));
    if (value->source) copy.source = mfpg_text_copy(value->source, strlen(value->source));
    if (value->numbers) copy.numbers = mfpg_alloc(value->count, sizeof *copy.numbers);
    if (copy.numbers) memcpy(copy.numbers, value->numbers, (size_t)value->count * sizeof *copy.numbers);
    if (value->texts) copy.texts = mfpg_texts_pack((const char *const *)value->texts, value->count);
    if (!copy.text != !value->text || !copy.source != !value->source || !copy.numbers != !value->numbers ||
        !copy.texts != !value->texts) {
        mfpg_value_clear(&copy);
        return mfpg_fail_memory(ctx);
    }
    *out = copy;
    return MFPG_OK;
}

/* Members that a kind does not use are zero. */
int mfpg_value_equal(const mfpg_value *a, const mfpg_value *b) {
    int same = a->kind == b->kind && a->choice == b->choice && a->number == b->number &&
               a->count == b->count && !a->text == !b->text && (!a->text || strcmp(a->text, b->text) == 0);
    for (ptrdiff_t i = 0; i < a->count && same; i++)
        same = a->numbers ? a->numbers[i] == b->numbers[i] : strcmp(a->texts[i], b->texts[i]) == 0;
    return same;
}

mfpg_status mfpg_value_tree(
    mfpg_context *ctx, const mfpg_yaml_origin *origin, const char *text, mfpg_yaml_node *out) {
    if (text[0] && strchr("[{\"'", text[0])) return mfpg_yaml_parse(ctx, origin, text, strlen(text), out);
    mfpg_yaml_node scalar = {
        .kind = MFPG_YAML_SCALAR, .plain = 1, .text = mfpg_text_copy(text, strlen(text))};
    if (!scalar.text) return mfpg_fail_memory(ctx);
    *out = scalar;
    return MFPG_OK;
}
