/* The forward equation alone, with a drift and a noise that stay: the chain and the steps of the library. */
#ifndef MFPG_TESTS_NUMERICS_FORWARD_LINE_H
#define MFPG_TESTS_NUMERICS_FORWARD_LINE_H

#include "numerics/pde/pde_parts.h"

enum { FORWARD_MOST = 801 };

typedef struct forward_line {
    double low, high;
    ptrdiff_t nodes;
    const double *drift, *control;
    double horizon;
    ptrdiff_t steps;
    mfpg_pde_scheme scheme;
    int printed; /* 1: eps Laplace(mu), as the paper prints it; 0: Laplace(eps mu), as its appendix derives it */
} forward_line;

static inline void forward_run(const forward_line *line, double *density) {
    static double up[FORWARD_MOST], down[FORWARD_MOST], pivot[FORWARD_MOST], low[FORWARD_MOST],
        high[FORWARD_MOST];
    ptrdiff_t n = line->nodes;
    double h = (line->high - line->low) / (double)(n - 1), dt = line->horizon / (double)line->steps;
    mfpg_chain chain = {n, up, down, pivot};
    double *const further[4] = {low, high};
    for (ptrdiff_t i = 0; i < n; i++) {
        mfpg_rates rates = mfpg_generator_rates(line->scheme, h, 1.0 / h, line->drift[i], line->control[i]);
        up[i] = i + 1 < n ? dt * rates.up : 0;
        down[i] = i > 0 ? dt * rates.down : 0;
    }
    mfpg_chain_factor(&chain);
    for (ptrdiff_t step = 0; step < line->steps; step++) {
        if (line->printed)
            mfpg_flow_printed_step(&chain, dt / (h * h), line->control, further, density);
        else
            mfpg_chain_solve_transposed(&chain, density);
    }
}

#endif
