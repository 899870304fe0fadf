/** Loss tables: a client's loss against its own action, measured by running the mechanism of a configuration, for the costs
 *  measured and measured-budget. A table is computed from the data without noise: it is fit for games about private data only
 *  if it was made from public data in their place. */
#ifndef MFPG_LOSS_TABLE_H
#define MFPG_LOSS_TABLE_H

#include <stddef.h>
#include <stdint.h>

#include "config.h"
#include "context.h"
#include "game.h"
#include "release.h"

/** The note in every table. */
#define MFPG_LOSS_TABLE_NOTE                                                                                 \
    "computed without noise from data that were declared public: of private data it would be a release "     \
    "that no certificate covers"

/** How a table is measured. */
typedef struct mfpg_loss_study {
    double
        reference; /* the action of everybody whose loss is not being measured; 0: the middle one of game.actions */
    int64_t rounds; /* R >= 1: the last R of train.rounds are measured; at most train.rounds */
    int64_t draws;  /* D >= 2 a round, each with its own noise for everybody */
    const volatile int
        *stop; /* looked at before each round and draw; not 0: MFPG_ERR_INTERRUPTED. NULL: never */
} mfpg_loss_study;

/** The middle action, 10 rounds of 8 draws. */
mfpg_loss_study mfpg_loss_study_default(void);

/** One action. Means are over clients, draws and rounds; errors are standard errors over draws, given the models that the
 *  rounds started from and the clients that there are. */
typedef struct mfpg_loss_row {
    double action;
    double loss;     /* measured, pooled with neighbours if it fell with the own noise: isotonic regression */
    double measured; /* as it came */
    double standard_error;
    double difference;       /* measured, less that of the first action */
    double difference_error; /* of the paired differences: common random numbers */
} mfpg_loss_row;

typedef struct mfpg_loss_table {
    mfpg_control control;
    ptrdiff_t count; /* the actions of game.actions, ascending */
    mfpg_loss_row *row;
    ptrdiff_t clients;
    int64_t rounds, draws;
    double reference, personalisation;
    ptrdiff_t pooled;  /* actions whose loss is that of a pool */
    double moved_most; /* the largest |loss - measured| */
    /* variance of a difference of two independent runs over that of a paired one, over the actions together: what common
     * random numbers save. 1 if there is one action */
    double pairing_gain;
} mfpg_loss_table;

/** Measures the table of a configuration: game.actions must be a list, the mechanism one that noises parameters. All clients
 *  share the reference action; game.cost, game.loss_table, targets and budgets are not looked at, and nobody stops.
 *  @param[out] out  free with mfpg_loss_table_clear; set only on success
 *  @return MFPG_OK, MFPG_ERR_INPUT or MFPG_ERR_DOMAIN with the key, file or action at fault, MFPG_ERR_NUMERIC if a run
 *  leaves the range of numbers, MFPG_ERR_INTERRUPTED, MFPG_ERR_IO, MFPG_ERR_MEMORY. */
mfpg_status mfpg_loss_table_measure(
    mfpg_context *ctx, const mfpg_config *config, const mfpg_loss_study *study, mfpg_loss_table *out);

/** Writes a table as game.loss_table reads it: comment lines that start with a bar, then action,loss,... The file is whole or
 *  absent. */
mfpg_status mfpg_loss_table_write(mfpg_context *ctx, const mfpg_loss_table *table, const char *path);

void mfpg_loss_table_clear(mfpg_loss_table *table);

#endif
