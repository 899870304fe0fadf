/* With d the curve of the step without sampling (mfpg_gdp_delta) and e^x = 1 + (e^epsilon - 1)/q the level at which the
 * likelihood ratio 1 - q + q e^x of the sampled step is e^epsilon:
 *     remove, replace   q d(x);
 *     add               t e^epsilon d(y) with t = e^-epsilon - (1-q) > 0 and e^-y = t/q, and 0 where t <= 0,
 * the second by delta_add(epsilon) = 1 - e^epsilon + e^epsilon delta_remove(-epsilon), and the same for d (Zhu, Dong, Wang 2022,
 * lemma 20). */
#include "pld_one_step.h"

#include <float.h>
#include <math.h>

#include "mfpg/accountant.h"

#include "numerics/special/roots.h"

#define UP (1.0 + 32.0 * DBL_EPSILON)

static double remove_delta(const sampled_step *kind, double epsilon) {
    double q = kind->rate, x = epsilon < 30.0 ? log1p(expm1(epsilon) / q)
                                              : epsilon - log(q) + log1p(-(1.0 - q) * exp(-epsilon));
    return q * mfpg_gdp_delta(kind->reach, x * (1.0 - 8.0 * DBL_EPSILON)) * UP;
}

static double remove_epsilon(const sampled_step *kind, double delta) {
    double q = kind->rate, part = delta / q * (1.0 - DBL_EPSILON);
    double x = part < 1.0 ? mfpg_gdp_epsilon(kind->reach, part) : 0.0;
    double epsilon = x < 30.0 ? log1p(q * expm1(x)) : x + log(q) + log1p((1.0 - q) / q * exp(-x));
    return epsilon * (1.0 - log(q) * DBL_EPSILON) * UP;
}

static double add_delta(const sampled_step *kind, double epsilon) {
    double q = kind->rate, fall = expm1(-epsilon), t = q + fall + 2.0 * DBL_EPSILON * (q - fall);
    if (!(t > 0.0)) return 0.0; /* epsilon above the largest loss, -log(1-q) */
    double y = fmax(0.0, log(q / t) * (1.0 - 4.0 * DBL_EPSILON));
    return t * exp(epsilon) * mfpg_gdp_delta(kind->reach, y) * UP;
}

typedef struct question {
    const sampled_step *kind;
    double delta;
} question;

static double add_excess(double epsilon, const void *arg) {
    const question *asked = arg;
    double excess = add_delta(asked->kind, epsilon) - asked->delta;
    return excess == 0.0 ? -DBL_TRUE_MIN : excess;
}

static double add_epsilon(const sampled_step *kind, double delta) {
    const question asked = {.kind = kind, .delta = delta};
    double edge = -log1p(-kind->rate) * UP;
    if (add_excess(0.0, &asked) < 0.0) return 0.0;
    mfpg_root root = mfpg_root_bracket(add_excess, &asked, 0.0, edge, 1e-13);
    return root.converged ? root.high : edge;
}

double pld_one_step_delta(const sampled_step *kind, pld_side side, double epsilon) {
    return fmin(1.0, side == PLD_ADD ? add_delta(kind, epsilon) : remove_delta(kind, epsilon));
}

double pld_one_step_epsilon(const sampled_step *kind, pld_side side, double delta) {
    return side == PLD_ADD ? add_epsilon(kind, delta) : remove_epsilon(kind, delta);
}
