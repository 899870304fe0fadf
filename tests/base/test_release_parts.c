/* Which fields of a release count in which comparison. */
#include "testing.h"

#include "base/release_parts.h"

static const mfpg_release sample = {.round = 3,
    .client = 4,
    .steps = 2,
    .sensitivity = 0.5,
    .noise_sd = 1.5,
    .last_sd = 1.5,
    .grid = 0.25,
    .contraction = 1.0,
    .sampling_rate = 1.0,
    .rounding = 0.125,
    .weight = 0.5,
    .hidden_contraction = 0.75,
    .hidden_shift = 2.0,
    .action = {.control = MFPG_CONTROL_STRENGTH, .strength = {7.0}}};

/* equal says the parts in which a changed copy still equals the sample. */
static void compare(const mfpg_release *changed, int noise, int action, int share, int hidden) {
    const int part[] = {MFPG_RELEASE_NOISE, MFPG_RELEASE_ACTION, MFPG_RELEASE_SHARE, MFPG_RELEASE_HIDDEN};
    const int equal[] = {noise, action, share, hidden};
    int all = 1;
    for (int i = 0; i < 4; i++) {
        assert_int_equal(mfpg_release_equal(&sample, changed, part[i]), equal[i]);
        assert_int_equal(
            mfpg_release_hash(&sample, part[i]) == mfpg_release_hash(changed, part[i]), equal[i]);
        all = all && equal[i];
    }
    assert_int_equal(mfpg_release_equal(&sample, changed, MFPG_RELEASE_ALL), all);
}

static void test_each_field_counts_in_its_part(void **state) {
    (void)state;
    mfpg_release other;
#define CHANGED(field, value, ...) (other = sample, other.field = (value), compare(&other, __VA_ARGS__))
    CHANGED(round, 9, 1, 1, 1, 1);
    CHANGED(client, 9, 1, 1, 1, 1);
    CHANGED(particles, MFPG_PARTICLES_DATA, 0, 1, 1, 1);
    CHANGED(unit, MFPG_UNIT_EXAMPLE, 0, 1, 1, 1);
    CHANGED(steps, 3, 0, 1, 1, 1);
    CHANGED(sensitivity, 9.0, 0, 1, 1, 1);
    CHANGED(noise_sd, 9.0, 0, 1, 1, 1);
    CHANGED(last_sd, 9.0, 0, 1, 1, 1);
    CHANGED(grid, 0.5, 0, 1, 1, 1);
    CHANGED(contraction, 0.0, 0, 1, 1, 1);
    CHANGED(sampling_rate, 0.5, 0, 1, 1, 1);
    CHANGED(action.control, MFPG_CONTROL_BUDGET, 1, 0, 1, 1);
    CHANGED(action.strength.value, 9.0, 1, 0, 1, 1);
    CHANGED(action.budget.value, 9.0, 1, 1, 1, 1); /* which the control does not name */
    CHANGED(clipped, MFPG_CLIPPED_EXAMPLES, 1, 1, 0, 1);
    CHANGED(rounding, 0.0, 1, 1, 0, 1);
    CHANGED(weight, 1.0, 1, 1, 0, 1);
    CHANGED(hidden_contraction, 0.0, 1, 1, 1, 0);
    CHANGED(hidden_shift, 0.0, 1, 1, 1, 0);
#undef CHANGED
}

static void test_actions_without_a_number_are_equal(void **state) {
    (void)state;
    const mfpg_release none = {.steps = 1};
    assert_true(mfpg_release_equal(&none, &none, MFPG_RELEASE_ALL));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_each_field_counts_in_its_part),
        cmocka_unit_test(test_actions_without_a_number_are_equal),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
