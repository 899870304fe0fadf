/* JSON objects as text, and JSON files of a run folder, which somebody may have changed. */
#ifndef MFPG_BASE_JSON_FILE_H
#define MFPG_BASE_JSON_FILE_H

#include <jansson.h>

#include "mfpg/context.h"

/* Reads the object in FOLDER/NAME, of at most that many bytes; free it with json_decref. MFPG_ERR_INPUT with
 * file and line for what is not JSON, not an object, or has a key twice. */
mfpg_status json_file_read(
    mfpg_context *ctx, const char *folder, const char *name, size_t largest, json_t **out);

/* Returns a number that the program wrote: "inf" is read as infinity. NAN for anything else. */
double json_file_number(const json_t *value);

/* Returns the value or, if building it has failed, releases it and returns NULL. */
json_t *mfpg_json_if_complete(json_t *value, int complete);

/* Returns the object as indented text (free it); MFPG_ERR_MEMORY also if it is NULL. */
mfpg_status mfpg_json_text(mfpg_context *ctx, const json_t *object, char **text);

#endif
