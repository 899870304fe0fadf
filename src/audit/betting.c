/* A few runs with many canaries each: a gambler who bets on more right guesses than mu-GDP admits. */
#include "mfpg/audit_bounds.h"

#include <math.h>

#include "numerics/special/normal.h"
#include "numerics/special/roots.h"
#include "outward.h"

static const double stake[] = {.02, .05, .1, .2, .4, .6, .8, .9, .95, .99};
enum { STAKES = sizeof stake / sizeof stake[0] };

/* Under mu-GDP a run's share of right guesses is at most rate = Phi(mu/2) in expectation, whatever happened before and however
 * the canaries disturb each other, so that 1 + (g/rate)(share - rate) multiplies to a supermartingale for every g in (0,1).
 * The wealth is their mean; it reaches 1/alpha with probability at most alpha (Ville 1939). */
double mfpg_audit_bet_log_wealth(const double *share, ptrdiff_t runs, double rate) {
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

/* Positive where the success rate is refuted; every factor falls as the rate rises. */
static double excess(double rate, const void *arg) {
    const bets *b = arg;
    return mfpg_audit_bet_log_wealth(b->share, b->runs, rate) - b->wanted;
}

double mfpg_audit_rate_bet(const double *share, ptrdiff_t runs, double alpha) {
    if (!(alpha > 0.0 && alpha < 1.0) || runs < 1) return 0.0;
    const bets b = {share, runs, -log(alpha) + 1e-13 * (double)runs};
    const double most = 1.0 - 0x1p-53;
    if (!(excess(0.5, &b) >= 0.0)) return 0.0;
    double rate = excess(most, &b) >= 0.0 ? most : mfpg_root_bracket(excess, &b, 0.5, most, 1e-15).low;
    return rate > 0.5 ? rate : 0.0;
}

/* A fair coin is guessed rightly with probability at most Phi(mu/2) under mu-GDP, (1 + TV)/2 whatever holds, and
 * (e^epsilon + delta)/(e^epsilon + 1) under (epsilon, delta)-DP. */
double mfpg_audit_rate_mu(double rate) {
    if (!(rate > 0.5 && rate < 1.0)) return 0.0;
    double a = mfpg_normal_quantile(rate);
    return mfpg_below(2.0 * a, 1.0 + a);
}

double mfpg_audit_rate_epsilon(double rate, double delta) {
    if (!(rate > 0.5 && rate < 1.0) || !(delta >= 0.0 && delta < rate)) return 0.0;
    double epsilon = log((rate - delta) / (1.0 - rate));
    return mfpg_below(epsilon, 1.0);
}

double mfpg_audit_rate_tv(double rate) {
    return rate > 0.5 && rate < 1.0 ? 2.0 * rate - 1.0 : 0.0; /* exact */
}

double mfpg_audit_mu_bet(const double *share, ptrdiff_t runs, double alpha) {
    return mfpg_audit_rate_mu(mfpg_audit_rate_bet(share, runs, alpha));
}
