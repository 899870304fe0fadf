/* Makes one run with the library's federation and observes it along the canary's direction. */
#include <stdlib.h>
#include <string.h>

#include "audit_game.h"
#include "base/error.h"
#include "base/memory.h"
#include "base/streams.h"
#include "federation/federation_core.h"
#include "mechanisms/mechanism_ops.h"

/* <w, v_j>. */
static double project(const mfpg_audit_game *game, const mfpg_transcript *s, ptrdiff_t j, const float *w) {
    if (game->input) return mfpg_input_project(game->input, w);
    return mfpg_canary_project_on(mfpg_model_parameters(game->model), s->directions, j, w);
}

typedef struct watch {
    const mfpg_audit_game *game;
    mfpg_transcript *transcript;
    mfpg_context *ctx;
    float *before; /* one per parameter: the global model of the round; NULL if digits are not read */
    int failed;    /* 1: out of memory */
} watch;

static void see(void *user, ptrdiff_t client, double weight, const float *model) {
    watch *w = user;
    mfpg_transcript *s = w->transcript;
    ptrdiff_t clients = w->game->clients;
    ptrdiff_t at = (ptrdiff_t)s->rounds * clients + client, plane = (ptrdiff_t)w->game->rounds * clients;
    for (ptrdiff_t j = 0; j < s->planes && !w->game->records; j++)
        s->local[j * plane + at] = project(w->game, s, mfpg_plane_direction(s, client, j), model);
    s->weight[at] = weight;
    if (w->before && w->game->federation->promise.view == MFPG_VIEW_LOCAL &&
        mfpg_digits_of_update(w->ctx, w->game, client, w->before, model, s) != MFPG_OK)
        w->failed = 1;
}

/* Returns whether the digits of releases are read: they are for parameters that are not projected, in views
 * of every round. */
static int looks_at_digits(const mfpg_audit_game *game) {
    if (game->records || game->federation->promise.view == MFPG_VIEW_FINAL) return 0;
    for (ptrdiff_t k = 0; k < game->clients; k++)
        if (mfpg_mechanism_projects(game->mechanism[k])) return 0;
    return 1;
}

static void see_global(const mfpg_audit_game *game, mfpg_transcript *s, int64_t round, const float *w) {
    for (ptrdiff_t j = 0; j < s->directions && !game->records; j++)
        s->global[j * (ptrdiff_t)(game->rounds + 1) + round] = project(game, s, j, w);
}

static void give(const mfpg_audit_game *game, const mfpg_transcript *s, mfpg_canary_data *canaries) {
    ptrdiff_t at = (ptrdiff_t)s->rounds * game->clients, plane = (ptrdiff_t)game->rounds * game->clients;
    for (ptrdiff_t k = 0; k < game->clients; k++) {
        if (game->records)
            mfpg_record_set(canaries, game->mechanism[k], k, s->value[at + k], game->excess);
        else if (game->input)
            mfpg_input_set(game->input, canaries, k, s->value[at + k]);
        else if (s->each == 1)
            mfpg_canary_set(canaries, k, s->value[at + k]);
        for (ptrdiff_t i = 0; i < canaries->hot[k] && s->each > 1; i++)
            canaries->data.client[k].train.y[i] = (float)s->value[i * plane + at + k];
    }
}

mfpg_status mfpg_audit_play_federation(mfpg_context *ctx, const mfpg_audit_game *game, const mfpg_key *key,
    mfpg_canary_data *canaries, mfpg_transcript *s, void *arg) {
    ptrdiff_t cells = (ptrdiff_t)game->rounds * game->clients;
    mfpg_federation *federation = NULL;
    (void)arg;
    mfpg_status status = mfpg_federation_create(
        ctx, game->federation, &canaries->data, game->model, game->mechanism, game->action, key, &federation);
    if (status != MFPG_OK) return status;
    watch watching = {.game = game, .transcript = s, .ctx = ctx};
    size_t size = (size_t)mfpg_model_parameters(game->model) * sizeof *watching.before;
    if (looks_at_digits(game) && !(watching.before = mfpg_alloc_floats(mfpg_model_parameters(game->model))))
        status = mfpg_fail_memory(ctx);
    const mfpg_key cohorts = mfpg_key_from_seed(game->options->seed);
    mfpg_federation_watch(federation, see, &watching);
    /* the same cohorts as in the run that made the promises */
    mfpg_federation_share_cohorts(federation, &cohorts);
    memset(s->weight, 0, (size_t)cells * sizeof *s->weight);
    memset(s->digits, 0, (size_t)cells * sizeof *s->digits); /* unknown */
    if (s->planes > 0) {
        memset(s->local, 0, (size_t)(s->planes * cells) * sizeof *s->local);
        memset(s->shown, MFPG_SHOWS_NONE, (size_t)(s->planes * cells));
    }
    see_global(game, s, 0, mfpg_federation_model(federation));
    for (s->rounds = 0; s->rounds < game->rounds && status == MFPG_OK; s->rounds++) {
        mfpg_round_report report;
        int done = 0;
        give(game, s, canaries);
        if (watching.before) memcpy(watching.before, mfpg_federation_model(federation), size);
        status = mfpg_federation_round(ctx, federation, &report, &done);
        if (done) break; /* nobody has budget left */
        if (watching.failed && status == MFPG_OK) status = mfpg_fail_memory(ctx);
        const float *model = mfpg_federation_model(federation);
        ptrdiff_t row = (ptrdiff_t)s->rounds * game->clients;
        for (ptrdiff_t k = 0; k < game->clients && game->records && status == MFPG_OK; k++) {
            if (s->weight[row + k] == 0.0) continue; /* else its noised records */
            s->local[row + k] = mfpg_record_look(canaries, k, &federation->records->of_client[k]);
            s->beside[row + k] = mfpg_record_look_beside(canaries, k, &federation->records->of_client[k]);
        }
        if (status == MFPG_OK && watching.before && game->federation->promise.view != MFPG_VIEW_LOCAL) {
            /* The digits of the global model are the same for every client in it. */
            mfpg_digits_kind kind = mfpg_digits_of_sum(mfpg_model_parameters(game->model),
                federation->shares ? federation->plan->grid : 0.0, watching.before, model);
            for (ptrdiff_t k = 0; k < game->clients; k++) s->digits[row + k] = kind;
        }
        see_global(game, s, s->rounds + 1, model);
    }
    free(watching.before);
    mfpg_federation_destroy(federation);
    return status;
}

/* ---- players ---- */

mfpg_status mfpg_audit_canaries(mfpg_context *ctx, const mfpg_audit_game *game, ptrdiff_t each,
    ptrdiff_t directions, mfpg_canary_data *out) {
    if (game->records)
        return mfpg_record_data_create(ctx, game->model->features, game->data, game->mechanism, out);
    if (game->input) return mfpg_input_data_create(ctx, game->input, game->data, game->mechanism, out);
    return mfpg_canary_data_create(ctx, game->data, game->mechanism, game->excess, each, directions, out);
}

mfpg_status mfpg_player_create(mfpg_context *ctx, const mfpg_audit_game *game, ptrdiff_t each,
    ptrdiff_t directions, ptrdiff_t planes, mfpg_player *p) {
    ptrdiff_t cells = (ptrdiff_t)game->rounds * game->clients;
    size_t numbers = (size_t)cells * sizeof(double);
    mfpg_transcript *s = &p->transcript;
    mfpg_status status = mfpg_audit_canaries(ctx, game, each, directions, &p->canaries);
    if (status != MFPG_OK) return status;
    s->directions = directions;
    s->each = each;
    s->planes = planes;
    s->global = mfpg_pool_alloc(&p->memory, directions, ((size_t)game->rounds + 1) * sizeof(double));
    s->local = mfpg_pool_alloc(&p->memory, planes > 0 ? planes : 1, numbers);
    s->weight = mfpg_pool_alloc(&p->memory, 1, numbers);
    s->value = p->value = mfpg_pool_alloc(&p->memory, each, numbers);
    s->digits = mfpg_pool_alloc(&p->memory, cells, sizeof *s->digits);
    s->shown = mfpg_pool_alloc(&p->memory, planes > 0 ? planes : 1, (size_t)cells);
    if (game->records) s->beside = mfpg_pool_alloc(&p->memory, 1, numbers);
    p->coin = mfpg_pool_alloc(&p->memory, each, (size_t)cells);
    return p->memory.failed ? mfpg_fail_memory(ctx) : MFPG_OK;
}

void mfpg_player_clear(mfpg_player *p) {
    mfpg_canary_data_clear(&p->canaries);
    mfpg_pool_clear(&p->memory);
}

mfpg_status mfpg_player_run(
    mfpg_context *ctx, const mfpg_audit_game *game, const mfpg_stream *stream, int64_t run, mfpg_player *p) {
    mfpg_key key = {.seeded = 1};
    mfpg_stream_bytes(stream, 0, sizeof key.bytes, key.bytes);
    mfpg_status status = game->play(ctx, game, &key, &p->canaries, &p->transcript, game->play_arg);
    return status == MFPG_OK ? status : mfpg_fail_in(ctx, status, "run %lld", (long long)run + 1);
}

void mfpg_audit_signs(const mfpg_stream *stream, int64_t rounds, signed char *sign) {
    int64_t plus = 0;
    for (int64_t t = 0; t < rounds; t++) {
        sign[t] = mfpg_stream_below(stream, (uint64_t)t, 2) == 1 ? 1 : -1;
        plus += sign[t] > 0;
    }
    if (plus == 0 || plus == rounds) sign[rounds - 1] *= -1;
}
