/* Audits by many runs: patterns with one canary per client are run in parallel, scored, and judged. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "audit_game.h"
#include "base/error.h"
#include "base/memory.h"
#include "base/streams.h"
#include "audit_bounds.h"

/* Streams of (AUDIT, use x 8 + pattern): */
enum { USE_KEY, USE_ARM, USE_TIE, USE_SIGN, USE_COIN };

/* How alpha is divided among the scores of a client. A client's own scores measure the privacy loss of a
 * correct mechanism; the others find faults whose loss is unbounded, for which a small alpha suffices. */
#define SHARE_CONSTANT    0.6
#define SHARE_ALTERNATING 0.2
#define SHARE_CROSS       0.1
#define SHARE_ROUND       0.1
#define SHARE_INPUT       0.2
#define SHARE_DIGITS      0.001

enum { MOST_CLIENTS_PAIRED = 64, MOST_OTHERS = 7 };

typedef struct audit {
    const mfpg_audit_game *game;
    const mfpg_audit_promise *promise;
    mfpg_key key;
    mfpg_player *player; /* players */
    mfpg_scored *scored; /* players x runs: room of verdicts */
    double *plain;       /* likewise */
    int players;
    int alternates, rounds_too; /* patterns that are run in addition to the constant one */
    int by_digits;              /* 1: runs of the constant pattern are also scored by last digits */
    ptrdiff_t others;           /* clients that each is compared with */
    ptrdiff_t series;           /* 1 + others */
    double alpha;               /* of one client */
    double share;               /* the sum of the shares of the patterns that are run */
    int64_t total, done;        /* runs of all patterns */
    /* of the current pattern */
    mfpg_audit_pattern pattern;
    int64_t runs, first; /* first: of the current block */
    signed char *sign;   /* rounds */
    unsigned char *arm;  /* clients x runs */
    double *score;       /* clients x series x runs */
    /* clients x runs: scores by last digits; NULL if no client's release is seen separately */
    double *digits;
    int32_t *guess; /* runs x clients x 2: correct guesses, guesses made */
    /* runs x clients x 2: means of a run for input canaries; NULL if there are none */
    double *pull;
    mfpg_audit_game inputs; /* the audit of input canaries, and its canary */
    mfpg_input_canary input;
    uint64_t *tie; /* runs */
    mfpg_audit_client *client;
    mfpg_pool memory;
} audit;

static mfpg_stream stream_of(const audit *a, int use, uint64_t number) {
    return mfpg_stream_open(&a->key, MFPG_PURPOSE_AUDIT, (uint64_t)use * 8 + (uint64_t)a->pattern, number);
}

/* ---- memory ---- */

static void clear(audit *a) {
    for (int i = 0; a->player && i < a->players; i++) mfpg_player_clear(&a->player[i]);
    mfpg_pool_clear(&a->memory);
    mfpg_input_canary_clear(&a->input);
}

/* Allocates after checking sizes: clients x series x runs doubles are the largest block. */
static mfpg_status allocate(mfpg_context *ctx, audit *a) {
    const mfpg_audit_game *g = a->game;
    ptrdiff_t most = PTRDIFF_MAX / (ptrdiff_t)sizeof(double), runs = (ptrdiff_t)g->options->runs;
    if (g->rounds >= most / g->clients || runs > most / g->clients / a->series / 2)
        return mfpg_fail_memory(ctx);
    a->players = mfpg_context_threads(ctx);
    mfpg_pool *memory = &a->memory;
    a->player = mfpg_pool_alloc(memory, a->players, sizeof *a->player);
    a->scored = mfpg_pool_alloc(memory, a->players, (size_t)runs * sizeof *a->scored);
    a->plain = mfpg_pool_alloc(memory, a->players, (size_t)runs * sizeof *a->plain);
    a->sign = mfpg_pool_alloc(memory, (ptrdiff_t)g->rounds, sizeof *a->sign);
    a->arm = mfpg_pool_alloc(memory, g->clients * runs, 1);
    a->score = mfpg_pool_alloc(memory, g->clients * a->series * runs, sizeof *a->score);
    a->guess = mfpg_pool_alloc(memory, g->clients * runs, 2 * sizeof *a->guess);
    a->tie = mfpg_pool_alloc(memory, runs, sizeof *a->tie);
    if (a->by_digits) a->digits = mfpg_pool_alloc(memory, g->clients * runs, sizeof *a->digits);
    if (g->configured) a->pull = mfpg_pool_alloc(memory, g->clients * runs, 2 * sizeof *a->pull);
    if (memory->failed) return mfpg_fail_memory(ctx);
    for (int i = 0; i < a->players; i++) {
        mfpg_status status = mfpg_player_create(ctx, g, 1, 1, 1, &a->player[i]);
        if (status != MFPG_OK) return status;
    }
    return MFPG_OK;
}

/* ---- before a pattern ---- */

/* Assigns half of the runs to each arm, in a separate random order for every client. */
static mfpg_status deal_arms(mfpg_context *ctx, audit *a) {
    ptrdiff_t runs = (ptrdiff_t)a->runs, *order = mfpg_alloc(runs, sizeof *order);
    if (!order) return mfpg_fail_memory(ctx);
    for (ptrdiff_t k = 0; k < a->game->clients; k++) {
        mfpg_stream stream = stream_of(a, USE_ARM, (uint64_t)k);
        mfpg_stream_permutation(&stream, runs, order);
        for (ptrdiff_t i = 0; i < runs; i++) a->arm[k * runs + i] = order[i] >= runs / 2;
    }
    mfpg_stream ties = stream_of(a, USE_TIE, 0);
    for (ptrdiff_t i = 0; i < runs; i++) a->tie[i] = mfpg_stream_below(&ties, (uint64_t)i, UINT64_MAX);
    free(order);
    return MFPG_OK;
}

/* ---- a run ---- */

static void give_values(const audit *a, mfpg_player *p, int64_t run) {
    ptrdiff_t clients = a->game->clients;
    int by_round = a->pattern == MFPG_PATTERN_ROUND;
    if (by_round) {
        mfpg_stream coins = stream_of(a, USE_COIN, (uint64_t)run);
        mfpg_stream_bytes(&coins, 0, (ptrdiff_t)a->game->rounds * clients, p->coin);
    }
    for (int64_t t = 0; t < a->game->rounds; t++) {
        for (ptrdiff_t k = 0; k < clients; k++) {
            ptrdiff_t at = (ptrdiff_t)t * clients + k;
            int arm = by_round ? p->coin[at] & 1 : a->arm[k * (ptrdiff_t)a->runs + run];
            p->value[at] = mfpg_audit_value(a->game, a->sign[t], arm);
        }
    }
}

/* Returns whether a client has the series: later rounds, or a record without canary. */
static int has_series(const audit *a, ptrdiff_t k, ptrdiff_t series) {
    if (!a->game->records) return 1;
    if (series == MFPG_LOOK_ALL) return a->game->rounds > 1;
    if (series == MFPG_LOOK_BESIDE) return a->player[0].canaries.hot[k] < a->game->data->client[k].train.rows;
    return 1;
}

static void score_run(const audit *a, const mfpg_player *p, int64_t run) {
    const mfpg_transcript *s = &p->transcript;
    for (ptrdiff_t k = 0; k < a->game->clients; k++) {
        for (ptrdiff_t o = 0; o < a->series; o++) {
            double *score = a->score + (k * a->series + o) * (ptrdiff_t)a->runs + run;
            if (a->game->records && has_series(a, k, o))
                *score = mfpg_attack_records(a->game, s, k, o);
            else if (!a->game->records)
                *score = o == 0 ? mfpg_attack_score(a->game, s, a->sign, k)
                                : mfpg_attack_cross(a->game, s, a->sign, k, (k + o) % a->game->clients);
        }
        if (a->digits && a->pattern == MFPG_PATTERN_CONSTANT)
            a->digits[k * (ptrdiff_t)a->runs + run] = mfpg_attack_digits(a->game, s, a->sign, k);
    }
}

/* Computes, over the steps of client k in which an input canary was sent, the mean size of its gradient and
 * the mean share that the clip left; NAN if there is no such step. */
static void keep_pull(const audit *a, const mfpg_transcript *s, ptrdiff_t k, double *pull) {
    const mfpg_audit_game *g = a->game;
    double count = 0.0;
    pull[0] = pull[1] = 0.0;
    for (int64_t t = 0; t < s->rounds; t++) {
        ptrdiff_t at = (ptrdiff_t)t * g->clients + k;
        if (s->weight[at] == 0.0 || s->value[at] == 0.0) continue;
        mfpg_input_pull one = mfpg_input_pull_at(
            g->input, g->mechanism[k], g->data->client[k].train.rows, s->value[at], s->global[t]);
        pull[0] += one.norm;
        pull[1] += one.factor;
        count++;
    }
    pull[0] = count > 0.0 ? pull[0] / count : (double)NAN;
    pull[1] = count > 0.0 ? pull[1] / count : (double)NAN;
}

static void guess_rounds(const audit *a, const mfpg_player *p, int64_t run) {
    const mfpg_transcript *s = &p->transcript;
    ptrdiff_t clients = a->game->clients;
    int32_t *guess = a->guess + run * clients * 2;
    memset(guess, 0, (size_t)clients * 2 * sizeof *guess);
    for (int64_t t = 0; t < s->rounds; t++) {
        for (ptrdiff_t k = 0; k < clients; k++) {
            ptrdiff_t at = (ptrdiff_t)t * clients + k;
            if (s->weight[at] == 0.0) continue;
            int one = mfpg_attack_round(a->game, s, t, k) > 0.0;
            guess[2 * k] += one == (p->coin[at] & 1);
            guess[2 * k + 1]++;
        }
    }
}

static mfpg_status play_run(mfpg_context *ctx, ptrdiff_t index, int worker, void *arg) {
    audit *a = arg;
    mfpg_player *p = &a->player[worker];
    int64_t run = a->first + index;
    const mfpg_stream stream = stream_of(a, USE_KEY, (uint64_t)run);
    give_values(a, p, run);
    mfpg_status status = mfpg_player_run(ctx, a->game, &stream, run, p);
    if (status != MFPG_OK) return status;
    if (a->pattern == MFPG_PATTERN_ROUND)
        guess_rounds(a, p, run);
    else if (a->pattern == MFPG_PATTERN_INPUT)
        for (ptrdiff_t k = 0; k < a->game->clients; k++) {
            a->score[k * a->series * (ptrdiff_t)a->runs + run] =
                mfpg_attack_input(a->game, &p->transcript, k);
            keep_pull(a, &p->transcript, k, a->pull + 2 * ((ptrdiff_t)run * a->game->clients + k));
        }
    else
        score_run(a, p, run);
    return MFPG_OK;
}

/* Makes all runs of a pattern in blocks; between blocks progress is reported and options.stop is read. */
static mfpg_status play_pattern(mfpg_context *ctx, audit *a, mfpg_audit_pattern pattern, int64_t runs) {
    const mfpg_audit_options *o = a->game->options;
    int64_t block = a->total / 200 > 4 * a->players ? a->total / 200 : 4 * a->players;
    a->pattern = pattern;
    a->runs = runs;
    memset(a->sign, 1, (size_t)a->game->rounds);
    if (pattern == MFPG_PATTERN_ALTERNATING) {
        const mfpg_stream signs = stream_of(a, USE_SIGN, 0);
        mfpg_audit_signs(&signs, a->game->rounds, a->sign);
    }
    mfpg_status status = pattern == MFPG_PATTERN_ROUND ? MFPG_OK : deal_arms(ctx, a);
    for (a->first = 0; a->first < runs && status == MFPG_OK; a->first += block) {
        int64_t count = runs - a->first < block ? runs - a->first : block;
        if (o->stop && *o->stop)
            return mfpg_fail(ctx, MFPG_ERR_INTERRUPTED,
                "interrupted after %lld of %lld runs; there is no result", (long long)a->done,
                (long long)a->total);
        status = mfpg_tasks_run(ctx, (ptrdiff_t)count, play_run, a);
        a->done += count;
        if (status == MFPG_OK && o->progress) o->progress(o->progress_user, a->done, a->total);
    }
    return status;
}

/* ---- judging ---- */

static double alpha_of(const audit *a, double share) {
    return a->alpha * share / a->share;
}

static mfpg_verdict_room room_of(const audit *a, int worker) {
    ptrdiff_t at = worker * (ptrdiff_t)a->game->options->runs;
    return (mfpg_verdict_room){a->scored + at, a->plain + at};
}

/* Returns the scores of client k in the runs of the current pattern. */
static mfpg_series series_of(
    const audit *a, ptrdiff_t k, const double *score, mfpg_audit_pattern pattern, double alpha) {
    return (mfpg_series){.score = score,
        .arm = a->arm + k * (ptrdiff_t)a->runs,
        .tie = a->tie,
        .runs = a->runs,
        .pattern = pattern,
        .alpha = alpha};
}

static mfpg_status judge_client(mfpg_context *ctx, ptrdiff_t k, int worker, void *arg) {
    audit *a = arg;
    int alternating = a->pattern == MFPG_PATTERN_ALTERNATING;
    double own = alpha_of(a, alternating ? SHARE_ALTERNATING : SHARE_CONSTANT);
    mfpg_verdict_room room = room_of(a, worker);
    double cross = alpha_of(a, SHARE_CROSS) / (double)((a->series - 1) * (1 + a->alternates));
    mfpg_status status = MFPG_OK;
    for (ptrdiff_t o = 0; o <= a->series && status == MFPG_OK; o++) { /* the last series is that of digits */
        int digits = o == a->series;
        if (digits ? !a->digits || alternating : !has_series(a, k, o)) continue;
        const mfpg_series series = digits
                                       ? series_of(a, k, a->digits + k * (ptrdiff_t)a->runs,
                                             MFPG_PATTERN_DIGITS, alpha_of(a, SHARE_DIGITS))
                                       : series_of(a, k, a->score + (k * a->series + o) * (ptrdiff_t)a->runs,
                                             o == 0                                   ? a->pattern
                                             : a->game->records && o == MFPG_LOOK_ALL ? MFPG_PATTERN_LOOKS
                                                                                      : MFPG_PATTERN_CROSS,
                                             o > 0 ? cross : own);
        status = mfpg_verdict_add(ctx, &series, a->game->delta, &a->promise[k], &room, &a->client[k]);
    }
    return status == MFPG_OK ? status
                             : mfpg_fail_in(ctx, status, "client '%s'", a->game->data->client[k].name);
}

static void judge_rounds(audit *a) {
    for (ptrdiff_t k = 0; k < a->game->clients; k++) {
        int64_t right = 0, made = 0;
        if (isnan(a->promise[k].round_mu)) continue;
        for (int64_t i = 0; i < a->runs; i++) {
            right += a->guess[2 * (i * a->game->clients + k)];
            made += a->guess[2 * (i * a->game->clients + k) + 1];
        }
        a->client[k].round_mu_lower = mfpg_bound_mu_accuracy(right, made, alpha_of(a, SHARE_ROUND));
    }
}

/* ---- input canaries ---- */

/* Estimates how far the model moves from the start along a direction; the row's length is chosen by it. */
static double spread_of(const mfpg_audit_game *game) {
    double variance = 0.0, gap = 0.0, clients = (double)game->clients, half = 0.5 * (double)game->rounds;
    for (ptrdiff_t k = 0; k < game->clients; k++) {
        variance += game->law[k].variance / clients;
        gap += game->law[k].gap * game->law[k].rate / clients;
    }
    return sqrt((half * variance + half * half * gap * gap) / clients);
}

/* After this call the audit is that of input canaries. */
static mfpg_status turn_to_input(mfpg_context *ctx, audit *a) {
    a->inputs = *a->game;
    a->inputs.model = a->game->configured;
    mfpg_status status = mfpg_input_canary_create(
        ctx, a->inputs.model, a->inputs.mechanism[0], spread_of(&a->inputs), &a->input);
    if (status != MFPG_OK) return status;
    a->inputs.input = &a->input;
    a->game = &a->inputs;
    for (int i = 0; i < a->players && status == MFPG_OK; i++) {
        mfpg_canary_data_clear(&a->player[i].canaries);
        status = mfpg_audit_canaries(ctx, a->game, 1, 1, &a->player[i].canaries);
    }
    return status;
}

static mfpg_status judge_input(mfpg_context *ctx, ptrdiff_t k, int worker, void *arg) {
    audit *a = arg;
    double sum[2] = {0.0, 0.0}, count = 0.0;
    mfpg_verdict_room room = room_of(a, worker);
    const mfpg_series series = series_of(
        a, k, a->score + k * a->series * (ptrdiff_t)a->runs, MFPG_PATTERN_INPUT, alpha_of(a, SHARE_INPUT));
    for (int64_t i = 0; i < a->runs; i++) {
        const double *pull = a->pull + 2 * ((ptrdiff_t)i * a->game->clients + k);
        if (isnan(pull[0])) continue;
        sum[0] += pull[0];
        sum[1] += pull[1];
        count++;
    }
    a->client[k].input_gradient = sum[0] / count;
    a->client[k].input_clip_factor = sum[1] / count;
    mfpg_status status = mfpg_verdict_add_input(ctx, &series, &room, &a->client[k]);
    return status == MFPG_OK ? status
                             : mfpg_fail_in(ctx, status, "client '%s'", a->game->data->client[k].name);
}

/* ---- the audit ---- */

static mfpg_status play_all(mfpg_context *ctx, audit *a, int64_t round_runs) {
    ptrdiff_t clients = a->game->clients;
    mfpg_status status = play_pattern(ctx, a, MFPG_PATTERN_CONSTANT, a->game->options->runs);
    if (status == MFPG_OK) status = mfpg_tasks_run(ctx, clients, judge_client, a);
    if (status == MFPG_OK && a->alternates) {
        status = play_pattern(ctx, a, MFPG_PATTERN_ALTERNATING, a->game->options->runs);
        if (status == MFPG_OK) status = mfpg_tasks_run(ctx, clients, judge_client, a);
    }
    if (status == MFPG_OK && a->rounds_too) {
        status = play_pattern(ctx, a, MFPG_PATTERN_ROUND, round_runs);
        if (status == MFPG_OK) judge_rounds(a);
    }
    if (status != MFPG_OK || !a->pull) return status;
    status = turn_to_input(ctx, a);
    if (status == MFPG_OK) status = play_pattern(ctx, a, MFPG_PATTERN_INPUT, a->game->options->runs);
    return status == MFPG_OK ? mfpg_tasks_run(ctx, clients, judge_input, a) : status;
}

static void plan_patterns(audit *a) {
    const mfpg_audit_game *g = a->game;
    mfpg_view view = g->federation->promise.view;
    a->alternates = g->rounds > 1 && !g->records && view != MFPG_VIEW_FINAL;
    for (ptrdiff_t k = 0; k < g->clients; k++) a->rounds_too |= !isnan(a->promise[k].round_mu);
    if ((view == MFPG_VIEW_LOCAL || g->records) && g->clients > 1) {
        a->others = g->clients - 1 < MOST_OTHERS ? g->clients - 1 : MOST_OTHERS;
        if (g->clients > MOST_CLIENTS_PAIRED) a->others = 1;
    }
    a->by_digits = view == MFPG_VIEW_LOCAL && !g->records;
    a->series = 1 + a->others;
    if (g->records) a->series = MFPG_LOOK_CROSS + a->others;
    a->alpha = (1.0 - g->options->confidence) / (double)g->clients;
    a->share = SHARE_CONSTANT + (a->alternates ? SHARE_ALTERNATING : 0.0) +
               (a->series > 1 ? SHARE_CROSS : 0.0) + (a->rounds_too ? SHARE_ROUND : 0.0) +
               (g->configured ? SHARE_INPUT : 0.0) + (a->by_digits ? SHARE_DIGITS : 0.0);
}

mfpg_status mfpg_audit_run(mfpg_context *ctx, const mfpg_audit_game *game, const mfpg_audit_promise *promise,
    mfpg_audit_client *client, mfpg_audit_plan *plan) {
    audit a = {
        .game = game, .promise = promise, .key = mfpg_key_from_seed(game->options->seed), .client = client};
    plan_patterns(&a);
    /* as many guesses as runs */
    int64_t round_runs = (game->options->runs + game->rounds - 1) / game->rounds;
    int inputs = game->configured != NULL;
    a.total = game->options->runs * (1 + a.alternates + inputs) + (a.rounds_too ? round_runs : 0);
    for (ptrdiff_t k = 0; k < game->clients; k++) client[k] = mfpg_verdict_start(&promise[k]);
    mfpg_status status = allocate(ctx, &a);
    if (status == MFPG_OK) status = play_all(ctx, &a, round_runs);
    for (ptrdiff_t k = 0; k < game->clients && status == MFPG_OK; k++)
        mfpg_verdict_close(game->delta, &client[k]);
    if (status == MFPG_OK && plan)
        *plan = (mfpg_audit_plan){.method = MFPG_AUDIT_RANKS,
            .runs = game->options->runs,
            .patterns = 1 + a.alternates + a.rounds_too + inputs,
            .pairs = a.others,
            .client_confidence = 1.0 - a.alpha};
    clear(&a);
    return status;
}
