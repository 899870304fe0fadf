/* The whole table of what can be promised: every mechanism x particles x unit x adjacency x view, with all rows or Poisson
 * batches, and every accountant that certifies. Each cell is audited or refused with its reason; what is promised is compared
 * with closed forms, what the attack finds with closed forms and with simulated releases. */
#include "audit/fixture.h"

#include "mfpg/random.h"
#include "mechanisms/mechanism_ops.h"
#include "numerics/special/laws.h"
#include "base/release_parts.h"

enum { CLIENTS = 2, ROUNDS = 3, ROWS = 4, CELLS_OF_A_KIND = 2 * 2 * 3 };

static const double multiplier = 2.0, batch_rate = 0.4;

static mfpg_promise promise_number(int i) {
    const mfpg_adjacency adjacency[] = {MFPG_ADJACENCY_ZERO_OUT, MFPG_ADJACENCY_REPLACE};
    const mfpg_view view[] = {MFPG_VIEW_LOCAL, MFPG_VIEW_AVERAGE, MFPG_VIEW_FINAL};
    return (mfpg_promise){i % 2 ? MFPG_UNIT_EXAMPLE : MFPG_UNIT_CLIENT, adjacency[i / 2 % 2], view[i / 4]};
}

/* A prior so narrow that the entropic flow forgets half of a client's state in a round: views differ then. */
static mfpg_mechanism_options options_of(const char *kind, mfpg_promise promise, double rate) {
    mfpg_mechanism_options o = mfpg_mechanism_options_default();
    o.kind = kind;
    o.promise = promise;
    o.batch_rate = rate;
    o.prior_variance = 0.04;
    return o;
}

static void complain(const subject *s, const mfpg_mechanism_options *o, int k, const char *what) {
    const mfpg_audit_client *c = &s->client[k];
    print_error(
        "seed %llu, %s, %s, %s %s %s, rate %g, client %d: %s: mu %.4f, proved %.4f, estimate %.4f; "
        "epsilon %.4f, proved %.4f, direct %.4f; auc %.4f, at least %.4f, at most %.4f; round %.4f, %.4f\n",
        (unsigned long long)testing_seed(), o->kind, s->options.accountant, mfpg_unit_name(o->promise.unit),
        mfpg_adjacency_name(o->promise.adjacency), mfpg_view_name(o->promise.view), o->batch_rate, k, what,
        c->mu, c->mu_lower, c->mu_estimate, c->epsilon, c->epsilon_lower, c->epsilon_lower_direct, c->auc,
        c->auc_lower, c->auc_cap, c->round_mu, c->round_mu_lower);
    fail();
}

static void check(const subject *s, const mfpg_mechanism_options *o, int k, int holds, const char *what) {
    if (!holds) complain(s, o, k, what);
}

/* How far the arms are apart in one round, in units of the noise that the view leaves: 2 clients of equal weights and noise. */
static double shift_of(const mfpg_mechanism_options *o) {
    double arms = o->promise.adjacency == MFPG_ADJACENCY_REPLACE ? 2.0 : 1.0;
    double noise = o->promise.view == MFPG_VIEW_LOCAL ? 1.0 : sqrt((double)CLIENTS);
    return arms / (multiplier * noise);
}

/* What is left of a client's state after a round: 1 - tau e/sigma^2 - tau lambda, 2 e tau = sd^2. */
static double keep_of(const mfpg_mechanism_options *o) {
    if (strcmp(o->kind, "entropic") != 0) return 1.0;
    double rows = o->promise.unit == MFPG_UNIT_EXAMPLE ? ROWS * o->batch_rate : 1.0;
    double sd = multiplier * o->step * o->clip / rows;
    return 1.0 - 0.5 * sd * sd / o->prior_variance - o->step * o->variance_penalty;
}

/* The mu that the best score has. Views of every round: sqrt(T) shifts. The last model alone: shifts of a^(T-t) over noise of
 * the same powers (theory S2.3). */
static double findable(const mfpg_mechanism_options *o) {
    double a = keep_of(o), gap = 0.0, variance = 0.0;
    if (o->promise.view != MFPG_VIEW_FINAL) return shift_of(o) * sqrt((double)ROUNDS);
    for (int t = 0; t < ROUNDS; t++) {
        gap += pow(a, t);
        variance += pow(a, 2 * t);
    }
    return shift_of(o) * gap / sqrt(variance);
}

static mfpg_status audit_cell(subject *s, const mfpg_mechanism_options *o, const char *accountant, int runs) {
    *s = subject_open(1, CLIENTS, ROUNDS, "logistic", o, multiplier);
    s->options.accountant = accountant;
    s->audit.runs = 2 * testing_repeats(runs / 2);
    return subject_audit(s);
}

/* ---- all rows: Gaussian DP ---- */

/* mu_estimate errs by sqrt(2/n + mu^2/(4n)), n runs an arm; five of these. A proof at 99.99 % of two clients, with the shares of
 * alpha, lies about five of them lower. */
static void check_gaussian(const subject *s, const mfpg_mechanism_options *o) {
    double promised = shift_of(o) * sqrt((double)ROUNDS), found = findable(o);
    double error = 5.0 * sqrt((4.0 + 0.5 * found * found) / (double)s->audit.runs);
    for (int k = 0; k < CLIENTS; k++) {
        const mfpg_audit_client *c = &s->client[k];
        check(s, o, k, fabs(c->mu - promised) <= 1e-9 * promised && c->mu >= promised, "promise");
        check(s, o, k, fabs(c->epsilon / mfpg_gdp_epsilon(promised, 1e-5) - 1.0) < 1e-6, "epsilon promised");
        check(s, o, k, fabs(c->mu_estimate - found) <= error, "what is found");
        check(s, o, k, c->mu_lower <= c->mu && c->mu_lower >= found - 2.0 * error, "proof of mu");
        check(s, o, k, c->epsilon_lower_direct <= c->epsilon && c->tv_lower <= c->distance, "direct proofs");
        check(s, o, k, c->epsilon_lower <= c->epsilon && c->stands, "stands");
        int rounds = o->promise.view != MFPG_VIEW_FINAL;
        check(s, o, k, isnan(c->round_mu) == !rounds && isnan(c->auc_cap), "what is audited");
        if (rounds)
            check(
                s, o, k, fabs(c->round_mu - shift_of(o)) < 1e-9 && c->round_mu_lower <= c->round_mu, "round");
    }
}

static void test_every_cell_of_gaussian_dp_is_found_as_promised(void **state) {
    (void)state;
    const char *kinds[] = {"gaussian", "entropic"};
    for (int i = 0; i < 2 * CELLS_OF_A_KIND; i++) {
        mfpg_mechanism_options o = options_of(kinds[i % 2], promise_number(i / 2), 1.0);
        subject s;
        CHECK_OK(s.ctx, audit_cell(&s, &o, "gdp", 1000));
        check_gaussian(&s, &o);
        assert_int_equal(s.plan.patterns, o.promise.view == MFPG_VIEW_FINAL ? 1 : 3);
        assert_int_equal(s.plan.pairs, o.promise.view == MFPG_VIEW_LOCAL ? CLIENTS - 1 : 0);
        subject_close(&s);
    }
}

/* ---- Poisson batches ---- */

enum { DRAWS = 4000 };

static double mixture_ratio(double z, double shift) {
    return log(1.0 - batch_rate + batch_rate * exp(shift * z - 0.5 * shift * shift));
}

/* What the best score makes of simulated releases: ROUNDS draws of N(0, 1), moved by the shift with probability q. In the last
 * model alone the rounds are added up. */
static double simulated_auc(const mfpg_mechanism_options *o) {
    static mfpg_scored score[2][DRAWS];
    const mfpg_key key = mfpg_key_from_seed(testing_seed());
    int replace = o->promise.adjacency == MFPG_ADJACENCY_REPLACE;
    double a = keep_of(o), shift = shift_of(o) / (replace ? 2.0 : 1.0);
    for (int arm = 0; arm < 2; arm++) {
        mfpg_stream stream = mfpg_stream_open(&key, MFPG_PURPOSE_TEST, 40, (uint64_t)arm),
                    coins = mfpg_stream_open(&key, MFPG_PURPOSE_TEST, 41, (uint64_t)arm);
        for (int i = 0; i < DRAWS; i++) {
            float z[ROUNDS];
            double coin[ROUNDS], sum = 0.0;
            mfpg_stream_gaussian(&stream, (uint64_t)i, ROUNDS, z);
            mfpg_stream_uniform(&coins, (uint64_t)i * ROUNDS, ROUNDS, coin);
            for (int t = 0; t < ROUNDS; t++) {
                double sign = replace && arm == 0 ? -1.0 : replace || arm == 1 ? 1.0 : 0.0;
                double x = (double)z[t] + (coin[t] < batch_rate ? sign * shift : 0.0);
                if (o->promise.view == MFPG_VIEW_FINAL)
                    sum += pow(a, ROUNDS - 1 - t) * x;
                else
                    sum += mixture_ratio(x, shift) - (replace ? mixture_ratio(x, -shift) : 0.0);
            }
            score[arm][i] = (mfpg_scored){sum, (uint64_t)i};
        }
    }
    return mfpg_rank_share(score[0], DRAWS, score[1], DRAWS);
}

/* A share of ordered pairs of n runs an arm has a standard error below 1/sqrt(6 n); five of each sample's. The largest share is
 * promised for any neighbour, and no attack proves more. */
static void check_sampled(const subject *s, const mfpg_mechanism_options *o, double found) {
    double error = 5.0 * (sqrt(1.0 / (3.0 * (double)s->audit.runs)) + sqrt(1.0 / (6.0 * DRAWS)));
    for (int k = 0; k < CLIENTS; k++) {
        const mfpg_audit_client *c = &s->client[k];
        check(
            s, o, k, isnan(c->mu) && isnan(c->round_mu) && c->epsilon > 0.0 && isfinite(c->epsilon), "form");
        check(s, o, k, c->auc_cap >= found - error && c->auc_cap < 1.0, "cap");
        check(s, o, k, fabs(c->auc - found) <= error, "what is found");
        int blind = c->auc_lower == 0.0 && c->auc - 2.0 * error <= 0.5;
        check(s, o, k, blind || (c->auc_lower > 0.5 && c->auc_lower >= c->auc - 2.0 * error), "proof");
        check(s, o, k, c->auc_lower <= c->auc_cap, "promise");
        check(s, o, k, c->epsilon_lower_direct <= c->epsilon && c->stands, "stands");
    }
}

/* 1 where an accountant is asked: the others than Gaussian DP where batches matter. What is accounted does not depend on the
 * kind of mechanism, and the exact accountant takes seconds a cell. */
static int is_asked(const char *accountant, const mfpg_mechanism_options *o) {
    if (strcmp(accountant, "gdp") == 0) return 1;
    if (o->promise.unit != MFPG_UNIT_EXAMPLE) return 0;
    if (strcmp(accountant, "exact") == 0) return testing_repeats(1) > 1;
    return strcmp(accountant, "rdp") == 0 || strcmp(o->kind, "gaussian") == 0;
}

/* Sampling of examples counts for accountants that credit it. A client's own batches do not hide the client, and Gaussian DP
 * credits nothing: both promise what they would without batches. */
static void test_every_cell_with_poisson_batches_stands(void **state) {
    (void)state;
    const char *kinds[] = {"gaussian", "entropic"}, *accountants[] = {"gdp", "rdp", "pld", "exact"};
    for (int i = 0; i < 2 * CELLS_OF_A_KIND; i++) {
        mfpg_mechanism_options o = options_of(kinds[i % 2], promise_number(i / 2), batch_rate);
        int example = o.promise.unit == MFPG_UNIT_EXAMPLE;
        double found = example ? simulated_auc(&o) : (double)NAN;
        for (int a = 0; a < 4; a++) {
            subject s;
            if (!is_asked(accountants[a], &o)) continue;
            CHECK_OK(s.ctx, audit_cell(&s, &o, accountants[a], 800));
            if (example && a > 0) check_sampled(&s, &o, found);
            double mu = shift_of(&o) * sqrt((double)ROUNDS);
            for (int k = 0; k < CLIENTS; k++) {
                const mfpg_audit_client *c = &s.client[k];
                check(&s, &o, k, c->stands && isfinite(c->epsilon), "stands");
                if (a == 0) check(&s, &o, k, fabs(c->mu - mu) <= 1e-9 * mu, "no credit");
            }
            subject_close(&s);
        }
    }
}

/* ---- cells that cannot be audited ---- */

/* The reason why the cell is refused, by the mechanism or by the audit; NULL where it can be audited. */
static const char *refusal_of(const mfpg_mechanism_options *o) {
    static char reason[512];
    mfpg_mechanism *mechanism = NULL;
    mfpg_context *ctx = testing_context(1);
    mfpg_status status = mfpg_mechanism_create(ctx, o, &mechanism);
    snprintf(reason, sizeof reason, "%s", mfpg_context_message(ctx));
    mfpg_mechanism_destroy(mechanism);
    mfpg_context_destroy(ctx);
    if (status != MFPG_OK) return reason;
    subject s = subject_open(1, CLIENTS, ROUNDS, "logistic", o, multiplier);
    if (mfpg_mechanism_particles(s.mechanism) == MFPG_PARTICLES_DATA) s.options.accountant = "data-particles";
    s.audit.runs = 20;
    status = subject_audit(&s);
    snprintf(reason, sizeof reason, "%s", mfpg_context_message(s.ctx));
    subject_close(&s);
    if (status == MFPG_OK) return NULL;
    assert_int_equal(status, MFPG_ERR_INPUT);
    return reason;
}

/* Every entry of mechanisms.def over parameters and over records. */
static void test_what_is_not_audited_is_refused_with_its_reason(void **state) {
    (void)state;
    int audited = 0;
    for (ptrdiff_t kind = 0; mfpg_kind_name(&mfpg_mechanisms, kind); kind++) {
        for (int i = 0; i < 2 * CELLS_OF_A_KIND; i++) {
            mfpg_mechanism_options o =
                options_of(mfpg_kind_name(&mfpg_mechanisms, kind), promise_number(i / 2), 1.0);
            o.particles = i % 2 ? MFPG_PARTICLES_DATA : MFPG_PARTICLES_PARAMETERS;
            if (i % 2) o.prior_variance = 80; /* the flow of records is stable at this noise */
            int none = strcmp(o.kind, "none") == 0, gaussian = strcmp(o.kind, "gaussian") == 0;
            const char *reason = refusal_of(&o);
            if (!reason) {
                assert_true(!none && !(gaussian && o.particles == MFPG_PARTICLES_DATA));
                audited++;
            } else if (!strstr(reason, "noises") && !strstr(reason, "nothing is promised")) {
                fail_msg("%s: %s", o.kind, reason);
            }
        }
    }
    /* gaussian over parameters, entropic over either, input over records, whatever is asked of it */
    assert_int_equal(audited, 5 * CELLS_OF_A_KIND);
}

/* One direction of zero-out alone is a matter of schedules, not of runs. */
static void test_one_sided_neighbours_are_refused(void **state) {
    (void)state;
    const mfpg_adjacency adjacency[] = {MFPG_ADJACENCY_ADD, MFPG_ADJACENCY_REMOVE};
    for (int i = 0; i < 2; i++) {
        mfpg_promise promise = {MFPG_UNIT_CLIENT, adjacency[i], MFPG_VIEW_LOCAL};
        mfpg_mechanism_options o = options_of("gaussian", promise, 1.0);
        const char *reason = refusal_of(&o);
        assert_non_null(reason);
        assert_non_null(strstr(reason, "adjacency"));
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_cell_of_gaussian_dp_is_found_as_promised),
        cmocka_unit_test(test_every_cell_with_poisson_batches_stands),
        cmocka_unit_test(test_what_is_not_audited_is_refused_with_its_reason),
        cmocka_unit_test(test_one_sided_neighbours_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
