/* A ledger that is open for writing: its file, and what its clients have spent.
 *
 * One lock, which two files share: ledger.c writes under it, spend.c asks and writes under it. It keeps threads apart; other
 * processes are kept out by a lock on the file, from opening to closing. A child made by fork() inherits the file, but not the
 * right to it: every call compares the process. */
#ifndef MFPG_ACCOUNTANTS_LEDGER_LEDGER_H
#define MFPG_ACCOUNTANTS_LEDGER_LEDGER_H

#include <pthread.h>
#include <stdint.h>
#include <sys/types.h>

#include "accountants/accounting.h"

/* What one client has spent. */
typedef struct ledger_account {
    mfpg_accountant *accountant;
    mfpg_filter filter; /* of the header's budget; unused if the accountant keeps it */
    int any;            /* 1: something was released */
    int over;           /* 1: more was released than the filter's budget: nothing is known any more */
} ledger_account;

struct mfpg_ledger {
    pthread_mutex_t lock;
    pid_t owner; /* the process that opened it */
    int descriptor;
    char *path;
    mfpg_ledger_header header;
    int64_t round;         /* of the latest release */
    mfpg_ledger_end last;  /* of the lines handed to text so far */
    mfpg_ledger_end found; /* of the file as it was opened */
    int64_t end;           /* where the next line belongs */
    int64_t size;          /* bytes in the file: more than end while an interrupted run is being repeated */
    int broken;            /* a write failed half-way: nothing may follow */
    double limit; /* stop_at_epsilon of this writer: the header's, or a smaller one; +INFINITY: none */
    ledger_account *account; /* accounts, by client; those behind it have released nothing */
    int64_t accounts;
    int priced;  /* 1: the accounts hold all that the file does */
    size_t used; /* bytes waiting in text */
    char text[1 << 16];
};

/* Locks; MFPG_ERR_INPUT in another process than the one that opened it, and nothing is locked. */
mfpg_status mfpg_ledger_lock(mfpg_context *ctx, mfpg_ledger *ledger);
void mfpg_ledger_unlock(mfpg_ledger *ledger);

/* mfpg_ledger_append_made under the lock, which the caller holds. */
mfpg_status mfpg_ledger_write(
    mfpg_context *ctx, mfpg_ledger *ledger, mfpg_release_maker release, void *user, ptrdiff_t count);

/* Could these releases be written? The caller holds the lock. */
mfpg_status mfpg_ledger_check(
    mfpg_context *ctx, const mfpg_ledger *ledger, mfpg_release_maker release, void *user, ptrdiff_t count);

/* Frees what the clients have spent. */
void mfpg_ledger_forget_accounts(mfpg_ledger *ledger);

#endif
