#include "run_folder.h"

#include <math.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/fields.h"
#include "base/file.h"
#include "base/ranks.h"
#include "federation_core.h"

const char *mfpg_run_file(size_t index) {
    static const char *const names[MFPG_RUN_FILES] = {"ledger", "config.yaml", "rounds.csv",
        "free_energy.csv", "transport.csv", "clients.csv", "model.npy", "timings.csv", "summary.json"};
    return index < MFPG_RUN_FILES ? names[index] : NULL;
}

/* Begins a CSV file with its row of column names. */
static mfpg_status begin_table(mfpg_context *ctx, const char *folder, const char *name,
    const mfpg_fields *fields, int places, mfpg_file *file, mfpg_csv *csv) {
    mfpg_status status = mfpg_file_create_in(ctx, folder, name, file);
    if (status != MFPG_OK) return status;
    *csv = (mfpg_csv){.stream = file->stream};
    mfpg_fields_csv_header(csv, fields, places);
    return MFPG_OK;
}

mfpg_status mfpg_run_write_rounds(mfpg_context *ctx, const char *folder, int place, mfpg_particles particles,
    const mfpg_round_report *rounds, ptrdiff_t count) {
    const char *name = place == MFPG_ROUND_CSV    ? "rounds.csv"
                       : place == MFPG_ENERGY_CSV ? "free_energy.csv"
                                                  : "transport.csv";
    mfpg_file file;
    mfpg_csv csv;
    mfpg_status status = begin_table(ctx, folder, name, &mfpg_round_fields, place, &file, &csv);
    if (status != MFPG_OK) return status;
    for (ptrdiff_t i = 0; i < count; i++) {
        const mfpg_round_record record = mfpg_round_record_of(&rounds[i], particles);
        if (place == MFPG_ENERGY_CSV && isnan(rounds[i].free_energy.mean_strength)) continue;
        mfpg_fields_csv_row(&csv, &mfpg_round_fields, place, &record);
    }
    return mfpg_file_commit(ctx, &file);
}

mfpg_status mfpg_federation_client_record(mfpg_context *ctx, const mfpg_federation *federation, ptrdiff_t k,
    double preference, mfpg_client_record *out) {
    *out = (mfpg_client_record){.client = k,
        .preference = preference,
        .promised = mfpg_promise_record_of(&federation->options, federation->particles)};
    mfpg_status status = mfpg_federation_client(ctx, federation, k, &out->report);
    out->stopped_before = out->report.stopped ? out->report.stopped_before : -1;
    out->certificate = isfinite(out->report.epsilon);
    return status;
}

mfpg_status mfpg_run_write_clients(
    mfpg_context *ctx, const char *folder, const mfpg_federation *federation, const double *preference) {
    mfpg_file file;
    mfpg_csv csv;
    mfpg_status status =
        begin_table(ctx, folder, "clients.csv", &mfpg_client_fields, MFPG_CLIENT_CSV, &file, &csv);
    if (status != MFPG_OK) return status;
    for (ptrdiff_t k = 0; k < federation->clients && status == MFPG_OK; k++) {
        mfpg_client_record client;
        status = mfpg_federation_client_record(
            ctx, federation, k, preference ? preference[k] : (double)NAN, &client);
        if (status == MFPG_OK) mfpg_fields_csv_row(&csv, &mfpg_client_fields, MFPG_CLIENT_CSV, &client);
    }
    if (status == MFPG_OK) return mfpg_file_commit(ctx, &file);
    mfpg_file_abandon(&file);
    return status;
}

mfpg_status mfpg_run_write_model(mfpg_context *ctx, const char *folder, const float *w, ptrdiff_t count) {
    return mfpg_file_write_npy(ctx, folder, "model.npy", "<f4", w, &count, 1);
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

/* Cells are empty for a round without a secure sum, or that was played before an interruption. */
static void write_cost(mfpg_csv *csv, const mfpg_sum_cost *cost) {
    int any = cost->bytes > 0;
    mfpg_csv_number(csv, any ? cost->client_seconds : (double)NAN);
    mfpg_csv_number(csv, any ? cost->server_seconds : (double)NAN);
    mfpg_csv_number(csv, any ? (double)cost->bytes : (double)NAN);
}

mfpg_status mfpg_run_write_timings(mfpg_context *ctx, const char *folder, const double *seconds,
    const mfpg_sum_cost *cost, ptrdiff_t count) {
    mfpg_file file;
    mfpg_status status = mfpg_file_create_in(ctx, folder, "timings.csv", &file);
    if (status != MFPG_OK) return status;
    char host[256] = "";
    gethostname(host, sizeof host - 1);
    mfpg_csv csv = {.stream = file.stream};
    mfpg_csv_header(&csv, cost ? "round,seconds,host,threads,ranks,client_cpu_seconds,server_cpu_seconds,"
                                 "bytes_per_client"
                               : "round,seconds,host,threads,ranks");
    for (ptrdiff_t i = 0; i < count; i++) {
        mfpg_csv_integer(&csv, i + 1);
        mfpg_csv_number(&csv, seconds[i]);
        mfpg_csv_text(&csv, host);
        mfpg_csv_integer(&csv, mfpg_context_threads(ctx));
        mfpg_csv_integer(&csv, mfpg_ranks_size(ctx));
        if (cost) write_cost(&csv, &cost[i]);
        mfpg_csv_end_row(&csv);
    }
    return mfpg_file_commit(ctx, &file);
}
