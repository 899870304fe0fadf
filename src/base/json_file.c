#include "json_file.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/file.h"
#include "base/memory.h"

static mfpg_status parse(mfpg_context *ctx, const char *path, const char *text, size_t length, json_t **out) {
    json_error_t error = {.line = 0};
    json_t *object = json_loadb(text, length, JSON_REJECT_DUPLICATES, &error);
    if (!object && (json_error_code(&error) == json_error_out_of_memory || !error.text[0]))
        return mfpg_fail_memory(ctx);
    if (json_is_object(object)) {
        *out = object;
        return MFPG_OK;
    }
    mfpg_status status = mfpg_fail(ctx, MFPG_ERR_INPUT, "%s:%d: %s", path, error.line > 0 ? error.line : 1,
        object ? "no JSON object" : error.text);
    json_decref(object);
    return status;
}

mfpg_status json_file_read(
    mfpg_context *ctx, const char *folder, const char *name, size_t largest, json_t **out) {
    char *path = mfpg_path_join(folder, name), *text = NULL;
    size_t length = 0;
    mfpg_status status = path ? mfpg_file_read(ctx, path, largest, &text, &length) : mfpg_fail_memory(ctx);
    if (status == MFPG_OK) status = parse(ctx, path, text, length, out);
    free(text);
    free(path);
    return status;
}

double json_file_number(const json_t *value) {
    if (json_is_string(value) && strcmp(json_string_value(value), "inf") == 0) return INFINITY;
    return json_is_number(value) ? json_number_value(value) : (double)NAN;
}

json_t *mfpg_json_if_complete(json_t *value, int complete) {
    if (complete) return value;
    json_decref(value);
    return NULL;
}

/* A text in memory that remembers whether a part of it is missing: Jansson writes on after a key that could not be
 * written, and json_dumps then returns an object without it. */
typedef struct growing_text {
    char *text;
    size_t used, room;
    int failed;
} growing_text;

static int append_text(const char *bytes, size_t length, void *user) {
    growing_text *out = user;
    if (out->failed) return -1;
    if (out->room - out->used < length) {
        size_t room = 2 * (out->room + length) + 1024;
        char *larger = mfpg_resize(out->text, (ptrdiff_t)room, 1);
        if (!larger) {
            out->failed = 1;
            return -1;
        }
        out->text = larger;
        out->room = room;
    }
    memcpy(out->text + out->used, bytes, length);
    out->used += length;
    return 0;
}

mfpg_status mfpg_json_text(mfpg_context *ctx, const json_t *object, char **text) {
    growing_text out = {.failed = !object};
    if (object && json_dump_callback(object, append_text, &out, JSON_INDENT(2)) != 0) out.failed = 1;
    if (!out.failed) out.failed = append_text("", 1, &out) != 0; /* the closing 0 */
    if (out.failed) {
        free(out.text);
        return mfpg_fail_memory(ctx);
    }
    *text = out.text;
    return MFPG_OK;
}
