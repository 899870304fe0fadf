#include <math.h>
#include <stdint.h>

#include "base/error.h"
#include "base/number.h"
#include "ops.h"

/* Positive numbers stay this far inside the range of float, so that products of a few of them do too. */
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
            return mfpg_fail(ctx, MFPG_ERR_INPUT, "%s: %d is none of the %d choices", choice[i].name,
                choice[i].value, choice[i].count);
    return MFPG_OK;
}

mfpg_status mfpg_mechanism_options_validate(mfpg_context *ctx, const mfpg_mechanism_options *o) {
    mfpg_status status = validate_choices(ctx, o);
    if (status == MFPG_OK) status = validate_ranges(ctx, o);
    if (status != MFPG_OK) return status;
    if (!(o->delta >= 0.0 && o->delta < 1.0) || (o->law == MFPG_LAW_CLASSICAL && o->delta == 0.0)) {
        char found[MFPG_NUMBER_SIZE];
        return mfpg_fail(ctx, MFPG_ERR_DOMAIN,
            "delta %s; it must lie below 1 and, for the classical law, above 0",
            mfpg_number_format(o->delta, found));
    }
    if (!(o->grid >= 0.0 && isfinite(o->grid))) {
        char found[MFPG_NUMBER_SIZE];
        return mfpg_fail(ctx, MFPG_ERR_DOMAIN,
            "grid %s; it must be a power of two, or 0 for the grid of the noise",
            mfpg_number_format(o->grid, found));
    }
    if (o->promise.unit == MFPG_UNIT_EXAMPLE && o->clip_at == MFPG_CLIP_UPDATE)
        return mfpg_fail(ctx, MFPG_ERR_INPUT,
            "unit example with the clip at the update: one example can change all of an update; clip at the "
            "step");
    return MFPG_OK;
}
