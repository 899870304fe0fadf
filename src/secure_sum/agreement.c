#include "agreement.h"

#include <sodium.h>
#include <string.h>

static const char KEY_DOMAIN[16] = "mfpg sum key 1";

int mfpg_sum_agree(mfpg_sum_use use, const unsigned char context[32], const unsigned char secret_key[32],
    mfpg_sum_party own, mfpg_sum_party other, unsigned char key[32]) {
    unsigned char secret[crypto_scalarmult_BYTES];
    crypto_generichash_state hash;
    mfpg_sum_party low = own.number < other.number ? own : other,
                   high = own.number < other.number ? other : own;
    const unsigned char numbers[3] = {
        (unsigned char)use, (unsigned char)low.number, (unsigned char)high.number};
    int agreed = crypto_scalarmult(secret, secret_key, other.public_key) == 0;
    crypto_generichash_init(&hash, secret, sizeof secret, MFPG_SUM_KEY);
    crypto_generichash_update(&hash, (const unsigned char *)KEY_DOMAIN, sizeof KEY_DOMAIN);
    crypto_generichash_update(&hash, numbers, sizeof numbers);
    crypto_generichash_update(&hash, context, 32);
    crypto_generichash_update(&hash, low.public_key, 32);
    crypto_generichash_update(&hash, high.public_key, 32);
    crypto_generichash_final(&hash, key, MFPG_SUM_KEY);
    sodium_memzero(secret, sizeof secret);
    sodium_memzero(&hash, sizeof hash);
    return agreed;
}
