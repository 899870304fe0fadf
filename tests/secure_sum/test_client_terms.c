/* What a client tells of its sum while it holds one: its terms, and the survivors once the server has named them. */
#include "testing.h"

#include "mfpg/secure_sum.h"

enum { SITES = 3, DIMENSION = 4 };

static mfpg_status give_zeros(mfpg_context *ctx, void *user, const mfpg_sum_terms *terms,
    const unsigned char *members, int64_t *vector) {
    (void)ctx;
    (void)user;
    (void)members;
    memset(vector, 0, (size_t)terms->dimension * sizeof *vector);
    return MFPG_OK;
}

static void read_roster(mfpg_context *ctx, mfpg_identity *identity, mfpg_roster *roster) {
    char text[SITES * 80] = "";
    for (int i = 0; i < SITES; i++) {
        CHECK_OK(ctx, mfpg_identity_create(ctx, &identity[i]));
        sprintf(text + strlen(text), "site-%d ", i);
        for (int j = 0; j < 32; j++) sprintf(text + strlen(text), "%02x", identity[i].public_key[j]);
        strcat(text, "\n");
    }
    CHECK_OK(ctx, mfpg_roster_read(ctx, text, strlen(text), "roster", roster));
}

/* Only before its first answer and after its last a client has no terms; site 2 drops out before its vector. */
static void test_terms_and_survivors_are_those_of_the_sum(void **state) {
    (void)state;
    mfpg_context *ctx = testing_context(1);
    mfpg_identity identity[SITES];
    mfpg_roster roster;
    mfpg_sum_client *client[SITES];
    mfpg_sum_server *server;
    const mfpg_sum_share share = {0.25, 8.0, 1.0}, shares[SITES] = {share, share, share};
    const mfpg_sum_terms terms = {.run = {7},
        .round = 3,
        .attempt = 2,
        .threshold = 2,
        .bits = 16,
        .dimension = DIMENSION,
        .grid = 0.0625,
        .share = shares};
    unsigned char survivors[SITES] = {9, 9, 9};
    read_roster(ctx, identity, &roster);
    CHECK_OK(ctx, mfpg_sum_server_create(ctx, &roster, &terms, &server));
    for (int i = 0; i < SITES; i++) {
        const mfpg_sum_client_options options = {
            .roster = &roster, .identity = &identity[i], .threshold = 2, .own = share, .release = give_zeros};
        CHECK_OK(ctx, mfpg_sum_client_create(ctx, &options, &client[i]));
    }
    assert_null(mfpg_sum_client_terms(client[0], survivors));
    for (int step = 0; step < MFPG_SUM_DONE; step++) {
        for (int i = 0; i < (step < MFPG_SUM_MASKED ? SITES : 2); i++) {
            mfpg_bytes asked, answer;
            CHECK_OK(ctx, mfpg_sum_server_ask(ctx, server, i, &asked));
            CHECK_OK(ctx, mfpg_sum_client_answer(ctx, client[i], asked.data, asked.size, &answer));
            CHECK_OK(ctx, mfpg_sum_server_take(ctx, server, answer.data, answer.size, NULL));
            mfpg_bytes_clear(&asked);
            mfpg_bytes_clear(&answer);
        }
        CHECK_OK(ctx, mfpg_sum_server_advance(ctx, server, NULL));
        const mfpg_sum_terms *told = mfpg_sum_client_terms(client[0], survivors);
        int named = step == MFPG_SUM_CONSISTENCY;
        assert_int_equal(told != NULL, step < MFPG_SUM_OPENED);
        assert_true(survivors[0] == named && survivors[1] == named && survivors[2] == 0);
        if (!told) continue;
        assert_true(
            told->round == 3 && told->attempt == 2 && told->run[0] == 7 && told->dimension == DIMENSION);
        assert_memory_equal(told->share, shares, sizeof shares);
        assert_ptr_equal(mfpg_sum_client_terms(client[0], NULL), told);
    }
    for (int i = 0; i < SITES; i++) mfpg_sum_client_destroy(client[i]);
    mfpg_sum_server_destroy(server);
    mfpg_roster_clear(&roster);
    mfpg_context_destroy(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_terms_and_survivors_are_those_of_the_sum),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
