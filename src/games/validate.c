/* Turns a caller's game into one that can be played: every number is checked, and the tables are built. */
#include <math.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/names.h"
#include "base/number.h"
#include "cost.h"

/* Tolerance for the sum of weights: it allows the rounding of their decimal texts, but not a forgotten
 * client. */
static const double WEIGHT_TOLERANCE = 1e-9;

/* ---- the table of costs ---- */

static const void *const costs[] = {
#define ENTRY(name) &mfpg_cost_##name,
#include "costs.def"
#undef ENTRY
};
const mfpg_kinds mfpg_costs = MFPG_KINDS(costs);

static const mfpg_cost_ops *find_cost(const char *name) {
    return mfpg_kind_find(&mfpg_costs, name);
}

int mfpg_cost_measures(const char *cost) {
    const mfpg_cost_ops *ops = find_cost(cost);
    return ops ? ops->measures : 0;
}

mfpg_control mfpg_cost_control(const char *cost) {
    const mfpg_cost_ops *ops = find_cost(cost);
    return ops ? ops->control : MFPG_CONTROL_NONE;
}

int mfpg_cost_facts(const char *cost) {
    const mfpg_cost_ops *ops = find_cost(cost);
    return ops ? ops->facts | (ops->consistent ? 0 : MFPG_COST_INCONSISTENT) : 0;
}

/* ---- numbers ---- */

typedef enum number_kind { POSITIVE, NONNEGATIVE, FRACTION, FINITE, ONE_OR_TWO } number_kind;

static const char *const allowed[] = {
    "a finite number above 0", "a finite number, 0 or more", "in [0, 1]", "a finite number", "1 or 2"};

/* NaN is of no kind. */
static int is_allowed(number_kind kind, double x) {
    switch (kind) {
    case POSITIVE: return x > 0.0 && isfinite(x);
    case NONNEGATIVE: return x >= 0.0 && isfinite(x);
    case FRACTION: return x >= 0.0 && x <= 1.0;
    case ONE_OR_TWO: return x == 1.0 || x == 2.0;
    default: return isfinite(x);
    }
}

static mfpg_status check_number(mfpg_context *ctx, const char *what, double value, number_kind kind) {
    char text[MFPG_NUMBER_SIZE];
    if (is_allowed(kind, value)) return MFPG_OK;
    return mfpg_fail(ctx, MFPG_ERR_DOMAIN, "%s is %s; it must be %s", what, mfpg_number_format(value, text),
        allowed[kind]);
}

/* Checks one number for each client; NULL is allowed. */
static mfpg_status check_each(
    mfpg_context *ctx, const char *what, const double *values, ptrdiff_t clients, number_kind kind) {
    for (ptrdiff_t k = 0; values && k < clients; k++) {
        char text[MFPG_NUMBER_SIZE];
        if (!is_allowed(kind, values[k]))
            return mfpg_fail(ctx, MFPG_ERR_DOMAIN, "%s of client %td is %s; it must be %s", what, k,
                mfpg_number_format(values[k], text), allowed[kind]);
    }
    return MFPG_OK;
}

mfpg_status mfpg_check_clients(
    mfpg_context *ctx, const char *what, const double *values, double all, ptrdiff_t clients) {
    if (values) return check_each(ctx, what, values, clients, POSITIVE);
    if (isnan(all))
        return mfpg_fail(ctx, MFPG_ERR_INPUT, "%s is missing: a number for each client is needed", what);
    return check_number(ctx, what, all, POSITIVE);
}

/* Which numbers are checked: those of the costs whose facts have one of the bits. */
static const struct {
    const char *what;
    int facts;
    number_kind kind;
    size_t offset; /* offset in mfpg_game of a number or of an array of the clients */
} numbers[] =
    {
        {"curvature", MFPG_COST_READS_CURVATURE, POSITIVE, offsetof(mfpg_game, curvature)},
        {"dimension", MFPG_COST_READS_CURVATURE | MFPG_COST_READS_OFFSET, POSITIVE,
            offsetof(mfpg_game, dimension)},
        {"personalisation", MFPG_COST_READS_PERSONALISATION, FRACTION, offsetof(mfpg_game, personalisation)},
        {"prior variance", MFPG_COST_READS_OPTIMUM | MFPG_COST_READS_OFFSET, POSITIVE,
            offsetof(mfpg_game, prior_variance)},
        {"step", MFPG_COST_READS_OPTIMUM | MFPG_COST_READS_OFFSET, POSITIVE, offsetof(mfpg_game, step)},
        {"optimum norm2", MFPG_COST_READS_OPTIMUM, NONNEGATIVE, offsetof(mfpg_game, optimum_norm2)},
        {"privacy power", MFPG_COST_READS_PRIVACY_POWER, ONE_OR_TWO, offsetof(mfpg_game, privacy_power)},
        {"interaction", MFPG_COST_READS_INTERACTION, FINITE, offsetof(mfpg_game, interaction)},
        {"loss", MFPG_COST_READS_LOSS, NONNEGATIVE, offsetof(mfpg_game, loss)},
        {"offset", MFPG_COST_READS_OFFSET, NONNEGATIVE, offsetof(mfpg_game, offset)},
        {"gradient norm", MFPG_COST_READS_OFFSET, NONNEGATIVE, offsetof(mfpg_game, gradient_norm)},
        {"variance penalty", MFPG_COST_READS_OFFSET, NONNEGATIVE, offsetof(mfpg_game, variance_penalty)},
        {"rounds", MFPG_COST_READS_OFFSET, POSITIVE, offsetof(mfpg_game, rounds)},
},
  arrays[] = {
      {"unit of strength", MFPG_COST_READS_OPTIMUM | MFPG_COST_READS_LOSS, POSITIVE,
          offsetof(mfpg_game, strength_unit)},
      {"measured loss", MFPG_COST_READS_LOSS, NONNEGATIVE, offsetof(mfpg_game, measured_loss)},
      {"measured gradient norm", MFPG_COST_READS_OFFSET, NONNEGATIVE, offsetof(mfpg_game, measured_gradient)},
};

static mfpg_status check_numbers(mfpg_context *ctx, const mfpg_play *play) {
    const mfpg_game *game = play->game;
    int facts = play->cost->facts;
    mfpg_status status = MFPG_OK;
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers && !status; i++)
        if (facts & numbers[i].facts)
            status = check_number(ctx, numbers[i].what,
                *(const double *)((const char *)game + numbers[i].offset), numbers[i].kind);
    if (!status && (facts & MFPG_COST_READS_PRIVACY_SCALE))
        status = mfpg_check_clients(
            ctx, "privacy scale", game->privacy_scale, game->privacy_scale_all, game->clients);
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays && !status; i++)
        if (facts & arrays[i].facts)
            status = check_each(ctx, arrays[i].what,
                *(const double *const *)(const void *)((const char *)game + arrays[i].offset), game->clients,
                arrays[i].kind);
    return status;
}

static mfpg_status check_weights(mfpg_context *ctx, const mfpg_game *game) {
    char text[MFPG_NUMBER_SIZE];
    mfpg_compensated total = {0};
    if (!game->weight) return MFPG_OK;
    mfpg_status status = check_each(ctx, "weight", game->weight, game->clients, NONNEGATIVE);
    if (status) return status;
    for (ptrdiff_t k = 0; k < game->clients; k++) mfpg_compensated_add(&total, game->weight[k]);
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
    mfpg_status status = check_number(ctx, "the smallest action", set->low, NONNEGATIVE);
    if (status) return status;
    mfpg_number_format(set->low, low);
    mfpg_number_format(set->high, high);
    if (!(set->high > 0.0))
        return mfpg_fail(ctx, MFPG_ERR_DOMAIN, "the largest action is %s; it must be above 0", high);
    if (set->low > set->high)
        return mfpg_fail(ctx, MFPG_ERR_INPUT, "the smallest action %s is above the largest, %s", low, high);
    return MFPG_OK;
}

/* number of samples of an interval; the shapes are powers, so a few samples show their direction */
enum { SAMPLES = 9 };

/* Returns action i of count, ascending: the grid itself, or equal ratios across the interval, over six
 * decades if it is open. */
static double sample(const mfpg_action_set *set, ptrdiff_t i) {
    if (set->grid) return set->grid[i];
    double low = set->low > 0.0 ? set->low : isfinite(set->high) ? set->high * 1e-6 : 1e-3;
    double high = isfinite(set->high) ? set->high : low * 1e6;
    return low * pow(high / low, (double)i / (SAMPLES - 1));
}

/* An infinite cost times a scale of 0 would not be a number. On an interval, ends of infinite cost are never
 * chosen. */
static mfpg_status check_range(mfpg_context *ctx, const mfpg_play *play) {
    const mfpg_action_set *set = &play->game->actions;
    char text[MFPG_NUMBER_SIZE];
    for (ptrdiff_t i = 0; set->grid && play->cost->consistent && i < set->count; i++) {
        int utility = isfinite(play->cost->utility(play, set->grid[i]));
        if (utility && isfinite(play->cost->privacy(play, set->grid[i]))) continue;
        return mfpg_fail(ctx, MFPG_ERR_DOMAIN,
            "the %s of action %s leaves the range of numbers; leave the action out or rescale",
            utility ? "privacy cost" : "utility loss", mfpg_number_format(set->grid[i], text));
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
            cost->utility(play, noisy) >= cost->utility(play, quiet); /* a measured one may stay the same */
        if (utility && (saved > 0.0 || (close && !(saved < 0.0)))) continue;
        char from[MFPG_NUMBER_SIZE], to[MFPG_NUMBER_SIZE];
        return mfpg_fail(ctx, MFPG_ERR_INPUT,
            "cost %s is not a privacy game: with more noise of its own a client must lose more utility and "
            "less "
            "privacy, but from action %s to the noisier %s the %s",
            cost->name, mfpg_number_format(quiet, from), mfpg_number_format(noisy, to),
            utility ? "privacy cost does not fall" : "utility loss falls");
    }
    return MFPG_OK;
}

typedef struct scale_check {
    const mfpg_play *play;
    /* the first client with unusable scales; the number of clients if there is none */
    atomic_ptrdiff_t bad;
} scale_check;

static void check_block(void *arg, ptrdiff_t chunk, ptrdiff_t first, ptrdiff_t count) {
    scale_check *check = arg;
    const double none[MFPG_BLOCK] = {0};
    double u[MFPG_BLOCK], v[MFPG_BLOCK];
    (void)chunk;
    check->play->cost->scales(check->play, first, count, none, u, v);
    for (ptrdiff_t i = 0; i < count; i++) {
        if (u[i] >= 0.0 && v[i] > 0.0 && isfinite(u[i]) && isfinite(v[i])) continue;
        ptrdiff_t known = atomic_load(&check->bad);
        while (first + i < known && !atomic_compare_exchange_weak(&check->bad, &known, first + i)) continue;
        return;
    }
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
    return mfpg_thresholds_create(
        ctx, play->cost->control, set->count, set->grid, play->utility, play->privacy, &play->thresholds);
}

mfpg_status mfpg_play_prepare(mfpg_context *ctx, const mfpg_game *game, int limit, mfpg_play *out) {
    mfpg_play play = {.game = game, .limit = limit, .cost = find_cost(game->cost)};
    if (!game->cost) return mfpg_fail(ctx, MFPG_ERR_INPUT, "the game names no cost");
    if (!play.cost) return mfpg_kind_unknown(ctx, "cost", game->cost, &mfpg_costs, NULL);
    if (game->clients < 1)
        return mfpg_fail(ctx, MFPG_ERR_DOMAIN, "a game needs at least 1 client, not %td", game->clients);
    mfpg_status status = mfpg_check_clients(ctx, "preference", game->preference, (double)NAN, game->clients);
    if (!status) status = check_weights(ctx, game);
    if (!status)
        status = game->actions.grid ? check_grid(ctx, &game->actions) : check_interval(ctx, &game->actions);
    if (!status && game->price && !play.cost->takes_price)
        status = mfpg_fail(ctx, MFPG_ERR_INPUT, "cost %s takes no price", play.cost->name);
    if (!status) status = check_each(ctx, "price", game->price, game->clients, NONNEGATIVE);
    if (!status) status = check_numbers(ctx, &play);
    if (!status) status = mfpg_chunks_init(ctx, game->clients, &play.chunks);
    if (!status && play.cost->validate) status = play.cost->validate(ctx, &play);
    if (!status) status = mfpg_check_directions(ctx, &play);
    if (!status) status = check_range(ctx, &play);
    /* The shapes' directions apply to each client if its scales are positive, also after rounding. */
    scale_check check = {.play = &play, .bad = game->clients};
    if (!status && play.cost->consistent) mfpg_blocks_run(&play.chunks, check_block, &check);
    ptrdiff_t bad = atomic_load(&check.bad);
    if (!status && bad < game->clients)
        status = mfpg_fail(ctx, MFPG_ERR_DOMAIN,
            "the costs of client %td leave the range of numbers: what its noise or its privacy costs it "
            "rounds to 0 or to infinity; rescale the game",
            bad);
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
    mfpg_thresholds_destroy(play->thresholds);
    mfpg_chunks_clear(&play->chunks);
}
