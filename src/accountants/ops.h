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
    size_t state_size;

    /* Required. The release is free of faults (release_check.h); delta lies in [0, 1), epsilon is >= 0. Answers are
     * rounded up, +INFINITY where no bound is known. */
    mfpg_status (*record)(mfpg_context *ctx, void *state, const mfpg_release *release);
    mfpg_status (*epsilon)(mfpg_context *ctx, const void *state, double delta, double *epsilon);
    mfpg_status (*delta)(mfpg_context *ctx, const void *state, double epsilon, double *delta);

    /* Optional: NULL means the state begins as zeros, owns nothing, and has no Gaussian-DP parameter (+INFINITY).
     * A start that fails has freed what it took; finish is not called. */
    mfpg_status (*start)(mfpg_context *ctx, void *state, const mfpg_accountant_options *options);
    void (*finish)(void *state);
    double (*mu)(const void *state);
} mfpg_accountant_ops;

#endif
