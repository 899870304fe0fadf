/* Writes a promise in words that a person without training in privacy can check against its numbers. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/number.h"
#include "internal.h"

/* Noised records are protected in the same way whoever sees them. */
static const char *what_is_seen(mfpg_view view, int records, int hidden) {
    if (hidden) return "sees the final model and nothing of any round before it";
    if (records) return "sees the noised records of this client and all that is computed from them";
    switch (view) {
    case MFPG_VIEW_LOCAL: return "sees every update from this client";
    case MFPG_VIEW_AVERAGE: return "sees only the average of each round";
    case MFPG_VIEW_FINAL: return "sees only the final model";
    }
    return "";
}

static const char *what_is_hidden(const mfpg_promise *promise, int records) {
    if (records && promise->unit == MFPG_UNIT_CLIENT)
        return promise->adjacency == MFPG_ADJACENCY_REPLACE
                   ? "whether the features of its records were these or any others"
                   : "whether the features of its records were used";
    if (records)
        return promise->adjacency == MFPG_ADJACENCY_REPLACE
                   ? "whether the features of a given record were these or any others"
                   : "whether the features of a given record were used";
    if (promise->unit == MFPG_UNIT_CLIENT)
        return promise->adjacency == MFPG_ADJACENCY_REPLACE
                   ? "whether this client's data were these or any others"
                   : "whether this client's data were used";
    return promise->adjacency == MFPG_ADJACENCY_REPLACE ? "whether a given record was this or any other"
                                                        : "whether a given record was used";
}

/* Adds how the budget is enforced and, if a client has stopped, when and why. */
static void add_stop(
    const mfpg_federation_options *options, const mfpg_client_report *client, char *text, size_t size) {
    char when[64] = "";
    size_t used = strlen(text);
    if (!isfinite(options->stop_at_epsilon)) return;
    if (client->stopped)
        snprintf(
            when, sizeof when, "; it stopped before round %lld, which", (long long)client->stopped_before);
    snprintf(text + used, size - used, "%s would have passed epsilon %.10g (%s)",
        client->stopped ? when : "; it stops before a round that", options->stop_at_epsilon,
        mfpg_filter_name(options->filter));
}

void mfpg_experiment_promise(
    const mfpg_experiment *e, const mfpg_client_report *client, char *text, size_t size) {
    const mfpg_federation_options *options = &e->options;
    const mfpg_promise *promise = &options->promise;
    int records = mfpg_noises_records(e), hidden = options->hidden != MFPG_HIDDEN_NONE;
    char seen[128];
    snprintf(seen, sizeof seen, "%s", what_is_seen(promise->view, records, hidden));
    ptrdiff_t colluders = options->sum.colluders + e->config->set.colluder_count;
    if (options->sum.simulate && colluders > 0)
        snprintf(seen, sizeof seen,
            "sees what the server of the secure sum sees together with %td of its clients", colluders);
    else if (options->sum.simulate)
        snprintf(seen, sizeof seen, "sees what the server of the secure sum sees");
    int raw = options->acting && options->acting->selection == MFPG_SELECTION_NONE;
    if (!isfinite(client->epsilon)) {
        snprintf(text, size, "no promise: someone who %s may learn %s%s", seen,
            what_is_hidden(promise, records),
            raw ? ", because its actions were chosen from raw losses and gradients, without noise" : "");
        return;
    }
    /* The best test between two equally likely neighbours is correct with probability 1/2 + distance/2. */
    double right = 50.0 + 50.0 * fmin(1.0, client->distance);
    snprintf(text, size,
        "someone who %s and guesses %s is correct at most %.1f %% of the time (50 %% is chance); "
        "(epsilon %.10g, delta %g) by accountant %s%s",
        seen, what_is_hidden(promise, records), mfpg_number_up(right, 1), mfpg_number_up(client->epsilon, 4),
        options->delta, options->accountant,
        options->acting ? ", the budget of its filter: noise answered to what was released before, so that "
                          "what was spent is no certificate by itself"
                        : "");
    add_stop(options, client, text, size);
}
