/* The social optimum: one planner chooses all actions. */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "solver.h"

enum { MOST_PROFILES = 100000 }; /* that are tried one by one */
/* Largest number of clients times actions for which single changes are tried from all profiles of equal
 * actions. */
static const double MOST_STARTS = 1e7;

/* ---- few profiles: all of them ---- */

static int can_try_all(const mfpg_play *play) {
    const mfpg_action_set *set = &play->game->actions;
    return set->grid &&
           (double)play->game->clients * log((double)set->count) <= log((double)MOST_PROFILES) + 1e-9;
}

/* Moves to the next profile in the order of an odometer; returns 0 after the last. */
static int next_profile(const mfpg_action_set *set, ptrdiff_t clients, ptrdiff_t *index, double *action) {
    for (ptrdiff_t k = 0; k < clients; k++) {
        index[k] = (index[k] + 1) % set->count;
        action[k] = set->grid[index[k]];
        if (index[k] > 0) return 1;
    }
    return 0;
}

static mfpg_status try_all(mfpg_context *ctx, const mfpg_play *play, double *best) {
    const mfpg_action_set *set = &play->game->actions;
    ptrdiff_t clients = play->game->clients, *index = mfpg_alloc(clients, sizeof *index);
    double *action = mfpg_alloc(clients, sizeof *action), least = (double)INFINITY;
    mfpg_status status = index && action ? MFPG_OK : mfpg_fail_memory(ctx);
    for (ptrdiff_t k = 0; k < clients && !status; k++) best[k] = action[k] = set->grid[0];
    for (int more = !status; more; more = next_profile(set, clients, index, action)) {
        double cost = mfpg_total_cost(play, action);
        if (!(cost < least)) continue;
        least = cost;
        memcpy(best, action, (size_t)clients * sizeof *best);
    }
    free(index);
    free(action);
    return status;
}

/* ---- many profiles ---- */

static mfpg_status sweep_from(mfpg_context *ctx, const mfpg_play *play, const mfpg_play *planner,
    double *start, double *least, double *action) {
    mfpg_report report;
    mfpg_status status = mfpg_sweep(ctx, planner, start, &report);
    double cost = status ? (double)NAN : mfpg_total_cost(play, start);
    if (!(cost < *least)) return status;
    *least = cost;
    memcpy(action, start, (size_t)play->game->clients * sizeof *action);
    return status;
}

/* On a grid with coupling the planner's sweeps end at a profile that no single change improves, which may
 * not be the best. They are also run from the equilibrium, so that the result is never above it, and from
 * profiles of equal actions. */
static mfpg_status best_of_many_starts(mfpg_context *ctx, const mfpg_play *play, const mfpg_play *planner,
    const double *equilibrium, double *action) {
    const mfpg_action_set *set = &play->game->actions;
    ptrdiff_t clients = play->game->clients;
    double least = mfpg_total_cost(play, action), *start = mfpg_alloc(clients, sizeof *start);
    if (!start) return mfpg_fail_memory(ctx);
    memcpy(start, equilibrium, (size_t)clients * sizeof *start);
    mfpg_status status = sweep_from(ctx, play, planner, start, &least, action);
    for (ptrdiff_t j = 0; j < set->count && !status && (double)clients * (double)set->count <= MOST_STARTS;
         j++) {
        for (ptrdiff_t k = 0; k < clients; k++) start[k] = set->grid[j];
        status = sweep_from(ctx, play, planner, start, &least, action);
    }
    free(start);
    return status;
}

/* exact: whether it is certain that no profile is better. */
static mfpg_status plan(
    mfpg_context *ctx, const mfpg_play *play, const double *equilibrium, double *action, int *exact) {
    mfpg_play planner = *play;
    mfpg_report report;
    planner.planner = 1;
    *exact = 1;
    if (!play->cost->has_optimum && play->cost->finite == MFPG_COUPLING_NONE) { /* nobody moves others */
        memcpy(action, equilibrium, (size_t)play->game->clients * sizeof *action);
        return MFPG_OK;
    }
    int coupled = mfpg_play_coupling(&planner) != MFPG_COUPLING_NONE;
    if (coupled && can_try_all(play)) return try_all(ctx, play, action);
    mfpg_status status = mfpg_finite_solve(ctx, &planner, action, NULL, &report);
    if (status || !play->game->actions.grid || !coupled) return status;
    *exact = 0;
    return best_of_many_starts(ctx, play, &planner, equilibrium, action);
}

mfpg_status mfpg_social_optimum(mfpg_context *ctx, const mfpg_play *play, mfpg_equilibrium *out) {
    ptrdiff_t clients = play->game->clients;
    out->social_mean = out->social_cost = out->price_of_anarchy = NAN;
    /* If clients are coupled through the price of own noise, profiles can be compared only if they are few. */
    int known = play->cost->has_optimum || play->cost->finite == MFPG_COUPLING_NONE || can_try_all(play);
    if (play->game->skip_optimum || !known) return MFPG_OK;
    double *action = mfpg_alloc(clients, sizeof *action);
    if (!action) return mfpg_fail_memory(ctx);
    mfpg_status status = plan(ctx, play, out->action, action, &out->social_exact);
    double cost = NAN;
    if (!status) cost = mfpg_total_cost(play, action);
    if (!(cost <= out->cost) && !status && out->mixing_count > 0) {
        cost = NAN; /* a mixture that no profile matches */
    } else if (!(cost <= out->cost) && !status) {
        /* because of rounding, or if no finite profile was found: the equilibrium is a profile too */
        memcpy(action, out->action, (size_t)clients * sizeof *action);
        cost = out->cost;
    }
    if (status || !isfinite(cost)) {
        out->social_exact = 0;
        free(action);
        return status;
    }
    double sum = 0.0;
    for (ptrdiff_t k = 0; k < clients; k++) sum += action[k];
    out->social_action = action;
    out->social_mean = sum / (double)clients;
    out->social_cost = cost;
    if (cost > 0.0) out->price_of_anarchy = out->cost / cost; /* there is no such ratio of gains */
    return MFPG_OK;
}
