#include "synthetic.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/tasks.h"

typedef struct synthesis {
    const mfpg_data_options *options;
    const mfpg_key *key;
    mfpg_frame *frame;
    float *weights;                     /* w*, dimension */
    mfpg_stream features[2], labels[2]; /* of clients and of the common test set, the client's number apart */
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
    case MFPG_SYNTHETIC_CLINICS: break; /* clinics.c */
    }
}

/* One client, or behind the last the common test set. */
static mfpg_status fill_client(mfpg_context *ctx, ptrdiff_t client, int worker, void *arg) {
    (void)ctx;
    (void)worker;
    const synthesis *s = arg;
    mfpg_frame *frame = s->frame;
    int common = client == frame->clients;
    ptrdiff_t first = client * s->options->rows;
    ptrdiff_t rows = common ? s->options->common_test_rows : s->options->rows;
    uint64_t number = common ? 0 : (uint64_t)client;
    mfpg_stream features = s->features[common], labels = s->labels[common];
    features.client = labels.client = number;
    float *x = frame->x + first * frame->features;
    for (ptrdiff_t i = 0; i < rows; i++) {
        mfpg_stream_gaussian(&features, (uint64_t)i, frame->features, x + i * frame->features);
        frame->client[first + i] = (int32_t)client;
        frame->test[first + i] = (unsigned char)common;
    }
    fill_labels(s, &labels, x, rows, frame->y + first);
    return MFPG_OK;
}

static void open_streams(synthesis *s) {
    const uint64_t x[] = {MFPG_SYNTHETIC_X, MFPG_SYNTHETIC_COMMON_X},
                   y[] = {MFPG_SYNTHETIC_Y, MFPG_SYNTHETIC_COMMON_Y};
    for (int i = 0; i < 2; i++) {
        s->features[i] = mfpg_stream_open(s->key, MFPG_PURPOSE_SYNTHETIC, x[i], 0);
        s->labels[i] = mfpg_stream_open(s->key, MFPG_PURPOSE_SYNTHETIC, y[i], 0);
    }
}

static mfpg_status name_features(mfpg_context *ctx, mfpg_frame *frame) {
    for (ptrdiff_t j = 0; j < frame->features; j++) {
        char name[24];
        snprintf(name, sizeof name, "x%td", j + 1);
        frame->feature_names[j] = mfpg_text_copy(name, strlen(name));
        if (!frame->feature_names[j]) return mfpg_fail_memory(ctx);
    }
    return MFPG_OK;
}

mfpg_status mfpg_synthetic_fill(
    mfpg_context *ctx, const mfpg_data_options *options, const mfpg_key *key, mfpg_frame *frame) {
    if (options->synthetic == MFPG_SYNTHETIC_CLINICS) return mfpg_clinics_fill(ctx, options, key, frame);
    synthesis s = {.options = options, .key = key, .frame = frame};
    ptrdiff_t rows = options->clients * options->rows + options->common_test_rows;
    mfpg_status status = mfpg_frame_allocate(ctx, frame, rows, options->dimension);
    s.weights = mfpg_alloc(options->dimension, sizeof *s.weights);
    if (status == MFPG_OK && !s.weights) status = mfpg_fail_memory(ctx);
    if (status == MFPG_OK) status = name_features(ctx, frame);
    if (status == MFPG_OK) {
        mfpg_stream stream = mfpg_stream_open(key, MFPG_PURPOSE_SYNTHETIC, MFPG_SYNTHETIC_WEIGHTS, 0);
        mfpg_stream_gaussian(&stream, 0, options->dimension, s.weights);
        frame->rows = rows;
        frame->clients = options->clients;
        open_streams(&s);
        status = mfpg_tasks_run(ctx, options->clients + (options->common_test_rows > 0), fill_client, &s);
    }
    free(s.weights);
    return status;
}
