/* The step x - tau [grad l(x; w) + kappa x + lambda (x - xbar)] of all records of a client together is the gradient
 * step of a function: its symmetrised Jacobian is I - tau (H + kappa I + lambda P), H block-diagonal with blocks between
 * 0 and M0, P the centring projection. The eigenvalues of the bracket lie in [kappa, M0 + kappa + lambda]. */
#include <float.h>
#include <math.h>

#include "mfpg/mechanism.h"

static int not_negative(double value) {
    return value >= 0.0 && isfinite(value);
}

double mfpg_flow_contraction(double step, double decay, double variance_penalty, double input_smoothness) {
    if (!not_negative(step) || !not_negative(decay) || !not_negative(variance_penalty) ||
        !not_negative(input_smoothness))
        return (double)INFINITY;
    double least = step * decay, most = step * (input_smoothness + decay + variance_penalty);
    double c = fmax(fabs(1.0 - least), fabs(1.0 - most));
    return c + 8.0 * DBL_EPSILON * (1.0 + most); /* beside four roundings here, those of decay = e/sigma^2 */
}
