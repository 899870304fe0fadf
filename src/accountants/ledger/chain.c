#include "chain.h"

#include <string.h>

#include <sodium.h>

static const char key[] = ",\"chain\":\"", end[] = "\"}";
enum { KEY = sizeof key - 1, END = sizeof end - 1, DIGITS = MFPG_LEDGER_CHAIN_SIZE - 1 };

/* body: the line up to, but without, its closing brace. */
static void hash(const char *chain, const char *body, size_t length, char out[MFPG_LEDGER_CHAIN_SIZE]) {
    crypto_hash_sha256_state state;
    unsigned char value[crypto_hash_sha256_BYTES];
    crypto_hash_sha256_init(&state);
    crypto_hash_sha256_update(&state, (const unsigned char *)chain, strlen(chain));
    crypto_hash_sha256_update(&state, (const unsigned char *)body, length);
    crypto_hash_sha256_update(&state, (const unsigned char *)"}", 1);
    crypto_hash_sha256_final(&state, value);
    sodium_bin2hex(out, MFPG_LEDGER_CHAIN_SIZE, value, sizeof value);
}

size_t mfpg_ledger_seal(char *line, size_t length, char chain[MFPG_LEDGER_CHAIN_SIZE]) {
    char value[MFPG_LEDGER_CHAIN_SIZE];
    size_t body = length - 1;
    hash(chain, line, body, value);
    memcpy(chain, value, sizeof value);
    memcpy(line + body, key, KEY);
    memcpy(line + body + KEY, value, DIGITS);
    memcpy(line + body + KEY + DIGITS, end, END);
    return body + KEY + DIGITS + END;
}

int mfpg_ledger_is_sealed(const char *line, size_t length) {
    if (length < 1 + KEY + DIGITS + END) return 0;
    const char *at = line + length - (KEY + DIGITS + END);
    return memcmp(at, key, KEY) == 0 && memcmp(at + KEY + DIGITS, end, END) == 0;
}

int mfpg_ledger_follows(const char *line, size_t length, char chain[MFPG_LEDGER_CHAIN_SIZE]) {
    char value[MFPG_LEDGER_CHAIN_SIZE];
    size_t body = length - (KEY + DIGITS + END);
    hash(chain, line, body, value);
    if (memcmp(line + body + KEY, value, DIGITS) != 0) return 0;
    memcpy(chain, value, sizeof value);
    return 1;
}
