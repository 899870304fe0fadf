/* Products of matrices as the layers of a network need them, beside OpenBLAS on one thread. */
#include <cblas.h>

#include "bench.h"
#include "numerics/linalg/product.h"

typedef struct product {
    int rows, cols, depth, a_transposed, b_transposed;
    float *a, *b, *c;
} product;

static void own(void *arg) {
    product *p = arg;
    mfpg_matrix a = {p->a, p->depth, 1}, b = {p->b, p->cols, 1};
    if (p->a_transposed) a = (mfpg_matrix){p->a, 1, p->rows};
    if (p->b_transposed) b = (mfpg_matrix){p->b, 1, p->depth};
    mfpg_matrix_add_product(p->rows, p->cols, p->depth, a, b, p->c);
}

static void blas(void *arg) {
    product *p = arg;
    cblas_sgemm(CblasRowMajor, p->a_transposed ? CblasTrans : CblasNoTrans,
        p->b_transposed ? CblasTrans : CblasNoTrans, p->rows, p->cols, p->depth, 1.0f, p->a,
        p->a_transposed ? p->rows : p->depth, p->b, p->b_transposed ? p->depth : p->cols, 1.0f, p->c,
        p->cols);
}

static int bench_shape(product p) {
    size_t a = (size_t)p.rows * (size_t)p.depth, b = (size_t)p.depth * (size_t)p.cols,
           c = (size_t)p.rows * (size_t)p.cols;
    p.a = bench_floats(a);
    p.b = bench_floats(b);
    p.c = bench_floats(c);
    int ready = p.a && p.b && p.c;
    if (ready) {
        char name[64];
        for (size_t i = 0; i < a; i++) p.a[i] = (float)(i % 101) * 0.01f - 0.5f;
        for (size_t i = 0; i < b; i++) p.b[i] = (float)(i % 97) * 0.01f - 0.5f;
        for (size_t i = 0; i < c; i++) p.c[i] = 0.0f;
        snprintf(name, sizeof name, "product_%dx%dx%d%s%s", p.rows, p.depth, p.cols,
            p.a_transposed ? "_left_transposed" : "", p.b_transposed ? "_right_transposed" : "");
        bench_work(name, own, blas, &p, 2.0 * p.rows * p.cols * p.depth, "operation");
    }
    free(p.a);
    free(p.b);
    free(p.c);
    return ready;
}

int main(void) {
    openblas_set_num_threads(1);
    const int batches[] = {20, 64, 256};
    for (int i = 0; i < 3; i++) {
        int n = batches[i];
        const product shapes[] = {{n, 128, 784, 0, 0, NULL, NULL, NULL},
            {784, 128, n, 1, 0, NULL, NULL, NULL}, {n, 64, 128, 0, 0, NULL, NULL, NULL},
            {128, 64, n, 1, 0, NULL, NULL, NULL}, {n, 128, 64, 0, 1, NULL, NULL, NULL},
            {n, 10, 64, 0, 0, NULL, NULL, NULL}};
        for (size_t s = 0; s < sizeof shapes / sizeof shapes[0]; s++)
            if (!bench_shape(shapes[s])) return EXIT_FAILURE;
    }
    return EXIT_SUCCESS;
}
