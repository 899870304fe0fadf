#include "streams.h"

#include <endian.h>
#include <sodium.h>
#include <string.h>
#include <unistd.h>

enum {
    BLOCK_BYTES = 64,
    NUMBERS_A_BLOCK = 8, /* 64-bit numbers in a block */
    PIECE_NUMBERS = 512, /* numbers read at once */
    /* Size of one libsodium call: calls shorter than 4 KiB are dominated by their start, longer ones do not
     * fit into the cache. */
    PIECE_BYTES = 16 * 1024
};

/* Prefixes of the keyed hashes, so that another use of the same master key cannot produce these streams. 16
 * bytes each. */
static const char SEED_DOMAIN[16] = "mfpg seed key 1";
static const char STREAM_DOMAIN[16] = "mfpg stream 1";

/* Selects libsodium's fast code. A stream may be opened before any context was created. The call may be
 * repeated and locks internally. Without it the bits are the same, but four times slower to compute, so its
 * failure is ignored here. */
static void prepare_sodium(void) {
    if (sodium_init() < 0) return;
}

static void put_le64(unsigned char *to, uint64_t value) {
    value = htole64(value);
    memcpy(to, &value, sizeof value);
}

mfpg_key mfpg_key_from_seed(uint64_t seed) {
    prepare_sodium();
    unsigned char message[sizeof SEED_DOMAIN + 8];
    memcpy(message, SEED_DOMAIN, sizeof SEED_DOMAIN);
    put_le64(message + sizeof SEED_DOMAIN, seed);
    mfpg_key key = {.seeded = 1};
    crypto_generichash(key.bytes, sizeof key.bytes, message, sizeof message, NULL, 0);
    return key;
}

mfpg_status mfpg_key_from_system(mfpg_key *out) {
    mfpg_key key = {.seeded = 0};
    /* randombytes_buf of libsodium is not used, because it aborts the process if the system has no
     * randomness. */
    if (getentropy(key.bytes, sizeof key.bytes) != 0) return MFPG_ERR_IO;
    *out = key;
    return MFPG_OK;
}

mfpg_stream mfpg_stream_open(const mfpg_key *key, mfpg_purpose purpose, uint64_t round, uint64_t client) {
    prepare_sodium();
    unsigned char message[sizeof STREAM_DOMAIN + 16];
    memcpy(message, STREAM_DOMAIN, sizeof STREAM_DOMAIN);
    put_le64(message + sizeof STREAM_DOMAIN, (uint64_t)purpose);
    put_le64(message + sizeof STREAM_DOMAIN + 8, round);
    mfpg_stream stream = {.client = client};
    crypto_generichash(stream.key, sizeof stream.key, message, sizeof message, key->bytes, sizeof key->bytes);
    return stream;
}

void mfpg_stream_bytes(const mfpg_stream *stream, uint64_t block, ptrdiff_t n, unsigned char *out) {
    unsigned char nonce[8];
    put_le64(nonce, stream->client);
    while (n > 0) {
        ptrdiff_t take = n < PIECE_BYTES ? n : PIECE_BYTES;
        memset(out, 0, (size_t)take); /* the call below adds the key stream to a message of zeros */
        crypto_stream_chacha20_xor_ic(out, out, (unsigned long long)take, nonce, block, stream->key);
        block += PIECE_BYTES / BLOCK_BYTES;
        out += take;
        n -= take;
    }
}

/* Computes 64-bit numbers first .. first+n-1 of the stream, n <= PIECE_NUMBERS. */
static void read_numbers(const mfpg_stream *stream, uint64_t first, ptrdiff_t n, uint64_t *out) {
    uint64_t numbers[PIECE_NUMBERS + NUMBERS_A_BLOCK - 1];
    ptrdiff_t skip = (ptrdiff_t)(first % NUMBERS_A_BLOCK);
    mfpg_stream_bytes(stream, first / NUMBERS_A_BLOCK, 8 * (skip + n), (unsigned char *)numbers);
    for (ptrdiff_t i = 0; i < n; i++) out[i] = le64toh(numbers[skip + i]);
}

/* Lemire's multiplication without its rejection, whose probability is below bound 2^-64. */
static uint64_t scaled_down(uint64_t bits, uint64_t bound) {
    return (uint64_t)(((unsigned __int128)bits * bound) >> 64);
}

void mfpg_stream_uniform(const mfpg_stream *stream, uint64_t first, ptrdiff_t n, double *out) {
    uint64_t numbers[PIECE_NUMBERS];
    for (ptrdiff_t done = 0; done < n;) {
        ptrdiff_t take = n - done < PIECE_NUMBERS ? n - done : PIECE_NUMBERS;
        read_numbers(stream, first + (uint64_t)done, take, numbers);
        for (ptrdiff_t i = 0; i < take; i++) /* k + 1/2 has 53 bits and is exact: no rounding reaches 1 */
            out[done + i] = ((double)(numbers[i] >> 12) + 0.5) * 0x1p-52;
        done += take;
    }
}

uint64_t mfpg_stream_below(const mfpg_stream *stream, uint64_t first, uint64_t bound) {
    uint64_t bits;
    read_numbers(stream, first, 1, &bits);
    return scaled_down(bits, bound);
}

void mfpg_stream_permutation(const mfpg_stream *stream, ptrdiff_t n, ptrdiff_t *order) {
    uint64_t numbers[PIECE_NUMBERS];
    for (ptrdiff_t done = 0; done < n;) {
        ptrdiff_t take = n - done < PIECE_NUMBERS ? n - done : PIECE_NUMBERS;
        read_numbers(stream, (uint64_t)done, take, numbers);
        for (ptrdiff_t i = done; i < done + take; i++) { /* inside out: i is inserted at a random place */
            ptrdiff_t place = (ptrdiff_t)scaled_down(numbers[i - done], (uint64_t)i + 1);
            order[i] = order[place];
            order[place] = i;
        }
        done += take;
    }
}
