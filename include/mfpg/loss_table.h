/** Loss tables give a client's loss as a function of its own action, measured by running the mechanism of a
 *  configuration, for the costs measured and measured-budget. A table is computed from the data without
 *  noise. A game about private data may use it only if it was made from public data that stand in for them. */
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
    /* action of all clients whose loss is not being measured; 0: the middle one of game.actions */
    double reference;
    int64_t rounds; /* R >= 1: the last R of train.rounds are measured; at most train.rounds */
    int64_t draws;  /* D >= 2 draws per round, each with its own noise for every client */
    /* checked before each round and draw; if it is not 0, the call fails with MFPG_ERR_INTERRUPTED. NULL:
     * never checked */
    const volatile int *stop;
} mfpg_loss_study;

/** Returns the defaults: the middle action, 10 rounds with 8 draws each. */
mfpg_loss_study mfpg_loss_study_default(void);

/** One action. Means are over clients, draws and rounds. Errors are standard errors over draws, conditional
 *  on the models with which the rounds started and on the existing clients. */
typedef struct mfpg_loss_row {
    double action;
    /* measured loss, pooled with neighbouring actions if it fell as the own noise grew (isotonic regression) */
    double loss;
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
    ptrdiff_t pooled;  /* number of actions whose loss is that of a pool */
    double moved_most; /* the largest |loss - measured| */
    /* variance of a difference of two independent runs divided by that of a paired one, over all actions
     * together: the gain from common random numbers. It is 1 if there is one action */
    double pairing_gain;
} mfpg_loss_table;

/** Measures the loss table of a configuration: game.actions must be a list, and the mechanism must noise
 *  parameters. All other clients use the reference action. game.cost, game.loss_table, targets and budgets
 *  are ignored, so no client stops.
 *  @param[out] out  free with mfpg_loss_table_clear; set only on success
 *  @return MFPG_OK, MFPG_ERR_INPUT or MFPG_ERR_DOMAIN with the key, file or action at fault, MFPG_ERR_NUMERIC
 *  if a run leaves the range of numbers, MFPG_ERR_INTERRUPTED, MFPG_ERR_IO, MFPG_ERR_MEMORY. */
mfpg_status mfpg_loss_table_measure(
    mfpg_context *ctx, const mfpg_config *config, const mfpg_loss_study *study, mfpg_loss_table *out);

/** Writes a table in the format that game.loss_table reads: comment lines that start with a bar, then
 *  action,loss,... The file is written completely or not at all. */
mfpg_status mfpg_loss_table_write(mfpg_context *ctx, const mfpg_loss_table *table, const char *path);

void mfpg_loss_table_clear(mfpg_loss_table *table);

#endif
