/* Audits by few runs and by one: many canaries that share no entry of the model. What is proved is known by closed forms: canary i is
 * seen as N(+-mu/2, 1), independently of the others, so that Phi(mu/2) of all guesses are right. */
#include "failing_memory.h"
#include "mechanisms/mechanism_ops.h"

#include "audit/faults.h"

#include "numerics/special/laws.h"
#include "numerics/special/normal.h"
#include "base/release_parts.h"

static const mfpg_promise by_example = {MFPG_UNIT_EXAMPLE, MFPG_ADJACENCY_REPLACE, MFPG_VIEW_LOCAL};
static const mfpg_promise by_client = {MFPG_UNIT_CLIENT, MFPG_ADJACENCY_REPLACE, MFPG_VIEW_LOCAL};

static void complain(const subject *s, const mfpg_audit_client *c, const char *what) {
    print_error("seed %llu, %s, %s %s %s: mu %.4f, proved %.4f, estimate %.4f, %lld of %lld right; epsilon "
                "%.3f, direct "
                "%.3f; distance %.4f, %.4f\n",
        (unsigned long long)testing_seed(), what, mfpg_unit_name(s->options.promise.unit),
        mfpg_adjacency_name(s->options.promise.adjacency), mfpg_view_name(s->options.promise.view), c->mu,
        c->mu_lower, c->mu_estimate, (long long)c->correct, (long long)c->guesses, c->epsilon,
        c->epsilon_lower_direct, c->distance, c->tv_lower);
    fail();
}

/* The promise is exact: each of n guesses is right with probability Phi(mu/2), and nothing false is proved. As many right as there are,
 * or as few, happen with probability above 1e-7. */
static void check_exact(const subject *s, const mfpg_audit_client *c, const char *what) {
    double n = (double)c->guesses, rate = mfpg_normal_cdf(0.5 * c->mu);
    if (!c->stands || c->mu_lower > c->mu || c->epsilon_lower_direct > c->epsilon) complain(s, c, what);
    if (!(mfpg_binomial_upper_tail(c->correct, c->guesses, rate) > 1e-7)) complain(s, c, what);
    if (!(mfpg_binomial_lower_tail(c->correct, c->guesses, rate) > 1e-7)) complain(s, c, what);
    if (isnan(c->mu_estimate)) return;
    if (!(fabs(c->mu_estimate - c->mu) < 5.0 * sqrt((4.0 + 0.5 * c->mu * c->mu) / n))) complain(s, c, what);
}

static void test_directions_are_orthonormal_and_sum_to_nothing(void **state) {
    (void)state;
    const ptrdiff_t sizes[] = {1, 2, 3, 10, 21, 64};
    for (int i = 0; i < 6; i++) {
        ptrdiff_t n = sizes[i], most = mfpg_canary_most(n);
        float w[64];
        assert_true(most >= 1 && (n == 1 || 2 * most <= n));
        for (ptrdiff_t m = 1; m <= most; m++) {
            double ones = 0, norm2[64] = {0};
            for (ptrdiff_t e = 0; e < n; e++) { /* entries of all directions: <e, v_j> */
                int owners = 0;
                memset(w, 0, sizeof w);
                w[e] = 1;
                for (ptrdiff_t j = 0; j < m; j++) {
                    double entry = mfpg_canary_project_on(n, m, j, w);
                    norm2[j] += entry * entry;
                    ones += entry;
                    owners += entry != 0;
                }
                assert_true(owners <= 1);
            }
            for (ptrdiff_t j = 0; j < m; j++) check_near(norm2[j], 1, 1e-14, 0, "length");
            if (n > 1) check_near(ones, 0, 0, 1e-14, "mean");
        }
    }
}

static void test_few_runs_find_what_is_promised(void **state) {
    (void)state;
    const char *kinds[] = {"gaussian", "entropic"};
    for (int variant = 0; variant < 24; variant++) {
        const mfpg_promise promise = {variant / 2 % 2 ? MFPG_UNIT_EXAMPLE : MFPG_UNIT_CLIENT,
            variant / 4 % 2 ? MFPG_ADJACENCY_REPLACE : MFPG_ADJACENCY_ZERO_OUT, (mfpg_view)(variant / 8)};
        mfpg_mechanism_options o = kind_options(kinds[variant % 2], promise);
        subject s = crowd_open(1, 3, 6, 20, 2, &o, 1.0);
        CHECK_OK(s.ctx, subject_audit(&s));
        assert_int_equal(s.plan.runs, 40);
        assert_int_equal(s.plan.pooled, promise.unit == MFPG_UNIT_CLIENT);
        for (ptrdiff_t k = 0; k < 3; k++) {
            assert_int_equal(s.client[k].canaries, promise.unit == MFPG_UNIT_CLIENT ? 1 : 6);
            check_exact(&s, &s.client[k], kinds[variant % 2]);
        }
        if (s.plan.pooled) {
            check_near(s.plan.together.mu, s.client[0].mu, 1e-6, 0, "the same promise of all");
            check_near(s.plan.together.epsilon, s.client[0].epsilon, 1e-6, 0, "the same promise of all");
            check_exact(&s, &s.plan.together, "together");
        }
        subject_close(&s);
    }
}

/* Several noisy steps and a clip of the whole update, unequal noise, those who watch the average and know their own noise. */
static void test_other_promises_stand(void **state) {
    (void)state;
    for (int variant = 0; variant < 4; variant++) {
        mfpg_promise promise = variant == 2 ? by_example : by_client;
        if (variant >= 2) promise.view = MFPG_VIEW_AVERAGE;
        mfpg_mechanism_options o = kind_options("gaussian", promise);
        o.local_steps = variant < 2 ? 3 : 1;
        if (variant == 1) o.clip_at = MFPG_CLIP_UPDATE;
        subject s = crowd_open(1, 3, 4, 20, 2, &o, 1.0);
        s.action[1] = mfpg_mechanism_action_for(s.mechanism, 2.0, 4);
        s.options.participants = variant >= 2;
        CHECK_OK(s.ctx, subject_audit(&s));
        for (ptrdiff_t k = 0; k < 3; k++) check_exact(&s, &s.client[k], "other");
        s.audit = mfpg_audit_options_for(MFPG_AUDIT_ONE_RUN);
        CHECK_OK(s.ctx, subject_audit(&s));
        for (ptrdiff_t k = 0; k < 3; k++) assert_true(s.client[k].stands);
        subject_close(&s);
    }
}

/* 200 canaries in each of 60 runs at mu 1: reference 0.85 of mu with 10,000 in 100 runs at 95 %, 0.81 with 20 in 100. */
static void test_few_runs_prove_most_of_the_promise(void **state) {
    (void)state;
    mfpg_mechanism_options o = kind_options("gaussian", by_example);
    subject s = crowd_open(2, 1, 200, 400, 1, &o, 2.0);
    s.audit.runs = 60;
    s.audit.confidence = 0.95;
    CHECK_OK(s.ctx, subject_audit(&s));
    const mfpg_audit_client *c = &s.client[0];
    check_near(c->mu, 1, 1e-6, 0, "mu");
    if (!(c->mu_lower > 0.6 * c->mu)) complain(&s, c, "far off");
    check_near(c->mu_lower, mfpg_bound_rate_mu(0.5 + 0.5 * c->tv_lower), 1e-9, 0, "of one rate");
    check_near(c->epsilon_lower, mfpg_gdp_epsilon(c->mu_lower, 1e-5), 1e-6, 0, "epsilon");
    assert_int_equal(c->route, MFPG_ROUTE_BET);
    subject_close(&s);
}

/* Poisson batches: there is no mu; the certificate's total variation is what a rate of guesses is held against. */
static void test_sampling_is_held_against_the_total_variation(void **state) {
    (void)state;
    mfpg_mechanism_options o = kind_options("gaussian", by_example);
    o.batch_rate = 0.5;
    subject s = crowd_open(1, 1, 20, 60, 2, &o, 0.5);
    s.options.accountant = "pld";
    s.audit.runs = 100;
    CHECK_OK(s.ctx, subject_audit(&s));
    const mfpg_audit_client *c = &s.client[0];
    assert_true(isnan(c->mu) && c->stands && c->tv_lower > 0.1 && c->tv_lower <= c->distance);
    s.audit = mfpg_audit_options_for(MFPG_AUDIT_ONE_RUN);
    CHECK_OK(s.ctx, subject_audit(&s));
    assert_true(s.client[0].stands && s.client[0].guesses > 0);
    subject_close(&s);
}

/* One run with many canaries proves what is expected of it where the promise is exact: half of the time more. Its ceiling is what
 * it proves where nothing is hidden. */
static void test_one_run_proves_what_it_should(void **state) {
    (void)state;
    mfpg_mechanism_options o = kind_options("gaussian", by_example);
    subject s = crowd_open(2, 1, 2000, 4000, 1, &o, 2.0);
    s.audit = mfpg_audit_options_for(MFPG_AUDIT_ONE_RUN);
    s.audit.confidence = 0.95;
    s.audit.canaries = 2000;
    int above = 0;
    const int audits = 15;
    for (int i = 0; i < audits; i++) {
        s.audit.seed = testing_seed() + (uint64_t)i;
        CHECK_OK(s.ctx, subject_audit(&s));
        const mfpg_audit_client *c = &s.client[0];
        assert_true(c->canaries == 2000 && c->guesses < 2000 && c->correct <= c->guesses);
        assert_true(c->expected > 0.5 * c->mu && c->expected < c->mu && c->mu_lower <= c->ceiling);
        assert_true(c->epsilon_lower_direct <= c->epsilon);
        above += c->mu_lower >= c->expected;
    }
    assert_in_range(above, 2, audits - 1); /* 15 fair coins: outside with probability below 1e-3 */
    s.action[0] = mfpg_mechanism_action_for(s.mechanism, 0.01, 2000);
    CHECK_OK(s.ctx, subject_audit(&s));
    assert_int_equal(s.client[0].correct, s.client[0].guesses);
    check_near(s.client[0].mu_lower, s.client[0].ceiling, 1e-12, 0, "everything right");
    assert_true(s.client[0].mu > s.client[0].ceiling && s.client[0].stands);
    subject_close(&s);
}

/* Every client one canary: in one run they prove something together alone. */
static void test_clients_are_one_sample(void **state) {
    (void)state;
    mfpg_mechanism_options o = kind_options("gaussian", by_client);
    subject s = crowd_open(1, MOST_CLIENTS, 2, 20, 1, &o, 0.1);
    s.action[1] = mfpg_mechanism_action_for(s.mechanism, 0.2, 2);
    s.audit = mfpg_audit_options_for(MFPG_AUDIT_ONE_RUN);
    s.audit.confidence = 0.9;
    CHECK_OK(s.ctx, subject_audit(&s));
    assert_true(s.plan.pooled && s.plan.together.stands && s.plan.together.mu_lower > 0.3);
    check_near(s.plan.together.mu, s.client[0].mu, 0, 0, "the largest");
    for (int k = 0; k < MOST_CLIENTS; k++) assert_true(s.client[k].mu_lower == 0.0 && s.client[k].stands);
    s.audit = mfpg_audit_options_for(MFPG_AUDIT_FEW_RUNS);
    s.action[0] = mfpg_mechanism_action_for(s.mechanism, 2.0, 2);
    CHECK_OK(s.ctx, subject_audit(&s));
    double rate = (mfpg_normal_cdf(0.5) + mfpg_normal_cdf(5.0) + 6 * mfpg_normal_cdf(10.0)) / 8;
    check_near(mfpg_normal_cdf(0.5 * s.plan.together.mu), rate, 1e-9, 0, "the mean chance");
    assert_true(s.plan.together.stands);
    subject_close(&s);
}

/* ---- faults ---- */

static mfpg_status play_blind(mfpg_context *ctx, const mfpg_audit_game *game, const mfpg_key *key,
    mfpg_canary_data *canaries, mfpg_transcript *s, void *arg) {
    mfpg_transcript shown = *s;
    double *nothing = calloc((size_t)s->each * (size_t)game->rounds * (size_t)game->clients, sizeof *nothing);
    (void)arg;
    shown.value = nothing;
    mfpg_status status = mfpg_audit_play_federation(ctx, game, key, canaries, &shown, NULL);
    s->rounds = shown.rounds;
    free(nothing);
    return status;
}

/* Audits a subject that promises mu at `promised` times its noise. */
static void audit_many(subject *s, double multiplier, mfpg_audit_play play) {
    mfpg_model *canary = NULL;
    mfpg_audit_law law[MOST_CLIENTS];
    mfpg_audit_promise promise[MOST_CLIENTS];
    s->options.evaluate = MFPG_EVALUATE_NONE;
    for (int k = 0; k < MOST_CLIENTS; k++)
        promise[k] = promise_of(multiplier, s->options.rounds, s->options.promise.adjacency);
    CHECK_OK(s->ctx, mfpg_canary_model_create(s->ctx, s->model, &canary));
    mfpg_audit_game game = {.options = &s->audit,
        .federation = &s->options,
        .data = s->data,
        .model = canary,
        .mechanism = s->mechanisms,
        .action = s->action,
        .law = law,
        .excess = 10,
        .clients = s->data->clients,
        .rounds = s->options.rounds,
        .delta = s->options.delta,
        .play = play};
    CHECK_OK(s->ctx, mfpg_audit_laws(s->ctx, &game, law));
    CHECK_OK(s->ctx, mfpg_audit_run_many(s->ctx, &game, promise, s->client, &s->plan));
    mfpg_model_destroy(canary);
}

static void test_less_noise_than_promised_is_caught(void **state) {
    (void)state;
    mfpg_mechanism_options o = kind_options("gaussian", by_example);
    /* Few runs, noise x 0.7: Phi(0.714) = 0.762 of the guesses instead of Phi(0.5) = 0.691 are right, which multiplies a stake of
     * 0.99 by 1.10 a run: some 80 runs for a wealth of 1/alpha. */
    subject s = crowd_open(2, 1, 50, 100, 1, &o, 1.4);
    s.audit.runs = 150;
    s.audit.confidence = 0.99;
    audit_many(&s, 2.0, mfpg_audit_play_federation);
    if (s.client[0].stands) complain(&s, &s.client[0], "noise x 0.7");
    subject_close(&s);
    /* The clients of the client unit together: 8 a run. */
    o = kind_options("gaussian", by_client);
    s = crowd_open(2, MOST_CLIENTS, 2, 20, 2, &o, 1.4);
    s.audit.runs = 600;
    s.audit.confidence = 0.99;
    audit_many(&s, 2.0, mfpg_audit_play_federation);
    if (s.plan.together.stands) complain(&s, &s.plan.together, "noise x 0.7, together");
    subject_close(&s);
    /* One run proves about 0.6 of mu with 4000 canaries: it takes noise x 0.5. */
    o = kind_options("gaussian", by_example);
    s = crowd_open(2, 1, 4000, 8000, 1, &o, 1.0);
    s.audit = mfpg_audit_options_for(MFPG_AUDIT_ONE_RUN);
    s.audit.canaries = 4000;
    s.audit.confidence = 0.95;
    s.audit.seed = testing_seed();
    audit_many(&s, 2.0, mfpg_audit_play_federation);
    if (s.client[0].stands) complain(&s, &s.client[0], "noise x 0.5");
    subject_close(&s);
}

/* 100 audits at 99 %, of nothing and of exactly what is promised, by both methods. */
static void test_alarms_are_as_rare_as_they_say(void **state) {
    (void)state;
    const int audits = 100;
    for (int variant = 0; variant < 4; variant++) {
        int exact = variant % 2, alarms = 0;
        mfpg_mechanism_options o = kind_options("gaussian", by_example);
        subject s = crowd_open(1, 1, 20, 40, 1, &o, 2.0);
        s.audit = mfpg_audit_options_for(variant < 2 ? MFPG_AUDIT_FEW_RUNS : MFPG_AUDIT_ONE_RUN);
        if (variant < 2) s.audit.runs = 20;
        for (int i = 0; i < audits; i++) {
            s.audit.seed = testing_seed() + 1000u * (unsigned)(i + 1);
            audit_many(&s, 2.0, exact ? mfpg_audit_play_federation : play_blind);
            alarms += exact ? !s.client[0].stands : s.client[0].mu_lower > 0.0;
        }
        if (alarms > plan_false_alarms_allowed(audits, 0.01)) {
            print_error("seed %llu: variant %d, %d alarms of %d\n", (unsigned long long)testing_seed(),
                variant, alarms, audits);
            fail();
        }
        subject_close(&s);
    }
}

/* ---- the bounds ---- */

/* Share guessed and what it proves, median of simulated runs (audit theory A3.7); of 200 guesses one more that is right is worth
 * 0.03. */
static void test_guesses_of_one_run_are_well_chosen(void **state) {
    (void)state;
    const struct {
        double mu;
        int64_t canaries;
        double share, at_95, at_99;
    } rows[] = {{0.5, 1000, 0.2, 0.53, 0.41}, {1, 1000, 0.2, 0.61, 0.51}, {2, 1000, 0.2, 0.63, 0.54},
        {4, 1000, 0.5, 0.50, 0.42}, {1, 10000, 0.02, 0.73, 0.64}, {2, 10000, 0.1, 0.72, 0.64},
        {4, 10000, 0.5, 0.64, 0.55}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        int64_t m = rows[i].canaries, guesses = (int64_t)(rows[i].share * (double)m);
        double mu = rows[i].mu;
        for (int strict = 0; strict < 2; strict++) {
            double alpha = strict ? 0.01 : 0.05, want = strict ? rows[i].at_99 : rows[i].at_95;
            double proved = mfpg_bound_one_run_expected(m, guesses, mu, alpha);
            check_near(proved / mu, want, 0, 0.04, "reference");
            int64_t chosen = mfpg_bound_one_run_guesses(m, mu, alpha);
            assert_true(chosen > 0 && mfpg_bound_one_run_expected(m, chosen, mu, alpha) >= proved - 1e-12);
        }
    }
    assert_int_equal(mfpg_bound_one_run_guesses(10, 0.1, 0.05), 0);
    assert_int_equal(mfpg_bound_one_run_guesses(0, 1, 0.05), 0);
    assert_true(mfpg_bound_one_run_expected(10, 11, 1, 0.05) == 0.0);
    assert_true(mfpg_bound_one_run_expected(10, 5, (double)NAN, 0.05) == 0.0);
}

/* Randomised response tells a coin with probability e^epsilon/(e^epsilon + 1); with delta more it tells it outright. */
static void test_rates_mean_what_they_say(void **state) {
    (void)state;
    const double epsilons[] = {0.01, 0.5, 1, 4, 10};
    for (int i = 0; i < 5; i++) {
        double e = exp(epsilons[i]);
        check_near(mfpg_bound_rate_epsilon(e / (1 + e), 0), epsilons[i], 1e-9, 1e-12, "pure");
        check_near(mfpg_bound_rate_epsilon((e + 1e-3) / (1 + e), 1e-3), epsilons[i], 1e-9, 1e-12, "delta");
        check_near(mfpg_bound_rate_mu(mfpg_normal_cdf(0.5 * epsilons[i])), epsilons[i], 1e-9, 1e-12, "mu");
    }
    check_near(mfpg_bound_rate_tv(0.75), 0.5, 0, 0, "total variation");
    const double nothing[] = {0, 0.5, 1, 2, -1, (double)NAN};
    for (int i = 0; i < 6; i++)
        assert_true(mfpg_bound_rate_mu(nothing[i]) == 0 && mfpg_bound_rate_epsilon(nothing[i], 0) == 0 &&
                    mfpg_bound_rate_tv(nothing[i]) == 0);
    const double all[] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1};
    double rate = mfpg_bound_rate_bet(all, 12, 0.05);
    check_near(mfpg_bound_bet_log_wealth(all, 12, rate), log(20), 0, 1e-9, "the rate that is just refuted");
    check_near(plan_mu_bet(all, 12, 0.05), mfpg_bound_rate_mu(rate), 0, 0, "its mu");
}

/* ---- how it is played ---- */

static void test_threads_and_repetition_change_nothing(void **state) {
    (void)state;
    for (int method = 1; method <= 2; method++) {
        mfpg_audit_client first[2];
        mfpg_mechanism_options o = kind_options("gaussian", by_example);
        for (int threads = 1; threads <= 3; threads++) {
            subject s = crowd_open(threads, 2, 8, 20, 2, &o, 1.0);
            s.audit.method = (mfpg_audit_method)method;
            s.audit.runs = method == 1 ? 7 : 1;
            CHECK_OK(s.ctx, subject_audit(&s));
            if (threads == 1) memcpy(first, s.client, sizeof first);
            assert_memory_equal(first, s.client, sizeof first);
            s.audit.seed++;
            CHECK_OK(s.ctx, subject_audit(&s));
            assert_true(first[0].mu_estimate != s.client[0].mu_estimate);
            subject_close(&s);
        }
    }
}

typedef struct watcher {
    volatile int stop;
    int64_t runs;
} watcher;

static void look(void *user, int64_t runs, const mfpg_audit_client *client) {
    watcher *w = user;
    w->runs = runs;
    assert_true(client[0].guesses == runs * client[0].canaries);
    if (runs >= 20) w->stop = 1;
}

/* Stopped after 20 of 400 runs an audit tells what 20 runs tell. */
static void test_few_runs_may_be_watched_and_stopped(void **state) {
    (void)state;
    mfpg_mechanism_options o = kind_options("gaussian", by_example);
    subject s = crowd_open(1, 1, 10, 20, 1, &o, 0.2);
    watcher w = {0};
    s.audit.runs = 400;
    s.audit.stop = &w.stop;
    s.audit.watch = look;
    s.audit.watch_user = &w;
    CHECK_OK(s.ctx, subject_audit(&s));
    assert_true(s.plan.stopped && s.plan.runs == 20 && w.runs == 20 && s.client[0].mu_lower > 0);
    const mfpg_audit_client stopped = s.client[0];
    s.audit.runs = 20;
    s.audit.stop = NULL;
    s.audit.watch = NULL;
    CHECK_OK(s.ctx, subject_audit(&s));
    assert_true(!s.plan.stopped);
    assert_memory_equal(&stopped, &s.client[0], sizeof stopped);
    s.audit.stop = &w.stop;
    for (int method = 1; method <= 2; method++) {
        s.audit.method = (mfpg_audit_method)method;
        s.audit.runs = 1;
        assert_int_equal(subject_audit(&s), MFPG_ERR_INTERRUPTED);
    }
    subject_close(&s);
}

static void refuse(subject *s, mfpg_status status, const char *words) {
    assert_int_equal(subject_audit(s), status);
    assert_non_null(strstr(mfpg_context_message(s->ctx), words));
}

static void test_what_does_not_fit_is_refused(void **state) {
    (void)state;
    mfpg_mechanism_options o = kind_options("gaussian", by_example);
    subject s = crowd_open(1, 2, 30, 20, 1, &o, 1.0);
    s.audit.canaries = 11; /* 21 parameters */
    refuse(&s, MFPG_ERR_INPUT, "room for 10");
    s.audit.canaries = 10;
    s.audit.runs = 1;
    CHECK_OK(s.ctx, subject_audit(&s));
    assert_int_equal(s.client[0].canaries, 10);
    s.audit.canaries = -1;
    refuse(&s, MFPG_ERR_DOMAIN, "canaries");
    s.audit.canaries = 0;
    s.audit.runs = 0;
    refuse(&s, MFPG_ERR_DOMAIN, "few runs");
    s.audit = mfpg_audit_options_for(MFPG_AUDIT_ONE_RUN);
    s.audit.runs = 2;
    refuse(&s, MFPG_ERR_DOMAIN, "takes 1");
    s.audit = mfpg_audit_options_default();
    s.audit.canaries = 2;
    refuse(&s, MFPG_ERR_DOMAIN, "one a client");
    subject_close(&s);
    o = kind_options("gaussian", by_client);
    o.promise.view = MFPG_VIEW_AVERAGE;
    s = crowd_open(1, 4, 2, 5, 1, &o, 1.0); /* 6 parameters */
    refuse(&s, MFPG_ERR_INPUT, "4 canaries of as many clients");
    s.audit.canaries = 2;
    refuse(&s, MFPG_ERR_INPUT, "a client has one");
    subject_close(&s);
}

static mfpg_status audit_once(void *arg) {
    return subject_audit(arg);
}

static void test_an_audit_survives_every_failing_allocation(void **state) {
    (void)state;
    for (int method = 1; method <= 2; method++) {
        mfpg_mechanism_options o = kind_options("gaussian", method == 1 ? by_example : by_client);
        subject s = crowd_open(1, 2, 2, 4, 2, &o, 1.0);
        s.audit.method = (mfpg_audit_method)method;
        s.audit.runs = 1;
        assert_true(sweep_allocations(audit_once, &s) > 20);
        subject_close(&s);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_directions_are_orthonormal_and_sum_to_nothing),
        cmocka_unit_test(test_few_runs_find_what_is_promised),
        cmocka_unit_test(test_other_promises_stand),
        cmocka_unit_test(test_few_runs_prove_most_of_the_promise),
        cmocka_unit_test(test_sampling_is_held_against_the_total_variation),
        cmocka_unit_test(test_one_run_proves_what_it_should),
        cmocka_unit_test(test_clients_are_one_sample),
        cmocka_unit_test(test_less_noise_than_promised_is_caught),
        cmocka_unit_test(test_alarms_are_as_rare_as_they_say),
        cmocka_unit_test(test_guesses_of_one_run_are_well_chosen),
        cmocka_unit_test(test_rates_mean_what_they_say),
        cmocka_unit_test(test_threads_and_repetition_change_nothing),
        cmocka_unit_test(test_few_runs_may_be_watched_and_stopped),
        cmocka_unit_test(test_what_does_not_fit_is_refused),
        cmocka_unit_test(test_an_audit_survives_every_failing_allocation),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
