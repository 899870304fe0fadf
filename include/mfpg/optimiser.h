/** Optimisers: how gradients become steps. A local one shapes the steps of a client within a round. A server one makes the next global
 *  model of the round's noisy average; that is post-processing, and changes no certificate of a view that holds every round. */
#ifndef MFPG_OPTIMISER_H
#define MFPG_OPTIMISER_H

#include <stddef.h>

/** What a client's steps within one round are made of. Nothing is kept from one round to the next. */
typedef struct mfpg_local_optimiser_options {
    const char *kind; /* name in local.def; NULL: sgd */
    double momentum;  /* in [0, 1): what a step takes over of the movement before it */
} mfpg_local_optimiser_options;

/** What becomes of the round's movement D = average - w, the other way round a gradient of the server's. Its sign and its first sum
 *  are those of FedOpt (Reddi et al. 2021). */
typedef struct mfpg_server_optimiser_options {
    const char *kind;     /* name in server.def; NULL: sgd */
    double learning_rate; /* > 0; with sgd 1 is the average itself */
    double momentum;      /* in [0, 1): momentum m = beta m + D, adam m = beta m + (1 - beta) D */
    double second_moment; /* in [0, 1): adam v = beta2 v + (1 - beta2) D^2 */
    double floor;         /* > 0: adam divides by sqrt(v) + floor; weight units */
} mfpg_server_optimiser_options;

/** sgd; momentum 0.9 counts once it is asked for. */
mfpg_local_optimiser_options mfpg_local_optimiser_options_default(void);

/** sgd, rate 1, momentum 0.9, second moment 0.99, floor 1e-3. */
mfpg_server_optimiser_options mfpg_server_optimiser_options_default(void);

/** Names and help of local.def and server.def; NULL past the end. */
const char *mfpg_local_optimiser_name(ptrdiff_t index);
const char *mfpg_local_optimiser_help(ptrdiff_t index);
const char *mfpg_server_optimiser_name(ptrdiff_t index);
const char *mfpg_server_optimiser_help(ptrdiff_t index);

#endif
