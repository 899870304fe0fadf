#include "secure_sum/fixture.h"

#include <math.h>
#include <unistd.h>

#include "mfpg/audit.h"
#include "secure_sum/agreement.h"

/* Transcripts of the server's side of real sums, honest or with one planted fault. Site 0 sends a canary in every round. Site 1
 * drops out of every round, and its masked vector arrives late; the other clients then open its mask key. */

enum {
    SITES = 5,
    ROUNDS = 100,
    COORDINATES = 32,
    HEADER = 40,
    SET = 32,
    MASKED = 5,
    SURVIVORS = 6,
    OPENED = 9
};
static char path[4096];                         /* of the transcript of a test */
static const double NOISE = 80.0, CLIP = 160.0; /* of a weighted vector, in steps */

typedef enum fault {
    HONEST,
    WITHOUT_SELF_MASK, /* of site 1 */
    SMALL_SEED,        /* of the self-mask of site 1 */
    BOTH_SHARES,       /* of site 0: both kinds are opened */
    SMALL_SUM,         /* the mask keys of sites 3 and 4 are opened too */
} fault;

typedef struct writer {
    sum_fixture f;
    FILE *file;
    fault fault;
    int forges, coin;
    unsigned char secret[SITES][2 * 32];       /* mask key and seed of the self-mask */
    unsigned char share[SITES][SITES][2 * 32]; /* of owner, at holder */
} writer;

static void write_line(const writer *w, const char *kind, const unsigned char *data, size_t size) {
    const size_t room = sodium_base64_encoded_len(size, sodium_base64_VARIANT_ORIGINAL);
    char *text = malloc(room);
    assert_non_null(text);
    fprintf(w->file, "{\"%s\": \"%s\"}\n", kind,
        sodium_bin2base64(text, room, data, size, sodium_base64_VARIANT_ORIGINAL));
    free(text);
}

static void write_message(const writer *w, const unsigned char *data, size_t size) {
    write_line(w, "message", data, size);
}

/* Repeats how a client draws its secrets and shares (src/secure_sum/client.c). */
static void draw_secrets(writer *w, const unsigned char context[32]) {
    static const unsigned char nonce[8] = {1};
    for (ptrdiff_t i = 0; i < SITES; i++) {
        unsigned char root[32], coefficient[SITES * 64];
        crypto_generichash_state hash;
        crypto_generichash_init(&hash, w->f.key[i].bytes, 32, 32);
        crypto_generichash_update(&hash, (const unsigned char *)"mfpg sum root 1", 16);
        crypto_generichash_update(&hash, context, 32);
        crypto_generichash_update(&hash, w->f.identity[i].public_key, 32);
        crypto_generichash_final(&hash, root, 32);
        crypto_stream_chacha20(coefficient, 3 * 64, nonce, root);
        memcpy(w->secret[i], coefficient, 64);
        for (ptrdiff_t holder = 0; holder < SITES; holder++)
            mfpg_shamir_share(coefficient, 3, 64, (unsigned char)(holder + 1), w->share[i][holder]);
    }
}

/* Adds the key stream of a seed to the vector of a message, or subtracts it. */
static void add_mask(const writer *w, unsigned char *body, const unsigned char seed[32], int sign) {
    mfpg_sum_words words = mfpg_sum_words_create(w->f.terms.bits, COORDINATES);
    mfpg_sum_mask mask = {.sign = sign};
    memcpy(mask.stream.key, seed, 32);
    mfpg_sum_words_add_packed(&words, body);
    mfpg_sum_masks_add(&mask, 1, &words);
    mfpg_sum_words_pack(&words, body);
    mfpg_sum_words_clear(&words);
}

/* What a faulty client would have sent in place of this answer. */
static void plant(writer *w, ptrdiff_t site, unsigned char *message) {
    const unsigned char small[32] = {0x39, 0x30}; /* 12345 */
    if (message[6] != MASKED || site != 1) return;
    if (w->fault == WITHOUT_SELF_MASK || w->fault == SMALL_SEED)
        add_mask(w, message + HEADER, w->secret[1] + 32, -1);
    if (w->fault == SMALL_SEED) add_mask(w, message + HEADER, small, 1);
}

/* The server asks again, without some of the survivors, and the clients answer again. */
static void ask_for_the_other_shares(const writer *w, const unsigned char *survivors, unsigned char without) {
    for (ptrdiff_t holder = 2; holder < SITES; holder++) {
        unsigned char list[HEADER + SET + 16], opened[HEADER + SITES * 32 + 16];
        memcpy(list, survivors, sizeof list);
        list[7] = (unsigned char)holder;
        list[HEADER] = (unsigned char)(list[HEADER] & ~without);
        memcpy(opened, list, HEADER);
        opened[6] = OPENED;
        for (ptrdiff_t owner = 0; owner < SITES; owner++)
            memcpy(opened + HEADER + 32 * owner,
                w->share[owner][holder] + (list[HEADER] >> owner & 1 ? 32 : 0), 32);
        write_message(w, list, sizeof list);
        write_message(w, opened, sizeof opened);
    }
}

static void play_step(writer *w, mfpg_sum_step step, unsigned char survivors[HEADER + SET + 16]) {
    mfpg_bytes late = {0};
    for (ptrdiff_t i = 0; i < SITES; i++) {
        mfpg_bytes message = {0}, answer = {0};
        if (i == 1 && step > MFPG_SUM_MASKED) continue;
        CHECK_OK(w->f.ctx, mfpg_sum_server_ask(w->f.ctx, w->f.server, i, &message));
        write_message(w, message.data, message.size);
        if (step == MFPG_SUM_KEYS && i == 0) draw_secrets(w, message.data + 8);
        if (step == MFPG_SUM_CONSISTENCY) memcpy(survivors, message.data, HEADER + SET + 16);
        CHECK_OK(
            w->f.ctx, mfpg_sum_client_answer(w->f.ctx, w->f.client[i], message.data, message.size, &answer));
        plant(w, i, answer.data);
        if (w->forges &&
            step < MFPG_SUM_CONSISTENCY) { /* somebody else's message, which the server refuses */
            unsigned char *forged = malloc(answer.size);
            assert_non_null(forged);
            memcpy(forged, answer.data, answer.size);
            memset(forged + HEADER, 0x5a, answer.size - HEADER);
            write_line(w, "refused", forged, answer.size);
            free(forged);
        }
        if (i == 1 && step == MFPG_SUM_MASKED) {
            late = answer;
        } else {
            CHECK_OK(w->f.ctx, mfpg_sum_server_take(w->f.ctx, w->f.server, answer.data, answer.size, NULL));
            write_message(w, answer.data, answer.size);
            mfpg_bytes_clear(&answer);
        }
        mfpg_bytes_clear(&message);
    }
    if (late.size) write_line(w, "refused", late.data, late.size);
    mfpg_bytes_clear(&late);
    CHECK_OK(w->f.ctx, mfpg_sum_server_advance(w->f.ctx, w->f.server, NULL));
}

static void draw_vectors(writer *w, int64_t round) {
    const double each = floor(CLIP / sqrt((double)COORDINATES));
    for (ptrdiff_t i = 0; i < SITES; i++) {
        float z[COORDINATES];
        const mfpg_stream stream = mfpg_stream_open(&w->f.key[i], MFPG_PURPOSE_TEST, (uint64_t)round, 1);
        mfpg_stream_gaussian(&stream, 0, COORDINATES, z);
        if (i == 0) w->coin = mfpg_stream_below(&stream, 1 << 20, 2) ? 1 : -1;
        for (ptrdiff_t j = 0; j < COORDINATES; j++)
            w->f.vector[i * COORDINATES + j] = lrint(NOISE * (double)z[j] + (i == 0 ? w->coin * each : 0.0));
    }
    fprintf(w->file, "{\"canary\": \"site-0\", \"round\": %lld, \"attempt\": 1, \"coin\": %d, \"vector\": [",
        (long long)round, w->coin);
    for (ptrdiff_t j = 0; j < COORDINATES; j++) fprintf(w->file, "%s%g", j ? ", " : "", each);
    fprintf(w->file, "]}\n");
}

static void write_transcript(mfpg_context *ctx, fault planted, int64_t rounds, int forges) {
    writer w = {.fault = planted, .forges = forges};
    begin_sum(&w.f, ctx, SITES, 3, 0, 13, COORDINATES);
    for (ptrdiff_t i = 0; i < SITES; i++)
        w.f.share[i] = (mfpg_sum_share){.weight = 0.25, .noise_sd = 4.0 * NOISE, .clip = 4.0 * CLIP};
    w.f.terms.grid = 1.0;
    w.file = fopen(path, "w");
    assert_non_null(w.file);
    fprintf(w.file, "{\"roster\": \"");
    for (ptrdiff_t i = 0; i < SITES; i++) {
        char digits[65];
        sodium_bin2hex(digits, sizeof digits, w.f.identity[i].public_key, 32);
        fprintf(w.file, "site-%td %s\\n", i, digits);
    }
    fprintf(w.file, "\"}\n{\"message\": \"bm90aGluZw==\"}\n");
    for (int64_t round = 1; round <= rounds; round++) {
        unsigned char survivors[HEADER + SET + 16];
        w.f.terms.round = round;
        draw_vectors(&w, round);
        create_parties(&w.f);
        for (int step = MFPG_SUM_KEYS; step < MFPG_SUM_DONE; step++)
            play_step(&w, (mfpg_sum_step)step, survivors);
        if (planted == BOTH_SHARES) ask_for_the_other_shares(&w, survivors, 1 << 0);
        if (planted == SMALL_SUM) ask_for_the_other_shares(&w, survivors, 1 << 3 | 1 << 4);
        destroy_parties(&w.f);
    }
    assert_int_equal(fclose(w.file), 0);
    end_sum(&w.f);
}

static mfpg_transcript_audit audit_with(fault planted, int64_t rounds, int seed_bits, int forges) {
    mfpg_context *ctx = testing_context(1);
    mfpg_transcript_audit audit;
    write_transcript(ctx, planted, rounds, forges);
    CHECK_OK(ctx, mfpg_audit_transcript(ctx, path, seed_bits, 0.99, &audit));
    assert_int_equal(audit.sums, rounds);
    assert_int_equal(audit.ignored, 1); /* what write_transcript puts there */
    assert_int_equal(audit.sites, SITES);
    assert_int_equal(audit.site[0].vectors, rounds);
    assert_int_equal(audit.site[1].vectors, rounds);
    mfpg_context_destroy(ctx);
    return audit;
}

static mfpg_transcript_audit audit_of(fault planted, int64_t rounds, int seed_bits) {
    return audit_with(planted, rounds, seed_bits, 0);
}

/* The canary of site 0 has mu 4 to somebody who reads its vector, and 2 CLIP / (NOISE sqrt 3) = 2.31 in the worst sum of three. */
static void test_an_honest_transcript_proves_no_more_than_the_sum(void **state) {
    (void)state;
    mfpg_transcript_audit audit = audit_of(HONEST, ROUNDS, 16);
    assert_int_equal(audit.stands, 1);
    assert_int_equal(audit.searched, 1); /* the self-mask of a late vector */
    for (ptrdiff_t v = 0; v < SITES; v++) assert_int_equal(audit.site[v].opened, 0);
    assert_int_equal(audit.site[0].guesses, ROUNDS);
    assert_true(audit.site[0].correct > ROUNDS / 2);
    check_near(audit.site[0].mu, 4.0 / sqrt(3.0), 1e-9, 0.0, "mu of the worst sum");
    assert_true(audit.site[0].mu_lower > 0.0 && audit.site[0].mu_lower < audit.site[0].mu);
    free(audit.site);
}

static void test_a_vector_without_self_mask_is_found(void **state) {
    (void)state;
    mfpg_transcript_audit audit = audit_of(WITHOUT_SELF_MASK, ROUNDS, 0);
    assert_int_equal(audit.stands, 0);
    assert_int_equal(audit.site[1].opened, ROUNDS);
    assert_string_equal(audit.site[1].how, "one of its masks is missing");
    assert_int_equal(audit.site[1].first_round, 1);
    assert_int_equal(audit.site[0].stands, 1);
    free(audit.site);
}

static void test_a_small_seed_is_found(void **state) {
    (void)state;
    mfpg_transcript_audit audit = audit_of(SMALL_SEED, 3, 16);
    assert_int_equal(audit.stands, 0);
    assert_int_equal(audit.site[1].opened, 1);
    assert_string_equal(audit.site[1].how, "the key of a mask is a small number");
    free(audit.site);
    audit = audit_of(SMALL_SEED, 3, 12); /* 12345 is above 2^12 */
    assert_int_equal(audit.stands, 1);
    free(audit.site);
}

static void test_both_shares_are_found_and_the_coins_prove_it(void **state) {
    (void)state;
    mfpg_transcript_audit audit = audit_of(BOTH_SHARES, ROUNDS, 0);
    const mfpg_transcript_site *site = &audit.site[0];
    assert_int_equal(audit.stands, 0);
    assert_int_equal(site->opened, ROUNDS);
    assert_string_equal(site->how, "both kinds of share were answered");
    assert_true(site->mu_lower > site->mu); /* also by the guesses alone */
    free(audit.site);
}

static void test_forged_messages_hide_nothing_and_open_nothing(void **state) {
    (void)state;
    const fault faults[] = {HONEST, WITHOUT_SELF_MASK, BOTH_SHARES};
    for (size_t i = 0; i < sizeof faults / sizeof faults[0]; i++) {
        mfpg_transcript_audit audit = audit_with(faults[i], 2, 0, 1);
        assert_int_equal(audit.stands, faults[i] == HONEST);
        assert_int_equal(audit.site[0].opened, faults[i] == BOTH_SHARES ? 2 : 0);
        assert_int_equal(audit.site[1].opened, faults[i] == WITHOUT_SELF_MASK ? 2 : 0);
        free(audit.site);
    }
}

static void test_a_sum_of_fewer_than_the_threshold_is_found(void **state) {
    (void)state;
    mfpg_transcript_audit audit = audit_of(SMALL_SUM, 1, 0);
    assert_int_equal(audit.stands, 0);
    assert_string_equal(audit.site[0].how, "a sum of fewer clients than the threshold can be read");
    assert_string_equal(audit.site[2].how, "a sum of fewer clients than the threshold can be read");
    assert_string_equal(audit.site[3].how, "both kinds of share were answered");
    free(audit.site);
}

static void test_json_has_every_site(void **state) {
    (void)state;
    mfpg_context *ctx = testing_context(1);
    mfpg_transcript_audit audit = audit_of(HONEST, 2, 0);
    char *text = NULL;
    CHECK_OK(ctx, mfpg_audit_transcript_json(ctx, &audit, &text));
    assert_non_null(strstr(text, "\"site\": \"site-4\""));
    assert_non_null(strstr(text, "\"stands\": true"));
    free(text);
    free(audit.site);
    mfpg_context_destroy(ctx);
}

static void test_faulty_transcripts_are_refused_with_their_line(void **state) {
    (void)state;
    static const struct {
        const char *text, *message;
    } cases[] = {
        {"", "nothing to judge"},
        {"{}\n", ":1: the first line"},
        {"nothing\n", ":1: this is not a line"},
        {"{\"roster\": \"a\"}\n", "1"},
    };
    mfpg_context *ctx = testing_context(1);
    mfpg_transcript_audit audit;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        FILE *file = fopen(path, "w");
        assert_non_null(file);
        fputs(cases[i].text, file);
        fclose(file);
        assert_int_equal(mfpg_audit_transcript(ctx, path, 0, 0.99, &audit), MFPG_ERR_INPUT);
        assert_non_null(strstr(mfpg_context_message(ctx), cases[i].message));
    }
    assert_int_equal(mfpg_audit_transcript(ctx, path, 41, 0.99, &audit), MFPG_ERR_DOMAIN);
    assert_int_equal(mfpg_audit_transcript(ctx, path, 0, 1.0, &audit), MFPG_ERR_DOMAIN);
    mfpg_context_destroy(ctx);
}

static void append(const char *line) {
    FILE *file = fopen(path, "a");
    assert_non_null(file);
    fputs(line, file);
    fclose(file);
}

static void test_canaries_are_counted_once_and_belong_to_a_sum(void **state) {
    (void)state;
    mfpg_context *ctx = testing_context(1);
    mfpg_transcript_audit audit;
    write_transcript(ctx, HONEST, 1, 0);
    append("{\"canary\": \"site-0\", \"round\": 1, \"attempt\": 1, \"coin\": 1, \"vector\": [1]}\n");
    assert_int_equal(mfpg_audit_transcript(ctx, path, 0, 0.99, &audit), MFPG_ERR_INPUT);
    assert_non_null(
        strstr(mfpg_context_message(ctx), "there is a canary of this site, round and attempt already"));
    write_transcript(ctx, HONEST, 1, 0);
    append("{\"canary\": \"site-2\", \"round\": 1, \"attempt\": 1, \"coin\": 1, \"vector\": [1]}\n");
    assert_int_equal(mfpg_audit_transcript(ctx, path, 0, 0.99, &audit), MFPG_ERR_INPUT);
    assert_non_null(strstr(mfpg_context_message(ctx), "the canary belongs to no sum"));
    write_transcript(ctx, HONEST, 1, 0);
    append("{\"message\": \"unfinis");
    CHECK_OK(ctx, mfpg_audit_transcript(ctx, path, 0, 0.99, &audit));
    assert_int_equal(audit.ignored, 2);
    free(audit.site);
    mfpg_context_destroy(ctx);
}

/* Every line cut at every length up to its first hundred bytes, and every byte of them changed: no crash, and no promise
 * broken that holds. */
static void test_damaged_transcripts_do_no_harm(void **state) {
    (void)state;
    mfpg_context *ctx = testing_context(1);
    write_transcript(ctx, HONEST, 1, 0);
    FILE *file = fopen(path, "r");
    static char text[1 << 17];
    assert_non_null(file);
    const size_t size = fread(text, 1, sizeof text - 1, file);
    fclose(file);
    for (size_t at = 0; at < size; at += 97) {
        const char was = text[at];
        mfpg_transcript_audit audit;
        text[at] = (char)(was ^ 1 << (at % 7));
        file = fopen(path, "w");
        assert_non_null(file);
        assert_int_equal(fwrite(text, 1, size, file), size);
        fclose(file);
        if (mfpg_audit_transcript(ctx, path, 0, 0.99, &audit) == MFPG_OK) {
            assert_int_equal(audit.site[0].opened, 0);
            free(audit.site);
        }
        text[at] = was;
    }
    mfpg_context_destroy(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_an_honest_transcript_proves_no_more_than_the_sum),
        cmocka_unit_test(test_a_vector_without_self_mask_is_found),
        cmocka_unit_test(test_a_small_seed_is_found),
        cmocka_unit_test(test_both_shares_are_found_and_the_coins_prove_it),
        cmocka_unit_test(test_forged_messages_hide_nothing_and_open_nothing),
        cmocka_unit_test(test_a_sum_of_fewer_than_the_threshold_is_found),
        cmocka_unit_test(test_json_has_every_site),
        cmocka_unit_test(test_faulty_transcripts_are_refused_with_their_line),
        cmocka_unit_test(test_canaries_are_counted_once_and_belong_to_a_sum),
        cmocka_unit_test(test_damaged_transcripts_do_no_harm),
    };
    char folder[] = "/tmp/mfpg-transcript-XXXXXX";
    if (!mkdtemp(folder)) return 1;
    snprintf(path, sizeof path, "%s/transcript", folder);
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    remove(path);
    rmdir(folder);
    return failed;
}
