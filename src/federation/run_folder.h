/* The files of a run folder that hold results. Each is whole or absent. Metrics in them come from private data. */
#ifndef MFPG_FEDERATION_RUN_FOLDER_H
#define MFPG_FEDERATION_RUN_FOLDER_H

#include <jansson.h>

#include "mfpg/federation.h"

/* The words that go with every metric. */
#define MFPG_METRICS_NOTE "computed on private data; not covered by any certificate"

/* And with what is read off projections, whose runs are certified in the local view. */
#define MFPG_TRANSPORT_NOTE "computed on noised parameters; covered by the certificates"

/* The files of a complete run, in the order in which they are written; free_energy.csv of entropic runs only,
 * transport.csv of those that project. */
enum { MFPG_RUN_FILES = 9 };
const char *mfpg_run_file(size_t index);

/* The file beside them while the run goes on. */
#define MFPG_CHECKPOINT "checkpoint"

/* rounds.csv */
mfpg_status mfpg_run_write_rounds(
    mfpg_context *ctx, const char *folder, const mfpg_round_report *rounds, ptrdiff_t count);

/* free_energy.csv, of the rounds that have one. */
mfpg_status mfpg_run_write_free_energy(mfpg_context *ctx, const char *folder, mfpg_particles particles,
    const mfpg_round_report *rounds, ptrdiff_t count);

/* transport.csv: the projections of every round. */
mfpg_status mfpg_run_write_transport(
    mfpg_context *ctx, const char *folder, const mfpg_round_report *rounds, ptrdiff_t count);

/* clients.csv; preference: clients numbers, or NULL without a game. */
mfpg_status mfpg_run_write_clients(
    mfpg_context *ctx, const char *folder, const mfpg_federation *federation, const double *preference);

/* model.npy */
mfpg_status mfpg_run_write_model(mfpg_context *ctx, const char *folder, const float *w, ptrdiff_t count);

/* NAME: the object, indented, keys in order of insertion. Infinite numbers must be the string "inf" already. */
mfpg_status mfpg_run_write_json(
    mfpg_context *ctx, const char *folder, const char *name, const json_t *object);

/* timings.csv, the only file that may differ between equal runs: wall seconds a round, host, threads. */
mfpg_status mfpg_run_write_timings(
    mfpg_context *ctx, const char *folder, const double *seconds, ptrdiff_t count);

/* A number for JSON: null for NAN, "inf" / "-inf" for infinities. */
json_t *mfpg_json_number(double value);

#endif
