/* How the equilibrium of N players approaches that of the limit (theory S3.3, S3.5; transport_and_pde 4b). */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "mfpg/random.h"
#include "convergence.h"

/* The limit's answers to the types of a rung use at least this share of the law's own types. */
enum { POLICY_SHARE = 16 };

enum { EVEN_MEAN, EVEN_LARGEST, EXPLOIT_MEAN, EXPLOIT_MAX, PLAYERS, SAMPLING, WHOLE, LINES };

static const mfpg_line_plan plans[LINES] = {
    [EVEN_MEAN] = {"even-mean", "evenly spaced types: |Nash_N - mean field|, mean action", -1.0, 0.1, 0},
    [EVEN_LARGEST] = {"even-largest", "evenly spaced types: the same, of the client that differs most", -1.0,
        0.1, 0},
    [EXPLOIT_MEAN] = {"exploit-mean", "mean-field answers played by N: a client's gain by deviating, mean",
        -2.0, 0.2, 0},
    [EXPLOIT_MAX] = {"exploit-max", "mean-field answers played by N: the same, the largest", -2.0, 0.2, 0},
    [PLAYERS] = {"random-players", "random types: |Nash_N - mean field of the same types|", -1.0, 0.1, 1},
    [SAMPLING] = {"random-sampling", "random types: |their mean field - the law's|", -0.5, 0.1, 1},
    [WHOLE] = {"random-whole", "random types: |Nash_N - the law's mean field|", -0.5, 0.1, 1},
};

mfpg_limit_options mfpg_limit_options_default(void) {
    static const ptrdiff_t ladder[] = {16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192, 16384};
    return (mfpg_limit_options){.types = {.spread = MFPG_SPREAD_UNIFORM, .first = 0.025, .second = 0.075},
        .population = ladder,
        .rungs = sizeof ladder / sizeof ladder[0],
        .repeats = 200,
        .seed = 1,
        .law_types = 1 << 18};
}

/* ---- what is allowed ---- */

static mfpg_status check_law(mfpg_context *ctx, const mfpg_population *law) {
    if (law->spread == MFPG_SPREAD_ALIKE || law->spread == MFPG_SPREAD_LIST)
        return mfpg_fail(ctx, MFPG_ERR_INPUT,
            "types: the limit needs a law of preferences, from which any number of clients can be drawn; "
            "allowed: uniform:LOW:HIGH or lognormal:MEDIAN:SD");
    double low = mfpg_population_quantile(law, 0.25), high = mfpg_population_quantile(law, 0.75);
    if (low > 0.0 && high > low && isfinite(high)) return MFPG_OK;
    return mfpg_fail(ctx, MFPG_ERR_DOMAIN,
        "types: the law of preferences must have a spread and lie in the positive numbers");
}

static mfpg_status check(mfpg_context *ctx, const mfpg_game *game, const mfpg_limit_options *options) {
    mfpg_status status = mfpg_check_ladder(ctx, options->population, options->rungs, options->repeats);
    if (!status) status = check_law(ctx, &options->types);
    if (status) return status;
    if (options->law_types < 1024 || options->law_types > 1 << 24)
        return mfpg_fail(ctx, MFPG_ERR_DOMAIN, "types of the law: found %td; allowed: from 1024 to %d",
            options->law_types, 1 << 24);
    if (game->cost && mfpg_cost_measures(game->cost))
        return mfpg_fail(ctx, MFPG_ERR_INPUT,
            "cost %s couples no clients: what one does moves no other and its own weight in the average "
            "counts for nothing, so N players do what the limit does and there is nothing to converge; "
            "allowed: entropic, gaussian, interaction",
            game->cost);
    if (game->actions.grid)
        return mfpg_fail(ctx, MFPG_ERR_INPUT,
            "actions: on a grid the mean moves in steps of one client's jump over N, and is exact or off by "
            "chance; the study of the limit needs an interval");
    if (game->weight || game->noise_unit || game->privacy_scale || game->own_cost || game->strength_unit ||
        game->price)
        return mfpg_fail(ctx, MFPG_ERR_INPUT,
            "clients: the study of the limit is of clients with equal weights, alike in all but their "
            "preference");
    return MFPG_OK;
}

/* ---- the law's equilibrium ---- */

/* Returns the game of so many clients with those preferences and otherwise equal numbers. No study needs the
 * optimum. */
static mfpg_game game_of(
    const mfpg_game *alike, mfpg_players players, const double *preference, ptrdiff_t clients) {
    mfpg_game game = *alike;
    game.players = players;
    game.preference = preference;
    game.clients = clients;
    game.skip_optimum = 1;
    return game;
}

/* The law's mid-quantiles. */
static void space_evenly(const mfpg_population *law, ptrdiff_t clients, double *preference) {
    for (ptrdiff_t k = 0; k < clients; k++)
        preference[k] = mfpg_population_quantile(law, ((double)k + 0.5) / (double)clients);
}

/* Computes the limit's equilibrium for `types` mid-quantiles of the law. */
static mfpg_status solve_law(mfpg_context *ctx, const mfpg_game *alike, const mfpg_population *law,
    ptrdiff_t types, mfpg_equilibrium *out) {
    double *preference = reproduction_alloc(types, sizeof *preference);
    if (!preference) return mfpg_fail_memory(ctx);
    space_evenly(law, types, preference);
    mfpg_game game = game_of(alike, MFPG_PLAYERS_MEAN_FIELD, preference, types);
    mfpg_status status = mfpg_game_solve(ctx, &game, out);
    free(preference);
    return status;
}

/* Estimates the remaining error if doubling the types changed the result by `before`, and doubling again by
 * `last`: twice the rest of the geometric series that these changes begin, because it is only an estimate.
 * Laws with long tails converge slowly, and a series that does not decrease gives no estimate. */
static double remaining_error(double before, double last, double rounding) {
    if (last <= rounding) return last + rounding;
    double ratio = last / before;
    return ratio < 1.0 ? 2.0 * last * fmax(1.0, ratio / (1.0 - ratio)) + rounding : (double)INFINITY;
}

/* The mean action of the law's limit, and its accuracy. */
static mfpg_status find_limit(
    mfpg_context *ctx, const mfpg_game *game, const mfpg_limit_options *options, mfpg_convergence *out) {
    double mean[3];
    for (int i = 0; i < 3; i++) {
        mfpg_equilibrium solved = {0};
        mfpg_status status = solve_law(ctx, game, &options->types, options->law_types >> (2 - i), &solved);
        mean[i] = solved.mean_action;
        mfpg_equilibrium_clear(&solved);
        if (status) return status;
    }
    out->limit = mean[2];
    out->limit_error =
        remaining_error(fabs(mean[1] - mean[0]), fabs(mean[2] - mean[1]), 0x1p-40 * fabs(mean[2]));
    return MFPG_OK;
}

/* ---- evenly spaced types ---- */

typedef struct limit_study {
    const mfpg_game *game;
    const mfpg_limit_options *options;
    mfpg_convergence *out;
    double *gap[LINES]; /* rungs x repeats each; only the random lines have more than one repeat */
} limit_study;

/* Computes the limit's answer to each of the N mid-quantiles. These are among the mid-quantiles of an odd
 * multiple of N: number k of N is number r k + (r - 1)/2 of r N. */
static mfpg_status find_policy(
    mfpg_context *ctx, const limit_study *study, ptrdiff_t clients, double *policy) {
    ptrdiff_t multiple = study->options->law_types / POLICY_SHARE / clients | 1;
    mfpg_equilibrium law = {0};
    mfpg_status status = solve_law(ctx, study->game, &study->options->types, multiple * clients, &law);
    for (ptrdiff_t k = 0; k < clients && !status; k++)
        policy[k] = law.action[multiple * k + (multiple - 1) / 2];
    mfpg_equilibrium_clear(&law);
    return status;
}

static double largest_difference(const double *x, const double *y, ptrdiff_t count) {
    double largest = 0.0;
    for (ptrdiff_t k = 0; k < count; k++) largest = fmax(largest, fabs(x[k] - y[k]));
    return largest;
}

/* If gains are as small as the rounding of the costs from which they are computed, they cannot be fitted. */
static double above_rounding(double gain, double cost) {
    return gain > 0x1p-42 * fabs(cost) ? gain : (double)NAN;
}

static mfpg_status study_even(mfpg_context *ctx, const limit_study *study, ptrdiff_t rung) {
    mfpg_convergence *out = study->out;
    ptrdiff_t clients = out->population[rung];
    mfpg_equilibrium nash = {0};
    double max = 0.0, mean = 0.0;
    double *block = reproduction_alloc(2 * clients, sizeof *block);
    if (!block) return mfpg_fail_memory(ctx);
    double *policy = block, *preference = block + clients;
    space_evenly(&study->options->types, clients, preference);
    mfpg_game game = game_of(study->game, MFPG_PLAYERS_FINITE, preference, clients);
    mfpg_status status = find_policy(ctx, study, clients, policy);
    if (!status) status = mfpg_game_solve(ctx, &game, &nash);
    if (!status) status = mfpg_game_exploitability(ctx, &game, policy, &max, &mean);
    if (!status) {
        double cost = nash.cost / (double)clients;
        out->line[EVEN_MEAN].value[rung] = fabs(nash.mean_action - out->limit);
        out->line[EVEN_LARGEST].value[rung] = largest_difference(nash.action, policy, clients);
        out->line[EXPLOIT_MEAN].value[rung] = above_rounding(mean, cost);
        out->line[EXPLOIT_MAX].value[rung] = above_rounding(max, cost);
    }
    mfpg_equilibrium_clear(&nash);
    free(block);
    return status;
}

/* ---- random types ---- */

static mfpg_status solve_mean(mfpg_context *ctx, const mfpg_game *game, double *mean) {
    mfpg_equilibrium solved;
    mfpg_status status = mfpg_game_solve(ctx, game, &solved);
    *mean = solved.mean_action;
    mfpg_equilibrium_clear(&solved);
    return status;
}

static void draw_types(
    const mfpg_limit_options *options, ptrdiff_t clients, ptrdiff_t repeat, double *preference) {
    mfpg_key key = mfpg_key_from_seed(options->seed);
    mfpg_stream stream = mfpg_stream_open(&key, MFPG_PURPOSE_TEST, (uint64_t)clients, (uint64_t)repeat);
    mfpg_stream_uniform(&stream, 0, clients, preference);
    for (ptrdiff_t k = 0; k < clients; k++)
        preference[k] = mfpg_population_quantile(&options->types, preference[k]);
}

static mfpg_status study_random(
    mfpg_context *ctx, const limit_study *study, ptrdiff_t rung, ptrdiff_t repeat) {
    const mfpg_convergence *out = study->out;
    ptrdiff_t clients = out->population[rung], slot = rung * study->options->repeats + repeat;
    double nash, field, *preference = reproduction_alloc(clients, sizeof *preference);
    if (!preference) return mfpg_fail_memory(ctx);
    draw_types(study->options, clients, repeat, preference);
    mfpg_game finite = game_of(study->game, MFPG_PLAYERS_FINITE, preference, clients);
    mfpg_game limit = game_of(study->game, MFPG_PLAYERS_MEAN_FIELD, preference, clients);
    mfpg_status status = solve_mean(ctx, &finite, &nash);
    if (!status) status = solve_mean(ctx, &limit, &field);
    if (!status) {
        study->gap[PLAYERS][slot] = nash - field;
        study->gap[SAMPLING][slot] = field - out->limit;
        study->gap[WHOLE][slot] = nash - out->limit;
    }
    free(preference);
    return status;
}

/* The largest populations first: they take longest. */
static mfpg_status study_one(mfpg_context *ctx, ptrdiff_t index, int worker, void *arg) {
    const limit_study *study = arg;
    ptrdiff_t each = study->options->repeats + 1, rung = study->out->rungs - 1 - index / each;
    (void)worker;
    if (index % each == 0) return study_even(ctx, study, rung);
    return study_random(ctx, study, rung, index % each - 1);
}

/* ---- slopes ---- */

/* From this rung on the sampling error is three times the players' weight, so that the sum of both has the
 * slope of sampling. */
static ptrdiff_t sampling_rules_from(const mfpg_convergence *out) {
    ptrdiff_t first = out->rungs;
    while (first > 0 && 3.0 * out->line[PLAYERS].value[first - 1] <= out->line[SAMPLING].value[first - 1])
        first--;
    return first;
}

static void summarise(const limit_study *study) {
    mfpg_convergence *out = study->out;
    ptrdiff_t repeats = study->options->repeats;
    for (int i = 0; i < LINES; i++)
        for (ptrdiff_t rung = 0; plans[i].random && rung < out->rungs; rung++)
            mfpg_root_mean_square(study->gap[i] + rung * repeats, repeats, &out->line[i].value[rung],
                &out->line[i].standard_error[rung]);
    out->line[WHOLE].first = sampling_rules_from(out);
    for (int i = 0; i < LINES; i++) {
        int against_law = i == EVEN_MEAN || i == SAMPLING || i == WHOLE;
        if (against_law) out->line[i].floor = 10.0 * out->limit_error;
        mfpg_fit_line(out, i);
    }
}

mfpg_status mfpg_study_limit(
    mfpg_context *ctx, const mfpg_game *game, const mfpg_limit_options *options, mfpg_convergence *out) {
    mfpg_limit_options usual = mfpg_limit_options_default();
    if (!options) options = &usual;
    mfpg_status status = check(ctx, game, options);
    if (status) return status;
    mfpg_convergence made = {0};
    limit_study study = {.game = game, .options = options, .out = &made};
    ptrdiff_t draws = options->rungs * options->repeats;
    status = mfpg_convergence_create(
        ctx, options->population, options->rungs, plans, LINES, options->repeats, &made);
    for (int i = 0; i < LINES && !status; i++) {
        if (!plans[i].random) continue;
        study.gap[i] = reproduction_alloc(draws, sizeof(double));
        if (!study.gap[i]) status = mfpg_fail_memory(ctx);
    }
    if (!status) status = find_limit(ctx, game, options, &made);
    if (!status) status = mfpg_tasks_run(ctx, draws + options->rungs, study_one, &study);
    if (!status) summarise(&study);
    for (int i = 0; i < LINES; i++) free(study.gap[i]);
    if (status)
        mfpg_convergence_clear(&made);
    else
        *out = made;
    return status;
}
