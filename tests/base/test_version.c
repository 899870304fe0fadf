/* The version as text, as numbers and as the running library tells it are one. */
#include "testing.h"

#include "mfpg/version.h"

static void test_version_is_one(void **state) {
    (void)state;
    char text[64];
    snprintf(text, sizeof text, "%d.%d.%d", MFPG_VERSION_MAJOR, MFPG_VERSION_MINOR, MFPG_VERSION_PATCH);
    assert_string_equal(text, MFPG_VERSION);
    assert_string_equal(mfpg_version(), MFPG_VERSION);
}

static void test_build_facts_end_and_say_something(void **state) {
    (void)state;
    ptrdiff_t facts = 0;
    for (; mfpg_build_name(facts); facts++) {
        assert_true(strlen(mfpg_build_name(facts)) > 0);
        assert_true(strlen(mfpg_build_value(facts)) > 0);
        for (ptrdiff_t i = 0; i < facts; i++)
            assert_string_not_equal(mfpg_build_name(i), mfpg_build_name(facts));
    }
    assert_true(facts >= 4);
    assert_null(mfpg_build_value(facts));
    assert_null(mfpg_build_name(-1));
    assert_null(mfpg_build_value(-1));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_version_is_one),
        cmocka_unit_test(test_build_facts_end_and_say_something),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
