/* Several runs side by side: what came out, and in which keys they differ. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "experiment/config/settings.h"
#include "base/memory.h"
#include "mfpg/experiment.h"
#include "view.h"

/* ---- what came out ---- */

/* The last round of a column: of a sweep the mean over the seeds. */
static json_t *last_of(const run_set *set, const char *column) {
    for (ptrdiff_t t = run_set_rounds(set) - 1; t >= 0; t--) {
        run_band band = run_set_band(set, column, t);
        if (band.runs == 0) continue;
        if (set->count == 1) return view_text(run_round_text(&set->run[0], column, t));
        return view_number(band.mean);
    }
    return view_text("");
}

static json_t *largest_epsilon(const run_set *set) {
    const char *text = "";
    double most = -1.0;
    for (ptrdiff_t i = 0; i < set->count; i++) {
        ptrdiff_t k = run_client_extreme(&set->run[i], "epsilon", 1);
        if (k < 0 || !(run_client_number(&set->run[i], "epsilon", k) > most)) continue;
        most = run_client_number(&set->run[i], "epsilon", k);
        text = run_client_text(&set->run[i], "epsilon", k);
    }
    return view_text(text);
}

static json_t *promise_of(const run_record *run) {
    if (run_promises_nothing(run)) return view_text("nothing is promised");
    return view_format("%s, %s, %s", run_text(run, "promise.unit"), run_text(run, "promise.adjacency"),
        run_text(run, "promise.view"));
}

static void add_run(view *v, const run_set *set, json_t *rows) {
    const run_record *run = &set->run[0];
    json_t *row = view_add(v, rows, json_object());
    view_put(v, row, "label", view_text(set->label));
    view_put(v, row, "method", view_text(run_text(run, "method.name")));
    view_put(v, row, "runs", view_format("%td", set->count));
    view_put(v, row, "clients", view_format("%td", run->clients.rows));
    view_put(v, row, "rounds", view_format("%td", run_set_rounds(set)));
    view_put(v, row, "promise", promise_of(run));
    view_put(v, row, "delta", view_number(run_number(run, "promise.delta")));
    view_put(v, row, "epsilon", largest_epsilon(set));
    view_put(v, row, "attacked", view_text(run_set_attacked(set)));
    view_put(v, row, "loss", last_of(set, "loss"));
    view_put(v, row, "accuracy", last_of(set, "accuracy"));
    view_put(v, row, "exploitability", view_number(run_number(run, "game.exploitability.max")));
}

/* ---- where they differ ---- */

static void free_values(char **value, ptrdiff_t count) {
    for (ptrdiff_t s = 0; s < count; s++) free(value[s]);
}

/* The values of a key in every run, where they are not all the same. The seeds of a sweep are no value. */
static void add_key(view *v, const run_set *sets, ptrdiff_t count, ptrdiff_t index, const char *path,
    char **value, json_t *keys) {
    int differ = 0, whole = 1;
    for (ptrdiff_t s = 0; s < count; s++) {
        const int seeds = sets[s].count > 1 && strcmp(path, "seed") == 0;
        value[s] = seeds ? mfpg_text_copy("each its own", strlen("each its own"))
                         : mfpg_config_value(sets[s].run[0].config, index);
        whole = whole && value[s];
        differ = differ || (whole && strcmp(value[0], value[s]) != 0);
    }
    if (!whole) v->failed = 1;
    if (!whole || !differ) return;
    json_t *key = view_add(v, keys, json_object());
    view_put(v, key, "path", view_text(path));
    json_t *values = view_new_list(v, key, "values");
    for (ptrdiff_t s = 0; s < count; s++) view_add(v, values, view_text(value[s]));
}

void view_differences(view *v, const run_set *sets, ptrdiff_t count, json_t *keys) {
    char **value = mfpg_alloc(count, sizeof *value);
    const mfpg_options *list = mfpg_config_options();
    if (!value) v->failed = 1;
    for (ptrdiff_t i = 0; value && i < list->count; i++) {
        add_key(v, sets, count, i, list->option[i].name, value, keys);
        free_values(value, count);
        memset(value, 0, (size_t)count * sizeof *value);
    }
    free(value);
}

void view_comparison(view *v, const run_set *sets, ptrdiff_t count, json_t *out) {
    json_t *comparison = json_object();
    view_put(v, out, "comparison", comparison);
    json_t *rows = view_new_list(v, comparison, "runs");
    for (ptrdiff_t s = 0; s < count; s++) add_run(v, &sets[s], rows);
    view_differences(v, sets, count, view_new_list(v, comparison, "keys"));
    view_put(v, comparison, "selection", view_text(MFPG_SELECTION_NOTE));
}
