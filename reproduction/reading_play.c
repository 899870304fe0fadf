/* A population that plays one reading. */
#include <math.h>

#include "readings.h"

/* More noise is more private, and a smaller budget means more noise. */
static int prefers_small(const mfpg_reading *reading) {
    return reading->privacy_form == MFPG_READING_PRIVACY_BUDGET;
}

double mfpg_reading_own_cost(
    const mfpg_reading *reading, double e, double mean, double beta, double gradient_norm) {
    int moved = reading->privacy_form != MFPG_READING_PRIVACY_BOUND_AT_MEAN;
    return mfpg_reading_cost(reading, e, mean, moved ? beta : 0.0, gradient_norm);
}

/* Returns the index of the action with the reading's least cost against the mean; if several, the more
 * private one. */
static int reply(const mfpg_reading *reading, double mean, double beta, double gradient_norm) {
    int best = 0;
    double least = INFINITY;
    for (int i = 0; i < MFPG_READING_ACTIONS; i++) {
        double cost = mfpg_reading_own_cost(reading, mfpg_reading_action[i], mean, beta, gradient_norm);
        if (!(cost < least) && !(cost == least && !prefers_small(reading))) continue;
        best = i;
        least = cost;
    }
    return best;
}

static int number_of_action(double e) {
    int i = 0;
    while (i + 1 < MFPG_READING_ACTIONS && mfpg_reading_action[i] != e) i++;
    return i;
}

/* Client k's cost of action number i. */
static double cost_of(const reading_crowd *crowd, ptrdiff_t k, int i, double mean) {
    return mfpg_reading_own_cost(
        crowd->reading, mfpg_reading_action[i], mean, crowd->beta[k], crowd->gradient[k]);
}

/* Counts a client that plays action i with that probability. Returns its share of the expected cost. */
static double add_play(
    const reading_crowd *crowd, ptrdiff_t k, int i, double probability, double mean, reading_solution *out) {
    const mfpg_reading *reading = crowd->reading;
    double e = mfpg_reading_action[i], gradient = crowd->gradient[k];
    double share = probability / (double)crowd->clients;
    out->count[i] += probability;
    out->privacy += share * mfpg_reading_privacy_term(reading, e, mean, gradient);
    out->delta += share * mfpg_reading_delta(reading, e, gradient);
    return probability * cost_of(crowd, k, i, mean);
}

static void note_gain(
    const reading_crowd *crowd, ptrdiff_t k, double mean, double cost, reading_solution *out) {
    int best = reply(crowd->reading, mean, crowd->beta[k], crowd->gradient[k]);
    out->exploitability = fmax(out->exploitability, cost - cost_of(crowd, k, best, mean));
}

static void solve_uncoupled(const reading_crowd *crowd, reading_solution *out) {
    ptrdiff_t chosen[MFPG_READING_ACTIONS] = {0};
    for (ptrdiff_t k = 0; k < crowd->clients; k++)
        chosen[reply(crowd->reading, 1.0, crowd->beta[k], crowd->gradient[k])]++;
    for (int i = 0; i < MFPG_READING_ACTIONS; i++)
        out->mean += (double)chosen[i] * mfpg_reading_action[i] / (double)crowd->clients;
    for (ptrdiff_t k = 0; k < crowd->clients; k++) {
        int i = reply(crowd->reading, out->mean, crowd->beta[k], crowd->gradient[k]);
        note_gain(crowd, k, out->mean, add_play(crowd, k, i, 1.0, out->mean, out), out);
    }
}

/* Clients that tie mix the same two actions, so dividing the clients between the two is equivalent to mixing
 * if the share is a whole number of clients. */
static int must_mix(const mfpg_equilibrium *solved) {
    double upper = 0.0;
    for (ptrdiff_t i = 0; i < solved->mixing_count; i++) upper += solved->mixing[i].weight;
    return fabs(upper - nearbyint(upper)) > 1e-9;
}

static void take_equilibrium(
    const reading_crowd *crowd, const mfpg_equilibrium *solved, reading_solution *out) {
    ptrdiff_t at = 0;
    out->mean = solved->mean_action;
    out->mixes = must_mix(solved);
    for (ptrdiff_t k = 0; k < crowd->clients; k++) {
        const mfpg_mixing *mix =
            at < solved->mixing_count && solved->mixing[at].client == k ? &solved->mixing[at++] : NULL;
        double upper = mix ? mix->weight : 0.0;
        double cost = add_play(crowd, k, number_of_action(solved->action[k]), 1.0 - upper, out->mean, out);
        if (mix) cost += add_play(crowd, k, number_of_action(mix->upper), upper, out->mean, out);
        note_gain(crowd, k, out->mean, cost, out);
    }
}

static mfpg_status solve_coupled(mfpg_context *ctx, const reading_crowd *crowd, reading_solution *out) {
    const mfpg_reading *reading = crowd->reading;
    mfpg_game game = mfpg_game_default();
    mfpg_equilibrium solved;
    game.cost = "interaction";
    game.clients = crowd->clients;
    game.preference = crowd->beta;
    game.own_cost_all = reading->loss;
    game.privacy_scale_all = reading->privacy_scale;
    game.interaction = reading->interaction;
    game.actions = (mfpg_action_set){.grid = mfpg_reading_action, .count = MFPG_READING_ACTIONS};
    mfpg_status status = mfpg_game_solve(ctx, &game, &solved);
    if (!status) take_equilibrium(crowd, &solved, out);
    mfpg_equilibrium_clear(&solved);
    return status;
}

mfpg_status mfpg_reading_solve(mfpg_context *ctx, const reading_crowd *crowd, reading_solution *out) {
    *out = (reading_solution){0};
    if (crowd->reading->interaction != 0.0) return solve_coupled(ctx, crowd, out);
    solve_uncoupled(crowd, out);
    return MFPG_OK;
}

/* Returns the mean of all clients' answers to that mean. */
static double answer_all(const reading_crowd *crowd, double mean) {
    ptrdiff_t count[MFPG_READING_ACTIONS] = {0};
    double next = 0.0;
    for (ptrdiff_t k = 0; k < crowd->clients; k++)
        count[reply(crowd->reading, mean, crowd->beta[k], crowd->gradient[k])]++;
    for (int i = 0; i < MFPG_READING_ACTIONS; i++) next += (double)count[i] * mfpg_reading_action[i];
    return next / (double)crowd->clients;
}

/* The answers depend on the mean alone, so the process has settled as soon as a mean is followed by itself.
 * Answers fall as the mean rises (interaction >= 0), so a mean that has not settled after 1000 rounds is in
 * a cycle. */
double mfpg_reading_iterations(const reading_crowd *crowd) {
    enum { MOST = 1000 };
    double worst = 0.0;
    for (int start = 0; start < MFPG_READING_ACTIONS; start++) {
        double mean = answer_all(crowd, mfpg_reading_action[start]), next;
        int rounds = 1;
        while ((next = answer_all(crowd, mean)) != mean && rounds < MOST) {
            mean = next;
            rounds++;
        }
        worst = fmax(worst, rounds < MOST ? (double)rounds : (double)INFINITY);
    }
    return worst;
}
