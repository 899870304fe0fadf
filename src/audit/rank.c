/* Bounds from ranks: the share of pairs of runs that a score puts into the right order. */
#include "mfpg/audit_bounds.h"

#include <math.h>

#include "numerics/special/normal.h"
#include "numerics/special/laws.h"
#include "numerics/special/roots.h"
#include "outward.h"

/* Under mu-GDP a score, mapped by the distribution function of arm 0 to N(0,1), is in arm 1 stochastically below N(mu,1);
 * the share of pairs depends on ranks only and grows with arm 1, so its law is below that of the exact shift. */
typedef struct ranks {
    double auc, n0, n1, z, log_alpha;
} ranks;

/* Positive where mu is refuted. */
static double excess(double mu, const void *arg) {
    const ranks *r = arg;
    mfpg_rank_sum law = mfpg_rank_sum_law(mu, r->n0, r->n1);
    return r->auc - law.mean - r->z * law.sd;
}

/* Everything in order: an exact p-value. */
static double separation_excess(double mu, const void *arg) {
    const ranks *r = arg;
    return r->log_alpha - log(mfpg_rank_separation(mu, r->n0, r->n1));
}

/* The first mu that is not refuted, walking up from 0: whatever lies behind it proves nothing. */
static double first_root(mfpg_scalar_function f, const ranks *r) {
    const double stride = 0.125, most = 64.0;
    if (!(f(0.0, r) > 0.0)) return 0.0;
    double low = 0.0;
    while (low < most && f(low + stride, r) > 0.0) low += stride;
    return low < most ? mfpg_root_bracket(f, r, low, low + stride, 1e-13).low : most;
}

double mfpg_audit_mu_rank(double auc, int64_t runs0, int64_t runs1, double alpha) {
    if (!(auc > 0.5 && auc <= 1.0) || runs0 < 1 || runs1 < 1 || !(alpha > 0.0 && alpha < 0.5)) return 0.0;
    const ranks r = {auc, (double)runs0, (double)runs1, -mfpg_normal_quantile(alpha), log(alpha)};
    double mu = first_root(auc == 1.0 ? separation_excess : excess, &r);
    return mfpg_below(mu, 1.0 + mu);
}

double mfpg_audit_auc_cap(double mu) {
    return mu >= 0.0 ? fmin(mfpg_normal_cdf(0.70710678118654752440 * mu) * (1.0 + 1e-14), 1.0) : 1.0;
}

/* Where the canary is not drawn the two arms are alike, and a pair is a fair coin: the trade-off curve is symmetrised no
 * further, the area above it is linear in the mixture. */
double mfpg_audit_auc_cap_sampled(double rate, double mu) {
    if (!(rate >= 0.0 && rate <= 1.0) || !(mu >= 0.0)) return 1.0;
    return fmin(0.5 * (1.0 - rate) + rate * mfpg_audit_auc_cap(mu), 1.0);
}

double mfpg_audit_identification_cap(double mu, int64_t candidates) {
    if (!(mu >= 0.0) || candidates < 2) return 1.0;
    return fmin(mfpg_normal_cdf(mfpg_normal_quantile(1.0 / (double)candidates) + mu) * (1.0 + 1e-13), 1.0);
}
