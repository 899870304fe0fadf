/** This header computes what a schedule of releases, or the ledger of a run, promises, and which number makes
 *  a schedule meet a target. The functions are `mfpg account` and `mfpg calibrate` as calls. A question is
 *  built from the options of these commands, spelled as on the command line. Its answer contains every
 *  assumption, because an epsilon means nothing without them. */
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
    MFPG_QUESTION_CALIBRATE    /* asks which number makes a schedule meet a target */
} mfpg_question_kind;

/** Returns the options of a kind of question. mfpg_option_set uses them to set one option of a question.
 *  Threads: safe. */
const mfpg_options *mfpg_question_options(mfpg_question_kind kind);

/** Serves one thread at a time. */
typedef struct mfpg_question mfpg_question;

/** Creates a question with no option set. */
mfpg_status mfpg_question_create(mfpg_context *ctx, mfpg_question_kind kind, mfpg_question **out);
void mfpg_question_destroy(mfpg_question *question);

/* ---- answers: a number that does not exist is NaN ---- */

/** The numbers that MFPG_QUESTION_CALIBRATE found for the schedule, in the units of the options of a
 *  question. */
typedef struct mfpg_found {
    mfpg_solve solved; /* which of them was found */
    double target_epsilon;
    double noise_multiplier; /* noise sd divided by the clip, or the sd itself if a sensitivity was given */
    double noise_sd;
    double strength;
    double sampling_rate;
    double steps;    /* +INFINITY if more than 2^53 steps are within the target */
    int evaluations; /* how often the accountant was asked */
} mfpg_found;

/** "noise_multiplier", "strength", "sampling_rate", "steps". */
const char *mfpg_solve_name(mfpg_solve solve);

/** What one client of a ledger spent. */
typedef struct mfpg_ledger_client {
    int64_t client;
    /* read from the summary.json next to the ledger; NULL if it has no name; owned */
    char *name;
    double mu, epsilon, delta;        /* mu is NaN if sampling is credited, because then no mu exists */
    int64_t rounds, steps;            /* training rounds; choices of actions cost privacy but are not steps */
    double lowest_rate, highest_rate; /* of its steps */
    /* The same with the survivors of secure sums where the ledger knows them: what happened, at most as much as what was
     * promised before each sum. NaN without secure sums. */
    double survived_epsilon, survived_delta;
    /* The sum of the releases, for display, where a filter kept the budget: epsilon and delta are then those of the whole
     * budget as soon as anything was spent. NaN without a filter. */
    double spent_epsilon, spent_delta;
} mfpg_ledger_client;

/** One of the ledgers that were priced together. */
typedef struct mfpg_ledger_file {
    char *path; /* owned */
    mfpg_ledger_end end;
    /* 1 if the summary.json next to the ledger names the same end, 0 if no summary names one */
    int confirmed;
} mfpg_ledger_file;

typedef struct mfpg_ledger_account {
    /* an array of `clients` (>= 1) entries; the client that spent most comes first; owned */
    mfpg_ledger_client *client;
    int64_t clients;
    /* an array of `files` (>= 1) entries, in the order in which they were named; owned */
    mfpg_ledger_file *file;
    ptrdiff_t files;
    /* For unit client and zero-out: the epsilon under replace (which protects one record inside a client) of
     * the client that spent most. NaN if epsilon was given, and in all other cases. */
    double epsilon_replace;
    double survived_epsilon, survived_delta; /* the largest of a client; NaN without secure sums */
    double spent_epsilon, spent_delta;       /* of the first client */
    int seeded;
    int alike;              /* 1 if there are several clients and all of them spent the same */
    mfpg_odometer odometer; /* of the client that spent most; its index is -1 if nothing can be stated */
    double odometer_delta;  /* of all filters of the odometer together */
} mfpg_ledger_account;

typedef struct mfpg_answer {
    double epsilon;   /* nats, rounded up */
    double delta, mu; /* mu NaN if the accountant has none */
    double rdp;       /* at the one order that was named */
    /* lower and upper end of the requested number; NaN if the accountant certifies nothing */
    double lower, upper;
    const char *accountant; /* its name in accountants.def */
    /* NULL if the sensitivity or mu was given: the answer then holds for the adjacency to which that refers */
    const char *adjacency;
    const char *unit, *view;
    mfpg_particles particles;
    /* the factor by which a step multiplies distances, for noised records and for a final state that is
     * released alone */
    double contraction;
    int certifies;     /* 1: the accountant's answers are guarantees */
    int certificate;   /* 1 if this answer is a certificate: epsilon is finite and delta is below 1 */
    char **assumption; /* assumptions; owned */
    ptrdiff_t assumptions;
    mfpg_found found;            /* calibrate */
    mfpg_ledger_account *ledger; /* NULL: no ledger was named. Owned */
} mfpg_answer;

/** Answers a question. out is set on success only and is freed with mfpg_answer_clear; it remains valid after
 *  the question is destroyed.
 *  @return MFPG_OK; MFPG_ERR_INPUT if options contradict each other, something is missing, a target cannot be
 *  reached, or the end of a ledger differs from the one named in the summary next to it; otherwise as
 *  mfpg_accountant_create, mfpg_accountant_record, mfpg_calibrate and mfpg_ledger_read. */
mfpg_status mfpg_question_answer(mfpg_context *ctx, const mfpg_question *question, mfpg_answer *out);
void mfpg_answer_clear(mfpg_answer *answer);

#endif
