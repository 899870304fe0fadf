/** What a fallible call returns. Every function of the library that can fail returns an mfpg_status; the words
 *  for people, with what is allowed, are in the context (mfpg_context_message). */
#ifndef MFPG_STATUS_H
#define MFPG_STATUS_H

typedef enum mfpg_status {
    MFPG_OK = 0,
    MFPG_ERR_INPUT,      /* a file, a configuration or an argument is wrong; nothing was changed */
    MFPG_ERR_DOMAIN,     /* a number lies outside its range; outputs hold the safe answer (+INFINITY) */
    MFPG_ERR_IO,         /* the system refused to read or write */
    MFPG_ERR_MEMORY,     /* memory ran out */
    MFPG_ERR_NUMERIC,    /* a computation left the range of its numbers (a model that diverged) */
    MFPG_ERR_INTERRUPTED /* stopped on request; what is complete has been written */
} mfpg_status;

/** A constant phrase for a status; never NULL, also for unknown values. Threads: safe. */
const char *mfpg_status_text(mfpg_status status);

#endif
