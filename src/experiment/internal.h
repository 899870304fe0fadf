/* The parts of an experiment, shared by the files that build, run and describe it. */
#ifndef MFPG_EXPERIMENT_INTERNAL_H
#define MFPG_EXPERIMENT_INTERNAL_H

#include <jansson.h>

#include "mfpg/experiment.h"

#include "config/config_fields.h"
#include "federation/checkpoint.h"

/* What makes a run able to go on after an interruption. */
typedef struct run_checkpoints {
    char *given;  /* the configuration as it was given */
    char *path;   /* of the file; NULL where none is kept, and on all ranks but the first */
    int gathered; /* 1: checkpoints are kept, and every rank has a part of them */
    mfpg_checkpoint
        at;        /* what was written last; its pointers borrow from the experiment, but for loop and told */
    int64_t every; /* rounds; 0: as often as is cheap */
    double written, cost; /* seconds: when, and how long it took */
    char *folder;         /* of the run that is resumed; NULL for a new one */
    int64_t resumed_round;
    unsigned char resumed[MFPG_DIGEST_SIZE]; /* checksum of the checkpoint that it was built from */
} run_checkpoints;

typedef struct mechanism_set {
    ptrdiff_t count;
    mfpg_mechanism **distinct;        /* count, owned */
    const mfpg_mechanism **of_client; /* clients; clients with equal settings share one */
} mechanism_set;

typedef struct text_list {
    char **text;
    ptrdiff_t count;
} text_list;

/* A game with the arrays that it borrows. */
typedef struct game_setup {
    mfpg_game game; /* its pointers stand in the arrays below */
    double *preference, *noise_unit, *privacy_scale, *own_cost, *strength_unit, *weight, *grid, *loss_table;
} game_setup;

/* How the solution stands in the game of its own clients; both NAN where that is not known. */
typedef struct finite_gains {
    double max, mean;
} finite_gains;

struct mfpg_experiment {
    mfpg_config *config;
    double reference; /* a study of losses: the action that everybody shares, without a game; else 0 */
    mfpg_method method;
    mfpg_key key;
    mfpg_federated_data *data;
    int other_file; /* 1: the data are a file that the run has not seen */
    mfpg_model *model;
    mechanism_set mechanisms;
    double *preference;           /* clients, as configured; NULL without a game */
    double preference_factor;     /* the one public factor of target_epsilon, else 1 */
    mfpg_equilibrium equilibrium; /* action NULL without a game */
    mfpg_action *action;          /* clients; where actions are chosen each round, those before the first */
    game_setup game;         /* as it was solved: its preferences times the factor. Empty without a game */
    finite_gains finite;     /* of the equilibrium of a mean field */
    mfpg_acting acting;      /* where actions are chosen each round; borrows the game */
    unsigned char *colluder; /* clients; NULL where there is none */
    float *start;            /* NULL: the model's own */
    text_list assumptions;
    mfpg_federation_options options;
    mfpg_federation *federation;
    mfpg_ledger *ledger;
    run_checkpoints checkpoints;
    mfpg_round_report *rounds; /* completed */
    double *seconds;
    ptrdiff_t round_count;
    int interrupted;
};

/* experiment.c: everything that a run of the configuration needs, but that all clients share one action, whatever the game;
 * nobody stops and nothing is evaluated. For studies of public data. */
mfpg_status mfpg_experiment_create_shared(
    mfpg_context *ctx, const mfpg_config *config, double reference, mfpg_experiment **out);

/* experiment.c: the experiment whose run in that folder ("" but on the first rank) left the checkpoint; the configuration is
 * the run's own. */
mfpg_status mfpg_experiment_create_resumed(mfpg_context *ctx, const mfpg_config *config, const char *folder,
    const mfpg_checkpoint *checkpoint, mfpg_experiment **out);

/* run.c: the header of the run's ledger. */
mfpg_ledger_header mfpg_experiment_ledger_header(const mfpg_experiment *experiment);

/* checkpointing.c: keeps the configuration as it was given; before anything of it is resolved. */
mfpg_status mfpg_checkpoints_prepare(mfpg_context *ctx, mfpg_experiment *experiment);

/* What the run is, before its first round; written: the text of its config.yaml. */
void mfpg_experiment_identify(mfpg_experiment *experiment, const char *written, size_t length);

/* Begins to keep checkpoints in the folder (NULL: none, or not the first rank), where the configuration wants any; the first
 * one is written at once. Collective, with a status of each rank's own. */
mfpg_status mfpg_checkpoints_begin(mfpg_context *ctx, mfpg_experiment *experiment, const char *folder);

/* After a round: writes one where it is time, or now has to be. Likewise collective. */
mfpg_status mfpg_checkpoints_take(mfpg_context *ctx, mfpg_experiment *experiment, int now);

/* The run has ended: no checkpoint is left, and no key with it. */
void mfpg_checkpoints_erase(mfpg_experiment *experiment);
void mfpg_checkpoints_clear(run_checkpoints *checkpoints); /* frees */

/* rank_check.c, collective: MFPG_ERR_INPUT where a process has another configuration, other data, another first model or other
 * actions than the first. */
mfpg_status mfpg_experiment_compare_ranks(mfpg_context *ctx, mfpg_experiment *experiment);

/* resume.c, collective: opens the folder's ledger (the first rank, the others' folder is NULL) and sets the experiment to its
 * checkpoint; results of an earlier interruption are removed. Nothing is changed where it fails. */
mfpg_status mfpg_experiment_go_on(mfpg_context *ctx, mfpg_experiment *experiment, const char *folder);

/* data_setup.c */
mfpg_status mfpg_setup_data(mfpg_context *ctx, mfpg_experiment *experiment);

/* model_setup.c */
mfpg_status mfpg_setup_model(mfpg_context *ctx, mfpg_experiment *experiment);

/* mechanism_setup.c */
mfpg_status mfpg_setup_mechanisms(mfpg_context *ctx, mfpg_experiment *experiment);
void mfpg_mechanism_set_clear(mechanism_set *set);

/* game_setup.c: preferences, every auto of the game, and its solution with all preferences times a factor. */
mfpg_status mfpg_setup_game(mfpg_context *ctx, mfpg_experiment *experiment, game_setup *out);
mfpg_status mfpg_solve_scaled(mfpg_context *ctx, const mfpg_experiment *experiment, const game_setup *setup,
    double factor, mfpg_equilibrium *out);
void mfpg_game_setup_clear(game_setup *setup);

/* Whether the run's game plays game.loss_table, which is then read into the setup for the actions of its
 * grid. */
int mfpg_plays_loss_table(const mfpg_config *config);
mfpg_status mfpg_setup_loss_table(mfpg_context *ctx, const mfpg_experiment *experiment, game_setup *setup);

/* acting_setup.c: from the game keys to actions that are chosen each round. Nothing where game.update is once. */
void mfpg_setup_acting(mfpg_experiment *experiment);

/* noise_setup.c: each client's action, by the game or shared, and by the target epsilon. */
mfpg_status mfpg_setup_actions(mfpg_context *ctx, mfpg_experiment *experiment);

/* federation_setup.c: what can be set before the data are there, and the rest of the round loop's options; and whether
 * some client draws batches of its examples, and the certificates credit it. */
int mfpg_samples_examples(const mfpg_experiment *experiment);
int mfpg_credits_sampling(const mfpg_experiment *experiment);
void mfpg_setup_promise(mfpg_experiment *experiment);
mfpg_status mfpg_setup_federation(mfpg_context *ctx, mfpg_experiment *experiment);

/* hidden_setup.c: privacy.assume and its smoothness, checked against the model. */
mfpg_status mfpg_setup_hidden(mfpg_context *ctx, mfpg_experiment *experiment);

/* assumptions.c */
mfpg_status mfpg_list_assumptions(mfpg_context *ctx, mfpg_experiment *experiment);

/* summary.c: a new object, or NULL when memory runs out; everybody: clients are listed however many there are. */
json_t *mfpg_summary_json(mfpg_context *ctx, const mfpg_experiment *experiment);

/* projections.c: 1 where states are projected; the projections of all rounds and what warns of them for summary.json (null where
 * there are none) and for print. */
int mfpg_experiment_projects(const mfpg_experiment *experiment);
json_t *mfpg_transport_json(const mfpg_experiment *experiment);
void mfpg_print_transport(const mfpg_experiment *experiment, FILE *out);

/* summary_clients.c: each client, or the quantiles of more than 1000. */
json_t *mfpg_clients_json(mfpg_context *ctx, const mfpg_experiment *experiment);

#endif
