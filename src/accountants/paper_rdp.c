/* The paper's accountant for the Gaussian methods: Renyi order 2 with the classic conversion, T/z^2 +
 * ln(1/delta) for T steps of noise multiplier z. It ignores view, adjacency and sampling, can never give
 * less than ln(1/delta) (theory S0, errata 12), and certifies nothing. */
#include <math.h>

#include "accountant_ops.h"
#include "renyi.h"

typedef struct paper_rdp_state {
    double rdp; /* at order 2: order mu^2 / 2 with mu = 1/z, summed over the steps */
} paper_rdp_state;

static mfpg_status record(mfpg_context *ctx, void *state, const mfpg_release *release, int64_t times) {
    (void)ctx;
    if (release->sensitivity == 0.0) return MFPG_OK;
    double z = release->noise_sd / release->sensitivity;
    ((paper_rdp_state *)state)->rdp += (double)times * (double)release->steps / (z * z);
    return MFPG_OK;
}

/* Its delta is the given target; it computes none. */
static mfpg_status answer(
    mfpg_context *ctx, const void *state, const mfpg_question *asked, mfpg_bounds *out) {
    (void)ctx;
    if (!asked->for_delta)
        out->upper = mfpg_rdp_epsilon_classic(((const paper_rdp_state *)state)->rdp, 2.0, asked->given);
    return MFPG_OK;
}

const mfpg_accountant_ops mfpg_accountant_paper_rdp = {
    .name = "paper_rdp",
    .help = "the paper's T/z^2 + ln(1/delta) (Renyi order 2); certifies nothing",
    .facts = MFPG_ACCOUNTANT_TAKES_DELTA,
    .state_size = sizeof(paper_rdp_state),
    .record = record,
    .answer = answer,
};
