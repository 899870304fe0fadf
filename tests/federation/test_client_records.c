/* Federations that noise records: one release a client, the same certificate after any number of rounds, training on the
 * noised records alone, and the doors that stay shut. */
#include "federation/fixture.h"
#include "local_round.h"

#include <unistd.h>

enum { CLIENTS = 6, RAW_ROWS = 20 };

static mfpg_mechanism_options options_of(const char *kind) {
    mfpg_mechanism_options options = mfpg_mechanism_options_default();
    options.kind = kind;
    options.particles = MFPG_PARTICLES_DATA;
    options.promise = (mfpg_promise){MFPG_UNIT_EXAMPLE, MFPG_ADJACENCY_REPLACE, MFPG_VIEW_LOCAL};
    options.clip = 2.0;
    options.learning_rate = 0.5;
    return options;
}

static fixture open_records(int threads, const char *kind, mfpg_action action) {
    mfpg_mechanism_options options = options_of(kind);
    fixture f = fixture_open(threads, "logistic", CLIENTS, RAW_ROWS, &options, action);
    f.options.accountant = "data-particles";
    return f;
}

static mfpg_action budget(double value) {
    return (mfpg_action){.control = MFPG_CONTROL_BUDGET, .budget = {value}};
}

static mfpg_action strength(double value) {
    return (mfpg_action){.control = MFPG_CONTROL_STRENGTH, .strength = {value}};
}

static mfpg_client_report client_of(fixture *f, ptrdiff_t k) {
    mfpg_client_report report;
    CHECK_OK(f->ctx, mfpg_federation_client(f->ctx, f->federation, k, &report));
    return report;
}

static void test_the_certificate_does_not_grow_with_the_rounds(void **state) {
    (void)state;
    const struct {
        const char *kind;
        mfpg_action action;
        double mu; /* D = 2 C = 4: budget 0.8 is mu; c D/s = 0.9 4/sqrt(0.2) */
    } runs[] = {{"input", budget(0.8), 0.8}, {"entropic", strength(1.0), 3.6 / sqrt(0.2)}};
    for (int r = 0; r < 2; r++) {
        fixture f = open_records(1, runs[r].kind, runs[r].action);
        f.options.rounds = 50;
        CHECK_OK(f.ctx, fixture_start(&f));
        double epsilon = fixture_round(&f).epsilon;
        assert_true(epsilon > 0.0);
        for (int t = 1; t < 50; t++) {
            mfpg_round_report report = fixture_round(&f);
            assert_true(report.epsilon == epsilon && isfinite(report.loss) && isnan(report.noise_to_signal));
        }
        for (ptrdiff_t k = 0; k < CLIENTS; k++) {
            mfpg_client_report c = client_of(&f, k);
            check_near(c.mu, runs[r].mu, 1e-13, 0, "mu");
            assert_true(c.epsilon == mfpg_gdp_epsilon(c.mu, 1e-5));
            assert_true(c.epsilon_other == mfpg_gdp_epsilon(0.5 * c.mu, 1e-5));
            assert_true(c.rounds == 50 && c.steps == 1);
        }
        fixture_close(&f);
    }
}

static void test_a_plan_costs_what_its_first_round_costs(void **state) {
    (void)state;
    fixture f = open_records(1, "entropic", strength(1.0));
    mfpg_plan *plan = NULL;
    CHECK_OK(f.ctx, mfpg_plan_create(f.ctx, &f.options, f.data, f.mechanisms, f.action, &plan));
    double once = 0.0;
    for (int64_t rounds = 1; rounds < 100000; rounds *= 10) {
        double epsilon;
        f.options.rounds = rounds;
        CHECK_OK(f.ctx, mfpg_plan_largest_epsilon(f.ctx, plan, &epsilon));
        if (rounds == 1) once = epsilon;
        assert_true(epsilon == once);
    }
    check_near(once, mfpg_gdp_epsilon(3.6 / sqrt(0.2), 1e-5), 1e-11, 0, "epsilon");
    assert_true(isnan(mfpg_plan_signal_to_noise(plan, 5)));
    f.options.accountant = "gdp";
    assert_int_equal(mfpg_plan_largest_epsilon(f.ctx, plan, &once), MFPG_ERR_INPUT);
    assert_true(isinf(once));
    mfpg_plan_destroy(plan);
    fixture_close(&f);
}

static void test_no_view_hides_noised_records(void **state) {
    (void)state;
    for (int view = 0; view <= MFPG_VIEW_FINAL; view++) {
        fixture f = open_records(1, "input", budget(0.8));
        f.options.promise.view = (mfpg_view)view;
        CHECK_OK(f.ctx, fixture_start(&f));
        fixture_round(&f);
        check_near(client_of(&f, 0).mu, 0.8, 1e-13, 0, "mu of the local view");
        fixture_close(&f);
    }
}

/* ---- the ledger ---- */

typedef struct count {
    int64_t seen[CLIENTS];
    double mu2[CLIENTS];
} count;

static mfpg_status count_releases(void *user, const mfpg_release *release, int64_t first, int64_t last) {
    count *all = user;
    double mu = mfpg_data_release_mu(release, MFPG_ADJACENCY_REPLACE);
    for (int64_t k = first; k <= last; k++) {
        all->seen[k]++;
        all->mu2[k] += mu * mu;
    }
    return MFPG_OK;
}

/* Clients join in different rounds; each releases its records once, at the constant of the public start, while the
 * model has moved on. */
static void test_the_ledger_holds_every_client_once(void **state) {
    (void)state;
    char folder[] = "records-XXXXXX", path[64];
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/ledger", folder);
    fixture f = open_records(2, "entropic", strength(1.0));
    f.options.clients_per_round = 2;
    f.options.rounds = 30;
    CHECK_OK(f.ctx, fixture_start(&f));
    const mfpg_ledger_header header = {
        .particles = MFPG_PARTICLES_DATA, .clients = CLIENTS, .promise = f.options.promise, .delta = 1e-5};
    mfpg_ledger *ledger = NULL;
    CHECK_OK(f.ctx, mfpg_ledger_create(f.ctx, path, &header, &ledger));
    mfpg_federation_keep_ledger(f.federation, ledger);
    for (int t = 0; t < 30; t++) fixture_round(&f);
    mfpg_ledger_close(ledger);
    count all = {0};
    CHECK_OK(f.ctx, mfpg_ledger_read(f.ctx, path, NULL, count_releases, &all, NULL));
    int64_t rounds = 0;
    for (int k = 0; k < CLIENTS; k++) {
        mfpg_client_report c = client_of(&f, k);
        assert_true(all.seen[k] == 1 && c.rounds >= 1);
        check_near(sqrt(all.mu2[k]), c.mu, 1e-15, 0, "mu");
        check_near(c.mu, 3.6 / sqrt(0.2), 1e-13, 0, "mu at the start, whenever it joined");
        rounds += c.rounds;
    }
    assert_int_equal(rounds, 60);
    fixture_close(&f);
    unlink(path);
    rmdir(folder);
}

/* ---- what is trained on ---- */

/* Second route: records noised beforehand by hand and trained on by mechanism none give the same model, bit for bit. */
static void test_training_reads_noised_records_alone(void **state) {
    (void)state;
    fixture f = open_records(3, "input", budget(0.8)), plain = open_records(1, "input", budget(0.8));
    mfpg_mechanism_options none = options_of("none");
    none.particles = MFPG_PARTICLES_PARAMETERS;
    mfpg_mechanism *mechanism = NULL;
    CHECK_OK(plain.ctx, mfpg_mechanism_create(plain.ctx, &none, &mechanism));
    float *work = aligned_alloc(64, 1 << 16), start[8] = {0}, *raw = f.data->client[1].train.x;
    float first = raw[0];
    for (ptrdiff_t k = 0; k < CLIENTS; k++) {
        mfpg_dataset *rows = &plain.data->client[k].train;
        float *x = malloc((size_t)(rows->rows * rows->features) * sizeof *x);
        mfpg_dataset noised = {
            .rows = rows->rows, .features = rows->features, .x = x, .y = rows->y, .norm2 = rows->norm2};
        mfpg_stream noise = mfpg_stream_open(&plain.key, MFPG_PURPOSE_RECORDS, 0, (uint64_t)k);
        CHECK_OK(plain.ctx, push_by(plain.ctx, plain.mechanism, plain.model, rows, budget(0.8), &noise, start,
                                &noised, work, NULL));
        memcpy(rows->x, x, (size_t)(rows->rows * rows->features) * sizeof *x);
        free(x);
        plain.mechanisms[k] = mechanism;
        plain.action[k] = (mfpg_action){.control = MFPG_CONTROL_NONE};
    }
    plain.options.accountant = "gdp";
    CHECK_OK(f.ctx, fixture_start(&f));
    CHECK_OK(plain.ctx, fixture_start(&plain));
    for (int t = 0; t < 4; t++) {
        fixture_round(&f);
        fixture_round(&plain);
        assert_memory_equal(mfpg_federation_model(f.federation), mfpg_federation_model(plain.federation),
            (size_t)mfpg_model_parameters(f.model) * sizeof(float));
    }
    assert_true(raw[0] == first); /* the caller's data stay as they are */
    mfpg_mechanism_destroy(mechanism);
    free(work);
    fixture_close(&f);
    fixture_close(&plain);
}

static void test_threads_change_no_bit(void **state) {
    (void)state;
    const struct {
        const char *kind;
        mfpg_action action;
    } runs[] = {{"input", budget(2.0)}, {"entropic", strength(0.5)}};
    for (int r = 0; r < 2; r++) {
        fixture one = open_records(1, runs[r].kind, runs[r].action);
        fixture many = open_records(4, runs[r].kind, runs[r].action);
        CHECK_OK(one.ctx, fixture_start(&one));
        CHECK_OK(many.ctx, fixture_start(&many));
        for (int t = 0; t < 5; t++) {
            fixture_round(&one);
            fixture_round(&many);
            assert_memory_equal(mfpg_federation_model(one.federation), mfpg_federation_model(many.federation),
                (size_t)mfpg_model_parameters(one.model) * sizeof(float));
        }
        fixture_close(&one);
        fixture_close(&many);
    }
}

/* ---- limits and refusals ---- */

static void test_a_limit_keeps_whole_clients_out_and_nobody_else(void **state) {
    (void)state;
    fixture f = open_records(1, "input", budget(0.5));
    f.action[2] = f.action[4] = budget(3.0);
    f.options.stop_at_epsilon = mfpg_gdp_epsilon(1.0, 1e-5);
    CHECK_OK(f.ctx, fixture_start(&f));
    for (int t = 0; t < 10; t++) assert_int_equal(fixture_round(&f).cohort, CLIENTS - 2);
    for (ptrdiff_t k = 0; k < CLIENTS; k++) {
        mfpg_client_report c = client_of(&f, k);
        int out = k == 2 || k == 4;
        assert_true(c.stopped == out && c.rounds == (out ? 0 : 10) && c.steps == (out ? 0 : 1));
        assert_true(out ? c.epsilon == 0.0 : c.epsilon <= f.options.stop_at_epsilon);
    }
    fixture_close(&f);
}

static void refuse_start(fixture *f, const char *part) {
    assert_int_equal(fixture_start(f), MFPG_ERR_INPUT);
    if (!strstr(mfpg_context_message(f->ctx), part))
        fail_msg("no '%s' in: %s", part, mfpg_context_message(f->ctx));
    assert_null(f->federation);
}

static void test_the_other_kind_of_accountant_is_refused_both_ways_round(void **state) {
    (void)state;
    fixture f = open_records(1, "input", budget(0.8));
    f.options.accountant = "gdp";
    refuse_start(&f, "'gdp' knows parameters only");
    f.options.accountant = "rdp";
    refuse_start(&f, "'rdp' knows parameters only");
    f.options.accountant = "data-particles";
    f.options.paper_accountant = "paper_rdp";
    refuse_start(&f, "paper_rdp");
    fixture_close(&f);
    mfpg_mechanism_options options = options_of("gaussian");
    options.particles = MFPG_PARTICLES_PARAMETERS;
    f = fixture_open(1, "logistic", CLIENTS, RAW_ROWS, &options, budget(0.8));
    f.options.accountant = "data-particles";
    refuse_start(&f, "'data-particles' knows data only");
    fixture_close(&f);
}

static void test_what_has_no_certificate_is_refused(void **state) {
    (void)state;
    fixture f = open_records(1, "input", budget(0.8));
    f.options.weights = MFPG_WEIGHTS_INVERSE_NOISE;
    refuse_start(&f, "in its records");
    f.options.weights = MFPG_WEIGHTS_EQUAL;
    mfpg_mechanism_options options = options_of("gaussian");
    options.particles = MFPG_PARTICLES_PARAMETERS;
    mfpg_mechanism *gaussian = NULL;
    CHECK_OK(f.ctx, mfpg_mechanism_create(f.ctx, &options, &gaussian));
    f.mechanisms[3] = gaussian;
    refuse_start(&f, "one kind of certificate");
    mfpg_mechanism_destroy(gaussian);
    fixture_close(&f);
    f = open_records(1, "entropic", strength(1.0)); /* declares that the loss is flat in the features */
    const float start[] = {1, 0, 0, 0, 0};
    f.options.start = start;
    refuse_start(&f, "at the start");
    fixture_close(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_certificate_does_not_grow_with_the_rounds),
        cmocka_unit_test(test_a_plan_costs_what_its_first_round_costs),
        cmocka_unit_test(test_no_view_hides_noised_records),
        cmocka_unit_test(test_the_ledger_holds_every_client_once),
        cmocka_unit_test(test_training_reads_noised_records_alone),
        cmocka_unit_test(test_threads_change_no_bit),
        cmocka_unit_test(test_a_limit_keeps_whole_clients_out_and_nobody_else),
        cmocka_unit_test(test_the_other_kind_of_accountant_is_refused_both_ways_round),
        cmocka_unit_test(test_what_has_no_certificate_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
