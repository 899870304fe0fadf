/* What the server of secure sums can learn from everything that it sent and received (docs/secure_sum.md). For each masked
 * vector the masks are removed whose keys the opened shares give. If nothing is left, or a mask whose key is a small number,
 * the server knows the vector of one client, whose own noise is all that protects it: the certificate of the sum is then
 * broken. Where canaries were sent, a guess for each shows how much privacy was lost. */
#include <endian.h>
#include <math.h>
#include <sodium.h>
#include <stdlib.h>
#include <string.h>

#include "audit_bounds.h"
#include "base/error.h"
#include "base/fields.h"
#include "base/file.h"
#include "base/json_file.h"
#include "base/memory.h"
#include "base/wide.h"
#include "mfpg/audit.h"
#include "mfpg/program.h"
#include "secure_sum/messages.h"

#define ROW(name, kind, help)                                                                                \
    {                                                                                                        \
#name, MFPG_FIELD_##kind, MFPG_FIELD_JSON | MFPG_FIELD_PYTHON, offsetof(mfpg_transcript_site, name), \
            help                                                                                             \
    }

static const mfpg_record_field fields[] = {
    ROW(site, TEXT, "name in the roster"),
    ROW(vectors, COUNT, "masked vectors of this site in the transcript"),
    ROW(opened, COUNT, "of these: vectors that the server can read without the others"),
    ROW(how, TEXT, "what opened the first of them; empty if none is open"),
    ROW(first_round, INDEX, "round of the first opened vector"),
    ROW(guesses, COUNT, "canaries of this site, one guess each"),
    ROW(correct, COUNT, "of the guesses"),
    ROW(mu, MAGNITUDE, "promised for one sum, adjacency replace: 2 clip / noise of the worst allowed set"),
    ROW(mu_lower, MAGNITUDE, "proved by the guesses"),
    ROW(stands, TRUTH, "whether the promise of the sum stands"),
};
const mfpg_fields mfpg_transcript_fields = MFPG_FIELDS("audit of a transcript", fields);

enum { SELF = 1, PAIR = 0, LARGEST_TRANSCRIPT = 1 << 30 };

/* A share that a client opened. */
typedef struct opened_share {
    unsigned char owner, holder, kind, refused, share[MFPG_SUM_KEY];
} opened_share;

/* A masked vector, packed. A client has several if the server refused some, which may be late ones or forged. */
typedef struct masked_vector {
    unsigned char *packed;
    ptrdiff_t client;
    int refused;
} masked_vector;

/* One sum of the transcript. */
typedef struct sum {
    mfpg_sum_record record; /* present[2]: whose shares were delivered */
    masked_vector *vector;
    ptrdiff_t vectors, vectors_room;
    mfpg_sum_set asked[MFPG_SUM_MOST]; /* survivors of the latest list that was sent to this client */
    mfpg_sum_set survivors;            /* of the first such list */
    opened_share *opened;
    ptrdiff_t opened_count, opened_room;
    unsigned char secret[2][MFPG_SUM_MOST][MFPG_SUM_KEY]; /* reconstructed */
    mfpg_sum_set known[2];
    mfpg_sum_set doubtful; /* self-masks that were put together from refused messages too */
} sum;

typedef struct canary {
    ptrdiff_t site;
    int64_t round, attempt;
    int coin; /* 1 or -1 */
    double *vector;
    ptrdiff_t dimension, line;
} canary;

typedef struct transcript {
    const char *path;
    ptrdiff_t line;
    mfpg_roster roster;
    sum **sum;
    ptrdiff_t sums, sums_room;
    canary *canary;
    ptrdiff_t canaries, canaries_room;
    int64_t ignored; /* messages that belong to no sum */
    int seed_bits, searched;
} transcript;

/* ---- reading ---- */

static mfpg_status bad(mfpg_context *ctx, const transcript *t, const char *what) {
    return mfpg_fail(ctx, MFPG_ERR_INPUT, "%s:%td: %s", t->path, t->line, what);
}

static sum *find_sum(const transcript *t, const unsigned char context[32]) {
    for (ptrdiff_t i = t->sums; i-- > 0;)
        if (memcmp(t->sum[i]->record.context, context, 32) == 0) return t->sum[i];
    return NULL;
}

/* The first terms of a context start its sum; the context is their hash, so others are the same. */
static mfpg_status take_terms(mfpg_context *ctx, transcript *t, const unsigned char *message) {
    if (find_sum(t, message + MFPG_SUM_HEADER - 32)) return MFPG_OK;
    sum **room = mfpg_room_for_one(t->sum, t->sums, &t->sums_room, sizeof *room);
    if (!room) return mfpg_fail_memory(ctx);
    t->sum = room;
    sum *fresh = mfpg_alloc(1, sizeof *fresh);
    if (!fresh) return mfpg_fail_memory(ctx);
    memset(fresh, 0, sizeof *fresh);
    t->sum[t->sums++] = fresh;
    mfpg_status status = mfpg_sum_read_terms(ctx, &t->roster, message, &fresh->record);
    return status == MFPG_OK ? MFPG_OK : mfpg_fail_in(ctx, status, "%s:%td", t->path, t->line);
}

static mfpg_status take_opened(
    mfpg_context *ctx, sum *s, ptrdiff_t holder, const unsigned char *body, int refused) {
    MFPG_SUM_EACH (owner, &s->record.present[2]) {
        opened_share *room = mfpg_room_for_one(s->opened, s->opened_count, &s->opened_room, sizeof *room);
        if (!room) return mfpg_fail_memory(ctx);
        s->opened = room;
        opened_share *share = &s->opened[s->opened_count++];
        *share = (opened_share){.owner = (unsigned char)owner,
            .holder = (unsigned char)holder,
            .refused = (unsigned char)refused,
            .kind = mfpg_sum_has(&s->asked[holder], owner) ? SELF : PAIR};
        memcpy(share->share, body, MFPG_SUM_KEY);
        body += MFPG_SUM_KEY;
    }
    return MFPG_OK;
}

/* A server receives anything; what belongs to no sum teaches it nothing. */
static mfpg_status ignore(transcript *t) {
    t->ignored++;
    return MFPG_OK;
}

static mfpg_status take_vector(
    mfpg_context *ctx, sum *s, ptrdiff_t client, const unsigned char *body, size_t size, int refused) {
    masked_vector *room = mfpg_room_for_one(s->vector, s->vectors, &s->vectors_room, sizeof *room);
    if (!room) return mfpg_fail_memory(ctx);
    s->vector = room;
    unsigned char *packed = mfpg_alloc((ptrdiff_t)size, 1);
    if (!packed) return mfpg_fail_memory(ctx);
    memcpy(packed, body, size);
    s->vector[s->vectors++] = (masked_vector){packed, client, refused};
    return MFPG_OK;
}

/* Takes what the attack needs; other messages hold nothing that the server cannot make itself. */
static mfpg_status take_body(mfpg_context *ctx, transcript *t, sum *s, int kind, ptrdiff_t client,
    const unsigned char *body, size_t size, int refused) {
    enum { KEYS = 1, DELIVERY = 4, MASKED = 5, SURVIVORS = 6, OPENED = 9 };
    static const unsigned char no_key[MFPG_SUM_KEY];
    const size_t packed = mfpg_sum_packed_size(s->record.terms.bits, s->record.terms.dimension);
    const size_t set = sizeof(mfpg_sum_set), members = (size_t)mfpg_sum_size(&s->record.present[2]);
    const size_t least[10] = {[KEYS] = 2 * MFPG_SUM_KEY,
        [DELIVERY] = set,
        [MASKED] = packed,
        [SURVIVORS] = set,
        [OPENED] = members * MFPG_SUM_KEY};
    unsigned char *mask_key = s->record.keys[client].mask;
    if (size < least[kind]) return ignore(t);
    if (kind == KEYS && (!refused || memcmp(mask_key, no_key, MFPG_SUM_KEY) == 0))
        memcpy(mask_key, body, MFPG_SUM_KEY);
    if (kind == DELIVERY) memcpy(&s->record.present[2], body, set);
    if (kind == SURVIVORS) {
        memcpy(&s->asked[client], body, set);
        if (mfpg_sum_size(&s->survivors) == 0) s->survivors = s->asked[client];
    }
    if (kind == OPENED) return take_opened(ctx, s, client, body, refused);
    return kind == MASKED ? take_vector(ctx, s, client, body, packed, refused) : MFPG_OK;
}

static mfpg_status take_message(
    mfpg_context *ctx, transcript *t, const unsigned char *message, size_t size, int refused) {
    const ptrdiff_t client = mfpg_sum_client_of(message, size);
    mfpg_sum_record none = {0};
    const unsigned char *body = message + MFPG_SUM_HEADER;
    const int kind = mfpg_sum_kind_of(message, size);
    if (client < 0 || client >= t->roster.count || kind < 0) return ignore(t);
    if (kind == 0) {
        mfpg_status status = mfpg_sum_open(ctx, &t->roster, &none, 0, client, NULL, message, size, &body);
        if (status != MFPG_OK) return mfpg_fail_in(ctx, status, "%s:%td", t->path, t->line);
        return take_terms(ctx, t, message);
    }
    sum *s = find_sum(t, message + MFPG_SUM_HEADER - 32);
    return s ? take_body(ctx, t, s, kind, client, body, size - MFPG_SUM_HEADER, refused) : ignore(t);
}

static mfpg_status take_base64(mfpg_context *ctx, transcript *t, const json_t *text, int refused) {
    const size_t length = json_string_length(text);
    unsigned char *message = mfpg_alloc((ptrdiff_t)(length / 4 * 3 + 3), 1);
    size_t size = 0;
    if (!message) return mfpg_fail_memory(ctx);
    mfpg_status status = sodium_base642bin(message, length / 4 * 3 + 3, json_string_value(text), length, NULL,
                             &size, NULL, sodium_base64_VARIANT_ORIGINAL) == 0
                             ? take_message(ctx, t, message, size, refused)
                             : bad(ctx, t, "the message is not in base64");
    free(message);
    return status;
}

static mfpg_status take_canary(mfpg_context *ctx, transcript *t, const json_t *object) {
    const json_t *name = json_object_get(object, "canary"), *vector = json_object_get(object, "vector");
    canary made = {.site = -1,
        .round = json_integer_value(json_object_get(object, "round")),
        .attempt = json_integer_value(json_object_get(object, "attempt")),
        .coin = (int)json_integer_value(json_object_get(object, "coin")),
        .dimension = (ptrdiff_t)json_array_size(vector),
        .line = t->line};
    for (ptrdiff_t i = 0; i < t->roster.count && json_is_string(name); i++)
        if (strcmp(t->roster.entry[i].name, json_string_value(name)) == 0) made.site = i;
    if (made.site < 0) return bad(ctx, t, "\"canary\" is no name of the roster");
    if (made.coin != 1 && made.coin != -1) return bad(ctx, t, "\"coin\" must be 1 or -1");
    if (made.dimension < 1) return bad(ctx, t, "\"vector\" must be a list of numbers");
    for (ptrdiff_t i = 0; i < t->canaries; i++)
        if (t->canary[i].site == made.site && t->canary[i].round == made.round &&
            t->canary[i].attempt == made.attempt)
            return bad(ctx, t, "there is a canary of this site, round and attempt already");
    canary *room = mfpg_room_for_one(t->canary, t->canaries, &t->canaries_room, sizeof *room);
    if (!room) return mfpg_fail_memory(ctx);
    t->canary = room;
    made.vector = mfpg_alloc(made.dimension, sizeof *made.vector);
    if (!made.vector) return mfpg_fail_memory(ctx);
    t->canary[t->canaries++] = made;
    for (ptrdiff_t i = 0; i < made.dimension; i++) {
        const json_t *number = json_array_get(vector, (size_t)i);
        if (!json_is_number(number)) return bad(ctx, t, "\"vector\" must be a list of numbers");
        made.vector[i] = json_number_value(number);
    }
    return MFPG_OK;
}

static mfpg_status take_line(mfpg_context *ctx, transcript *t, const char *text, size_t length) {
    json_error_t error;
    json_t *object = json_loadb(text, length, JSON_REJECT_DUPLICATES, &error);
    const json_t *roster = json_object_get(object, "roster"), *message = json_object_get(object, "message"),
                 *refused = json_object_get(object, "refused");
    mfpg_status status;
    if (!json_is_object(object))
        status = bad(ctx, t, "this is not a line of a transcript (one JSON object a line)");
    else if (t->line == 1 && !json_is_string(roster))
        status = bad(ctx, t, "the first line of a transcript has the text of its roster as \"roster\"");
    else if (t->line == 1)
        status =
            mfpg_roster_read(ctx, json_string_value(roster), json_string_length(roster), t->path, &t->roster);
    else if (json_is_string(message))
        status = take_base64(ctx, t, message, 0);
    else if (json_is_string(refused))
        status = take_base64(ctx, t, refused, 1);
    else if (json_object_get(object, "canary"))
        status = take_canary(ctx, t, object);
    else
        status = bad(ctx, t, "the line has neither \"message\", \"refused\" nor \"canary\"");
    json_decref(object);
    return status;
}

/* Without vectors there is nothing to judge, and a canary that belongs to no sum would be lost in silence. */
static mfpg_status check_whole(mfpg_context *ctx, const transcript *t) {
    ptrdiff_t vectors = 0;
    for (ptrdiff_t i = 0; i < t->sums; i++) vectors += t->sum[i]->vectors;
    if (vectors == 0)
        return mfpg_fail(ctx, MFPG_ERR_INPUT,
            "%s: there is no masked vector of a secure sum in it, so that there is nothing to judge",
            t->path);
    for (ptrdiff_t i = 0; i < t->canaries; i++) {
        const canary *c = &t->canary[i];
        int found = 0;
        for (ptrdiff_t j = 0; j < t->sums && !found; j++) {
            const mfpg_sum_terms *terms = &t->sum[j]->record.terms;
            found =
                terms->round == c->round && terms->attempt == c->attempt && terms->dimension == c->dimension;
        }
        if (!found)
            return mfpg_fail(ctx, MFPG_ERR_INPUT,
                "%s:%td: the canary belongs to no sum of this transcript: none has round %lld, attempt %lld "
                "and %td "
                "coordinates",
                t->path, c->line, (long long)c->round, (long long)c->attempt, c->dimension);
    }
    return MFPG_OK;
}

static mfpg_status read_transcript(mfpg_context *ctx, transcript *t) {
    char *text = NULL;
    size_t length = 0;
    mfpg_status status = mfpg_file_read(ctx, t->path, LARGEST_TRANSCRIPT, &text, &length);
    for (char *at = text; status == MFPG_OK && at < text + length;) {
        char *end = memchr(at, '\n', (size_t)(text + length - at));
        t->line++;
        if (!end &&
            t->line > 1) { /* a line that was not finished, by a crash or because the file still grows */
            t->ignored++;
            break;
        }
        if (!end) end = text + length;
        if (end > at || t->line == 1) status = take_line(ctx, t, at, (size_t)(end - at));
        at = end + 1;
    }
    free(text);
    return status == MFPG_OK ? check_whole(ctx, t) : status;
}

/* ---- opening ---- */

/* Puts t different shares of a secret together. A mask key is right if it gives the public key; a wrong self-mask leaves
 * noise that no one takes for a vector. */
static void reconstruct(sum *s, ptrdiff_t owner, int kind) {
    unsigned char abscissa[MFPG_SUM_MOST] = {0}, weight[MFPG_SUM_MOST], base[MFPG_SUM_KEY];
    const unsigned char *share[MFPG_SUM_MOST];
    unsigned char *secret = s->secret[kind][owner];
    mfpg_sum_set holders = {0};
    int count = 0, doubtful = 0;
    for (ptrdiff_t j = 0; j < 2 * s->opened_count && count < s->record.terms.threshold; j++) {
        const opened_share *one = &s->opened[j % s->opened_count]; /* the refused ones come last */
        if (one->owner != owner || one->kind != kind || mfpg_sum_has(&holders, one->holder)) continue;
        if (one->refused != (j >= s->opened_count)) continue;
        mfpg_sum_insert(&holders, one->holder);
        abscissa[count] = (unsigned char)(one->holder + 1);
        share[count++] = one->share;
        doubtful |= one->refused;
    }
    if (count < s->record.terms.threshold) return;
    mfpg_shamir_weights(abscissa, count, weight);
    for (int i = 0; i < count; i++) mfpg_shamir_add(weight[i], share[i], MFPG_SUM_KEY, secret);
    crypto_scalarmult_base(base, secret);
    if (kind == SELF || memcmp(base, s->record.keys[owner].mask, MFPG_SUM_KEY) == 0)
        mfpg_sum_insert(&s->known[kind], owner);
    if (doubtful && kind == SELF) mfpg_sum_insert(&s->doubtful, owner);
}

/* The mask that client v and client w share (v itself: the self-mask), as v adds it; 0 if its key is not known. */
static int find_mask(const sum *s, ptrdiff_t v, ptrdiff_t w, mfpg_sum_mask *mask) {
    const mfpg_sum_record *r = &s->record;
    *mask = (mfpg_sum_mask){.sign = w >= v ? 1 : -1};
    if (v == w) {
        memcpy(mask->stream.key, s->secret[SELF][v], MFPG_SUM_KEY);
        return mfpg_sum_has(&s->known[SELF], v);
    }
    const ptrdiff_t knows = mfpg_sum_has(&s->known[PAIR], v) ? v : w, other = knows == v ? w : v;
    return mfpg_sum_has(&s->known[PAIR], knows) &&
           mfpg_sum_agree(MFPG_SUM_FOR_MASK, r->context, s->secret[PAIR][knows],
               (mfpg_sum_party){(int)knows, r->keys[knows].mask},
               (mfpg_sum_party){(int)other, r->keys[other].mask}, mask->stream.key);
}

/* Removes from a vector all masks that are known. Returns the number of those that are not; *left is the last of them. */
static int strip(const sum *s, ptrdiff_t v, mfpg_sum_words *words, mfpg_sum_mask *left) {
    mfpg_sum_mask mask[MFPG_SUM_MOST];
    ptrdiff_t count = 0;
    int unknown = 0;
    MFPG_SUM_EACH (w, &s->record.present[2]) {
        if (find_mask(s, v, w, &mask[count])) {
            mask[count].sign = -mask[count].sign;
            count++;
        } else {
            *left = mask[count];
            left->sign = -left->sign;
            unknown++;
        }
    }
    mfpg_sum_masks_add(mask, count, words);
    return unknown;
}

/* Returns 1 if all coordinates are as small as one client's vector is, although `tries` random vectors would contain such
 * a one with probability below 2^-30. */
static int is_vector(const transcript *t, const sum *s, ptrdiff_t v, const int64_t *vector, double tries) {
    const mfpg_sum_terms *terms = &s->record.terms;
    mfpg_sum_set own = {0};
    mfpg_sum_insert(&own, v);
    const double reach = mfpg_sum_reach(&t->roster, terms, &own);
    const double chance = fmin(1.0, (2.0 * reach + 1.0) / ldexp(1.0, terms->bits));
    if (log2(tries) + (double)terms->dimension * log2(chance) > -30.0) return 0;
    for (ptrdiff_t i = 0; i < terms->dimension; i++)
        if (fabs((double)vector[i]) > reach) return 0;
    return 1;
}

/* ---- a search over small keys ---- */

enum { LANES = 16, BLOCK_WORDS = 16, CHUNKS = 4096 };
typedef uint32_t lanes __attribute__((vector_size(LANES * sizeof(uint32_t))));

#define ROTATE(x, by) ((x) << (by) | (x) >> (32 - (by)))
#define QUARTER(a, b, c, d)                                                                                  \
    x[a] += x[b], x[d] = ROTATE(x[d] ^ x[a], 16), x[c] += x[d], x[b] = ROTATE(x[b] ^ x[c], 12),              \
                  x[a] += x[b], x[d] = ROTATE(x[d] ^ x[a], 8), x[c] += x[d], x[b] = ROTATE(x[b] ^ x[c], 7)

/* Computes the first word of a block of ChaCha20 under the keys first .. first + 15, in a lane each: a search needs no more
 * of most keys (agreement.h says which word a coordinate takes). */
MFPG_WIDE static void first_words(uint64_t first, uint32_t block, uint32_t out[LANES]) {
    lanes x[BLOCK_WORDS] = {{0}}, low, number = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
    x[0] += 0x61707865u, x[1] += 0x3320646eu, x[2] += 0x79622d32u,
        x[3] += 0x6b206574u;        /* "expand 32-byte k" */
    low = number + (uint32_t)first; /* first is a multiple of 16, so no lane carries */
    x[4] = low;
    x[5] += (uint32_t)(first >> 32);
    x[12] += block;
    for (int round = 0; round < 10; round++) {
        QUARTER(0, 4, 8, 12);
        QUARTER(1, 5, 9, 13);
        QUARTER(2, 6, 10, 14);
        QUARTER(3, 7, 11, 15);
        QUARTER(0, 5, 10, 15);
        QUARTER(1, 6, 11, 12);
        QUARTER(2, 7, 8, 13);
        QUARTER(3, 4, 9, 14);
    }
    x[0] += 0x61707865u;
    memcpy(out, &x[0], sizeof x[0]);
}

typedef struct key_search {
    const mfpg_sum_words *words; /* all other masks are removed */
    const transcript *t;
    const sum *s;
    ptrdiff_t v;
    int sign;
    double reach;  /* of a vector's coordinates */
    int64_t found; /* the key; -1: none so far */
} key_search;

/* Returns 1 if the coordinates that begin in 32-bit word q of the mask are small under this word of it. A coordinate of 64
 * bits is not looked at here. */
static int word_fits(const key_search *f, ptrdiff_t q, uint32_t mask) {
    const mfpg_sum_words *words = f->words;
    const int in_word = 4 / words->width, beyond = 32 - words->bits;
    uint32_t word;
    memcpy(&word, words->data + 4 * q, sizeof word);
    for (int i = 0; i < in_word && in_word * q + i < words->count; i++) {
        const uint32_t at = (word >> 16 * i) + (f->sign > 0 ? mask >> 16 * i : 0u - (mask >> 16 * i));
        if (fabs((double)((int32_t)(at << beyond) >> beyond)) > f->reach) return 0;
    }
    return 1;
}

static int key_fits(const key_search *f, uint64_t key, mfpg_sum_words *copy, int64_t *vector) {
    mfpg_sum_mask mask = {.sign = f->sign};
    const uint64_t bytes = htole64(key);
    memcpy(mask.stream.key, &bytes, sizeof bytes);
    memcpy(copy->data, f->words->data, (size_t)(copy->count * copy->width));
    mfpg_sum_masks_add(&mask, 1, copy);
    mfpg_sum_words_get(copy, vector);
    return is_vector(f->t, f->s, f->v, vector, ldexp(1.0, f->t->seed_bits));
}

static void search_lanes(key_search *f, uint64_t first, mfpg_sum_words *copy, int64_t *vector) {
    uint32_t alive = 0xffff, word[LANES];
    const ptrdiff_t all = (f->words->count * f->words->width + 3) / 4;
    for (ptrdiff_t q = 0; q < all && q < BLOCK_WORDS && alive && f->words->width < 8; q++) {
        first_words(first, (uint32_t)q, word);
        for (int lane = 0; lane < LANES; lane++)
            if (alive >> lane & 1 && !word_fits(f, q, word[lane])) alive &= ~(1u << lane);
    }
    for (int lane = 0; lane < LANES; lane++)
        if (alive >> lane & 1 && key_fits(f, first + (uint64_t)lane, copy, vector))
            __atomic_store_n(&f->found, (int64_t)first + lane, __ATOMIC_RELAXED);
}

static mfpg_status search_chunk(mfpg_context *ctx, ptrdiff_t chunk, int worker, void *arg) {
    key_search *f = arg;
    const uint64_t all = UINT64_C(1) << f->t->seed_bits, size = all / CHUNKS > LANES ? all / CHUNKS : LANES;
    mfpg_sum_words copy = mfpg_sum_words_create(f->words->bits, f->words->count);
    int64_t *vector = mfpg_alloc(f->words->count, sizeof *vector);
    mfpg_status status = copy.data && vector ? MFPG_OK : mfpg_fail_memory(ctx);
    (void)worker;
    for (uint64_t i = 0; i < size && (uint64_t)chunk * size + i < all && status == MFPG_OK; i += LANES) {
        if (__atomic_load_n(&f->found, __ATOMIC_RELAXED) >= 0) break;
        search_lanes(f, (uint64_t)chunk * size + i, &copy, vector);
    }
    mfpg_sum_words_clear(&copy);
    free(vector);
    return status;
}

/* Removes the last mask too if its key is a number below 2^seed_bits. */
static mfpg_status search_key(mfpg_context *ctx, transcript *t, const sum *s, ptrdiff_t v,
    mfpg_sum_words *words, mfpg_sum_mask *left, int64_t *vector, int *found) {
    mfpg_sum_set own = {0};
    mfpg_sum_insert(&own, v);
    key_search order = {.words = words,
        .t = t,
        .s = s,
        .v = v,
        .sign = left->sign,
        .reach = mfpg_sum_reach(&t->roster, &s->record.terms, &own),
        .found = -1};
    mfpg_status status = mfpg_tasks_run(ctx, CHUNKS, search_chunk, &order);
    *found = status == MFPG_OK && order.found >= 0 && key_fits(&order, (uint64_t)order.found, words, vector);
    return status;
}

/* ---- one vector, and the sum ---- */

/* Reads the vector of client v without the others. *how is NULL if that is not possible, and says how otherwise. A search
 * takes minutes, so only one vector of the transcript is searched, the first with one unknown mask. */
static mfpg_status open_vector(mfpg_context *ctx, transcript *t, const sum *s, const masked_vector *masked,
    int64_t *vector, const char **how) {
    const mfpg_sum_terms *terms = &s->record.terms;
    const ptrdiff_t v = masked->client;
    const int sure = !masked->refused && !mfpg_sum_has(&s->doubtful, v);
    mfpg_sum_mask left = {0};
    mfpg_sum_words words = mfpg_sum_words_create(terms->bits, terms->dimension);
    int found = 0;
    *how = NULL;
    if (!words.data) return mfpg_fail_memory(ctx);
    mfpg_sum_words_add_packed(&words, masked->packed);
    const int unknown = strip(s, v, &words, &left);
    mfpg_sum_words_get(&words, vector);
    mfpg_status status = MFPG_OK;
    if (unknown == 0 && (sure || is_vector(t, s, v, vector, 1.0)))
        *how = "both kinds of share were answered";
    else if (unknown == 1 && is_vector(t, s, v, vector, 1.0))
        *how = "one of its masks is missing";
    else if (unknown == 1 && t->seed_bits > 0 && !t->searched) {
        t->searched = 1;
        status = search_key(ctx, t, s, v, &words, &left, vector, &found);
        if (found) *how = "the key of a mask is a small number";
    }
    mfpg_sum_words_clear(&words);
    return status;
}

/* The vector of client v that the server took; NULL: none. */
static const masked_vector *accepted(const sum *s, ptrdiff_t v) {
    for (ptrdiff_t i = 0; i < s->vectors; i++)
        if (s->vector[i].client == v && !s->vector[i].refused) return &s->vector[i];
    return NULL;
}

/* Returns the number of clients in the smallest sum with v from which the server can remove all masks, or 0 if it cannot. A
 * mask of a pair is unknown if both of its mask keys are: so a client whose key is known is a sum of its own, and all others are in
 * one sum, to which all of them must have sent vectors whose self-masks are known. */
static int readable_with(const sum *s, ptrdiff_t v) {
    int clients = 0;
    MFPG_SUM_EACH (a, &s->record.present[2]) {
        if (a != v && (mfpg_sum_has(&s->known[PAIR], v) || mfpg_sum_has(&s->known[PAIR], a))) continue;
        if (!accepted(s, a) || !mfpg_sum_has(&s->known[SELF], a)) return 0;
        clients++;
    }
    return clients;
}

/* Computes the sum that the server publishes; 0 if the transcript does not complete it. */
static mfpg_status add_up(mfpg_context *ctx, const sum *s, int64_t *total, int *complete) {
    const mfpg_sum_terms *terms = &s->record.terms;
    mfpg_sum_words words = mfpg_sum_words_create(terms->bits, terms->dimension);
    if (!words.data) return mfpg_fail_memory(ctx);
    *complete = mfpg_sum_size(&s->survivors) > 0;
    MFPG_SUM_EACH (v, &s->survivors) {
        mfpg_sum_mask mask[MFPG_SUM_MOST];
        ptrdiff_t count = 0;
        const masked_vector *masked = accepted(s, v);
        if (!masked) *complete = 0;
        if (!*complete) break;
        mfpg_sum_words_add_packed(&words, masked->packed);
        MFPG_SUM_EACH (w, &s->record.present[2]) {
            if (w != v && mfpg_sum_has(&s->survivors, w)) continue; /* these cancel */
            if (!find_mask(s, v, w, &mask[count])) *complete = 0;
            mask[count].sign = -mask[count].sign;
            count++;
        }
        if (*complete) mfpg_sum_masks_add(mask, count, &words);
    }
    mfpg_sum_words_get(&words, total);
    mfpg_sum_words_clear(&words);
    return MFPG_OK;
}

/* ---- judging ---- */

/* Guesses the coins of the canaries of one client in one sum from the best vector that the server has. */
static void guess(
    const transcript *t, const sum *s, ptrdiff_t v, const int64_t *vector, mfpg_transcript_site *site) {
    const mfpg_sum_terms *terms = &s->record.terms;
    const double sensitivity = 2.0 * terms->share[v].clip * (1.0 + 0x1p-50);
    for (ptrdiff_t i = 0; i < t->canaries; i++) {
        const canary *c = &t->canary[i];
        double score = 0.0;
        if (c->site != v || c->round != terms->round || c->attempt != terms->attempt) continue;
        if (c->dimension != terms->dimension) continue;
        for (ptrdiff_t j = 0; j < c->dimension; j++) score += c->vector[j] * (double)vector[j];
        site->guesses++;
        site->correct += c->coin == (score > 0.0 ? 1 : -1);
        site->mu = fmax(site->mu, sensitivity / mfpg_sum_noise(&t->roster, terms, v, NULL) * (1.0 + 0x1p-50));
    }
}

/* Tries every vector that client v sent in this sum. total: the sum, NULL if it is not known; own: room for a vector. */
static mfpg_status judge_client(mfpg_context *ctx, transcript *t, const sum *s, ptrdiff_t v,
    const int64_t *total, int64_t *own, mfpg_transcript_site *site) {
    const char *how = NULL, *found = NULL;
    mfpg_status status = MFPG_OK;
    int sent = 0;
    for (ptrdiff_t i = 0; i < s->vectors && status == MFPG_OK && !how; i++) {
        if (s->vector[i].client != v) continue;
        sent = 1;
        status = open_vector(ctx, t, s, &s->vector[i], own, &how);
    }
    site->vectors += sent;
    found = how;
    const int readable = sent && !how ? readable_with(s, v) : 0;
    if (readable > 0 && readable < s->record.terms.threshold)
        found = "a sum of fewer clients than the threshold can be read";
    if (found && site->opened++ == 0) {
        site->how = found;
        site->first_round = s->record.terms.round;
    }
    if (how || (total && mfpg_sum_has(&s->survivors, v))) guess(t, s, v, how ? own : total, site);
    return status;
}

static mfpg_status judge_sum(mfpg_context *ctx, transcript *t, sum *s, mfpg_transcript_site *site) {
    const ptrdiff_t dimension = s->record.terms.dimension;
    if (s->vectors == 0) return MFPG_OK;
    int64_t *total = mfpg_alloc(dimension, sizeof *total), *own = mfpg_alloc(dimension, sizeof *own);
    mfpg_status status = total && own ? MFPG_OK : mfpg_fail_memory(ctx);
    int complete = 0;
    MFPG_SUM_EACH (v, &s->record.present[2]) {
        reconstruct(s, v, PAIR);
        reconstruct(s, v, SELF);
    }
    if (status == MFPG_OK) status = add_up(ctx, s, total, &complete);
    for (ptrdiff_t v = 0; v < t->roster.count && status == MFPG_OK; v++)
        status = judge_client(ctx, t, s, v, complete ? total : NULL, own, &site[v]);
    if (own) sodium_memzero(own, (size_t)dimension * sizeof *own);
    free(own);
    free(total);
    return status;
}

static void clear(transcript *t) {
    for (ptrdiff_t i = 0; i < t->sums; i++) {
        for (ptrdiff_t j = 0; j < t->sum[i]->vectors; j++) free(t->sum[i]->vector[j].packed);
        free(t->sum[i]->vector);
        free(t->sum[i]->opened);
        sodium_memzero(t->sum[i], sizeof *t->sum[i]);
        free(t->sum[i]);
    }
    for (ptrdiff_t i = 0; i < t->canaries; i++) free(t->canary[i].vector);
    free(t->sum);
    free(t->canary);
    mfpg_roster_clear(&t->roster);
}

static mfpg_status judge(mfpg_context *ctx, transcript *t, double confidence, mfpg_transcript_audit *out) {
    const double alpha = (1.0 - confidence) / (double)t->roster.count;
    mfpg_transcript_site *site = mfpg_alloc(t->roster.count, sizeof *site);
    mfpg_status status = site ? MFPG_OK : mfpg_fail_memory(ctx);
    *out = (mfpg_transcript_audit){.sums = t->sums, .sites = t->roster.count, .site = site, .stands = 1};
    for (ptrdiff_t v = 0; v < out->sites && site; v++) {
        site[v] = (mfpg_transcript_site){.site = site[v].name, .how = "", .first_round = -1};
        memcpy(site[v].name, t->roster.entry[v].name, sizeof site[v].name);
    }
    for (ptrdiff_t i = 0; i < t->sums && status == MFPG_OK; i++) status = judge_sum(ctx, t, t->sum[i], site);
    for (ptrdiff_t v = 0; v < out->sites && status == MFPG_OK; v++) {
        site[v].mu_lower = mfpg_bound_mu_accuracy(site[v].correct, site[v].guesses, alpha);
        site[v].stands = site[v].opened == 0 && !(site[v].mu_lower > site[v].mu);
        out->stands &= site[v].stands;
    }
    out->searched = t->searched;
    out->ignored = t->ignored;
    if (status != MFPG_OK) free(site);
    return status;
}

mfpg_status mfpg_audit_transcript(
    mfpg_context *ctx, const char *path, int seed_bits, double confidence, mfpg_transcript_audit *out) {
    transcript t = {.path = path, .seed_bits = seed_bits};
    mfpg_transcript_audit made;
    if (seed_bits < 0 || seed_bits > MFPG_SEED_BITS)
        return mfpg_fail(
            ctx, MFPG_ERR_DOMAIN, "seed bits %d; they must be 0 to %d", seed_bits, MFPG_SEED_BITS);
    if (!(confidence > 0.5 && confidence < 1.0))
        return mfpg_fail(ctx, MFPG_ERR_DOMAIN, "confidence %g; it must be between 0.5 and 1", confidence);
    mfpg_status status = read_transcript(ctx, &t);
    if (status == MFPG_OK) status = judge(ctx, &t, confidence, &made);
    clear(&t);
    if (status == MFPG_OK) *out = made;
    return status;
}

mfpg_status mfpg_audit_transcript_json(mfpg_context *ctx, const mfpg_transcript_audit *audit, char **json) {
    json_t *sites = json_array();
    int complete = sites != NULL;
    for (ptrdiff_t v = 0; v < audit->sites && complete; v++)
        complete = json_array_append_new(sites,
                       mfpg_fields_json(&mfpg_transcript_fields, MFPG_FIELD_JSON, &audit->site[v])) == 0;
    json_t *object = mfpg_json_if_complete(
        json_pack("{s:I, s:I, s:b, s:b, s:o}", "sums", (json_int_t)audit->sums, "ignored",
            (json_int_t)audit->ignored, "searched", audit->searched, "stands", audit->stands, "sites", sites),
        complete);
    mfpg_status status = mfpg_json_text(ctx, object, json);
    json_decref(object);
    return status;
}
