/* What is left in memory: nothing where an allocation fails, and no secret in what is freed or in a client whose sum is over. */
#include "failing_memory.h"

#include "fixture.h"

#include <malloc.h>

#include "secure_sum/agreement.h"

/* ---- secrets ---- */

static const unsigned char *wanted[8]; /* 32 bytes each */
static size_t wanted_count;
static long freed;

static int holds_secret(const void *block, size_t size) {
    for (size_t k = 0; k < wanted_count; k++)
        if (memmem(block, size, wanted[k], 16)) return 1;
    return 0;
}

#if !TESTING_SANITIZED && defined __GLIBC__
/* Replaces that of the C library, and looks at what is given back. */
void __libc_free(void *block);
void free(void *block) {
    if (block && wanted_count > 0) {
        freed++;
        if (holds_secret(block, malloc_usable_size(block))) {
            wanted_count = 0;
            print_error("a block was freed with a secret in it\n");
            abort();
        }
    }
    __libc_free(block);
}
enum { CAN_LOOK = 1 };
#else
enum { CAN_LOOK = 0 };
#endif

/* What calls have left on the stack below this one. */
static __attribute__((noinline)) int stack_holds_secret(void) {
    unsigned char residue[48 * 1024];
    __asm__ volatile("" : "=m"(residue)); /* is not set, and read all the same */
    return holds_secret(residue, sizeof residue);
}

typedef struct secrets {
    unsigned char root[32], coefficients[64], transport[32], vector[32];
} secrets;

/* The secrets of a keyed client, as client.c derives them from its key and the context. */
static void find_secrets(const sum_fixture *f, ptrdiff_t i, const unsigned char context[32], secrets *out) {
    static const char domain[16] = "mfpg sum root 1";
    unsigned char nonce[8] = {1};
    crypto_generichash_state hash;
    crypto_generichash_init(&hash, f->key[i].bytes, 32, 32);
    crypto_generichash_update(&hash, (const unsigned char *)domain, 16);
    crypto_generichash_update(&hash, context, 32);
    crypto_generichash_update(&hash, f->identity[i].public_key, 32);
    crypto_generichash_final(&hash, out->root, 32);
    crypto_stream_chacha20(out->coefficients, 64, nonce, out->root);
    nonce[0] = 2;
    crypto_stream_chacha20(out->transport, 32, nonce, out->root);
    memcpy(out->vector, f->vector + i * f->dimension, 32);
}

static void look_for(const sum_fixture *f, ptrdiff_t i, const secrets *of) {
    wanted[0] = of->root;
    wanted[1] = of->coefficients;
    wanted[2] = of->coefficients + 32;
    wanted[3] = of->transport;
    wanted[4] = of->vector;
    wanted[5] = f->key[i].bytes;
    wanted[6] = f->identity[i].secret_key;
    wanted_count = 7;
}

/* Client 0's sum ends at a step: by a message that it refuses, or, after the last one, by itself. */
static void check_wiped(sum_fixture *f, int last_step, int is_failure) {
    mfpg_bytes message = {0}, answer = {0};
    secrets of;
    create_parties(f);
    CHECK_OK(f->ctx, mfpg_sum_server_ask(f->ctx, f->server, 0, &message));
    find_secrets(f, 0, message.data + 8, &of);
    mfpg_bytes_clear(&message);
    const int last[4] = {5, 5, 5, 5};
    CHECK_OK(f->ctx, play(f, last, (mfpg_sum_step)last_step));
    CHECK_OK(f->ctx, mfpg_sum_server_ask(f->ctx, f->server, 0, &message));
    if (is_failure) message.data[message.size - 1] ^= 1;
    if (last_step > 0) /* the key went with the first answer, when the secrets were drawn from it */
        assert_null(memmem(f->client[0], malloc_usable_size(f->client[0]), f->key[0].bytes, 32));
    look_for(f, 0, &of);
    assert_true(holds_secret(f->client[0], malloc_usable_size(f->client[0])));
    freed = 0;
    sodium_stackzero(128 * 1024); /* what this test computed */
    mfpg_status status = mfpg_sum_client_answer(f->ctx, f->client[0], message.data, message.size, &answer);
    if (CAN_LOOK) assert_false(stack_holds_secret());
    assert_int_equal(status == MFPG_OK, !is_failure);
    if (is_failure || last_step == MFPG_SUM_OPENED)
        assert_false(holds_secret(f->client[0], malloc_usable_size(f->client[0])));
    mfpg_sum_client_destroy(f->client[0]);
    f->client[0] = NULL;
    if (CAN_LOOK) assert_true(freed > 0);
    wanted_count = 0;
    mfpg_bytes_clear(&message);
    mfpg_bytes_clear(&answer);
    destroy_parties(f);
}

static void test_no_secret_survives_the_end(void **state) {
    (void)state;
    mfpg_context *ctx = testing_context(1);
    sum_fixture f;
    begin_sum(&f, ctx, 4, 3, 0, 64, 9);
    for (int step = 0; step < MFPG_SUM_DONE; step++)
        for (int is_failure = 0; is_failure < 2; is_failure++) check_wiped(&f, step, is_failure);
    end_sum(&f);
    mfpg_context_destroy(ctx);
}

/* The server frees neither a mask's seed nor a key that it rebuilt, nor the shares. */
static void test_the_server_forgets_what_was_opened(void **state) {
    (void)state;
    mfpg_context *ctx = testing_context(1);
    sum_fixture f;
    mfpg_bytes message = {0};
    secrets survivor, dropout;
    begin_sum(&f, ctx, 4, 3, 0, 64, 9);
    create_parties(&f);
    CHECK_OK(ctx, mfpg_sum_server_ask(ctx, f.server, 0, &message));
    find_secrets(&f, 0, message.data + 8, &survivor);
    find_secrets(&f, 3, message.data + 8, &dropout);
    mfpg_bytes_clear(&message);
    CHECK_OK(ctx, play(&f, (const int[]){5, 5, 5, 2}, MFPG_SUM_OPENED));
    unsigned char share[32];
    CHECK_OK(ctx, exchange(&f, 0, &message));
    CHECK_OK(ctx, mfpg_sum_server_take(ctx, f.server, message.data, message.size, NULL));
    memcpy(share, message.data + 40, sizeof share);
    mfpg_bytes_clear(&message);
    exchange_and_take(&f, 1);
    exchange_and_take(&f, 2);
    wanted[0] = survivor.coefficients + 32;
    wanted[1] = dropout.coefficients;
    wanted[2] = share;
    wanted_count = 3;
    freed = 0;
    CHECK_OK(ctx, mfpg_sum_server_advance(ctx, f.server, NULL));
    message = (mfpg_bytes){malloc(32), 32};
    assert_non_null(message.data);
    memcpy(message.data, share, 32);
    mfpg_bytes_clear(&message);
    check_sum(&f, (const int[]){5, 5, 5, 2});
    destroy_parties(&f);
    if (CAN_LOOK) assert_true(freed > 2);
    wanted_count = 0;
    end_sum(&f);
    mfpg_context_destroy(ctx);
}

/* ---- allocations that fail ---- */

static mfpg_status play_all(void *arg) {
    sum_fixture *f = arg;
    mfpg_bytes message = {0}, answer = {0}, saved = {0};
    mfpg_status status = mfpg_sum_server_create(f->ctx, &f->roster, &f->terms, &f->server);
    if (status != MFPG_OK) assert_null(f->server);
    for (ptrdiff_t i = 0; i < f->n && status == MFPG_OK; i++) {
        const mfpg_sum_client_options options = options_of(f, i);
        status = mfpg_sum_client_create(f->ctx, &options, &f->client[i]);
    }
    for (int step = 0; step < MFPG_SUM_DONE && status == MFPG_OK; step++) {
        for (ptrdiff_t i = 0; i < (step < 2 ? f->n : 3) && status == MFPG_OK; i++) {
            const int before = f->released[i];
            const mfpg_sum_client_options options = options_of(f, i);
            status = mfpg_sum_client_save(f->ctx, f->client[i], &saved);
            mfpg_sum_client_destroy(f->client[i]);
            f->client[i] = NULL;
            if (status == MFPG_OK)
                status = mfpg_sum_client_restore(f->ctx, &options, saved.data, saved.size, &f->client[i]);
            mfpg_bytes_clear(&saved);
            if (status == MFPG_OK) status = mfpg_sum_server_ask(f->ctx, f->server, i, &message);
            if (status != MFPG_OK) break;
            status = mfpg_sum_client_answer(f->ctx, f->client[i], message.data, message.size, &answer);
            if (status != MFPG_OK) {
                assert_null(answer.data);
                assert_int_equal(f->released[i], before); /* nothing is charged that does not leave */
            } else
                status = mfpg_sum_server_take(f->ctx, f->server, answer.data, answer.size, NULL);
            mfpg_bytes_clear(&message);
            mfpg_bytes_clear(&answer);
        }
        if (status == MFPG_OK) status = mfpg_sum_server_advance(f->ctx, f->server, NULL);
    }
    if (status == MFPG_OK) check_sum(f, (const int[]){5, 5, 5, 2});
    destroy_parties(f);
    return status;
}

static void test_failing_allocations_leave_nothing(void **state) {
    (void)state;
    mfpg_context *ctx = testing_context(1);
    sum_fixture f;
    begin_sum(&f, ctx, 4, 3, 0, 20, 5);
    memset(f.released, 0, sizeof f.released);
    assert_true(sweep_allocations(play_all, &f) > 40);
    end_sum(&f);
    mfpg_context_destroy(ctx);
}

/* An advance that ran out of memory may be repeated. */
static void test_an_advance_without_memory_can_be_repeated(void **state) {
    (void)state;
    mfpg_context *ctx = testing_context(1);
    sum_fixture f;
    begin_sum(&f, ctx, 4, 3, 0, 20, 5);
    create_parties(&f);
    for (int step = 0; step < MFPG_SUM_DONE; step++) {
        for (ptrdiff_t i = 0; i < (step < 2 ? 4 : 3); i++) exchange_and_take(&f, i);
        for (long k = 0;; k++) {
            begin_failing(k, 1);
            mfpg_status status = mfpg_sum_server_advance(ctx, f.server, NULL);
            if (!end_failing()) {
                assert_int_equal(status, MFPG_OK);
                break;
            }
            assert_int_equal(status, MFPG_ERR_MEMORY);
        }
    }
    check_sum(&f, (const int[]){5, 5, 5, 2});
    end_sum(&f);
    mfpg_context_destroy(ctx);
}

static char roster_text[4096];

static mfpg_status read_roster(void *arg) {
    mfpg_roster roster = {0};
    mfpg_status status = mfpg_roster_read(arg, roster_text, strlen(roster_text), "roster", &roster);
    if (status == MFPG_OK) assert_int_equal(roster.count, 3);
    mfpg_roster_clear(&roster);
    return status;
}

static void test_a_roster_without_memory(void **state) {
    (void)state;
    mfpg_context *ctx = testing_context(1);
    sum_fixture f;
    begin_sum(&f, ctx, 3, 2, 0, 20, 5);
    for (int i = 0; i < 3; i++) {
        char digits[65];
        sodium_bin2hex(digits, sizeof digits, f.identity[i].public_key, 32);
        sprintf(roster_text + strlen(roster_text), "s%d %s\n", i, digits);
    }
    assert_true(sweep_allocations(read_roster, ctx) > 0);
    end_sum(&f);
    mfpg_context_destroy(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_no_secret_survives_the_end),
        cmocka_unit_test(test_the_server_forgets_what_was_opened),
        cmocka_unit_test(test_failing_allocations_leave_nothing),
        cmocka_unit_test(test_an_advance_without_memory_can_be_repeated),
        cmocka_unit_test(test_a_roster_without_memory)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
