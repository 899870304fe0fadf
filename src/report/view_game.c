/* The equilibrium: what the clients chose, by what they prefer, and how far from an equilibrium that is. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "view.h"

/* ---- numbers ---- */

static void put_gains(view *v, const run_record *run, json_t *facts) {
    double most = run_number(run, "game.exploitability.max"),
           mean = run_number(run, "game.exploitability.mean");
    double finite = run_number(run, "game.exploitability_finite.max");
    if (!isnan(most))
        view_fact(v, facts, "exploitability",
            view_format("%.6g at most, %.6g on average (in units of a client's cost): what a client gains by "
                        "changing its "
                        "own %s alone",
                most, mean, view_control(run)));
    if (!isnan(finite))
        view_fact(v, facts, "among the clients themselves",
            view_format("%.6g at most: the same actions played in the game of these %td clients", finite,
                run->clients.rows));
}

static void put_optimum(view *v, const run_record *run, json_t *facts) {
    double optimum = run_number(run, "game.social_mean_action"),
           price = run_number(run, "game.price_of_anarchy");
    if (!isnan(optimum))
        view_fact(
            v, facts, "had they agreed", view_format("mean %s %.6g (no unit)", view_control(run), optimum));
    if (!isnan(price))
        view_fact(v, facts, "price of anarchy",
            view_format("%.6g (ratio: cost of all at the equilibrium over the least)", price));
}

static void put_facts(view *v, const run_record *run, json_t *game) {
    json_t *facts = view_new_list(v, game, "facts");
    const json_t *unique = run_value(run, "game.unique");
    const char *cost = run_text(run, "game.cost"), *update = run_text(run, "game.update");
    view_fact(v, facts, "players", view_text(run_text(run, "game.players")));
    view_fact(v, facts, "cost", view_text(cost ? cost : "unknown"));
    view_fact(v, facts, "actions chosen", view_text(update ? update : "unknown"));
    view_fact(v, facts, "mean action",
        view_format("%.6g (%s, no unit)", run_number(run, "game.mean_action"), view_control(run)));
    put_gains(v, run, facts);
    put_optimum(v, run, facts);
    view_fact(v, facts, "unique",
        view_text(json_is_string(unique) ? "unknown"
                  : json_is_true(unique) ? "yes"
                                         : "no"));
    if (run_number(run, "game.preference_factor") != 1.0 && !isnan(run_number(run, "game.preference_factor")))
        view_fact(v, facts, "all preferences times",
            view_format("%.6g, to meet the target epsilon", run_number(run, "game.preference_factor")));
}

/* ---- preference against action ---- */

typedef struct chooser {
    ptrdiff_t client;
    double preference;
} chooser;

static int by_preference(const void *a, const void *b) {
    const chooser *x = a, *y = b;
    if (x->preference != y->preference)
        return (x->preference > y->preference) - (x->preference < y->preference);
    return (x->client > y->client) - (x->client < y->client);
}

/* All clients by their preference; of many, evenly many from the first to the last. */
static void list_choices(view *v, const run_record *run, json_t *chart) {
    ptrdiff_t clients = run->clients.rows, shown = clients < VIEW_LISTED ? clients : VIEW_LISTED;
    chooser *order = mfpg_alloc(clients, sizeof *order);
    if (!order) v->failed = 1;
    for (ptrdiff_t k = 0; order && k < clients; k++)
        order[k] = (chooser){.client = k, .preference = run_client_number(run, "preference", k)};
    if (order) qsort(order, (size_t)clients, sizeof *order, by_preference);
    for (ptrdiff_t i = 0; order && i < shown; i++) {
        char number[32];
        ptrdiff_t k =
            order[shown > 1 ? (ptrdiff_t)((double)i * (double)(clients - 1) / (double)(shown - 1)) : 0]
                .client;
        json_t *row = view_row(v, chart, view_text(run_client_name(run, k, number)));
        view_cell(v, row, view_text(run_client_text(run, "preference", k)));
        view_cell(v, row, view_text(run_client_text(run, "action", k)));
    }
    free(order);
    if (shown < clients)
        view_add(v, json_object_get(chart, "notes"),
            view_format("%td of %td clients, evenly from the smallest preference to the largest; clients.csv "
                        "has all.",
                shown, clients));
}

static void put_choices(view *v, const run_record *run, json_t *game) {
    const char *control = view_control(run);
    char y[64];
    snprintf(y, sizeof y, "%s (no unit)", control);
    json_t *chart = view_chart(v, view_new_list(v, game, "charts"), "scatter", "Preference against action",
        "preference for privacy (no unit)", y);
    view_add(v, json_object_get(chart, "notes"),
        view_format("The larger a %s is, the %s noise its client adds.", control,
            strcmp(control, "strength") == 0 ? "more" : "less"));
    view_column(v, chart, "", view_text("client"));
    view_column(v, chart, "x", view_text("preference (no unit)"));
    view_column(v, chart, "point", view_format("action: %s (no unit)", control));
    list_choices(v, run, chart);
}

void view_game(view *v, const run_set *set, json_t *out) {
    const run_record *run = &set->run[0];
    if (!json_is_object(run_value(run, "game")) || run->clients.rows == 0) {
        view_put(v, out, "game", json_null());
        return;
    }
    json_t *game = json_object();
    view_put(v, out, "game", game);
    view_put(v, game, "certificate", view_text(run_text(run, "game.certificate")));
    view_copy(v, game, "warnings", run_value(run, "game.warnings"));
    put_facts(v, run, game);
    put_choices(v, run, game);
    if (set->count > 1)
        view_put(v, game, "sweep",
            run_set_agrees(set, "action")
                ? view_format("The actions are the same in all %td runs of the sweep.", set->count)
                : view_format("Shown is %s; actions differ between the %td runs of the sweep.", run->folder,
                      set->count));
}
