#include "release_parts.h"

#include <math.h>
#include <string.h>

double mfpg_action_value(const mfpg_action *action) {
    switch (action->control) {
    case MFPG_CONTROL_BUDGET: return action->budget.value;
    case MFPG_CONTROL_STRENGTH: return action->strength.value;
    case MFPG_CONTROL_MULTIPLIER: return action->multiplier;
    case MFPG_CONTROL_NONE: break;
    }
    return (double)NAN;
}

const char *mfpg_noise_assumption(void) {
    return "Gaussian noise is ideal: the rounding of floating-point noise is not covered";
}

#define NAME(names, value, unknown)                                                                          \
    ((unsigned)(value) < sizeof(names) / sizeof(names)[0] ? (names)[value] : (unknown))

const char *mfpg_unit_name(mfpg_unit unit) {
    static const char *const NAMES[] = {[MFPG_UNIT_CLIENT] = "client", [MFPG_UNIT_EXAMPLE] = "example"};
    return NAME(NAMES, unit, "unknown unit");
}

const char *mfpg_adjacency_name(mfpg_adjacency adjacency) {
    static const char *const NAMES[] = {[MFPG_ADJACENCY_ZERO_OUT] = "zero-out",
        [MFPG_ADJACENCY_REPLACE] = "replace",
        [MFPG_ADJACENCY_ADD] = "add",
        [MFPG_ADJACENCY_REMOVE] = "remove"};
    return NAME(NAMES, adjacency, "unknown adjacency");
}

const char *mfpg_view_name(mfpg_view view) {
    static const char *const NAMES[] = {
        [MFPG_VIEW_LOCAL] = "local", [MFPG_VIEW_AVERAGE] = "average", [MFPG_VIEW_FINAL] = "final"};
    return NAME(NAMES, view, "unknown view");
}

const char *mfpg_particles_name(mfpg_particles particles) {
    static const char *const NAMES[] = {
        [MFPG_PARTICLES_PARAMETERS] = "parameters", [MFPG_PARTICLES_DATA] = "data"};
    return NAME(NAMES, particles, "unknown particles");
}

const char *mfpg_clipped_name(mfpg_clipped clipped) {
    static const char *const NAMES[] = {[MFPG_CLIPPED_UPDATE] = "update",
        [MFPG_CLIPPED_EXAMPLES] = "examples",
        [MFPG_CLIPPED_RECORDS] = "records",
        [MFPG_CLIPPED_MEASUREMENTS] = "measurements"};
    return NAME(NAMES, clipped, "unknown kind of clip");
}

int mfpg_release_is_choice(const mfpg_release *release) {
    return release->particles == MFPG_PARTICLES_PARAMETERS && release->weight == 0.0 &&
           release->action.control == MFPG_CONTROL_NONE;
}

/* ---- the fields ---- */

/* Whole numbers are at most 2^53 (mfpg_release_fault), so a double holds them exactly. An action without a number
 * counts as 0. */
int mfpg_release_numbers(const mfpg_release *r, int parts, double *out) {
    double action = mfpg_action_value(&r->action);
    const struct {
        int part;
        double value;
    } field[] = {
        {MFPG_RELEASE_NOISE, (double)r->particles},
        {MFPG_RELEASE_NOISE, (double)r->unit},
        {MFPG_RELEASE_NOISE, (double)r->steps},
        {MFPG_RELEASE_NOISE, r->sensitivity},
        {MFPG_RELEASE_NOISE, r->noise_sd},
        {MFPG_RELEASE_NOISE, r->last_sd},
        {MFPG_RELEASE_NOISE, r->grid},
        {MFPG_RELEASE_NOISE, r->contraction},
        {MFPG_RELEASE_NOISE, r->sampling_rate},
        {MFPG_RELEASE_ACTION, (double)r->action.control},
        {MFPG_RELEASE_ACTION, isnan(action) ? 0.0 : action},
        {MFPG_RELEASE_SHARE, (double)r->clipped},
        {MFPG_RELEASE_SHARE, r->rounding},
        {MFPG_RELEASE_SHARE, r->weight},
        {MFPG_RELEASE_SHARE, (double)r->run},
        {MFPG_RELEASE_SHARE, (double)r->sum_round},
        {MFPG_RELEASE_SHARE, (double)r->attempt},
        {MFPG_RELEASE_SHARE, (double)r->members},
        {MFPG_RELEASE_SHARE, (double)r->threshold},
        {MFPG_RELEASE_SHARE, (double)r->colluders},
        {MFPG_RELEASE_HIDDEN, r->hidden_contraction},
        {MFPG_RELEASE_HIDDEN, r->hidden_shift},
    };
    int count = 0;
    _Static_assert(sizeof field / sizeof field[0] == MFPG_RELEASE_NUMBERS, "room for all fields");
    for (int i = 0; i < MFPG_RELEASE_NUMBERS; i++)
        if (field[i].part & parts) out[count++] = field[i].value;
    return count;
}

int mfpg_release_equal(const mfpg_release *a, const mfpg_release *b, int parts) {
    double first[MFPG_RELEASE_NUMBERS], second[MFPG_RELEASE_NUMBERS];
    int count = mfpg_release_numbers(a, parts, first);
    mfpg_release_numbers(b, parts, second);
    for (int i = 0; i < count; i++)
        if (first[i] != second[i]) return 0;
    return 1;
}

uint64_t mfpg_release_hash(const mfpg_release *release, int parts) {
    double number[MFPG_RELEASE_NUMBERS];
    int count = mfpg_release_numbers(release, parts, number);
    uint64_t hash = 0;
    for (int i = 0; i < count; i++) {
        uint64_t bits;
        double value = number[i] + 0.0; /* equal numbers must have equal hashes, so -0 becomes 0 */
        memcpy(&bits, &value, sizeof bits);
        hash = (hash ^ bits) * UINT64_C(0x9E3779B97F4A7C15);
        hash ^= hash >> 32;
    }
    return hash;
}
