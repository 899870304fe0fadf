#include "inversion_record.h"

#include <math.h>
#include <sodium.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/json_file.h"

/* Who fails, and where. */
typedef struct checker {
    mfpg_context *ctx;
    const char *folder;
} checker;

static mfpg_status wrong(const checker *c, const char *where, const char *key, const char *want) {
    return mfpg_fail(c->ctx, MFPG_ERR_INPUT, "%s/audit.json: inversion%s.%s: missing, or not %s", c->folder,
        where, key, want);
}

static mfpg_status check_magnitude(
    const checker *c, const char *where, const json_t *object, const char *key) {
    return json_file_number(json_object_get(object, key)) >= 0.0
               ? MFPG_OK
               : wrong(c, where, key, "a number from 0, or \"inf\"");
}

static mfpg_status check_share(const checker *c, const char *where, const json_t *object, const char *key) {
    double share = json_file_number(json_object_get(object, key));
    return share >= 0.0 && share <= 1.0 ? MFPG_OK : wrong(c, where, key, "a number from 0 to 1");
}

/* ---- levels ---- */

static mfpg_status check_quality(const checker *c, const char *where, const json_t *attack) {
    static const char *const measures[] = {"psnr", "ssim", "pearson"}, *const of[] = {"median", "best"};
    for (size_t m = 0; m < 3; m++)
        for (size_t i = 0; i < 2; i++) {
            const json_t *value = json_object_get(json_object_get(attack, measures[m]), of[i]);
            if (json_is_null(value) || !isnan(json_file_number(value))) continue;
            return wrong(c, where, measures[m], "an object with median and best, numbers or null");
        }
    return MFPG_OK;
}

static mfpg_status check_identification(const checker *c, const char *where, const json_t *found) {
    const json_t *correct = json_object_get(found, "correct"), *trials = json_object_get(found, "trials");
    if (!json_is_integer(trials) || json_integer_value(trials) < 1)
        return wrong(c, where, "identification.trials", "a whole number from 1");
    if (!json_is_integer(correct) || json_integer_value(correct) < 0 ||
        json_integer_value(correct) > json_integer_value(trials))
        return wrong(c, where, "identification.correct", "a whole number from 0 to trials");
    mfpg_status status = check_share(c, where, found, "rate");
    if (status == MFPG_OK) status = check_share(c, where, found, "lower");
    if (status == MFPG_OK) status = check_share(c, where, found, "cap");
    if (status == MFPG_OK) status = check_magnitude(c, where, found, "median_rank");
    if (status != MFPG_OK) return status;
    if (!json_is_boolean(json_object_get(found, "stands")))
        return wrong(c, where, "identification.stands", "true or false");
    int broken =
        json_file_number(json_object_get(found, "lower")) > json_file_number(json_object_get(found, "cap"));
    if (!broken || json_is_false(json_object_get(found, "stands"))) return MFPG_OK;
    return mfpg_fail(c->ctx, MFPG_ERR_INPUT,
        "%s/audit.json: inversion%s.identification: said to stand, but lower exceeds cap; no audit says so",
        c->folder, where);
}

static mfpg_status check_levels(const checker *c, const json_t *levels, int *stands) {
    if (json_array_size(levels) < 1 || json_array_size(levels) > INVERSION_LEVELS)
        return wrong(c, "", "levels", "a list of 1 to 16 levels");
    mfpg_status status = MFPG_OK;
    for (size_t i = 0; i < json_array_size(levels) && status == MFPG_OK; i++) {
        const json_t *level = json_array_get(levels, i), *found = json_object_get(level, "identification");
        char where[32];
        snprintf(where, sizeof where, ".levels[%zu]", i);
        status = check_magnitude(c, where, level, "mu");
        if (status == MFPG_OK) status = check_magnitude(c, where, level, "mu_replace");
        if (status == MFPG_OK) status = check_magnitude(c, where, level, "noise_sd");
        if (status == MFPG_OK) status = check_quality(c, where, json_object_get(level, "closed_form"));
        if (status == MFPG_OK) status = check_quality(c, where, json_object_get(level, "optimisation"));
        if (status == MFPG_OK) status = check_identification(c, where, found);
        *stands = *stands && json_is_true(json_object_get(found, "stands"));
    }
    return status;
}

/* What the attack is to be compared with. */
static mfpg_status check_chance(const checker *c, const json_t *chance) {
    mfpg_status status = check_quality(c, ".chance.mean", json_object_get(chance, "mean"));
    return status == MFPG_OK ? check_quality(c, ".chance.other", json_object_get(chance, "other")) : status;
}

/* ---- pictures ---- */

static unsigned number_at(const unsigned char *bytes) {
    return (unsigned)bytes[0] << 24 | (unsigned)bytes[1] << 16 | (unsigned)bytes[2] << 8 | bytes[3];
}

/* The head of a PNG file: its signature, and IHDR with that size, 8 bits, grey, not interlaced. */
static int is_png(const unsigned char *bytes, size_t size, unsigned width, unsigned height) {
    static const unsigned char start[] = {0x89, 'P', 'N', 'G', '\r', '\n', 0x1a, '\n', 0, 0, 0, 13, 'I', 'H',
        'D', 'R'},
                               kind[] = {8, 0, 0, 0, 0};
    return size > 33 && memcmp(bytes, start, sizeof start) == 0 && number_at(bytes + 16) == width &&
           number_at(bytes + 20) == height && memcmp(bytes + 24, kind, sizeof kind) == 0;
}

typedef struct frame {
    unsigned width, height;
} frame;

/* Twice the pixels and a kilobyte hold any grey PNG file without further chunks. */
static mfpg_status check_picture(const checker *c, const char *key, const json_t *picture, frame size) {
    size_t room = 2 * (size_t)size.width * size.height + 1024, length = 0, text = json_string_length(picture);
    const char *base64 = json_string_value(picture);
    if (!base64 || text > room / 3 * 4) return wrong(c, ".pictures", key, "a picture of the stated size");
    unsigned char *bytes = mfpg_alloc((ptrdiff_t)room, 1);
    if (!bytes) return mfpg_fail_memory(c->ctx);
    int png = sodium_base642bin(
                  bytes, room, base64, text, NULL, &length, NULL, sodium_base64_VARIANT_ORIGINAL) == 0 &&
              is_png(bytes, length, size.width, size.height);
    free(bytes);
    return png ? MFPG_OK : wrong(c, ".pictures", key, "a grey PNG file of the stated size in base64");
}

/* count: that many, or 0 where some are allowed. */
static mfpg_status check_row(
    const checker *c, const char *key, const json_t *pictures, size_t count, frame size) {
    size_t there = json_array_size(pictures);
    if (there != 0 && there != count) return wrong(c, ".pictures", key, "as many pictures as original has");
    mfpg_status status = MFPG_OK;
    for (size_t i = 0; i < there && status == MFPG_OK; i++)
        status = check_picture(c, key, json_array_get(pictures, i), size);
    return status;
}

static mfpg_status check_side(const checker *c, const json_t *pictures, const char *key, unsigned *side) {
    json_int_t value = json_integer_value(json_object_get(pictures, key));
    if (value < 1 || value > INVERSION_SIDE)
        return wrong(c, ".pictures", key, "a whole number from 1 to 256");
    *side = (unsigned)value;
    return MFPG_OK;
}

static mfpg_status check_pictures(const checker *c, const json_t *pictures, size_t levels) {
    frame size = {0};
    const json_t *original = json_object_get(pictures, "original"),
                 *rows = json_object_get(pictures, "levels");
    size_t count = json_array_size(original);
    mfpg_status status = check_side(c, pictures, "width", &size.width);
    if (status == MFPG_OK) status = check_side(c, pictures, "height", &size.height);
    if (status != MFPG_OK) return status;
    if (count < 1 || count > INVERSION_EXAMPLES)
        return wrong(c, ".pictures", "original", "a list of 1 to 16 pictures");
    if (json_array_size(rows) != levels)
        return wrong(c, ".pictures", "levels", "as many levels as there are in levels");
    status = check_row(c, "original", original, count, size);
    if (status == MFPG_OK) status = check_picture(c, "mean", json_object_get(pictures, "mean"), size);
    for (size_t i = 0; i < levels && status == MFPG_OK; i++) {
        const json_t *row = json_array_get(rows, i);
        status = check_row(c, "levels.closed_form", json_object_get(row, "closed_form"), count, size);
        if (status == MFPG_OK)
            status = check_row(c, "levels.optimisation", json_object_get(row, "optimisation"), count, size);
    }
    return status;
}

/* ---- whose ---- */

static mfpg_status check_client(const checker *c, const run_record *run, const json_t *inversion) {
    const char *client = json_string_value(json_object_get(inversion, "client"));
    char number[32];
    for (ptrdiff_t k = 0; client && k < run->clients.rows; k++)
        if (strcmp(client, run_client_name(run, k, number)) == 0) return MFPG_OK;
    return wrong(c, "", "client", "a client of this run");
}

static mfpg_status check_promise(const checker *c, const run_record *run, const json_t *inversion) {
    static const char *const words[] = {"unit", "adjacency"};
    for (size_t i = 0; i < 2; i++) {
        const json_t *is = json_object_get(inversion, words[i]);
        if (json_is_string(is) && json_equal(is, json_object_get(run_value(run, "promise"), words[i])))
            continue;
        return wrong(c, "", words[i], "that of the run's promise: the audit is not one of this run");
    }
    return MFPG_OK;
}

mfpg_status inversion_record_check(
    mfpg_context *ctx, const char *folder, const run_record *run, const json_t *inversion) {
    const checker c = {ctx, folder};
    const json_t *levels = json_object_get(inversion, "levels"),
                 *stated = json_object_get(inversion, "stands"),
                 *pictures = json_object_get(inversion, "pictures");
    int stands = 1;
    mfpg_status status = check_client(&c, run, inversion);
    if (status == MFPG_OK) status = check_promise(&c, run, inversion);
    if (status == MFPG_OK) status = check_chance(&c, json_object_get(inversion, "chance"));
    if (status == MFPG_OK) status = check_levels(&c, levels, &stands);
    if (status == MFPG_OK && (!json_is_boolean(stated) || json_is_true(stated) != stands))
        status = wrong(&c, "", "stands", "what its levels say");
    if (status == MFPG_OK && pictures && !json_is_null(pictures))
        status = check_pictures(&c, pictures, json_array_size(levels));
    return status;
}
