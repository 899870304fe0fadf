/* Questions of mfpg/account.h: what their parts share. Options (options.c) and which go together (together.c); the schedule as
 * releases (schedule.c) and its price (price.c) or the number that is missing in it (calibrate.c); noised records (records.c), a
 * last state alone (last_state.c), a ledger (ledger.c). */
#ifndef MFPG_ANSWERS_ACCOUNT_REQUEST_H
#define MFPG_ANSWERS_ACCOUNT_REQUEST_H

#include <math.h>

#include "mfpg/account.h"

/* ---- what was asked ---- */

/* Numbers are NaN, words -1 (but for view and assume) and texts NULL where they were not given. */
struct mfpg_question {
    mfpg_question_kind kind;
    double noise_multiplier, sampling_rate, steps, mu, strength, step;
    double clip, sensitivity, delta, epsilon, width;
    double dimension, population, prior_variance, variance_penalty, gradient_norm, input_smoothness;
    double smoothness, strong_convexity, projection_radius;
    int mechanism, adjacency, unit, particles, solve;
    int view;      /* mfpg_view; local where not given */
    int assume;    /* mfpg_hidden_case; none where not given */
    int exogenous; /* 1: given */
    char *accountant, *blocks;
    mfpg_text_list ledger;
    mfpg_number_list order;
};

enum { ACCOUNT_GAUSSIAN = 0, ACCOUNT_ENTROPIC };
enum { ACCOUNT_ADD = 0, ACCOUNT_REMOVE, ACCOUNT_ZERO_OUT, ACCOUNT_REPLACE };
enum { ACCOUNT_NOISE = 0, ACCOUNT_RATE, ACCOUNT_STEPS };

static inline int account_given(double value) {
    return !isnan(value);
}

static inline double account_or(double value, double fallback) {
    return isnan(value) ? fallback : value;
}

/* 1 where the noise has a strength. */
int account_is_entropic(const mfpg_question *q);

/* The norm bound, and the distance of neighbours that follows from it unless a sensitivity was given. */
double account_clip(const mfpg_question *q);
double account_distance(const mfpg_question *q);

/* Delta, or where neither delta nor epsilon is given 1e-5. */
double account_delta(const mfpg_question *q);

/* The first of the named options (NULL at the end) that was given, or NULL. */
const char *account_first_given(const mfpg_question *q, const char *const *names);

/* Do the options go together? */
mfpg_status account_check(mfpg_context *ctx, const mfpg_question *q);

mfpg_adjacency account_adjacency(const mfpg_question *q);

/* As users type it; NULL where the sensitivity was given, whatever it is to. */
const char *account_adjacency_name(const mfpg_question *q);

/* The options of the accountant that prices the schedule. The unit is whatever the sampling rate draws, which accountants
 * call an example. */
mfpg_accountant_options account_accountant_options(const mfpg_question *q);

/* The accountant that was named, or the one that fits a schedule with or without sampling. */
const char *account_accountant_name(const mfpg_question *q, int sampled);

/* The same name as a constant of the program; NULL for none of accountants.def. */
const char *account_listed_name(const char *name);

/* ---- the schedule ---- */

typedef struct account_schedule {
    mfpg_release *release; /* count; those that release anything, and the unknown one. Owned */
    ptrdiff_t count;
    ptrdiff_t unknown; /* calibrate: the release with the number that is to be found */
    mfpg_solve solve;
    double rate;       /* the smallest of all; 0 where it is the one to be found */
    int several_rates; /* of blocks */
} account_schedule;

/* Fills out with the releases that were asked for; a number that is not known stands as 1. account_schedule_clear is
 * called in any case. */
mfpg_status account_read_schedule(mfpg_context *ctx, const mfpg_question *q, account_schedule *out);
void account_schedule_clear(account_schedule *schedule);

/* ---- the answer; each fills out, which is zeroed and cleared by the caller whatever comes ---- */

mfpg_status account_price(mfpg_context *ctx, const mfpg_question *q, mfpg_answer *out);
mfpg_status account_calibrate(mfpg_context *ctx, const mfpg_question *q, mfpg_answer *out);
mfpg_status account_records(mfpg_context *ctx, const mfpg_question *q, mfpg_answer *out);
mfpg_status account_last_state(mfpg_context *ctx, const mfpg_question *q, mfpg_answer *out);
mfpg_status account_ledger(mfpg_context *ctx, const mfpg_question *q, mfpg_answer *out);

/* Epsilon or delta, whichever is asked for, of what is mu-GDP, with the lower end 0. */
void account_fill_gdp(const mfpg_question *q, double mu, mfpg_answer *out);

/* Adds a text to the assumptions. An answer that lacks one for want of memory says so: assumptions is -1 from then on. */
void account_assume(mfpg_answer *answer, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* What holds for noised records however they were noised. */
void account_assume_records(mfpg_answer *answer);

/* What holds for a schedule, or why nothing is promised. */
void account_assume_schedule(mfpg_answer *answer, const mfpg_question *q, const account_schedule *schedule);

#endif
