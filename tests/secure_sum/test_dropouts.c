#include "fixture.h"

/* Clients drop out at any step: the sum is right or there is none. */

/* Cases that differ only after the step that fails are one. */
static int is_first_of_its_kind(const sum_fixture *f, const int *last) {
    int failing = 0;
    if (suffices(f, last, &failing)) return 1;
    for (ptrdiff_t i = 0; i < f->n; i++)
        if (last[i] > failing + 1) return 0;
    return 1;
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
            if (is_first_of_its_kind(&f, last)) play_and_check(&f, last);
        }
        end_sum(&f);
    }
    mfpg_context_destroy(ctx);
}

/* Eight clients, two of whom may be the server's: every set drops out at every one step. */
static void test_every_set_of_eight_drops_out_at_every_step(void **state) {
    (void)state;
    mfpg_context *ctx = testing_context(1);
    sum_fixture f;
    begin_sum(&f, ctx, 8, 6, 2, 17, 4);
    for (int step = 0; step < MFPG_SUM_DONE; step++)
        for (int set = 0; set < 256; set++) {
            int last[8];
            if (__builtin_popcount((unsigned)set) > 3)
                continue; /* two fewer than the threshold are as one fewer */
            for (int i = 0; i < 8; i++) last[i] = set >> i & 1 ? step : MFPG_SUM_DONE;
            play_and_check(&f, last);
        }
    end_sum(&f);
    mfpg_context_destroy(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_all_dropouts_at_all_steps),
        cmocka_unit_test(test_every_set_of_eight_drops_out_at_every_step)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
