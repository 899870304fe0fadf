/** A federation in training: Algorithm 1. Each round every client of the cohort acts (its control, chosen by the game before
 *  training, or in the round from what it measures), updates (mechanism) and is accounted (accountants, ledger); the server averages
 *  (FedAvg). */
#ifndef MFPG_FEDERATION_H
#define MFPG_FEDERATION_H

#include <stddef.h>
#include <stdint.h>

#include "accountant.h"
#include "context.h"
#include "dataset.h"
#include "filter.h"
#include "game.h"
#include "hidden_state.h"
#include "mechanism.h"
#include "model.h"
#include "optimiser.h"
#include "random.h"
#include "release.h"

typedef enum mfpg_weights {
    MFPG_WEIGHTS_EXAMPLES = 0, /* p_k = n_k / n, the declared public row counts */
    MFPG_WEIGHTS_EQUAL,        /* p_k = 1 / N */
    MFPG_WEIGHTS_INVERSE_NOISE /* p_k ~ 1 / (variance of the client's noise in one round), a public number */
} mfpg_weights;

typedef enum mfpg_evaluate { MFPG_EVALUATE_TEST = 0, MFPG_EVALUATE_TRAIN, MFPG_EVALUATE_NONE } mfpg_evaluate;

typedef enum mfpg_loss_kind {
    MFPG_LOSS_MEAN = 0,  /* mean over all rows (a model whose loss sums rows: sum over clients) */
    MFPG_LOSS_CLIENT_SUM /* sum over clients of their own losses, as the paper's table reads */
} mfpg_loss_kind;

/** How an action chosen from private measurements is let out (theory S4). */
typedef enum mfpg_selection {
    MFPG_SELECTION_NONE = 0,   /* it is the best response to the raw numbers: nothing is certified */
    MFPG_SELECTION_NOISY,      /* it is the best response to noised ones */
    MFPG_SELECTION_EXPONENTIAL /* it is drawn by the exponential mechanism */
} mfpg_selection;

/** Actions that are chosen in every round, before the update: Algorithm 1 to the letter. A client of the cohort measures its loss and
 *  gradient norm at the broadcast model; its action is its best response to that in a game of a cost that measures. Nothing else comes
 *  of the measurements, so what is broadcast (strengths, their mean) has been accounted for. As actions, and with them what a round
 *  costs, depend on earlier noised outputs, certificates are those of a filter: the budget stop_at_epsilon, however much of it was
 *  spent (theory S4). */
typedef struct mfpg_acting {
    /* of the federation's clients, borrowed for its life; its constants loss and gradient_norm count until a client's first
     * measurement */
    const mfpg_game *game;
    mfpg_selection selection;
    double loss_clip;       /* > 0: losses are cut to [0, loss_clip] */
    mfpg_measurement noise; /* noisy: sd > 0 of each measurement that the cost reads */
    double epsilon;         /* exponential: > 0, of one choice; the game then has a grid */
} mfpg_acting;

/** How a federation trains. Arrays are borrowed for the life of the federation. */
typedef struct mfpg_federation_options {
    int64_t rounds; /* T, planned; 1 <= T < 2^31 - 1 */
    mfpg_weights weights;
    ptrdiff_t clients_per_round; /* m of N drawn without replacement each round; 0: all */
    double client_rate; /* each client takes part with this probability; 1: all. Not with clients_per_round */
    const float *start; /* first model, parameters floats; NULL: mfpg_model_start */
    int start_he;
    mfpg_evaluate evaluate;
    int64_t
        evaluate_every; /* rounds from one evaluation to the next, >= 1; the last planned round always is */
    mfpg_loss_kind loss_kind;
    mfpg_promise promise;
    double delta;                 /* of the certificates, in (0,1) */
    const char *accountant;       /* certifying, accountants.def */
    const char *paper_accountant; /* paper_*, or NULL */
    mfpg_paper_bound paper;
    const unsigned char *colluder; /* clients flags, or NULL */
    int participants;              /* average view: other participants watch */
    int free_energy; /* 1: entropic mechanisms report it (mfpg_free_energy) in the rounds of evaluate_every */
    double
        stop_at_epsilon; /* a client whose budget would be overspent takes no further part; +INFINITY: none */
    mfpg_filter_kind filter; /* what decides that; acting: a GDP filter, also if accountant is said */
    /* What is assumed of the clients' losses if nobody sees a model before the last one (view final, accountant hidden-state): the
     * caller's word, as is the bound on their smoothness, of the loss over all rows of a client and, with drawn batches, of every
     * example's. */
    mfpg_hidden_case hidden;
    double hidden_smoothness;
    const mfpg_acting *acting; /* NULL: actions are given and stay; borrowed */
    /* of the sums of views average and final, a power of two; 0: the largest up to a sixteenth of every share's noise */
    double grid;
    mfpg_server_optimiser_options server; /* of the next global model, from the average */
} mfpg_federation_options;

/** 20 rounds, weights by examples, everybody each round, start zero, test metrics, delta 1e-5, gdp, no paper columns, the average is
 *  the next model. */
mfpg_federation_options mfpg_federation_options_default(void);

/** The paper's free energy (eq. freeenergy) of an entropic federation, F = E[L] + e KL(mu | nu) + lambda/2 Var, mu the law of what is
 *  noised, nu = N(0, sigma^2 I). An observable of a run: no certificate comes of it, and nothing minimises it exactly. Parameters: the
 *  state is the global model in R^d, whose d entries are taken as independent particles of one law. Data: the states are a client's
 *  noised records in R^p, whose features are taken as independent, each with a law of its own; KL is then a lower bound of the joint
 *  one; KL and Var are of up to 256 records a client, and all is the mean over the clients by their weights.
 *  KL is estimated by spacings (Vasicek, less its bias for uniform numbers): a state of fewer than 3 particles has none. */
typedef struct mfpg_free_energy {
    double loss; /* parameters: that of the round's report; data: the mean loss of the noised records */
    double
        kl; /* in nats, of the state: d times that of an entry; the sum of the features'. +INFINITY: no density */
    double variance; /* of the state: the sum of squares around its mean */
    double mean_strength;
    double total; /* F; with data the mean over the clients of their own. NAN if a term is */
} mfpg_free_energy;

/** One round, after it is complete. Metrics (loss, accuracy, noise_to_signal) come from private data, and no certificate covers them. */
typedef struct mfpg_round_report {
    int64_t round;         /* completed rounds */
    double loss, accuracy; /* NAN if not evaluated or no classifier */
    double mean_action;    /* mean control of all clients; NAN without noise */
    /* expected norm of the average's noise over the weighted sum of the clients' signal norms; NAN if records are noised */
    double noise_to_signal;
    double epsilon; /* largest certified epsilon of a client so far */
    double paper_epsilon,
        paper_delta;  /* the paper's formulas at the population (mean strength); NAN without */
    ptrdiff_t cohort; /* clients that took part */
    mfpg_free_energy
        free_energy; /* all NAN if it was not asked for, in other rounds, and for other mechanisms */
    /* all Sinkhorn projections of the round; from noised parameters, and so covered by the certificates, which are those of the
     * local view if states are projected */
    mfpg_transport_report transport;
} mfpg_round_report;

/** One client at the end. */
typedef struct mfpg_client_report {
    mfpg_action action;
    double action_value; /* the number of its control; NAN without noise */
    double mu,
        epsilon; /* certified, rounded up; mu is NAN if epsilon is finite and the accountant has no mu */
    double epsilon_other; /* under the other adjacency */
    double distance;      /* certified total variation between neighbours: delta at epsilon 0 */
    double paper_epsilon, paper_delta;
    int64_t rounds, steps; /* rounds taken part in; noisy steps released (data particles: 1, the push) */
    double sampling_rate;
    double noise_multiplier; /* noise sd over zero-out sensitivity of one step */
    double grid, rounding;   /* as in mfpg_release, of the planned one */
    int64_t nonfinite;       /* gradients or updates that were not finite and became zero */
    int stopped;             /* left because of stop_at_epsilon */
    int64_t stopped_before;  /* the round, from 1, that it would have overspent in; 0 if it has not stopped */
    /* acting: mu that the filter has counted so far (for display; the certificate is mu above) and mu of one choice; NAN without */
    double spent_mu, choice_mu;
    double weight; /* p_k with everybody taking part */
} mfpg_client_report;

typedef struct mfpg_federation mfpg_federation;

/** Sets a federation up; nothing is released yet.
 *  @param[in] mechanism  clients pointers (they may be equal); borrowed, like data and model
 *  @param[in] action     clients actions that the mechanisms accept; copied. With acting, those before the first round
 *  @param[in] key        noise, batches, cohorts, start
 *  Mechanisms of data particles noise a client's records in the first round that it takes part in, into a copy that the
 *  federation keeps, and release nothing else; no view hides that. All mechanisms are of one kind, the accountant's.
 *  Acting needs mechanisms over parameters, accountant gdp, a view other than final, weights that do not depend on the noise,
 *  bounded actions that all mechanisms accept, and a finite stop_at_epsilon; with selection none, none.
 *  @return MFPG_OK, MFPG_ERR_INPUT / MFPG_ERR_DOMAIN with the client named, MFPG_ERR_MEMORY. */
mfpg_status mfpg_federation_create(mfpg_context *ctx, const mfpg_federation_options *options,
    const mfpg_federated_data *data, const mfpg_model *model, const mfpg_mechanism *const *mechanism,
    const mfpg_action *action, const mfpg_key *key, mfpg_federation **out);
void mfpg_federation_destroy(mfpg_federation *federation);

/** From now on every release is appended to this ledger before it is used; borrowed, NULL: none. */
void mfpg_federation_keep_ledger(mfpg_federation *federation, mfpg_ledger *ledger);

/** One round of Algorithm 1. *done becomes 1 if no client has budget left (then nothing happened; acting: some may have paid for a
 *  choice of an action that they cannot afford), else 0.
 *  Bits do not depend on the number of threads. MFPG_ERR_NUMERIC names the client whose update left the range. */
mfpg_status mfpg_federation_round(
    mfpg_context *ctx, mfpg_federation *federation, mfpg_round_report *report, int *done);

/** What its own noise costs each client, without noise on the answer: for public data only. The next round is played, everybody taking
 *  part, once for every action of one client while the others keep theirs, and nothing of the run changes; the client's loss, on its
 *  training rows, is that of y = w' + omega (w_k - w'), w' the average with the client's own share in it, w_k its update. All actions
 *  meet the same noise and batches (common random numbers). Nothing is accounted.
 *  @param[in]  action           count actions that every client's mechanism accepts
 *  @param[in]  personalisation  omega in [0, 1]
 *  @param[in]  draw             which noise: 0 .. 2^31 - 1, independent of one another, of all rounds and of the run's own
 *  @param[out] loss             clients x count, one client after the other
 *  @return MFPG_OK, MFPG_ERR_INPUT for mechanisms of records and server optimisers, MFPG_ERR_DOMAIN for an action that a mechanism refuses, MFPG_ERR_NUMERIC
 *  for a loss that is not finite (round, client and action named), MFPG_ERR_MEMORY.
 *  Bits do not depend on the number of threads. */
mfpg_status mfpg_federation_own_losses(mfpg_context *ctx, mfpg_federation *federation,
    const mfpg_action *action, ptrdiff_t count, double personalisation, int64_t draw, double *loss);

/** The global model, parameters floats; valid until the next round. */
const float *mfpg_federation_model(const mfpg_federation *federation);

/** A client so far. */
mfpg_status mfpg_federation_client(
    mfpg_context *ctx, const mfpg_federation *federation, ptrdiff_t client, mfpg_client_report *out);

/** Metrics of the model on a client's evaluation set, and on all of them together (client -1). */
mfpg_status mfpg_federation_metrics(
    mfpg_context *ctx, const mfpg_federation *federation, ptrdiff_t client, mfpg_metrics *out);

#endif
