/* The parts of an experiment, shared by the files that build, run and describe it. */
#ifndef MFPG_EXPERIMENT_INTERNAL_H
#define MFPG_EXPERIMENT_INTERNAL_H

#include <jansson.h>

#include "mfpg/experiment.h"

#include "accountants/accounting.h"
#include "config/settings.h"
#include "federation/checkpoint.h"
#include "federation/plan.h"
#include "games/game_internal.h"
#include "mechanisms/mechanism_ops.h"
#include "models/losses.h"

/* What is needed to continue a run after an interruption. */
typedef struct run_checkpoints {
    char *given;  /* the configuration as it was given */
    char *path;   /* path of the file; NULL if no checkpoints are kept, and on all ranks except the first */
    int gathered; /* 1: checkpoints are kept, and every rank contributes to them */
    /* The checkpoint written last; its pointers borrow from the experiment, except for loop and told. */
    mfpg_checkpoint at;
    int64_t every;        /* rounds; 0: as often as is cheap */
    double written, cost; /* seconds: when, and how long it took */
    char *folder;         /* folder of the run that is resumed; NULL for a new run */
    int64_t resumed_round;
    unsigned char resumed[MFPG_DIGEST_SIZE]; /* checksum of the checkpoint from which it was built */
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
    mfpg_game game; /* its pointers are the arrays below */
    double *preference, *noise_unit, *privacy_scale, *own_cost, *strength_unit, *weight, *grid, *loss_table;
} game_setup;

struct mfpg_experiment {
    /* What is trained. */
    mfpg_config *config;
    mfpg_key key;
    mfpg_federated_data *data;
    mfpg_model *model;
    float *start; /* NULL: the model's own */
    mechanism_set mechanisms;
    /* one per client; if actions are chosen in each round, those before the first round */
    mfpg_action *action;
    mfpg_federation_options options;
    unsigned char *colluder; /* clients; NULL if there is none */
    mfpg_dropout *dropout;   /* those of secure_sum.dropouts; NULL if there are none */
    text_list assumptions;
    mfpg_federation *federation;
    /* The game, empty if none is played. */
    double *preference;           /* clients, as configured */
    double preference_factor;     /* the public factor found for target_epsilon, otherwise 1 */
    mfpg_equilibrium equilibrium; /* action NULL without a game */
    game_setup game;              /* the game as it was solved: its preferences include the factor */
    /* exploitability of a mean-field equilibrium in the game of the actual clients; NAN if not known */
    double finite_max, finite_mean;
    mfpg_acting acting; /* set if actions are chosen in each round; it borrows the game */
    /* The run. */
    mfpg_ledger *ledger;
    run_checkpoints checkpoints;
    mfpg_round_report *rounds; /* completed */
    double *seconds;
    mfpg_sum_cost *sum_cost; /* of the rounds that were played in this process */
    ptrdiff_t round_count;
    int interrupted;
};

static inline int mfpg_promises_anything(const mfpg_experiment *e) {
    return mfpg_mechanism_kind_of(e->config->method.mechanism).control != MFPG_CONTROL_NONE;
}

static inline int mfpg_noises_records(const mfpg_experiment *e) {
    return e->config->set.mechanism.particles == MFPG_PARTICLES_DATA;
}

static inline mfpg_action mfpg_make_action(mfpg_control control, double value) {
    mfpg_action action = {.control = control};
    if (control == MFPG_CONTROL_BUDGET) action.budget.value = value;
    if (control == MFPG_CONTROL_STRENGTH) action.strength.value = value;
    return action;
}

/* Returns whether the game of the configuration uses game.loss_table. */
static inline int mfpg_plays_loss_table(const mfpg_config *config) {
    return config->method.players != MFPG_PLAYERS_NONE && config->all.loss_table &&
           (mfpg_cost_facts(config->set.game.cost) & MFPG_COST_TAKES_TABLE);
}

/* experiment.c: builds the experiment of a checked configuration, of which it takes ownership in any case.
 * key: that of the run that is continued, unless the configuration has a seed; otherwise NULL. Collective;
 * each rank passes its own status. */
mfpg_status mfpg_experiment_build(
    mfpg_context *ctx, mfpg_status status, mfpg_config *config, const mfpg_key *key, mfpg_experiment **out);

/* Fails with MFPG_ERR_NUMERIC if the game was not solved; what: why that matters. */
mfpg_status mfpg_experiment_check_solved(mfpg_context *ctx, const mfpg_experiment *e, const char *what);

/* data_setup.c; other_file: 1 if the data are a file that the run did not use. */
mfpg_status mfpg_setup_data(mfpg_context *ctx, const mfpg_config *config, const mfpg_key *key, int other_file,
    mfpg_federated_data **out);
mfpg_status mfpg_setup_model(
    mfpg_context *ctx, mfpg_config *config, const mfpg_federated_data *data, mfpg_model **out);

/* Returns the bound on the Hessian that follows from public bounds of the features, including the bias, and
 * the squared norm used for it. */
double mfpg_public_curvature(const mfpg_experiment *e, double *norm2);

/* mechanism_setup.c */
mfpg_status mfpg_setup_mechanisms(mfpg_context *ctx, mfpg_experiment *e);
void mfpg_mechanism_set_clear(mechanism_set *set);

/* federation_setup.c: sets the remaining options of the round loop; the next function tells whether some
 * client draws batches of its examples and the certificates credit this. */
mfpg_status mfpg_setup_federation(mfpg_context *ctx, mfpg_experiment *e);
int mfpg_samples_examples(const mfpg_experiment *e);
int mfpg_credits_sampling(const mfpg_experiment *e);

/* game_setup.c: sets preferences, and every auto of the game. */
mfpg_status mfpg_setup_game(mfpg_context *ctx, mfpg_experiment *e, game_setup *out);
void mfpg_game_setup_clear(game_setup *setup);

/* noise_setup.c: sets each client's action, by the game or shared, and by the target epsilon. */
mfpg_status mfpg_setup_actions(mfpg_context *ctx, mfpg_experiment *e);

/* assumptions.c */
mfpg_status mfpg_list_assumptions(mfpg_context *ctx, mfpg_experiment *e);

/* checkpointing.c: keeps the configuration as it was given; call it before anything of it is resolved. */
mfpg_status mfpg_checkpoints_prepare(mfpg_context *ctx, mfpg_experiment *e);

/* Computes the identity of the run before its first round; written: the text of its config.yaml. */
void mfpg_experiment_identify(mfpg_experiment *e, const char *written, size_t length);

/* Fails with MFPG_ERR_INPUT if data, first model, or game and plan differ; whose, those: words for them
 * ("its", "of the first process"). */
mfpg_status mfpg_compare_identities(mfpg_context *ctx, const mfpg_run_identity *own,
    const mfpg_run_identity *other, const char *whose, const char *those);

/* Begins to keep checkpoints in the folder (NULL: none, or not the first rank) if the configuration requests
 * them; the first one is written immediately. Collective; each rank passes its own status. */
mfpg_status mfpg_checkpoints_begin(mfpg_context *ctx, mfpg_experiment *e, const char *folder);

/* Writes a checkpoint after a round if one is due, or in any case if `now` is set. Collective in the same
 * way. */
mfpg_status mfpg_checkpoints_take(mfpg_context *ctx, mfpg_experiment *e, int now);

/* Removes the checkpoint, and with it the key, when the run has ended. */
void mfpg_checkpoints_erase(mfpg_experiment *e);
void mfpg_checkpoints_clear(run_checkpoints *checkpoints); /* frees */

/* The header of the run's ledger. */
mfpg_ledger_header mfpg_experiment_ledger_header(const mfpg_experiment *e);

/* resume.c, collective: opens the folder's ledger (on the first rank; the others' folder is NULL) and sets
 * the experiment to its checkpoint; results of an earlier interruption are removed. A failure changes
 * nothing. */
mfpg_status mfpg_experiment_go_on(mfpg_context *ctx, mfpg_experiment *e, const char *folder);

/* What the clients' reports come to. */
typedef struct client_tally {
    ptrdiff_t least, most;        /* the clients with the smallest and the largest epsilon */
    mfpg_client_report low, high; /* their reports */
    int64_t stopped, nonfinite, certified;
    int idle; /* 1: no client took part in any round, because the budget is too small */
    /* the largest mu; NAN if sampling is credited, for which mu does not exist. Acting: mu of what was spent
     * of the filters */
    double spent;
} client_tally;
mfpg_status mfpg_tally_clients(mfpg_context *ctx, const mfpg_experiment *e, client_tally *out);

/* summary.c: returns a new object, or NULL if memory runs out. */
json_t *mfpg_summary_json(mfpg_context *ctx, const mfpg_experiment *e);

/* projections.c: returns 1 if states are projected. The other functions give the projections of all rounds
 * and the warnings about them, for summary.json (null if there are none) and for print. */
int mfpg_experiment_projects(const mfpg_experiment *e);
json_t *mfpg_transport_json(const mfpg_experiment *e);
void mfpg_print_transport(const mfpg_experiment *e, FILE *out);

#endif
