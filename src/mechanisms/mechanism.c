#include "mechanism_ops.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/names.h"
#include "base/number.h"

#define ENTRY(id) extern const mfpg_mechanism_ops mfpg_mechanism_##id;
#include "mechanisms.def"
#undef ENTRY

static const void *const KINDS[] = {
#define ENTRY(id) &mfpg_mechanism_##id,
#include "mechanisms.def"
#undef ENTRY
};

const mfpg_kinds mfpg_mechanisms = MFPG_KINDS(KINDS);

mfpg_mechanism_kind mfpg_mechanism_kind_of(const char *name) {
    const mfpg_mechanism_ops *ops = mfpg_kind_find(&mfpg_mechanisms, name);
    if (!ops) return (mfpg_mechanism_kind){0};
    return (mfpg_mechanism_kind){ops->control, ops->particles, ops->of_data != NULL, ops->flow};
}

/* ---- options ---- */

/* Positive numbers must be this far inside the range of float, so that products of a few of them are in
 * range too. */
#define SMALLEST 1e-30
#define LARGEST  1e30

mfpg_mechanism_options mfpg_mechanism_options_default(void) {
    return (mfpg_mechanism_options){
        .kind = "gaussian",
        .promise = {.unit = MFPG_UNIT_CLIENT, .adjacency = MFPG_ADJACENCY_ZERO_OUT, .view = MFPG_VIEW_LOCAL},
        .clip = 1.0,
        .clip_at = MFPG_CLIP_STEP,
        .delta = 1e-5,
        .law = MFPG_LAW_GAME,
        .learning_rate = 0.01,
        .step = 0.1,
        .prior_variance = 1.0,
        .variance_penalty = 0.01,
        .scale = MFPG_SCALE_ABSOLUTE,
        .transport_cap = 512,
        .local_steps = 1,
        .optimiser = mfpg_local_optimiser_options_default(),
        .batch_rate = 1.0,
        .sum_rounding = 0x1p-10,
    };
}

static mfpg_status out_of_range(mfpg_context *ctx, const char *name, double value, double low, double high) {
    char found[MFPG_NUMBER_SIZE], from[MFPG_NUMBER_SIZE], to[MFPG_NUMBER_SIZE];
    return mfpg_fail(ctx, MFPG_ERR_DOMAIN, "%s %s; allowed: %s to %s", name, mfpg_number_format(value, found),
        mfpg_number_format(low, from), mfpg_number_format(high, to));
}

static mfpg_status validate_ranges(mfpg_context *ctx, const mfpg_mechanism_options *o) {
    const struct {
        const char *name;
        double value, low, high;
    } range[] = {
        {"clip", o->clip, SMALLEST, LARGEST},
        {"learning rate", o->learning_rate, SMALLEST, LARGEST},
        {"entropic step", o->step, SMALLEST, LARGEST},
        {"prior variance", o->prior_variance, SMALLEST, LARGEST},
        {"variance penalty", o->variance_penalty, 0.0, LARGEST},
        {"input smoothness", o->input_smoothness, 0.0, LARGEST},
        {"transport regularisation", o->regularisation.value, 0.0, LARGEST},
        {"batch rate", o->batch_rate, SMALLEST, 1.0},
        {"local steps", (double)o->local_steps, 1.0, INT32_MAX},
        {"sum rounding", o->sum_rounding, 0.0, 0.5},
        {"transport cap", (double)o->transport_cap, 0.0, INT32_MAX},
    };
    for (size_t i = 0; i < sizeof range / sizeof range[0]; i++)
        if (!(range[i].value >= range[i].low && range[i].value <= range[i].high))
            return out_of_range(ctx, range[i].name, range[i].value, range[i].low, range[i].high);
    return MFPG_OK;
}

static mfpg_status validate_choices(mfpg_context *ctx, const mfpg_mechanism_options *o) {
    const struct {
        const char *name;
        int value, count;
    } choice[] = {
        {"unit", (int)o->promise.unit, MFPG_UNIT_EXAMPLE + 1},
        {"adjacency", (int)o->promise.adjacency, MFPG_ADJACENCY_REPLACE + 1},
        {"view", (int)o->promise.view, MFPG_VIEW_FINAL + 1},
        {"particles", (int)o->particles, MFPG_PARTICLES_DATA + 1},
        {"place of the clip", (int)o->clip_at, MFPG_CLIP_UPDATE + 1},
        {"noise law", (int)o->law, MFPG_LAW_CLASSICAL + 1},
        {"strength scale", (int)o->scale, MFPG_SCALE_SENSITIVITY + 1},
        {"regularisation scale", (int)o->regularisation.scale, MFPG_REGULARISATION_VARIANCE + 1},
    };
    for (size_t i = 0; i < sizeof choice / sizeof choice[0]; i++)
        if (choice[i].value < 0 || choice[i].value >= choice[i].count)
            return mfpg_fail(ctx, MFPG_ERR_INPUT, "%s: %d is not one of the %d choices", choice[i].name,
                choice[i].value, choice[i].count);
    return MFPG_OK;
}

static mfpg_status validate(mfpg_context *ctx, const mfpg_mechanism_options *o) {
    mfpg_status status = validate_choices(ctx, o);
    if (status == MFPG_OK) status = validate_ranges(ctx, o);
    if (status != MFPG_OK) return status;
    char found[MFPG_NUMBER_SIZE];
    if (!(o->delta >= 0.0 && o->delta < 1.0) || (o->law == MFPG_LAW_CLASSICAL && o->delta == 0.0))
        return mfpg_fail(ctx, MFPG_ERR_DOMAIN,
            "delta %s; it must lie below 1 and, for the classical law, above 0",
            mfpg_number_format(o->delta, found));
    if (!(o->grid >= 0.0 && isfinite(o->grid)))
        return mfpg_fail(ctx, MFPG_ERR_DOMAIN,
            "grid %s; it must be a power of two, or 0 for the grid of the noise",
            mfpg_number_format(o->grid, found));
    if (o->promise.unit == MFPG_UNIT_EXAMPLE && o->clip_at == MFPG_CLIP_UPDATE)
        return mfpg_fail(ctx, MFPG_ERR_INPUT,
            "unit example with the clip at the update: one example can change all of an update; clip at the "
            "step");
    return MFPG_OK;
}

/* ---- mechanisms ---- */

/* Selects the form of the mechanism for the particles that the options name. */
static mfpg_status choose_particles(
    mfpg_context *ctx, const mfpg_mechanism_options *options, const mfpg_mechanism_ops **ops) {
    if (options->particles == MFPG_PARTICLES_PARAMETERS) return MFPG_OK;
    if ((*ops)->of_data) *ops = (*ops)->of_data;
    if ((*ops)->particles != MFPG_PARTICLES_DATA)
        return mfpg_fail(ctx, MFPG_ERR_INPUT, "mechanism %s noises parameters only, not data", (*ops)->name);
    if (options->regularisation.value > 0.0)
        return mfpg_fail(ctx, MFPG_ERR_INPUT,
            "mechanism %s: particles are data, and the Sinkhorn projection is one of parameters",
            (*ops)->name);
    return MFPG_OK;
}

mfpg_status mfpg_mechanism_create(
    mfpg_context *ctx, const mfpg_mechanism_options *options, mfpg_mechanism **out) {
    const mfpg_mechanism_ops *ops = mfpg_kind_find(&mfpg_mechanisms, options->kind);
    if (!ops) return mfpg_kind_unknown(ctx, "mechanism", options->kind, &mfpg_mechanisms, NULL);
    mfpg_status status = validate(ctx, options);
    if (status == MFPG_OK) status = choose_particles(ctx, options, &ops);
    const mfpg_local_optimiser *optimiser;
    if (status == MFPG_OK) status = mfpg_local_optimiser_find(ctx, &options->optimiser, &optimiser);
    if (status != MFPG_OK) return status;
    mfpg_mechanism *mechanism = mfpg_alloc(1, sizeof *mechanism);
    if (!mechanism) return mfpg_fail_memory(ctx);
    mechanism->ops = ops;
    mechanism->optimiser = optimiser;
    mechanism->options = *options;
    mechanism->options.kind = ops->name; /* the caller's string may be freed, so the static name is kept */
    mechanism->options.optimiser.kind = optimiser->name;
    *out = mechanism;
    return MFPG_OK;
}

void mfpg_mechanism_destroy(mfpg_mechanism *mechanism) {
    free(mechanism);
}

/* Strengths are the entropic flow's alone. */
int mfpg_mechanism_flow(const mfpg_mechanism *mechanism, mfpg_flow *out) {
    const mfpg_mechanism_options *o = &mechanism->options;
    *out = (mfpg_flow){0};
    if (mechanism->ops->control != MFPG_CONTROL_STRENGTH) return 0;
    *out = (mfpg_flow){o->step, o->prior_variance, o->variance_penalty};
    return 1;
}

mfpg_status mfpg_mechanism_check_memoryless(
    mfpg_context *ctx, const mfpg_mechanism *mechanism, const char *what) {
    if (mechanism->optimiser->vectors == 0) return MFPG_OK;
    return mfpg_fail(ctx, MFPG_ERR_INPUT,
        "train.optimiser: the steps of %s depend on earlier steps of the round; %s",
        mechanism->optimiser->name, what);
}

static const char *no_map(const mfpg_mechanism *mechanism) {
    if (mechanism->ops->particles != MFPG_PARTICLES_PARAMETERS) return "noises records, not a model";
    if (!mfpg_mechanism_clips(mechanism)) return "adds no noise";
    if (mfpg_mechanism_clips_update(mechanism))
        return "clips the update of free local steps (privacy.clip_at), which is not a step of a flow";
    if (mfpg_mechanism_projects(mechanism))
        return "projects its states by a Sinkhorn map (entropic.transport.regularisation), which can drive "
               "them apart";
    return NULL;
}

mfpg_status mfpg_mechanism_step_map(
    mfpg_context *ctx, const mfpg_mechanism *mechanism, const mfpg_release *release, mfpg_step_map *out) {
    const mfpg_mechanism_options *o = &mechanism->options;
    const char *reason = no_map(mechanism);
    if (reason) return mfpg_fail(ctx, MFPG_ERR_INPUT, "mechanism %s %s", mechanism->ops->name, reason);
    mfpg_status status =
        mfpg_mechanism_check_memoryless(ctx, mechanism, "a step is then no map of its state");
    if (status != MFPG_OK) return status;
    *out = (mfpg_step_map){.rate = mechanism->ops->rate(o),
        .batch_rate = o->batch_rate,
        .clips_examples = o->promise.unit == MFPG_UNIT_EXAMPLE};
    if (mechanism->ops->pull) mechanism->ops->pull(mechanism, release, &out->decay, &out->penalty);
    return MFPG_OK;
}
