#include "optimiser.h"

#include <math.h>

#include "base/error.h"
#include "base/names.h"

#define ENTRY(id) extern const mfpg_local_optimiser mfpg_local_##id;
#include "local.def"
#undef ENTRY
#define ENTRY(id) extern const mfpg_server_optimiser mfpg_server_##id;
#include "server.def"
#undef ENTRY

static const void *const LOCAL[] = {
#define ENTRY(id) &mfpg_local_##id,
#include "local.def"
#undef ENTRY
};

static const void *const SERVER[] = {
#define ENTRY(id) &mfpg_server_##id,
#include "server.def"
#undef ENTRY
};

const mfpg_kinds mfpg_local_optimisers = MFPG_KINDS(LOCAL), mfpg_server_optimisers = MFPG_KINDS(SERVER);

mfpg_local_optimiser_options mfpg_local_optimiser_options_default(void) {
    return (mfpg_local_optimiser_options){.kind = "sgd", .momentum = 0.9};
}

mfpg_server_optimiser_options mfpg_server_optimiser_options_default(void) {
    return (mfpg_server_optimiser_options){
        .kind = "sgd", .learning_rate = 1.0, .momentum = 0.9, .second_moment = 0.99, .floor = 1e-3};
}

int mfpg_local_optimiser_reads(const char *name) {
    const mfpg_local_optimiser *found = mfpg_kind_find(&mfpg_local_optimisers, name);
    return found ? found->reads : 0;
}

int mfpg_server_optimiser_reads(const char *name) {
    const mfpg_server_optimiser *found = mfpg_kind_find(&mfpg_server_optimisers, name);
    return found ? found->reads : 0;
}

static mfpg_status check_share(mfpg_context *ctx, const char *name, double value) {
    if (value >= 0.0 && value < 1.0) return MFPG_OK;
    return mfpg_fail(ctx, MFPG_ERR_DOMAIN, "%s %g; it must lie in [0, 1)", name, value);
}

static mfpg_status check_positive(mfpg_context *ctx, const char *name, double value) {
    if (value > 0.0 && isfinite(value)) return MFPG_OK;
    return mfpg_fail(ctx, MFPG_ERR_DOMAIN, "%s %g; it must be a finite number above 0", name, value);
}

mfpg_status mfpg_local_optimiser_find(
    mfpg_context *ctx, const mfpg_local_optimiser_options *o, const mfpg_local_optimiser **out) {
    *out = o->kind ? mfpg_kind_find(&mfpg_local_optimisers, o->kind) : LOCAL[0];
    if (!*out) return mfpg_kind_unknown(ctx, "optimiser", o->kind, &mfpg_local_optimisers, NULL);
    return (*out)->reads & MFPG_OPTIMISER_READS_MOMENTUM ? check_share(ctx, "momentum", o->momentum)
                                                         : MFPG_OK;
}

mfpg_status mfpg_server_optimiser_find(
    mfpg_context *ctx, const mfpg_server_optimiser_options *o, const mfpg_server_optimiser **out) {
    *out = o->kind ? mfpg_kind_find(&mfpg_server_optimisers, o->kind) : SERVER[0];
    if (!*out) return mfpg_kind_unknown(ctx, "server optimiser", o->kind, &mfpg_server_optimisers, NULL);
    int reads = (*out)->reads;
    mfpg_status status = check_positive(ctx, "learning rate of the server", o->learning_rate);
    if (status == MFPG_OK && reads & MFPG_OPTIMISER_READS_MOMENTUM)
        status = check_share(ctx, "momentum of the server", o->momentum);
    if (status == MFPG_OK && reads & MFPG_OPTIMISER_READS_SECOND_MOMENT)
        status = check_share(ctx, "second moment of the server", o->second_moment);
    if (status == MFPG_OK && reads & MFPG_OPTIMISER_READS_SECOND_MOMENT)
        status = check_positive(ctx, "floor of the server", o->floor);
    return status;
}

int mfpg_server_is_plain(const mfpg_server_optimiser_options *o) {
    const mfpg_server_optimiser *own = o->kind ? mfpg_kind_find(&mfpg_server_optimisers, o->kind) : SERVER[0];
    return own && own->averages && o->learning_rate == 1.0;
}
