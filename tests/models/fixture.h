/* Small data sets with random values, made without the library's own generator. */
#ifndef MFPG_TESTS_MODELS_FIXTURE_H
#define MFPG_TESTS_MODELS_FIXTURE_H

#include "testing.h"

#include <inttypes.h>

#include "mfpg/model.h"

/* splitmix64 */
static inline uint64_t next_word(uint64_t *state) {
    uint64_t z = (*state += 0x9E3779B97F4A7C15u);
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
}

static inline double next_uniform(uint64_t *state) {
    return ((double)(next_word(state) >> 11) + 0.5) * 0x1p-53;
}

/* Sum of twelve uniforms: mean 0, variance 1. */
static inline double next_normal(uint64_t *state) {
    double sum = -6.0;
    for (int i = 0; i < 12; i++) sum += next_uniform(state);
    return sum;
}

static inline void refresh_norms(mfpg_dataset *data) {
    for (ptrdiff_t i = 0; i < data->rows; i++) {
        data->norm2[i] = 0.0;
        for (ptrdiff_t j = 0; j < data->features; j++) {
            double x = (double)data->x[i * data->features + j];
            data->norm2[i] += x * x;
        }
    }
}

static inline mfpg_dataset make_dataset(ptrdiff_t rows, ptrdiff_t features, int classes, uint64_t *state) {
    mfpg_dataset data = {.rows = rows,
        .features = features,
        .x = calloc((size_t)(rows * features) + 1, sizeof(float)),
        .y = calloc((size_t)rows + 1, sizeof(float)),
        .norm2 = calloc((size_t)rows + 1, sizeof(double))};
    for (ptrdiff_t i = 0; i < rows * features; i++) data.x[i] = (float)next_normal(state);
    for (ptrdiff_t i = 0; i < rows; i++)
        data.y[i] = classes ? (float)(next_word(state) % 2) : (float)next_normal(state);
    refresh_norms(&data);
    return data;
}

static inline void free_dataset(mfpg_dataset *data) {
    free(data->x);
    free(data->y);
    free(data->norm2);
}

static inline mfpg_model *make_model(mfpg_context *ctx, const char *kind, ptrdiff_t features) {
    mfpg_model *model = NULL;
    const ptrdiff_t hidden[] = {6, 5};
    mfpg_model_options options = {
        .kind = kind, .features = features, .classes = 2, .hidden = hidden, .hidden_layers = 2};
    CHECK_OK(ctx, mfpg_model_create(ctx, &options, &model));
    return model;
}

static inline float *make_floats(ptrdiff_t count) {
    return calloc((size_t)count + 1, sizeof(float));
}

/* A vector and its Euclidean norm in double. */
static inline double norm_of(const float *v, ptrdiff_t n) {
    double sum = 0.0;
    for (ptrdiff_t i = 0; i < n; i++) sum += (double)v[i] * (double)v[i];
    return sqrt(sum);
}

#endif
