/* How the library fails and warns: a status for the calling code, and a message for its user. */
#ifndef MFPG_BASE_ERROR_H
#define MFPG_BASE_ERROR_H

#include "mfpg/program.h"

enum { MFPG_MESSAGE_SIZE = 1024 };

struct mfpg_context {
    mfpg_context_options options; /* threads resolved to at least 1 */
    char message[MFPG_MESSAGE_SIZE];
};

/* Appends text to the message that a failed call has left. Returns the status. */
mfpg_status mfpg_fail_behind(mfpg_context *ctx, mfpg_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#endif
