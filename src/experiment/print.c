/* Prints a run for people: what was promised to each client, the metrics of the model, and the assumptions. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/number.h"
#include "federation/adaptive_actions.h"
#include "federation/run_folder.h"
#include "mechanisms/mechanism_ops.h"
#include "base/release_parts.h"
#include "internal.h"

/* for a larger federation only the extremes are printed; clients.csv has all clients */
enum { MOST_LISTED = 24 };
enum { NARROW = 20, WIDE = 40 }; /* of the column of names */

static int name_width(const mfpg_experiment *e) {
    size_t width = NARROW;
    for (ptrdiff_t k = 0; k < e->data->clients; k++) {
        size_t length = strlen(e->data->client[k].name);
        if (length > width) width = length;
    }
    return width < WIDE ? (int)width : WIDE;
}

static const char *control_name(const mfpg_experiment *e) {
    switch (mfpg_mechanism_control(e->mechanisms.of_client[0])) {
    case MFPG_CONTROL_BUDGET: return "budget";
    case MFPG_CONTROL_STRENGTH: return "strength";
    default: return "control";
    }
}

static void print_heading(const mfpg_experiment *e, FILE *out) {
    fprintf(out, "%s: method %s, model %s, %td clients, %td of %lld rounds%s\n", e->config->set.name,
        e->config->method.name, mfpg_model_name(e->model), e->data->clients, e->round_count,
        (long long)e->options.rounds, e->interrupted ? " (interrupted)" : "");
    if (e->key.seeded) fprintf(out, "seeded: reproducible, and therefore not private\n");
}

static void print_client_row(
    const mfpg_experiment *e, ptrdiff_t k, const mfpg_client_report *c, int width, FILE *out) {
    fprintf(out, "  %-*.*s %7td", width, width, e->data->client[k].name, e->data->client[k].train.rows);
    if (e->preference) fprintf(out, " %10.4g", e->preference[k]);
    if (!isnan(c->action_value)) fprintf(out, " %10.4f", c->action_value);
    if (isnan(c->mu))
        fprintf(out, " %8s", "-");
    else
        fprintf(out, " %8.4f", mfpg_number_up(c->mu, 4));
    fprintf(out, " %9.4f %9.4f %6lld", mfpg_number_up(c->epsilon, 4), mfpg_number_up(c->epsilon_other, 4),
        (long long)c->rounds);
    if (c->stopped) fprintf(out, "  stopped before round %lld", (long long)c->stopped_before);
    fprintf(out, "\n");
}

static void print_columns(const mfpg_experiment *e, int width, FILE *out) {
    int replace = e->options.promise.adjacency == MFPG_ADJACENCY_REPLACE;
    int noised = mfpg_promises_anything(e);
    fprintf(out, "  %-*s %7s", width, "client", "rows");
    if (e->preference) fprintf(out, " %10s", "preference");
    if (noised) fprintf(out, " %10s", control_name(e));
    fprintf(out, " %8s %9s %9s %6s\n", "mu", "epsilon", replace ? "(zero-out)" : "(replace)", "rounds");
}

/* Prints all clients, or for a large federation those with the smallest and the largest epsilon. */
static mfpg_status print_clients(
    mfpg_context *ctx, const mfpg_experiment *e, const client_tally *tally, FILE *out) {
    ptrdiff_t clients = e->data->clients;
    int width = name_width(e);
    print_columns(e, width, out);
    for (ptrdiff_t k = 0; k < clients && clients <= MOST_LISTED; k++) {
        mfpg_client_report c;
        mfpg_status status = mfpg_federation_client(ctx, e->federation, k, &c);
        if (status != MFPG_OK) return status;
        print_client_row(e, k, &c, width, out);
    }
    if (clients > MOST_LISTED) {
        print_client_row(e, tally->least, &tally->low, width, out);
        print_client_row(e, tally->most, &tally->high, width, out);
        fprintf(out, "  (the most and the least protected of %td clients; clients.csv has all)\n", clients);
    }
    /* The average, or a budget, may give all clients the same certificate; alike is false if it is infinite. */
    int alike = clients > 1 && tally->high.epsilon - tally->low.epsilon <= 1e-9 * tally->high.epsilon;
    char words[MFPG_MESSAGE_SIZE];
    mfpg_experiment_promise(e, &tally->high, words, sizeof words);
    if (alike) fprintf(out, "  all %td clients share one certificate\n", clients);
    if (tally->idle)
        fprintf(out,
            "  no client took part in any round: the budget is smaller than the cost of a first round\n");
    fprintf(out, "In words, for '%s', %s: %s.\n", e->data->client[tally->most].name,
        alike ? "protected as all the others are" : "the least protected", words);
    return MFPG_OK;
}

static mfpg_status print_promise(
    mfpg_context *ctx, const mfpg_experiment *e, const client_tally *tally, FILE *out) {
    const mfpg_promise *p = &e->options.promise;
    if (!mfpg_promises_anything(e)) {
        fprintf(out, "\nNothing was promised: method none clips nothing and adds no noise.\n");
        return MFPG_OK;
    }
    fprintf(out, "\nPromised (%sunit %s, adjacency %s, view %s, delta %g, accountant %s):\n",
        mfpg_noises_records(e) ? "noised records, " : "", mfpg_unit_name(p->unit),
        mfpg_adjacency_name(p->adjacency), mfpg_view_name(p->view), e->options.delta, e->options.accountant);
    return print_clients(ctx, e, tally, out);
}

static void print_game(const mfpg_experiment *e, FILE *out) {
    mfpg_solution solution;
    char text[MFPG_MESSAGE_SIZE];
    if (!mfpg_experiment_solution(e, &solution)) return;
    if (e->options.acting) {
        fprintf(out, "\nGame: %s players, cost %s, actions chosen each round (selection %s)",
            mfpg_players_name(e->config->method.players), e->config->set.game.cost,
            mfpg_selection_name(e->options.acting->selection));
        if (e->round_count > 0)
            fprintf(out, ", mean %s %.4f in the last", control_name(e),
                mfpg_experiment_last_round(e).mean_action);
        fprintf(out, "\n");
        return;
    }
    fprintf(out, "\nGame: %s players, cost %s\n", mfpg_players_name(e->config->method.players),
        e->config->set.game.cost);
    if (e->preference_factor != 1.0)
        fprintf(out, "All preferences times %.6g, to meet the target epsilon.\n", e->preference_factor);
    mfpg_solution_sentences(&solution, out);
    for (ptrdiff_t i = 0; mfpg_solution_warning(&solution, i, text, sizeof text); i++)
        fprintf(out, "Warning: %s.\n", text);
}

static mfpg_status print_metrics(mfpg_context *ctx, const mfpg_experiment *e, FILE *out) {
    if (e->options.evaluate == MFPG_EVALUATE_NONE || e->round_count == 0) return MFPG_OK;
    mfpg_metrics m;
    mfpg_status status = mfpg_federation_metrics(ctx, e->federation, -1, &m);
    if (status != MFPG_OK) return status;
    fprintf(out, "\nModel on the %s rows (%s):\n  loss %.4f",
        e->options.evaluate == MFPG_EVALUATE_TRAIN ? "training" : "test", MFPG_METRICS_NOTE,
        e->rounds[e->round_count - 1].loss);
    if (!isnan(m.accuracy)) fprintf(out, ", accuracy %.4f (majority rate %.4f)", m.accuracy, m.majority_rate);
    if (!isnan(m.auc)) fprintf(out, ", AUC %.4f", m.auc);
    fprintf(out, ", %td rows\n", m.rows);
    return MFPG_OK;
}

static void print_autos(const mfpg_experiment *e, FILE *out) {
    const mfpg_options *keys = mfpg_config_options();
    int any = 0;
    for (ptrdiff_t i = 0; i < keys->count; i++) {
        const char *path = keys->option[i].name;
        if (strchr(path, '*')) continue;
        const char *source = mfpg_config_source(e->config, path);
        if (strncmp(source, "auto: ", 6) != 0) continue;
        if (!any++) fprintf(out, "\nFilled in:\n");
        const char *text = mfpg_config_text(e->config, path);
        if (text)
            fprintf(out, "  %s = %s (%s)\n", path, text, source + 6);
        else
            fprintf(out, "  %s = %.6g (%s)\n", path, mfpg_config_number(e->config, path), source + 6);
    }
}

/* Prints how many rows of which clients miss a value; up to a limit, clients are named. */
static void print_dropped(const mfpg_experiment *e, FILE *out) {
    ptrdiff_t holders = 0;
    int64_t others = e->data->dropped_rows;
    if (others == 0) return;
    fprintf(out, "  %lld rows miss a value and count as zeros:", (long long)others);
    for (ptrdiff_t k = 0; k < e->data->clients && holders < MOST_LISTED; k++) {
        const mfpg_client_data *client = &e->data->client[k];
        if (client->dropped_rows == 0) continue;
        fprintf(
            out, "%s %lld of '%s'", holders++ > 0 ? "," : "", (long long)client->dropped_rows, client->name);
        others -= client->dropped_rows;
    }
    if (others > 0) fprintf(out, "%s %lld of others or of nobody", holders > 0 ? "," : "", (long long)others);
    fprintf(out, "; the counts of rows include them\n");
}

mfpg_status mfpg_experiment_print(mfpg_context *ctx, const mfpg_experiment *e, FILE *out) {
    client_tally tally;
    mfpg_status status = mfpg_tally_clients(ctx, e, &tally);
    if (status != MFPG_OK) return status;
    print_heading(e, out);
    status = print_promise(ctx, e, &tally, out);
    print_game(e, out);
    if (status == MFPG_OK) status = print_metrics(ctx, e, out);
    print_dropped(e, out);
    if (tally.nonfinite > 0)
        fprintf(out, "  %lld gradients were not finite and counted as zero\n", (long long)tally.nonfinite);
    mfpg_print_transport(e, out);
    print_autos(e, out);
    fprintf(out, "\nAssumptions:\n");
    for (ptrdiff_t i = 0; i < e->assumptions.count; i++) fprintf(out, "  - %s\n", e->assumptions.text[i]);
    return status;
}
