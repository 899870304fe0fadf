/* One run by the library's federation, watched along the canary's direction. */
#include "game.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
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
    float *before; /* parameters: the global model of the round; NULL if digits do not matter */
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

/* Whether the digits of releases are looked at: of parameters that are not projected, in views of every round. */
static int looks_at_digits(const mfpg_audit_game *game) {
    if (game->records || game->federation->promise.view == MFPG_VIEW_FINAL) return 0;
    for (ptrdiff_t k = 0; k < game->clients; k++)
        if (mfpg_mechanism_projects(game->mechanism[k])) return 0;
    return 1;
}

/* The digits of the global model are the same for every client that hides in it. */
static void see_digits(const watch *w, const mfpg_federation *federation) {
    const mfpg_audit_game *game = w->game;
    mfpg_transcript *s = w->transcript;
    if (!w->before || game->federation->promise.view == MFPG_VIEW_LOCAL) return;
    mfpg_digits_kind kind = mfpg_digits_of_sum(mfpg_model_parameters(game->model),
        federation->shares ? federation->plan->grid : 0.0, w->before, mfpg_federation_model(federation));
    for (ptrdiff_t k = 0; k < game->clients; k++) s->digits[(ptrdiff_t)s->rounds * game->clients + k] = kind;
}

static mfpg_status watch_open(mfpg_context *ctx, watch *w) {
    if (!looks_at_digits(w->game)) return MFPG_OK;
    w->before = mfpg_alloc_floats(mfpg_model_parameters(w->game->model));
    return w->before ? MFPG_OK : mfpg_fail_memory(ctx);
}

static void keep_model(const watch *w, const float *model) {
    if (w->before)
        memcpy(w->before, model, (size_t)mfpg_model_parameters(w->game->model) * sizeof *w->before);
}

/* The members' noised records behind a round. */
static void see_records(const mfpg_audit_game *game, const mfpg_canary_data *canaries,
    const mfpg_federation *federation, mfpg_transcript *s) {
    for (ptrdiff_t k = 0; k < game->clients; k++) {
        ptrdiff_t at = (ptrdiff_t)s->rounds * game->clients + k;
        if (s->weight[at] == 0.0) continue;
        s->local[at] = mfpg_record_look(canaries, k, &federation->records->of_client[k]);
        s->beside[at] = mfpg_record_look_beside(canaries, k, &federation->records->of_client[k]);
    }
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
        for (ptrdiff_t i = 0; i < s->each && s->each > 1; i++)
            mfpg_canary_set_one(canaries, k, i, s->value[i * plane + at + k]);
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
    status = watch_open(ctx, &watching);
    const mfpg_key cohorts = mfpg_key_from_seed(game->options->seed);
    mfpg_federation_watch(federation, see, &watching);
    mfpg_federation_share_cohorts(federation, &cohorts); /* as in the run that made the promises */
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
        keep_model(&watching, mfpg_federation_model(federation));
        status = mfpg_federation_round(ctx, federation, &report, &done);
        if (done) break; /* nobody has budget left */
        if (watching.failed && status == MFPG_OK) status = mfpg_fail_memory(ctx);
        if (game->records && status == MFPG_OK) see_records(game, canaries, federation, s);
        if (status == MFPG_OK) see_digits(&watching, federation);
        see_global(game, s, s->rounds + 1, mfpg_federation_model(federation));
    }
    free(watching.before);
    mfpg_federation_destroy(federation);
    return status;
}
