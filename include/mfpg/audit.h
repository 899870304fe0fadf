/** An audit attacks the promises of a federation and computes what the success of the attack proves.
 *
 *  The attacker knows the code, all other data and what the view of the promise shows, and guesses which of
 *  two neighbouring inputs a client had. Every client has a canary: a gradient along one direction, longer
 *  than the clip, that is sent with one sign or the other (replace), or is either sent or not (zero-out). It
 *  passes through the library's clip, noise, averaging and accounting. Runs on both inputs are scored by the
 *  likelihood ratio of Gaussian noise, and the scores give lower bounds on the privacy loss. The probability
 *  that any of these bounds is wrong is at most 1 - confidence. */
#ifndef MFPG_AUDIT_H
#define MFPG_AUDIT_H

#include <stddef.h>
#include <stdint.h>

#include "context.h"
#include "federation.h"
#include "fields.h"

/** The number of runs, and of canaries in each run.
 *  Ranks: thousands of runs with one canary per client. This method proves most.
 *  Few runs: tens to hundreds of runs, for models that take long to train, with many canaries. Each canary
 *  has its own direction and its own fair coin. With unit example each client has as many canaries as rows,
 *  with unit client one. The betting bound holds after every run, so an audit that is stopped returns what is
 *  proved so far.
 *  One run: the same canaries in a single run. This method proves least, because a mechanism may fail with
 *  probability 1 - confidence in that run. */
typedef enum mfpg_audit_method {
    MFPG_AUDIT_RANKS = 0,
    MFPG_AUDIT_FEW_RUNS,
    MFPG_AUDIT_ONE_RUN
} mfpg_audit_method;

const char *mfpg_audit_method_name(mfpg_audit_method method); /* "ranks", "few-runs", "one-run" */

typedef struct mfpg_audit_client mfpg_audit_client;

typedef struct mfpg_audit_options {
    mfpg_audit_method method;
    /* ranks: runs of each pattern, both inputs together, even, >= 20; few runs: the maximum; one run: 1 */
    int64_t runs;
    int64_t canaries; /* few runs, one run: maximum per client; 0: as many as fit, up to 1000 */
    /* ranks, 1: rows of data under the configured model are attacked too: long rows with a wrong label. They
     * are realistic and not a worst case; only for generalised linear models */
    int input_canaries;
    double confidence; /* in (0,1): the probability with which all bounds of all clients hold together */
    /* results depend only on it, on runs and on what is audited, not on the number of threads */
    uint64_t seed;
    /* Checked from time to time. If it is not 0, few runs end with what is proved so far and the other
     * methods fail with MFPG_ERR_INTERRUPTED. NULL: never checked */
    const volatile int *stop;
    /* few runs: called from time to time in the calling thread, with what is proved so far (one entry per
     * client); may be NULL */
    void (*watch)(void *user, int64_t runs, const mfpg_audit_client *client);
    void *watch_user;
    void (*progress)(void *user, int64_t done,
        int64_t total); /* called from time to time in the calling thread; may be NULL */
    void *progress_user;
} mfpg_audit_options;

/** The defaults of a method: 20,000, 200 or 1 runs, as many canaries as fit, confidence 0.99, seed 1.
 *  mfpg_audit_options_default returns those of ranks. */
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
    MFPG_PATTERN_CONSTANT,    /* the same sign in every round, as a fixed data set would give */
    MFPG_PATTERN_ALTERNATING, /* signs that change in about half of the rounds */
    /* the same signs, scored by the difference of two clients or records, so that noise that they share
     * cancels */
    MFPG_PATTERN_CROSS,
    MFPG_PATTERN_ROUND, /* a fresh coin in every round, and one guess per round */
    MFPG_PATTERN_BOTH,  /* few runs: alternating and constant signs, in alternate runs */
    /* noised records: all rounds that show a record; they reveal no more than the first round if it is
     * noised once */
    MFPG_PATTERN_LOOKS,
    MFPG_PATTERN_INPUT, /* constant signs of input canaries; proves the fields input_... */
    /* constant signs, scored by the last digits alone: which releases are impossible, bit for bit, under one
     * of the two inputs. It applies to the view local and to releases of one local step that are not on
     * their public grid; noise on the grid leaves nothing to score */
    MFPG_PATTERN_DIGITS
} mfpg_audit_pattern;

const char *mfpg_audit_pattern_name(mfpg_audit_pattern pattern); /* "none", "constant", ... */

/** What was promised to one client, and what was proved. */
struct mfpg_audit_client {
    /* the promised mu; NAN if the accountant has none (sampling), +INFINITY if nothing is promised */
    double mu;
    double epsilon;  /* promised at the delta of the federation */
    double mu_lower; /* proved; 0: nothing */
    /* the epsilon at delta that follows from mu_lower if the mechanism is Gaussian */
    double epsilon_lower;
    double epsilon_lower_direct; /* proved without any assumption */
    double mu_estimate;          /* a fitted Gaussian: no proof */
    /* the share of pairs in the right order, for the client's own score and constant signs */
    double auc;
    /* if mu does not exist: the largest auc that the certificate allows, and the proved auc (0: not above a
     * half) */
    double auc_cap, auc_lower;
    double round_mu, round_mu_lower; /* promised and proved mu of one round; NAN if it was not audited */
    mfpg_audit_route route;          /* of mu_lower */
    mfpg_audit_pattern pattern;      /* likewise */
    /* total variation between the two inputs: promised, and proved without any assumption */
    double distance, tv_lower;
    /* the paper's bound on the distance for its entropic methods, view final; NAN for other methods. It is
     * not a promise */
    double paper_delta;
    int64_t canaries;         /* few runs, one run: canaries of this client in a run; ranks: 0 */
    int64_t guesses, correct; /* likewise: made in all runs, and right */
    /* norm of the canary's gradient before the clip, and the factor by which the clip shortens it */
    double gradient_norm, clip_factor;
    /* The same for input canaries: proved mu, a fitted mu, and the means over all attacked steps of |g|
     * before the clip and of the clip factor (a factor near 1 means that the model had learnt the row, so
     * that the attack did not test the clip). NAN without input canaries. */
    double input_mu_lower, input_mu_estimate, input_gradient, input_clip_factor;
    double ceiling; /* one run: what it proves if every guess is correct; NAN for other methods */
    /* one run: what it proves in half of all runs if the promise is exact; NAN for other methods */
    double expected;
    int stands; /* 0: a promise is broken */
};

/** A client's entry in audit.json; texts are borrowed. */
typedef struct mfpg_audit_record {
    const char *client, *route, *pattern;
    double delta, gap; /* gap: promised mu minus proved mu */
    mfpg_audit_client found;
} mfpg_audit_record;

mfpg_audit_record mfpg_audit_record_of(const char *name, double delta, const mfpg_audit_client *client);
extern const mfpg_fields mfpg_audit_fields;

/** What an audit did. */
typedef struct mfpg_audit_plan {
    mfpg_audit_method method;
    int64_t runs;             /* runs of each pattern; few runs: runs that were played */
    int stopped;              /* few runs: 1 if options.stop ended the audit before all runs were played */
    int patterns;             /* that were played */
    ptrdiff_t pairs;          /* others that a client was compared with */
    double client_confidence; /* of all bounds of one client */
    /* Few runs and one run with unit client: 1 if the canaries of all clients are also taken together,
     * because one canary alone proves little. The promise is then, for few runs, the mean probability of a
     * correct guess, expressed as the mu, epsilon and distance that every client would have to promise for
     * it; for one run it is the largest promise of each kind. */
    int pooled;
    mfpg_audit_client together;
} mfpg_audit_plan;

/** Attacks what mfpg_federation_create would promise with the same arguments. Of data and model it uses only
 *  the clients' row counts and the shape of the parameters; it reads nothing private and writes nothing.
 *  @param[out] client  one entry per client
 *  @param[out] plan    may be NULL
 *  @return MFPG_OK, also if a promise is broken; MFPG_ERR_INPUT for what cannot be audited (no noise, actions
 *  chosen in every round, more canaries than the model has room for); MFPG_ERR_DOMAIN for options out of
 *  range; MFPG_ERR_NUMERIC for a score that is not a number; MFPG_ERR_INTERRUPTED; otherwise as
 *  mfpg_federation_create. */
mfpg_status mfpg_audit_federation(mfpg_context *ctx, const mfpg_audit_options *options,
    const mfpg_federation_options *federation, const mfpg_federated_data *data, const mfpg_model *model,
    const mfpg_mechanism *const *mechanism, const mfpg_action *action, mfpg_audit_client *client,
    mfpg_audit_plan *plan);

/* ---- a user's own scores ---- */

typedef struct mfpg_score_options {
    double delta;      /* in [0,1) */
    double confidence; /* in (0.5,1): the confidence of each bound by itself */
    uint64_t seed;     /* seed of the random split of the scores into halves, and of ties */
} mfpg_score_options;

/** delta 1e-5, confidence 0.99, seed 1. */
mfpg_score_options mfpg_score_options_default(void);

/** What the scores of a membership attack prove. Each bound by itself is wrong with probability at most 1 -
 *  confidence. */
typedef struct mfpg_score_bounds {
    int64_t inside, outside; /* the numbers of scores of members and of non-members */
    double delta, confidence;
    double auc; /* share of pairs in which the member has the larger score; it proves nothing */
    /* Ranks. Condition: every score comes from a separate run with one canary. The proved mu, and the
     * epsilon at delta that it means for Gaussian noise. */
    double mu_lower, epsilon_lower;
    /* Two error rates, under the same condition and no other assumption: a threshold is chosen on a random
     * half of the scores and tested on the other half. */
    double threshold;
    int64_t false_positives, tested_outside, false_negatives, tested_inside;
    double epsilon_lower_direct;
    /* One run. Condition: all scores are those of the canaries of a single run, and each canary was a member
     * by its own fair coin. Guesses are made for the most extreme scores. */
    int64_t guesses, correct;
    double epsilon_lower_one_run;
} mfpg_score_bounds;

extern const mfpg_fields mfpg_score_fields;

/** Computes the bounds.
 *  @param[in] inside, outside  scores of members and of non-members, larger if membership is likelier, at
 *  least 2 each, in any order
 *  @return MFPG_OK; MFPG_ERR_INPUT for too few scores; MFPG_ERR_DOMAIN for options out of range and scores
 *  that are not finite; MFPG_ERR_MEMORY. *out is set only on success. Threads: safe on different contexts. */
mfpg_status mfpg_audit_scores(mfpg_context *ctx, const mfpg_score_options *options, const double *inside,
    ptrdiff_t inside_count, const double *outside, ptrdiff_t outside_count, mfpg_score_bounds *out);

/** Returns the bounds as a JSON object with the names of mfpg_score_fields. Free the text. */
mfpg_status mfpg_audit_scores_json(mfpg_context *ctx, const mfpg_score_bounds *bounds, char **json);

/** Reads the scores of a CSV file with or without a header: its only column, or the column named score. Free
 *  them.
 *  Fails with MFPG_ERR_IO, MFPG_ERR_INPUT with file and line, or MFPG_ERR_MEMORY; outputs are set only on
 *  success. */
mfpg_status mfpg_audit_read_scores(mfpg_context *ctx, const char *path, double **scores, ptrdiff_t *count);

/* ---- what the server of secure sums could learn ---- */

enum { MFPG_SEED_BITS = 40 }; /* the largest search for small keys */

/** What the transcript shows of one site. */
typedef struct mfpg_transcript_site {
    const char *site;    /* name in the roster; points to name */
    int64_t vectors;     /* masked vectors of this site in the transcript, also late ones */
    int64_t opened;      /* of these: vectors that the server can read without the others */
    const char *how;     /* what opened the first of them, a constant phrase; "" if none is open */
    int64_t first_round; /* of the first opened vector; -1 if none is open */
    int64_t guesses,
        correct; /* one guess for each canary of this site in a complete sum, or whose vector is open */
    /* mu of one sum against replace, promised to this site (the largest of its canaries): 2 clip, divided by
     * mfpg_sum_noise without survivors; 0 without canaries. And the mu that the guesses prove */
    double mu, mu_lower;
    int stands; /* 0: a vector is open, or more is proved than promised */
    char name[64];
} mfpg_transcript_site;

extern const mfpg_fields mfpg_transcript_fields;

typedef struct mfpg_transcript_audit {
    int64_t sums;
    int64_t ignored; /* messages that belong to no sum of the transcript, for instance damaged ones */
    ptrdiff_t sites;
    mfpg_transcript_site *site; /* one for every entry of the roster; free it */
    int searched; /* 1: there was a vector with a single unknown mask, and small keys were searched for it */
    int stands;   /* of all sites */
} mfpg_transcript_audit;

/** Attacks a transcript of the server's side of secure sums (docs/secure_sum.md): a text file with one JSON object a line.
 *  The first line is {"roster": text}; {"message": base64} is a message that the server sent or took, and {"refused": base64} one that it received and did not take, in order, late ones
 *  too; {"canary": site, "round": r, "attempt": a, "coin": 1 or -1, "vector": [numbers]} tells that the site's vector, before
 *  its noise, was coin times that vector, in steps of the grid, and that the coin was fair. Every mask is removed whose key
 *  the opened shares give. Vectors that become readable break the promise; coins are guessed from what is readable, or from
 *  the sum.
 *  @param[in] seed_bits   0 to MFPG_SEED_BITS: the first vector with a single unknown mask is searched for a key below
 *  2^seed_bits (2^32: about two minutes of one core); 0: no search
 *  @param[in] confidence  in (0.5,1): of the bounds of all sites together
 *  @return MFPG_OK, also if a promise is broken; MFPG_ERR_INPUT with file and line for a faulty transcript;
 *  MFPG_ERR_DOMAIN for options out of range; MFPG_ERR_IO; MFPG_ERR_MEMORY. *out is set only on success. Files up to 1 GiB;
 *  memory: that of the file. Threads: safe on different contexts. */
mfpg_status mfpg_audit_transcript(
    mfpg_context *ctx, const char *path, int seed_bits, double confidence, mfpg_transcript_audit *out);

/** Returns the audit as a JSON object: sums, ignored, searched, stands, and sites with the names of mfpg_transcript_fields. Free the
 *  text. */
mfpg_status mfpg_audit_transcript_json(mfpg_context *ctx, const mfpg_transcript_audit *audit, char **json);

#endif
