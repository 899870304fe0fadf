/* The secure sum of a federation: the models of the plain sum, whoever drops out, and noise of the worst set. */
#include "federation/fixture.h"

#include <sys/stat.h>
#include <unistd.h>

#include "federation/federation_core.h"

enum { CLIENTS = 5, ROUNDS = 4 };

/* Clients 1 and 3 leave round 2, client 0 leaves round 3. */
static const mfpg_dropout dropouts[] = {{2, 1}, {2, 3}, {3, 0}};

static mfpg_mechanism_options mechanism_of(const char *kind, mfpg_unit unit, int steps) {
    mfpg_mechanism_options o = mfpg_mechanism_options_default();
    o.kind = kind;
    o.promise = (mfpg_promise){unit, MFPG_ADJACENCY_ZERO_OUT, MFPG_VIEW_AVERAGE};
    o.local_steps = steps;
    o.learning_rate = 0.5;
    return o;
}

static fixture open_case(int threads, const mfpg_mechanism_options *mechanism, int simulate, int drops) {
    fixture f = fixture_open(threads, "logistic", CLIENTS, 12, mechanism, multiplier(1.0));
    for (int k = 0; k < CLIENTS; k++) f.action[k] = multiplier(1.0 + 0.5 * k);
    f.options.rounds = ROUNDS;
    f.options.weights = MFPG_WEIGHTS_EXAMPLES;
    f.options.sum.simulate = simulate;
    if (drops) f.options.sum.dropout = dropouts;
    if (drops) f.options.sum.dropouts = sizeof dropouts / sizeof dropouts[0];
    return f;
}

static void train(fixture *f, float *model, ptrdiff_t size) {
    CHECK_OK(f->ctx, fixture_start(f));
    for (int r = 0; r < ROUNDS; r++) {
        mfpg_round_report report = fixture_round(f);
        int gone = 0;
        for (ptrdiff_t i = 0; i < f->options.sum.dropouts; i++) gone += dropouts[i].round == r + 1;
        assert_int_equal(report.cohort, CLIENTS - gone);
        mfpg_sum_cost cost = mfpg_federation_sum_cost(f->federation);
        assert_int_equal(
            cost.bytes > 0 && cost.client_seconds > 0 && cost.server_seconds > 0, f->options.sum.simulate);
    }
    memcpy(model, mfpg_federation_model(f->federation), (size_t)size * sizeof *model);
}

static void test_models_are_those_of_the_plain_sum(void **state) {
    (void)state;
    const struct {
        const char *kind;
        mfpg_unit unit;
        int steps;
    } rows[] = {{"gaussian", MFPG_UNIT_CLIENT, 1}, {"gaussian", MFPG_UNIT_EXAMPLE, 3},
        {"entropic", MFPG_UNIT_CLIENT, 2}, {"entropic", MFPG_UNIT_EXAMPLE, 1}};
    const int threads[] = {1, 2, 4};
    float whole[64];
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        for (int drops = 0; drops < 2; drops++) {
            mfpg_mechanism_options mechanism = mechanism_of(rows[i].kind, rows[i].unit, rows[i].steps);
            float plain[64], summed[64];
            fixture f = open_case(1, &mechanism, 0, drops);
            ptrdiff_t size = mfpg_model_parameters(f.model);
            train(&f, plain, size);
            fixture_close(&f);
            if (!drops) memcpy(whole, plain, sizeof whole);
            assert_int_equal(memcmp(whole, plain, (size_t)size * sizeof *plain) == 0, !drops);
            for (int t = 0; t < 3; t++) {
                f = open_case(threads[t], &mechanism, 1, drops);
                train(&f, summed, size);
                fixture_close(&f);
                assert_memory_equal(plain, summed, (size_t)size * sizeof *plain);
            }
        }
}

/* ---- the ledger ---- */

typedef struct listing {
    int lines;
    double square[CLIENTS], survived[CLIENTS]; /* of mu */
    double *into;
} listing;

static mfpg_status list(void *user, const mfpg_release *release, int64_t first, int64_t last) {
    listing *all = user;
    for (int64_t k = first; k <= last; k++) {
        double mu = mfpg_release_mu(release, MFPG_ADJACENCY_ZERO_OUT);
        assert_true(
            release->attempt == 1 && release->sum_round == release->round && release->members == CLIENTS);
        assert_true(release->threshold == 4 && release->colluders == 1);
        assert_false((release->round == 2 && k == 1) || (release->round == 3 && k == 0));
        all->lines++;
        all->into[k] += mu * mu;
    }
    return MFPG_OK;
}

/* Who drops out has released nothing; the others are charged for the worst set, and what happened is no dearer. */
static void test_the_ledger_lists_the_worst_case_and_what_survived(void **state) {
    (void)state;
    mfpg_mechanism_options mechanism = mechanism_of("gaussian", MFPG_UNIT_CLIENT, 1);
    char folder[] = "secure-XXXXXX", path[64];
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/ledger", folder);
    static const mfpg_dropout one[] = {{2, 1}, {3, 0}};
    fixture f = open_case(1, &mechanism, 1, 0);
    f.options.sum.dropout = one;
    f.options.sum.dropouts = 2;
    f.options.sum.colluders = 1;
    CHECK_OK(f.ctx, fixture_start(&f));
    const mfpg_ledger_header header = {
        .clients = CLIENTS, .promise = mechanism.promise, .delta = 1e-5, .secure_sum = 1};
    mfpg_ledger *ledger = NULL;
    CHECK_OK(f.ctx, mfpg_ledger_create(f.ctx, path, &header, &ledger));
    mfpg_federation_keep_ledger(f.federation, ledger);
    for (int r = 0; r < ROUNDS; r++) fixture_round(&f);
    mfpg_ledger_close(ledger);
    listing all = {0};
    all.into = all.square;
    CHECK_OK(f.ctx, mfpg_ledger_read(f.ctx, path, NULL, list, &all, NULL));
    assert_int_equal(all.lines, CLIENTS * ROUNDS - 2);
    all.into = all.survived;
    CHECK_OK(f.ctx, mfpg_ledger_read_survived(f.ctx, path, NULL, list, &all, NULL));
    assert_int_equal(all.lines, 2 * (CLIENTS * ROUNDS - 2));
    for (int k = 0; k < CLIENTS; k++) {
        mfpg_client_report report;
        CHECK_OK(f.ctx, mfpg_federation_client(f.ctx, f.federation, k, &report));
        check_near(report.mu * report.mu, all.square[k], 1e-11, 0, "certificate");
        assert_true(all.survived[k] < all.square[k]);
        assert_int_equal(report.rounds, ROUNDS - (k < 2));
    }
    unlink(path);
    rmdir(folder);
    fixture_close(&f);
}

/* ---- the worst case, from the plan to the budget ---- */

static int ascending(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

/* sqrt(own^2 + the t - c - 1 smallest squares of the others), over the weight. */
static double worst_sd(const mfpg_release *release, int n, int k, int t, int c) {
    double other[CLIENTS], own = release[k].weight * release[k].noise_sd, variance = own * own;
    int count = 0;
    for (int j = 0; j < n; j++)
        if (j != k) other[count++] = release[j].weight * release[j].noise_sd;
    qsort(other, (size_t)count, sizeof *other, ascending);
    for (int j = 0; j < t - c - 1; j++) variance += other[j] * other[j];
    return sqrt(variance) / release[k].weight;
}

static void test_the_plan_counts_the_worst_set(void **state) {
    (void)state;
    mfpg_mechanism_options mechanism = mechanism_of("gaussian", MFPG_UNIT_CLIENT, 1);
    const int given[] = {0, 4, 5};
    for (int c = 0; c < 3; c++)
        for (int i = 0; i < 3; i++) {
            int t = given[i] ? given[i] : (CLIENTS + c) / 2 + 1;
            if (2 * t <= CLIENTS + c) continue;
            mfpg_release release[CLIENTS];
            fixture f = open_case(1, &mechanism, 1, 0);
            f.options.sum.colluders = c;
            f.options.sum.threshold = given[i];
            f.options.participants = c > 0;
            CHECK_OK(f.ctx, fixture_plan(&f, release));
            for (int k = 0; k < CLIENTS; k++)
                check_near(release[k].last_sd, worst_sd(release, CLIENTS, k, t, c), 1e-12, 0, "worst set");
            fixture_close(&f);
        }
}

/* Cohorts are drawn, and a round of too few has no sum: nobody releases anything and the model stays. Where all rounds can be
 * summed the model is that of the plain sum. Named or not, who is in no sum is not charged for one. */
static void test_cohorts_are_summed_or_nobody_sends(void **state) {
    (void)state;
    const struct {
        ptrdiff_t per_round, threshold;
        double rate;
        int named, summed; /* summed: at least so many of 12 rounds, all if negative */
    } rows[] = {{4, 0, 1.0, 0, -1}, {3, 3, 1.0, 0, -1}, {4, 0, 1.0, 1, -1}, {0, 0, 0.5, 0, 2},
        {0, 4, 0.7, 0, 2}, {3, 0, 1.0, 2, 2}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        mfpg_mechanism_options mechanism = mechanism_of("gaussian", MFPG_UNIT_CLIENT, 1);
        float model[2][64], before[64];
        int sums = 0, charged[CLIENTS] = {0};
        const unsigned char flags[2][CLIENTS] = {{0, 1}, {0, 1, 1}};
        for (int simulate = 0; simulate < 2; simulate++) {
            fixture f = open_case(2, &mechanism, simulate, 0);
            size_t size = (size_t)mfpg_model_parameters(f.model) * sizeof(float);
            f.options.rounds = 12;
            f.options.clients_per_round = rows[i].per_round;
            f.options.client_rate = rows[i].rate;
            f.options.sum.threshold = simulate ? rows[i].threshold : 0;
            f.options.sum.colluders = rows[i].named > 1;
            f.options.colluder = rows[i].named ? flags[rows[i].named - 1] : NULL;
            CHECK_OK(f.ctx, fixture_start(&f));
            for (int r = 0; r < 12; r++) {
                memcpy(before, mfpg_federation_model(f.federation), size);
                mfpg_round_report report = fixture_round(&f);
                if (!simulate) continue;
                int same = memcmp(before, mfpg_federation_model(f.federation), size) == 0;
                assert_int_equal(same, report.cohort == 0);
                assert_int_equal(mfpg_federation_sum_cost(f.federation).bytes > 0, !same);
                assert_true(
                    same || report.cohort >= (rows[i].threshold ? rows[i].threshold : MFPG_SUM_LEAST));
                sums += !same;
                for (ptrdiff_t j = 0; j < report.cohort; j++)
                    charged[mfpg_federation_member(f.federation, j)]++;
            }
            for (int k = 0; k < CLIENTS && simulate; k++) {
                mfpg_client_report client;
                CHECK_OK(f.ctx, mfpg_federation_client(f.ctx, f.federation, k, &client));
                assert_true(client.rounds == charged[k] && (client.mu > 0.0) == (charged[k] > 0));
            }
            memcpy(model[simulate], mfpg_federation_model(f.federation), size);
            fixture_close(&f);
            if (simulate && rows[i].summed < 0) assert_memory_equal(model[0], model[1], size);
        }
        assert_true(rows[i].summed < 0 ? sums == 12 : sums >= rows[i].summed && sums < 12);
    }
}

/* With those who are named, the server has more helpers than c. Every attack is tried: no two groups of t answers may have
 * no honest client in common, and no set of t answers with at most c helpers more hides a client behind less noise. */
static void test_named_colluders_help_the_server_of_a_secure_sum(void **state) {
    (void)state;
    mfpg_mechanism_options mechanism = mechanism_of("gaussian", MFPG_UNIT_CLIENT, 1);
    int served = 0, refused = 0;
    for (unsigned named = 1; named < 1U << CLIENTS; named++)
        for (int c = 0; c < 3; c++)
            for (int t = 0; t <= CLIENTS; t++) {
                unsigned char flags[CLIENTS] = {0};
                int bad = c + __builtin_popcount(named), least = (CLIENTS + bad) / 2 + 1;
                int possible = bad <= CLIENTS - 2 && (t == 0 || t >= least);
                fixture f = open_case(1, &mechanism, 1, 0);
                for (int k = 0; k < CLIENTS; k++) flags[k] = named >> k & 1;
                f.options.colluder = flags;
                f.options.sum.colluders = c;
                f.options.sum.threshold = t;
                mfpg_release release[CLIENTS];
                assert_int_equal(fixture_start(&f), possible ? MFPG_OK : MFPG_ERR_INPUT);
                *(possible ? &served : &refused) += 1;
                if (possible) CHECK_OK(f.ctx, fixture_plan(&f, release));
                fixture_close(&f);
                for (int k = 0; k < CLIENTS && possible; k++) {
                    assert_int_equal(release[k].threshold, t ? t : least);
                    assert_int_equal(release[k].colluders, bad);
                    if (flags[k]) assert_true(release[k].last_sd == release[k].noise_sd);
                }
                for (unsigned a = 0; a < 1U << CLIENTS && possible; a++)
                    for (unsigned more = 0; more < 1U << CLIENTS; more++) {
                        unsigned helpers = named | more, honest = ~helpers & ((1U << CLIENTS) - 1);
                        if (more & named || __builtin_popcount(more) > c) continue;
                        if (__builtin_popcount(a) < release->threshold) continue;
                        unsigned rest = helpers | (honest & ~a);
                        assert_true(__builtin_popcount(rest) < release->threshold);
                        double variance = 0.0;
                        for (int j = 0; j < CLIENTS; j++)
                            if (a & honest & 1U << j)
                                variance += pow(release[j].weight * release[j].noise_sd, 2);
                        for (int k = 0; k < CLIENTS; k++)
                            if (a & honest & 1U << k)
                                assert_true(
                                    release[k].last_sd <= sqrt(variance) / release[k].weight * (1 + 1e-15));
                    }
            }
    assert_true(served > 20 && refused > 20);
}

/* A budget holds against the worst case of every round, and when too few are left the run ends. */
static void test_budgets_are_kept_in_the_worst_case(void **state) {
    (void)state;
    mfpg_mechanism_options mechanism = mechanism_of("gaussian", MFPG_UNIT_CLIENT, 1);
    fixture f = open_case(1, &mechanism, 1, 0);
    f.options.rounds = 200;
    f.options.evaluate = MFPG_EVALUATE_NONE;
    f.options.stop_at_epsilon = 6.0;
    f.options.filter = MFPG_FILTER_GDP;
    f.options.sum.colluders = 2; /* otherwise three clients have one worst set and stop together */
    CHECK_OK(f.ctx, fixture_start(&f));
    int done = 0, rounds = 0, fewer = 0;
    mfpg_round_report report;
    ptrdiff_t before = CLIENTS;
    for (; !done && rounds < 200; rounds++) {
        CHECK_OK(f.ctx, mfpg_federation_round(f.ctx, f.federation, &report, &done));
        if (done) break;
        assert_true(report.cohort >= MFPG_SUM_LEAST && report.cohort <= before);
        before = report.cohort;
        fewer += report.cohort < CLIENTS;
    }
    assert_true(done && rounds > 2 && fewer > 0);
    for (int k = 0; k < CLIENTS; k++) {
        mfpg_client_report client;
        CHECK_OK(f.ctx, mfpg_federation_client(f.ctx, f.federation, k, &client));
        assert_true(client.epsilon <= 6.0 && client.rounds <= rounds);
    }
    fixture_close(&f);
}

/* ---- what it refuses ---- */

typedef void (*change)(fixture *f);

static void local_view(fixture *f) {
    f->options.promise.view = MFPG_VIEW_LOCAL;
}
static void watched(fixture *f) {
    f->options.participants = 1;
}
static void low_threshold(fixture *f) {
    f->options.sum.threshold = 2;
}
static void tied_threshold(fixture *f) {
    f->options.sum.threshold = 3;
    f->options.sum.colluders = 1;
}
static void high_threshold(fixture *f) {
    f->options.sum.threshold = 6;
}
static void threshold_of_cohort(fixture *f) {
    f->options.clients_per_round = 3;
    f->options.sum.threshold = 4;
}
static void too_many_colluders(fixture *f) {
    f->options.sum.colluders = 4;
}
static void small_cohort(fixture *f) {
    f->options.clients_per_round = 2;
}
static void no_such_round(fixture *f) {
    static const mfpg_dropout wrong[] = {{ROUNDS + 1, 0}};
    f->options.sum.dropout = wrong;
    f->options.sum.dropouts = 1;
}
static void no_such_client(fixture *f) {
    static const mfpg_dropout wrong[] = {{1, CLIENTS}};
    f->options.sum.dropout = wrong;
    f->options.sum.dropouts = 1;
}

static void test_what_it_cannot_protect_is_refused(void **state) {
    (void)state;
    const struct {
        change change;
        const char *message;
    } rows[] = {{local_view, "privacy.view average"},
        {watched, "secure_sum.colluders: found 0; with privacy.observers"},
        {low_threshold, "secure_sum.threshold: found 2; it must be above (n + c)/2"},
        {tied_threshold, "secure_sum.threshold: found 3"}, {high_threshold, "secure_sum.threshold: found 6"},
        {threshold_of_cohort, "secure_sum.threshold: found 4"},
        {too_many_colluders, "secure_sum.colluders: found 4"},
        {small_cohort, "secure_sum.colluders: found 0; no threshold"},
        {no_such_round, "secure_sum.dropouts: found 5"}, {no_such_client, "secure_sum.dropouts: found 5"}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        mfpg_mechanism_options mechanism = mechanism_of("gaussian", MFPG_UNIT_CLIENT, 1);
        fixture f = open_case(1, &mechanism, 1, 0);
        rows[i].change(&f);
        assert_int_equal(fixture_start(&f), MFPG_ERR_INPUT);
        if (!strstr(mfpg_context_message(f.ctx), rows[i].message))
            fail_msg("%s", mfpg_context_message(f.ctx));
        fixture_close(&f);
    }
    const mfpg_dropout all[] = {{1, 0}, {1, 1}, {1, 2}};
    mfpg_mechanism_options mechanism = mechanism_of("gaussian", MFPG_UNIT_CLIENT, 1);
    fixture f = open_case(1, &mechanism, 1, 0);
    f.options.sum.dropout = all;
    f.options.sum.dropouts = 3;
    mfpg_round_report report;
    int done;
    CHECK_OK(f.ctx, fixture_start(&f));
    assert_int_equal(mfpg_federation_round(f.ctx, f.federation, &report, &done), MFPG_ERR_INPUT);
    assert_non_null(
        strstr(mfpg_context_message(f.ctx), "in round 1 2 of 5 members answer, fewer than the 3"));
    fixture_close(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_models_are_those_of_the_plain_sum),
        cmocka_unit_test(test_the_ledger_lists_the_worst_case_and_what_survived),
        cmocka_unit_test(test_the_plan_counts_the_worst_set),
        cmocka_unit_test(test_cohorts_are_summed_or_nobody_sends),
        cmocka_unit_test(test_named_colluders_help_the_server_of_a_secure_sum),
        cmocka_unit_test(test_budgets_are_kept_in_the_worst_case),
        cmocka_unit_test(test_what_it_cannot_protect_is_refused)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
