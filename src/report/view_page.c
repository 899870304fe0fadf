/* The whole page. */
#include "audit_record.h"
#include "base/error.h"
#include "view.h"

static void number_charts(view *v, json_t *charts, int *next) {
    size_t i;
    json_t *chart;
    json_array_foreach(charts, i, chart) view_put(v, chart, "id", view_format("chart-%d", ++*next));
}

/* A page has one numbering of its charts; whoever jumps to one, and the labels, need it. */
static void number_all(view *v, json_t *page) {
    size_t i;
    json_t *run;
    int next = 0;
    json_array_foreach(json_object_get(page, "runs"), i, run) {
        number_charts(v, json_object_get(json_object_get(run, "promise"), "charts"), &next);
        number_charts(v, json_object_get(json_object_get(run, "attack"), "charts"), &next);
        number_charts(v, json_object_get(json_object_get(run, "inversion"), "charts"), &next);
        number_charts(v, json_object_get(json_object_get(run, "game"), "charts"), &next);
    }
    number_charts(v, json_object_get(page, "rounds"), &next);
}

static void add_run(view *v, const run_set *set, ptrdiff_t number, int several, json_t *runs) {
    json_t *run = view_add(v, runs, json_object());
    view_put(v, run, "number", json_integer(number));
    view_put(v, run, "several", json_boolean(several));
    view_about(v, set, run);
    view_promise(v, set, run);
    view_attack(v, set, run);
    view_inversion(v, set, run);
    view_game(v, set, run);
    view_configuration(v, set, run);
}

static json_t *title_of(const run_set *sets, ptrdiff_t count) {
    const run_record *run = &sets[0].run[0];
    if (count > 1) return view_format("%td runs compared", count);
    return view_format(
        "%s: %s", run_text(run, "name") ? run_text(run, "name") : "run", run_text(run, "method.name"));
}

/* A broken promise stands above everything else. */
static json_t *alarm_of(const run_set *sets, ptrdiff_t count) {
    ptrdiff_t broken = 0;
    for (ptrdiff_t s = 0; s < count; s++) broken += sets[s].audit && !audit_record_stands(sets[s].audit);
    if (broken == 0) return json_null();
    if (count == 1) return view_text("An attack has broken a promise of this run.");
    return view_format("Attacks have broken promises of %td of these %td runs.", broken, count);
}

json_t *view_page(mfpg_context *ctx, const run_set *sets, ptrdiff_t count) {
    view v = {.ctx = ctx};
    json_t *page = json_object();
    view_put(&v, page, "title", title_of(sets, count));
    view_put(&v, page, "version", view_text(mfpg_version()));
    view_put(&v, page, "alarm", alarm_of(sets, count));
    json_t *runs = view_new_list(&v, page, "runs");
    for (ptrdiff_t s = 0; s < count; s++) add_run(&v, &sets[s], s + 1, count > 1, runs);
    view_rounds(&v, sets, count, view_new_list(&v, page, "rounds"));
    view_put(&v, page, "comparison", json_null());
    if (count > 1) view_comparison(&v, sets, count, page);
    number_all(&v, page);
    if (!v.failed) return page;
    json_decref(page);
    return NULL;
}
