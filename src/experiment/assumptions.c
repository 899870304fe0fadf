/* The assumptions of a certificate, each in one sentence. */
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "mechanisms/mechanism_ops.h"
#include "internal.h"

enum { MOST_ASSUMPTIONS = 32 };

/* Adds a sentence. If memory fails, the list ends early with NULL, which is checked at the end. */
static void add(text_list *list, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void add(text_list *list, const char *format, ...) {
    char text[MFPG_MESSAGE_SIZE];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    if (list->count < MOST_ASSUMPTIONS) list->text[list->count++] = mfpg_text_copy(text, strlen(text));
}

/* For noised records the certificate is local whatever is seen, and covers the features. */
static void about_records(const mfpg_experiment *e, text_list *list) {
    add(list,
        "each record was noised once, before anything else read it; all that was computed afterwards, in any "
        "number of rounds, read the noised records only, which may be published themselves");
    add(list, "labels are public: not protected");
    if (e->options.promise.unit == MFPG_UNIT_CLIENT)
        add(list, "all n records of a client are hidden together: their clipped features move by up to "
                  "sqrt(n) times one record's");
    if (mfpg_mechanism_kind_of(e->config->method.mechanism).flow)
        add(list, "the first model is public, and every record's first step used its gradients; the bound on "
                  "the loss's curvature in the features holds there for every record");
    if (e->options.promise.view != MFPG_VIEW_LOCAL)
        add(list, "noised records are hidden by their own noise alone: the certificates are those of the "
                  "local view");
}

/* The assumptions for actions that depend on private measurements (theory S4). */
static void about_choices(const mfpg_experiment *e, text_list *list) {
    const mfpg_acting *acting = e->options.acting;
    if (acting->selection == MFPG_SELECTION_NONE) {
        add(list, "actions were chosen in every round from raw private losses and gradients: nothing is "
                  "certified, whatever noise the updates had");
        return;
    }
    if (acting->selection == MFPG_SELECTION_NOISY)
        add(list,
            "actions were chosen in every round from noised measurements of the client's data, and "
            "nothing else comes of these; each choice was charged to the client as a release of its own");
    else
        add(list,
            "actions were drawn in every round by the exponential mechanism at epsilon %g a choice, from "
            "whole weights of 62 bits; each choice was charged to the client as a release of its own",
            acting->epsilon);
    add(list, "every certificate is the budget of a Gaussian-DP filter that was fixed beforehand; what was "
              "spent of it depends on what was released, and is for display");
    if (e->options.promise.adjacency == MFPG_ADJACENCY_ZERO_OUT)
        add(list,
            "zero-out: in a measurement an absent row counts as the middle of the range of a loss and as "
            "no gradient, an absent client as the middle of both ranges; its client still chooses");
}

/* The assumptions of a certificate of the last model alone (theory S2.4). */
static void about_final(const mfpg_experiment *e, text_list *list) {
    const mfpg_federation_options *o = &e->options;
    static const char *const cases[] = {"", "a quadratic loss",
        "a loss of one margin of each example, clipped by itself", "a convex loss", "a smooth loss"};
    if (o->hidden == MFPG_HIDDEN_NONE) {
        add(list, "final model only: certified through all averages; no gain from hiding them is claimed "
                  "(privacy.assume says what could be forgotten)");
        return;
    }
    add(list,
        "the certificate is about the final model alone: whoever it protects from sees no model, loss "
        "or metric of "
        "any round before it. The server and the clients do see them: it promises nothing against these");
    add(list,
        "declared, not found out: %s, with a Hessian of at most %g for every client and example that could "
        "be there (case %s); the start is public, and the number of rounds, steps and noise were fixed in "
        "advance",
        cases[o->hidden], o->hidden_smoothness, mfpg_hidden_case_name(o->hidden));
    add(list, "models are real numbers: that they are rounded to 32 bits on the way is not covered by what "
              "rounds forget");
}

/* The assumptions of a secure sum (mfpg/secure_sum.h). Of the threshold's answers up to c and all who are named collude. */
static void about_secure_sum(const mfpg_experiment *e, text_list *list) {
    const mfpg_federation_options *o = &e->options;
    const mfpg_sum_options *sum = &o->sum;
    ptrdiff_t members = o->clients_per_round ? o->clients_per_round : e->data->clients, t = sum->threshold;
    ptrdiff_t named = e->config->set.colluder_count, colluders = sum->colluders + named;
    char threshold[96];
    snprintf(threshold, sizeof threshold, "%td of %td", t ? t : (members + colluders) / 2 + 1, members);
    if (t == 0 && (o->client_rate < 1.0 || isfinite(o->stop_at_epsilon) || (named && o->clients_per_round)))
        snprintf(threshold, sizeof threshold,
            "the smallest number above (members + %scolluders)/2 in each round",
            named ? "named and other " : "");
    add(list,
        "the updates are added by a secure sum: fewer answers than its threshold (%s) reveal nothing, and "
        "otherwise the "
        "server learns the sum of at least so many and nothing else. This run simulated it: all clients and "
        "the server "
        "played the protocol in one process",
        threshold);
    add(list,
        "%s%td of the%s clients work together with the server%s; each certificate counts the client's "
        "own noise and that "
        "of the worst set of others that the threshold allows; of several local steps only the last is "
        "hidden by the others' noise",
        named ? "the colluders that privacy.colluders names and at most " : "at most ", sum->colluders,
        named ? " other" : "", colluders == 0 ? " (none: a promise against the server alone)" : "");
    add(list, "the roster of the clients' keys is right, and the primitives of the secure sum hold: the "
              "certificate is one against "
              "observers of bounded computing power");
    add(list, "who drops out does not depend on private data, as a time limit would that long records "
              "exceed; a client that "
              "drops out is not made up for before the sum, which the server divides by the public weights "
              "of the others");
    add(list, "robustness is not promised: a client may send anything, and its damage to the model is "
              "bounded by the range of the "
              "sum, not by the clip");
}

static void about_releases(const mfpg_experiment *e, text_list *list) {
    const mfpg_promise *promise = &e->options.promise;
    add(list,
        "row counts, weights, preferences, %s and hyper-parameters are public and were fixed without looking "
        "at the data; a choice among several runs is not covered",
        e->options.acting ? "the set of actions" : "controls");
    if (e->options.acting) about_choices(e, list);
    if (mfpg_plays_loss_table(e->config))
        add(list, "game.loss_table %s is public: it was not made from the private data",
            e->config->set.loss_table);
    if (promise->adjacency == MFPG_ADJACENCY_ZERO_OUT)
        add(list,
            "zero-out: a %s that is absent contributes nothing of its own, and noise is sent all the same%s",
            promise->unit == MFPG_UNIT_CLIENT ? "client" : "record",
            promise->unit == MFPG_UNIT_CLIENT
                ? "; one record inside a client is protected at the epsilon for replace"
                : "");
    if (promise->unit == MFPG_UNIT_EXAMPLE && !mfpg_noises_records(e))
        add(list,
            "sums over records are rounded in fixed blocks and added as integers; the share %.2g by which "
            "that can raise the influence of one record is included in the sensitivity",
            mfpg_model_sum_rounding(e->model));
    if (promise->unit == MFPG_UNIT_EXAMPLE)
        add(list, mfpg_credits_sampling(e)
                      ? "a person has one record; one with m records has "
                        "(m epsilon, (e^(m epsilon) - 1)/(e^epsilon - 1) delta) (group privacy)"
                      : "a person has one record; one with m records has up to m times this mu");
    if (mfpg_noises_records(e)) return about_records(e, list);
    if (e->options.hidden != MFPG_HIDDEN_NONE)
        add(list, "every client is honest, adds its noise and stays in every average; of several local steps "
                  "only the noise of the last is counted");
    else if (e->options.sum.simulate)
        about_secure_sum(e, list);
    else if (promise->view != MFPG_VIEW_LOCAL)
        add(list,
            "the sum was computed as by somebody who is trusted, which was not done but assumed%s: the "
            "observer sees sums "
            "only, and every honest client adds its noise and %s; of several local steps only the last is "
            "hidden by the "
            "others' noise",
            promise->view == MFPG_VIEW_AVERAGE ? " (secure_sum.run: simulate does it)" : "",
            e->dropout ? "is in the sum unless secure_sum.dropouts names it" : "stays in the sum");
    if (promise->view != MFPG_VIEW_LOCAL && mfpg_mechanism_projects(e->mechanisms.of_client[0]))
        add(list, "projected states hide nobody in their sum: the certificates are those of the local view");
    if (promise->view == MFPG_VIEW_FINAL) about_final(e, list);
    if (e->options.participants && !e->options.sum.simulate)
        add(list, "every other participant may watch the average and subtract its own noise; each "
                  "certificate is that against the worst of them");
    if (e->colluder && !e->options.sum.simulate)
        add(list, "the named colluders' noise is known to the observer and not counted");
}

static void about_sampling(const mfpg_experiment *e, text_list *list) {
    if (mfpg_credits_sampling(e))
        add(list,
            "Poisson batches are credited: every record takes part in a step by a coin of its own at the "
            "public rate, and neither the coins nor the sizes of batches are seen by anybody");
    else if (mfpg_samples_examples(e) && !mfpg_noises_records(e))
        add(list, "Poisson batches are accounted without amplification: the certificate is that of every row "
                  "in every batch");
    if (e->options.clients_per_round > 0 || e->options.client_rate < 1.0)
        add(list, "who takes part in a round is seen; rounds of participation are counted, nothing is gained "
                  "by drawing clients");
}

/* States how rows were assigned to clients. If the assignment was read from the data, one private value
 * moves rows of other clients, which no certificate counts; a warning then says so as well. */
static void about_places(mfpg_context *ctx, const mfpg_experiment *e, text_list *list) {
    const mfpg_data_options *data = &e->config->set.data;
    if (data->partition == MFPG_PARTITION_DIRICHLET || data->partition == MFPG_PARTITION_SHARDS) {
        add(list,
            "the assignment of rows to clients was made from labels (%s): the promise holds only if those "
            "labels are public",
            data->partition == MFPG_PARTITION_SHARDS ? "shards" : "dirichlet");
    } else if (data->partition == MFPG_PARTITION_COLUMN) {
        add(list,
            "the column %s, which says who holds which row, is public; given it, which rows are test rows "
            "was fixed without looking at the data",
            data->partition_column);
    } else {
        add(list, "who holds which row and which rows are test rows were fixed without looking at the data");
        return;
    }
    const char *added = list->text[list->count - 1];
    if (added) mfpg_warn(ctx, "data.partition: %s", added);
}

static void about_data(const mfpg_experiment *e, text_list *list) {
    const mfpg_data_options *data = &e->config->set.data;
    if (data->missing == MFPG_MISSING_DROP)
        add(list, "a row with a missing value keeps its place among the declared rows and %s",
            mfpg_noises_records(e) ? "is noised as a record of zeros" : "contributes nothing");
    if (e->config->set.fitted_scale)
        add(list, "features were scaled by means and deviations fitted on private data: not covered");
    if (data->missing == MFPG_MISSING_MEAN)
        add(list, "missing values were filled with means fitted on private data: not covered");
    if (strncmp(mfpg_config_source(e->config, "task.classes"), "auto: ", 6) == 0)
        add(list, "the number of classes is that of the largest label, read off private data: not covered; "
                  "task.classes states a public one");
    if (mfpg_reader_facts(data->format) & MFPG_READER_INFERS_FEATURES)
        add(list,
            "the number of features is the largest index of any row, read off private data: not covered");
    if (data->bounds_file)
        add(list, "the bounds of the features are public knowledge, not read off the data");
    if (data->affine_file)
        add(list, "the affine shift is public; fitted on private data it would be a release of its own, not "
                  "covered");
    if (e->options.evaluate != MFPG_EVALUATE_NONE)
        add(list,
            "metrics are computed on private data and not covered: publishing them is a release of its own");
    add(list,
        "nonfinite_gradients, dropped_rows and noise_to_signal are computed from private data and covered "
        "by no certificate: publishing one of them is a release of its own");
}

mfpg_status mfpg_list_assumptions(mfpg_context *ctx, mfpg_experiment *e) {
    text_list *list = &e->assumptions;
    list->text = mfpg_alloc(MOST_ASSUMPTIONS, sizeof *list->text);
    if (!list->text) return mfpg_fail_memory(ctx);
    if (!mfpg_promises_anything(e)) {
        add(list, "no noise is added: nothing is promised to anybody");
    } else {
        if (e->key.seeded)
            add(list,
                "seeded: not private. Whoever knows the seed can subtract the noise; for a real release "
                "leave the seed out");
        about_releases(e, list);
        about_sampling(e, list);
        about_places(ctx, e, list);
        about_data(e, list);
    }
    for (ptrdiff_t i = 0; i < list->count; i++)
        if (!list->text[i]) return mfpg_fail_memory(ctx);
    return MFPG_OK;
}
