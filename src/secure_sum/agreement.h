/* What two parties of a secure sum share: keys agreed by X25519, shares of a secret, and masks. */
#ifndef MFPG_SECURE_SUM_AGREEMENT_H
#define MFPG_SECURE_SUM_AGREEMENT_H

#include <stddef.h>
#include <stdint.h>

#include "base/streams.h"

enum {
    MFPG_SUM_KEY = 32,
    MFPG_SUM_SERVER = 255 /* the server's number; a client's is its place in the roster */
};

/* ---- keys ---- */

/* What a key is for; one agreement gives independent keys. */
typedef enum mfpg_sum_use {
    MFPG_SUM_FOR_MASK = 1,  /* key stream of a pairwise mask */
    MFPG_SUM_FOR_TRANSPORT, /* encryption of shares */
    MFPG_SUM_FOR_SEAL       /* authentication between a client and the server */
} mfpg_sum_use;

/* One side of an agreement. */
typedef struct mfpg_sum_party {
    int number;
    const unsigned char *public_key;
} mfpg_sum_party;

/* Derives the key of two parties: BLAKE2b, keyed by what X25519 gives, of the use, the context, both numbers and both public
 * keys, in the order of the numbers. Returns 0 if the other's key is one with which everybody agrees on zero. */
int mfpg_sum_agree(mfpg_sum_use use, const unsigned char context[32], const unsigned char secret_key[32],
    mfpg_sum_party own, mfpg_sum_party other, unsigned char key[32]);

/* ---- shares: Shamir's, over GF(2^8) with the polynomial x^8 + x^4 + x^3 + x + 1, every byte for itself ----
 *
 * Abscissas and the number of shares are public; the time depends on nothing else. */

/* Computes the share at abscissa x: the polynomial whose coefficient number j is coefficient + j size, the secret first.
 * size is a multiple of 32. */
void mfpg_shamir_share(
    const unsigned char *coefficient, int threshold, size_t size, unsigned char x, unsigned char *share);

/* Computes the Lagrange weights at 0 of count different abscissas, none of them 0. */
void mfpg_shamir_weights(const unsigned char *abscissa, int count, unsigned char *weight);

/* Adds weight times the share to the secret; size is a multiple of 32. */
void mfpg_shamir_add(unsigned char weight, const unsigned char *share, size_t size, unsigned char *secret);

/* ---- vectors modulo 2^bits, as words of 2, 4 or 8 bytes whose upper bits mean nothing ---- */

/* The words of a vector. */
typedef struct mfpg_sum_words {
    int bits, width;     /* width: bytes of a word */
    ptrdiff_t count;     /* coordinates */
    unsigned char *data; /* whole pieces of the key stream: more than count words */
} mfpg_sum_words;

/* Allocates zeros; data is NULL if memory runs out. clear wipes them. */
mfpg_sum_words mfpg_sum_words_create(int bits, ptrdiff_t count);
void mfpg_sum_words_clear(mfpg_sum_words *words);

/* A mask: the ChaCha20 key stream under its key, as words. Coordinate i of width w takes bytes i w .. of the key stream in
 * pieces of 1024 bytes, whose 32-bit words are taken in the order (word of a block, block) and not (block, word). */
typedef struct mfpg_sum_mask {
    mfpg_stream stream; /* client 0 */
    int sign;           /* +1 or -1 */
} mfpg_sum_mask;

/* Adds the masks, or subtracts those of sign -1, piece by piece so that a piece of the vector stays in the cache. */
void mfpg_sum_masks_add(const mfpg_sum_mask *mask, ptrdiff_t count, mfpg_sum_words *words);

void mfpg_sum_words_set(mfpg_sum_words *words, const int64_t *vector);
void mfpg_sum_words_get(const mfpg_sum_words *words, int64_t *vector); /* in [-2^(bits-1), 2^(bits-1)) */

double mfpg_sum_words_largest(const mfpg_sum_words *words); /* in size, of the same numbers */

/* Packed: coordinate i in bits i b .. i b + b - 1, the lowest bit of a byte first. */
size_t mfpg_sum_packed_size(int bits, ptrdiff_t count);
int mfpg_sum_is_packed(
    int bits, ptrdiff_t count, const unsigned char *packed); /* 1 if the bits that are left over are 0 */
void mfpg_sum_words_pack(const mfpg_sum_words *words, unsigned char *packed);
void mfpg_sum_words_add_packed(mfpg_sum_words *words, const unsigned char *packed);

#endif
