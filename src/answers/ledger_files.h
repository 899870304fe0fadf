/* The ledgers that a question names, which are priced together: that they go together, and the summaries next to them. */
#ifndef MFPG_ANSWERS_LEDGER_FILES_H
#define MFPG_ANSWERS_LEDGER_FILES_H

#include <jansson.h>

#include "account_request.h"

typedef struct account_file {
    char *path;
    json_t *beside; /* summary.json, or NULL */
    mfpg_ledger_header header;
} account_file;

typedef struct account_files {
    account_file *file; /* count >= 1 */
    ptrdiff_t count;
    mfpg_ledger_header all; /* the promise that they share; clients: the most of any; seeded if one is */
} account_files;

typedef mfpg_status (*account_visit)(void *user, const mfpg_release *release, int64_t first, int64_t last);

/* Reads every ledger once, with a visit of each line. MFPG_ERR_INPUT if a file is named twice, or two of them differ in unit,
 * adjacency, view, delta or particles, or name another client by the same number. account_files_clear in any case. */
mfpg_status account_files_open(
    mfpg_context *ctx, const mfpg_question *q, account_visit visit, void *user, account_files *out);
void account_files_clear(account_files *files);

/* Reads them again, one after the other, and fills out, as many, with where they end and whether a summary says so. */
mfpg_status account_files_read(
    mfpg_context *ctx, const account_files *files, account_visit visit, void *user, mfpg_ledger_file *out);

/* The name of a client, or NULL. */
const char *account_files_name(const account_files *files, int64_t client);

#endif
