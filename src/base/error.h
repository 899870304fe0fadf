/* How the library fails and warns: a status for the caller's code, words for the caller's user. */
#ifndef MFPG_BASE_ERROR_H
#define MFPG_BASE_ERROR_H

#include "mfpg/context.h"

enum { MFPG_MESSAGE_SIZE = 1024 };

struct mfpg_context {
    mfpg_context_options options; /* threads resolved to at least 1 */
    char message[MFPG_MESSAGE_SIZE];
};

/* Stores the message (cut at MFPG_MESSAGE_SIZE) and returns the status, so that `return mfpg_fail(...)` reads well.
 * ctx may be NULL: the message is then lost. */
mfpg_status mfpg_fail(mfpg_context *ctx, mfpg_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Puts words in front of the message that a call inside has left: "WHERE: MESSAGE". Returns the status. */
mfpg_status mfpg_fail_in(mfpg_context *ctx, mfpg_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Puts words behind that message. Returns the status. */
mfpg_status mfpg_fail_behind(mfpg_context *ctx, mfpg_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* mfpg_fail(ctx, MFPG_ERR_MEMORY, ...) with the one wording. */
mfpg_status mfpg_fail_memory(mfpg_context *ctx);

/* Hands one line to the context's warn function, if any. */
void mfpg_warn(mfpg_context *ctx, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* A context on the caller's stack for one task of a parallel loop: one thread, warnings dropped. */
mfpg_context mfpg_context_child(void);

#endif
