/** Audits: an attack on the promises of a federation, and what its success proves.
 *
 *  The attacker knows the code, all other data and what the view of the promise shows, and guesses which of two neighbouring
 *  inputs a client had. Every client has a canary: a gradient along one direction, longer than the clip, that is sent with one
 *  sign or the other (replace), or sent or not (zero-out). It goes through the clip, noise, averaging and accounts of the
 *  library. Runs on both inputs are scored by the likelihood ratio of Gaussian noise, and bounds that are wrong with
 *  probability 1 - confidence, over everything that is looked at together, turn the scores into a proved privacy loss. */
#ifndef MFPG_AUDIT_H
#define MFPG_AUDIT_H

#include <stddef.h>
#include <stdint.h>

#include "audit_bounds.h"
#include "context.h"
#include "federation.h"

typedef struct mfpg_audit_options {
    int64_t runs;      /* of each pattern, both arms together: even, at least 20 */
    double confidence; /* in (0,1): that all bounds of all clients hold */
    uint64_t seed;     /* results are a function of it, runs and what is audited, whatever the threads */
    const volatile int *stop; /* looked at now and then; not 0: MFPG_ERR_INTERRUPTED. NULL: never */
    void (*progress)(void *user, int64_t done, int64_t total); /* now and then, calling thread; may be NULL */
    void *progress_user;
} mfpg_audit_options;

/** 20,000 runs, confidence 0.99, seed 1. */
mfpg_audit_options mfpg_audit_options_default(void);

/** How canaries are sent, and what is scored. */
typedef enum mfpg_audit_pattern {
    MFPG_PATTERN_NONE = 0,    /* nothing is proved */
    MFPG_PATTERN_CONSTANT,    /* the same sign in every round: a fixed data set */
    MFPG_PATTERN_ALTERNATING, /* signs that change in about half of the rounds */
    MFPG_PATTERN_CROSS, /* the same, scored by the difference of two clients: noise that they share cancels */
    MFPG_PATTERN_ROUND  /* a fresh coin every round, one guess a round */
} mfpg_audit_pattern;

const char *mfpg_audit_pattern_name(mfpg_audit_pattern pattern); /* "none", "constant", ... */

/** What one client was promised, and what was proved. */
typedef struct mfpg_audit_client {
    double mu; /* promised; NAN where the accountant has none (sampling), +INFINITY: nothing is promised */
    double epsilon;              /* promised at the delta of the federation */
    double mu_lower;             /* proved; 0: nothing */
    double epsilon_lower;        /* what mu_lower means at delta where the mechanism is Gaussian */
    double epsilon_lower_direct; /* proved without any assumption */
    double mu_estimate;          /* a fitted Gaussian: no proof */
    double auc;                  /* of the own score, constant signs: share of pairs in the right order */
    double auc_cap, auc_lower;   /* where there is no mu: the largest possible by the certificate; proved */
    double round_mu, round_mu_lower; /* of one round; NAN where it was not audited */
    mfpg_audit_route route;          /* of mu_lower */
    mfpg_audit_pattern pattern;      /* likewise */
    double distance, tv_lower; /* total variation between the arms: promised; proved without any assumption */
    double
        paper_delta; /* what the paper's bound of its entropic methods says of it, view final; NAN without. No promise */
    int stands; /* 0: a promise is broken */
} mfpg_audit_client;

/** What an audit looked at. */
typedef struct mfpg_audit_plan {
    int64_t runs;             /* of each pattern */
    int patterns;             /* that were played */
    ptrdiff_t pairs;          /* others that a client was compared with */
    double client_confidence; /* of all bounds of one client */
} mfpg_audit_plan;

/** Attacks what mfpg_federation_create would promise with the same arguments; of data and model only the clients' row counts
 *  and the shape of the parameters are used, nothing private is read and nothing is written.
 *  @param[out] client  clients entries
 *  @param[out] plan    NULL where nobody asks
 *  @return MFPG_OK, also where a promise is broken; MFPG_ERR_INPUT for what cannot be audited: no noise, records as particles,
 *  actions chosen anew in every round; MFPG_ERR_DOMAIN for options out of range; MFPG_ERR_NUMERIC for a score that is no
 *  number; MFPG_ERR_INTERRUPTED; else as mfpg_federation_create. */
mfpg_status mfpg_audit_federation(mfpg_context *ctx, const mfpg_audit_options *options,
    const mfpg_federation_options *federation, const mfpg_federated_data *data, const mfpg_model *model,
    const mfpg_mechanism *const *mechanism, const mfpg_action *action, mfpg_audit_client *client,
    mfpg_audit_plan *plan);

#endif
