/* One client's local update of one step: gradient, clip, noise. Beside it, as its floor, the noise alone. */
#include "bench.h"

#include "base/release_parts.h"
#include "base/streams.h"
#include "mechanisms/mechanism_ops.h"

typedef struct job {
    mfpg_context *ctx;
    mfpg_model *model;
    mfpg_mechanism *mechanism;
    mfpg_dataset data;
    mfpg_stream stream;
    float *w, *out, *work;
} job;

static void run_update(void *arg) {
    job *j = arg;
    const mfpg_action action = {.control = MFPG_CONTROL_MULTIPLIER, .multiplier = 1.0};
    mfpg_release release;
    const mfpg_local_round round = {.data = &j->data,
        .rows = j->data.rows,
        .release = &release,
        .noise = &j->stream,
        .batch = &j->stream};
    j->stream.client++;
    mfpg_mechanism_release(j->ctx, j->mechanism, action, j->data.rows, &release);
    mfpg_mechanism_update(j->ctx, j->mechanism, j->model, &round, j->w, j->out, j->work, NULL);
}

static void run_noise(void *arg) {
    job *j = arg;
    j->stream.client++;
    mfpg_stream_gaussian_add(&j->stream, 0, mfpg_model_parameters(j->model), 0.1f, j->out);
}

/* Features and weights drawn from the stream, labels alternating. */
static int fill(job *j, ptrdiff_t rows, ptrdiff_t features) {
    mfpg_key key = mfpg_key_from_seed(1);
    j->stream = mfpg_stream_open(&key, MFPG_PURPOSE_TEST, 0, 0);
    j->data = (mfpg_dataset){.rows = rows, .features = features};
    j->data.x = malloc((size_t)(rows * features) * sizeof(float));
    j->data.y = malloc((size_t)rows * sizeof(float));
    j->data.norm2 = calloc((size_t)rows, sizeof(double));
    j->w = malloc((size_t)(features + 1) * sizeof(float));
    j->out = calloc((size_t)(features + 1), sizeof(float));
    if (!j->data.x || !j->data.y || !j->data.norm2 || !j->w || !j->out) return 0;
    mfpg_stream_gaussian(&j->stream, 0, rows * features, j->data.x);
    mfpg_stream_gaussian(&j->stream, 0, features + 1, j->w);
    for (ptrdiff_t i = 0; i < rows; i++) j->data.y[i] = (float)(i % 2);
    for (ptrdiff_t i = 0; i < rows * features; i++)
        j->data.norm2[i / features] += (double)j->data.x[i] * (double)j->data.x[i];
    return 1;
}

static int bench_setting(ptrdiff_t rows, ptrdiff_t features, const char *kind, mfpg_unit unit) {
    job j = {0};
    mfpg_model_options shape = {.kind = "logistic", .features = features};
    mfpg_mechanism_options options = mfpg_mechanism_options_default();
    options.kind = kind;
    options.promise.unit = unit;
    int ready = mfpg_context_create(NULL, &j.ctx) == MFPG_OK &&
                mfpg_model_create(j.ctx, &shape, &j.model) == MFPG_OK &&
                mfpg_mechanism_create(j.ctx, &options, &j.mechanism) == MFPG_OK && fill(&j, rows, features);
    if (ready) {
        ptrdiff_t size = mfpg_mechanism_workspace(j.mechanism, j.model, rows);
        ready = (j.work = malloc((size_t)size * sizeof(float))) != NULL;
    }
    if (ready) {
        char name[64];
        snprintf(name, sizeof name, "update_%s_%s_%tdx%td", kind, mfpg_unit_name(unit), rows, features);
        bench_work(name, run_update, run_noise, &j, 1, "update");
    }
    mfpg_mechanism_destroy(j.mechanism);
    mfpg_model_destroy(j.model);
    mfpg_context_destroy(j.ctx);
    free(j.data.x);
    free(j.data.y);
    free(j.data.norm2);
    free(j.w);
    free(j.out);
    free(j.work);
    return ready;
}

int main(void) {
    const ptrdiff_t shapes[][2] = {{10, 20}, {100, 100}};
    for (int s = 0; s < 2; s++) {
        if (!bench_setting(shapes[s][0], shapes[s][1], "gaussian", MFPG_UNIT_CLIENT)) return EXIT_FAILURE;
        if (!bench_setting(shapes[s][0], shapes[s][1], "gaussian", MFPG_UNIT_EXAMPLE)) return EXIT_FAILURE;
        if (!bench_setting(shapes[s][0], shapes[s][1], "entropic", MFPG_UNIT_CLIENT)) return EXIT_FAILURE;
    }
    return EXIT_SUCCESS;
}
