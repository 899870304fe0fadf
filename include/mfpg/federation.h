/** A federation in training (Algorithm 1). In each round every client of the cohort acts (the game chooses
 *  its control before training, or in the round from the client's measurements), updates (mechanism) and is
 *  accounted (accountants, ledger). Then the server averages (FedAvg). */
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
    MFPG_WEIGHTS_EXAMPLES = 0, /* p_k = n_k / n from the declared public row counts */
    MFPG_WEIGHTS_EQUAL,        /* p_k = 1 / N */
    /* p_k proportional to 1 / (variance of the client's noise in one round), a public number */
    MFPG_WEIGHTS_INVERSE_NOISE
} mfpg_weights;

typedef enum mfpg_evaluate { MFPG_EVALUATE_TEST = 0, MFPG_EVALUATE_TRAIN, MFPG_EVALUATE_NONE } mfpg_evaluate;

typedef enum mfpg_loss_kind {
    MFPG_LOSS_MEAN = 0,  /* mean over all rows (for a model whose loss sums rows: sum over clients) */
    MFPG_LOSS_CLIENT_SUM /* sum of the clients' own losses, as in the paper's table */
} mfpg_loss_kind;

/** How an action that depends on private measurements is released (theory S4). */
typedef enum mfpg_selection {
    MFPG_SELECTION_NONE = 0,   /* the best response to the raw measurements: nothing is certified */
    MFPG_SELECTION_NOISY,      /* the best response to noised measurements */
    MFPG_SELECTION_EXPONENTIAL /* it is drawn by the exponential mechanism */
} mfpg_selection;

/** Actions that are chosen in every round before the update, exactly as in Algorithm 1. A client of the
 *  cohort measures its loss and gradient norm at the broadcast model; its action is the best response in a
 *  game whose cost reads these measurements. The measurements are used for nothing else, so what is broadcast
 *  (strengths and their mean) has been accounted for. Actions, and therefore the cost of a round, depend on
 *  earlier noised outputs. So certificates are those of a filter: the whole budget stop_at_epsilon, however
 *  much of it was spent (theory S4). */
typedef struct mfpg_acting {
    /* game of the federation's clients, borrowed for the life of the federation; its constants loss and
     * gradient_norm are used until a client's first measurement */
    const mfpg_game *game;
    mfpg_selection selection;
    double loss_clip;       /* > 0: losses are clipped to [0, loss_clip] */
    mfpg_measurement noise; /* noisy: sd > 0 of the noise on each measurement that the cost reads */
    double epsilon;         /* exponential: epsilon > 0 of one choice; the game must then have a grid */
} mfpg_acting;

/** A client that drops out of a round before its share is sent. */
typedef struct mfpg_dropout {
    int64_t round; /* >= 1 */
    ptrdiff_t client;
} mfpg_dropout;

/** The sum of a federation in the view average. Without a secure sum it is computed as it is, and the certificate
 *  assumes that the observer sees nothing else. */
typedef struct mfpg_sum_options {
    /* 1: every round plays the protocol of mfpg/secure_sum.h in this process, and certificates count the noise of the
     * worst set of clients that it allows. The models are the same. */
    int simulate;
    ptrdiff_t threshold; /* above (n + c)/2 and at most n, of n members; 0: the smallest in each round */
    ptrdiff_t
        colluders; /* c >= 0: members, participants that watch included, that may work with the server */
    /* The weights of the others stay, and the server divides their sum by what is left of the weights. */
    const mfpg_dropout *dropout; /* dropouts */
    ptrdiff_t dropouts;
} mfpg_sum_options;

/** How a federation trains. Arrays are borrowed for the life of the federation. */
typedef struct mfpg_federation_options {
    int64_t rounds; /* T, the planned number; 1 <= T < 2^31 - 1 */
    mfpg_weights weights;
    ptrdiff_t clients_per_round; /* m of the N clients are drawn without replacement in each round; 0: all */
    /* each client takes part with this probability; 1: all. Cannot be combined with clients_per_round */
    double client_rate;
    const float *start; /* first model, parameters floats; NULL: mfpg_model_start */
    int start_he;
    mfpg_evaluate evaluate;
    /* an evaluation every so many rounds, >= 1; the last planned round is always evaluated */
    int64_t evaluate_every;
    mfpg_loss_kind loss_kind;
    mfpg_promise promise;
    double delta;                 /* of the certificates, in (0,1) */
    const char *accountant;       /* certifying, accountants.def */
    const char *paper_accountant; /* paper_*, or NULL */
    mfpg_paper_bound paper;
    const unsigned char *colluder; /* clients flags, or NULL */
    int participants;              /* average view: other participants watch */
    int free_energy; /* 1: entropic mechanisms report it (mfpg_free_energy) in evaluated rounds */
    /* a client that would overspend this budget takes no further part; +INFINITY: no budget */
    double stop_at_epsilon;
    /* the rule that enforces the budget; with acting it is a GDP filter even if accountant is given */
    mfpg_filter_kind filter;
    /* What is assumed of the clients' losses if only the last model is seen (view final, accountant
     * hidden-state). The caller guarantees the assumption and the bound on the smoothness of the loss: of
     * the loss over all rows of a client and, if batches are drawn, of every example's loss. */
    mfpg_hidden_case hidden;
    double hidden_smoothness;
    const mfpg_acting *acting; /* NULL: actions are given and stay; borrowed */
    /* step of the grid of the sums in the views average and final, a power of two; 0: the largest up to a
     * sixteenth of every share's noise */
    double grid;
    mfpg_sum_options sum;
    mfpg_server_optimiser_options server; /* turns the average into the next global model */
} mfpg_federation_options;

/** Returns the defaults: 20 rounds, weights by examples, every client in each round, start zero, test
 *  metrics, delta 1e-5, gdp, no paper columns; the average is the next model. */
mfpg_federation_options mfpg_federation_options_default(void);

/** The paper's free energy (eq. freeenergy) of an entropic federation, F = E[L] + e KL(mu | nu) + lambda/2
 *  Var, where mu is the law of what is noised and nu = N(0, sigma^2 I). It is an observable of a run: it
 *  gives no certificate, and no step minimises it exactly. Over parameters, the state is the global model in
 *  R^d, whose d entries are treated as independent particles of one law. Over data, the states are a client's
 *  noised records in R^p, whose features are treated as independent, each with its own law; KL is then a
 *  lower bound of the joint KL. KL and Var use up to 256 records per client, and every term is the weighted
 *  mean over the clients. KL is estimated by spacings (Vasicek, minus its bias for uniform numbers), so a
 *  state of fewer than 3 particles has no estimate. */
typedef struct mfpg_free_energy {
    double loss; /* parameters: the loss of the round's report; data: the mean loss of the noised records */
    /* KL of the state in nats: d times that of one entry, or the sum over the features. +INFINITY: there is
     * no density */
    double kl;
    double variance; /* variance of the state: the sum of squares around its mean */
    double mean_strength;
    double total; /* F; over data, the mean of the clients' own F. NAN if one of its terms is */
} mfpg_free_energy;

/** A completed round. Its metrics (loss, accuracy, noise_to_signal) come from private data and are covered by
 *  no certificate. */
typedef struct mfpg_round_report {
    int64_t round;         /* completed rounds */
    double loss, accuracy; /* NAN if not evaluated or no classifier */
    double mean_action;    /* mean control of all clients; NAN without noise */
    /* the expected norm of the average's noise, divided by the weighted sum of the clients' signal norms;
     * NAN if records are noised */
    double noise_to_signal;
    double epsilon; /* the largest certified epsilon of any client so far */
    double paper_epsilon,
        paper_delta;  /* the paper's formulas for the population (mean strength); NAN if they do not apply */
    ptrdiff_t cohort; /* clients that took part */
    /* all terms are NAN if it was not requested, in rounds without evaluation, and for other mechanisms */
    mfpg_free_energy free_energy;
    /* All Sinkhorn projections of the round. They are computed from noised parameters, so the certificates
     * cover them. If states are projected, the certificates are those of the local view. */
    mfpg_transport_report transport;
} mfpg_round_report;

/** One client at the end. */
typedef struct mfpg_client_report {
    mfpg_action action;
    double action_value; /* number of the client's control; NAN without noise */
    double mu,
        epsilon; /* certified and rounded up; mu is NAN if epsilon is finite but the accountant has no mu */
    double epsilon_other; /* under the other adjacency */
    double distance;      /* certified total variation between neighbours, that is, delta at epsilon 0 */
    double paper_epsilon, paper_delta;
    /* rounds in which the client took part; noisy steps released (data particles: 1 for the single release) */
    int64_t rounds, steps;
    double sampling_rate;
    double noise_multiplier; /* noise sd divided by the zero-out sensitivity of one step */
    double grid, rounding;   /* as in mfpg_release, of the planned one */
    int64_t nonfinite;       /* number of gradients or updates that were not finite and became zero */
    int stopped;             /* left because of stop_at_epsilon */
    /* the round, from 1, in which it would have overspent its budget; 0 if it has not stopped */
    int64_t stopped_before;
    /* acting: mu that the filter has counted so far (for display; the certificate is mu above), and mu of
     * one choice; NAN in other cases */
    double spent_mu, choice_mu;
    double weight; /* p_k with everybody taking part */
} mfpg_client_report;

typedef struct mfpg_federation mfpg_federation;

/** Creates a federation; nothing is released yet.
 *  @param[in] mechanism  one pointer per client (they may be equal); borrowed, like data and model
 *  @param[in] action     one action per client that its mechanism accepts; copied. With acting, the actions
 *  before the first round
 *  @param[in] key        determines noise, batches, cohorts and start
 *  Mechanisms of data particles noise a client's records in the first round in which it takes part, into a
 *  copy that the federation keeps. They release nothing else, and no view hides that release. All mechanisms
 *  must be of the kind that the accountant certifies. Acting needs mechanisms over parameters, accountant
 *  gdp, a view other than final, weights that do not depend on the noise, bounded actions that all mechanisms
 *  accept, and a finite stop_at_epsilon (with selection none: no stop_at_epsilon).
 *  @return MFPG_OK, MFPG_ERR_INPUT / MFPG_ERR_DOMAIN with the client named, MFPG_ERR_MEMORY. */
mfpg_status mfpg_federation_create(mfpg_context *ctx, const mfpg_federation_options *options,
    const mfpg_federated_data *data, const mfpg_model *model, const mfpg_mechanism *const *mechanism,
    const mfpg_action *action, const mfpg_key *key, mfpg_federation **out);
void mfpg_federation_destroy(mfpg_federation *federation);

/** From this call on, every release is appended to this ledger before it is used. The ledger is borrowed;
 *  NULL: no ledger. */
void mfpg_federation_keep_ledger(mfpg_federation *federation, mfpg_ledger *ledger);

/** Runs one round of Algorithm 1. *done becomes 1 if no client has budget left, otherwise 0. If it is 1, the
 *  round did not take place; with acting, some clients may have paid for a choice of an action that they then
 *  could not afford.
 *  Bits do not depend on the number of threads. MFPG_ERR_NUMERIC names the client whose update is not finite. */
mfpg_status mfpg_federation_round(
    mfpg_context *ctx, mfpg_federation *federation, mfpg_round_report *report, int *done);

/** What the secure sum of the latest round took. */
typedef struct mfpg_sum_cost {
    double client_seconds, server_seconds; /* CPU of the dearest client, and of the server */
    int64_t bytes;                         /* sent by the client that sent most; 0: there was no secure sum */
} mfpg_sum_cost;
mfpg_sum_cost mfpg_federation_sum_cost(const mfpg_federation *federation);

/** Returns the global model (one float per parameter); valid until the next round. */
const float *mfpg_federation_model(const mfpg_federation *federation);

/** A client so far. */
mfpg_status mfpg_federation_client(
    mfpg_context *ctx, const mfpg_federation *federation, ptrdiff_t client, mfpg_client_report *out);

/** Returns the metrics of the model on a client's evaluation set, or on all sets together (client -1). */
mfpg_status mfpg_federation_metrics(
    mfpg_context *ctx, const mfpg_federation *federation, ptrdiff_t client, mfpg_metrics *out);

#endif
