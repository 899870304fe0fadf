/* Turns the options of mfpg solve into a game. */
#include "mfpg/game_from_options.h"
#include "preference_file.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/names.h"
#include "base/number.h"
#include "games/game_internal.h"
#include "loss_table_file.h"
#include "mfpg/preference_law.h"

/* Number of clients that represent a mean field whose population is not given: enough quantiles for three
 * digits, and fast to solve. */
enum { STAND_INS = 1000 };

static int is_given(double value) {
    return !isnan(value);
}

static double or_else(double value, double fallback) {
    return isnan(value) ? fallback : value;
}

static int are_given(const mfpg_numbers *numbers) {
    return numbers->text || numbers->value;
}

static int has_fact(const mfpg_game *game, int fact) {
    return (mfpg_cost_facts(game->cost) & fact) != 0;
}

/* ---- cost and constants ---- */

static mfpg_status read_cost(mfpg_context *ctx, const mfpg_game_options *o, mfpg_game *game) {
    if (!o->cost) return mfpg_fail(ctx, MFPG_ERR_INPUT, "--cost: missing; mfpg list costs names all");
    for (ptrdiff_t i = 0; (game->cost = mfpg_kind_name(&mfpg_costs, i)); i++)
        if (strcmp(game->cost, o->cost) == 0) return MFPG_OK;
    return mfpg_fail_in(ctx, mfpg_kind_unknown(ctx, "cost", o->cost, &mfpg_costs, NULL), "--cost");
}

/* The constants that have the same name in options and game. */
#define SAME(member)                                                                                         \
    { offsetof(mfpg_game_options, member), offsetof(mfpg_game, member) }
static const struct {
    size_t from, to;
} constants[] = {SAME(curvature), SAME(dimension), SAME(personalisation), SAME(privacy_power),
    SAME(prior_variance), SAME(step), SAME(optimum_norm2), SAME(interaction), SAME(loss), SAME(offset),
    SAME(gradient_norm), SAME(variance_penalty), SAME(rounds)};

/* omega is set as in a configuration: 0 in the pure public good of the N-player Gaussian game. */
static void set_constants(const mfpg_game_options *o, mfpg_game *game) {
    int public_good = has_fact(game, MFPG_COST_PUBLIC_GOOD) && game->players == MFPG_PLAYERS_FINITE;
    game->personalisation = public_good ? 0.0 : 0.5;
    for (size_t i = 0; i < sizeof constants / sizeof constants[0]; i++) {
        double given = *(const double *)(const void *)((const char *)o + constants[i].from);
        if (is_given(given)) *(double *)(void *)((char *)game + constants[i].to) = given;
    }
    double omega = game->personalisation;
    double own = has_fact(game, MFPG_COST_COMMON_LOSS)
                     ? 0.5 * game->curvature * game->dimension * omega * omega * 2.0 * game->step
                     : 1.0;
    game->noise_unit_all = 2.0 * or_else(o->learning_rate, 0.01) * or_else(o->clip, 1.0);
    game->privacy_scale_all = or_else(o->privacy_scale, 1.0);
    game->own_cost_all = or_else(o->own_cost, own);
    game->skip_optimum = o->no_optimum;
}

static mfpg_status check_together(mfpg_context *ctx, const mfpg_game_options *o, const mfpg_game *game) {
    if (o->price && o->no_optimum)
        return mfpg_fail(ctx, MFPG_ERR_INPUT,
            "--price and --no-optimum exclude each other: the price leads to the optimum");
    if (has_fact(game, MFPG_COST_COMMON_LOSS) && is_given(o->own_cost) && is_given(o->personalisation))
        return mfpg_fail(ctx, MFPG_ERR_INPUT,
            "--own-cost and --personalisation exclude each other: the own cost is (h d/2) omega^2 2 tau "
            "unless it is given");
    return MFPG_OK;
}

/* ---- lists ---- */

static int may_be(double value, int with_zero) {
    return isfinite(value) && (with_zero ? value >= 0.0 : value > 0.0);
}

static mfpg_status parse_list(mfpg_context *ctx, const char *option, const char *text, int with_zero,
    const char *words, ptrdiff_t *count, double **out) {
    ptrdiff_t numbers = 1;
    for (const char *at = text; *at; at++) numbers += *at == ',';
    double *list = mfpg_alloc(numbers, sizeof *list);
    if (!list) return mfpg_fail_memory(ctx);
    for (const char *at = text; *count < numbers; ++*count) {
        size_t length = strcspn(at, ",");
        if (!mfpg_number_parse(at, length, &list[*count]) || !may_be(list[*count], with_zero)) {
            free(list);
            return mfpg_fail(ctx, MFPG_ERR_INPUT, "--%s: number %td of '%.60s'; allowed: %s", option,
                *count + 1, text, words);
        }
        at += length + (at[length] == ',');
    }
    *out = list;
    return MFPG_OK;
}

mfpg_status mfpg_numbers_read(mfpg_context *ctx, const char *option, const mfpg_numbers *numbers,
    int with_zero, const char *words, const double **values, ptrdiff_t *count, double **owned) {
    *count = 0;
    *owned = NULL;
    if (numbers->text) {
        mfpg_status status = parse_list(ctx, option, numbers->text, with_zero, words, count, owned);
        *values = *owned;
        return status;
    }
    for (ptrdiff_t i = 0; i < numbers->count; i++)
        if (!may_be(numbers->value[i], with_zero))
            return mfpg_fail(ctx, MFPG_ERR_INPUT, "--%s: number %td is %g; allowed: %s", option, i + 1,
                numbers->value[i], words);
    *values = numbers->value;
    *count = numbers->count;
    return MFPG_OK;
}

static mfpg_status check_ascends(mfpg_context *ctx, const mfpg_action_set *set) {
    for (ptrdiff_t i = 1; i < set->count; i++)
        if (!(set->grid[i] > set->grid[i - 1]))
            return mfpg_fail(ctx, MFPG_ERR_INPUT,
                "--actions: found %g after %g; allowed: actions in ascending order, each once", set->grid[i],
                set->grid[i - 1]);
    return MFPG_OK;
}

mfpg_status mfpg_actions_read(mfpg_context *ctx, const mfpg_numbers *actions, const char *fallback,
    mfpg_action_set *out, double **grid) {
    static const char words[] =
        "A,B,... ascending, LOW:HIGH with LOW not above HIGH, or continuous, every action a "
        "finite number above 0";
    mfpg_numbers wanted = *actions;
    if (!are_given(actions)) wanted.text = fallback;
    const char *text = wanted.text, *colon = text ? strchr(text, ':') : NULL;
    *grid = NULL;
    *out = (mfpg_action_set){.low = 0.0, .high = (double)INFINITY};
    if (text && strcmp(text, "continuous") == 0) return MFPG_OK;
    if (!colon) {
        mfpg_status status =
            mfpg_numbers_read(ctx, "actions", &wanted, 0, words, &out->grid, &out->count, grid);
        return status == MFPG_OK ? check_ascends(ctx, out) : status;
    }
    if (mfpg_number_parse(text, (size_t)(colon - text), &out->low) &&
        mfpg_number_parse(colon + 1, strlen(colon + 1), &out->high) && out->low > 0.0 &&
        out->low <= out->high)
        return MFPG_OK;
    return mfpg_fail(ctx, MFPG_ERR_INPUT, "--actions: found '%.60s'; allowed: %s", text, words);
}

static mfpg_status read_loss_table(mfpg_context *ctx, const mfpg_game_options *o, mfpg_posed_game *made) {
    if (!o->loss_table && has_fact(&made->game, MFPG_COST_NEEDS_TABLE))
        return mfpg_fail(ctx, MFPG_ERR_INPUT,
            "--loss-table: missing; cost %s plays a loss table, which `mfpg solve CONFIG.yaml --study costs` "
            "makes (in a configuration: game.loss_table)",
            made->game.cost);
    if (!o->loss_table) return MFPG_OK;
    if (is_given(o->loss))
        return mfpg_fail(
            ctx, MFPG_ERR_INPUT, "--loss and --loss-table exclude each other: the table replaces L e");
    mfpg_status status = mfpg_loss_table_read(ctx, o->loss_table, &made->game, &made->loss_table);
    made->game.loss_table = made->loss_table;
    return status;
}

/* ---- the clients ---- */

static mfpg_status read_population(mfpg_context *ctx, const mfpg_game_options *o, mfpg_population *out) {
    if (o->beta_file) return mfpg_population_read(ctx, o->beta_file, o->column, out);
    mfpg_status status = mfpg_population_parse(ctx, o->beta.text ? o->beta.text : "0.5:1.5", out);
    return status == MFPG_OK ? MFPG_OK : mfpg_fail_in(ctx, status, "--beta");
}

static mfpg_status count_clients(
    mfpg_context *ctx, const mfpg_game_options *o, const mfpg_population *population, mfpg_game *game) {
    if (is_given(o->population))
        game->clients = (ptrdiff_t)o->population;
    else if (population->spread == MFPG_SPREAD_LIST)
        game->clients = population->count;
    else if (game->players == MFPG_PLAYERS_MEAN_FIELD)
        game->clients = population->spread == MFPG_SPREAD_ALIKE ? 1 : STAND_INS;
    else
        return mfpg_fail(ctx, MFPG_ERR_INPUT,
            "--population: missing; players finite need a number of clients, or --beta B,B,... with one "
            "preference a client");
    return MFPG_OK;
}

static mfpg_status fill_clients(
    mfpg_context *ctx, const mfpg_game_options *o, const mfpg_population *population, mfpg_posed_game *made) {
    mfpg_status status = count_clients(ctx, o, population, &made->game);
    if (status != MFPG_OK) return status;
    made->preference = mfpg_alloc(made->game.clients, sizeof *made->preference);
    if (!made->preference)
        return mfpg_fail(ctx, MFPG_ERR_MEMORY, "out of memory for %td clients", made->game.clients);
    made->game.preference = made->preference;
    status = mfpg_population_fill(ctx, population, made->game.clients, made->preference);
    return status == MFPG_OK ? MFPG_OK : mfpg_fail_in(ctx, status, "--beta");
}

/* Borrows one preference per client from the caller; the solver checks each. */
static mfpg_status borrow_clients(mfpg_context *ctx, const mfpg_game_options *o, mfpg_game *game) {
    game->preference = o->beta.value;
    game->clients = o->beta.count;
    if (!is_given(o->population) || (ptrdiff_t)o->population == game->clients) return MFPG_OK;
    return mfpg_fail(ctx, MFPG_ERR_INPUT, "--beta: %td numbers for %.0f clients; give one a client",
        o->beta.count, o->population);
}

static mfpg_status read_clients(mfpg_context *ctx, const mfpg_game_options *o, mfpg_posed_game *made) {
    if (are_given(&o->beta) && o->beta_file)
        return mfpg_fail(ctx, MFPG_ERR_INPUT, "--beta and --beta-file exclude each other; give one");
    if (o->column && !o->beta_file) return mfpg_fail(ctx, MFPG_ERR_INPUT, "--column belongs to --beta-file");
    if (!o->beta.text && o->beta.value) return borrow_clients(ctx, o, &made->game);
    mfpg_population population = {0};
    mfpg_status status = read_population(ctx, o, &population);
    if (status == MFPG_OK) status = fill_clients(ctx, o, &population, made);
    mfpg_population_clear(&population);
    return status;
}

static mfpg_status read_weights(mfpg_context *ctx, const mfpg_game_options *o, mfpg_posed_game *made) {
    const mfpg_game *game = &made->game;
    int limit = game->players == MFPG_PLAYERS_MEAN_FIELD;
    ptrdiff_t count;
    if (!are_given(&o->weights)) return MFPG_OK;
    if (has_fact(game, MFPG_COST_COMMON_LOSS) && (!limit || made->named_population))
        return mfpg_fail(ctx, MFPG_ERR_INPUT,
            "--weights: among N players cost %s needs equal weights: with others the mean strength does not "
            "determine the model; take players mean-field without --population",
            game->cost);
    if (has_fact(game, MFPG_COST_PUBLIC_GOOD) && limit && !made->named_population)
        return mfpg_fail(ctx, MFPG_ERR_INPUT,
            "--weights: in the mean field of cost %s no client's weight counts; they do with players finite, "
            "or with --population",
            game->cost);
    mfpg_status status = mfpg_numbers_read(ctx, "weights", &o->weights, 1,
        "P,P,... with every weight a number from 0", &made->game.weight, &count, &made->weight);
    if (status != MFPG_OK || count == game->clients) return status;
    return mfpg_fail(ctx, MFPG_ERR_INPUT, "--weights: %td numbers for %td clients; give one a client", count,
        game->clients);
}

/* ---- the game ---- */

mfpg_status mfpg_game_pose(mfpg_context *ctx, const mfpg_game_options *options, mfpg_posed_game *out) {
    mfpg_posed_game made = {.game = mfpg_game_default(), .named_population = is_given(options->population)};
    mfpg_game *game = &made.game;
    if (options->players >= 0)
        game->players = options->players == 0 ? MFPG_PLAYERS_FINITE : MFPG_PLAYERS_MEAN_FIELD;
    mfpg_status status = read_cost(ctx, options, game);
    if (status != MFPG_OK) return status;
    set_constants(options, game);
    status = check_together(ctx, options, game);
    if (status == MFPG_OK)
        status = mfpg_actions_read(ctx, &options->actions, "0.1,0.3,0.5,1,2", &game->actions, &made.grid);
    if (status == MFPG_OK) status = read_loss_table(ctx, options, &made);
    if (status == MFPG_OK) status = read_clients(ctx, options, &made);
    if (status == MFPG_OK) status = read_weights(ctx, options, &made);
    if (status == MFPG_OK)
        *out = made;
    else
        mfpg_posed_game_clear(&made);
    return status;
}

void mfpg_posed_game_clear(mfpg_posed_game *posed) {
    if (!posed) return;
    free(posed->preference);
    free(posed->weight);
    free(posed->grid);
    free(posed->loss_table);
    *posed = (mfpg_posed_game){0};
}
