/** Randomness: one generator, ChaCha20, as random-access streams. Every draw is a function of
 *  (master key, purpose, round, client, index); no state is shared, so threads, ranks and resumption cannot change it.
 *
 *  A master key and (purpose, round) give a round key by a keyed hash (BLAKE2b); the client's number is the
 *  64-bit nonce of the original ChaCha20 and the block counter seeks inside the client's stream.
 *
 *  Layout of Gaussian vectors, fixed for all time and a function of their length n alone. A vector is cut from 32-bit
 *  little-endian words of consecutive 64-byte blocks; words w and w+1 of a block, w even, are a pair: the radius and
 *  the angle of a Box-Muller transform, whose cosine draw goes to the place of the radius and whose sine draw goes to
 *  the place of the angle. Places from n on are dropped.
 *    n <= 512: ceil(n/16) blocks a vector; word w of the vector's block b has place 16b+w.
 *    n >  512: groups of 8 blocks, 128 draws a group, ceil(n/128) groups a vector; word w of block b (0..7) of group g
 *              has place 128g+8w+b.
 *  Vector t starts at block t * (blocks a vector), all below block 2^63. A radius word w gives u = (w + 1/2) / 2^32,
 *  or, if it is below 2^9, u = (w 2^64 + v + 1/2) / 2^96: pair k of block b (words 2k and 2k+1) takes v from bytes
 *  8k .. 8k+7 of block 2^63 + b, little-endian. So the tail is that of 96 bits and the support reaches beyond 11
 *  standard deviations. The angle is pi/2 (q + (s + 1/2) / 2^30), q the two top bits of its word and s the other 30 as
 *  a signed number. The transform uses only additions, multiplications and square roots, uncontracted: the same bits
 *  on every x86-64. */
#ifndef MFPG_RANDOM_H
#define MFPG_RANDOM_H

#include <stddef.h>
#include <stdint.h>

#include "status.h"

/** A master key. seeded is 1 if it came from a seed: results are then reproducible and therefore not private. */
typedef struct mfpg_key {
    unsigned char bytes[32];
    int seeded;
} mfpg_key;

/** The use of a stream; streams of different purposes are independent. The values are part of the stream's
 *  definition. */
typedef enum mfpg_purpose {
    MFPG_PURPOSE_NOISE = 1,     /* privacy noise of a client's updates */
    MFPG_PURPOSE_BATCH = 2,     /* the examples of a Poisson batch */
    MFPG_PURPOSE_COHORT = 3,    /* the clients that take part in a round */
    MFPG_PURPOSE_START = 4,     /* starting models */
    MFPG_PURPOSE_SPLIT = 5,     /* train and test rows */
    MFPG_PURPOSE_PARTITION = 6, /* rows to clients */
    MFPG_PURPOSE_SYNTHETIC = 7, /* synthetic data */
    MFPG_PURPOSE_MIXING = 8,    /* the action of a client that mixes two */
    MFPG_PURPOSE_RECORDS = 9,   /* noise of a client's records: vector number step x rows + row */
    MFPG_PURPOSE_MEASURE = 10,  /* noise of a client's measurements in a round: loss and gradient norm */
    MFPG_PURPOSE_CHOICE = 11,   /* a client's choice of action by the exponential mechanism */
    /* particles of a mean-field flow: one vector per step, number 0 is the start */
    MFPG_PURPOSE_PARTICLE = 12,
    MFPG_PURPOSE_AUDIT = 13, /* audits: keys of their runs, arms, signs, coins and ties */
    MFPG_PURPOSE_TEST = 99   /* tests and studies */
} mfpg_purpose;

/** A stream is plain data and can be copied freely; draws do not change it. Streams of the same key, purpose
 *  and round differ only in their client, so a loop over clients may open one and set the number. */
typedef struct mfpg_stream {
    unsigned char key[32];
    uint64_t client;
} mfpg_stream;

/** Returns the key of a seed: BLAKE2b of a constant and the seed. It is reproducible and not private.
 *  Threads: safe. */
mfpg_key mfpg_key_from_seed(uint64_t seed);

/** Gets a key from the operating system; no other key may be used for a real release. MFPG_ERR_IO if the
 *  system provides none.
 *  *out is set only on success. Threads: safe. */
mfpg_status mfpg_key_from_system(mfpg_key *out);

/** Opens the stream of (key, purpose, round, client). Threads: safe. Never fails. */
mfpg_stream mfpg_stream_open(const mfpg_key *key, mfpg_purpose purpose, uint64_t round, uint64_t client);

/** Computes uniform doubles number first .. first+n-1 of the stream. Each is exactly (k + 1/2) 2^-52 in
 *  (0,1), where k is the top 52 bits of 8 little-endian bytes of the key stream; a block gives eight. */
void mfpg_stream_uniform(const mfpg_stream *stream, uint64_t first, ptrdiff_t n, double *out);

/** Writes the standard normal vector number `vector`, of length n, into out. All vectors of a stream must
 *  have one length. */
void mfpg_stream_gaussian(const mfpg_stream *stream, uint64_t vector, ptrdiff_t n, float *out);

#endif
