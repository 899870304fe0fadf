/* mfpg account: what its parts share: options and answer (account.c, account_answer.c), a schedule (account_schedule.c),
 * noised records (account_data.c), a ledger (account_ledger.c). */
#ifndef MFPG_CLI_ACCOUNT_H
#define MFPG_CLI_ACCOUNT_H

#include <jansson.h>

#include "mfpg/accountant.h"

#include "options.h"

/* What was asked, as typed. */
/* Numbers are NaN and names are NULL or -1 where they were not given. */
typedef struct account_settings {
    cli_common common;
    double noise_multiplier, sampling_rate, steps, mu, strength, step;
    double clip, sensitivity, delta, epsilon;
    double dimension, population, prior_variance, variance_penalty, gradient_norm, input_smoothness;
    int mechanism, adjacency, unit, particles;
    int exogenous; /* 1: given */
    const char *accountant, *blocks, *ledger;
    double *order; /* order_count; owned */
    ptrdiff_t order_count;
} account_settings;

/* value, or fallback where it was not given (NaN). */
double account_or(double value, double fallback);

/* Records the schedule; *rate becomes its smallest sampling rate. Returns 0 or the exit code. */
int account_record_schedule(
    mfpg_context *ctx, mfpg_accountant *accountant, const account_settings *chosen, double *rate);

/* The smallest sampling rate of the schedule, 1 without sampling; malformed blocks count as 1. */
double account_smallest_rate(const account_settings *chosen);

/* The privacy of records that are noised once (--particles data); returns the exit code. */
int account_data(mfpg_context *ctx, const account_settings *chosen);

/* Reads "A,B,..." orders >= 1 into chosen; ends the program where they are none. */
void account_read_orders(const struct argp_state *state, const char *text, account_settings *chosen);

/* An answer as it is printed. A number that does not exist is NaN. */
typedef struct account_answer {
    double epsilon, delta, mu;
    double rdp;          /* at the one order that was named */
    double lower, upper; /* ends of what was asked for */
    const char *accountant;
    const char *adjacency; /* NULL: the sensitivity was given, whatever it is to */
    const char *unit, *view;
    mfpg_particles particles;
    double contraction; /* of data particles */
    int several_rates;  /* of blocks */
    int certificate;
    json_t *assumptions; /* array of texts; owned */
} account_answer;

/* Prints the answer as asked for and returns the exit code; it is used up. */
int account_print_answer(const account_settings *chosen, account_answer *answer);

/* The answer as the JSON object of the interface; takes over the assumptions. */
json_t *account_json(account_answer *answer);

/* The answer in lines for people, numbers rounded up, to stdout; frees the assumptions. */
void account_print(account_answer *answer);

/* What holds for noised records however they were noised. */
void account_assume_records(account_answer *answer);

/* Adds a text to the assumptions. */
void account_assume(account_answer *answer, const char *format, ...) __attribute__((format(printf, 2, 3)));

#define ACCOUNT_DELTA 1e-5 /* where neither delta nor epsilon is given */

enum { ACCOUNT_MECHANISM_GAUSSIAN = 0, ACCOUNT_MECHANISM_ENTROPIC };
enum { ACCOUNT_ADD = 0, ACCOUNT_REMOVE, ACCOUNT_ZERO_OUT, ACCOUNT_REPLACE };

/* What a ledger's releases cost every client, the largest first. delta and epsilon NaN: those that were not given;
 * adjacency -1: the ledger's own. Returns the exit code. */
typedef struct account_ledger_options {
    const char *path;
    double delta, epsilon;
    int adjacency;          /* mfpg_adjacency, or -1 */
    const char *accountant; /* NULL: by what the ledger holds */
    int json;
} account_ledger_options;
int account_ledger(const account_ledger_options *options);

#endif
