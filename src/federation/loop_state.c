#include "loop_state.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <sodium.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/ranks.h"
#include "internal.h"

mfpg_loop_shape mfpg_federation_shape(const mfpg_federation *f) {
    mfpg_loop_shape shape = {
        .clients = f->clients, .dimension = f->dimension, .acting = f->options.acting != NULL};
    for (ptrdiff_t k = 0; f->particles == MFPG_PARTICLES_DATA && k < f->clients; k++) {
        const mfpg_dataset *records = &f->records[k];
        shape.record_rows += records->rows;
        shape.record_cells += records->rows * records->features;
    }
    return shape;
}

/* ---- one block ---- */

/* Takes count numbers of the given size, rounded up to a multiple of 8, behind *used; -1 in *used for too many. */
static int64_t take(int64_t *used, int64_t count, int64_t size) {
    int64_t begin = *used, bytes;
    if (begin < 0 || count < 0 || __builtin_mul_overflow(count, size, &bytes) ||
        __builtin_add_overflow(begin, bytes, used) || *used > INT64_MAX - 7) {
        *used = -1;
        return 0;
    }
    *used = (*used + 7) / 8 * 8;
    return begin;
}

/* The places of the arrays, in their order in the struct; returns the bytes of all. */
enum { W, ROUNDS, NONFINITE, STOPPED, ACTION, LOSS, GRADIENT, NOISED, RECORDS, NORM2, ARRAYS };
static int64_t find_places(const mfpg_loop_shape *s, int64_t place[ARRAYS]) {
    int64_t used = 0, chosen = s->acting ? s->clients : 0, noised = s->record_rows > 0 ? s->clients : 0;
    place[W] = take(&used, s->dimension, sizeof(float));
    for (int i = ROUNDS; i <= STOPPED; i++) place[i] = take(&used, s->clients, sizeof(int64_t));
    for (int i = ACTION; i <= GRADIENT; i++) place[i] = take(&used, chosen, sizeof(double));
    place[NOISED] = take(&used, noised, sizeof(int64_t));
    place[RECORDS] = take(&used, s->record_cells, sizeof(float));
    place[NORM2] = take(&used, s->record_rows, sizeof(double));
    return used;
}

int64_t mfpg_loop_state_bytes(const mfpg_loop_shape *shape) {
    int64_t place[ARRAYS];
    int fits = shape->clients >= 1 && shape->dimension >= 1 && (shape->acting == 0 || shape->acting == 1) &&
               shape->record_rows >= 0 && shape->record_cells >= 0;
    return fits ? find_places(shape, place) : -1;
}

void mfpg_loop_state_lay_out(const mfpg_loop_shape *shape, void *block, mfpg_loop_state *out) {
    int64_t place[ARRAYS];
    char *at = block;
    find_places(shape, place);
    *out = (mfpg_loop_state){.shape = *shape,
        .w = (float *)(void *)(at + place[W]),
        .rounds = (int64_t *)(void *)(at + place[ROUNDS]),
        .nonfinite = (int64_t *)(void *)(at + place[NONFINITE]),
        .stopped_before = (int64_t *)(void *)(at + place[STOPPED]),
        .action = (double *)(void *)(at + place[ACTION]),
        .loss = (double *)(void *)(at + place[LOSS]),
        .gradient = (double *)(void *)(at + place[GRADIENT]),
        .noised = (int64_t *)(void *)(at + place[NOISED]),
        .records = (float *)(void *)(at + place[RECORDS]),
        .norm2 = (double *)(void *)(at + place[NORM2])};
}

mfpg_status mfpg_loop_state_init(mfpg_context *ctx, const mfpg_loop_shape *shape, mfpg_loop_state *out) {
    int64_t bytes = mfpg_loop_state_bytes(shape);
    void *block = bytes >= 0 ? mfpg_alloc((ptrdiff_t)bytes, 1) : NULL;
    if (!block) return mfpg_fail_memory(ctx);
    mfpg_loop_state_lay_out(shape, block, out);
    return MFPG_OK;
}

void mfpg_loop_state_clear(mfpg_loop_state *state) {
    free(state->w); /* the first array begins the block */
    *state = (mfpg_loop_state){0};
}

/* ---- saving ---- */

int mfpg_federation_save_gathers(const mfpg_federation *f) {
    return f->ranks > 1 && f->particles == MFPG_PARTICLES_DATA;
}

/* Those of the own clients; zeros for the others', so that the sum over the ranks has them all. */
static void save_own_records(const mfpg_federation *f, mfpg_loop_state *state) {
    float *x = state->records;
    double *norm2 = state->norm2;
    for (ptrdiff_t k = 0; k < f->clients; k++) {
        const mfpg_dataset *records = &f->records[k];
        size_t rows = (size_t)records->rows, cells = rows * (size_t)records->features;
        state->noised[k] = f->noised[k];
        if (mfpg_federation_owns(f, k)) {
            memcpy(x, records->x, cells * sizeof *x);
            memcpy(norm2, records->norm2, rows * sizeof *norm2);
        } else {
            memset(x, 0, cells * sizeof *x);
            memset(norm2, 0, rows * sizeof *norm2);
        }
        x += cells;
        norm2 += rows;
    }
}

/* Two floats a word, perhaps of two clients: where one rank's bits are, the others' are zero, so nothing is carried. */
static mfpg_status save_records(mfpg_context *ctx, const mfpg_federation *f, mfpg_loop_state *state) {
    const mfpg_loop_shape *shape = &state->shape;
    save_own_records(f, state);
    if (shape->record_cells % 2) state->records[shape->record_cells] = 0.0f; /* up to the whole word */
    mfpg_status status = mfpg_ranks_share(ctx, state->records, (ptrdiff_t)((shape->record_cells + 1) / 2));
    return status == MFPG_OK ? mfpg_ranks_share(ctx, state->norm2, (ptrdiff_t)shape->record_rows) : status;
}

mfpg_status mfpg_federation_save(mfpg_context *ctx, const mfpg_federation *f, mfpg_loop_state *state) {
    state->round = f->round;
    memcpy(state->w, f->w, (size_t)f->dimension * sizeof *f->w);
    for (ptrdiff_t k = 0; k < f->clients; k++) {
        state->rounds[k] = f->client[k].rounds;
        state->nonfinite[k] = f->client[k].nonfinite;
        state->stopped_before[k] = f->client[k].stopped_before;
        if (!state->shape.acting) continue;
        mfpg_action action = mfpg_plan_action(f->plan, k);
        state->action[k] = mfpg_action_value(&action);
        state->loss[k] = f->acting.loss[k];
        state->gradient[k] = f->acting.gradient[k];
    }
    return state->shape.record_rows > 0 ? save_records(ctx, f, state) : MFPG_OK;
}

/* ---- digests ---- */

static void add_number(crypto_generichash_state *hash, double value) {
    crypto_generichash_update(hash, (const unsigned char *)&value, sizeof value);
}

static void add_release(crypto_generichash_state *hash, const mfpg_release *release) {
    double number[MFPG_RELEASE_NUMBERS];
    int count = mfpg_release_numbers(release, MFPG_RELEASE_ALL, number);
    crypto_generichash_update(hash, (const unsigned char *)number, (size_t)count * sizeof number[0]);
}

void mfpg_federation_digest_start(
    const mfpg_federation *f, unsigned char model[MFPG_DIGEST_SIZE], unsigned char plan[MFPG_DIGEST_SIZE]) {
    crypto_generichash_state hash;
    crypto_generichash(
        model, MFPG_DIGEST_SIZE, (const unsigned char *)f->w, (size_t)f->dimension * sizeof *f->w, NULL, 0);
    crypto_generichash_init(&hash, NULL, 0, MFPG_DIGEST_SIZE);
    for (ptrdiff_t k = 0; k < f->clients; k++) {
        mfpg_release release = mfpg_plan_release(f->plan, k);
        mfpg_action action = mfpg_plan_action(f->plan, k);
        add_number(&hash, (double)action.control);
        add_number(&hash, mfpg_action_value(&action));
        add_release(&hash, &release);
    }
    crypto_generichash_final(&hash, plan, MFPG_DIGEST_SIZE);
}

void mfpg_federation_announce_to(mfpg_federation *f, mfpg_announce announce, void *user) {
    f->announce = announce;
    f->announce_user = user;
}

mfpg_status mfpg_federation_announce_choices(mfpg_context *ctx, mfpg_federation *f, ptrdiff_t members) {
    crypto_generichash_state hash;
    unsigned char digest[MFPG_DIGEST_SIZE];
    if (!f->announce) return MFPG_OK;
    crypto_generichash_init(&hash, NULL, 0, sizeof digest);
    for (ptrdiff_t i = 0; i < members; i++) {
        add_number(&hash, f->acting.loss[f->order[i]]);
        add_number(&hash, f->acting.gradient[f->order[i]]);
    }
    crypto_generichash_final(&hash, digest, sizeof digest);
    return f->announce(ctx, f->announce_user, f->round + 1, 1, digest);
}

/* 1 where the client's records were noised in this round, and are about to be accounted for. */
static int is_fresh(const mfpg_federation *f, ptrdiff_t client) {
    return f->particles == MFPG_PARTICLES_DATA && !f->noised[client];
}

enum { RECORDS_DIGEST = 2 }; /* words */

static void digest_records(const mfpg_dataset *records, int64_t out[RECORDS_DIGEST]) {
    crypto_generichash((unsigned char *)out, RECORDS_DIGEST * sizeof *out, (const unsigned char *)records->x,
        (size_t)records->rows * (size_t)records->features * sizeof *records->x, NULL, 0);
}

/* Digests of the cohort's fresh records, which only the owner of a client holds, into the words that ranks share. */
static mfpg_status share_digests(mfpg_context *ctx, mfpg_federation *f) {
    int some = 0;
    memset(f->words, 0, RECORDS_DIGEST * (size_t)f->cohort_size * sizeof *f->words);
    for (ptrdiff_t i = 0; i < f->cohort_size; i++) {
        ptrdiff_t k = mfpg_federation_member(f, i);
        if (!is_fresh(f, k)) continue;
        some = 1;
        if (mfpg_federation_owns(f, k)) digest_records(&f->records[k], f->words + RECORDS_DIGEST * i);
    }
    return some ? mfpg_ranks_share(ctx, f->words, RECORDS_DIGEST * f->cohort_size) : MFPG_OK;
}

mfpg_status mfpg_federation_announce_updates(mfpg_context *ctx, mfpg_federation *f, const float *average) {
    crypto_generichash_state hash;
    unsigned char digest[MFPG_DIGEST_SIZE];
    mfpg_status status = f->ranks > 1 ? share_digests(ctx, f) : MFPG_OK;
    if (status != MFPG_OK || !f->announce) return status;
    crypto_generichash_init(&hash, NULL, 0, sizeof digest);
    crypto_generichash_update(&hash, (const unsigned char *)average, (size_t)f->dimension * sizeof *average);
    for (ptrdiff_t i = 0; i < f->cohort_size; i++) {
        ptrdiff_t k = mfpg_federation_member(f, i);
        const double told[] = {f->client[k].signal_norm, (double)f->client[k].nonfinite};
        int64_t records[RECORDS_DIGEST];
        crypto_generichash_update(&hash, (const unsigned char *)told, sizeof told);
        if (!is_fresh(f, k)) continue;
        if (f->ranks > 1)
            memcpy(records, f->words + RECORDS_DIGEST * i, sizeof records);
        else
            digest_records(&f->records[k], records);
        crypto_generichash_update(&hash, (const unsigned char *)records, sizeof records);
    }
    crypto_generichash_final(&hash, digest, sizeof digest);
    return f->announce(ctx, f->announce_user, f->round + 1, 0, digest);
}
