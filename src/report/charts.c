/* The charts of a page: which fields of a run's files each shows, and how. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/number.h"
#include "mechanisms/mechanism_ops.h"
#include "mfpg/report.h"
#include "mfpg/run_fields.h"
#include "mfpg/solution.h"
#include "models/losses.h"
#include "page.h"

enum {
    QUANTILES = 21,
    MOST_ROUNDS = 1200, /* number of rows of rounds in a chart, for all groups of the page together */
    FEWEST_ROUNDS = 60
};

const char *page_control(const run_record *run) {
    mfpg_mechanism_kind kind = mfpg_mechanism_kind_of(run_text(run->summary, "method.mechanism"));
    return kind.control == MFPG_CONTROL_STRENGTH ? "strength" : "budget";
}

/* ---- clients ---- */

/* Returns the promise to a client as its run has written it: from the list of clients or, for a large
 * federation, from an extreme. */
static json_t *promise_of(const run_record *run, ptrdiff_t k) {
    static const char *const extremes[] = {"clients.least_protected", "clients.most_protected"};
    for (size_t i = 0; i < 2; i++) {
        const json_t *extreme = run_value(run->summary, extremes[i]);
        if (run_number(extreme, "client") == (double)k && run_text(extreme, "promise"))
            return page_text(run_text(extreme, "promise"));
    }
    return page_format("epsilon %s at delta %s", run_table_text(&run->clients, "epsilon", k),
        run_table_text(&run->clients, "delta", k));
}

/* Fields that both files have are taken from clients.csv. */
static json_t *client_of(page *p, const run_record *run, ptrdiff_t k) {
    const mfpg_record_field *end = mfpg_client_fields.field + mfpg_client_fields.count;
    const json_t *listed = run_client(run, k);
    json_t *client = listed ? json_copy((json_t *)listed) : json_object();
    char number[32];
    for (const mfpg_record_field *f = mfpg_client_fields.field; f < end; f++) {
        const char *text = f->places & MFPG_CLIENT_CSV ? run_table_text(&run->clients, f->name, k) : NULL;
        if (text) page_put(p, client, f->name, page_text(text));
    }
    page_put(p, client, "name", page_text(run_client_name(run, k, number)));
    if (!run_text(client, "promise")) page_put(p, client, "promise", promise_of(run, k));
    if (json_is_true(json_object_get(client, "stopped")))
        page_put(p, client, "remark",
            page_format("stopped before round %.0f", run_number(client, "stopped_before_round")));
    return client;
}

json_t *page_clients(page *p, const run_record *run) {
    json_t *list = json_array();
    ptrdiff_t least = run_client_extreme(run, 1), most = run_client_extreme(run, 0);
    if (run->clients.rows > PAGE_LISTED) {
        page_add(p, list, client_of(p, run, least));
        if (most != least) page_add(p, list, client_of(p, run, most));
        return list;
    }
    for (ptrdiff_t k = 0; k < run->clients.rows; k++) page_add(p, list, client_of(p, run, k));
    return list;
}

/* ---- promises ---- */

/* Restricts to the clients that have this number; to NAN for all if none has it. */
static void find_quantiles(page *p, const run_record *run, const char *column, double out[QUANTILES]) {
    ptrdiff_t count = 0;
    double *values = mfpg_alloc(run->clients.rows, sizeof *values);
    for (ptrdiff_t i = 0; i < QUANTILES; i++) out[i] = NAN;
    for (ptrdiff_t k = 0; values && k < run->clients.rows; k++) {
        double value = run_table_number(&run->clients, column, k);
        if (!isnan(value)) values[count++] = value;
    }
    if (!values || (count > 0 && mfpg_solution_quantiles(p->ctx, values, count, QUANTILES, out) != MFPG_OK))
        p->failed = 1;
    free(values);
}

static json_t *list_quantiles(page *p, const run_record *run) {
    double epsilon[QUANTILES], mu[QUANTILES];
    char clients[32];
    json_t *rows = json_array();
    find_quantiles(p, run, "epsilon", epsilon);
    find_quantiles(p, run, "mu", mu);
    for (int i = 0; i < QUANTILES; i++)
        page_add(p, rows,
            json_pack("{s:o, s:o, s:o}", "share", page_number((double)i / (QUANTILES - 1)), "epsilon",
                page_number(epsilon[i]), "mu", page_number(mu[i])));
    snprintf(clients, sizeof clients, "%td", run->clients.rows);
    json_t *charts = page_charts(p, "quantiles", clients, rows);
    json_decref(rows);
    return charts;
}

json_t *page_promise_charts(page *p, const run_record *run, const json_t *clients) {
    if (run_promises_nothing(run) || run->clients.rows == 0) return json_array();
    if (run->clients.rows > PAGE_LISTED) return list_quantiles(p, run);
    return page_charts(p, "promise", run_text(run->summary, "promise.adjacency"), clients);
}

/* ---- the attack ---- */

/* Adds an entry of the audit, and a description of its numbers. */
static json_t *entry_of(page *p, const json_t *client, ptrdiff_t number) {
    json_t *entry = json_copy((json_t *)client);
    double claimed = run_number(client, "paper_delta"), proved = run_number(client, "tv_lower");
    page_put(p, entry, "number", json_integer(number));
    page_put(p, entry, "verdict",
        page_text(isinf(run_number(client, "epsilon"))              ? "nothing is promised"
                  : json_is_true(json_object_get(client, "stands")) ? "stands"
                                                                    : "BROKEN"));
    if (run_number(client, "guesses") > 0.0)
        page_put(p, entry, "right",
            page_format("%.0f of %.0f", run_number(client, "correct"), run_number(client, "guesses")));
    if (!isnan(claimed)) page_put(p, entry, "paper", page_text(proved > claimed ? "refuted" : "not refuted"));
    return entry;
}

/* Adds what applies to all clients, whether or not they are listed. */
static void put_totals(page *p, const json_t *judged, json_t *audit) {
    double least = INFINITY, most = -INFINITY;
    json_int_t refuted = 0;
    const json_t *client;
    size_t i;
    json_array_foreach(judged, i, client) {
        double promised = run_number(client, "mu"), proved = run_number(client, "mu_lower");
        refuted += run_number(client, "tv_lower") > run_number(client, "paper_delta");
        if (!isfinite(promised) || !(promised > 0.0) || isnan(proved)) continue;
        least = fmin(least, proved / promised);
        most = fmax(most, proved / promised);
    }
    page_put(p, audit, "judged", json_integer((json_int_t)json_array_size(judged)));
    page_put(p, audit, "refuted", json_integer(refuted));
    page_put(p, audit, "reach", least <= most ? json_pack("[f, f]", least, most) : json_null());
}

json_t *page_audit(page *p, const run_group *group) {
    const json_t *clients = json_object_get(group->audit, "clients"),
                 *together = json_object_get(group->audit, "together");
    json_t *audit = group->audit ? json_copy(group->audit) : json_null();
    if (!clients) return audit;
    json_t *judged = json_copy((json_t *)clients), *list = json_array();
    if (together && json_array_append(judged, (json_t *)together) != 0) p->failed = 1;
    ptrdiff_t count = (ptrdiff_t)json_array_size(judged);
    ranked *order = mfpg_alloc(count, sizeof *order);
    if (!order) p->failed = 1;
    for (ptrdiff_t k = 0; order && k < count; k++)
        order[k] = (ranked){k, audit_margin(json_array_get(judged, (size_t)k))};
    ptrdiff_t shown = order ? page_choose(order, count, PAGE_LISTED) : 0;
    for (ptrdiff_t k = 0; k < shown; k++)
        page_add(p, list, entry_of(p, json_array_get(judged, (size_t)order[k].index), order[k].index));
    put_totals(p, judged, audit);
    page_put(p, audit, "clients", list);
    json_decref(judged);
    free(order);
    return audit;
}

json_t *page_attack_charts(page *p, const json_t *audit) {
    const json_t *entries = json_object_get(audit, "clients");
    double shown = (double)json_array_size(entries), judged = run_number(audit, "judged");
    json_t *charts = entries ? page_charts(p, "attack", NULL, entries) : json_array(), *chart;
    size_t i;
    json_array_foreach(charts, i, chart) if (shown < judged) page_note(p, chart,
        page_format("%.0f of %.0f clients: those of whose promise least is left; audit.json has all of them.",
            shown, judged));
    return charts;
}

/* ---- gradient inversion ---- */

/* A level, and what its numbers are compared with. */
static json_t *level_of(page *p, const json_t *inversion, const json_t *level, size_t number) {
    json_t *row = json_copy((json_t *)level);
    const json_t *found = json_object_get(level, "identification");
    page_put(p, row, "head", page_format("%.4g", run_number(level, "mu")));
    page_put(p, row, "number", page_format("%zu", number));
    page_put(p, row, "right",
        page_format("%.0f of %.0f", run_number(found, "correct"), run_number(found, "trials")));
    page_put(
        p, row, "verdict", page_text(json_is_true(json_object_get(found, "stands")) ? "stands" : "BROKEN"));
    page_share(p, row, "stands", json_object_get(found, "stands"));
    page_share(p, row, "chance", json_object_get(inversion, "chance"));
    return row;
}

json_t *page_inversion_charts(page *p, const json_t *inversion) {
    json_t *rows = json_array(), *charts;
    const json_t *level;
    size_t i;
    json_array_foreach(json_object_get(inversion, "levels"), i, level)
        page_add(p, rows, level_of(p, inversion, level, i));
    charts = inversion ? page_charts(p, "inversion", NULL, rows) : json_array();
    json_decref(rows);
    return charts;
}

/* ---- the equilibrium ---- */

/* Lists all clients by their preference or, if there are many, evenly spaced ones from the first to the
 * last. */
static json_t *list_choices(page *p, const run_record *run) {
    ptrdiff_t clients = run->clients.rows, shown = clients < PAGE_LISTED ? clients : PAGE_LISTED;
    ranked *order = mfpg_alloc(clients, sizeof *order);
    json_t *rows = json_array();
    if (!order) p->failed = 1;
    for (ptrdiff_t k = 0; order && k < clients; k++)
        order[k] = (ranked){k, run_table_number(&run->clients, "preference", k)};
    if (order) page_sort(order, clients);
    for (ptrdiff_t i = 0; order && i < shown; i++) {
        double place = shown > 1 ? (double)i * (double)(clients - 1) / (double)(shown - 1) : 0.0;
        page_add(p, rows, client_of(p, run, order[(ptrdiff_t)place].index));
    }
    free(order);
    return rows;
}

json_t *page_game_charts(page *p, const run_record *run) {
    if (!json_is_object(run_value(run->summary, "game")) || run->clients.rows == 0) return json_array();
    json_t *rows = list_choices(p, run), *charts = page_charts(p, "game", page_control(run), rows);
    if (run->clients.rows > PAGE_LISTED)
        page_note(p, json_array_get(charts, 0),
            page_format(
                "%d of %td clients, evenly from the smallest preference to the largest; clients.csv has all.",
                (int)PAGE_LISTED, run->clients.rows));
    json_decref(rows);
    return charts;
}

/* ---- rounds ---- */

enum { MOST_QUANTITIES = 2 };

/* What a chart of rounds shows: quantities, and for each the groups that have it. */
typedef struct quantities {
    const run_group *group;
    ptrdiff_t count, sweeps;
    int columns;
    const char *column[MOST_QUANTITIES];
    int has[MOST_QUANTITIES][MFPG_REPORT_MOST_RUNS];
} quantities;

static void take_quantities(const json_t *form, quantities *of) {
    const json_t *column;
    size_t w;
    of->columns = 0;
    json_array_foreach(json_object_get(form, "columns"), w, column) {
        of->column[w] = json_string_value(json_array_get(column, 0));
        for (ptrdiff_t s = 0; s < of->count; s++)
            of->has[w][s] = run_group_last(&of->group[s], of->column[w]) >= 0;
        of->columns++;
    }
}

static void add_columns(page *p, const quantities *of, const json_t *form, const char *word, json_t *chart) {
    for (int w = 0; w < of->columns; w++) {
        const json_t *column = json_array_get(json_object_get(form, "columns"), (size_t)w);
        const char *role = json_string_value(json_array_get(column, 1));
        json_t *axis = page_worded(json_array_get(column, 2), word);
        for (const run_group *group = of->group; group < of->group + of->count; group++) {
            const char *label = of->count > 1 ? group->label : "", *colon = of->count > 1 ? ": " : "",
                       *title = json_string_value(axis);
            if (!of->has[w][group - of->group]) continue;
            if (group->count == 1) {
                page_column(p, chart, role, page_format("%s%s%s", label, colon, title));
                continue;
            }
            page_column(p, chart, role, /* gnuplot 5 ends a column's title at a comma, quoted or not */
                page_format("%s%s%s; mean of %td seeds", label, colon, title, group->count));
            page_column(p, chart, "low", page_format("%s%ssmallest", label, colon));
            page_column(p, chart, "high", page_format("%s%slargest", label, colon));
        }
        json_decref(axis);
    }
}

/* Returns what a round shows of a group: the number of its run or, for a sweep, mean, smallest and largest. */
static void add_cells(page *p, const run_group *group, const char *column, ptrdiff_t round, json_t *row) {
    run_band band = run_group_band(group, column, round);
    const run_table *low = &group->run[band.lowest].rounds, *high = &group->run[band.highest].rounds;
    int there = band.runs > 0;
    if (group->count > 1) page_add(p, row, page_number(band.mean));
    page_add(p, row, page_text(there ? run_table_text(low, column, round) : ""));
    if (group->count > 1) page_add(p, row, page_text(there ? run_table_text(high, column, round) : ""));
}

/* Returns 1 if some run has a number of some quantity in the round. */
static int has_round(const quantities *of, ptrdiff_t round) {
    for (int w = 0; w < of->columns; w++)
        for (ptrdiff_t s = 0; s < of->count; s++)
            if (of->has[w][s] && run_group_band(&of->group[s], of->column[w], round).runs > 0) return 1;
    return 0;
}

/* Lists the rounds in which there is a number; for long runs only regularly spaced ones and the last, so
 * that a page stays small. */
static void add_rows(page *p, const quantities *of, json_t *chart) {
    ptrdiff_t most = MOST_ROUNDS / of->count, rounds = 0, counted = 0, last = -1, seen = 0;
    if (most < FEWEST_ROUNDS) most = FEWEST_ROUNDS;
    for (ptrdiff_t s = 0; s < of->count; s++)
        if (run_group_rounds(&of->group[s]) > rounds) rounds = run_group_rounds(&of->group[s]);
    for (ptrdiff_t t = 0; t < rounds; t++)
        if (has_round(of, t)) counted++, last = t;
    ptrdiff_t step = (counted + most - 1) / most;
    for (ptrdiff_t t = 0; t <= last; t++) {
        if (!has_round(of, t) || (seen++ % step != 0 && t != last)) continue;
        json_t *row = page_add(p, json_object_get(chart, "rows"), json_array());
        page_add(p, row, page_format("%td", t + 1));
        for (int w = 0; w < of->columns; w++)
            for (ptrdiff_t s = 0; s < of->count; s++)
                if (of->has[w][s]) add_cells(p, &of->group[s], of->column[w], t, row);
    }
    if (step > 1)
        page_note(
            p, chart, page_format("One of %td rounds, and the last; rounds.csv has all of them.", step));
}

/* The loss of some models is a sum over the rows. */
static const char *loss_of(const quantities *of) {
    ptrdiff_t sums = 0;
    for (ptrdiff_t s = 0; s < of->count; s++)
        sums += (mfpg_model_facts(mfpg_config_text(of->group[s].run[0].config, "task.model")) &
                    MFPG_MODEL_SUMS_ROWS) != 0;
    return sums == 0           ? "mean over rows"
           : sums == of->count ? "sum over rows"
                               : "mean over rows; quadratic: sum";
}

json_t *page_round_charts(page *p, const run_group *groups, ptrdiff_t count) {
    json_t *charts = json_array();
    quantities of = {.group = groups, .count = count};
    const json_t *form;
    size_t i;
    for (ptrdiff_t s = 0; s < count; s++) of.sweeps += groups[s].count > 1;
    json_array_foreach(json_object_get(p->forms, "rounds"), i, form) {
        int first = 0;
        take_quantities(form, &of);
        for (ptrdiff_t s = 0; s < count; s++) first = first || of.has[0][s];
        if (!first) continue;
        json_t *chart = page_chart(p, charts, form, loss_of(&of));
        page_column(p, chart, "x", json_string("round"));
        add_columns(p, &of, form, loss_of(&of), chart);
        if (of.sweeps > 0)
            page_note(p, chart,
                json_string(
                    "Of a sweep the line is the mean over its seeds, and the band reaches from the smallest "
                    "to the largest."));
        add_rows(p, &of, chart);
    }
    return charts;
}
