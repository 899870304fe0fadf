#include "release_check.h"

#include <math.h>
#include <stddef.h>

static int finite_and_not_negative(double value) {
    return value >= 0.0 && isfinite(value);
}

static int share(double value) {
    return value >= 0.0 && value <= 1.0;
}

const char *mfpg_promise_fault(const mfpg_promise *promise) {
    if (promise->unit != MFPG_UNIT_CLIENT && promise->unit != MFPG_UNIT_EXAMPLE) return "unit is unknown";
    if (promise->adjacency != MFPG_ADJACENCY_ZERO_OUT && promise->adjacency != MFPG_ADJACENCY_REPLACE)
        return "adjacency is unknown";
    if (promise->view != MFPG_VIEW_LOCAL && promise->view != MFPG_VIEW_AVERAGE &&
        promise->view != MFPG_VIEW_FINAL)
        return "view is unknown";
    return NULL;
}

double mfpg_release_action_value(const mfpg_action *action) {
    switch (action->control) {
    case MFPG_CONTROL_BUDGET: return action->budget.value;
    case MFPG_CONTROL_STRENGTH: return action->strength.value;
    case MFPG_CONTROL_MULTIPLIER: return action->multiplier;
    case MFPG_CONTROL_NONE: break;
    }
    return (double)NAN;
}

const char *mfpg_release_fault(const mfpg_release *release) {
    if (release->round < 0) return "round is negative";
    if (release->client < 0) return "client is negative";
    if (release->steps < 1) return "steps is less than 1";
    if (release->steps > INT64_C(1) << 53) return "steps is more than 2^53";
    if (!finite_and_not_negative(release->sensitivity)) return "sensitivity is not a finite number >= 0";
    if (!finite_and_not_negative(release->noise_sd)) return "noise_sd is not a finite number >= 0";
    if (!finite_and_not_negative(release->last_sd)) return "last_sd is not a finite number >= 0";
    if (!share(release->weight)) return "weight is not in [0, 1]";
    if (!share(release->sampling_rate)) return "sampling_rate is not in [0, 1]";
    if (release->action.control == MFPG_CONTROL_NONE) return NULL;
    double value = mfpg_release_action_value(&release->action);
    return value > 0.0 && isfinite(value) ? NULL : "the action is not a finite number > 0";
}
