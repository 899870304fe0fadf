/* Runs by several ranks, here threads that only add numbers up: the same bytes for any number of ranks and threads, also where
 * another number goes on after every round; refusals; one rank that stops or fails. tests/mpi does the same through a real
 * launcher, with processes that are killed. */
#include "resume.h"

#include <sys/resource.h>

#include "resume_kinds.h"

static const int sizes[] = {1, 2, 4};

/* The run of one rank, and what it would have left after each of its rounds. */
static int make_reference(const char *name, const char *text, snapshot after[MOST_ROUNDS]) {
    const run_plan alone = {.text = text, .folder = "reference", .threads = 1, .after = after};
    memset(after, 0, MOST_ROUNDS * sizeof *after);
    if (run_together(&alone) != MFPG_OK) fail_msg("%s: %s", name, said);
    int rounds = 0;
    while (after[rounds].bytes[2]) rounds++;
    return rounds;
}

static void expect_same(const run_plan *plan, const char *name) {
    char what[256];
    snprintf(what, sizeof what, "%s, %d ranks, %d threads", name, plan->ranks, plan->threads);
    if (run_together(plan) != MFPG_OK) fail_msg("%s: %s", what, said);
    check_same_run("a", "reference", what);
    remove_run("a");
}

static void test_ranks_and_threads_change_no_byte(void **state) {
    (void)state;
    snapshot after[MOST_ROUNDS];
    for (int i = 0; i < KINDS; i++) {
        int rounds = make_reference(kinds[i].name, kinds[i].text, after);
        for (int s = 0; s < 9; s++) {
            if (testing_repeats(1) == 1 && s % (TESTING_SANITIZED ? 9 : 3) != i % (TESTING_SANITIZED ? 9 : 3))
                continue; /* every kind some, and all nine by several kinds */
            const run_plan plan = {
                .text = kinds[i].text, .folder = "a", .threads = sizes[s % 3], .ranks = sizes[s / 3]};
            expect_same(&plan, kinds[i].name);
        }
        for (int t = 0; t < rounds; t++) forget(&after[t]);
        remove_run("reference");
    }
}

/* What one rank left after every round in turn goes on with 2 and 4; what these leave, with others again. */
static void test_another_number_of_ranks_goes_on_after_every_round(void **state) {
    (void)state;
    snapshot after[MOST_ROUNDS], again[MOST_ROUNDS];
    for (int i = 0; i < KINDS; i++) {
        int rounds = make_reference(kinds[i].name, kinds[i].text, after), step = TESTING_SANITIZED ? 3 : 1;
        for (int t = i % step; t + 1 < rounds; t += step) {
            run_plan plan = {.text = kinds[i].text,
                .folder = "a",
                .resume = 1,
                .threads = sizes[t % 3],
                .ranks = sizes[1 + t % 2],
                .after = again};
            memset(again, 0, sizeof again);
            lay_out(&after[t], "a");
            expect_same(&plan, kinds[i].name);
            plan.after = NULL;
            plan.ranks = sizes[t % 2 ? 0 : 2];
            plan.threads = sizes[(t + 1) % 3];
            int next = t + 1 + (t + 2 < rounds); /* a round later, or two */
            if (next >= rounds) next = rounds - 1;
            if (again[next].bytes[0]) {
                lay_out(&again[next], "a");
                expect_same(&plan, kinds[i].name);
            }
            for (int k = 0; k < MOST_ROUNDS; k++) forget(&again[k]);
        }
        for (int t = 0; t < rounds; t++) forget(&after[t]);
        remove_run("reference");
    }
}

#define WIDE_DATA "data: {format: synthetic, clients: 5, rows: 7, dimension: 3}\n"

/* Odd numbers of odd records: two clients' entries share a word. Messages of one number, of a few, of as many as there are. */
static void test_messages_of_any_size_change_no_byte(void **state) {
    (void)state;
    static const char text[] =
        "seed: 1\nmethod: {mechanism: input, players: none}\ntrain: {rounds: 4, checkpoint: "
        "1, clients_per_round: 3}\n" WIDE_DATA;
    snapshot after[MOST_ROUNDS];
    int rounds = make_reference("noised records", text, after), calls[3];
    static const ptrdiff_t most[] = {1, 7, 1 << 16};
    for (int m = TESTING_SANITIZED ? 1 : 0; m < 3; m++) {
        run_plan plan = {.text = text, .folder = "a", .threads = 1, .ranks = 3, .most = most[m]};
        expect_same(&plan, "in pieces");
        calls[m] = times_reached;
        plan.resume = 1;
        lay_out(&after[1], "a");
        expect_same(&plan, "in pieces, resumed");
    }
    assert_true(calls[1] > calls[2]);
    assert_true(TESTING_SANITIZED || calls[0] > calls[1]);
    for (int t = 0; t < rounds; t++) forget(&after[t]);
    remove_run("reference");
}

/* ---- one rank alone ---- */

static const char plain[] = "seed: 1\nmethod: dp-sgd\n" DATA FIVE;

static void test_a_stop_of_one_rank_ends_all_after_the_same_round(void **state) {
    (void)state;
    snapshot after[MOST_ROUNDS];
    int rounds = make_reference("plain", plain, after);
    run_plan plan = {.text = plain, .folder = "a", .threads = 1, .ranks = 4, .stop_after = 3};
    assert_int_equal(run_together(&plan), MFPG_ERR_INTERRUPTED);
    assert_non_null(strstr(said, "completed: 3 of 5 rounds"));
    assert_non_null(strstr(said, "to go on: mfpg run --resume"));
    assert_true(exists("a", "checkpoint") && exists("a", "summary.json"));
    plan = (run_plan){.text = plain, .folder = "a", .resume = 1, .threads = 2, .ranks = 2};
    expect_same(&plan, "stopped");
    for (int t = 0; t < rounds; t++) forget(&after[t]);
    remove_run("reference");
}

static void expect_refused(run_plan plan, const char *words) {
    plan.threads = 1;
    plan.folder = "a";
    mfpg_status status = run_together(&plan);
    if (status != MFPG_ERR_INPUT || !strstr(said, words))
        fail_msg("status %d, not refused for '%s': %s", (int)status, words, said);
}

/* An older configuration on one machine, or other data. */
static void test_a_rank_with_something_else_ends_all(void **state) {
    (void)state;
    expect_refused((run_plan){.text = plain,
                       .other_text = "seed: 1\nmethod: dp-sgd\nprivacy: {clip: 2}\n" DATA FIVE,
                       .ranks = 2},
        "rank 1 of 2: privacy.clip: 2 in its configuration");
    static const char here[] = "seed: 1\nmethod: dp-sgd\ndata: {dir: here, files: [d.csv], partition: {kind: "
                               "iid, clients: 2}}\n" FIVE;
    static const char there[] =
        "seed: 1\nmethod: dp-sgd\ndata: {dir: there, files: [d.csv], partition: {kind: "
        "iid, clients: 2}}\n" FIVE;
    static const char rows[] = "a,y\n1,0\n2,1\n3,0\n4,1\n5,0\n6,1\n7,0\n8,1\n";
    assert_int_equal(mkdir(below("here", ""), 0777) + mkdir(below("there", ""), 0777), 0);
    put_bytes("here", "d.csv", rows, sizeof rows - 1);
    put_bytes("there", "d.csv", rows, sizeof rows - 3); /* the last row is cut */
    expect_refused((run_plan){.text = here, .other_text = there, .ranks = 3},
        "rank 2 of 3: "); /* a row of one column, in its file */
    put_bytes("there", "d.csv", "a,y\n1,0\n2,1\n3,0\n4,1\n5,0\n6,1\n7,0\n9,1\n", sizeof rows - 1);
    expect_refused((run_plan){.text = here, .other_text = there, .ranks = 3},
        "rank 2 of 3: its data are not those of the first process");
    assert_false(exists("a", ""));
    put_bytes("there", "d.csv", rows, sizeof rows - 1);
    const run_plan plan = {.text = here, .other_text = there, .folder = "a", .threads = 1, .ranks = 3};
    assert_int_equal(run_together(&plan), MFPG_OK); /* the same in another place */
    remove_run("a");
    remove_run("here");
    remove_run("there");
}

static void test_what_is_refused_alone_is_refused_together(void **state) {
    (void)state;
    snapshot after[MOST_ROUNDS];
    int rounds = make_reference("plain", plain, after);
    expect_refused((run_plan){.text = plain, .resume = 1, .ranks = 2}, "there is no run to resume");
    lay_out(&after[2], "a");
    expect_refused(
        (run_plan){.text = "seed: 2\nmethod: dp-sgd\n" DATA FIVE, .resume = 1, .ranks = 2}, "seed: 2");
    after[2].bytes[0][after[2].size[0] / 2] ^= 1;
    lay_out(&after[2], "a");
    expect_refused((run_plan){.text = plain, .resume = 1, .ranks = 2}, "checksum does not hold");
    after[2].bytes[0][after[2].size[0] / 2] ^= 1;
    after[2].bytes[2][after[2].size[2] / 4] ^= 1;
    lay_out(&after[2], "a");
    expect_refused((run_plan){.text = plain, .resume = 1, .ranks = 4}, "ledger");
    after[2].bytes[2][after[2].size[2] / 4] ^= 1;
    lay_out(&after[2], "a");
    const run_plan plan = {.text = plain, .folder = "a", .resume = 1, .threads = 1, .ranks = 4};
    expect_same(&plan, "after refusals");
    for (int t = 0; t < rounds; t++) forget(&after[t]);
    remove_run("reference");
}

/* ---- a full disk ---- */

static mfpg_status run_limited(const run_plan *plan, rlim_t bytes) {
    struct rlimit usual, low;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &usual), 0);
    low = usual;
    low.rlim_cur = bytes;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &low), 0);
    mfpg_status status = run_together(plan);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &usual), 0);
    return status;
}

/* A model of 4 kB: the checkpoint is larger than the ledger and reaches the limit first, in an announcement or as a whole. */
static void test_a_full_disk_of_the_first_rank_ends_all(void **state) {
    (void)state;
    static const char text[] =
        "seed: 1\nmethod: dp-sgd\ndata: {format: synthetic, clients: 3, rows: 12, dimension: 1000}\ntrain: "
        "{rounds: 10, checkpoint: 1}\n";
    snapshot after[MOST_ROUNDS];
    int rounds = make_reference("wide", text, after);
    signal(SIGXFSZ, SIG_IGN);
    for (int more = 0; more < 5; more++) {
        run_plan plan = {.text = text, .folder = "a", .threads = 1, .ranks = 2};
        mfpg_status status = run_limited(&plan, (rlim_t)(after[1].size[0] + (size_t)more * 70));
        if (status != MFPG_ERR_IO || !strstr(said, "File too large") || !strstr(said, "--resume"))
            fail_msg("status %d, %s", (int)status, said);
        assert_true(exists("a", "checkpoint") && !exists("a", "checkpoint.part"));
        plan.resume = 1;
        plan.ranks = sizes[more % 3];
        expect_same(&plan, "full disk");
    }
    for (int t = 0; t < rounds; t++) forget(&after[t]);
    remove_run("reference");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ranks_and_threads_change_no_byte),
        cmocka_unit_test(test_another_number_of_ranks_goes_on_after_every_round),
        cmocka_unit_test(test_messages_of_any_size_change_no_byte),
        cmocka_unit_test(test_a_stop_of_one_rank_ends_all_after_the_same_round),
        cmocka_unit_test(test_a_rank_with_something_else_ends_all),
        cmocka_unit_test(test_what_is_refused_alone_is_refused_together),
        cmocka_unit_test(test_a_full_disk_of_the_first_rank_ends_all),
    };
    open_base();
    int failed = cmocka_run_group_tests(tests, open_context, close_context);
    close_base();
    return failed;
}
