/* What an accountant supplies. accountant.c checks the arguments of every one of them, answers 0 before the first release,
 * and +INFINITY for ever after a record that failed. */
#ifndef MFPG_ACCOUNTANTS_ACCOUNTANT_OPS_H
#define MFPG_ACCOUNTANTS_ACCOUNTANT_OPS_H

#include <stddef.h>

#include "accounting.h"

/* epsilon at a delta in [0, 1), or delta at an epsilon >= 0. */
typedef struct mfpg_question {
    mfpg_adjacency
        adjacency; /* of the promise; or zero-out if that is replace, and replace if it is another */
    int for_delta; /* 1: given is epsilon */
    double given;
    int both_ends; /* 0: the lower end may stay 0 */
    double enough; /* an upper end that is at most this one need not be improved */
} mfpg_question;

typedef struct mfpg_accountant_ops {
    const char *name;         /* what users type */
    const char *help;         /* one line */
    int certifies;            /* 1: epsilon is a guarantee; the contract tests then hold it to that */
    mfpg_particles particles; /* the only kind of release that reaches record */
    int facts;                /* MFPG_ACCOUNTANT_* of accounting.h; what is not said is not credited */
    size_t state_size;

    /* Required. The release is free of faults (release_check.h) and recorded times >= 1 times. An answer holds {0,
     * +INFINITY}, which is what is known without work; its upper end is rounded up. An accountant that certifies nothing is
     * asked with the adjacency of its promise alone. */
    mfpg_status (*record)(mfpg_context *ctx, void *state, const mfpg_release *release, int64_t times);
    mfpg_status (*answer)(mfpg_context *ctx, const void *state, const mfpg_question *asked, mfpg_bounds *out);

    /* Optional: NULL means that the state begins as zeros and owns nothing (its bytes are a copy of it). A start that fails
     * has freed what it took; finish is not called. A copy that fails (0) leaves nothing to finish. */
    mfpg_status (*start)(mfpg_context *ctx, void *state, const mfpg_accountant_options *options);
    void (*finish)(void *state);
    int (*copy)(const void *state, void *out);

    /* Optional: NULL means that there is no Gaussian-DP parameter, no Renyi divergence but that of such a parameter, and
     * that nothing is known to cover anything. covers: 1 only if the epsilon of state is at least that of another state of
     * the same kind and options at every delta, which has to be plain to see. */
    double (*mu)(const void *state);
    double (*renyi)(const void *state, double order);
    int (*covers)(const void *state, const void *other);
} mfpg_accountant_ops;

#define ENTRY(name) extern const mfpg_accountant_ops mfpg_accountant_##name;
#include "accountants.def"
#undef ENTRY

#endif
