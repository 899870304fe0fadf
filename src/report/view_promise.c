/* What was promised to each client: in the words of its own run, in a table, and drawn. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/number.h"
#include "mfpg/solution.h"
#include "view.h"

enum { IN_WORDS = 24, QUANTILES = 21 };

/* ---- words ---- */

/* The promise to a client as its run has told it: in the list of clients, or of a large federation as an extreme. */
static const char *words_of(const run_record *run, ptrdiff_t k) {
    static const char *const extremes[] = {"clients.least_protected", "clients.most_protected"};
    const char *words = json_string_value(json_object_get(run_client(run, k), "promise"));
    for (size_t i = 0; i < 2 && !words; i++) {
        const json_t *extreme = run_value(run, extremes[i]), *client = json_object_get(extreme, "client");
        if (json_is_integer(client) && json_integer_value(client) == k)
            words = json_string_value(json_object_get(extreme, "promise"));
    }
    return words;
}

static void add_words(view *v, const run_record *run, ptrdiff_t k, const char *role, json_t *list) {
    char number[32];
    const char *words = words_of(run, k);
    json_t *entry = view_add(v, list, json_object());
    view_put(v, entry, "name", view_text(run_client_name(run, k, number)));
    view_put(v, entry, "role", view_text(role));
    view_put(v, entry, "words",
        words ? view_text(words)
              : view_format("epsilon %s at delta %s", run_client_text(run, "epsilon", k),
                    run_client_text(run, "delta", k)));
}

/* Everybody, or of many clients those that are protected most and least. */
static void put_words(view *v, const run_record *run, json_t *promise) {
    json_t *list = view_new_list(v, promise, "words");
    ptrdiff_t least = run_client_extreme(run, "epsilon", 1), most = run_client_extreme(run, "epsilon", 0);
    if (run->clients.rows <= IN_WORDS) {
        for (ptrdiff_t k = 0; k < run->clients.rows; k++) add_words(v, run, k, "", list);
        return;
    }
    add_words(v, run, least, ", protected least", list);
    if (most != least) add_words(v, run, most, ", protected most", list);
}

/* ---- everybody in a table ---- */

static json_t *stopped_text(const json_t *client) {
    if (!json_is_true(json_object_get(client, "stopped"))) return view_text("");
    return view_format("stopped before round %lld",
        (long long)json_integer_value(json_object_get(client, "stopped_before_round")));
}

static json_t *entry_number(const json_t *client, const char *key) {
    const json_t *value = json_object_get(client, key);
    if (json_is_string(value)) return view_text(json_string_value(value));
    return json_is_number(value) ? view_number(json_number_value(value)) : view_text("");
}

static void list_clients(view *v, const run_record *run, json_t *charts) {
    const char *adjacency = run_text(run, "promise.adjacency");
    int replace = strcmp(adjacency, "replace") == 0, listed = run_client(run, 0) != NULL;
    json_t *chart = view_chart(v, charts, "bar", "Epsilon of each client", "client", "epsilon (nats)");
    view_add(v, json_object_get(chart, "notes"), view_text("The smaller epsilon is, the more is protected."));
    view_column(v, chart, "x", view_text("client"));
    view_column(v, chart, "", view_text("number"));
    if (listed) view_column(v, chart, "", view_text("training rows"));
    view_column(v, chart, "bar", view_format("epsilon (nats), %s", adjacency));
    if (listed)
        view_column(v, chart, "", view_format("epsilon (nats), %s", replace ? "zero-out" : "replace"));
    view_column(v, chart, "", view_text("mu (Gaussian DP)"));
    view_column(v, chart, "", view_text("delta"));
    view_column(v, chart, "", view_text("rounds taken part"));
    if (listed) view_column(v, chart, "", view_text("grid of what leaves"));
    if (listed) view_column(v, chart, "", view_text("rounding of sums (share of the sensitivity)"));
    if (listed) view_column(v, chart, "", view_text("remark"));
    for (ptrdiff_t k = 0; k < run->clients.rows; k++) {
        char number[32];
        const json_t *client = run_client(run, k);
        json_t *row = view_row(v, chart, view_text(run_client_name(run, k, number)));
        view_cell(v, row, view_text(run_client_text(run, "client", k)));
        if (listed) view_cell(v, row, entry_number(client, "rows"));
        view_cell(v, row, view_text(run_client_text(run, "epsilon", k)));
        if (listed) view_cell(v, row, entry_number(client, replace ? "epsilon_zero_out" : "epsilon_replace"));
        view_cell(v, row, view_text(run_client_text(run, "mu", k)));
        view_cell(v, row, view_text(run_client_text(run, "delta", k)));
        view_cell(v, row, view_text(run_client_text(run, "rounds", k)));
        if (listed) view_cell(v, row, entry_number(client, "grid"));
        if (listed) view_cell(v, row, entry_number(client, "rounding"));
        if (listed) view_cell(v, row, stopped_text(client));
    }
}

/* ---- many clients by quantiles ---- */

/* Of the clients that have a number there; NAN for all where none has. */
static void find_quantiles(view *v, const run_record *run, const char *column, double *out) {
    ptrdiff_t count = 0;
    double *values = mfpg_alloc(run->clients.rows, sizeof *values);
    for (ptrdiff_t i = 0; i < QUANTILES; i++) out[i] = NAN;
    for (ptrdiff_t k = 0; values && k < run->clients.rows; k++) {
        double value = run_client_number(run, column, k);
        if (!isnan(value)) values[count++] = value;
    }
    if (!values || (count > 0 && mfpg_solution_quantiles(v->ctx, values, count, QUANTILES, out) != MFPG_OK))
        v->failed = 1;
    free(values);
}

static void list_quantiles(view *v, const run_record *run, json_t *charts) {
    double epsilon[QUANTILES], mu[QUANTILES];
    json_t *chart = view_chart(v, charts, "line", "Epsilon over the clients",
        "share of clients with at most that", "epsilon (nats)");
    find_quantiles(v, run, "epsilon", epsilon);
    find_quantiles(v, run, "mu", mu);
    view_column(v, chart, "x", view_text("share of clients with at most that"));
    view_column(v, chart, "line", view_text("epsilon (nats)"));
    view_column(v, chart, "", view_text("mu (Gaussian DP)"));
    for (ptrdiff_t i = 0; i < QUANTILES; i++) {
        json_t *row = view_row(v, chart, view_number((double)i / (QUANTILES - 1)));
        view_cell(v, row, view_number(epsilon[i]));
        view_cell(v, row, view_number(mu[i]));
    }
    view_add(v, json_object_get(chart, "notes"),
        view_format(
            "The smaller epsilon is, the more is protected. Quantiles of %td clients, each the number of a "
            "client; clients.csv has all of them.",
            run->clients.rows));
}

/* ---- the section ---- */

static void put_sweep_note(view *v, const run_set *set, json_t *promise) {
    if (set->count < 2) return;
    ptrdiff_t worst = 0, of_run = 0;
    for (ptrdiff_t i = 0; i < set->count; i++) {
        ptrdiff_t k = run_client_extreme(&set->run[i], "epsilon", 1);
        if (k < 0) return;
        if (i > 0 && !(run_client_number(&set->run[i], "epsilon", k) >
                         run_client_number(&set->run[of_run], "epsilon", worst)))
            continue;
        worst = k;
        of_run = i;
    }
    view_put(v, promise, "sweep",
        run_set_agrees(set, "epsilon")
            ? view_format("The promises are the same in all %td runs of the sweep.", set->count)
            : view_format("Shown are the promises of %s. Over the %td runs of the sweep the largest epsilon "
                          "of a client "
                          "is %s, in %s.",
                  set->run[0].folder, set->count, run_client_text(&set->run[of_run], "epsilon", worst),
                  set->run[of_run].folder));
    view_put(v, promise, "selection", view_text(MFPG_SELECTION_NOTE));
}

void view_promise(view *v, const run_set *set, json_t *out) {
    const run_record *run = &set->run[0];
    if (run_promises_nothing(run) || run->clients.rows == 0) {
        view_put(v, out, "promise", json_null());
        return;
    }
    json_t *promise = json_object();
    view_put(v, out, "promise", promise);
    view_put(v, promise, "unit", view_text(run_text(run, "promise.unit")));
    view_put(v, promise, "adjacency", view_text(run_text(run, "promise.adjacency")));
    view_put(v, promise, "view", view_text(run_text(run, "promise.view")));
    view_put(v, promise, "accountant", view_text(run_text(run, "promise.accountant")));
    view_put(v, promise, "delta", view_number(run_number(run, "promise.delta")));
    view_put(v, promise, "certified", json_boolean(run_truth(run, "certificate")));
    view_put(v, promise, "seeded", json_boolean(run_truth(run, "seeded")));
    put_words(v, run, promise);
    put_sweep_note(v, set, promise);
    json_t *charts = view_new_list(v, promise, "charts");
    if (run->clients.rows <= VIEW_LISTED)
        list_clients(v, run, charts);
    else
        list_quantiles(v, run, charts);
}
