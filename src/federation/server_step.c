/* Computes the next global model from the round's average and from the state that a server optimiser keeps
 * between rounds. This is post-processing of what has been released and accounted for. */
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "federation_core.h"
#include "optimisers/optimiser.h"

struct server_step {
    const mfpg_server_optimiser *optimiser;
    double *memory;    /* vectors x dimension */
    ptrdiff_t numbers; /* in it */
};

static mfpg_status begin(mfpg_context *ctx, mfpg_federation *f) {
    const mfpg_server_optimiser *optimiser;
    mfpg_status status = mfpg_server_optimiser_find(ctx, &f->options.server, &optimiser);
    if (status != MFPG_OK || mfpg_server_is_plain(&f->options.server)) return status;
    server_step *own = f->server = mfpg_pool_own(&f->kept, mfpg_alloc(1, sizeof *own));
    if (!own) return mfpg_fail_memory(ctx);
    /* the caller's string may be freed, so the static name is kept */
    f->options.server.kind = optimiser->name;
    own->optimiser = optimiser;
    own->numbers = optimiser->vectors * f->dimension;
    own->memory = mfpg_pool_own(&f->kept, mfpg_alloc(own->numbers, sizeof *own->memory));
    return f->kept.failed ? mfpg_fail_memory(ctx) : MFPG_OK;
}

mfpg_status mfpg_federation_publish(mfpg_context *ctx, mfpg_federation *f, const float *average) {
    if (!f->server) {
        memcpy(f->w, average, (size_t)f->dimension * sizeof *f->w);
        return MFPG_OK;
    }
    f->server->optimiser->step(&f->options.server, f->dimension, average, f->server->memory, f->w);
    for (ptrdiff_t i = 0; i < f->dimension; i++)
        if (!isfinite(f->w[i]))
            return mfpg_fail(ctx, MFPG_ERR_NUMERIC,
                "round %lld: server.optimiser %s: parameter %td is no longer finite; a smaller "
                "server.learning_rate may help",
                (long long)f->round + 1, f->server->optimiser->name, i);
    return MFPG_OK;
}

/* ---- from round to round ---- */

static int64_t bytes(const mfpg_federation *f) {
    return f->server ? (int64_t)f->server->numbers * (int64_t)sizeof(double) : 0;
}

static void save(const mfpg_federation *f, void *to) {
    memcpy(to, f->server->memory, (size_t)bytes(f));
}

static mfpg_status restore(mfpg_context *ctx, mfpg_federation *f, const void *from) {
    memcpy(f->server->memory, from, (size_t)bytes(f));
    for (ptrdiff_t i = 0; i < f->server->numbers; i++)
        if (!isfinite(f->server->memory[i]))
            return mfpg_fail(ctx, MFPG_ERR_INPUT, "number %td of the server's optimiser is not finite", i);
    return MFPG_OK;
}

const federation_part mfpg_part_server = {.begin = begin, .bytes = bytes, .save = save, .restore = restore};
