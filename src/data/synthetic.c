/* Synthetic data, which depend only on the key. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/streams.h"
#include "frame.h"

/* Rounds of the streams (SYNTHETIC, round, client). */
enum { ROUND_X, ROUND_Y, ROUND_WEIGHTS, ROUND_COMMON_X, ROUND_COMMON_Y };

static int name_text(const char *name, char **out) {
    *out = mfpg_text_copy(name, strlen(name));
    return *out != NULL;
}

/* ---- clinics: four clinics with different patients, and one law of risk for all of them ---- */

enum { AGE, SEX, BLOOD_PRESSURE, CHOLESTEROL, MAX_HEART_RATE, ST_DEPRESSION, FEATURES };

/* Bounds that are known before any patient is seen; unit is the rounding of the instrument. */
static const struct {
    const char *name;
    double low, high, unit;
} features[FEATURES] = {
    [AGE] = {"age", 20, 90, 1},
    [SEX] = {"sex", 0, 1, 1},
    [BLOOD_PRESSURE] = {"blood_pressure", 80, 210, 1},
    [CHOLESTEROL] = {"cholesterol", 100, 430, 1},
    [MAX_HEART_RATE] = {"max_heart_rate", 60, 210, 1},
    [ST_DEPRESSION] = {"st_depression", 0, 6, 0.1},
};

/* The patients of a clinic: share of men, age, and differences from the common means. */
static const struct {
    const char *name;
    ptrdiff_t rows;
    double men, age, age_spread, pressure, cholesterol, heart_rate, depression;
} clinics[] = {
    {"city", 400, 0.60, 54, 9, 0, 242, 0, 0.9},
    {"county", 180, 0.68, 49, 8, 4, 248, 2, 0.7},
    {"coast", 90, 0.85, 57, 9, 2, 225, -12, 1.2},
    {"valley", 40, 0.95, 61, 7, 6, 232, -16, 1.8},
};
enum { CLINICS = sizeof clinics / sizeof clinics[0] };

static ptrdiff_t total_rows(void) {
    ptrdiff_t rows = 0;
    for (int k = 0; k < CLINICS; k++) rows += clinics[k].rows;
    return rows;
}

/* Makes one patient of a clinic from normal draws z (FEATURES) and a uniform draw. */
static void draw_features(int k, const float *z, double uniform, float *x) {
    double v[FEATURES];
    v[AGE] = clinics[k].age + clinics[k].age_spread * (double)z[AGE];
    v[SEX] = uniform < clinics[k].men ? 1 : 0;
    v[BLOOD_PRESSURE] = 130 + clinics[k].pressure + 0.4 * (v[AGE] - 55) + 16 * (double)z[BLOOD_PRESSURE];
    v[CHOLESTEROL] = clinics[k].cholesterol + 45 * (double)z[CHOLESTEROL];
    v[MAX_HEART_RATE] = 150 + clinics[k].heart_rate - 0.8 * (v[AGE] - 55) + 19 * (double)z[MAX_HEART_RATE];
    v[ST_DEPRESSION] = clinics[k].depression + 1.1 * (double)z[ST_DEPRESSION];
    for (int j = 0; j < FEATURES; j++) {
        double rounded = features[j].unit * round(v[j] / features[j].unit);
        x[j] = (float)fmin(fmax(rounded, features[j].low), features[j].high);
    }
}

/* Returns the planted probability of disease. With it, about 85 % of labels can be predicted. */
static double risk(const float *x) {
    double score = -0.5 + 0.6 * ((double)x[AGE] - 55) / 9 + 1.8 * ((double)x[SEX] - 0.65) +
                   0.9 * ((double)x[BLOOD_PRESSURE] - 130) / 16 + 0.9 * ((double)x[CHOLESTEROL] - 240) / 45 -
                   1.6 * ((double)x[MAX_HEART_RATE] - 150) / 19 + 2.0 * ((double)x[ST_DEPRESSION] - 1);
    return 1 / (1 + exp(-score));
}

/* Makes `rows` patients from row first of the frame on; clinic -1: each from a clinic drawn in proportion to
 * its size. */
static void draw_patients(
    const mfpg_key *key, int clinic, ptrdiff_t first, ptrdiff_t rows, mfpg_frame *frame) {
    int common = clinic < 0;
    uint64_t client = common ? 0 : (uint64_t)clinic;
    mfpg_stream normal =
        mfpg_stream_open(key, MFPG_PURPOSE_SYNTHETIC, common ? ROUND_COMMON_X : ROUND_X, client);
    mfpg_stream uniform =
        mfpg_stream_open(key, MFPG_PURPOSE_SYNTHETIC, common ? ROUND_COMMON_Y : ROUND_Y, client);
    for (ptrdiff_t i = 0; i < rows; i++) {
        float z[FEATURES];
        double u[3];
        int k = common ? 0 : clinic;
        mfpg_stream_gaussian(&normal, (uint64_t)i, FEATURES, z);
        mfpg_stream_uniform(&uniform, 3 * (uint64_t)i, 3, u);
        for (double left = u[2] * (double)total_rows(); common && left >= (double)clinics[k].rows; k++)
            left -= (double)clinics[k].rows;
        float *x = frame->x + (first + i) * FEATURES;
        draw_features(k, z, u[0], x);
        frame->y[first + i] = u[1] < risk(x) ? 1.0f : 0.0f;
        frame->client[first + i] = common ? CLINICS : clinic;
        frame->test[first + i] = (unsigned char)common;
    }
}

static mfpg_status fill_clinics(
    mfpg_context *ctx, const mfpg_data_options *options, const mfpg_key *key, mfpg_frame *frame) {
    ptrdiff_t rows = total_rows() + options->common_test_rows, first = 0;
    mfpg_status status = mfpg_frame_allocate(ctx, frame, rows, FEATURES);
    if (status == MFPG_OK && options->scale == MFPG_SCALE_NONE)
        status = mfpg_frame_allocate_bounds(ctx, frame);
    if (status != MFPG_OK) return status;
    frame->client_names = mfpg_alloc(CLINICS, sizeof *frame->client_names);
    if (!frame->client_names) return mfpg_fail_memory(ctx);
    frame->named = CLINICS;
    for (int j = 0; j < FEATURES; j++) {
        if (!name_text(features[j].name, &frame->feature_names[j])) return mfpg_fail_memory(ctx);
        if (!frame->low) continue;
        frame->low[j] = features[j].low;
        frame->high[j] = features[j].high;
    }
    for (int k = 0; k < CLINICS; k++) {
        if (!name_text(clinics[k].name, &frame->client_names[k])) return mfpg_fail_memory(ctx);
        draw_patients(key, k, first, clinics[k].rows, frame);
        first += clinics[k].rows;
    }
    draw_patients(key, -1, first, options->common_test_rows, frame);
    frame->rows = rows;
    frame->clients = CLINICS;
    return MFPG_OK;
}

/* ---- standard normal features ---- */

typedef struct synthesis {
    const mfpg_data_options *options;
    const mfpg_key *key;
    mfpg_frame *frame;
    float *weights; /* w*, dimension */
} synthesis;

static double dot(const float *a, const float *b, ptrdiff_t n) {
    double sum = 0;
    for (ptrdiff_t i = 0; i < n; i++) sum += (double)a[i] * (double)b[i];
    return sum;
}

static void fill_labels(
    const synthesis *s, const mfpg_stream *stream, const float *x, ptrdiff_t rows, float *y) {
    ptrdiff_t d = s->frame->features;
    switch (s->options->synthetic) {
    case MFPG_SYNTHETIC_QUADRATIC: mfpg_stream_gaussian(stream, 0, rows, y); break;
    case MFPG_SYNTHETIC_LINEAR: /* noise of variance 0.25 */
        mfpg_stream_gaussian(stream, 0, rows, y);
        for (ptrdiff_t i = 0; i < rows; i++)
            y[i] = (float)(dot(x + i * d, s->weights, d) + 0.5 * (double)y[i]);
        break;
    case MFPG_SYNTHETIC_LOGISTIC:
        for (ptrdiff_t i = 0; i < rows; i++) y[i] = dot(x + i * d, s->weights, d) > 0 ? 1.0f : 0.0f;
        break;
    case MFPG_SYNTHETIC_COINS:
        for (ptrdiff_t i = 0; i < rows; i++) y[i] = (float)mfpg_stream_below(stream, (uint64_t)i, 2);
        break;
    case MFPG_SYNTHETIC_CLINICS: break;
    }
}

/* Makes one client or, after the last client, the common test set. */
static mfpg_status fill_client(mfpg_context *ctx, ptrdiff_t client, int worker, void *arg) {
    (void)ctx;
    (void)worker;
    const synthesis *s = arg;
    mfpg_frame *frame = s->frame;
    int common = client == frame->clients;
    ptrdiff_t first = client * s->options->rows;
    ptrdiff_t rows = common ? s->options->common_test_rows : s->options->rows;
    uint64_t number = common ? 0 : (uint64_t)client;
    mfpg_stream x_stream =
        mfpg_stream_open(s->key, MFPG_PURPOSE_SYNTHETIC, common ? ROUND_COMMON_X : ROUND_X, number);
    mfpg_stream y_stream =
        mfpg_stream_open(s->key, MFPG_PURPOSE_SYNTHETIC, common ? ROUND_COMMON_Y : ROUND_Y, number);
    float *x = frame->x + first * frame->features;
    for (ptrdiff_t i = 0; i < rows; i++) {
        mfpg_stream_gaussian(&x_stream, (uint64_t)i, frame->features, x + i * frame->features);
        frame->client[first + i] = (int32_t)client;
        frame->test[first + i] = (unsigned char)common;
    }
    fill_labels(s, &y_stream, x, rows, frame->y + first);
    return MFPG_OK;
}

mfpg_status mfpg_synthetic_fill(
    mfpg_context *ctx, const mfpg_data_options *options, const mfpg_key *key, mfpg_frame *frame) {
    if (options->synthetic == MFPG_SYNTHETIC_CLINICS) return fill_clinics(ctx, options, key, frame);
    synthesis s = {.options = options, .key = key, .frame = frame};
    ptrdiff_t rows = options->clients * options->rows + options->common_test_rows;
    mfpg_status status = mfpg_frame_allocate(ctx, frame, rows, options->dimension);
    s.weights = mfpg_alloc(options->dimension, sizeof *s.weights);
    if (status == MFPG_OK && !s.weights) status = mfpg_fail_memory(ctx);
    for (ptrdiff_t j = 0; j < frame->features && status == MFPG_OK; j++) {
        char name[24];
        snprintf(name, sizeof name, "x%td", j + 1);
        if (!name_text(name, &frame->feature_names[j])) status = mfpg_fail_memory(ctx);
    }
    if (status == MFPG_OK) {
        mfpg_stream stream = mfpg_stream_open(key, MFPG_PURPOSE_SYNTHETIC, ROUND_WEIGHTS, 0);
        mfpg_stream_gaussian(&stream, 0, options->dimension, s.weights);
        frame->rows = rows;
        frame->clients = options->clients;
        status = mfpg_frame_number_clients(ctx, frame);
    }
    if (status == MFPG_OK)
        status = mfpg_tasks_run(ctx, options->clients + (options->common_test_rows > 0), fill_client, &s);
    free(s.weights);
    return status;
}
