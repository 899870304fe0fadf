/* A ledger: its text, and one that is open for writing.
 *
 * Line 1 is the header:
 *   {"mfpg_ledger":4,"particles":"parameters","clients":8,"unit":"client","adjacency":"zero-out","view":"local",
 *    "delta":1e-05,"stop_at_epsilon":4,"filter":"accountant","seeded":true,"chain":"64 digits"}
 * (stop_at_epsilon and filter, the budget of every client, are both null if there is none).
 * Every other line is a release, the same one for each client of an inclusive range:
 *   {"round":1,"clients":[0,7],"particles":"parameters","clipped":"update","steps":1,"sensitivity":0.01,"rounding":0,
 *    "noise_sd":0.02,"grid":0,"last_sd":0.02,"weight":0.125,"sampling_rate":1,"action":{"budget":1},"chain":"64 digits"}
 * (without the line breaks; action is null if there was no control, or names a budget, strength or multiplier).
 * particles is the same in all lines. A line of particles "data" has one key more, "contraction", which a line of
 * "parameters" must not have: renaming the one does not make it the other.
 * A ledger of secure sums is of version 5: its header has "secure_sum":true before "seeded", and a release that enters a
 * sum has the keys "run", "sum_round", "attempt", "members", "threshold" and "colluders" before "action". A line
 *   {"round":1,"attempt":1,"clients":[0,7],"survivors":6,"last_sd":0.04,"chain":"64 digits"}
 * may follow when the sum is known: it is about the latest release of each of these clients.
 * Numbers read back to the identical double. Every one of these keys is required and none has a default, so a key that
 * a reader does not know cannot change what a line means: later versions may add some. Version 3, which is read and not
 * gone on with, has no budget and none of "clipped", "rounding" and "grid": nothing is known of last digits, and what
 * was clipped follows from the unit. Version 2 had no chain; as changes to it cannot be seen, it is not read.
 *
 * "chain" comes last: every line ends with the hash of the chain so far and of the line itself, so that a line cannot be
 * changed, removed, inserted or moved without breaking the chain from there on. The value of a line is SHA-256 of the
 * previous line's value, as its 64 digits (nothing before the first line), followed by the line's bytes without its key
 * "chain" and without the line end. There is no key: someone who rewrites a ledger to its end, hashes included, is found
 * out only by a copy of the last value that he does not hold. */
#ifndef MFPG_ACCOUNTANTS_LEDGER_LEDGER_H
#define MFPG_ACCOUNTANTS_LEDGER_LEDGER_H

#include <pthread.h>
#include <stdint.h>
#include <sys/types.h>

#include "accountants/accounting.h"
#include "base/release_parts.h"

/* ---- text (ledger_format.c) ---- */

enum {
    MFPG_LEDGER_VERSION = 5, /* of ledgers of secure sums */
    MFPG_LEDGER_PLAIN = 4,   /* of all others; older ones are read only */
    MFPG_LEDGER_OLDEST = 3,
    MFPG_LEDGER_WRITTEN = 1024, /* more than any written line needs, including chain and line end */
    MFPG_LEDGER_LONGEST = 4096, /* a longer line is not a ledger line */
    MFPG_LEDGER_SEAL =
        sizeof ",\"chain\":\"\"" - 1 + MFPG_LEDGER_CHAIN_SIZE - 1 /* bytes of the key "chain" */
};

/* `places` of the fields of a release (mfpg_ledger_fields): in lines of all versions, from version 4 on, or of
 * releases that enter a secure sum. */
enum { MFPG_LEDGER_ALWAYS = 1 << 8, MFPG_LEDGER_LATELY = 1 << 9, MFPG_LEDGER_SUMMED = 1 << 10 };

/* Return NULL, or what is wrong with a header, or with a release in a ledger of that header. */
const char *mfpg_ledger_header_fault(const mfpg_ledger_header *header);
const char *mfpg_ledger_release_fault(const mfpg_ledger_header *header, const mfpg_release *release);

/* All write a line without chain and line end and return its length. The numbers must be finite and the
 * promise a known one. */
size_t mfpg_ledger_format_header(const mfpg_ledger_header *header, char out[MFPG_LEDGER_WRITTEN]);
size_t mfpg_ledger_format_release(
    const mfpg_release *release, int64_t last_client, char out[MFPG_LEDGER_WRITTEN]);
size_t mfpg_ledger_format_survivors(
    const mfpg_survivors *known, int64_t last_client, char out[MFPG_LEDGER_WRITTEN]);

/* Turns the line {...} of `length` bytes into {...,"chain":"VALUE"} and returns its new length; the line
 * must have room for MFPG_LEDGER_SEAL more bytes. chain holds the previous value ("" before the first line)
 * and becomes the line's own value. */
size_t mfpg_ledger_seal(char *line, size_t length, char chain[MFPG_LEDGER_CHAIN_SIZE]);

/* Returns 1 if the line ends with that key, whatever its value. */
int mfpg_ledger_is_sealed(const char *line, size_t length);

/* Returns 1 if the sealed line's value is the one that follows chain; chain is then set to it. */
int mfpg_ledger_follows(const char *line, size_t length, char chain[MFPG_LEDGER_CHAIN_SIZE]);

/* ---- reading (ledger_reader.c) ---- */

/* The content of one complete line. */
typedef struct mfpg_ledger_entry {
    mfpg_release release; /* `client` is the first of the range */
    int64_t last_client;
    /* > 0: the line is one of survivors; of the release, only client, round, attempt and last_sd are set */
    int64_t survivors;
    int64_t offset;         /* of the line's first byte */
    mfpg_ledger_end before; /* of the lines before it */
} mfpg_ledger_entry;

/* What the reader found in the whole file. */
typedef struct mfpg_ledger_extent {
    int version;
    int64_t complete; /* bytes of complete lines */
    mfpg_ledger_end end;
} mfpg_ledger_extent;

/* Reads like mfpg_ledger_read, and also reports the offset of each line. Reads an open file (-1: the path is
 * opened). extent is set on success only. */
mfpg_status mfpg_ledger_scan(mfpg_context *ctx, const char *path, int descriptor, mfpg_ledger_header *header,
    mfpg_status (*visit)(void *user, const mfpg_ledger_entry *entry), void *user, mfpg_ledger_extent *extent);

/* ---- the secure sums that a ledger lists (ledger_sums.c) ---- */

typedef struct ledger_sums {
    struct sum_of_run *last; /* count: the last sum of every client in every run */
    ptrdiff_t count, room;
    mfpg_ledger_entry *client; /* clients: the latest release of each into a sum; attempt 0: none */
} ledger_sums;

/* Begins with zeros; makes room for that many more lines of clients. clients: of the header. */
mfpg_status mfpg_ledger_sums_reserve(mfpg_context *ctx, ledger_sums *sums, int64_t clients, int64_t more);
void mfpg_ledger_sums_clear(ledger_sums *sums);

/* Returns NULL, or why the line cannot follow the lines that were taken. */
const char *mfpg_ledger_sums_fault(const ledger_sums *sums, const mfpg_ledger_entry *line);

/* Takes a line without a fault, for each of whose clients there is room. */
void mfpg_ledger_sums_take(ledger_sums *sums, const mfpg_ledger_entry *line);

/* ---- a ledger that is open for writing (ledger_writer.c, ledger_spend.c) ---- */

/* What one client has spent. */
typedef struct ledger_account {
    mfpg_accountant *accountant;
    mfpg_filter filter; /* filter for the header's budget; not used if the accountant enforces the budget */
    int any;            /* 1: something was released */
    /* 1: more was released than the filter's budget allows, so no bound is known any more */
    int over;
} ledger_account;

/* One lock separates threads; a lock on the file excludes other processes while the ledger is open. A child
 * made by fork() inherits the file but may not use it: every call compares the process. */
struct mfpg_ledger {
    pthread_mutex_t lock;
    pid_t owner; /* the process that opened it */
    int descriptor;
    char *path;
    mfpg_ledger_header header;
    int64_t round;         /* of the latest release */
    mfpg_ledger_end last;  /* end of the lines handed to `text` so far */
    mfpg_ledger_end found; /* end of the file when it was opened */
    int64_t end;           /* offset of the next line */
    int64_t size;          /* bytes in the file; more than `end` while an interrupted run is being repeated */
    int broken;            /* a write failed half-way, so nothing may follow it */
    ledger_sums sums;      /* of the lines handed to `text` so far */
    double limit; /* stop_at_epsilon of this writer: the header's or a smaller one; +INFINITY: none */
    ledger_account *account; /* accounts, indexed by client; clients beyond the array have released nothing */
    int64_t accounts;
    int priced;  /* 1: the accounts include everything in the file */
    size_t used; /* bytes waiting in text */
    char text[1 << 16];
};

/* Locks the ledger. In a process other than the one that opened it, returns MFPG_ERR_INPUT and locks
 * nothing. */
mfpg_status mfpg_ledger_lock(mfpg_context *ctx, mfpg_ledger *ledger);
void mfpg_ledger_unlock(mfpg_ledger *ledger);

/* mfpg_ledger_check tests whether these releases could be written; the next function is
 * mfpg_ledger_append_made. The caller must hold the lock. */
mfpg_status mfpg_ledger_check(
    mfpg_context *ctx, mfpg_ledger *ledger, mfpg_release_maker release, void *user, ptrdiff_t count);
mfpg_status mfpg_ledger_write(
    mfpg_context *ctx, mfpg_ledger *ledger, mfpg_release_maker release, void *user, ptrdiff_t count);

/* A maker of releases for which user is an array of them. */
mfpg_release mfpg_ledger_element(void *user, ptrdiff_t i);

/* Frees what the clients have spent. */
void mfpg_ledger_forget_accounts(mfpg_ledger *ledger);

#endif
