/* Bounds from the two error rates of a test, and from guesses and pairs: one threshold, fixed beforehand. */
#include "mfpg/audit_bounds.h"

#include <math.h>

#include "numerics/special/laws.h"
#include "numerics/special/normal.h"
#include "outward.h"

typedef struct rates {
    double false_positive, false_negative; /* not exceeded, both together, but with probability alpha */
} rates;

static int fits(const mfpg_error_counts *c, double alpha) {
    return c->runs0 > 0 && c->runs1 > 0 && c->false_positives >= 0 && c->false_positives <= c->runs0 &&
           c->false_negatives >= 0 && c->false_negatives <= c->runs1 && alpha > 0.0 && alpha < 1.0;
}

static rates upper_rates(const mfpg_error_counts *c, double alpha) {
    return (rates){mfpg_proportion_upper(c->false_positives, c->runs0, 0.5 * alpha),
        mfpg_proportion_upper(c->false_negatives, c->runs1, 0.5 * alpha)};
}

/* (epsilon, delta)-DP: 1 - FNR <= e^epsilon FPR + delta, and the same with the arms exchanged. */
double mfpg_audit_epsilon_direct(const mfpg_error_counts *counts, double delta, double alpha) {
    if (!fits(counts, alpha) || !(delta >= 0.0 && delta < 1.0)) return 0.0;
    rates r = upper_rates(counts, alpha);
    double forth = (1.0 - delta - r.false_negative) / r.false_positive,
           back = (1.0 - delta - r.false_positive) / r.false_negative;
    double ratio = mfpg_max0(fmax(forth, back));
    return ratio > 1.0 ? mfpg_below(log(ratio), 1.0) : 0.0;
}

/* mu-GDP: Phi^-1(FPR) + Phi^-1(FNR) >= -mu. */
double mfpg_audit_mu_two_error(const mfpg_error_counts *counts, double alpha) {
    if (!fits(counts, alpha)) return 0.0;
    rates r = upper_rates(counts, alpha);
    double a = mfpg_normal_quantile(r.false_positive), b = mfpg_normal_quantile(r.false_negative);
    return mfpg_below(-(a + b), fabs(a) + fabs(b));
}

double mfpg_audit_tv(const mfpg_error_counts *counts, double alpha) {
    if (!fits(counts, alpha)) return 0.0;
    rates r = upper_rates(counts, alpha);
    return mfpg_below(1.0 - r.false_positive - r.false_negative, 1.0);
}

/* A guess of a fair coin is right with probability at most Phi(mu/2). Where the arms are balanced rather than drawn, unequal
 * rates of success only lighten the tail of the binomial law (Hoeffding 1956). */
double mfpg_audit_mu_accuracy(int64_t correct, int64_t runs, double alpha) {
    double a = mfpg_normal_quantile(mfpg_proportion_lower(correct, runs, alpha));
    return mfpg_below(2.0 * a, fabs(a));
}

/* A pair is won with probability at most Phi(mu/sqrt 2), as two scores of deviation 1 differ by sqrt 2. */
double mfpg_audit_mu_pairs(int64_t wins, int64_t pairs, double alpha) {
    double a = mfpg_normal_quantile(mfpg_proportion_lower(wins, pairs, alpha));
    return mfpg_below(1.41421356237309504880 * a, fabs(a));
}
