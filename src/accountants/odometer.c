/* The odometer: one of a ladder of filters, all fixed beforehand, that has not been exceeded yet (theory S4). */
#include <math.h>

#include "mfpg/accountant.h"
#include "mfpg/filter.h"

#include "upward.h"

enum { FIRST_RHO_BITS = 7, MOST = 1000 }; /* rho_0 = 2^-7; delta / 2^MOST is where numbers end */

/* Every filter fails with probability at most delta_i, and those add up to less than delta. So with all but that probability
 * none of them is wrong, neither the one that is read off, which depends on what was spent, nor any other. */
mfpg_odometer mfpg_odometer_read(double mu, double delta) {
    const mfpg_odometer nothing = {.index = -1, .epsilon = (double)INFINITY};
    if (!(mu >= 0.0 && isfinite(mu) && delta > 0.0 && delta < 1.0)) return nothing;
    double square = multiply_up(mu, mu);
    for (int i = 0; i <= MOST; i++) {
        double rho = ldexp(1.0, i - FIRST_RHO_BITS), own = ldexp(delta, -(i + 1));
        if (square > 2.0 * rho) continue;
        return (mfpg_odometer){
            .index = i, .rho = rho, .delta = own, .epsilon = mfpg_gdp_epsilon(root_up(2.0 * rho), own)};
    }
    return nothing;
}
