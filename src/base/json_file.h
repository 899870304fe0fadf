/* JSON objects as text, and JSON files of a run folder, which may have been changed. */
#ifndef MFPG_BASE_JSON_FILE_H
#define MFPG_BASE_JSON_FILE_H

#include <jansson.h>

#include "mfpg/context.h"

/* The object in FOLDER/NAME, of at most that many bytes; free it with json_decref. MFPG_ERR_INPUT with file and line for what is
 * not JSON, not an object, or has a key twice. */
mfpg_status json_file_read(
    mfpg_context *ctx, const char *folder, const char *name, size_t largest, json_t **out);

/* A number as the program writes it: "inf" is infinity. NAN for anything else. */
double json_file_number(const json_t *value);

/* Returns the value; or, if it is not complete, releases it and returns NULL. */
json_t *mfpg_json_if_complete(json_t *value, int complete);

/* The object, indented, as text (free it); MFPG_ERR_MEMORY for NULL too. */
mfpg_status mfpg_json_text(mfpg_context *ctx, const json_t *object, char **text);

#endif
