/* What an accountant supplies. accountant.c stands in front of every one of them: it checks the arguments, answers 0
 * before the first release, and +INFINITY for ever after a record that failed. */
#ifndef MFPG_ACCOUNTANTS_OPS_H
#define MFPG_ACCOUNTANTS_OPS_H

#include <stddef.h>

#include "mfpg/accountant.h"

typedef struct mfpg_accountant_ops {
    const char *name; /* what users type */
    const char *help; /* one line */
    int certifies;    /* 1 where epsilon is a guarantee: the contract tests then hold it to that */
    mfpg_particles
        particles; /* the only kind of release that reaches record; parameters where nothing is said */
    int facts;     /* MFPG_ACCOUNTANT_* of accountant.h; what is not said is not credited */
    size_t state_size;

    /* Required. The release is free of faults (release_check.h) and recorded times >= 1 times; delta lies in [0, 1),
     * epsilon is >= 0. Answers are rounded up, +INFINITY where no bound is known. */
    mfpg_status (*record)(mfpg_context *ctx, void *state, const mfpg_release *release, int64_t times);
    mfpg_status (*epsilon)(mfpg_context *ctx, const void *state, double delta, double *epsilon);
    mfpg_status (*delta)(mfpg_context *ctx, const void *state, double epsilon, double *delta);

    /* Optional: NULL means the state begins as zeros, owns nothing (its bytes are a copy of it), and has no Gaussian-DP
     * parameter, no Renyi divergence, no epsilon under the other adjacency (+INFINITY). A start that fails has freed
     * what it took; finish is not called. A copy that fails leaves nothing to finish. */
    mfpg_status (*start)(mfpg_context *ctx, void *state, const mfpg_accountant_options *options);
    void (*finish)(void *state);
    int (*copy)(const void *state, void *out);
    double (*mu)(const void *state);
    double (*rdp)(const void *state, double order);
    mfpg_status (*other)(mfpg_context *ctx, const void *state, double delta, double *epsilon);

    /* Optional: both ends of the two answers at once; the upper one is that of epsilon or delta. NULL: 0 is the lower end. */
    mfpg_status (*epsilon_bounds)(mfpg_context *ctx, const void *state, double delta, mfpg_bounds *out);
    mfpg_status (*delta_bounds)(mfpg_context *ctx, const void *state, double epsilon, mfpg_bounds *out);

    /* Optional short cuts; NULL: epsilon is asked instead, and nothing is known to cover anything. within: 1 only where
     * the answer of epsilon is at most this one. covers: 1 only where the epsilon of state is at least that of another of
     * the same kind and options at every delta, which has to be plain to see. */
    int (*within)(mfpg_context *ctx, const void *state, double delta, double epsilon);
    int (*covers)(const void *state, const void *other);
} mfpg_accountant_ops;

#endif
