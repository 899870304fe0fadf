/** What a schedule of releases, or the ledger of a run, promises, and the number with which a schedule meets a target: `mfpg
 *  account` and `mfpg calibrate` as calls. A question is put together from the options of these commands, in their spelling;
 *  its answer carries all that it assumes, without which an epsilon means nothing. */
#ifndef MFPG_ACCOUNT_H
#define MFPG_ACCOUNT_H

#include <stddef.h>
#include <stdint.h>

#include "accountant.h"
#include "calibration.h"
#include "context.h"
#include "filter.h"
#include "option.h"

/* ---- questions ---- */

typedef enum mfpg_question_kind {
    MFPG_QUESTION_ACCOUNT = 0, /* what a schedule, or a ledger, costs */
    MFPG_QUESTION_CALIBRATE    /* with which number a schedule meets a target */
} mfpg_question_kind;

/** The options of a kind of question; mfpg_option_set with them says one thing to a question. Threads: safe. */
const mfpg_options *mfpg_question_options(mfpg_question_kind kind);

/** Serves one thread at a time. */
typedef struct mfpg_question mfpg_question;

/** A question of which nothing is said yet. */
mfpg_status mfpg_question_create(mfpg_context *ctx, mfpg_question_kind kind, mfpg_question **out);
void mfpg_question_destroy(mfpg_question *question);

/* ---- answers; a number that does not exist is NaN ---- */

/** What was found by MFPG_QUESTION_CALIBRATE: the schedule's numbers, as they go back into a question. */
typedef struct mfpg_found {
    mfpg_solve solved; /* which of them was found */
    double target_epsilon;
    double noise_multiplier; /* noise sd over the clip, or the sd itself if a sensitivity was given */
    double noise_sd;
    double strength;
    double sampling_rate;
    double steps;    /* +INFINITY: more than 2^53 are within the target */
    int evaluations; /* how often the accountant was asked */
} mfpg_found;

/** "noise_multiplier", "strength", "sampling_rate", "steps". */
const char *mfpg_solve_name(mfpg_solve solve);

/** What one client of a ledger spent. */
typedef struct mfpg_ledger_client {
    int64_t client;
    char *name;                       /* from summary.json next to the ledger; NULL: none. Owned */
    double mu, epsilon, delta;        /* mu NaN if sampling is credited, which has none */
    int64_t rounds, steps;            /* of training; choices of actions are paid for, but no step */
    double lowest_rate, highest_rate; /* of its steps */
} mfpg_ledger_client;

/** One of the ledgers that were priced together. */
typedef struct mfpg_ledger_file {
    char *path; /* owned */
    mfpg_ledger_end end;
    int confirmed; /* 1: summary.json next to the ledger names the same end; 0: there is none that names one */
} mfpg_ledger_file;

typedef struct mfpg_ledger_account {
    mfpg_ledger_client *client; /* clients >= 1, the one that spent most first; owned */
    int64_t clients;
    mfpg_ledger_file *file; /* files >= 1, as they were named; owned */
    ptrdiff_t files;
    /* Unit client, zero-out: epsilon (NaN if epsilon was given) of the client that spent most under replace, at which one record
     * inside a client is protected; else NaN. */
    double epsilon_replace;
    int seeded;
    int alike;              /* 1: all clients, of which there are several, spent the same */
    mfpg_odometer odometer; /* of the client that spent most; index -1 if nothing can be said */
    double odometer_delta;  /* of all filters of the odometer together */
} mfpg_ledger_account;

typedef struct mfpg_answer {
    double epsilon;         /* nats, rounded up */
    double delta, mu;       /* mu NaN if the accountant has none */
    double rdp;             /* at the one order that was named */
    double lower, upper;    /* ends of what was asked for; NaN if the accountant certifies nothing */
    const char *accountant; /* its name in accountants.def */
    const char *adjacency;  /* NULL: the sensitivity or mu was given, whatever it is to */
    const char *unit, *view;
    mfpg_particles particles;
    double
        contraction;   /* of noised records, and of a last state alone: what a step multiplies distances by */
    int certifies;     /* 1: the accountant's answers are guarantees */
    int certificate;   /* 1: this answer is one: epsilon is finite and delta below 1 */
    char **assumption; /* assumptions; owned */
    ptrdiff_t assumptions;
    mfpg_found found;            /* calibrate */
    mfpg_ledger_account *ledger; /* NULL: no ledger was named. Owned */
} mfpg_answer;

/** Answers; out is set on success only and freed with mfpg_answer_clear, whatever becomes of the question.
 *  @return MFPG_OK; MFPG_ERR_INPUT if options contradict each other, something is missing, a target cannot be reached, or
 *  the end of a ledger is not the one that the summary next to it names; else as mfpg_accountant_create, _record,
 *  mfpg_calibrate, mfpg_ledger_read. */
mfpg_status mfpg_question_answer(mfpg_context *ctx, const mfpg_question *question, mfpg_answer *out);
void mfpg_answer_clear(mfpg_answer *answer);

#endif
