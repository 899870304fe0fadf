/* Privacy loss distributions with credit for Poisson-sampled examples: an answer lays the loss of each kind on a grid from
 * above and composes all of them by the Fourier transform (pld/cells.c, pld/curve.c). It is an upper bound to the last bit:
 * discretisation, cut tails, wrapping and rounding are counted. If 2^22 grid points suffice it lies above the number itself
 * by about 1e-4 of min(epsilon, 1), or, with a handful of steps, 5e-3 of it; a delta by 2e-3 of itself, or 5e-2.
 *
 * zero-out: the larger of remove and add. replace: the symmetrised curve, or twice zero-out if that is smaller. Steps
 * without sampling are one Gaussian step, and alone they are answered as gdp does. If the grid cannot carry a case
 * (pld/pld.h) the answer is that of rdp, which is also given if it is smaller. */
#include <math.h>

#include "base/error.h"
#include "pld/pld.h"
#include "sampled/sampled_steps.h"

/* The answer is never above that of rdp, which is fast and uses the same state. */
static mfpg_status answer(
    mfpg_context *ctx, const void *state, const mfpg_question *asked, mfpg_bounds *out) {
    const sampled_sum *sum = state;
    int easy = sum->sampled.used == 0 || (asked->for_delta ? isinf(asked->given) : asked->given == 0.0);
    mfpg_status status = mfpg_accountant_rdp.answer(ctx, state, asked, out);
    if (status != MFPG_OK || easy || out->upper <= asked->enough) return status;
    square_sum plain;
    int used = sampled_sum_split(sum, &plain);
    const pld_mechanism mechanism = {
        .sampled = sum->sampled.kind, .used = used, .mu = square_sum_root_up(&plain)};
    double found;
    status = pld_answer(&mechanism, asked->adjacency, asked->for_delta, asked->given, &found);
    if (status != MFPG_OK) return mfpg_fail_memory(ctx);
    out->upper = fmin(out->upper, found);
    return MFPG_OK;
}

static double renyi(const void *state, double order) {
    return mfpg_accountant_rdp.renyi(state, order);
}

/* Returns 1 for the same sampled steps and at least as many without sampling; the two answers then use the
 * same grid. With different steps the grids differ, and with them the last digits of answers. */
static int covers(const void *state, const void *less) {
    const sampled_sum *a = state, *b = less;
    if (b->sampled.used == 0) return sampled_sum_covers(a, b);
    return square_sum_root_up(&a->unsampled) == square_sum_root_up(&b->unsampled) &&
           sampled_steps_cover(&a->sampled, &b->sampled) && sampled_steps_cover(&b->sampled, &a->sampled);
}

const mfpg_accountant_ops mfpg_accountant_pld = {
    .name = "pld",
    .help = "privacy loss distributions on a grid, with credit for Poisson batches; never worse than rdp",
    .certifies = 1,
    .facts = MFPG_ACCOUNTANT_CREDITS_SAMPLING,
    .state_size = sizeof(sampled_sum),
    .record = sampled_sum_record,
    .answer = answer,
    .start = sampled_sum_start,
    .finish = sampled_sum_finish,
    .copy = sampled_sum_copy,
    .mu = sampled_sum_mu,
    .renyi = renyi,
    .covers = covers,
};
