/** An experiment turns a configuration into data, model, game and mechanism, and trains. */
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

/** The note that accompanies results of several runs. Each certificate covers its own run only. Choosing
 *  among runs by what they show of private data is a further release, which no certificate counts. */
#define MFPG_SELECTION_NOTE "selection over several runs on private data: not covered"

typedef struct mfpg_experiment mfpg_experiment;

/** Builds everything that a run needs: reads the data, resolves every `auto`, solves the game and meets the
 *  target epsilon. Nothing is written and nothing is released. Settings that are unwise but possible give a
 *  warning of the context.
 *  @param[in]  config  copied; the caller's object is unchanged
 *  @param[out] out     free with mfpg_experiment_destroy; set only on success
 *  @return MFPG_OK; MFPG_ERR_INPUT or MFPG_ERR_DOMAIN with the key or file at fault; MFPG_ERR_IO;
 *  MFPG_ERR_MEMORY; MFPG_ERR_INTERRUPTED if a signal ended the wait for a pipe. */
mfpg_status mfpg_experiment_create(mfpg_context *ctx, const mfpg_config *config, mfpg_experiment **out);
void mfpg_experiment_destroy(mfpg_experiment *experiment);

/** Loads the experiment whose run in that folder was interrupted, so that it can be continued in the same
 *  folder. It continues from the checkpoint there and ends with the same bytes (except timings.csv) as
 *  without the interruption, whatever the number of threads. Rounds that are in the ledger but later than the
 *  checkpoint are repeated, and refused unless they release the same values. In a group any number of
 *  processes can continue what any number began; the call is collective, and folder and config are those of
 *  the first process.
 *  @param[in] config  NULL, or a configuration that must equal the one of the run
 *  @return MFPG_ERR_INPUT if there is nothing to resume, the checkpoint is damaged, or the configuration
 *  differs (with the key); otherwise as mfpg_experiment_create. Before it changes anything,
 *  mfpg_experiment_run detects whether data, first model, actions or files differ, or another process runs
 *  the experiment. */
mfpg_status mfpg_experiment_resume(
    mfpg_context *ctx, const char *folder, const mfpg_config *config, mfpg_experiment **out);

/** Returns the configuration of the interrupted run in a folder, as it was given (free it). */
mfpg_status mfpg_run_configuration(mfpg_context *ctx, const char *folder, mfpg_config **out);

/** Returns the number of completed rounds with which a resumed run begins; -1 for a new run. */
int64_t mfpg_experiment_resumed_round(const mfpg_experiment *experiment);

typedef struct mfpg_run_options {
    const char *folder; /* the run folder, which is created and filled; NULL: nothing is written */
    /* checked after each round; if it is not 0, the run ends there. NULL: never checked */
    const volatile int *stop;
    /* Called after each round; may be NULL. */
    void (*progress)(void *user, const mfpg_round_report *report, int64_t rounds);
    void *progress_user;
} mfpg_run_options;

/** Trains all rounds and writes the run folder: config.yaml, ledger, rounds.csv, free_energy.csv (entropic
 *  runs), transport.csv (runs that project), clients.csv, summary.json, model.npy, timings.csv. It can be
 *  called once per experiment. During the run a checkpoint (mode 0600) is written as often as
 *  train.checkpoint says; it is erased when the run is complete. A folder that exists must be empty. If
 *  several runs are given one folder, one of them gets it and the others fail with MFPG_ERR_INPUT. In a group
 *  the call is collective: the first process writes, and every process must have the first one's
 *  configuration (except paths), data, first model and actions.
 *  @return MFPG_OK; MFPG_ERR_INTERRUPTED after a stop, with the files of all complete rounds written;
 *  otherwise as usual, and the ledger and the files from before the failure are kept. The message states how
 *  many rounds are complete, names the files, and says how to continue the run if that is possible. */
mfpg_status mfpg_experiment_run(
    mfpg_context *ctx, mfpg_experiment *experiment, const mfpg_run_options *options);

/** Returns the configuration with everything resolved; it lives as long as the experiment. */
const mfpg_config *mfpg_experiment_config(const mfpg_experiment *experiment);

ptrdiff_t mfpg_experiment_clients(const mfpg_experiment *experiment);
const char *mfpg_experiment_client_name(const mfpg_experiment *experiment, ptrdiff_t client);

/** Returns the game with its equilibrium and the clients' names, as it was solved before the first round
 *  (with the public constants, if each round chooses actions); it lives as long as the experiment. The result
 *  is 0 without a game. A game that was not solved (converged 0) can be read but not run. */
int mfpg_experiment_solution(const mfpg_experiment *experiment, mfpg_solution *out);

/** Returns, after the run, one client, the last round (round 0 before the first), or the metrics of a client
 *  (of all: -1). */
mfpg_status mfpg_experiment_client(
    mfpg_context *ctx, const mfpg_experiment *experiment, ptrdiff_t client, mfpg_client_report *out);
mfpg_round_report mfpg_experiment_last_round(const mfpg_experiment *experiment);
mfpg_status mfpg_experiment_metrics(
    mfpg_context *ctx, const mfpg_experiment *experiment, ptrdiff_t client, mfpg_metrics *out);

/** Returns, after the run, one client with its name, rows and preference; its promise is
 *  mfpg_experiment_promise. */
mfpg_status mfpg_experiment_client_record(
    mfpg_context *ctx, const mfpg_experiment *experiment, ptrdiff_t client, mfpg_client_record *out);

/** Writes, after the run, what a client was promised, in words, cut to size. client: its report
 *  (mfpg_experiment_client). */
void mfpg_experiment_promise(
    const mfpg_experiment *experiment, const mfpg_client_report *client, char *text, size_t size);

/** Returns, after the run, the metrics on the test set that all clients share, whatever `evaluate` selected;
 *  0 rows if there is none. */
mfpg_status mfpg_experiment_test_metrics(
    mfpg_context *ctx, const mfpg_experiment *experiment, mfpg_metrics *out);

/** Returns the *count reports of all completed rounds, including those before a resumption; valid until the
 *  run's next call. Before the run the result is NULL and 0. */
const mfpg_round_report *mfpg_experiment_rounds(const mfpg_experiment *experiment, ptrdiff_t *count);

/** Returns the global model (*count parameters); valid until the run's next round. */
const float *mfpg_experiment_model(const mfpg_experiment *experiment, ptrdiff_t *count);

/** Returns the assumptions of the certificates, one sentence each; NULL past the end. */
const char *mfpg_experiment_assumption(const mfpg_experiment *experiment, ptrdiff_t index);

/** Returns the text of summary.json (free it). For more than 1000 clients it has quantiles;
 *  mfpg_experiment_client returns each client. */
mfpg_status mfpg_experiment_summary(mfpg_context *ctx, const mfpg_experiment *experiment, char **json);

/** Makes the reported loss the sum of the clients' own losses instead of their mean. Call it before the run.
 *  After a failure the experiment can only be destroyed.
 *  @return MFPG_OK, or as mfpg_experiment_create. */
mfpg_status mfpg_experiment_sum_losses(mfpg_context *ctx, mfpg_experiment *experiment);

/** The fields of "game" in summary.json; their record is private. MFPG_GAME_COMPARED is the bit (`places` in
 *  fields.h) of the fields that are compared between runs. */
enum { MFPG_GAME_COMPARED = 1 << 8 };
extern const mfpg_fields mfpg_game_fields;

/** Attacks what the experiment promises its clients (mfpg/audit.h), before or after its run; the experiment
 *  is not changed.
 *  @param[out] client  one entry per client
 *  @return as mfpg_audit_federation; MFPG_ERR_NUMERIC if the game was not solved. */
mfpg_status mfpg_experiment_audit(mfpg_context *ctx, const mfpg_experiment *experiment,
    const mfpg_audit_options *options, mfpg_audit_client *client, mfpg_audit_plan *plan);

/** Return the text of audit.json (free it), and write the file into a folder that is created if it does not
 *  exist. */
mfpg_status mfpg_experiment_audit_json(mfpg_context *ctx, const mfpg_experiment *experiment,
    const mfpg_audit_options *options, const mfpg_audit_client *client, const mfpg_audit_plan *plan,
    char **json);
mfpg_status mfpg_experiment_write_audit(mfpg_context *ctx, const mfpg_experiment *experiment,
    const mfpg_audit_options *options, const mfpg_audit_client *client, const mfpg_audit_plan *plan,
    const char *folder);

/** Rebuilds examples from one update of the least protected client (mfpg/inversion.h), computed at the
 *  initial model. Call it before the run; the experiment is not changed. It reads private data. If width of
 *  the options is 0, pictures are square for data in MNIST format.
 *  @return MFPG_ERR_INPUT for records as particles, models without biases, fewer than 2 examples outside the
 *  batch; MFPG_ERR_DOMAIN for options out of range; MFPG_ERR_NUMERIC for gradients or features that are not
 *  finite, and if the game was not solved; MFPG_ERR_INTERRUPTED. */
mfpg_status mfpg_experiment_invert(mfpg_context *ctx, const mfpg_experiment *experiment,
    const mfpg_inversion_options *options, mfpg_inversion **out);

/** Returns the report of an inversion, an object with the key "inversion", as text (free it), or writes it
 *  into audit.json of a folder, which is created if it does not exist; all other keys of the file are kept.
 *  inversion.png is written too if the rows are pictures (*pictures 1). */
mfpg_status mfpg_experiment_inversion_json(mfpg_context *ctx, const mfpg_experiment *experiment,
    const mfpg_inversion_options *options, const mfpg_inversion *inversion, char **json);
mfpg_status mfpg_experiment_write_inversion(mfpg_context *ctx, const mfpg_experiment *experiment,
    const mfpg_inversion_options *options, const mfpg_inversion *inversion, const char *folder,
    int *pictures);

/** Evaluates a finished run's model on a file that the run did not use. The file is read like the run's own
 *  files, by config.yaml of the run folder with this file in their place; the model is model.npy. Nothing is
 *  written.
 *  @param[in] labels  the file of labels, for formats that keep them separately; otherwise NULL
 *  @return MFPG_ERR_INPUT if the folder holds no run, or if scaling or imputation was fitted to the run's own
 *  rows and cannot be repeated. */
mfpg_status mfpg_evaluate_file(
    mfpg_context *ctx, const char *run_folder, const char *file, const char *labels, mfpg_metrics *out);

/** Prints for people: every client's promise in plain words, the metrics with the majority rate, and the
 *  assumptions. */
mfpg_status mfpg_experiment_print(mfpg_context *ctx, const mfpg_experiment *experiment, FILE *out);

#endif
