/* The network that the training works run, 784-128-64-10, and their floor: the eight matrix products of one step alone by
 * OpenBLAS on one thread, weights stored outputs x inputs, the batch at hand. */
#ifndef MFPG_BENCH_MLP_FLOOR_H
#define MFPG_BENCH_MLP_FLOOR_H

#include <cblas.h>

#include "bench.h"

#include "mfpg/mechanism.h"

enum { LAYERS = 3 };
static const int WIDTH[LAYERS + 1] = {784, 128, 64, 10};

typedef struct mlp_floor {
    int rows;
    float *value[LAYERS + 1], *delta[LAYERS + 1]; /* rows x WIDTH[l] */
    float *weight[LAYERS], *slope[LAYERS];        /* WIDTH[l + 1] x WIDTH[l] */
} mlp_floor;

static inline mfpg_status mlp_create(mfpg_context *ctx, mfpg_model **out) {
    const ptrdiff_t hidden[LAYERS - 1] = {WIDTH[1], WIDTH[2]};
    mfpg_model_options shape = {.kind = "mlp",
        .features = WIDTH[0],
        .classes = WIDTH[LAYERS],
        .hidden = hidden,
        .hidden_layers = LAYERS - 1};
    return mfpg_model_create(ctx, &shape, out);
}

static inline void mlp_floor_step(mlp_floor *f) {
    int n = f->rows;
    for (int l = 0; l < LAYERS; l++)
        cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasTrans, n, WIDTH[l + 1], WIDTH[l], 1.0f, f->value[l],
            WIDTH[l], f->weight[l], WIDTH[l], 0.0f, f->value[l + 1], WIDTH[l + 1]);
    for (int l = LAYERS - 1; l >= 0; l--) {
        cblas_sgemm(CblasRowMajor, CblasTrans, CblasNoTrans, WIDTH[l + 1], WIDTH[l], n, 1.0f, f->delta[l + 1],
            WIDTH[l + 1], f->value[l], WIDTH[l], 0.0f, f->slope[l], WIDTH[l]);
        if (l > 0)
            cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, n, WIDTH[l], WIDTH[l + 1], 1.0f,
                f->delta[l + 1], WIDTH[l + 1], f->weight[l], WIDTH[l], 0.0f, f->delta[l], WIDTH[l]);
    }
}

/* The next vector of draws of the stream, or NULL. */
static inline float *bench_normals(mfpg_stream *stream, ptrdiff_t n) {
    float *out = bench_floats((size_t)n);
    stream->client++;
    if (out) mfpg_stream_gaussian(stream, 0, n, out);
    return out;
}

/* Examples drawn from the stream times `scale`, labels in turn; 0 where memory runs out. */
static inline int bench_examples(mfpg_stream *stream, ptrdiff_t rows, float scale, mfpg_dataset *out) {
    ptrdiff_t features = WIDTH[0];
    *out = (mfpg_dataset){.rows = rows, .features = features};
    out->x = bench_normals(stream, rows * features);
    out->y = malloc((size_t)rows * sizeof(float));
    out->norm2 = calloc((size_t)rows, sizeof(double));
    if (!out->x || !out->y || !out->norm2) return 0;
    for (ptrdiff_t i = 0; i < rows * features; i++) {
        out->x[i] *= scale;
        out->norm2[i / features] += (double)out->x[i] * (double)out->x[i];
    }
    for (ptrdiff_t i = 0; i < rows; i++) out->y[i] = (float)(i % WIDTH[LAYERS]);
    return 1;
}

static inline void bench_examples_clear(mfpg_dataset *data) {
    free(data->x);
    free(data->y);
    free(data->norm2);
}

/* 0 where memory runs out; to be cleared either way. */
static inline int mlp_floor_fill(mlp_floor *f, mfpg_stream *stream, ptrdiff_t rows) {
    int ready = 1;
    *f = (mlp_floor){.rows = (int)rows};
    for (int l = 0; l <= LAYERS; l++) {
        f->value[l] = bench_normals(stream, rows * WIDTH[l]);
        f->delta[l] = bench_normals(stream, rows * WIDTH[l]);
        ready = ready && f->value[l] && f->delta[l];
    }
    for (int l = 0; l < LAYERS; l++) {
        f->weight[l] = bench_normals(stream, (ptrdiff_t)WIDTH[l] * WIDTH[l + 1]);
        f->slope[l] = bench_normals(stream, (ptrdiff_t)WIDTH[l] * WIDTH[l + 1]);
        ready = ready && f->weight[l] && f->slope[l];
    }
    return ready;
}

static inline void mlp_floor_clear(mlp_floor *f) {
    for (int l = 0; l <= LAYERS; l++) {
        free(f->value[l]);
        free(f->delta[l]);
    }
    for (int l = 0; l < LAYERS; l++) {
        free(f->weight[l]);
        free(f->slope[l]);
    }
}

#endif
