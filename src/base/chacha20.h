/* The key stream of ChaCha20 as vector code wants it: the noise of long vectors takes most of its time in sixteen blocks side
 * by side, that of small models in two. libsodium remains the reference (and the fallback where there are no AVX2 registers); every context
 * compares the two once. */
#ifndef MFPG_BASE_CHACHA20_H
#define MFPG_BASE_CHACHA20_H

#include <stddef.h>
#include <stdint.h>

#include "mfpg/random.h"
#include "wide.h"

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

/* 1 where this processor's code and libsodium give the same words, also where the counter's lower half overflows. */
int mfpg_chacha20_agrees(void);

#endif
