/* Who stops, and when: budgets against the sums they are about, and the fixed point of a round in the average view against a
 * plain loop over sets of clients (theory S4). */
#include "fixture.h"
#include "accountants/accounting.h"

#include <unistd.h>

enum { CLIENTS = 6, ROUNDS = 400 };

static mfpg_mechanism_options gaussian(mfpg_view view, int64_t steps) {
    mfpg_mechanism_options options = mfpg_mechanism_options_default();
    options.kind = "gaussian";
    options.learning_rate = 0.5;
    options.local_steps = steps;
    options.promise.view = view;
    return options;
}

/* The rounds that every client has taken part in, and the one that each stopped before, once all have stopped. */
typedef struct ending {
    int64_t rounds[CLIENTS], stopped_before[CLIENTS];
} ending;

static ending run_to_the_end(fixture *f) {
    ending end;
    int done = 0, rounds = 0;
    mfpg_round_report report;
    CHECK_OK(f->ctx, fixture_start(f));
    for (; !done && rounds < ROUNDS; rounds++)
        CHECK_OK(f->ctx, mfpg_federation_round(f->ctx, f->federation, &report, &done));
    assert_true(done);
    for (ptrdiff_t k = 0; k < CLIENTS; k++) {
        mfpg_client_report client;
        CHECK_OK(f->ctx, mfpg_federation_client(f->ctx, f->federation, k, &client));
        assert_true(client.stopped && client.stopped_before >= 1);
        assert_true(client.epsilon <= f->options.stop_at_epsilon);
        end.rounds[k] = client.rounds;
        end.stopped_before[k] = client.stopped_before;
    }
    return end;
}

/* ---- local view: one sum a client ---- */

/* mu of a step is 1/z: a GDP filter lets floor((mu z)^2) rounds pass, a zCDP filter floor(2 rho z^2), which is fewer. The
 * accountant is asked in the same way as the GDP filter, and answers the same here. */
static void test_each_kind_admits_what_its_budget_holds(void **state) {
    (void)state;
    mfpg_mechanism_options mechanism = gaussian(MFPG_VIEW_LOCAL, 1);
    const mfpg_filter_kind kinds[] = {MFPG_FILTER_GDP, MFPG_FILTER_ZCDP, MFPG_FILTER_ACCOUNTANT};
    const double epsilon = 2.0, mu = mfpg_gdp_mu(epsilon, 1e-5), rho = mfpg_zcdp_rho(epsilon, 1e-5);
    for (int i = 0; i < 3; i++) {
        fixture f = fixture_open(1, "logistic", CLIENTS, 10, &mechanism, multiplier(1.0));
        for (int k = 0; k < CLIENTS; k++) f.action[k] = multiplier(2.3 + 1.1 * k);
        f.options.rounds = ROUNDS;
        f.options.evaluate = MFPG_EVALUATE_NONE;
        f.options.stop_at_epsilon = epsilon;
        f.options.filter = kinds[i];
        ending end = run_to_the_end(&f);
        for (int k = 0; k < CLIENTS; k++) {
            double z = 2.3 + 1.1 * k, most = kinds[i] == MFPG_FILTER_ZCDP ? 2 * rho : mu * mu;
            assert_int_equal(end.rounds[k], (int64_t)floor(most * z * z));
            assert_int_equal(end.stopped_before[k], end.rounds[k] + 1);
        }
        fixture_close(&f);
    }
    assert_true(2 * rho < mu * mu);
}

static void test_a_filter_that_is_none_is_refused(void **state) {
    (void)state;
    mfpg_mechanism_options mechanism = gaussian(MFPG_VIEW_LOCAL, 1);
    fixture f = fixture_open(1, "logistic", CLIENTS, 10, &mechanism, multiplier(1.0));
    f.options.stop_at_epsilon = 1.0;
    f.options.filter = (mfpg_filter_kind)7;
    assert_int_equal(fixture_start(&f), MFPG_ERR_DOMAIN);
    fixture_close(&f);
}

/* ---- average view: everybody's mu depends on who else is in ---- */

/* One client as a plan gives it. */
typedef struct member {
    long double shift, early, last, weight,
        spent; /* sensitivity, noise of early and last steps; sum of mu^2 */
    int64_t steps;
    int in;
} member;

/* mu_k^2 = S^2 ((K-1)/sd_k^2 + p_k^2 / sum p_j^2 sd_j^2) over those who are in, weights shared out over them (S2.2). */
static long double square_of(const member *all, int k) {
    long double total = 0.0L, noise = 0.0L;
    for (int j = 0; j < CLIENTS; j++)
        if (all[j].in) total += all[j].weight;
    for (int j = 0; j < CLIENTS; j++)
        if (all[j].in) noise += (all[j].weight / total) * (all[j].weight / total) * all[j].last * all[j].last;
    long double p = all[k].weight / total, own = all[k].shift * all[k].shift;
    return own * ((long double)(all[k].steps - 1) / (all[k].early * all[k].early) + p * p / noise);
}

/* Sets of clients are dropped until nobody in the set is over budget; returns how many stopped that could have afforded the
 * round with everybody in. */
static int settle(member *all, long double most, int64_t round, ending *end) {
    int dropped, pass = 0, cascade = 0;
    do {
        int over[CLIENTS] = {0};
        dropped = 0;
        for (int k = 0; k < CLIENTS; k++) over[k] = all[k].in && all[k].spent + square_of(all, k) > most;
        for (int k = 0; k < CLIENTS; k++) {
            if (!over[k]) continue;
            all[k].in = 0;
            end->stopped_before[k] = round;
            dropped++;
            cascade += pass > 0;
        }
        pass++;
    } while (dropped > 0);
    return cascade;
}

static int expected_ending(fixture *f, ending *end) {
    mfpg_release plan[CLIENTS];
    member all[CLIENTS];
    int cascade = 0, left = CLIENTS;
    CHECK_OK(f->ctx, fixture_plan(f, plan));
    for (int k = 0; k < CLIENTS; k++)
        all[k] = (member){.shift = plan[k].sensitivity,
            .early = plan[k].noise_sd,
            .last = plan[k].noise_sd,
            .weight = plan[k].weight,
            .steps = plan[k].steps,
            .in = 1};
    *end = (ending){0};
    double mu = mfpg_gdp_mu(f->options.stop_at_epsilon, f->options.delta);
    for (int64_t round = 1; left > 0; round++) {
        cascade += settle(all, (long double)mu * mu, round, end);
        left = 0;
        for (int k = 0; k < CLIENTS; k++) left += all[k].in;
        long double square[CLIENTS];
        for (int k = 0; k < CLIENTS; k++) square[k] = all[k].in ? square_of(all, k) : 0.0L;
        for (int k = 0; k < CLIENTS; k++) all[k].spent += square[k];
        for (int k = 0; k < CLIENTS; k++) end->rounds[k] += all[k].in;
    }
    return cascade;
}

static fixture open_average(int trial, const int *order, mfpg_filter_kind kind) {
    mfpg_mechanism_options mechanism = gaussian(MFPG_VIEW_AVERAGE, 1 + trial % 2);
    fixture f = fixture_open(1, "logistic", CLIENTS, 10, &mechanism, multiplier(1.0));
    for (int k = 0; k < CLIENTS; k++)
        f.action[k] = multiplier(1.0 + 0.1 * (trial % 5) + (0.02 + 0.015 * (trial % 7)) * order[k]);
    f.options.rounds = ROUNDS;
    f.options.evaluate = MFPG_EVALUATE_NONE;
    f.options.weights = MFPG_WEIGHTS_INVERSE_NOISE;
    f.options.stop_at_epsilon = 2.0 + 0.37 * trial;
    f.options.filter = kind;
    return f;
}

/* With weights that follow the noise, whoever has least of it spends most and hides the others most: when it leaves, all
 * others pay more in the very round. */
static void test_a_round_is_settled_before_anything_is_released(void **state) {
    (void)state;
    const int order[CLIENTS] = {0, 1, 2, 3, 4, 5};
    int cascades = 0;
    for (int trial = 0; trial < 20; trial++) {
        ending expected;
        fixture f = open_average(trial, order, trial % 3 ? MFPG_FILTER_GDP : MFPG_FILTER_ACCOUNTANT);
        cascades += expected_ending(&f, &expected);
        ending end = run_to_the_end(&f);
        for (int k = 0; k < CLIENTS; k++) {
            assert_int_equal(end.rounds[k], expected.rounds[k]);
            assert_int_equal(end.stopped_before[k], expected.stopped_before[k]);
        }
        fixture_close(&f);
    }
    assert_true(cascades >= 10); /* else the trials would not be about the fixed point */
}

static void test_the_order_of_the_clients_does_not_matter(void **state) {
    (void)state;
    const int orders[][CLIENTS] = {
        {0, 1, 2, 3, 4, 5}, {5, 4, 3, 2, 1, 0}, {2, 5, 0, 3, 1, 4}, {4, 0, 5, 1, 3, 2}};
    for (int trial = 0; trial < 8; trial++) {
        ending first = {0};
        for (int i = 0; i < 4; i++) {
            fixture f = open_average(trial, orders[i], MFPG_FILTER_GDP);
            ending end = run_to_the_end(&f);
            for (int k = 0; k < CLIENTS; k++) {
                int who = orders[i][k]; /* the place does not matter, the noise does */
                if (i == 0) first.stopped_before[who] = end.stopped_before[k];
                assert_int_equal(end.stopped_before[k], first.stopped_before[who]);
            }
            fixture_close(&f);
        }
    }
}

/* ---- what the ledger says ---- */

typedef struct spent {
    double square[CLIENTS];
} spent;

static mfpg_status add_squares(void *user, const mfpg_release *release, int64_t first, int64_t last) {
    spent *sums = user;
    double mu = mfpg_release_mu(release, MFPG_ADJACENCY_REPLACE);
    for (int64_t k = first; k <= last; k++) sums->square[k] += mu * mu;
    return MFPG_OK;
}

/* Drawn cohorts, the average view, replace: whatever the rounds turn out to be, nobody's squares pass the budget, and who
 * stopped was within one release of it. */
static void test_drawn_cohorts_never_overspend(void **state) {
    (void)state;
    mfpg_mechanism_options mechanism = gaussian(MFPG_VIEW_AVERAGE, 2);
    mechanism.promise.adjacency = MFPG_ADJACENCY_REPLACE;
    char folder[] = "stop-XXXXXX", path[64];
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/ledger", folder);
    for (int trial = 0; trial < 6; trial++) {
        fixture f = fixture_open(1, "logistic", CLIENTS, 10, &mechanism, multiplier(1.0));
        for (int k = 0; k < CLIENTS; k++) f.action[k] = multiplier(2.0 + 0.5 * k);
        f.options.rounds = ROUNDS;
        f.options.evaluate = MFPG_EVALUATE_NONE;
        f.options.clients_per_round = trial % 2 ? 3 : 0;
        f.options.client_rate = trial % 2 ? 1.0 : 0.4;
        f.options.stop_at_epsilon = 3.0 + trial;
        f.options.filter = MFPG_FILTER_GDP;
        f.key = mfpg_key_from_seed((uint64_t)trial);
        CHECK_OK(f.ctx, fixture_start(&f));
        const mfpg_ledger_header header = {
            .clients = CLIENTS, .promise = mechanism.promise, .delta = f.options.delta, .seeded = 1};
        mfpg_ledger *ledger = NULL;
        CHECK_OK(f.ctx, mfpg_ledger_create(f.ctx, path, &header, &ledger));
        mfpg_federation_keep_ledger(f.federation, ledger);
        int done = 0, rounds = 0;
        mfpg_round_report report;
        for (; !done && rounds < ROUNDS; rounds++)
            CHECK_OK(f.ctx, mfpg_federation_round(f.ctx, f.federation, &report, &done));
        mfpg_ledger_close(ledger);
        assert_true(done);
        spent sums = {{0}};
        CHECK_OK(f.ctx, mfpg_ledger_read(f.ctx, path, NULL, add_squares, &sums, NULL));
        double mu = mfpg_gdp_mu(f.options.stop_at_epsilon, f.options.delta);
        for (int k = 0; k < CLIENTS; k++) {
            double dearest = 2 * 2 / pow(2.0 + 0.5 * k, 2) * 2; /* two steps, alone, replace */
            assert_true(sums.square[k] <= mu * mu * (1 + 1e-12));
            assert_true(sums.square[k] + dearest > mu * mu);
        }
        unlink(path);
        fixture_close(&f);
    }
    assert_int_equal(rmdir(folder), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_each_kind_admits_what_its_budget_holds),
        cmocka_unit_test(test_a_filter_that_is_none_is_refused),
        cmocka_unit_test(test_a_round_is_settled_before_anything_is_released),
        cmocka_unit_test(test_the_order_of_the_clients_does_not_matter),
        cmocka_unit_test(test_drawn_cohorts_never_overspend),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
