/* What stands behind mfpg_stream_gaussian: a vector piece by piece, for those who use every draw once, and the Box-Muller
 * transform of one pair, for its tests. */
#ifndef MFPG_BASE_RANDOM_GAUSSIAN_H
#define MFPG_BASE_RANDOM_GAUSSIAN_H

#include <stddef.h>
#include <stdint.h>

#include "mfpg/random.h"
#include "wide.h"

/* Draws number first to first + n - 1 of a vector; pieces come in order. */
typedef void (*mfpg_gaussian_visitor)(ptrdiff_t first, ptrdiff_t n, const float *z, void *arg);

/* The draws of mfpg_stream_gaussian, at most 2048 at a time, all pieces but the last of a multiple of 128. The processor
 * must have the registers; the bits are the same for all. */
void mfpg_stream_gaussian_visit(mfpg_registers registers, const mfpg_stream *stream, uint64_t vector,
    ptrdiff_t n, mfpg_gaussian_visitor visit, void *arg);

/* A radius word below this is refined by 64 further bits. */
enum { MFPG_RARE_RADIUS = 1 << 9 };

/* sqrt(-2 log u): u = (word + 1/2) / 2^32, or (word 2^64 + further + 1/2) / 2^96 where the word is rare. */
float mfpg_box_muller_radius(uint32_t word, uint64_t further);

/* The two draws of a pair: radius times cosine and sine of the angle 2 pi (word's upper 30 bits + 1/2) / 2^30. */
void mfpg_box_muller_pair(uint32_t radius_word, uint64_t further, uint32_t angle_word, float draws[2]);

#endif
