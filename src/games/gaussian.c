/* The Gaussian public good with personalisation (theory S3.2). Client k adds noise of sd k0_k/b_k to its update and
 * deploys y_k = w + omega (w_k - w), so its own noise reaches it with q_k = omega + (1 - omega) p_k:
 *
 *     U_k(b) = A [q_k^2 k0_k^2/b_k^2 + (1 - omega)^2 sum_{j != k} p_j^2 k0_j^2/b_j^2] + beta_k b_k^p/p,  A = h d/2.
 *
 * The others' noise only adds, so every client has a dominant strategy. In the limit p_k -> 0: q_k = omega, and the
 * averaged noise of the others vanishes. */
#include <string.h>

#include "base/error.h"
#include "base/wide.h"
#include "cost.h"

static double square(double x) {
    return x * x;
}

static double noise_unit(const mfpg_play *play, ptrdiff_t k) {
    return mfpg_number_of(play->game->noise_unit, play->game->noise_unit_all, k);
}

/* A of the formula above. */
static double half_trace(const mfpg_game *game) {
    return 0.5 * game->curvature * game->dimension;
}

static mfpg_status validate(mfpg_context *ctx, const mfpg_play *play) {
    const mfpg_game *game = play->game;
    mfpg_status status =
        mfpg_check_clients(ctx, "noise unit", game->noise_unit, game->noise_unit_all, game->clients);
    if (status || game->actions.grid || game->actions.low > 0.0 || game->personalisation > 0.0) return status;
    /* If no own noise reaches client k, noise costs it nothing, and its best response is a budget of 0. */
    for (ptrdiff_t k = 0; k < game->clients; k++)
        if (play->limit || mfpg_play_weight(play, k) == 0.0)
            return mfpg_fail(ctx, MFPG_ERR_INPUT,
                "free riding: client %td %s with personalisation 0 feels none of its own noise, and no "
                "budget "
                "is the smallest positive one; give personalisation > 0, a grid, or actions with a positive "
                "minimum",
                k, play->limit ? "in the mean-field limit" : "of weight 0");
    return MFPG_OK;
}

/* Returns the variance of the noise, in units of k0^2. */
static double utility(const mfpg_play *play, double b) {
    (void)play;
    return 1.0 / (b * b);
}

/* Returns the cost to the others of the noise of a client of weight p: Q_k/A - q_k^2 of S3.2. */
static double reach_to_others(const mfpg_play *play, double p) {
    const mfpg_game *game = play->game;
    return (double)(game->clients - 1) * square((1.0 - game->personalisation) * p);
}

/* Returns A q_k^2 of a client of weight p, or for a planner the total cost of its noise. */
static double trace_felt(const mfpg_play *play, double p) {
    double omega = play->game->personalisation, q = omega + (1.0 - omega) * p;
    return half_trace(play->game) * (q * q + (play->planner ? reach_to_others(play, p) : 0.0));
}

MFPG_WIDE static void gaussian_scales(
    const mfpg_play *play, ptrdiff_t first, ptrdiff_t count, const double *others, double *u, double *v) {
    const mfpg_game *game = play->game;
    (void)others;
    for (ptrdiff_t i = 0; i < count; i++) u[i] = noise_unit(play, first + i);
    if (play->limit || !game->weight) {
        double a = trace_felt(play, play->limit ? 0.0 : mfpg_play_weight(play, first));
        for (ptrdiff_t i = 0; i < count; i++) u[i] = a * square(u[i]);
    } else {
        for (ptrdiff_t i = 0; i < count; i++) u[i] = trace_felt(play, game->weight[first + i]) * square(u[i]);
    }
    mfpg_add_prices(play, first, count, u);
    memcpy(v, game->preference + first, (size_t)count * sizeof *v);
}

/* u/b^2 + v b^p/p is smallest at b = (2u/v)^(1/(p+2)). */
static double minimiser(const mfpg_play *play, double u, double v) {
    double ratio = 2.0 * u / v;
    return play->game->privacy_power == 1.0 ? cbrt(ratio) : sqrt(sqrt(ratio));
}

static void shares(const mfpg_play *play, ptrdiff_t first, ptrdiff_t count, const double *b, double *out) {
    for (ptrdiff_t i = 0; i < count; i++)
        out[i] = square(mfpg_play_weight(play, first + i) * noise_unit(play, first + i) / b[i]);
}

static double external(const mfpg_play *play, double aggregate) {
    const mfpg_game *game = play->game;
    return play->limit ? 0.0 : half_trace(game) * square(1.0 - game->personalisation) * aggregate;
}

/* Returns u_k of the planner minus u_k of the client. In the limit the averaged noise vanishes, so no client
 * harms another. */
static mfpg_status corrective(mfpg_context *ctx, const mfpg_play *play, double *price) {
    (void)ctx;
    for (ptrdiff_t k = 0; k < play->game->clients; k++) {
        double p = play->limit ? 0.0 : mfpg_play_weight(play, k);
        price[k] = half_trace(play->game) * reach_to_others(play, p) * square(noise_unit(play, k));
    }
    return MFPG_OK;
}

const mfpg_cost_ops mfpg_cost_gaussian = {
    .name = "gaussian",
    .help =
        "loss from Gaussian noise of sd k0/b in the average and the own model, against beta b^p/p (a budget)",
    .control = MFPG_CONTROL_BUDGET,
    .consistent = 1,
    .has_optimum = 1,
    .takes_price = 1,
    .facts = MFPG_COST_READS_CURVATURE | MFPG_COST_READS_PERSONALISATION | MFPG_COST_READS_PRIVACY_POWER |
             MFPG_COST_PUBLIC_GOOD,
    .validate = validate,
    .utility = utility,
    .privacy = mfpg_budget_privacy,
    .scales = gaussian_scales,
    .minimiser = minimiser,
    .shares = shares,
    .external = external,
    .corrective = corrective,
};
