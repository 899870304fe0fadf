/* The Box-Muller transform behind mfpg_stream_gaussian, one pair at a time, for its tests. */
#ifndef MFPG_BASE_RANDOM_GAUSSIAN_H
#define MFPG_BASE_RANDOM_GAUSSIAN_H

#include <stdint.h>

/* A radius word below this is refined by 64 further bits. */
enum { MFPG_RARE_RADIUS = 1 << 9 };

/* sqrt(-2 log u): u = (word + 1/2) / 2^32, or (word 2^64 + further + 1/2) / 2^96 where the word is rare. */
float mfpg_box_muller_radius(uint32_t word, uint64_t further);

/* The two draws of a pair: radius times cosine and sine of the angle 2 pi (word's upper 30 bits + 1/2) / 2^30. */
void mfpg_box_muller_pair(uint32_t radius_word, uint64_t further, uint32_t angle_word, float draws[2]);

#endif
