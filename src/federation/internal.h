/* The state of a federation, shared by the files of this folder. */
#ifndef MFPG_FEDERATION_INTERNAL_H
#define MFPG_FEDERATION_INTERNAL_H

#include "mfpg/federation.h"

#include "base/fixed_sum.h"
#include "loop_state.h"
#include "mfpg/filter.h"

/* What a client's accountant says at the delta of the run. */
typedef struct certificate {
    double epsilon, epsilon_other; /* under the promised adjacency and under the other one */
    double distance;               /* total variation: delta at epsilon 0 */
} certificate;

typedef struct client_state {
    mfpg_action action;
    mfpg_accountant *certificate;
    mfpg_accountant *paper; /* NULL without */
    mfpg_filter filter; /* where a filter decides what is affordable: charged before anything is released */
    double signal_norm; /* of this round's update, private */
    int64_t nonfinite_now; /* gradients of this round's update that were not finite */
    int64_t rounds, nonfinite;
    int64_t stopped_before; /* a round, from 1; 0 unless stopped */
    unsigned char stopped;
    unsigned char noised;  /* data particles: the one release of its records has been accounted for */
    mfpg_dataset records;  /* data particles: the noised records, what the client trains on; y is borrowed */
    certificate certified; /* as of certified_round of the federation */
} client_state;

/* What one thread needs for one client's update. */
typedef struct workspace {
    float *model;   /* the client's local model */
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
    mfpg_release *chosen;    /* clients: those of this round's members */
} acting_state;

struct mfpg_federation {
    mfpg_federation_options options;
    const mfpg_federated_data *data;
    const mfpg_model *model;
    const mfpg_mechanism *const *mechanism;
    mfpg_key key;
    ptrdiff_t clients, dimension;
    client_state *client;
    mfpg_release *plan; /* clients: what each client releases in a round it takes part in, view not applied */
    mfpg_release *cohort; /* the plan of this round's clients, weights and view applied */
    ptrdiff_t cohort_size;
    mfpg_particles particles; /* of every mechanism */
    mfpg_release *fresh;      /* clients: data particles, the members of the cohort that release something */
    float *first; /* dimension: data particles, the public start that every client's records are pushed at */
    acting_state acting;         /* empty where actions stay */
    mfpg_free_energy *energy;    /* clients: data particles with a free energy; NULL without */
    double *draw;                /* clients: uniforms of the cohort's choice */
    ptrdiff_t *order;            /* clients: likewise */
    mfpg_metrics *metrics;       /* clients: of the evaluation sets */
    mfpg_accountant *population; /* the paper's accountant at the mean strength, NULL without */
    float *w;                    /* dimension: the global model */
    workspace *worker;
    int workers;
    int projects;           /* 1: some mechanism projects its states */
    int rank, ranks;        /* this process trains the clients k with k mod ranks = rank */
    int64_t *words;         /* 2 clients: what ranks tell each other; NULL for one rank */
    mfpg_ledger *ledger;    /* NULL: releases are not written down */
    mfpg_announce announce; /* NULL: nobody wants to hear of them before */
    void *announce_user;
    int64_t round;           /* completed rounds */
    int64_t certified_round; /* when mfpg_federation_certify ran; -1: never */
};

/* 1 where client k is this rank's to train and measure; what is found is then shared. */
static inline int mfpg_federation_owns(const mfpg_federation *federation, ptrdiff_t k) {
    return federation->ranks == 1 || k % federation->ranks == federation->rank;
}

/* 1 where the noise of all clients stands in their sum as it was added, so that the average view's formula holds. */
int mfpg_noise_adds_up(const mfpg_mechanism *const *mechanism, ptrdiff_t clients);

/* hidden.c: where a hidden state is assumed, what a round does to it. MFPG_ERR_INPUT with the reason where it is not hidden. */
mfpg_status mfpg_federation_hide(mfpg_context *ctx, const mfpg_federation_options *options,
    const mfpg_federated_data *data, const mfpg_mechanism *const *mechanism, mfpg_release *plan);

/* records.c, data particles: room for every client's noised records, and a look at the start. MFPG_ERR_INPUT where
 * mechanisms of both kinds stand side by side. */
mfpg_status mfpg_federation_prepare_records(mfpg_context *ctx, mfpg_federation *federation);
void mfpg_federation_clear_records(mfpg_federation *federation);

/* The update of client k from its noised records into own->model; the first time its records are noised. */
mfpg_status mfpg_federation_update_records(mfpg_context *ctx, mfpg_federation *federation, ptrdiff_t k,
    mfpg_action action, workspace *own, mfpg_update_report *report);

/* The number that an action's control names; NAN for none. */
double mfpg_action_value(const mfpg_action *action);

/* cohort.c: this round's members that have not stopped, in ascending order into order[]; returns their number. */
ptrdiff_t mfpg_federation_draw_members(mfpg_federation *federation);

/* Of order[0 .. count), those whose budget allows release[i]; the others stop. Returns how many are left. */
ptrdiff_t mfpg_federation_keep_affordable(
    mfpg_context *ctx, mfpg_federation *federation, const mfpg_release *release, ptrdiff_t count);

/* Charges the filters with releases that they admit, before these are made. */
mfpg_status mfpg_federation_charge(
    mfpg_context *ctx, mfpg_federation *federation, const mfpg_release *release, ptrdiff_t count);

/* Of the members, who takes part: fills cohort with weights and views applied; it may be empty (client_rate). *exhausted
 * becomes 1 where no client has budget left for another round. */
mfpg_status mfpg_federation_admit(
    mfpg_context *ctx, mfpg_federation *federation, ptrdiff_t members, int *exhausted);

/* act.c: checks and memory of acting, nothing without; and the action of every member in this round. Members that cannot
 * pay for a choice stop. */
mfpg_status mfpg_federation_prepare_acting(mfpg_context *ctx, mfpg_federation *federation);
void mfpg_federation_clear_acting(mfpg_federation *federation);
mfpg_status mfpg_federation_act(mfpg_context *ctx, mfpg_federation *federation, ptrdiff_t *members);

/* round.c: what was released reaches the accountants of its clients; of a whole cohort also the population's. */
mfpg_status mfpg_federation_record(
    mfpg_context *ctx, mfpg_federation *federation, const mfpg_release *release, ptrdiff_t count);
mfpg_status mfpg_federation_record_population(mfpg_context *ctx, mfpg_federation *federation);

/* loop_state.c: tells the digest of what the members' choices, or the cohort's updates with that average, release. */
mfpg_status mfpg_federation_announce_choices(
    mfpg_context *ctx, mfpg_federation *federation, ptrdiff_t members);
mfpg_status mfpg_federation_announce_updates(
    mfpg_context *ctx, mfpg_federation *federation, const float *average);

/* plan.c: the plan of a client whose action is a new one. */
mfpg_status mfpg_federation_replan(mfpg_context *ctx, mfpg_federation *federation, ptrdiff_t client);

/* certificates.c, acting: the largest mu that filters admit; +INFINITY where nothing is certified. */
double mfpg_federation_budget_mu(const mfpg_federation_options *options);

/* What every accountant of the federation is made with. */
mfpg_accountant_options mfpg_federation_accountant_options(const mfpg_federation_options *options);

mfpg_status mfpg_certificate_ask(mfpg_context *ctx, const mfpg_federation_options *options,
    const mfpg_accountant *accountant, certificate *out);

/* The largest certified epsilon of a client. Most are plainly, or at little cost, no worse than the worst so far. */
mfpg_status mfpg_federation_largest_epsilon(
    mfpg_context *ctx, const mfpg_federation *federation, double *epsilon);

/* free_energy.c: memory for it, where it is asked for; and its value in this round, whose loss is reported already. */
mfpg_status mfpg_federation_prepare_free_energy(mfpg_context *ctx, mfpg_federation *federation);
void mfpg_federation_clear_free_energy(mfpg_federation *federation);
mfpg_status mfpg_federation_free_energy(
    mfpg_context *ctx, mfpg_federation *federation, double loss, mfpg_free_energy *out);

/* Loss and accuracy of the global model for the round's report (NAN where nothing is evaluated). */
mfpg_status mfpg_federation_evaluate(
    mfpg_context *ctx, mfpg_federation *federation, double *loss, double *accuracy);

#endif
