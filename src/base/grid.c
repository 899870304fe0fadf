#include "mfpg/grid.h"

#include <float.h>
#include <math.h>

#include "error.h"
#include "grid_noise.h"
#include "number.h"

double mfpg_grid_for(double sd) {
    int exponent;
    if (!(sd >= 0x1p-960 && sd <= DBL_MAX)) return 0.0;
    frexp(sd, &exponent); /* 2^(exponent - 1) <= sd */
    return ldexp(1.0, exponent - 5);
}

static int is_power_of_two(double x) {
    int exponent;
    return x > 0.0 && isfinite(x) && frexp(x, &exponent) == 0.5;
}

const char *mfpg_grid_fault(double grid, double sd, double sensitivity) {
    if (!is_power_of_two(grid)) return "the grid is not a power of two";
    if (!(grid <= 0.25 * sd)) return "the grid is coarser than a quarter of the noise";
    if (!(grid >= sd * 0x1p-45)) return "the grid is finer than 2^-45 of the noise";
    if (!(grid >= sensitivity * 0x1p-40)) return "the grid is finer than 2^-40 of the sensitivity";
    return NULL;
}

typedef struct arrays {
    const double *x;
    double grid;
    int64_t *k;
} arrays;

static void give(ptrdiff_t first, ptrdiff_t n, double *x, void *arg) {
    const arrays *all = arg;
    for (ptrdiff_t i = 0; i < n; i++) x[i] = all->x[first + i] / all->grid; /* exact: by a power of two */
}

static void take(ptrdiff_t first, ptrdiff_t n, const double *k, void *arg) {
    const arrays *all = arg;
    for (ptrdiff_t i = 0; i < n; i++) all->k[first + i] = (int64_t)k[i];
}

mfpg_status mfpg_grid_noise(mfpg_context *ctx, const mfpg_stream *stream, uint64_t vector, ptrdiff_t n,
    const double *x, double sd, double grid, int64_t *k) {
    const char *fault = mfpg_grid_fault(grid, sd, 0.0);
    char value[MFPG_NUMBER_SIZE];
    if (fault)
        return mfpg_fail(
            ctx, MFPG_ERR_DOMAIN, "%s (%s with noise of %g)", fault, mfpg_number_format(grid, value), sd);
    for (ptrdiff_t j = 0; j < n; j++)
        if (!(fabs(x[j]) <= MFPG_GRID_LARGEST_X * grid))
            return mfpg_fail(ctx, MFPG_ERR_INPUT,
                "entry %td is %s; at most 2^49 steps of the grid are allowed", j,
                mfpg_number_format(x[j], value));
    arrays all = {x, grid, k};
    mfpg_grid_noise_visit(mfpg_widest_registers(), stream, vector, n, sd / grid, give, take, &all);
    return MFPG_OK;
}

static const struct {
    const char *name, *help;
} POINTS[] = {
#define POINT(id, help) {#id, help},
#include "release_points.def"
#undef POINT
};

enum { POINT_COUNT = sizeof POINTS / sizeof POINTS[0] };

const char *mfpg_release_point_name(ptrdiff_t index) {
    return index >= 0 && index < POINT_COUNT ? POINTS[index].name : NULL;
}

const char *mfpg_release_point_help(ptrdiff_t index) {
    return index >= 0 && index < POINT_COUNT ? POINTS[index].help : NULL;
}
