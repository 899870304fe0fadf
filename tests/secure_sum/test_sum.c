#include "fixture.h"

/* Whole sums, with clients that drop out at any step: the sum is right or there is none. */

static void play_and_check(sum_fixture *f, const int *last) {
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

/* Every client stops after any number of answers. */
static void test_all_dropouts_at_all_steps(void **state) {
    (void)state;
    mfpg_context *ctx = testing_context(1);
    for (ptrdiff_t n = 3; n <= 5; n += 2) {
        sum_fixture f;
        long cases = 1;
        begin_sum(&f, ctx, n, (int)n / 2 + 1, 0, 16, 3);
        for (ptrdiff_t i = 0; i < n; i++) cases *= MFPG_SUM_DONE + 1;
        for (long c = 0; c < cases; c++) {
            int last[5];
            long rest = c;
            for (ptrdiff_t i = 0; i < n; i++, rest /= MFPG_SUM_DONE + 1)
                last[i] = (int)(rest % (MFPG_SUM_DONE + 1));
            play_and_check(&f, last);
        }
        end_sum(&f);
    }
    mfpg_context_destroy(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_all_widths_and_bits_give_the_sum),
        cmocka_unit_test(test_a_restored_client_goes_on), cmocka_unit_test(test_all_dropouts_at_all_steps)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
