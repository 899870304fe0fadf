/* mfpg account: what its two halves share, a schedule (account.c) and a ledger (account_ledger.c). */
#ifndef MFPG_CLI_ACCOUNT_H
#define MFPG_CLI_ACCOUNT_H

#include <jansson.h>

#include "mfpg/accountant.h"

/* An answer as it is printed. A number that does not exist is NaN. */
typedef struct account_answer {
    double epsilon, delta, mu;
    double lower, upper; /* ends of what was asked for */
    const char *accountant;
    const char *adjacency; /* NULL: the sensitivity was given, whatever it is to */
    const char *unit, *view;
    int certificate;
    json_t *assumptions; /* array of texts; owned */
} account_answer;

/* The answer as the JSON object of the interface; takes over the assumptions. */
json_t *account_json(account_answer *answer);

/* The answer in lines for people, numbers rounded up, to stdout; frees the assumptions. */
void account_print(account_answer *answer);

/* Adds a text to the assumptions. */
void account_assume(account_answer *answer, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Six digits, rounded up, so that what is printed is a bound as well; what is above six digits by less than 1e-12 of
 * itself is taken for them. */
enum { ACCOUNT_TEXT = 32 };
const char *account_text(double value, char out[ACCOUNT_TEXT]);

/* What a ledger's releases cost every client, the largest first. delta and epsilon NaN: those that were not given;
 * adjacency -1: the ledger's own. Returns the exit code. */
typedef struct account_ledger_options {
    const char *path;
    double delta, epsilon;
    int adjacency; /* mfpg_adjacency, or -1 */
    int json;
} account_ledger_options;
int account_ledger(const account_ledger_options *options);

#endif
