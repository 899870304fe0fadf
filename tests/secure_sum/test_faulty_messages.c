#include "fixture.h"

#include "secure_sum/messages.h"

/* Messages that were damaged on their way, on both sides, and clients that do not follow the protocol. */

enum { SITES = 4, THRESHOLD = 3 };

static mfpg_bytes saved_state(sum_fixture *f, ptrdiff_t i) {
    mfpg_bytes state = {0};
    CHECK_OK(f->ctx, mfpg_sum_client_save(f->ctx, f->client[i], &state));
    return state;
}

static void restore_from(sum_fixture *f, ptrdiff_t i, const mfpg_bytes *state) {
    const mfpg_sum_client_options options = options_of(f, i);
    mfpg_sum_client_destroy(f->client[i]);
    f->client[i] = NULL;
    CHECK_OK(f->ctx, mfpg_sum_client_restore(f->ctx, &options, state->data, state->size, &f->client[i]));
}

/* Changes of a message: a bit of every byte, every shorter length, and one byte more. Returns the changed size. */
static size_t changed(const mfpg_bytes *message, size_t number, unsigned char *out) {
    memcpy(out, message->data, message->size);
    out[message->size] = 0;
    if (number < message->size) {
        out[number] ^= (unsigned char)(1 << number % 8);
        return message->size;
    }
    return number == 2 * message->size ? message->size + 1 : number - message->size;
}

/* The server refuses every change and then takes the message itself. */
static void check_server(sum_fixture *f, const mfpg_bytes *answer) {
    unsigned char *out = malloc(answer->size + 1);
    assert_non_null(out);
    for (size_t number = 0; number <= 2 * answer->size; number++) {
        const size_t size = changed(answer, number, out);
        if (mfpg_sum_server_take(f->ctx, f->server, out, size, NULL) != MFPG_ERR_INPUT) {
            print_error("change %zu of a message of kind %d was taken\n", number, answer->data[6]);
            fail();
        }
    }
    free(out);
    CHECK_OK(f->ctx, mfpg_sum_server_take(f->ctx, f->server, answer->data, answer->size, NULL));
    assert_int_equal(
        mfpg_sum_server_take(f->ctx, f->server, answer->data, answer->size, NULL), MFPG_ERR_INPUT);
    assert_non_null(strstr(mfpg_context_message(f->ctx), "has already answered"));
}

/* The client ends its sum at every change. */
static void check_client(sum_fixture *f, ptrdiff_t i, const mfpg_bytes *message) {
    mfpg_bytes state = saved_state(f, i), answer = {0};
    unsigned char *out = malloc(message->size + 1);
    assert_non_null(out);
    for (size_t number = 0; number <= 2 * message->size; number++) {
        const size_t size = changed(message, number, out);
        restore_from(f, i, &state);
        if (mfpg_sum_client_answer(f->ctx, f->client[i], out, size, &answer) != MFPG_ERR_INPUT) {
            print_error("change %zu of a message of kind %d was answered\n", number, message->data[6]);
            fail();
        }
        assert_null(answer.data);
    }
    restore_from(f, i, &state);
    free(out);
    mfpg_bytes_clear(&state);
}

static void test_no_changed_message_is_taken(void **unused) {
    (void)unused;
    mfpg_context *ctx = testing_context(1);
    sum_fixture f;
    begin_sum(&f, ctx, SITES, THRESHOLD, 0, 13, 5);
    create_parties(&f);
    for (int step = 0; step < MFPG_SUM_DONE; step++) {
        for (ptrdiff_t i = 0; i < SITES; i++) {
            mfpg_bytes message = {0}, answer = {0};
            if (i == 2 && step > MFPG_SUM_SHARES) continue; /* drops out */
            CHECK_OK(ctx, mfpg_sum_server_ask(ctx, f.server, i, &message));
            if (i == 0) check_client(&f, i, &message);
            CHECK_OK(ctx, mfpg_sum_client_answer(ctx, f.client[i], message.data, message.size, &answer));
            mfpg_bytes_clear(&message);
            if (i == 0) check_server(&f, &answer);
            if (i != 0) CHECK_OK(ctx, mfpg_sum_server_take(ctx, f.server, answer.data, answer.size, NULL));
            mfpg_bytes_clear(&answer);
        }
        CHECK_OK(ctx, mfpg_sum_server_advance(ctx, f.server, NULL));
    }
    check_sum(&f, (const int[]){5, 5, 2, 5});
    assert_int_equal(f.released[0], 1);
    end_sum(&f);
    mfpg_context_destroy(ctx);
}

static void test_a_changed_state_is_refused(void **unused) {
    (void)unused;
    mfpg_context *ctx = testing_context(1);
    sum_fixture f;
    mfpg_sum_client *out = NULL;
    begin_sum(&f, ctx, SITES, THRESHOLD, 0, 13, 5);
    create_parties(&f);
    assert_int_equal(play(&f, (const int[]){5, 5, 5, 5}, MFPG_SUM_MASKED), MFPG_OK);
    mfpg_bytes state = saved_state(&f, 0);
    mfpg_sum_client_options options = options_of(&f, 0);
    for (size_t at = 0; at < state.size; at += at < 64 ? 1 : 131) {
        state.data[at] ^= 0x10;
        assert_int_equal(
            mfpg_sum_client_restore(ctx, &options, state.data, state.size, &out), MFPG_ERR_INPUT);
        assert_non_null(strstr(mfpg_context_message(ctx), "is damaged, or of another identity"));
        state.data[at] ^= 0x10;
        assert_int_equal(mfpg_sum_client_restore(ctx, &options, state.data, at, &out), MFPG_ERR_INPUT);
    }
    options.identity = &f.identity[1];
    assert_int_equal(mfpg_sum_client_restore(ctx, &options, state.data, state.size, &out), MFPG_ERR_INPUT);
    options = options_of(&f, 0);
    f.roster.hash[4] ^= 1;
    assert_int_equal(mfpg_sum_client_restore(ctx, &options, state.data, state.size, &out), MFPG_ERR_INPUT);
    f.roster.hash[4] ^= 1;
    options.own.noise_sd *= 2.0; /* other demands than those that were checked */
    assert_int_equal(mfpg_sum_client_restore(ctx, &options, state.data, state.size, &out), MFPG_ERR_INPUT);
    assert_non_null(strstr(mfpg_context_message(ctx), "which demands"));
    assert_null(out);
    options = options_of(&f, 0);
    assert_int_equal(
        mfpg_sum_client_restore(ctx, &options, state.data, state.size + 1, &out), MFPG_ERR_INPUT);
    mfpg_bytes_clear(&state);
    end_sum(&f);
    mfpg_context_destroy(ctx);
}

/* The state of a client that is done or has failed restores to one that answers nothing. */
static void test_an_end_stays_an_end(void **unused) {
    (void)unused;
    mfpg_context *ctx = testing_context(1);
    sum_fixture f;
    begin_sum(&f, ctx, SITES, THRESHOLD, 0, 13, 5);
    create_parties(&f);
    mfpg_bytes answer = {0};
    assert_int_equal(
        mfpg_sum_client_answer(ctx, f.client[0], (const unsigned char *)"x", 1, &answer), MFPG_ERR_INPUT);
    assert_non_null(strstr(mfpg_context_message(ctx), "not a message of a secure sum"));
    restore_client(&f, 0);
    assert_int_equal(exchange(&f, 0, &answer), MFPG_ERR_INPUT);
    assert_non_null(strstr(mfpg_context_message(ctx), "over after a failure"));
    assert_int_equal(play(&f, (const int[]){0, 5, 5, 5}, MFPG_SUM_DONE), MFPG_OK);
    restore_client(&f, 1);
    assert_int_equal(
        mfpg_sum_client_answer(ctx, f.client[1], (const unsigned char *)"x", 1, &answer), MFPG_ERR_INPUT);
    assert_string_equal(mfpg_context_message(ctx), "this client's sum is over: it answers nothing more");
    end_sum(&f);
    mfpg_context_destroy(ctx);
}

/* ---- what the server refuses of clients ---- */

static void take_refused(sum_fixture *f, const mfpg_bytes *answer, const char *why) {
    assert_int_equal(
        mfpg_sum_server_take(f->ctx, f->server, answer->data, answer->size, NULL), MFPG_ERR_INPUT);
    if (!strstr(mfpg_context_message(f->ctx), why))
        print_error("%s: %s\n", why, mfpg_context_message(f->ctx));
    assert_non_null(strstr(mfpg_context_message(f->ctx), why));
}

/* Two processes with one identity: the server takes the first and refuses the second, whose next step fails by itself. */
static void test_two_sites_with_one_identity(void **unused) {
    (void)unused;
    mfpg_context *ctx = testing_context(1);
    sum_fixture f;
    mfpg_bytes message = {0}, answer = {0};
    mfpg_sum_client *twin = NULL;
    begin_sum(&f, ctx, SITES, THRESHOLD, 0, 13, 5);
    create_parties(&f);
    mfpg_sum_client_options options = options_of(&f, 0);
    options.key = &f.key[1];
    CHECK_OK(ctx, mfpg_sum_client_create(ctx, &options, &twin));
    for (ptrdiff_t i = 0; i < SITES; i++) exchange_and_take(&f, i);
    CHECK_OK(ctx, mfpg_sum_server_ask(ctx, f.server, 0, &message));
    CHECK_OK(ctx, mfpg_sum_client_answer(ctx, twin, message.data, message.size, &answer));
    take_refused(&f, &answer,
        "'site-0' has already answered: the message was sent twice, or two sites use one identity");
    mfpg_bytes_clear(&message);
    mfpg_bytes_clear(&answer);
    CHECK_OK(ctx, mfpg_sum_server_advance(ctx, f.server, NULL));
    CHECK_OK(ctx, mfpg_sum_server_ask(ctx, f.server, 0, &message));
    assert_int_equal(mfpg_sum_client_answer(ctx, twin, message.data, message.size, &answer), MFPG_ERR_INPUT);
    mfpg_bytes_clear(&message);
    mfpg_sum_client_destroy(twin);
    end_sum(&f);
    mfpg_context_destroy(ctx);
}

static void test_late_and_uninvited_answers_are_refused(void **unused) {
    (void)unused;
    mfpg_context *ctx = testing_context(1);
    sum_fixture f;
    mfpg_bytes late = {0}, message = {0};
    begin_sum(&f, ctx, SITES + 1, THRESHOLD, 0, 13, 5);
    f.share[SITES].weight = 0.0;
    create_parties(&f);
    assert_int_equal(mfpg_sum_server_ask(ctx, f.server, SITES, &message), MFPG_ERR_INPUT);
    assert_non_null(strstr(mfpg_context_message(ctx), "is no member"));
    assert_int_equal(mfpg_sum_server_ask(ctx, f.server, -1, &message), MFPG_ERR_INPUT);
    assert_int_equal(mfpg_sum_server_ask(ctx, f.server, 400, &message), MFPG_ERR_INPUT);
    CHECK_OK(ctx, exchange(&f, 3, &late));
    late.data[7] = SITES;
    take_refused(&f, &late, "does not take part in this step");
    late.data[7] = 3;
    CHECK_OK(ctx, play(&f, (const int[]){5, 5, 5, 0, 0}, MFPG_SUM_SHARES));
    take_refused(&f, &late, "does not take part in this step");
    assert_int_equal(mfpg_sum_server_ask(ctx, f.server, 3, &message), MFPG_ERR_INPUT);
    assert_non_null(strstr(mfpg_context_message(ctx), "has dropped out"));
    mfpg_bytes_clear(&late);
    CHECK_OK(ctx, exchange(&f, 0, &late));
    exchange_and_take(&f, 1);
    exchange_and_take(&f, 2);
    CHECK_OK(ctx, mfpg_sum_server_take(ctx, f.server, late.data, late.size, NULL));
    CHECK_OK(ctx, mfpg_sum_server_advance(ctx, f.server, NULL));
    take_refused(&f, &late, "the message is of another kind (shares)");
    mfpg_bytes_clear(&late);
    end_sum(&f);
    mfpg_context_destroy(ctx);
}

/* The seal between a keyed client and the server, from the client's side of the agreement: its secrets follow from its key. */
static void reseal(sum_fixture *f, ptrdiff_t i, mfpg_bytes *answer, const unsigned char *terms) {
    static const char domain[16] = "mfpg sum root 1";
    unsigned char root[32], transport[32], open[32], seal[32], nonce[8] = {2};
    crypto_generichash_state hash;
    crypto_generichash_init(&hash, f->key[i].bytes, 32, 32);
    crypto_generichash_update(&hash, (const unsigned char *)domain, 16);
    crypto_generichash_update(&hash, answer->data + 8, 32);
    crypto_generichash_update(&hash, f->identity[i].public_key, 32);
    crypto_generichash_final(&hash, root, 32);
    crypto_stream_chacha20(transport, 32, nonce, root);
    crypto_scalarmult_base(open, transport);
    assert_int_equal(
        mfpg_sum_agree(MFPG_SUM_FOR_SEAL, answer->data + 8, transport, (mfpg_sum_party){(int)i, open},
            (mfpg_sum_party){MFPG_SUM_SERVER, terms + 40 + 32}, seal),
        1);
    mfpg_sum_seal(answer, seal);
}

/* Plays until a step, where client 1 sends one bit of its body changed, well sealed. Clients from 3 on drop out before step 2. Returns the
 * status of what was refused first. */
static mfpg_status play_with_a_liar(sum_fixture *f, int liar_step, size_t byte) {
    mfpg_bytes terms = {0};
    mfpg_status status = MFPG_OK;
    create_parties(f);
    CHECK_OK(f->ctx, mfpg_sum_server_ask(f->ctx, f->server, 0, &terms));
    for (int step = 0; step < MFPG_SUM_DONE && status == MFPG_OK; step++) {
        for (ptrdiff_t i = 0; i < f->n && status == MFPG_OK; i++) {
            mfpg_bytes answer = {0};
            if (i >= 3 && step >= MFPG_SUM_MASKED) continue;
            status = exchange(f, i, &answer);
            if (status == MFPG_OK && i == 1 && step == liar_step) {
                answer.data[MFPG_SUM_HEADER + byte] ^= 1;
                reseal(f, i, &answer, terms.data);
            }
            if (status == MFPG_OK)
                status = mfpg_sum_server_take(f->ctx, f->server, answer.data, answer.size, NULL);
            mfpg_bytes_clear(&answer);
        }
        if (status == MFPG_OK) status = mfpg_sum_server_advance(f->ctx, f->server, NULL);
    }
    mfpg_bytes_clear(&terms);
    return status;
}

/* The server neither asks nor takes nor goes on. */
static void check_over(sum_fixture *f, const char *why) {
    mfpg_bytes message = {0};
    for (int call = 0; call < 3; call++) {
        mfpg_status status =
            call == 0   ? mfpg_sum_server_ask(f->ctx, f->server, 0, &message)
            : call == 1 ? mfpg_sum_server_take(f->ctx, f->server, (const unsigned char *)"x", 1, NULL)
                        : mfpg_sum_server_advance(f->ctx, f->server, NULL);
        assert_int_equal(status, MFPG_ERR_INPUT);
        assert_non_null(strstr(mfpg_context_message(f->ctx), why));
    }
    assert_null(message.data);
}

static void check_liar(sum_fixture *f, int step, size_t byte, mfpg_status expected, const char *why) {
    int64_t sum[8];
    assert_int_equal(play_with_a_liar(f, step, byte), expected);
    if (step == MFPG_SUM_CONSISTENCY) /* the others refuse, and the server finds out why */
        assert_int_equal(mfpg_sum_server_advance(f->ctx, f->server, NULL), expected);
    if (!strstr(mfpg_context_message(f->ctx), why))
        print_error("%s: %s\n", why, mfpg_context_message(f->ctx));
    assert_non_null(strstr(mfpg_context_message(f->ctx), why));
    if (step == MFPG_SUM_OPENED) {
        assert_int_equal(mfpg_sum_server_sum(f->ctx, f->server, sum, NULL), MFPG_ERR_INPUT);
        assert_int_equal(mfpg_sum_server_advance(f->ctx, f->server, NULL), MFPG_ERR_INPUT);
        check_over(f, "this sum has failed");
    }
    destroy_parties(f);
}

/* Vectors that are far below the modulus. */
static void make_small(sum_fixture *f) {
    for (int i = 0; i < f->n; i++) f->share[i].clip = 4.0;
    for (ptrdiff_t j = 0; j < f->n * 8; j++) f->vector[j] %= 1000;
}

/* A bit of a share opens nothing: neither a key, which is compared, nor a sum, which leaves its range. */
static void test_a_client_that_lies_is_found(void **unused) {
    (void)unused;
    mfpg_context *ctx = testing_context(1);
    sum_fixture f;
    begin_sum(&f, ctx, SITES, THRESHOLD, 0, 40, 8);
    make_small(&f);
    check_liar(&f, MFPG_SUM_SHARES, 3, MFPG_ERR_INPUT, "the share of 'site-1' does not open");
    check_liar(
        &f, MFPG_SUM_CONSISTENCY, 3, MFPG_ERR_INPUT, "'site-1' did not sign the keys and sets of this sum");
    check_liar(&f, MFPG_SUM_OPENED, 3, MFPG_ERR_NUMERIC, "larger than vectors of these clips");
    check_liar(&f, MFPG_SUM_OPENED, 3 * 32 + 3, MFPG_ERR_INPUT, "those for 'site-3' do not give its key");
    check_liar(&f, MFPG_SUM_MASKED, 4, MFPG_ERR_NUMERIC, "larger than vectors of these clips");
    end_sum(&f);
    begin_sum(&f, ctx, 5, 3, 0, 40, 8); /* two drop out, and the first one's shares are wrong */
    make_small(&f);
    check_liar(&f, MFPG_SUM_OPENED, 3 * 32 + 3, MFPG_ERR_INPUT, "those for 'site-3' do not give its key");
    end_sum(&f);
    mfpg_context_destroy(ctx);
}

static void test_bits_behind_the_last_coordinate_are_refused(void **unused) {
    (void)unused;
    mfpg_context *ctx = testing_context(1);
    sum_fixture f;
    mfpg_bytes terms = {0}, answer = {0};
    begin_sum(&f, ctx, SITES, THRESHOLD, 0, 13, 5); /* 65 bits and 7 that must be 0 */
    create_parties(&f);
    CHECK_OK(ctx, mfpg_sum_server_ask(ctx, f.server, 0, &terms));
    CHECK_OK(ctx, play(&f, (const int[]){5, 5, 5, 5}, MFPG_SUM_MASKED));
    CHECK_OK(ctx, exchange(&f, 0, &answer));
    for (int bit = 1; bit < 8; bit++) {
        answer.data[MFPG_SUM_HEADER + 8] ^= (unsigned char)(1 << bit);
        reseal(&f, 0, &answer, terms.data);
        take_refused(&f, &answer, "bits behind its last coordinate");
        answer.data[MFPG_SUM_HEADER + 8] ^= (unsigned char)(1 << bit);
    }
    reseal(&f, 0, &answer, terms.data);
    CHECK_OK(ctx, mfpg_sum_server_take(ctx, f.server, answer.data, answer.size, NULL));
    mfpg_bytes_clear(&terms);
    mfpg_bytes_clear(&answer);
    end_sum(&f);
    mfpg_context_destroy(ctx);
}

/* What the caller's release returns ends the sum, and is passed on. */
static mfpg_status refuse_release(mfpg_context *ctx, void *user, const mfpg_sum_terms *terms,
    const unsigned char *members, int64_t *vector) {
    (void)ctx, (void)user, (void)terms, (void)members, (void)vector;
    return MFPG_ERR_DOMAIN;
}

static void test_a_refused_release_ends_the_sum(void **unused) {
    (void)unused;
    mfpg_context *ctx = testing_context(1);
    sum_fixture f;
    mfpg_bytes answer = {0};
    begin_sum(&f, ctx, SITES, THRESHOLD, 0, 13, 5);
    create_parties(&f);
    mfpg_sum_client_options options = options_of(&f, 0);
    options.release = refuse_release;
    mfpg_sum_client_destroy(f.client[0]);
    CHECK_OK(ctx, mfpg_sum_client_create(ctx, &options, &f.client[0]));
    CHECK_OK(ctx, play(&f, (const int[]){5, 5, 5, 5}, MFPG_SUM_MASKED));
    assert_int_equal(exchange(&f, 0, &answer), MFPG_ERR_DOMAIN);
    assert_null(answer.data);
    assert_int_equal(exchange(&f, 0, &answer), MFPG_ERR_INPUT);
    for (ptrdiff_t i = 1; i < SITES; i++) exchange_and_take(&f, i);
    CHECK_OK(ctx, mfpg_sum_server_advance(ctx, f.server, NULL)); /* the others go on */
    for (int step = MFPG_SUM_CONSISTENCY; step < MFPG_SUM_DONE; step++) {
        for (ptrdiff_t i = 1; i < SITES; i++) exchange_and_take(&f, i);
        CHECK_OK(ctx, mfpg_sum_server_advance(ctx, f.server, NULL));
    }
    check_sum(&f, (const int[]){2, 5, 5, 5});
    check_over(&f, "this sum is done");
    end_sum(&f);
    mfpg_context_destroy(ctx);
}

static void test_a_client_must_be_in_the_roster(void **unused) {
    (void)unused;
    mfpg_context *ctx = testing_context(1);
    sum_fixture f;
    mfpg_identity stranger;
    mfpg_sum_client *out = NULL;
    begin_sum(&f, ctx, SITES, THRESHOLD, 0, 13, 5);
    mfpg_sum_client_options options = options_of(&f, 0);
    CHECK_OK(ctx, mfpg_identity_create(ctx, &stranger));
    options.identity = &stranger;
    assert_int_equal(mfpg_sum_client_create(ctx, &options, &out), MFPG_ERR_INPUT);
    assert_non_null(strstr(mfpg_context_message(ctx), "not in the roster"));
    options = options_of(&f, 0);
    options.release = NULL;
    assert_int_equal(mfpg_sum_client_create(ctx, &options, &out), MFPG_ERR_INPUT);
    assert_null(out);
    end_sum(&f);
    mfpg_context_destroy(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_no_changed_message_is_taken),
        cmocka_unit_test(test_a_changed_state_is_refused), cmocka_unit_test(test_an_end_stays_an_end),
        cmocka_unit_test(test_two_sites_with_one_identity),
        cmocka_unit_test(test_late_and_uninvited_answers_are_refused),
        cmocka_unit_test(test_a_client_that_lies_is_found),
        cmocka_unit_test(test_bits_behind_the_last_coordinate_are_refused),
        cmocka_unit_test(test_a_refused_release_ends_the_sum),
        cmocka_unit_test(test_a_client_must_be_in_the_roster)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
