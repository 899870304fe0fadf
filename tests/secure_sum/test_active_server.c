#include "fixture.h"

#include "secure_sum/messages.h"

/* A server that does not follow the protocol: each of its tricks ends the sum at the client that sees it, and nothing leaves. It
 * makes well-formed, sealed messages from a record that a trick has changed. */

enum { SITES = 6, OUTSIDE = 5 /* is in the roster and not a member */, LEAST = 3 };

typedef struct active {
    sum_fixture f;
    mfpg_sum_record record; /* as an honest server has it */
    unsigned char secret_key[32], seal[SITES][32];
    unsigned char parcel[SITES][SITES][MFPG_SUM_PARCEL]; /* sender, receiver */
    unsigned char signature[SITES][64];
} active;

static void set_terms(active *a) {
    mfpg_bytes message = {0};
    unsigned char *body;
    a->record.terms = a->f.terms;
    memcpy(a->record.share, a->f.share, SITES * sizeof *a->f.share);
    a->record.terms.share = a->record.share;
    a->record.present[0] = mfpg_sum_members(&a->f.roster, &a->record.terms);
    CHECK_OK(a->f.ctx, mfpg_sum_begin(a->f.ctx, &a->f.roster, &a->record, 0, 0, &message, &body));
    mfpg_sum_write_terms(&a->f.roster, &a->record, message.data); /* sets the context */
    mfpg_bytes_clear(&message);
}

static void begin_active(active *a, mfpg_context *ctx, int n) {
    *a = (active){.secret_key = {9, 8, 7}};
    begin_sum(&a->f, ctx, n, n == SITES ? LEAST : n / 2 + 1, 0, 16, 7);
    if (n == SITES) a->f.share[OUTSIDE].weight = 0.0;
    create_parties(&a->f);
    crypto_scalarmult_base(a->record.server_key, a->secret_key);
    set_terms(a);
}

/* The request of a step to a client, from any record. */
static mfpg_bytes request(active *a, mfpg_sum_record *record, int step, ptrdiff_t client) {
    mfpg_bytes message = {0};
    unsigned char *to;
    CHECK_OK(a->f.ctx,
        mfpg_sum_begin(a->f.ctx, &a->f.roster, record, MFPG_SUM_REQUEST(step), client, &message, &to));
    if (step == MFPG_SUM_KEYS) mfpg_sum_write_terms(&a->f.roster, record, message.data);
    if (step == MFPG_SUM_SHARES)
        MFPG_SUM_EACH (v, &record->present[1]) {
            memcpy(to, &record->keys[v], sizeof record->keys[v]);
            to += sizeof record->keys[v];
        }
    if (step == MFPG_SUM_MASKED && mfpg_sum_has(&record->present[2], client))
        MFPG_SUM_EACH (v, &record->present[2]) {
            if (v == client) continue;
            memcpy(to, a->parcel[v][client], MFPG_SUM_PARCEL);
            to += MFPG_SUM_PARCEL;
        }
    if (step == MFPG_SUM_OPENED)
        MFPG_SUM_EACH (v, &record->present[4]) {
            memcpy(to, a->signature[v], 64);
            to += 64;
        }
    if (step > MFPG_SUM_KEYS) mfpg_sum_seal(&message, a->seal[client]);
    return message;
}

static mfpg_status say(active *a, mfpg_sum_record *record, int step, ptrdiff_t client, mfpg_bytes *answer) {
    mfpg_bytes message = request(a, record, step, client);
    mfpg_status status =
        mfpg_sum_client_answer(a->f.ctx, a->f.client[client], message.data, message.size, answer);
    mfpg_bytes_clear(&message);
    return status;
}

/* One honest exchange; the active server keeps what it learns. */
static void converse(active *a, mfpg_sum_record *record, int step, ptrdiff_t i) {
    mfpg_bytes answer = {0};
    CHECK_OK(a->f.ctx, say(a, record, step, i, &answer));
    const unsigned char *body = answer.data + MFPG_SUM_HEADER;
    if (step == MFPG_SUM_KEYS) {
        memcpy(&a->record.keys[i], body, sizeof a->record.keys[i]);
        mfpg_sum_agree(MFPG_SUM_FOR_SEAL, a->record.context, a->secret_key,
            (mfpg_sum_party){MFPG_SUM_SERVER, a->record.server_key},
            (mfpg_sum_party){(int)i, a->record.keys[i].transport}, a->seal[i]);
    }
    if (step == MFPG_SUM_SHARES)
        MFPG_SUM_EACH (v, &record->present[1]) {
            if (v == i) continue;
            memcpy(a->parcel[i][v], body, MFPG_SUM_PARCEL);
            body += MFPG_SUM_PARCEL;
        }
    if (step == MFPG_SUM_CONSISTENCY) memcpy(a->signature[i], body, 64);
    mfpg_bytes_clear(&answer);
}

/* Everybody answers the steps below `until`, but site `silent` from step 1 on. */
static void play_honestly(active *a, int until, ptrdiff_t silent) {
    for (int step = 0; step < until; step++) {
        mfpg_sum_set answered = {0};
        MFPG_SUM_EACH (i, &a->record.present[step]) {
            if (i == silent && step > 0) continue;
            converse(a, &a->record, step, i);
            mfpg_sum_insert(&answered, i);
        }
        if (step + 1 < MFPG_SUM_STEPS) a->record.present[step + 1] = answered;
        if (step == 0) mfpg_sum_hash_list(&a->record);
    }
}

static void sign_keys(active *a, mfpg_sum_record *record, ptrdiff_t named, ptrdiff_t signer) {
    unsigned char text[MFPG_SUM_SIGNED];
    const size_t size = mfpg_sum_signed_keys(record, named, text);
    crypto_sign_detached(record->keys[named].signature, NULL, text, size, a->f.identity[signer].secret_key);
}

static void drop(mfpg_sum_set *set, ptrdiff_t i) {
    set->byte[i / 8] = (unsigned char)(set->byte[i / 8] & ~(1 << (i % 8)));
}

/* Few members, the first of which is the victim, or not. */
static void keep(mfpg_sum_set *set, ptrdiff_t first, ptrdiff_t last) {
    *set = (mfpg_sum_set){0};
    for (ptrdiff_t i = first; i <= last; i++) mfpg_sum_insert(set, i);
}

/* ---- tricks against client 0: what they change before the request of their step ---- */

typedef struct trick {
    const char *name;
    int step;
    void (*change)(active *a, mfpg_sum_record *record);
    const char *why; /* in the message */
} trick;

#define CHANGE(name, ...)                                                                                    \
    static void name(active *a, mfpg_sum_record *record) {                                                   \
        (void)a, (void)record;                                                                               \
        __VA_ARGS__;                                                                                         \
    }

CHANGE(higher_threshold, record->terms.threshold = 4)
CHANGE(lower_threshold, record->terms.threshold = 2)
CHANGE(colluders, record->terms.colluders = 1; record->terms.threshold = 4)
CHANGE(own_weight, record->share[0].weight *= 0.5)
CHANGE(own_noise, record->share[0].noise_sd = 0.0)
CHANGE(own_clip, record->share[0].clip *= 2.0)
CHANGE(not_a_member, record->share[0].weight = 0.0)
CHANGE(longer, record->terms.dimension++)
CHANGE(no_grid, record->terms.grid = 0.3)
CHANGE(no_attempt, record->terms.attempt = 0)
CHANGE(zero_server, memset(record->server_key, 0, 32))

CHANGE(twin_masks, memcpy(record->keys[1].mask, record->keys[2].mask, 32); sign_keys(a, record, 1, 1))
CHANGE(twin_uses, memcpy(record->keys[1].transport, record->keys[2].mask, 32); sign_keys(a, record, 1, 1))
CHANGE(own_twin, memcpy(record->keys[1].mask, record->keys[0].transport, 32); sign_keys(a, record, 1, 1))
CHANGE(foreign_signer, sign_keys(a, record, 1, 2))
CHANGE(other_key, record->keys[1].mask[5] ^= 1)
CHANGE(other_own_keys, record->keys[0].mask[5] ^= 1; sign_keys(a, record, 0, 0))
CHANGE(replayed_keys, record->context[0] ^= 1; sign_keys(a, record, 1, 1); record->context[0] ^= 1)
CHANGE(others_keys, record->keys[1] = record->keys[2])
CHANGE(zero_transport, memset(record->keys[1].transport, 0, 32); sign_keys(a, record, 1, 1))
CHANGE(few_listed, keep(&record->present[1], 0, LEAST - 2))
CHANGE(not_listed, keep(&record->present[1], 1, LEAST))
CHANGE(outsider_listed, mfpg_sum_insert(&record->present[1], OUTSIDE))
CHANGE(nobody_listed, mfpg_sum_insert(&record->present[1], SITES))

CHANGE(few_sharers, keep(&record->present[2], 0, LEAST - 2))
CHANGE(not_sharing, keep(&record->present[2], 1, LEAST))
CHANGE(outsider_shares, mfpg_sum_insert(&record->present[2], OUTSIDE))
CHANGE(changed_share, a->parcel[1][0][3] ^= 1)
CHANGE(share_of_another, memcpy(a->parcel[1][0], a->parcel[2][0], MFPG_SUM_PARCEL))
CHANGE(share_for_another, memcpy(a->parcel[1][0], a->parcel[1][2], MFPG_SUM_PARCEL))
CHANGE(own_share_back, memcpy(a->parcel[1][0], a->parcel[0][1], MFPG_SUM_PARCEL))

CHANGE(few_survive, keep(&record->present[3], 0, LEAST - 2))
CHANGE(not_surviving, keep(&record->present[3], 1, LEAST))
CHANGE(outsider_survives, mfpg_sum_insert(&record->present[3], OUTSIDE))

CHANGE(few_sign, keep(&record->present[4], 0, LEAST - 2))
CHANGE(outsider_signs, mfpg_sum_insert(&record->present[4], OUTSIDE))
CHANGE(changed_signature, a->signature[2][9] ^= 1)
CHANGE(signature_of_another, memcpy(a->signature[2], a->signature[1], 64))

static void signature_of(active *a, const mfpg_sum_record *record, ptrdiff_t named, ptrdiff_t signer) {
    unsigned char text[MFPG_SUM_SIGNED];
    const size_t size = mfpg_sum_signed_sets(record, named, text);
    crypto_sign_detached(a->signature[named], NULL, text, size, a->f.identity[signer].secret_key);
}

/* What site 2 would sign after it was shown something else. */
static void sign_other(active *a, const mfpg_sum_record *record, int what) {
    mfpg_sum_record shown = *record;
    if (what == 0) drop(&shown.present[3], 1);
    if (what == 1) drop(&shown.present[2], 4);
    if (what == 2) shown.list_hash[0] ^= 1;
    if (what == 3) shown.context[0] ^= 1;
    signature_of(a, &shown, 2, 2);
}

CHANGE(other_survivors_signed, sign_other(a, record, 0))
CHANGE(other_sharers_signed, sign_other(a, record, 1))
CHANGE(other_keys_signed, sign_other(a, record, 2))
CHANGE(other_sum_signed, sign_other(a, record, 3))
CHANGE(signed_by_another, signature_of(a, record, 2, 1))

static const trick tricks[] = {
    {"another threshold", 0, higher_threshold, "this site demands threshold 3"},
    {"too low a threshold", 0, lower_threshold, "the threshold must be from 3 to 5"},
    {"other colluders", 0, colluders, "this site demands threshold 3 and colluders 0"},
    {"another weight of the client", 0, own_weight, "for this site, which demands"},
    {"another noise of the client", 0, own_noise, "for this site, which demands"},
    {"another clip of the client", 0, own_clip, "for this site, which demands"},
    {"terms without the client", 0, not_a_member, "weight 0"},
    {"another dimension", 0, longer, "8 coordinates, and this site demands 7"},
    {"no power of two", 0, no_grid, "power of two"},
    {"no attempt", 0, no_attempt, "counted from 1"},
    {"a server key of small order", 0, zero_server, "not a key"},
    {"two clients with one mask key", 1, twin_masks, "a key occurs twice"},
    {"a mask key as transport key", 1, twin_uses, "a key occurs twice"},
    {"the client's own key for another", 1, own_twin, "a key occurs twice"},
    {"keys signed by another identity", 1, foreign_signer, "the signature of 'site-1' does not hold"},
    {"keys that were changed", 1, other_key, "the signature of 'site-1' does not hold"},
    {"other keys of the same identity", 1, other_own_keys, "another process uses the same identity"},
    {"keys of another attempt", 1, replayed_keys, "the signature of 'site-1' does not hold"},
    {"keys of another client", 1, others_keys, "the signature of 'site-1' does not hold"},
    {"a transport key of small order", 1, zero_transport, "not a key"},
    {"fewer keys than the threshold", 1, few_listed, "fewer than the threshold 3"},
    {"a list without the client", 1, not_listed, "does not name the client"},
    {"keys of somebody who is no member", 1, outsider_listed, "did not take part in the step before"},
    {"keys of a place that the roster lacks", 1, nobody_listed, "did not take part in the step before"},
    {"fewer shares than the threshold", 2, few_sharers, "fewer than the threshold 3"},
    {"shares without the client's", 2, not_sharing, "does not name the client"},
    {"shares of somebody without keys", 2, outsider_shares, "did not take part in the step before"},
    {"a changed share", 2, changed_share, "the share of 'site-1' does not open"},
    {"a share of another client", 2, share_of_another, "the share of 'site-1' does not open"},
    {"a share for another client", 2, share_for_another, "the share of 'site-1' does not open"},
    {"the client's own share", 2, own_share_back, "the share of 'site-1' does not open"},
    {"fewer survivors than the threshold", 3, few_survive, "fewer than the threshold 3"},
    {"survivors without the client", 3, not_surviving, "does not name the client"},
    {"a survivor without shares", 3, outsider_survives, "did not take part in the step before"},
    {"fewer signatures than the threshold", 4, few_sign, "fewer than the threshold 3"},
    {"a signer who did not survive", 4, outsider_signs, "did not take part in the step before"},
    {"a changed signature", 4, changed_signature, "'site-2' did not sign what this client saw"},
    {"one signature twice", 4, signature_of_another, "'site-2' did not sign what this client saw"},
    {"a signature of other survivors", 4, other_survivors_signed,
        "'site-2' did not sign what this client saw"},
    {"a signature of other sharers", 4, other_sharers_signed, "'site-2' did not sign what this client saw"},
    {"a signature of other keys", 4, other_keys_signed, "'site-2' did not sign what this client saw"},
    {"a signature of another sum", 4, other_sum_signed, "'site-2' did not sign what this client saw"},
    {"a signature by another client", 4, signed_by_another, "'site-2' did not sign what this client saw"},
};

/* The client refuses, says why, and answers nothing any more, not even an honest request. It released its vector if that step was
 * played before. */
static void check_refused(active *a, mfpg_sum_record *record, int played, int step, const char *why) {
    const ptrdiff_t client = 0;
    mfpg_bytes answer = {0};
    mfpg_status status = say(a, record, step, client, &answer);
    if (status != MFPG_ERR_INPUT || !strstr(mfpg_context_message(a->f.ctx), why))
        print_error("expected '%s', got: %s\n", why, mfpg_context_message(a->f.ctx));
    assert_int_equal(status, MFPG_ERR_INPUT);
    assert_non_null(strstr(mfpg_context_message(a->f.ctx), why));
    assert_null(answer.data);
    assert_int_equal(say(a, &a->record, step, client, &answer), MFPG_ERR_INPUT);
    assert_non_null(strstr(mfpg_context_message(a->f.ctx), "over after a failure"));
    assert_int_equal(a->f.released[client], played > MFPG_SUM_MASKED);
}

static void test_every_trick_ends_the_sum(void **state) {
    (void)state;
    mfpg_context *ctx = testing_context(1);
    static active a;
    for (size_t k = 0; k < sizeof tricks / sizeof *tricks; k++) {
        begin_active(&a, ctx, SITES);
        play_honestly(&a, tricks[k].step, -1);
        static mfpg_sum_record record;
        record = a.record;
        tricks[k].change(&a, &record);
        check_refused(&a, &record, tricks[k].step, tricks[k].step, tricks[k].why);
        end_sum(&a.f);
    }
    mfpg_context_destroy(ctx);
}

/* Clients that dropped out must not come back. */
static void test_nobody_comes_back(void **state) {
    (void)state;
    mfpg_context *ctx = testing_context(1);
    static active a;
    for (int step = 2; step <= 4; step++) {
        begin_active(&a, ctx, SITES);
        play_honestly(&a, step, 4); /* sent keys and no shares */
        static mfpg_sum_record record;
        record = a.record;
        mfpg_sum_insert(&record.present[step], 4);
        if (step > 2)
            check_refused(&a, &record, step, step, "did not take part in the step before");
        else
            check_refused(&a, &record, step, step, "the share of 'site-4' does not open");
        end_sum(&a.f);
    }
    mfpg_context_destroy(ctx);
}

/* A mask key of small order is found before the vector is asked for. */
static void test_a_mask_key_of_small_order_is_refused(void **state) {
    (void)state;
    mfpg_context *ctx = testing_context(1);
    static active a;
    begin_active(&a, ctx, SITES);
    play_honestly(&a, 1, -1);
    memset(a.record.keys[1].mask, 0, 32);
    sign_keys(&a, &a.record, 1, 1);
    converse(&a, &a.record, 1, 0);
    for (ptrdiff_t v = 2; v < OUTSIDE; v++) converse(&a, &a.record, 1, v);
    keep(&a.record.present[2], 0, OUTSIDE - 1);
    drop(&a.record.present[2], 1);
    converse(&a, &a.record, 2, 0); /* without its owner it does not matter */
    end_sum(&a.f);
    begin_active(&a, ctx, SITES);
    play_honestly(&a, 1, -1);
    memset(a.record.keys[1].mask, 0, 32);
    sign_keys(&a, &a.record, 1, 1);
    for (ptrdiff_t v = 0; v < OUTSIDE; v++)
        if (v != 1) converse(&a, &a.record, 1, v);
    mfpg_bytes answer = {0}; /* site 1 sees its own keys changed */
    assert_int_equal(say(&a, &a.record, 1, 1, &answer), MFPG_ERR_INPUT);
    end_sum(&a.f);
    mfpg_context_destroy(ctx);
}

/* The attack that the consistency check answers: three clients, threshold 2. Site 0 is shown the list {0, 1}, the others {0, 1, 2};
 * then its two masks could be removed from its vector alone. */
static void test_two_key_lists_open_nothing(void **state) {
    (void)state;
    mfpg_context *ctx = testing_context(1);
    static active a;
    static mfpg_sum_record small;
    begin_active(&a, ctx, 3);
    play_honestly(&a, 1, -1);
    small = a.record;
    drop(&small.present[1], 2);
    mfpg_sum_hash_list(&small);
    converse(&a, &small, 1, 0);
    converse(&a, &a.record, 1, 1);
    converse(&a, &a.record, 1, 2);
    small.present[2] = small.present[1];
    converse(&a, &small, 2, 0);
    /* Site 1 has no share of site 0 for this list's abscissas but the same one, so that it opens: it takes part. */
    keep(&a.record.present[2], 1, 2);
    converse(&a, &a.record, 2, 1);
    converse(&a, &a.record, 2, 2);
    small.present[3] = small.present[2];
    converse(&a, &small, 3, 0);
    keep(&a.record.present[3], 1, 2);
    converse(&a, &a.record, 3, 1);
    converse(&a, &a.record, 3, 2);
    small.present[4] = small.present[3];
    check_refused(&a, &small, 4, 4, "'site-1' did not sign what this client saw");
    keep(&a.record.present[4], 1, 2);
    converse(&a, &a.record, 4, 1); /* the others' sum is one of two, which the threshold allows */
    end_sum(&a.f);
    mfpg_context_destroy(ctx);
}

/* Two sets of survivors, to get both shares of a client: a client that signed one answers no second request. */
static void test_no_request_is_answered_twice(void **state) {
    (void)state;
    mfpg_context *ctx = testing_context(1);
    static active a;
    for (int step = 0; step < 4; step++) {
        static mfpg_sum_record record;
        begin_active(&a, ctx, SITES);
        play_honestly(&a, step + 1, -1);
        record = a.record;
        if (step == 3) drop(&record.present[3], 1);
        check_refused(&a, &record, step + 1, step, "every message is answered only once");
        end_sum(&a.f);
    }
    begin_active(&a, ctx, SITES);
    play_honestly(&a, 5, -1);
    mfpg_bytes answer = {0};
    assert_int_equal(say(&a, &a.record, 4, 0, &answer), MFPG_ERR_INPUT);
    assert_string_equal(mfpg_context_message(ctx), "this client's sum is over: it answers nothing more");
    end_sum(&a.f);
    mfpg_context_destroy(ctx);
}

static void test_no_step_is_left_out(void **state) {
    (void)state;
    mfpg_context *ctx = testing_context(1);
    static active a;
    for (int step = 0; step < 4; step++) {
        begin_active(&a, ctx, SITES);
        play_honestly(&a, step, -1);
        if (step + 1 < MFPG_SUM_STEPS) a.record.present[step + 1] = a.record.present[step];
        check_refused(&a, &a.record, step, step + 1, "the message is of another kind");
        end_sum(&a.f);
    }
    mfpg_context_destroy(ctx);
}

/* Messages of another round or attempt, of another run, and of a server of its own with the same terms. */
static void test_messages_of_another_sum_are_refused(void **state) {
    (void)state;
    mfpg_context *ctx = testing_context(1);
    static active a, b;
    for (int what = 0; what < 4; what++)
        for (int step = 1; step < MFPG_SUM_STEPS; step++) {
            begin_active(&a, ctx, SITES);
            begin_active(&b, ctx, SITES);
            if (what == 0) b.f.terms.round++;
            if (what == 1) b.f.terms.attempt++;
            if (what == 2) b.f.terms.run[31] ^= 1;
            if (what == 3)
                crypto_scalarmult_base(
                    b.record.server_key, (const unsigned char *)"another key of thirty-two bytes.");
            if (what == 3) memcpy(b.secret_key, "another key of thirty-two bytes.", 32);
            set_terms(&b);
            play_honestly(&a, step, -1);
            play_honestly(&b, step, -1);
            mfpg_bytes message = request(&b, &b.record, step, 0), answer = {0};
            assert_int_equal(mfpg_sum_client_answer(ctx, a.f.client[0], message.data, message.size, &answer),
                MFPG_ERR_INPUT);
            assert_non_null(strstr(mfpg_context_message(ctx), "belongs to another sum"));
            mfpg_bytes_clear(&message);
            end_sum(&a.f);
            end_sum(&b.f);
        }
    mfpg_context_destroy(ctx);
}

/* An active server tells one client other terms of the others: without this their noise would vanish unseen. */
static void test_two_sets_of_terms_do_not_meet(void **state) {
    (void)state;
    mfpg_context *ctx = testing_context(1);
    static active a;
    static mfpg_sum_record told;
    begin_active(&a, ctx, SITES);
    told = a.record;
    told.share[1].noise_sd = 0.0;
    mfpg_bytes answer = {0}, message = request(&a, &told, 0, 0); /* which sets the context of what was told */
    CHECK_OK(ctx, mfpg_sum_client_answer(ctx, a.f.client[0], message.data, message.size, &answer));
    memcpy(&told.keys[0], answer.data + MFPG_SUM_HEADER, sizeof told.keys[0]);
    mfpg_bytes_clear(&message);
    mfpg_bytes_clear(&answer);
    for (ptrdiff_t v = 1; v < OUTSIDE; v++) {
        converse(&a, &a.record, 0, v);
        told.keys[v] = a.record.keys[v];
    }
    mfpg_sum_agree(MFPG_SUM_FOR_SEAL, told.context, a.secret_key,
        (mfpg_sum_party){MFPG_SUM_SERVER, told.server_key}, (mfpg_sum_party){0, told.keys[0].transport},
        a.seal[0]);
    told.present[1] = told.present[0];
    check_refused(&a, &told, 1, 1, "the signature of 'site-1' does not hold for these terms");
    end_sum(&a.f);
    mfpg_context_destroy(ctx);
}

static void test_another_roster_or_version_is_refused(void **state) {
    (void)state;
    mfpg_context *ctx = testing_context(1);
    static active a;
    mfpg_bytes answer = {0};
    begin_active(&a, ctx, SITES);
    mfpg_bytes message = request(&a, &a.record, 0, 0);
    message.data[4] = 7;
    assert_int_equal(
        mfpg_sum_client_answer(ctx, a.f.client[0], message.data, message.size, &answer), MFPG_ERR_INPUT);
    assert_non_null(strstr(mfpg_context_message(ctx), "has version 7"));
    assert_non_null(strstr(mfpg_context_message(ctx), "this program has version 1"));
    mfpg_bytes_clear(&message);
    a.f.roster.hash[0] ^= 1; /* as one name changed would do */
    message = request(&a, &a.record, 0, 1);
    a.f.roster.hash[0] ^= 1;
    assert_int_equal(
        mfpg_sum_client_answer(ctx, a.f.client[1], message.data, message.size, &answer), MFPG_ERR_INPUT);
    assert_non_null(strstr(mfpg_context_message(ctx), "the server's roster is not that of this site"));
    mfpg_bytes_clear(&message);
    end_sum(&a.f);
    mfpg_context_destroy(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_every_trick_ends_the_sum),
        cmocka_unit_test(test_nobody_comes_back), cmocka_unit_test(test_a_mask_key_of_small_order_is_refused),
        cmocka_unit_test(test_two_key_lists_open_nothing),
        cmocka_unit_test(test_no_request_is_answered_twice), cmocka_unit_test(test_no_step_is_left_out),
        cmocka_unit_test(test_messages_of_another_sum_are_refused),
        cmocka_unit_test(test_two_sets_of_terms_do_not_meet),
        cmocka_unit_test(test_another_roster_or_version_is_refused)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
