/* What few runs, or one, with many canaries prove. */
#include "many.h"

#include <math.h>
#include <stdlib.h>

#include "base/error.h"
#include "base/memory.h"

enum { WATCHED = 20 }; /* how often few runs tell how far they are */

/* ---- few runs ---- */

/* A Gaussian fitted to all scores so far: no proof. */
static double estimate(const mfpg_crowd *c, ptrdiff_t k) {
    double count[2] = {0, 0}, sum[2] = {0, 0}, squares[2] = {0, 0}, within = 0.0;
    for (int64_t r = 0; r < c->done; r++) {
        const mfpg_tally *t = &c->tally[(ptrdiff_t)r * c->game->clients + k];
        for (int arm = 0; arm < 2; arm++) {
            count[arm] += t->count[arm];
            sum[arm] += t->sum[arm];
            squares[arm] += t->squares[arm];
        }
    }
    if (count[0] < 2 || count[1] < 2) return (double)NAN;
    for (int arm = 0; arm < 2; arm++) within += squares[arm] - sum[arm] * sum[arm] / count[arm];
    double sd = sqrt(fmax(within, 0.0) / (count[0] + count[1] - 2));
    return fmax((sum[1] / count[1] - sum[0] / count[0]) / sd, 0.0);
}

static void add_bets(const mfpg_crowd *c, const double *share, double alpha, mfpg_audit_client *client) {
    double rate = mfpg_audit_rate_bet(share, (ptrdiff_t)c->done, alpha);
    mfpg_verdict_add_rate(rate, c->game->delta, mfpg_crowd_pattern(c), client);
    mfpg_verdict_close(c->game->delta, client);
}

/* Client `index`, or all together behind the last. */
static mfpg_status judge_runs(mfpg_context *ctx, ptrdiff_t index, int worker, void *arg) {
    mfpg_crowd *c = arg;
    ptrdiff_t clients = c->game->clients;
    int all = index == clients;
    double *share = c->share + index * (ptrdiff_t)c->runs;
    mfpg_audit_client *client = all ? &c->together : &c->client[index];
    (void)ctx;
    (void)worker;
    client->guesses = client->correct = 0;
    for (int64_t r = 0; r < c->done; r++) {
        int64_t right = 0, made = 0;
        for (ptrdiff_t k = all ? 0 : index; k < (all ? clients : index + 1); k++) {
            right += c->tally[(ptrdiff_t)r * clients + k].right;
            made += c->tally[(ptrdiff_t)r * clients + k].canaries;
        }
        share[r] = (double)right / (double)made;
        client->guesses += made;
        client->correct += right;
    }
    client->mu_estimate = all ? (double)NAN : estimate(c, index);
    add_bets(c, share, all ? c->alpha_together : c->alpha, client);
    return MFPG_OK;
}

static mfpg_status judge(mfpg_context *ctx, mfpg_crowd *c) {
    return mfpg_tasks_run(ctx, c->game->clients + c->by_client, judge_runs, c);
}

mfpg_status mfpg_crowd_few_runs(mfpg_context *ctx, mfpg_crowd *c) {
    const mfpg_audit_options *o = c->game->options;
    mfpg_status status = MFPG_OK;
    for (c->first = 0; c->first < c->runs && status == MFPG_OK && !(o->stop && *o->stop);
         c->first = c->done) {
        int64_t count = c->runs - c->first < c->players ? c->runs - c->first : c->players;
        status = mfpg_tasks_run(ctx, (ptrdiff_t)count, mfpg_crowd_play, c);
        c->done += count;
        if (status != MFPG_OK) return status;
        if (o->progress) o->progress(o->progress_user, c->done, c->runs);
        if (!o->watch || c->done * WATCHED / c->runs == c->first * WATCHED / c->runs) continue;
        status = judge(ctx, c);
        if (status == MFPG_OK) o->watch(o->watch_user, c->done, c->client);
    }
    if (c->done == 0)
        return mfpg_fail(ctx, MFPG_ERR_INTERRUPTED, "interrupted before the first run was over");
    return judge(ctx, c);
}

/* ---- one run ---- */

typedef struct guess {
    double score;
    ptrdiff_t index;
} guess;

/* The most confident first, and of equal ones the first. */
static int by_confidence(const void *a, const void *b) {
    const guess *x = a, *y = b;
    double p = fabs(x->score), q = fabs(y->score);
    if (p != q) return p > q ? -1 : 1;
    return (x->index > y->index) - (x->index < y->index);
}

/* The canaries [first, first + count) of the run, as one sample. */
static mfpg_status judge_sample(mfpg_context *ctx, const mfpg_crowd *c, ptrdiff_t first, ptrdiff_t count,
    double alpha, mfpg_audit_client *client) {
    const mfpg_crowd_player *p = &c->player[0];
    guess *list = mfpg_alloc(count, sizeof *list);
    if (!list) return mfpg_fail_memory(ctx);
    for (ptrdiff_t i = 0; i < count; i++) list[i] = (guess){p->score[first + i], first + i};
    qsort(list, (size_t)count, sizeof *list, by_confidence);
    client->correct = 0;
    for (int64_t i = 0; i < client->guesses; i++)
        client->correct += (list[i].score > 0.0) == p->coin[list[i].index];
    free(list);
    mfpg_verdict_add_one_run(c->game->delta, alpha, mfpg_crowd_pattern(c), client);
    mfpg_verdict_close(c->game->delta, client);
    return MFPG_OK;
}

/* Played by the calling thread, so that the clients of the one run share the threads. */
mfpg_status mfpg_crowd_one_run(mfpg_context *ctx, mfpg_crowd *c) {
    const mfpg_audit_options *o = c->game->options;
    mfpg_status status = MFPG_OK;
    for (ptrdiff_t k = 0; k < c->game->clients && !c->by_client; k++)
        mfpg_verdict_plan_one_run(c->alpha, &c->client[k]);
    if (c->by_client) mfpg_verdict_plan_one_run(c->alpha_together, &c->together);
    if (o->stop && *o->stop)
        return mfpg_fail(ctx, MFPG_ERR_INTERRUPTED, "interrupted before the run was over");
    c->first = 0;
    status = mfpg_crowd_play(ctx, 0, 0, c);
    c->done = 1;
    if (status == MFPG_OK && o->progress) o->progress(o->progress_user, 1, 1);
    for (ptrdiff_t k = 0; k < c->game->clients && status == MFPG_OK && !c->by_client; k++) {
        c->client[k].mu_estimate = estimate(c, k);
        status = judge_sample(ctx, c, k * c->each, c->of[k], c->alpha, &c->client[k]);
    }
    if (status == MFPG_OK && c->by_client)
        status = judge_sample(ctx, c, 0, c->game->clients, c->alpha_together, &c->together);
    return status;
}
