/* What a study of gradient inversion is told as: parts that its file and its pictures share. */
#ifndef MFPG_EXPERIMENT_INVERSION_JSON_H
#define MFPG_EXPERIMENT_INVERSION_JSON_H

#include <jansson.h>

#include "mfpg/inversion.h"

/* inversion_pictures.c: the pictures of at most MFPG_PICTURES_TOLD examples in base64, null where the rows are none. MFPG_ERR_MEMORY. */
enum { MFPG_PICTURES_TOLD = 8 };
mfpg_status mfpg_inversion_pictures_json(mfpg_context *ctx, const mfpg_inversion *inversion, json_t **out);

/* FOLDER/inversion.png: a row an example: original, closed form by level, optimisation by level, mean. Nothing where the rows
 * are no pictures; *written tells. */
mfpg_status mfpg_inversion_write_grid(
    mfpg_context *ctx, const mfpg_inversion *inversion, const char *folder, int *written);

/* inversion.c: what stands under "inversion" in FOLDER/audit.json, a new reference, or NULL; MFPG_ERR_INPUT where the file is no JSON. */
mfpg_status mfpg_inversion_told(mfpg_context *ctx, const char *folder, json_t **out);

#endif
