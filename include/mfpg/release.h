/** What the three blocks of a round exchange: the action that a game chose, and the record of what a client
 *  released. */
#ifndef MFPG_RELEASE_H
#define MFPG_RELEASE_H

#include <stdint.h>

/** A Gaussian budget (the paper's epsilon_k of DP-SGD and MAPG-DP): MORE means LESS noise. */
typedef struct mfpg_budget {
    double value;
} mfpg_budget;

/** An entropic strength (the paper's varepsilon of MFEP and MFPG): MORE means MORE noise. */
typedef struct mfpg_strength {
    double value;
} mfpg_strength;

typedef enum mfpg_control {
    MFPG_CONTROL_NONE = 0,  /* no noise */
    MFPG_CONTROL_BUDGET,    /* action.budget */
    MFPG_CONTROL_STRENGTH,  /* action.strength */
    MFPG_CONTROL_MULTIPLIER /* action.multiplier: noise sd divided by the zero-out sensitivity of the step */
} mfpg_control;

/** One client's privacy control. The two kinds of number are never converted implicitly: read the field that
 *  `control` names. */
typedef struct mfpg_action {
    mfpg_control control;
    mfpg_budget budget;
    mfpg_strength strength;
    double multiplier;
} mfpg_action;

typedef enum mfpg_unit { MFPG_UNIT_CLIENT = 0, MFPG_UNIT_EXAMPLE } mfpg_unit;
/** Which runs must be indistinguishable. zero-out compares in both directions, a record that leaves and one
 *  that joins; add and remove compare in one direction only. These differ under sampling: accountants of
 *  schedules support them, runs and ledgers refuse them. */
typedef enum mfpg_adjacency {
    MFPG_ADJACENCY_ZERO_OUT = 0, /* the record contributes nothing, but its noise is still added */
    MFPG_ADJACENCY_REPLACE,      /* any other data */
    MFPG_ADJACENCY_ADD,          /* the record is absent in the run under test and present in its neighbour */
    MFPG_ADJACENCY_REMOVE        /* the record is present in the run under test and absent in its neighbour */
} mfpg_adjacency;
typedef enum mfpg_view { MFPG_VIEW_LOCAL = 0, MFPG_VIEW_AVERAGE, MFPG_VIEW_FINAL } mfpg_view;

/** What a promise is about; no epsilon is printed without this information. */
typedef struct mfpg_promise {
    mfpg_unit unit;
    mfpg_adjacency adjacency;
    mfpg_view view;
} mfpg_promise;

const char *mfpg_adjacency_name(mfpg_adjacency adjacency); /* "zero-out", "replace", "add", "remove" */

/** What was noised. In neighbouring runs over parameters the data separate the states at every step;
 *  neighbouring records differ at their start only (theory S5). A certificate of one kind proves nothing
 *  about a run of the other, so every release, accountant and ledger carries this tag and refuses the other
 *  kind. */
typedef enum mfpg_particles {
    MFPG_PARTICLES_PARAMETERS = 0, /* a model, moved by private gradients */
    MFPG_PARTICLES_DATA            /* the records themselves, mapped and noised once */
} mfpg_particles;

const char *mfpg_particles_name(mfpg_particles particles); /* "parameters", "data" */

/** What was clipped so that the sensitivity of a release holds. */
typedef enum mfpg_clipped {
    MFPG_CLIPPED_UPDATE = 0,  /* unit client: the client's whole gradient or update, once */
    MFPG_CLIPPED_EXAMPLES,    /* the gradient of every example by itself */
    MFPG_CLIPPED_RECORDS,     /* the features of every record */
    MFPG_CLIPPED_MEASUREMENTS /* the losses and gradient norms on which the choice of an action depends */
} mfpg_clipped;

/** Everything that one client released in one round.
 *  parameters: `steps` Gaussian steps. In each step data move the client's local state by at most
 *  `sensitivity`, and noise of sd `noise_sd` per coordinate is added, both in the units of the weights.
 *  data: the client's raw records, which differ by at most `sensitivity` (in the units of the features), are
 *  mapped once by a map that multiplies distances by at most `contraction`, and noise of sd `noise_sd` is
 *  added; steps is 1, last_sd is noise_sd, sampling_rate is 1. What is computed from them later is not a
 *  release.
 *  sensitivity is that of zero-out; replace doubles it. noise_sd 0 certifies nothing. */
typedef struct mfpg_release {
    mfpg_particles particles;
    /* the unit whose presence the sensitivity bounds; accountants and ledgers refuse another unit */
    mfpg_unit unit;
    mfpg_clipped clipped;
    int64_t round, client;
    int64_t steps;      /* >= 1 */
    double sensitivity; /* zero-out, one step, in weight units, >= 0; it includes the rounding below */
    /* rho >= 0: the share by which the rounding of sums over examples raised the sensitivity */
    double rounding;
    double noise_sd; /* one step, weight units, >= 0 */
    /* Step of the public grid of the release, a power of two (docs/privacy.md), at most a quarter of its
     * noise. In the view local it is the grid of the client's own update, in weight units; in other views,
     * of its weighted share of the sum. 0: nothing is known about the last digits of the release. */
    double grid;
    /* Noise that protects the last step in the view in use, in this client's units. In the local view it is
     * noise_sd; theory S2.2 says what the noise of the others adds in other views. */
    double last_sd;
    double weight;        /* p_k of this round's average, in [0,1] */
    double contraction;   /* data: c > 0 of the single map, rounded up; parameters: 1, or 0 if unknown */
    double sampling_rate; /* of examples; 1 without sampling */
    /* parameters: the effect of the whole round on the model that is seen last (theory S2.3), in this
     * client's units like last_sd. No ledger stores it. */
    double hidden_contraction; /* the map of the round multiplies distances by at most this; 0: unknown */
    double hidden_shift;       /* the largest distance by which data can move the model, zero-out, >= 0 */
    mfpg_action action;
    /* The secure sum that the release enters (mfpg/secure_sum.h); all 0: none. last_sd is then the noise of the
     * worst set of clients that the sum allows. run: the first six bytes of the run's identifier, read as a
     * big-endian number. (run, sum_round, attempt) is used once: another attempt is another release. */
    int64_t run, sum_round, attempt; /* attempt >= 1 */
    int64_t members;                 /* n, clients that were asked for a share */
    int64_t threshold, colluders;    /* t and c, with (n + c)/2 < t <= n */
} mfpg_release;

#endif
