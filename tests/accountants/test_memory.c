/* Accountants and ledgers with the k-th allocation failing, for all k until they succeed: those of the JSON library too. */
#include "accountants/accounting.h"
#include "accountants/fixture.h"

#include <unistd.h>

#include "failing_memory.h"
#include "mfpg/hidden_state.h"
#include "mfpg/calibration.h"

static char path[600]; /* of the ledger; absent between the tests */

typedef struct scene {
    mfpg_context *ctx;
    const char *kind;
    mfpg_accountant *accountant;
    mfpg_ledger_header header;
    mfpg_ledger *ledger;
    mfpg_release release[3];
} scene;

static scene begin(void) {
    scene s = {.ctx = testing_context(1),
        .header = {.clients = 3, .promise = mfpg_accountant_options_default().promise, .delta = 1e-5}};
    for (int i = 0; i < 3; i++) {
        s.release[i] = entropic_release(1.0, 2.0 + i, 0.5);
        s.release[i].round = 1;
        s.release[i].client = i;
    }
    return s;
}

/* What that accountant can record. */
static mfpg_release release_for(const mfpg_accountant *accountant) {
    mfpg_release release = entropic_release(1.0, 2.0, 0.5);
    release.particles = mfpg_accountant_particles(accountant);
    if (release.particles == MFPG_PARTICLES_DATA)
        release.contraction = 1.0;
    else
        release.sampling_rate = 0.25; /* the dearest way of those that know sampling */
    return release;
}

static mfpg_status create(void *arg) {
    scene *s = arg;
    mfpg_accountant *accountant = NULL;
    mfpg_status status = mfpg_accountant_create(s->ctx, s->kind, NULL, &accountant);
    assert_int_equal(status == MFPG_OK, accountant != NULL);
    mfpg_accountant_destroy(accountant);
    return status;
}

/* A release that could not be recorded for want of memory must not come cheaper: no bound is known any more. */
static mfpg_status record_and_ask(void *arg) {
    scene *s = arg;
    double epsilon = 0.0, delta = 0.0, after = 0.0;
    mfpg_status status = MFPG_OK;
    mfpg_release release = release_for(s->accountant);
    long left = allocations_left;
    mfpg_accountant *fresh = NULL;
    allocations_left = -1;
    CHECK_OK(s->ctx, mfpg_accountant_create(s->ctx, s->kind, NULL, &fresh));
    allocations_left = left;
    status = mfpg_accountant_record(s->ctx, fresh, &release);
    if (status != MFPG_OK) {
        allocations_left = -1;
        mfpg_accountant_epsilon(s->ctx, fresh, 1e-5, &after);
        assert_true(isinf(after));
    }
    if (status == MFPG_OK) status = mfpg_accountant_epsilon(s->ctx, fresh, 1e-5, &epsilon);
    if (status == MFPG_OK) status = mfpg_accountant_delta(s->ctx, fresh, 1.0, &delta);
    if (status != MFPG_OK) assert_true(isinf(after) || isinf(epsilon) || delta == 1.0 || isinf(delta));
    mfpg_accountant_destroy(fresh);
    return status;
}

static void test_every_accountant_survives(void **state) {
    (void)state;
    scene s = begin();
    for (ptrdiff_t i = 0; (s.kind = mfpg_kind_name(&mfpg_accountants, i)); i++) {
        assert_true(sweep_allocations(create, &s) >= 1);
        CHECK_OK(s.ctx, mfpg_accountant_create(s.ctx, s.kind, NULL, &s.accountant));
        sweep_allocations(record_and_ask, &s);
        mfpg_accountant_destroy(s.accountant);
    }
    mfpg_context_destroy(s.ctx);
}

/* Rounds that nobody sees: what cannot be worked out is an error, and mu that of rounds that were all seen. */
static mfpg_status record_hidden(void *arg) {
    scene *s = arg;
    mfpg_accountant_options options = mfpg_accountant_options_default();
    mfpg_accountant *accountant = NULL;
    mfpg_release release = entropic_release(0.2, 0.5, 0.5);
    double epsilon = 0.0;
    options.promise.view = MFPG_VIEW_FINAL;
    mfpg_status status = mfpg_accountant_create(s->ctx, "hidden-state", &options, &accountant);
    for (int t = 0; t < 9 && status == MFPG_OK; t++) {
        release.hidden_contraction = 0.9 + 0.05 * t; /* both sides of 1, no two alike */
        release.hidden_shift = 0.2;
        status = mfpg_accountant_record(s->ctx, accountant, &release);
    }
    if (status == MFPG_OK) status = mfpg_accountant_epsilon(s->ctx, accountant, 1e-5, &epsilon);
    if (status == MFPG_OK) status = mfpg_accountant_delta(s->ctx, accountant, 1.0, &epsilon);
    if (accountant) assert_true(mfpg_accountant_mu(accountant) > (status == MFPG_OK ? 0.4 : 0.0));
    mfpg_accountant_destroy(accountant);
    return status;
}

static mfpg_status ask_bounded(void *arg) {
    scene *s = arg;
    const mfpg_hidden_step step = {0.9, 0.2, 0.5, 40};
    double mu = 0.0;
    mfpg_status status = mfpg_hidden_mu(s->ctx, &step, 1, 1.0, &mu);
    assert_int_equal(status == MFPG_OK, isfinite(mu));
    if (status == MFPG_OK) status = mfpg_hidden_bounded_mu(s->ctx, &step, 1.0, &mu);
    assert_int_equal(status == MFPG_OK, isfinite(mu));
    return status;
}

static void test_hidden_states_survive(void **state) {
    (void)state;
    scene s = begin();
    assert_true(sweep_allocations(record_hidden, &s) >= 5);
    assert_true(sweep_allocations(ask_bounded, &s) >= 4);
    mfpg_context_destroy(s.ctx);
}

/* A search that ends early says so; it does not settle for more noise than it takes. */
static mfpg_status calibrate(void *arg) {
    scene *s = arg;
    const mfpg_release schedule = {.unit = MFPG_UNIT_EXAMPLE,
        .clipped = MFPG_CLIPPED_EXAMPLES,
        .steps = 10,
        .sensitivity = 1.0,
        .weight = 1.0,
        .sampling_rate = 0.25};
    mfpg_accountant_options options = mfpg_accountant_options_default();
    options.promise.unit = MFPG_UNIT_EXAMPLE;
    const mfpg_calibration_options asked = {.accountant = "rdp",
        .options = &options,
        .epsilon = 1.0,
        .delta = 1e-5,
        .schedule = &schedule,
        .count = 1};
    mfpg_calibration found = {.value = -1.0};
    mfpg_status status = mfpg_calibrate(s->ctx, &asked, &found);
    assert_int_equal(status == MFPG_OK, found.value > 0.0);
    return status;
}

static void test_calibration_survives(void **state) {
    (void)state;
    scene s = begin();
    assert_true(sweep_allocations(calibrate, &s) >= 10);
    mfpg_context_destroy(s.ctx);
}

/* ---- ledger ---- */

static void open_ledger(scene *s) {
    CHECK_OK(s->ctx, mfpg_ledger_create(s->ctx, path, &s->header, &s->ledger));
}

static void remove_ledger(scene *s) {
    mfpg_ledger_close(s->ledger);
    s->ledger = NULL;
    assert_int_equal(unlink(path), 0);
}

/* A failure leaves no file behind that would stand in the next call's way. */
static mfpg_status create_ledger(void *arg) {
    scene *s = arg;
    mfpg_ledger *ledger = NULL;
    mfpg_status status = mfpg_ledger_create(s->ctx, path, &s->header, &ledger);
    assert_int_equal(status == MFPG_OK, ledger != NULL);
    assert_int_equal(access(path, F_OK) == 0, status == MFPG_OK);
    mfpg_ledger_close(ledger);
    unlink(path);
    return status;
}

static mfpg_status append(void *arg) {
    scene *s = arg;
    return mfpg_ledger_append(s->ctx, s->ledger, s->release, 3);
}

static mfpg_status resume(void *arg) {
    scene *s = arg;
    mfpg_ledger *ledger = NULL;
    mfpg_status status = mfpg_ledger_resume(s->ctx, path, &s->header, 1, &ledger);
    assert_int_equal(status == MFPG_OK, ledger != NULL);
    mfpg_ledger_close(ledger);
    return status;
}

static mfpg_status open_again(void *arg) {
    scene *s = arg;
    mfpg_ledger *ledger = NULL;
    mfpg_status status = mfpg_ledger_open(s->ctx, path, 0, &ledger);
    assert_int_equal(status == MFPG_OK, ledger != NULL);
    mfpg_ledger_close(ledger);
    return status;
}

/* What a client has spent is known, or the call fails. */
static mfpg_status ask_again(void *arg) {
    scene *s = arg;
    mfpg_ledger *ledger = NULL;
    mfpg_spending answer = {.epsilon = -1};
    mfpg_status status = mfpg_ledger_open(s->ctx, path, 0, &ledger);
    if (status == MFPG_OK) status = mfpg_ledger_ask(s->ctx, ledger, 2, &answer);
    if (status == MFPG_OK)
        check_near(answer.epsilon, mfpg_gdp_epsilon(sqrt(2) / 4, 1e-5), 1e-9, 0, "epsilon");
    mfpg_ledger_close(ledger);
    return status;
}

static mfpg_status count_lines(void *user, const mfpg_release *release, int64_t first, int64_t last) {
    (void)release;
    assert_true(first <= last);
    ++*(int *)user;
    return MFPG_OK;
}

static mfpg_status read_ledger(void *arg) {
    scene *s = arg;
    int lines = 0;
    mfpg_ledger_header header;
    mfpg_status status = mfpg_ledger_read(s->ctx, path, &header, count_lines, &lines, NULL);
    if (status == MFPG_OK) assert_int_equal(lines, 6); /* the three releases, appended twice */
    return status;
}

/* Jansson tells want of memory in the middle of a text as a fault of the text ("string expected near ..."), so a reading may
 * also end as MFPG_ERR_INPUT; what it may not do is to end well. */
static long sweep_reading(mfpg_status (*call)(void *arg), void *arg) {
    long k = 0;
    for (int once = 0; once < 2; once++) {
        int failed = 1;
        for (k = -1; failed;) {
            begin_failing(++k, once);
            mfpg_status status = call(arg);
            failed = end_failing();
            assert_true(failed ? status == MFPG_ERR_MEMORY || (status == MFPG_ERR_INPUT && k > 0)
                               : status == MFPG_OK);
        }
    }
    return k;
}

static void test_a_ledger_survives(void **state) {
    (void)state;
    scene s = begin();
    assert_true(sweep_allocations(create_ledger, &s) >= 3);
    open_ledger(&s);
    assert_int_equal(sweep_allocations(append, &s), 0); /* in a round's way nothing is allocated */
    mfpg_ledger_close(s.ledger);
    assert_true(sweep_reading(read_ledger, &s) >= 40);
    assert_true(sweep_reading(resume, &s) >= 40);
    assert_true(sweep_reading(open_again, &s) >= 40);
    assert_true(sweep_reading(ask_again, &s) >= 80);
    s.ledger = NULL;
    remove_ledger(&s);
    mfpg_context_destroy(s.ctx);
}

/* ---- secure sums ---- */

/* An attempt whose line was not written for want of memory can still be used. */
static mfpg_status append_shares(void *arg) {
    scene *s = arg;
    mfpg_status status = mfpg_ledger_append(s->ctx, s->ledger, s->release, 3);
    if (status == MFPG_OK)
        for (int i = 0; i < 3; i++) s->release[i].attempt++;
    return status;
}

static mfpg_status reopen_and_append(void *arg) {
    scene *s = arg;
    mfpg_ledger_close(s->ledger);
    s->ledger = NULL;
    mfpg_status status = mfpg_ledger_open(s->ctx, path, 0, &s->ledger);
    if (status == MFPG_OK) status = append_shares(s);
    const mfpg_survivors known = {1, s->release[0].attempt - 1, 0, 3, s->release[0].last_sd};
    return status == MFPG_OK ? mfpg_ledger_survivors(s->ctx, s->ledger, &known, 1) : status;
}

static mfpg_status read_survived(void *arg) {
    scene *s = arg;
    int visits = 0;
    mfpg_status status = mfpg_ledger_read_survived(s->ctx, path, NULL, count_lines, &visits, NULL);
    if (status == MFPG_OK) assert_true(visits >= 6 && visits % 3 == 0);
    return status;
}

static void test_a_ledger_of_secure_sums_survives(void **state) {
    (void)state;
    scene s = begin();
    s.header.secure_sum = 1;
    s.header.promise.view = MFPG_VIEW_AVERAGE;
    for (int i = 0; i < 3; i++) {
        mfpg_release *release = &s.release[i];
        release->weight = 0.25;
        release->attempt = 1;
        release->members = 3;
        release->threshold = 2;
    }
    open_ledger(&s);
    assert_true(sweep_allocations(append_shares, &s) >= 0);
    assert_true(sweep_reading(reopen_and_append, &s) >= 40);
    assert_true(sweep_reading(read_survived, &s) >= 40);
    remove_ledger(&s);
    mfpg_context_destroy(s.ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_ledger_of_secure_sums_survives),
        cmocka_unit_test(test_every_accountant_survives),
        cmocka_unit_test(test_hidden_states_survive),
        cmocka_unit_test(test_calibration_survives),
        cmocka_unit_test(test_a_ledger_survives),
    };
    const char *place = getenv("TMPDIR");
    snprintf(path, sizeof path, "%s/mfpg-memory-XXXXXX", place && *place ? place : "/tmp");
    if (!mkdtemp(path)) return 1;
    char folder[600];
    strcpy(folder, path);
    strcat(path, "/ledger");
    count_json_allocations();
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    rmdir(folder);
    return failed;
}
