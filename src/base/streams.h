/* Randomness beyond mfpg/random.h: further draws of a stream, Gaussian vectors piece by piece, and ChaCha20 in vector code. */
#ifndef MFPG_BASE_STREAMS_H
#define MFPG_BASE_STREAMS_H

#include "mfpg/random.h"

#include "wide.h"

/* ---- further draws (random.c) ---- */

/* Computes the key-stream bytes [64*block, 64*block+n), n >= 0, as libsodium's crypto_stream_chacha20 does. */
void mfpg_stream_bytes(const mfpg_stream *stream, uint64_t block, ptrdiff_t n, unsigned char *out);

/* Returns an integer uniform on [0, bound), bound >= 1, from number `first` of the stream: the high half of
 * 64 bits times bound. The bias is below bound 2^-64. It uses the same bits as uniform number `first`. */
uint64_t mfpg_stream_below(const mfpg_stream *stream, uint64_t first, uint64_t bound);

/* Computes a uniformly random order of 0 .. n-1 by the inside-out Fisher-Yates shuffle: for i = 0 .. n-1, i
 * takes the place mfpg_stream_below(stream, i, i+1), and the previous holder of that place moves to place i. */
void mfpg_stream_permutation(const mfpg_stream *stream, ptrdiff_t n, ptrdiff_t *order);

/* Adds inout[i] += scale * z[i] with the same z as mfpg_stream_gaussian (float arithmetic, uncontracted). */
void mfpg_stream_gaussian_add(
    const mfpg_stream *stream, uint64_t vector, ptrdiff_t n, float scale, float *inout);

/* ---- Gaussian vectors by pieces (random_gaussian.c) ---- */

/* Computes draws number first to first + n - 1 of a vector; pieces must be requested in order. */
typedef void (*mfpg_gaussian_visitor)(ptrdiff_t first, ptrdiff_t n, const float *z, void *arg);

/* Computes the draws of mfpg_stream_gaussian, at most 2048 at a time; all pieces except the last have a
 * multiple of 128. The processor must have the registers; the bits are the same on all processors. */
void mfpg_stream_gaussian_visit(mfpg_registers registers, const mfpg_stream *stream, uint64_t vector,
    ptrdiff_t n, mfpg_gaussian_visitor visit, void *arg);

/* The same pieces, but every draw lies within MFPG_BOUNDED_ERROR of the normal deviate Z that the infinite bits of its two
 * uniforms mean (grid_noise.h), or is NaN: radius words below MFPG_LEAST_BOUNDED and the 2^10 largest say too little of
 * theirs. Its last bits may differ between processors.
 *
 * Why the bound holds. Let v = 2^-24, the relative error of one float operation; a fused one has no more. Let r = sqrt(-2 log u).
 * 1. The uniform. A float holds word + 1/2, or its distance from the other end, up to 2 v of itself, and the bits that are not
 *    read move u by at most 2^-33. An error du of u moves r by du/(u r). In the lower half that is (2 v + 1/(2 word))/r, at most
 *    4.6e-7: at the least word, 2^18, r is sqrt(28 log 2) < 4.41 and the first factor 2 v + 2^-19; it falls with growing words.
 *    In the upper half let t = 1 - u, at least 2^-22. For t < 0.293 the error is at most (2 v t + 2^-33)/((1 - t) sqrt(2 t)), which
 *    is below 1.8e-7 at t = 2^-22 and below 7e-8 at t = 0.293. For larger t the float 1 - t is off by 3 v of itself and r is above
 *    0.83, so that the error is below 2.2e-7.
 * 2. The radius. With u = 2^e m and f = m - 1, which is exact, r^2 is computed as s - 1.386 e, s = -2 log(1 + f), |s| < 0.694. The
 *    polynomial is off by 3.2e-8 of s and its evaluation by 4 v of s; the product with e, its constant included, by 2 v of
 *    itself, which is at most r^2 + 0.694; and the sum by v r^2. Together that is v (3 r^2 + 4.2) + 2.3e-8. The root halves it
 *    over r and adds v r of its own, which is at most 1.5e-7 r + 1.4e-7/r, or 7e-7 for r < 4.41 and r > 0.83. If e = 0 the
 *    error is relative, 2e-7 of r < 0.84. With the uniform's error r is off by less than 1.2e-6.
 * 3. Cosine and sine. p is off by v of itself, p^2 by 3 v; the polynomials by 3.9e-8 and 3.3e-9 of themselves. Evaluated term by term
 *    the cosine is off by 2.5 v and so is the sine; the bits of the angle that are not read move both by 2^-31 pi/2 = 7.4e-10.
 *    That is less than 2e-7.
 * 4. The product is off by 4.41 times 2e-7, 1.2e-6, and its rounding v r < 2.7e-7: less than 2.4e-6.
 * Over 1.2e9 radius words and 7e8 angle words, those below 2^22 without a gap, the largest errors were 7.8e-7 for the radius and
 * 1.2e-7 for cosine and sine, which makes 1.6e-6. The tests compare at all exponents. */
void mfpg_stream_bounded_gaussian_visit(mfpg_registers registers, const mfpg_stream *stream, uint64_t vector,
    ptrdiff_t n, mfpg_gaussian_visitor visit, void *arg);
#define MFPG_BOUNDED_ERROR 0x1p-18 /* 3.8e-6 */
#define MFPG_LEAST_BOUNDED ((uint32_t)1 << 18)
#define MFPG_BOUNDED_WORDS (0u - ((uint32_t)1 << 10) - MFPG_LEAST_BOUNDED)

/* Draw j of a vector takes its bits from words 2 pair and 2 pair + 1 of a block. */
typedef struct mfpg_pair_place {
    uint64_t block;
    int pair, sine;
} mfpg_pair_place;
mfpg_pair_place mfpg_stream_pair_place(uint64_t vector, ptrdiff_t n, ptrdiff_t j);

/* A smaller radius word is refined by 64 further bits. */
enum { MFPG_RARE_RADIUS = 1 << 9 };

/* Returns sqrt(-2 log u), where u = (word + 1/2) / 2^32, or (word 2^64 + further + 1/2) / 2^96 if the word
 * is rare. */
float mfpg_box_muller_radius(uint32_t word, uint64_t further);

/* Computes the two draws of a pair: radius times cosine and sine of the angle 2 pi (word's upper 30 bits +
 * 1/2) / 2^30. */
void mfpg_box_muller_pair(uint32_t radius_word, uint64_t further, uint32_t angle_word, float draws[2]);

/* ---- the key stream as vector code wants it (chacha20.c) ----
 *
 * The noise of long vectors takes most of its time in sixteen blocks side by side, that of small models in two. libsodium is the
 * reference, and the fallback if there are no AVX2 registers; every context compares the two once. */

enum { MFPG_CHACHA20_WORDS = 16, MFPG_CHACHA20_BLOCKS = 16 };

/* Word w of block `block` + b of the stream is at word[w][b]. */
typedef struct mfpg_chacha20 {
    uint32_t word[MFPG_CHACHA20_WORDS][MFPG_CHACHA20_BLOCKS] __attribute__((aligned(64)));
} mfpg_chacha20;

/* The processor must have the registers. Threads: safe. */
void mfpg_chacha20_make(
    mfpg_registers registers, const mfpg_stream *stream, uint64_t block, mfpg_chacha20 *out);

/* The words of `count` blocks one after the other, for vectors of few blocks: two blocks side by side, a row of each of them
 * in a register. Not for MFPG_REGISTERS_PLAIN. Threads: safe. */
void mfpg_chacha20_few(mfpg_registers registers, const mfpg_stream *stream, uint64_t block, ptrdiff_t count,
    uint32_t (*words)[MFPG_CHACHA20_WORDS]);

/* Returns 1 if this processor's code and libsodium give the same words, also if the counter's lower half
 * overflows. */
int mfpg_chacha20_agrees(void);

/* The draws of two groups of eight blocks (the layout of long vectors) from their words, into z[0 .. 256). bounded as above; else
 * the result is nonzero if a radius is rare and waits for its refinement. The processor must have the registers. */
uint32_t mfpg_gaussian_groups(int bounded, mfpg_registers registers, const mfpg_chacha20 *words, float *z);

#endif
