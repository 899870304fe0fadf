/* Reads audit.json back and checks it: what an attack on a run proved. */
#include <math.h>
#include <sodium.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/fields.h"
#include "base/file.h"
#include "base/json_file.h"
#include "base/memory.h"
#include "mfpg/audit.h"
#include "mfpg/run_fields.h"
#include "run_group.h"

static const size_t LARGEST_AUDIT = (size_t)1 << 28;

/* What is checked, and of which run. */
typedef struct checker {
    mfpg_context *ctx;
    const char *folder;
    const run_record *run;
} checker;

static mfpg_status wrong(const checker *c, const char *where, const char *key, const char *want) {
    return mfpg_fail(
        c->ctx, MFPG_ERR_INPUT, "%s/audit.json: %s%s: missing, or not %s", c->folder, where, key, want);
}

/* ---- values ---- */

/* The last two may be missing. */
typedef enum wanted {
    MAGNITUDE,
    SHARE,
    CONFIDENCE,
    QUALITY,
    COUNT,
    WHOLE,
    TRUTH,
    MAYBE_COUNT,
    MAYBE_TEXT
} wanted;

/* A path, and what its value must be. */
typedef struct rule {
    const char *path;
    wanted kind;
} rule;

static int is_number_or_null(const json_t *value) {
    return json_is_null(value) || !isnan(json_file_number(value));
}

static int fits(wanted kind, const json_t *value) {
    double number = json_file_number(value);
    switch (kind) {
    case MAGNITUDE: return number >= 0.0;
    case SHARE: return number >= 0.0 && number <= 1.0;
    case CONFIDENCE: return number > 0.0 && number < 1.0;
    case COUNT: return json_integer_value(value) >= 1;
    case WHOLE: return json_is_integer(value);
    case TRUTH: return json_is_boolean(value);
    case MAYBE_COUNT: return !value || json_integer_value(value) >= 1;
    case MAYBE_TEXT: return !value || json_is_string(value);
    default:
        return is_number_or_null(json_object_get(value, "median")) &&
               is_number_or_null(json_object_get(value, "best"));
    }
}

/* where: the prefix for paths in messages; rules: ended by one without a path */
static mfpg_status check_values(
    const checker *c, const char *where, const json_t *object, const rule *rules) {
    static const char *const wants[] = {"a number from 0, or \"inf\"", "a number from 0 to 1",
        "a number between 0 and 1", "an object with median and best, numbers or null",
        "a whole number from 1", "a whole number", "true or false", "a whole number from 1", "a text"};
    for (; rules->path; rules++)
        if (!fits(rules->kind, run_value(object, rules->path)))
            return wrong(c, where, rules->path, wants[rules->kind]);
    return MFPG_OK;
}

/* ---- canaries ---- */

/* A promise, and a proved bound that must not exceed it. */
static const struct {
    const char *promised, *proved;
} pairs[] = {{"mu", "mu_lower"}, {"epsilon", "epsilon_lower_direct"}, {"distance", "tv_lower"},
    {"auc_cap", "auc_lower"}, {"round_mu", "round_mu_lower"}, {"mu", "input_mu_lower"}};
enum { PAIRS = sizeof pairs / sizeof pairs[0] };

double audit_margin(const json_t *client) {
    double least = json_is_true(json_object_get(client, "stands")) ? 1.0 : -1.0;
    for (int i = 0; i < PAIRS; i++) {
        double promised = run_number(client, pairs[i].promised), proved = run_number(client, pairs[i].proved);
        if (isfinite(promised) && promised > 0.0) least = fmin(least, 1.0 - proved / promised);
    }
    return least;
}

/* Of a client, or of all of them together: every field is what it must be, and nothing proved exceeds a
 * promise that is said to hold. NAN compares as false: what is not promised, or was not attacked, breaks
 * nothing. */
static mfpg_status check_entry(const checker *c, const json_t *client, size_t index) {
    char where[MFPG_MESSAGE_SIZE];
    snprintf(where, sizeof where, "%s/audit.json: clients: entry %zu: ", c->folder, index);
    mfpg_status status = mfpg_fields_check(c->ctx, &mfpg_audit_fields, MFPG_FIELD_JSON, client, where);
    for (int i = 0; i < PAIRS && status == MFPG_OK; i++) {
        double promised = run_number(client, pairs[i].promised), proved = run_number(client, pairs[i].proved);
        if (json_is_true(json_object_get(client, "stands")) && proved > promised)
            status = mfpg_fail(c->ctx, MFPG_ERR_INPUT,
                "%ssaid to stand, but %s %g exceeds %s %g; no audit says so", where, pairs[i].proved, proved,
                pairs[i].promised, promised);
    }
    return status;
}

static mfpg_status check_name(const checker *c, const json_t *client, size_t index) {
    char number[32];
    const char *name = run_text(client, "client"),
               *expected = run_client_name(c->run, (ptrdiff_t)index, number);
    if (strcmp(name, expected) == 0) return MFPG_OK;
    return mfpg_fail(c->ctx, MFPG_ERR_INPUT,
        "%s/audit.json: client %zu is '%.60s', of the run '%.60s': the audit is not one of this run",
        c->folder, index, name, expected);
}

static mfpg_status check_promise(const checker *c, const json_t *audit) {
    const json_t *attacked = json_object_get(audit, "promise"), *made = run_value(c->run->summary, "promise");
    const mfpg_record_field *end = mfpg_promise_fields.field + mfpg_promise_fields.count;
    char where[MFPG_MESSAGE_SIZE];
    snprintf(where, sizeof where, "%s/audit.json: promise.", c->folder);
    mfpg_status status = mfpg_fields_check(c->ctx, &mfpg_promise_fields, MFPG_FIELD_JSON, attacked, where);
    if (status != MFPG_OK) return status;
    for (const mfpg_record_field *f = mfpg_promise_fields.field; f < end; f++) {
        if (!(f->places & MFPG_FIELD_JSON) || f->kind != MFPG_FIELD_TEXT) continue;
        const json_t *is = json_object_get(attacked, f->name);
        if (json_equal(is, json_object_get(made, f->name))) continue;
        return mfpg_fail(c->ctx, MFPG_ERR_INPUT,
            "%s/audit.json attacks a promise of %s %.40s, the run made one of %s %.40s: the audit is not one "
            "of this run; mfpg audit %s makes one",
            c->folder, f->name, json_string_value(is), f->name, made ? run_text(made, f->name) : "none",
            c->folder);
    }
    if (run_number(attacked, "delta") == run_number(made, "delta")) return MFPG_OK;
    return mfpg_fail(c->ctx, MFPG_ERR_INPUT,
        "%s/audit.json: promise.delta %g: missing, or not the run's: the audit is not one of this run",
        c->folder, run_number(attacked, "delta"));
}

static mfpg_status check_clients(const checker *c, const json_t *audit) {
    const json_t *clients = json_object_get(audit, "clients"), *client,
                 *together = json_object_get(audit, "together"), *all = json_object_get(audit, "stands");
    size_t k;
    int stands = 1;
    if (!json_is_array(clients) || (ptrdiff_t)json_array_size(clients) != c->run->clients.rows)
        return mfpg_fail(c->ctx, MFPG_ERR_INPUT,
            "%s/audit.json: clients: missing, or not a list of the run's %td clients", c->folder,
            c->run->clients.rows);
    json_array_foreach(clients, k, client) {
        mfpg_status status = check_entry(c, client, k);
        if (status == MFPG_OK) status = check_name(c, client, k);
        if (status != MFPG_OK) return status;
        stands = stands && json_is_true(json_object_get(client, "stands"));
    }
    if (together) { /* the clients' canaries as one sample: few runs or one run */
        mfpg_status status = check_entry(c, together, json_array_size(clients));
        if (status != MFPG_OK) return status;
        stands = stands && json_is_true(json_object_get(together, "stands"));
    }
    if (json_is_boolean(all) && json_is_true(all) == stands) return MFPG_OK;
    return mfpg_fail(c->ctx, MFPG_ERR_INPUT,
        "%s/audit.json: stands: missing, or different from what its clients imply: %s", c->folder,
        stands ? "true" : "false");
}

/* ---- gradient inversion ---- */

enum { MOST_LEVELS = 16, MOST_EXAMPLES = 16, LARGEST_SIDE = 256 };

static mfpg_status check_levels(const checker *c, const json_t *levels, int *stands) {
    static const rule rules[] = {{"mu", MAGNITUDE}, {"mu_replace", MAGNITUDE}, {"noise_sd", MAGNITUDE},
        {"closed_form.psnr", QUALITY}, {"closed_form.ssim", QUALITY}, {"closed_form.pearson", QUALITY},
        {"optimisation.psnr", QUALITY}, {"optimisation.ssim", QUALITY}, {"optimisation.pearson", QUALITY},
        {"identification.trials", COUNT}, {"identification.correct", WHOLE}, {"identification.rate", SHARE},
        {"identification.lower", SHARE}, {"identification.cap", SHARE},
        {"identification.median_rank", MAGNITUDE}, {"identification.stands", TRUTH}, {0}};
    const json_t *level;
    size_t i;
    if (json_array_size(levels) < 1 || json_array_size(levels) > MOST_LEVELS)
        return wrong(c, "inversion.", "levels", "a list of 1 to 16 levels");
    json_array_foreach(levels, i, level) {
        const json_t *found = json_object_get(level, "identification");
        int holds = json_is_true(json_object_get(found, "stands"));
        double correct = run_number(found, "correct");
        char where[48];
        snprintf(where, sizeof where, "inversion.levels[%zu].", i);
        mfpg_status status = check_values(c, where, level, rules);
        if (status != MFPG_OK) return status;
        if (correct < 0.0 || correct > run_number(found, "trials"))
            return wrong(c, where, "identification.correct", "a whole number from 0 to trials");
        if (holds && run_number(found, "lower") > run_number(found, "cap"))
            return mfpg_fail(c->ctx, MFPG_ERR_INPUT,
                "%s/audit.json: %sidentification: said to stand, but lower exceeds cap; no audit says so",
                c->folder, where);
        *stands = *stands && holds;
    }
    return MFPG_OK;
}

/* ---- pictures ---- */

typedef struct frame {
    unsigned side[2]; /* width, height */
} frame;

static unsigned number_at(const unsigned char *bytes) {
    return (unsigned)bytes[0] << 24 | (unsigned)bytes[1] << 16 | (unsigned)bytes[2] << 8 | bytes[3];
}

/* The head of a PNG file: its signature, and IHDR with that size, 8 bits, grey, not interlaced. */
static int is_png(const unsigned char *bytes, size_t size, frame of) {
    static const unsigned char start[] = {
        0x89, 'P', 'N', 'G', '\r', '\n', 0x1a, '\n', 0, 0, 0, 13, 'I', 'H', 'D', 'R'};
    static const unsigned char kind[] = {8, 0, 0, 0, 0};
    return size > 33 && memcmp(bytes, start, sizeof start) == 0 && number_at(bytes + 16) == of.side[0] &&
           number_at(bytes + 20) == of.side[1] && memcmp(bytes + 24, kind, sizeof kind) == 0;
}

/* Twice the pixels and a kilobyte hold any grey PNG file without further chunks. */
static mfpg_status check_picture(const checker *c, const char *key, const json_t *picture, frame of) {
    size_t room = 2 * (size_t)of.side[0] * of.side[1] + 1024, length = 0, text = json_string_length(picture);
    const char *base64 = json_string_value(picture);
    if (!base64 || text > room / 3 * 4)
        return wrong(c, "inversion.pictures.", key, "a picture of the stated size");
    unsigned char *bytes = mfpg_alloc((ptrdiff_t)room, 1);
    if (!bytes) return mfpg_fail_memory(c->ctx);
    int png = sodium_base642bin(
                  bytes, room, base64, text, NULL, &length, NULL, sodium_base64_VARIANT_ORIGINAL) == 0 &&
              is_png(bytes, length, of);
    free(bytes);
    return png ? MFPG_OK
               : wrong(c, "inversion.pictures.", key, "a grey PNG file of the stated size in base64");
}

static mfpg_status check_row(
    const checker *c, const char *key, const json_t *pictures, size_t count, frame of) {
    const json_t *picture;
    size_t i, there = json_array_size(pictures);
    if (there != 0 && there != count)
        return wrong(c, "inversion.pictures.", key, "as many pictures as original has");
    json_array_foreach(pictures, i, picture) {
        mfpg_status status = check_picture(c, key, picture, of);
        if (status != MFPG_OK) return status;
    }
    return MFPG_OK;
}

static mfpg_status check_pictures(const checker *c, const json_t *pictures, size_t levels) {
    static const char *const sides[] = {"width", "height"};
    const json_t *original = json_object_get(pictures, "original"),
                 *rows = json_object_get(pictures, "levels"), *row;
    size_t count = json_array_size(original), i;
    frame of;
    for (i = 0; i < 2; i++) {
        json_int_t side = json_integer_value(json_object_get(pictures, sides[i]));
        if (side < 1 || side > LARGEST_SIDE)
            return wrong(c, "inversion.pictures.", sides[i], "a whole number from 1 to 256");
        of.side[i] = (unsigned)side;
    }
    if (count < 1 || count > MOST_EXAMPLES)
        return wrong(c, "inversion.pictures.", "original", "a list of 1 to 16 pictures");
    if (json_array_size(rows) != levels)
        return wrong(c, "inversion.pictures.", "levels", "as many levels as there are in levels");
    mfpg_status status = check_row(c, "original", original, count, of);
    if (status == MFPG_OK) status = check_picture(c, "mean", json_object_get(pictures, "mean"), of);
    json_array_foreach(rows, i, row) {
        if (status == MFPG_OK)
            status = check_row(c, "levels.closed_form", json_object_get(row, "closed_form"), count, of);
        if (status == MFPG_OK)
            status = check_row(c, "levels.optimisation", json_object_get(row, "optimisation"), count, of);
    }
    return status;
}

/* ---- the whole ---- */

/* Checks whether an inversion belongs to a client of the run and to its promise. */
static mfpg_status check_of_run(const checker *c, const json_t *inversion) {
    static const char *const words[] = {"unit", "adjacency"};
    const char *client = run_text(inversion, "client");
    const json_t *made = run_value(c->run->summary, "promise");
    char number[32];
    ptrdiff_t k = 0;
    while (k < c->run->clients.rows && client && strcmp(client, run_client_name(c->run, k, number)) != 0) k++;
    if (!client || k == c->run->clients.rows) return wrong(c, "inversion.", "client", "a client of this run");
    for (size_t i = 0; i < 2; i++) {
        const json_t *is = json_object_get(inversion, words[i]);
        if (!json_is_string(is) || !json_equal(is, json_object_get(made, words[i])))
            return wrong(
                c, "inversion.", words[i], "that of the run's promise: the audit is not one of this run");
    }
    return MFPG_OK;
}

static mfpg_status check_inversion(const checker *c, const json_t *inversion) {
    static const rule chance[] = {{"chance.mean.psnr", QUALITY}, {"chance.mean.ssim", QUALITY},
        {"chance.mean.pearson", QUALITY}, {"chance.other.psnr", QUALITY}, {"chance.other.ssim", QUALITY},
        {"chance.other.pearson", QUALITY}, {0}};
    const json_t *levels = json_object_get(inversion, "levels"),
                 *stated = json_object_get(inversion, "stands"), *pictures = run_value(inversion, "pictures");
    int stands = 1;
    mfpg_status status = check_of_run(c, inversion);
    if (status == MFPG_OK) status = check_values(c, "inversion.", inversion, chance);
    if (status == MFPG_OK) status = check_levels(c, levels, &stands);
    if (status == MFPG_OK && (!json_is_boolean(stated) || json_is_true(stated) != stands))
        status = wrong(c, "inversion.", "stands", "what its levels say");
    if (status == MFPG_OK && pictures) status = check_pictures(c, pictures, json_array_size(levels));
    return status;
}

static mfpg_status check_audit(const checker *c, const json_t *audit) {
    static const rule whole[] = {{"runs", COUNT}, {"patterns", MAYBE_COUNT}, {"method", MAYBE_TEXT},
        {"seed", WHOLE}, {"confidence", CONFIDENCE}, {"client_confidence", CONFIDENCE}, {0}};
    const json_t *inversion = json_object_get(audit, "inversion");
    mfpg_status status = MFPG_OK;
    if (!inversion || json_object_get(audit, "clients")) {
        status = check_promise(c, audit);
        if (status == MFPG_OK) status = check_values(c, "", audit, whole);
        if (status == MFPG_OK) status = check_clients(c, audit);
    }
    return status == MFPG_OK && inversion ? check_inversion(c, inversion) : status;
}

int audit_stands(const json_t *audit) {
    return !json_is_false(json_object_get(audit, "stands")) &&
           !json_is_false(json_object_get(json_object_get(audit, "inversion"), "stands"));
}

mfpg_status audit_read(mfpg_context *ctx, const char *folder, const run_record *run, json_t **out) {
    char *path = mfpg_path_join(folder, "audit.json");
    json_t *audit = NULL;
    *out = NULL;
    if (!path) return mfpg_fail_memory(ctx);
    int absent = access(path, F_OK) != 0;
    free(path);
    if (absent) return MFPG_OK;
    mfpg_status status = json_file_read(ctx, folder, "audit.json", LARGEST_AUDIT, &audit);
    if (status == MFPG_OK) status = check_audit(&(const checker){ctx, folder, run}, audit);
    if (status == MFPG_OK)
        *out = audit;
    else
        json_decref(audit);
    return status;
}
