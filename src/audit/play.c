/* One run by the library's federation, watched along the canary's direction. */
#include "game.h"

#include <string.h>

#include "federation/internal.h"

/* <w, v_j>. */
static double project(const mfpg_audit_game *game, const mfpg_transcript *s, ptrdiff_t j, const float *w) {
    if (game->input) return mfpg_input_project(game->input, w);
    return mfpg_canary_project_on(mfpg_model_parameters(game->model), s->directions, j, w);
}

typedef struct watch {
    const mfpg_audit_game *game;
    mfpg_transcript *transcript;
} watch;

static void see(void *user, ptrdiff_t client, double weight, const float *model) {
    const watch *w = user;
    mfpg_transcript *s = w->transcript;
    ptrdiff_t clients = w->game->clients;
    ptrdiff_t at = (ptrdiff_t)s->rounds * clients + client, plane = (ptrdiff_t)w->game->rounds * clients;
    for (ptrdiff_t j = 0; j < s->planes && !w->game->records; j++)
        s->local[j * plane + at] =
            project(w->game, s, s->planes < s->directions ? client % s->directions : j, model);
    s->weight[at] = weight;
}

/* The members' noised records behind a round. */
static void see_records(const mfpg_audit_game *game, const mfpg_canary_data *canaries,
    const mfpg_federation *federation, mfpg_transcript *s) {
    for (ptrdiff_t k = 0; k < game->clients; k++) {
        ptrdiff_t at = (ptrdiff_t)s->rounds * game->clients + k;
        if (s->weight[at] == 0.0) continue;
        s->local[at] = mfpg_record_look(canaries, k, &federation->records[k]);
        s->beside[at] = mfpg_record_look_beside(canaries, k, &federation->records[k]);
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
    watch watching = {.game = game, .transcript = s};
    const mfpg_key cohorts = mfpg_key_from_seed(game->options->seed);
    mfpg_federation_watch(federation, see, &watching);
    mfpg_federation_share_cohorts(federation, &cohorts); /* as in the run that made the promises */
    memset(s->weight, 0, (size_t)cells * sizeof *s->weight);
    if (s->planes > 0) memset(s->local, 0, (size_t)(s->planes * cells) * sizeof *s->local);
    see_global(game, s, 0, mfpg_federation_model(federation));
    for (s->rounds = 0; s->rounds < game->rounds && status == MFPG_OK; s->rounds++) {
        mfpg_round_report report;
        int done = 0;
        give(game, s, canaries);
        status = mfpg_federation_round(ctx, federation, &report, &done);
        if (done) break; /* nobody has budget left */
        if (game->records && status == MFPG_OK) see_records(game, canaries, federation, s);
        see_global(game, s, s->rounds + 1, mfpg_federation_model(federation));
    }
    mfpg_federation_destroy(federation);
    return status;
}
