/** Noised values on a public grid: the one way in which this library lets a private number out under Gaussian noise.
 *
 *    K = [(x + sd Z) / grid],   Z standard normal, [y] the integer nearest to y; what leaves is K, or K grid.
 *
 *  Z is a real number and the rounding is exact, so that K is a function of the real Gaussian mechanism's x + sd Z: whatever is
 *  certified of that one holds for K with the same numbers (post-processing). A float x + sd z has last digits that betray x; K has
 *  none. In sums of clients the integers are added, and the sum has the certificate of the real sum, but for
 *  exp(2 d eta) with eta = (n - 1) log((1 + t)/(1 - t)), t = 2 sum exp(-pi^2 m^2 (sd/grid)^2): for sd >= 4 grid, which is
 *  required, t is below 5.3e-69, so that the addition to epsilon is below 1e-49 for a million clients, coordinates and rounds, and
 *  the outward rounding of every epsilon covers it.
 *
 *  Units: x, sd and grid are in one unit, that of the weights for updates. */
#ifndef MFPG_GRID_H
#define MFPG_GRID_H

#include <stddef.h>
#include <stdint.h>

#include "context.h"
#include "random.h"

/** The grid that is taken if none is asked for: the largest power of two <= sd/16, which adds at most 3.3e-4 of the variance.
 *  0 for a standard deviation that is 0, NaN, infinite or below 2^-960. */
double mfpg_grid_for(double sd);

/** What is wrong with a grid for noise of that sd around values that data move by up to `sensitivity`; NULL: nothing. It has to be a
 *  power of two, at most sd/4, and not below 2^-45 sd or 2^-40 sensitivity. */
const char *mfpg_grid_fault(double grid, double sd, double sensitivity);

/** K_j = [(x_j + sd Z_j)/grid] for a vector of n entries.
 *  @param[in]  stream  as for mfpg_stream_gaussian; Z_j is the normal deviate that the random bits of its draw j mean, with as
 *                      many further bits of the stream as decide the rounding. No vector may serve two releases
 *  @param[in]  x       n numbers, |x_j| <= 2^49 grid
 *  @param[out] k       n integers; the same on every processor
 *  @return MFPG_OK; MFPG_ERR_DOMAIN for a grid with a fault (sensitivity not looked at); MFPG_ERR_INPUT for an x that is not finite
 *  or out of range. This last refusal depends on private numbers: clip first.
 *  Time: about 4 ns an entry up to sd/grid of 64, 9 at 1024, 60 at 2^14, 0.4 microseconds beyond and 3 at 2^40. Threads: safe. Memory: allocates nothing. */
mfpg_status mfpg_grid_noise(mfpg_context *ctx, const mfpg_stream *stream, uint64_t vector, ptrdiff_t n,
    const double *x, double sd, double grid, int64_t *k);

/** The release points: every place of this library where a private value leaves under noise, from a table that its tests walk.
 *  NULL past the end. */
const char *mfpg_release_point_name(ptrdiff_t index); /* such as "update" */
const char *mfpg_release_point_help(ptrdiff_t index); /* what leaves there */

#endif
