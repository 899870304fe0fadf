#include "mfpg/release.h"

#include <math.h>

double mfpg_action_value(const mfpg_action *action) {
    switch (action->control) {
    case MFPG_CONTROL_BUDGET: return action->budget.value;
    case MFPG_CONTROL_STRENGTH: return action->strength.value;
    case MFPG_CONTROL_MULTIPLIER: return action->multiplier;
    case MFPG_CONTROL_NONE: break;
    }
    return (double)NAN;
}

const char *mfpg_unit_name(mfpg_unit unit) {
    switch (unit) {
    case MFPG_UNIT_CLIENT: return "client";
    case MFPG_UNIT_EXAMPLE: return "example";
    }
    return "unknown unit";
}

const char *mfpg_noise_assumption(void) {
    return "Gaussian noise is ideal: the rounding of floating-point noise is not covered";
}

const char *mfpg_adjacency_name(mfpg_adjacency adjacency) {
    switch (adjacency) {
    case MFPG_ADJACENCY_ZERO_OUT: return "zero-out";
    case MFPG_ADJACENCY_REPLACE: return "replace";
    case MFPG_ADJACENCY_ADD: return "add";
    case MFPG_ADJACENCY_REMOVE: return "remove";
    }
    return "unknown adjacency";
}

const char *mfpg_view_name(mfpg_view view) {
    switch (view) {
    case MFPG_VIEW_LOCAL: return "local";
    case MFPG_VIEW_AVERAGE: return "average";
    case MFPG_VIEW_FINAL: return "final";
    }
    return "unknown view";
}

const char *mfpg_particles_name(mfpg_particles particles) {
    switch (particles) {
    case MFPG_PARTICLES_PARAMETERS: return "parameters";
    case MFPG_PARTICLES_DATA: return "data";
    }
    return "unknown particles";
}

const char *mfpg_clipped_name(mfpg_clipped clipped) {
    switch (clipped) {
    case MFPG_CLIPPED_UPDATE: return "update";
    case MFPG_CLIPPED_EXAMPLES: return "examples";
    case MFPG_CLIPPED_RECORDS: return "records";
    case MFPG_CLIPPED_MEASUREMENTS: return "measurements";
    }
    return "unknown kind of clip";
}

int mfpg_release_is_choice(const mfpg_release *release) {
    return release->particles == MFPG_PARTICLES_PARAMETERS && release->weight == 0.0 &&
           release->action.control == MFPG_CONTROL_NONE;
}
