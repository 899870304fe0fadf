/* Every allocation of a study of gradient inversion may fail. */
#include "failing_memory.h"

#include "audit/inversion_fixture.h"

static mfpg_status invert_once(void *arg) {
    mfpg_inversion *found = NULL;
    mfpg_status status = victim_invert(arg, &found);
    assert_true((status == MFPG_OK) == (found != NULL));
    mfpg_inversion_destroy(found);
    return status;
}

static void test_a_study_survives_every_failing_allocation(void **state) {
    (void)state;
    victim v;
    mfpg_mechanism_options o = example_unit();
    victim_open(&v, 1, "mlp", &o, 3.0);
    v.options.batch = 2;
    v.options.examples = 4;
    v.options.trials = 3;
    v.options.levels = 3;
    v.options.iterations = 1;
    v.options.restarts = 1;
    assert_true(sweep_allocations(invert_once, &v) > 30);
    victim_close(&v);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_a_study_survives_every_failing_allocation)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
