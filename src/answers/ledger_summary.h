/* The summary.json that stands beside a ledger in a run folder: the clients' names, and where the ledger ended. */
#ifndef MFPG_ANSWERS_LEDGER_SUMMARY_H
#define MFPG_ANSWERS_LEDGER_SUMMARY_H

#include <jansson.h>

#include "mfpg/accountant.h"

/* FILE, or FOLDER/ledger where a folder was named; NULL when memory runs out. Free it. */
char *account_ledger_path(const char *named);

/* Reads summary.json beside the ledger; *out NULL if there is none. MFPG_ERR_INPUT if it is not a JSON object, or names the end of the
 * ledger in another way than a run does: a broken summary confirms nothing. Free with json_decref. */
mfpg_status account_read_beside(mfpg_context *ctx, const char *path, json_t **out);

/* The name of a client, or NULL. */
const char *account_name_beside(const json_t *beside, int64_t client);

/* Lines that are missing at the end of a ledger leave a chain without a fault; the run's summary knows where it ended.
 * *confirmed: 1 where it names this end, 0 where it names none. MFPG_ERR_INPUT where it names another. */
mfpg_status account_check_end(
    mfpg_context *ctx, const char *path, const json_t *beside, const mfpg_ledger_end *end, int *confirmed);

#endif
