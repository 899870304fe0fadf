#include "mfpg/solution.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "games/game_internal.h"
#include "mfpg/program.h"

const char *mfpg_solution_control(const mfpg_solution *solution) {
    return solution->equilibrium->control == MFPG_CONTROL_BUDGET ? "budget" : "strength";
}

/* ---- the solution played by its finitely many clients ---- */

/* Of m identical clients that mix, the first round(weight m) play the upper action. This is the profile of
 * pure actions whose mean is nearest to that of the solution. */
static void purify(const mfpg_equilibrium *solution, double *action) {
    const mfpg_mixing *mix = solution->mixing;
    for (ptrdiff_t i = 0, end; i < solution->mixing_count; i = end) {
        end = i + 1;
        while (end < solution->mixing_count && mix[end].upper == mix[i].upper &&
               mix[end].weight == mix[i].weight)
            end++;
        ptrdiff_t upper = (ptrdiff_t)floor(mix[i].weight * (double)(end - i) + 0.5);
        for (ptrdiff_t j = i; j < i + upper; j++) action[mix[j].client] = mix[j].upper;
    }
}

mfpg_status mfpg_solution_judge_finite(mfpg_context *ctx, const mfpg_game *game,
    const mfpg_equilibrium *equilibrium, double *max, double *mean) {
    mfpg_game finite = *game;
    double *pure = NULL;
    const double *action = equilibrium->action;
    *max = *mean = (double)NAN;
    finite.players = MFPG_PLAYERS_FINITE;
    if (!isfinite(equilibrium->cost)) return MFPG_OK; /* infinite costs cannot be compared */
    if (equilibrium->mixing_count > 0) {
        pure = mfpg_alloc(game->clients, sizeof *pure);
        if (!pure) return mfpg_fail_memory(ctx);
        memcpy(pure, action, (size_t)game->clients * sizeof *pure);
        purify(equilibrium, pure);
        action = pure;
    }
    double found_max, found_mean;
    mfpg_status status = mfpg_game_exploitability(ctx, &finite, action, &found_max, &found_mean);
    free(pure);
    if (status == MFPG_ERR_MEMORY) return status;
    if (status == MFPG_OK) {
        *max = found_max;
        *mean = found_mean;
    }
    return MFPG_OK;
}

/* ---- the price ---- */

static double largest_difference(const double *action, const double *optimum, ptrdiff_t clients) {
    double largest = 0.0;
    for (ptrdiff_t k = 0; k < clients; k++)
        largest = fmax(largest, fabs(action[k] - optimum[k]) / optimum[k]);
    return largest;
}

mfpg_status mfpg_solution_find_price(mfpg_context *ctx, const mfpg_solution *solution, mfpg_priced *out) {
    const mfpg_equilibrium *q = solution->equilibrium;
    mfpg_game game = *solution->game;
    mfpg_equilibrium found;
    *out = (mfpg_priced){0};
    if (!q->social_action)
        return mfpg_fail(ctx, MFPG_ERR_INPUT,
            "a corrective price leads to the social optimum, and that of this game is not known");
    double *price = mfpg_alloc(game.clients, sizeof *price);
    if (!price) return mfpg_fail_memory(ctx);
    mfpg_status status = mfpg_game_corrective_price(ctx, &game, price);
    game.price = price;
    game.skip_optimum = 1;
    if (status == MFPG_OK) status = mfpg_game_solve(ctx, &game, &found);
    if (status != MFPG_OK) {
        free(price);
        return status;
    }
    *out = (mfpg_priced){.price = price,
        .mean_action = found.mean_action,
        .difference = largest_difference(found.action, q->social_action, game.clients),
        .exploitability = found.exploitability_max};
    mfpg_equilibrium_clear(&found);
    return MFPG_OK;
}

void mfpg_priced_clear(mfpg_priced *priced) {
    free(priced->price);
    *priced = (mfpg_priced){0};
}

/* ---- quantiles ---- */

/* Returns 1 if no value is below the previous one (sign -1: above it). */
static int is_sorted(const double *values, ptrdiff_t count, double sign) {
    for (ptrdiff_t i = 1; i < count; i++)
        if (sign * values[i] < sign * values[i - 1]) return 0;
    return 1;
}

static int compare(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

mfpg_status mfpg_solution_quantiles(
    mfpg_context *ctx, const double *values, ptrdiff_t count, ptrdiff_t points, double *out) {
    double *sorted = NULL;
    int up = is_sorted(values, count, 1.0), down = !up && is_sorted(values, count, -1.0);
    if (!up && !down) {
        sorted = mfpg_alloc(count, sizeof *sorted);
        if (!sorted) return mfpg_fail_memory(ctx);
        memcpy(sorted, values, (size_t)count * sizeof *sorted);
        qsort(sorted, (size_t)count, sizeof *sorted, compare);
        values = sorted;
    }
    for (ptrdiff_t i = 0; i < points; i++) {
        ptrdiff_t at = (ptrdiff_t)floor((double)i / (double)(points - 1) * (double)(count - 1) + 0.5);
        out[i] = values[down ? count - 1 - at : at];
    }
    free(sorted);
    return MFPG_OK;
}

/* ---- the file of clients ---- */

mfpg_status mfpg_solution_write(mfpg_context *ctx, const mfpg_solution *solution, const char *path) {
    const mfpg_equilibrium *q = solution->equilibrium;
    const mfpg_mixing *mixing = q->mixing, *end = mixing ? mixing + q->mixing_count : NULL;
    mfpg_table_file *file = NULL;
    mfpg_status status = mfpg_table_file_open(ctx, NULL, path,
        "client,name,preference,action,upper_action,upper_weight,social_action,price", &file);
    if (status != MFPG_OK) return status;
    for (ptrdiff_t k = 0; k < q->clients; k++) {
        int mixes = mixing && mixing < end && mixing->client == k;
        mfpg_table_file_row(file, "itnnnnnn", (int64_t)k,
            solution->name ? solution->name(solution->name_user, k) : "", solution->game->preference[k],
            q->action[k], mixes ? mixing->upper : (double)NAN, mixes ? mixing->weight : (double)NAN,
            q->social_action ? q->social_action[k] : (double)NAN,
            solution->priced ? solution->priced->price[k] : (double)NAN);
        mixing += mixes;
    }
    return mfpg_table_file_close(ctx, file);
}
