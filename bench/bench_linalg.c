/* The products of a linear model with its rows and back, beside OpenBLAS on one thread. */
#include <cblas.h>

#include "bench.h"
#include "numerics/linalg/linalg.h"

typedef struct product {
    int rows, cols;
    float *a, *x, *y; /* x and y are long enough for either direction */
} product;

static void apply(void *arg) {
    product *job = arg;
    mfpg_matrix_apply(job->rows, job->cols, job->a, NULL, job->x, 0.5f, job->y);
}

static void apply_blas(void *arg) {
    product *job = arg;
    cblas_sgemv(CblasRowMajor, CblasNoTrans, job->rows, job->cols, 1.0f, job->a, job->cols, job->x, 1, 0.0f,
        job->y, 1);
}

static void transposed(void *arg) {
    product *job = arg;
    mfpg_matrix_add_transposed(job->rows, job->cols, job->a, NULL, job->x, job->y);
}

static void transposed_blas(void *arg) {
    product *job = arg;
    cblas_sgemv(
        CblasRowMajor, CblasTrans, job->rows, job->cols, 1.0f, job->a, job->cols, job->x, 1, 1.0f, job->y, 1);
}

static int bench_shape(int rows, int cols) {
    size_t longer = (size_t)(rows > cols ? rows : cols), entries = (size_t)rows * (size_t)cols;
    product job = {.rows = rows,
        .cols = cols,
        .a = malloc(entries * sizeof(float)),
        .x = malloc(longer * sizeof(float)),
        .y = malloc(longer * sizeof(float))};
    int ready = job.a && job.x && job.y;
    if (ready) {
        char name[64];
        for (size_t i = 0; i < entries; i++) job.a[i] = (float)(i % 101) * 0.01f - 0.5f;
        for (size_t i = 0; i < longer; i++) job.x[i] = (float)(i % 7 + 1) * 0.1f;
        snprintf(name, sizeof name, "matrix_apply_%dx%d", rows, cols);
        bench_work(name, apply, apply_blas, &job, 0, NULL);
        snprintf(name, sizeof name, "matrix_add_transposed_%dx%d", rows, cols);
        bench_work(name, transposed, transposed_blas, &job, 0, NULL);
    }
    free(job.a);
    free(job.x);
    free(job.y);
    return ready;
}

int main(void) {
    openblas_set_num_threads(1);
    const int shapes[][2] = {{10, 20}, {100, 5}, {100, 20}, {100, 100}, {200, 784}, {10000, 784}};
    for (size_t i = 0; i < sizeof shapes / sizeof shapes[0]; i++)
        if (!bench_shape(shapes[i][0], shapes[i][1])) return EXIT_FAILURE;
    return EXIT_SUCCESS;
}
