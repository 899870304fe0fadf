/* How many runs an audit needs, how often a sound one may be wrong, and tests of noise: the tools of these tests. Nothing here is
 * a proof of leakage. Powers are chances that a route proves at least `wanted` if mu is true; thresholds are mu/2. */
#ifndef MFPG_TESTS_AUDIT_PLANNING_H
#define MFPG_TESTS_AUDIT_PLANNING_H

#include <math.h>

#include "audit/audit_bounds.h"
#include "mfpg/audit.h"
#include "numerics/special/laws.h"
#include "statistics.h"
#include "numerics/special/normal.h"

/* mu from pairs, one run of each arm, made before looking: in `wins` of them the score of arm 1 is larger. A pair is won with
 * probability at most Phi(mu/sqrt 2), as two scores of deviation 1 differ by sqrt 2. */
static inline double plan_mu_pairs(int64_t wins, int64_t pairs, double alpha) {
    double a = mfpg_normal_quantile(mfpg_proportion_lower(wins, pairs, alpha));
    return mfpg_below(1.41421356237309504880 * a, fabs(a));
}

/* mu by two error rates, alpha/2 each: mu-GDP has Phi^-1(FPR) + Phi^-1(FNR) >= -mu. 0 for counts that do not fit. */
static inline double plan_mu_two_error(const mfpg_error_counts *c, double alpha) {
    double a = mfpg_normal_quantile(mfpg_proportion_upper(c->false_positives, c->runs0, 0.5 * alpha));
    double b = mfpg_normal_quantile(mfpg_proportion_upper(c->false_negatives, c->runs1, 0.5 * alpha));
    return isfinite(a) && isfinite(b) && alpha < 1.0 ? mfpg_below(-(a + b), fabs(a) + fabs(b)) : 0.0;
}

/* mu by bets. */
static inline double plan_mu_bet(const double *share, ptrdiff_t runs, double alpha) {
    return mfpg_bound_rate_mu(mfpg_bound_rate_bet(share, runs, alpha));
}

/* What one run's mu tends to, the more canaries, all guessed, under an exact mu: a mechanism may fail with probability alpha in
 * its one run. A limit and no bound. */
static inline double plan_one_run_ceiling(double mu, double alpha) {
    if (!(mu >= 0.0) || !(alpha > 0.0 && alpha < 1.0)) return 0.0;
    double p = mfpg_normal_cdf(0.5 * mu), q = mfpg_normal_cdf(-0.5 * mu);
    return fmax(mfpg_normal_quantile(alpha * p) - mfpg_normal_quantile(alpha * q), 0.0);
}

/* The largest auc of any score under mu-GDP, and in one round with Poisson sampling at a rate in [0,1]; rounded up. If the canary
 * is not drawn, the two arms are alike and a pair is a fair coin. */
static inline double plan_auc_cap(double mu) {
    return mu >= 0.0 ? fmin(mfpg_normal_cdf(0.70710678118654752440 * mu) * (1.0 + 1e-14), 1.0) : 1.0;
}
static inline double plan_auc_cap_sampled(double rate, double mu) {
    if (!(rate >= 0.0 && rate <= 1.0) || !(mu >= 0.0)) return 1.0;
    return fmin(0.5 * (1.0 - rate) + rate * plan_auc_cap(mu), 1.0);
}

/* Half the width of a one-sided band that holds a whole distribution function of n draws (Dvoretzky, Kiefer, Wolfowitz). */
static inline double plan_band(int64_t runs, double alpha) {
    if (runs < 1 || !(alpha > 0.0 && alpha < 1.0)) return 1.0;
    return fmin(sqrt(-log(alpha) / (2.0 * (double)runs)), 1.0);
}

/* More false alarms than this among audits of true promises happen with probability below 1/1000. */
static inline int64_t plan_false_alarms_allowed(int64_t audits, double alpha) {
    return binomial_quantile(0.999, audits, alpha);
}

/* auc > mean + z sd of the wanted mu, where it is normal with the law of the true one. */
static inline double rank_power(double mu, double wanted, double n, double alpha) {
    mfpg_rank_sum truth = mfpg_rank_sum_law(mu, n, n), refuted = mfpg_rank_sum_law(wanted, n, n);
    double threshold = refuted.mean - mfpg_normal_quantile(alpha) * refuted.sd;
    return mfpg_normal_cdf((truth.mean - threshold) / truth.sd);
}

/* The smallest count of n from which on a bound that grows with it is at least wanted; n + 1 if there is none. */
static inline int64_t fewest(
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

static inline double count_power(double (*bound)(int64_t count, int64_t n, double alpha), double rate,
    double wanted, int64_t n, double alpha) {
    int64_t k = fewest(bound, wanted, n, alpha);
    return k > n ? 0.0 : mfpg_binomial_upper_tail(k, n, rate);
}

/* For every number of false positives, the most false negatives with which the bound still reaches wanted. */
static inline double two_error_power(double mu, double wanted, int64_t n, double alpha) {
    double rate = mfpg_normal_cdf(-0.5 * mu), power = 0.0;
    mfpg_error_counts counts = {0, n, n, n};
    for (; counts.false_positives <= n; counts.false_positives++) {
        while (counts.false_negatives >= 0 && plan_mu_two_error(&counts, alpha) < wanted)
            counts.false_negatives--;
        if (counts.false_negatives < 0) break;
        power += mfpg_binomial_mass(counts.false_positives, n, rate) *
                 mfpg_binomial_lower_tail(counts.false_negatives, n, rate);
    }
    return power;
}

/* By rank, pairs, accuracy (guesses of both arms) or two errors; n runs an arm. NaN for numbers out of range. */
typedef enum power_route { POWER_RANK, POWER_PAIRS, POWER_ACCURACY, POWER_TWO_ERROR } power_route;
static inline double plan_power(power_route route, double mu, double wanted, int64_t n, double alpha) {
    if (!(mu > 0.0) || !(wanted > 0.0) || n < 1 || n > INT64_MAX / 4 || !(alpha > 0.0 && alpha < 1.0))
        return (double)NAN;
    switch (route) {
    case POWER_RANK: return rank_power(mu, wanted, (double)n, alpha);
    case POWER_PAIRS: return count_power(plan_mu_pairs, plan_auc_cap(mu), wanted, n, alpha);
    case POWER_ACCURACY:
        return count_power(mfpg_bound_mu_accuracy, mfpg_normal_cdf(0.5 * mu), wanted, 2 * n, alpha);
    case POWER_TWO_ERROR: return two_error_power(mu, wanted, n, alpha);
    default: return (double)NAN;
    }
}

/* The fewest runs, both arms together, with which ranks refute `promised` with that power if mu is true > promised; 0 if 2^40 do
 * not. */
static inline int64_t plan_runs_needed(double mu, double promised, double alpha, double power) {
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

/* Chance of so little noise: the sum of (residual / promised sd)^2 over dof entries, or less, if the noise is as promised. */
static inline double plan_noise_pvalue(double sum_squares, double dof) {
    if (!(sum_squares >= 0.0) || !(dof > 0.0)) return 1.0;
    return fmin(chi_square_lower(sum_squares, dof) * (1.0 + 1e-11), 1.0);
}

/* The fewest entries with which noise of `factor` < 1 times the promised sd gives a p-value of at most alpha with that power. */
static inline int64_t plan_noise_entries_needed(double factor, double alpha, double power) {
    if (!(factor > 0.0 && factor < 1.0) || !(alpha > 0.0 && alpha < 1.0) || !(power > 0.0 && power < 1.0))
        return 0;
    int64_t low = 0, high = 1;
    for (int doubling = 1; high - low > 1 || doubling;) {
        int64_t dof = doubling ? high : low + (high - low) / 2;
        double threshold = chi_square_quantile(alpha, (double)dof) / (factor * factor);
        int enough = chi_square_lower(threshold, (double)dof) >= power;
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

/* What least squares gives from an example x under noise, to second order: its mean is slope x, and mse the mean square error of
 * an entry. signal: |db|^2 without noise, after the clip; sd: of the noise of an entry; norm2: |x|^2. NAN out of range. */
typedef struct prediction_of_inversion {
    double slope, mse;
} prediction_of_inversion;

/* rho = D / (D + h s^2) is the share of the signal in |db|^2: noise in db shrinks the quotient by it, and noise in dW is added. */
static inline prediction_of_inversion plan_inversion(
    double signal, double sd, ptrdiff_t rows, double norm2, ptrdiff_t inputs) {
    if (!(signal > 0.0) || !(sd >= 0.0) || !(norm2 >= 0.0) || rows < 1 || inputs < 1)
        return (prediction_of_inversion){NAN, NAN};
    double h = (double)rows, p = (double)inputs, variance = sd * sd, all = signal + h * variance;
    double rho = signal / all, lost = 1.0 - rho;
    double of_signal = variance * signal * (1.0 + rho * rho * norm2 / p) / (all * all);
    double of_noise = variance * variance * h / (all * all);
    return (prediction_of_inversion){.slope = rho, .mse = lost * lost * norm2 / p + of_signal + of_noise};
}

#endif
