#include "mfpg/mechanism.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/names.h"
#include "ops.h"

#define ENTRY(id) extern const mfpg_mechanism_ops mfpg_mechanism_##id;
#include "mechanisms.def"
#undef ENTRY

static const mfpg_mechanism_ops *const KINDS[] = {
#define ENTRY(id) &mfpg_mechanism_##id,
#include "mechanisms.def"
#undef ENTRY
};

enum { KIND_COUNT = sizeof KINDS / sizeof KINDS[0] };

const char *mfpg_mechanism_name(ptrdiff_t index) {
    return index >= 0 && index < KIND_COUNT ? KINDS[index]->name : NULL;
}

const char *mfpg_mechanism_help(ptrdiff_t index) {
    return index >= 0 && index < KIND_COUNT ? KINDS[index]->help : NULL;
}

mfpg_mechanism_kind mfpg_mechanism_kind_of(const char *name) {
    for (int i = 0; name && i < KIND_COUNT; i++) {
        const mfpg_mechanism_ops *ops = KINDS[i];
        if (strcmp(name, ops->name) == 0)
            return (mfpg_mechanism_kind){ops->control, ops->particles, ops->of_data != NULL, ops->flow};
    }
    return (mfpg_mechanism_kind){0};
}

static mfpg_status find_kind(mfpg_context *ctx, const char *kind, const mfpg_mechanism_ops **out) {
    const char *names[KIND_COUNT];
    for (int i = 0; i < KIND_COUNT; i++) {
        names[i] = KINDS[i]->name;
        if (!kind || strcmp(kind, names[i]) != 0) continue;
        *out = KINDS[i];
        return MFPG_OK;
    }
    return mfpg_names_unknown(ctx, "mechanism", kind, names, KIND_COUNT);
}

/* The form of the mechanism over what the options name. */
static mfpg_status choose_particles(
    mfpg_context *ctx, const mfpg_mechanism_options *options, const mfpg_mechanism_ops **ops) {
    if (options->particles == MFPG_PARTICLES_PARAMETERS) return MFPG_OK;
    if ((*ops)->of_data) *ops = (*ops)->of_data;
    if ((*ops)->particles != MFPG_PARTICLES_DATA)
        return mfpg_fail(ctx, MFPG_ERR_INPUT, "mechanism %s noises parameters only, no data", (*ops)->name);
    if (options->regularisation.value > 0.0)
        return mfpg_fail(ctx, MFPG_ERR_INPUT,
            "mechanism %s: particles are data, and the Sinkhorn projection is one of parameters",
            (*ops)->name);
    return MFPG_OK;
}

mfpg_status mfpg_mechanism_create(
    mfpg_context *ctx, const mfpg_mechanism_options *options, mfpg_mechanism **out) {
    const mfpg_mechanism_ops *ops = NULL;
    mfpg_status status = find_kind(ctx, options->kind, &ops);
    if (status == MFPG_OK) status = mfpg_mechanism_options_validate(ctx, options);
    if (status == MFPG_OK) status = choose_particles(ctx, options, &ops);
    if (status != MFPG_OK) return status;
    mfpg_mechanism *mechanism = mfpg_alloc(1, sizeof *mechanism);
    if (!mechanism) return mfpg_fail_memory(ctx);
    mechanism->ops = ops;
    mechanism->options = *options;
    mechanism->options.kind = ops->name; /* the caller's text need not live on */
    *out = mechanism;
    return MFPG_OK;
}

void mfpg_mechanism_destroy(mfpg_mechanism *mechanism) {
    free(mechanism);
}

mfpg_control mfpg_mechanism_control(const mfpg_mechanism *mechanism) {
    return mechanism->ops->control;
}

mfpg_particles mfpg_mechanism_particles(const mfpg_mechanism *mechanism) {
    return mechanism->ops->particles;
}

/* Strengths are the entropic flow's alone. */
int mfpg_mechanism_flow(const mfpg_mechanism *mechanism, mfpg_flow *out) {
    const mfpg_mechanism_options *o = &mechanism->options;
    *out = (mfpg_flow){0};
    if (mechanism->ops->control != MFPG_CONTROL_STRENGTH) return 0;
    *out = (mfpg_flow){o->step, o->prior_variance, o->variance_penalty};
    return 1;
}

int mfpg_mechanism_projects(const mfpg_mechanism *mechanism) {
    return mechanism->ops->project && mechanism->options.regularisation.value > 0.0;
}
