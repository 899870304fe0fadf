#include "pld.h"

#include <float.h>
#include <math.h>

#include "numerics/special/roots.h"

#define TOLERANCE 1e-10 /* of a root, relative */

enum { MOST_PASSES = 4 };

/* Returns the largest loss of add: each step's is at most -log(1-q). */
static double largest_add_loss(const pld_mechanism *mechanism) {
    double sum = mechanism->mu > 0.0 ? (double)INFINITY : 0.0;
    for (int i = 0; i < mechanism->used; i++)
        sum -= (double)mechanism->sampled[i].count * log1p(-mechanism->sampled[i].rate);
    return sum * (1.0 + (4.0 + mechanism->used) * DBL_EPSILON);
}

/* ---- roots of curves ---- */

/* delta at epsilon e by one curve or the larger of two; for a group of two records it is (1 + e^e) times
 * that. */
typedef struct question {
    const pld_curve *one, *two; /* two may be NULL */
    double two_ends;            /* from this epsilon on, `two` is 0 */
    int group;
    double delta;
} question;

static double excess(double epsilon, const void *arg) {
    const question *asked = arg;
    double delta = pld_curve_delta(asked->one, epsilon);
    if (asked->two && epsilon < asked->two_ends) delta = fmax(delta, pld_curve_delta(asked->two, epsilon));
    if (asked->group) delta *= (1.0 + exp(epsilon)) * (1.0 + 8.0 * DBL_EPSILON);
    double value = log(delta / asked->delta) + 4.0 * DBL_EPSILON;
    return value == 0.0 ? -DBL_TRUE_MIN : value;
}

/* Returns the smallest epsilon that was found at which delta is not above the requested one; +INFINITY if
 * there was none. */
static double root_of(const question *asked) {
    double low = fmax(0.0, asked->one->low), high = asked->one->high;
    if (asked->two) {
        low = fmax(low, asked->two->low);
        high = fmax(high, asked->two->high);
    }
    if (!(low < high)) return (double)INFINITY;
    if (excess(low, asked) < 0.0) return low;
    if (!(excess(high, asked) < 0.0)) return (double)INFINITY;
    mfpg_root root = mfpg_root_bracket(excess, asked, low, high, TOLERANCE);
    return root.converged && excess(root.high, asked) < 0.0 ? root.high : (double)INFINITY;
}

/* ---- one side ---- */

/* Returns whether grid, tilt and window were chosen for a guess so much too large that choosing them again
 * pays. */
static int is_far(int for_delta, double given, double found, const pld_setting *guess) {
    return for_delta ? given > 0.0 && found < 0.01 * guess->delta
                     : found > 0.0 && found < 0.5 * guess->epsilon;
}

mfpg_status pld_side_answer(
    const pld_mechanism *mechanism, pld_side side, int for_delta, double given, double *out) {
    const double most = side == PLD_ADD ? largest_add_loss(mechanism) : (double)INFINITY;
    *out = 0.0;
    if (pld_kinds(mechanism) == 0 || (for_delta && given >= most)) return MFPG_OK;
    if (mechanism->used == 1 && mechanism->mu == 0.0 && mechanism->sampled[0].count == 1) {
        sampled_step kind = pld_kind(mechanism, side, 0);
        /* Above the loss 0 replace equals remove, with a reach that pld_kind has doubled. */
        loss_direction direction = side == PLD_ADD ? LOSS_ADD : LOSS_REMOVE;
        *out = (for_delta ? sampled_step_delta : sampled_step_epsilon)(&kind, direction, given).upper;
        return MFPG_OK;
    }
    *out = for_delta ? 1.0 : most;
    pld_aim aim = for_delta ? (pld_aim){.epsilon = given} : (pld_aim){.delta = given};
    for (int pass = 0; pass < (for_delta ? 2 : MOST_PASSES); pass++) {
        pld_curve *curve = NULL;
        mfpg_status status = pld_curve_create(mechanism, side, aim, &curve);
        if (!curve) return status;
        const question asked = {.one = curve, .delta = given};
        double found = for_delta ? pld_curve_delta(curve, given) : root_of(&asked);
        int again = is_far(for_delta, given, found, &curve->set);
        pld_curve_destroy(curve);
        *out = fmin(*out, found);
        if (!again) break;
        *(for_delta ? &aim.delta : &aim.epsilon) = found;
    }
    return MFPG_OK;
}

/* ---- both sides ---- */

static mfpg_status zero_out(const pld_mechanism *mechanism, int for_delta, double given, double *out) {
    double removing, adding = 0.0;
    mfpg_status status = pld_side_answer(mechanism, PLD_REMOVE, for_delta, given, &removing);
    if (status == MFPG_OK && (for_delta || removing < largest_add_loss(mechanism)))
        status = pld_side_answer(mechanism, PLD_ADD, for_delta, given, &adding);
    if (status == MFPG_OK) *out = fmax(removing, adding);
    return status;
}

/* Estimates the delta of zero-out for which a group of two meets delta; 0 if no grid allows an estimate. */
static mfpg_status zero_out_target(const pld_mechanism *mechanism, double delta, double *target) {
    *target = 0.5 * delta;
    for (int i = 0; i < 3; i++) {
        pld_setting setting;
        int found = pld_set_up(mechanism, PLD_REMOVE, (pld_aim){.delta = *target}, &setting);
        if (found < 0) return MFPG_ERR_MEMORY;
        *target = found ? delta / (1.0 + exp(fmax(0.0, setting.epsilon))) : 0.0;
        if (!found) break;
    }
    return MFPG_OK;
}

static mfpg_status group_epsilon(const pld_mechanism *mechanism, double delta, double *epsilon) {
    *epsilon = (double)INFINITY;
    double target;
    pld_curve *removing = NULL, *adding = NULL;
    mfpg_status status = zero_out_target(mechanism, delta, &target);
    if (status == MFPG_OK && target > 0.0)
        status = pld_curve_create(mechanism, PLD_REMOVE, (pld_aim){.delta = target}, &removing);
    if (status == MFPG_OK && removing)
        status = pld_curve_create(mechanism, PLD_ADD, (pld_aim){.delta = target}, &adding);
    if (status == MFPG_OK && adding) {
        const question asked = {.one = removing,
            .two = adding,
            .two_ends = largest_add_loss(mechanism),
            .group = 1,
            .delta = delta};
        *epsilon = 2.0 * root_of(&asked);
    }
    pld_curve_destroy(removing);
    pld_curve_destroy(adding);
    return status;
}

static mfpg_status group_delta(const pld_mechanism *mechanism, double epsilon, double *delta) {
    double half;
    mfpg_status status = zero_out(mechanism, 1, 0.5 * epsilon, &half);
    if (status == MFPG_OK) *delta = half * (1.0 + exp(0.5 * epsilon)) * (1.0 + 8.0 * DBL_EPSILON);
    return status;
}

mfpg_status pld_answer(
    const pld_mechanism *mechanism, mfpg_adjacency adjacency, int for_delta, double given, double *out) {
    double own, group;
    switch (adjacency) {
    case MFPG_ADJACENCY_ADD: return pld_side_answer(mechanism, PLD_ADD, for_delta, given, out);
    case MFPG_ADJACENCY_REMOVE: return pld_side_answer(mechanism, PLD_REMOVE, for_delta, given, out);
    case MFPG_ADJACENCY_ZERO_OUT: return zero_out(mechanism, for_delta, given, out);
    case MFPG_ADJACENCY_REPLACE: break;
    }
    mfpg_status status = pld_side_answer(mechanism, PLD_REPLACE, for_delta, given, &own);
    if (status == MFPG_OK) status = (for_delta ? group_delta : group_epsilon)(mechanism, given, &group);
    if (status == MFPG_OK) *out = fmin(own, group);
    return status;
}
