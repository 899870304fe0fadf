/* A step of DP-SGD on the network 784-128-64-10: clipped gradient of a batch that lies in the memory, noise, update. Beside
 * it, as its floor, the step's eight matrix products alone by OpenBLAS on one thread, weights stored outputs x inputs. */
#include <cblas.h>

#include "bench.h"

#include "mfpg/mechanism.h"

enum { LAYERS = 3 };
static const int WIDTH[LAYERS + 1] = {784, 128, 64, 10};

typedef struct job {
    mfpg_context *ctx;
    mfpg_model *model;
    mfpg_mechanism *mechanism;
    mfpg_dataset data;
    mfpg_stream stream;
    float *w, *out, *work;
    float *value[LAYERS + 1], *delta[LAYERS + 1], *weight[LAYERS], *slope[LAYERS]; /* of the floor */
} job;

static void run_step(void *arg) {
    job *j = arg;
    mfpg_action action = {.control = MFPG_CONTROL_MULTIPLIER, .multiplier = 1.0};
    j->stream.client++;
    mfpg_mechanism_update(j->ctx, j->mechanism, j->model, &j->data, j->data.rows, action, &j->stream,
        &j->stream, j->w, j->out, j->work, NULL);
}

static void run_gradient(void *arg) {
    job *j = arg;
    mfpg_model_clipped_gradient(
        j->model, j->w, &j->data, NULL, 0, 1.0, (double)j->data.rows, j->out, j->work);
}

static void run_products(void *arg) {
    job *j = arg;
    int n = (int)j->data.rows;
    for (int l = 0; l < LAYERS; l++)
        cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasTrans, n, WIDTH[l + 1], WIDTH[l], 1.0f, j->value[l],
            WIDTH[l], j->weight[l], WIDTH[l], 0.0f, j->value[l + 1], WIDTH[l + 1]);
    for (int l = LAYERS - 1; l >= 0; l--) {
        cblas_sgemm(CblasRowMajor, CblasTrans, CblasNoTrans, WIDTH[l + 1], WIDTH[l], n, 1.0f, j->delta[l + 1],
            WIDTH[l + 1], j->value[l], WIDTH[l], 0.0f, j->slope[l], WIDTH[l]);
        if (l > 0)
            cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, n, WIDTH[l], WIDTH[l + 1], 1.0f,
                j->delta[l + 1], WIDTH[l + 1], j->weight[l], WIDTH[l], 0.0f, j->delta[l], WIDTH[l]);
    }
}

static float *normals(mfpg_stream *stream, ptrdiff_t n) {
    float *out = bench_floats((size_t)n);
    stream->client++;
    if (out) mfpg_stream_gaussian(stream, 0, n, out);
    return out;
}

static int fill(job *j, ptrdiff_t rows) {
    mfpg_key key = mfpg_key_from_seed(1);
    int ready = 1;
    ptrdiff_t d = mfpg_model_parameters(j->model);
    j->stream = mfpg_stream_open(&key, MFPG_PURPOSE_TEST, 0, 0);
    for (int l = 0; l <= LAYERS; l++) {
        j->value[l] = normals(&j->stream, rows * WIDTH[l]);
        j->delta[l] = normals(&j->stream, rows * WIDTH[l]);
        ready = ready && j->value[l] && j->delta[l];
    }
    for (int l = 0; l < LAYERS; l++) {
        j->weight[l] = normals(&j->stream, (ptrdiff_t)WIDTH[l] * WIDTH[l + 1]);
        j->slope[l] = normals(&j->stream, (ptrdiff_t)WIDTH[l] * WIDTH[l + 1]);
        ready = ready && j->weight[l] && j->slope[l];
    }
    j->data = (mfpg_dataset){.rows = rows, .features = WIDTH[0]};
    j->data.x = normals(&j->stream, rows * WIDTH[0]);
    j->data.y = malloc((size_t)rows * sizeof(float));
    j->data.norm2 = calloc((size_t)rows, sizeof(double));
    j->w = bench_floats((size_t)d);
    j->out = bench_floats((size_t)d);
    j->work = bench_floats((size_t)mfpg_mechanism_workspace(j->mechanism, j->model, rows));
    if (!ready || !j->data.x || !j->data.y || !j->data.norm2 || !j->w || !j->out || !j->work) return 0;
    mfpg_model_start(j->model, &key, 1, j->w);
    for (ptrdiff_t i = 0; i < rows; i++) j->data.y[i] = (float)(i % WIDTH[LAYERS]);
    for (ptrdiff_t i = 0; i < rows * WIDTH[0]; i++)
        j->data.norm2[i / WIDTH[0]] += (double)j->data.x[i] * (double)j->data.x[i];
    return 1;
}

static int bench_batch(ptrdiff_t rows) {
    job j = {0};
    const ptrdiff_t hidden[] = {WIDTH[1], WIDTH[2]};
    mfpg_model_options shape = {.kind = "mlp",
        .features = WIDTH[0],
        .classes = WIDTH[LAYERS],
        .hidden = hidden,
        .hidden_layers = LAYERS - 1};
    mfpg_mechanism_options options = mfpg_mechanism_options_default();
    options.promise.unit = MFPG_UNIT_EXAMPLE;
    int ready = mfpg_context_create(NULL, &j.ctx) == MFPG_OK &&
                mfpg_model_create(j.ctx, &shape, &j.model) == MFPG_OK &&
                mfpg_mechanism_create(j.ctx, &options, &j.mechanism) == MFPG_OK && fill(&j, rows);
    if (ready) {
        char name[64];
        snprintf(name, sizeof name, "dpsgd_mlp_batch%td", rows);
        bench_work(name, run_step, run_products, &j, 0, NULL);
        snprintf(name, sizeof name, "clipped_gradient_mlp_batch%td", rows);
        bench_work(name, run_gradient, run_products, &j, 0, NULL);
    }
    for (int l = 0; l <= LAYERS; l++) {
        free(j.value[l]);
        free(j.delta[l]);
    }
    for (int l = 0; l < LAYERS; l++) {
        free(j.weight[l]);
        free(j.slope[l]);
    }
    free(j.data.x);
    free(j.data.y);
    free(j.data.norm2);
    free(j.w);
    free(j.out);
    free(j.work);
    mfpg_mechanism_destroy(j.mechanism);
    mfpg_model_destroy(j.model);
    mfpg_context_destroy(j.ctx);
    return ready;
}

int main(void) {
    openblas_set_num_threads(1);
    return bench_batch(20) && bench_batch(64) && bench_batch(256) ? EXIT_SUCCESS : EXIT_FAILURE;
}
