/* All messages of a sum with fixed keys, as a file of their hashes: other bytes are another version of the protocol. */
#include "fixture.h"

#include <unistd.h>

/* Stands for that of the C library: the server's key is the same in every run. */
int getentropy(void *buffer, size_t size) {
    memset(buffer, 42, size);
    return 0;
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

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_a_sum_with_fixed_keys_gives_the_same_messages)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
