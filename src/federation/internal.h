/* The state of a federation, shared by the files of this folder. */
#ifndef MFPG_FEDERATION_INTERNAL_H
#define MFPG_FEDERATION_INTERNAL_H

#include "mfpg/federation.h"

#include "accountants/accounting.h"
#include "accountants/view_noise.h"
#include "base/ranks.h"
#include "base/release_parts.h"
#include "loop_state.h"
#include "mfpg/filter.h"
#include "plan.h"

/* What a client's accountants say at the delta of the run. */
typedef struct certificate {
    double mu;
    double epsilon, epsilon_other;     /* under the promised adjacency and under the other one */
    double distance;                   /* total variation: delta at epsilon 0 */
    double paper_epsilon, paper_delta; /* NAN without */
} certificate;

typedef struct account_pair {
    mfpg_accountant *certificate;
    mfpg_accountant *paper; /* NULL without */
} account_pair;

/* A client between rounds, in few bytes: there may be millions. */
typedef struct client_state {
    account_pair *own;  /* NULL while all its releases were the usual one: then their number says it all */
    double signal_norm; /* of this round's update, private */
    int64_t nonfinite;
    int32_t rounds;
    int32_t stopped_before; /* a round, from 1; 0 unless stopped */
} client_state;

/* What the releases of a round have in common: the sum of its members' weights, and what the view makes of their noise. */
typedef struct round_terms {
    double weights;
    mfpg_view_noise view;
} round_terms;

/* What a round's releases add up to. */
typedef struct round_totals {
    ptrdiff_t count;
    mfpg_release least; /* the one that protects least: the smallest noise for its sensitivity */
    double strengths;
    double noise2, signal;
} round_totals;

/* Accountants of the usual release, made for the last client that had none of its own; neighbours often share them. */
typedef struct account_cursor {
    mfpg_release release;
    int64_t times;
    account_pair made;
} account_cursor;

/* What one thread needs for one client's update. */
typedef struct workspace {
    float *model; /* the client's local model */
    int64_t *
        share; /* dimension: its share of the sum, in steps of the grid; NULL unless the view is one of sums */
    float *scratch; /* mfpg_mechanism_workspace floats of the largest client */
    float *
        sorting; /* free energy: two samples, of the model or of the rows of the largest client; NULL without */
    mfpg_fixed_sum sum;
    mfpg_transport_report transport; /* of this round's updates */
} workspace;

/* Acting: the game as clients meet it, and what choosing an action costs. */
typedef struct acting_state {
    mfpg_game game;          /* with the two arrays below as its measurements */
    double *loss, *gradient; /* clients: the last measurement, noised where the selection noises */
    double *change;          /* clients: how far a disutility can move; NULL but for exponential */
    double *disutility;      /* clients x actions; likewise */
    mfpg_release *price;     /* clients: the release that a choice is */
} acting_state;

/* Sees the update of a client and its weight in the round as soon as it is made: an attacker, or a test. From several threads. */
typedef void (*mfpg_watch)(void *user, ptrdiff_t client, double weight, const float *model);

struct mfpg_federation {
    mfpg_federation_options options;
    const mfpg_federated_data *data;
    const mfpg_model *model;
    const mfpg_mechanism *const *mechanism;
    mfpg_key key;
    mfpg_key cohort_key; /* who takes part: the key, but where runs with the same cohorts are compared */
    ptrdiff_t clients, dimension;
    client_state *client;
    mfpg_plan *plan;   /* what each client releases in a round it takes part in */
    round_terms usual; /* of a round in which everybody takes part as planned */
    mfpg_filter
        *filter; /* clients, where filters decide what is affordable: charged before anything is released */
    ptrdiff_t *order; /* clients: the members of this round, ascending; NULL where it is always everybody */
    ptrdiff_t cohort_size;
    round_terms terms;        /* of this round */
    mfpg_stream noise, batch; /* of this round: a client's are the same with its number */
    mfpg_particles particles; /* of every mechanism */
    mfpg_dataset *records; /* clients: data particles, the noised records that they train on; y is borrowed */
    unsigned char *noised; /* clients: data particles, its one release has been accounted for; NULL without */
    ptrdiff_t *fresh;      /* clients: data particles, the members of the cohort that release something */
    float *first; /* dimension: data particles, the public start that every client's records are pushed at */
    acting_state acting;         /* empty where actions stay */
    mfpg_free_energy *energy;    /* clients: data particles with a free energy; NULL without */
    double *draw;                /* clients: uniforms of the cohort's choice */
    mfpg_metrics *metrics;       /* clients: of the evaluation sets */
    mfpg_accountant *population; /* the paper's accountant at the mean strength, NULL without */
    float *w;                    /* dimension: the global model */
    workspace *worker;
    int workers;
    int projects; /* 1: some mechanism projects its states */
    int shares;   /* 1: clients hand out weighted shares on the plan's grid, of which the sum alone is used */
    int rank, ranks;     /* this process trains the clients k with k mod ranks = rank */
    int64_t *words;      /* 2 clients: what ranks tell each other; NULL for one rank */
    mfpg_ledger *ledger; /* NULL: releases are not written down */
    mfpg_watch watch;    /* NULL: nobody looks at the updates */
    void *watch_user;
    mfpg_announce announce; /* NULL: nobody wants to hear of them before */
    void *announce_user;
    int64_t round; /* completed rounds */
    ptrdiff_t
        costliest; /* where it is always everybody, the client whose usual release costs most; -1: not known */
    certificate *certified;  /* one for all clients that released the same */
    int32_t *certified_of;   /* clients: which one */
    int64_t certified_round; /* when mfpg_federation_certify ran; -1: never */
};

/* Member i of this round. */
static inline ptrdiff_t mfpg_federation_member(const mfpg_federation *federation, ptrdiff_t i) {
    return federation->order ? federation->order[i] : i;
}

/* 1 where the client's records are noised, and cost nothing any more. */
static inline int mfpg_federation_noised(const mfpg_federation *federation, ptrdiff_t k) {
    return federation->noised && federation->noised[k];
}

/* federation.c, before the first round */
void mfpg_federation_watch(mfpg_federation *federation, mfpg_watch watch, void *user);
void mfpg_federation_share_cohorts(mfpg_federation *federation, const mfpg_key *key);

/* 1 where client k is this rank's to train and measure; what is found is then shared. */
static inline int mfpg_federation_owns(const mfpg_federation *federation, ptrdiff_t k) {
    return federation->ranks == 1 || k % federation->ranks == federation->rank;
}

/* records.c, data particles: room for every client's noised records, and a look at the start. MFPG_ERR_INPUT where
 * mechanisms of both kinds stand side by side. */
mfpg_status mfpg_federation_prepare_records(mfpg_context *ctx, mfpg_federation *federation);
void mfpg_federation_clear_records(mfpg_federation *federation);

/* The update of client k from its noised records into own->model; the first time its records are noised. */
mfpg_status mfpg_federation_update_records(mfpg_context *ctx, mfpg_federation *federation, ptrdiff_t k,
    const mfpg_local_round *round, workspace *own, mfpg_update_report *report);

/* cohort.c: this round's members that have not stopped, in ascending order into order[]; returns their number. */
ptrdiff_t mfpg_federation_draw_members(mfpg_federation *federation);

/* What the releases of those clients have in common; order NULL: of all. */
round_terms mfpg_federation_terms(const mfpg_federation *federation, const ptrdiff_t *order, ptrdiff_t count);

/* What client k releases in a round of such terms. */
mfpg_release mfpg_federation_release(
    const mfpg_federation *federation, const round_terms *terms, ptrdiff_t k);

/* Of order[0 .. count), those whose budget allows their release; the others stop. Returns how many are left. */
ptrdiff_t mfpg_federation_keep_affordable(
    mfpg_context *ctx, mfpg_federation *federation, mfpg_release_maker release, void *user, ptrdiff_t count);

/* Charges the filters, where there are any, with releases that they admit, before these are made. */
mfpg_status mfpg_federation_charge(
    mfpg_context *ctx, mfpg_federation *federation, mfpg_release_maker release, void *user, ptrdiff_t count);

/* Of the members, who takes part, and on which terms; it may be nobody (client_rate). *exhausted becomes 1 where no client
 * has budget left for another round. */
mfpg_status mfpg_federation_admit(
    mfpg_context *ctx, mfpg_federation *federation, ptrdiff_t members, int *exhausted);

/* act.c: checks and memory of acting, nothing without; and the action of every member in this round. Members that cannot
 * pay for a choice stop. */
mfpg_status mfpg_federation_prepare_acting(mfpg_context *ctx, mfpg_federation *federation);
void mfpg_federation_clear_acting(mfpg_federation *federation);
mfpg_status mfpg_federation_act(mfpg_context *ctx, mfpg_federation *federation, ptrdiff_t *members);

/* accounts.c: what client k released reaches its accountants; before its round is counted. */
mfpg_status mfpg_federation_record(
    mfpg_context *ctx, mfpg_federation *federation, ptrdiff_t k, const mfpg_release *release);

/* The client's accountants: its own, or the cursor's, which then are those of its usual releases. NULL without memory.
 * A cursor begins as zeros and ends with mfpg_account_cursor_clear. */
const account_pair *mfpg_federation_accounts(
    mfpg_context *ctx, const mfpg_federation *federation, ptrdiff_t k, account_cursor *cursor);
void mfpg_account_cursor_clear(account_cursor *cursor);

/* The client's usual release and how often it was made; 0 where it has accountants of its own. */
int mfpg_federation_usual(
    const mfpg_federation *federation, ptrdiff_t k, mfpg_release *release, int64_t *times);

void mfpg_federation_clear_accounts(mfpg_federation *federation);

/* round.c: one more release of the round; and what a whole cohort released reaches the population's accountant. */
void mfpg_round_totals_add(round_totals *totals, const mfpg_release *release, double signal_norm);
mfpg_status mfpg_federation_record_population(
    mfpg_context *ctx, mfpg_federation *federation, const round_totals *totals);

/* loop_state.c: tells the digest of what the members' choices, or the cohort's updates with that average, release. The
 * latter is collective. */
mfpg_status mfpg_federation_announce_choices(
    mfpg_context *ctx, mfpg_federation *federation, ptrdiff_t members);
mfpg_status mfpg_federation_announce_updates(
    mfpg_context *ctx, mfpg_federation *federation, const float *average);

/* certificates.c, acting: the largest mu that filters admit; +INFINITY where nothing is certified. */
double mfpg_federation_budget_mu(const mfpg_federation_options *options);

/* What every accountant of the federation is made with. */
mfpg_accountant_options mfpg_federation_accountant_options(const mfpg_federation_options *options);

mfpg_status mfpg_certificate_ask(mfpg_context *ctx, const mfpg_federation_options *options,
    const account_pair *accounts, certificate *out);

/* What was asked before is not true of the clients any more. */
void mfpg_federation_forget_certificates(mfpg_federation *federation);

/* The largest certified epsilon of a client. Most are plainly, or at little cost, no worse than the worst so far. */
mfpg_status mfpg_federation_largest_epsilon(mfpg_context *ctx, mfpg_federation *federation, double *epsilon);

/* free_energy.c: memory for it, where it is asked for; and its value in this round, whose loss is reported already. */
mfpg_status mfpg_federation_prepare_free_energy(mfpg_context *ctx, mfpg_federation *federation);
void mfpg_federation_clear_free_energy(mfpg_federation *federation);
mfpg_status mfpg_federation_free_energy(
    mfpg_context *ctx, mfpg_federation *federation, double loss, mfpg_free_energy *out);

/* Loss and accuracy of the global model for the round's report (NAN where nothing is evaluated). */
mfpg_status mfpg_federation_evaluate(
    mfpg_context *ctx, mfpg_federation *federation, double *loss, double *accuracy);

#endif
