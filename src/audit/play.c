/* One run by the library's federation, watched along the canary's direction. */
#include "game.h"

#include <string.h>

#include "federation/internal.h"

typedef struct watch {
    const mfpg_audit_game *game;
    double *local, *weight; /* of the round */
} watch;

static void see(void *user, ptrdiff_t client, double weight, const float *model) {
    watch *w = user;
    w->local[client] = mfpg_canary_project(mfpg_model_parameters(w->game->model), model);
    w->weight[client] = weight;
}

mfpg_status mfpg_audit_play_federation(mfpg_context *ctx, const mfpg_audit_game *game, const mfpg_key *key,
    mfpg_canary_data *canaries, mfpg_transcript *s, void *arg) {
    ptrdiff_t n = mfpg_model_parameters(game->model), clients = game->clients;
    mfpg_federation *federation = NULL;
    (void)arg;
    mfpg_status status = mfpg_federation_create(
        ctx, game->federation, &canaries->data, game->model, game->mechanism, game->action, key, &federation);
    if (status != MFPG_OK) return status;
    watch watching = {.game = game};
    const mfpg_key cohorts = mfpg_key_from_seed(game->options->seed);
    mfpg_federation_watch(federation, see, &watching);
    mfpg_federation_share_cohorts(federation, &cohorts); /* as in the run that made the promises */
    memset(s->weight, 0, (size_t)(game->rounds * clients) * sizeof *s->weight);
    memset(s->local, 0, (size_t)(game->rounds * clients) * sizeof *s->local);
    s->global[0] = mfpg_canary_project(n, mfpg_federation_model(federation));
    for (s->rounds = 0; s->rounds < game->rounds && status == MFPG_OK; s->rounds++) {
        mfpg_round_report report;
        int done = 0;
        watching.local = s->local + s->rounds * clients;
        watching.weight = s->weight + s->rounds * clients;
        for (ptrdiff_t k = 0; k < clients; k++)
            mfpg_canary_set(canaries, k, s->value[s->rounds * clients + k]);
        status = mfpg_federation_round(ctx, federation, &report, &done);
        if (done) break; /* nobody has budget left */
        s->global[s->rounds + 1] = mfpg_canary_project(n, mfpg_federation_model(federation));
    }
    mfpg_federation_destroy(federation);
    return status;
}
