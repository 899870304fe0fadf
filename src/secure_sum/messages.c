#include "messages.h"

#include <endian.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "mfpg/program.h"

static const char MAGIC[4] = {'M', 'F', 'S', 'S'};
static const char CONTEXT_DOMAIN[16] = "mfpg sum terms1", LIST_DOMAIN[16] = "mfpg sum list 1";
enum { KIND = 6, CLIENT = 7, CONTEXT = 8, SET = sizeof(mfpg_sum_set), TERMS_FIXED = 2 * 32 + 8 * 8 + 32 };

enum { TERMS = MFPG_SUM_REQUEST(MFPG_SUM_KEYS), KEYS, MASKED = MFPG_SUM_ANSWER(MFPG_SUM_MASKED) };

/* The kinds, requests and answers in turn. A body has a set or not, then fixed bytes, and then bytes for each who is present at a
 * step, without the client itself if `others` is 1. */
static const struct kind {
    const char *words;
    int has_set, fixed, each, step, others;
} kinds[] = {
    {"terms", 0, 0, 0, 0, 0}, /* whose size follows from the roster */
    {"keys", 0, 2 * MFPG_SUM_KEY, 0, 0, 0},
    {"key list", 1, 0, sizeof(mfpg_sum_keys), 1, 0},
    {"shares", 0, 0, MFPG_SUM_PARCEL, 1, 1},
    {"delivery of shares", 1, 0, MFPG_SUM_PARCEL, 2, 1},
    {"masked vector", 0, 0, 0, 0, 0}, /* from the dimension */
    {"list of survivors", 1, 0, 0, 0, 0},
    {"signature of consistency", 0, MFPG_SUM_SIGNATURE, 0, 0, 0},
    {"list of signatures", 1, 0, MFPG_SUM_SIGNATURE, 4, 0},
    {"opened shares", 0, 0, MFPG_SUM_KEY, 2, 0},
};
enum { KINDS = sizeof kinds / sizeof *kinds };

void mfpg_bytes_clear(mfpg_bytes *bytes) {
    if (bytes->data) sodium_memzero(bytes->data, bytes->size);
    free(bytes->data);
    *bytes = (mfpg_bytes){0};
}

const char *mfpg_sum_words_of(int kind) {
    return kinds[kind].words;
}

int mfpg_sum_size(const mfpg_sum_set *set) {
    int size = 0;
    for (int i = 0; i < SET; i++) size += __builtin_popcount(set->byte[i]);
    return size;
}

ptrdiff_t mfpg_sum_next(const mfpg_sum_set *set, ptrdiff_t i) {
    while (i < MFPG_SUM_MOST && !mfpg_sum_has(set, i)) i++;
    return i;
}

static size_t tail_size(int kind) {
    return kind == TERMS ? 0 : kind == KEYS ? MFPG_SUM_SIGNATURE : MFPG_SUM_TAG;
}

/* Bytes of the body behind its set. All factors are small but the dimension, which is below 2^31. */
static size_t body_size(const mfpg_roster *roster, const mfpg_sum_record *record, int kind) {
    const struct kind *row = &kinds[kind];
    if (kind == TERMS) return TERMS_FIXED + 24 * (size_t)roster->count;
    if (kind == MASKED) return mfpg_sum_packed_size(record->terms.bits, record->terms.dimension);
    return (size_t)(row->fixed +
                    row->each * (row->each ? mfpg_sum_size(&record->present[row->step]) - row->others : 0));
}

static void write_header(const mfpg_sum_record *record, int kind, ptrdiff_t client, unsigned char *to) {
    const uint16_t version = htole16(MFPG_SUM_VERSION);
    memcpy(to, MAGIC, sizeof MAGIC);
    memcpy(to + sizeof MAGIC, &version, sizeof version);
    to[KIND] = (unsigned char)kind;
    to[CLIENT] = (unsigned char)client;
    memcpy(to + CONTEXT, record->context, sizeof record->context);
}

mfpg_status mfpg_sum_begin(mfpg_context *ctx, const mfpg_roster *roster, const mfpg_sum_record *record,
    int kind, ptrdiff_t client, mfpg_bytes *out, unsigned char **body) {
    size_t set = kinds[kind].has_set ? SET : 0;
    size_t size = MFPG_SUM_HEADER + set + body_size(roster, record, kind) + tail_size(kind);
    unsigned char *data = mfpg_alloc((ptrdiff_t)size, 1);
    if (!data) return mfpg_fail_memory(ctx);
    write_header(record, kind, client, data);
    if (set) memcpy(data + MFPG_SUM_HEADER, &record->present[kind / 2], SET);
    *out = (mfpg_bytes){data, size};
    *body = data + MFPG_SUM_HEADER + set;
    return MFPG_OK;
}

/* The one-time key of a message: kind, client and context are in its header, and each is sent once. */
static void one_time_key(const unsigned char *message, const unsigned char *key, unsigned char out[32]) {
    crypto_generichash(out, 32, message, MFPG_SUM_HEADER, key, MFPG_SUM_KEY);
}

void mfpg_sum_seal(const mfpg_bytes *message, const unsigned char key[MFPG_SUM_KEY]) {
    unsigned char once[crypto_onetimeauth_KEYBYTES];
    const size_t covered = message->size - MFPG_SUM_TAG;
    one_time_key(message->data, key, once);
    crypto_onetimeauth(message->data + covered, message->data, covered, once);
    sodium_memzero(once, sizeof once);
}

static int seal_holds(const unsigned char *message, size_t size, const unsigned char *key) {
    unsigned char once[crypto_onetimeauth_KEYBYTES];
    const size_t covered = size - MFPG_SUM_TAG;
    one_time_key(message, key, once);
    int holds = crypto_onetimeauth_verify(message + covered, message, covered, once) == 0;
    sodium_memzero(once, sizeof once);
    return holds;
}

ptrdiff_t mfpg_sum_client_of(const unsigned char *message, size_t size) {
    return size >= MFPG_SUM_HEADER ? message[CLIENT] : -1;
}

int mfpg_sum_kind_of(const unsigned char *message, size_t size) {
    int whole = size >= MFPG_SUM_HEADER && memcmp(message, MAGIC, sizeof MAGIC) == 0 && message[KIND] < KINDS;
    return whole ? message[KIND] : -1;
}

static mfpg_status check_header(mfpg_context *ctx, const mfpg_roster *roster, const mfpg_sum_record *record,
    int kind, ptrdiff_t client, const unsigned char *message, size_t size) {
    const char *words = kinds[kind].words;
    uint16_t version;
    if (size < MFPG_SUM_HEADER || memcmp(message, MAGIC, sizeof MAGIC) != 0)
        return mfpg_fail(
            ctx, MFPG_ERR_INPUT, "%s: %zu bytes that are not a message of a secure sum", words, size);
    memcpy(&version, message + sizeof MAGIC, sizeof version);
    if (le16toh(version) != MFPG_SUM_VERSION)
        return mfpg_fail(ctx, MFPG_ERR_INPUT,
            "%s: the message has version %d of the secure sum, and this program has version %d", words,
            (int)le16toh(version), MFPG_SUM_VERSION);
    if (message[KIND] != kind)
        return mfpg_fail(ctx, MFPG_ERR_INPUT, "%s: the message is of another kind (%s)%s", words,
            message[KIND] < KINDS ? kinds[message[KIND]].words : "unknown",
            message[KIND] < kind ? "; every message is answered only once" : "");
    if (message[CLIENT] != client)
        return mfpg_fail(ctx, MFPG_ERR_INPUT,
            "%s: the message is for place %d of the roster, and '%s' is at place %td", words, message[CLIENT],
            roster->entry[client].name, client);
    if (kind != TERMS && memcmp(message + CONTEXT, record->context, sizeof record->context) != 0)
        return mfpg_fail(ctx, MFPG_ERR_INPUT,
            "%s: the message belongs to another sum: its terms, roster, run, round or attempt differ", words);
    return MFPG_OK;
}

static mfpg_status read_set(
    mfpg_context *ctx, mfpg_sum_record *record, int kind, ptrdiff_t client, const unsigned char *from) {
    const int step = kind / 2;
    mfpg_sum_set set;
    memcpy(&set, from, sizeof set);
    for (int i = 0; i < SET; i++)
        if (set.byte[i] & ~record->present[step - 1].byte[i])
            return mfpg_fail(ctx, MFPG_ERR_INPUT,
                "%s: it names clients that did not take part in the step before", kinds[kind].words);
    if (mfpg_sum_size(&set) < record->terms.threshold)
        return mfpg_fail(ctx, MFPG_ERR_INPUT, "%s: it names %d clients, fewer than the threshold %d",
            kinds[kind].words, mfpg_sum_size(&set), record->terms.threshold);
    if (step < MFPG_SUM_STEPS - 1 && !mfpg_sum_has(&set, client)) /* any signers will do */
        return mfpg_fail(
            ctx, MFPG_ERR_INPUT, "%s: it does not name the client that is asked", kinds[kind].words);
    record->present[step] = set;
    return MFPG_OK;
}

mfpg_status mfpg_sum_open(mfpg_context *ctx, const mfpg_roster *roster, mfpg_sum_record *record, int kind,
    ptrdiff_t client, const unsigned char key[MFPG_SUM_KEY], const unsigned char *message, size_t size,
    const unsigned char **body) {
    const char *words = kinds[kind].words;
    const size_t set = kinds[kind].has_set ? SET : 0, around = MFPG_SUM_HEADER + set + tail_size(kind);
    mfpg_status status = check_header(ctx, roster, record, kind, client, message, size);
    if (status != MFPG_OK) return status;
    if (size < around)
        return mfpg_fail(ctx, MFPG_ERR_INPUT,
            "%s: %zu bytes are fewer than the %zu that every such message has", words, size, around);
    if (tail_size(kind) == MFPG_SUM_TAG && !seal_holds(message, size, key))
        return mfpg_fail(ctx, MFPG_ERR_INPUT,
            "%s: the seal does not hold: the message was changed or cut on its way, or comes from somebody "
            "else",
            words);
    if (set) status = read_set(ctx, record, kind, client, message + MFPG_SUM_HEADER);
    if (status != MFPG_OK) return status;
    if (size - around != body_size(roster, record, kind))
        return mfpg_fail(ctx, MFPG_ERR_INPUT, "%s: %zu bytes, and these terms and clients give %zu", words,
            size, around + body_size(roster, record, kind));
    *body = message + MFPG_SUM_HEADER + set;
    return MFPG_OK;
}

/* ---- terms ---- */

static unsigned char *put(unsigned char *to, const void *from, size_t size) {
    memcpy(to, from, size);
    return to + size;
}

static unsigned char *put_integer(unsigned char *to, int64_t value) {
    const uint64_t bytes = htole64((uint64_t)value);
    return put(to, &bytes, sizeof bytes);
}

static unsigned char *put_number(unsigned char *to, double value) {
    int64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return put_integer(to, bits);
}

static void hash_context(const unsigned char *body, size_t size, unsigned char context[32]) {
    crypto_generichash(context, 32, body, size, (const unsigned char *)CONTEXT_DOMAIN, sizeof CONTEXT_DOMAIN);
}

void mfpg_sum_write_terms(const mfpg_roster *roster, mfpg_sum_record *record, unsigned char *message) {
    const mfpg_sum_terms *terms = &record->terms;
    const int64_t integers[7] = {terms->round, terms->attempt, terms->threshold, terms->colluders,
        terms->bits, terms->dimension, roster->count};
    unsigned char *to = put(message + MFPG_SUM_HEADER, roster->hash, sizeof roster->hash);
    to = put(to, record->server_key, sizeof record->server_key);
    to = put(to, terms->run, sizeof terms->run);
    for (int i = 0; i < 7; i++) to = put_integer(to, integers[i]);
    to = put_number(to, terms->grid);
    for (ptrdiff_t i = 0; i < roster->count; i++) {
        to = put_number(to, record->share[i].weight);
        to = put_number(to, record->share[i].noise_sd);
        to = put_number(to, record->share[i].clip);
    }
    hash_context(message + MFPG_SUM_HEADER, (size_t)(to - message) - MFPG_SUM_HEADER, record->context);
    memcpy(message + CONTEXT, record->context, sizeof record->context);
}

static const unsigned char *get(const unsigned char *from, void *to, size_t size) {
    memcpy(to, from, size);
    return from + size;
}

static int64_t get_integer(const unsigned char **from) {
    uint64_t bytes;
    *from = get(*from, &bytes, sizeof bytes);
    return (int64_t)le64toh(bytes);
}

static double get_number(const unsigned char **from) {
    int64_t bits = get_integer(from);
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* An integer that does not fit becomes -1, which no term may be. */
static int get_small(const unsigned char **from) {
    int64_t value = get_integer(from);
    return value >= 0 && value <= INT32_MAX ? (int)value : -1;
}

mfpg_status mfpg_sum_read_terms(
    mfpg_context *ctx, const mfpg_roster *roster, const unsigned char *message, mfpg_sum_record *record) {
    mfpg_sum_terms *terms = &record->terms;
    const unsigned char *body = message + MFPG_SUM_HEADER, *at = body;
    unsigned char hash[32];
    at = get(at, hash, sizeof hash);
    if (memcmp(hash, roster->hash, sizeof hash) != 0)
        return mfpg_fail(ctx, MFPG_ERR_INPUT,
            "terms: the server's roster is not that of this site: a name, a key or the order differs");
    at = get(at, record->server_key, sizeof record->server_key);
    at = get(at, terms->run, sizeof terms->run);
    terms->round = get_integer(&at);
    terms->attempt = get_integer(&at);
    terms->threshold = get_small(&at);
    terms->colluders = get_small(&at);
    terms->bits = get_small(&at);
    terms->dimension = get_small(&at);
    if (get_integer(&at) != roster->count)
        return mfpg_fail(ctx, MFPG_ERR_INPUT, "terms: they have another number of clients than the roster");
    terms->grid = get_number(&at);
    for (ptrdiff_t i = 0; i < roster->count; i++) {
        record->share[i].weight = get_number(&at);
        record->share[i].noise_sd = get_number(&at);
        record->share[i].clip = get_number(&at);
    }
    terms->share = record->share;
    hash_context(body, (size_t)(at - body), record->context);
    if (memcmp(message + CONTEXT, record->context, sizeof record->context) != 0)
        return mfpg_fail(
            ctx, MFPG_ERR_INPUT, "terms: their context is not their hash: they were changed on their way");
    mfpg_status status = mfpg_sum_check(ctx, roster, terms);
    if (status != MFPG_OK) return mfpg_fail_in(ctx, status, "terms");
    record->present[0] = mfpg_sum_members(roster, terms);
    return MFPG_OK;
}

/* ---- what is signed, bound and hashed ---- */

size_t mfpg_sum_signed_keys(
    const mfpg_sum_record *record, ptrdiff_t client, unsigned char text[MFPG_SUM_SIGNED]) {
    write_header(record, KEYS, client, text);
    unsigned char *to = put(text + MFPG_SUM_HEADER, record->keys[client].mask, MFPG_SUM_KEY);
    return (size_t)(put(to, record->keys[client].transport, MFPG_SUM_KEY) - text);
}

size_t mfpg_sum_signed_sets(
    const mfpg_sum_record *record, ptrdiff_t client, unsigned char text[MFPG_SUM_SIGNED]) {
    write_header(record, MFPG_SUM_ANSWER(MFPG_SUM_CONSISTENCY), client, text);
    unsigned char *to = put(text + MFPG_SUM_HEADER, record->list_hash, sizeof record->list_hash);
    to = put(to, &record->present[2], SET);
    return (size_t)(put(to, &record->present[3], SET) - text);
}

void mfpg_sum_bind(
    const mfpg_sum_record *record, ptrdiff_t sender, ptrdiff_t receiver, unsigned char text[MFPG_SUM_BOUND]) {
    write_header(record, MFPG_SUM_ANSWER(MFPG_SUM_SHARES), sender, text);
    text[MFPG_SUM_HEADER] = (unsigned char)receiver;
}

void mfpg_sum_hash_list(mfpg_sum_record *record) {
    crypto_generichash_state hash;
    crypto_generichash_init(
        &hash, (const unsigned char *)LIST_DOMAIN, sizeof LIST_DOMAIN, sizeof record->list_hash);
    crypto_generichash_update(&hash, record->present[1].byte, SET);
    MFPG_SUM_EACH (i, &record->present[1])
        crypto_generichash_update(&hash, (const unsigned char *)&record->keys[i], sizeof record->keys[i]);
    crypto_generichash_final(&hash, record->list_hash, sizeof record->list_hash);
}
