#include "pld.h"

#include <float.h>
#include <math.h>

#include "numerics/special/roots.h"

#define TOLERANCE 1e-10 /* of a root, relative */

enum { MOST_PASSES = 4 };

/* No loss of add exceeds this: each step's is at most -log(1-q). */
static double largest_add_loss(const pld_mechanism *mechanism) {
    double sum = mechanism->mu > 0.0 ? (double)INFINITY : 0.0;
    for (int i = 0; i < mechanism->used; i++)
        sum -= (double)mechanism->sampled[i].count * log1p(-mechanism->sampled[i].rate);
    return sum * (1.0 + (4.0 + mechanism->used) * DBL_EPSILON);
}

/* Above the loss 0 replace is remove, at a reach that pld_kind has doubled. */
static loss_direction direction_of(pld_side side) {
    return side == PLD_ADD ? LOSS_ADD : LOSS_REMOVE;
}

static int is_one_step(const pld_mechanism *mechanism) {
    return mechanism->used == 1 && mechanism->mu == 0.0 && mechanism->sampled[0].count == 1;
}

/* ---- roots of curves ---- */

/* delta at epsilon e by one curve or the larger of two, and for a group of two records (1 + e^e) times that. */
typedef struct question {
    const pld_curve *one, *two; /* two may be NULL */
    double two_ends;            /* from this epsilon on two is 0 */
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

/* The smallest epsilon found at which delta is not above what is asked; +INFINITY where none was. */
static double root_of(const question *asked) {
    double low = fmax(0.0, pld_curve_low(asked->one)), high = pld_curve_high(asked->one);
    if (asked->two) {
        low = fmax(low, pld_curve_low(asked->two));
        high = fmax(high, pld_curve_high(asked->two));
    }
    if (!(low < high)) return (double)INFINITY;
    if (excess(low, asked) < 0.0) return low;
    if (!(excess(high, asked) < 0.0)) return (double)INFINITY;
    mfpg_root root = mfpg_root_bracket(excess, asked, low, high, TOLERANCE);
    return root.converged && excess(root.high, asked) < 0.0 ? root.high : (double)INFINITY;
}

/* ---- one side ---- */

/* The epsilon at delta of one curve, and the guess that it was made for. */
static mfpg_status epsilon_by(const pld_mechanism *mechanism, pld_side side, pld_aim aim, double delta,
    double *guess, double *epsilon) {
    *epsilon = (double)INFINITY;
    *guess = 0.0;
    pld_curve *curve = NULL;
    mfpg_status status = pld_curve_create(mechanism, side, aim, &curve);
    if (!curve) return status;
    const question asked = {.one = curve, .delta = delta};
    *epsilon = root_of(&asked);
    *guess = pld_curve_guess(curve).epsilon;
    pld_curve_destroy(curve);
    return MFPG_OK;
}

mfpg_status pld_side_epsilon(const pld_mechanism *mechanism, pld_side side, double delta, double *epsilon) {
    if (pld_kinds(mechanism) == 0) {
        *epsilon = 0.0;
        return MFPG_OK;
    }
    if (is_one_step(mechanism)) {
        sampled_step kind = pld_kind(mechanism, side, 0);
        *epsilon = sampled_step_epsilon(&kind, direction_of(side), delta).upper;
        return MFPG_OK;
    }
    pld_aim aim = {.delta = delta};
    mfpg_status status = MFPG_OK;
    *epsilon = (double)INFINITY;
    for (int pass = 0; status == MFPG_OK && pass < MOST_PASSES; pass++) {
        double guess, found;
        status = epsilon_by(mechanism, side, aim, delta, &guess, &found);
        if (status == MFPG_OK) *epsilon = fmin(*epsilon, found);
        if (status != MFPG_OK || !(found > 0.0 && found < 0.5 * guess)) break;
        aim.epsilon = found; /* grid, tilt and window were chosen for too large an epsilon */
    }
    if (side == PLD_ADD) *epsilon = fmin(*epsilon, largest_add_loss(mechanism));
    return status;
}

mfpg_status pld_side_delta(const pld_mechanism *mechanism, pld_side side, double epsilon, double *delta) {
    if (pld_kinds(mechanism) == 0 || (side == PLD_ADD && epsilon >= largest_add_loss(mechanism))) {
        *delta = 0.0;
        return MFPG_OK;
    }
    if (is_one_step(mechanism)) {
        sampled_step kind = pld_kind(mechanism, side, 0);
        *delta = sampled_step_delta(&kind, direction_of(side), epsilon).upper;
        return MFPG_OK;
    }
    *delta = 1.0;
    pld_aim aim = {.epsilon = epsilon};
    for (int pass = 0; pass < 2; pass++) {
        pld_curve *curve = NULL;
        mfpg_status status = pld_curve_create(mechanism, side, aim, &curve);
        if (!curve) return status;
        double found = pld_curve_delta(curve, epsilon), guess = pld_curve_guess(curve).delta;
        pld_curve_destroy(curve);
        *delta = fmin(*delta, found);
        if (!(epsilon > 0.0 && found < 0.01 * guess)) break;
        aim.delta = found; /* the window was chosen for a larger one */
    }
    return MFPG_OK;
}

/* ---- zero-out ---- */

static mfpg_status zero_out_epsilon(const pld_mechanism *mechanism, double delta, double *epsilon) {
    double removing, adding = 0.0;
    mfpg_status status = pld_side_epsilon(mechanism, PLD_REMOVE, delta, &removing);
    if (status == MFPG_OK && removing < largest_add_loss(mechanism))
        status = pld_side_epsilon(mechanism, PLD_ADD, delta, &adding);
    if (status == MFPG_OK) *epsilon = fmax(removing, adding);
    return status;
}

static mfpg_status zero_out_delta(const pld_mechanism *mechanism, double epsilon, double *delta) {
    double removing, adding;
    mfpg_status status = pld_side_delta(mechanism, PLD_REMOVE, epsilon, &removing);
    if (status == MFPG_OK) status = pld_side_delta(mechanism, PLD_ADD, epsilon, &adding);
    if (status == MFPG_OK) *delta = fmax(removing, adding);
    return status;
}

/* ---- replace ---- */

/* About where delta of zero-out has to lie so that a group of two meets delta; 0 where no grid can say. */
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

mfpg_status pld_epsilon(
    const pld_mechanism *mechanism, mfpg_adjacency adjacency, double delta, double *epsilon) {
    if (adjacency == MFPG_ADJACENCY_ADD) return pld_side_epsilon(mechanism, PLD_ADD, delta, epsilon);
    if (adjacency == MFPG_ADJACENCY_REMOVE) return pld_side_epsilon(mechanism, PLD_REMOVE, delta, epsilon);
    if (adjacency == MFPG_ADJACENCY_ZERO_OUT) return zero_out_epsilon(mechanism, delta, epsilon);
    double own, group;
    mfpg_status status = pld_side_epsilon(mechanism, PLD_REPLACE, delta, &own);
    if (status == MFPG_OK) status = group_epsilon(mechanism, delta, &group);
    if (status == MFPG_OK) *epsilon = fmin(own, group);
    return status;
}

mfpg_status pld_delta(
    const pld_mechanism *mechanism, mfpg_adjacency adjacency, double epsilon, double *delta) {
    if (adjacency == MFPG_ADJACENCY_ADD) return pld_side_delta(mechanism, PLD_ADD, epsilon, delta);
    if (adjacency == MFPG_ADJACENCY_REMOVE) return pld_side_delta(mechanism, PLD_REMOVE, epsilon, delta);
    if (adjacency == MFPG_ADJACENCY_ZERO_OUT) return zero_out_delta(mechanism, epsilon, delta);
    double own, half;
    mfpg_status status = pld_side_delta(mechanism, PLD_REPLACE, epsilon, &own);
    if (status == MFPG_OK) status = zero_out_delta(mechanism, 0.5 * epsilon, &half);
    if (status == MFPG_OK) *delta = fmin(own, half * (1.0 + exp(0.5 * epsilon)) * (1.0 + 8.0 * DBL_EPSILON));
    return status;
}
