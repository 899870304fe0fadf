#include "validate.h"

#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/names.h"
#include "base/number.h"
#include "check.h"
#include "compensated.h"
#include "tables.h"

/* Sum of weights: rounding of their decimal texts is forgiven, a forgotten client is not. */
static const double WEIGHT_TOLERANCE = 1e-9;

static mfpg_status find_cost(mfpg_context *ctx, const char *name, const mfpg_cost_ops **out) {
    const char *names[MFPG_COST_COUNT];
    char list[256];
    if (!name) return mfpg_fail(ctx, MFPG_ERR_INPUT, "the game names no cost");
    for (ptrdiff_t i = 0; i < MFPG_COST_COUNT; i++) {
        names[i] = mfpg_costs[i]->name;
        if (strcmp(name, names[i]) != 0) continue;
        *out = mfpg_costs[i];
        return MFPG_OK;
    }
    const char *nearest = mfpg_names_nearest(name, names, MFPG_COST_COUNT);
    mfpg_names_join(names, MFPG_COST_COUNT, list, sizeof list);
    return mfpg_fail(ctx, MFPG_ERR_INPUT, "unknown cost '%s'%s%s%s; known are %s", name,
        nearest ? ", did you mean '" : "", nearest ? nearest : "", nearest ? "'?" : "", list);
}

static mfpg_status check_weights(mfpg_context *ctx, const mfpg_game *game) {
    char text[MFPG_NUMBER_SIZE];
    mfpg_compensated total = {0};
    if (!game->weight) return MFPG_OK;
    for (ptrdiff_t k = 0; k < game->clients; k++) {
        if (!(game->weight[k] >= 0.0) || !isfinite(game->weight[k]))
            return mfpg_fail(ctx, MFPG_ERR_DOMAIN,
                "weight of client %td is %s; it must be a finite number, 0 or more", k,
                mfpg_number_format(game->weight[k], text));
        mfpg_compensated_add(&total, game->weight[k]);
    }
    double sum = mfpg_compensated_value(&total);
    if (fabs(sum - 1.0) <= WEIGHT_TOLERANCE) return MFPG_OK;
    return mfpg_fail(ctx, MFPG_ERR_INPUT, "the weights sum to %s; they must sum to 1 (within 1e-9)",
        mfpg_number_format(sum, text));
}

static mfpg_status check_grid(mfpg_context *ctx, const mfpg_action_set *set) {
    if (set->count < 1) return mfpg_fail(ctx, MFPG_ERR_INPUT, "the grid of actions is empty");
    for (ptrdiff_t i = 0; i < set->count; i++) {
        char text[MFPG_NUMBER_SIZE], before[MFPG_NUMBER_SIZE];
        if (!(set->grid[i] > 0.0) || !isfinite(set->grid[i]))
            return mfpg_fail(ctx, MFPG_ERR_DOMAIN,
                "action %td of the grid is %s; it must be a finite number above 0", i,
                mfpg_number_format(set->grid[i], text));
        if (i > 0 && !(set->grid[i] > set->grid[i - 1]))
            return mfpg_fail(ctx, MFPG_ERR_INPUT,
                "the grid of actions must ascend without repeats, but %s follows %s (actions %td and %td)",
                mfpg_number_format(set->grid[i], text), mfpg_number_format(set->grid[i - 1], before), i - 1,
                i);
    }
    return MFPG_OK;
}

static mfpg_status check_interval(mfpg_context *ctx, const mfpg_action_set *set) {
    char low[MFPG_NUMBER_SIZE], high[MFPG_NUMBER_SIZE];
    mfpg_number_format(set->low, low);
    mfpg_number_format(set->high, high);
    if (!(set->low >= 0.0) || !isfinite(set->low))
        return mfpg_fail(
            ctx, MFPG_ERR_DOMAIN, "the smallest action is %s; it must be a finite number, 0 or more", low);
    if (!(set->high > 0.0))
        return mfpg_fail(ctx, MFPG_ERR_DOMAIN, "the largest action is %s; it must be above 0", high);
    if (set->low > set->high)
        return mfpg_fail(ctx, MFPG_ERR_INPUT, "the smallest action %s lies above the largest, %s", low, high);
    return MFPG_OK;
}

static mfpg_status check_common(mfpg_context *ctx, const mfpg_game *game) {
    if (game->clients < 1)
        return mfpg_fail(ctx, MFPG_ERR_DOMAIN, "a game needs at least 1 client, not %td", game->clients);
    mfpg_status status = mfpg_check_clients(ctx, "preference", game->preference, game->clients);
    if (!status) status = check_weights(ctx, game);
    if (status) return status;
    return game->actions.grid ? check_grid(ctx, &game->actions) : check_interval(ctx, &game->actions);
}

enum { SAMPLES = 9 }; /* of an interval; the shapes are powers, so a few show their direction */

/* Action i of count, ascending: the grid itself, or equal ratios across the interval, six decades where it is open. */
static double sample(const mfpg_action_set *set, ptrdiff_t i) {
    if (set->grid) return set->grid[i];
    double low = set->low > 0.0 ? set->low : isfinite(set->high) ? set->high * 1e-6 : 1e-3;
    double high = isfinite(set->high) ? set->high : low * 1e6;
    return low * pow(high / low, (double)i / (SAMPLES - 1));
}

static mfpg_status refuse_range(mfpg_context *ctx, const char *what, double action) {
    char text[MFPG_NUMBER_SIZE];
    return mfpg_fail(ctx, MFPG_ERR_DOMAIN,
        "the %s of action %s leaves the range of numbers; leave the action out or rescale", what,
        mfpg_number_format(action, text));
}

/* An infinite cost times a scale of 0 would be no number. On an interval ends of infinite cost are never chosen. */
static mfpg_status check_range(mfpg_context *ctx, const mfpg_play *play) {
    const mfpg_action_set *set = &play->game->actions;
    for (ptrdiff_t i = 0; set->grid && play->cost->consistent && i < set->count; i++) {
        if (!isfinite(play->cost->utility(play, set->grid[i])))
            return refuse_range(ctx, "utility loss", set->grid[i]);
        if (!isfinite(play->cost->privacy(play, set->grid[i])))
            return refuse_range(ctx, "privacy cost", set->grid[i]);
    }
    return MFPG_OK;
}

mfpg_status mfpg_check_directions(mfpg_context *ctx, const mfpg_play *play) {
    const mfpg_cost_ops *cost = play->cost;
    const mfpg_action_set *set = &play->game->actions;
    ptrdiff_t count = set->grid ? set->count : SAMPLES;
    int more_is_noisier = cost->control == MFPG_CONTROL_STRENGTH;
    if (!cost->consistent) return MFPG_OK;
    for (ptrdiff_t i = 0; i + 1 < count; i++) {
        double a = sample(set, i), b = sample(set, i + 1);
        double quiet = more_is_noisier ? a : b, noisy = more_is_noisier ? b : a;
        int close = !set->grid || b - a <= 0x1p-40 * b; /* rounding may hide the difference */
        double saved = cost->privacy(play, quiet) - cost->privacy(play, noisy);
        int utility =
            cost->utility(play, noisy) >= cost->utility(play, quiet); /* a measured one may stand still */
        if (utility && (saved > 0.0 || (close && !(saved < 0.0)))) continue;
        char from[MFPG_NUMBER_SIZE], to[MFPG_NUMBER_SIZE];
        return mfpg_fail(ctx, MFPG_ERR_INPUT,
            "cost %s is no privacy game: with more noise of its own a client must lose more utility and less "
            "privacy, but from action %s to the noisier %s the %s",
            cost->name, mfpg_number_format(quiet, from), mfpg_number_format(noisy, to),
            utility ? "privacy cost does not fall" : "utility loss falls");
    }
    return MFPG_OK;
}

typedef struct scale_check {
    const mfpg_play *play;
    atomic_ptrdiff_t
        bad; /* the first client whose scales are no use; the number of clients where there is none */
} scale_check;

static void check_chunk(void *arg, ptrdiff_t index, ptrdiff_t first, ptrdiff_t count) {
    scale_check *check = arg;
    const double none[MFPG_BLOCK] = {0};
    double u[MFPG_BLOCK], v[MFPG_BLOCK];
    (void)index;
    for (ptrdiff_t k = first; k < first + count; k += MFPG_BLOCK) {
        ptrdiff_t n = first + count - k < MFPG_BLOCK ? first + count - k : MFPG_BLOCK;
        check->play->cost->scales(check->play, k, n, none, u, v);
        for (ptrdiff_t i = 0; i < n; i++) {
            if (u[i] >= 0.0 && v[i] > 0.0 && isfinite(u[i]) && isfinite(v[i])) continue;
            ptrdiff_t known = atomic_load(&check->bad);
            while (k + i < known && !atomic_compare_exchange_weak(&check->bad, &known, k + i)) continue;
            return;
        }
    }
}

/* The shapes' directions are each client's as long as its scales are positive numbers, after rounding too. */
static mfpg_status check_scales(mfpg_context *ctx, const mfpg_play *play) {
    scale_check check = {.play = play, .bad = play->game->clients};
    if (!play->cost->consistent) return MFPG_OK;
    mfpg_chunks_run(ctx, play->game->clients, check_chunk, &check);
    ptrdiff_t bad = atomic_load(&check.bad);
    if (bad == play->game->clients) return MFPG_OK;
    return mfpg_fail(ctx, MFPG_ERR_DOMAIN,
        "the costs of client %td leave the range of numbers: what its noise or its privacy costs it rounds "
        "to 0 "
        "or to infinity; rescale the game",
        bad);
}

static mfpg_status tabulate(mfpg_context *ctx, mfpg_play *play) {
    const mfpg_action_set *set = &play->game->actions;
    if (!set->grid) return MFPG_OK;
    play->utility = mfpg_alloc(set->count, sizeof *play->utility);
    play->privacy = mfpg_alloc(set->count, sizeof *play->privacy);
    if (!play->utility || !play->privacy) return mfpg_fail_memory(ctx);
    for (ptrdiff_t i = 0; i < set->count; i++) {
        play->utility[i] = play->cost->utility(play, set->grid[i]);
        play->privacy[i] = play->cost->privacy(play, set->grid[i]);
    }
    return mfpg_switches_create(
        ctx, play->cost->control, set->count, set->grid, play->utility, play->privacy, &play->switches);
}

static mfpg_status check_price(mfpg_context *ctx, const mfpg_play *play) {
    const mfpg_game *game = play->game;
    if (game->price && !play->cost->takes_price)
        return mfpg_fail(ctx, MFPG_ERR_INPUT, "cost %s takes no price", play->cost->name);
    return mfpg_check_optional(ctx, "price", game->price, game->clients);
}

mfpg_status mfpg_play_prepare(mfpg_context *ctx, const mfpg_game *game, int limit, mfpg_play *out) {
    mfpg_play play = {.game = game, .limit = limit};
    mfpg_status status = find_cost(ctx, game->cost, &play.cost);
    if (!status) status = check_common(ctx, game);
    if (!status) status = check_price(ctx, &play);
    if (!status) status = mfpg_chunks_init(ctx, game->clients, &play.chunks);
    if (!status) status = play.cost->validate(ctx, &play);
    if (!status) status = mfpg_check_directions(ctx, &play);
    if (!status) status = check_range(ctx, &play);
    if (!status) status = check_scales(ctx, &play);
    if (!status) status = tabulate(ctx, &play);
    if (status)
        mfpg_play_release(&play);
    else
        *out = play;
    return status;
}

void mfpg_play_release(mfpg_play *play) {
    free(play->utility);
    free(play->privacy);
    mfpg_switches_destroy(play->switches);
    mfpg_chunks_clear(&play->chunks);
}
