/* Test doubles: federations with a planted fault, played in place of the library's. None of them is in the product. */
#ifndef TESTS_AUDIT_FAULTS_H
#define TESTS_AUDIT_FAULTS_H

#include "audit/fixture.h"
#include "audit/planning.h"
#include "local_round.h"

#include "audit/audit_game.h"
#include "models/losses.h"

typedef enum fault {
    FAULT_NONE = 0,          /* the double itself, played by hand */
    FAULT_AS_PROMISED,       /* the library's federation: no double at all */
    FAULT_OTHER_MECHANISM,   /* other noise or another clip than was promised */
    FAULT_SHARED_BY_CLIENTS, /* all clients draw their noise from one stream */
    FAULT_SHARED_BY_ROUNDS,  /* every round draws the same noise */
    FAULT_NO_NOISE_LAST,     /* the last round adds none */
    FAULT_SEED_REUSED,       /* every run draws the same noise */
    FAULT_CLIP_BY_TENSOR,    /* every tensor is clipped by itself */
    FAULT_BLIND              /* both arms are given the same: nothing is to be found */
} fault;

typedef struct plant {
    fault kind;
    const mfpg_mechanism *const *mechanism; /* OTHER_MECHANISM, with its actions */
    const mfpg_action *action;
} plant;

/* Entry i of the canary's unit direction. */
static inline double direction(const mfpg_model *model, ptrdiff_t i) {
    float unit[64] = {0};
    ptrdiff_t n = mfpg_model_parameters(model);
    assert_true(i < n && n <= 64);
    unit[i] = 1.0F;
    return mfpg_canary_project(n, unit);
}

/* The length of that direction within a tensor. */
static inline double length_within(const mfpg_model *model, mfpg_tensor tensor) {
    double square = 0.0;
    for (ptrdiff_t i = tensor.offset; i < tensor.offset + tensor.size; i++) {
        double v = direction(model, i);
        square += v * v;
    }
    return sqrt(square);
}

/* What a clip of every tensor by itself adds to one of them all: the whole clip in the tensor in place of its part of it. */
static inline void clip_by_tensor(const mfpg_audit_game *game, double value, float *u) {
    for (ptrdiff_t t = 0; t < game->model->tensors; t++) {
        mfpg_tensor tensor = game->model->tensor[t];
        double more = game->law[0].gap * value * (1.0 / length_within(game->model, tensor) - 1.0);
        for (ptrdiff_t i = tensor.offset; i < tensor.offset + tensor.size; i++)
            u[i] += (float)(more * direction(game->model, i));
    }
}

/* What the gaussian mechanism would release if it added nothing. */
static inline void move_without_noise(
    const mfpg_audit_game *game, ptrdiff_t k, double value, const float *w, float *u) {
    for (ptrdiff_t i = 0; i < mfpg_model_parameters(game->model); i++)
        u[i] = w[i] + (float)(game->law[k].gap * value * direction(game->model, i));
}

/* FedAvg by hand on the library's updates: everybody takes part, with equal weights. */
static inline mfpg_status play_by_hand(mfpg_context *ctx, const mfpg_audit_game *game, const mfpg_key *key,
    mfpg_canary_data *canaries, mfpg_transcript *s, const plant *p) {
    ptrdiff_t n = mfpg_model_parameters(game->model), clients = game->clients;
    float *w = calloc((size_t)n, sizeof *w), *u = calloc((size_t)n, sizeof *u);
    double *sum = calloc((size_t)n, sizeof *sum);
    float *work = aligned_alloc(
        64, (size_t)(mfpg_mechanism_workspace(game->mechanism[0], game->model, 64) * 4 + 63) / 64 * 64);
    mfpg_status status = MFPG_OK;
    s->global[0] = 0.0;
    for (s->rounds = 0; s->rounds < game->rounds && status == MFPG_OK; s->rounds++) {
        memset(sum, 0, (size_t)n * sizeof *sum);
        for (ptrdiff_t k = 0; k < clients && status == MFPG_OK; k++) {
            ptrdiff_t at = (ptrdiff_t)s->rounds * clients + k;
            uint64_t round = p->kind == FAULT_SHARED_BY_ROUNDS ? 0 : (uint64_t)s->rounds;
            uint64_t client = p->kind == FAULT_SHARED_BY_CLIENTS ? 0 : (uint64_t)k;
            mfpg_stream noise = mfpg_stream_open(key, MFPG_PURPOSE_NOISE, round, client);
            mfpg_stream batch = mfpg_stream_open(key, MFPG_PURPOSE_BATCH, (uint64_t)s->rounds, (uint64_t)k);
            const mfpg_dataset *data = &canaries->data.client[k].train;
            mfpg_canary_set(canaries, k, s->value[at]);
            if (p->kind == FAULT_NO_NOISE_LAST && s->rounds == game->rounds - 1)
                move_without_noise(game, k, s->value[at], w, u);
            else
                status = update_by(ctx, game->mechanism[k], game->model, data, data->rows, game->action[k],
                    &noise, &batch, w, u, work, NULL);
            if (p->kind == FAULT_CLIP_BY_TENSOR) clip_by_tensor(game, s->value[at], u);
            s->local[at] = mfpg_canary_project(n, u);
            s->weight[at] = 1.0 / (double)clients;
            s->digits[at] = MFPG_DIGITS_FLOATS; /* sums by hand are floats */
            s->shown[at] = MFPG_SHOWS_NONE;
            if (game->federation->promise.view == MFPG_VIEW_LOCAL && status == MFPG_OK)
                status = mfpg_digits_of_update(ctx, game, k, w, u, s);
            for (ptrdiff_t i = 0; i < n; i++) sum[i] += (double)u[i] / (double)clients;
        }
        for (ptrdiff_t i = 0; i < n; i++) w[i] = (float)sum[i];
        s->global[s->rounds + 1] = mfpg_canary_project(n, w);
    }
    free(w);
    free(u);
    free(sum);
    free(work);
    return status;
}

static inline mfpg_status play_fault(mfpg_context *ctx, const mfpg_audit_game *game, const mfpg_key *key,
    mfpg_canary_data *canaries, mfpg_transcript *s, void *arg) {
    const plant *p = arg;
    const mfpg_key fixed = mfpg_key_from_seed(77);
    if (p->kind == FAULT_AS_PROMISED) return mfpg_audit_play_federation(ctx, game, key, canaries, s, NULL);
    if (p->kind == FAULT_OTHER_MECHANISM) {
        mfpg_audit_game other = *game;
        other.mechanism = p->mechanism;
        other.action = p->action;
        return mfpg_audit_play_federation(ctx, &other, key, canaries, s, NULL);
    }
    if (p->kind == FAULT_BLIND) {
        mfpg_transcript shown = *s;
        double *nothing = calloc((size_t)(game->rounds * game->clients), sizeof *nothing);
        shown.value = nothing;
        mfpg_status status = mfpg_audit_play_federation(ctx, game, key, canaries, &shown, NULL);
        s->rounds = shown.rounds;
        free(nothing);
        return status;
    }
    return play_by_hand(ctx, game, p->kind == FAULT_SEED_REUSED ? &fixed : key, canaries, s, p);
}

/* Audits a subject that promises `promised` (clients of them) while `play` is what is played. excess: of the canaries. */
static inline void audit_with(
    subject *s, const mfpg_audit_promise *promised, mfpg_audit_play play, void *arg, double excess) {
    mfpg_model *canary = NULL;
    mfpg_audit_law law[MOST_CLIENTS];
    s->options.evaluate = MFPG_EVALUATE_NONE;
    CHECK_OK(s->ctx, mfpg_canary_model_create(s->ctx, s->model, &canary));
    mfpg_audit_game game = {.options = &s->audit,
        .federation = &s->options,
        .data = s->data,
        .model = canary,
        .mechanism = s->mechanisms,
        .action = s->action,
        .law = law,
        .excess = excess,
        .clients = s->data->clients,
        .rounds = s->options.rounds,
        .delta = s->options.delta,
        .play = play,
        .play_arg = arg};
    CHECK_OK(s->ctx, mfpg_audit_laws(s->ctx, &game, law));
    mfpg_status status = s->audit.method == MFPG_AUDIT_RANKS
                             ? mfpg_audit_run(s->ctx, &game, promised, s->client, &s->plan)
                             : mfpg_audit_run_many(s->ctx, &game, promised, s->client, &s->plan);
    CHECK_OK(s->ctx, status);
    mfpg_model_destroy(canary);
}

static inline void audit_fault(subject *s, const mfpg_audit_promise *promised, plant *p, double excess) {
    audit_with(s, promised, play_fault, p, excess);
}

/* mu of that many rounds at multiplier z under an adjacency, as an honest certificate has it. */
static inline mfpg_audit_promise promise_of(double multiplier, int64_t rounds, mfpg_adjacency adjacency) {
    double mu = (adjacency == MFPG_ADJACENCY_REPLACE ? 2.0 : 1.0) * sqrt((double)rounds) / multiplier;
    return (mfpg_audit_promise){.mu = mu * (1.0 + 1e-9),
        .epsilon = mfpg_gdp_epsilon(mu * (1.0 + 1e-9), 1e-5),
        .round_mu = NAN,
        .auc_cap = NAN,
        .distance = mfpg_gdp_delta(mu * (1.0 + 1e-9), 0.0),
        .paper_delta = NAN};
}

#endif
