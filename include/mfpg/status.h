/** The status that fallible calls return. Every function of the library that can fail returns an mfpg_status.
 *  The message for people, which names what is allowed, is in the context (mfpg_context_message). */
#ifndef MFPG_STATUS_H
#define MFPG_STATUS_H

typedef enum mfpg_status {
    MFPG_OK = 0,
    MFPG_ERR_INPUT,      /* a file, a configuration or an argument is wrong; nothing was changed */
    MFPG_ERR_DOMAIN,     /* a number is outside its range; outputs hold the safe answer (+INFINITY) */
    MFPG_ERR_IO,         /* the system refused to read or write */
    MFPG_ERR_MEMORY,     /* memory ran out */
    MFPG_ERR_NUMERIC,    /* a computation left the range of its numbers (for instance, a model diverged) */
    MFPG_ERR_INTERRUPTED /* stopped on request; everything that was complete has been written */
} mfpg_status;

/** Returns a constant phrase for a status; never NULL, also for unknown values. Threads: safe. */
const char *mfpg_status_text(mfpg_status status);

#endif
