#include "fixture.h"

/* Whole sums of all sizes, and what the server sees of them. */

static void test_all_widths_and_bits_give_the_sum(void **state) {
    (void)state;
    mfpg_context *ctx = testing_context(1);
    const int last[5] = {5, 2, 5, 5, 5};
    for (int bits = 2; bits <= 64; bits++) {
        sum_fixture f;
        begin_sum(&f, ctx, 5, 3, 0, bits, 700 + bits);
        play_and_check(&f, last);
        end_sum(&f);
    }
    mfpg_context_destroy(ctx);
}

static void test_a_restored_client_goes_on(void **state) {
    (void)state;
    mfpg_context *ctx = testing_context(1);
    sum_fixture f;
    const int last[4] = {5, 5, 2, 5};
    begin_sum(&f, ctx, 4, 3, 0, 20, 33);
    f.restores = 1;
    play_and_check(&f, last);
    end_sum(&f);
    mfpg_context_destroy(ctx);
}

static void test_random_sums(void **state) {
    (void)state;
    mfpg_context *ctx = testing_context(1);
    const mfpg_key key = mfpg_key_from_seed(testing_seed());
    const mfpg_stream stream = mfpg_stream_open(&key, MFPG_PURPOSE_TEST, 0, 0);
    print_message("seed %llu\n", (unsigned long long)testing_seed());
    for (uint64_t run = 0; run < (uint64_t)testing_repeats(1000); run++) {
        sum_fixture f;
        double u[32];
        int last[8], members = 0;
        mfpg_stream_uniform(&stream, 32 * run, 32, u);
        begin_sum(&f, ctx, 3 + (ptrdiff_t)(6 * u[0]), 3, 0, 2 + (int)(63 * u[1]), 1 + (ptrdiff_t)(40 * u[2]));
        for (ptrdiff_t i = 0; i < f.n; i++) {
            if (i > 2 && u[8 + i] < 0.2) f.share[i].weight = 0.0;
            members += f.share[i].weight > 0.0;
            last[i] = u[16 + i] < 0.75 ? MFPG_SUM_DONE : (int)(MFPG_SUM_DONE * u[24 + i]);
        }
        f.terms.colluders = (int)((members - 1) * u[3] * u[4]);
        const int least = (members + f.terms.colluders) / 2 + 1;
        f.terms.threshold = least + (int)((members - least + 1) * u[5] * u[6]);
        f.restores = u[7] < 0.25;
        play_and_check(&f, last);
        end_sum(&f);
    }
    mfpg_context_destroy(ctx);
}

/* ---- what the server sees ---- */

static mfpg_bytes masked_vector(sum_fixture *f, int is_keyed) {
    mfpg_bytes answer = {0};
    create_parties(f);
    if (!is_keyed) {
        mfpg_sum_client_options options = options_of(f, 0);
        options.key = NULL;
        mfpg_sum_client_destroy(f->client[0]);
        CHECK_OK(f->ctx, mfpg_sum_client_create(f->ctx, &options, &f->client[0]));
    }
    const int last[3] = {5, 5, 5};
    CHECK_OK(f->ctx, play(f, last, MFPG_SUM_MASKED));
    CHECK_OK(f->ctx, exchange(f, 0, &answer));
    destroy_parties(f);
    return answer;
}

/* A vector of zeros: its bytes are those of the masks alone. The sum of squares over the expectation has mean 255 and standard
 * deviation 22.6. */
static void test_masked_vectors_are_uniform(void **state) {
    (void)state;
    mfpg_context *ctx = testing_context(1);
    static const int bits[] = {16, 18, 32, 64};
    for (int k = 0; k < 4; k++) {
        sum_fixture f;
        double count[256] = {0}, square = 0.0;
        begin_sum(&f, ctx, 3, 2, 0, bits[k], 100000);
        memset(f.vector, 0, (size_t)(f.n * f.dimension) * sizeof *f.vector);
        mfpg_bytes message = masked_vector(&f, 0);
        const size_t size = (size_t)f.dimension * (size_t)bits[k] / 8;
        for (size_t i = 0; i < size; i++) count[message.data[40 + i]] += 1.0;
        for (int v = 0; v < 256; v++)
            square += (count[v] - (double)size / 256) * (count[v] - (double)size / 256);
        square /= (double)size / 256;
        if (square > 400.0) print_error("%d bits: chi-square %g\n", bits[k], square);
        assert_true(square < 400.0);
        mfpg_bytes_clear(&message);
        end_sum(&f);
    }
    mfpg_context_destroy(ctx);
}

/* Bytes of two messages that agree, behind their headers. */
static double share_of_equal_bytes(const mfpg_bytes *a, const mfpg_bytes *b) {
    double equal = 0.0;
    assert_int_equal(a->size, b->size);
    for (size_t i = 8; i < a->size; i++) equal += a->data[i] == b->data[i];
    return equal / (double)(a->size - 8);
}

/* Neither of two runs with secrets from the system, nor of two with the same key: the server's key is another. */
static void test_two_runs_share_nothing(void **state) {
    (void)state;
    mfpg_context *ctx = testing_context(1);
    sum_fixture f;
    begin_sum(&f, ctx, 3, 2, 0, 16, 10000);
    for (int is_keyed = 0; is_keyed < 2; is_keyed++) {
        mfpg_bytes a = masked_vector(&f, is_keyed), b = masked_vector(&f, is_keyed);
        check_near(share_of_equal_bytes(&a, &b), 1.0 / 256, 0.0, 0.003, "equal bytes");
        mfpg_bytes_clear(&a);
        mfpg_bytes_clear(&b);
    }
    end_sum(&f);
    mfpg_context_destroy(ctx);
}

/* The same terms, answered twice by a site whose secrets come from the system. */
static void test_secrets_of_the_system_are_new_every_time(void **state) {
    (void)state;
    mfpg_context *ctx = testing_context(1);
    sum_fixture f;
    mfpg_bytes message = {0}, answer[2] = {{0}};
    begin_sum(&f, ctx, 3, 2, 0, 16, 10);
    create_parties(&f);
    CHECK_OK(ctx, mfpg_sum_server_ask(ctx, f.server, 0, &message));
    for (int k = 0; k < 2; k++) {
        mfpg_sum_client_options options = options_of(&f, 0);
        mfpg_sum_client *client = NULL;
        options.key = NULL;
        CHECK_OK(ctx, mfpg_sum_client_create(ctx, &options, &client));
        CHECK_OK(ctx, mfpg_sum_client_answer(ctx, client, message.data, message.size, &answer[k]));
        mfpg_sum_client_destroy(client);
    }
    assert_memory_equal(answer[0].data, answer[1].data, 40);
    for (size_t at = 40; at < answer[0].size; at += 32) /* both keys and the signature */
        assert_memory_not_equal(answer[0].data + at, answer[1].data + at, 32);
    for (int k = 0; k < 2; k++) mfpg_bytes_clear(&answer[k]);
    mfpg_bytes_clear(&message);
    end_sum(&f);
    mfpg_context_destroy(ctx);
}

/* A demanded weight below 0 accepts any weight above 0. */
static void test_a_client_may_accept_any_weight(void **state) {
    (void)state;
    mfpg_context *ctx = testing_context(1);
    for (int is_member = 0; is_member < 2; is_member++) {
        sum_fixture f;
        mfpg_bytes message = {0}, answer = {0};
        begin_sum(&f, ctx, 4, 3, 0, 16, 10);
        create_parties(&f);
        mfpg_sum_server_destroy(f.server);
        f.share[0].weight = is_member ? 0.125 : 0.0;
        CHECK_OK(ctx, mfpg_sum_server_create(ctx, &f.roster, &f.terms, &f.server));
        mfpg_sum_client_options options = options_of(&f, 0);
        options.own.weight = -1.0;
        mfpg_sum_client_destroy(f.client[0]);
        CHECK_OK(ctx, mfpg_sum_client_create(ctx, &options, &f.client[0]));
        CHECK_OK(ctx, mfpg_sum_server_ask(ctx, f.server, 1, &message));
        message.data[7] = 0; /* the same terms, for client 0 */
        mfpg_status status = mfpg_sum_client_answer(ctx, f.client[0], message.data, message.size, &answer);
        assert_int_equal(status, is_member ? MFPG_OK : MFPG_ERR_INPUT);
        if (!is_member)
            assert_string_equal(mfpg_context_message(ctx), "terms: this site has weight 0 in them");
        mfpg_bytes_clear(&message);
        mfpg_bytes_clear(&answer);
        end_sum(&f);
    }
    mfpg_context_destroy(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_all_widths_and_bits_give_the_sum),
        cmocka_unit_test(test_a_restored_client_goes_on), cmocka_unit_test(test_random_sums),
        cmocka_unit_test(test_masked_vectors_are_uniform), cmocka_unit_test(test_two_runs_share_nothing),
        cmocka_unit_test(test_secrets_of_the_system_are_new_every_time),
        cmocka_unit_test(test_a_client_may_accept_any_weight)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
