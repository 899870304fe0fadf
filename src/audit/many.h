/* Audits by few runs, or one: what is played (many.c) and how it is judged (many_judge.c). */
#ifndef MFPG_AUDIT_MANY_H
#define MFPG_AUDIT_MANY_H

#include "game.h"

/* What a run told of one client's canaries. */
typedef struct mfpg_tally {
    int32_t right, canaries;
    int32_t count[2]; /* by the coin */
    double sum[2], squares[2];
} mfpg_tally;

/* What one thread plays with. */
typedef struct mfpg_crowd_player {
    mfpg_canary_data canaries;
    mfpg_transcript transcript;
    double *value;       /* each x rounds x clients */
    unsigned char *coin; /* clients x each */
    double *score;       /* likewise */
} mfpg_crowd_player;

typedef struct mfpg_crowd {
    const mfpg_audit_game *game;
    mfpg_audit_play play;
    void *play_arg;
    mfpg_key key;
    int by_client;                /* one canary a client, and all of them together are one sample */
    ptrdiff_t *of;                /* clients: canaries of each */
    ptrdiff_t each;               /* the most of a client */
    ptrdiff_t directions, planes; /* of the transcript */
    int alternates;
    signed char *sign; /* rounds: alternating; then rounds: constant */
    mfpg_crowd_player *player;
    int players;
    mfpg_tally *tally; /* runs x clients */
    double *share;     /* (clients + 1) x runs: of right guesses; the last row is of all together */
    int64_t runs, first, done;
    double alpha, alpha_together; /* of one client; of all together */
    mfpg_audit_client *client, together;
} mfpg_crowd;

/* many.c: plays run number first + index into the worker's scores and the run's tallies: a task. */
mfpg_status mfpg_crowd_play(mfpg_context *ctx, ptrdiff_t index, int worker, void *crowd);

/* How signs were sent, of all runs. */
mfpg_audit_pattern mfpg_crowd_pattern(const mfpg_crowd *crowd);

/* many_judge.c: plays the runs and judges what they told. */
mfpg_status mfpg_crowd_few_runs(mfpg_context *ctx, mfpg_crowd *crowd);
mfpg_status mfpg_crowd_one_run(mfpg_context *ctx, mfpg_crowd *crowd);

#endif
