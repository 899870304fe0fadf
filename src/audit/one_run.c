/* One run with many canaries, each present by its own coin. */
#include "mfpg/audit_bounds.h"

#include <math.h>

#include "numerics/special/laws.h"
#include "numerics/special/normal.h"
#include "numerics/special/roots.h"
#include "outward.h"

typedef struct run {
    double canaries, alpha, delta;
    int64_t guesses, correct;
} run;

static int fits(int64_t canaries, int64_t guesses, int64_t correct) {
    return canaries >= 1 && guesses >= 1 && guesses <= canaries && correct >= 0 && correct <= guesses;
}

/* Steinke, Nasr and Jagielski 2023, theorem 5.2: under pure DP the number of right guesses is below Bin(r, q), q the chance of
 * a randomised response; delta moves it by i with a probability of at most 2 m delta / i. */
double mfpg_audit_one_run_pvalue(
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
           log(mfpg_audit_one_run_pvalue(canaries, r->guesses, r->correct, epsilon, r->delta));
}

/* The largest refuted number on [0, most], of a test that refutes fewer the larger it is. */
static double largest_refuted(mfpg_scalar_function excess, const run *r, double most) {
    if (!(excess(0.0, r) >= 0.0)) return 0.0;
    if (excess(most, r) >= 0.0) return most;
    return mfpg_root_bracket(excess, r, 0.0, most, 1e-12).low;
}

double mfpg_audit_one_run_epsilon(
    int64_t canaries, int64_t guesses, int64_t correct, double delta, double alpha) {
    if (!fits(canaries, guesses, correct) || !(delta >= 0.0 && delta < 1.0) || !(alpha > 0.0 && alpha < 1.0))
        return 0.0;
    const run r = {(double)canaries, alpha, delta, guesses, correct};
    return mfpg_below(largest_refuted(epsilon_excess, &r, 50.0), 1.0);
}

/* Mahloujifar, Melis and Chaudhuri 2024: the tail probability alpha forces mass on fewer right guesses, step by step by the
 * trade-off curve of mu. Positive where that mass exceeds what there is. */
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

double mfpg_audit_one_run_mu(int64_t canaries, int64_t guesses, int64_t correct, double alpha) {
    if (!fits(canaries, guesses, correct) || !(alpha > 0.0 && alpha < 1.0)) return 0.0;
    const run r = {(double)canaries, alpha, 0.0, guesses, correct};
    return mfpg_below(largest_refuted(mu_excess, &r, 50.0), 1.0);
}

/* A mechanism may fail with probability alpha in its one run. */
double mfpg_audit_one_run_ceiling(double mu, double alpha) {
    if (!(mu >= 0.0) || !(alpha > 0.0 && alpha < 1.0)) return 0.0;
    double p = mfpg_normal_cdf(0.5 * mu), q = mfpg_normal_cdf(-0.5 * mu);
    return mfpg_max0(mfpg_normal_quantile(alpha * p) - mfpg_normal_quantile(alpha * q));
}
