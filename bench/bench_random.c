/* Gaussian noise: one long vector, and many clients of 22 draws each. The floor is libsodium's key stream alone; the floor of
 * the noise on a grid is the float draws of a vector of that length. */
#include "base/grid_noise.h"
#include "bench.h"
#include "mfpg/random.h"

enum { LONG_VECTOR = 109386, CLIENTS = 1000, SHORT_VECTOR = 22 };

typedef struct noise {
    mfpg_stream stream;
    float *sum;           /* LONG_VECTOR */
    unsigned char *bytes; /* 4 LONG_VECTOR */
    double *values;       /* LONG_VECTOR, what is noised on a grid */
} noise;

static void long_vector(void *arg) {
    noise *job = arg;
    mfpg_stream_gaussian_add(&job->stream, 0, LONG_VECTOR, 0.5f, job->sum);
}

static void long_bytes(void *arg) {
    noise *job = arg;
    mfpg_stream_bytes(&job->stream, 0, 4 * LONG_VECTOR, job->bytes);
}

static void short_vectors(void *arg) {
    noise *job = arg;
    mfpg_stream stream = job->stream;
    for (int client = 0; client < CLIENTS; client++) {
        stream.client = (uint64_t)client;
        mfpg_stream_gaussian_add(&stream, 0, SHORT_VECTOR, 0.5f, job->sum);
    }
}

static void short_bytes(void *arg) {
    noise *job = arg;
    mfpg_stream stream = job->stream;
    for (int client = 0; client < CLIENTS; client++) {
        stream.client = (uint64_t)client;
        mfpg_stream_bytes(&stream, 0, 4 * SHORT_VECTOR, job->bytes);
    }
}

static const double GRID = 0x1p-10, STEPS = 16.0; /* the standard deviation is 16 steps of the grid */

MFPG_WIDE static void read_values(ptrdiff_t first, ptrdiff_t n, double *x, void *arg) {
    const noise *job = arg;
    for (ptrdiff_t i = 0; i < n; i++) x[i] = job->values[first + i] * (1.0 / GRID);
}

MFPG_WIDE static void write_floats(ptrdiff_t first, ptrdiff_t n, const double *k, void *arg) {
    noise *job = arg;
    for (ptrdiff_t i = 0; i < n; i++) job->sum[first + i] = (float)(k[i] * GRID);
}

static void long_vector_grid(void *arg) {
    noise *job = arg;
    mfpg_grid_noise_visit(
        mfpg_widest_registers(), &job->stream, 0, LONG_VECTOR, STEPS, read_values, write_floats, job);
}

static void long_draws(void *arg) {
    noise *job = arg;
    mfpg_stream_gaussian(&job->stream, 0, LONG_VECTOR, job->sum);
}

int main(void) {
    mfpg_key key = mfpg_key_from_seed(1);
    noise job = {.stream = mfpg_stream_open(&key, MFPG_PURPOSE_TEST, 0, 0),
        .sum = calloc(LONG_VECTOR, sizeof(float)),
        .bytes = malloc(4 * LONG_VECTOR),
        .values = malloc(LONG_VECTOR * sizeof(double))};
    int ready = job.sum && job.bytes && job.values;
    if (ready) {
        for (ptrdiff_t i = 0; i < LONG_VECTOR; i++) job.values[i] = 1e-6 * (double)(i % 1000 - 500);
        bench_work("noise_vector", long_vector, long_bytes, &job, LONG_VECTOR, "draw");
        bench_work("noise_short_vectors", short_vectors, short_bytes, &job, CLIENTS * SHORT_VECTOR, "draw");
        bench_work("noise_vector_grid", long_vector_grid, long_draws, &job, LONG_VECTOR, "draw");
    }
    free(job.sum);
    free(job.bytes);
    free(job.values);
    return ready ? EXIT_SUCCESS : EXIT_FAILURE;
}
