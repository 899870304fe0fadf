/* The files of a run folder that hold results. Each is written completely or not at all. Metrics in them
 * come from private data. */
#ifndef MFPG_FEDERATION_RUN_FOLDER_H
#define MFPG_FEDERATION_RUN_FOLDER_H

#include <jansson.h>

#include "mfpg/run_fields.h"

/* The note that accompanies every metric. */
#define MFPG_METRICS_NOTE "computed on private data; not covered by any certificate"

/* The note for numbers computed from projections; such runs are certified in the local view. */
#define MFPG_TRANSPORT_NOTE "computed on noised parameters; covered by the certificates"

/* The files of a complete run, in the order in which they are written; free_energy.csv exists for entropic
 * runs only, transport.csv for runs that project. */
enum { MFPG_RUN_FILES = 9 };
const char *mfpg_run_file(size_t index);

/* The additional file that exists while the run is not complete. */
#define MFPG_CHECKPOINT "checkpoint"

/* Writes a file of the rounds, selected by its place: rounds.csv (MFPG_ROUND_CSV), free_energy.csv with the
 * rounds that have a free energy (MFPG_ENERGY_CSV), or transport.csv (MFPG_TRANSPORT_CSV). particles: what
 * was noised. */
mfpg_status mfpg_run_write_rounds(mfpg_context *ctx, const char *folder, int place, mfpg_particles particles,
    const mfpg_round_report *rounds, ptrdiff_t count);

mfpg_transport_record mfpg_transport_record_of(const mfpg_transport_report *report);
mfpg_promise_record mfpg_promise_record_of(const mfpg_federation_options *options, mfpg_particles particles);

/* Returns what a federation knows of a client: everything except its name, its rows and its promise in
 * words. */
mfpg_status mfpg_federation_client_record(mfpg_context *ctx, const mfpg_federation *federation,
    ptrdiff_t client, double preference, mfpg_client_record *out);

/* Computes all certificates now, on the context's threads, so that queries about clients are fast until the
 * next round. */
mfpg_status mfpg_federation_certify(mfpg_context *ctx, mfpg_federation *federation);

/* Writes clients.csv; preference: one number per client, or NULL without a game. */
mfpg_status mfpg_run_write_clients(
    mfpg_context *ctx, const char *folder, const mfpg_federation *federation, const double *preference);

/* model.npy */
mfpg_status mfpg_run_write_model(mfpg_context *ctx, const char *folder, const float *w, ptrdiff_t count);

/* Writes the object to the file NAME, indented, with keys in order of insertion. Infinite numbers must
 * already be the string "inf". */
mfpg_status mfpg_run_write_json(
    mfpg_context *ctx, const char *folder, const char *name, const json_t *object);

/* Writes timings.csv, the only file that may differ between equal runs: wall seconds per round, host,
 * threads. cost: of every round's secure sum; NULL without one. */
mfpg_status mfpg_run_write_timings(
    mfpg_context *ctx, const char *folder, const double *seconds, const mfpg_sum_cost *cost, ptrdiff_t count);

#endif
