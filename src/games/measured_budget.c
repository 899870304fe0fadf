/* What own noise costs, measured by running the Gaussian mechanism once for every budget of a grid:
 *
 *     U_k(b) = T(b) + beta_k b^p/p,   p = 1 or 2,
 *
 * T the loss table, which falls with the budget, and the privacy cost that of cost gaussian (theory S3.1, S3.2). The others'
 * noise is in T as it was when the table was made and moves no choice. */
#include "base/error.h"
#include "cost.h"

static mfpg_status validate(mfpg_context *ctx, const mfpg_play *play) {
    if (!play->game->loss_table)
        return mfpg_fail(ctx, MFPG_ERR_INPUT, "cost measured-budget needs a loss table, and there is none");
    return mfpg_loss_table_check(ctx, play->game, MFPG_CONTROL_BUDGET);
}

static double utility(const mfpg_play *play, double b) {
    return mfpg_loss_table_at(play->game, MFPG_CONTROL_BUDGET, b);
}

static void scales(
    const mfpg_play *play, ptrdiff_t first, ptrdiff_t count, const double *others, double *u, double *v) {
    (void)others;
    for (ptrdiff_t i = 0; i < count; i++) {
        u[i] = 1.0;
        v[i] = play->game->preference[first + i];
    }
}

const mfpg_cost_ops mfpg_cost_measured_budget = {
    .name = "measured-budget",
    .help = "T(b) of a loss table against beta b^p/p (a budget)",
    .control = MFPG_CONTROL_BUDGET,
    .consistent = 1,
    .facts = MFPG_COST_READS_PRIVACY_POWER | MFPG_COST_TAKES_TABLE | MFPG_COST_NEEDS_TABLE,
    .validate = validate,
    .utility = utility,
    .privacy = mfpg_budget_privacy,
    .scales = scales,
};
