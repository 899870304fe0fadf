/** A context carries what a call may use and what it has to say: the number of threads, the last message, and
 *  where warnings go. There is no global state: two contexts never meet. */
#ifndef MFPG_CONTEXT_H
#define MFPG_CONTEXT_H

#include "group.h"
#include "status.h"

typedef struct mfpg_context mfpg_context;

typedef struct mfpg_context_options {
    int threads; /* OpenMP threads for parallel loops; 0: all the machine's */
    void (*warn)(
        void *user, const char *text); /* called for each warning, from the calling thread; may be NULL */
    void *warn_user;                   /* handed to warn */
    const mfpg_group *group; /* processes that train together (group.h), borrowed; NULL: this one alone */
} mfpg_context_options;

/** All threads, warnings dropped, no group. */
mfpg_context_options mfpg_context_options_default(void);

/** Makes a context.
 *  @param[in]  options  NULL means the defaults; copied
 *  @param[out] out      the context, set only on success; free it with mfpg_context_destroy
 *  @return MFPG_OK, MFPG_ERR_DOMAIN for a negative thread count or a rank outside its group, MFPG_ERR_MEMORY, MFPG_ERR_IO
 *          where the system has no randomness, or MFPG_ERR_NUMERIC where the library's vector code of ChaCha20 and
 *          libsodium disagree on this processor: there is no noise to rely on then. Threads: one context serves one
 *          calling thread at a time. */
mfpg_status mfpg_context_create(const mfpg_context_options *options, mfpg_context **out);

/** Frees a context; NULL is fine. */
void mfpg_context_destroy(mfpg_context *ctx);

/** What the last failed call on this context had to say (one line, no newline); "" before any failure.
 *  Valid until the next call on the context. From parallel work it is the message of the lowest failing task. */
const char *mfpg_context_message(const mfpg_context *ctx);

/** Where one process of the context's group failed, all fail, with its status and message (of several, those of the lowest
 *  rank). Without a group the status comes back. Collective: whatever may fail on one process alone (a file that only one
 *  machine lacks) comes before it, so that nobody waits for somebody who has left. */
mfpg_status mfpg_context_agree(mfpg_context *ctx, mfpg_status status);

/** Threads that parallel loops of this context use, at least 1. */
int mfpg_context_threads(const mfpg_context *ctx);

#endif
