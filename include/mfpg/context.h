/** A context holds the number of threads that a call may use, the last error message, and the receiver of
 *  warnings. The library has no global state, so contexts are independent. */
#ifndef MFPG_CONTEXT_H
#define MFPG_CONTEXT_H

#include "group.h"
#include "status.h"

typedef struct mfpg_context mfpg_context;

typedef struct mfpg_context_options {
    int threads; /* OpenMP threads for parallel loops; 0: all that the machine has */
    /* Receives each warning, in the calling thread; may be NULL. */
    void (*warn)(void *user, const char *text);
    void *warn_user;         /* handed to warn */
    const mfpg_group *group; /* processes that train together (group.h), borrowed; NULL: only this process */
} mfpg_context_options;

/** All threads, warnings dropped, no group. */
mfpg_context_options mfpg_context_options_default(void);

/** Creates a context.
 *  @param[in]  options  NULL means the defaults; copied
 *  @param[out] out      the context, set only on success; free it with mfpg_context_destroy
 *  @return MFPG_OK; MFPG_ERR_DOMAIN for a negative thread count or a rank outside its group; MFPG_ERR_MEMORY;
 *  MFPG_ERR_IO if the system provides no randomness; MFPG_ERR_NUMERIC if the library's vector code of
 *  ChaCha20 and libsodium disagree on this processor, so that no noise can be trusted.
 *  Threads: only one calling thread at a time may use a context. */
mfpg_status mfpg_context_create(const mfpg_context_options *options, mfpg_context **out);

/** Frees a context; NULL is fine. */
void mfpg_context_destroy(mfpg_context *ctx);

/** Returns the message of the last failed call on this context (one line, no newline), or "" before any
 *  failure. It is valid until the next call on the context. After parallel work it is the message of the
 *  failed task with the lowest index. */
const char *mfpg_context_message(const mfpg_context *ctx);

/** Makes all processes of the context's group fail if one of them failed. They return the status and message
 *  of the failed process (if several failed, of the one with the lowest rank). Without a group the status is
 *  returned unchanged. The call is collective: everything that may fail in one process alone (for instance a
 *  file that one machine lacks) must come before it, so that no process waits for one that has already
 *  returned. */
mfpg_status mfpg_context_agree(mfpg_context *ctx, mfpg_status status);

/** Returns the number of threads that parallel loops of this context use, at least 1. */
int mfpg_context_threads(const mfpg_context *ctx);

#endif
