#include "messages.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "mfpg/program.h"

/* Steps beyond those of the protocol. */
enum { DONE = MFPG_SUM_DONE, ENDED };

static const char ROOT_DOMAIN[16] = "mfpg sum root 1", STATE_DOMAIN[16] = "mfpg sum state1";

/* What a client remembers between two messages; plain data, so that it is saved as it is. All its secrets follow from one, so
 * that a step which is repeated from a saved state with the same message gives the same answer. */
typedef struct memory {
    int step; /* whose request comes next */
    mfpg_sum_record record;
    unsigned char root[MFPG_SUM_KEY], seal[MFPG_SUM_KEY];
    struct {
        unsigned char transport[MFPG_SUM_KEY]; /* key of shares to and from this client */
        unsigned char share[MFPG_SUM_SECRETS]; /* of its secrets */
    } peer[MFPG_SUM_MOST];
} memory;

struct mfpg_sum_client {
    mfpg_sum_client_options options; /* identity and key are not used: copies follow */
    mfpg_identity identity;
    mfpg_key key;
    unsigned char state_key[MFPG_SUM_KEY]; /* encrypts saved states; follows from the identity */
    ptrdiff_t place;                       /* in the roster */
    memory state;
};

/* ---- secrets ---- */

/* The first secrets are the mask key and the seed of the self-mask, the coefficients of their shares follow: all uniform. */
static void draw_coefficients(const memory *state, int count, unsigned char *out) {
    static const unsigned char nonce[crypto_stream_chacha20_NONCEBYTES] = {1};
    crypto_stream_chacha20(out, (size_t)count * MFPG_SUM_SECRETS, nonce, state->root);
}

static void draw_transport_key(const memory *state, unsigned char out[MFPG_SUM_KEY]) {
    static const unsigned char nonce[crypto_stream_chacha20_NONCEBYTES] = {2};
    crypto_stream_chacha20(out, MFPG_SUM_KEY, nonce, state->root);
}

/* Wipes everything; the client refuses all further messages. */
static void end(mfpg_sum_client *client, int step) {
    sodium_memzero(&client->state, sizeof client->state);
    sodium_memzero(&client->identity, sizeof client->identity);
    sodium_memzero(&client->key, sizeof client->key);
    client->state.step = step;
}

/* ---- step 0 ---- */

static int same_number(double a, double b) {
    return memcmp(&a, &b, sizeof a) == 0;
}

/* What the site demands of the terms. */
static mfpg_status check_demands(mfpg_context *ctx, const mfpg_sum_client *client) {
    const mfpg_sum_client_options *options = &client->options;
    const mfpg_sum_terms *terms = &client->state.record.terms;
    const mfpg_sum_share *own = &terms->share[client->place], *demanded = &options->own;
    if (terms->threshold != options->threshold || terms->colluders != options->colluders)
        return mfpg_fail(ctx, MFPG_ERR_INPUT,
            "terms: threshold %d and colluders %d, and this site demands threshold %d and colluders %d",
            terms->threshold, terms->colluders, options->threshold, options->colluders);
    if (!(own->weight > 0.0)) return mfpg_fail(ctx, MFPG_ERR_INPUT, "terms: this site has weight 0 in them");
    if ((demanded->weight >= 0.0 && !same_number(own->weight, demanded->weight)) ||
        !same_number(own->noise_sd, demanded->noise_sd) || !same_number(own->clip, demanded->clip))
        return mfpg_fail(ctx, MFPG_ERR_INPUT,
            "terms: weight %.17g, noise %.17g and clip %.17g for this site, which demands %.17g, %.17g and "
            "%.17g",
            own->weight, own->noise_sd, own->clip, demanded->weight, demanded->noise_sd, demanded->clip);
    if (options->dimension && terms->dimension != options->dimension)
        return mfpg_fail(ctx, MFPG_ERR_INPUT, "terms: %td coordinates, and this site demands %td",
            terms->dimension, options->dimension);
    return MFPG_OK;
}

/* The root follows from a given key, the terms and this site, or from the system. */
static mfpg_status draw_root(mfpg_context *ctx, mfpg_sum_client *client) {
    memory *state = &client->state;
    crypto_generichash_state hash;
    if (!client->options.key && mfpg_key_from_system(&client->key) != MFPG_OK)
        return mfpg_fail(ctx, MFPG_ERR_IO, "the system provides no randomness");
    crypto_generichash_init(&hash, client->key.bytes, sizeof client->key.bytes, sizeof state->root);
    crypto_generichash_update(&hash, (const unsigned char *)ROOT_DOMAIN, sizeof ROOT_DOMAIN);
    crypto_generichash_update(&hash, state->record.context, sizeof state->record.context);
    crypto_generichash_update(&hash, client->identity.public_key, sizeof client->identity.public_key);
    crypto_generichash_final(&hash, state->root, sizeof state->root);
    sodium_memzero(&hash, sizeof hash);
    sodium_memzero(&client->key, sizeof client->key); /* one client, one sum */
    return MFPG_OK;
}

static mfpg_status make_keys(mfpg_context *ctx, mfpg_sum_client *client) {
    memory *state = &client->state;
    mfpg_sum_record *record = &state->record;
    mfpg_sum_keys *own = &record->keys[client->place];
    unsigned char secrets[MFPG_SUM_SECRETS], transport[MFPG_SUM_KEY], text[MFPG_SUM_SIGNED];
    draw_coefficients(state, 1, secrets);
    draw_transport_key(state, transport);
    crypto_scalarmult_base(own->mask, secrets);
    crypto_scalarmult_base(own->transport, transport);
    const size_t size = mfpg_sum_signed_keys(record, client->place, text);
    crypto_sign_detached(own->signature, NULL, text, size, client->identity.secret_key);
    int agreed = mfpg_sum_agree(MFPG_SUM_FOR_SEAL, record->context, transport,
        (mfpg_sum_party){(int)client->place, own->transport},
        (mfpg_sum_party){MFPG_SUM_SERVER, record->server_key}, state->seal);
    sodium_memzero(secrets, sizeof secrets);
    sodium_memzero(transport, sizeof transport);
    return agreed ? MFPG_OK : mfpg_fail(ctx, MFPG_ERR_INPUT, "terms: the server's public key is not a key");
}

static mfpg_status answer_terms(
    mfpg_context *ctx, mfpg_sum_client *client, const unsigned char *body, unsigned char *out) {
    mfpg_status status = check_demands(ctx, client);
    (void)body; /* read before */
    if (status == MFPG_OK) status = draw_root(ctx, client);
    if (status == MFPG_OK) status = make_keys(ctx, client);
    if (status == MFPG_OK) memcpy(out, &client->state.record.keys[client->place], sizeof(mfpg_sum_keys));
    return status;
}

/* ---- step 1 ---- */

static int compare_keys(const void *a, const void *b) {
    return memcmp(*(const unsigned char *const *)a, *(const unsigned char *const *)b, MFPG_SUM_KEY);
}

/* No key may occur twice: two clients with one key would know each other's masks, or be one. */
static mfpg_status check_twins(mfpg_context *ctx, const mfpg_sum_record *record) {
    const unsigned char *key[2 * MFPG_SUM_MOST];
    size_t count = 0;
    MFPG_SUM_EACH (v, &record->present[1]) {
        key[count++] = record->keys[v].mask;
        key[count++] = record->keys[v].transport;
    }
    qsort(key, count, sizeof *key, compare_keys);
    for (size_t i = 1; i < count; i++)
        if (compare_keys(&key[i - 1], &key[i]) == 0)
            return mfpg_fail(ctx, MFPG_ERR_INPUT, "key list: a key occurs twice in it");
    return MFPG_OK;
}

static mfpg_status read_key_list(mfpg_context *ctx, mfpg_sum_client *client, const unsigned char *body) {
    const mfpg_roster *roster = client->options.roster;
    mfpg_sum_record *record = &client->state.record;
    unsigned char text[MFPG_SUM_SIGNED];
    MFPG_SUM_EACH (v, &record->present[1]) {
        if (v == client->place && memcmp(body, &record->keys[v], sizeof record->keys[v]) != 0)
            return mfpg_fail(ctx, MFPG_ERR_INPUT,
                "key list: its keys of '%s' are not those that this client sent; another process uses the "
                "same identity",
                roster->entry[v].name);
        memcpy(&record->keys[v], body, sizeof record->keys[v]);
        body += sizeof record->keys[v];
        const size_t size = mfpg_sum_signed_keys(record, v, text);
        if (v != client->place && crypto_sign_verify_detached(record->keys[v].signature, text, size,
                                      roster->entry[v].public_key) != 0)
            return mfpg_fail(ctx, MFPG_ERR_INPUT,
                "key list: the signature of '%s' does not hold for these terms, or is of another identity "
                "than the roster's",
                roster->entry[v].name);
    }
    mfpg_sum_hash_list(record);
    return check_twins(ctx, record);
}

/* The key of a pair is new in every sum, so that the nonce need only tell its two directions apart. */
static void make_nonce(ptrdiff_t sender, unsigned char nonce[crypto_aead_xchacha20poly1305_ietf_NPUBBYTES]) {
    memset(nonce, 0, crypto_aead_xchacha20poly1305_ietf_NPUBBYTES);
    nonce[0] = (unsigned char)sender;
}

/* Encrypts to everybody else on the list its share of both secrets, and keeps the own share. */
static mfpg_status write_shares(mfpg_context *ctx, mfpg_sum_client *client, const unsigned char *coefficients,
    const unsigned char *transport, unsigned char *to) {
    memory *state = &client->state;
    const mfpg_sum_record *record = &state->record;
    unsigned char share[MFPG_SUM_SECRETS], bound[MFPG_SUM_BOUND];
    unsigned char nonce[crypto_aead_xchacha20poly1305_ietf_NPUBBYTES];
    const ptrdiff_t own = client->place;
    int agreed = 1;
    make_nonce(own, nonce);
    MFPG_SUM_EACH (v, &record->present[1]) {
        mfpg_shamir_share(
            coefficients, record->terms.threshold, MFPG_SUM_SECRETS, (unsigned char)(v + 1), share);
        if (v == own) {
            memcpy(state->peer[v].share, share, sizeof share);
            continue;
        }
        agreed &= mfpg_sum_agree(MFPG_SUM_FOR_TRANSPORT, record->context, transport,
            (mfpg_sum_party){(int)own, record->keys[own].transport},
            (mfpg_sum_party){(int)v, record->keys[v].transport}, state->peer[v].transport);
        mfpg_sum_bind(record, own, v, bound);
        crypto_aead_xchacha20poly1305_ietf_encrypt(
            to, NULL, share, sizeof share, bound, sizeof bound, NULL, nonce, state->peer[v].transport);
        to += MFPG_SUM_PARCEL;
    }
    sodium_memzero(share, sizeof share);
    return agreed ? MFPG_OK : mfpg_fail(ctx, MFPG_ERR_INPUT, "key list: one of its keys is not a key");
}

static mfpg_status answer_key_list(
    mfpg_context *ctx, mfpg_sum_client *client, const unsigned char *body, unsigned char *out) {
    unsigned char coefficients[MFPG_SUM_MOST * MFPG_SUM_SECRETS], transport[MFPG_SUM_KEY];
    mfpg_status status = read_key_list(ctx, client, body);
    if (status != MFPG_OK) return status;
    draw_coefficients(&client->state, client->state.record.terms.threshold, coefficients);
    draw_transport_key(&client->state, transport);
    status = write_shares(ctx, client, coefficients, transport, out);
    sodium_memzero(coefficients, sizeof coefficients);
    sodium_memzero(transport, sizeof transport);
    return status;
}

/* ---- step 2 ---- */

static mfpg_status open_shares(mfpg_context *ctx, mfpg_sum_client *client, const unsigned char *from) {
    memory *state = &client->state;
    unsigned char bound[MFPG_SUM_BOUND], nonce[crypto_aead_xchacha20poly1305_ietf_NPUBBYTES];
    MFPG_SUM_EACH (v, &state->record.present[2]) {
        if (v == client->place) continue;
        mfpg_sum_bind(&state->record, v, client->place, bound);
        make_nonce(v, nonce);
        if (crypto_aead_xchacha20poly1305_ietf_decrypt(state->peer[v].share, NULL, NULL, from,
                MFPG_SUM_PARCEL, bound, sizeof bound, nonce, state->peer[v].transport) != 0)
            return mfpg_fail(ctx, MFPG_ERR_INPUT, "delivery of shares: the share of '%s' does not open",
                client->options.roster->entry[v].name);
        from += MFPG_SUM_PARCEL;
    }
    return MFPG_OK;
}

/* The masks of this client: its own, and one for each other that sent shares, whose sign is that of the order. */
static mfpg_status make_masks(
    mfpg_context *ctx, const mfpg_sum_client *client, mfpg_sum_mask *mask, ptrdiff_t *count) {
    const mfpg_sum_record *record = &client->state.record;
    const ptrdiff_t own = client->place;
    unsigned char secrets[MFPG_SUM_SECRETS];
    ptrdiff_t made = 0;
    int agreed = 1;
    draw_coefficients(&client->state, 1, secrets);
    MFPG_SUM_EACH (v, &record->present[2]) {
        mask[made].sign = v >= own ? 1 : -1;
        if (v == own)
            memcpy(mask[made].stream.key, secrets + MFPG_SUM_KEY, MFPG_SUM_KEY);
        else
            agreed &= mfpg_sum_agree(MFPG_SUM_FOR_MASK, record->context, secrets,
                (mfpg_sum_party){(int)own, record->keys[own].mask},
                (mfpg_sum_party){(int)v, record->keys[v].mask}, mask[made].stream.key);
        made++;
    }
    sodium_memzero(secrets, sizeof secrets);
    *count = made;
    return agreed ? MFPG_OK : mfpg_fail(ctx, MFPG_ERR_INPUT, "key list: one of its keys is not a key");
}

/* Nothing may fail after the release, which is charged: all memory is there before it. */
static mfpg_status write_masked(
    mfpg_context *ctx, mfpg_sum_client *client, mfpg_sum_words *words, int64_t *vector, unsigned char *out) {
    const mfpg_sum_record *record = &client->state.record;
    mfpg_sum_mask mask[MFPG_SUM_MOST] = {0};
    unsigned char members[MFPG_SUM_MOST] = {0};
    ptrdiff_t count = 0;
    mfpg_status status = make_masks(ctx, client, mask, &count);
    MFPG_SUM_EACH (v, &record->present[2]) members[v] = 1;
    if (status == MFPG_OK)
        status = client->options.release(ctx, client->options.user, &record->terms, members, vector);
    if (status == MFPG_OK) {
        mfpg_sum_words_set(words, vector);
        mfpg_sum_masks_add(mask, count, words);
        mfpg_sum_words_pack(words, out);
    }
    sodium_memzero(mask, sizeof mask);
    return status;
}

static mfpg_status answer_delivery(
    mfpg_context *ctx, mfpg_sum_client *client, const unsigned char *body, unsigned char *out) {
    const mfpg_sum_terms *terms = &client->state.record.terms;
    mfpg_status status = open_shares(ctx, client, body);
    if (status != MFPG_OK) return status;
    mfpg_sum_words words = mfpg_sum_words_create(terms->bits, terms->dimension);
    int64_t *vector = mfpg_alloc(terms->dimension, sizeof *vector);
    status = words.data && vector ? write_masked(ctx, client, &words, vector, out) : mfpg_fail_memory(ctx);
    if (vector) sodium_memzero(vector, (size_t)terms->dimension * sizeof *vector);
    free(vector);
    mfpg_sum_words_clear(&words);
    return status;
}

/* ---- steps 3 and 4 ---- */

static mfpg_status answer_survivors(
    mfpg_context *ctx, mfpg_sum_client *client, const unsigned char *body, unsigned char *out) {
    unsigned char text[MFPG_SUM_SIGNED];
    const size_t size = mfpg_sum_signed_sets(&client->state.record, client->place, text);
    (void)ctx, (void)body; /* the set is all of it, and read */
    crypto_sign_detached(out, NULL, text, size, client->identity.secret_key);
    return MFPG_OK;
}

/* Only one of the two shares of each client ever leaves, and which one follows from the sets that t members have signed. */
static mfpg_status answer_signatures(
    mfpg_context *ctx, mfpg_sum_client *client, const unsigned char *body, unsigned char *out) {
    const memory *state = &client->state;
    const mfpg_sum_record *record = &state->record;
    unsigned char text[MFPG_SUM_SIGNED];
    MFPG_SUM_EACH (v, &record->present[4]) {
        const size_t size = mfpg_sum_signed_sets(record, v, text);
        const mfpg_roster_entry *entry = &client->options.roster->entry[v];
        if (crypto_sign_verify_detached(body, text, size, entry->public_key) != 0)
            return mfpg_fail(ctx, MFPG_ERR_INPUT,
                "list of signatures: '%s' did not sign what this client saw: other keys or other sets",
                entry->name);
        body += MFPG_SUM_SIGNATURE;
    }
    MFPG_SUM_EACH (v, &record->present[2]) {
        const unsigned char *share = state->peer[v].share; /* of its mask key, then of its self-mask */
        memcpy(out, mfpg_sum_has(&record->present[3], v) ? share + MFPG_SUM_KEY : share, MFPG_SUM_KEY);
        out += MFPG_SUM_KEY;
    }
    return MFPG_OK;
}

/* ---- the machine ---- */

static mfpg_status (*const answers[MFPG_SUM_STEPS])(
    mfpg_context *ctx, mfpg_sum_client *client, const unsigned char *body, unsigned char *out) = {
    answer_terms, answer_key_list, answer_delivery, answer_survivors, answer_signatures};

/* What calls leave on the stack is wiped when they are over. Their frames hold up to 30 KiB. */
enum { STACK = 64 * 1024 };

static mfpg_status answer_message(
    mfpg_context *ctx, mfpg_sum_client *client, const unsigned char *message, size_t size, mfpg_bytes *made) {
    memory *state = &client->state;
    const mfpg_roster *roster = client->options.roster;
    const int step = state->step;
    const unsigned char *body = NULL;
    unsigned char *out = NULL;
    mfpg_status status = mfpg_sum_open(ctx, roster, &state->record, MFPG_SUM_REQUEST(step), client->place,
        state->seal, message, size, &body);
    if (status == MFPG_OK && step == MFPG_SUM_KEYS)
        status = mfpg_sum_read_terms(ctx, roster, message, &state->record);
    if (status == MFPG_OK)
        status =
            mfpg_sum_begin(ctx, roster, &state->record, MFPG_SUM_ANSWER(step), client->place, made, &out);
    if (status == MFPG_OK) status = answers[step](ctx, client, body, out);
    if (status == MFPG_OK && step != MFPG_SUM_KEYS) mfpg_sum_seal(made, state->seal);
    return status;
}

mfpg_status mfpg_sum_client_answer(mfpg_context *ctx, mfpg_sum_client *client, const unsigned char *message,
    size_t size, mfpg_bytes *answer) {
    memory *state = &client->state;
    mfpg_bytes made = {0};
    if (state->step >= DONE)
        return mfpg_fail(ctx, MFPG_ERR_INPUT, "this client's sum is over%s: it answers nothing more",
            state->step == DONE ? "" : " after a failure");
    mfpg_status status = answer_message(ctx, client, message, size, &made);
    sodium_stackzero(STACK);
    if (status != MFPG_OK) {
        mfpg_bytes_clear(&made);
        end(client, ENDED);
        return status;
    }
    if (++state->step == DONE) end(client, DONE);
    *answer = made;
    return MFPG_OK;
}

static mfpg_status check_options(
    mfpg_context *ctx, const mfpg_sum_client_options *options, ptrdiff_t *place) {
    if (!options->release)
        return mfpg_fail(ctx, MFPG_ERR_INPUT, "a client of a secure sum needs a release function");
    for (ptrdiff_t i = 0; i < options->roster->count; i++)
        if (memcmp(options->roster->entry[i].public_key, options->identity->public_key, MFPG_SUM_KEY) == 0) {
            *place = i;
            return MFPG_OK;
        }
    return mfpg_fail(ctx, MFPG_ERR_INPUT, "the identity is not in the roster: no site has its public key");
}

mfpg_status mfpg_sum_client_create(
    mfpg_context *ctx, const mfpg_sum_client_options *options, mfpg_sum_client **out) {
    ptrdiff_t place = 0;
    if (sodium_init() < 0) return mfpg_fail(ctx, MFPG_ERR_IO, "the system provides no randomness");
    mfpg_status status = check_options(ctx, options, &place);
    if (status != MFPG_OK) return status;
    mfpg_sum_client *client = mfpg_alloc(1, sizeof *client);
    if (!client) return mfpg_fail_memory(ctx);
    client->options = *options;
    client->identity = *options->identity;
    if (options->key) client->key = *options->key;
    client->place = place;
    crypto_generichash(client->state_key, sizeof client->state_key, (const unsigned char *)STATE_DOMAIN,
        sizeof STATE_DOMAIN, client->identity.secret_key, crypto_sign_SEEDBYTES);
    *out = client;
    return MFPG_OK;
}

void mfpg_sum_client_destroy(mfpg_sum_client *client) {
    if (client) sodium_memzero(client, sizeof *client);
    free(client);
}

const mfpg_sum_terms *mfpg_sum_client_terms(const mfpg_sum_client *client, unsigned char *survivors) {
    const mfpg_sum_record *record = &client->state.record;
    int holds = client->state.step > 0 && client->state.step < DONE;
    for (ptrdiff_t v = 0; survivors && v < client->options.roster->count; v++)
        survivors[v] = holds && mfpg_sum_has(&record->present[3], v);
    return holds ? &record->terms : NULL;
}

/* ---- a state on disk: encrypted under a key that follows from the identity, bound to the roster and to this program ---- */

enum {
    NONCE = crypto_aead_xchacha20poly1305_ietf_NPUBBYTES,
    SAVED = NONCE + sizeof(memory) + crypto_aead_xchacha20poly1305_ietf_ABYTES
};

mfpg_status mfpg_sum_client_save(mfpg_context *ctx, const mfpg_sum_client *client, mfpg_bytes *out) {
    mfpg_key nonce;
    if (mfpg_key_from_system(&nonce) != MFPG_OK)
        return mfpg_fail(ctx, MFPG_ERR_IO, "the system provides no randomness");
    unsigned char *data = mfpg_alloc(SAVED, 1);
    if (!data) return mfpg_fail_memory(ctx);
    memcpy(data, nonce.bytes, NONCE);
    crypto_aead_xchacha20poly1305_ietf_encrypt(data + NONCE, NULL, (const unsigned char *)&client->state,
        sizeof client->state, client->options.roster->hash, 32, NULL, data, client->state_key);
    *out = (mfpg_bytes){data, SAVED};
    return MFPG_OK;
}

mfpg_status mfpg_sum_client_restore(mfpg_context *ctx, const mfpg_sum_client_options *options,
    const unsigned char *saved, size_t size, mfpg_sum_client **out) {
    mfpg_sum_client *client = NULL;
    mfpg_status status = mfpg_sum_client_create(ctx, options, &client);
    if (status != MFPG_OK) return status;
    if (size != SAVED ||
        crypto_aead_xchacha20poly1305_ietf_decrypt((unsigned char *)&client->state, NULL, NULL, saved + NONCE,
            size - NONCE, options->roster->hash, 32, saved, client->state_key) != 0)
        status = mfpg_fail(ctx, MFPG_ERR_INPUT,
            "the saved state of a secure sum is damaged, or of another identity, roster or version of mfpg");
    client->state.record.terms.share = client->state.record.share;
    if (status == MFPG_OK && client->state.step > 0 && client->state.step < DONE)
        status = check_demands(ctx, client);
    if (status != MFPG_OK)
        mfpg_sum_client_destroy(client);
    else
        *out = client;
    return status;
}
