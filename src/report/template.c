#include "template.h"

#include <string.h>

#include "base/file.h"
#include "base/error.h"
#include "base/number.h"
#include "base/names.h"

/* ---- text of any origin ---- */

static const char *entity(char byte) {
    switch (byte) {
    case '&': return "&amp;";
    case '<': return "&lt;";
    case '>': return "&gt;";
    case '"': return "&quot;";
    case '\'': return "&#39;";
    default: return NULL;
    }
}

void mfpg_html_text(const char *text, size_t length, FILE *out) {
    while (length > 0) {
        size_t size = mfpg_utf8_length(text, length);
        if (size == 0 || mfpg_utf8_is_control(text, size))
            fputs("\xEF\xBF\xBD", out);
        else if (size == 1 && entity(*text))
            fputs(entity(*text), out);
        else
            fwrite(text, 1, size, out);
        if (size == 0) size = 1;
        text += size;
        length -= size;
    }
}

/* ---- tags ---- */

typedef struct scope {
    const json_t *value;
    const struct scope *outer;
} scope;

typedef struct tag {
    const char *start, *end; /* of the tag with its braces */
    char kind;               /* # ^ / > < or 0 for a value */
    char name[64];
} tag;

/* The next tag of [text, end); 0 where there is none. */
static int find_tag(const char *text, const char *end, tag *out) {
    const char *open = memmem(text, (size_t)(end - text), "{{", 2);
    const char *close = open ? memmem(open, (size_t)(end - open), "}}", 2) : NULL;
    if (!close) return 0;
    const char *name = open + 2;
    *out = (tag){.start = open, .end = close + 2};
    if (strchr("#^/><", *name)) out->kind = *name++;
    snprintf(out->name, sizeof out->name, "%.*s", (int)(close - name), name);
    return 1;
}

/* The tag that closes a section which begins before text; 0 where there is none. */
static int find_close(const char *text, const char *end, const char *name, tag *out) {
    int depth = 1;
    while (find_tag(text, end, out)) {
        int same = strcmp(out->name, name) == 0;
        if (same && (out->kind == '#' || out->kind == '^')) depth++;
        if (same && out->kind == '/' && --depth == 0) return 1;
        text = out->end;
    }
    return 0;
}

static const json_t *look_up(const scope *at, const char *name) {
    if (strcmp(name, ".") == 0) return at->value;
    for (; at; at = at->outer) {
        const json_t *found = json_object_get(at->value, name);
        if (found) return found;
    }
    return NULL;
}

static void write_value(const json_t *value, FILE *out) {
    char number[MFPG_NUMBER_SIZE];
    if (json_is_string(value))
        mfpg_html_text(json_string_value(value), json_string_length(value), out);
    else if (json_is_integer(value))
        fprintf(out, "%lld", (long long)json_integer_value(value));
    else if (json_is_real(value))
        fputs(mfpg_number_format(json_real_value(value), number), out);
    else if (json_is_boolean(value))
        fputs(json_is_true(value) ? "yes" : "no", out);
}

static mfpg_status write_part(
    mfpg_context *ctx, const char *text, const char *end, const scope *at, FILE *out);

static int holds_anything(const json_t *value) {
    return value && !json_is_null(value) && !json_is_false(value) &&
           !(json_is_array(value) && json_array_size(value) == 0);
}

static mfpg_status write_section(
    mfpg_context *ctx, const tag *open, const tag *close, const scope *at, FILE *out) {
    const json_t *value = look_up(at, open->name);
    if (holds_anything(value) == (open->kind == '^')) return MFPG_OK;
    if (open->kind == '^') return write_part(ctx, open->end, close->start, at, out);
    if (!json_is_array(value)) {
        scope inner = {.value = value, .outer = at};
        return write_part(ctx, open->end, close->start, &inner, out);
    }
    mfpg_status status = MFPG_OK;
    for (size_t i = 0; i < json_array_size(value) && status == MFPG_OK; i++) {
        scope inner = {.value = json_array_get(value, i), .outer = at};
        status = write_part(ctx, open->end, close->start, &inner, out);
    }
    return status;
}

static mfpg_status write_part(
    mfpg_context *ctx, const char *text, const char *end, const scope *at, FILE *out) {
    tag found, close;
    while (find_tag(text, end, &found)) {
        fwrite(text, 1, (size_t)(found.start - text), out);
        text = found.end;
        if (found.kind == '>') {
            const mfpg_embedded *file = mfpg_embedded_find(found.name);
            fwrite(file->bytes, 1, file->size, out);
        } else if (found.kind == '<') {
            const mfpg_embedded *file = mfpg_embedded_find(found.name);
            mfpg_status status = write_part(ctx, file->bytes, file->bytes + file->size, at, out);
            if (status != MFPG_OK) return status;
        } else if (found.kind == '#' || found.kind == '^') {
            if (!find_close(found.end, end, found.name, &close))
                return mfpg_fail(ctx, MFPG_ERR_DOMAIN, "template: section '%s' has no end", found.name);
            mfpg_status status = write_section(ctx, &found, &close, at, out);
            if (status != MFPG_OK) return status;
            text = close.end;
        } else {
            const json_t *value = look_up(at, found.name);
            if (!value || found.kind == '/')
                return mfpg_fail(ctx, MFPG_ERR_DOMAIN, "template: nothing is called '%s' there", found.name);
            write_value(value, out);
        }
    }
    fwrite(text, 1, (size_t)(end - text), out);
    return MFPG_OK;
}

mfpg_status mfpg_template_write(mfpg_context *ctx, const char *text, const json_t *values, FILE *out) {
    scope whole = {.value = values};
    return write_part(ctx, text, text + strlen(text), &whole, out);
}
