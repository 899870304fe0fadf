#include "run_folder.h"

#include <math.h>
#include <string.h>
#include <unistd.h>

#include "base/csv_writer.h"
#include "base/error.h"
#include "base/file.h"
#include "base/npy_header.h"
#include "base/ranks.h"
#include "internal.h"

const char *mfpg_run_file(size_t index) {
    static const char *const names[MFPG_RUN_FILES] = {"ledger", "config.yaml", "rounds.csv",
        "free_energy.csv", "transport.csv", "clients.csv", "model.npy", "timings.csv", "summary.json"};
    return index < MFPG_RUN_FILES ? names[index] : NULL;
}

mfpg_status mfpg_run_write_rounds(
    mfpg_context *ctx, const char *folder, const mfpg_round_report *rounds, ptrdiff_t count) {
    mfpg_file file;
    mfpg_status status = mfpg_file_create_in(ctx, folder, "rounds.csv", &file);
    if (status != MFPG_OK) return status;
    mfpg_csv csv = {.stream = file.stream};
    mfpg_csv_header(
        &csv, "round,loss,accuracy,mean_action,noise_to_signal,epsilon,paper_epsilon,paper_delta,metrics");
    for (ptrdiff_t i = 0; i < count; i++) {
        const mfpg_round_report *r = &rounds[i];
        mfpg_csv_integer(&csv, r->round);
        mfpg_csv_number(&csv, r->loss);
        mfpg_csv_number(&csv, r->accuracy);
        mfpg_csv_number(&csv, r->mean_action);
        mfpg_csv_number(&csv, r->noise_to_signal);
        mfpg_csv_number(&csv, r->epsilon);
        mfpg_csv_number(&csv, r->paper_epsilon);
        mfpg_csv_number(&csv, r->paper_delta);
        mfpg_csv_text(&csv, MFPG_METRICS_NOTE);
        mfpg_csv_end_row(&csv);
    }
    return mfpg_file_commit(ctx, &file);
}

mfpg_status mfpg_run_write_free_energy(mfpg_context *ctx, const char *folder, mfpg_particles particles,
    const mfpg_round_report *rounds, ptrdiff_t count) {
    mfpg_file file;
    mfpg_status status = mfpg_file_create_in(ctx, folder, "free_energy.csv", &file);
    if (status != MFPG_OK) return status;
    mfpg_csv csv = {.stream = file.stream};
    mfpg_csv_header(&csv, "round,loss,kl,variance,mean_strength,free_energy,metrics");
    for (ptrdiff_t i = 0; i < count; i++) {
        const mfpg_free_energy *f = &rounds[i].free_energy;
        if (isnan(f->mean_strength)) continue;
        mfpg_csv_integer(&csv, rounds[i].round);
        mfpg_csv_number(&csv, f->loss);
        mfpg_csv_number(&csv, f->kl);
        mfpg_csv_number(&csv, f->variance);
        mfpg_csv_number(&csv, f->mean_strength);
        mfpg_csv_number(&csv, f->total);
        mfpg_csv_text(&csv, particles == MFPG_PARTICLES_DATA
                                ? "an observable, no certificate; computed on noised records"
                                : "an observable, no certificate; " MFPG_METRICS_NOTE);
        mfpg_csv_end_row(&csv);
    }
    return mfpg_file_commit(ctx, &file);
}

mfpg_status mfpg_run_write_transport(
    mfpg_context *ctx, const char *folder, const mfpg_round_report *rounds, ptrdiff_t count) {
    mfpg_file file;
    mfpg_status status = mfpg_file_create_in(ctx, folder, "transport.csv", &file);
    if (status != MFPG_OK) return status;
    mfpg_csv csv = {.stream = file.stream};
    mfpg_csv_header(&csv, "round,projections,variance_ratio_min,variance_ratio_mean,variance_ratio_max,"
                          "tensor_of_min,row_error,kernel_error,iterations,note");
    for (ptrdiff_t i = 0; i < count; i++) {
        const mfpg_transport_report *t = &rounds[i].transport;
        double none = t->projections > 0 ? 0.0 : (double)NAN; /* in rounds without members */
        mfpg_csv_integer(&csv, rounds[i].round);
        mfpg_csv_integer(&csv, t->projections);
        mfpg_csv_number(&csv, t->least_ratio + none);
        mfpg_csv_number(&csv, mfpg_transport_mean_ratio(t));
        mfpg_csv_number(&csv, t->largest_ratio + none);
        mfpg_csv_number(&csv, (double)t->least_tensor + none);
        mfpg_csv_number(&csv, t->residual + none);
        mfpg_csv_number(&csv, t->kernel_error + none);
        mfpg_csv_integer(&csv, t->iterations);
        mfpg_csv_text(&csv, MFPG_TRANSPORT_NOTE);
        mfpg_csv_end_row(&csv);
    }
    return mfpg_file_commit(ctx, &file);
}

static void write_client(mfpg_csv *csv, const mfpg_federation_options *options, ptrdiff_t k,
    double preference, const mfpg_client_report *client) {
    mfpg_csv_integer(csv, k);
    mfpg_csv_number(csv, preference);
    mfpg_csv_number(csv, client->action_value);
    mfpg_csv_number(csv, client->mu);
    mfpg_csv_number(csv, client->epsilon);
    mfpg_csv_number(csv, options->delta);
    mfpg_csv_text(csv, mfpg_unit_name(options->promise.unit));
    mfpg_csv_text(csv, mfpg_adjacency_name(options->promise.adjacency));
    mfpg_csv_text(csv, mfpg_view_name(options->promise.view));
    mfpg_csv_text(csv, options->accountant);
    mfpg_csv_integer(csv, client->rounds);
    mfpg_csv_number(csv, client->paper_epsilon);
    mfpg_csv_number(csv, client->paper_delta);
    mfpg_csv_integer(csv, client->steps);
    mfpg_csv_number(csv, client->sampling_rate);
    mfpg_csv_end_row(csv);
}

mfpg_status mfpg_run_write_clients(
    mfpg_context *ctx, const char *folder, const mfpg_federation *federation, const double *preference) {
    mfpg_file file;
    mfpg_status status = mfpg_file_create_in(ctx, folder, "clients.csv", &file);
    if (status != MFPG_OK) return status;
    mfpg_csv csv = {.stream = file.stream};
    mfpg_csv_header(&csv, "client,preference,action,mu,epsilon,delta,unit,adjacency,view,accountant,rounds,"
                          "paper_epsilon,paper_delta,steps,sampling_rate");
    for (ptrdiff_t k = 0; k < federation->clients && status == MFPG_OK; k++) {
        mfpg_client_report client;
        status = mfpg_federation_client(ctx, federation, k, &client);
        if (status == MFPG_OK)
            write_client(&csv, &federation->options, k, preference ? preference[k] : (double)NAN, &client);
    }
    if (status == MFPG_OK) return mfpg_file_commit(ctx, &file);
    mfpg_file_abandon(&file);
    return status;
}

mfpg_status mfpg_run_write_model(mfpg_context *ctx, const char *folder, const float *w, ptrdiff_t count) {
    mfpg_file file;
    mfpg_status status = mfpg_file_create_in(ctx, folder, "model.npy", &file);
    if (status != MFPG_OK) return status;
    mfpg_npy_write_header(file.stream, "<f4", &count, 1);
    fwrite(w, sizeof *w, (size_t)count, file.stream);
    return mfpg_file_commit(ctx, &file);
}

mfpg_status mfpg_run_write_json(
    mfpg_context *ctx, const char *folder, const char *name, const json_t *object) {
    mfpg_file file;
    mfpg_status status = mfpg_file_create_in(ctx, folder, name, &file);
    if (status != MFPG_OK) return status;
    if (json_dumpf(object, file.stream, JSON_INDENT(2)) != 0) {
        mfpg_file_abandon(&file);
        return mfpg_fail_memory(ctx);
    }
    fputc('\n', file.stream);
    return mfpg_file_commit(ctx, &file);
}

mfpg_status mfpg_run_write_timings(
    mfpg_context *ctx, const char *folder, const double *seconds, ptrdiff_t count) {
    mfpg_file file;
    mfpg_status status = mfpg_file_create_in(ctx, folder, "timings.csv", &file);
    if (status != MFPG_OK) return status;
    char host[256] = "";
    gethostname(host, sizeof host - 1);
    mfpg_csv csv = {.stream = file.stream};
    mfpg_csv_header(&csv, "round,seconds,host,threads,ranks");
    for (ptrdiff_t i = 0; i < count; i++) {
        mfpg_csv_integer(&csv, i + 1);
        mfpg_csv_number(&csv, seconds[i]);
        mfpg_csv_text(&csv, host);
        mfpg_csv_integer(&csv, mfpg_context_threads(ctx));
        mfpg_csv_integer(&csv, mfpg_ranks_size(ctx));
        mfpg_csv_end_row(&csv);
    }
    return mfpg_file_commit(ctx, &file);
}

json_t *mfpg_json_number(double value) {
    if (isnan(value)) return json_null();
    if (isinf(value)) return json_string(value > 0 ? "inf" : "-inf");
    return json_real(value);
}
