/* The symmetric Sinkhorn projection of 512 points, N(0,1). The floor is its kernel products by OpenBLAS on one thread. */
#include <cblas.h>
#include <string.h>

#include "bench.h"
#include "mfpg/random.h"
#include "mfpg/transport.h"

enum { N = 512 };

typedef struct cloud {
    mfpg_context *ctx;
    double regularisation;
    float points[N], work[N];
    mfpg_sinkhorn_result result;
    double kernel[N * N], u[N], product[N];
} cloud;

static void project(void *arg) {
    cloud *job = arg;
    memcpy(job->work, job->points, sizeof job->work);
    if (mfpg_sinkhorn_project(job->ctx, N, job->regularisation, job->work, &job->result) != MFPG_OK)
        exit(EXIT_FAILURE);
}

static void products(void *arg) {
    cloud *job = arg;
    for (int i = 0; i < job->result.iterations + 1; i++)
        cblas_dsymv(CblasRowMajor, CblasUpper, N, 1.0, job->kernel, N, job->u, 1, 0.0, job->product, 1);
}

int main(void) {
    openblas_set_num_threads(1);
    cloud *job = calloc(1, sizeof *job);
    if (!job || mfpg_context_create(NULL, &job->ctx) != MFPG_OK) return EXIT_FAILURE;
    mfpg_key key = mfpg_key_from_seed(1);
    mfpg_stream stream = mfpg_stream_open(&key, MFPG_PURPOSE_TEST, 0, 0);
    mfpg_stream_gaussian(&stream, 0, N, job->points);
    const struct {
        const char *work;
        double regularisation;
    } works[] = {{"sinkhorn_1d_512", 1e-2}, {"sinkhorn_1d_512_eta_0.001", 1e-3},
        {"sinkhorn_1d_512_eta_0.1", 0.1}, {"sinkhorn_1d_512_eta_1", 1}};
    for (size_t i = 0; i < sizeof works / sizeof works[0]; i++) {
        job->regularisation = works[i].regularisation;
        bench_work(works[i].work, project, products, job, 0, NULL);
    }
    mfpg_context_destroy(job->ctx);
    free(job);
    return EXIT_SUCCESS;
}
