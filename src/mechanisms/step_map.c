/* What a local step does to the state beside its data: what arguments about hidden states stand on (theory S2.4). */
#include "base/error.h"
#include "ops.h"

static const char *no_map(const mfpg_mechanism *mechanism) {
    if (mechanism->ops->particles != MFPG_PARTICLES_PARAMETERS) return "noises records, not a model";
    if (!mfpg_mechanism_clips(mechanism)) return "adds no noise";
    if (mfpg_mechanism_clips_update(mechanism))
        return "clips the update of free local steps (privacy.clip_at), which is no step of a flow";
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
    *out = (mfpg_step_map){.rate = mechanism->ops->rate(o),
        .batch_rate = o->batch_rate,
        .clips_examples = o->promise.unit == MFPG_UNIT_EXAMPLE};
    if (mechanism->ops->pull) mechanism->ops->pull(mechanism, release, &out->decay, &out->penalty);
    return MFPG_OK;
}
