/* mfpg account and mfpg calibrate: what they share. Their options and answers are the library's (mfpg/account.h); here they are
 * parsed (account_options.c) and printed (account_answer.c, account_ledger.c). */
#ifndef MFPG_CLI_ACCOUNT_H
#define MFPG_CLI_ACCOUNT_H

#include <jansson.h>

#include "mfpg/account.h"

/* Reads the options of a question, asks it, and prints the answer by print; json is whether --json was given. doc as in argp.
 * Returns the exit code. */
int account_command(mfpg_question_kind kind, const char *command, const char *doc, int argc, char **argv,
    int (*print)(const mfpg_answer *answer, int json));

/* The answer as the JSON object of the interface. */
json_t *account_json(const mfpg_answer *answer);

/* The answer in lines for people, numbers rounded up, to stdout. */
void account_print(const mfpg_answer *answer);

/* The answer of a ledger, with where the ledger ends and every client; returns the exit code. */
int account_print_ledger(const mfpg_answer *answer, int json);

#endif
