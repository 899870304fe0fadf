#include "comparison.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/fields.h"
#include "base/memory.h"
#include "federation/run_folder.h"
#include "mfpg/experiment.h"

/* ---- one run ---- */

static double last_number(const run_set *set, const char *column) {
    for (ptrdiff_t t = run_set_rounds(set) - 1; t >= 0; t--) {
        run_band band = run_set_band(set, column, t);
        if (band.runs > 0) return band.mean;
    }
    return NAN;
}

static double largest_epsilon(const run_set *set) {
    double most = NAN;
    for (ptrdiff_t i = 0; i < set->count; i++) {
        ptrdiff_t k = run_client_extreme(&set->run[i], "epsilon", 1);
        if (k >= 0) most = fmax(most, run_client_number(&set->run[i], "epsilon", k));
    }
    return most;
}

/* The fields of those places in a part of the summary; field "a.b" is told as a. */
static json_t *part_of(
    view *v, const run_record *run, const char *part, const mfpg_fields *fields, int places) {
    if (!run_value(run, part)) return json_null();
    json_t *out = json_object();
    for (const mfpg_record_field *f = fields->field; f < fields->field + fields->count; f++) {
        char path[128], name[64];
        if (!(f->places & places)) continue;
        snprintf(path, sizeof path, "%s.%s", part, f->name);
        snprintf(name, sizeof name, "%.*s", (int)strcspn(f->name, "."), f->name);
        view_copy(v, out, name, run_value(run, path));
    }
    return out;
}

static void add_run(view *v, const run_set *set, json_t *runs) {
    const run_record *run = &set->run[0];
    json_t *one = view_add(v, runs, json_object());
    view_put(v, one, "label", view_text(set->label));
    view_put(v, one, "folder", view_text(run->folder));
    view_put(v, one, "method", view_text(run_text(run, "method.name")));
    view_put(v, one, "status", view_text(run_text(run, "status")));
    view_put(v, one, "seeds", json_integer(set->count));
    view_put(v, one, "clients", json_integer(run->clients.rows));
    view_put(v, one, "rounds", json_integer(run_set_rounds(set)));
    view_put(v, one, "promise", part_of(v, run, "promise", &mfpg_promise_fields, MFPG_FIELD_JSON));
    view_put(v, one, "certificate", json_boolean(run_truth(run, "certificate")));
    view_put(v, one, "epsilon", mfpg_json_number(largest_epsilon(set)));
    view_put(v, one, "under_attack", view_text(run_set_attacked(set)));
    view_put(v, one, "loss", mfpg_json_number(last_number(set, "loss")));
    view_put(v, one, "accuracy", mfpg_json_number(last_number(set, "accuracy")));
    view_put(v, one, "noise_to_signal", mfpg_json_number(last_number(set, "noise_to_signal")));
    view_put(v, one, "game", part_of(v, run, "game", &mfpg_game_fields, MFPG_GAME_COMPARED));
}

/* ---- each client in both ---- */

typedef struct pair {
    ptrdiff_t here, there; /* -1: not there */
    double difference;     /* of the epsilons; infinite where only one has one */
} pair;

typedef struct named {
    const char *name;
    char number[32];
    ptrdiff_t client;
} named;

static int by_name(const void *a, const void *b) {
    const named *x = a, *y = b;
    int order = strcmp(x->name, y->name);
    return order ? order : (x->client > y->client) - (x->client < y->client);
}

/* The clients by their names; free the list. NULL without memory. */
static named *sort_names(const run_record *run) {
    named *list = mfpg_alloc(run->clients.rows, sizeof *list);
    for (ptrdiff_t k = 0; list && k < run->clients.rows; k++) {
        list[k].name = run_client_name(run, k, list[k].number);
        list[k].client = k;
    }
    if (list) qsort(list, (size_t)run->clients.rows, sizeof *list, by_name);
    for (ptrdiff_t k = 0; list && k < run->clients.rows; k++) /* sorting has moved the buffers */
        list[k].name = run_client_name(run, list[k].client, list[k].number);
    return list;
}

static double difference_of(const run_set *sets, ptrdiff_t here, ptrdiff_t there) {
    if (here < 0 || there < 0) return INFINITY;
    double a = run_client_number(&sets[0].run[0], "epsilon", here),
           b = run_client_number(&sets[1].run[0], "epsilon", there);
    return a == b || (isnan(a) && isnan(b)) ? 0.0
           : isfinite(a) && isfinite(b)     ? fabs(a - b)
                                            : (double)INFINITY;
}

/* Merges the two lists of names into pairs; returns their number. */
static ptrdiff_t merge(const run_set *sets, const named *a, const named *b, pair *out) {
    ptrdiff_t n = sets[0].run[0].clients.rows, m = sets[1].run[0].clients.rows, count = 0;
    for (ptrdiff_t i = 0, j = 0; i < n || j < m; count++) {
        int order = i == n ? 1 : j == m ? -1 : strcmp(a[i].name, b[j].name);
        ptrdiff_t here = order <= 0 ? a[i++].client : -1, there = order >= 0 ? b[j++].client : -1;
        out[count] = (pair){here, there, difference_of(sets, here, there)};
    }
    return count;
}

static int by_difference(const void *a, const void *b) {
    const pair *x = a, *y = b;
    if (x->difference != y->difference)
        return (x->difference < y->difference) - (x->difference > y->difference);
    if (x->here != y->here) return (x->here > y->here) - (x->here < y->here);
    return (x->there > y->there) - (x->there < y->there);
}

/* In the order of the first run, then what only the second has. */
static int by_client(const void *a, const void *b) {
    const pair *x = a, *y = b;
    if ((x->here < 0) != (y->here < 0)) return (x->here < 0) - (y->here < 0);
    if (x->here != y->here) return (x->here > y->here) - (x->here < y->here);
    return (x->there > y->there) - (x->there < y->there);
}

static json_t *both(const run_set *sets, const char *column, const pair *at) {
    double a = at->here < 0 ? (double)NAN : run_client_number(&sets[0].run[0], column, at->here);
    double b = at->there < 0 ? (double)NAN : run_client_number(&sets[1].run[0], column, at->there);
    return json_pack("[o, o]", mfpg_json_number(a), mfpg_json_number(b));
}

static void add_client(view *v, const run_set *sets, const pair *at, json_t *list) {
    char number[32];
    json_t *client = view_add(v, list, json_object());
    view_put(v, client, "name",
        view_text(at->here >= 0 ? run_client_name(&sets[0].run[0], at->here, number)
                                : run_client_name(&sets[1].run[0], at->there, number)));
    view_put(v, client, "epsilon", both(sets, "epsilon", at));
    view_put(v, client, "action", both(sets, "action", at));
}

static void put_clients(view *v, const run_set *sets, json_t *out) {
    json_t *list = view_new_list(v, out, "clients");
    named *a = sort_names(&sets[0].run[0]), *b = sort_names(&sets[1].run[0]);
    pair *pairs = mfpg_alloc(sets[0].run[0].clients.rows + sets[1].run[0].clients.rows, sizeof *pairs);
    if (!a || !b || !pairs) v->failed = 1;
    ptrdiff_t count = a && b && pairs ? merge(sets, a, b, pairs) : 0, listed = count;
    if (count > COMPARISON_LISTED) {
        listed = COMPARISON_LISTED;
        qsort(pairs, (size_t)count, sizeof *pairs, by_difference);
    }
    if (listed > 0) qsort(pairs, (size_t)listed, sizeof *pairs, by_client);
    for (ptrdiff_t i = 0; i < listed; i++) add_client(v, sets, &pairs[i], list);
    view_put(v, out, "clients_left_out", json_integer(count - listed));
    free(a);
    free(b);
    free(pairs);
}

/* ---- whether their epsilons say the same ---- */

static void put_comparable(view *v, const run_set *sets, json_t *out) {
    static const char *const words[] = {"promise.unit", "promise.adjacency", "promise.view"};
    const run_record *a = &sets[0].run[0], *b = &sets[1].run[0];
    const char *why = NULL;
    if (run_promises_nothing(a) || run_promises_nothing(b)) why = "one of the runs promises nothing";
    for (size_t i = 0; i < sizeof words / sizeof words[0] && !why; i++)
        if (strcmp(run_text(a, words[i]), run_text(b, words[i])) != 0)
            why = "unit, adjacency or view differ, so that an epsilon of one says nothing about one of the "
                  "other";
    if (!why && run_number(a, "promise.delta") != run_number(b, "promise.delta"))
        why = "delta differs, so that an epsilon of one says nothing about one of the other";
    view_put(v, out, "comparable", json_boolean(!why));
    view_put(v, out, "why", view_text(why));
}

json_t *comparison_of(mfpg_context *ctx, const run_set *sets) {
    view v = {.ctx = ctx};
    json_t *out = json_object();
    json_t *runs = view_new_list(&v, out, "runs");
    for (int s = 0; s < 2; s++) add_run(&v, &sets[s], runs);
    view_differences(&v, sets, 2, view_new_list(&v, out, "configuration"));
    put_comparable(&v, sets, out);
    put_clients(&v, sets, out);
    view_put(&v, out, "metrics", view_text(MFPG_METRICS_NOTE));
    view_put(&v, out, "selection", view_text(MFPG_SELECTION_NOTE));
    if (!v.failed) return out;
    json_decref(out);
    return NULL;
}
