/** A context carries what a call may use and report: the number of threads, the last message, and the receiver of warnings.
 *  There is no global state: contexts are independent. */
#ifndef MFPG_CONTEXT_H
#define MFPG_CONTEXT_H

#include "group.h"
#include "status.h"

typedef struct mfpg_context mfpg_context;

typedef struct mfpg_context_options {
    int threads; /* OpenMP threads for parallel loops; 0: all the machine's */
    /* Called for each warning, from the calling thread; may be NULL. */
    void (*warn)(void *user, const char *text);
    void *warn_user;         /* handed to warn */
    const mfpg_group *group; /* processes that train together (group.h), borrowed; NULL: this one alone */
} mfpg_context_options;

/** All threads, warnings dropped, no group. */
mfpg_context_options mfpg_context_options_default(void);

/** Makes a context.
 *  @param[in]  options  NULL means the defaults; copied
 *  @param[out] out      the context, set only on success; free it with mfpg_context_destroy
 *  @return MFPG_OK, MFPG_ERR_DOMAIN for a negative thread count or a rank outside its group, MFPG_ERR_MEMORY, MFPG_ERR_IO
 *          if the system has no randomness, or MFPG_ERR_NUMERIC if the library's vector code of ChaCha20 and libsodium
 *          disagree on this processor, so that no noise can be relied on. Threads: one context serves one calling thread
 *          at a time. */
mfpg_status mfpg_context_create(const mfpg_context_options *options, mfpg_context **out);

/** Frees a context; NULL is fine. */
void mfpg_context_destroy(mfpg_context *ctx);

/** The message of the last failed call on this context (one line, no newline); "" before any failure.
 *  Valid until the next call on the context. From parallel work it is the message of the lowest failing task. */
const char *mfpg_context_message(const mfpg_context *ctx);

/** If one process of the context's group failed, all fail, with its status and message (of several, those of the lowest
 *  rank). Without a group the status comes back. Collective: whatever may fail on one process alone (a file that only one
 *  machine lacks) comes before it, so that no process waits for one that has left. */
mfpg_status mfpg_context_agree(mfpg_context *ctx, mfpg_status status);

/** Threads that parallel loops of this context use, at least 1. */
int mfpg_context_threads(const mfpg_context *ctx);

#endif
