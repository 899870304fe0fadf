/* Lower bounds of privacy loss from counts: error rates, ranks, one run, bets. */
#include "audit_bounds.h"

#include <math.h>

#include "numerics/special/laws.h"
#include "numerics/special/normal.h"
#include "numerics/special/roots.h"

/* ---- error rates of one threshold, fixed beforehand ---- */

typedef struct rates {
    double false_positive, false_negative; /* with probability 1 - alpha, neither rate is exceeded */
} rates;

static int errors_fit(const mfpg_error_counts *c, double alpha) {
    return c->runs0 > 0 && c->runs1 > 0 && c->false_positives >= 0 && c->false_positives <= c->runs0 &&
           c->false_negatives >= 0 && c->false_negatives <= c->runs1 && alpha > 0.0 && alpha < 1.0;
}

static rates upper_rates(const mfpg_error_counts *c, double alpha) {
    return (rates){mfpg_proportion_upper(c->false_positives, c->runs0, 0.5 * alpha),
        mfpg_proportion_upper(c->false_negatives, c->runs1, 0.5 * alpha)};
}

/* (epsilon, delta)-DP: 1 - FNR <= e^epsilon FPR + delta, and the same with the arms exchanged. */
double mfpg_bound_epsilon_direct(const mfpg_error_counts *counts, double delta, double alpha) {
    if (!errors_fit(counts, alpha) || !(delta >= 0.0 && delta < 1.0)) return 0.0;
    rates r = upper_rates(counts, alpha);
    double forth = (1.0 - delta - r.false_negative) / r.false_positive,
           back = (1.0 - delta - r.false_positive) / r.false_negative;
    double ratio = fmax(forth, back);
    return ratio > 1.0 ? mfpg_below(log(ratio), 1.0) : 0.0;
}

double mfpg_bound_tv(const mfpg_error_counts *counts, double alpha) {
    if (!errors_fit(counts, alpha)) return 0.0;
    rates r = upper_rates(counts, alpha);
    return mfpg_below(1.0 - r.false_positive - r.false_negative, 1.0);
}

/* A guess of a fair coin is correct with probability at most Phi(mu/2). If the arms are balanced rather than
 * drawn, unequal success rates only make the tail of the binomial law lighter (Hoeffding 1956). */
double mfpg_bound_mu_accuracy(int64_t correct, int64_t runs, double alpha) {
    double a = mfpg_normal_quantile(mfpg_proportion_lower(correct, runs, alpha));
    return mfpg_below(2.0 * a, fabs(a));
}

/* ---- ranks: the share of pairs of runs that a score puts into the right order ---- */

/* Under mu-GDP a score, mapped by the distribution function of arm 0 to N(0,1), is stochastically below
 * N(mu,1) in arm 1. The share of pairs depends on ranks only and grows with arm 1, so its law is below that
 * of the exact shift. */
typedef struct ranks {
    double auc, n0, n1, z, log_alpha;
} ranks;

/* Positive if mu is refuted. */
static double rank_excess(double mu, const void *arg) {
    const ranks *r = arg;
    mfpg_rank_sum law = mfpg_rank_sum_law(mu, r->n0, r->n1);
    return r->auc - law.mean - r->z * law.sd;
}

/* Everything in order: an exact p-value. */
static double separation_excess(double mu, const void *arg) {
    const ranks *r = arg;
    return r->log_alpha - log(mfpg_rank_separation(mu, r->n0, r->n1));
}

/* Returns the first mu, going up from 0, that is not refuted; refuted values beyond it prove nothing. */
static double first_root(mfpg_scalar_function f, const ranks *r) {
    const double stride = 0.125, most = 64.0;
    if (!(f(0.0, r) > 0.0)) return 0.0;
    double low = 0.0;
    while (low < most && f(low + stride, r) > 0.0) low += stride;
    return low < most ? mfpg_root_bracket(f, r, low, low + stride, 1e-13).low : most;
}

double mfpg_bound_mu_rank(double auc, int64_t runs0, int64_t runs1, double alpha) {
    if (!(auc > 0.5 && auc <= 1.0) || runs0 < 1 || runs1 < 1 || !(alpha > 0.0 && alpha < 0.5)) return 0.0;
    const ranks r = {auc, (double)runs0, (double)runs1, -mfpg_normal_quantile(alpha), log(alpha)};
    double mu = first_root(auc == 1.0 ? separation_excess : rank_excess, &r);
    return mfpg_below(mu, 1.0 + mu);
}

double mfpg_identification_cap(double mu, int64_t candidates) {
    if (!(mu >= 0.0) || candidates < 2) return 1.0;
    return fmin(mfpg_normal_cdf(mfpg_normal_quantile(1.0 / (double)candidates) + mu) * (1.0 + 1e-13), 1.0);
}

/* ---- one run with many canaries, each present by its own coin ---- */

typedef struct run {
    double canaries, alpha, delta;
    int64_t guesses, correct;
} run;

static int fits(int64_t canaries, int64_t guesses, int64_t correct) {
    return canaries >= 1 && guesses >= 1 && guesses <= canaries && correct >= 0 && correct <= guesses;
}

/* Steinke, Nasr and Jagielski 2023, theorem 5.2: under pure DP the number of correct guesses is
 * stochastically below Bin(r, q), where q is the success probability of a randomised response; delta moves
 * it by i with a probability of at most 2 m delta / i. */
double mfpg_bound_one_run_pvalue(
    int64_t canaries, int64_t guesses, int64_t correct, double epsilon, double delta) {
    if (!fits(canaries, guesses, correct) || !(epsilon >= 0.0) || !(delta >= 0.0 && delta <= 1.0)) return 1.0;
    double q = 1.0 / (1.0 + exp(-epsilon));
    double tail = mfpg_binomial_upper_tail(correct, guesses, q), window = 0.0, worst = 0.0;
    for (int64_t i = 1; i <= correct && delta > 0.0; i++) {
        window += mfpg_binomial_mass(correct - i, guesses, q); /* P(correct - i <= X < correct) */
        worst = fmax(worst, window / (double)i);
        if ((1.0 - tail) / (double)(i + 1) < worst) break; /* no later window holds enough */
    }
    double p = (tail + 2.0 * (double)canaries * delta * worst) * (1.0 + MFPG_BINOMIAL_ERROR);
    return fmin(p, 1.0);
}

static double epsilon_excess(double epsilon, const void *arg) {
    const run *r = arg;
    int64_t canaries = (int64_t)r->canaries;
    return log(r->alpha) -
           log(mfpg_bound_one_run_pvalue(canaries, r->guesses, r->correct, epsilon, r->delta));
}

/* Returns the largest refuted number on [0, most], for a test that refutes large numbers less often. */
static double largest_refuted(mfpg_scalar_function excess, const run *r, double most) {
    if (!(excess(0.0, r) >= 0.0)) return 0.0;
    if (excess(most, r) >= 0.0) return most;
    return mfpg_root_bracket(excess, r, 0.0, most, 1e-12).low;
}

double mfpg_bound_one_run_epsilon(
    int64_t canaries, int64_t guesses, int64_t correct, double delta, double alpha) {
    if (!fits(canaries, guesses, correct) || !(delta >= 0.0 && delta < 1.0) || !(alpha > 0.0 && alpha < 1.0))
        return 0.0;
    const run r = {(double)canaries, alpha, delta, guesses, correct};
    return mfpg_below(largest_refuted(epsilon_excess, &r, 50.0), 1.0);
}

/* Mahloujifar, Melis and Chaudhuri 2024: the tail probability alpha forces probability mass on fewer correct
 * guesses, step by step through the trade-off curve of mu. Returns a positive number if that mass exceeds
 * the total. */
static double mu_excess(double mu, const void *arg) {
    const run *r = arg;
    double m = r->canaries, guesses = (double)r->guesses, w = (double)r->correct;
    double right = r->alpha * w / m, wrong = r->alpha * (guesses - w) / m;
    for (double i = w - 1.0; i >= 0.0; i -= 1.0) {
        double least = mfpg_normal_cdf(mfpg_normal_quantile(fmin(right, 1.0)) - mu) * (1.0 - 1e-14);
        if (!(least > wrong)) break;
        right += i / (guesses - i) * (least - wrong);
        wrong = least;
        if (right + wrong > guesses / m * (1.0 + 1e-9)) return 1.0; /* neither ever falls */
    }
    return right + wrong - guesses / m * (1.0 + 1e-9);
}

double mfpg_bound_one_run_mu(int64_t canaries, int64_t guesses, int64_t correct, double alpha) {
    if (!fits(canaries, guesses, correct) || !(alpha > 0.0 && alpha < 1.0)) return 0.0;
    const run r = {(double)canaries, alpha, 0.0, guesses, correct};
    return mfpg_below(largest_refuted(mu_excess, &r, 50.0), 1.0);
}

typedef struct confident {
    double mu, share;
} confident;

/* Scores are drawn from N(+-mu/2, 1) by their coin. Returns a positive number if more than the share of them
 * is further from 0 than the threshold. */
static double beyond(double threshold, const void *arg) {
    const confident *c = arg;
    return mfpg_normal_cdf(0.5 * c->mu - threshold) + mfpg_normal_cdf(-0.5 * c->mu - threshold) - c->share;
}

/* Returns how many of the most confident guesses are correct in half of all runs: a binomial's median is
 * next to its mean. */
static int64_t median_correct(int64_t canaries, int64_t guesses, double mu) {
    const confident c = {mu, (double)guesses / (double)canaries};
    double most = 0.5 * mu + 40.0;
    double t = beyond(0.0, &c) <= 0.0 ? 0.0 : mfpg_root_bracket(beyond, &c, 0.0, most, 1e-12).high;
    double right = mfpg_normal_cdf(0.5 * mu - t), wrong = mfpg_normal_cdf(-0.5 * mu - t);
    return (int64_t)llround((double)guesses * right / (right + wrong));
}

double mfpg_bound_one_run_expected(int64_t canaries, int64_t guesses, double mu, double alpha) {
    if (!(mu > 0.0) || canaries < 1 || guesses < 1 || guesses > canaries) return 0.0;
    return mfpg_bound_one_run_mu(canaries, guesses, median_correct(canaries, guesses, fmin(mu, 64.0)), alpha);
}

int64_t mfpg_bound_one_run_guesses(int64_t canaries, double mu, double alpha) {
    static const double share[] = {1.0, 0.5, 0.2, 0.1, 0.05, 0.02, 0.01};
    int64_t best = 0;
    double most = 0.0;
    for (size_t i = 0; i < sizeof share / sizeof share[0] && canaries > 0; i++) {
        int64_t guesses = (int64_t)ceil(share[i] * (double)canaries);
        double proved = mfpg_bound_one_run_expected(canaries, guesses, mu, alpha);
        if (!(proved > most)) continue;
        most = proved;
        best = guesses;
    }
    return best;
}

/* ---- bets on a few runs with many canaries each ---- */

static const double stake[] = {.02, .05, .1, .2, .4, .6, .8, .9, .95, .99};
enum { STAKES = sizeof stake / sizeof stake[0] };

/* Under mu-GDP a run's share of correct guesses has expectation at most rate = Phi(mu/2), for any past and
 * however the canaries affect each other. So the products of 1 + (g/rate)(share - rate) are a
 * supermartingale for every g in (0,1). The wealth is their mean; it reaches 1/alpha with probability at
 * most alpha (Ville 1939). */
double mfpg_bound_bet_log_wealth(const double *share, ptrdiff_t runs, double rate) {
    if (!(rate > 0.0 && rate < 1.0) || runs < 0) return (double)NAN;
    double log_wealth[STAKES], most = -(double)INFINITY, sum = 0.0;
    for (int s = 0; s < STAKES; s++) {
        log_wealth[s] = 0.0;
        for (ptrdiff_t j = 0; j < runs; j++) {
            if (!(share[j] >= 0.0 && share[j] <= 1.0)) return (double)NAN;
            log_wealth[s] += log1p(stake[s] / rate * (share[j] - rate));
        }
        most = fmax(most, log_wealth[s]);
    }
    for (int s = 0; s < STAKES; s++) sum += exp(log_wealth[s] - most);
    return most + log(sum / STAKES);
}

typedef struct bets {
    const double *share;
    ptrdiff_t runs;
    double wanted; /* log of the wealth that refutes */
} bets;

/* Returns a positive number if the success rate is refuted; every factor falls as the rate rises. */
static double bet_excess(double rate, const void *arg) {
    const bets *b = arg;
    return mfpg_bound_bet_log_wealth(b->share, b->runs, rate) - b->wanted;
}

double mfpg_bound_rate_bet(const double *share, ptrdiff_t runs, double alpha) {
    if (!(alpha > 0.0 && alpha < 1.0) || runs < 1) return 0.0;
    const bets b = {share, runs, -log(alpha) + 1e-13 * (double)runs};
    const double most = 1.0 - 0x1p-53;
    if (!(bet_excess(0.5, &b) >= 0.0)) return 0.0;
    double rate =
        bet_excess(most, &b) >= 0.0 ? most : mfpg_root_bracket(bet_excess, &b, 0.5, most, 1e-15).low;
    return rate > 0.5 ? rate : 0.0;
}

/* A fair coin is guessed correctly with probability at most Phi(mu/2) under mu-GDP, (1 + TV)/2 in any case,
 * and (e^epsilon + delta)/(e^epsilon + 1) under (epsilon, delta)-DP. */
double mfpg_bound_rate_mu(double rate) {
    if (!(rate > 0.5 && rate < 1.0)) return 0.0;
    double a = mfpg_normal_quantile(rate);
    return mfpg_below(2.0 * a, 1.0 + a);
}

double mfpg_bound_rate_epsilon(double rate, double delta) {
    if (!(rate > 0.5 && rate < 1.0) || !(delta >= 0.0 && delta < rate)) return 0.0;
    double epsilon = log((rate - delta) / (1.0 - rate));
    return mfpg_below(epsilon, 1.0);
}

double mfpg_bound_rate_tv(double rate) {
    return rate > 0.5 && rate < 1.0 ? 2.0 * rate - 1.0 : 0.0; /* exact */
}

double mfpg_mu_estimate(const double *score0, ptrdiff_t n0, const double *score1, ptrdiff_t n1) {
    double mean[2] = {0.0, 0.0}, squares = 0.0;
    if (n0 < 2 || n1 < 2) return 0.0;
    for (ptrdiff_t i = 0; i < n0; i++) mean[0] += score0[i] / (double)n0;
    for (ptrdiff_t i = 0; i < n1; i++) mean[1] += score1[i] / (double)n1;
    for (ptrdiff_t i = 0; i < n0; i++) squares += (score0[i] - mean[0]) * (score0[i] - mean[0]);
    for (ptrdiff_t i = 0; i < n1; i++) squares += (score1[i] - mean[1]) * (score1[i] - mean[1]);
    double mu = (mean[1] - mean[0]) / sqrt(squares / (double)(n0 + n1 - 2));
    return mu > 0.0 ? mu : 0.0;
}
