/* Ledgers of secure sums: what they hold, that no attempt is used twice, and that whatever contradicts itself is refused. */
#include "accountants/ledger_fixture.h"

#include <signal.h>
#include <sys/wait.h>

#include "accountants/accounting.h"
#include "accountants/ledger/ledger.h"

#define CHECK_FAILS(ctx, call, status, message)                                                              \
    do {                                                                                                     \
        assert_int_equal(call, status);                                                                      \
        if (!strstr(mfpg_context_message(ctx), message)) fail_msg("%s", mfpg_context_message(ctx));          \
    } while (0)

enum { CLIENTS = 5 };

static const mfpg_ledger_header header = {.clients = CLIENTS,
    .promise = {MFPG_UNIT_CLIENT, MFPG_ADJACENCY_ZERO_OUT, MFPG_VIEW_AVERAGE},
    .delta = 1e-5,
    .secure_sum = 1};

/* Noise 2 of every client, of whom two others certainly are in the sum: last_sd 2 sqrt 3. */
static mfpg_release share_of(int64_t round, int64_t attempt, int64_t client) {
    mfpg_release release = release_of(1.0, 2.0);
    release.round = release.sum_round = round;
    release.client = client;
    release.weight = 0.2;
    release.contraction = 1.0;
    release.grid = 0.03125;
    release.last_sd = 2.0 * sqrt(3.0);
    release.run = INT64_C(0xFEDCBA987654);
    release.attempt = attempt;
    release.members = CLIENTS;
    release.threshold = 4;
    release.colluders = 1;
    return release;
}

static mfpg_survivors survivors_of(int64_t round, int64_t attempt, int64_t client, int64_t count) {
    return (mfpg_survivors){round, attempt, client, count, 2.0 * sqrt((double)count - 1.0)};
}

static mfpg_ledger *create(mfpg_context *ctx, const mfpg_ledger_header *of) {
    mfpg_ledger *ledger = NULL;
    CHECK_OK(ctx, mfpg_ledger_create(ctx, path, of, &ledger));
    return ledger;
}

static mfpg_status append(mfpg_context *ctx, mfpg_ledger *ledger, int64_t round, int64_t attempt) {
    mfpg_release release[CLIENTS];
    for (int k = 0; k < CLIENTS; k++) release[k] = share_of(round, attempt, k);
    return mfpg_ledger_append(ctx, ledger, release, CLIENTS);
}

/* Clients 0, 1 and 3 with another number of survivors than client 2; client 4 dropped out. */
static mfpg_status append_survivors(mfpg_context *ctx, mfpg_ledger *ledger, int64_t round, int64_t attempt) {
    const mfpg_survivors known[] = {survivors_of(round, attempt, 0, 4), survivors_of(round, attempt, 1, 4),
        survivors_of(round, attempt, 2, 5), survivors_of(round, attempt, 3, 4)};
    return mfpg_ledger_survivors(ctx, ledger, known, 4);
}

/* ---- what is written is read ---- */

typedef struct visits {
    int count;
    double last_sd[8][CLIENTS]; /* by round */
    int64_t attempt[8][CLIENTS];
} visits;

static mfpg_status visit(void *user, const mfpg_release *release, int64_t first, int64_t last) {
    visits *all = user;
    for (int64_t k = first; k <= last; k++) {
        mfpg_release wanted = share_of(release->round, release->attempt, release->client);
        all->count++;
        all->last_sd[release->round][k] = release->last_sd;
        all->attempt[release->round][k] = release->attempt;
        wanted.last_sd = release->last_sd;
        assert_true(mfpg_release_equal(&wanted, release, MFPG_RELEASE_WRITTEN));
    }
    return MFPG_OK;
}

static void test_releases_and_survivors_read_back(void **state) {
    (void)state;
    mfpg_context *ctx = testing_context(1);
    mfpg_ledger *ledger = create(ctx, &header);
    mfpg_ledger_header read;
    CHECK_OK(ctx, append(ctx, ledger, 1, 1));
    CHECK_OK(ctx, append_survivors(ctx, ledger, 1, 1));
    CHECK_OK(ctx, append(ctx, ledger, 2, 1)); /* this sum failed */
    CHECK_OK(ctx, append(ctx, ledger, 2, 3)); /* an attempt may be left out */
    CHECK_OK(ctx, append_survivors(ctx, ledger, 2, 3));
    mfpg_ledger_close(ledger);
    visits all = {0}, survived = {0};
    CHECK_OK(ctx, mfpg_ledger_read(ctx, path, &read, visit, &all, NULL));
    assert_true(read.secure_sum && all.count == 3 * CLIENTS);
    for (int k = 0; k < CLIENTS; k++)
        assert_true(all.last_sd[2][k] == 2.0 * sqrt(3.0) && all.attempt[2][k] == 3);
    mfpg_ledger_end end;
    CHECK_OK(ctx, mfpg_ledger_read_survived(ctx, path, &read, visit, &survived, &end));
    assert_int_equal(survived.count, 3 * CLIENTS);
    assert_int_equal(end.lines, 1 + 3 + 2 * 3);
    const double known[] = {2.0 * sqrt(3.0), 2.0 * sqrt(3.0), 4.0, 2.0 * sqrt(3.0), 2.0 * sqrt(3.0)};
    for (int r = 1; r <= 2; r++)
        for (int k = 0; k < CLIENTS; k++) assert_true(survived.last_sd[r][k] == known[k]);
    mfpg_context_destroy(ctx);
}

/* Ledgers without secure sums keep their version, so that earlier programs read them. */
static void test_only_ledgers_of_secure_sums_are_of_version_5(void **state) {
    (void)state;
    mfpg_context *ctx = testing_context(1);
    for (int secure = 0; secure < 2; secure++) {
        mfpg_ledger_header own = header;
        size_t length;
        own.secure_sum = secure;
        mfpg_ledger_close(create(ctx, &own));
        char *text = file_text(&length);
        assert_int_equal(strstr(text, "\"mfpg_ledger\":5,") != NULL, secure);
        assert_int_equal(strstr(text, "\"mfpg_ledger\":4,") != NULL, !secure);
        assert_int_equal(strstr(text, "\"secure_sum\":true") != NULL, secure);
        free(text);
        unlink(path);
    }
    mfpg_context_destroy(ctx);
}

/* ---- no attempt twice ---- */

static mfpg_status spend(
    mfpg_context *ctx, mfpg_ledger *ledger, int64_t run, int64_t round, int64_t attempt) {
    mfpg_release release = share_of(round, attempt, 0);
    mfpg_spending answer;
    release.round = -1;
    release.run = run;
    mfpg_status status = mfpg_ledger_spend(ctx, ledger, &release, &answer);
    if (status == MFPG_OK) assert_true(answer.admitted);
    return status;
}

static void test_no_attempt_is_used_twice(void **state) {
    (void)state;
    mfpg_context *ctx = testing_context(1);
    mfpg_ledger_header site = header;
    site.clients = 1;
    mfpg_ledger *ledger = create(ctx, &site);
    const struct {
        int64_t run, round, attempt;
        int admitted;
    } rows[] = {{7, 3, 1, 1}, {7, 3, 1, 0}, {7, 3, 2, 1}, {7, 3, 1, 0}, {7, 2, 9, 0}, {7, 4, 1, 1},
        {8, 1, 1, 1}, {8, 1, 1, 0}, {7, 4, 1, 0}, {7, 4, 2, 1}, {8, 1, 2, 1}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        mfpg_status status = spend(ctx, ledger, rows[i].run, rows[i].round, rows[i].attempt);
        if (rows[i].admitted)
            CHECK_OK(ctx, status);
        else
            CHECK_FAILS(ctx, status, MFPG_ERR_DOMAIN, "an attempt is never used twice");
        if (i % 2 == 0) continue;
        mfpg_ledger_close(ledger); /* the file remembers */
        CHECK_OK(ctx, mfpg_ledger_open(ctx, path, 0.0, &ledger));
    }
    assert_int_equal(mfpg_ledger_tell(ledger).round, 6);
    mfpg_ledger_close(ledger);
    mfpg_context_destroy(ctx);
}

/* A site is killed at random between its lines; whatever it had answered stays refused. The parent plays the server, which
 * asks for the same attempts again and again. */
static void test_kills_between_the_lines_admit_no_attempt_twice(void **state) {
    (void)state;
    enum { ATTEMPTS = 40, KILLS = 6 };
    uint64_t random = testing_seed();
    mfpg_context *ctx = testing_context(1);
    mfpg_ledger_header site = header;
    int admitted[ATTEMPTS + 1] = {0}, channel[2];
    site.clients = 1;
    mfpg_ledger_close(create(ctx, &site));
    for (int kill_number = 0; kill_number < KILLS; kill_number++) {
        assert_int_equal(pipe(channel), 0);
        pid_t child = fork();
        assert_true(child >= 0);
        if (child == 0) {
            mfpg_ledger *ledger = NULL;
            mfpg_context *own = testing_context(1);
            if (mfpg_ledger_open(own, path, 0.0, &ledger) != MFPG_OK) _exit(1);
            for (int attempt = 1; attempt <= ATTEMPTS; attempt++) {
                if (spend(own, ledger, 7, 1, attempt) != MFPG_OK) continue;
                const mfpg_survivors known = survivors_of(mfpg_ledger_tell(ledger).round, attempt, 0, 4);
                char word = (char)attempt; /* what leaves */
                if (write(channel[1], &word, 1) != 1) _exit(1);
                if (mfpg_ledger_survivors(own, ledger, &known, 1) != MFPG_OK) _exit(1);
            }
            _exit(0);
        }
        close(channel[1]);
        int wanted = 1 + (int)(8 * random_unit(&random)); /* this many releases leave before the kill */
        char word;
        for (int i = 0; i < wanted && read(channel[0], &word, 1) == 1; i++) admitted[(int)word]++;
        kill(child, SIGKILL);
        assert_int_equal(waitpid(child, NULL, 0), child);
        while (read(channel[0], &word, 1) == 1) admitted[(int)word]++;
        close(channel[0]);
    }
    int sent = 0;
    for (int attempt = 1; attempt <= ATTEMPTS; attempt++) {
        assert_true(admitted[attempt] <= 1);
        sent += admitted[attempt];
    }
    mfpg_ledger *ledger = NULL;
    CHECK_OK(ctx, mfpg_ledger_open(ctx, path, 0.0, &ledger));
    int64_t listed = mfpg_ledger_tell(ledger).round;
    assert_true(sent >= KILLS && listed >= sent &&
                listed <= sent + KILLS); /* a kill loses at most what did not leave */
    mfpg_ledger_close(ledger);
    mfpg_context_destroy(ctx);
}

/* ---- what contradicts itself ---- */

static void test_releases_that_contradict_themselves_are_refused(void **state) {
    (void)state;
    mfpg_context *ctx = testing_context(1);
    mfpg_ledger *ledger = create(ctx, &header);
#define WRONG(field, value, message)                                                                         \
    do {                                                                                                     \
        mfpg_release wrong = share_of(1, 1, 0);                                                              \
        wrong.field = value;                                                                                 \
        CHECK_FAILS(ctx, mfpg_ledger_append(ctx, ledger, &wrong, 1), MFPG_ERR_DOMAIN, message);              \
    } while (0)
    WRONG(attempt, 0, "no attempt of a secure sum, but numbers of one");
    WRONG(attempt, -1, "attempt is not from 1");
    WRONG(run, -1, "run is not from 0");
    WRONG(run, INT64_C(1) << 48, "run is not from 0");
    WRONG(sum_round, -1, "sum_round is not from 0");
    WRONG(members, 2, "members are not from 3");
    WRONG(members, 256, "members are not from 3");
    WRONG(colluders, -1, "colluders are not from 0");
    WRONG(colluders, 5, "colluders are not from 0");
    WRONG(threshold, 3, "threshold is not above"); /* (5 + 1)/2 is not enough */
    WRONG(threshold, 6, "threshold is not above");
    WRONG(weight, 0.0, "weight 0");
    WRONG(last_sd, (double)NAN, "last_sd is not a finite number");
#undef WRONG
    mfpg_release alone = share_of(1, 1, 0);
    alone.threshold = 5;
    alone.colluders = 4; /* whoever answers may collude, but the client */
    CHECK_FAILS(ctx, mfpg_ledger_append(ctx, ledger, &alone, 1), MFPG_ERR_DOMAIN, "no other honest client");
    alone.last_sd = alone.noise_sd;
    CHECK_OK(ctx, mfpg_ledger_append(ctx, ledger, &alone, 1));
    mfpg_release outside = release_of(1.0, 2.0); /* a choice of action, say: its noise is its own */
    outside.round = 1;
    outside.last_sd = 2.5;
    CHECK_FAILS(ctx, mfpg_ledger_append(ctx, ledger, &outside, 1), MFPG_ERR_DOMAIN, "enters no secure sum");
    mfpg_ledger_close(ledger);
    unlink(path);
    mfpg_ledger_header plain = header;
    plain.secure_sum = 0;
    ledger = create(ctx, &plain);
    CHECK_FAILS(ctx, append(ctx, ledger, 1, 1), MFPG_ERR_DOMAIN, "names no secure sums");
    const mfpg_survivors known = survivors_of(1, 1, 0, 4);
    CHECK_FAILS(ctx, mfpg_ledger_survivors(ctx, ledger, &known, 1), MFPG_ERR_DOMAIN, "names no secure sums");
    mfpg_ledger_close(ledger);
    mfpg_context_destroy(ctx);
}

static void test_headers_that_contradict_themselves_are_refused(void **state) {
    (void)state;
    mfpg_context *ctx = testing_context(1);
    mfpg_ledger_header wrong[] = {header, header, header};
    const char *const message[] = {"view is not average", "records enter no secure sum", "more than 255"};
    wrong[0].promise.view = MFPG_VIEW_LOCAL;
    wrong[1].particles = MFPG_PARTICLES_DATA;
    wrong[2].clients = 256;
    for (int i = 0; i < 3; i++) {
        mfpg_ledger *ledger = NULL;
        CHECK_FAILS(ctx, mfpg_ledger_create(ctx, path, &wrong[i], &ledger), MFPG_ERR_DOMAIN, message[i]);
    }
    mfpg_context_destroy(ctx);
}

static void test_survivors_that_contradict_their_release_are_refused(void **state) {
    (void)state;
    mfpg_context *ctx = testing_context(1);
    mfpg_ledger *ledger = create(ctx, &header);
    mfpg_survivors known = survivors_of(1, 1, 0, 4);
    CHECK_FAILS(ctx, mfpg_ledger_survivors(ctx, ledger, &known, 1), MFPG_ERR_DOMAIN, "not the latest");
    CHECK_OK(ctx, append(ctx, ledger, 1, 1));
#define WRONG(change, message)                                                                               \
    do {                                                                                                     \
        mfpg_survivors wrong = known;                                                                        \
        wrong.change;                                                                                        \
        CHECK_FAILS(ctx, mfpg_ledger_survivors(ctx, ledger, &wrong, 1), MFPG_ERR_DOMAIN, message);           \
    } while (0)
    WRONG(round = 2, "not the latest");
    WRONG(attempt = 2, "not the latest");
    WRONG(client = -1, "no such client");
    WRONG(client = CLIENTS, "no such client");
    WRONG(survivors = 0, "fewer than 1");
    WRONG(survivors = 3, "not from threshold to members");
    WRONG(survivors = 6, "not from threshold to members");
    WRONG(last_sd = 3.4, "below the one promised");
    WRONG(last_sd = (double)NAN, "not a finite number");
    WRONG(last_sd = (double)INFINITY, "not a finite number");
#undef WRONG
    const mfpg_survivors twice[] = {known, known};
    CHECK_FAILS(ctx, mfpg_ledger_survivors(ctx, ledger, twice, 2), MFPG_ERR_DOMAIN, "ascending");
    CHECK_OK(ctx, mfpg_ledger_survivors(ctx, ledger, &known, 1));
    CHECK_FAILS(ctx, mfpg_ledger_survivors(ctx, ledger, &known, 1), MFPG_ERR_DOMAIN, "known already");
    mfpg_ledger_close(ledger);
    CHECK_OK(ctx, mfpg_ledger_open(ctx, path, 0.0, &ledger));
    CHECK_FAILS(ctx, mfpg_ledger_survivors(ctx, ledger, &known, 1), MFPG_ERR_DOMAIN, "known already");
    CHECK_OK(ctx, append(ctx, ledger, 1, 2));
    CHECK_FAILS(ctx, mfpg_ledger_survivors(ctx, ledger, &known, 1), MFPG_ERR_DOMAIN, "not the latest");
    mfpg_ledger_close(ledger);
    mfpg_context_destroy(ctx);
}

/* ---- damage ---- */

/* Every line left out, doubled or changed in one digit, and files whose chain is right but whose lines lie. */
static void test_damage_is_found(void **state) {
    (void)state;
    mfpg_context *ctx = testing_context(1);
    mfpg_ledger *ledger = create(ctx, &header);
    CHECK_OK(ctx, append(ctx, ledger, 1, 1));
    CHECK_OK(ctx, append_survivors(ctx, ledger, 1, 1));
    CHECK_OK(ctx, append(ctx, ledger, 2, 1));
    mfpg_ledger_close(ledger);
    size_t length;
    char *text = file_text(&length);
    for (size_t i = 0; i + 1 < length; i++) {
        text[i] ^= 1;
        write_file(text, length);
        assert_int_equal(mfpg_ledger_read(ctx, path, NULL, NULL, NULL, NULL), MFPG_ERR_INPUT);
        text[i] ^= 1;
    }
    free(text);
    mfpg_context_destroy(ctx);
}

/* Writes a ledger of these lines with a right chain. */
static void forge(const char *const *line) {
    char text[8192], chain[MFPG_LEDGER_CHAIN_SIZE] = "";
    size_t used = 0;
    for (; *line; line++) {
        size_t length = strlen(*line);
        memcpy(text + used, *line, length);
        used += mfpg_ledger_seal(text + used, length, chain);
        text[used++] = '\n';
    }
    write_file(text, used);
}

static void test_lies_under_a_right_chain_are_refused(void **state) {
    (void)state;
    mfpg_context *ctx = testing_context(1);
    mfpg_ledger_header four = header;
    four.secure_sum = 0;
    char head[MFPG_LEDGER_WRITTEN], old[MFPG_LEDGER_WRITTEN], unsure[MFPG_LEDGER_WRITTEN],
        line[MFPG_LEDGER_WRITTEN], again[MFPG_LEDGER_WRITTEN], plain[MFPG_LEDGER_WRITTEN],
        known[MFPG_LEDGER_WRITTEN], few[MFPG_LEDGER_WRITTEN];
    const mfpg_release release = share_of(1, 1, 0), second = share_of(2, 1, 1);
    mfpg_release bare = release;
    bare.run = bare.sum_round = bare.attempt = bare.members = bare.threshold = bare.colluders = 0;
    const mfpg_survivors right = survivors_of(1, 1, 0, 4), wrong = survivors_of(1, 1, 0, 2);
    head[mfpg_ledger_format_header(&header, head)] = old[mfpg_ledger_format_header(&four, old)] = 0;
    line[mfpg_ledger_format_release(&release, 0, line)] =
        again[mfpg_ledger_format_release(&second, 1, again)] = 0;
    plain[mfpg_ledger_format_release(&bare, 0, plain)] = 0;
    known[mfpg_ledger_format_survivors(&right, 0, known)] =
        few[mfpg_ledger_format_survivors(&wrong, 0, few)] = 0;
    memcpy(unsure, head, sizeof head);
    memcpy(strstr(unsure, "\"secure_sum\":true"), "\"secure_sam\":true", 17);
    const struct {
        const char *line[5], *message; /* NULL: it is fine */
    } rows[] = {{{head, line, known, again}, NULL}, {{head, line, line}, "never used twice"},
        {{head, known, line}, "not the latest"}, {{head, line, known, known}, "known already"},
        {{head, line, few}, "not from threshold"}, {{head, plain}, "enters no secure sum, but last_sd"},
        {{unsure, line}, "\"secure_sum\" must be true"}, {{old, plain}, NULL},
        {{old, line, known}, "\"particles\" must be"}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        forge(rows[i].line);
        mfpg_status status = mfpg_ledger_read(ctx, path, NULL, NULL, NULL, NULL);
        if (!rows[i].message)
            CHECK_OK(ctx, status);
        else
            CHECK_FAILS(ctx, status, MFPG_ERR_INPUT, rows[i].message);
    }
    mfpg_context_destroy(ctx);
}

/* A run that is repeated writes the same lines, wherever the file was cut. */
static void test_a_repeated_run_completes_the_file(void **state) {
    (void)state;
    mfpg_context *ctx = testing_context(1);
    mfpg_ledger *ledger = create(ctx, &header);
    for (int r = 1; r <= 3; r++) {
        CHECK_OK(ctx, append(ctx, ledger, r, 1));
        CHECK_OK(ctx, append_survivors(ctx, ledger, r, 1));
    }
    mfpg_ledger_close(ledger);
    size_t length, after, first = 0;
    char *text = file_text(&length);
    for (int lines = 0; lines < 5; first++) lines += text[first] == '\n'; /* header and round 1 */
    for (size_t cut = first; cut <= length; cut += 1 + cut % 13) {
        write_file(text, cut);
        CHECK_OK(ctx, mfpg_ledger_resume(ctx, path, &header, 2, &ledger));
        for (int r = 2; r <= 3; r++) {
            CHECK_OK(ctx, append(ctx, ledger, r, 1));
            CHECK_OK(ctx, append_survivors(ctx, ledger, r, 1));
        }
        mfpg_ledger_close(ledger);
        char *now = file_text(&after);
        assert_true(after == length && memcmp(now, text, length) == 0);
        free(now);
    }
    free(text);
    mfpg_context_destroy(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(test_releases_and_survivors_read_back, remove_file),
        cmocka_unit_test_teardown(test_only_ledgers_of_secure_sums_are_of_version_5, remove_file),
        cmocka_unit_test_teardown(test_no_attempt_is_used_twice, remove_file),
        cmocka_unit_test_teardown(test_kills_between_the_lines_admit_no_attempt_twice, remove_file),
        cmocka_unit_test_teardown(test_releases_that_contradict_themselves_are_refused, remove_file),
        cmocka_unit_test_teardown(test_headers_that_contradict_themselves_are_refused, remove_file),
        cmocka_unit_test_teardown(test_survivors_that_contradict_their_release_are_refused, remove_file),
        cmocka_unit_test_teardown(test_damage_is_found, remove_file),
        cmocka_unit_test_teardown(test_lies_under_a_right_chain_are_refused, remove_file),
        cmocka_unit_test_teardown(test_a_repeated_run_completes_the_file, remove_file)};
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
