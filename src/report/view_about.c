/* What a run was, how it ended, and what its model is worth. */
#include <math.h>
#include <string.h>

#include "federation/run_folder.h"
#include "view.h"

static void add_seeds(view *v, const run_set *set, json_t *facts) {
    const run_record *first = &set->run[0], *last = &set->run[set->count - 1];
    if (set->sweep)
        view_fact(v, facts, "seeds",
            view_format("%td runs, seeds %.0f to %.0f; reproducible, and therefore not private", set->count,
                mfpg_config_number(first->config, "seed"), mfpg_config_number(last->config, "seed")));
    else if (run_truth(first, "seeded"))
        view_fact(v, facts, "seed",
            view_format(
                "%.0f: reproducible, and therefore not private", mfpg_config_number(first->config, "seed")));
    else
        view_fact(v, facts, "seed", view_text("none: randomness of the operating system"));
}

/* The number of a metric at the end of the first run, beside the run's whole number of rows. */
static void add_metrics(view *v, const run_set *set, json_t *facts) {
    const run_record *run = &set->run[0];
    static const struct {
        const char *path, *term, *unit;
    } metrics[] = {{"metrics.loss", "last loss", ""},
        {"metrics.accuracy", "last accuracy", " (share of rows)"},
        {"metrics.auc", "last area under the ROC curve", " (0.5 is blind)"},
        {"metrics.majority_rate", "majority rate", " (accuracy of always answering the commonest class)"}};
    for (size_t i = 0; i < sizeof metrics / sizeof metrics[0]; i++) {
        double value = run_number(run, metrics[i].path);
        if (!isnan(value))
            view_fact(v, facts, metrics[i].term,
                view_format("%.6g%s%s", value, metrics[i].unit, set->sweep ? ", first seed" : ""));
    }
}

/* A model that has learnt nothing, told with what drowned it (H2 of the field's complaints: no hint why). */
static void add_hint(view *v, const run_set *set, json_t *out) {
    const run_record *run = &set->run[0];
    double accuracy = run_number(run, "metrics.accuracy"),
           majority = run_number(run, "metrics.majority_rate");
    double noise =
        run->rounds.rows > 0 ? run_round_number(run, "noise_to_signal", run->rounds.rows - 1) : (double)NAN;
    if (!(accuracy <= majority)) return;
    view_put(v, out, "hint",
        isnan(noise)
            ? view_text("The model is no better than always answering the commonest class.")
            : view_format("The model is no better than always answering the commonest class. In the last "
                          "round the noise of the average was %.3g times its signal: more rounds, a larger "
                          "step, more clients or a larger epsilon give it more to learn from.",
                  noise));
}

static const char *rows_meant(const run_record *run) {
    const char *evaluate = mfpg_config_text(run->config, "evaluate");
    return !evaluate || strcmp(evaluate, "none") == 0 ? NULL
           : strcmp(evaluate, "train") == 0           ? "training rows"
                                                      : "test rows";
}

void view_about(view *v, const run_set *set, json_t *out) {
    const run_record *run = &set->run[0];
    json_t *facts = view_new_list(v, out, "facts");
    view_put(v, out, "name", view_text(run_text(run, "name") ? run_text(run, "name") : "run"));
    view_put(v, out, "label", view_text(set->label));
    view_fact(v, facts, "folder", view_text(run->folder));
    view_fact(v, facts, "method",
        view_format("%s (mechanism %s, players %s)", run_text(run, "method.name"),
            run_text(run, "method.mechanism"), run_text(run, "method.players")));
    view_fact(v, facts, "model", view_text(mfpg_config_text(run->config, "task.model")));
    view_fact(v, facts, "clients", view_format("%td", run->clients.rows));
    view_fact(v, facts, "rounds",
        view_format("%td of %.0f%s", run_set_rounds(set), run_number(run, "rounds_planned"),
            strcmp(run_text(run, "status"), "complete") == 0 ? "" : " (interrupted)"));
    add_seeds(v, set, facts);
    if (rows_meant(run)) {
        view_fact(v, facts, "evaluated on", view_format("%s; %s", rows_meant(run), MFPG_METRICS_NOTE));
        add_metrics(v, set, facts);
        add_hint(v, set, out);
    }
    if (run_text(run, "ledger.chain"))
        view_fact(v, facts, "ledger",
            view_format(
                "%.0f lines, ending in %s", run_number(run, "ledger.lines"), run_text(run, "ledger.chain")));
    view_fact(v, facts, "written by", view_format("mfpg %s", run_text(run, "mfpg")));
    view_copy(v, out, "assumptions", run_value(run, "assumptions"));
}
