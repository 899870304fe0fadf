/* Interrupted runs that go on with the k-th allocation failing, for all k until they come through: what succeeds is the run
 * without an interruption, and what fails costs nothing, as the next attempt is. One thread: the count is not shared. The
 * JSON library's own allocations do not count: it tells want of memory as a fault of the text (accountants/test_memory.c). */
#include "resume.h"

#include "failing_memory.h"

#define SMALL                                                                                                \
    "seed: 1\ntrain: {rounds: 3, checkpoint: 2}\ndata: {format: synthetic, clients: 2, rows: 6, dimension: " \
    "2}\n"

static const struct {
    const char *name, *text;
} kinds[] = {
    {"dp-sgd", SMALL "method: dp-sgd\n"},
    {"mfpg", SMALL "method: mfpg\ngame: {actions: [0.5, 1], curvature: 1}\n"},
    {"a filter's budget", SMALL "method: dp-sgd\nprivacy: {stop_at_epsilon: 20}\nnoise: {multiplier: 4}\n"},
    {"noisy choices",
        SMALL "method: mfpg\nprivacy: {unit: example, stop_at_epsilon: 30}\ngame: {cost: paper, "
              "update: each-round, loss_noise: 9, gradient_noise: 9}\n"},
    {"a secure sum", "seed: 1\ntrain: {rounds: 3, checkpoint: 2}\ndata: {format: synthetic, clients: 3, "
                     "rows: 6, dimension: "
                     "2}\nmethod: dp-sgd\nprivacy: {view: average}\nsecure_sum: {run: simulate}\n"},
    {"noised records", SMALL "method: {mechanism: input, players: none}\n"},
};
enum { KINDS = sizeof kinds / sizeof kinds[0] };

/* k for the next attempt, as in test_memory.c: reading a configuration takes the same hundred allocations every time. */
static long next(long k) {
    return k + 1 + (testing_repeats(1) > 1 ? 0 : k / 32);
}

static int try_to_go_on(int i, const snapshot *s, long k, int once) {
    run_plan plan = {.text = kinds[i].text, .folder = "a", .resume = 1, .threads = 1};
    lay_out(s, "a");
    begin_failing(k, once);
    mfpg_status status = run_here(ctx, &plan);
    int failed = end_failing();
    if (status != MFPG_OK && status != MFPG_ERR_MEMORY)
        fail_msg(
            "%s, allocation %ld%s: %s", kinds[i].name, k, once ? " alone" : "", mfpg_context_message(ctx));
    if (status == MFPG_OK) {
        check_same_run("a", "reference", kinds[i].name);
        return failed;
    }
    status = run_here(ctx, &plan);
    if (status != MFPG_OK)
        fail_msg("%s, after allocation %ld%s failed: %s", kinds[i].name, k, once ? " alone" : "",
            mfpg_context_message(ctx));
    check_same_run("a", "reference", kinds[i].name);
    return failed;
}

static void test_going_on_survives(void **state) {
    (void)state;
    for (int i = 0; i < KINDS; i += TESTING_SANITIZED ? 3 : 1) { /* files are slow there */
        const run_plan straight = {.text = kinds[i].text, .folder = "reference", .threads = 1};
        const run_plan cut = {.text = kinds[i].text, .folder = "a", .threads = 1, .exit_after = 1};
        snapshot s;
        assert_int_equal(run_apart(&straight), MFPG_OK);
        assert_int_equal(run_apart(&cut), 77);
        take("a", &s); /* the checkpoint is of the round before the last one that the ledger holds */
        for (int once = 0; once < 2; once++)
            for (long k = 0; try_to_go_on(i, &s, k, once); k = next(k)) continue;
        forget(&s);
        remove_run("a");
        remove_run("reference");
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_going_on_survives)};
    open_base();
    int failed = cmocka_run_group_tests(tests, open_context, close_context);
    close_base();
    return failed;
}
