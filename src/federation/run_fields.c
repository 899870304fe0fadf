/* The tables of the records of a run. Only these tables name the columns of its CSV files and the keys of
 * its JSON objects. */
#include "mfpg/run_fields.h"

#include <math.h>

#include "base/fields.h"
#include "base/release_parts.h"
#include "run_folder.h"

/* ---- rounds ---- */

#define ROUND(name, kind, places, member, help)                                                              \
    { name, MFPG_FIELD_##kind, places, offsetof(mfpg_round_record, member), help }
enum {
    ROUNDS = MFPG_ROUND_CSV | MFPG_FIELD_PYTHON,
    ENERGY = MFPG_ENERGY_CSV,
    TRANSPORT = MFPG_TRANSPORT_CSV,
    JSON = MFPG_FIELD_JSON,
    PYTHON = MFPG_FIELD_PYTHON,
    OPTIONAL = MFPG_FIELD_OPTIONAL
};

#define KEPT_LEAST "least share of a tensor's variance that a projection kept"
#define KEPT_MEAN  "mean share"
#define KEPT_MOST  "largest share"

static const mfpg_record_field round_fields[] = {
    ROUND("round", COUNT, ROUNDS | ENERGY | TRANSPORT, report.round, "completed rounds"),
    ROUND("cohort", COUNT, PYTHON, report.cohort, "clients that took part"),
    ROUND("loss", NUMBER, ROUNDS, report.loss,
        "of the global model; mean over rows, or the sum of a quadratic"),
    ROUND("accuracy", MAGNITUDE, ROUNDS, report.accuracy, "of the global model; share of rows"),
    ROUND(
        "mean_action", NUMBER, ROUNDS, report.mean_action, "mean budget or strength of all clients; no unit"),
    ROUND("noise_to_signal", MAGNITUDE, ROUNDS, report.noise_to_signal,
        "expected norm of the average's noise over the weighted sum of the norms of the clients' updates"),
    ROUND("epsilon", MAGNITUDE, ROUNDS, report.epsilon, "largest certified epsilon of a client so far; nats"),
    ROUND("paper_epsilon", MAGNITUDE, ROUNDS, report.paper_epsilon, "the paper's formula; no guarantee"),
    ROUND("paper_delta", MAGNITUDE, ROUNDS, report.paper_delta, "the paper's formula; no guarantee"),
    ROUND("metrics", TEXT, MFPG_ROUND_CSV | OPTIONAL, metrics_note, "what covers the metrics"),
    ROUND("loss", NUMBER, ENERGY, report.free_energy.loss, "the mean loss in the free energy"),
    ROUND("kl", NUMBER, ENERGY | PYTHON, report.free_energy.kl,
        "divergence of what is noised from the prior; nats"),
    ROUND("variance", MAGNITUDE, ENERGY | PYTHON, report.free_energy.variance, "of what is noised"),
    ROUND("mean_strength", MAGNITUDE, ENERGY, report.free_energy.mean_strength, "of the clients; no unit"),
    ROUND("free_energy", NUMBER, ENERGY | PYTHON, report.free_energy.total,
        "loss + strength kl + penalty variance"),
    ROUND("metrics", TEXT, ENERGY, energy_note, "what covers the free energy"),
    ROUND("projections", COUNT, TRANSPORT | JSON | PYTHON, transport.projections, "by Sinkhorn's algorithm"),
    ROUND("variance_ratio_min", MAGNITUDE, TRANSPORT | PYTHON, transport.variance_ratio_min, KEPT_LEAST),
    ROUND("variance_ratio_mean", MAGNITUDE, TRANSPORT | PYTHON, transport.variance_ratio_mean, KEPT_MEAN),
    ROUND("variance_ratio_max", MAGNITUDE, TRANSPORT, transport.variance_ratio_max, KEPT_MOST),
    ROUND("variance_ratio.min", MAGNITUDE, JSON, transport.variance_ratio_min, KEPT_LEAST),
    ROUND("variance_ratio.mean", MAGNITUDE, JSON, transport.variance_ratio_mean, KEPT_MEAN),
    ROUND("variance_ratio.max", MAGNITUDE, JSON, transport.variance_ratio_max, KEPT_MOST),
    ROUND("tensor_of_min", INDEX, TRANSPORT | JSON, transport.tensor_of_min,
        "the tensor of the least share, from 0"),
    ROUND("row_error", MAGNITUDE, TRANSPORT | JSON, transport.row_error,
        "largest error of a sum of the plan's rows"),
    ROUND("kernel_error", MAGNITUDE, TRANSPORT | JSON, transport.kernel_error,
        "bound on what the kernel's approximation adds"),
    ROUND("iterations", COUNT, TRANSPORT | JSON, transport.iterations, "the most that one projection took"),
    ROUND("warning", TEXT, JSON, transport.warning, "that a tensor counts as erased"),
    ROUND("note", TEXT, TRANSPORT | JSON, transport.note, "what covers the projections"),
};
const mfpg_fields mfpg_round_fields = MFPG_FIELDS("round", round_fields);

mfpg_transport_record mfpg_transport_record_of(const mfpg_transport_report *report) {
    double none = report->projections > 0 ? 0.0 : (double)NAN;
    return (mfpg_transport_record){.projections = report->projections,
        .variance_ratio_min = report->least_ratio + none,
        .variance_ratio_mean = mfpg_transport_mean_ratio(report),
        .variance_ratio_max = report->largest_ratio + none,
        .tensor_of_min = report->projections > 0 ? report->least_tensor : -1,
        .row_error = report->residual + none,
        .kernel_error = report->kernel_error + none,
        .iterations = report->iterations,
        .note = MFPG_TRANSPORT_NOTE};
}

mfpg_round_record mfpg_round_record_of(const mfpg_round_report *report, mfpg_particles particles) {
    return (mfpg_round_record){.report = *report,
        .transport = mfpg_transport_record_of(&report->transport),
        .metrics_note = MFPG_METRICS_NOTE,
        .energy_note = particles == MFPG_PARTICLES_DATA
                           ? "an observable, no certificate; computed on noised records"
                           : "an observable, no certificate; " MFPG_METRICS_NOTE};
}

/* ---- promises ---- */

#define UNIT_HELP       "whose presence is protected: client or example"
#define ADJACENCY_HELP  "zero-out or replace"
#define VIEW_HELP       "what is seen: local, average or final"
#define ACCOUNTANT_HELP "that certifies"
#define PROMISE(name, kind, places, help)                                                                    \
    { #name, MFPG_FIELD_##kind, places, offsetof(mfpg_promise_record, name), help }

static const mfpg_record_field promise_fields[] = {
    PROMISE(particles, TEXT, MFPG_PROMISE_SUMMARY, "what is noised: parameters or data"),
    PROMISE(unit, TEXT, JSON, UNIT_HELP),
    PROMISE(adjacency, TEXT, JSON, ADJACENCY_HELP),
    PROMISE(view, TEXT, JSON, VIEW_HELP),
    PROMISE(delta, MAGNITUDE, JSON, "of the certificates"),
    PROMISE(accountant, TEXT, JSON, ACCOUNTANT_HELP),
};
const mfpg_fields mfpg_promise_fields = MFPG_FIELDS("promise", promise_fields);

mfpg_promise_record mfpg_promise_record_of(const mfpg_federation_options *options, mfpg_particles particles) {
    return (mfpg_promise_record){.particles = mfpg_particles_name(particles),
        .unit = mfpg_unit_name(options->promise.unit),
        .adjacency = mfpg_adjacency_name(options->promise.adjacency),
        .view = mfpg_view_name(options->promise.view),
        .accountant = options->accountant,
        .delta = options->delta};
}

/* ---- clients ---- */

#define CLIENT(name, kind, places, member, help)                                                             \
    { name, MFPG_FIELD_##kind, places, offsetof(mfpg_client_record, member), help }
enum { CSV = MFPG_CLIENT_CSV, QUANTILES = MFPG_CLIENT_QUANTILES };

static const mfpg_record_field client_fields[] = {
    CLIENT("client", COUNT, CSV | JSON, client, "number of the client, from 0"),
    CLIENT("name", TEXT, JSON | PYTHON, name, "as the data have it"),
    CLIENT("rows", COUNT, JSON | PYTHON, rows, "training rows"),
    CLIENT("dropped_rows", COUNT, JSON, dropped_rows, "rows that miss a value and count as zeros"),
    CLIENT("preference", NUMBER, CSV | JSON | PYTHON | QUANTILES, preference,
        "for privacy, as configured; no unit"),
    CLIENT("action", NUMBER, CSV | JSON | PYTHON | QUANTILES, report.action_value,
        "budget (more is less noise) or strength (more is more noise); no unit"),
    CLIENT("mu", MAGNITUDE, CSV | JSON | PYTHON | QUANTILES, report.mu,
        "certified parameter of Gaussian differential privacy"),
    CLIENT("epsilon", MAGNITUDE, CSV | JSON | PYTHON | QUANTILES, report.epsilon, "certified at delta; nats"),
    CLIENT(
        "epsilon_other", MAGNITUDE, PYTHON, report.epsilon_other, "certified for the other adjacency; nats"),
    CLIENT("epsilon_zero_out", MAGNITUDE, MFPG_CLIENT_ZERO_OUT, report.epsilon_other,
        "certified for zero-out; nats"),
    CLIENT("epsilon_replace", MAGNITUDE, MFPG_CLIENT_REPLACE, report.epsilon_other,
        "certified for replace; nats"),
    CLIENT("delta", MAGNITUDE, CSV, promised.delta, "of the certificate"),
    CLIENT("unit", TEXT, CSV, promised.unit, UNIT_HELP),
    CLIENT("adjacency", TEXT, CSV, promised.adjacency, ADJACENCY_HELP),
    CLIENT("view", TEXT, CSV, promised.view, VIEW_HELP),
    CLIENT("accountant", TEXT, CSV, promised.accountant, ACCOUNTANT_HELP),
    CLIENT("noise_multiplier", MAGNITUDE, JSON | PYTHON, report.noise_multiplier,
        "standard deviation of the noise over the zero-out sensitivity of a step"),
    CLIENT("grid", MAGNITUDE, JSON, report.grid, "spacing of the public grid of what leaves the client"),
    CLIENT("rounding", MAGNITUDE, JSON, report.rounding,
        "share by which the rounding of sums over examples raises the sensitivity"),
    CLIENT("rounds", COUNT, CSV | JSON | PYTHON | QUANTILES, report.rounds, "that it took part in"),
    CLIENT("paper_epsilon", MAGNITUDE, CSV, report.paper_epsilon, "the paper's formula; no guarantee"),
    CLIENT("paper_delta", MAGNITUDE, CSV, report.paper_delta, "the paper's formula; no guarantee"),
    CLIENT("steps", COUNT, CSV | JSON | PYTHON | OPTIONAL, report.steps, "noised steps that were released"),
    CLIENT("sampling_rate", MAGNITUDE, CSV | JSON | PYTHON | OPTIONAL, report.sampling_rate,
        "chance of a row to be in a step's batch"),
    CLIENT(
        "weight", MAGNITUDE, JSON | PYTHON, report.weight, "share in the average with everybody taking part"),
    CLIENT("nonfinite_gradients", COUNT, JSON, report.nonfinite,
        "gradients that were not finite and became zero"),
    CLIENT("stopped", TRUTH, JSON | PYTHON, report.stopped, "whether its budget ended its part"),
    CLIENT("stopped_before_round", INDEX, JSON, stopped_before, "the round that its budget did not allow"),
    CLIENT("certificate", TRUTH, JSON | PYTHON, certificate, "whether its epsilon is finite"),
    CLIENT("promise", TEXT, JSON, promise, "in words"),
    CLIENT("spent_mu", MAGNITUDE, MFPG_CLIENT_EACH_ROUND, report.spent_mu,
        "that the filter has counted, for display"),
    CLIENT("choice_mu", MAGNITUDE, MFPG_CLIENT_EACH_ROUND, report.choice_mu, "of one choice of an action"),
};
const mfpg_fields mfpg_client_fields = MFPG_FIELDS("client", client_fields);

/* ---- metrics ---- */

#define METRIC(name, kind, places, member, help)                                                             \
    { name, MFPG_FIELD_##kind, places, offsetof(mfpg_metrics, member), help }

static const mfpg_record_field metrics_fields[] = {
    METRIC("loss", NUMBER, JSON | PYTHON, loss,
        "of the global model on test rows; mean, or the sum of a quadratic"),
    METRIC("accuracy", MAGNITUDE, JSON | PYTHON, accuracy, "share of right classes"),
    METRIC("auc", MAGNITUDE, JSON | PYTHON, auc, "area under the ROC curve"),
    METRIC("majority_rate", MAGNITUDE, JSON | PYTHON, majority_rate, "share of the commonest class"),
    METRIC("rows", COUNT, JSON, rows, "that were evaluated"),
};
const mfpg_fields mfpg_metrics_fields = MFPG_FIELDS("metrics", metrics_fields);
