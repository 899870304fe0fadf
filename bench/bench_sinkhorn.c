/* The symmetric Sinkhorn projection: 512 and 100,352 scalars, N(0,1), and 5000 points of 8 coordinates. The floor of the
 * small cloud is its kernel products by OpenBLAS on one thread; that of the large one as many passes over two arrays of
 * its size, which any product has to make; that of the points the products of their coordinates, which give distances. */
#include <cblas.h>
#include <string.h>

#include "bench.h"
#include "mfpg/random.h"
#include "mfpg/transport.h"

enum { SMALL = 512, LARGE = 100352, POINTS = 5000, COORDINATES = 8 };

typedef struct cloud {
    mfpg_context *ctx;
    ptrdiff_t n, d;
    double regularisation;
    float points[LARGE], work[LARGE];
    mfpg_sinkhorn_result result;
    double kernel[SMALL * SMALL], u[LARGE], product[LARGE];
    float block[COORDINATES * 64], distances[POINTS * 64];
} cloud;

static void project(void *arg) {
    cloud *job = arg;
    memcpy(job->work, job->points, (size_t)(job->n * job->d) * sizeof *job->work);
    if (mfpg_sinkhorn_project_points(job->ctx, job->n, job->d,
            (mfpg_regularisation){.value = job->regularisation}, job->work, &job->result) != MFPG_OK)
        exit(EXIT_FAILURE);
}

static void products(void *arg) {
    cloud *job = arg;
    for (int i = 0; i < job->result.iterations + 1; i++)
        cblas_dsymv(
            CblasRowMajor, CblasUpper, SMALL, 1.0, job->kernel, SMALL, job->u, 1, 0.0, job->product, 1);
}

static void passes(void *arg) {
    cloud *job = arg;
    for (int i = 0; i < job->result.iterations + 1; i++) cblas_daxpy(LARGE, 1e-9, job->u, 1, job->product, 1);
}

static void distances(void *arg) {
    cloud *job = arg;
    for (int i = 0; i < job->result.iterations + 1; i++)
        for (ptrdiff_t first = 0; first < POINTS / 2; first += 64) /* half of them: the kernel is symmetric */
            cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasTrans, POINTS, 64, COORDINATES, 1.0f, job->points,
                COORDINATES, job->points + first * COORDINATES, COORDINATES, 0.0f, job->distances, 64);
}

int main(void) {
    openblas_set_num_threads(1);
    cloud *job = calloc(1, sizeof *job);
    mfpg_context_options options = mfpg_context_options_default();
    options.threads = 1;
    if (!job || mfpg_context_create(&options, &job->ctx) != MFPG_OK) return EXIT_FAILURE;
    mfpg_key key = mfpg_key_from_seed(1);
    mfpg_stream stream = mfpg_stream_open(&key, MFPG_PURPOSE_TEST, 0, 0);
    mfpg_stream_gaussian(&stream, 0, LARGE, job->points);
    const struct {
        const char *work;
        ptrdiff_t n, d;
        double regularisation;
        bench_run floor;
    } works[] = {{"sinkhorn_1d_512", SMALL, 1, 1e-2, products},
        {"sinkhorn_1d_512_eta_0.001", SMALL, 1, 1e-3, products},
        {"sinkhorn_1d_512_eta_1", SMALL, 1, 1, products}, {"sinkhorn_1d_100352", LARGE, 1, 1e-2, passes},
        {"sinkhorn_1d_100352_eta_0.001", LARGE, 1, 1e-3, passes},
        {"sinkhorn_1d_100352_eta_1", LARGE, 1, 1, passes},
        {"sinkhorn_8d_5000", POINTS, COORDINATES, 0.1, distances}};
    for (size_t i = 0; i < sizeof works / sizeof works[0]; i++) {
        job->n = works[i].n;
        job->d = works[i].d;
        job->regularisation = works[i].regularisation;
        bench_work(works[i].work, project, works[i].floor, job, 0, NULL);
    }
    mfpg_context_destroy(job->ctx);
    free(job);
    return EXIT_SUCCESS;
}
