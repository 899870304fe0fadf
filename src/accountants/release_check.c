#include "release_check.h"

#include <math.h>
#include <stddef.h>

#include "mfpg/grid.h"

static int finite_and_not_negative(double value) {
    return value >= 0.0 && isfinite(value);
}

static int share(double value) {
    return value >= 0.0 && value <= 1.0;
}

const char *mfpg_promise_fault(const mfpg_promise *promise) {
    if (promise->unit != MFPG_UNIT_CLIENT && promise->unit != MFPG_UNIT_EXAMPLE) return "unit is unknown";
    if (!(promise->adjacency >= MFPG_ADJACENCY_ZERO_OUT && promise->adjacency <= MFPG_ADJACENCY_REMOVE))
        return "adjacency is unknown";
    if (promise->view != MFPG_VIEW_LOCAL && promise->view != MFPG_VIEW_AVERAGE &&
        promise->view != MFPG_VIEW_FINAL)
        return "view is unknown";
    return NULL;
}

/* Records are noised in one push that no view hides and no coin keeps out (theory S5.2). */
static const char *data_fault(const mfpg_release *release) {
    if (release->steps != 1) return "particles are data, which are noised in one step, but steps is not 1";
    if (release->last_sd != release->noise_sd) return "particles are data, but last_sd is not noise_sd";
    if (release->sampling_rate != 1.0) return "particles are data, but sampling_rate is not 1";
    if (!(release->contraction > 0.0 && isfinite(release->contraction)))
        return "particles are data, but contraction is not a finite number > 0";
    return NULL;
}

/* What a round does to a hidden state is known of parameters only. */
static const char *hidden_fault(const mfpg_release *release) {
    if (!finite_and_not_negative(release->hidden_contraction))
        return "hidden_contraction is not a finite number >= 0";
    if (!finite_and_not_negative(release->hidden_shift)) return "hidden_shift is not a finite number >= 0";
    if (release->particles == MFPG_PARTICLES_DATA && release->hidden_contraction > 0.0)
        return "particles are data, which know no hidden state";
    return NULL;
}

static const char *particles_fault(const mfpg_release *release) {
    switch (release->particles) {
    case MFPG_PARTICLES_DATA: return data_fault(release);
    case MFPG_PARTICLES_PARAMETERS:
        return release->contraction == 0.0 || release->contraction == 1.0
                   ? NULL
                   : "particles are parameters, which know no contraction";
    }
    return "particles are unknown";
}

/* Whose presence a clip bounds: a whole update that was clipped once hides how much of it is one record's. */
static const char *clip_fault(const mfpg_release *release) {
    if (release->unit != MFPG_UNIT_CLIENT && release->unit != MFPG_UNIT_EXAMPLE) return "unit is unknown";
    if (!(release->clipped >= MFPG_CLIPPED_UPDATE && release->clipped <= MFPG_CLIPPED_MEASUREMENTS))
        return "what was clipped is unknown";
    if (release->unit == MFPG_UNIT_EXAMPLE && release->clipped == MFPG_CLIPPED_UPDATE)
        return "unit is example, but a whole update was clipped once, which bounds a client: unit client";
    return NULL;
}

static int is_power_of_two(double value) {
    int exponent;
    return value > 0.0 && isfinite(value) && frexp(value, &exponent) == 0.5;
}

static const char *grid_fault(const mfpg_release *release) {
    if (!finite_and_not_negative(release->rounding)) return "rounding is not a finite number >= 0";
    if (release->grid == 0.0) return NULL;
    if (!is_power_of_two(release->grid)) return "grid is neither 0 nor a power of two";
    return release->noise_sd > 0.0 ? NULL : "there is a grid, but no noise";
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
    const char *fault = clip_fault(release);
    if (!fault) fault = grid_fault(release);
    if (!fault) fault = particles_fault(release);
    if (!fault) fault = hidden_fault(release);
    if (fault || release->action.control == MFPG_CONTROL_NONE) return fault;
    double value = mfpg_action_value(&release->action);
    return value > 0.0 && isfinite(value) ? NULL : "the action is not a finite number > 0";
}

/* What is wrong with the grid of what leaves: of a client's own release if it is looked at by itself, else of its share of the sum. A grid
 * that is too fine is not one that noise was drawn on: every float lies on it. */
static const char *promised_grid_fault(const mfpg_promise *promise, const mfpg_release *release) {
    int alone = promise->view == MFPG_VIEW_LOCAL || release->particles == MFPG_PARTICLES_DATA ||
                mfpg_release_is_choice(release);
    double weight = alone ? 1.0 : release->weight, noise = weight * release->noise_sd;
    if (release->grid == 0.0) return NULL;
    if (!(4.0 * release->grid <= noise))
        return "grid is more than a quarter of the noise in the view promised";
    return mfpg_grid_fault(release->grid, noise, weight * release->sensitivity);
}

const char *mfpg_promised_fault(const mfpg_promise *promise, const mfpg_release *release) {
    if (release->unit != promise->unit)
        return release->unit == MFPG_UNIT_CLIENT
                   ? "its unit is client, that of the promise example: a client's promise is not an "
                     "example's; one record of it is protected at the replace number"
                   : "its unit is example, that of the promise client: an example's promise is none for a "
                     "client";
    return promised_grid_fault(promise, release);
}
