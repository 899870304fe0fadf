/* No two streams of random numbers are the same: of runs, rounds, clients and purposes. And what a key that is used for two
 * runs gives away. */
#include "audit/faults.h"

#include "base/streams.h"
#include "mfpg/random.h"

static int by_value(const void *a, const void *b) {
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* Among a million numbers of 64 bits drawn at random two are equal once in 10^7 times. */
static void check_distinct(uint64_t *number, size_t count, const char *what) {
    qsort(number, count, sizeof *number, by_value);
    for (size_t i = 1; i < count; i++)
        if (number[i] == number[i - 1]) fail_msg("%s: two of %zu are equal", what, count);
}

/* ---- keys of an audit's runs ---- */

enum { MOST_KEYS = 8192 };
typedef struct seen_keys {
    uint64_t key[MOST_KEYS];
    size_t count;
} seen_keys;

static mfpg_status note_key(mfpg_context *ctx, const mfpg_audit_game *game, const mfpg_key *key,
    mfpg_canary_data *canaries, mfpg_transcript *s, void *arg) {
    seen_keys *seen = arg;
    assert_true(seen->count < MOST_KEYS && key->seeded);
    memcpy(&seen->key[seen->count++], key->bytes, sizeof seen->key[0]);
    return mfpg_audit_play_federation(ctx, game, key, canaries, s, NULL);
}

/* Of both arms, of every pattern (constant, alternating, rounds), and of audits with other seeds. */
static void test_every_run_has_a_key_of_its_own(void **state) {
    (void)state;
    static seen_keys seen;
    mfpg_mechanism_options o = mfpg_mechanism_options_default();
    subject s = subject_open(1, 2, 2, "logistic", &o, 1);
    mfpg_audit_promise one = promise_of(1, 2, MFPG_ADJACENCY_ZERO_OUT);
    one.round_mu = 1;
    const mfpg_audit_promise both[] = {one, one};
    for (int audit = 0; audit < 3; audit++) {
        audit_with(&s, both, note_key, &seen, 10);
        s.audit.seed++;
    }
    assert_int_equal(seen.count, 3 * (600 + 600 + 300));
    check_distinct(seen.key, seen.count, "keys of runs");
    subject_close(&s);
}

/* ---- streams of one key ---- */

/* By the first 64 bits of what each stream says: purposes x rounds x clients of several keys. */
static void test_every_stream_says_something_else(void **state) {
    (void)state;
    enum { KEYS = 4, ROUNDS = 16, CLIENTS = 64 };
    static const mfpg_purpose purpose[] = {MFPG_PURPOSE_NOISE, MFPG_PURPOSE_BATCH, MFPG_PURPOSE_COHORT,
        MFPG_PURPOSE_START, MFPG_PURPOSE_RECORDS, MFPG_PURPOSE_MEASURE, MFPG_PURPOSE_CHOICE,
        MFPG_PURPOSE_AUDIT};
    enum { PURPOSES = sizeof purpose / sizeof purpose[0], COUNT = KEYS * ROUNDS * CLIENTS * PURPOSES };
    static uint64_t first[COUNT];
    size_t count = 0;
    for (uint64_t seed = 0; seed < KEYS; seed++) {
        const mfpg_key key = mfpg_key_from_seed(testing_seed() + seed);
        for (int p = 0; p < PURPOSES; p++) {
            for (uint64_t round = 0; round < ROUNDS; round++) {
                for (uint64_t client = 0; client < CLIENTS; client++) {
                    mfpg_stream stream = mfpg_stream_open(&key, purpose[p], round, client);
                    mfpg_stream_bytes(&stream, 0, 8, (unsigned char *)&first[count++]);
                }
            }
        }
    }
    check_distinct(first, count, "streams");
}

/* ---- one key for two runs ---- */

/* The attacker runs a key a second time on data that it knows and subtracts: `shared`, the key is that of the run which is
 * attacked. An unknown key leaves the noise of both runs, of a deviation of sqrt 2. */
typedef struct second_run {
    int shared;
} second_run;

static mfpg_status subtract_known_run(mfpg_context *ctx, const mfpg_audit_game *game, const mfpg_key *key,
    mfpg_canary_data *canaries, mfpg_transcript *s, void *arg) {
    const second_run *second = arg;
    const double nothing[] = {0.0};
    double known_global[2], known_local[1], known_weight[1];
    mfpg_transcript known = *s;
    known.global = known_global;
    known.local = known_local;
    known.weight = known_weight;
    known.value = nothing;
    mfpg_key other = *key;
    if (!second->shared) other.bytes[0] ^= 1;
    mfpg_status status = mfpg_audit_play_federation(ctx, game, key, canaries, s, NULL);
    if (status == MFPG_OK) status = mfpg_audit_play_federation(ctx, game, &other, canaries, &known, NULL);
    s->local[0] -= known.local[0];
    return status;
}

static void test_a_key_that_serves_two_runs_is_caught(void **state) {
    (void)state;
    for (int shared = 0; shared < 2; shared++) {
        mfpg_mechanism_options o = mfpg_mechanism_options_default();
        o.promise.adjacency = MFPG_ADJACENCY_REPLACE;
        subject s = subject_open(1, 1, 1, "logistic", &o, 2);
        const mfpg_audit_promise promise = promise_of(2, 1, MFPG_ADJACENCY_REPLACE);
        second_run second = {shared};
        s.audit.runs = shared ? 40 : 1000;
        audit_with(&s, &promise, subtract_known_run, &second, 10);
        assert_int_equal(s.client[0].stands, !shared);
        /* two independent noises hide more than one */
        if (!shared) check_near(s.client[0].mu_estimate, 1 / sqrt(2), 0, 5 * sqrt(4.2 / 1000), "estimate");
        subject_close(&s);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_run_has_a_key_of_its_own),
        cmocka_unit_test(test_every_stream_says_something_else),
        cmocka_unit_test(test_a_key_that_serves_two_runs_is_caught),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
