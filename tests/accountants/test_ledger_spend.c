/* The ledger as account: budgets kept to the last release, by threads, by processes in turn, after fork() and after kills. */
#include "accountants/ledger_fixture.h"

#include <pthread.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>

/* mu 1/5 a release: 21 of them stay within epsilon 4 at delta 1e-5, 22 do not (docs/tutorials/engineer.md). */
enum { WITHIN = 21 };

static const mfpg_ledger_header header = {.clients = 2,
    .promise = {MFPG_UNIT_CLIENT, MFPG_ADJACENCY_ZERO_OUT, MFPG_VIEW_LOCAL},
    .delta = 1e-5,
    .stop_at_epsilon = 4.0};

static mfpg_release next_of(int64_t client) {
    mfpg_release release = release_of(1.0, 5.0);
    release.client = client;
    release.round = -1; /* the next */
    return release;
}

static mfpg_ledger *create(mfpg_context *ctx, const mfpg_ledger_header *of) {
    mfpg_ledger *ledger = NULL;
    CHECK_OK(ctx, mfpg_ledger_create(ctx, path, of, &ledger));
    return ledger;
}

static mfpg_spending spend(mfpg_context *ctx, mfpg_ledger *ledger, int64_t client) {
    mfpg_release release = next_of(client);
    mfpg_spending answer;
    CHECK_OK(ctx, mfpg_ledger_spend(ctx, ledger, &release, &answer));
    return answer;
}

static mfpg_spending ask(mfpg_context *ctx, mfpg_ledger *ledger, int64_t client) {
    mfpg_spending answer;
    CHECK_OK(ctx, mfpg_ledger_ask(ctx, ledger, client, &answer));
    return answer;
}

/* What the file lists: releases by round, each round once. */
typedef struct listing {
    int releases;
    unsigned char seen[4096];
} listing;

static mfpg_status list(void *user, const mfpg_release *release, int64_t first, int64_t last) {
    listing *all = user;
    assert_true(first == last && release->round > 0 && release->round < 4096);
    assert_false(all->seen[release->round]);
    all->seen[release->round] = 1;
    all->releases++;
    return MFPG_OK;
}

static int listed(mfpg_context *ctx) {
    listing all = {0};
    CHECK_OK(ctx, mfpg_ledger_read(ctx, path, NULL, list, &all, NULL));
    return all.releases;
}

/* ---- budgets ---- */

static double within(const mfpg_ledger_header *of, int releases) {
    double square = releases / 25.0; /* of mu */
    return of->filter == MFPG_FILTER_ZCDP ? mfpg_zcdp_epsilon(square / 2, of->delta)
                                          : mfpg_gdp_epsilon(sqrt(square), of->delta);
}

static void test_a_budget_lasts_to_the_release_before_it_would_break(void **state) {
    (void)state;
    mfpg_context *ctx = testing_context(1);
    for (int filter = MFPG_FILTER_ACCOUNTANT; filter <= MFPG_FILTER_ZCDP; filter++) {
        mfpg_ledger_header own = header;
        own.filter = (mfpg_filter_kind)filter;
        mfpg_ledger *ledger = create(ctx, &own);
        mfpg_spending answer = ask(ctx, ledger, 0);
        assert_true(answer.epsilon == 0 && answer.spent == 0 && !answer.admitted && answer.round == 0);
        check_near(answer.remaining, 4, 1e-15, 0, "all of it");
        int spent = 0;
        for (;;) {
            answer = spend(ctx, ledger, 0);
            if (!answer.admitted) break;
            assert_int_equal(answer.round, ++spent);
            check_near(answer.spent, within(&own, spent), 1e-9, 0, "spent");
            check_near(
                answer.epsilon, filter == MFPG_FILTER_ACCOUNTANT ? answer.spent : 4, 1e-9, 0, "certified");
            assert_true(answer.epsilon <= 4 && answer.remaining <= 4 - answer.spent);
            check_near(answer.remaining, 4 - answer.spent, 0, 1e-12, "remaining");
        }
        assert_true(within(&own, spent) <= 4 && within(&own, spent + 1) > 4);
        if (filter != MFPG_FILTER_ZCDP) assert_int_equal(spent, WITHIN);
        assert_int_equal(answer.round, spent);
        assert_int_equal(listed(ctx), spent); /* what was not admitted is not written */
        mfpg_release cheap = release_of(1.0, 1e6), next = next_of(0);
        cheap.round = -1;
        CHECK_OK(ctx, mfpg_ledger_affords(ctx, ledger, &cheap, &answer));
        assert_true(answer.admitted);
        assert_int_equal(listed(ctx), spent);
        CHECK_OK(ctx, mfpg_ledger_affords(ctx, ledger, &next, &answer));
        assert_false(answer.admitted);
        assert_true(spend(ctx, ledger, 1).admitted); /* everybody has a budget of its own */
        mfpg_spending before = ask(ctx, ledger, 0), after;
        mfpg_ledger_close(ledger);
        CHECK_OK(ctx, mfpg_ledger_open(ctx, path, 0, &ledger)); /* the file is all that is needed */
        after = ask(ctx, ledger, 0);
        assert_true(before.epsilon == after.epsilon && before.spent == after.spent);
        assert_true(before.remaining == after.remaining && after.round == spent + 1);
        assert_false(spend(ctx, ledger, 0).admitted);
        assert_true(spend(ctx, ledger, 1).admitted);
        mfpg_ledger_close(ledger);
        unlink(path);
    }
    mfpg_context_destroy(ctx);
}

static void test_without_a_budget_everything_sound_is_admitted(void **state) {
    (void)state;
    mfpg_context *ctx = testing_context(1);
    mfpg_ledger_header own = header;
    own.stop_at_epsilon = 0;
    mfpg_ledger *ledger = create(ctx, &own);
    for (int i = 1; i <= 50; i++) {
        mfpg_spending answer = spend(ctx, ledger, 0);
        assert_true(answer.admitted && isinf(answer.remaining));
        check_near(answer.epsilon, mfpg_gdp_epsilon(sqrt(i / 25.0), 1e-5), 1e-9, 0, "epsilon");
    }
    mfpg_release bad = next_of(0);
    mfpg_spending answer = {.admitted = 7};
    bad.noise_sd = NAN;
    assert_int_equal(mfpg_ledger_spend(ctx, ledger, &bad, &answer), MFPG_ERR_DOMAIN);
    bad = next_of(2); /* of no client */
    assert_int_equal(mfpg_ledger_spend(ctx, ledger, &bad, &answer), MFPG_ERR_DOMAIN);
    assert_int_equal(mfpg_ledger_ask(ctx, ledger, 2, &answer), MFPG_ERR_DOMAIN);
    bad = next_of(0);
    bad.round = 49; /* an earlier round */
    assert_int_equal(mfpg_ledger_spend(ctx, ledger, &bad, &answer), MFPG_ERR_DOMAIN);
    assert_int_equal(answer.admitted, 7);
    assert_int_equal(listed(ctx), 50);
    mfpg_ledger_close(ledger);
    mfpg_context_destroy(ctx);
}

/* What somebody else wrote down counts as well, and a filter whose budget it broke answers infinity and admits nothing. */
static void test_what_was_appended_is_spent(void **state) {
    (void)state;
    mfpg_context *ctx = testing_context(1);
    mfpg_ledger_header own = header;
    own.filter = MFPG_FILTER_GDP;
    mfpg_ledger *ledger = create(ctx, &own);
    int64_t round = 0;
    for (int i = 1; i < WITHIN; i++) {
        mfpg_release release = next_of(0);
        CHECK_OK(ctx, mfpg_ledger_append_next(ctx, ledger, &release, 1, &round));
        assert_int_equal(round, i);
    }
    assert_int_equal(mfpg_ledger_tell(ledger).round, WITHIN - 1);
    assert_true(spend(ctx, ledger, 0).admitted);
    assert_false(spend(ctx, ledger, 0).admitted);
    mfpg_release release = next_of(0);
    CHECK_OK(ctx, mfpg_ledger_append_next(ctx, ledger, &release, 1, &round));
    assert_true(isinf(ask(ctx, ledger, 0).epsilon) && ask(ctx, ledger, 0).remaining == 0);
    release.sensitivity = 1e-9;
    mfpg_spending answer;
    CHECK_OK(ctx, mfpg_ledger_affords(ctx, ledger, &release, &answer));
    assert_false(answer.admitted);
    mfpg_ledger_close(ledger);
    mfpg_context_destroy(ctx);
}

static void test_a_writer_may_have_a_smaller_budget_and_no_larger_one(void **state) {
    (void)state;
    mfpg_context *ctx = testing_context(1);
    for (int filter = MFPG_FILTER_ACCOUNTANT; filter <= MFPG_FILTER_GDP; filter++) {
        mfpg_ledger_header own = header;
        own.filter = (mfpg_filter_kind)filter;
        mfpg_ledger *ledger = create(ctx, &own);
        mfpg_ledger_close(ledger);
        const double limits[] = {2, 9, 3};
        int spent = 0;
        for (int i = 0; i < 3; i++) {
            double limit = fmin(limits[i], 4);
            CHECK_OK(ctx, mfpg_ledger_open(ctx, path, limits[i], &ledger));
            while (spend(ctx, ledger, 0).admitted) spent++;
            assert_true(within(&own, spent) <= 4 && (i == 2 || within(&own, spent + 1) > limit));
            if (i == 0) assert_true(within(&own, spent) <= 2);
            if (i == 2) assert_true(ask(ctx, ledger, 0).remaining == 0); /* lowered below what is spent */
            mfpg_ledger_close(ledger);
        }
        assert_int_equal(spent, WITHIN);
        assert_int_equal(mfpg_ledger_open(ctx, path, NAN, &ledger), MFPG_ERR_DOMAIN);
        unlink(path);
    }
    mfpg_context_destroy(ctx);
}

/* ---- a crash while a line was written ---- */

static void count_warning(void *user, const char *text) {
    assert_non_null(strstr(text, "unfinished"));
    ++*(int *)user;
}

static void test_the_beginning_of_a_line_is_cut_off_and_nothing_else(void **state) {
    (void)state;
    int warnings = 0;
    mfpg_context *ctx = NULL;
    const mfpg_context_options options = {.threads = 1, .warn = count_warning, .warn_user = &warnings};
    assert_int_equal(mfpg_context_create(&options, &ctx), MFPG_OK);
    mfpg_ledger *ledger = create(ctx, &header);
    size_t length, left;
    for (int i = 0; i < 3; i++) spend(ctx, ledger, 0);
    mfpg_ledger_close(ledger);
    char *text = file_text(&length);
    size_t last = length - 1;
    while (text[last - 1] != '\n') last--;
    for (size_t cut = last; cut < length; cut += cut + 20 < length ? 7 : 1) {
        write_file(text, cut);
        warnings = 0;
        CHECK_OK(ctx, mfpg_ledger_open(ctx, path, 0, &ledger));
        assert_int_equal(warnings, cut > last);
        free(file_text(&left));
        assert_int_equal(left, last);
        assert_int_equal(spend(ctx, ledger, 0).round, 3); /* the number was never given to anybody */
        mfpg_ledger_close(ledger);
        char *again = file_text(&left);
        assert_int_equal(left, length);
        assert_memory_equal(again, text, length);
        free(again);
    }
    free(text);
    mfpg_context_destroy(ctx);
}

/* ---- somebody else's hands on the file ---- */

static void expect_no_admission(mfpg_context *ctx, mfpg_ledger *ledger, const char *why) {
    const mfpg_release release = next_of(0);
    mfpg_spending answer;
    assert_int_equal(mfpg_ledger_spend(ctx, ledger, &release, &answer), MFPG_ERR_IO);
    assert_non_null(strstr(mfpg_context_message(ctx), why));
}

static void test_a_file_that_loses_lines_or_its_name_admits_nothing(void **state) {
    (void)state;
    size_t length, changed;
    mfpg_context *ctx = testing_context(1);
    mfpg_ledger *ledger = create(ctx, &header);
    spend(ctx, ledger, 0);
    char *earlier = file_text(&length);
    spend(ctx, ledger, 0);
    write_file(earlier, length); /* a backup is put back */
    expect_no_admission(ctx, ledger, "was changed by another program");
    free(file_text(&changed));
    assert_int_equal(changed, length);
    mfpg_ledger_close(ledger);
    CHECK_OK(ctx, mfpg_ledger_open(ctx, path, 0, &ledger));
    assert_int_equal(spend(ctx, ledger, 0).round, 2);
    assert_int_equal(unlink(path), 0);
    expect_no_admission(ctx, ledger, "was deleted");
    mfpg_ledger_close(ledger);
    free(earlier);
    mfpg_context_destroy(ctx);
}

/* ---- threads ---- */

typedef struct worker {
    mfpg_ledger *ledger;
    int admitted;
    mfpg_status status;
} worker;

static void *work(void *arg) {
    worker *own = arg;
    mfpg_context *ctx = testing_context(1);
    for (;;) {
        mfpg_release release = next_of(0);
        mfpg_spending answer;
        own->status = mfpg_ledger_spend(ctx, own->ledger, &release, &answer);
        (void)mfpg_ledger_tell(own->ledger);
        if (own->status != MFPG_OK || !answer.admitted) break;
        own->admitted++;
    }
    mfpg_context_destroy(ctx);
    return NULL;
}

static void test_threads_share_one_budget(void **state) {
    (void)state;
    enum { THREADS = 8 };
    mfpg_context *ctx = testing_context(1);
    for (int repeat = testing_repeats(4); repeat > 0; repeat--) {
        mfpg_ledger *ledger = create(ctx, &header);
        worker own[THREADS] = {{0}};
        pthread_t thread[THREADS];
        int admitted = 0;
        for (int i = 0; i < THREADS; i++) {
            own[i].ledger = ledger;
            assert_int_equal(pthread_create(&thread[i], NULL, work, &own[i]), 0);
        }
        for (int i = 0; i < THREADS; i++) {
            assert_int_equal(pthread_join(thread[i], NULL), 0);
            assert_int_equal(own[i].status, MFPG_OK);
            admitted += own[i].admitted;
        }
        assert_int_equal(admitted, WITHIN);
        mfpg_ledger_close(ledger);
        assert_int_equal(listed(ctx), WITHIN);
        unlink(path);
    }
    mfpg_context_destroy(ctx);
}

/* ---- processes ---- */

static int exit_of(pid_t child) {
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/* In a child: that a ledger of its parent is nothing to write with. 0: all is as it should be. */
static int try_inherited(mfpg_ledger *ledger) {
    mfpg_context *ctx = testing_context(1);
    mfpg_release release = next_of(0);
    mfpg_spending answer;
    int wrong = mfpg_ledger_spend(ctx, ledger, &release, &answer) != MFPG_ERR_INPUT ||
                !strstr(mfpg_context_message(ctx), "fork()");
    release.round = 9;
    wrong |= mfpg_ledger_append(ctx, ledger, &release, 1) != MFPG_ERR_INPUT;
    wrong |= mfpg_ledger_tell(ledger).end.lines != 2;
    mfpg_ledger_close(ledger); /* and takes the parent's right away from nobody */
    mfpg_context_destroy(ctx);
    return wrong;
}

static void test_a_forked_child_writes_with_no_ledger_of_its_parent(void **state) {
    (void)state;
    mfpg_context *ctx = testing_context(1);
    mfpg_ledger *ledger = create(ctx, &header), *second = NULL;
    spend(ctx, ledger, 0);
    pid_t child = fork();
    if (child == 0) _exit(try_inherited(ledger));
    assert_int_equal(exit_of(child), 0);
    assert_int_equal(mfpg_ledger_open(ctx, path, 0, &second), MFPG_ERR_INPUT);
    assert_true(spend(ctx, ledger, 0).admitted);
    child = fork(); /* lives on with the file open, and keeps nobody out once its parent is done with it */
    if (child == 0) {
        pause();
        _exit(0);
    }
    mfpg_ledger_close(ledger);
    CHECK_OK(ctx, mfpg_ledger_open(ctx, path, 0, &second));
    assert_true(spend(ctx, second, 0).admitted);
    mfpg_ledger_close(second);
    kill(child, SIGKILL);
    assert_int_equal(exit_of(child), -1);
    assert_int_equal(listed(ctx), 3);
    mfpg_context_destroy(ctx);
}

/* Opens, made where it is missing, spends once, closes, in turn with whoever else does, until the budget is spent. Writes a
 * byte for every release that may leave. */
static void spend_in_turn(int left, int once) {
    mfpg_context *ctx = testing_context(1);
    const struct timespec while_another_writes = {.tv_nsec = 100000};
    for (int going = 1; going;) {
        mfpg_ledger *ledger = NULL;
        mfpg_status status = access(path, F_OK) == 0 ? mfpg_ledger_open(ctx, path, 0, &ledger)
                                                     : mfpg_ledger_create(ctx, path, &header, &ledger);
        if (status != MFPG_OK) { /* another process has it open, or has just made it */
            int busy = strstr(mfpg_context_message(ctx), "another process") ||
                       strstr(mfpg_context_message(ctx), "exists already");
            if (!busy) _exit(3);
            nanosleep(&while_another_writes, NULL);
            continue;
        }
        do {
            mfpg_release release = next_of(0);
            mfpg_spending answer;
            if (mfpg_ledger_spend(ctx, ledger, &release, &answer) != MFPG_OK) _exit(4);
            going = answer.admitted;
            if (going && write(left, "x", 1) != 1) _exit(5);
        } while (going && !once);
        mfpg_ledger_close(ledger);
    }
    mfpg_context_destroy(ctx);
}

static int bytes_in(int pipe) {
    char block[512];
    int sum = 0;
    for (ssize_t got; (got = read(pipe, block, sizeof block)) > 0;) sum += (int)got;
    return sum;
}

static void test_processes_share_one_budget(void **state) {
    (void)state;
    mfpg_context *ctx = testing_context(1);
    for (int repeat = testing_repeats(2); repeat > 0; repeat--) {
        int ends[2];
        pid_t child[2];
        assert_int_equal(pipe(ends), 0);
        for (int i = 0; i < 2; i++) {
            child[i] = fork();
            if (child[i] == 0) {
                spend_in_turn(ends[1], 1);
                _exit(0);
            }
        }
        close(ends[1]);
        assert_int_equal(bytes_in(ends[0]), WITHIN);
        close(ends[0]);
        for (int i = 0; i < 2; i++) assert_int_equal(exit_of(child[i]), 0);
        assert_int_equal(listed(ctx), WITHIN);
        unlink(path);
    }
    mfpg_context_destroy(ctx);
}

/* Removes what a kill between two names of a new ledger leaves. */
static void remove_parts(void) {
    char command[96];
    snprintf(command, sizeof command, "rm -f %s/*.part", folder);
    assert_int_equal(system(command), 0);
}

/* SIGKILL at any moment, and again in the run that goes on: the file can always be read and gone on with, lists everything that
 * left, and never holds more than the budget. */
static void test_kills_lose_no_release_and_break_no_budget(void **state) {
    (void)state;
    uint64_t random = announced_seed();
    mfpg_context *ctx = testing_context(1);
    for (int repeat = testing_repeats(10); repeat > 0; repeat--) {
        int left = 0;
        for (int kills = 0; kills < 3; kills++) {
            int ends[2];
            assert_int_equal(pipe(ends), 0);
            pid_t child = fork();
            if (child == 0) {
                spend_in_turn(ends[1], repeat % 2);
                _exit(0);
            }
            close(ends[1]);
            const struct timespec wait = {.tv_nsec = (long)random_scale(&random, 1e4, 4e7)};
            nanosleep(&wait, NULL);
            kill(child, SIGKILL);
            left += bytes_in(ends[0]);
            close(ends[0]);
            int code = exit_of(child);
            assert_true(code == -1 || code == 0);
            if (access(path, F_OK) != 0) continue; /* killed before there was one: then nothing left either */
            int lines = listed(ctx);
            if (left > lines || lines > WITHIN) fail_msg("%d left, %d are listed", left, lines);
        }
        int ends[2];
        assert_int_equal(pipe(ends), 0);
        spend_in_turn(ends[1], 0); /* what is there can be gone on with */
        close(ends[0]);
        close(ends[1]);
        assert_int_equal(listed(ctx), WITHIN);
        unlink(path);
        remove_parts();
    }
    mfpg_context_destroy(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(test_a_budget_lasts_to_the_release_before_it_would_break, remove_file),
        cmocka_unit_test_teardown(test_without_a_budget_everything_sound_is_admitted, remove_file),
        cmocka_unit_test_teardown(test_what_was_appended_is_spent, remove_file),
        cmocka_unit_test_teardown(test_a_writer_may_have_a_smaller_budget_and_no_larger_one, remove_file),
        cmocka_unit_test_teardown(test_the_beginning_of_a_line_is_cut_off_and_nothing_else, remove_file),
        cmocka_unit_test_teardown(test_a_file_that_loses_lines_or_its_name_admits_nothing, remove_file),
        cmocka_unit_test_teardown(test_threads_share_one_budget, remove_file),
        cmocka_unit_test_teardown(test_a_forked_child_writes_with_no_ledger_of_its_parent, remove_file),
        cmocka_unit_test_teardown(test_processes_share_one_budget, remove_file),
        cmocka_unit_test_teardown(test_kills_lose_no_release_and_break_no_budget, remove_file),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
