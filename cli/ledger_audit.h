/* mfpg account --ledger: what its two parts share, the pricing (account_ledger.c) and the report (ledger_report.c). */
#ifndef MFPG_CLI_LEDGER_AUDIT_H
#define MFPG_CLI_LEDGER_AUDIT_H

#include "account.h"
#include "ledger_summary.h"

typedef struct spending {
    int64_t client;
    mfpg_accountant *accountant;
    double mu, epsilon, delta; /* the answer */
    int64_t rounds, steps;
    double lowest_rate, highest_rate; /* of its releases */
} spending;

typedef struct audit {
    const account_ledger_options *options;
    mfpg_context *ctx;
    mfpg_ledger_header header;
    mfpg_adjacency adjacency;
    double contraction; /* the largest of a release */
    const char *accountant;
    int sampled;      /* 1: some release sampled its examples */
    int adaptive;     /* 1: some release is a choice of action */
    spending *client; /* header.clients, the largest first; made before the releases are read */
    char *path;       /* of the ledger itself */
    mfpg_ledger_end end;
    ledger_summary beside;
    ledger_verdict verdict;
    mfpg_bounds largest; /* both ends of the largest answer */
} audit;

/* mu, or NaN where sampling is credited, which has none. */
double ledger_mu(const spending *client);

/* Prints the answer, which is used up, with where the ledger ends and every client; returns the exit code. */
int ledger_report(const audit *all, account_answer *answer);

#endif
