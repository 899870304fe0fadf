/** Audits: an attack on the promises of a federation, and what its success proves.
 *
 *  The attacker knows the code, all other data and what the view of the promise shows, and guesses which of two neighbouring
 *  inputs a client had. Every client has a canary: a gradient along one direction, longer than the clip, that is sent with one
 *  sign or the other (replace), or sent or not (zero-out). It goes through the clip, noise, averaging and accounts of the
 *  library. Runs on both inputs are scored by the likelihood ratio of Gaussian noise, and bounds turn the scores into a proved
 *  privacy loss; all of them together are wrong with probability at most 1 - confidence. */
#ifndef MFPG_AUDIT_H
#define MFPG_AUDIT_H

#include <stddef.h>
#include <stdint.h>

#include "context.h"
#include "federation.h"
#include "fields.h"

/** How many runs there are, and how many canaries in each.
 *  Ranks: thousands of runs with one canary a client; proves most.
 *  Few runs: tens to hundreds, for models that take long to train, with many canaries along directions of their own, each with
 *  a fair coin: with unit example as many in every client as it has rows, with unit client one a client. The betting bound
 *  holds after every run: an audit that is stopped returns what is proved so far.
 *  One run: the same canaries; proves least, as a mechanism may fail with probability 1 - confidence in its one run. */
typedef enum mfpg_audit_method {
    MFPG_AUDIT_RANKS = 0,
    MFPG_AUDIT_FEW_RUNS,
    MFPG_AUDIT_ONE_RUN
} mfpg_audit_method;

const char *mfpg_audit_method_name(mfpg_audit_method method); /* "ranks", "few-runs", "one-run" */

typedef struct mfpg_audit_client mfpg_audit_client;

typedef struct mfpg_audit_options {
    mfpg_audit_method method;
    int64_t runs; /* ranks: of each pattern, both arms together, even, >= 20; few runs: at most; one run: 1 */
    int64_t canaries; /* few runs, one run: of a client, at most; 0: as many as fit, up to 1000 */
    /* ranks, 1: rows of data under the configured model are played too: long ones with a wrong label. They are realistic, and
     * no worst case; a generalised linear model only */
    int input_canaries;
    double confidence; /* in (0,1): that all bounds of all clients hold */
    uint64_t seed;     /* results are a function of it, runs and what is audited, for any number of threads */
    /* read now and then; not 0: few runs end with what is proved, others with MFPG_ERR_INTERRUPTED. NULL: never */
    const volatile int *stop;
    /* few runs: called now and then with what is proved so far (clients entries), in the calling thread; may be NULL */
    void (*watch)(void *user, int64_t runs, const mfpg_audit_client *client);
    void *watch_user;
    void (*progress)(void *user, int64_t done,
        int64_t total); /* called now and then, in the calling thread; may be NULL */
    void *progress_user;
} mfpg_audit_options;

/** 20,000, 200 or 1 runs, canaries as fit, confidence 0.99, seed 1; and those of ranks. */
mfpg_audit_options mfpg_audit_options_for(mfpg_audit_method method);
mfpg_audit_options mfpg_audit_options_default(void);

/** How mu was proved. */
typedef enum mfpg_audit_route {
    MFPG_ROUTE_NONE = 0, /* nothing is proved */
    MFPG_ROUTE_RANK,
    MFPG_ROUTE_ACCURACY,
    MFPG_ROUTE_PAIRS,
    MFPG_ROUTE_TWO_ERROR,
    MFPG_ROUTE_BET,
    MFPG_ROUTE_ONE_RUN
} mfpg_audit_route;

const char *mfpg_audit_route_name(mfpg_audit_route route); /* "none", "rank", ... */

/** How canaries are sent, and what is scored. */
typedef enum mfpg_audit_pattern {
    MFPG_PATTERN_NONE = 0,    /* nothing is proved */
    MFPG_PATTERN_CONSTANT,    /* the same sign in every round: a fixed data set */
    MFPG_PATTERN_ALTERNATING, /* signs that change in about half of the rounds */
    /* the same, scored by the difference of two clients, or records: noise that they share cancels */
    MFPG_PATTERN_CROSS,
    MFPG_PATTERN_ROUND, /* a fresh coin every round, one guess a round */
    MFPG_PATTERN_BOTH,  /* few runs: alternating and constant signs, run by run */
    MFPG_PATTERN_LOOKS, /* noised records: all rounds that show one; they say no more than the first if it is noised once */
    MFPG_PATTERN_INPUT, /* constant signs of input canaries; proves the fields input_... */
    /* constant signs, scored by the last digits alone: which releases are impossible, bit for bit, under one of the two inputs.
     * View local, releases of one local step that are not on their public grid; noise on the grid leaves nothing to score */
    MFPG_PATTERN_DIGITS
} mfpg_audit_pattern;

const char *mfpg_audit_pattern_name(mfpg_audit_pattern pattern); /* "none", "constant", ... */

/** What one client was promised, and what was proved. */
struct mfpg_audit_client {
    double mu;       /* promised; NAN if the accountant has none (sampling), +INFINITY: nothing is promised */
    double epsilon;  /* promised at the delta of the federation */
    double mu_lower; /* proved; 0: nothing */
    double epsilon_lower;        /* what mu_lower means at delta if the mechanism is Gaussian */
    double epsilon_lower_direct; /* proved without any assumption */
    double mu_estimate;          /* a fitted Gaussian: no proof */
    double auc;                  /* of the own score, constant signs: share of pairs in the right order */
    /* if there is no mu: the largest auc by the certificate; proved, 0: not above a half */
    double auc_cap, auc_lower;
    double round_mu, round_mu_lower; /* of one round; NAN if it was not audited */
    mfpg_audit_route route;          /* of mu_lower */
    mfpg_audit_pattern pattern;      /* likewise */
    double distance, tv_lower; /* total variation between the arms: promised; proved without any assumption */
    double
        paper_delta; /* the paper's bound of it for its entropic methods, view final; NAN without. No promise */
    int64_t canaries;         /* few runs, one run: of this client in a run; ranks: 0 */
    int64_t guesses, correct; /* likewise: made in all runs, and right */
    double gradient_norm,
        clip_factor; /* of the canary's gradient before the clip; the share that the clip leaves */
    /* The same of input canaries: proved, a fit, means of |g| before the clip and of the share that it leaves over all attacked
     * steps (a factor near 1 means that the model had learnt the row, and the attack was no test of the clip). NAN without. */
    double input_mu_lower, input_mu_estimate, input_gradient, input_clip_factor;
    double ceiling;  /* one run: what it proves if every guess is right; NAN otherwise */
    double expected; /* one run: what it proves half of the time if the promise is exact; NAN otherwise */
    int stands;      /* 0: a promise is broken */
};

/** A client's entry in audit.json; texts are borrowed. */
typedef struct mfpg_audit_record {
    const char *client, *route, *pattern;
    double delta, gap; /* gap: mu that is promised less mu that is proved */
    mfpg_audit_client found;
} mfpg_audit_record;

mfpg_audit_record mfpg_audit_record_of(const char *name, double delta, const mfpg_audit_client *client);
extern const mfpg_fields mfpg_audit_fields;

/** What an audit did. */
typedef struct mfpg_audit_plan {
    mfpg_audit_method method;
    int64_t runs;             /* of each pattern; few runs: that were played */
    int stopped;              /* few runs: by options.stop, before all runs were played */
    int patterns;             /* that were played */
    ptrdiff_t pairs;          /* others that a client was compared with */
    double client_confidence; /* of all bounds of one client */
    /* Few runs and one run with unit client: 1: the clients' canaries are also taken together, as one of each proves little. What
     * is promised of them is for few runs the mean chance of a right guess, given as the mu, epsilon and distance that every client
     * would have to promise for it; for one run the largest of each. */
    int pooled;
    mfpg_audit_client together;
} mfpg_audit_plan;

/** Attacks what mfpg_federation_create would promise with the same arguments; of data and model only the clients' row counts
 *  and the shape of the parameters are used, nothing private is read and nothing is written.
 *  @param[out] client  clients entries
 *  @param[out] plan    may be NULL
 *  @return MFPG_OK, also if a promise is broken; MFPG_ERR_INPUT for what cannot be audited (no noise, actions chosen in every
 *  round, more canaries than the model has room for); MFPG_ERR_DOMAIN for options out of range; MFPG_ERR_NUMERIC for a score that
 *  is not a number; MFPG_ERR_INTERRUPTED; else as mfpg_federation_create. */
mfpg_status mfpg_audit_federation(mfpg_context *ctx, const mfpg_audit_options *options,
    const mfpg_federation_options *federation, const mfpg_federated_data *data, const mfpg_model *model,
    const mfpg_mechanism *const *mechanism, const mfpg_action *action, mfpg_audit_client *client,
    mfpg_audit_plan *plan);

/* ---- a user's own scores ---- */

typedef struct mfpg_score_options {
    double delta;      /* in [0,1) */
    double confidence; /* in (0.5,1): of each bound on its own */
    uint64_t seed;     /* of the halves into which the scores are divided, and of ties */
} mfpg_score_options;

/** delta 1e-5, confidence 0.99, seed 1. */
mfpg_score_options mfpg_score_options_default(void);

/** What the scores of a membership attack prove. Every bound is wrong with probability at most 1 - confidence, on its own. */
typedef struct mfpg_score_bounds {
    int64_t inside, outside; /* how many scores of members and of others */
    double delta, confidence;
    double auc; /* share of pairs in which the member's score is larger: no proof */
    /* Ranks, if every score is of a run of its own, with one canary: mu; and what that means at delta for Gaussian noise. */
    double mu_lower, epsilon_lower;
    /* Two error rates, with the same condition and no other assumption: a threshold is chosen on a random half of the scores and
     * judged on the other half. */
    double threshold;
    int64_t false_positives, tested_outside, false_negatives, tested_inside;
    double epsilon_lower_direct;
    /* One run, if all scores are of the canaries of a single one, each a member by its own fair coin: guesses are made of the
     * most extreme scores. */
    int64_t guesses, correct;
    double epsilon_lower_one_run;
} mfpg_score_bounds;

extern const mfpg_fields mfpg_score_fields;

/** @param[in] inside, outside  scores of members and of others, larger if membership is likelier, at least 2 each, in any order
 *  @return MFPG_OK; MFPG_ERR_INPUT for too few scores; MFPG_ERR_DOMAIN for options out of range and scores that are not finite;
 *  MFPG_ERR_MEMORY. *out is set only on success. Threads: safe on different contexts. */
mfpg_status mfpg_audit_scores(mfpg_context *ctx, const mfpg_score_options *options, const double *inside,
    ptrdiff_t inside_count, const double *outside, ptrdiff_t outside_count, mfpg_score_bounds *out);

/** The bounds as a JSON object with the names of mfpg_score_fields. Free the text. */
mfpg_status mfpg_audit_scores_json(mfpg_context *ctx, const mfpg_score_bounds *bounds, char **json);

/** The scores of a CSV file, with or without a header: its only column, or the one called score. Free them.
 *  MFPG_ERR_IO, MFPG_ERR_INPUT with file and line, MFPG_ERR_MEMORY; outputs are set only on success. */
mfpg_status mfpg_audit_read_scores(mfpg_context *ctx, const char *path, double **scores, ptrdiff_t *count);

#endif
