/* The pictures of a study of gradient inversion: in its report, and next to each other in one file. */
#include <math.h>
#include <sodium.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/file.h"
#include "base/fields.h"
#include "base/memory.h"
#include "federation/run_folder.h"
#include "inversion.h"
#include "mfpg/program.h"

static unsigned char grey(float value) {
    return (unsigned char)lrintf(255.0F * value);
}

static ptrdiff_t count_shown(const mfpg_inversion_summary *s) {
    return s->examples < MFPG_PICTURES_SHOWN ? s->examples : MFPG_PICTURES_SHOWN;
}

/* ---- one by one ---- */

static mfpg_status text_of(
    mfpg_context *ctx, const mfpg_inversion_summary *s, const float *picture, json_t **out) {
    unsigned char *pixel = mfpg_alloc(s->features, 1), *bytes = NULL;
    char *text = NULL;
    size_t size = 0;
    mfpg_status status = pixel ? MFPG_OK : mfpg_fail_memory(ctx);
    for (ptrdiff_t i = 0; i < s->features && status == MFPG_OK; i++) pixel[i] = grey(picture[i]);
    if (status == MFPG_OK) status = mfpg_png_grey(ctx, s->width, s->height, pixel, &bytes, &size);
    if (status == MFPG_OK) {
        size_t room = sodium_base64_ENCODED_LEN(size, sodium_base64_VARIANT_ORIGINAL);
        text = mfpg_alloc((ptrdiff_t)room, 1);
        *out = text ? json_string(sodium_bin2base64(text, room, bytes, size, sodium_base64_VARIANT_ORIGINAL))
                    : NULL;
        if (!*out) status = mfpg_fail_memory(ctx);
    }
    free(pixel);
    free(bytes);
    free(text);
    return status;
}

/* Lists the examples' pictures; the list is empty if there are none of that kind. */
static mfpg_status list_of(mfpg_context *ctx, const mfpg_inversion *inversion, mfpg_inversion_picture kind,
    int level, json_t **out) {
    const mfpg_inversion_summary s = mfpg_inversion_summarise(inversion);
    json_t *list = json_array();
    mfpg_status status = list ? MFPG_OK : mfpg_fail_memory(ctx);
    for (ptrdiff_t i = 0; i < count_shown(&s) && status == MFPG_OK; i++) {
        const float *picture = mfpg_inversion_picture_of(inversion, kind, level, i);
        json_t *text = NULL;
        if (!picture) break;
        status = text_of(ctx, &s, picture, &text);
        if (status == MFPG_OK && json_array_append_new(list, text) != 0) status = mfpg_fail_memory(ctx);
    }
    if (status == MFPG_OK)
        *out = list;
    else
        json_decref(list);
    return status;
}

static mfpg_status level_of(mfpg_context *ctx, const mfpg_inversion *inversion, int level, json_t *levels) {
    json_t *closed = NULL, *optimised = NULL;
    mfpg_status status = list_of(ctx, inversion, MFPG_PICTURE_CLOSED_FORM, level, &closed);
    if (status == MFPG_OK) status = list_of(ctx, inversion, MFPG_PICTURE_OPTIMISATION, level, &optimised);
    if (status == MFPG_OK) {
        json_t *object =
            json_pack("{s:o, s:O, s:O}", "mu", mfpg_json_number(mfpg_inversion_at(inversion, level).mu),
                "closed_form", closed, "optimisation", optimised);
        if (json_array_append_new(levels, object) != 0) status = mfpg_fail_memory(ctx);
    }
    json_decref(closed);
    json_decref(optimised);
    return status;
}

mfpg_status mfpg_inversion_pictures_json(mfpg_context *ctx, const mfpg_inversion *inversion, json_t **out) {
    const mfpg_inversion_summary s = mfpg_inversion_summarise(inversion);
    json_t *original = NULL, *mean = NULL, *levels = NULL;
    if (s.width == 0) {
        *out = json_null();
        return MFPG_OK;
    }
    mfpg_status status = list_of(ctx, inversion, MFPG_PICTURE_ORIGINAL, 0, &original);
    if (status == MFPG_OK)
        status = text_of(ctx, &s, mfpg_inversion_picture_of(inversion, MFPG_PICTURE_MEAN, 0, 0), &mean);
    if (status == MFPG_OK && !(levels = json_array())) status = mfpg_fail_memory(ctx);
    for (int l = 0; l < s.levels && status == MFPG_OK; l++) status = level_of(ctx, inversion, l, levels);
    if (status == MFPG_OK) {
        *out = json_pack("{s:I, s:I, s:s, s:O, s:O, s:O}", "width", (json_int_t)s.width, "height",
            (json_int_t)s.height, "encoding", "png", "original", original, "mean", mean, "levels", levels);
        if (!*out) status = mfpg_fail_memory(ctx);
    }
    json_decref(original);
    json_decref(mean);
    json_decref(levels);
    return status;
}

/* ---- in one file ---- */

/* Pixels are enlarged to be visible; white lines separate pictures. */
typedef struct sheet {
    ptrdiff_t scale, cell_width, cell_height, width, height;
    unsigned char *pixel;
} sheet;

static void draw(
    const sheet *to, const mfpg_inversion_summary *s, ptrdiff_t row, ptrdiff_t column, const float *picture) {
    unsigned char *corner = to->pixel + row * to->cell_height * to->width + column * to->cell_width;
    for (ptrdiff_t y = 0; y < s->height * to->scale; y++)
        for (ptrdiff_t x = 0; x < s->width * to->scale; x++)
            corner[y * to->width + x] = grey(picture[y / to->scale * s->width + x / to->scale]);
}

/* Draws the pictures of one example from left to right and returns their number; if `to` is NULL they are
 * only counted. */
static ptrdiff_t draw_row(const sheet *to, const mfpg_inversion *inversion, ptrdiff_t example) {
    const mfpg_inversion_summary s = mfpg_inversion_summarise(inversion);
    static const mfpg_inversion_picture kinds[] = {
        MFPG_PICTURE_ORIGINAL, MFPG_PICTURE_CLOSED_FORM, MFPG_PICTURE_OPTIMISATION, MFPG_PICTURE_MEAN};
    ptrdiff_t column = 0;
    for (size_t k = 0; k < sizeof kinds / sizeof kinds[0]; k++) {
        int by_level = kinds[k] == MFPG_PICTURE_CLOSED_FORM || kinds[k] == MFPG_PICTURE_OPTIMISATION;
        for (int l = 0; l < (by_level ? s.levels : 1); l++) {
            const float *picture = mfpg_inversion_picture_of(inversion, kinds[k], l, example);
            if (!picture) continue;
            if (to) draw(to, &s, example, column, picture);
            column++;
        }
    }
    return column;
}

mfpg_status mfpg_inversion_write_grid(
    mfpg_context *ctx, const mfpg_inversion *inversion, const char *folder, int *written) {
    enum { SMALLEST = 56 }; /* smallest width of a drawn picture in pixels */
    const mfpg_inversion_summary s = mfpg_inversion_summarise(inversion);
    unsigned char *bytes = NULL;
    size_t size = 0;
    *written = 0;
    if (s.width == 0) return MFPG_OK;
    sheet to = {.scale = s.width < SMALLEST ? SMALLEST / s.width : 1};
    to.cell_width = to.scale * (s.width + 1);
    to.cell_height = to.scale * (s.height + 1);
    to.width = draw_row(NULL, inversion, 0) * to.cell_width;
    to.height = count_shown(&s) * to.cell_height;
    to.pixel = mfpg_alloc(to.height, (size_t)to.width);
    if (!to.pixel) return mfpg_fail_memory(ctx);
    memset(to.pixel, 255, (size_t)(to.width * to.height));
    for (ptrdiff_t i = 0; i < count_shown(&s); i++) draw_row(&to, inversion, i);
    mfpg_status status = mfpg_png_grey(ctx, to.width, to.height, to.pixel, &bytes, &size);
    if (status == MFPG_OK) status = mfpg_file_write(ctx, folder, "inversion.png", bytes, size);
    *written = status == MFPG_OK;
    free(to.pixel);
    free(bytes);
    return status;
}
