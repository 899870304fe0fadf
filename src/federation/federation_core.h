/* A federation from inside: a small core, which the round works on, and optional parts, each of which makes itself before the first
 * round if the options ask for it and otherwise is NULL. */
#ifndef MFPG_FEDERATION_CORE_H
#define MFPG_FEDERATION_CORE_H

#include "mfpg/federation.h"

#include "accountants/accounting.h"
#include "base/ranks.h"
#include "base/release_parts.h"
#include "loop_state.h"
#include "mfpg/filter.h"
#include "plan.h"
#include "storage.h"

/* What a client's accountants answer at the delta of the run. */
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
    account_pair *own;  /* NULL while all its releases were the usual one: then their number is the record */
    double signal_norm; /* of this round's update, private */
    int64_t nonfinite;
    int32_t rounds;
    int32_t stopped_before; /* a round, from 1; 0 unless stopped */
} client_state;

/* What a round's releases add up to. */
typedef struct round_totals {
    ptrdiff_t count;
    mfpg_release least; /* the one that protects least: the smallest noise for its sensitivity */
    double strengths;
    double noise2, signal;
} round_totals;

/* Releases that one client made, all alike. */
typedef struct spending {
    ptrdiff_t client; /* -1: of nobody */
    mfpg_release release;
    int64_t times;
} spending;

/* Accountants of usual releases, made for the last client that had none of its own; neighbours often share them. */
typedef struct account_cursor {
    spending of;
    account_pair made;
} account_cursor;

/* What one thread needs for one client's update. */
typedef struct workspace {
    float *model; /* dimension: the client's local model */
    int64_t *
        share; /* dimension: its share of the sum, in steps of the grid; NULL unless the view is one of sums */
    float *scratch; /* mfpg_mechanism_workspace floats of the largest client */
    float *
        sorting; /* free energy: two samples, of the model or of the rows of the largest client; NULL without */
    mfpg_fixed_sum sum;
    mfpg_transport_report transport; /* of this round's updates */
} workspace;

/* Sees the update of a client and its weight in the round as soon as it is made: an attacker, or a test. From several threads. */
typedef void (*mfpg_watch)(void *user, ptrdiff_t client, double weight, const float *model);

/* Certificates that were asked for together: one for all clients that released the same. */
typedef struct certified_clients {
    int64_t round; /* after which they were asked for; -1: never */
    certificate *one;
    int32_t *of_client; /* clients: which one */
} certified_clients;

typedef struct noised_records noised_records;
typedef struct adaptive_actions adaptive_actions;
typedef struct server_step server_step; /* server_step.c */

struct mfpg_federation {
    mfpg_federation_options options;
    const mfpg_federated_data *data;
    const mfpg_model *model;
    const mfpg_mechanism *const *mechanism;
    mfpg_key key;
    mfpg_key cohort_key; /* of who takes part: the key, unless runs with the same cohorts are compared */
    ptrdiff_t clients, dimension;
    mfpg_particles particles; /* of every mechanism */
    int shares; /* 1: clients hand out weighted shares on the plan's grid, of which only the sum is used */
    mfpg_plan *plan;             /* what each client releases in a round that it takes part in */
    mfpg_accountant *population; /* the paper's accountant at the mean strength; NULL without */
    mfpg_ledger *ledger;         /* NULL: releases are not written down */
    mfpg_watch watch;            /* NULL: nobody looks at the updates */
    void *watch_user;
    mfpg_announce announce; /* NULL: nobody hears of releases before the ledger does */
    void *announce_user;

    float *w;      /* dimension: the global model */
    int64_t round; /* completed rounds */
    client_state *client;
    round_terms usual, terms; /* of a round in which everybody takes part as planned, and of this round */
    ptrdiff_t *order; /* clients: the members of this round, ascending; NULL if it is always everybody */
    ptrdiff_t cohort_size;
    mfpg_stream noise, batch; /* of this round: a client's are the same with its number */
    workspace *worker;        /* workers */
    int workers;
    int rank, ranks;     /* this process trains the clients k with k mod ranks = rank */
    ptrdiff_t costliest; /* if it is always everybody, who spends most in a round; -1: not known */
    certified_clients certified;

    noised_records *records;  /* mechanisms of data particles */
    adaptive_actions *acting; /* actions that are chosen in each round */
    server_step *server;      /* a server optimiser; NULL if the average is the next model */
    mfpg_filter *filter;      /* clients; charged before anything is released, if filters decide that */
    mfpg_free_energy *energy; /* clients; the free energy of data particles */
    double *draw;             /* clients; uniforms, if cohorts are drawn */
    mfpg_metrics *metrics;    /* clients; of the evaluation sets */
    int64_t *words;           /* 2 clients; several ranks: what they tell each other */
    mfpg_kept kept;           /* every block above */
};

/* One part of a federation. */
typedef struct federation_part {
    /* Checks the options, and makes the part if they ask for it. NULL: every federation has it. */
    mfpg_status (*begin)(mfpg_context *ctx, mfpg_federation *f);
    /* What it carries from round to round (loop_state.h). bytes: how many, a multiple of 8, 0 for a part that was not made. save: into
     * zeros; if it gathers, each rank its own clients' words alone. restore: after the ledger was repeated; checks every number. */
    int64_t (*bytes)(const mfpg_federation *f);
    void (*save)(const mfpg_federation *f, void *to);
    mfpg_status (*restore)(mfpg_context *ctx, mfpg_federation *f, const void *from);
    int gathers;
} federation_part;

/* The parts that the checkpoint walks, in its order: MFPG_STATE_MODEL, ... */
extern const federation_part *const mfpg_federation_parts[MFPG_STATE_PARTS];
extern const federation_part mfpg_part_model, mfpg_part_clients, mfpg_part_records, mfpg_part_actions,
    mfpg_part_server;

/* Member i of this round. */
static inline ptrdiff_t mfpg_federation_member(const mfpg_federation *f, ptrdiff_t i) {
    return f->order ? f->order[i] : i;
}

/* 1 if client k is this rank's to train and measure; what is found is then shared. */
static inline int mfpg_federation_owns(const mfpg_federation *f, ptrdiff_t k) {
    return f->ranks == 1 || k % f->ranks == f->rank;
}

/* What client k releases in a round of such terms. */
static inline mfpg_release mfpg_federation_release(
    const mfpg_federation *f, const round_terms *terms, ptrdiff_t k) {
    mfpg_release release = mfpg_plan_release_on(f->plan, terms, k);
    release.round = f->round + 1;
    return release;
}

/* Before the first round. */
void mfpg_federation_watch(mfpg_federation *federation, mfpg_watch watch, void *user);
void mfpg_federation_share_cohorts(mfpg_federation *federation, const mfpg_key *key);

/* client_records.c: data particles, every client's records through noise in its first round. */
struct noised_records {
    mfpg_dataset *of_client;       /* clients: the noised records that they train on; y is borrowed */
    unsigned char *is_noised;      /* clients: 1 once its one release has been accounted for */
    int64_t (*digest)[2];          /* clients: of the noised records, by the rank that noised them */
    ptrdiff_t *fresh, fresh_count; /* clients: the members of this round that release something */
    float *start;                  /* dimension: the public model that every client's records are pushed at */
};

/* 1 if the client's records are noised, and cost nothing any more. */
static inline int mfpg_federation_noised(const mfpg_federation *f, ptrdiff_t k) {
    return f->records && f->records->is_noised[k];
}

/* The update of client k from its noised records into own->model; the first time its records are noised. */
mfpg_status mfpg_federation_update_records(mfpg_context *ctx, mfpg_federation *federation, ptrdiff_t k,
    const mfpg_local_round *round, workspace *own, mfpg_update_report *report);

/* Finds this round's members whose records are noised in it; their digests become known to all ranks. Collective. */
mfpg_status mfpg_federation_find_fresh(mfpg_context *ctx, mfpg_federation *federation);

/* adaptive_actions.c: the game as clients meet it, and what choosing an action costs. */
struct adaptive_actions {
    mfpg_game game;          /* with the two arrays below as its measurements */
    double *loss, *gradient; /* clients: the last measurement, noised if the selection noises */
    double *change;          /* clients: how far a disutility can move; NULL but for exponential */
    double *disutility;      /* clients x actions; likewise */
    mfpg_release *price;     /* clients: the release that a choice is */
    unsigned char *chose;    /* clients: 1 once the ledger or a round has a choice of it */
};

/* The action of every member in this round; nothing without the part. Members that cannot pay for a choice stop. */
mfpg_status mfpg_federation_act(mfpg_context *ctx, mfpg_federation *federation, ptrdiff_t *members);

/* server_step.c: the global model becomes the next one, now that the average has been accounted for. */
mfpg_status mfpg_federation_publish(mfpg_context *ctx, mfpg_federation *federation, const float *average);

/* cohort.c: two words of each of the members 0 .. count - 1 that only their own rank knows become known to all: word takes them from
 * client k (tell 1) or gives them to it (tell 0). Collective; nothing for one rank. */
mfpg_status mfpg_federation_exchange(mfpg_context *ctx, mfpg_federation *federation, ptrdiff_t count,
    void (*word)(mfpg_federation *federation, ptrdiff_t k, int64_t words[2], int tell));

/* This round's members that have not stopped, in ascending order into order[]; returns their number. */
ptrdiff_t mfpg_federation_draw_members(mfpg_federation *federation);

/* One filter a client, if the options ask for filters. */
mfpg_status mfpg_federation_start_filters(mfpg_context *ctx, mfpg_federation *federation);

/* Of order[0 .. count), those whose budget allows their release; the others stop. Returns how many are left. */
ptrdiff_t mfpg_federation_keep_affordable(
    mfpg_context *ctx, mfpg_federation *federation, mfpg_release_maker release, void *user, ptrdiff_t count);

/* Charges the filters, if there are any, with releases that they admit, before these are made. */
mfpg_status mfpg_federation_charge(
    mfpg_context *ctx, mfpg_federation *federation, mfpg_release_maker release, void *user, ptrdiff_t count);

/* Of the members, who takes part, and on which terms; it may be nobody (client_rate). *exhausted becomes 1 if no client has budget
 * left for another round. */
mfpg_status mfpg_federation_admit(
    mfpg_context *ctx, mfpg_federation *federation, ptrdiff_t members, int *exhausted);

/* accounts.c: what every accountant of the federation is made with. */
mfpg_accountant_options mfpg_federation_accountant_options(const mfpg_federation_options *options);

/* What client k released reaches its accountants; before its round is counted. */
mfpg_status mfpg_federation_record(
    mfpg_context *ctx, mfpg_federation *federation, ptrdiff_t k, const mfpg_release *release);

/* Releases of clients reach their accountants, and then the ledger: on disk before anybody uses what was released. release is asked
 * with the federation. */
mfpg_status mfpg_federation_account(
    mfpg_context *ctx, mfpg_federation *federation, mfpg_release_maker release, ptrdiff_t count);

/* The client's accountants: its own, or the cursor's, which then are those of its usual releases. NULL without memory.
 * A cursor begins as zeros and ends with mfpg_account_cursor_clear. */
const account_pair *mfpg_federation_accounts(
    mfpg_context *ctx, const mfpg_federation *federation, ptrdiff_t k, account_cursor *cursor);
void mfpg_account_cursor_clear(account_cursor *cursor);

/* Accountants of those releases become the cursor's, if they are not already. */
mfpg_status mfpg_account_cursor_set(
    mfpg_context *ctx, const mfpg_federation_options *options, const spending *of, account_cursor *cursor);

/* 1 and the client's usual releases; 0 if it has accountants of its own. */
int mfpg_federation_usual(const mfpg_federation *federation, ptrdiff_t k, spending *out);
void mfpg_federation_clear_accounts(mfpg_federation *federation);

/* round.c: one more release of the round; and what a whole cohort released reaches the population's accountant. */
void mfpg_round_totals_add(round_totals *totals, const mfpg_release *release, double signal_norm);
mfpg_status mfpg_federation_record_population(
    mfpg_context *ctx, mfpg_federation *federation, const round_totals *totals);

/* announcements.c: tells the digest of what the members' choices, or the cohort's updates with that average, release. */
mfpg_status mfpg_federation_announce_choices(
    mfpg_context *ctx, mfpg_federation *federation, ptrdiff_t members);
mfpg_status mfpg_federation_announce_updates(
    mfpg_context *ctx, mfpg_federation *federation, const float *average);

/* certificates.c, acting: the largest mu that filters admit; +INFINITY if nothing is certified. */
double mfpg_federation_budget_mu(const mfpg_federation_options *options);

/* What client k is certified now, from what was asked before if it still holds. */
mfpg_status mfpg_federation_certificate(
    mfpg_context *ctx, const mfpg_federation *federation, ptrdiff_t k, certificate *out);
void mfpg_federation_forget_certificates(mfpg_federation *federation);

/* The largest certified epsilon of a client. Most are plainly, or at little cost, no worse than the worst so far. */
mfpg_status mfpg_federation_largest_epsilon(mfpg_context *ctx, mfpg_federation *federation, double *epsilon);

/* free_energy.c: memory for it, if it is asked for; and its value in this round, whose loss is reported already. */
mfpg_status mfpg_federation_prepare_free_energy(mfpg_context *ctx, mfpg_federation *federation);
mfpg_status mfpg_federation_free_energy(
    mfpg_context *ctx, mfpg_federation *federation, double loss, mfpg_free_energy *out);

/* pooled_metrics.c: metrics of parameters w on the training rows (train 1) or the test rows of all clients together. MFPG_ERR_MEMORY only. */
mfpg_status mfpg_pool_evaluate(mfpg_context *ctx, const mfpg_federated_data *data, int train,
    const mfpg_model *model, const float *w, mfpg_metrics *out);

/* Loss and accuracy of the global model for the round's report (NAN if nothing is evaluated). */
mfpg_status mfpg_federation_evaluate(
    mfpg_context *ctx, mfpg_federation *federation, double *loss, double *accuracy);

#endif
