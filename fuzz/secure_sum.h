/* A sum of three sites with fixed keys, played once and recorded, for the fuzz targets of both sides. An input is
 *     step (modulo 5), site (modulo 3), how: 0 the rest is a message as it is; else the rest is a body, which gets the header and
 * the seal, hash or signature that belong there, so that what lies behind them is reached. */
#ifndef MFPG_FUZZ_SECURE_SUM_H
#define MFPG_FUZZ_SECURE_SUM_H

#include "fuzz.h"

#include <sodium.h>

#include "secure_sum/messages.h"

enum { FUZZ_SITES = 3, FUZZ_THRESHOLD = 2, FUZZ_DIMENSION = 5, FUZZ_BITS = 13, FUZZ_PREFIX = 3 };

/* Replaces that of the C library, so that every server is the recorded one. */
int getentropy(void *buffer, size_t size);
int getentropy(void *buffer, size_t size) {
    memset(buffer, 6, size);
    return 0;
}

static struct {
    mfpg_identity identity[FUZZ_SITES];
    mfpg_roster roster;
    mfpg_sum_share share[FUZZ_SITES];
    mfpg_sum_terms terms;
    mfpg_key key[FUZZ_SITES];
    unsigned char seal[FUZZ_SITES][MFPG_SUM_KEY];
    mfpg_bytes asked[MFPG_SUM_DONE][FUZZ_SITES], answered[MFPG_SUM_DONE][FUZZ_SITES];
    mfpg_bytes saved[MFPG_SUM_DONE][FUZZ_SITES]; /* before the request */
    int64_t sum[FUZZ_DIMENSION];
} fuzz_sum;

static mfpg_status fuzz_release(mfpg_context *ctx, void *user, const mfpg_sum_terms *terms,
    const unsigned char *members, int64_t *vector) {
    const mfpg_identity *identity = user;
    (void)ctx, (void)members;
    for (ptrdiff_t i = 0; i < terms->dimension; i++) vector[i] = identity->public_key[i];
    return MFPG_OK;
}

static inline mfpg_sum_client_options fuzz_options(int site) {
    return (mfpg_sum_client_options){.roster = &fuzz_sum.roster,
        .identity = &fuzz_sum.identity[site],
        .threshold = FUZZ_THRESHOLD,
        .own = fuzz_sum.share[site],
        .dimension = FUZZ_DIMENSION,
        .release = fuzz_release,
        .user = &fuzz_sum.identity[site],
        .key = &fuzz_sum.key[site]};
}

static inline void fuzz_need(mfpg_status status) {
    fuzz_expect(status == MFPG_OK, "the recorded sum");
}

static inline void fuzz_make_sites(void) {
    char text[FUZZ_SITES * 80] = "";
    for (int i = 0; i < FUZZ_SITES; i++) {
        unsigned char seed[32] = {(unsigned char)(i + 1)};
        char digits[65];
        crypto_sign_seed_keypair(fuzz_sum.identity[i].public_key, fuzz_sum.identity[i].secret_key, seed);
        sodium_bin2hex(digits, sizeof digits, fuzz_sum.identity[i].public_key, 32);
        sprintf(text + strlen(text), "s%d %s\n", i, digits);
        fuzz_sum.share[i] = (mfpg_sum_share){.weight = 0.25, .noise_sd = 1.0, .clip = 1000.0};
        fuzz_sum.key[i] = mfpg_key_from_seed((uint64_t)i);
    }
    fuzz_need(mfpg_roster_read(fuzz_context(), text, strlen(text), "roster", &fuzz_sum.roster));
    fuzz_sum.terms = (mfpg_sum_terms){.round = 1,
        .attempt = 1,
        .threshold = FUZZ_THRESHOLD,
        .bits = FUZZ_BITS,
        .dimension = FUZZ_DIMENSION,
        .grid = 0.25,
        .share = fuzz_sum.share};
}

static inline void fuzz_find_seal(int site) {
    unsigned char secret[32], server_key[32];
    const mfpg_bytes *keys = &fuzz_sum.answered[0][site];
    memset(secret, 6, sizeof secret);
    crypto_scalarmult_base(server_key, secret);
    mfpg_sum_agree(MFPG_SUM_FOR_SEAL, keys->data + 8, secret, (mfpg_sum_party){MFPG_SUM_SERVER, server_key},
        (mfpg_sum_party){site, keys->data + MFPG_SUM_HEADER + MFPG_SUM_KEY}, fuzz_sum.seal[site]);
}

static inline void fuzz_record(void) {
    mfpg_context *ctx = fuzz_context();
    mfpg_sum_client *client[FUZZ_SITES];
    mfpg_sum_server *server = NULL;
    if (fuzz_sum.roster.count) return;
    fuzz_make_sites();
    fuzz_need(mfpg_sum_server_create(ctx, &fuzz_sum.roster, &fuzz_sum.terms, &server));
    for (int i = 0; i < FUZZ_SITES; i++) {
        const mfpg_sum_client_options options = fuzz_options(i);
        fuzz_need(mfpg_sum_client_create(ctx, &options, &client[i]));
    }
    for (int step = 0; step < MFPG_SUM_DONE; step++) {
        for (int i = 0; i < FUZZ_SITES - (step >= MFPG_SUM_MASKED); i++) { /* the last one drops out */
            mfpg_bytes *asked = &fuzz_sum.asked[step][i], *answered = &fuzz_sum.answered[step][i];
            fuzz_need(mfpg_sum_client_save(ctx, client[i], &fuzz_sum.saved[step][i]));
            fuzz_need(mfpg_sum_server_ask(ctx, server, i, asked));
            fuzz_need(mfpg_sum_client_answer(ctx, client[i], asked->data, asked->size, answered));
            fuzz_need(mfpg_sum_server_take(ctx, server, answered->data, answered->size, NULL));
            if (step == 0) fuzz_find_seal(i);
        }
        fuzz_need(mfpg_sum_server_advance(ctx, server, NULL));
    }
    fuzz_need(mfpg_sum_server_sum(ctx, server, fuzz_sum.sum, NULL));
    for (int i = 0; i < FUZZ_SITES; i++) mfpg_sum_client_destroy(client[i]);
    mfpg_sum_server_destroy(server);
}

/* The message of an input, whose prefix was read; like is the recorded one. */
static inline mfpg_bytes fuzz_message(const uint8_t *data, size_t size, int site, const mfpg_bytes *like) {
    const int is_body = data[2] != 0, is_sealed = like->data[6] > 1;
    const size_t rest = size - FUZZ_PREFIX, header = is_body ? MFPG_SUM_HEADER : 0;
    const size_t tail = is_body && is_sealed ? MFPG_SUM_TAG : 0;
    mfpg_bytes message = {malloc(header + rest + tail + 1), header + rest + tail};
    if (!message.data) abort();
    memcpy(message.data, like->data, header);
    memcpy(message.data + header, data + FUZZ_PREFIX, rest);
    if (is_body &&
        like->data[6] == MFPG_SUM_REQUEST(MFPG_SUM_KEYS)) /* the context is the hash of the terms */
        crypto_generichash(
            message.data + 8, 32, message.data + header, rest, (const unsigned char *)"mfpg sum terms1", 16);
    if (is_body && like->data[6] == MFPG_SUM_ANSWER(MFPG_SUM_KEYS) && rest >= MFPG_SUM_SIGNATURE)
        crypto_sign_detached(message.data + message.size - MFPG_SUM_SIGNATURE, NULL, message.data,
            message.size - MFPG_SUM_SIGNATURE, fuzz_sum.identity[site].secret_key);
    if (tail) mfpg_sum_seal(&message, fuzz_sum.seal[site]);
    return message;
}

#endif
