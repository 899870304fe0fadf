/* The law of noised values on a grid worked out a second time, with numbers of 200 bits by MPFR and no fast path, from the
 * text of mfpg/random.h (which words a draw takes), grid_noise.h (what they mean, and where further bits are):
 * none of the library's arithmetic is used but the bytes of its key stream, which libsodium's tests know. */
#ifndef MFPG_TESTS_GRID_REFERENCE_H
#define MFPG_TESTS_GRID_REFERENCE_H

#include <stdint.h>
#include <string.h>

#include <mpfr.h> /* after stdint.h: its conversions of 64 bits */

#include "base/grid_noise.h"
#include "mfpg/random.h"

enum { REFERENCE_BITS = 200 };

static inline uint64_t reference_number(const unsigned char *bytes, int count) {
    uint64_t value = 0;
    for (int i = count - 1; i >= 0; i--) value = value << 8 | bytes[i];
    return value;
}

/* The bits of draw j of a vector of length n. */
static inline mfpg_normal_bits reference_bits(
    const mfpg_stream *stream, uint64_t vector, ptrdiff_t n, ptrdiff_t j) {
    uint64_t block;
    ptrdiff_t word;
    if (n <= 512) { /* word w of the vector's block b has place 16 b + w */
        block = vector * (uint64_t)((n + 15) / 16) + (uint64_t)(j / 16);
        word = j % 16;
    } else { /* word w of block b of group g has place 128 g + 8 w + b */
        block = vector * (uint64_t)(8 * ((n + 127) / 128)) + (uint64_t)(8 * (j / 128) + j % 8);
        word = j % 128 / 8;
    }
    unsigned char own[64], further[64];
    ptrdiff_t pair = word / 2;
    mfpg_stream_bytes(stream, block, 64, own);
    mfpg_stream_bytes(
        stream, ((uint64_t)1 << 63) + ((uint64_t)1 << 62) + 8 * block + (uint64_t)pair, 64, further);
    mfpg_normal_bits bits = {.radius = (uint32_t)reference_number(own + 8 * pair, 4),
        .angle = (uint32_t)reference_number(own + 8 * pair + 4, 4),
        .sine = (int)(word % 2)};
    for (int i = 0; i < 4; i++) {
        bits.further_radius[i] = reference_number(further + 8 * i, 8);
        bits.further_angle[i] = reference_number(further + 32 + 8 * i, 8);
    }
    return bits;
}

/* value = (word and then the further bits) in units of the word's last bit. */
static inline void reference_fraction(mpfr_t value, double word, const uint64_t *further) {
    mpfr_t part;
    mpfr_init2(part, 400);
    mpfr_set_d(value, word, MPFR_RNDN);
    for (int i = 0; i < 4; i++) {
        mpfr_set_uj_2exp(part, further[i], -64 * (i + 1), MPFR_RNDN);
        mpfr_add(value, value, part, MPFR_RNDN);
    }
    mpfr_clear(part);
}

/* Z = sqrt(-2 log u) cos(pi/2 (q + p)), or the sine. The uniforms are held with all their bits, so that logarithms next to
 * u = 1 lose none. Not for u = 0. */
static inline void reference_normal(mpfr_t z, const mfpg_normal_bits *bits) {
    mpfr_t u, angle, pi;
    mpfr_inits2(400, u, angle, pi, (mpfr_ptr)0);
    reference_fraction(u, (double)bits->radius, bits->further_radius);
    mpfr_mul_2si(u, u, -32, MPFR_RNDN);
    double low = (double)(bits->angle % 0x40000000u);
    if (low >= 0x1p29) low -= 0x1p30;
    reference_fraction(angle, low, bits->further_angle);
    mpfr_mul_2si(angle, angle, -30, MPFR_RNDN);
    mpfr_add_d(angle, angle, (double)(bits->angle / 0x40000000u), MPFR_RNDN);
    mpfr_const_pi(pi, MPFR_RNDN);
    mpfr_mul(angle, angle, pi, MPFR_RNDN);
    mpfr_mul_2si(angle, angle, -1, MPFR_RNDN);
    mpfr_set_prec(z, REFERENCE_BITS);
    mpfr_log(u, u, MPFR_RNDN);
    mpfr_mul_si(u, u, -2, MPFR_RNDN);
    mpfr_sqrt(u, u, MPFR_RNDN);
    if (bits->sine)
        mpfr_sin(angle, angle, MPFR_RNDN);
    else
        mpfr_cos(angle, angle, MPFR_RNDN);
    mpfr_mul(z, u, angle, MPFR_RNDN);
    mpfr_clears(u, angle, pi, (mpfr_ptr)0);
}

/* The integer nearest to x + ratio Z. */
static inline double reference_rounded(mpfr_srcptr z, double ratio, double x) {
    mpfr_t y;
    mpfr_init2(y, REFERENCE_BITS);
    mpfr_mul_d(y, z, ratio, MPFR_RNDN);
    mpfr_add_d(y, y, x, MPFR_RNDN);
    mpfr_rint(y, y, MPFR_RNDN);
    double k = mpfr_get_d(y, MPFR_RNDN);
    mpfr_clear(y);
    return k;
}

#endif
