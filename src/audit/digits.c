/* How a release was noised, by its last digits: noise on a grid leaves w + grid k for whole numbers k. What is on no grid has noise in floats,
 * or none. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "game.h"
#include "mechanisms/ops.h"

/* Noise that is a sixteenth of its deviation or less from zero, a chance of 1/20, in all of so many entries: once in 10^10. */
enum { ENOUGH_ENTRIES = 8 };

/* The nearest point of the grid around w, in steps. */
static double steps_between(double inverse, float w, float u) {
    return rint(((double)u - (double)w) * inverse);
}

/* 1 if u is float(w + grid k) for a whole number k, or within `slack` of the two numbers' size of it. */
static int is_on_grid(double grid, double k, double slack, float w, float u) {
    double point = (double)w + grid * k;
    return (float)point == u || fabs(point - (double)u) <= slack * (fabs((double)w) + fabs((double)u));
}

static mfpg_digits_kind kind_of(ptrdiff_t n, double grid, double slack, const float *w, const float *u) {
    double inverse = 1.0 / grid; /* of a power of two */
    ptrdiff_t moved = 0;
    for (ptrdiff_t i = 0; i < n; i++) {
        double k = steps_between(inverse, w[i], u[i]);
        if (!is_on_grid(grid, k, slack, w[i], u[i])) return MFPG_DIGITS_FLOATS;
        moved += k != 0.0;
    }
    if (moved > 0) return MFPG_DIGITS_NOISED;
    return n >= ENOUGH_ENTRIES ? MFPG_DIGITS_STILL : MFPG_DIGITS_UNKNOWN;
}

mfpg_digits_kind mfpg_digits_of_sum(ptrdiff_t n, double grid, const float *w, const float *u) {
    return grid > 0.0 ? kind_of(n, grid, 0.0, w, u) : MFPG_DIGITS_FLOATS;
}

/* Of several local steps each rounds the weights to floats once more; if the state is also multiplied between them, or projected, the
 * end is on no grid. */
mfpg_status mfpg_digits_of_update(mfpg_context *ctx, const mfpg_audit_game *game, ptrdiff_t k, const float *w,
    const float *u, mfpg_digits_kind *out) {
    const mfpg_mechanism *mechanism = game->mechanism[k];
    const mfpg_release *release = &game->law[k].release;
    const mfpg_mechanism_ops *ops = mechanism->ops;
    ptrdiff_t n = mfpg_model_parameters(game->model);
    double slack = (double)(release->steps - 1) * 0x1p-23;
    *out = MFPG_DIGITS_UNKNOWN;
    if (!(release->grid > 0.0) || mfpg_mechanism_projects(mechanism) || (ops->drift && release->steps > 1))
        return MFPG_OK;
    if (!ops->drift) {
        *out = kind_of(n, release->grid, slack, w, u);
        return MFPG_OK;
    }
    float *rest = mfpg_alloc_floats(n);
    if (!rest) return mfpg_fail_memory(ctx);
    memcpy(rest, w, (size_t)n * sizeof *rest);
    ops->drift(mechanism, release, n, rest);
    *out = kind_of(n, release->grid, slack, rest, u);
    free(rest);
    return MFPG_OK;
}
