/* The joint clip. */
#include "models/fixture.h"

#include "mechanisms/mechanism_ops.h"

static void test_zero_stays_zero(void **state) {
    (void)state;
    float v[] = {0.0F, 0.0F};
    assert_int_equal(mfpg_clip_joint(2, v, 1.0, 1.0), 0);
    assert_true(v[0] == 0.0F && v[1] == 0.0F);
    assert_int_equal(mfpg_clip_joint(0, v, 1.0, 1.0), 0);
}

static void test_vector_that_is_no_number_becomes_zero_and_counts(void **state) {
    (void)state;
    const float bad[] = {NAN, INFINITY, -INFINITY};
    for (int b = 0; b < 3; b++) {
        float v[] = {bad[b], 1.0F};
        assert_int_equal(mfpg_clip_joint(2, v, 1.0, -0.1), 1);
        assert_true(v[0] == 0.0F && v[1] == 0.0F);
    }
}

static void test_huge_vector_is_clipped_to_norm_one(void **state) {
    (void)state;
    float v[] = {1e20F, 1e20F}; /* the square, 1e40, is no float */
    assert_int_equal(mfpg_clip_joint(2, v, 1.0, 1.0), 0);
    check_near(norm_of(v, 2), 1.0, 1e-6, 0.0, "norm");
    assert_true(v[0] == v[1]);
    float largest[] = {3.4e38F, -3.4e38F, 3.4e38F};
    assert_int_equal(mfpg_clip_joint(3, largest, 1.0, 1.0), 0);
    check_near(norm_of(largest, 3), 1.0, 1e-6, 0.0, "norm");
}

/* Two tensors of norms 3 and 4: jointly 5, clipped to 1; clipped apart they would have sqrt 2. */
static void test_tensors_are_clipped_together(void **state) {
    (void)state;
    float v[] = {3.0F, 0.0F, 0.0F, 0.0F, 4.0F};
    mfpg_clip_joint(5, v, 1.0, 1.0);
    check_near(norm_of(v, 5), 1.0, 1e-6, 0.0, "joint norm");
    check_near((double)v[0], 0.6, 1e-6, 0.0, "first tensor");
    check_near((double)v[4], 0.8, 1e-6, 0.0, "second tensor");
}

static void test_short_vectors_are_only_scaled(void **state) {
    (void)state;
    float v[] = {0.5F, -0.25F};
    mfpg_clip_joint(2, v, 1.0, -0.5);
    assert_true(v[0] == -0.25F && v[1] == 0.125F);
}

/* Rounding to float included, whatever length, size, clip and scale. */
static void test_norm_never_exceeds_the_clip(void **state) {
    (void)state;
    uint64_t random = testing_seed();
    float v[400];
    for (int trial = 0; trial < testing_repeats(20000); trial++) {
        ptrdiff_t n = 1 + (ptrdiff_t)(next_word(&random) % 400);
        double size = pow(10.0, 20.0 * next_uniform(&random) - 10.0);
        double clip = pow(10.0, 8.0 * next_uniform(&random) - 4.0);
        double scale = next_uniform(&random) - 0.5;
        if (trial % 4 == 0) size = clip / sqrt((double)n); /* norms close to the clip */
        for (ptrdiff_t i = 0; i < n; i++) v[i] = (float)(size * (2.0 * next_uniform(&random) - 1.0) * 1.7);
        float first = v[0];
        double before = norm_of(v, n);
        mfpg_clip_joint(n, v, clip, scale);
        double after = norm_of(v, n);
        assert_true(after <= fabs(scale) * clip);
        check_near(after, fabs(scale) * fmin(before, clip), 1e-6, 0.0, "norm after the clip");
        /* subnormal results aside, the direction is kept */
        check_near((double)v[0], scale * (double)first * fmin(1.0, clip / before), 1e-6, 1e-36, "direction");
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_zero_stays_zero),
        cmocka_unit_test(test_vector_that_is_no_number_becomes_zero_and_counts),
        cmocka_unit_test(test_huge_vector_is_clipped_to_norm_one),
        cmocka_unit_test(test_tensors_are_clipped_together),
        cmocka_unit_test(test_short_vectors_are_only_scaled),
        cmocka_unit_test(test_norm_never_exceeds_the_clip),
    };
    print_message("seed %" PRIu64 "\n", testing_seed());
    return cmocka_run_group_tests(tests, NULL, NULL);
}
