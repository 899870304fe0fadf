#include "optimiser.h"

#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/names.h"

#define ENTRY(id) extern const mfpg_local_optimiser mfpg_local_##id;
#include "local.def"
#undef ENTRY
#define ENTRY(id) extern const mfpg_server_optimiser mfpg_server_##id;
#include "server.def"
#undef ENTRY

static const mfpg_local_optimiser *const LOCAL[] = {
#define ENTRY(id) &mfpg_local_##id,
#include "local.def"
#undef ENTRY
};

static const mfpg_server_optimiser *const SERVER[] = {
#define ENTRY(id) &mfpg_server_##id,
#include "server.def"
#undef ENTRY
};

enum { LOCALS = sizeof LOCAL / sizeof LOCAL[0], SERVERS = sizeof SERVER / sizeof SERVER[0] };

mfpg_local_optimiser_options mfpg_local_optimiser_options_default(void) {
    return (mfpg_local_optimiser_options){.kind = "sgd", .momentum = 0.9};
}

mfpg_server_optimiser_options mfpg_server_optimiser_options_default(void) {
    return (mfpg_server_optimiser_options){
        .kind = "sgd", .learning_rate = 1.0, .momentum = 0.9, .second_moment = 0.99, .floor = 1e-3};
}

const char *mfpg_local_optimiser_name(ptrdiff_t index) {
    return index >= 0 && index < LOCALS ? LOCAL[index]->name : NULL;
}

const char *mfpg_local_optimiser_help(ptrdiff_t index) {
    return index >= 0 && index < LOCALS ? LOCAL[index]->help : NULL;
}

const char *mfpg_server_optimiser_name(ptrdiff_t index) {
    return index >= 0 && index < SERVERS ? SERVER[index]->name : NULL;
}

const char *mfpg_server_optimiser_help(ptrdiff_t index) {
    return index >= 0 && index < SERVERS ? SERVER[index]->help : NULL;
}

/* Returns the index of a name in a list, or -1. */
static int find(const char *name, const char *(*name_of)(ptrdiff_t index)) {
    for (int i = 0; name_of(i); i++)
        if (strcmp(name, name_of(i)) == 0) return i;
    return -1;
}

int mfpg_local_optimiser_reads(const char *name) {
    int at = find(name, mfpg_local_optimiser_name);
    return at < 0 ? 0 : LOCAL[at]->reads;
}

int mfpg_server_optimiser_reads(const char *name) {
    int at = find(name, mfpg_server_optimiser_name);
    return at < 0 ? 0 : SERVER[at]->reads;
}

static mfpg_status unknown(
    mfpg_context *ctx, const char *what, const char *name, const char *(*name_of)(ptrdiff_t index)) {
    const char *names[LOCALS + SERVERS];
    int count = 0;
    for (; name_of(count); count++) names[count] = name_of(count);
    return mfpg_names_unknown(ctx, what, name, names, count);
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
    int at = o->kind ? find(o->kind, mfpg_local_optimiser_name) : 0;
    if (at < 0) return unknown(ctx, "optimiser", o->kind, mfpg_local_optimiser_name);
    *out = LOCAL[at];
    return (*out)->reads & MFPG_OPTIMISER_READS_MOMENTUM ? check_share(ctx, "momentum", o->momentum)
                                                         : MFPG_OK;
}

mfpg_status mfpg_server_optimiser_find(
    mfpg_context *ctx, const mfpg_server_optimiser_options *o, const mfpg_server_optimiser **out) {
    int at = o->kind ? find(o->kind, mfpg_server_optimiser_name) : 0;
    if (at < 0) return unknown(ctx, "server optimiser", o->kind, mfpg_server_optimiser_name);
    int reads = SERVER[at]->reads;
    mfpg_status status = check_positive(ctx, "learning rate of the server", o->learning_rate);
    if (status == MFPG_OK && reads & MFPG_OPTIMISER_READS_MOMENTUM)
        status = check_share(ctx, "momentum of the server", o->momentum);
    if (status == MFPG_OK && reads & MFPG_OPTIMISER_READS_SECOND_MOMENT)
        status = check_share(ctx, "second moment of the server", o->second_moment);
    if (status == MFPG_OK && reads & MFPG_OPTIMISER_READS_SECOND_MOMENT)
        status = check_positive(ctx, "floor of the server", o->floor);
    *out = SERVER[at];
    return status;
}

int mfpg_server_is_plain(const mfpg_server_optimiser_options *o) {
    int at = o->kind ? find(o->kind, mfpg_server_optimiser_name) : 0;
    return at >= 0 && SERVER[at]->averages && o->learning_rate == 1.0;
}
