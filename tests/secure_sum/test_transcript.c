/* All messages of a sum with fixed keys, as a file of their hashes: other bytes are another version of the protocol. And a
 * system without randomness. */
#include "fixture.h"

#include <unistd.h>

static int has_entropy = 1;

/* Replaces that of the C library: the server's key is the same in every run, or there is none. */
int getentropy(void *buffer, size_t size) {
    memset(buffer, 42, size);
    return has_entropy ? 0 : -1;
}

static void write_line(
    char *text, size_t room, int step, const char *who, ptrdiff_t client, const mfpg_bytes *message) {
    unsigned char hash[32];
    char digits[65];
    crypto_hash_sha256(hash, message->data, message->size);
    sodium_bin2hex(digits, sizeof digits, hash, sizeof hash);
    const size_t used = strlen(text);
    snprintf(text + used, room - used, "%d %s %td %zu %s\n", step, who, client, message->size, digits);
}

/* Four clients of the five on the roster; the last of them drops out after its shares. */
static void write_transcript(sum_fixture *f, char *text, size_t room) {
    create_parties(f);
    for (int step = 0; step < MFPG_SUM_DONE; step++) {
        for (ptrdiff_t i = 0; i < (step < 2 ? 4 : 3); i++) {
            mfpg_bytes message = {0}, answer = {0};
            CHECK_OK(f->ctx, mfpg_sum_server_ask(f->ctx, f->server, i, &message));
            CHECK_OK(
                f->ctx, mfpg_sum_client_answer(f->ctx, f->client[i], message.data, message.size, &answer));
            write_line(text, room, step, "server", i, &message);
            write_line(text, room, step, "client", i, &answer);
            CHECK_OK(f->ctx, mfpg_sum_server_take(f->ctx, f->server, answer.data, answer.size, NULL));
            mfpg_bytes_clear(&message);
            mfpg_bytes_clear(&answer);
        }
        CHECK_OK(f->ctx, mfpg_sum_server_advance(f->ctx, f->server, NULL));
    }
    check_sum(f, (const int[]){5, 5, 5, 2, 0});
    destroy_parties(f);
}

static void test_a_sum_with_fixed_keys_gives_the_same_messages(void **state) {
    (void)state;
    mfpg_context *ctx = testing_context(1);
    static char text[8192], expected[8192];
    sum_fixture f;
    begin_sum(&f, ctx, 5, 3, 1, 20, 9);
    f.share[4].weight = 0.0;
    write_transcript(&f, text, sizeof text);
    FILE *file = fopen(MFPG_TESTS_DIR "/secure_sum/transcript.txt", "r");
    const size_t size = file ? fread(expected, 1, sizeof expected - 1, file) : 0;
    if (file) fclose(file);
    if (strlen(text) != size || memcmp(text, expected, size) != 0)
        fprintf(stderr, "tests/secure_sum/transcript.txt has other messages than:\n%s", text);
    assert_int_equal(size, strlen(text));
    assert_memory_equal(text, expected, size);
    end_sum(&f);
    mfpg_context_destroy(ctx);
}

static void test_nothing_begins_without_randomness(void **state) {
    (void)state;
    mfpg_context *ctx = testing_context(1);
    sum_fixture f;
    mfpg_identity identity;
    mfpg_sum_server *server = NULL;
    mfpg_bytes message = {0}, answer = {0};
    begin_sum(&f, ctx, 3, 2, 0, 16, 4);
    create_parties(&f);
    mfpg_sum_client_options options = options_of(&f, 0);
    options.key = NULL;
    mfpg_sum_client_destroy(f.client[0]);
    CHECK_OK(ctx, mfpg_sum_client_create(ctx, &options, &f.client[0]));
    CHECK_OK(ctx, mfpg_sum_server_ask(ctx, f.server, 0, &message));
    has_entropy = 0;
    assert_int_equal(mfpg_identity_create(ctx, &identity), MFPG_ERR_IO);
    assert_int_equal(mfpg_sum_server_create(ctx, &f.roster, &f.terms, &server), MFPG_ERR_IO);
    assert_null(server);
    assert_int_equal(mfpg_sum_client_save(ctx, f.client[0], &answer), MFPG_ERR_IO);
    assert_int_equal(
        mfpg_sum_client_answer(ctx, f.client[0], message.data, message.size, &answer), MFPG_ERR_IO);
    assert_string_equal(mfpg_context_message(ctx), "the system provides no randomness");
    assert_null(answer.data);
    has_entropy = 1;
    mfpg_bytes_clear(&message);
    end_sum(&f);
    mfpg_context_destroy(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_a_sum_with_fixed_keys_gives_the_same_messages),
        cmocka_unit_test(test_nothing_begins_without_randomness)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
