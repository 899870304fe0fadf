/* A solution for people: a table, then sentences. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "solution_sentences.h"
#include "mfpg/solution.h"

enum { NARROW = 10, WIDE = 40, TEXT_SIZE = 1024 };

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

/* ---- the table ---- */

static int name_width(const mfpg_solution *s) {
    size_t width = NARROW;
    for (ptrdiff_t k = 0; s->name && k < s->game->clients; k++) {
        size_t length = strlen(s->name(s->name_user, k));
        if (length > width) width = length;
    }
    return width < WIDE ? (int)width : WIDE;
}

static void print_columns(const mfpg_solution *s, int width, const char *first, FILE *out) {
    fprintf(out, "  %-*s %12s %12s", width, first, "preference", mfpg_solution_control(s));
    if (s->equilibrium->social_action) fprintf(out, " %12s", "optimum");
    if (s->priced) fprintf(out, " %12s", "price");
    fprintf(out, "\n");
}

static void print_clients(const mfpg_solution *s, FILE *out) {
    const mfpg_equilibrium *q = s->equilibrium;
    int width = name_width(s);
    ptrdiff_t next = 0;
    print_columns(s, width, "client", out);
    for (ptrdiff_t k = 0; k < q->clients; k++) {
        if (s->name)
            fprintf(out, "  %-*.*s", width, width, s->name(s->name_user, k));
        else
            fprintf(out, "  %-*td", width, k);
        fprintf(out, " %12.6g %12.6g", s->game->preference[k], q->action[k]);
        if (q->social_action) fprintf(out, " %12.6g", q->social_action[k]);
        if (s->priced) fprintf(out, " %12.6g", s->priced->price[k]);
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
    const mfpg_equilibrium *q = s->equilibrium;
    double preference[POINTS], action[POINTS], optimum[POINTS], price[POINTS];
    mfpg_status status = mfpg_solution_quantiles(ctx, s->game->preference, q->clients, POINTS, preference);
    if (status == MFPG_OK) status = mfpg_solution_quantiles(ctx, q->action, q->clients, POINTS, action);
    if (status == MFPG_OK && q->social_action)
        status = mfpg_solution_quantiles(ctx, q->social_action, q->clients, POINTS, optimum);
    if (status == MFPG_OK && s->priced)
        status = mfpg_solution_quantiles(ctx, s->priced->price, q->clients, POINTS, price);
    if (status != MFPG_OK) return status;
    print_columns(s, NARROW, "quantile", out);
    int alike = preference[0] == preference[POINTS - 1] && action[0] == action[POINTS - 1];
    for (int i = 0; i < (alike ? 1 : POINTS); i++) {
        if (alike)
            fprintf(out, "  %-*s", NARROW, "all");
        else
            fprintf(out, "  %3d %%     ", i * 10);
        fprintf(out, " %12.6g %12.6g", preference[i], action[i]);
        if (q->social_action) fprintf(out, " %12.6g", optimum[i]);
        if (s->priced) fprintf(out, " %12.6g", price[i]);
        fprintf(out, "\n");
    }
    if (!alike) fprintf(out, "  (quantiles over clients, each column by itself)\n");
    return MFPG_OK;
}

/* ---- sentences ---- */

enum { MOST_FIXED_POINTS = 8 }; /* that are printed */

/* Which equilibria there are, and by which rule it is this one. */
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
    char text[TEXT_SIZE];
    mfpg_solution_certificate(s, text, sizeof text);
    fprintf(out, "Mean %s %.6g.\nCertificate: %s.\n", mfpg_solution_control(s), q->mean_action, text);
    const char *shared = q->mixing_count > 0 ? ", those that mix shared out among their two actions" : "";
    if (s->finite_max == 0.0)
        fprintf(
            out, "  Nor can any, where these %td clients play it among themselves%s.\n", q->clients, shared);
    else if (!isnan(s->finite_max))
        fprintf(out,
            "  Where these %td clients play it among themselves%s, one can gain at most %.3g, and %.3g on "
            "average.\n",
            q->clients, shared, s->finite_max, s->finite_mean);
    if (q->consistency_gap > 0.0)
        fprintf(out, "  The mean that was answered and the mean of the answers differ by %.3g.\n",
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

void mfpg_print_sentences(const mfpg_solution *s, FILE *out) {
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
    mfpg_print_sentences(s, out);
    return MFPG_OK;
}
