#include "fingerprint.h"

#include <sodium.h>

static void add_number(crypto_generichash_state *state, ptrdiff_t number) {
    unsigned char bytes[8];
    for (int i = 0; i < 8; i++) bytes[i] = (unsigned char)((uint64_t)number >> (8 * i));
    crypto_generichash_update(state, bytes, sizeof bytes);
}

/* The rows' count comes before the values, so that no value can move from one set to the next unseen. */
static void add_set(crypto_generichash_state *state, const mfpg_dataset *set) {
    add_number(state, set->rows);
    if (set->rows == 0) return;
    size_t rows = (size_t)set->rows, features = (size_t)set->features;
    crypto_generichash_update(state, (const unsigned char *)set->x, rows * features * sizeof *set->x);
    crypto_generichash_update(state, (const unsigned char *)set->y, rows * sizeof *set->y);
    if (set->absent) crypto_generichash_update(state, set->absent, rows);
}

void mfpg_fingerprint(mfpg_federated_data *data) {
    crypto_generichash_state state;
    unsigned char hash[32];
    crypto_generichash_init(&state, NULL, 0, sizeof hash);
    add_number(&state, data->clients);
    add_number(&state, data->features);
    for (ptrdiff_t k = 0; k < data->clients; k++) {
        add_set(&state, &data->client[k].train);
        add_set(&state, &data->client[k].test);
    }
    add_set(&state, &data->common_test);
    crypto_generichash_final(&state, hash, sizeof hash);
    sodium_bin2hex(data->fingerprint, sizeof data->fingerprint, hash, sizeof hash);
}
