/* The paper's best response (eq. br) with its directions corrected: what a client has at stake is the loss it measures, and
 * its own noise costs it in proportion,
 *
 *     U_k(e) = L_k e + beta_k B_k/e,   least at e = sqrt(beta_k B_k/L_k),
 *
 * B_k the zCDP cost of the run at strength 1 (theory S3.1: utility falls and privacy grows with the own noise, and the
 * privacy cost is that of a sound accountant). The loss enters as L g_j, the form of theory S4. If a table says what
 * the own noise costs, measured by running the mechanism, its T(e) replaces L e. */
#include "base/error.h"
#include "cost.h"

static double unit_of(const mfpg_play *play, ptrdiff_t k) {
    return mfpg_number_of(play->game->strength_unit, 1.0, k);
}

static double loss_of(const mfpg_play *play, ptrdiff_t k) {
    return mfpg_number_of(play->game->measured_loss, play->game->loss, k);
}

static mfpg_status validate(mfpg_context *ctx, const mfpg_play *play) {
    const mfpg_game *game = play->game;
    if (game->loss_table && game->measured_loss)
        return mfpg_fail(ctx, MFPG_ERR_INPUT,
            "a loss table and losses that clients measure exclude each other: the table replaces them");
    if (game->loss_table) return mfpg_loss_table_check(ctx, game, MFPG_CONTROL_STRENGTH);
    if (game->actions.grid || isfinite(game->actions.high)) return MFPG_OK;
    for (ptrdiff_t k = 0; k < game->clients; k++)
        if (loss_of(play, k) == 0.0)
            return mfpg_fail(ctx, MFPG_ERR_INPUT,
                "cost measured falls with the strength for ever if the loss is 0, as that of client %td is; "
                "give a grid or actions with a maximum",
                k);
    return MFPG_OK;
}

static double utility(const mfpg_play *play, double e) {
    return play->game->loss_table ? mfpg_loss_table_at(play->game, MFPG_CONTROL_STRENGTH, e) : e;
}

static void scales(
    const mfpg_play *play, ptrdiff_t first, ptrdiff_t count, const double *others, double *u, double *v) {
    (void)others;
    for (ptrdiff_t i = 0; i < count; i++) {
        ptrdiff_t k = first + i;
        u[i] = play->game->loss_table ? 1.0 : loss_of(play, k) * unit_of(play, k);
        v[i] = play->game->preference[k] * mfpg_play_privacy_scale(play, k);
    }
}

static void change(
    const mfpg_play *play, ptrdiff_t k, double x, const mfpg_swing *swing, double *moved, double *largest) {
    const mfpg_game *game = play->game;
    double strength = unit_of(play, k) * x,
           privacy_cost = game->preference[k] * mfpg_play_privacy_scale(play, k) / x;
    *moved = game->loss_table ? 0.0 : swing->loss * strength; /* a table is public */
    *largest = (game->loss_table ? fabs(utility(play, x)) : swing->loss_most * strength) + privacy_cost;
}

const mfpg_cost_ops mfpg_cost_measured = {
    .name = "measured",
    .help = "L e against beta B/e (a strength), L the client's own loss, with game.update each-round as "
            "measured; or T(e) of a loss table",
    .control = MFPG_CONTROL_STRENGTH,
    .consistent = 1,
    .measures = MFPG_MEASURES_LOSS,
    .facts = MFPG_COST_READS_PRIVACY_SCALE | MFPG_COST_READS_LOSS | MFPG_COST_TAKES_TABLE,
    .validate = validate,
    .utility = utility,
    .privacy = mfpg_strength_privacy,
    .scales = scales,
    .minimiser = mfpg_strength_minimiser,
    .change = change,
};
