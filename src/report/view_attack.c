/* Under attack: what an audit proved of each client, beside what was promised. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "audit_record.h"
#include "base/memory.h"
#include "base/number.h"
#include "view.h"

/* ---- tables: a chart's columns, each a key of the audit's clients ---- */

typedef struct measure {
    const char *key, *role, *title;
} measure;

enum { MEASURES = 14 };

typedef struct exhibit {
    const char *title, *axis, *note;
    const char *needs; /* a key that some client must have a number of; NULL: any */
    measure measure
        [MEASURES]; /* up to the first without a key; a column that nobody has anything in is left out */
} exhibit;

/* What is no key of the file: the verdict in words, whether the paper's bound survived, and how many guesses were right. */
static const char VERDICT[] = "@verdict", PAPER[] = "@paper", GUESSES[] = "@guesses";

static const exhibit exhibits[] = {
    {"Mu under attack", "mu (no unit)",
        "Proved is a lower bound, promised an upper one: the truth lies between them.", NULL,
        {{"mu", "bar", "mu promised"}, {"mu_lower", "bar", "mu proved"},
            {"gap", "", "gap: promised - proved"}, {"mu_estimate", "", "mu estimated (no proof)"},
            {"round_mu", "", "mu of one round promised"}, {"round_mu_lower", "", "mu of one round proved"},
            {GUESSES, "", "guesses right"}, {"ceiling", "", "mu that is proved if every guess is right"},
            {"expected", "", "mu that is proved half of the time"},
            {"gradient_norm", "", "norm of a canary's gradient"},
            {"clip_factor", "", "what the clip left of it (share)"}, {"route", "", "route"},
            {"pattern", "", "signs of the canaries"}, {VERDICT, "", "the promise"}}},
    {"Epsilon under attack", "epsilon (nats)",
        "Proved for Gaussian noise: what the proved mu means at delta. Proved by error rates alone: without "
        "any "
        "assumption, and therefore less.",
        NULL,
        {{"epsilon", "bar", "epsilon promised (nats)"},
            {"epsilon_lower", "bar", "epsilon proved for Gaussian noise (nats)"},
            {"epsilon_lower_direct", "bar", "epsilon proved by error rates alone (nats)"},
            {"delta", "", "delta"}, {VERDICT, "", "the promise"}}},
    {"Rows of data under attack", "mu (no unit)",
        "Rows in the place of canaries, under the configured model: realistic, and not the most that can be "
        "done.",
        "input_mu_lower",
        {{"mu", "bar", "mu promised"}, {"input_mu_lower", "bar", "mu proved by rows"},
            {"input_mu_estimate", "", "mu estimated (no proof)"},
            {"input_gradient", "", "norm of a row's gradient"},
            {"input_clip_factor", "", "what the clip left of it (share)"}, {VERDICT, "", "the promise"}}},
    {"Total variation under attack", "total variation (0 to 1)",
        "How well the two inputs can be told apart by what is seen: 0 not at all, 1 always. The paper's "
        "bound claims to bound it, "
        "and "
        "guarantees "
        "nothing.",
        "paper_delta",
        {{"distance", "bar", "total variation promised"}, {"tv_lower", "bar", "total variation proved"},
            {"paper_delta", "bar", "no guarantee: the paper's bound"}, {PAPER, "", "the paper's bound"}}},
    {"Pairs in order under attack", "pairs of runs in order (share)",
        "Where there is no mu: how often the attack tells a run on one input from one on the other, at most, "
        "and "
        "proved.",
        "auc_cap",
        {{"auc_cap", "bar", "share of pairs promised at most"}, {"auc_lower", "bar", "share of pairs proved"},
            {"auc", "", "share of pairs seen (no proof)"}, {VERDICT, "", "the promise"}}},
};

static json_t *cell_of(const json_t *client, const char *key) {
    if (key == GUESSES)
        return view_format("%.0f of %.0f", audit_number(client, "correct"), audit_number(client, "guesses"));
    if (key == VERDICT)
        return view_text(isinf(audit_number(client, "epsilon"))            ? "nothing is promised"
                         : json_is_true(json_object_get(client, "stands")) ? "stands"
                                                                           : "BROKEN");
    if (key == PAPER) {
        double claimed = audit_number(client, "paper_delta"), proved = audit_number(client, "tv_lower");
        return view_text(isnan(claimed) ? "" : proved > claimed ? "refuted" : "not refuted");
    }
    const json_t *value = json_object_get(client, key);
    if (json_is_string(value)) return view_text(json_string_value(value));
    return json_is_number(value) ? view_number(json_number_value(value)) : view_text("");
}

static int anybody_has(const json_t *clients, const char *key) {
    size_t i;
    json_t *client;
    if (key[0] == '@' && key != GUESSES) return 1;
    json_array_foreach(clients, i, client) {
        if (key == GUESSES && audit_number(client, "guesses") > 0.0) return 1;
        const json_t *value = json_object_get(client, key);
        if (value && !json_is_null(value)) return 1;
    }
    return 0;
}

static void add_row(view *v, const exhibit *shown, const json_t *clients, ptrdiff_t number, json_t *chart) {
    const json_t *client = json_array_get(clients, (size_t)number);
    json_t *row = view_row(v, chart, view_text(json_string_value(json_object_get(client, "client"))));
    view_put(v, row, "mark", json_boolean(json_is_false(json_object_get(client, "stands"))));
    view_cell(v, row, view_format("%td", number));
    for (const measure *m = shown->measure; m < shown->measure + MEASURES && m->key; m++)
        if (anybody_has(clients, m->key)) view_cell(v, row, cell_of(client, m->key));
}

static void add_exhibit(view *v, const exhibit *shown, const json_t *clients, const ptrdiff_t *order,
    ptrdiff_t count, json_t *charts) {
    if (shown->needs && !anybody_has(clients, shown->needs)) return;
    json_t *chart = view_chart(v, charts, "bar", shown->title, "client", shown->axis);
    json_t *notes = json_object_get(chart, "notes");
    view_add(v, notes, view_text(shown->note));
    if (count < (ptrdiff_t)json_array_size(clients))
        view_add(v, notes,
            view_format(
                "%td of %zu clients: those of whose promise least is left; audit.json has all of them.",
                count, json_array_size(clients)));
    view_column(v, chart, "x", view_text("client"));
    view_column(v, chart, "", view_text("number"));
    for (const measure *m = shown->measure; m < shown->measure + MEASURES && m->key; m++)
        if (anybody_has(clients, m->key)) view_column(v, chart, m->role, view_text(m->title));
    for (ptrdiff_t i = 0; i < count; i++) add_row(v, shown, clients, order[i], chart);
}

/* ---- which clients ---- */

typedef struct margin {
    ptrdiff_t client;
    double left; /* the smallest share of a promise that was not used up; negative: broken */
} margin;

static double margin_of(const json_t *client) {
    double least = json_is_true(json_object_get(client, "stands")) ? 1.0 : -1.0;
    for (int i = 0; i < AUDIT_PAIRS; i++) {
        double promised = audit_number(client, audit_pairs[i].promised),
               proved = audit_number(client, audit_pairs[i].proved);
        if (isfinite(promised) && promised > 0.0) least = fmin(least, 1.0 - proved / promised);
    }
    return least;
}

static int by_margin(const void *a, const void *b) {
    const margin *x = a, *y = b;
    if (x->left != y->left) return (x->left > y->left) - (x->left < y->left);
    return (x->client > y->client) - (x->client < y->client);
}

static int by_index(const void *a, const void *b) {
    ptrdiff_t x = *(const ptrdiff_t *)a, y = *(const ptrdiff_t *)b;
    return (x > y) - (x < y);
}

/* Everybody, or of many those of whose promise least is left, in the order of the run. Returns how many; free *order. */
static ptrdiff_t choose(view *v, const json_t *clients, ptrdiff_t **order) {
    ptrdiff_t count = (ptrdiff_t)json_array_size(clients), shown = count < VIEW_LISTED ? count : VIEW_LISTED;
    margin *margins = mfpg_alloc(count, sizeof *margins);
    *order = mfpg_alloc(shown, sizeof **order);
    if (!margins || !*order) v->failed = 1;
    for (ptrdiff_t k = 0; k < count && !v->failed; k++)
        margins[k] = (margin){k, margin_of(json_array_get(clients, (size_t)k))};
    if (!v->failed) qsort(margins, (size_t)count, sizeof *margins, by_margin);
    for (ptrdiff_t i = 0; i < shown && !v->failed; i++) (*order)[i] = margins[i].client;
    if (!v->failed) qsort(*order, (size_t)shown, sizeof **order, by_index);
    free(margins);
    return v->failed ? 0 : shown;
}

/* ---- words ---- */

static json_t *attack_in_words(const json_t *audit) {
    const char *method = json_string_value(json_object_get(audit, "method"));
    long long runs = json_integer_value(json_object_get(audit, "runs")),
              patterns = json_integer_value(json_object_get(audit, "patterns")),
              seed = json_integer_value(json_object_get(audit, "seed"));
    if (method && strcmp(method, "one-run") == 0)
        return view_format("one whole run with many canaries, seed %lld", seed);
    if (method && strcmp(method, "few-runs") == 0)
        return view_format("%lld whole runs with many canaries in each%s, seed %lld", runs,
            json_is_true(json_object_get(audit, "stopped")) ? ", stopped there" : "", seed);
    if (patterns > 1)
        return view_format(
            "%lld whole runs with each of %lld patterns of canaries, seed %lld", runs, patterns, seed);
    return view_format("%lld whole runs with canaries, seed %lld", runs, seed);
}

static void put_facts(view *v, const json_t *audit, json_t *attack) {
    json_t *facts = view_new_list(v, attack, "facts");
    const json_t *promise = json_object_get(audit, "promise");
    double confidence = audit_number(audit, "confidence");
    char text[MFPG_NUMBER_SIZE], own[MFPG_NUMBER_SIZE];
    view_fact(v, facts, "The attack", attack_in_words(audit));
    view_fact(v, facts, "Confidence",
        view_format(
            "%s that everything proved of all clients holds: at most one such audit in %.4g errs. Of one "
            "client alone: %s",
            mfpg_number_format(confidence, text), 1.0 / (1.0 - confidence),
            mfpg_number_format(audit_number(audit, "client_confidence"), own)));
    view_fact(v, facts, "What was attacked",
        view_format("unit %.40s, adjacency %.40s, view %.40s, delta %s",
            json_string_value(json_object_get(promise, "unit")),
            json_string_value(json_object_get(promise, "adjacency")),
            json_string_value(json_object_get(promise, "view")),
            mfpg_number_format(audit_number(promise, "delta"), text)));
}

/* What was proved of a client that it must not be, each number as it stands in the file. */
static void add_broken(view *v, const json_t *client, json_t *broken) {
    static const char *const names[AUDIT_PAIRS] = {"mu", "epsilon", "total variation",
        "share of pairs in order", "mu of one round", "mu by rows of data"};
    char text[512] = "", promised[MFPG_NUMBER_SIZE], proved[MFPG_NUMBER_SIZE];
    size_t used = 0;
    for (int i = 0; i < AUDIT_PAIRS; i++) {
        if (!audit_pair_broken(client, &audit_pairs[i])) continue;
        int more = snprintf(text + used, sizeof text - used, "%s%s %s proved, %s promised", used ? "; " : "",
            names[i], mfpg_number_format(audit_number(client, audit_pairs[i].proved), proved),
            mfpg_number_format(audit_number(client, audit_pairs[i].promised), promised));
        used += more > 0 && (size_t)more < sizeof text - used ? (size_t)more : 0;
    }
    json_t *entry = view_add(v, broken, json_object());
    view_put(v, entry, "name", view_text(json_string_value(json_object_get(client, "client"))));
    view_put(v, entry, "what", view_text(used ? text : "its entry in audit.json says so"));
}

/* The range of proved mu over promised mu. */
static json_t *reach_of(const json_t *clients) {
    double least = INFINITY, most = -INFINITY;
    size_t i, count = json_array_size(clients);
    json_t *client;
    json_array_foreach(clients, i, client) {
        double promised = audit_number(client, "mu"), proved = audit_number(client, "mu_lower");
        if (!isfinite(promised) || !(promised > 0.0) || isnan(proved)) continue;
        least = fmin(least, proved / promised);
        most = fmax(most, proved / promised);
    }
    const char *promises = count == 1 ? "The promise stands" : "Every promise stands";
    if (!(least <= most)) return view_format("%s.", promises);
    if (!(most > 0.0)) return view_format("%s: this attack proved nothing of mu.", promises);
    if (floor(least * 100.0) == floor(most * 100.0))
        return view_format(
            "%s: the attack proved %.0f %% of the promised mu.", promises, floor(least * 100.0));
    return view_format("%s: the attack proved %.0f %% to %.0f %% of the promised mu, by client.", promises,
        floor(least * 100.0), floor(most * 100.0));
}

static void put_verdict(view *v, const json_t *clients, json_t *attack) {
    json_t *broken = view_new_list(v, attack, "broken");
    size_t i, refuted = 0;
    json_t *client;
    json_array_foreach(clients, i, client) {
        if (json_is_false(json_object_get(client, "stands"))) add_broken(v, client, broken);
        refuted += audit_number(client, "tv_lower") > audit_number(client, "paper_delta");
    }
    view_put(v, attack, "verdict", json_array_size(broken) ? json_null() : reach_of(clients));
    view_put(v, attack, "paper",
        refuted ? view_format(
                      "The paper's bound of the last model, which is no promise, is refuted: of %zu of %zu "
                      "clients the "
                      "attack proved more than it allows.",
                      refuted, json_array_size(clients))
                : json_null());
}

/* The clients, and behind them, where they were also taken as one sample, what stands for all of them. */
static json_t *judged_of(view *v, const json_t *audit) {
    json_t *judged = json_array(), *together = json_object_get(audit, "together");
    if (!judged || json_array_extend(judged, json_object_get(audit, "clients")) != 0) v->failed = 1;
    if (together && json_array_append(judged, together) != 0) v->failed = 1;
    return judged;
}

/* The audit plays all rounds of the configuration, with its own accountants; a run that was stopped has spent less. */
static json_t *difference(const run_record *run, const json_t *clients) {
    for (ptrdiff_t k = 0; k < run->clients.rows; k++) {
        double attacked = audit_number(json_array_get(clients, (size_t)k), "epsilon"),
               spent = run_client_number(run, "epsilon", k);
        if (isnan(attacked) || isnan(spent) || attacked == spent) continue;
        return view_text(
            "What was attacked is a whole run of this configuration. It promises other epsilons than "
            "this run has spent, "
            "which are above.");
    }
    return json_null();
}

static void put_attack(view *v, const run_set *set, const json_t *judged, json_t *attack) {
    put_verdict(v, judged, attack);
    put_facts(v, set->audit, attack);
    view_put(v, attack, "difference", difference(&set->run[0], json_object_get(set->audit, "clients")));
    view_put(v, attack, "of_sweep",
        set->count > 1
            ? view_format(
                  "Attacked was the configuration of %s, the first of %td runs that differ in the seed.",
                  set->run[0].folder, set->count)
            : json_null());
    json_t *charts = view_new_list(v, attack, "charts");
    ptrdiff_t *order = NULL, count = choose(v, judged, &order);
    for (size_t i = 0; i < sizeof exhibits / sizeof exhibits[0]; i++)
        add_exhibit(v, &exhibits[i], judged, order, count, charts);
    free(order);
}

void view_attack(view *v, const run_set *set, json_t *out) {
    int made = json_object_get(set->audit, "clients") != NULL;
    view_put(v, out, "attack", made ? json_object() : json_null());
    view_put(v, out, "unattacked", json_boolean(!set->audit));
    if (!made) return;
    json_t *judged = judged_of(v, set->audit);
    put_attack(v, set, judged, json_object_get(out, "attack"));
    json_decref(judged);
}
