/* A test game with a coupling (theory S3.4): ambient noise makes own noise costlier (zeta > 0) or cheaper (zeta < 0).
 *
 *     U_k(e) = c_k e (1 + zeta s) + beta_k B_k/e,   s = the mean strength, of the others' shares e_j/N for N players.
 *
 * U_k/c_k has the exact potential sum (e_k + R_k/e_k) + (zeta/N) sum_{j<k} e_j e_k, R_k = beta_k B_k/c_k. */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/wide.h"
#include "best_response.h"
#include "fixed_point.h"

static mfpg_status validate(mfpg_context *ctx, const mfpg_play *play) {
    const mfpg_game *game = play->game;
    mfpg_status status =
        mfpg_check_clients(ctx, "own cost", game->own_cost, game->own_cost_all, game->clients);
    if (status) return status;
    /* If even the smallest ambient noise makes the own cost negative, noise costs no client anything: S3.1
     * (i). */
    double least = game->actions.grid ? game->actions.grid[0] : game->actions.low;
    if (!(1.0 + game->interaction * least > 0.0))
        return mfpg_fail(ctx, MFPG_ERR_INPUT,
            "1 + interaction x smallest action must be positive, or a client's utility grows with its own "
            "noise");
    return MFPG_OK;
}

MFPG_WIDE static void interaction_scales(
    const mfpg_play *play, ptrdiff_t first, ptrdiff_t count, const double *others, double *u, double *v) {
    const mfpg_game *game = play->game;
    for (ptrdiff_t i = 0; i < count; i++) {
        u[i] = mfpg_play_own_cost(play, first + i) * (1.0 + game->interaction * others[i]);
        v[i] = game->preference[first + i] * mfpg_play_privacy_scale(play, first + i);
    }
}

static void shares(const mfpg_play *play, ptrdiff_t first, ptrdiff_t count, const double *e, double *out) {
    (void)first;
    for (ptrdiff_t i = 0; i < count; i++) out[i] = e[i] / (double)play->game->clients;
}

/* Computes best responses of a block of clients to the actions as they were before the block. */
static void respond_block(const mfpg_play *play, ptrdiff_t first, ptrdiff_t count, const double *others,
    double low, double high, double *next) {
    double u[MFPG_BLOCK], v[MFPG_BLOCK];
    interaction_scales(play, first, count, others, u, v);
    for (ptrdiff_t i = 0; i < count; i++)
        next[i] = mfpg_clamp(mfpg_strength_minimiser(play, u[i], v[i]), low, high);
}

/* Returns the largest relative move, which is |log next - log now| if it is small. */
static double largest_move(const double *now, const double *next, ptrdiff_t count) {
    double most = 0.0;
    for (ptrdiff_t i = 0; i < count; i++) {
        double move = fabs(next[i] - now[i]) / (next[i] < now[i] ? next[i] : now[i]);
        most = move > most ? move : most;
    }
    return most;
}

/* Makes one pass of best responses, a block of clients at a time. Returns the largest relative move;
 * infinite if an action left its range. */
static double respond_in_turn(
    const mfpg_play *play, ptrdiff_t block, double low, double high, double *action) {
    mfpg_compensated total = {.sum = mfpg_aggregate(play, action)};
    double change = 0.0, next[MFPG_BLOCK], share[MFPG_BLOCK], others[MFPG_BLOCK];
    for (ptrdiff_t first = 0; first < play->game->clients; first += block) {
        ptrdiff_t rest = play->game->clients - first, count = rest < block ? rest : block;
        double *now = action + first, before = mfpg_compensated_value(&total);
        shares(play, first, count, now, share);
        for (ptrdiff_t i = 0; i < count; i++) others[i] = before - share[i];
        respond_block(play, first, count, others, low, high, next);
        double move = largest_move(now, next, count);
        if (!isfinite(move)) return INFINITY;
        change = move > change ? move : change;
        mfpg_compensated_add(&total, -mfpg_chunk_add(share, count));
        memcpy(now, next, (size_t)count * sizeof *now);
        shares(play, first, count, now, share);
        mfpg_compensated_add(&total, mfpg_chunk_add(share, count));
    }
    return change;
}

/* Best responses in turn, which cannot cycle here. In the logarithms of the actions the response of client k moves by
 * (1/2) |zeta| s_-k/(1 + zeta s_-k) times the largest move of the others. For zeta >= 0 that factor is below 1/2: a
 * contraction (clamping keeps it one), so the equilibrium exists, is unique, and 60 passes reach the last bit, whether
 * clients answer one after the other or, if they are many, a few of them at once. For zeta < 0 responses rise with the
 * others' actions, and the passes start below every equilibrium: the actions only rise, to the smallest one, or past every
 * bound if there is none. */
static mfpg_status nash(
    mfpg_context *ctx, const mfpg_play *play, double low, double high, double *action, mfpg_report *report) {
    enum { PASSES = 10000 };
    const double still = 0x1p-50; /* a few roundings of the logarithm's argument */
    /* smaller moves that do not shrink are rounding errors, which are larger if prices are near 0 */
    const double rounding = 0x1p-42;
    int one = play->game->interaction >= 0.0;
    ptrdiff_t clients = play->game->clients, block = clients >= 64 * MFPG_BLOCK ? MFPG_BLOCK : 1;
    const double none[MFPG_BLOCK] = {0};
    for (ptrdiff_t k = 0; k < clients; k += MFPG_BLOCK) {
        ptrdiff_t count = clients - k < MFPG_BLOCK ? clients - k : MFPG_BLOCK;
        respond_block(play, k, count, none, low, one || !(low > 0.0) ? high : low, action + k);
    }
    *report = (mfpg_report){.unique = one ? 1 : -1,
        .residual = INFINITY,
        .selection = one ? MFPG_CHOSEN_ONLY : MFPG_CHOSEN_SMALLEST};
    while (report->iterations < PASSES && !report->converged) {
        double before = report->residual;
        report->residual = respond_in_turn(play, block, low, high, action);
        report->iterations++;
        report->converged =
            report->residual <= still || (report->residual <= rounding && report->residual >= before);
        if (!isfinite(report->residual))
            return mfpg_fail(ctx, MFPG_ERR_INPUT,
                "no equilibrium: with interaction below 0 the strengths raise each other past every bound; "
                "bound the actions");
    }
    return MFPG_OK;
}

/* R_k. */
static void ratios(const mfpg_play *play, ptrdiff_t first, ptrdiff_t count, double *out) {
    for (ptrdiff_t i = 0; i < count; i++)
        out[i] = play->game->preference[first + i] * mfpg_play_privacy_scale(play, first + i) /
                 mfpg_play_own_cost(play, first + i);
}

static mfpg_status fixed_point(
    mfpg_context *ctx, const mfpg_play *play, double *action, mfpg_field *field, mfpg_report *report) {
    const mfpg_game *game = play->game;
    mfpg_steps steps = {.play = play, .slope = game->interaction, .ratios = ratios};
    return game->actions.grid ? mfpg_fixed_point_grid(ctx, &steps, action, field, report)
                              : mfpg_fixed_point_interval(ctx, &steps, action, field, report);
}

/* Replaces mixing by pure play: the first clients play the upper action, which gives the same mean up to
 * half an action. */
static void share_out(const mfpg_field *field, double *action) {
    mfpg_compensated left = {0};
    for (ptrdiff_t i = 0; i < field->mixing_count; i++) {
        const mfpg_mixing *mix = &field->mixing[i];
        mfpg_compensated_add(&left, mix->weight * (mix->upper - action[mix->client]));
    }
    for (ptrdiff_t i = 0; i < field->mixing_count; i++) {
        const mfpg_mixing *mix = &field->mixing[i];
        double jump = mix->upper - action[mix->client];
        if (mfpg_compensated_value(&left) < 0.5 * jump) return;
        mfpg_compensated_add(&left, -jump);
        action[mix->client] = mix->upper;
    }
}

/* zeta < 0: responses rise with the others' actions, so from the responses to everybody's lowest, which lie below every
 * equilibrium, actions only rise, to the smallest one. Else from the equilibrium of the limit: from elsewhere, types that
 * tie at one mean can take turns for as long as there are clients. */
static mfpg_status start(mfpg_context *ctx, const mfpg_play *play, double *action, const char **rule) {
    double n = (double)play->game->clients;
    mfpg_field field = {0};
    mfpg_report report;
    if (play->game->interaction < 0.0) {
        mfpg_respond(play, play->game->actions.grid[0] * ((n - 1.0) / n), action);
        *rule = MFPG_CHOSEN_SMALLEST;
        return MFPG_OK;
    }
    mfpg_status status = fixed_point(ctx, play, action, &field, &report);
    if (!status) share_out(&field, action);
    free(field.mixing);
    free(field.fixed_point);
    *rule = MFPG_CHOSEN_POTENTIAL;
    return status;
}

static int decoupled(const mfpg_play *play) {
    return play->game->interaction == 0.0;
}

const mfpg_cost_ops mfpg_cost_interaction = {
    .name = "interaction",
    .help = "test game: own cost c e (1 + zeta mean strength), against beta B/e (a strength)",
    .control = MFPG_CONTROL_STRENGTH,
    .consistent = 1,
    .facts = MFPG_COST_READS_PRIVACY_SCALE | MFPG_COST_READS_OWN_COST | MFPG_COST_READS_INTERACTION,
    .finite = MFPG_COUPLING_PRICE,
    .limit = MFPG_COUPLING_PRICE,
    .validate = validate,
    .utility = mfpg_strength_utility,
    .privacy = mfpg_strength_privacy,
    .scales = interaction_scales,
    .minimiser = mfpg_strength_minimiser,
    .decoupled = decoupled,
    .shares = shares,
    .nash = nash,
    .start = start,
    .fixed_point = fixed_point,
};
