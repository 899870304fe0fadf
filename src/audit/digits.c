/* What the last digits of a release reveal. Noise on the public grid gives w + grid k for whole numbers k,
 * all of which are possible whatever the data are. A release off the grid has noise in floats, or none; some
 * numbers are then impossible under one of the two inputs. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "audit_game.h"
#include "base/error.h"
#include "base/memory.h"
#include "mechanisms/mechanism_ops.h"

/* Noise on a grid of a quarter of its deviation rounds to zero with probability 0.0995; for this many
 * entries at once, about once in 10^8. */
enum { ENOUGH_ENTRIES = 8 };

/* Returns the nearest point of the grid around w, in steps. */
static double steps_between(double inverse, double w, float u) {
    return rint(((double)u - w) * inverse);
}

/* Returns 1 if u is float(w + grid k) for a whole number k, or differs from it by at most `slack` times the
 * size of the two numbers. */
static int is_on_grid(double grid, double k, double slack, double w, float u) {
    double point = w + grid * k;
    return (float)point == u || fabs(point - (double)u) <= slack * (fabs(w) + fabs((double)u));
}

static mfpg_digits_kind kind_of(ptrdiff_t n, double grid, double slack, const float *w, const float *u) {
    double inverse = 1.0 / grid; /* of a power of two */
    ptrdiff_t moved = 0;
    for (ptrdiff_t i = 0; i < n; i++) {
        double k = steps_between(inverse, (double)w[i], u[i]);
        if (!is_on_grid(grid, k, slack, (double)w[i], u[i])) return MFPG_DIGITS_FLOATS;
        moved += k != 0.0;
    }
    if (moved > 0) return MFPG_DIGITS_NOISED;
    return n >= ENOUGH_ENTRIES ? MFPG_DIGITS_STILL : MFPG_DIGITS_UNKNOWN;
}

mfpg_digits_kind mfpg_digits_of_sum(ptrdiff_t n, double grid, const float *w, const float *u) {
    return grid > 0.0 ? kind_of(n, grid, 0.0, w, u) : MFPG_DIGITS_FLOATS;
}

/* ---- which input is possible ---- */

/* Number of entries that are examined: under the wrong input each is impossible with probability about 1/4. */
enum { MOST_ENTRIES = 512 };

/* Number of floats around the expected one that are tried: of the noise, for the rounding of the sum; of the
 * clipped entry, for the rounding of the clip. */
enum { NOISE_NEIGHBOURS = 3, ENTRY_NEIGHBOURS = 4 };

/* Returns 1 if u is float(x + sd z) for a float z. Rounding is monotone, so only the floats around (u -
 * x)/sd need to be tried. */
static int is_float_noise(double x, double sd, float u) {
    float z = (float)(((double)u - x) / sd);
    for (int i = 0; i < NOISE_NEIGHBOURS; i++) z = nextafterf(z, -HUGE_VALF);
    for (int i = 0; i <= 2 * NOISE_NEIGHBOURS; i++, z = nextafterf(z, HUGE_VALF))
        if ((float)(x + sd * (double)z) == u) return 1;
    return 0;
}

/* Counts the entries of direction j that have a possible output in u if each moved by `entry` (with its
 * sign): by noise in floats, and by noise on a grid around the private number instead of the public one. The
 * second is rare under a wrong input, so the two counts may be added. */
static ptrdiff_t count_possible(const mfpg_release *release, ptrdiff_t n, ptrdiff_t directions, ptrdiff_t j,
    double entry, const float *start, const float *u) {
    ptrdiff_t first = mfpg_canary_first(n, directions, j), end = mfpg_canary_first(n, directions, j + 1);
    ptrdiff_t possible = 0;
    double inverse = 1.0 / release->grid;
    if (end - first > MOST_ENTRIES) end = first + MOST_ENTRIES;
    for (ptrdiff_t i = first; i < end; i++) {
        double v = mfpg_canary_entry(n, directions, j, i);
        double x = (double)start[i] + (v < 0.0 ? -entry : entry);
        possible += is_float_noise(x, release->noise_sd, u[i]);
        possible += is_on_grid(release->grid, steps_between(inverse, x, u[i]), 0.0, x, u[i]);
    }
    return possible;
}

/* Returns the same count for the float near `entry` that explains most. */
static ptrdiff_t most_possible(const mfpg_release *release, ptrdiff_t n, ptrdiff_t directions, ptrdiff_t j,
    double entry, const float *start, const float *u) {
    ptrdiff_t most = 0;
    if (entry == 0.0) return count_possible(release, n, directions, j, 0.0, start, u);
    float x = (float)entry;
    for (int i = 0; i < ENTRY_NEIGHBOURS; i++) x = nextafterf(x, -HUGE_VALF);
    for (int i = 0; i <= 2 * ENTRY_NEIGHBOURS; i++, x = nextafterf(x, HUGE_VALF)) {
        ptrdiff_t count = count_possible(release, n, directions, j, (double)x, start, u);
        if (count > most) most = count;
    }
    return most;
}

/* Returns the value in {-1, 0, 1} of the canary along direction j that explains the most entries;
 * MFPG_SHOWS_NONE if two explain equally many. */
static signed char most_likely(const mfpg_audit_law *law, ptrdiff_t n, ptrdiff_t directions, ptrdiff_t j,
    const float *start, const float *u) {
    const mfpg_release *release = &law->release;
    double entry = law->gap / (1.0 + release->rounding) *
                   fabs(mfpg_canary_entry(n, directions, j, mfpg_canary_first(n, directions, j)));
    ptrdiff_t most = -1;
    signed char shown = MFPG_SHOWS_NONE;
    for (int value = -1; value <= 1; value++) {
        ptrdiff_t count = most_possible(release, n, directions, j, value * entry, start, u);
        if (count == most) shown = MFPG_SHOWS_NONE;
        if (count > most) shown = (signed char)value;
        if (count > most) most = count;
    }
    return shown;
}

/* ---- a release ---- */

/* Computes what the digits of u, which starts at the model `start`, reveal. They reveal nothing for input
 * canaries, whose sum is not known, for several steps, and for drawn batches. */
static void read_digits(
    const mfpg_audit_game *game, ptrdiff_t k, const float *start, const float *u, mfpg_transcript *s) {
    const mfpg_audit_law *law = &game->law[k];
    ptrdiff_t n = mfpg_model_parameters(game->model), plane = (ptrdiff_t)game->rounds * game->clients,
              at = (ptrdiff_t)s->rounds * game->clients + k;
    /* With several local steps, each rounds the weights to floats once more. */
    s->digits[at] = kind_of(n, law->release.grid, (double)(law->release.steps - 1) * 0x1p-23, start, u);
    if (s->digits[at] != MFPG_DIGITS_FLOATS || game->input || law->release.steps > 1 || law->rate < 1.0)
        return;
    for (ptrdiff_t j = 0; j < s->planes; j++)
        s->shown[j * plane + at] =
            most_likely(law, n, s->directions, mfpg_plane_direction(s, k, j), start, u);
}

/* If the state is projected, or multiplied between several steps, the result is on no grid. */
mfpg_status mfpg_digits_of_update(mfpg_context *ctx, const mfpg_audit_game *game, ptrdiff_t k, const float *w,
    const float *u, mfpg_transcript *s) {
    const mfpg_mechanism *mechanism = game->mechanism[k];
    const mfpg_release *release = &game->law[k].release;
    const mfpg_mechanism_ops *ops = mechanism->ops;
    ptrdiff_t n = mfpg_model_parameters(game->model);
    ptrdiff_t plane = (ptrdiff_t)game->rounds * game->clients, at = (ptrdiff_t)s->rounds * game->clients + k;
    s->digits[at] = MFPG_DIGITS_UNKNOWN;
    for (ptrdiff_t j = 0; j < s->planes; j++) s->shown[j * plane + at] = MFPG_SHOWS_NONE;
    if (!(release->grid > 0.0) || mfpg_mechanism_projects(mechanism) || (ops->drift && release->steps > 1))
        return MFPG_OK;
    if (!ops->drift) {
        read_digits(game, k, w, u, s);
        return MFPG_OK;
    }
    float *start = mfpg_alloc_floats(n); /* the model after the public terms of the step */
    if (!start) return mfpg_fail_memory(ctx);
    memcpy(start, w, (size_t)n * sizeof *start);
    ops->drift(mechanism, release, n, start);
    read_digits(game, k, start, u, s);
    free(start);
    return MFPG_OK;
}
