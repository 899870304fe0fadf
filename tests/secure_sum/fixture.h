/* Sites, terms and a sum played in one process. */
#ifndef MFPG_TESTS_SECURE_SUM_FIXTURE_H
#define MFPG_TESTS_SECURE_SUM_FIXTURE_H

#include "testing.h"

#include <sodium.h>

#include "base/streams.h"
#include "mfpg/secure_sum.h"

/* A sum of n sites: identities, roster, terms, vectors and clients. Place i of the roster is site i. */
typedef struct sum_fixture {
    mfpg_context *ctx;
    ptrdiff_t n, dimension;
    mfpg_identity identity[MFPG_SUM_MOST];
    mfpg_roster roster;
    mfpg_sum_share share[MFPG_SUM_MOST];
    mfpg_sum_terms terms;
    mfpg_key key[MFPG_SUM_MOST];
    int64_t *vector; /* n rows */
    int released[MFPG_SUM_MOST];
    struct site {
        struct sum_fixture *fixture;
        ptrdiff_t number;
    } site[MFPG_SUM_MOST];
    mfpg_sum_client *client[MFPG_SUM_MOST];
    mfpg_sum_server *server;
    int restores; /* 1: a client is saved and restored before every answer */
} sum_fixture;

/* Deterministic identities, so that a transcript can be repeated. */
static inline void make_roster(sum_fixture *f) {
    char text[MFPG_SUM_MOST * 140] = "# sites of a test\n\n";
    for (ptrdiff_t i = 0; i < f->n; i++) {
        unsigned char seed[32] = {(unsigned char)i, 77};
        char digits[65];
        crypto_sign_seed_keypair(f->identity[i].public_key, f->identity[i].secret_key, seed);
        sodium_bin2hex(digits, sizeof digits, f->identity[i].public_key, 32);
        snprintf(text + strlen(text), 140, "site-%td %s\n", i, digits);
    }
    CHECK_OK(f->ctx, mfpg_roster_read(f->ctx, text, strlen(text), "roster", &f->roster));
}

/* Vectors of uniform bits. */
static inline void begin_sum(sum_fixture *f, mfpg_context *ctx, ptrdiff_t n, int threshold, int colluders,
    int bits, ptrdiff_t dimension) {
    *f = (sum_fixture){.ctx = ctx, .n = n, .dimension = dimension};
    assert_true(sodium_init() >= 0);
    make_roster(f);
    for (ptrdiff_t i = 0; i < n; i++) {
        f->share[i] = (mfpg_sum_share){.weight = 1.0 / (double)n, .noise_sd = 16.0, .clip = 1e30};
        f->key[i] = mfpg_key_from_seed(100 + (uint64_t)i);
        f->site[i] = (struct site){f, i};
    }
    f->terms = (mfpg_sum_terms){.run = {1, 2, 3},
        .round = 1,
        .attempt = 1,
        .threshold = threshold,
        .colluders = colluders,
        .bits = bits,
        .dimension = dimension,
        .grid = 0x1p-8,
        .share = f->share};
    f->vector = malloc((size_t)(n * dimension) * sizeof *f->vector);
    assert_non_null(f->vector);
    const mfpg_stream stream = mfpg_stream_open(&f->key[0], MFPG_PURPOSE_TEST, 1, 0);
    mfpg_stream_bytes(&stream, 0, n * dimension * (ptrdiff_t)sizeof *f->vector, (unsigned char *)f->vector);
}

static inline mfpg_status release_vector(mfpg_context *ctx, void *user, const mfpg_sum_terms *terms,
    const unsigned char *members, int64_t *vector) {
    const struct site *site = user;
    sum_fixture *f = site->fixture;
    (void)ctx;
    assert_true(members[site->number]);
    assert_int_equal(terms->dimension, f->dimension);
    f->released[site->number]++;
    memcpy(vector, f->vector + site->number * f->dimension, (size_t)f->dimension * sizeof *vector);
    return MFPG_OK;
}

static inline mfpg_sum_client_options options_of(sum_fixture *f, ptrdiff_t i) {
    return (mfpg_sum_client_options){.roster = &f->roster,
        .identity = &f->identity[i],
        .threshold = f->terms.threshold,
        .colluders = f->terms.colluders,
        .own = f->share[i],
        .dimension = f->dimension,
        .release = release_vector,
        .user = &f->site[i],
        .key = &f->key[i]};
}

static inline void create_parties(sum_fixture *f) {
    CHECK_OK(f->ctx, mfpg_sum_server_create(f->ctx, &f->roster, &f->terms, &f->server));
    for (ptrdiff_t i = 0; i < f->n; i++) {
        const mfpg_sum_client_options options = options_of(f, i);
        f->released[i] = 0;
        CHECK_OK(f->ctx, mfpg_sum_client_create(f->ctx, &options, &f->client[i]));
    }
}

static inline void destroy_parties(sum_fixture *f) {
    for (ptrdiff_t i = 0; i < f->n; i++) {
        mfpg_sum_client_destroy(f->client[i]);
        f->client[i] = NULL;
    }
    mfpg_sum_server_destroy(f->server);
    f->server = NULL;
}

static inline void end_sum(sum_fixture *f) {
    destroy_parties(f);
    mfpg_roster_clear(&f->roster);
    free(f->vector);
}

static inline void restore_client(sum_fixture *f, ptrdiff_t i) {
    const mfpg_sum_client_options options = options_of(f, i);
    mfpg_bytes state = {0};
    CHECK_OK(f->ctx, mfpg_sum_client_save(f->ctx, f->client[i], &state));
    mfpg_sum_client_destroy(f->client[i]);
    f->client[i] = NULL;
    CHECK_OK(f->ctx, mfpg_sum_client_restore(f->ctx, &options, state.data, state.size, &f->client[i]));
    mfpg_bytes_clear(&state);
}

/* One exchange with client i; *answer is cleared by the caller. */
static inline mfpg_status exchange(sum_fixture *f, ptrdiff_t i, mfpg_bytes *answer) {
    mfpg_bytes message = {0};
    mfpg_status status = mfpg_sum_server_ask(f->ctx, f->server, i, &message);
    if (status == MFPG_OK) {
        if (f->restores) restore_client(f, i);
        status = mfpg_sum_client_answer(f->ctx, f->client[i], message.data, message.size, answer);
    }
    mfpg_bytes_clear(&message);
    return status;
}

static inline void exchange_and_take(sum_fixture *f, ptrdiff_t i) {
    mfpg_bytes answer = {0};
    ptrdiff_t sender = -1;
    CHECK_OK(f->ctx, exchange(f, i, &answer));
    CHECK_OK(f->ctx, mfpg_sum_server_take(f->ctx, f->server, answer.data, answer.size, &sender));
    assert_int_equal(sender, i);
    mfpg_bytes_clear(&answer);
}

/* Plays the steps before `until`; client i answers the steps below last[i]. Returns the first status of an advance that failed. */
static inline mfpg_status play(sum_fixture *f, const int *last, mfpg_sum_step until) {
    for (int step = 0; step < (int)until; step++) {
        for (ptrdiff_t i = 0; i < f->n; i++)
            if (f->share[i].weight > 0.0 && last[i] > step) exchange_and_take(f, i);
        mfpg_sum_step next = MFPG_SUM_KEYS;
        mfpg_status status = mfpg_sum_server_advance(f->ctx, f->server, &next);
        if (status != MFPG_OK) return status;
        assert_int_equal(next, step + 1);
    }
    return MFPG_OK;
}

static inline int64_t wrapped(uint64_t x, int bits) {
    return (int64_t)(x << (64 - bits)) >> (64 - bits);
}

/* The server's sum is that of those who answered step 2. */
static inline void check_sum(sum_fixture *f, const int *last) {
    int64_t *sum = malloc((size_t)f->dimension * sizeof *sum);
    unsigned char survivors[MFPG_SUM_MOST];
    assert_non_null(sum);
    CHECK_OK(f->ctx, mfpg_sum_server_sum(f->ctx, f->server, sum, survivors));
    for (ptrdiff_t i = 0; i < f->n; i++)
        assert_int_equal(survivors[i], f->share[i].weight > 0.0 && last[i] > MFPG_SUM_MASKED);
    for (ptrdiff_t j = 0; j < f->dimension; j++) {
        uint64_t expected = 0;
        for (ptrdiff_t i = 0; i < f->n; i++)
            if (survivors[i]) expected += (uint64_t)f->vector[i * f->dimension + j];
        assert_int_equal(sum[j], wrapped(expected, f->terms.bits));
    }
    free(sum);
}

/* Whether so many answer every step. */
static inline int suffices(const sum_fixture *f, const int *last, int *failing) {
    for (int step = 0; step < MFPG_SUM_DONE; step++) {
        int answered = 0;
        for (ptrdiff_t i = 0; i < f->n; i++) answered += f->share[i].weight > 0.0 && last[i] > step;
        *failing = step;
        if (answered < f->terms.threshold) return 0;
    }
    return 1;
}

/* Plays a whole sum, which is right, or is not there and over. */
static inline void play_and_check(sum_fixture *f, const int *last) {
    int failing = 0;
    create_parties(f);
    mfpg_status status = play(f, last, MFPG_SUM_DONE);
    if (suffices(f, last, &failing)) {
        CHECK_OK(f->ctx, status);
        check_sum(f, last);
    } else {
        int64_t sum[1];
        assert_int_equal(status, MFPG_ERR_INPUT);
        assert_non_null(strstr(mfpg_context_message(f->ctx), "fewer than the threshold"));
        assert_int_equal(mfpg_sum_server_sum(f->ctx, f->server, sum, NULL), MFPG_ERR_INPUT);
        assert_int_equal(mfpg_sum_server_advance(f->ctx, f->server, NULL), MFPG_ERR_INPUT);
    }
    destroy_parties(f);
}

#endif
