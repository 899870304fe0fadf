/* Reports and comparisons with an allocation failing: the message says so, and no page is half written. The
 * library's own allocations one after the other; those of the JSON library, thousands, in steps. */
#include "report/runs.h"

#include <unistd.h>

#include "failing_memory.h"

static const char *runs[2];

static mfpg_status write_report(void *arg) {
    char *path = NULL;
    (void)arg;
    remove(in_place("page/report.html"));
    mfpg_status status = mfpg_report_write(ctx, runs, 1, in_place("page"), &path);
    assert_int_equal(access(in_place("page/report.html"), F_OK) == 0, status == MFPG_OK);
    assert_int_equal(access(in_place("page/report.html.part"), F_OK), -1);
    assert_int_equal(path != NULL, status == MFPG_OK);
    free(path);
    return status;
}

static mfpg_status compare(void *arg) {
    char *json = NULL;
    (void)arg;
    mfpg_status status = mfpg_compare_json(ctx, runs[0], runs[1], &json);
    assert_int_equal(json != NULL, status == MFPG_OK);
    free(json);
    return status;
}

/* The audit of the first run. */
static void attack(void) {
    mfpg_config *config = load(SMALL_RUN);
    mfpg_experiment *experiment = NULL;
    mfpg_audit_options options = mfpg_audit_options_default();
    mfpg_audit_plan plan;
    mfpg_audit_client client[3];
    options.runs = 20;
    set(config, "method=mfep");
    CHECK_OK(ctx, mfpg_experiment_create(ctx, config, &experiment));
    CHECK_OK(ctx, mfpg_experiment_audit(ctx, experiment, &options, client, &plan));
    CHECK_OK(ctx, mfpg_experiment_write_audit(ctx, experiment, &options, client, &plan, runs[0]));
    mfpg_experiment_destroy(experiment);
    mfpg_config_destroy(config);
}

static void open_runs(void) {
    static char first[512], second[512];
    snprintf(first, sizeof first, "%s", in_place("a"));
    snprintf(second, sizeof second, "%s", in_place("b"));
    train(SMALL_RUN, "method=mfep", "a");
    train(SMALL_RUN, NULL, "b");
    runs[0] = first;
    runs[1] = second;
    attack();
}

static void test_every_allocation_of_the_library(void **state) {
    (void)state;
    open_runs();
    assert_true(sweep_allocations(write_report, NULL) > 20);
    assert_true(sweep_allocations(compare, NULL) > 20);
}

/* Where its parser runs out of memory, the JSON library speaks of the token that it could not keep. */
static void fail_in_steps(mfpg_status (*call)(void *arg), long step) {
    long failures = 0;
    for (long k = 0;; k += step) {
        begin_failing(k, 0);
        mfpg_status status = call(NULL);
        if (!end_failing()) {
            assert_int_equal(status, MFPG_OK);
            break;
        }
        int taken_for_syntax = status == MFPG_ERR_INPUT && strstr(mfpg_context_message(ctx), ".json:");
        if (status != MFPG_ERR_MEMORY && !taken_for_syntax)
            fail_msg("allocation %ld: %s", k, mfpg_context_message(ctx));
        failures++;
    }
    assert_true(failures > 10);
}

static void test_allocations_of_json(void **state) {
    (void)state;
    count_json_allocations();
    fail_in_steps(write_report, 29);
    fail_in_steps(compare, 97);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_allocation_of_the_library),
        cmocka_unit_test(test_allocations_of_json),
    };
    return cmocka_run_group_tests(tests, open_place, close_place);
}
