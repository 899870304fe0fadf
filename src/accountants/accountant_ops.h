/* The functions that an accountant supplies. accountant.c checks their arguments, answers 0 before the first
 * release, and answers +INFINITY permanently after a failed record. */
#ifndef MFPG_ACCOUNTANTS_ACCOUNTANT_OPS_H
#define MFPG_ACCOUNTANTS_ACCOUNTANT_OPS_H

#include <stddef.h>

#include "accounting.h"

/* A request for epsilon at a delta in [0, 1), or for delta at an epsilon >= 0. */
typedef struct mfpg_question {
    /* that of the promise, or the other one: zero-out for a promise of replace, and replace otherwise */
    mfpg_adjacency adjacency;
    int for_delta; /* 1: given is epsilon */
    double given;
    int both_ends; /* 0: the lower end is not needed and may stay 0 */
    double enough; /* an upper end that is at most this number need not be improved */
} mfpg_question;

typedef struct mfpg_accountant_ops {
    const char *name;         /* what users type */
    const char *help;         /* one line */
    int certifies;            /* 1: epsilon is a guarantee, and the contract tests check that it is */
    mfpg_particles particles; /* the only kind of particles whose releases are passed to record */
    /* MFPG_ACCOUNTANT_* of accounting.h; a fact that is not listed is not credited */
    int facts;
    size_t state_size;

    /* Required. The release has passed release_check.h and is recorded times >= 1 times. An answer starts as
     * {0, +INFINITY}, which is true without any computation; its upper end must be rounded up. An accountant
     * that certifies nothing is only asked about the adjacency of its promise. */
    mfpg_status (*record)(mfpg_context *ctx, void *state, const mfpg_release *release, int64_t times);
    mfpg_status (*answer)(mfpg_context *ctx, const void *state, const mfpg_question *asked, mfpg_bounds *out);

    /* Optional. NULL means that the state begins as zeros and owns nothing (a copy of its bytes is a copy of
     * it). A start that fails must free what it allocated; finish is then not called. A copy that fails
     * (returns 0) must leave nothing to finish. */
    mfpg_status (*start)(mfpg_context *ctx, void *state, const mfpg_accountant_options *options);
    void (*finish)(void *state);
    int (*copy)(const void *state, void *out);

    /* Optional. NULL means that the accountant has no Gaussian-DP parameter, that its only Renyi divergences
     * are those of such a parameter, and that it can never tell whether one state covers another. covers
     * returns 1 only if a cheap comparison shows that the epsilon of `state` is at least that of another
     * state of the same kind and options at every delta. */
    double (*mu)(const void *state);
    double (*renyi)(const void *state, double order);
    int (*covers)(const void *state, const void *other);
} mfpg_accountant_ops;

#define ENTRY(name) extern const mfpg_accountant_ops mfpg_accountant_##name;
#define PAPER       ENTRY
#include "accountants.def"
#undef PAPER
#undef ENTRY

#endif
