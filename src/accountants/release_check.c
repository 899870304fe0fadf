#include "release_check.h"

#include <math.h>
#include <stddef.h>

#include "base/grid_noise.h"
#include "base/release_parts.h"
#include "mfpg/secure_sum.h"

static int is_magnitude(double value) {
    return value >= 0.0 && isfinite(value);
}

static int is_share(double value) {
    return value >= 0.0 && value <= 1.0;
}

const char *mfpg_promise_fault(const mfpg_promise *promise) {
    if (promise->unit != MFPG_UNIT_CLIENT && promise->unit != MFPG_UNIT_EXAMPLE) return "unit is unknown";
    if (!(promise->adjacency >= MFPG_ADJACENCY_ZERO_OUT && promise->adjacency <= MFPG_ADJACENCY_REMOVE))
        return "adjacency is unknown";
    return promise->view >= MFPG_VIEW_LOCAL && promise->view <= MFPG_VIEW_FINAL ? NULL : "view is unknown";
}

static const char *number_fault(const mfpg_release *release) {
    const struct {
        double value;
        const char *fault;
    } number[] = {
        {release->sensitivity, "sensitivity is not a finite number >= 0"},
        {release->noise_sd, "noise_sd is not a finite number >= 0"},
        {release->last_sd, "last_sd is not a finite number >= 0"},
        {release->rounding, "rounding is not a finite number >= 0"},
        {release->hidden_contraction, "hidden_contraction is not a finite number >= 0"},
        {release->hidden_shift, "hidden_shift is not a finite number >= 0"},
    };
    for (size_t i = 0; i < sizeof number / sizeof number[0]; i++)
        if (!is_magnitude(number[i].value)) return number[i].fault;
    if (!is_share(release->weight)) return "weight is not in [0, 1]";
    return is_share(release->sampling_rate) ? NULL : "sampling_rate is not in [0, 1]";
}

/* A clip bounds the presence of what it clips: a whole update that was clipped once hides how much of it
 * comes from one record. */
static const char *clip_fault(const mfpg_release *release) {
    if (release->unit != MFPG_UNIT_CLIENT && release->unit != MFPG_UNIT_EXAMPLE) return "unit is unknown";
    if (!(release->clipped >= MFPG_CLIPPED_UPDATE && release->clipped <= MFPG_CLIPPED_MEASUREMENTS))
        return "what was clipped is unknown";
    if (release->unit == MFPG_UNIT_EXAMPLE && release->clipped == MFPG_CLIPPED_UPDATE)
        return "unit is example, but a whole update was clipped once, which bounds a client: unit client";
    return NULL;
}

static const char *grid_fault(const mfpg_release *release) {
    int exponent;
    if (release->grid == 0.0) return NULL;
    if (!(release->grid > 0.0 && isfinite(release->grid) && frexp(release->grid, &exponent) == 0.5))
        return "grid is neither 0 nor a power of two";
    return release->noise_sd > 0.0 ? NULL : "there is a grid, but no noise";
}

/* Records are noised in one release that no view hides and no sampling leaves out (theory S5.2); the effect
 * of a round on a hidden state is known for parameters only. */
static const char *particles_fault(const mfpg_release *release) {
    double c = release->contraction;
    if (release->particles == MFPG_PARTICLES_PARAMETERS)
        return c == 0.0 || c == 1.0 ? NULL : "particles are parameters, which know no contraction";
    if (release->particles != MFPG_PARTICLES_DATA) return "particles are unknown";
    if (release->steps != 1) return "particles are data, which are noised in one step, but steps is not 1";
    if (release->last_sd != release->noise_sd) return "particles are data, but last_sd is not noise_sd";
    if (release->sampling_rate != 1.0) return "particles are data, but sampling_rate is not 1";
    if (!(c > 0.0 && isfinite(c))) return "particles are data, but contraction is not a finite number > 0";
    return release->hidden_contraction > 0.0 ? "particles are data, which know no hidden state" : NULL;
}

/* Fewer answers than the threshold reveal nothing only if t > (n + c)/2 (secure_sum.h); the noise of others hides
 * a client only if at least one of them is honest and certainly in the sum. */
static const char *sum_fault(const mfpg_release *release) {
    const int64_t most = INT64_C(1) << 53;
    int64_t n = release->members, t = release->threshold, c = release->colluders;
    if (release->attempt == 0)
        return release->run || release->sum_round || n || t || c
                   ? "there is no attempt of a secure sum, but numbers of one"
                   : NULL;
    if (release->particles != MFPG_PARTICLES_PARAMETERS) return "records enter no secure sum";
    if (!(release->run >= 0 && release->run < INT64_C(1) << 48)) return "run is not from 0 to 2^48 - 1";
    if (!(release->sum_round >= 0 && release->sum_round <= most)) return "sum_round is not from 0 to 2^53";
    if (!(release->attempt >= 1 && release->attempt <= most)) return "attempt is not from 1 to 2^53";
    if (!(n >= MFPG_SUM_LEAST && n <= MFPG_SUM_MOST)) return "members are not from 3 to 255";
    if (!(c >= 0 && c < n)) return "colluders are not from 0 to members - 1";
    if (!(t <= n && 2 * t > n + c)) return "threshold is not above (members + colluders)/2 and up to members";
    if (!(release->weight > 0.0)) return "a share of weight 0 enters no secure sum";
    return t - c < 2 && release->last_sd > release->noise_sd
               ? "last_sd exceeds noise_sd, but the threshold leaves no other honest client in the sum"
               : NULL;
}

const char *mfpg_release_fault(const mfpg_release *release) {
    if (release->round < 0) return "round is negative";
    if (release->client < 0) return "client is negative";
    if (release->steps < 1) return "steps is less than 1";
    if (release->steps > INT64_C(1) << 53) return "steps is more than 2^53";
    const char *fault = number_fault(release);
    if (!fault) fault = clip_fault(release);
    if (!fault) fault = grid_fault(release);
    if (!fault) fault = particles_fault(release);
    if (!fault) fault = sum_fault(release);
    if (fault || release->action.control == MFPG_CONTROL_NONE) return fault;
    double value = mfpg_action_value(&release->action);
    return value > 0.0 && isfinite(value) ? NULL : "the action is not a finite number > 0";
}

/* Returns what is wrong with the grid of the release: the client's own grid if its release is seen
 * separately, otherwise the grid of its share of the sum. A grid that is too fine cannot be the one on which
 * noise was drawn, because every float lies on it. */
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
    if (release->unit == promise->unit) return promised_grid_fault(promise, release);
    return release->unit == MFPG_UNIT_CLIENT
               ? "its unit is client, that of the promise example: a client's promise is not an "
                 "example's; one record of it is protected at the epsilon for replace"
               : "its unit is example, that of the promise client: an example's promise is not a client's";
}
