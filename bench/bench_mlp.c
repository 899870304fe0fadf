/* A step of DP-SGD on the network 784-128-64-10: clipped gradient of a batch that lies in the memory, noise, update. Beside
 * it, as its floor, the step's eight matrix products alone by OpenBLAS on one thread, weights stored outputs x inputs. */
#include "mlp_floor.h"
#include "mechanisms/mechanism_ops.h"
#include "models/losses.h"

typedef struct job {
    mfpg_context *ctx;
    mfpg_model *model;
    mfpg_mechanism *mechanism;
    mfpg_dataset data;
    mfpg_stream stream;
    float *w, *out, *work;
    int64_t *sum;
    mlp_floor floor;
} job;

static void run_step(void *arg) {
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

static void run_gradient(void *arg) {
    job *j = arg;
    double unit = mfpg_model_sum_unit(1.0, j->data.rows);
    mfpg_model_clipped_sum(j->model, j->w, &j->data, NULL, 0, 1.0, unit, j->sum, j->work);
}

static void run_products(void *arg) {
    job *j = arg;
    mlp_floor_step(&j->floor);
}

static int fill(job *j, ptrdiff_t rows) {
    mfpg_key key = mfpg_key_from_seed(1);
    ptrdiff_t d = mfpg_model_parameters(j->model);
    j->stream = mfpg_stream_open(&key, MFPG_PURPOSE_TEST, 0, 0);
    if (!mlp_floor_fill(&j->floor, &j->stream, rows) || !bench_examples(&j->stream, rows, 1.0f, &j->data))
        return 0;
    j->w = bench_floats((size_t)d);
    j->out = bench_floats((size_t)d);
    j->work = bench_floats((size_t)mfpg_mechanism_workspace(j->mechanism, j->model, rows));
    j->sum = calloc((size_t)d, sizeof *j->sum);
    if (!j->w || !j->out || !j->work || !j->sum) return 0;
    mfpg_model_start(j->model, &key, 1, j->w);
    return 1;
}

static int bench_batch(ptrdiff_t rows) {
    job j = {0};
    mfpg_mechanism_options options = mfpg_mechanism_options_default();
    options.promise.unit = MFPG_UNIT_EXAMPLE;
    int ready = mfpg_context_create(NULL, &j.ctx) == MFPG_OK && mlp_create(j.ctx, &j.model) == MFPG_OK &&
                mfpg_mechanism_create(j.ctx, &options, &j.mechanism) == MFPG_OK && fill(&j, rows);
    if (ready) {
        char name[64];
        snprintf(name, sizeof name, "dpsgd_mlp_batch%td", rows);
        bench_work(name, run_step, run_products, &j, 0, NULL);
        snprintf(name, sizeof name, "clipped_gradient_mlp_batch%td", rows);
        bench_work(name, run_gradient, run_products, &j, 0, NULL);
    }
    mlp_floor_clear(&j.floor);
    bench_examples_clear(&j.data);
    free(j.w);
    free(j.out);
    free(j.work);
    free(j.sum);
    mfpg_mechanism_destroy(j.mechanism);
    mfpg_model_destroy(j.model);
    mfpg_context_destroy(j.ctx);
    return ready;
}

int main(void) {
    openblas_set_num_threads(1);
    return bench_batch(20) && bench_batch(64) && bench_batch(256) ? EXIT_SUCCESS : EXIT_FAILURE;
}
