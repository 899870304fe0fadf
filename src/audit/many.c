/* Plays few runs, or one, with many canaries in each: along directions that share no entry, each with its own fair coin. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/streams.h"
#include "many.h"
#include "numerics/special/normal.h"

/* Streams of (AUDIT, use x 8): those of many runs with one canary use numbers below. */
enum { USE_KEY = 8, USE_COIN, USE_SIGN };

enum { MOST_CANARIES = 1000 };

/* A round whose digits show the input says more than any sum of noisy scores. */
#define SURELY 1e6

static mfpg_stream stream_of(const mfpg_crowd *c, int use, uint64_t number) {
    return mfpg_stream_open(&c->key, MFPG_PURPOSE_AUDIT, (uint64_t)use * 8, number);
}

/* ---- memory ---- */

static void clear(mfpg_crowd *c) {
    for (int i = 0; c->player && i < c->players; i++) {
        mfpg_crowd_player *p = &c->player[i];
        mfpg_canary_data_clear(&p->canaries);
        free(p->transcript.global);
        free(p->transcript.local);
        free(p->transcript.weight);
        free(p->transcript.digits);
        free(p->transcript.shown);
        free(p->value);
        free(p->coin);
        free(p->score);
    }
    free(c->player);
    free(c->of);
    free(c->sign);
    free(c->tally);
    free(c->share);
}

static mfpg_status allocate_player(mfpg_context *ctx, const mfpg_crowd *c, mfpg_crowd_player *p) {
    const mfpg_audit_game *g = c->game;
    size_t cells = (size_t)g->rounds * (size_t)g->clients * sizeof(double);
    mfpg_status status = mfpg_canary_data_create_many(
        ctx, g->data, g->mechanism, g->excess, c->each, c->directions, &p->canaries);
    if (status != MFPG_OK) return status;
    mfpg_transcript *s = &p->transcript;
    s->directions = c->directions;
    s->each = c->each;
    s->planes = c->planes;
    s->global = mfpg_alloc(c->directions, ((size_t)g->rounds + 1) * sizeof(double));
    s->local = mfpg_alloc(c->planes > 0 ? c->planes : 1, cells);
    s->weight = mfpg_alloc(1, cells);
    s->digits = mfpg_alloc(1, cells);
    s->shown = mfpg_alloc(c->planes > 0 ? c->planes : 1, (size_t)g->rounds * (size_t)g->clients);
    s->value = p->value = mfpg_alloc(c->each, cells);
    p->coin = mfpg_alloc(c->each, (size_t)g->clients);
    p->score = mfpg_alloc(c->each, (size_t)g->clients * sizeof *p->score);
    int whole =
        s->global && s->local && s->weight && s->digits && s->shown && p->value && p->coin && p->score;
    return whole ? MFPG_OK : mfpg_fail_memory(ctx);
}

static mfpg_status allocate(mfpg_context *ctx, mfpg_crowd *c) {
    const mfpg_audit_game *g = c->game;
    ptrdiff_t most = PTRDIFF_MAX / (ptrdiff_t)sizeof(mfpg_tally);
    if (g->rounds >= most / g->clients || c->runs >= most / (g->clients + 1)) return mfpg_fail_memory(ctx);
    int threads = mfpg_context_threads(ctx);
    c->players = c->runs < threads ? (int)c->runs : threads;
    c->player = mfpg_alloc(c->players, sizeof *c->player);
    c->sign = mfpg_alloc((ptrdiff_t)g->rounds, 2);
    c->tally = mfpg_alloc((ptrdiff_t)c->runs, (size_t)g->clients * sizeof *c->tally);
    c->share = mfpg_alloc((ptrdiff_t)c->runs, ((size_t)g->clients + 1) * sizeof *c->share);
    if (!c->player || !c->sign || !c->tally || !c->share) return mfpg_fail_memory(ctx);
    for (int i = 0; i < c->players; i++) {
        mfpg_status status = allocate_player(ctx, c, &c->player[i]);
        if (status != MFPG_OK) return status;
    }
    return MFPG_OK;
}

/* ---- before the first run ---- */

static mfpg_status too_many(mfpg_context *ctx, ptrdiff_t wanted, ptrdiff_t most, const char *what) {
    return mfpg_fail(ctx, MFPG_ERR_INPUT,
        "%td canaries %s; a model of this size has room for %td that do not disturb each other (an audit by "
        "ranks needs one)",
        wanted, what, most);
}

/* How many canaries there are, and where they point. In view local a client's update is seen by itself, so that clients may share a
 * direction. */
static mfpg_status place_canaries(mfpg_context *ctx, mfpg_crowd *c) {
    const mfpg_audit_game *g = c->game;
    const mfpg_promise *promise = &g->federation->promise;
    ptrdiff_t most = mfpg_canary_most(mfpg_model_parameters(g->model)),
              asked = (ptrdiff_t)g->options->canaries;
    int local = promise->view == MFPG_VIEW_LOCAL;
    c->by_client = promise->unit == MFPG_UNIT_CLIENT;
    /* One run is one output for all guesses: canaries of several clients are not told apart by what only some observers
     * know. */
    int known = (g->federation->participants || g->federation->colluder) &&
                !(c->by_client && g->options->method == MFPG_AUDIT_ONE_RUN);
    c->each = 1;
    if (c->by_client) {
        if (asked > 1)
            return mfpg_fail(ctx, MFPG_ERR_INPUT,
                "%td canaries of a client: with privacy.unit client, a client has one", asked);
        if (!local && g->clients > most) return too_many(ctx, g->clients, most, "of as many clients");
        c->directions = g->clients < most ? g->clients : most;
    } else {
        if (asked > most) return too_many(ctx, asked, most, "of a client");
        ptrdiff_t fit = most < MOST_CANARIES ? most : MOST_CANARIES, rows = 1;
        for (ptrdiff_t k = 0; k < g->clients; k++)
            if (g->data->client[k].train.rows > rows) rows = g->data->client[k].train.rows;
        c->each = asked > 0 ? asked : fit;
        if (c->each > rows) c->each = rows;
        c->directions = c->each;
    }
    c->planes = local && c->by_client ? 1 : local || known ? c->directions : 0;
    c->of = mfpg_alloc(g->clients, sizeof *c->of);
    if (!c->of) return mfpg_fail_memory(ctx);
    for (ptrdiff_t k = 0; k < g->clients; k++) {
        ptrdiff_t rows = g->data->client[k].train.rows;
        c->of[k] = rows < c->each ? rows : c->each;
    }
    return MFPG_OK;
}

/* Coins for signs; two rounds or more show both. */
static void choose_signs(mfpg_crowd *c) {
    int64_t rounds = c->game->rounds, plus = 0;
    mfpg_stream stream = stream_of(c, USE_SIGN, 0);
    for (int64_t t = 0; t < rounds; t++) {
        int up = mfpg_stream_below(&stream, (uint64_t)t, 2) == 1;
        c->sign[t] = up ? 1 : -1;
        c->sign[rounds + t] = 1;
        plus += up;
    }
    if (plus == 0 || plus == rounds) c->sign[rounds - 1] *= -1;
}

static const signed char *signs_of(const mfpg_crowd *c, int64_t run) {
    return c->alternates && run % 2 == 0 ? c->sign : c->sign + c->game->rounds;
}

mfpg_audit_pattern mfpg_crowd_pattern(const mfpg_crowd *c) {
    if (!c->alternates) return MFPG_PATTERN_CONSTANT;
    return c->runs == 1 ? MFPG_PATTERN_ALTERNATING : MFPG_PATTERN_BOTH;
}

/* The chance of a right guess that a promise admits. */
static double rate_of(const mfpg_audit_promise *promise) {
    double rate = 0.5 + 0.5 * promise->distance;
    return isnan(promise->mu) ? rate : fmin(rate, mfpg_normal_cdf(0.5 * promise->mu) * (1.0 + 1e-14));
}

/* What all promises say of the canaries taken together: in few runs of the mean chance, in one run of the worst. */
static mfpg_audit_promise promise_together(const mfpg_crowd *c, const mfpg_audit_promise *promise) {
    mfpg_audit_promise all = {.round_mu = NAN, .auc_cap = NAN, .paper_delta = NAN};
    ptrdiff_t clients = c->game->clients;
    double delta = c->game->delta, rate = 0.0, pure = 0.0;
    int unknown = 0;
    for (ptrdiff_t k = 0; k < clients; k++) {
        const mfpg_audit_promise *own = &promise[k];
        all.mu = fmax(all.mu, own->mu);
        all.epsilon = fmax(all.epsilon, own->epsilon);
        all.distance = fmax(all.distance, own->distance);
        unknown |= isnan(own->mu);
        rate += rate_of(own) / (double)clients;
        /* (e^epsilon + delta)/(e^epsilon + 1) */
        pure += (1.0 - (1.0 - delta) / (1.0 + exp(own->epsilon))) / (double)clients;
    }
    if (c->game->options->method == MFPG_AUDIT_FEW_RUNS) {
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

static void give_values(const mfpg_crowd *c, mfpg_crowd_player *p, int64_t run) {
    ptrdiff_t clients = c->game->clients, plane = (ptrdiff_t)c->game->rounds * clients;
    const signed char *sign = signs_of(c, run);
    mfpg_stream coins = stream_of(c, USE_COIN, (uint64_t)run);
    mfpg_stream_bytes(&coins, 0, clients * c->each, p->coin);
    for (ptrdiff_t i = 0; i < clients * c->each; i++) p->coin[i] &= 1;
    for (ptrdiff_t k = 0; k < clients; k++) {
        for (ptrdiff_t i = 0; i < c->each; i++) {
            int arm = p->coin[k * c->each + i], absent = i >= c->of[k];
            for (int64_t t = 0; t < c->game->rounds; t++)
                p->value[i * plane + (ptrdiff_t)t * clients + k] =
                    absent ? 0.0 : mfpg_audit_value(c->game, sign[t], arm);
        }
    }
}

/* What the transcript shows along the direction of canary i of client k. What other canaries of the client do there is nothing; what
 * other clients do the attacker knows, but where their canaries are guessed as well. */
static mfpg_transcript along(const mfpg_crowd *c, const mfpg_crowd_player *p, ptrdiff_t k, ptrdiff_t i) {
    mfpg_transcript s = p->transcript;
    ptrdiff_t plane = (ptrdiff_t)c->game->rounds * c->game->clients;
    ptrdiff_t direction = c->each == 1 ? k % c->directions : i;
    s.global += direction * (ptrdiff_t)(c->game->rounds + 1);
    if (c->planes == c->directions) s.local += direction * plane;
    if (c->planes == c->directions) s.shown += direction * plane;
    s.value = c->by_client ? NULL : p->value + i * plane;
    return s;
}

static mfpg_status score_run(mfpg_context *ctx, const mfpg_crowd *c, mfpg_crowd_player *p, int64_t run) {
    for (ptrdiff_t k = 0; k < c->game->clients; k++) {
        mfpg_tally *t = &c->tally[(ptrdiff_t)run * c->game->clients + k];
        *t = (mfpg_tally){.canaries = (int32_t)c->of[k]};
        for (ptrdiff_t i = 0; i < c->of[k]; i++) {
            const mfpg_transcript s = along(c, p, k, i);
            double score = mfpg_attack_score(c->game, &s, signs_of(c, run), k) +
                           SURELY * mfpg_attack_digits(c->game, &s, signs_of(c, run), k);
            int coin = p->coin[k * c->each + i];
            if (isnan(score))
                return mfpg_fail(ctx, MFPG_ERR_NUMERIC, "client '%s': a score of the attack is no number",
                    c->game->data->client[k].name);
            p->score[k * c->each + i] = score;
            t->right += (score > 0.0) == coin;
            t->count[coin]++;
            t->sum[coin] += score;
            t->squares[coin] += score * score;
        }
    }
    return MFPG_OK;
}

mfpg_status mfpg_crowd_play(mfpg_context *ctx, ptrdiff_t index, int worker, void *arg) {
    mfpg_crowd *c = arg;
    mfpg_crowd_player *p = &c->player[worker];
    int64_t run = c->first + index;
    mfpg_key key = {.seeded = 1};
    mfpg_stream stream = stream_of(c, USE_KEY, (uint64_t)run);
    mfpg_stream_bytes(&stream, 0, sizeof key.bytes, key.bytes);
    give_values(c, p, run);
    mfpg_status status = c->play(ctx, c->game, &key, &p->canaries, &p->transcript, c->play_arg);
    if (status == MFPG_OK) status = score_run(ctx, c, p, run);
    return status == MFPG_OK ? status : mfpg_fail_in(ctx, status, "run %lld", (long long)run + 1);
}

/* ---- the audit ---- */

/* With one canary a client, half of alpha is for all together, and in one run all of it: there one of each proves nothing. */
static void share_alpha(mfpg_crowd *c) {
    double alpha = 1.0 - c->game->options->confidence;
    c->alpha_together = !c->by_client                                     ? 0.0
                        : c->game->options->method == MFPG_AUDIT_FEW_RUNS ? 0.5 * alpha
                                                                          : alpha;
    c->alpha = (alpha - c->alpha_together) / (double)c->game->clients;
}

static void start_verdicts(mfpg_crowd *c, const mfpg_audit_promise *promise) {
    for (ptrdiff_t k = 0; k < c->game->clients; k++) {
        mfpg_audit_promise own = promise[k];
        own.round_mu = (double)NAN;
        c->client[k] = mfpg_verdict_start(&own);
        c->client[k].canaries = c->of[k];
        c->client[k].mu_estimate = (double)NAN;
        mfpg_verdict_close(c->game->delta, &c->client[k]);
    }
    const mfpg_audit_promise all = promise_together(c, promise);
    c->together = mfpg_verdict_start(&all);
    c->together.canaries = c->game->clients;
    c->together.mu_estimate = (double)NAN;
}

mfpg_status mfpg_audit_run_many(mfpg_context *ctx, const mfpg_audit_game *game,
    const mfpg_audit_promise *promise, mfpg_audit_play play, void *arg, mfpg_audit_client *client,
    mfpg_audit_plan *plan) {
    mfpg_crowd c = {.game = game,
        .play = play,
        .play_arg = arg,
        .key = mfpg_key_from_seed(game->options->seed),
        .runs = game->options->runs,
        .alternates = game->rounds > 1 && game->federation->promise.view != MFPG_VIEW_FINAL,
        .client = client};
    mfpg_status status = place_canaries(ctx, &c);
    if (status == MFPG_OK) status = allocate(ctx, &c);
    if (status == MFPG_OK) {
        choose_signs(&c);
        share_alpha(&c);
        start_verdicts(&c, promise);
        status = game->options->method == MFPG_AUDIT_ONE_RUN ? mfpg_crowd_one_run(ctx, &c)
                                                             : mfpg_crowd_few_runs(ctx, &c);
    }
    if (status == MFPG_OK && plan)
        *plan = (mfpg_audit_plan){.method = game->options->method,
            .runs = c.done,
            .stopped = c.done < c.runs,
            .patterns = 1, /* a run has one */
            .client_confidence = 1.0 - (c.alpha > 0.0 ? c.alpha : c.alpha_together),
            .pooled = c.by_client,
            .together = c.together};
    clear(&c);
    return status;
}
