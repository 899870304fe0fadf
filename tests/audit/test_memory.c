/* Every allocation of an audit may fail. */
#include "failing_memory.h"

#include "audit/fixture.h"

static mfpg_status audit_once(void *arg) {
    return subject_audit(arg);
}

static void test_an_audit_survives_every_failing_allocation(void **state) {
    (void)state;
    mfpg_mechanism_options o = mfpg_mechanism_options_default();
    subject s = subject_open(1, 2, 2, "logistic", &o, 1.0);
    s.audit.runs = 20;
    assert_true(sweep_allocations(audit_once, &s) > 20);
    subject_close(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_an_audit_survives_every_failing_allocation)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
