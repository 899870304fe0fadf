/* The doors to the accounting of hidden states (theory S2.3): checks, and the case of a bounded set. */
#include <math.h>

#include "mfpg/hidden_state.h"

#include "base/error.h"
#include "gcm.h"

static int size(double value) {
    return value >= 0.0 && isfinite(value);
}

static const char *fault_of(const mfpg_hidden_step *step) {
    if (!size(step->contraction)) return "contraction is not a finite number >= 0";
    if (!size(step->shift)) return "shift is not a finite number >= 0";
    if (!size(step->noise_sd)) return "noise_sd is not a finite number >= 0";
    if (step->times < 1 || step->times > INT64_C(1) << 53) return "times is not from 1 to 2^53";
    return NULL;
}

mfpg_status mfpg_hidden_mu(
    mfpg_context *ctx, const mfpg_hidden_step *step, ptrdiff_t count, double start_gap, double *mu) {
    *mu = (double)INFINITY;
    if (count < 0) return mfpg_fail(ctx, MFPG_ERR_DOMAIN, "%td steps of a hidden state", count);
    if (!size(start_gap))
        return mfpg_fail(
            ctx, MFPG_ERR_DOMAIN, "the gap at the start is %g; it must be a finite number >= 0", start_gap);
    for (ptrdiff_t i = 0; i < count; i++) {
        const char *fault = fault_of(&step[i]);
        if (fault) return mfpg_fail(ctx, MFPG_ERR_DOMAIN, "step %td of a hidden state: %s", i, fault);
    }
    if (count == 0) { /* the start itself is what is seen */
        *mu = start_gap == 0.0 ? 0.0 : (double)INFINITY;
        return MFPG_OK;
    }
    return gcm_mu(step, count, start_gap, mu) ? MFPG_OK : mfpg_fail_memory(ctx);
}

/* The last `times` of the steps, begun with the whole diameter between the runs. +INFINITY without memory. */
static double mu_of_last(const mfpg_hidden_step *step, double diameter, int64_t times) {
    mfpg_hidden_step last = *step;
    double mu = (double)INFINITY;
    last.times = times;
    gcm_mu(&last, 1, diameter, &mu);
    return mu;
}

/* Every number of last steps gives a bound; the best is looked for among powers of two, then between its neighbours. */
static double best_restart(const mfpg_hidden_step *step, double diameter) {
    int64_t best = 1;
    double least = mu_of_last(step, diameter, 1);
    for (int64_t n = 2; n <= step->times; n *= 2) {
        double mu = mu_of_last(step, diameter, n);
        if (mu >= least) continue;
        least = mu;
        best = n;
    }
    int64_t low = best / 2 > 0 ? best / 2 : 1, high = best <= step->times / 2 ? 2 * best : step->times;
    while (low < high) {
        int64_t middle = low + (high - low) / 2;
        double here = mu_of_last(step, diameter, middle), next = mu_of_last(step, diameter, middle + 1);
        least = fmin(least, fmin(here, next));
        if (here <= next)
            high = middle;
        else
            low = middle + 1;
    }
    return least;
}

mfpg_status mfpg_hidden_bounded_mu(
    mfpg_context *ctx, const mfpg_hidden_step *step, double diameter, double *mu) {
    mfpg_status status = mfpg_hidden_mu(ctx, step, 1, 0.0, mu);
    if (status != MFPG_OK) return status;
    if (!(diameter > 0.0 && isfinite(diameter))) {
        *mu = (double)INFINITY;
        return mfpg_fail(
            ctx, MFPG_ERR_DOMAIN, "the diameter is %g; it must be a positive finite number", diameter);
    }
    *mu = fmin(*mu, best_restart(step, diameter));
    return MFPG_OK;
}
