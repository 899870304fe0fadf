/* A normal deviate as the real number that its infinite string of random bits means, and comparisons with it that no
 * rounding can turn: what decides to which step of a grid a noised value is rounded (grid_noise.h).
 *
 * The deviate is Z = sqrt(-2 log u) cos(pi/2 (q + p)), or the sine. u is uniform on (0,1): the 32 bits of the radius word,
 * then `further_radius`, most significant first. q is the two top bits of the angle word, and p in [-1/2, 1/2) is its other
 * 30 bits as a signed number, then `further_angle`, in units of 2^-30. 288 bits of u and 286 of the angle are known. */
#ifndef MFPG_BASE_EXACT_NORMAL_H
#define MFPG_BASE_EXACT_NORMAL_H

#include <stdint.h>

enum { MFPG_NORMAL_FURTHER = 4 };

typedef struct mfpg_normal_bits {
    uint32_t radius, angle;
    uint64_t further_radius[MFPG_NORMAL_FURTHER], further_angle[MFPG_NORMAL_FURTHER];
    int sine; /* 1: the pair's sine draw, 0: its cosine draw */
} mfpg_normal_bits;

/* An estimate from the words and 64 further bits of each, off by at most MFPG_NORMAL_ESTIMATE_ERROR; NaN in the cell of
 * probability 2^-44 at u = 0 where 96 bits of u say too little. */
double mfpg_normal_estimate(const mfpg_normal_bits *bits);
#define MFPG_NORMAL_ESTIMATE_ERROR 0x1p-45

/* 1 if x + ratio Z < bound, else 0: exact, for every completion of the bits, but for a probability below 2^-200 a call, in
 * which the known bits decide as if they were all. ratio in [1, 2^46], |x| and |bound| below 2^50. Takes some microseconds. */
int mfpg_normal_is_below(const mfpg_normal_bits *bits, double ratio, double x, double bound);

#endif
