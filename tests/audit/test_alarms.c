/* How often an audit cries wolf: audits of exactly what is promised and of nothing at all, 1,000 runs each (20,000 with
 * MFPG_TEST_SCALE=20), with no more alarms than happen by chance once in a thousand times. */
#include "audit/faults.h"

enum { CLIENTS = 4 };

/* Audits of four clients each; in two rounds constant and alternating signs, differences of clients and single rounds are all
 * looked at. Counts the clients for whom something is wrongly proved. */
static int count_alarms(int audits, int64_t rounds, double alpha, int exact) {
    int alarms = 0;
    mfpg_mechanism_options o = mfpg_mechanism_options_default();
    o.promise = (mfpg_promise){MFPG_UNIT_CLIENT, MFPG_ADJACENCY_REPLACE, MFPG_VIEW_LOCAL};
    subject s = subject_open(1, CLIENTS, rounds, "quadratic", &o, 2);
    mfpg_audit_promise promise[CLIENTS];
    for (int k = 0; k < CLIENTS; k++) promise[k] = promise_of(2, rounds, MFPG_ADJACENCY_REPLACE);
    for (int k = 0; k < CLIENTS && rounds > 1; k++) promise[k].round_mu = 1.0 + 1e-9;
    plant p = {.kind = exact ? FAULT_AS_PROMISED : FAULT_BLIND};
    s.audit.runs = 2 * testing_repeats(500);
    s.audit.confidence = 1.0 - CLIENTS * alpha; /* 1 - alpha of one client */
    for (int i = 0; i < audits / CLIENTS; i++) {
        s.audit.seed = testing_seed() + 1000u * (unsigned)(i + 1) + (uint64_t)rounds;
        audit_fault(&s, promise, &p, 10);
        for (int k = 0; k < CLIENTS; k++) {
            const mfpg_audit_client *c = &s.client[k];
            alarms +=
                exact ? !c->stands : c->mu_lower > 0.0 || c->epsilon_lower_direct > 0.0 || c->tv_lower > 0.0;
        }
    }
    subject_close(&s);
    return alarms;
}

static void check_alarms(int audits, int64_t rounds, double alpha, int exact) {
    int64_t allowed = plan_false_alarms_allowed(audits, alpha);
    int alarms = count_alarms(audits, rounds, alpha, exact);
    print_message("%d audits of %s at %g %%: %d alarms, at most %d\n", audits,
        exact ? "exact promises" : "nothing", 100 * (1 - alpha), alarms, (int)allowed);
    if (alarms <= allowed) return;
    print_error("seed %llu\n", (unsigned long long)testing_seed());
    fail();
}

static void test_exact_promises_stand(void **state) {
    (void)state;
    assert_int_equal(plan_false_alarms_allowed(200, 0.05), 21);
    assert_int_equal(plan_false_alarms_allowed(200, 0.01), 8);
    check_alarms(200, 2, 0.05, 1);
    check_alarms(200, 1, 0.01, 1);
}

static void test_nothing_is_found_where_there_is_nothing(void **state) {
    (void)state;
    assert_int_equal(plan_false_alarms_allowed(100, 0.05), 13);
    assert_int_equal(plan_false_alarms_allowed(100, 0.01), 5);
    check_alarms(100, 1, 0.05, 0);
    check_alarms(100, 1, 0.01, 0);
}

/* The count itself works: a promise that is a tenth too small is broken in most audits. */
static void test_alarms_are_counted(void **state) {
    (void)state;
    mfpg_mechanism_options o = mfpg_mechanism_options_default();
    o.promise = (mfpg_promise){MFPG_UNIT_CLIENT, MFPG_ADJACENCY_REPLACE, MFPG_VIEW_LOCAL};
    int alarms = 0;
    for (int i = 0; i < 10; i++) {
        subject s = subject_open(1, 1, 1, "quadratic", &o, 1);
        mfpg_audit_promise promise = promise_of(1 / 0.9, 1, MFPG_ADJACENCY_REPLACE);
        plant p = {.kind = FAULT_AS_PROMISED};
        s.audit.runs = 2828; /* 1.3 times what ranks need */
        s.audit.seed += (uint64_t)i;
        audit_fault(&s, &promise, &p, 10);
        alarms += !s.client[0].stands;
        subject_close(&s);
    }
    assert_true(alarms >= 6); /* of ten at 0.95: fewer once in 10^4 */
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_exact_promises_stand),
        cmocka_unit_test(test_nothing_is_found_where_there_is_nothing),
        cmocka_unit_test(test_alarms_are_counted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
