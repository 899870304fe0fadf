/* What the parts of an answer (mfpg/account.h) share: the question, and functions of single options of it. */
#ifndef MFPG_ANSWERS_ACCOUNT_REQUEST_H
#define MFPG_ANSWERS_ACCOUNT_REQUEST_H

#include <math.h>

#include "accountants/accounting.h"
#include "mfpg/account.h"

/* ---- what was asked ---- */

/* If an option was not given, its number is NaN, its word -1 (except for view and assume) and its text NULL. */
struct mfpg_question {
    mfpg_question_kind kind;
    double noise_multiplier, sampling_rate, steps, mu, strength, step;
    double clip, sensitivity, delta, epsilon, width;
    double dimension, population, prior_variance, variance_penalty, gradient_norm, input_smoothness;
    double smoothness, strong_convexity, projection_radius;
    int mechanism, adjacency, unit, particles, solve;
    int view;      /* mfpg_view; local if not given */
    int assume;    /* mfpg_hidden_case; none if not given */
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

/* Returns 1 if the noise is given as a strength. */
static inline int account_is_entropic(const mfpg_question *q) {
    return account_given(q->strength) || q->mechanism == ACCOUNT_ENTROPIC;
}

/* The norm bound. */
static inline double account_clip(const mfpg_question *q) {
    return account_or(q->clip, 1);
}

/* Returns the distance of neighbours: the given sensitivity, or the one that follows from the norm bound. */
static inline double account_distance(const mfpg_question *q) {
    return account_or(q->sensitivity, (q->adjacency == ACCOUNT_REPLACE ? 2 : 1) * account_clip(q));
}

/* A multiplier is relative to the clip; if a sensitivity is given, it is the sd itself. */
static inline double account_noise_sd(const mfpg_question *q, double multiplier) {
    return multiplier * (account_given(q->sensitivity) ? 1 : account_clip(q));
}

/* Returns delta, or 1e-5 if neither delta nor epsilon is given. */
static inline double account_delta(const mfpg_question *q) {
    return account_or(q->delta, 1e-5);
}

/* option_rules.c: do the options go together? */
mfpg_status account_check(mfpg_context *ctx, const mfpg_question *q);

mfpg_adjacency account_adjacency(const mfpg_question *q);

/* Returns the options of the accountant that prices the schedule. The unit is whatever the sampling rate
 * draws, which accountants call an example. */
mfpg_accountant_options account_accountant_options(const mfpg_question *q);

/* Fills in the description of an answer: its accountant, adjacency (none if a sensitivity was given), unit
 * and view. */
void account_describe(
    const mfpg_question *q, const char *accountant, mfpg_unit unit, mfpg_view view, mfpg_answer *out);

/* Fills in the requested epsilon or delta of something that is mu-GDP, with the lower end 0. */
void account_fill_gdp(const mfpg_question *q, double mu, mfpg_answer *out);

/* Adds a text to the assumptions. If memory runs out and an assumption is lost, assumptions becomes -1
 * permanently, which shows that they are incomplete. */
void account_assume(mfpg_answer *answer, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Adds the assumptions that apply to all noised records. */
void account_assume_records(mfpg_answer *answer);

/* Adds the assumptions on how far a contribution moves a release, and on what an absent one does. */
void account_assume_contribution(mfpg_answer *answer, const mfpg_question *q);

/* The parts of an answer, one for each kind of question. Each fills out, which the caller has zeroed and
 * will clear in any case. */
mfpg_status account_schedule(mfpg_context *ctx, const mfpg_question *q, mfpg_answer *out);
mfpg_status account_records(mfpg_context *ctx, const mfpg_question *q, mfpg_answer *out);
mfpg_status account_last_state(mfpg_context *ctx, const mfpg_question *q, mfpg_answer *out);
mfpg_status account_ledger(mfpg_context *ctx, const mfpg_question *q, mfpg_answer *out);

#endif
