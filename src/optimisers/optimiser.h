/* What an optimiser implements, and how those of the lists are found. */
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

/* The steps of a client. A step moves the state by what data add, and noise; an optimiser may add what it kept of earlier steps of the
 * round, all of which are released or could be, so that nothing here is a release. */
typedef struct mfpg_local_optimiser {
    const char *name, *help;
    int reads;
    int vectors; /* as long as the model, that it keeps within a round; 0: it has no memory, and a step depends on its state alone */
    /* What is added to step number `step`, from 0, which begins at the state `from`; all arrays of n floats. memory: vectors x n, for
     * this client and round alone, with nothing in it at step 0. NULL: nothing is added. */
    void (*carry)(const mfpg_local_optimiser_options *options, int64_t step, ptrdiff_t n, const float *from,
        float *memory, float *carried);
} mfpg_local_optimiser;

/* The optimiser of the options; MFPG_ERR_INPUT for an unknown kind, MFPG_ERR_DOMAIN for a number out of range. */
mfpg_status mfpg_local_optimiser_find(
    mfpg_context *ctx, const mfpg_local_optimiser_options *options, const mfpg_local_optimiser **out);

/* The next global model. The same bits on every rank: it reads nothing else. */
typedef struct mfpg_server_optimiser {
    const char *name, *help;
    int reads;
    int averages; /* 1: with rate 1 the next model is the average, bit for bit */
    int vectors; /* of doubles as long as the model, that it keeps from round to round; they begin as zeros */
    /* w, the model that the round began with, becomes the next one; n floats. memory: vectors x n. */
    void (*step)(const mfpg_server_optimiser_options *options, ptrdiff_t n, const float *average,
        double *memory, float *w);
} mfpg_server_optimiser;

mfpg_status mfpg_server_optimiser_find(
    mfpg_context *ctx, const mfpg_server_optimiser_options *options, const mfpg_server_optimiser **out);

/* 1 if the next model is the average itself. */
int mfpg_server_is_plain(const mfpg_server_optimiser_options *options);

/* What the optimiser of that name reads; 0 for unknown names. */
int mfpg_local_optimiser_reads(const char *name);
int mfpg_server_optimiser_reads(const char *name);

#endif
