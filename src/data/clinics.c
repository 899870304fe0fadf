/* The built-in example: four clinics that treat different people, and one law of risk for all of them. */
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "synthetic.h"

enum { AGE, SEX, BLOOD_PRESSURE, CHOLESTEROL, MAX_HEART_RATE, ST_DEPRESSION, FEATURES };

/* What everybody knows of such measurements before seeing a patient; rounding is that of the instruments. */
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

/* Who comes to a clinic: share of men, age, and differences from the common means. */
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

/* One patient of a clinic from normal draws z (FEATURES) and a uniform one. */
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

/* The planted law: the probability of disease. With it known, about 85 % of labels can be guessed. */
static double risk(const float *x) {
    double score = -0.5 + 0.6 * ((double)x[AGE] - 55) / 9 + 1.8 * ((double)x[SEX] - 0.65) +
                   0.9 * ((double)x[BLOOD_PRESSURE] - 130) / 16 + 0.9 * ((double)x[CHOLESTEROL] - 240) / 45 -
                   1.6 * ((double)x[MAX_HEART_RATE] - 150) / 19 + 2.0 * ((double)x[ST_DEPRESSION] - 1);
    return 1 / (1 + exp(-score));
}

/* rows patients from row first of the frame on; clinic -1: each from a clinic drawn in proportion to its size. */
static void draw_patients(
    const mfpg_key *key, int clinic, ptrdiff_t first, ptrdiff_t rows, mfpg_frame *frame) {
    int common = clinic < 0;
    uint64_t client = common ? 0 : (uint64_t)clinic;
    mfpg_stream normal = mfpg_stream_open(
        key, MFPG_PURPOSE_SYNTHETIC, common ? MFPG_SYNTHETIC_COMMON_X : MFPG_SYNTHETIC_X, client);
    mfpg_stream uniform = mfpg_stream_open(
        key, MFPG_PURPOSE_SYNTHETIC, common ? MFPG_SYNTHETIC_COMMON_Y : MFPG_SYNTHETIC_Y, client);
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

static mfpg_status add_names(mfpg_context *ctx, mfpg_frame *frame) {
    frame->client_names = mfpg_alloc(CLINICS, sizeof *frame->client_names);
    if (!frame->client_names) return mfpg_fail_memory(ctx);
    frame->named = CLINICS;
    for (int k = 0; k < CLINICS; k++)
        if (!(frame->client_names[k] = mfpg_text_copy(clinics[k].name, strlen(clinics[k].name))))
            return mfpg_fail_memory(ctx);
    for (int j = 0; j < FEATURES; j++)
        if (!(frame->feature_names[j] = mfpg_text_copy(features[j].name, strlen(features[j].name))))
            return mfpg_fail_memory(ctx);
    return MFPG_OK;
}

static mfpg_status add_bounds(mfpg_context *ctx, mfpg_frame *frame) {
    frame->low = mfpg_alloc(FEATURES, sizeof *frame->low);
    frame->high = mfpg_alloc(FEATURES, sizeof *frame->high);
    if (!frame->low || !frame->high) return mfpg_fail_memory(ctx);
    for (int j = 0; j < FEATURES; j++) {
        frame->low[j] = features[j].low;
        frame->high[j] = features[j].high;
    }
    return MFPG_OK;
}

mfpg_status mfpg_clinics_fill(
    mfpg_context *ctx, const mfpg_data_options *options, const mfpg_key *key, mfpg_frame *frame) {
    ptrdiff_t rows = total_rows() + options->common_test_rows, first = 0;
    mfpg_status status = mfpg_frame_allocate(ctx, frame, rows, FEATURES);
    if (status == MFPG_OK) status = add_names(ctx, frame);
    if (status == MFPG_OK && options->scale == MFPG_SCALE_NONE) status = add_bounds(ctx, frame);
    if (status != MFPG_OK) return status;
    for (int k = 0; k < CLINICS; k++) {
        draw_patients(key, k, first, clinics[k].rows, frame);
        first += clinics[k].rows;
    }
    draw_patients(key, -1, first, options->common_test_rows, frame);
    frame->rows = rows;
    frame->clients = CLINICS;
    return MFPG_OK;
}
