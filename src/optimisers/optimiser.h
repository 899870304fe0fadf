/* What an optimiser implements, and how the optimisers of the lists are found. */
#ifndef MFPG_OPTIMISERS_OPTIMISER_H
#define MFPG_OPTIMISERS_OPTIMISER_H

#include <stdint.h>

#include "mfpg/context.h"
#include "mfpg/optimiser.h"

/* The parameters that an optimiser reads. */
enum {
    MFPG_OPTIMISER_READS_MOMENTUM = 1,
    MFPG_OPTIMISER_READS_SECOND_MOMENT = 2, /* and the floor */
};

/* The steps of a client. A step moves the state by what data add and by noise. An optimiser may also add
 * what it kept of earlier steps of the round. All of these have been released or could be, so an optimiser
 * makes no release of its own. */
typedef struct mfpg_local_optimiser {
    const char *name, *help;
    int reads;
    /* number of vectors, as long as the model, that it keeps within a round; 0: it has no memory, and a step
     * depends on its state alone */
    int vectors;
    /* Computes what is added to step number `step`, from 0, which begins at the state `from`; all arrays
     * have n floats. memory: vectors x n floats, for this client and round only, undefined at step 0. NULL:
     * nothing is added. */
    void (*carry)(const mfpg_local_optimiser_options *options, int64_t step, ptrdiff_t n, const float *from,
        float *memory, float *carried);
} mfpg_local_optimiser;

/* Finds the optimiser of the options; MFPG_ERR_INPUT for an unknown kind, MFPG_ERR_DOMAIN for a number out
 * of range. */
mfpg_status mfpg_local_optimiser_find(
    mfpg_context *ctx, const mfpg_local_optimiser_options *options, const mfpg_local_optimiser **out);

/* Computes the next global model. The bits are the same on every rank, because it reads nothing but its
 * arguments. */
typedef struct mfpg_server_optimiser {
    const char *name, *help;
    int reads;
    int averages; /* 1: with rate 1 the next model is exactly the average */
    /* number of vectors of doubles, as long as the model, that it keeps from round to round; they begin as
     * zeros */
    int vectors;
    /* Replaces w, the model with which the round began, by the next one; n floats. memory: vectors x n
     * doubles. */
    void (*step)(const mfpg_server_optimiser_options *options, ptrdiff_t n, const float *average,
        double *memory, float *w);
} mfpg_server_optimiser;

mfpg_status mfpg_server_optimiser_find(
    mfpg_context *ctx, const mfpg_server_optimiser_options *options, const mfpg_server_optimiser **out);

/* Returns 1 if the next model is the average itself. */
int mfpg_server_is_plain(const mfpg_server_optimiser_options *options);

/* Returns the bits of the options that the optimiser of that name reads; 0 for unknown names. */
int mfpg_local_optimiser_reads(const char *name);
int mfpg_server_optimiser_reads(const char *name);

/* Returns the defaults: sgd; momentum 0.9 applies only if momentum is selected. */
mfpg_local_optimiser_options mfpg_local_optimiser_options_default(void);

/* Returns the defaults: sgd, rate 1, momentum 0.9, second moment 0.99, floor 1e-3. */
mfpg_server_optimiser_options mfpg_server_optimiser_options_default(void);

#endif
