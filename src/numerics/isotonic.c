#include "isotonic.h"

/* Pools 0 .. pools - 1 stand one after the other: value in fit[0 .. pools), length in work. A new number that is below the
 * last pool's mean joins it, and the pool the one before, until the means ascend. The number of poolings is below count. */
ptrdiff_t mfpg_isotonic_fit(ptrdiff_t count, const double *y, double *fit, ptrdiff_t *work) {
    ptrdiff_t pools = 0, pooled = 0;
    for (ptrdiff_t i = 0; i < count; i++) {
        fit[pools] = y[i];
        work[pools++] = 1;
        while (pools > 1 && fit[pools - 2] > fit[pools - 1]) {
            double before = (double)work[pools - 2], last = (double)work[pools - 1];
            fit[pools - 2] += (fit[pools - 1] - fit[pools - 2]) * (last / (before + last));
            work[pools - 2] += work[pools - 1];
            pools--;
        }
    }
    for (ptrdiff_t end = count, p = pools;
         p-- > 0;) { /* spread out from the back: pool p starts at p or later */
        double value = fit[p];
        ptrdiff_t length = work[p];
        if (length > 1) pooled += length;
        for (ptrdiff_t i = 0; i < length; i++) fit[--end] = value;
    }
    return pooled;
}
