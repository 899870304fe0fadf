/* The paper's best response (eq. br) to the letter: L/(e + c) + beta_k delta(e), delta the raw exponential of
 * eq. (dpbound), L and G public constants or what the client measured. For
 * reproduction only. Both terms fall with e, so the answer is the largest strength for any numbers (theory S0 b); the loss falls with the client's own noise, so no direction is asserted; delta is no privacy
 * guarantee (S0 a); and nothing couples the clients. */
#include "base/error.h"
#include "cost.h"

static mfpg_status validate(mfpg_context *ctx, const mfpg_play *play) {
    const mfpg_game *game = play->game;
    /* The shapes are the same for all clients, so their units of strength must be too. */
    for (ptrdiff_t k = 1; k < game->clients && game->strength_unit; k++)
        if (game->strength_unit[k] != game->strength_unit[0])
            return mfpg_fail(ctx, MFPG_ERR_INPUT,
                "cost paper compares absolute strengths, and client %td's action 1 is another strength than "
                "client 0's: with clients of different sensitivity take scale absolute",
                k);
    if (game->actions.grid || isfinite(game->actions.high)) return MFPG_OK;
    return mfpg_fail(ctx, MFPG_ERR_INPUT,
        "cost paper falls with the strength for ever, so no strength is the best one; give a grid or "
        "actions with a maximum");
}

static double utility(const mfpg_play *play, double e) {
    return 1.0 / (e + play->game->offset);
}

/* delta = (C_d/sqrt N) exp(-(alpha e - lambda - G) K tau/2), C_d = min(sqrt d, 10), alpha = 1/prior variance. */
static double privacy(const mfpg_play *play, double e) {
    const mfpg_game *game = play->game;
    double strength = game->strength_unit ? game->strength_unit[0] * e : e;
    double rate = strength / game->prior_variance - game->variance_penalty - game->gradient_norm;
    double front = fmin(sqrt(game->dimension), 10.0) / sqrt((double)game->clients);
    return front * exp(-0.5 * rate * game->rounds * game->step);
}

/* The shape uses the public G; a client's own G enters as a factor. */
static double own_gradient(const mfpg_play *play, double gradient_norm) {
    const mfpg_game *game = play->game;
    return exp(0.5 * (gradient_norm - game->gradient_norm) * game->rounds * game->step);
}

static void scales(
    const mfpg_play *play, ptrdiff_t first, ptrdiff_t count, const double *others, double *u, double *v) {
    const mfpg_game *game = play->game;
    (void)others;
    for (ptrdiff_t i = 0; i < count; i++) {
        u[i] = mfpg_number_of(game->measured_loss, game->loss, first + i);
        v[i] = game->preference[first + i];
        if (game->measured_gradient) v[i] *= own_gradient(play, game->measured_gradient[first + i]);
    }
}

static double minimiser(const mfpg_play *play, double u, double v) {
    (void)play, (void)u, (void)v;
    return INFINITY;
}

/* delta is convex in G, so it changes most at the upper end of G's range. */
static void change(
    const mfpg_play *play, ptrdiff_t k, double x, const mfpg_swing *swing, double *moved, double *largest) {
    double most = own_gradient(play, swing->gradient_most);
    double least = own_gradient(play, fmax(0.0, swing->gradient_most - swing->gradient));
    double price = play->game->preference[k] * privacy(play, x);
    *moved = swing->loss * utility(play, x) + price * (most - least);
    *largest = swing->loss_most * utility(play, x) + price * most;
}

const mfpg_cost_ops mfpg_cost_paper = {
    .name = "paper",
    .help = "the paper's best response to the letter; always the largest strength, reproduction only",
    .control = MFPG_CONTROL_STRENGTH,
    .measures = MFPG_MEASURES_LOSS | MFPG_MEASURES_GRADIENT,
    .facts = MFPG_COST_READS_LOSS | MFPG_COST_READS_OFFSET,
    .validate = validate,
    .utility = utility,
    .privacy = privacy,
    .scales = scales,
    .minimiser = minimiser,
    .change = change,
};
