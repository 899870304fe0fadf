/* Noised values on a public grid: the one way in which this library lets a private number out under Gaussian noise.
 *
 *   K = [(x + sd Z) / grid],   Z standard normal, [y] the integer nearest to y; what leaves is K, or K grid.
 *
 * Z is a real number and the rounding is exact, so that K is a function of the real Gaussian mechanism's x + sd Z: whatever is
 * certified of that one holds for K with the same numbers (post-processing). A float x + sd z has last digits that betray x; K has
 * none. In sums of clients the integers are added, and the sum has the certificate of the real sum, but for
 * exp(2 d eta) with eta = (n - 1) log((1 + t)/(1 - t)), t = 2 sum exp(-pi^2 m^2 (sd/grid)^2): for sd >= 4 grid, which is
 * required, t is below 5.3e-69, so that the addition to epsilon is below 1e-49 for a million clients, coordinates and rounds, and
 * the outward rounding of every epsilon covers it.
 *
 * Units: x, sd and grid are in one unit, that of the weights for updates.
 *
 * The law. Draw j of vector number `vector` of a stream takes its bits where mfpg_stream_gaussian takes them (mfpg/random.h):
 * pair j/2's radius and angle words. If 32 bits do not decide the rounding, more bits of the same two uniforms are read:
 * bytes 0 .. 31 of block 2^63 + 2^62 + (number of the pair in the stream) continue the radius word, bytes 32 .. 63 the angle
 * word, each eight little-endian bytes a number, the most significant number first. Both draws of a pair use
 * the same bits. So K is a function of the key and of x, whatever arithmetic finds it: the fast path below may use fused
 * multiplications if a processor has them. Blocks of draws lie below 2^59.
 *
 * What may be added to delta for the bits beyond those: a draw is undecided after 288 bits with probability below 2^-200
 * (mfpg_normal_is_below). For 2^80 draws that is 2^-120 (1 + exp(epsilon)), which outward rounding of delta covers. */
#ifndef MFPG_BASE_GRID_NOISE_H
#define MFPG_BASE_GRID_NOISE_H

#include <stddef.h>
#include <stdint.h>

#include "streams.h"

/* Returns the default grid: the largest power of two <= sd/16, which adds at most 3.3e-4 of the variance. 0
 * for a standard deviation that is 0, NaN, infinite or below 2^-960. */
double mfpg_grid_for(double sd);

/* Returns what is wrong with a grid for noise of that sd around values that data move by up to
 * `sensitivity`; NULL: nothing. It must be a power of two, at most sd/4, and not below 2^-45 sd or 2^-40
 * sensitivity. */
const char *mfpg_grid_fault(double grid, double sd, double sensitivity);

/* ---- counted in steps of the grid: x are the values, ratio is the standard deviation of the noise; about 4 ns an entry up to a
 * ratio of 64, 9 at 1024, 60 at 2^14, 0.4 microseconds beyond and 3 at 2^40 ---- */

#define MFPG_GRID_LARGEST_RATIO 0x1p45
#define MFPG_GRID_LARGEST_X     0x1p49

/* Number of draws in one piece, and number that is rounded at a time. */
enum { MFPG_GRID_PIECE = 2048, MFPG_GRID_SHORT = 128 };

/* Writes x of entries first to first + n - 1, and then receives their integers K, as doubles, in the same
 * array. */
typedef void (*mfpg_grid_give)(ptrdiff_t first, ptrdiff_t n, double *x, void *arg);
typedef void (*mfpg_grid_take)(ptrdiff_t first, ptrdiff_t n, const double *k, void *arg);

/* K_j = [x_j + ratio Z_j] for vector number `vector` of length n of the stream, in order, in pieces of at most MFPG_GRID_PIECE
 * entries, all but the last of a multiple of 128. ratio in [1, MFPG_GRID_LARGEST_RATIO]; |x_j| <= MFPG_GRID_LARGEST_X, any double.
 * The processor must have the registers; the integers are the same for all. Allocates nothing. Threads: safe. */
void mfpg_grid_noise_visit(mfpg_registers registers, const mfpg_stream *stream, uint64_t vector, ptrdiff_t n,
    double ratio, mfpg_grid_give give, mfpg_grid_take take, void *arg);

/* The state for rounding by the draws of one vector. */
typedef struct mfpg_grid_draws {
    const mfpg_stream *stream;
    uint64_t vector;
    ptrdiff_t n;
    double ratio;
} mfpg_grid_draws;

/* Receives entries first to first + n - 1 with draws that are close to their deviates; a draw is NaN if none
 * is close enough. */
typedef void (*mfpg_grid_pass)(
    const mfpg_grid_draws *draws, ptrdiff_t first, ptrdiff_t n, const float *z, void *arg);

/* The same pieces for callers that do their own rounding, by the two functions below, of at most MFPG_GRID_SHORT entries at a
 * time: short arrays stay in the nearest cache with their draws, and one that is not certain is cheap to repeat. */
void mfpg_grid_noise_pass(mfpg_registers registers, const mfpg_stream *stream, uint64_t vector, ptrdiff_t n,
    double ratio, mfpg_grid_pass pass, void *arg);

/* Sets k to the integers K of entries first to first + n - 1, n at most MFPG_GRID_SHORT, from their draws z. */
void mfpg_grid_round(
    const mfpg_grid_draws *draws, ptrdiff_t first, ptrdiff_t n, const float *z, const double *x, double *k);

/* The same in float, eight entries side by side, for x below 2^20 or so: each x a number rounded to float.
 *
 * Let v = 2^-24. The sum y is off by v|x| through x, by 2 v ratio |z| through ratio and the product, by v|y| through its own
 * rounding and by ratio MFPG_BOUNDED_ERROR through z. |x| is at most |y| + ratio |z|, |z| below 4.42: less than 3 v |y| and
 * ratio (MFPG_BOUNDED_ERROR + 14 v) in all. y less the nearest integer is exact if |y| < 2^22, and beyond nothing is
 * certain. The comparison rounds by less than v/2, and so does `most`: 2^-23 covers both. */
enum { MFPG_GRID_LANES = 8 };
typedef float mfpg_grid_floats __attribute__((vector_size(MFPG_GRID_LANES * sizeof(float))));
typedef int32_t mfpg_grid_mask __attribute__((vector_size(MFPG_GRID_LANES * sizeof(int32_t))));

static inline float mfpg_grid_most(double ratio) {
    return (float)(0.5 - 0x1p-23 - ratio * (MFPG_BOUNDED_ERROR + 14.0 * 0x1p-24));
}

/* Returns the nearest integers, below 2^22; `certain` becomes 0 in lanes whose integer is not certain. */
static inline __attribute__((always_inline)) void mfpg_grid_round_lanes(float ratio, float most,
    const mfpg_grid_floats *x, const mfpg_grid_floats *z, mfpg_grid_floats *k, mfpg_grid_mask *certain) {
    const float rounder = 0x1.8p23f;
    mfpg_grid_floats y = *x + ratio * *z, nearest = (y + rounder) - rounder, off = y - nearest;
    mfpg_grid_floats size = (mfpg_grid_floats)((mfpg_grid_mask)y & INT32_MAX);
    off = (mfpg_grid_floats)((mfpg_grid_mask)off & INT32_MAX);
    *certain &= off + size * 0x1p-22f <= most;
    *k = nearest;
}

/* Does the same for draw j of the vector only. */
double mfpg_grid_noise_one(
    const mfpg_stream *stream, uint64_t vector, ptrdiff_t n, ptrdiff_t j, double x, double ratio);

/* ---- a normal deviate as the real number that its infinite string of random bits means (exact_normal.c) ----
 *
 * Comparisons with it that no rounding can turn decide to which step of a grid a noised value is rounded. The deviate is
 * Z = sqrt(-2 log u) cos(pi/2 (q + p)), or the sine. u is uniform on (0,1): the 32 bits of the radius word, then
 * `further_radius`, most significant first. q is the two top bits of the angle word, and p in [-1/2, 1/2) is its other
 * 30 bits as a signed number, then `further_angle`, in units of 2^-30. 288 bits of u and 286 of the angle are known. */

enum { MFPG_NORMAL_FURTHER = 4 };

typedef struct mfpg_normal_bits {
    uint32_t radius, angle;
    uint64_t further_radius[MFPG_NORMAL_FURTHER], further_angle[MFPG_NORMAL_FURTHER];
    int sine; /* 1: the sine draw of the pair, 0: its cosine draw */
} mfpg_normal_bits;

/* Returns an estimate from the words and 64 further bits of each, with an error of at most
 * MFPG_NORMAL_ESTIMATE_ERROR; NaN in the cell of probability 2^-44 at u = 0, in which 96 bits of u are not
 * enough. */
double mfpg_normal_estimate(const mfpg_normal_bits *bits);
#define MFPG_NORMAL_ESTIMATE_ERROR 0x1p-45

/* Returns 1 if x + ratio Z < bound, and otherwise 0. It is exact for every completion of the bits, except
 * with probability below 2^-200 per call, when the known bits decide as if there were no others. ratio in
 * [1, 2^46], |x| and |bound| below 2^50. It takes some microseconds. */
int mfpg_normal_is_below(const mfpg_normal_bits *bits, double ratio, double x, double bound);

/* Returns the integer nearest to x + ratio Z for the deviate of these bits; NaN for an x out of range. */
double mfpg_grid_nearest(const mfpg_normal_bits *bits, double ratio, double x);

#endif
