/* The ledger's text, shared by its writer and its reader.
 *
 * Line 1 is the header:
 *   {"mfpg_ledger":4,"particles":"parameters","clients":8,"unit":"client","adjacency":"zero-out","view":"local",
 *    "delta":1e-05,"stop_at_epsilon":4,"filter":"accountant","seeded":true,"chain":"64 digits"}
 * (stop_at_epsilon and filter, the budget of every client, are both null if there is none).
 * Every other line is a release, the same one for each client of an inclusive range:
 *   {"round":1,"clients":[0,7],"particles":"parameters","clipped":"update","steps":1,"sensitivity":0.01,"rounding":0,
 *    "noise_sd":0.02,"grid":0,"last_sd":0.02,"weight":0.125,"sampling_rate":1,"action":{"budget":1},"chain":"64 digits"}
 * (without the line breaks; action is null where there was no control, or names a budget, strength or multiplier).
 * particles is the same in all lines. A line of particles "data" has one key more, "contraction", which a line of
 * "parameters" must not have: renaming the one does not make it the other.
 * Numbers read back to the identical double. Every one of these keys is required and none has a default, so a key that
 * a reader does not know cannot change what a line means: later versions may add some. "chain" comes last
 * (chain.h). Version 3, which is read and not gone on with, has no budget and none of "clipped", "rounding" and "grid": nothing
 * is known of last digits, and what was clipped follows from the unit. Version 2 had no chain; as changes to it cannot be
 * seen, it is not read. */
#ifndef MFPG_ACCOUNTANTS_LEDGER_FORMAT_H
#define MFPG_ACCOUNTANTS_LEDGER_FORMAT_H

#include <stddef.h>
#include <stdint.h>

#include "accountants/accounting.h"

enum {
    MFPG_LEDGER_VERSION = 4,
    MFPG_LEDGER_OLDEST = 3,
    MFPG_LEDGER_WRITTEN = 768, /* more than any line that is written needs, chain and line end included */
    MFPG_LEDGER_LONGEST = 4096 /* a longer line is no ledger line */
};

/* Places of the fields of a release (mfpg_ledger_fields): in lines of all versions, and of version 4 on. */
enum { MFPG_LEDGER_ALWAYS = 1 << 8, MFPG_LEDGER_LATELY = 1 << 9 };

/* NULL, or what is wrong with a header. */
const char *mfpg_ledger_header_fault(const mfpg_ledger_header *header);

/* What is wrong with a release in a ledger of that promise; NULL: nothing. */
const char *mfpg_ledger_release_fault(const mfpg_promise *promise, const mfpg_release *release);

/* Both write a line without chain and line end and return its length. The numbers are finite, the promise is a known one. */
size_t mfpg_ledger_format_header(const mfpg_ledger_header *header, char out[MFPG_LEDGER_WRITTEN]);
size_t mfpg_ledger_format_release(
    const mfpg_release *release, int64_t last_client, char out[MFPG_LEDGER_WRITTEN]);

/* What the reader found in one complete line. */
typedef struct mfpg_ledger_entry {
    mfpg_release release; /* client is the first of the range */
    int64_t last_client;
    int64_t offset;         /* of the line's first byte */
    mfpg_ledger_end before; /* of the lines in front of it */
} mfpg_ledger_entry;

/* What the reader found of the whole file. */
typedef struct mfpg_ledger_extent {
    int version;
    int64_t complete; /* bytes of complete lines */
    mfpg_ledger_end end;
} mfpg_ledger_extent;

/* mfpg_ledger_read, with where each line stands, of an open file (-1: the path is opened). extent is set on success only. */
mfpg_status mfpg_ledger_scan(mfpg_context *ctx, const char *path, int descriptor, mfpg_ledger_header *header,
    mfpg_status (*visit)(void *user, const mfpg_ledger_entry *entry), void *user, mfpg_ledger_extent *extent);

#endif
