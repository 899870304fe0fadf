#include "accountants/fixture.h"

#include "accountants/sampled/sampled_steps.h"

static void test_equal_kinds_share_a_count(void **state) {
    (void)state;
    sampled_steps steps = {0};
    for (int i = 0; i < 1000; i++) {
        assert_true(sampled_steps_add(&steps, 0.25, 1.5, 2));
        assert_true(sampled_steps_add(&steps, 0.125, 1.5, 1));
    }
    assert_int_equal(steps.used, 2);
    assert_true(steps.kind[0].rate == 0.125 && steps.kind[0].reach == 1.5 && steps.kind[0].count == 1000);
    assert_true(steps.kind[1].rate == 0.25 && steps.kind[1].reach == 1.5 && steps.kind[1].count == 2000);
    assert_true(!sampled_steps_add(&steps, 0.25, 1.5, INT64_MAX - 1)); /* more than can be counted */
    sampled_steps_clear(&steps);
    assert_int_equal(steps.used, 0);
}

/* However many kinds and however far apart: at most 64 are kept, each step under one that reveals no less, and the list
 * is that of any other order. */
static void test_coarser_grids_cover_and_forget_the_order(void **state) {
    (void)state;
    enum { ADDED = 500 };
    uint64_t random = announced_seed();
    for (int run = 0; run < testing_repeats(20); run++) {
        double rate[ADDED], reach[ADDED], wide = run % 2 ? 1e-300 : 0.5;
        sampled_steps forward = {0}, backward = {0}, copy = {0};
        for (int i = 0; i < ADDED; i++) {
            rate[i] = random_scale(&random, fmax(wide, 1e-12), 0.999);
            reach[i] = random_scale(&random, wide, 1 / wide);
            assert_true(sampled_steps_add(&forward, rate[i], reach[i], 1 + i));
        }
        for (int i = ADDED - 1; i >= 0; i--)
            assert_true(sampled_steps_add(&backward, rate[i], reach[i], 1 + i));
        assert_true(forward.used <= SAMPLED_STEPS_MOST && forward.used > 1);
        assert_int_equal(forward.used, backward.used);
        int64_t count = 0;
        for (int k = 0; k < forward.used; k++) {
            assert_memory_equal(&forward.kind[k], &backward.kind[k], sizeof(sampled_step));
            count += forward.kind[k].count;
        }
        assert_true(count == ADDED * (ADDED + 1) / 2);
        for (int i = 0; i < ADDED; i++) { /* the next kind on the grid is there */
            int above = 0;
            for (int k = 0; k < forward.used; k++)
                above |= forward.kind[k].rate >= rate[i] && forward.kind[k].reach >= reach[i];
            assert_true(above);
        }
        assert_true(sampled_steps_copy(&forward, &copy));
        assert_true(sampled_steps_cover(&copy, &backward) && sampled_steps_cover(&backward, &copy));
        assert_true(sampled_steps_add(&copy, rate[0], reach[0], 1));
        assert_true(sampled_steps_cover(&copy, &forward) && !sampled_steps_cover(&forward, &copy));
        sampled_steps_clear(&forward);
        sampled_steps_clear(&backward);
        sampled_steps_clear(&copy);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_equal_kinds_share_a_count),
        cmocka_unit_test(test_coarser_grids_cover_and_forget_the_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
