/* The internals of a federation: a small core, on which the round works, and optional parts. Each part
 * creates itself before the first round if the options request it, and is NULL otherwise. */
#ifndef MFPG_FEDERATION_CORE_H
#define MFPG_FEDERATION_CORE_H

#include "mfpg/federation.h"

#include "accountants/accounting.h"
#include "base/ranks.h"
#include "base/release_parts.h"
#include "base/memory.h"
#include "loop_state.h"
#include "mfpg/filter.h"
#include "plan.h"
#include "distinct.h"

/* The results of a client's accountants at the delta of the run. */
typedef struct certificate {
    double mu;
    double epsilon, epsilon_other;     /* epsilon under the promised adjacency and under the other one */
    double distance;                   /* total variation, that is, delta at epsilon 0 */
    double paper_epsilon, paper_delta; /* NAN without */
} certificate;

typedef struct account_pair {
    mfpg_accountant *certificate;
    mfpg_accountant *paper; /* NULL without */
} account_pair;

/* A client's state between rounds, in few bytes because there may be millions of clients. */
typedef struct client_state {
    /* NULL while all its releases were the usual one, so that their number is a sufficient record */
    account_pair *own;
    double signal_norm; /* of this round's update, private */
    int64_t nonfinite;
    int32_t rounds;
    int32_t stopped_before; /* number of the round, from 1; 0 if the client has not stopped */
} client_state;

/* Sums over the releases of a round. */
typedef struct round_totals {
    ptrdiff_t count;
    mfpg_release least; /* the release that protects least: the smallest noise relative to its sensitivity */
    double strengths;
    double noise2, signal;
} round_totals;

/* A number of equal releases by one client. */
typedef struct spending {
    ptrdiff_t client; /* -1: of nobody */
    mfpg_release release;
    int64_t times;
} spending;

/* Accountants of usual releases, made for the last client that had none of its own; consecutive clients
 * often share them. */
typedef struct account_cursor {
    spending of;
    account_pair made;
} account_cursor;

/* The memory that one thread needs for one client's update. */
typedef struct workspace {
    float *model; /* dimension: the client's local model */
    int64_t *
        /* dimension numbers: the client's share of the sum, in steps of the grid; NULL unless the view is
         * one of sums */
        share;
    float *scratch; /* mfpg_mechanism_workspace floats, enough for the largest client */
    float *
        /* free energy: two samples, of the model or of the rows of the largest client; NULL if it is not
         * requested */
        sorting;
    mfpg_fixed_sum sum;
    mfpg_transport_report transport; /* of this round's updates */
} workspace;

/* Receives the update of a client and its weight in the round as soon as it is made; used by attacks and
 * tests. It is called from several threads. */
typedef void (*mfpg_watch)(void *user, ptrdiff_t client, double weight, const float *model);

/* Certificates that were computed together: one for all clients that released the same. */
typedef struct certified_clients {
    int64_t round; /* the round after which they were computed; -1: never */
    certificate *one;
    int32_t *of_client; /* clients: which one */
} certified_clients;

typedef struct noised_records noised_records;
typedef struct adaptive_actions adaptive_actions;
typedef struct server_step server_step;   /* server_step.c */
typedef struct secure_round secure_round; /* secure_round.c */

struct mfpg_federation {
    mfpg_federation_options options;
    const mfpg_federated_data *data;
    const mfpg_model *model;
    const mfpg_mechanism *const *mechanism;
    mfpg_key key;
    /* key for drawing members: the run's key, unless runs with the same cohorts are compared */
    mfpg_key cohort_key;
    ptrdiff_t clients, dimension;
    mfpg_particles particles; /* of every mechanism */
    int shares;      /* 1: clients send weighted shares on the plan's grid, and only the sum is used */
    mfpg_plan *plan; /* what each client releases in a round in which it takes part */
    mfpg_accountant *population; /* the paper's accountant at the mean strength; NULL if not requested */
    mfpg_ledger *ledger;         /* NULL: releases are not recorded in a ledger */
    mfpg_watch watch;            /* NULL: updates are not observed */
    void *watch_user;
    mfpg_announce announce; /* NULL: releases are not announced before they reach the ledger */
    void *announce_user;

    float *w;      /* dimension: the global model */
    int64_t round; /* completed rounds */
    client_state *client;
    /* terms of a round in which all clients take part as planned, and of this round */
    round_terms usual, terms;
    /* one entry per client: the members of this round, ascending; NULL if all clients always take part */
    ptrdiff_t *order;
    ptrdiff_t cohort_size;
    unsigned char *dropped;   /* one per client: drops out of this round; NULL if no client ever does */
    double remaining;         /* share of the round's weights that is in its sum; 1 if nobody drops out */
    mfpg_stream noise, batch; /* streams of this round; a client's stream is the same with its number */
    workspace *worker;        /* workers */
    int workers;
    int64_t sum_run; /* of the releases into secure sums */
    int rank, ranks; /* this process trains the clients k with k mod ranks = rank */
    /* if all clients always take part, the one that spends most per round; -1: not known */
    ptrdiff_t costliest;
    certified_clients certified;

    noised_records *records;  /* mechanisms of data particles */
    adaptive_actions *acting; /* NULL unless actions are chosen in each round */
    secure_round *secure;     /* NULL unless the secure sum is simulated */
    server_step *server;      /* a server optimiser; NULL if the average is the next model */
    /* one per client; charged before anything is released, if filters enforce the budget */
    mfpg_filter *filter;
    mfpg_free_energy *energy; /* one per client; the free energy of data particles */
    double *draw;             /* one uniform number per client, if cohorts are drawn */
    mfpg_metrics *metrics;    /* clients; of the evaluation sets */
    int64_t *words;           /* 2 per client; with several ranks, the words that they exchange */
    mfpg_pool kept;           /* every block above */
};

/* One part of a federation. */
typedef struct federation_part {
    /* Checks the options and creates the part if they request it. NULL: every federation has this part. */
    mfpg_status (*begin)(mfpg_context *ctx, mfpg_federation *f);
    /* The state that the part carries from round to round (loop_state.h). bytes: its size, a multiple of 8,
     * 0 for a part that was not created. save: writes into zeroed memory; if the part gathers, each rank
     * writes only the words of its own clients. restore: is called after the ledger was repeated and checks
     * every number. */
    int64_t (*bytes)(const mfpg_federation *f);
    void (*save)(const mfpg_federation *f, void *to);
    mfpg_status (*restore)(mfpg_context *ctx, mfpg_federation *f, const void *from);
    int gathers;
} federation_part;

/* The parts that the checkpoint saves, in its order: MFPG_STATE_MODEL, ... */
extern const federation_part *const mfpg_federation_parts[MFPG_STATE_PARTS];
extern const federation_part mfpg_part_model, mfpg_part_clients, mfpg_part_records, mfpg_part_actions,
    mfpg_part_server;

/* Member i of this round. */
static inline ptrdiff_t mfpg_federation_member(const mfpg_federation *f, ptrdiff_t i) {
    return f->order ? f->order[i] : i;
}

/* Returns 1 if this rank trains and measures client k; the results are then shared. */
static inline int mfpg_federation_owns(const mfpg_federation *f, ptrdiff_t k) {
    return f->ranks == 1 || k % f->ranks == f->rank;
}

/* Returns what client k releases in a round on these terms. */
static inline mfpg_release mfpg_federation_release(
    const mfpg_federation *f, const round_terms *terms, ptrdiff_t k) {
    mfpg_release release = mfpg_plan_release_on(f->plan, terms, k);
    release.round = f->round + 1;
    if (release.attempt > 0) {
        release.run = f->sum_run;
        release.sum_round = release.round;
    }
    return release;
}

/* Before the first round. */
void mfpg_federation_watch(mfpg_federation *federation, mfpg_watch watch, void *user);
void mfpg_federation_share_cohorts(mfpg_federation *federation, const mfpg_key *key);

/* client_records.c: data particles; every client's records are noised in its first round. */
struct noised_records {
    mfpg_dataset *of_client;  /* one per client: the noised records that it trains on; y is borrowed */
    unsigned char *is_noised; /* one per client: 1 once its only release has been accounted for */
    /* one per client: digest of the noised records, computed by the rank that noised them */
    int64_t (*digest)[2];
    /* the members of this round that release their records, and their number */
    ptrdiff_t *fresh, fresh_count;
    /* dimension numbers: the public model at which the map of every client's records is evaluated */
    float *start;
};

/* Returns 1 if the client's records are already noised and cost nothing more. */
static inline int mfpg_federation_noised(const mfpg_federation *f, ptrdiff_t k) {
    return f->records && f->records->is_noised[k];
}

/* Computes the update of client k from its noised records into own->model; noises the records if this is the
 * first time. */
mfpg_status mfpg_federation_update_records(mfpg_context *ctx, mfpg_federation *federation, ptrdiff_t k,
    const mfpg_local_round *round, workspace *own, mfpg_update_report *report);

/* Finds this round's members whose records are noised in it, and gives their digests to all ranks.
 * Collective. */
mfpg_status mfpg_federation_find_fresh(mfpg_context *ctx, mfpg_federation *federation);

/* adaptive_actions.c: the game that clients play in each round, and the cost of choosing an action. */
struct adaptive_actions {
    mfpg_game game;          /* the game; its measurements are the two arrays below */
    double *loss, *gradient; /* one per client: the last measurement, noised if the selection is noisy */
    /* one per client: the sensitivity of its disutility; NULL unless the selection is exponential */
    double *change;
    double *disutility;   /* clients x actions; likewise */
    mfpg_release *price;  /* one per client: the release that represents a choice */
    unsigned char *chose; /* one per client: 1 once the ledger or a round contains a choice of it */
};

/* Chooses the action of every member in this round; does nothing without this part. Members that cannot pay
 * for a choice stop. */
mfpg_status mfpg_federation_act(mfpg_context *ctx, mfpg_federation *federation, ptrdiff_t *members);

/* server_step.c: replaces the global model by the next one, after the average has been accounted for. */
mfpg_status mfpg_federation_publish(mfpg_context *ctx, mfpg_federation *federation, const float *average);

/* secure_round.c: checks the options of sums, and prepares the secure sum and the dropouts that they request. */
mfpg_status mfpg_federation_prepare_sum(mfpg_context *ctx, mfpg_federation *federation);

/* Wipes the keys of the simulated clients. */
void mfpg_federation_clear_sum(mfpg_federation *federation);

/* Keeps the share of member i of this round. Without a secure sum it does nothing; nor does the next function. */
void mfpg_federation_keep_share(mfpg_federation *federation, ptrdiff_t member, const int64_t *share);

/* Plays the protocol with the shares of the round, which the ledger lists already, and lists the survivors there.
 * MFPG_ERR_NUMERIC if its result is not `sum`, because that left the range of its bits. */
mfpg_status mfpg_federation_sum_securely(
    mfpg_context *ctx, mfpg_federation *federation, const mfpg_fixed_sum *sum);

/* cohort.c: shares two words of each of the members 0 .. count - 1, which only their own rank knows, with
 * all ranks. `word` reads them from client k (tell 1) or writes them to it (tell 0). Collective; does
 * nothing with one rank. */
mfpg_status mfpg_federation_exchange(mfpg_context *ctx, mfpg_federation *federation, ptrdiff_t count,
    void (*word)(mfpg_federation *federation, ptrdiff_t k, int64_t words[2], int tell));

/* Writes this round's members that have not stopped into order[], ascending, and returns their number. */
ptrdiff_t mfpg_federation_draw_members(mfpg_federation *federation);

/* Creates one filter per client if the options request filters. */
mfpg_status mfpg_federation_start_filters(mfpg_context *ctx, mfpg_federation *federation);

/* Keeps those of order[0 .. count) whose budget allows their release; the others stop. Returns how many
 * remain. */
ptrdiff_t mfpg_federation_keep_affordable(
    mfpg_context *ctx, mfpg_federation *federation, mfpg_release_maker release, void *user, ptrdiff_t count);

/* Charges the filters, if there are any, for releases that they admit, before these are made. */
mfpg_status mfpg_federation_charge(
    mfpg_context *ctx, mfpg_federation *federation, mfpg_release_maker release, void *user, ptrdiff_t count);

/* Decides which of the members take part, and on which terms; there may be none (client_rate). *exhausted
 * becomes 1 if no client has budget left for another round. */
mfpg_status mfpg_federation_admit(
    mfpg_context *ctx, mfpg_federation *federation, ptrdiff_t members, int *exhausted);

/* accounts.c: returns the options with which every accountant of the federation is created. */
mfpg_accountant_options mfpg_federation_accountant_options(const mfpg_federation_options *options);

/* Passes a release of client k to its accountants; it is called before the round is counted. */
mfpg_status mfpg_federation_record(
    mfpg_context *ctx, mfpg_federation *federation, ptrdiff_t k, const mfpg_release *release);

/* Passes releases of clients to their accountants and then to the ledger, so that they are on disk before
 * they are used. release is called with the federation. */
mfpg_status mfpg_federation_account(
    mfpg_context *ctx, mfpg_federation *federation, mfpg_release_maker release, ptrdiff_t count);

/* Returns the client's accountants: its own, or the cursor's, which then become those of its usual releases.
 * NULL if memory is exhausted. A cursor begins as zeros and is freed with mfpg_account_cursor_clear. */
const account_pair *mfpg_federation_accounts(
    mfpg_context *ctx, const mfpg_federation *federation, ptrdiff_t k, account_cursor *cursor);
void mfpg_account_cursor_clear(account_cursor *cursor);

/* Makes the cursor hold accountants of those releases, if it does not already. */
mfpg_status mfpg_account_cursor_set(
    mfpg_context *ctx, const mfpg_federation_options *options, const spending *of, account_cursor *cursor);

/* Returns 1 and the client's usual releases, or 0 if it has accountants of its own. */
int mfpg_federation_usual(const mfpg_federation *federation, ptrdiff_t k, spending *out);
void mfpg_federation_clear_accounts(mfpg_federation *federation);

/* round.c: adds one more release to the totals of the round; the next function passes the releases of a
 * whole cohort to the population's accountant. */
void mfpg_round_totals_add(round_totals *totals, const mfpg_release *release, double signal_norm);
mfpg_status mfpg_federation_record_population(
    mfpg_context *ctx, mfpg_federation *federation, const round_totals *totals);

/* announcements.c: announces the digest of what the members' choices release, or of what the cohort's
 * updates with that average release. */
mfpg_status mfpg_federation_announce_choices(
    mfpg_context *ctx, mfpg_federation *federation, ptrdiff_t members);
mfpg_status mfpg_federation_announce_updates(
    mfpg_context *ctx, mfpg_federation *federation, const float *average);

/* certificates.c, acting: returns the largest mu that filters admit; +INFINITY if nothing is certified. */
double mfpg_federation_budget_mu(const mfpg_federation_options *options);

/* Returns the present certificate of client k; an earlier result is used if it is still valid. */
mfpg_status mfpg_federation_certificate(
    mfpg_context *ctx, const mfpg_federation *federation, ptrdiff_t k, certificate *out);
void mfpg_federation_forget_certificates(mfpg_federation *federation);

/* Returns the largest certified epsilon of any client. For most clients a cheap comparison shows that they
 * are not the worst. */
mfpg_status mfpg_federation_largest_epsilon(mfpg_context *ctx, mfpg_federation *federation, double *epsilon);

/* free_energy.c: allocates its memory if it is requested, and computes its value in this round, whose loss
 * is already reported. */
mfpg_status mfpg_federation_prepare_free_energy(mfpg_context *ctx, mfpg_federation *federation);
mfpg_status mfpg_federation_free_energy(
    mfpg_context *ctx, mfpg_federation *federation, double loss, mfpg_free_energy *out);

/* pooled_metrics.c: computes the metrics of parameters w on the training rows (train 1) or the test rows of
 * all clients together. It can fail only with MFPG_ERR_MEMORY. */
mfpg_status mfpg_pool_evaluate(mfpg_context *ctx, const mfpg_federated_data *data, int train,
    const mfpg_model *model, const float *w, mfpg_metrics *out);

/* Sets loss and accuracy of the global model in the round's report (NAN if the round is not evaluated). */
mfpg_status mfpg_federation_evaluate(
    mfpg_context *ctx, mfpg_federation *federation, double *loss, double *accuracy);

/* ---- loss_table_measure.c ---- */

/* Measures what its own noise costs each client. The results carry no noise, so this is for public data
 * only. The next round is run with every client, once for every action of one client while the others keep
 * theirs; the run itself does not change. The client's loss, on its training rows, is that of y = w' + omega
 * (w_k - w'), where w' is the average including the client's own share and w_k is its update. All actions
 * use the same noise and batches (common random numbers). Nothing is accounted.
 * @param[in]  action           count actions that every client's mechanism accepts
 * @param[in]  personalisation  omega in [0, 1]
 * @param[in]  draw             number of the noise, 0 .. 2^31 - 1; draws are independent of each other, of
 * all rounds and of the run's own noise
 * @param[out] loss             clients x count, one client after the other
 * @return MFPG_OK; MFPG_ERR_INPUT for mechanisms of records and for server optimisers; MFPG_ERR_DOMAIN for
 * an action that a mechanism refuses; MFPG_ERR_NUMERIC for a loss that is not finite (round, client and
 * action named); MFPG_ERR_MEMORY.
 * Bits do not depend on the number of threads. */
mfpg_status mfpg_federation_own_losses(mfpg_context *ctx, mfpg_federation *federation,
    const mfpg_action *action, ptrdiff_t count, double personalisation, int64_t draw, double *loss);

#endif
