/* How many runs an audit needs, what it may be expected to show, and how often a sound one may be wrong. */
#include "mfpg/audit_bounds.h"

#include <math.h>

#include "numerics/special/laws.h"
#include "numerics/special/normal.h"
#include "numerics/special/roots.h"
#include "outward.h"

static const char *const route_name[] = {
    "none", "rank", "accuracy", "pairs", "two-error", "betting", "one-run"};

const char *mfpg_audit_route_name(mfpg_audit_route route) {
    return route_name[route];
}

double mfpg_audit_band(int64_t runs, double alpha) {
    if (runs < 1 || !(alpha > 0.0 && alpha < 1.0)) return 1.0;
    return fmin(sqrt(-log(alpha) / (2.0 * (double)runs)), 1.0);
}

int64_t mfpg_audit_false_alarms_allowed(int64_t audits, double alpha) {
    return mfpg_binomial_quantile(0.999, audits, alpha);
}

double mfpg_audit_mu_estimate(const double *score0, ptrdiff_t n0, const double *score1, ptrdiff_t n1) {
    double mean[2] = {0.0, 0.0}, squares = 0.0;
    if (n0 < 2 || n1 < 2) return 0.0;
    for (ptrdiff_t i = 0; i < n0; i++) mean[0] += score0[i] / (double)n0;
    for (ptrdiff_t i = 0; i < n1; i++) mean[1] += score1[i] / (double)n1;
    for (ptrdiff_t i = 0; i < n0; i++) squares += (score0[i] - mean[0]) * (score0[i] - mean[0]);
    for (ptrdiff_t i = 0; i < n1; i++) squares += (score1[i] - mean[1]) * (score1[i] - mean[1]);
    return mfpg_max0((mean[1] - mean[0]) / sqrt(squares / (double)(n0 + n1 - 2)));
}

/* auc > mean + z sd of the wanted mu, where it is normal with the law of the true one. */
static double rank_power(double mu, double wanted, double n, double alpha) {
    mfpg_rank_sum truth = mfpg_rank_sum_law(mu, n, n), refuted = mfpg_rank_sum_law(wanted, n, n);
    double threshold = refuted.mean - mfpg_normal_quantile(alpha) * refuted.sd;
    return mfpg_normal_cdf((truth.mean - threshold) / truth.sd);
}

/* The smallest count of n from which on a bound that grows with it is at least wanted; n + 1 where there is none. */
static int64_t fewest(
    double (*bound)(int64_t count, int64_t n, double alpha), double wanted, int64_t n, double alpha) {
    int64_t low = -1, high = n + 1;
    while (high - low > 1) {
        int64_t middle = low + (high - low) / 2;
        if (bound(middle, n, alpha) >= wanted)
            high = middle;
        else
            low = middle;
    }
    return high;
}

static double count_power(double (*bound)(int64_t count, int64_t n, double alpha), double rate, double wanted,
    int64_t n, double alpha) {
    int64_t k = fewest(bound, wanted, n, alpha);
    return k > n ? 0.0 : mfpg_binomial_upper_tail(k, n, rate);
}

/* For every number of false positives, the most false negatives with which the bound still reaches wanted. */
static double two_error_power(double mu, double wanted, int64_t n, double alpha) {
    double rate = mfpg_normal_cdf(-0.5 * mu), power = 0.0;
    mfpg_error_counts counts = {0, n, n, n};
    for (; counts.false_positives <= n; counts.false_positives++) {
        while (counts.false_negatives >= 0 && mfpg_audit_mu_two_error(&counts, alpha) < wanted)
            counts.false_negatives--;
        if (counts.false_negatives < 0) break;
        power += mfpg_binomial_mass(counts.false_positives, n, rate) *
                 mfpg_binomial_lower_tail(counts.false_negatives, n, rate);
    }
    return power;
}

double mfpg_audit_power(mfpg_audit_route route, double mu, double wanted, int64_t n, double alpha) {
    if (!(mu > 0.0) || !(wanted > 0.0) || n < 1 || n > INT64_MAX / 4 || !(alpha > 0.0 && alpha < 1.0))
        return (double)NAN;
    switch (route) {
    case MFPG_ROUTE_RANK: return rank_power(mu, wanted, (double)n, alpha);
    case MFPG_ROUTE_PAIRS: return count_power(mfpg_audit_mu_pairs, mfpg_audit_auc_cap(mu), wanted, n, alpha);
    case MFPG_ROUTE_ACCURACY:
        return count_power(mfpg_audit_mu_accuracy, mfpg_normal_cdf(0.5 * mu), wanted, 2 * n, alpha);
    case MFPG_ROUTE_TWO_ERROR: return two_error_power(mu, wanted, n, alpha);
    default: return (double)NAN;
    }
}

int64_t mfpg_audit_runs_needed(double mu, double promised, double alpha, double power) {
    const int64_t most = (int64_t)1 << 39;
    int64_t low = 0, high = 1;
    if (!(mu > promised && promised > 0.0) || !(alpha > 0.0 && alpha < 1.0) || !(power > 0.0 && power < 1.0))
        return 0;
    while (high < most && rank_power(mu, promised, (double)high, alpha) < power) high *= 2;
    if (high >= most) return 0;
    while (high - low > 1) {
        int64_t middle = low + (high - low) / 2;
        if (rank_power(mu, promised, (double)middle, alpha) >= power)
            high = middle;
        else
            low = middle;
    }
    return 2 * high;
}

double mfpg_audit_noise_pvalue(double sum_squares, double dof) {
    if (!(sum_squares >= 0.0) || !(dof > 0.0)) return 1.0;
    return fmin(mfpg_chi_square_lower(sum_squares, dof) * (1.0 + 1e-11), 1.0);
}

int64_t mfpg_audit_noise_entries_needed(double factor, double alpha, double power) {
    if (!(factor > 0.0 && factor < 1.0) || !(alpha > 0.0 && alpha < 1.0) || !(power > 0.0 && power < 1.0))
        return 0;
    int64_t low = 0, high = 1;
    for (int doubling = 1; high - low > 1 || doubling;) {
        int64_t dof = doubling ? high : low + (high - low) / 2;
        double threshold = mfpg_chi_square_quantile(alpha, (double)dof) / (factor * factor);
        int enough = mfpg_chi_square_lower(threshold, (double)dof) >= power;
        if (enough) {
            high = dof;
            doubling = 0;
        } else {
            low = dof;
            if (doubling) high = 2 * dof;
        }
    }
    return high;
}

/* ---- one run ---- */

typedef struct confident {
    double mu, share;
} confident;

/* Scores lie at N(+-mu/2, 1) by their coin. Positive where more than the share of them is further from 0 than the threshold. */
static double beyond(double threshold, const void *arg) {
    const confident *c = arg;
    return mfpg_normal_cdf(0.5 * c->mu - threshold) + mfpg_normal_cdf(-0.5 * c->mu - threshold) - c->share;
}

/* How many of the most confident guesses are right half of the time: a binomial's median is next to its mean. */
static int64_t median_correct(int64_t canaries, int64_t guesses, double mu) {
    const confident c = {mu, (double)guesses / (double)canaries};
    double most = 0.5 * mu + 40.0;
    double t = beyond(0.0, &c) <= 0.0 ? 0.0 : mfpg_root_bracket(beyond, &c, 0.0, most, 1e-12).high;
    double right = mfpg_normal_cdf(0.5 * mu - t), wrong = mfpg_normal_cdf(-0.5 * mu - t);
    return (int64_t)llround((double)guesses * right / (right + wrong));
}

double mfpg_audit_one_run_expected(int64_t canaries, int64_t guesses, double mu, double alpha) {
    if (!(mu > 0.0) || canaries < 1 || guesses < 1 || guesses > canaries) return 0.0;
    return mfpg_audit_one_run_mu(canaries, guesses, median_correct(canaries, guesses, fmin(mu, 64.0)), alpha);
}

int64_t mfpg_audit_one_run_guesses(int64_t canaries, double mu, double alpha) {
    static const double share[] = {1.0, 0.5, 0.2, 0.1, 0.05, 0.02, 0.01};
    int64_t best = 0;
    double most = 0.0;
    for (size_t i = 0; i < sizeof share / sizeof share[0] && canaries > 0; i++) {
        int64_t guesses = (int64_t)ceil(share[i] * (double)canaries);
        double proved = mfpg_audit_one_run_expected(canaries, guesses, mu, alpha);
        if (!(proved > most)) continue;
        most = proved;
        best = guesses;
    }
    return best;
}
