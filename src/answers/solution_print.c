/* Prints a solution for people: the certificate in sentences, and a table. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/number.h"
#include "games/game_internal.h"
#include "mfpg/solution.h"

/* Writes three digits, rounded up: an upper bound on what any client can gain. */
static const char *up(double value, char out[MFPG_NUMBER_SIZE]) {
    snprintf(out, MFPG_NUMBER_SIZE, "%.3g", value);
    double shown = 0.0;
    if (!mfpg_number_parse(out, strlen(out), &shown) || shown >= value) return out;
    snprintf(out, MFPG_NUMBER_SIZE, "%.3g", value + pow(10.0, floor(log10(value)) - 2.0));
    return out;
}

/* ---- the certificate ---- */

static int among_finite(const mfpg_solution *solution) {
    return solution->game->players == MFPG_PLAYERS_FINITE;
}

/* Gains below this share of what a client pays are rounding differences of two costs. */
static const double ROUNDING = 1e-15;

/* Writes "can gain anything" or "can gain more than 0.01 (a client pays 3 on average)". */
static void gain_text(const mfpg_equilibrium *q, char *text, size_t size) {
    char bound[MFPG_NUMBER_SIZE];
    double pays = q->cost / (double)q->clients;
    if (q->exploitability_max == 0.0)
        snprintf(text, size, "can gain anything");
    else if (isfinite(pays) && q->exploitability_max <= ROUNDING * fabs(pays))
        snprintf(text, size,
            "can gain more than rounding errors (1e-15 of the %.4g that a client pays on average)", pays);
    else if (isfinite(pays))
        snprintf(text, size, "can gain more than %s (a client pays %.4g on average)",
            up(q->exploitability_max, bound), pays);
    else
        snprintf(text, size, "can gain more than %s", up(q->exploitability_max, bound));
}

void mfpg_solution_certificate(const mfpg_solution *solution, char *text, size_t size) {
    const mfpg_equilibrium *q = solution->equilibrium;
    const char *control = mfpg_solution_control(solution);
    char bound[MFPG_NUMBER_SIZE], gain[128];
    if (!q->converged) {
        snprintf(text, size,
            "not solved: the solver stopped after %d iterations at residual %.3g. In the best profile that "
            "it found no client can gain more than %s by changing its own %s alone; checked by every "
            "client's exact best response",
            q->iterations, q->residual, up(q->exploitability_max, bound), control);
        return;
    }
    gain_text(q, gain, sizeof gain);
    snprintf(text, size,
        "%sno client %s by changing its own %s alone; checked by every client's exact best response",
        among_finite(solution) ? "" : "in the limit of many clients, ", gain, control);
}

void mfpg_solution_line(const mfpg_solution *solution, char *text, size_t size) {
    const mfpg_equilibrium *q = solution->equilibrium;
    const char *control = mfpg_solution_control(solution);
    char certificate[768], anarchy[64] = "";
    double least = (double)INFINITY, most = 0.0;
    for (ptrdiff_t k = 0; k < q->clients; k++) {
        least = fmin(least, q->action[k]);
        most = fmax(most, q->action[k]);
    }
    for (ptrdiff_t i = 0; i < q->mixing_count; i++) most = fmax(most, q->mixing[i].upper);
    mfpg_solution_certificate(solution, certificate, sizeof certificate);
    if (isfinite(q->price_of_anarchy))
        snprintf(anarchy, sizeof anarchy, "; price of anarchy %.4g", q->price_of_anarchy);
    snprintf(text, size, "mean %s %.4g (from %.4g to %.4g); %s%s", control, q->mean_action, least, most,
        certificate, anarchy);
}

/* ---- reasons why a solution may be useless ---- */

static int has_fact(const mfpg_solution *solution, int fact) {
    return (mfpg_cost_facts(solution->game->cost) & fact) != 0;
}

/* Only the average contains a client's own noise, with its weight 1/N (theory S3.1 ii, S3.2). */
static int is_public_good(const mfpg_solution *solution) {
    return has_fact(solution, MFPG_COST_PUBLIC_GOOD) && solution->game->personalisation == 0.0 &&
           solution->game->clients > 1;
}

/* Returns Q/(A q^2) of theory S3.2 with equal weights: the total cost of a client's noise, as a multiple of
 * the cost to the client itself. */
static double felt_by_all(const mfpg_game *game) {
    double n = (double)game->clients, omega = game->personalisation, own = omega + (1.0 - omega) / n;
    return 1.0 + (1.0 - omega) * (1.0 - omega) * (n - 1.0) / (n * n) / (own * own);
}

/* A threshold chosen by judgement: budgets are then at most 0.57 of the optimum's, felt^(-1/(p+2)). */
static const double HARDLY_FELT = 10.0;

static int warn_of_little_personalisation(const mfpg_solution *solution, char *text, size_t size) {
    const mfpg_game *game = solution->game;
    if (!has_fact(solution, MFPG_COST_PUBLIC_GOOD) || !among_finite(solution) || is_public_good(solution))
        return 0;
    if (!(felt_by_all(game) >= HARDLY_FELT)) return 0;
    snprintf(text, size,
        "free riding: with personalisation %g among %td clients a client's noise costs all together %.3g "
        "times what its owner feels of it; more personalisation keeps the game sound",
        game->personalisation, game->clients, felt_by_all(game));
    return 1;
}

static int warn_of_public_good(const mfpg_solution *solution, char *text, size_t size) {
    const mfpg_game *game = solution->game;
    if (!is_public_good(solution)) return 0;
    if (!among_finite(solution))
        snprintf(text, size,
            "free riding: with personalisation 0 no client in a large federation feels its own noise, so "
            "all choose the smallest allowed budget, whatever their preferences");
    else
        snprintf(text, size,
            "free riding: with personalisation 0 a client feels only its share, 1/%td, of its own noise (a "
            "pure public good). Budgets fall with the number of clients N like N^(-2/%g), and the noise of "
            "the averaged model %s with N; personalisation > 0 keeps the game sound",
            game->clients, game->privacy_power + 2.0,
            game->privacy_power == 1.0 ? "even grows" : "does not fall");
    return 1;
}

/* As the number of clients grows, a client's contribution to the common loss vanishes like 1/N, and its
 * strength tends to sqrt(beta B/c) (theory S3.3). */
static const double FAR_FROM_LIMIT = 10.0;

/* Returns the least factor by which a client's strength would still grow. */
static double growth_left(const mfpg_solution *solution) {
    const mfpg_game *game = solution->game;
    double least = (double)INFINITY;
    for (ptrdiff_t k = 0; k < game->clients; k++) {
        double scale = game->privacy_scale ? game->privacy_scale[k] : game->privacy_scale_all;
        double own = game->own_cost ? game->own_cost[k] : game->own_cost_all;
        double limit = sqrt(game->preference[k] * scale / own);
        least = fmin(least, limit / solution->equilibrium->action[k]);
    }
    return least;
}

static int warn_of_small_own_cost(const mfpg_solution *solution, char *text, size_t size) {
    if (!has_fact(solution, MFPG_COST_COMMON_LOSS) || !among_finite(solution)) return 0;
    double growth = growth_left(solution);
    if (!(growth >= FAR_FROM_LIMIT)) return 0;
    snprintf(text, size,
        "free riding: own cost is so near 0 that only a client's share, 1/%td, in the common loss (or the "
        "end of the actions) holds its strength down. With more clients strengths grow, to %.3g times these "
        "and more; more personalisation or own cost keeps the game sound",
        solution->game->clients, growth);
    return 1;
}

/* Theory S3.1 (i): with interaction below 0, the others' noise can make a client's own noise profitable. */
static int warn_of_gain_by_noise(const mfpg_solution *solution, char *text, size_t size) {
    const mfpg_game *game = solution->game;
    double price = 1.0 + game->interaction * solution->equilibrium->mean_action;
    if (!has_fact(solution, MFPG_COST_READS_INTERACTION) || price > 0.0) return 0;
    snprintf(text, size,
        "at the equilibrium, a unit of strength costs its owner own cost x (1 + interaction x mean) = "
        "own cost x %.4g: own noise is a gain there, which no model of a loss has; interaction above %.4g "
        "would keep it one",
        price, -1.0 / solution->equilibrium->mean_action);
    return 1;
}

/* Theory S3.3: the model is stable iff step x (curvature + mean strength / prior variance) < 2. */
static int warn_of_divergence(const mfpg_solution *solution, char *text, size_t size) {
    const mfpg_game *game = solution->game;
    const mfpg_equilibrium *q = solution->equilibrium;
    if (!has_fact(solution, MFPG_COST_COMMON_LOSS) || !isinf(q->cost)) return 0;
    snprintf(text, size,
        "at these actions the averaged model diverges, since step x (curvature + mean strength / prior "
        "variance) is not below 2 (step %g, curvature %g): all pay without bound, so that the certificate "
        "compares only what a client pays by itself; a smaller step or smaller actions are needed",
        game->step, game->curvature);
    return 1;
}

static int warn_of_literal_cost(const mfpg_solution *solution, char *text, size_t size) {
    if (!has_fact(solution, MFPG_COST_INCONSISTENT)) return 0;
    snprintf(text, size,
        "the paper's cost, read to the letter, falls with the strength in both of its terms: every client "
        "takes the largest action, whatever its preference; preferences decide nothing");
    return 1;
}

/* Warns if all clients play the most private end of a bounded set, unless another warning already covers it. */
static int warn_of_corner(const mfpg_solution *solution, char *text, size_t size) {
    const mfpg_game *game = solution->game;
    const mfpg_equilibrium *q = solution->equilibrium;
    const mfpg_action_set *set = &game->actions;
    int budget = q->control == MFPG_CONTROL_BUDGET;
    double first = set->grid ? set->grid[0] : set->low,
           last = set->grid ? set->grid[set->count - 1] : set->high;
    double end = budget ? first : last;
    char other[8];
    if (has_fact(solution, MFPG_COST_INCONSISTENT) || (is_public_good(solution) && !among_finite(solution)) ||
        warn_of_small_own_cost(solution, other, sizeof other))
        return 0;
    if (!(first < last) || !(end > 0.0) || !isfinite(end) || q->mixing_count > 0) return 0;
    for (ptrdiff_t k = 0; k < q->clients; k++)
        if (q->action[k] != end) return 0;
    snprintf(text, size,
        "every client takes %g, the most private action there is: the set of actions decides, not the "
        "preferences",
        end);
    return 1;
}

int mfpg_solution_warning(const mfpg_solution *solution, ptrdiff_t index, char *text, size_t size) {
    int (*const warnings[])(const mfpg_solution *, char *, size_t) = {warn_of_public_good,
        warn_of_little_personalisation, warn_of_small_own_cost, warn_of_gain_by_noise, warn_of_divergence,
        warn_of_literal_cost, warn_of_corner};
    for (size_t i = 0; i < sizeof warnings / sizeof warnings[0]; i++)
        if (warnings[i](solution, text, size) && index-- == 0) return 1;
    return 0;
}

/* ---- the table ---- */

enum { NARROW = 10, WIDE = 40 };

static void print_actions(const mfpg_action_set *set, FILE *out) {
    enum { MOST = 12 };
    if (!set->grid && set->low == 0.0 && isinf(set->high)) {
        fprintf(out, "every positive number");
    } else if (!set->grid) {
        fprintf(out, "from %g to %g", set->low, set->high);
    } else {
        for (ptrdiff_t i = 0; i < set->count; i++) {
            if (set->count > MOST && i == MOST - 2) {
                fprintf(out, ", ...");
                i = set->count - 1;
            }
            fprintf(out, "%s%g", i ? ", " : "", set->grid[i]);
        }
    }
}

static int own_units(const mfpg_game *game) {
    for (ptrdiff_t k = 0; game->strength_unit && k < game->clients; k++)
        if (game->strength_unit[k] != 1.0) return 1;
    return 0;
}

static void print_heading(const mfpg_solution *s, FILE *out) {
    int budget = s->equilibrium->control == MFPG_CONTROL_BUDGET;
    fprintf(out, "Game: cost %s, players %s, %td client%s\n", s->game->cost,
        mfpg_players_name(s->game->players), s->game->clients, s->game->clients == 1 ? "" : "s");
    fprintf(out, "Each chooses a %s (more means %s noise%s). Actions: ", mfpg_solution_control(s),
        budget ? "less" : "more",
        own_units(s->game) ? ", in units of the client's own squared sensitivity" : "");
    print_actions(&s->game->actions, out);
    fprintf(out, "\n\n");
}

static int name_width(const mfpg_solution *s) {
    size_t width = NARROW;
    for (ptrdiff_t k = 0; s->name && k < s->game->clients; k++) {
        size_t length = strlen(s->name(s->name_user, k));
        if (length > width) width = length;
    }
    return width < WIDE ? (int)width : WIDE;
}

enum { MOST_COLUMNS = 4 };

typedef struct column {
    const char *title;
    const double *value; /* clients */
} column;

/* Lists the columns that apply and returns their number. */
static int list_columns(const mfpg_solution *s, column out[MOST_COLUMNS]) {
    int count = 2;
    out[0] = (column){"preference", s->game->preference};
    out[1] = (column){mfpg_solution_control(s), s->equilibrium->action};
    if (s->equilibrium->social_action) out[count++] = (column){"optimum", s->equilibrium->social_action};
    if (s->priced) out[count++] = (column){"price", s->priced->price};
    return count;
}

static void print_titles(const column *columns, int count, int width, const char *first, FILE *out) {
    fprintf(out, "  %-*s", width, first);
    for (int c = 0; c < count; c++) fprintf(out, " %12s", columns[c].title);
    fprintf(out, "\n");
}

static void print_clients(const mfpg_solution *s, FILE *out) {
    const mfpg_equilibrium *q = s->equilibrium;
    column columns[MOST_COLUMNS];
    int width = name_width(s), count = list_columns(s, columns);
    ptrdiff_t next = 0;
    print_titles(columns, count, width, "client", out);
    for (ptrdiff_t k = 0; k < q->clients; k++) {
        if (s->name)
            fprintf(out, "  %-*.*s", width, width, s->name(s->name_user, k));
        else
            fprintf(out, "  %-*td", width, k);
        for (int c = 0; c < count; c++) fprintf(out, " %12.6g", columns[c].value[k]);
        if (next < q->mixing_count && q->mixing[next].client == k) {
            fprintf(out, "  or %g, with probability %.6g", q->mixing[next].upper, q->mixing[next].weight);
            next++;
        }
        fprintf(out, "\n");
    }
}

/* Each column by its own quantiles. */
static mfpg_status print_quantiles(mfpg_context *ctx, const mfpg_solution *s, FILE *out) {
    enum { POINTS = 11 };
    double quantile[MOST_COLUMNS][POINTS];
    column columns[MOST_COLUMNS];
    int count = list_columns(s, columns);
    mfpg_status status = MFPG_OK;
    for (int c = 0; c < count && status == MFPG_OK; c++)
        status = mfpg_solution_quantiles(ctx, columns[c].value, s->equilibrium->clients, POINTS, quantile[c]);
    if (status != MFPG_OK) return status;
    print_titles(columns, count, NARROW, "quantile", out);
    int alike = quantile[0][0] == quantile[0][POINTS - 1] && quantile[1][0] == quantile[1][POINTS - 1];
    for (int i = 0; i < (alike ? 1 : POINTS); i++) {
        if (alike)
            fprintf(out, "  %-*s", NARROW, "all");
        else
            fprintf(out, "  %3d %%     ", i * 10);
        for (int c = 0; c < count; c++) fprintf(out, " %12.6g", quantile[c][i]);
        fprintf(out, "\n");
    }
    if (!alike) fprintf(out, "  (quantiles over clients, each column by itself)\n");
    return MFPG_OK;
}

/* ---- sentences ---- */

enum { MOST_FIXED_POINTS = 8 }; /* that are printed */

/* Prints whether the equilibrium is unique, and the rule by which it was selected. */
static void print_uniqueness(const mfpg_equilibrium *q, FILE *out) {
    if (q->unique == 1) {
        fprintf(out, "It is the only equilibrium.\n");
        return;
    }
    fprintf(out, "%s%s%s.\n",
        q->unique == 0 ? "It is not the only equilibrium" : "Whether it is the only equilibrium is not known",
        q->selection ? "; it was chosen by this rule: " : "", q->selection ? q->selection : "");
    if (q->fixed_point_count < 2) return;
    fprintf(out, "Means that answer themselves:");
    for (ptrdiff_t i = 0; i < q->fixed_point_count && i < MOST_FIXED_POINTS; i++)
        fprintf(out, "%s %.6g%s", i ? "," : "", q->fixed_point[i].mean,
            q->fixed_point[i].mixes ? " (mixing)" : "");
    fprintf(
        out, "%s.\n", q->fixed_point_more || q->fixed_point_count > MOST_FIXED_POINTS ? ", and more" : "");
}

static void print_certificate(const mfpg_solution *s, FILE *out) {
    const mfpg_equilibrium *q = s->equilibrium;
    char text[MFPG_MESSAGE_SIZE];
    mfpg_solution_certificate(s, text, sizeof text);
    fprintf(out, "Mean %s %.6g.\nCertificate: %s.\n", mfpg_solution_control(s), q->mean_action, text);
    const char *shared = q->mixing_count > 0 ? " (those that mix are divided between their two actions)" : "";
    if (s->finite_max == 0.0)
        fprintf(out, "  The same holds if these %td clients play the game among themselves%s.\n", q->clients,
            shared);
    else if (!isnan(s->finite_max))
        fprintf(out,
            "  If these %td clients play the game among themselves%s, one of them can gain at most %.3g, and "
            "%.3g on average.\n",
            q->clients, shared, s->finite_max, s->finite_mean);
    if (q->consistency_gap > 0.0)
        fprintf(out,
            "  The mean to which clients responded and the mean of their responses differ by %.3g.\n",
            q->consistency_gap);
    if (!q->converged) return;
    print_uniqueness(q, out);
}

static void print_mixing(const mfpg_solution *s, FILE *out) {
    const mfpg_equilibrium *q = s->equilibrium;
    const mfpg_mixing *mix = q->mixing;
    if (q->mixing_count == 0) return;
    fprintf(out, "Mixing: %td client%s (", q->mixing_count, q->mixing_count == 1 ? "" : "s");
    if (s->name)
        fprintf(out, "%s", s->name(s->name_user, mix->client));
    else
        fprintf(out, "%td", mix->client);
    fprintf(out,
        "%s) would pay the same for %g and for %g. The equilibrium needs the upper one with probability "
        "%.6g, or so many of them playing it.\n",
        q->mixing_count == 1 ? "" : ", ...", q->action[mix->client], mix->upper, mix->weight);
}

static void print_optimum(const mfpg_solution *s, FILE *out) {
    const mfpg_equilibrium *q = s->equilibrium;
    if (s->game->skip_optimum) return;
    if (isnan(q->social_mean) && isinf(q->cost)) {
        double reach = s->game->curvature * s->game->step;
        if (reach >= 2.0)
            fprintf(out,
                "With step x curvature %.4g, 2 or more, the averaged model diverges whatever the actions, so "
                "that there is no cost to compare; a smaller step or curvature is needed.\n",
                reach);
        else
            fprintf(
                out, "At these actions the averaged model diverges, so that there is no cost to compare.\n");
        return;
    }
    if (isnan(q->social_mean)) {
        fprintf(out,
            "What the clients would choose together is not known: for cost %s it is computed on grids with "
            "few profiles only.\n",
            s->game->cost);
        return;
    }
    fprintf(out, "Had they agreed (%s): mean %s %.6g, and all together pay %.6g instead of %.6g.\n",
        q->social_exact
            ? "social optimum"
            : "the best profile found, which no single change improves; there may be a better one",
        mfpg_solution_control(s), q->social_mean, q->social_cost, q->cost);
    if (isfinite(q->price_of_anarchy))
        fprintf(out,
            "Price of anarchy %s%.6g: each looking after itself costs all together %.3g %% more than "
            "agreeing would.\n",
            q->social_exact ? "" : "at least ", q->price_of_anarchy, 100.0 * (q->price_of_anarchy - 1.0));
}

static void print_price(const mfpg_solution *s, FILE *out) {
    const mfpg_priced *priced = s->priced;
    if (!priced) return;
    fprintf(out,
        "Corrective price: a client that pays price %s for its own noise does by itself what is best for "
        "all. Solved with it: mean %s %.6g, everybody within %.1g of the optimum's action, largest gain by "
        "deviating alone %.1g.\n",
        s->equilibrium->control == MFPG_CONTROL_BUDGET ? "/ budget^2" : "x strength",
        mfpg_solution_control(s), priced->mean_action, priced->difference, priced->exploitability);
}

void mfpg_solution_sentences(const mfpg_solution *s, FILE *out) {
    print_certificate(s, out);
    print_mixing(s, out);
    print_optimum(s, out);
    print_price(s, out);
}

mfpg_status mfpg_solution_print(mfpg_context *ctx, const mfpg_solution *s, FILE *out) {
    mfpg_status status = MFPG_OK;
    print_heading(s, out);
    if (s->game->clients <= MFPG_SOLUTION_LISTED)
        print_clients(s, out);
    else
        status = print_quantiles(ctx, s, out);
    if (status != MFPG_OK) return status;
    if (s->preference_factor != 0.0)
        fprintf(out, "  (all preferences times %.6g, to meet the target epsilon)\n", s->preference_factor);
    fprintf(out, "\n");
    mfpg_solution_sentences(s, out);
    return MFPG_OK;
}
