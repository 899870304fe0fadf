/* Best responses of a whole population, a block of clients at a time. */
#include <math.h>
#include <stdatomic.h>
#include <string.h>

#include "best_response.h"
#include "compensated.h"

_Static_assert(MFPG_BLOCK % MFPG_SWITCH_TILE == 0, "a padded block is full");

/* Scales for the clients, and harmless ones up to a whole tile. Returns the padded count. */
static ptrdiff_t scale(const mfpg_play *play, mfpg_block *b) {
    play->cost->scales(play, b->first, b->count, b->others, b->u, b->v);
    ptrdiff_t padded = (b->count + MFPG_SWITCH_TILE - 1) / MFPG_SWITCH_TILE * MFPG_SWITCH_TILE;
    for (ptrdiff_t i = b->count; i < padded; i++) b->u[i] = b->v[i] = 1.0;
    return padded;
}

static void answer_on_interval(const mfpg_play *play, mfpg_block *b) {
    const mfpg_action_set *set = &play->game->actions;
    for (ptrdiff_t i = 0; i < b->count; i++)
        b->best[i] = mfpg_clamp(play->cost->minimiser(play, b->u[i], b->v[i]), set->low, set->high);
}

void mfpg_block_answer(const mfpg_play *play, mfpg_block *b) {
    ptrdiff_t padded = scale(play, b);
    if (play->switches) {
        mfpg_switches_choose(play->switches, padded, b->u, b->v, b->best, b->utility, b->privacy);
    } else if (play->game->actions.grid) {
        for (ptrdiff_t i = 0; i < b->count; i++) b->best[i] = NAN;
    } else {
        answer_on_interval(play, b);
        for (ptrdiff_t i = 0; i < b->count; i++) {
            b->utility[i] = play->cost->utility(play, b->best[i]);
            b->privacy[i] = play->cost->privacy(play, b->best[i]);
        }
    }
}

typedef struct respond_job {
    const mfpg_play *play;
    double others;
    double *action;
    atomic_int tied;
} respond_job;

/* What the comparison with the steps left open. Returns how some client is tied. */
static int settle(const respond_job *job, mfpg_block *b) {
    int tied = 0;
    for (ptrdiff_t i = 0; i < b->count; i++) {
        if (b->best[i] == b->best[i]) continue;
        mfpg_response exact = mfpg_best_response(job->play, b->first + i, job->others, 0.0);
        b->best[i] = exact.action;
        tied |= exact.tied;
    }
    return tied;
}

static int respond_block(const respond_job *job, mfpg_block *b) {
    const mfpg_play *play = job->play;
    if (play->switches) {
        ptrdiff_t padded = scale(play, b);
        int open = mfpg_switches_choose(play->switches, padded, b->u, b->v, b->best, NULL, NULL);
        return open ? settle(job, b) : 0;
    }
    if (!play->game->actions.grid) {
        scale(play, b);
        answer_on_interval(play, b);
        return 0;
    }
    for (ptrdiff_t i = 0; i < b->count; i++) b->best[i] = NAN;
    return settle(job, b);
}

static void respond_chunk(void *arg, ptrdiff_t index, ptrdiff_t first, ptrdiff_t count) {
    respond_job *job = arg;
    mfpg_block b;
    int tied = 0;
    (void)index;
    for (ptrdiff_t i = 0; i < MFPG_BLOCK; i++) b.others[i] = job->others;
    for (ptrdiff_t i = 0; i < count; i += MFPG_BLOCK) {
        b.first = first + i;
        b.count = count - i < MFPG_BLOCK ? count - i : MFPG_BLOCK;
        tied |= respond_block(job, &b);
        memcpy(job->action + b.first, b.best, (size_t)b.count * sizeof *b.best);
    }
    if (tied) atomic_fetch_or(&job->tied, tied);
}

int mfpg_respond(const mfpg_play *play, double others, double *action) {
    respond_job job = {.play = play, .others = others, .action = action};
    mfpg_chunks_run(play->chunks.ctx, play->game->clients, respond_chunk, &job);
    return atomic_load(&job.tied);
}

typedef struct profile {
    const mfpg_play *play;
    const double *action;
} profile;

static double add_shares(const void *arg, ptrdiff_t first, ptrdiff_t count) {
    const profile *p = arg;
    mfpg_compensated sum = {0};
    double share[MFPG_BLOCK];
    for (ptrdiff_t i = 0; i < count; i += MFPG_BLOCK) {
        ptrdiff_t n = count - i < MFPG_BLOCK ? count - i : MFPG_BLOCK;
        p->play->cost->shares(p->play, first + i, n, p->action + first + i, share);
        mfpg_compensated_add(&sum, mfpg_chunk_add(share, n));
    }
    return mfpg_compensated_value(&sum);
}

double mfpg_aggregate(const mfpg_play *play, const double *action) {
    profile p = {play, action};
    return play->cost->shares ? mfpg_chunks_sum(&play->chunks, add_shares, &p) : 0.0;
}
