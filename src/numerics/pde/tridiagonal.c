#include "tridiagonal.h"

/* What is left of row i when column i-1 has been eliminated is (kept_i + up_i, -up_i), where kept_i = 1 + down_i times
 * kept_{i-1} / pivot_{i-1}: the row sums stay positive and are carried along in place of being found as differences (the
 * idea of Grassmann, Taksar and Heyman for Markov chains). */
void mfpg_chain_factor(mfpg_chain *chain) {
    double kept = 1.0;
    chain->pivot[0] = kept + chain->up[0];
    for (ptrdiff_t i = 1; i < chain->n; i++) {
        kept = 1.0 + chain->down[i] * (kept / chain->pivot[i - 1]);
        chain->pivot[i] = kept + chain->up[i];
    }
}

void mfpg_chain_solve(const mfpg_chain *chain, double *x) {
    const double *up = chain->up, *down = chain->down, *pivot = chain->pivot;
    ptrdiff_t n = chain->n;
    x[0] /= pivot[0];
    for (ptrdiff_t i = 1; i < n; i++) x[i] = (x[i] + down[i] * x[i - 1]) / pivot[i];
    for (ptrdiff_t i = n - 2; i >= 0; i--) x[i] += up[i] / pivot[i] * x[i + 1];
}

void mfpg_chain_solve_transposed(const mfpg_chain *chain, double *x) {
    const double *up = chain->up, *down = chain->down, *pivot = chain->pivot;
    ptrdiff_t n = chain->n;
    for (ptrdiff_t i = 1; i < n; i++) x[i] += up[i - 1] / pivot[i - 1] * x[i - 1];
    x[n - 1] /= pivot[n - 1];
    for (ptrdiff_t i = n - 2; i >= 0; i--) x[i] = (x[i] + down[i + 1] * x[i + 1]) / pivot[i];
}

void mfpg_tridiagonal_solve(ptrdiff_t n, const double *low, double *diagonal, const double *high, double *x) {
    for (ptrdiff_t i = 1; i < n; i++) {
        double factor = low[i] / diagonal[i - 1];
        diagonal[i] -= factor * high[i - 1];
        x[i] -= factor * x[i - 1];
    }
    x[n - 1] /= diagonal[n - 1];
    for (ptrdiff_t i = n - 2; i >= 0; i--) x[i] = (x[i] - high[i] * x[i + 1]) / diagonal[i];
}
