#include "messages.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"

struct mfpg_sum_server {
    const mfpg_roster *roster;
    mfpg_sum_record record;
    mfpg_bytes terms; /* their message, for any client */
    mfpg_sum_step step;
    int has_ended;
    mfpg_sum_set asked, answered; /* in this step */
    unsigned char secret_key[MFPG_SUM_KEY];
    unsigned char seal[MFPG_SUM_MOST][MFPG_SUM_KEY];
    /* one after the other, when its step begins */
    unsigned char *parcels; /* encrypted shares: row sender, column receiver, by place in the roster */
    mfpg_sum_words words;   /* sum of the masked vectors, and at last of the vectors */
    unsigned char signature[MFPG_SUM_MOST][MFPG_SUM_SIGNATURE];
    mfpg_sum_set signers;                  /* the first t */
    unsigned char abscissa[MFPG_SUM_MOST]; /* of those who opened, in the order in which they came */
    unsigned char *opened;                 /* a row for each of them: a share for each who sent shares */
};

static mfpg_status begin(mfpg_context *ctx, mfpg_sum_server *server, const mfpg_sum_terms *terms) {
    mfpg_sum_record *record = &server->record;
    unsigned char *body;
    mfpg_key key;
    if (mfpg_key_from_system(&key) != MFPG_OK)
        return mfpg_fail(ctx, MFPG_ERR_IO, "the system provides no randomness");
    memcpy(server->secret_key, key.bytes, sizeof server->secret_key);
    sodium_memzero(&key, sizeof key);
    crypto_scalarmult_base(record->server_key, server->secret_key);
    record->terms = *terms;
    memcpy(record->share, terms->share, (size_t)server->roster->count * sizeof *terms->share);
    record->terms.share = record->share;
    record->present[0] = server->asked = mfpg_sum_members(server->roster, terms);
    mfpg_status status = mfpg_sum_begin(
        ctx, server->roster, record, MFPG_SUM_REQUEST(MFPG_SUM_KEYS), 0, &server->terms, &body);
    if (status == MFPG_OK) mfpg_sum_write_terms(server->roster, record, server->terms.data);
    return status;
}

mfpg_status mfpg_sum_server_create(
    mfpg_context *ctx, const mfpg_roster *roster, const mfpg_sum_terms *terms, mfpg_sum_server **out) {
    mfpg_status status = mfpg_sum_check(ctx, roster, terms);
    if (status != MFPG_OK) return status;
    if (sodium_init() < 0) return mfpg_fail(ctx, MFPG_ERR_IO, "the system provides no randomness");
    mfpg_sum_server *server = mfpg_alloc(1, sizeof *server);
    if (!server) return mfpg_fail_memory(ctx);
    server->roster = roster;
    status = begin(ctx, server, terms);
    if (status != MFPG_OK)
        mfpg_sum_server_destroy(server);
    else
        *out = server;
    return status;
}

static mfpg_status check_running(mfpg_context *ctx, const mfpg_sum_server *server) {
    if (server->has_ended)
        return mfpg_fail(ctx, MFPG_ERR_INPUT, "this sum has failed: repeat it as another attempt");
    if (server->step == MFPG_SUM_DONE) return mfpg_fail(ctx, MFPG_ERR_INPUT, "this sum is done");
    return MFPG_OK;
}

/* ---- requests ---- */

static unsigned char *parcel(const mfpg_sum_server *server, ptrdiff_t sender, ptrdiff_t receiver) {
    return server->parcels + (sender * server->roster->count + receiver) * MFPG_SUM_PARCEL;
}

static void write_request(const mfpg_sum_server *server, ptrdiff_t client, unsigned char *to) {
    const mfpg_sum_record *record = &server->record;
    switch (server->step) {
    case MFPG_SUM_SHARES:
        MFPG_SUM_EACH (v, &record->present[1]) {
            memcpy(to, &record->keys[v], sizeof record->keys[v]);
            to += sizeof record->keys[v];
        }
        break;
    case MFPG_SUM_MASKED:
        MFPG_SUM_EACH (v, &record->present[2]) {
            if (v == client) continue;
            memcpy(to, parcel(server, v, client), MFPG_SUM_PARCEL);
            to += MFPG_SUM_PARCEL;
        }
        break;
    case MFPG_SUM_OPENED:
        MFPG_SUM_EACH (v, &record->present[4]) {
            memcpy(to, server->signature[v], MFPG_SUM_SIGNATURE);
            to += MFPG_SUM_SIGNATURE;
        }
        break;
    default: /* the set alone */ break;
    }
}

mfpg_status mfpg_sum_server_ask(
    mfpg_context *ctx, const mfpg_sum_server *server, ptrdiff_t client, mfpg_bytes *message) {
    mfpg_bytes made;
    unsigned char *body;
    mfpg_status status = check_running(ctx, server);
    if (status != MFPG_OK) return status;
    if (!mfpg_sum_has(&server->asked, client))
        return mfpg_fail(ctx, MFPG_ERR_INPUT, "client %td does not take part in this step: it %s", client,
            mfpg_sum_has(&server->record.present[0], client) ? "has dropped out"
                                                             : "is no member of this sum");
    status = mfpg_sum_begin(
        ctx, server->roster, &server->record, MFPG_SUM_REQUEST(server->step), client, &made, &body);
    if (status != MFPG_OK) return status;
    if (server->step == MFPG_SUM_KEYS) {
        memcpy(body, server->terms.data + MFPG_SUM_HEADER, server->terms.size - MFPG_SUM_HEADER);
    } else {
        write_request(server, client, body);
        mfpg_sum_seal(&made, server->seal[client]);
    }
    *message = made;
    return MFPG_OK;
}

/* ---- answers ---- */

static mfpg_status take_keys(
    mfpg_context *ctx, mfpg_sum_server *server, ptrdiff_t client, const unsigned char *body) {
    mfpg_sum_record *record = &server->record;
    unsigned char text[MFPG_SUM_SIGNED], seal[MFPG_SUM_KEY];
    memcpy(
        &record->keys[client], body, sizeof record->keys[client]); /* read only if the client has answered */
    const size_t size = mfpg_sum_signed_keys(record, client, text);
    if (crypto_sign_verify_detached(
            record->keys[client].signature, text, size, server->roster->entry[client].public_key) != 0)
        return mfpg_fail(ctx, MFPG_ERR_INPUT, "keys: the signature of '%s' does not hold",
            server->roster->entry[client].name);
    if (!mfpg_sum_agree(MFPG_SUM_FOR_SEAL, record->context, server->secret_key,
            (mfpg_sum_party){MFPG_SUM_SERVER, record->server_key},
            (mfpg_sum_party){(int)client, record->keys[client].transport}, seal))
        return mfpg_fail(
            ctx, MFPG_ERR_INPUT, "keys: those of '%s' are not keys", server->roster->entry[client].name);
    memcpy(server->seal[client], seal, sizeof seal);
    sodium_memzero(seal, sizeof seal);
    return MFPG_OK;
}

static mfpg_status take_shares(
    mfpg_context *ctx, mfpg_sum_server *server, ptrdiff_t client, const unsigned char *body) {
    (void)ctx;
    MFPG_SUM_EACH (v, &server->record.present[1]) {
        if (v == client) continue;
        memcpy(parcel(server, client, v), body, MFPG_SUM_PARCEL);
        body += MFPG_SUM_PARCEL;
    }
    return MFPG_OK;
}

static mfpg_status take_masked(
    mfpg_context *ctx, mfpg_sum_server *server, ptrdiff_t client, const unsigned char *body) {
    const mfpg_sum_terms *terms = &server->record.terms;
    if (!mfpg_sum_is_packed(terms->bits, terms->dimension, body))
        return mfpg_fail(ctx, MFPG_ERR_INPUT,
            "masked vector: that of '%s' has bits behind its last coordinate",
            server->roster->entry[client].name);
    mfpg_sum_words_add_packed(&server->words, body);
    return MFPG_OK;
}

/* The first t signatures are enough. They are for the clients, who verify them; the server, to whom they would cost as much as the
 * masks, looks only if the clients then do not answer: the message is sealed, so that a signature that does not hold is the
 * signer's own doing. */
static mfpg_status take_consistency(
    mfpg_context *ctx, mfpg_sum_server *server, ptrdiff_t client, const unsigned char *body) {
    (void)ctx;
    if (mfpg_sum_size(&server->signers) >= server->record.terms.threshold) return MFPG_OK;
    memcpy(server->signature[client], body, MFPG_SUM_SIGNATURE);
    mfpg_sum_insert(&server->signers, client);
    return MFPG_OK;
}

/* Returns the first whose signature does not hold, or NULL. */
static const char *find_false_signer(const mfpg_sum_server *server) {
    unsigned char text[MFPG_SUM_SIGNED];
    MFPG_SUM_EACH (v, &server->signers) {
        const size_t size = mfpg_sum_signed_sets(&server->record, v, text);
        const mfpg_roster_entry *entry = &server->roster->entry[v];
        if (crypto_sign_verify_detached(server->signature[v], text, size, entry->public_key) != 0)
            return entry->name;
    }
    return NULL;
}

static size_t opened_row(const mfpg_sum_server *server) {
    return (size_t)mfpg_sum_size(&server->record.present[2]) * MFPG_SUM_KEY;
}

static mfpg_status take_opened(
    mfpg_context *ctx, mfpg_sum_server *server, ptrdiff_t client, const unsigned char *body) {
    const int already = mfpg_sum_size(&server->answered);
    (void)ctx;
    if (already >= server->record.terms.threshold) return MFPG_OK;
    server->abscissa[already] = (unsigned char)(client + 1);
    memcpy(server->opened + (size_t)already * opened_row(server), body, opened_row(server));
    return MFPG_OK;
}

static mfpg_status (*const takes[MFPG_SUM_STEPS])(mfpg_context *ctx, mfpg_sum_server *server,
    ptrdiff_t client,
    const unsigned char *body) = {take_keys, take_shares, take_masked, take_consistency, take_opened};

mfpg_status mfpg_sum_server_take(mfpg_context *ctx, mfpg_sum_server *server, const unsigned char *message,
    size_t size, ptrdiff_t *sender) {
    const unsigned char *body = NULL;
    const int kind = MFPG_SUM_ANSWER(server->step);
    const ptrdiff_t client = mfpg_sum_client_of(message, size);
    mfpg_status status = check_running(ctx, server);
    if (status != MFPG_OK) return status;
    if (client < 0 || !mfpg_sum_has(&server->asked, client))
        return mfpg_fail(
            ctx, MFPG_ERR_INPUT, "%s: the sender does not take part in this step", mfpg_sum_words_of(kind));
    status = mfpg_sum_open(
        ctx, server->roster, &server->record, kind, client, server->seal[client], message, size, &body);
    if (status == MFPG_OK && mfpg_sum_has(&server->answered, client))
        status = mfpg_fail(ctx, MFPG_ERR_INPUT,
            "%s: '%s' has already answered: the message was sent twice, or two sites use one identity",
            mfpg_sum_words_of(kind), server->roster->entry[client].name);
    if (status == MFPG_OK) status = takes[server->step](ctx, server, client, body);
    if (status != MFPG_OK) return status;
    mfpg_sum_insert(&server->answered, client);
    if (sender) *sender = client;
    return MFPG_OK;
}

/* ---- the sum ---- */

/* Reconstructs the secret of the column, as those who opened it gave it. */
static void reconstruct(const mfpg_sum_server *server, const unsigned char *weight, ptrdiff_t column,
    unsigned char secret[MFPG_SUM_KEY]) {
    memset(secret, 0, MFPG_SUM_KEY);
    for (int i = 0; i < server->record.terms.threshold; i++)
        mfpg_shamir_add(weight[i], server->opened + (size_t)i * opened_row(server) + column * MFPG_SUM_KEY,
            MFPG_SUM_KEY, secret);
}

/* The masks that a client left in the sum by dropping out, with the sign that takes them away: the survivor u added that of v
 * if u < v, and subtracted it otherwise. */
static mfpg_status add_pair_masks(mfpg_context *ctx, const mfpg_sum_server *server, ptrdiff_t v,
    const unsigned char secret[MFPG_SUM_KEY], mfpg_sum_mask **next) {
    const mfpg_sum_record *record = &server->record;
    unsigned char public_key[MFPG_SUM_KEY];
    crypto_scalarmult_base(public_key, secret);
    if (memcmp(public_key, record->keys[v].mask, sizeof public_key) != 0)
        return mfpg_fail(ctx, MFPG_ERR_INPUT,
            "opened shares: those for '%s' do not give its key: it or one of those who opened them sent "
            "wrong shares",
            server->roster->entry[v].name);
    MFPG_SUM_EACH (u, &record->present[3]) {
        mfpg_sum_agree(MFPG_SUM_FOR_MASK, record->context, secret,
            (mfpg_sum_party){(int)v, record->keys[v].mask}, (mfpg_sum_party){(int)u, record->keys[u].mask},
            (*next)->stream.key);
        (*next)++->sign = u < v ? -1 : 1;
    }
    return MFPG_OK;
}

/* The masks that are in the sum of the masked vectors, to be removed. */
static mfpg_status find_masks(mfpg_context *ctx, const mfpg_sum_server *server, mfpg_sum_mask *mask) {
    const mfpg_sum_record *record = &server->record;
    unsigned char weight[MFPG_SUM_MOST], secret[MFPG_SUM_KEY];
    mfpg_status status = MFPG_OK;
    ptrdiff_t column = 0;
    mfpg_shamir_weights(server->abscissa, record->terms.threshold, weight);
    MFPG_SUM_EACH (v, &record->present[2]) {
        if (status != MFPG_OK) break;
        reconstruct(server, weight, column++, secret);
        if (mfpg_sum_has(&record->present[3], v)) {
            memcpy(mask->stream.key, secret, sizeof secret);
            mask++->sign = -1;
        } else
            status = add_pair_masks(ctx, server, v, secret, &mask);
    }
    sodium_memzero(secret, sizeof secret);
    return status;
}

/* What lies outside is not the sum of such vectors. Says nothing if the bits do not suffice for all that may come. */
static mfpg_status check_reach(mfpg_context *ctx, const mfpg_sum_server *server) {
    const mfpg_sum_terms *terms = &server->record.terms;
    const double reach = mfpg_sum_reach(server->roster, terms, &server->record.present[3]);
    if (reach >= ldexp(1.0, terms->bits - 1) || mfpg_sum_words_largest(&server->words) <= reach)
        return MFPG_OK;
    return mfpg_fail(ctx, MFPG_ERR_NUMERIC,
        "the sum is larger than vectors of these clips and this noise can be: a client sent a wrong vector "
        "or share");
}

static mfpg_status remove_masks(mfpg_context *ctx, mfpg_sum_server *server) {
    const mfpg_sum_record *record = &server->record;
    const ptrdiff_t survivors = mfpg_sum_size(&record->present[3]);
    const ptrdiff_t count = survivors + survivors * (mfpg_sum_size(&record->present[2]) - survivors);
    mfpg_sum_mask *mask = mfpg_alloc(count, sizeof *mask);
    mfpg_status status = mask ? find_masks(ctx, server, mask) : mfpg_fail_memory(ctx);
    if (status == MFPG_OK) {
        mfpg_sum_masks_add(mask, count, &server->words);
        status = check_reach(ctx, server);
    }
    server->has_ended = status != MFPG_OK && status != MFPG_ERR_MEMORY;
    if (mask) sodium_memzero(mask, (size_t)count * sizeof *mask);
    free(mask);
    return status;
}

/* ---- steps ---- */

/* Memory for the answers of the next step. */
static mfpg_status prepare(mfpg_context *ctx, mfpg_sum_server *server, mfpg_sum_step next) {
    const mfpg_sum_terms *terms = &server->record.terms;
    const ptrdiff_t count = server->roster->count;
    if (next == MFPG_SUM_SHARES) server->parcels = mfpg_alloc(count * count, MFPG_SUM_PARCEL);
    if (next == MFPG_SUM_MASKED) server->words = mfpg_sum_words_create(terms->bits, terms->dimension);
    if (next == MFPG_SUM_OPENED) server->opened = mfpg_alloc(terms->threshold * count, MFPG_SUM_KEY);
    return (next < MFPG_SUM_SHARES || server->parcels) && (next < MFPG_SUM_MASKED || server->words.data) &&
                   (next < MFPG_SUM_OPENED || server->opened)
               ? MFPG_OK
               : mfpg_fail_memory(ctx);
}

/* Ends the sum because too few answered. */
static mfpg_status fail_threshold(mfpg_context *ctx, mfpg_sum_server *server) {
    const char *liar = server->step == MFPG_SUM_OPENED ? find_false_signer(server) : NULL;
    server->has_ended = 1;
    mfpg_fail(ctx, MFPG_ERR_INPUT,
        "%s: %d clients answered, fewer than the threshold %d: the sum reveals nothing and has to be "
        "repeated as another "
        "attempt",
        mfpg_sum_words_of(MFPG_SUM_ANSWER(server->step)), mfpg_sum_size(&server->answered),
        server->record.terms.threshold);
    return liar ? mfpg_fail_behind(
                      ctx, MFPG_ERR_INPUT, "; '%s' did not sign the keys and sets of this sum", liar)
                : MFPG_ERR_INPUT;
}

mfpg_status mfpg_sum_server_advance(mfpg_context *ctx, mfpg_sum_server *server, mfpg_sum_step *step) {
    mfpg_sum_record *record = &server->record;
    mfpg_status status = check_running(ctx, server);
    if (status != MFPG_OK) return status;
    const mfpg_sum_step next = (mfpg_sum_step)(server->step + 1);
    if (mfpg_sum_size(&server->answered) < record->terms.threshold) return fail_threshold(ctx, server);
    status = next == MFPG_SUM_DONE ? remove_masks(ctx, server) : prepare(ctx, server, next);
    if (status != MFPG_OK) return status;
    if (next < MFPG_SUM_DONE)
        record->present[next] = next == MFPG_SUM_OPENED ? server->signers : server->answered;
    if (next == MFPG_SUM_SHARES) mfpg_sum_hash_list(record);
    server->asked = server->answered;
    server->answered = (mfpg_sum_set){0};
    server->step = next;
    if (step) *step = next;
    return MFPG_OK;
}

mfpg_status mfpg_sum_server_sum(
    mfpg_context *ctx, const mfpg_sum_server *server, int64_t *sum, unsigned char *survivors) {
    if (server->step != MFPG_SUM_DONE || server->has_ended)
        return mfpg_fail(ctx, MFPG_ERR_INPUT, "the sum is not there before its last step");
    mfpg_sum_words_get(&server->words, sum);
    for (ptrdiff_t i = 0; survivors && i < server->roster->count; i++)
        survivors[i] = (unsigned char)mfpg_sum_has(&server->record.present[3], i);
    return MFPG_OK;
}

void mfpg_sum_server_destroy(mfpg_sum_server *server) {
    if (!server) return;
    if (server->opened)
        sodium_memzero(
            server->opened, (size_t)(server->record.terms.threshold * server->roster->count) * MFPG_SUM_KEY);
    free(server->opened);
    free(server->parcels);
    mfpg_sum_words_clear(&server->words);
    mfpg_bytes_clear(&server->terms);
    sodium_memzero(server, sizeof *server);
    free(server);
}
