/* Audits with few runs, or one, and many canaries in each: along directions that share no entry, each with
 * its own fair coin. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "audit_game.h"
#include "base/error.h"
#include "base/memory.h"
#include "base/streams.h"
#include "audit_bounds.h"
#include "numerics/special/normal.h"

/* Streams of (AUDIT, use x 8); audits of many runs with one canary use smaller numbers. */
enum { USE_KEY = 8, USE_COIN, USE_SIGN };

/* WATCHED: how many times few runs report what is proved so far */
enum { MOST_CANARIES = 1000, WATCHED = 20 };

/* The score of a round whose digits reveal the input: larger than any sum of noisy scores. */
#define SURELY 1e6

/* What a run reveals of one client's canaries. */
typedef struct run_score {
    int32_t right, canaries;
    int32_t count[2]; /* by the coin */
    double sum[2], squares[2];
} run_score;

typedef struct audit {
    const mfpg_audit_game *game;
    mfpg_key key;
    int by_client;                /* one canary per client, and all of them together are one sample */
    ptrdiff_t *of;                /* clients: canaries of each */
    ptrdiff_t each;               /* the most of a client */
    ptrdiff_t directions, planes; /* of the transcript */
    int alternates;
    signed char *sign;   /* rounds: alternating; then rounds: constant */
    mfpg_player *player; /* players */
    double *score;       /* players x clients x each: scores of a run */
    int players;
    run_score *found; /* runs x clients */
    /* (clients + 1) x runs: share of correct guesses; the last row is for all clients together */
    double *share;
    int64_t runs, first, done;
    double alpha, alpha_together; /* of one client; of all together */
    mfpg_audit_client *client, together;
    mfpg_pool memory;
} audit;

static mfpg_stream stream_of(const audit *a, int use, uint64_t number) {
    return mfpg_stream_open(&a->key, MFPG_PURPOSE_AUDIT, (uint64_t)use * 8, number);
}

static void clear(audit *a) {
    for (int i = 0; a->player && i < a->players; i++) mfpg_player_clear(&a->player[i]);
    mfpg_pool_clear(&a->memory);
}

static mfpg_status allocate(mfpg_context *ctx, audit *a) {
    const mfpg_audit_game *g = a->game;
    ptrdiff_t most = PTRDIFF_MAX / (ptrdiff_t)sizeof(run_score);
    if (g->rounds >= most / g->clients || a->runs >= most / (g->clients + 1)) return mfpg_fail_memory(ctx);
    int threads = mfpg_context_threads(ctx);
    a->players = a->runs < threads ? (int)a->runs : threads;
    a->player = mfpg_pool_alloc(&a->memory, a->players, sizeof *a->player);
    a->score = mfpg_pool_alloc(&a->memory, a->players * a->each, (size_t)g->clients * sizeof *a->score);
    a->sign = mfpg_pool_alloc(&a->memory, (ptrdiff_t)g->rounds, 2);
    a->found = mfpg_pool_alloc(&a->memory, (ptrdiff_t)a->runs, (size_t)g->clients * sizeof *a->found);
    a->share = mfpg_pool_alloc(&a->memory, (ptrdiff_t)a->runs, ((size_t)g->clients + 1) * sizeof *a->share);
    if (a->memory.failed) return mfpg_fail_memory(ctx);
    for (int i = 0; i < a->players; i++) {
        mfpg_status status = mfpg_player_create(ctx, g, a->each, a->directions, a->planes, &a->player[i]);
        if (status != MFPG_OK) return status;
    }
    return MFPG_OK;
}

/* ---- before the first run ---- */

/* Chooses how many canaries there are and their directions. In view local each client's update is seen
 * separately, so clients may share a direction. */
static mfpg_status place_canaries(mfpg_context *ctx, audit *a) {
    const mfpg_audit_game *g = a->game;
    const mfpg_promise *promise = &g->federation->promise;
    ptrdiff_t most = mfpg_canary_most(mfpg_model_parameters(g->model)),
              asked = (ptrdiff_t)g->options->canaries;
    int local = promise->view == MFPG_VIEW_LOCAL;
    a->by_client = promise->unit == MFPG_UNIT_CLIENT;
    /* All guesses are made from the output of one run, so the attacker must treat the canaries of all
     * clients alike. Knowledge that only some observers have is therefore not used. */
    int known = (g->federation->participants || g->federation->colluder) &&
                !(a->by_client && g->options->method == MFPG_AUDIT_ONE_RUN);
    ptrdiff_t wanted = !a->by_client ? asked : local ? 0 : g->clients;
    if (a->by_client && asked > 1)
        return mfpg_fail(ctx, MFPG_ERR_INPUT,
            "%td canaries of a client: with privacy.unit client, a client has one", asked);
    if (wanted > most)
        return mfpg_fail(ctx, MFPG_ERR_INPUT,
            "%td canaries of %s; a model of this size has room for %td that do not disturb each other (an "
            "audit by ranks needs one)",
            wanted, a->by_client ? "as many clients" : "a client", most);
    a->each = 1;
    if (a->by_client) {
        a->directions = g->clients < most ? g->clients : most;
    } else {
        ptrdiff_t fit = most < MOST_CANARIES ? most : MOST_CANARIES, rows = 1;
        for (ptrdiff_t k = 0; k < g->clients; k++)
            if (g->data->client[k].train.rows > rows) rows = g->data->client[k].train.rows;
        a->each = asked > 0 ? asked : fit;
        if (a->each > rows) a->each = rows;
        a->directions = a->each;
    }
    a->planes = local && a->by_client ? 1 : local || known ? a->directions : 0;
    a->of = mfpg_pool_alloc(&a->memory, g->clients, sizeof *a->of);
    if (!a->of) return mfpg_fail_memory(ctx);
    for (ptrdiff_t k = 0; k < g->clients; k++) {
        ptrdiff_t rows = g->data->client[k].train.rows;
        a->of[k] = rows < a->each ? rows : a->each;
    }
    return MFPG_OK;
}

static const signed char *signs_of(const audit *a, int64_t run) {
    return a->alternates && run % 2 == 0 ? a->sign : a->sign + a->game->rounds;
}

static mfpg_audit_pattern pattern_of(const audit *a) {
    if (!a->alternates) return MFPG_PATTERN_CONSTANT;
    return a->runs == 1 ? MFPG_PATTERN_ALTERNATING : MFPG_PATTERN_BOTH;
}

/* Returns the promise for the canaries of all clients taken together: for few runs from the mean
 * probability, for one run from the worst promise. */
static mfpg_audit_promise promise_together(const audit *a, const mfpg_audit_promise *promise) {
    mfpg_audit_promise all = {.round_mu = NAN, .auc_cap = NAN, .paper_delta = NAN};
    ptrdiff_t clients = a->game->clients;
    double delta = a->game->delta, rate = 0.0, pure = 0.0;
    int unknown = 0;
    for (ptrdiff_t k = 0; k < clients; k++) {
        const mfpg_audit_promise *own = &promise[k];
        all.mu = fmax(all.mu, own->mu);
        all.epsilon = fmax(all.epsilon, own->epsilon);
        all.distance = fmax(all.distance, own->distance);
        unknown |= isnan(own->mu);
        /* the probability of a correct guess that the promise allows */
        double own_rate = 0.5 + 0.5 * own->distance;
        if (!isnan(own->mu)) own_rate = fmin(own_rate, mfpg_normal_cdf(0.5 * own->mu) * (1.0 + 1e-14));
        rate += own_rate / (double)clients;
        /* (e^epsilon + delta)/(e^epsilon + 1) */
        pure += (1.0 - (1.0 - delta) / (1.0 + exp(own->epsilon))) / (double)clients;
    }
    if (a->game->options->method == MFPG_AUDIT_FEW_RUNS) {
        rate = fmin(rate * (1.0 + 1e-13), 1.0);
        all.distance = 2.0 * rate - 1.0;
        all.mu = rate < 1.0 ? 2.0 * mfpg_normal_quantile(rate) * (1.0 + 1e-10) : (double)INFINITY;
        pure = fmin(pure * (1.0 + 1e-13), 1.0);
        all.epsilon = pure < 1.0 ? log((pure - delta) / (1.0 - pure)) * (1.0 + 1e-10) : (double)INFINITY;
    }
    if (unknown) all.mu = (double)NAN;
    return all;
}

/* ---- a run ---- */

static void give_values(const audit *a, mfpg_player *p, int64_t run) {
    ptrdiff_t clients = a->game->clients, plane = (ptrdiff_t)a->game->rounds * clients;
    const signed char *sign = signs_of(a, run);
    mfpg_stream coins = stream_of(a, USE_COIN, (uint64_t)run);
    mfpg_stream_bytes(&coins, 0, clients * a->each, p->coin);
    for (ptrdiff_t i = 0; i < clients * a->each; i++) p->coin[i] &= 1;
    for (ptrdiff_t k = 0; k < clients; k++) {
        for (ptrdiff_t i = 0; i < a->each; i++) {
            int arm = p->coin[k * a->each + i], absent = i >= a->of[k];
            for (int64_t t = 0; t < a->game->rounds; t++)
                p->value[i * plane + (ptrdiff_t)t * clients + k] =
                    absent ? 0.0 : mfpg_audit_value(a->game, sign[t], arm);
        }
    }
}

/* Returns what the transcript shows along the direction of canary i of client k. The client's other canaries
 * have no effect there. The attacker knows what other clients do, unless their canaries are guessed as well. */
static mfpg_transcript along(const audit *a, const mfpg_player *p, ptrdiff_t k, ptrdiff_t i) {
    mfpg_transcript s = p->transcript;
    ptrdiff_t plane = (ptrdiff_t)a->game->rounds * a->game->clients;
    ptrdiff_t direction = a->each == 1 ? k % a->directions : i;
    s.global += direction * (ptrdiff_t)(a->game->rounds + 1);
    if (a->planes == a->directions) s.local += direction * plane;
    if (a->planes == a->directions) s.shown += direction * plane;
    s.value = a->by_client ? NULL : p->value + i * plane;
    return s;
}

static mfpg_status score_run(mfpg_context *ctx, const audit *a, int worker, int64_t run) {
    const mfpg_player *p = &a->player[worker];
    const signed char *sign = signs_of(a, run);
    for (ptrdiff_t k = 0; k < a->game->clients; k++) {
        run_score *found = &a->found[(ptrdiff_t)run * a->game->clients + k];
        *found = (run_score){.canaries = (int32_t)a->of[k]};
        for (ptrdiff_t i = 0; i < a->of[k]; i++) {
            const mfpg_transcript s = along(a, p, k, i);
            double score =
                mfpg_attack_score(a->game, &s, sign, k) + SURELY * mfpg_attack_digits(a->game, &s, sign, k);
            int coin = p->coin[k * a->each + i];
            if (isnan(score))
                return mfpg_fail(ctx, MFPG_ERR_NUMERIC, "client '%s': a score of the attack is not a number",
                    a->game->data->client[k].name);
            a->score[(worker * a->game->clients + k) * a->each + i] = score;
            found->right += (score > 0.0) == coin;
            found->count[coin]++;
            found->sum[coin] += score;
            found->squares[coin] += score * score;
        }
    }
    return MFPG_OK;
}

/* A task: run number first + index. */
static mfpg_status play_run(mfpg_context *ctx, ptrdiff_t index, int worker, void *arg) {
    audit *a = arg;
    int64_t run = a->first + index;
    const mfpg_stream stream = stream_of(a, USE_KEY, (uint64_t)run);
    give_values(a, &a->player[worker], run);
    mfpg_status status = mfpg_player_run(ctx, a->game, &stream, run, &a->player[worker]);
    if (status != MFPG_OK) return status;
    status = score_run(ctx, a, worker, run);
    return status == MFPG_OK ? status : mfpg_fail_in(ctx, status, "run %lld", (long long)run + 1);
}

/* ---- few runs ---- */

/* Fits a Gaussian to all scores so far; this proves nothing. */
static double estimate(const audit *a, ptrdiff_t k) {
    double count[2] = {0, 0}, sum[2] = {0, 0}, squares[2] = {0, 0}, within = 0.0;
    for (int64_t r = 0; r < a->done; r++) {
        const run_score *t = &a->found[(ptrdiff_t)r * a->game->clients + k];
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

/* Judges client `index` or, after the last client, all clients together. */
static mfpg_status judge_runs(mfpg_context *ctx, ptrdiff_t index, int worker, void *arg) {
    audit *a = arg;
    ptrdiff_t clients = a->game->clients;
    int all = index == clients;
    double *share = a->share + index * (ptrdiff_t)a->runs;
    mfpg_audit_client *client = all ? &a->together : &a->client[index];
    (void)ctx;
    (void)worker;
    client->guesses = client->correct = 0;
    for (int64_t r = 0; r < a->done; r++) {
        int64_t right = 0, made = 0;
        for (ptrdiff_t k = all ? 0 : index; k < (all ? clients : index + 1); k++) {
            right += a->found[(ptrdiff_t)r * clients + k].right;
            made += a->found[(ptrdiff_t)r * clients + k].canaries;
        }
        share[r] = (double)right / (double)made;
        client->guesses += made;
        client->correct += right;
    }
    client->mu_estimate = all ? (double)NAN : estimate(a, index);
    double rate = mfpg_bound_rate_bet(share, (ptrdiff_t)a->done, all ? a->alpha_together : a->alpha);
    mfpg_verdict_add_rate(rate, a->game->delta, pattern_of(a), client);
    mfpg_verdict_close(a->game->delta, client);
    return MFPG_OK;
}

static mfpg_status judge(mfpg_context *ctx, audit *a) {
    return mfpg_tasks_run(ctx, a->game->clients + a->by_client, judge_runs, a);
}

static mfpg_status few_runs(mfpg_context *ctx, audit *a) {
    const mfpg_audit_options *o = a->game->options;
    mfpg_status status = MFPG_OK;
    for (a->first = 0; a->first < a->runs && status == MFPG_OK && !(o->stop && *o->stop);
         a->first = a->done) {
        int64_t count = a->runs - a->first < a->players ? a->runs - a->first : a->players;
        status = mfpg_tasks_run(ctx, (ptrdiff_t)count, play_run, a);
        a->done += count;
        if (status != MFPG_OK) return status;
        if (o->progress) o->progress(o->progress_user, a->done, a->runs);
        if (!o->watch || a->done * WATCHED / a->runs == a->first * WATCHED / a->runs) continue;
        status = judge(ctx, a);
        if (status == MFPG_OK) o->watch(o->watch_user, a->done, a->client);
    }
    if (a->done == 0)
        return mfpg_fail(ctx, MFPG_ERR_INTERRUPTED, "interrupted before the first run was over");
    return judge(ctx, a);
}

/* ---- one run ---- */

typedef struct guess {
    double score;
    ptrdiff_t index;
} guess;

/* Orders by confidence, largest first; equal ones keep their order. */
static int by_confidence(const void *a, const void *b) {
    const guess *x = a, *y = b;
    double p = fabs(x->score), q = fabs(y->score);
    if (p != q) return p > q ? -1 : 1;
    return (x->index > y->index) - (x->index < y->index);
}

/* Judges the canaries [first, first + count) of the run as one sample. */
static mfpg_status judge_sample(mfpg_context *ctx, const audit *a, ptrdiff_t first, ptrdiff_t count,
    double alpha, mfpg_audit_client *client) {
    const mfpg_player *p = &a->player[0];
    guess *list = mfpg_alloc(count, sizeof *list);
    if (!list) return mfpg_fail_memory(ctx);
    for (ptrdiff_t i = 0; i < count; i++) list[i] = (guess){a->score[first + i], first + i};
    qsort(list, (size_t)count, sizeof *list, by_confidence);
    client->correct = 0;
    for (int64_t i = 0; i < client->guesses; i++)
        client->correct += (list[i].score > 0.0) == p->coin[list[i].index];
    free(list);
    mfpg_verdict_add_one_run(a->game->delta, alpha, pattern_of(a), client);
    mfpg_verdict_close(a->game->delta, client);
    return MFPG_OK;
}

/* Runs in the calling thread, so that the clients of the one run share the threads. */
static mfpg_status one_run(mfpg_context *ctx, audit *a) {
    const mfpg_audit_options *o = a->game->options;
    mfpg_status status = MFPG_OK;
    for (ptrdiff_t k = 0; k < a->game->clients && !a->by_client; k++)
        mfpg_verdict_plan_one_run(a->alpha, &a->client[k]);
    if (a->by_client) mfpg_verdict_plan_one_run(a->alpha_together, &a->together);
    if (o->stop && *o->stop)
        return mfpg_fail(ctx, MFPG_ERR_INTERRUPTED, "interrupted before the run was over");
    a->first = 0;
    status = play_run(ctx, 0, 0, a);
    a->done = 1;
    if (status == MFPG_OK && o->progress) o->progress(o->progress_user, 1, 1);
    for (ptrdiff_t k = 0; k < a->game->clients && status == MFPG_OK && !a->by_client; k++) {
        a->client[k].mu_estimate = estimate(a, k);
        status = judge_sample(ctx, a, k * a->each, a->of[k], a->alpha, &a->client[k]);
    }
    if (status == MFPG_OK && a->by_client)
        status = judge_sample(ctx, a, 0, a->game->clients, a->alpha_together, &a->together);
    return status;
}

/* ---- the audit ---- */

static void start_verdicts(audit *a, const mfpg_audit_promise *promise) {
    for (ptrdiff_t k = 0; k < a->game->clients; k++) {
        mfpg_audit_promise own = promise[k];
        own.round_mu = (double)NAN;
        a->client[k] = mfpg_verdict_start(&own);
        a->client[k].canaries = a->of[k];
        a->client[k].mu_estimate = (double)NAN;
        mfpg_verdict_close(a->game->delta, &a->client[k]);
    }
    const mfpg_audit_promise all = promise_together(a, promise);
    a->together = mfpg_verdict_start(&all);
    a->together.canaries = a->game->clients;
    a->together.mu_estimate = (double)NAN;
}

mfpg_status mfpg_audit_run_many(mfpg_context *ctx, const mfpg_audit_game *game,
    const mfpg_audit_promise *promise, mfpg_audit_client *client, mfpg_audit_plan *plan) {
    audit a = {.game = game,
        .key = mfpg_key_from_seed(game->options->seed),
        .runs = game->options->runs,
        .alternates = game->rounds > 1 && game->federation->promise.view != MFPG_VIEW_FINAL,
        .client = client};
    mfpg_status status = place_canaries(ctx, &a);
    if (status == MFPG_OK) status = allocate(ctx, &a);
    if (status == MFPG_OK) {
        const mfpg_stream signs = stream_of(&a, USE_SIGN, 0);
        memset(a.sign, 1, (size_t)(2 * game->rounds));
        mfpg_audit_signs(&signs, game->rounds, a.sign);
        /* With one canary per client, half of alpha is for all clients together; in one run, all of it,
         * because there one canary per client proves nothing. */
        double alpha = 1.0 - game->options->confidence;
        a.alpha_together = !a.by_client                                   ? 0.0
                           : game->options->method == MFPG_AUDIT_FEW_RUNS ? 0.5 * alpha
                                                                          : alpha;
        a.alpha = (alpha - a.alpha_together) / (double)game->clients;
        start_verdicts(&a, promise);
        status = game->options->method == MFPG_AUDIT_ONE_RUN ? one_run(ctx, &a) : few_runs(ctx, &a);
    }
    if (status == MFPG_OK && plan)
        *plan = (mfpg_audit_plan){.method = game->options->method,
            .runs = a.done,
            .stopped = a.done < a.runs,
            .patterns = 1, /* a run has one */
            .client_confidence = 1.0 - (a.alpha > 0.0 ? a.alpha : a.alpha_together),
            .pooled = a.by_client,
            .together = a.together};
    clear(&a);
    return status;
}
