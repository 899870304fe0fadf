/** Optimisers turn gradients into steps. A local optimiser shapes the steps of a client within a round. A
 *  server optimiser computes the next global model from the round's noisy average; this is post-processing
 *  and does not change certificates of a view that contains every round. */
#ifndef MFPG_OPTIMISER_H
#define MFPG_OPTIMISER_H

#include "names.h"

/** How a client's steps within one round are computed. No state is kept from one round to the next. */
typedef struct mfpg_local_optimiser_options {
    const char *kind; /* name in local.def; NULL: sgd */
    double momentum;  /* in [0, 1): the share of the previous movement that a step adds */
} mfpg_local_optimiser_options;

/** How the round's movement D = average - w, the negative of a gradient for the server, is applied. The sign
 *  and the first moment follow FedOpt (Reddi et al. 2021). */
typedef struct mfpg_server_optimiser_options {
    const char *kind;     /* name in server.def; NULL: sgd */
    double learning_rate; /* > 0; with sgd, rate 1 gives the average itself */
    double momentum;      /* in [0, 1): momentum m = beta m + D, adam m = beta m + (1 - beta) D */
    double second_moment; /* in [0, 1): adam v = beta2 v + (1 - beta2) D^2 */
    double floor;         /* > 0: adam divides by sqrt(v) + floor; weight units */
} mfpg_server_optimiser_options;

extern const mfpg_kinds mfpg_local_optimisers; /**< local.def and server.def */
extern const mfpg_kinds mfpg_server_optimisers;

#endif
