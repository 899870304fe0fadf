/* K_j = [(x_j + sd Z_j)/grid] for a whole vector, in its own units, by the pieces of the library. */
#ifndef MFPG_TESTS_WHOLE_GRID_H
#define MFPG_TESTS_WHOLE_GRID_H

#include "base/grid_noise.h"

typedef struct whole_grid {
    const double *x;
    double grid;
    int64_t *k;
} whole_grid;

static inline void whole_grid_give(ptrdiff_t first, ptrdiff_t n, double *x, void *arg) {
    const whole_grid *all = arg;
    for (ptrdiff_t i = 0; i < n; i++) x[i] = all->x[first + i] / all->grid; /* exact: by a power of two */
}

static inline void whole_grid_take(ptrdiff_t first, ptrdiff_t n, const double *k, void *arg) {
    const whole_grid *all = arg;
    for (ptrdiff_t i = 0; i < n; i++) all->k[first + i] = (int64_t)k[i];
}

static inline void whole_grid_noise(const mfpg_stream *stream, uint64_t vector, ptrdiff_t n, const double *x,
    double sd, double grid, int64_t *k) {
    whole_grid all = {x, grid, k};
    mfpg_grid_noise_visit(
        mfpg_widest_registers(), stream, vector, n, sd / grid, whole_grid_give, whole_grid_take, &all);
}

#endif
