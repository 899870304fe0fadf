/* The summary.json that stands beside a ledger in a run folder: the clients' names, and where the ledger ended. */
#ifndef MFPG_CLI_LEDGER_SUMMARY_H
#define MFPG_CLI_LEDGER_SUMMARY_H

#include <jansson.h>

#include "mfpg/accountant.h"

typedef enum ledger_verdict {
    LEDGER_ALONE = 0, /* no summary beside it, or one that says nothing of a ledger */
    LEDGER_AGREES,
    LEDGER_SHORTER, /* lines were taken from its end */
    LEDGER_LONGER,
    LEDGER_REWRITTEN /* as many lines, another last chain value */
} ledger_verdict;

typedef struct ledger_summary {
    json_t *summary; /* NULL: none */
} ledger_summary;

/* FILE, or FOLDER/ledger where a folder was named; NULL when memory runs out. Free it. */
char *ledger_path(const char *named);

/* Reads summary.json beside the ledger; what is there but cannot be read as JSON counts as none. */
ledger_summary ledger_summary_read(const char *path);
void ledger_summary_clear(ledger_summary *beside);

/* The name of a client, or NULL. */
const char *ledger_summary_name(const ledger_summary *beside, int64_t client);

/* What the summary says of a ledger that ends so; *recorded becomes the lines that it counts (0: none). */
ledger_verdict ledger_summary_compare(
    const ledger_summary *beside, const mfpg_ledger_end *end, int64_t *recorded);

#endif
