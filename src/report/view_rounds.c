/* What happened round by round: one chart for each quantity, all runs in it. */
#include <math.h>
#include <string.h>

#include "federation/run_folder.h"
#include "models/losses.h"
#include "view.h"

/* A quantity and its words. */
typedef struct quantity {
    const char *column;
    const char *title, *axis; /* axis with the unit */
    const char *role;         /* of its line */
} quantity;

static const quantity LOSS = {"loss", "Loss", "loss (mean over rows)", "line"};
static const quantity LOSS_SUM = {"loss", "Loss", "loss (sum over rows)", "line"};
static const quantity LOSS_MIXED = {"loss", "Loss", "loss (mean over rows; quadratic: sum)", "line"};
static const quantity ACCURACY = {"accuracy", "Accuracy", "accuracy (share of rows)", "line"};
static const quantity EPSILON = {"epsilon", "Epsilon", "epsilon (nats)", "line"};
static const quantity PAPER_EPSILON = {"paper_epsilon", "", "no guarantee: paper_epsilon", "dash"};
static const quantity PAPER_DELTA = {"paper_delta", "The paper's delta", "no guarantee: paper_delta", "dash"};
static const quantity NOISE = {"noise_to_signal", "Noise to signal", "noise/signal (ratio of norms)", "line"};
static const quantity ACTION = {"mean_action", "Mean action", "mean action (no unit)", "line"};

typedef struct sets {
    const run_set *set;
    ptrdiff_t count;
} sets;

static ptrdiff_t most_rounds(const sets *all) {
    ptrdiff_t most = 0;
    for (ptrdiff_t s = 0; s < all->count; s++)
        if (run_set_rounds(&all->set[s]) > most) most = run_set_rounds(&all->set[s]);
    return most;
}

static int any_has(const sets *all, const quantity *what) {
    for (ptrdiff_t s = 0; s < all->count; s++)
        if (run_set_has(&all->set[s], what->column)) return 1;
    return 0;
}

static int has_sweep(const sets *all) {
    for (ptrdiff_t s = 0; s < all->count; s++)
        if (all->set[s].count > 1) return 1;
    return 0;
}

/* ---- columns ---- */

static void add_columns(view *v, const sets *all, const quantity *what, json_t *chart) {
    for (ptrdiff_t s = 0; s < all->count; s++) {
        const run_set *set = &all->set[s];
        if (!run_set_has(set, what->column)) continue;
        const char *label = all->count > 1 ? set->label : "", *colon = all->count > 1 ? ": " : "";
        if (set->count == 1) {
            view_column(v, chart, what->role, view_format("%s%s%s", label, colon, what->axis));
            continue;
        }
        view_column(v, chart, what->role, /* gnuplot 5 ends a column's title at a comma, quoted or not */
            view_format("%s%s%s; mean of %td seeds", label, colon, what->axis, set->count));
        view_column(v, chart, "low", view_format("%s%ssmallest", label, colon));
        view_column(v, chart, "high", view_format("%s%slargest", label, colon));
    }
}

static void add_cells(view *v, const sets *all, const quantity *what, ptrdiff_t round, json_t *row) {
    for (ptrdiff_t s = 0; s < all->count; s++) {
        const run_set *set = &all->set[s];
        if (!run_set_has(set, what->column)) continue;
        run_band band = run_set_band(set, what->column, round);
        if (band.runs == 0) {
            for (int i = 0; i < (set->count > 1 ? 3 : 1); i++) view_cell(v, row, view_text(""));
        } else if (set->count == 1) {
            view_cell(v, row, view_text(run_round_text(&set->run[0], what->column, round)));
        } else {
            view_cell(v, row, view_number(band.mean));
            view_cell(v, row, view_text(run_round_text(&set->run[band.lowest], what->column, round)));
            view_cell(v, row, view_text(run_round_text(&set->run[band.highest], what->column, round)));
        }
    }
}

/* ---- rows ---- */

/* 1 where some run has a number of some quantity. */
static int has_round(const sets *all, const quantity *const *what, ptrdiff_t round) {
    for (; *what; what++)
        for (ptrdiff_t s = 0; s < all->count; s++)
            if (run_set_band(&all->set[s], (*what)->column, round).runs > 0) return 1;
    return 0;
}

/* Every so many rounds, so that a page stays small however long the runs were. */
static ptrdiff_t stride(const sets *all, ptrdiff_t rounds) {
    ptrdiff_t most = VIEW_ROUNDS / all->count;
    if (most < VIEW_FEWEST_ROUNDS) most = VIEW_FEWEST_ROUNDS;
    return (rounds + most - 1) / most;
}

/* The rows of a chart whose quantities end with NULL. */
static void add_rows(view *v, const sets *all, const quantity *const *what, json_t *chart) {
    ptrdiff_t rounds = most_rounds(all), counted = 0, last = -1;
    for (ptrdiff_t t = 0; t < rounds; t++)
        if (has_round(all, what, t)) counted++, last = t;
    ptrdiff_t step = stride(all, counted), seen = 0;
    for (ptrdiff_t t = 0; t <= last; t++) {
        if (!has_round(all, what, t)) continue;
        if (seen++ % step != 0 && t != last) continue;
        json_t *row = view_row(v, chart, view_format("%td", t + 1));
        for (const quantity *const *w = what; *w; w++) add_cells(v, all, *w, t, row);
    }
    if (step > 1)
        view_add(v, json_object_get(chart, "notes"),
            view_format("One of %td rounds, and the last; rounds.csv has all of them.", step));
}

static void add_chart(
    view *v, const sets *all, const quantity *const *what, const char *note, json_t *charts) {
    if (!any_has(all, what[0])) return;
    json_t *chart = view_chart(v, charts, "line", what[0]->title, "round", what[0]->axis);
    view_column(v, chart, "x", view_text("round"));
    for (const quantity *const *w = what; *w; w++) add_columns(v, all, *w, chart);
    view_add(v, json_object_get(chart, "notes"), view_text(note));
    if (has_sweep(all))
        view_add(v, json_object_get(chart, "notes"),
            view_text("Of a sweep the line is the mean over its seeds, and the band reaches from the "
                      "smallest to the "
                      "largest."));
    if (what[0] == &PAPER_DELTA) view_put(v, chart, "log", json_true());
    add_rows(v, all, what, chart);
}

/* The loss of some models is a sum over the rows. */
static const quantity *loss_of(const sets *all) {
    ptrdiff_t sums = 0;
    for (ptrdiff_t s = 0; s < all->count; s++)
        sums += (mfpg_model_facts(mfpg_config_text(all->set[s].run[0].config, "task.model")) &
                    MFPG_MODEL_SUMS_ROWS) != 0;
    return sums == 0 ? &LOSS : sums == all->count ? &LOSS_SUM : &LOSS_MIXED;
}

void view_rounds(view *v, const run_set *set, ptrdiff_t count, json_t *charts) {
    const sets all = {set, count};
    const char *private = "Computed on private data; not covered by any certificate.";
    add_chart(v, &all, (const quantity *[]){loss_of(&all), NULL}, private, charts);
    add_chart(v, &all, (const quantity *[]){&ACCURACY, NULL}, private, charts);
    add_chart(v, &all, (const quantity *[]){&EPSILON, &PAPER_EPSILON, NULL},
        "Epsilon is certified: an upper bound for the client that is protected least, after so many rounds. "
        "Dashed: what "
        "the paper's formula prints, which is no guarantee.",
        charts);
    add_chart(v, &all, (const quantity *[]){&PAPER_DELTA, NULL},
        "What the paper's bound claims: no guarantee. The delta that is certified is the one promised above, "
        "in every "
        "round.",
        charts);
    add_chart(v, &all, (const quantity *[]){&NOISE, NULL},
        "Above 1 the noise of a round's average is larger than what it carries. Computed on private data; "
        "not covered by "
        "any certificate.",
        charts);
    add_chart(v, &all, (const quantity *[]){&ACTION, NULL},
        "A strength is more noise the larger it is, a budget less.", charts);
}
