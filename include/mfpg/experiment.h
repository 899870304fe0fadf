/** An experiment: a configuration made into data, model, game and mechanism, and trained. */
#ifndef MFPG_EXPERIMENT_H
#define MFPG_EXPERIMENT_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "audit.h"
#include "config.h"
#include "context.h"
#include "federation.h"
#include "game.h"
#include "inversion.h"
#include "run_fields.h"
#include "solution.h"

/** The note with results of several runs: each certificate is that of its own run, and choosing among runs by what they show of
 *  private data is a release that none of them counts. */
#define MFPG_SELECTION_NOTE "selection over several runs on private data: not covered"

typedef struct mfpg_experiment mfpg_experiment;

/** Builds everything a run needs: reads the data, fills every `auto`, solves the game, meets the target epsilon. Nothing is
 *  written and nothing released. What is unwise but possible is a warning of the context.
 *  @param[in]  config  copied; the caller's is unchanged
 *  @param[out] out     free with mfpg_experiment_destroy; set only on success
 *  @return MFPG_OK, MFPG_ERR_INPUT or MFPG_ERR_DOMAIN with the key or file at fault, MFPG_ERR_IO, MFPG_ERR_MEMORY;
 *  MFPG_ERR_INTERRUPTED if a signal ended the wait for a pipe. */
mfpg_status mfpg_experiment_create(mfpg_context *ctx, const mfpg_config *config, mfpg_experiment **out);
void mfpg_experiment_destroy(mfpg_experiment *experiment);

/** The experiment whose run in that folder was interrupted, to be run in the same folder: it goes on from the checkpoint there and
 *  ends with the same bytes (timings.csv apart) as without the interruption, whatever the number of threads. Rounds that the
 *  ledger lists and the checkpoint does not know are played again, and refused unless they release the same. Of a group, any
 *  number of processes goes on with what any number began; collective, and folder and config are those of the first process.
 *  @param[in] config  NULL, or what has to say the same as the configuration of the run
 *  @return MFPG_ERR_INPUT if there is nothing to resume, the checkpoint is damaged, or the configuration differs (with the key);
 *  else as mfpg_experiment_create. mfpg_experiment_run finds, before it changes anything, if data, first model, actions or
 *  files differ, or another process runs it. */
mfpg_status mfpg_experiment_resume(
    mfpg_context *ctx, const char *folder, const mfpg_config *config, mfpg_experiment **out);

/** The configuration of the interrupted run in a folder, as it was given (free it). */
mfpg_status mfpg_run_configuration(mfpg_context *ctx, const char *folder, mfpg_config **out);

/** The completed rounds that a resumed run begins with; -1 for a new one. */
int64_t mfpg_experiment_resumed_round(const mfpg_experiment *experiment);

typedef struct mfpg_run_options {
    const char *folder;       /* the run folder, made and filled; NULL: nothing is written */
    const volatile int *stop; /* read after each round; not 0: the run ends there. NULL: never */
    /* Called after each round; may be NULL. */
    void (*progress)(void *user, const mfpg_round_report *report, int64_t rounds);
    void *progress_user;
} mfpg_run_options;

/** Trains all rounds, once an experiment, and writes the run folder: config.yaml, ledger, rounds.csv, free_energy.csv of entropic
 *  runs, transport.csv of those that project, clients.csv, summary.json, model.npy, timings.csv; while it goes on, a checkpoint (mode
 *  0600) as often as train.checkpoint says, which is erased when the run is complete. A folder that exists must be empty; of several runs
 *  that are given one folder, one has it and the others fail with MFPG_ERR_INPUT. Of a group, collective: the first process
 *  writes, and every process must have the first one's configuration (paths apart), data, first model and actions.
 *  @return MFPG_OK; MFPG_ERR_INTERRUPTED after a stop, with the files of all complete rounds written; else as usual, and the
 *  ledger and the files before the failure are left. The message counts the complete rounds, names the files, and says how
 *  the run goes on if it can. */
mfpg_status mfpg_experiment_run(
    mfpg_context *ctx, mfpg_experiment *experiment, const mfpg_run_options *options);

/** The configuration with everything resolved; it lives as long as the experiment. */
const mfpg_config *mfpg_experiment_config(const mfpg_experiment *experiment);

ptrdiff_t mfpg_experiment_clients(const mfpg_experiment *experiment);
const char *mfpg_experiment_client_name(const mfpg_experiment *experiment, ptrdiff_t client);

/** The game with its equilibrium and the clients' names, as it was solved before the first round (with the public constants, if
 *  each round chooses actions); it lives as long as the experiment. Returns 0 without a game. A game that was not solved
 *  (converged 0) can be read and is not run. */
int mfpg_experiment_solution(const mfpg_experiment *experiment, mfpg_solution *out);

/** After the run: one client, the last round (round 0 before the first), the metrics of a client (or of all: -1). */
mfpg_status mfpg_experiment_client(
    mfpg_context *ctx, const mfpg_experiment *experiment, ptrdiff_t client, mfpg_client_report *out);
mfpg_round_report mfpg_experiment_last_round(const mfpg_experiment *experiment);
mfpg_status mfpg_experiment_metrics(
    mfpg_context *ctx, const mfpg_experiment *experiment, ptrdiff_t client, mfpg_metrics *out);

/** After the run: one client with its name, rows and preference; its promise is mfpg_experiment_promise. */
mfpg_status mfpg_experiment_client_record(
    mfpg_context *ctx, const mfpg_experiment *experiment, ptrdiff_t client, mfpg_client_record *out);

/** After the run: what a client was promised, in words, cut to size. client: its report (mfpg_experiment_client). */
void mfpg_experiment_promise(
    const mfpg_experiment *experiment, const mfpg_client_report *client, char *text, size_t size);

/** After the run: the metrics on the test set that all clients share, whatever `evaluate` chose; 0 rows if there is none. */
mfpg_status mfpg_experiment_test_metrics(
    mfpg_context *ctx, const mfpg_experiment *experiment, mfpg_metrics *out);

/** The reports of all completed rounds, those before a resumption included: *count of them. Until the run's next call.
 *  NULL and 0 before the run. */
const mfpg_round_report *mfpg_experiment_rounds(const mfpg_experiment *experiment, ptrdiff_t *count);

/** The global model: *count parameters. Until the run's next round. */
const float *mfpg_experiment_model(const mfpg_experiment *experiment, ptrdiff_t *count);

/** Assumptions of the certificates, one sentence each; NULL past the end. */
const char *mfpg_experiment_assumption(const mfpg_experiment *experiment, ptrdiff_t index);

/** What summary.json holds, as text (free it): of more than 1000 clients quantiles, and mfpg_experiment_client has each. */
mfpg_status mfpg_experiment_summary(mfpg_context *ctx, const mfpg_experiment *experiment, char **json);

/** The loss that is reported from now on is the sum of the clients' own losses, not their mean. Call it before the run. After a
 *  failure the experiment can only be destroyed.
 *  @return MFPG_OK, or as mfpg_experiment_create. */
mfpg_status mfpg_experiment_sum_losses(mfpg_context *ctx, mfpg_experiment *experiment);

/** The fields of "game" in summary.json; their record is private. MFPG_GAME_COMPARED is the place (fields.h) of those that are
 *  compared between runs. */
enum { MFPG_GAME_COMPARED = 1 << 8 };
extern const mfpg_fields mfpg_game_fields;

/** Attacks what the experiment promises its clients (mfpg/audit.h), before or after its run, which is not changed.
 *  @param[out] client  one entry a client
 *  @return as mfpg_audit_federation; MFPG_ERR_NUMERIC if the game was not solved. */
mfpg_status mfpg_experiment_audit(mfpg_context *ctx, const mfpg_experiment *experiment,
    const mfpg_audit_options *options, mfpg_audit_client *client, mfpg_audit_plan *plan);

/** What audit.json holds, as text (free it); and the file itself, into a folder that is made if it does not exist. */
mfpg_status mfpg_experiment_audit_json(mfpg_context *ctx, const mfpg_experiment *experiment,
    const mfpg_audit_options *options, const mfpg_audit_client *client, const mfpg_audit_plan *plan,
    char **json);
mfpg_status mfpg_experiment_write_audit(mfpg_context *ctx, const mfpg_experiment *experiment,
    const mfpg_audit_options *options, const mfpg_audit_client *client, const mfpg_audit_plan *plan,
    const char *folder);

/** Rebuilds examples from one update of the client that is least protected (mfpg/inversion.h), at the model that training starts
 *  from; before the run, which is not changed. Reads private data. width 0 of the options: square pictures if the data are of the
 *  MNIST format.
 *  @return MFPG_ERR_INPUT for records as particles, models without biases, fewer than 2 examples besides the batch;
 *  MFPG_ERR_DOMAIN for options out of range; MFPG_ERR_NUMERIC for gradients or features that are not numbers, and if the game was
 *  not solved; MFPG_ERR_INTERRUPTED. */
mfpg_status mfpg_experiment_invert(mfpg_context *ctx, const mfpg_experiment *experiment,
    const mfpg_inversion_options *options, mfpg_inversion **out);

/** Its report, an object with the key "inversion", as text (free it); and written into audit.json of a folder that is made if it does
 *  not exist: all other keys are kept. inversion.png is written too if the rows are pictures (*pictures 1). */
mfpg_status mfpg_experiment_inversion_json(mfpg_context *ctx, const mfpg_experiment *experiment,
    const mfpg_inversion_options *options, const mfpg_inversion *inversion, char **json);
mfpg_status mfpg_experiment_write_inversion(mfpg_context *ctx, const mfpg_experiment *experiment,
    const mfpg_inversion_options *options, const mfpg_inversion *inversion, const char *folder,
    int *pictures);

/** Metrics of a finished run's model on a file that it has not seen, read as the run's own files were: the run folder's
 *  config.yaml with this file in the place of its files, and its model.npy. Nothing is written.
 *  @param[in] labels  the file of labels, for formats that keep them apart; else NULL
 *  @return MFPG_ERR_INPUT if there is no such run, or if its scaling or imputation was fitted on its own rows and cannot be
 *          repeated. */
mfpg_status mfpg_evaluate_file(
    mfpg_context *ctx, const char *run_folder, const char *file, const char *labels, mfpg_metrics *out);

/** For people: every client's promise in plain words, the metrics with the majority rate, the assumptions. */
mfpg_status mfpg_experiment_print(mfpg_context *ctx, const mfpg_experiment *experiment, FILE *out);

#endif
