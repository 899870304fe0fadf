/* Noised values on a grid: K = [x + ratio Z], the integer nearest to a number plus a normal deviate, where Z is a real number
 * and the rounding is exact. All numbers here are counted in steps of the grid: x is what is to be noised, ratio the
 * standard deviation of the noise.
 *
 * The law. Draw j of vector number `vector` of a stream takes its bits where mfpg_stream_gaussian takes them (mfpg/random.h):
 * pair j/2's radius and angle words. If 32 bits do not decide the rounding, more bits of the same two uniforms are read:
 * bytes 0 .. 31 of block 2^63 + 2^62 + (number of the pair in the stream) continue the radius word, bytes 32 .. 63 the angle
 * word (exact_normal.h), each eight little-endian bytes a number, the most significant number first. Both draws of a pair use
 * the same bits. So K is a function of the key and of x, whatever arithmetic finds it: the fast path below may use fused
 * multiplications where a processor has them. Blocks of draws lie below 2^59.
 *
 * What may be added to delta for the bits beyond those: a draw is undecided after 288 bits with probability below 2^-200
 * (exact_normal.h). For 2^80 draws that is 2^-120 (1 + exp(epsilon)), which outward rounding of delta covers. */
#ifndef MFPG_BASE_GRID_NOISE_H
#define MFPG_BASE_GRID_NOISE_H

#include <stddef.h>
#include <stdint.h>

#include "exact_normal.h"
#include "mfpg/random.h"
#include "wide.h"

#define MFPG_GRID_LARGEST_RATIO 0x1p45
#define MFPG_GRID_LARGEST_X     0x1p49

/* Draws in one piece. */
enum { MFPG_GRID_PIECE = 2048 };

/* Writes x of entries first to first + n - 1, and takes their integers K, as doubles, from the same array. */
typedef void (*mfpg_grid_give)(ptrdiff_t first, ptrdiff_t n, double *x, void *arg);
typedef void (*mfpg_grid_take)(ptrdiff_t first, ptrdiff_t n, const double *k, void *arg);

/* K_j = [x_j + ratio Z_j] for vector number `vector` of length n of the stream, in order, in pieces of at most MFPG_GRID_PIECE
 * entries, all but the last of a multiple of 128. ratio in [1, MFPG_GRID_LARGEST_RATIO]; |x_j| <= MFPG_GRID_LARGEST_X, any double.
 * The processor must have the registers; the integers are the same for all. Allocates nothing. Threads: safe. */
void mfpg_grid_noise_visit(mfpg_registers registers, const mfpg_stream *stream, uint64_t vector, ptrdiff_t n,
    double ratio, mfpg_grid_give give, mfpg_grid_take take, void *arg);

/* The same for draw j of the vector alone. */
double mfpg_grid_noise_one(
    const mfpg_stream *stream, uint64_t vector, ptrdiff_t n, ptrdiff_t j, double x, double ratio);

/* The integer nearest to x + ratio Z for the deviate of these bits; NaN for an x out of range. */
double mfpg_grid_nearest(const mfpg_normal_bits *bits, double ratio, double x);

#endif
