/* From the options of mfpg solve to a game. */
#include <stdlib.h>
#include <string.h>

#include "mfpg/loss_table.h"
#include "mfpg/names.h"
#include "mfpg/population.h"

#include "options.h"
#include "solve.h"

/* Of a mean field that no --population sizes: enough quantiles for three digits, and solved at once. */
enum { STAND_INS = 1000 };

static int is_cost(const solve_game *made, const char *name) {
    return strcmp(made->game.cost, name) == 0;
}

static int refuse_name(mfpg_context *ctx, const char *option, const char *noun, const char *word,
    const char *const *names, ptrdiff_t count) {
    mfpg_names_unknown(ctx, noun, word, names, count);
    return cli_refuse("solve", "--%s: %s", option, mfpg_context_message(ctx));
}

/* ---- cost, players ---- */

static int find_cost(mfpg_context *ctx, const solve_settings *chosen, solve_game *out) {
    const char *names[64];
    ptrdiff_t count = 0;
    if (!chosen->cost) return cli_refuse("solve", "--cost: missing; mfpg list costs names all");
    for (; count < 64 && mfpg_cost_name(count); count++) {
        names[count] = mfpg_cost_name(count);
        if (strcmp(names[count], chosen->cost) == 0) {
            out->game.cost = names[count];
            return 0;
        }
    }
    return refuse_name(ctx, "cost", "cost", chosen->cost, names, count);
}

void solve_read_players(const solve_settings *chosen, solve_game *out) {
    if (chosen->players >= 0)
        out->game.players = chosen->players == 0 ? MFPG_PLAYERS_FINITE : MFPG_PLAYERS_MEAN_FIELD;
}

/* omega as in a configuration: 0 in the pure public good of the N-player Gaussian game. */
static double personalisation_of(const solve_settings *chosen, const solve_game *made) {
    int public_good = is_cost(made, "gaussian") && made->game.players == MFPG_PLAYERS_FINITE;
    return solve_or(chosen->personalisation, public_good ? 0.0 : 0.5);
}

int solve_read_cost(mfpg_context *ctx, const solve_settings *chosen, solve_game *out) {
    int code = find_cost(ctx, chosen, out);
    if (code) return code;
    mfpg_game *game = &out->game;
    game->curvature = solve_or(chosen->curvature, game->curvature);
    game->dimension = solve_or(chosen->dimension, game->dimension);
    game->personalisation = personalisation_of(chosen, out);
    game->privacy_power = solve_or(chosen->privacy_power, game->privacy_power);
    game->prior_variance = solve_or(chosen->prior_variance, game->prior_variance);
    game->step = solve_or(chosen->step, game->step);
    game->optimum_norm2 = solve_or(chosen->optimum_norm2, game->optimum_norm2);
    game->interaction = solve_or(chosen->interaction, game->interaction);
    game->loss = solve_or(chosen->loss, game->loss);
    game->offset = solve_or(chosen->offset, game->offset);
    game->gradient_norm = solve_or(chosen->gradient_norm, game->gradient_norm);
    game->variance_penalty = solve_or(chosen->variance_penalty, game->variance_penalty);
    game->rounds = solve_or(chosen->rounds, game->rounds);
    if (chosen->price && chosen->no_optimum)
        return cli_refuse(
            "solve", "--price and --no-optimum exclude each other: the price leads to the optimum");
    if (is_cost(out, "entropic") && solve_given(chosen->own_cost) && solve_given(chosen->personalisation))
        return cli_refuse("solve", "--own-cost and --personalisation exclude each other: the own cost is (h "
                                   "d/2) omega^2 2 tau unless it is given");
    return 0;
}

/* ---- lists ---- */

ptrdiff_t solve_read_list(
    const char *option, const char *text, int (*allowed)(double value), const char *words, double **out) {
    ptrdiff_t count = 1, read = 0;
    for (const char *at = text; *at; at++) count += *at == ',';
    double *list = calloc((size_t)count, sizeof *list);
    if (!list) {
        cli_refuse("solve", "out of memory");
        return 0;
    }
    for (const char *at = text; read < count; read++) {
        size_t length = strcspn(at, ",");
        char number[64] = "";
        if (length < sizeof number) memcpy(number, at, length);
        if (!cli_parse_number(number, &list[read]) || !allowed(list[read])) break;
        at += length + (at[length] == ',');
        if (read + 1 == count) {
            *out = list;
            return count;
        }
    }
    cli_refuse("solve", "--%s: number %td of '%.60s'; allowed: %s", option, read + 1, text, words);
    free(list);
    return 0;
}

static int check_ascends(const mfpg_action_set *set) {
    for (ptrdiff_t i = 1; i < set->count; i++)
        if (!(set->grid[i] > set->grid[i - 1]))
            return cli_refuse("solve",
                "--actions: found %g after %g; allowed: actions in ascending order, each once", set->grid[i],
                set->grid[i - 1]);
    return 0;
}

int solve_read_actions(mfpg_context *ctx, const solve_settings *chosen, solve_game *out) {
    static const char *const words = "A,B,... ascending, LOW:HIGH with LOW not above HIGH, or continuous, "
                                     "every action a finite number above 0";
    const char *text = chosen->actions ? chosen->actions : "0.1,0.3,0.5,1,2";
    const char *colon = strchr(text, ':');
    mfpg_action_set *set = &out->game.actions;
    (void)ctx;
    *set = (mfpg_action_set){.low = 0.0, .high = (double)INFINITY};
    if (strcmp(text, "continuous") == 0) return 0;
    if (!colon) {
        set->count = solve_read_list("actions", text, cli_is_positive, words, &out->grid);
        set->grid = out->grid;
        return set->grid ? check_ascends(set) : CLI_WRONG_INPUT;
    }
    char low[64] = "";
    if (colon - text < (ptrdiff_t)sizeof low) memcpy(low, text, (size_t)(colon - text));
    if (cli_parse_number(low, &set->low) && cli_parse_number(colon + 1, &set->high) && set->low > 0.0 &&
        set->low <= set->high)
        return 0;
    return cli_refuse("solve", "--actions: found '%.60s'; allowed: %s", text, words);
}

static int read_loss_table(mfpg_context *ctx, const solve_settings *chosen, solve_game *out) {
    if (!chosen->loss_table && is_cost(out, "measured-budget"))
        return cli_refuse("solve", "--loss-table: missing; cost measured-budget plays a loss table, which "
                                   "mfpg solve CONFIG.yaml --study "
                                   "costs makes (in a configuration: game.loss_table)");
    if (!chosen->loss_table) return 0;
    if (solve_given(chosen->loss))
        return cli_refuse("solve", "--loss and --loss-table exclude each other: the table stands for L e");
    mfpg_status status = mfpg_loss_table_read(ctx, chosen->loss_table, &out->game, &out->loss_table);
    out->game.loss_table = out->loss_table;
    return status == MFPG_OK ? 0 : cli_fail(ctx, "solve", status);
}

/* ---- the clients ---- */

static int read_population(mfpg_context *ctx, const solve_settings *chosen, mfpg_population *out) {
    static const char *const fallback = "0.5:1.5";
    if (chosen->beta && chosen->beta_file)
        return cli_refuse("solve", "--beta and --beta-file exclude each other; give one");
    if (chosen->column && !chosen->beta_file) return cli_refuse("solve", "--column belongs to --beta-file");
    if (chosen->beta_file) {
        mfpg_status status = mfpg_population_read(ctx, chosen->beta_file, chosen->column, out);
        return status == MFPG_OK ? 0 : cli_fail(ctx, "solve", status);
    }
    mfpg_status status = mfpg_population_parse(ctx, chosen->beta ? chosen->beta : fallback, out);
    if (status == MFPG_OK) return 0;
    cli_refuse("solve", "--beta: %s", mfpg_context_message(ctx));
    return cli_exit_code(status);
}

/* The number of clients, or 0 with a message. */
static ptrdiff_t count_clients(
    const solve_settings *chosen, const mfpg_population *population, const solve_game *made) {
    if (solve_given(chosen->population)) return (ptrdiff_t)chosen->population;
    if (population->spread == MFPG_SPREAD_LIST) return population->count;
    if (made->game.players == MFPG_PLAYERS_MEAN_FIELD)
        return population->spread == MFPG_SPREAD_ALIKE ? 1 : STAND_INS;
    cli_refuse("solve",
        "--population: missing; players finite need a number of clients, or --beta B,B,... with "
        "one preference a client");
    return 0;
}

static int read_weights(mfpg_context *ctx, const solve_settings *chosen, solve_game *out) {
    (void)ctx;
    int limit = out->game.players == MFPG_PLAYERS_MEAN_FIELD;
    if (!chosen->weights) return 0;
    if (is_cost(out, "entropic") && (!limit || out->named_population))
        return cli_refuse("solve",
            "--weights: among N players cost entropic needs equal weights: with others "
            "the mean strength does not determine the model; take players mean-field "
            "without --population");
    if (is_cost(out, "gaussian") && limit && !out->named_population)
        return cli_refuse("solve", "--weights: in the mean field of cost gaussian no client's weight counts; "
                                   "they do with players finite, or with --population");
    ptrdiff_t count = solve_read_list("weights", chosen->weights, cli_is_not_negative,
        "P,P,... with every weight a number from 0", &out->weight);
    if (count == 0) return CLI_WRONG_INPUT;
    if (count != out->game.clients)
        return cli_refuse(
            "solve", "--weights: %td numbers for %td clients; give one a client", count, out->game.clients);
    out->game.weight = out->weight;
    return 0;
}

/* What all clients have alike. */
static void set_constants(const solve_settings *chosen, solve_game *out) {
    mfpg_game *game = &out->game;
    double omega = game->personalisation;
    double own = is_cost(out, "entropic")
                     ? 0.5 * game->curvature * game->dimension * omega * omega * 2.0 * game->step
                     : 1.0;
    game->noise_unit_all = 2.0 * solve_or(chosen->learning_rate, 0.01) * solve_or(chosen->clip, 1.0);
    game->privacy_scale_all = solve_or(chosen->privacy_scale, 1.0);
    game->own_cost_all = solve_or(chosen->own_cost, own);
    game->skip_optimum = chosen->no_optimum;
}

static int fill_clients(
    mfpg_context *ctx, const solve_settings *chosen, const mfpg_population *population, solve_game *out) {
    out->game.clients = count_clients(chosen, population, out);
    if (out->game.clients == 0) return CLI_WRONG_INPUT;
    out->preference = calloc((size_t)out->game.clients, sizeof *out->preference);
    if (!out->preference)
        return cli_refuse("solve", "out of memory for %td clients", out->game.clients), CLI_FAILED;
    out->game.preference = out->preference;
    mfpg_status status = mfpg_population_fill(ctx, population, out->game.clients, out->preference);
    if (status == MFPG_OK) return 0;
    cli_refuse("solve", "--beta: %s", mfpg_context_message(ctx));
    return cli_exit_code(status);
}

int solve_read_game(mfpg_context *ctx, const solve_settings *chosen, solve_game *out) {
    mfpg_population population = {0};
    *out = (solve_game){.game = mfpg_game_default(), .named_population = solve_given(chosen->population)};
    solve_read_players(chosen, out);
    int code = solve_read_cost(ctx, chosen, out);
    if (!code) code = solve_check_options(chosen, NULL, out->game.cost);
    if (!code) code = solve_read_actions(ctx, chosen, out);
    if (!code) code = read_loss_table(ctx, chosen, out);
    if (!code) code = read_population(ctx, chosen, &population);
    if (!code) code = fill_clients(ctx, chosen, &population, out);
    if (!code) code = read_weights(ctx, chosen, out);
    if (!code) set_constants(chosen, out);
    mfpg_population_clear(&population);
    return code;
}

void solve_game_clear(solve_game *game) {
    free(game->preference);
    free(game->weight);
    free(game->grid);
    free(game->loss_table);
    *game = (solve_game){0};
}
