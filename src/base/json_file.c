#include "json_file.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "error.h"
#include "file.h"

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
        object ? "not a JSON object" : error.text);
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

/* Jansson continues after a key that could not be written; the stream remembers the error. */
mfpg_status mfpg_json_text(mfpg_context *ctx, const json_t *object, char **text) {
    char *out = NULL;
    size_t size = 0;
    FILE *stream = object ? open_memstream(&out, &size) : NULL;
    int failed = !stream || json_dumpf(object, stream, JSON_INDENT(2)) != 0 || ferror(stream);
    if (stream && fclose(stream) != 0) failed = 1;
    if (failed) {
        free(out);
        return mfpg_fail_memory(ctx);
    }
    *text = out;
    return MFPG_OK;
}
