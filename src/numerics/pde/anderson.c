#include <string.h>

#include "pde_parts.h"

/* A direction that keeps less than this share after the others are removed is dropped, because it consists
 * of rounding errors. */
static const double DEPENDENT = 1e-10;

mfpg_anderson mfpg_anderson_start(ptrdiff_t n, mfpg_pool *memory) {
    return (mfpg_anderson){.n = n,
        .dx = mfpg_pool_alloc(memory, n, MFPG_ANDERSON_DEPTH * sizeof(double)),
        .df = mfpg_pool_alloc(memory, n, MFPG_ANDERSON_DEPTH * sizeof(double)),
        .basis = mfpg_pool_alloc(memory, n, MFPG_ANDERSON_DEPTH * sizeof(double)),
        .last_x = mfpg_pool_alloc(memory, n, sizeof(double)),
        .last_f = mfpg_pool_alloc(memory, n, sizeof(double))};
}

static double inner(ptrdiff_t n, const double *a, const double *b) {
    double sum = 0.0;
    for (ptrdiff_t i = 0; i < n; i++) sum += a[i] * b[i];
    return sum;
}

static void remember(mfpg_anderson *s, const double *x, const double *f) {
    ptrdiff_t n = s->n;
    if (s->started) {
        if (s->held == MFPG_ANDERSON_DEPTH) {
            size_t kept = (size_t)(n * (MFPG_ANDERSON_DEPTH - 1)) * sizeof *s->dx;
            memmove(s->dx, s->dx + n, kept);
            memmove(s->df, s->df + n, kept);
            s->held--;
        }
        double *dx = s->dx + s->held * n, *df = s->df + s->held * n;
        for (ptrdiff_t i = 0; i < n; i++) {
            dx[i] = x[i] - s->last_x[i];
            df[i] = f[i] - s->last_f[i];
        }
        s->held++;
    }
    memcpy(s->last_x, x, (size_t)n * sizeof *x);
    memcpy(s->last_f, f, (size_t)n * sizeof *f);
    s->started = 1;
}

/* The least squares |f - sum_j gamma_j df_j| by modified Gram-Schmidt, newest difference first, so that the old ones
 * are dropped if they add nothing. */
void mfpg_anderson_step(mfpg_anderson *s, double damping, double *x, const double *f) {
    double upper[MFPG_ANDERSON_DEPTH][MFPG_ANDERSON_DEPTH], gamma[MFPG_ANDERSON_DEPTH];
    int column[MFPG_ANDERSON_DEPTH], rank = 0;
    ptrdiff_t n = s->n;
    remember(s, x, f);
    for (int j = s->held - 1; j >= 0; j--) {
        double *q = s->basis + rank * n;
        memcpy(q, s->df + j * n, (size_t)n * sizeof *q);
        double before = sqrt(inner(n, q, q));
        for (int k = 0; k < rank; k++) {
            const double *other = s->basis + k * n;
            upper[k][rank] = inner(n, other, q);
            for (ptrdiff_t i = 0; i < n; i++) q[i] -= upper[k][rank] * other[i];
        }
        double left = sqrt(inner(n, q, q));
        if (!(left > DEPENDENT * before)) continue;
        for (ptrdiff_t i = 0; i < n; i++) q[i] /= left;
        upper[rank][rank] = left;
        column[rank++] = j;
    }
    for (int k = rank - 1; k >= 0; k--) {
        gamma[k] = inner(n, s->basis + k * n, f);
        for (int j = k + 1; j < rank; j++) gamma[k] -= upper[k][j] * gamma[j];
        gamma[k] /= upper[k][k];
    }
    for (ptrdiff_t i = 0; i < n; i++) x[i] += damping * f[i];
    for (int k = 0; k < rank; k++) {
        const double *dx = s->dx + column[k] * n, *df = s->df + column[k] * n;
        for (ptrdiff_t i = 0; i < n; i++) x[i] -= gamma[k] * (dx[i] + damping * df[i]);
    }
}
