/* Runs that are interrupted at any point and go on: the same bytes as one that was not, for every kind of run and any
 * number of threads; what the ledger lists and the checkpoint does not know; refusals. */
#include "resume.h"

#include <sys/resource.h>
#include <time.h>

#include "federation/checkpoint.h"
#include "resume_kinds.h"

/* The run without an interruption, and what it would have left after each of its rounds; returns their number. */
static int make_reference(const char *name, const char *text, snapshot after[MOST_ROUNDS]) {
    const run_plan straight = {.text = text, .folder = "reference", .threads = 1, .after = after};
    int rounds = 0;
    memset(after, 0, MOST_ROUNDS * sizeof *after);
    if (run_here(ctx, &straight) != MFPG_OK) fail_msg("%s: %s", name, mfpg_context_message(ctx));
    while (rounds < MOST_ROUNDS && after[rounds].bytes[0]) rounds++;
    if (rounds < 2) fail_msg("%s: %d rounds", name, rounds);
    return rounds;
}

static void forget_reference(snapshot after[MOST_ROUNDS]) {
    for (int t = 0; t < MOST_ROUNDS; t++) forget(&after[t]);
    remove_run("reference");
}

static void restart_without_checkpoint(const char *folder) {
    if (!exists(folder, "checkpoint") && !exists(folder, "summary.json")) remove_run(folder);
}

/* Goes on with the files that stand in the folder. */
static void expect_rest(const run_plan *plan, const char *name, int64_t after) {
    mfpg_context *own = testing_context(plan->threads);
    if (run_here(own, plan) != MFPG_OK)
        fail_msg("%s: gone after round %d: %s", name, (int)after, mfpg_context_message(own));
    mfpg_context_destroy(own);
    check_same_run("a", "reference", name);
    remove_run("a");
}

/* As if the process were gone after every round in turn, before its checkpoint, and once more two rounds later; each time
 * with another number of threads. */
static void test_every_kind_of_run_goes_on_after_every_round(void **state) {
    (void)state;
    static const int threads[] = {1, 2, 4};
    snapshot after[MOST_ROUNDS], again[MOST_ROUNDS] = {0};
    for (int i = 0; i < KINDS; i++) {
        int rounds = make_reference(kinds[i].name, kinds[i].text, after);
        for (int t = 0; t + 1 < rounds; t++) {
            run_plan plan = {.text = kinds[i].text, .folder = "a", .resume = 1, .threads = threads[t % 3]};
            lay_out(&after[t], "a");
            plan.after = again;
            expect_rest(&plan, kinds[i].name, t + 1);
            int later = t + 2 < rounds ? t + 2 : t + 1;
            plan.after = NULL;
            plan.threads = threads[(t + 1) % 3];
            lay_out(&again[later], "a");
            expect_rest(&plan, kinds[i].name, later + 1);
            for (int k = 0; k < MOST_ROUNDS; k++) forget(&again[k]);
        }
        forget_reference(after);
    }
}

/* A stop leaves results of the complete rounds; they are those of the run when it has gone on. */
static void test_a_run_that_was_stopped_goes_on(void **state) {
    (void)state;
    snapshot after[MOST_ROUNDS];
    for (int i = 0; i < KINDS; i += 3) {
        make_reference(kinds[i].name, kinds[i].text, after);
        run_plan plan = {.text = kinds[i].text, .folder = "a", .threads = 2, .stop_after = 1};
        assert_int_equal(run_here(ctx, &plan), MFPG_ERR_INTERRUPTED);
        assert_true(exists("a", "summary.json") && exists("a", "checkpoint"));
        plan.resume = 1;
        plan.stop_after = 3;
        assert_int_equal(run_here(ctx, &plan), MFPG_ERR_INTERRUPTED);
        plan.stop_after = 0;
        expect_rest(&plan, kinds[i].name, 3);
        forget_reference(after);
    }
}

/* ---- killed at any moment ---- */

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static const char long_run[] =
    "seed: 1\nmethod: mfpg\nprivacy: {unit: example, stop_at_epsilon: 30}\ngame: {cost: paper, update: "
    "each-round, loss_noise: 9, gradient_noise: 9}\ntrain: {rounds: 40, client_rate: 0.8, checkpoint: "
    "3}\n" DATA;

/* A run is killed again and again until it is through, and then the next one, until 50 kills have struck. Moments are drawn
 * over half of the time that a whole run takes. */
static void test_fifty_kills_at_random_moments_change_nothing(void **state) {
    (void)state;
    const run_plan straight = {.text = long_run, .folder = "reference", .threads = 1};
    double begun = now();
    assert_int_equal(run_apart(&straight), MFPG_OK);
    double whole = now() - begun;
    srand48((long)testing_seed());
    int kills = 0, rounds = 0,
        wanted = TESTING_SANITIZED ? 1 : testing_repeats(50); /* forks are slow there */
    for (; kills < wanted; rounds++) {
        run_plan plan = {.text = long_run, .folder = "a"};
        int code;
        double patience = 0.5 * whole; /* grows: a start may take longer than all rounds */
        do {
            restart_without_checkpoint("a");
            plan.resume = exists("a", "checkpoint");
            plan.threads = 1 << lrand48() % 3;
            pid_t process = start_run(&plan);
            usleep((useconds_t)(drand48() * 1e6 * patience));
            patience *= 1.1;
            kill(process, SIGKILL);
            code = end_run(process);
            kills += code == 1000;
            if (exists("a", "summary.json") && !exists("a", "checkpoint"))
                code = MFPG_OK; /* on its way out */
            if (code != 1000 && code != MFPG_OK) fail_msg("status %d after %d kills", code, kills);
        } while (code != MFPG_OK);
        check_same_run("a", "reference", "killed");
        remove_run("a");
        if (rounds > 1000) fail_msg("no kill strikes");
    }
    remove_run("reference");
}

/* ---- F26: the same epsilon after an interruption ---- */

static double first_epsilon(const char *folder) {
    size_t size = 0;
    double epsilon = 0.0;
    char *csv = bytes_of(folder, "clients.csv", &size);
    assert_non_null(csv);
    csv[size] = 0;
    assert_int_equal(sscanf(strchr(csv, '\n') + 1, "0,,%*[^,],,%lf,", &epsilon), 1);
    free(csv);
    return epsilon;
}

/* 500 + resume + 500 rounds at rate 0.01 and noise 1: 2.1014 by Renyi DP (dp-accounting, as in vectors/rdp.csv), as for 1000
 * straight ones. Gone at once after the 500th; and between two checkpoints, the ledger 50 rounds ahead. The model has the
 * bits of the straight run, so every round took its batch and its noise from its own place in the stream. */
static void test_epsilon_and_noise_count_every_round_once(void **state) {
    (void)state;
    static const char text[] =
        "seed: 1\nmethod: dp-sgd\nprivacy: {unit: example, accountant: rdp}\nnoise: {multiplier: 1}\n"
        "train: {rounds: 1000, batch: {rate: 0.01}, checkpoint: 500}\nevaluate_every: 500\n" DATA;
    const run_plan straight = {.text = text, .folder = "reference", .threads = 1};
    CHECK_OK(ctx, run_here(ctx, &straight));
    check_near(first_epsilon("reference"), 2.1014, 0, 5e-5, "epsilon of 1000 rounds");
    for (int64_t gone = 500; gone <= 550; gone += 50) {
        run_plan plan = {.text = text, .folder = "a", .threads = 1, .exit_after = gone};
        assert_int_equal(run_apart(&plan), 77);
        plan.resume = 1;
        plan.exit_after = 0;
        CHECK_OK(ctx, run_here(ctx, &plan));
        check_near(first_epsilon("a"), 2.1014, 0, 5e-5, "epsilon of 500 and 500 rounds");
        check_same_run("a", "reference", "500 + resume + 500");
        remove_run("a");
    }
    remove_run("reference");
}

/* ---- randomness of the system ---- */

static void test_a_key_of_the_system_stands_in_the_checkpoint_alone(void **state) {
    (void)state;
    static const char text[] = "method: dp-sgd\n" DATA FIVE;
    run_plan plan = {.text = text, .folder = "a", .threads = 1, .exit_after = 4};
    assert_int_equal(run_apart(&plan), 77);
    struct stat info;
    assert_int_equal(stat(below("a", "checkpoint"), &info), 0);
    assert_int_equal(info.st_mode & 0777, 0600);
    mfpg_checkpoint checkpoint = {0};
    CHECK_OK(ctx, mfpg_checkpoint_read(ctx, below("a", "checkpoint"), &checkpoint));
    assert_false(checkpoint.identity.key.seeded);
    const mfpg_key key = checkpoint.identity.key;
    mfpg_checkpoint_clear(&checkpoint);
    size_t ledger_size = 0, size = 0;
    char *ledger = bytes_of("a", "ledger", &ledger_size);
    plan.resume = 1;
    plan.exit_after = 0;
    assert_int_equal(
        run_apart(&plan), MFPG_OK); /* the data are split by the same key, or it would be refused */
    char *after = bytes_of("a", "ledger", &size);
    assert_true(size > ledger_size && memcmp(after, ledger, ledger_size) == 0);
    free(ledger);
    free(after);
    assert_false(exists("a", "checkpoint"));
    DIR *directory = opendir(below("a", ""));
    for (struct dirent *item; (item = readdir(directory));) {
        char *bytes = item->d_name[0] == '.' ? NULL : bytes_of("a", item->d_name, &size);
        if (bytes) assert_null(memmem(bytes, size, key.bytes, sizeof key.bytes));
        free(bytes);
    }
    closedir(directory);
    remove_run("a");
}

/* ---- refusals ---- */

static const char plain[] = "seed: 1\nmethod: dp-sgd\n" DATA FIVE;

/* A folder whose process was gone after round 3: the checkpoint is of round 2, the ledger holds round 3. */
static void leave_interrupted(const char *text) {
    const run_plan plan = {.text = text, .folder = "a", .threads = 1, .exit_after = 3};
    remove_run("a");
    assert_int_equal(run_apart(&plan), 77);
}

/* Refused with these words, and not a byte of the ledger changed. */
static void expect_refused(const char *text, const char *one, const char *other) {
    const run_plan plan = {.text = text, .folder = "a", .resume = 1, .threads = 1};
    size_t before = 0, after = 0;
    char *ledger = bytes_of("a", "ledger", &before);
    mfpg_status status = run_here(ctx, &plan);
    if (status != MFPG_ERR_INPUT)
        fail_msg("status %d, not refused for '%s': %s", (int)status, one, mfpg_context_message(ctx));
    MESSAGE_HOLDS(one, other);
    char *left = bytes_of("a", "ledger", &after);
    assert_true(before == after && (before == 0 || memcmp(ledger, left, after) == 0));
    free(ledger);
    free(left);
}

static void expect_goes_on(const char *text) {
    const run_plan plan = {.text = text, .folder = "a", .resume = 1, .threads = 1};
    CHECK_OK(ctx, run_here(ctx, &plan));
}

static void test_another_configuration_is_refused_by_its_key(void **state) {
    (void)state;
    leave_interrupted(plain);
    expect_refused("seed: 2\nmethod: dp-sgd\n" DATA FIVE, "seed: 2", "1 in that of the run");
    expect_refused("seed: 1\nmethod: mfep\n" DATA FIVE, "method: mfep", "dp-sgd");
    expect_refused("seed: 1\nmethod: dp-sgd\nprivacy: {delta: 1e-6}\n" DATA FIVE, "privacy.delta", "1e-06");
    expect_goes_on("seed: 1\nmethod: dp-sgd\nprivacy: {delta: 1e-5}\n" DATA FIVE); /* the same, said */
    remove_run("a");
}

static void replace_in(const char *name, const char *from, const char *to) {
    size_t size = 0;
    char *text = bytes_of("a", name, &size);
    assert_non_null(text);
    text[size] = 0;
    char *at = strstr(text, from);
    assert_non_null(at);
    assert_int_equal(strlen(from), strlen(to));
    memcpy(at, to, strlen(to));
    put_bytes("a", name, text, size);
    free(text);
}

static void test_a_changed_config_yaml_is_named(void **state) {
    (void)state;
    leave_interrupted(plain);
    replace_in("config.yaml", "clip: 1", "clip: 2");
    expect_refused(plain, "config.yaml: was changed", "privacy.clip: 2");
    replace_in("config.yaml", "clip: 2", "clip: 1");
    replace_in("config.yaml", "# mfpg", "# MFPG");
    expect_refused(plain, "config.yaml", "was changed since the run began");
    replace_in("config.yaml", "# MFPG", "# mfpg");
    expect_goes_on(plain);
    remove_run("a");
}

static void write_data(const char *text) {
    char path[128];
    snprintf(path, sizeof path, "%s/d.csv", base);
    write_file(path, text);
}

static void test_other_data_and_other_preferences_are_refused(void **state) {
    (void)state;
    static const char text[] =
        "seed: 1\nmethod: mapg-dp\ndata: {files: [d.csv], partition: {kind: iid, clients: 2}}\n" FIVE
        "game: {curvature: 1, preferences: {file: p.csv, column: p}}\n";
    char path[128];
    snprintf(path, sizeof path, "%s/p.csv", base);
    write_file(path, "p\n1\n0.5\n");
    static const char rows[] = "a,y\n1,0\n2,1\n3,0\n4,1\n5,0\n6,1\n7,0\n8,1\n9,0\n10,1\n";
    write_data(rows);
    leave_interrupted(text);
    write_data("a,y\n1,0\n2,1\n3,0\n4,1\n5,0\n6,1\n7,0\n8,1\n9,0\n10,0\n");
    expect_refused(text, "the data are not those", "data.files");
    write_data(rows);
    write_file(path, "p\n1\n0.9\n");
    expect_refused(text, "the game, actions", "a file that");
    write_file(path, "p\n1\n0.5\n");
    expect_goes_on(text);
    remove_run("a");
    assert_int_equal(remove(path), 0);
    snprintf(path, sizeof path, "%s/d.csv", base);
    assert_int_equal(remove(path), 0);
}

/* Names come from the data and stand in the results. */
static void test_a_client_of_another_name_is_refused(void **state) {
    (void)state;
    static const char text[] =
        "seed: 1\nmethod: dp-sgd\ndata: {files: [d.csv], partition: {kind: column, column: c}}\n" FIVE;
    static const char rows[] = "a,c,y\n1,north,0\n2,north,1\n3,north,0\n4,south,1\n5,south,0\n6,south,1\n";
    static const char renamed[] = "a,c,y\n1,north,0\n2,north,1\n3,north,0\n4,zouth,1\n5,zouth,0\n6,zouth,1\n";
    char path[128];
    snprintf(path, sizeof path, "%s/d.csv", base);
    write_data(rows);
    leave_interrupted(text);
    write_data(renamed);
    expect_refused(text, "the data are not those", "data.files");
    write_data(rows);
    expect_goes_on(text);
    remove_run("a");
    assert_int_equal(remove(path), 0);
}

static void test_a_ledger_that_lost_lines_is_refused(void **state) {
    (void)state;
    leave_interrupted(plain);
    size_t size = 0;
    char *ledger = bytes_of("a", "ledger", &size);
    size_t cut[5] = {0}, lines = 0;
    for (size_t i = 0; i < size; i++)
        if (ledger[i] == '\n' && lines < 5) cut[lines++] = i + 1;
    assert_int_equal(lines, 4); /* the header and three rounds, alike for all clients */
    put_bytes("a", "ledger", ledger, cut[1]);
    expect_refused(plain, "ledger", "lines were removed or replaced");
    put_bytes("a", "ledger", ledger, cut[0]);
    expect_refused(plain, "ledger", "lines were removed or replaced");
    put_bytes("a", "ledger", ledger, cut[2]); /* round 3 was not written down: the kill came before */
    expect_goes_on(plain);
    char *whole = bytes_of("a", "ledger", &size);
    assert_memory_equal(whole, ledger, cut[3]);
    free(whole);
    leave_interrupted(plain);
    put_bytes("a", "ledger", ledger, cut[3] - 20); /* or in the middle of it */
    expect_goes_on(plain);
    whole = bytes_of("a", "ledger", &size);
    assert_memory_equal(whole, ledger, cut[3]);
    free(whole);
    free(ledger);
    remove_run("a");
}

static void test_there_has_to_be_something_to_resume(void **state) {
    (void)state;
    const run_plan straight = {.text = plain, .folder = "a", .threads = 1};
    expect_refused(plain, "No such file", "no run to resume");
    assert_int_equal(mkdir(below("a", ""), 0777), 0);
    expect_refused(plain, "not a run folder", "neither a checkpoint nor a ledger");
    assert_int_equal(rmdir(below("a", "")), 0);
    assert_int_equal(run_apart(&straight), MFPG_OK);
    expect_refused(plain, "is complete", "nothing to resume");
    remove_run("a");
    leave_interrupted("seed: 1\nmethod: dp-sgd\n" DATA "train: {rounds: 5, checkpoint: none}\n");
    expect_refused(plain, "there is no checkpoint", "stays released");
    remove_run("a");
}

/* The checkpoint of a run, changed by somebody who seals it again. */
static void forge(void (*change)(mfpg_checkpoint *c)) {
    mfpg_checkpoint checkpoint = {0};
    CHECK_OK(ctx, mfpg_checkpoint_read(ctx, below("a", "checkpoint"), &checkpoint));
    change(&checkpoint);
    CHECK_OK(ctx, mfpg_checkpoint_write(ctx, below("a", "checkpoint"), &checkpoint));
    mfpg_checkpoint_clear(&checkpoint);
}

static float *model_of(mfpg_checkpoint *c) {
    return mfpg_loop_state_part(&c->loop, MFPG_STATE_MODEL);
}
static mfpg_saved_client *clients_of(mfpg_checkpoint *c) {
    return mfpg_loop_state_part(&c->loop, MFPG_STATE_CLIENTS);
}
static void change_model(mfpg_checkpoint *c) {
    model_of(c)[0] += 1.0f;
}
static void forget_announcements(mfpg_checkpoint *c) {
    c->told.count = 0;
}
static void change_rounds(mfpg_checkpoint *c) {
    clients_of(c)[1].rounds--;
}
static void change_stop(mfpg_checkpoint *c) {
    clients_of(c)[1].stopped_before = 1;
}
static void break_model(mfpg_checkpoint *c) {
    model_of(c)[0] = (float)NAN;
}
static void change_key(mfpg_checkpoint *c) {
    c->identity.key.bytes[5] ^= 1;
}
static void change_round(mfpg_checkpoint *c) {
    c->loop.round--;
}

/* A round that is played again has to release the same, or it would be a second release that no ledger lists. */
static void test_a_repeated_round_has_to_release_the_same(void **state) {
    (void)state;
    leave_interrupted(plain);
    forge(change_model);
    expect_refused(plain, "round 3, repeated, would release other values", "Start a new run instead");
    leave_interrupted(plain);
    forge(forget_announcements);
    expect_refused(plain, "ledger, round 3", "nothing is left that shows");
    remove_run("a");
}

static void test_what_a_forger_seals_again_has_to_fit(void **state) {
    (void)state;
    static const struct {
        void (*change)(mfpg_checkpoint *c);
        const char *words;
    } forgeries[] = {{change_rounds, "the ledger counts other rounds"}, {change_stop, "could not"},
        {break_model, "not finite"}, {change_key, "not that of the seed"},
        {change_round, "lines were removed"}};
    for (size_t i = 0; i < sizeof forgeries / sizeof forgeries[0]; i++) {
        leave_interrupted(plain);
        forge(forgeries[i].change);
        expect_refused(plain, forgeries[i].words, "");
    }
    remove_run("a");
}

/* ---- two at once ---- */

static int64_t waits_in;

static void wait_for_kill(void *user, const mfpg_round_report *report, int64_t rounds) {
    (void)user;
    (void)rounds;
    if (report->round < waits_in) return;
    put_bytes("ready", "", "", 0);
    for (;;) pause();
}

static void test_a_second_process_is_refused(void **state) {
    (void)state;
    waits_in = 3;
    pid_t process = fork();
    if (process == 0) {
        mfpg_experiment *experiment = NULL;
        mfpg_config *config = load(plain);
        mfpg_run_options options = {.folder = below("a", ""), .progress = wait_for_kill};
        if (mfpg_experiment_create(ctx, config, &experiment) == MFPG_OK)
            mfpg_experiment_run(ctx, experiment, &options);
        _exit(1);
    }
    while (access(below("ready", ""), F_OK) != 0) usleep(1000);
    expect_refused(plain, "another process is writing to it", "a");
    kill(process, SIGKILL);
    assert_int_equal(end_run(process), 1000);
    expect_goes_on(plain);
    assert_int_equal(remove(below("ready", "")), 0);
    remove_run("a");
}

/* ---- a full disk ---- */

/* A model of 4 kB: the checkpoint is larger than the ledger and reaches the limit first, a report a round. */
static const char wide[] =
    "seed: 1\nmethod: dp-sgd\ndata: {format: synthetic, clients: 3, rows: 12, dimension: "
    "1000}\ntrain: {rounds: 10, checkpoint: 1}\n";

static int run_with_limit(rlim_t limit, int resume) {
    pid_t process = fork();
    assert_true(process >= 0);
    if (process > 0) return end_run(process);
    const struct rlimit both = {limit, limit};
    const run_plan plan = {.text = wide, .folder = "a", .resume = resume, .threads = 1};
    signal(SIGXFSZ, SIG_IGN);
    setrlimit(RLIMIT_FSIZE, &both);
    mfpg_status status = run_here(ctx, &plan);
    const char *message = mfpg_context_message(ctx);
    int clear =
        strstr(message, "File too large") && strstr(message, "completed: ") && strstr(message, "--resume");
    _exit(status == MFPG_OK || clear ? (int)status : 98);
}

static void test_a_full_disk_leaves_the_last_good_checkpoint(void **state) {
    (void)state;
    const run_plan straight = {.text = wide, .folder = "reference", .threads = 1};
    assert_int_equal(run_apart(&straight), MFPG_OK);
    const run_plan first = {.text = wide, .folder = "a", .threads = 1, .exit_after = 1};
    assert_int_equal(run_apart(&first), 77);
    struct stat info;
    assert_int_equal(stat(below("a", "checkpoint"), &info), 0);
    remove_run("a");
    int stopped = 0;
    for (int more = 0; more < 6;
         more++) { /* full in the announcement, in the next checkpoint, in one of the next ones */
        rlim_t limit = (rlim_t)info.st_size + (rlim_t)(more * 70);
        int code = run_with_limit(limit, 0);
        assert_int_equal(code, MFPG_ERR_IO);
        stopped++;
        assert_true(exists("a", "checkpoint") && !exists("a", "checkpoint.part"));
        assert_int_equal(run_with_limit(RLIM_INFINITY, 1), MFPG_OK);
        check_same_run("a", "reference", "full disk");
        remove_run("a");
    }
    assert_int_equal(stopped, 6);
    remove_run("reference");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_kind_of_run_goes_on_after_every_round),
        cmocka_unit_test(test_a_run_that_was_stopped_goes_on),
        cmocka_unit_test(test_fifty_kills_at_random_moments_change_nothing),
        cmocka_unit_test(test_epsilon_and_noise_count_every_round_once),
        cmocka_unit_test(test_a_key_of_the_system_stands_in_the_checkpoint_alone),
        cmocka_unit_test(test_another_configuration_is_refused_by_its_key),
        cmocka_unit_test(test_a_changed_config_yaml_is_named),
        cmocka_unit_test(test_other_data_and_other_preferences_are_refused),
        cmocka_unit_test(test_a_client_of_another_name_is_refused),
        cmocka_unit_test(test_a_ledger_that_lost_lines_is_refused),
        cmocka_unit_test(test_there_has_to_be_something_to_resume),
        cmocka_unit_test(test_a_repeated_round_has_to_release_the_same),
        cmocka_unit_test(test_what_a_forger_seals_again_has_to_fit),
        cmocka_unit_test(test_a_second_process_is_refused),
        cmocka_unit_test(test_a_full_disk_leaves_the_last_good_checkpoint),
    };
    open_base();
    int failed = cmocka_run_group_tests(tests, open_context, close_context);
    close_base();
    return failed;
}
