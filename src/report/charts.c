/* The charts of a page: which fields of a run's files each shows, and how. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/number.h"
#include "mfpg/report.h"
#include "mfpg/run_fields.h"
#include "mfpg/mechanism.h"
#include "models/losses.h"
#include "mfpg/solution.h"
#include "page.h"

enum {
    QUANTILES = 21,
    MOST_ROUNDS = 1200, /* rows of rounds in a chart, all groups of the page together */
    FEWEST_ROUNDS = 60
};

const char *page_control(const run_record *run) {
    mfpg_mechanism_kind kind = mfpg_mechanism_kind_of(run_text(run->summary, "method.mechanism"));
    return kind.control == MFPG_CONTROL_STRENGTH ? "strength" : "budget";
}

/* ---- clients ---- */

/* The promise to a client as its run has told it: in the list of clients, or of a large federation as an extreme. */
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

/* What both files have is as clients.csv writes it. */
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

static void list_clients(page *p, const run_record *run, json_t *charts) {
    char title[64];
    json_t *rows = page_clients(p, run);
    snprintf(title, sizeof title, "epsilon (nats), %s", run_text(run->summary, "promise.adjacency"));
    page_chart(p, charts,
        &(const chart_form){"bar", "Epsilon of each client", "The smaller epsilon is, the more is protected.",
            "client", "epsilon (nats)",
            .columns = (const chart_column[]){{"name", "x", "client"}, {"client", "", "number"},
                {"rows", "", "training rows"}, {"epsilon", "bar", title},
                {"epsilon_zero_out", "", "epsilon (nats), zero-out"},
                {"epsilon_replace", "", "epsilon (nats), replace"}, {"mu", "", "mu (Gaussian DP)"},
                {"delta", "", "delta"}, {"rounds", "", "rounds taken part"},
                {"grid", "", "grid of what leaves"},
                {"rounding", "", "rounding of sums (share of the sensitivity)"}, {"remark", "", "remark"},
                {0}}},
        rows);
    json_decref(rows);
}

/* Of the clients that have a number there; NAN for all if none has. */
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

static void list_quantiles(page *p, const run_record *run, json_t *charts) {
    double epsilon[QUANTILES], mu[QUANTILES];
    json_t *rows = json_array();
    find_quantiles(p, run, "epsilon", epsilon);
    find_quantiles(p, run, "mu", mu);
    for (int i = 0; i < QUANTILES; i++)
        page_add(p, rows,
            json_pack("{s:o, s:o, s:o}", "share", page_number((double)i / (QUANTILES - 1)), "epsilon",
                page_number(epsilon[i]), "mu", page_number(mu[i])));
    json_t *chart = page_chart(p, charts,
        &(const chart_form){"line", "Epsilon over the clients", NULL, "share of clients with at most that",
            "epsilon (nats)",
            .columns = (const chart_column[]){{"share", "x", "share of clients with at most that"},
                {"epsilon", "line", "epsilon (nats)"}, {"mu", "", "mu (Gaussian DP)"}, {0}}},
        rows);
    page_note(p, chart,
        page_format(
            "The smaller epsilon is, the more is protected. Quantiles of %td clients, each the number of a "
            "client; clients.csv has all of them.",
            run->clients.rows));
    json_decref(rows);
}

void page_promise_charts(page *p, const run_record *run, json_t *charts) {
    if (run_promises_nothing(run) || run->clients.rows == 0) return;
    if (run->clients.rows <= PAGE_LISTED)
        list_clients(p, run, charts);
    else
        list_quantiles(p, run, charts);
}

/* ---- the attack ---- */

/* An entry of the audit, and in words what its numbers mean. */
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

/* What holds for all of them, be they listed or not. */
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

#define PROMISE                                                                                              \
    {"verdict", "", "the promise"}, {                                                                        \
        0                                                                                                    \
    }

static const chart_form attack_charts[] = {
    {"bar", "Mu under attack", "Proved is a lower bound, promised an upper one: the truth lies between them.",
        "client", "mu (no unit)",
        .columns = (const chart_column[]){{"client", "x", "client"}, {"number", "", "number"},
            {"mu", "bar", "mu promised"}, {"mu_lower", "bar", "mu proved"},
            {"gap", "", "gap: promised - proved"}, {"mu_estimate", "", "mu estimated (no proof)"},
            {"round_mu", "", "mu of one round promised"}, {"round_mu_lower", "", "mu of one round proved"},
            {"right", "", "guesses right"}, {"ceiling", "", "mu that is proved if every guess is right"},
            {"expected", "", "mu that is proved half of the time"},
            {"gradient_norm", "", "norm of a canary's gradient"},
            {"clip_factor", "", "what the clip left of it (share)"}, {"route", "", "route"},
            {"pattern", "", "signs of the canaries"}, PROMISE}},
    {"bar", "Epsilon under attack",
        "Proved for Gaussian noise: what the proved mu means at delta. Proved by error rates alone: without "
        "any "
        "assumption, and therefore less.",
        "client", "epsilon (nats)",
        .columns = (const chart_column[]){{"client", "x", "client"}, {"number", "", "number"},
            {"epsilon", "bar", "epsilon promised (nats)"},
            {"epsilon_lower", "bar", "epsilon proved for Gaussian noise (nats)"},
            {"epsilon_lower_direct", "bar", "epsilon proved by error rates alone (nats)"},
            {"delta", "", "delta"}, PROMISE}},
    {"bar", "Rows of data under attack",
        "Rows in the place of canaries, under the configured model: realistic, and not the most that can be "
        "done.",
        "client", "mu (no unit)", "input_mu_lower",
        .columns = (const chart_column[]){{"client", "x", "client"}, {"number", "", "number"},
            {"mu", "bar", "mu promised"}, {"input_mu_lower", "bar", "mu proved by rows"},
            {"input_mu_estimate", "", "mu estimated (no proof)"},
            {"input_gradient", "", "norm of a row's gradient"},
            {"input_clip_factor", "", "what the clip left of it (share)"}, PROMISE}},
    {"bar", "Total variation under attack",
        "How well the two inputs can be told apart by what is seen: 0 not at all, 1 always. The paper's "
        "bound claims "
        "to bound it, and guarantees nothing.",
        "client", "total variation (0 to 1)", "paper_delta",
        .columns = (const chart_column[]){{"client", "x", "client"}, {"number", "", "number"},
            {"distance", "bar", "total variation promised"}, {"tv_lower", "bar", "total variation proved"},
            {"paper_delta", "bar", "no guarantee: the paper's bound"}, {"paper", "", "the paper's bound"},
            {0}}},
    {"bar", "Pairs in order under attack",
        "If there is no mu: how often the attack tells a run on one input from one on the other, at most, "
        "and proved.",
        "client", "pairs of runs in order (share)", "auc_cap",
        .columns = (const chart_column[]){{"client", "x", "client"}, {"number", "", "number"},
            {"auc_cap", "bar", "share of pairs promised at most"},
            {"auc_lower", "bar", "share of pairs proved"}, {"auc", "", "share of pairs seen (no proof)"},
            PROMISE}},
};

void page_attack_charts(page *p, const json_t *entries, ptrdiff_t clients, json_t *charts) {
    ptrdiff_t shown = (ptrdiff_t)json_array_size(entries);
    for (size_t i = 0; i < sizeof attack_charts / sizeof attack_charts[0]; i++) {
        json_t *chart = page_chart(p, charts, &attack_charts[i], entries);
        if (chart && shown < clients)
            page_note(p, chart,
                page_format(
                    "%td of %td clients: those of whose promise least is left; audit.json has all of them.",
                    shown, clients));
    }
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

#define LEVELS "mu of one local step (zero-out; no unit)"
#define LEVEL                                                                                                \
    {"head", "x", "mu of one local step (zero-out)"}, {                                                      \
        "number", "", "number"                                                                               \
    }
#define QUALITY(measure, called, unit)                                                                       \
    {                                                                                                        \
        "bar", called, NULL, LEVELS, unit, .columns = (const chart_column[]) {                               \
            LEVEL, {"closed_form." measure ".median", "bar", "closed form (median)"},                        \
                {"optimisation." measure ".median", "bar", "optimisation (median)"},                         \
                {"chance.mean." measure ".median", "bar", "chance: the mean of all (median)"},               \
                {"closed_form." measure ".best", "", "closed form (best)"},                                  \
                {"optimisation." measure ".best", "", "optimisation (best)"},                                \
                {"chance.other." measure ".median", "", "chance: another example (median)"}, {               \
                0                                                                                            \
            }                                                                                                \
        }                                                                                                    \
    }

static const chart_form inversion_charts[] = {
    {"bar", "Examples told apart",
        "Which of the candidates was it? A blurred picture is no evidence of safety: this is the test.",
        LEVELS, "picked out (share)",
        .columns =
            (const chart_column[]){LEVEL, {"identification.rate", "bar", "picked out (share of trials)"},
                {"identification.lower", "bar", "proved (share)"},
                {"identification.cap", "bar", "promised at most (share)"}, {"right", "", "right"},
                {"identification.median_rank", "", "rank of the right one (median)"},
                {"mu", "", "mu (zero-out)"}, {"mu_replace", "", "mu (replace)"},
                {"noise_sd", "", "noise (sd of an entry if the clip is C)"}, PROMISE}},
    QUALITY("psnr", "Likeness of what was rebuilt", "PSNR (dB)"),
    QUALITY("ssim", "Structure of what was rebuilt", "SSIM (1: the same)"),
    QUALITY("pearson", "Correlation of what was rebuilt", "Pearson r (1: the same)"),
};

void page_inversion_charts(page *p, const json_t *inversion, json_t *charts) {
    json_t *rows = json_array();
    const json_t *level;
    size_t i;
    json_array_foreach(json_object_get(inversion, "levels"), i, level)
        page_add(p, rows, level_of(p, inversion, level, i));
    for (i = 0; inversion && i < sizeof inversion_charts / sizeof inversion_charts[0]; i++)
        page_put(p, page_chart(p, charts, &inversion_charts[i], rows), "named", json_true());
    json_decref(rows);
}

/* ---- the equilibrium ---- */

/* All clients by their preference; of many, evenly many from the first to the last. */
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

void page_game_charts(page *p, const run_record *run, json_t *charts) {
    const char *control = page_control(run);
    char axis[32], title[64];
    if (!json_is_object(run_value(run->summary, "game")) || run->clients.rows == 0) return;
    json_t *rows = list_choices(p, run);
    snprintf(axis, sizeof axis, "%s (no unit)", control);
    snprintf(title, sizeof title, "action: %s", axis);
    json_t *chart = page_chart(p, charts,
        &(const chart_form){"scatter", "Preference against action",
            strcmp(control, "strength") == 0 ? "The larger a strength is, the more noise its client adds."
                                             : "The larger a budget is, the less noise its client adds.",
            "preference for privacy (no unit)", axis,
            .columns = (const chart_column[]){{"name", "", "client"},
                {"preference", "x", "preference (no unit)"}, {"action", "point", title}, {0}}},
        rows);
    if (run->clients.rows > PAGE_LISTED)
        page_note(p, chart,
            page_format(
                "%d of %td clients, evenly from the smallest preference to the largest; clients.csv has all.",
                (int)PAGE_LISTED, run->clients.rows));
    json_decref(rows);
}

/* ---- rounds ---- */

/* A quantity and its words. */
typedef struct quantity {
    const char *column;
    const char *axis; /* with the unit */
    const char *role; /* of its line */
} quantity;

typedef struct groups {
    const run_group *group;
    ptrdiff_t count, sweeps;
} groups;

/* What a cell of a round shows of a group: the number of its run, or of a sweep mean, smallest and largest. */
static void add_cells(page *p, const run_group *group, const char *column, ptrdiff_t round, json_t *row) {
    run_band band = run_group_band(group, column, round);
    const run_table *low = &group->run[band.lowest].rounds, *high = &group->run[band.highest].rounds;
    int there = band.runs > 0;
    if (group->count > 1) page_add(p, row, page_number(band.mean));
    page_add(p, row, page_text(there ? run_table_text(low, column, round) : ""));
    if (group->count > 1) page_add(p, row, page_text(there ? run_table_text(high, column, round) : ""));
}

static void add_columns(
    page *p, const groups *all, const run_group *group, const quantity *what, json_t *chart) {
    const char *label = all->count > 1 ? group->label : "", *colon = all->count > 1 ? ": " : "";
    if (group->count == 1) {
        page_column(p, chart, what->role, page_format("%s%s%s", label, colon, what->axis));
        return;
    }
    page_column(p, chart, what->role, /* gnuplot 5 ends a column's title at a comma, quoted or not */
        page_format("%s%s%s; mean of %td seeds", label, colon, what->axis, group->count));
    page_column(p, chart, "low", page_format("%s%ssmallest", label, colon));
    page_column(p, chart, "high", page_format("%s%slargest", label, colon));
}

/* 1 if some run has a number of some quantity in the round. */
static int has_round(const groups *all, const quantity *what, ptrdiff_t round) {
    for (; what->column; what++)
        for (ptrdiff_t s = 0; s < all->count; s++)
            if (run_group_band(&all->group[s], what->column, round).runs > 0) return 1;
    return 0;
}

/* Which groups have a quantity of a chart, which has at most two. */
typedef struct holders {
    int has[2][MFPG_REPORT_MOST_RUNS];
} holders;

/* The rounds in which there is a number; of long runs every so many, and the last, so that a page stays small. */
static void add_rows(page *p, const groups *all, const quantity *what, const holders *which, json_t *chart) {
    ptrdiff_t most = MOST_ROUNDS / all->count, rounds = 0, counted = 0, last = -1, seen = 0;
    if (most < FEWEST_ROUNDS) most = FEWEST_ROUNDS;
    for (ptrdiff_t s = 0; s < all->count; s++)
        if (run_group_rounds(&all->group[s]) > rounds) rounds = run_group_rounds(&all->group[s]);
    for (ptrdiff_t t = 0; t < rounds; t++)
        if (has_round(all, what, t)) counted++, last = t;
    ptrdiff_t step = (counted + most - 1) / most;
    for (ptrdiff_t t = 0; t <= last; t++) {
        if (!has_round(all, what, t) || (seen++ % step != 0 && t != last)) continue;
        json_t *row = page_add(p, json_object_get(chart, "rows"), json_array());
        page_add(p, row, page_format("%td", t + 1));
        for (int w = 0; what[w].column; w++)
            for (ptrdiff_t s = 0; s < all->count; s++)
                if (which->has[w][s]) add_cells(p, &all->group[s], what[w].column, t, row);
    }
    if (step > 1)
        page_note(
            p, chart, page_format("One of %td rounds, and the last; rounds.csv has all of them.", step));
}

/* A chart of quantities, up to one without a column; none if no run has the first. NULL if there is none. */
static json_t *add_chart(
    page *p, const groups *all, const char *title, const char *note, const quantity *what, json_t *charts) {
    holders which = {0};
    ptrdiff_t with = 0;
    for (int w = 0; what[w].column; w++)
        for (ptrdiff_t s = 0; s < all->count; s++)
            which.has[w][s] = run_group_last(&all->group[s], what[w].column) >= 0;
    for (ptrdiff_t s = 0; s < all->count; s++) with += which.has[0][s];
    if (with == 0) return NULL;
    json_t *chart = page_chart(p, charts,
        &(const chart_form){.kind = "line", .title = title, .note = note, .x = "round", .y = what->axis},
        NULL);
    page_column(p, chart, "x", json_string("round"));
    for (int w = 0; what[w].column; w++)
        for (ptrdiff_t s = 0; s < all->count; s++)
            if (which.has[w][s]) add_columns(p, all, &all->group[s], &what[w], chart);
    if (all->sweeps > 0)
        page_note(p, chart,
            json_string(
                "Of a sweep the line is the mean over its seeds, and the band reaches from the smallest to "
                "the largest."));
    add_rows(p, all, what, &which, chart);
    return chart;
}

/* The loss of some models is a sum over the rows. */
static const char *loss_axis(const groups *all) {
    ptrdiff_t sums = 0;
    for (ptrdiff_t s = 0; s < all->count; s++)
        sums += (mfpg_model_facts(mfpg_config_text(all->group[s].run[0].config, "task.model")) &
                    MFPG_MODEL_SUMS_ROWS) != 0;
    return sums == 0            ? "loss (mean over rows)"
           : sums == all->count ? "loss (sum over rows)"
                                : "loss (mean over rows; quadratic: sum)";
}

void page_round_charts(page *p, const run_group *group, ptrdiff_t count, json_t *charts) {
    static const char private[] = "Computed on private data; not covered by any certificate.";
    groups all = {group, count, 0};
    for (ptrdiff_t s = 0; s < count; s++) all.sweeps += group[s].count > 1;
    add_chart(p, &all, "Loss", private, (const quantity[]){{"loss", loss_axis(&all), "line"}, {0}}, charts);
    add_chart(p, &all, "Accuracy", private,
        (const quantity[]){{"accuracy", "accuracy (share of rows)", "line"}, {0}}, charts);
    add_chart(p, &all, "Epsilon",
        "Epsilon is certified: an upper bound for the client that is protected least, after so many rounds. "
        "Dashed: "
        "what the paper's formula prints, which is no guarantee.",
        (const quantity[]){{"epsilon", "epsilon (nats)", "line"},
            {"paper_epsilon", "no guarantee: paper_epsilon", "dash"}, {0}},
        charts);
    json_t *delta = add_chart(p, &all, "The paper's delta",
        "What the paper's bound claims: no guarantee. The delta that is certified is the one promised above, "
        "in every "
        "round.",
        (const quantity[]){{"paper_delta", "no guarantee: paper_delta", "dash"}, {0}}, charts);
    if (delta) page_put(p, delta, "log", json_true());
    add_chart(p, &all, "Noise to signal",
        "Above 1 the noise of a round's average is larger than what it carries. Computed on private data; "
        "not covered "
        "by any certificate.",
        (const quantity[]){{"noise_to_signal", "noise/signal (ratio of norms)", "line"}, {0}}, charts);
    add_chart(p, &all, "Mean action", "A strength is more noise the larger it is, a budget less.",
        (const quantity[]){{"mean_action", "mean action (no unit)", "line"}, {0}}, charts);
}
