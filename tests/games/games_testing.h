/* What the tests of games share: builders, the costs of theory S3 written a second time straight from the formulas (the
 * independent route), searches over deviations, and random games. */
#ifndef MFPG_GAMES_TESTING_H
#define MFPG_GAMES_TESTING_H

#include "testing.h"

#include "games/game_internal.h"

enum { MOST = 128 }; /* clients of a test game */

static const double PAPER_GRID[5] = {0.1, 0.3, 0.5, 1.0, 2.0};

static inline mfpg_action_set grid_of(const double *grid, ptrdiff_t count) {
    return (mfpg_action_set){.grid = grid, .count = count};
}

static inline mfpg_action_set interval_of(double low, double high) {
    return (mfpg_action_set){.low = low, .high = high};
}

/* N evenly spaced values, both ends included. */
static inline void linspace(double low, double high, ptrdiff_t count, double *out) {
    for (ptrdiff_t k = 0; k < count; k++)
        out[k] = count == 1 ? low : low + (high - low) * (double)k / (double)(count - 1);
}

static inline void fill(double value, ptrdiff_t count, double *out) {
    for (ptrdiff_t k = 0; k < count; k++) out[k] = value;
}

/* splitmix64: the tests' own random numbers. */
static inline double uniform(uint64_t *state) {
    uint64_t z = (*state += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return (double)((z ^ (z >> 31)) >> 11) * 0x1p-53;
}

static inline double between(uint64_t *state, double low, double high) {
    return low * pow(high / low, uniform(state)); /* equal ratios */
}

static inline ptrdiff_t below(uint64_t *state, ptrdiff_t count) {
    return (ptrdiff_t)(uniform(state) * (double)count);
}

/* f of S3.3 from the law itself: the fixed point of the mean and variance recursions. */
static inline double reference_excess(const mfpg_game *g, double ebar, double variance_share) {
    double kap = ebar / g->prior_variance, x = g->curvature + kap, rho = 1.0 - g->step * x;
    if (!(fabs(rho) < 1.0)) return INFINITY;
    double mean_ratio = g->step * g->curvature / (1.0 - rho);
    double variance = 2.0 * g->step * ebar * variance_share / (1.0 - rho * rho);
    return 0.5 * g->curvature *
           (g->optimum_norm2 * (1.0 - mean_ratio) * (1.0 - mean_ratio) + g->dimension * variance);
}

static inline double reference_weight(const mfpg_game *g, ptrdiff_t k) {
    return g->weight ? g->weight[k] : 1.0 / (double)g->clients;
}

/* A loss table by a plain search, linear between two actions of the grid that it covers. */
static inline double reference_table(const mfpg_game *g, double own) {
    ptrdiff_t j = 0;
    while (j + 1 < g->actions.count && g->actions.grid[j + 1] < own) j++;
    if (own == g->actions.grid[j] || j + 1 == g->actions.count) return g->loss_table[j];
    double part = (own - g->actions.grid[j]) / (g->actions.grid[j + 1] - g->actions.grid[j]);
    return (1 - part) * g->loss_table[j] + part * g->loss_table[j + 1];
}

/* L e + beta B/e with the public loss, or by a table. */
static inline double reference_measured_cost(const mfpg_game *g, ptrdiff_t k, double own) {
    if (!strcmp(g->cost, "measured-budget"))
        return reference_table(g, own) + g->preference[k] * pow(own, g->privacy_power) / g->privacy_power;
    double loss = g->loss_table ? reference_table(g, own) : g->loss * own;
    return loss + g->preference[k] * g->privacy_scale[k] / own;
}

/* Eq. (br) with eq. (dpbound). */
static inline double reference_paper_cost(const mfpg_game *g, ptrdiff_t k, double own) {
    double rate = own / g->prior_variance - g->variance_penalty - g->gradient_norm;
    return g->loss / (own + g->offset) + g->preference[k] * fmin(sqrt(g->dimension), 10) /
                                             sqrt((double)g->clients) * exp(-rate * g->rounds * g->step / 2);
}

/* U_k of N players at the profile x with client k playing own. */
static inline double reference_cost(const mfpg_game *g, const double *x, ptrdiff_t k, double own) {
    double sum = 0.0, n = (double)g->clients;
    if (!strcmp(g->cost, "gaussian")) {
        double a = g->curvature * g->dimension / 2, omega = g->personalisation;
        for (ptrdiff_t j = 0; j < g->clients; j++) {
            double p = reference_weight(g, j), b = j == k ? own : x[j], sd = g->noise_unit[j] / b;
            double reach = j == k ? omega + (1 - omega) * p : (1 - omega) * p;
            sum += a * reach * reach * sd * sd;
        }
        return sum + g->preference[k] * pow(own, g->privacy_power) / g->privacy_power;
    }
    for (ptrdiff_t j = 0; j < g->clients; j++) sum += j == k ? 0.0 : x[j];
    if (!strcmp(g->cost, "entropic"))
        return reference_excess(g, (sum + own) / n, 1.0 / n) + g->own_cost[k] * own +
               g->preference[k] * g->privacy_scale[k] / own;
    if (!strcmp(g->cost, "interaction"))
        return g->own_cost[k] * own * (1 + g->interaction * sum / n) +
               g->preference[k] * g->privacy_scale[k] / own;
    return strncmp(g->cost, "measured", 8) ? reference_paper_cost(g, k, own)
                                           : reference_measured_cost(g, k, own);
}

/* U_k of the limit where the mean field is s. */
static inline double reference_limit_cost(const mfpg_game *g, double s, ptrdiff_t k, double own) {
    if (!strcmp(g->cost, "gaussian")) {
        double spread = g->personalisation * g->noise_unit[k] / own;
        return g->curvature * g->dimension / 2 * spread * spread +
               g->preference[k] * pow(own, g->privacy_power) / g->privacy_power;
    }
    if (!strcmp(g->cost, "entropic"))
        return reference_excess(g, s, 0.0) + g->own_cost[k] * own +
               g->preference[k] * g->privacy_scale[k] / own;
    if (!strcmp(g->cost, "interaction"))
        return g->own_cost[k] * own * (1 + g->interaction * s) + g->preference[k] * g->privacy_scale[k] / own;
    return strncmp(g->cost, "measured", 8) ? reference_paper_cost(g, k, own)
                                           : reference_measured_cost(g, k, own);
}

typedef double (*cost_of_action)(const void *arg, double x);

/* Smallest value of a function over a fine grid of equal ratios on [low, high], refined by golden section. */
static inline double search_minimum(cost_of_action f, const void *arg, double low, double high, double *at) {
    enum { POINTS = 200 };
    double ratio = pow(high / low, 1.0 / POINTS), best = INFINITY, where = low;
    for (int i = 0; i <= POINTS; i++) {
        double x = low * pow(ratio, i), value = f(arg, x);
        if (value < best) best = value, where = x;
    }
    const double golden = 0.6180339887498949;
    double a = fmax(low, where / ratio), b = fmin(high, where * ratio);
    for (int i = 0; i < 90 && b > a; i++) {
        double c = b - golden * (b - a), d = a + golden * (b - a);
        if (f(arg, c) <= f(arg, d))
            b = d;
        else
            a = c;
    }
    double middle = f(arg, (a + b) / 2);
    if (middle < best) best = middle, where = (a + b) / 2;
    if (at) *at = where;
    return best;
}

/* Whom a search moves. */
typedef struct deviation {
    const mfpg_game *game;
    const double *profile;
    double mean_field;
    ptrdiff_t client;
} deviation;

static inline double deviation_cost(const void *arg, double x) {
    const deviation *d = arg;
    return d->game->players == MFPG_PLAYERS_MEAN_FIELD
               ? reference_limit_cost(d->game, d->mean_field, d->client, x)
               : reference_cost(d->game, d->profile, d->client, x);
}

/* Lowest cost of client k over the game's actions: every grid point, or the search on the interval (a factor 1e4 around
 * the played action where it is open). */
static inline double lowest_by_deviating(const deviation *d) {
    const mfpg_action_set *set = &d->game->actions;
    double played = d->profile[d->client], best = INFINITY;
    if (!set->grid) {
        double low = set->low > 0 ? set->low : fmin(played * 1e-4, set->high);
        return search_minimum(deviation_cost, d, low, isfinite(set->high) ? set->high : played * 1e4, NULL);
    }
    for (ptrdiff_t j = 0; j < set->count; j++) best = fmin(best, deviation_cost(d, set->grid[j]));
    return best;
}

/* No client gains by any deviation that the search finds. The reference and the library sum in different orders, so
 * costs agree to a few roundings: 1e-12 of the cost. */
static inline void check_no_gain(const mfpg_game *game, const double *profile, double mean_field) {
    for (ptrdiff_t k = 0; k < game->clients; k++) {
        deviation d = {.game = game, .profile = profile, .mean_field = mean_field, .client = k};
        double cost = deviation_cost(&d, profile[k]), best = lowest_by_deviating(&d);
        if (cost <= best + 1e-12 * fabs(best)) continue;
        print_error("%s: client %td pays %.17g at %.17g and could pay %.17g\n", game->cost, k, cost,
            profile[k], best);
        fail();
    }
}

/* Solves or fails the test. */
static inline mfpg_equilibrium solved(mfpg_context *ctx, const mfpg_game *game) {
    mfpg_equilibrium out;
    CHECK_OK(ctx, mfpg_game_solve(ctx, game, &out));
    return out;
}

/* A random game and the arrays it borrows. */
typedef struct random_game {
    mfpg_game game;
    double preference[MOST], weight[MOST], noise_unit[MOST], privacy_scale[MOST], own_cost[MOST], grid[16];
    double loss_table[16];
} random_game;

/* A table for the grid: rising with a strength, falling with a budget, now and then flat. */
static inline void draw_loss_table(uint64_t *state, mfpg_control control, random_game *out) {
    ptrdiff_t count = out->game.actions.count;
    double loss = uniform(state) - 0.5;
    for (ptrdiff_t j = 0; j < count; j++) {
        out->loss_table[control == MFPG_CONTROL_STRENGTH ? j : count - 1 - j] = loss;
        if (below(state, 5)) loss += between(state, 1e-3, 1);
    }
    out->game.loss_table = out->loss_table;
}

/* shape 0: a grid; 1: a bounded interval; 2: every positive number. Strengths keep the model stable. */
static inline void draw_game(
    uint64_t *state, const char *cost, mfpg_players players, int shape, random_game *out) {
    out->game = mfpg_game_default();
    mfpg_game *g = &out->game;
    g->cost = cost;
    g->players = players;
    g->clients = 1 + below(state, 9);
    g->curvature = between(state, 0.1, 10);
    g->dimension = 1 + (double)below(state, 50);
    g->personalisation = 0.05 + 0.95 * uniform(state);
    g->privacy_power = 1 + (double)below(state, 2);
    g->prior_variance = between(state, 0.3, 10);
    g->step = between(state, 0.01, 0.1);
    g->optimum_norm2 = between(state, 0.1, 10);
    g->interaction = between(state, 0.01, 20);
    g->loss = uniform(state);
    g->gradient_norm = 2 * uniform(state);
    double sum = 0.0;
    for (ptrdiff_t k = 0; k < g->clients; k++) {
        out->preference[k] = between(state, 0.1, 10);
        out->noise_unit[k] = between(state, 0.01, 1);
        out->privacy_scale[k] = between(state, 0.05, 5);
        out->own_cost[k] = between(state, 0.05, 5);
        sum += out->weight[k] = 0.1 + uniform(state);
    }
    for (ptrdiff_t k = 0; k < g->clients; k++) out->weight[k] /= sum;
    g->preference = out->preference;
    g->noise_unit = out->noise_unit;
    g->privacy_scale = out->privacy_scale;
    g->own_cost = out->own_cost;
    if (!strcmp(cost, "gaussian") && below(state, 2)) g->weight = out->weight;
    double low = between(state, 0.02, 0.5), high = low * between(state, 1.5, 20);
    if (shape == 2) return;
    g->actions = interval_of(low, high);
    if (shape == 1) return;
    ptrdiff_t count = 1 + below(state, 6);
    for (ptrdiff_t j = 0; j < count; j++)
        out->grid[j] = j == 0 ? low : out->grid[j - 1] * between(state, 1.1, 3);
    g->actions = grid_of(out->grid, count);
    if (!strcmp(cost, "measured-budget")) draw_loss_table(state, MFPG_CONTROL_BUDGET, out);
}

/* Shapes that a cost can be played in: cost paper has no answer on every positive number, a table needs a grid. */
static inline int playable(const char *cost, int shape) {
    return shape == 0 || (strcmp(cost, "measured-budget") != 0 && (shape == 1 || strcmp(cost, "paper") != 0));
}

/* Few profiles: no other is cheaper for all together. */
static inline void check_optimum(const mfpg_game *game, const mfpg_equilibrium *e) {
    double action[MOST], least = (double)INFINITY;
    ptrdiff_t m = game->actions.count, profiles = 1;
    for (ptrdiff_t k = 0; k < game->clients; k++) profiles *= m;
    assert_true(e->social_exact && profiles <= 100000);
    for (ptrdiff_t p = 0; p < profiles; p++) {
        double sum = 0;
        for (ptrdiff_t k = 0, rest = p; k < game->clients; k++, rest /= m)
            action[k] = game->actions.grid[rest % m];
        for (ptrdiff_t k = 0; k < game->clients; k++) sum += reference_cost(game, action, k, action[k]);
        least = fmin(least, sum);
    }
    check_near(e->social_cost, least, 1e-12, 1e-12, "least cost of all profiles");
}

static inline double ratio_of(const mfpg_game *g, ptrdiff_t k) {
    return g->preference[k] * g->privacy_scale[k] / g->own_cost[k];
}

/* The mean of all answers to s by enumeration or clamping, ties to the lower or to the upper action. */
static inline double averaged_response(const mfpg_game *g, double s, int upper) {
    double sum = 0, price = 1 + g->interaction * s;
    for (ptrdiff_t k = 0; k < g->clients; k++) {
        double ratio = ratio_of(g, k), best = INFINITY, at = 0;
        if (!g->actions.grid) {
            at = price > 0 ? sqrt(ratio / price) : (double)INFINITY;
            sum += fmin(fmax(at, g->actions.low), g->actions.high);
            continue;
        }
        for (ptrdiff_t j = 0; j < g->actions.count; j++) {
            double e = g->actions.grid[j], cost = e * price + ratio / e;
            if (cost < best || (upper && cost == best)) best = cost, at = e;
        }
        sum += at;
    }
    return sum / (double)g->clients;
}

/* The context of a program's tests: setup and teardown of their group. */
static __attribute__((unused)) mfpg_context *ctx;

static inline int setup(void **state) {
    (void)state;
    ctx = testing_context(2); /* two threads: no result depends on them */
    return 0;
}

static inline int teardown(void **state) {
    (void)state;
    mfpg_context_destroy(ctx);
    return 0;
}

#endif
