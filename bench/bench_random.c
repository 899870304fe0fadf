/* Gaussian noise: one long vector, and many clients of 22 draws each. The floor is libsodium's key stream alone. */
#include "bench.h"
#include "mfpg/random.h"

enum { LONG_VECTOR = 109386, CLIENTS = 1000, SHORT_VECTOR = 22 };

typedef struct noise {
    mfpg_stream stream;
    float *sum;           /* LONG_VECTOR */
    unsigned char *bytes; /* 4 LONG_VECTOR */
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

int main(void) {
    mfpg_key key = mfpg_key_from_seed(1);
    noise job = {.stream = mfpg_stream_open(&key, MFPG_PURPOSE_TEST, 0, 0),
        .sum = calloc(LONG_VECTOR, sizeof(float)),
        .bytes = malloc(4 * LONG_VECTOR)};
    int ready = job.sum && job.bytes;
    if (ready) {
        bench_work("noise_vector", long_vector, long_bytes, &job, LONG_VECTOR, "draw");
        bench_work("noise_short_vectors", short_vectors, short_bytes, &job, CLIENTS * SHORT_VECTOR, "draw");
    }
    free(job.sum);
    free(job.bytes);
    return ready ? EXIT_SUCCESS : EXIT_FAILURE;
}
