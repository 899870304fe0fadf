/* One reading of the paper's best response, played by a population: who plays what, and the properties of
 * the result. */
#ifndef MFPG_REPRODUCTION_READINGS_H
#define MFPG_REPRODUCTION_READINGS_H

#include "studies.h"
#include "support.h"

enum { MFPG_MOST_BETAS = 1000 }; /* of the sweep */

/* Evaluates eq. (dpbound) of the reading with that gradient norm. */
double mfpg_reading_delta(const mfpg_reading *reading, double strength, double gradient_norm);

/* Returns mfpg_reading_cost without the terms that the own action does not move; these would only lose
 * digits to rounding. */
double mfpg_reading_own_cost(
    const mfpg_reading *reading, double e, double mean, double beta, double gradient_norm);

typedef struct reading_crowd {
    const mfpg_reading *reading;
    ptrdiff_t clients;
    const double *beta, *gradient; /* clients each */
} reading_crowd;

/* Computes the mean-field equilibrium exactly: by enumeration if nothing couples the clients, otherwise by
 * the sweep of cost interaction. */
typedef struct reading_solution {
    double mean;
    double privacy;                     /* mean over clients of the privacy term */
    double delta;                       /* mean over clients of eq. (dpbound) at their own action */
    double count[MFPG_READING_ACTIONS]; /* expected clients at each action */
    double exploitability;              /* of the client that gains most, by the reading's own cost */
    int mixes;                          /* 1: no profile of single actions is an equilibrium */
} reading_solution;

mfpg_status mfpg_reading_solve(mfpg_context *ctx, const reading_crowd *crowd, reading_solution *out);

/* Repeats that all clients answer the mean and the mean becomes that of the answers, starting from each of
 * the actions. Returns the largest number of rounds until no answer changes; INFINITY if it never stops. */
double mfpg_reading_iterations(const reading_crowd *crowd);

/* The numbers by which the statements are judged, for one draw. */
typedef struct reading_evidence {
    const mfpg_reading *reading;
    const mfpg_figure_options *options;
    const double *sweep[MFPG_SWEEPS]; /* beta_count each */
    reading_solution spread;          /* the population of the histogram */
    double gradient;                  /* mean G_k */
    /* change of the mean action if curvature, and with it the loss, is multiplied by four */
    double sharper_change;
    double iterations;           /* the most of any population */
    ptrdiff_t mixed_populations; /* in which clients must mix */
} reading_evidence;

typedef struct reading_answer {
    int applies, holds;
    double number;
} reading_answer;

/* Returns the answer to statement number `index` of statements.def. */
reading_answer mfpg_statement_judge(ptrdiff_t index, const reading_evidence *evidence);

#endif
