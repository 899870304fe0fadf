/* mfpg account and mfpg calibrate: what their parts share. Options and which go together (account_options.c), the schedule
 * as releases (account_schedule.c), how an answer is printed (account_answer.c), noised records (account_data.c), a ledger
 * (account_ledger.c), a last state alone (account_hidden.c). */
#ifndef MFPG_CLI_ACCOUNT_H
#define MFPG_CLI_ACCOUNT_H

#include <jansson.h>

#include "mfpg/accountant.h"
#include "mfpg/calibration.h"

#include "options.h"

/* ---- what was asked, as typed ---- */

/* Numbers are NaN and names are NULL or -1 where they were not given. */
typedef struct account_settings {
    cli_common common;
    const char *command; /* "account" or "calibrate" */
    double noise_multiplier, sampling_rate, steps, mu, strength, step;
    double clip, sensitivity, delta, epsilon, width;
    double dimension, population, prior_variance, variance_penalty, gradient_norm, input_smoothness;
    double smoothness, strong_convexity, projection_radius;
    int mechanism, adjacency, unit, particles, solve;
    int view;      /* mfpg_view */
    int assume;    /* mfpg_hidden_case */
    int exogenous; /* 1: given */
    const char *accountant, *blocks, *ledger;
    double *order; /* order_count; owned */
    ptrdiff_t order_count;
} account_settings;

enum { ACCOUNT_MECHANISM_GAUSSIAN = 0, ACCOUNT_MECHANISM_ENTROPIC };
enum { ACCOUNT_ADD = 0, ACCOUNT_REMOVE, ACCOUNT_ZERO_OUT, ACCOUNT_REPLACE };
enum { ACCOUNT_SOLVE_NOISE = 0, ACCOUNT_SOLVE_RATE, ACCOUNT_SOLVE_STEPS };
#define ACCOUNT_DELTA 1e-5 /* where neither delta nor epsilon is given */

/* Keys of argp. The numbers come first, in the order of the table in account_options.c. */
enum {
    KEY_NOISE_MULTIPLIER = 0x100,
    KEY_SAMPLING_RATE,
    KEY_STEPS,
    KEY_MU,
    KEY_STRENGTH,
    KEY_STEP,
    KEY_CLIP,
    KEY_SENSITIVITY,
    KEY_DELTA,
    KEY_EPSILON,
    KEY_WIDTH,
    KEY_DIMENSION,
    KEY_POPULATION,
    KEY_PRIOR_VARIANCE,
    KEY_VARIANCE_PENALTY,
    KEY_GRADIENT_NORM,
    KEY_INPUT_SMOOTHNESS,
    KEY_SMOOTHNESS,
    KEY_STRONG_CONVEXITY,
    KEY_PROJECTION_RADIUS,
    KEY_MECHANISM = 0x200,
    KEY_ADJACENCY,
    KEY_UNIT,
    KEY_ACCOUNTANT,
    KEY_ORDER,
    KEY_BLOCKS,
    KEY_LEDGER,
    KEY_PARTICLES,
    KEY_EXOGENOUS,
    KEY_VIEW,
    KEY_ASSUME,
    KEY_SOLVE
};

/* Settings of which nothing was given. */
account_settings account_settings_none(const char *command);

/* The options that account and calibrate share, as children of their parsers, and the parser of both: its input are
 * account_settings, and it takes any option of the keys above. */
extern const struct argp_child account_children[];
error_t account_parse(int key, char *text, struct argp_state *state);

/* Reads "A,B,..." orders >= 1 into chosen; ends the program where they are none. */
void account_read_orders(const struct argp_state *state, const char *text, account_settings *chosen);

/* 1 where the number was given. */
int account_given(double value);

/* value, or fallback where it was not given (NaN). */
double account_or(double value, double fallback);

/* The first of the named numbers (NULL at the end) that was given, or NULL. */
const char *account_first_given(const account_settings *chosen, const char *const *names);

/* 0, or the exit code where `owner` was given together with one of names. */
int account_exclude(const account_settings *chosen, const char *owner, const char *const *names);

/* Do clip, sensitivity, adjacency, orders and width go together? 0 or the exit code, with a message. */
int account_check_promise(const account_settings *chosen);

/* The options of the accountant that prices the schedule. The unit is whatever the sampling rate draws, which accountants
 * call an example. */
mfpg_accountant_options account_accountant_options(const account_settings *chosen);

/* The accountant that was named, or the one that fits a schedule with or without sampling. */
const char *account_accountant_name(const account_settings *chosen, int sampled);

/* As users type it; NULL where the sensitivity was given, whatever it is to. */
const char *account_adjacency_name(const account_settings *chosen);

/* ---- the schedule ---- */

typedef struct account_schedule {
    mfpg_release *release; /* count; those that release anything, and the unknown one. Owned */
    ptrdiff_t count;
    ptrdiff_t unknown; /* calibrate: the release with the number that is to be found; -1 for none */
    mfpg_solve solve;
    double rate;       /* the smallest of all; 0 where it is the one to be found */
    int several_rates; /* of blocks */
} account_schedule;

/* Fills out with the releases that were asked for; a number that is not known stands as 1. Returns 0 or the exit code with
 * a message; account_schedule_clear is called in any case. */
int account_read_schedule(const account_settings *chosen, account_schedule *out);
void account_schedule_clear(account_schedule *schedule);

/* ---- the answer ---- */

/* As it is printed. A number that does not exist is NaN. */
typedef struct account_answer {
    double epsilon, delta, mu;
    double rdp;          /* at the one order that was named */
    double lower, upper; /* ends of what was asked for */
    const char *accountant;
    const char *adjacency; /* NULL: the sensitivity was given, whatever it is to */
    const char *unit, *view;
    mfpg_particles particles;
    int hidden;          /* 1: of the last state alone, by an assumption */
    double contraction;  /* of data particles, and of a hidden state */
    int certificate;     /* 1: the accountant's answers are guarantees */
    json_t *assumptions; /* array of texts; owned */
} account_answer;

/* Adds a text to the assumptions. */
void account_assume(account_answer *answer, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* What holds for noised records however they were noised. */
void account_assume_records(account_answer *answer);

/* What holds for a schedule, or why nothing is promised. */
void account_assume_schedule(
    account_answer *answer, const account_settings *chosen, const account_schedule *schedule);

/* 1 where the accountant of that name credits sampling. */
int account_credits_sampling(const char *accountant);

/* Prints the answer as asked for and returns the exit code; it is used up. */
int account_print_answer(const account_settings *chosen, account_answer *answer);

/* The answer as the JSON object of the interface; takes over the assumptions. */
json_t *account_json(account_answer *answer);

/* The answer in lines for people, numbers rounded up, to stdout; frees the assumptions. */
void account_print(account_answer *answer);

/* The privacy of records that are noised once (--particles data); returns the exit code. */
int account_data(mfpg_context *ctx, const account_settings *chosen);

/* Do --view, --assume and its numbers go together with the rest? 0 or the exit code, with a message. */
int account_check_hidden(const account_settings *chosen);

/* The privacy of a last state by what is assumed of the states before it; returns the exit code. */
int account_hidden(mfpg_context *ctx, const account_settings *chosen);

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
