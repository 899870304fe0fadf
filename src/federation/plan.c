/* The plan of a round in which everybody takes part, from public numbers alone: what each client will release, its
 * share of the average, and how far the view hides it. */
#include "plan.h"

#include <math.h>
#include <stdlib.h>

#include "base/error.h"
#include "base/memory.h"
#include "internal.h"
#include "mfpg/grid.h"

mfpg_action mfpg_plan_action(const mfpg_plan *plan, ptrdiff_t k) {
    mfpg_action action = {.control = (mfpg_control)plan->control[k]};
    if (action.control == MFPG_CONTROL_BUDGET) action.budget.value = plan->value[k];
    if (action.control == MFPG_CONTROL_STRENGTH) action.strength.value = plan->value[k];
    if (action.control == MFPG_CONTROL_MULTIPLIER) action.multiplier = plan->value[k];
    return action;
}

static ptrdiff_t rows_of(const mfpg_plan *plan, ptrdiff_t k) {
    return plan->data->client[k].train.rows;
}

static const char *name_of(const mfpg_plan *plan, ptrdiff_t k) {
    return plan->data->client[k].name;
}

/* The record names the strength e of the noise sqrt(2 e tau) itself, whatever unit the action is in: that is what the
 * paper's formulas are about. */
static void name_strength(const mfpg_mechanism *mechanism, double tau, mfpg_release *release) {
    if (mfpg_mechanism_control(mechanism) != MFPG_CONTROL_STRENGTH) return;
    double e = release->noise_sd * release->noise_sd / (2.0 * tau);
    release->action = (mfpg_action){.control = MFPG_CONTROL_STRENGTH, .strength = {e}};
}

static mfpg_status make_release(mfpg_context *ctx, const mfpg_plan *plan, ptrdiff_t k, mfpg_release *out) {
    mfpg_status status =
        mfpg_mechanism_release(ctx, plan->mechanism[k], mfpg_plan_action(plan, k), rows_of(plan, k), out);
    name_strength(plan->mechanism[k], plan->options->paper.step, out);
    out->client = k;
    return status == MFPG_OK ? status : mfpg_fail_in(ctx, status, "client '%s'", name_of(plan, k));
}

/* What p_k is in proportion to. */
static double raw_weight(const mfpg_plan *plan, const mfpg_release *release) {
    switch (plan->options->weights) {
    case MFPG_WEIGHTS_EQUAL: return 1.0;
    case MFPG_WEIGHTS_INVERSE_NOISE:
        return 1.0 / ((double)release->steps * release->noise_sd * release->noise_sd);
    case MFPG_WEIGHTS_EXAMPLES: break;
    }
    return (double)rows_of(plan, (ptrdiff_t)release->client);
}

static int made_alike(const mfpg_plan *plan, ptrdiff_t a, ptrdiff_t b) {
    return plan->mechanism[a] == plan->mechanism[b] && plan->control[a] == plan->control[b] &&
           (plan->value[a] == plan->value[b] || plan->control[a] == MFPG_CONTROL_NONE) &&
           rows_of(plan, a) == rows_of(plan, b);
}

mfpg_release mfpg_plan_local(const mfpg_plan *plan, ptrdiff_t k, mfpg_plan_cursor *cursor) {
    mfpg_release *release = &cursor->release;
    if (cursor->client < 0 || !made_alike(plan, cursor->client, k)) {
        make_release(NULL, plan, k, release); /* which create and change found to be without a fault */
        release->client = k;
        release->weight = raw_weight(plan, release) / plan->weights;
        if (plan->grid > 0.0) release->grid = plan->grid;
    }
    cursor->client = k;
    release->client = k;
    release->hidden_contraction = plan->hidden_contraction;
    release->hidden_shift = plan->hidden_shift ? plan->hidden_shift[k] : 0.0;
    return *release;
}

double mfpg_plan_weight(const mfpg_plan *plan, ptrdiff_t k) {
    if (plan->options->weights == MFPG_WEIGHTS_INVERSE_NOISE) return mfpg_plan_release(plan, k).weight;
    return raw_weight(plan, &(mfpg_release){.client = k}) / plan->weights;
}

mfpg_release mfpg_plan_release(const mfpg_plan *plan, ptrdiff_t client) {
    mfpg_plan_cursor cursor = {.client = -1};
    mfpg_release release = mfpg_plan_local(plan, client, &cursor);
    release.last_sd = mfpg_view_last_sd(&plan->view, &release);
    return release;
}

/* The others' noise hides a client in a sum only where it stands there as it was added: no member may project its noised
 * state. Else every client keeps the certificate of the local view, which bounds the others. */
int mfpg_plan_noise_adds_up(const mfpg_plan *plan) {
    for (ptrdiff_t k = 0; k < plan->clients; k++)
        if (mfpg_mechanism_projects(plan->mechanism[k])) return 0;
    return 1;
}

/* ---- making one ---- */

static mfpg_status check_weight(mfpg_context *ctx, const mfpg_plan *plan, const mfpg_release *release) {
    const char *name = name_of(plan, (ptrdiff_t)release->client);
    double weight = raw_weight(plan, release);
    if (plan->options->weights == MFPG_WEIGHTS_INVERSE_NOISE && release->particles == MFPG_PARTICLES_DATA)
        return mfpg_fail(ctx, MFPG_ERR_INPUT,
            "train.weights: inverse-noise; the noise of client '%s' is in its records, not in its updates",
            name);
    if (weight > 0.0 && isfinite(weight)) return MFPG_OK;
    return mfpg_fail(ctx, MFPG_ERR_INPUT,
        "train.weights: inverse-noise needs noise in every client's updates; client '%s' has none", name);
}

static void set_action(mfpg_plan *plan, ptrdiff_t k, mfpg_action action) {
    plan->control[k] = (unsigned char)action.control;
    plan->value[k] = mfpg_action_value(&action);
}

static mfpg_status plan_clients(mfpg_context *ctx, const mfpg_action *action, mfpg_plan *plan) {
    for (ptrdiff_t k = 0; k < plan->clients; k++) {
        mfpg_release release;
        if (rows_of(plan, k) < 1)
            return mfpg_fail(ctx, MFPG_ERR_INPUT, "client '%s' has no rows to train on", name_of(plan, k));
        set_action(plan, k, action[k]);
        mfpg_status status = make_release(ctx, plan, k, &release);
        if (status == MFPG_OK) status = check_weight(ctx, plan, &release);
        if (status != MFPG_OK) return status;
        plan->weights += raw_weight(plan, &release);
    }
    return MFPG_OK;
}

/* Where cohorts are drawn, the others' noise cannot be counted on beforehand: the plan then keeps the local view,
 * which bounds the average view from above. Each round's own cohort is accounted with its own view. */
static int everybody_takes_part(const mfpg_federation_options *options) {
    return options->clients_per_round == 0 && options->client_rate >= 1.0;
}

/* 1: clients hand out shares of sums, with noise of their own in them. */
static int hands_out_shares(const mfpg_plan *plan, const mfpg_release *release) {
    return plan->options->promise.view != MFPG_VIEW_LOCAL &&
           release->particles == MFPG_PARTICLES_PARAMETERS && release->noise_sd > 0.0;
}

/* The least noise of a share. If actions are chosen anew in each round, of any action that may be chosen: the grid must not answer
 * to what private measurements chose. */
static mfpg_status least_share(
    mfpg_context *ctx, const mfpg_plan *plan, const mfpg_release *release, double *least) {
    const mfpg_acting *acting = plan->options->acting;
    ptrdiff_t k = (ptrdiff_t)release->client;
    *least = release->weight * release->noise_sd;
    if (!acting) return MFPG_OK;
    const mfpg_action_set *set = &acting->game->actions;
    mfpg_release smallest;
    mfpg_action action = {
        .control = MFPG_CONTROL_STRENGTH, .strength = {set->grid ? set->grid[0] : set->low}};
    for (ptrdiff_t j = 1; set->grid && j < set->count; j++)
        action.strength.value = fmin(action.strength.value, set->grid[j]);
    mfpg_status status = mfpg_mechanism_release(ctx, plan->mechanism[k], action, rows_of(plan, k), &smallest);
    *least = fmin(*least, release->weight * smallest.noise_sd);
    return status;
}

/* One grid for the sums of all rounds, fixed before the first: the largest power of two up to a sixteenth of the smallest noise of a
 * share. Fewer members in a round have larger weights, and with them more noise. */
static mfpg_status choose_grid(mfpg_context *ctx, mfpg_plan *plan) {
    mfpg_status status = MFPG_OK;
    mfpg_plan_cursor cursor = {.client = -1};
    double least = (double)INFINITY, asked = plan->options->grid;
    for (ptrdiff_t k = 0; k < plan->clients && status == MFPG_OK; k++) {
        mfpg_release release = mfpg_plan_local(plan, k, &cursor);
        double share;
        if (!hands_out_shares(plan, &release)) return MFPG_OK;
        status = least_share(ctx, plan, &release, &share);
        least = fmin(least, share);
    }
    if (status != MFPG_OK) return status;
    double grid = asked > 0.0 ? asked : mfpg_grid_for(least);
    cursor.client = -1;
    for (ptrdiff_t k = 0; k < plan->clients; k++) {
        mfpg_release release = mfpg_plan_local(plan, k, &cursor);
        const char *fault =
            mfpg_grid_fault(grid, release.weight * release.noise_sd, release.weight * release.sensitivity);
        if (!fault && !(grid <= 0.25 * least)) fault = "the grid is coarser than a quarter of the noise";
        if (fault)
            return mfpg_fail(ctx, MFPG_ERR_INPUT,
                "noise.grid: client '%s': %s: %g, and noise of %.3g in its share of the sum; view local can "
                "do with less",
                name_of(plan, k), fault, grid, release.weight * release.noise_sd);
    }
    plan->grid = grid;
    return MFPG_OK;
}

/* Rounding is no Lipschitz map, so a hidden state that is rounded moves apart by up to the grid times sqrt(d) a step (S2.3 with rounded
 * states). These grids make that 2^-30 of the noise, which mfpg_plan_hide has charged. */
mfpg_status mfpg_plan_refine_grid(mfpg_context *ctx, mfpg_plan *plan, ptrdiff_t dimension) {
    if (!plan->hidden_shift || plan->grid == 0.0) return MFPG_OK;
    double least = (double)INFINITY;
    mfpg_plan_cursor cursor = {.client = -1};
    for (ptrdiff_t k = 0; k < plan->clients; k++) {
        mfpg_release release = mfpg_plan_local(plan, k, &cursor);
        least = fmin(least, release.weight * release.noise_sd);
    }
    double finest =
        16.0 * mfpg_grid_for(0x1p-30 * least / sqrt((double)dimension)); /* the power of two below */
    plan->grid = plan->inner_grid = fmin(plan->grid, finest);
    for (ptrdiff_t k = 0; k < plan->clients; k++) {
        mfpg_release release = mfpg_plan_local(plan, k, &cursor);
        const char *fault = mfpg_grid_fault(plan->grid, release.noise_sd, release.sensitivity);
        if (fault)
            return mfpg_fail(ctx, MFPG_ERR_INPUT,
                "privacy.assume: hidden states of %td numbers need a grid of %.3g, and client '%s' cannot "
                "use it: "
                "%s; more noise, equal weights or privacy.assume none help",
                dimension, plan->grid, name_of(plan, k), fault);
    }
    return MFPG_OK;
}

/* What the view makes of everybody's noise together. */
static void grant_noise(mfpg_plan *plan) {
    const mfpg_federation_options *o = plan->options;
    mfpg_view_noise view = mfpg_view_start(&o->promise, o->colluder, o->participants);
    mfpg_plan_cursor cursor = {.client = -1};
    for (ptrdiff_t k = 0; k < plan->clients; k++) {
        mfpg_release release = mfpg_plan_local(plan, k, &cursor);
        mfpg_view_rank(&view, &release);
    }
    view.sums = view.sums && everybody_takes_part(o) && mfpg_plan_noise_adds_up(plan);
    cursor.client = -1;
    for (ptrdiff_t k = 0; k < plan->clients && view.sums; k++) {
        mfpg_release release = mfpg_plan_local(plan, k, &cursor);
        mfpg_view_add(&view, &release);
    }
    plan->view = view;
}

mfpg_status mfpg_plan_create(mfpg_context *ctx, const mfpg_federation_options *options,
    const mfpg_federated_data *data, const mfpg_mechanism *const *mechanism, const mfpg_action *action,
    mfpg_plan **out) {
    mfpg_plan *plan = mfpg_alloc(1, sizeof *plan);
    if (!plan) return mfpg_fail_memory(ctx);
    *plan = (mfpg_plan){.options = options, .data = data, .mechanism = mechanism, .clients = data->clients};
    plan->value = mfpg_alloc(plan->clients, sizeof *plan->value);
    plan->control = mfpg_alloc(plan->clients, sizeof *plan->control);
    mfpg_status status = plan->value && plan->control ? MFPG_OK : mfpg_fail_memory(ctx);
    if (status == MFPG_OK) status = plan_clients(ctx, action, plan);
    if (status == MFPG_OK) status = choose_grid(ctx, plan);
    if (status == MFPG_OK) grant_noise(plan);
    if (status == MFPG_OK) status = mfpg_plan_hide(ctx, plan);
    if (status != MFPG_OK) {
        mfpg_plan_destroy(plan);
        return status;
    }
    *out = plan;
    return MFPG_OK;
}

void mfpg_plan_destroy(mfpg_plan *plan) {
    if (!plan) return;
    free(plan->value);
    free(plan->control);
    free(plan->hidden_shift);
    free(plan);
}

mfpg_status mfpg_plan_change(mfpg_context *ctx, mfpg_plan *plan, ptrdiff_t k, mfpg_action action) {
    mfpg_action before = mfpg_plan_action(plan, k);
    mfpg_release release;
    set_action(plan, k, action);
    mfpg_status status = make_release(ctx, plan, k, &release);
    if (status != MFPG_OK) set_action(plan, k, before);
    return status;
}

/* ---- what it tells ---- */

double mfpg_plan_signal_to_noise(const mfpg_plan *plan, ptrdiff_t dimension) {
    const mfpg_federation_options *options = plan->options;
    double signal = 0.0, noise2 = 0.0;
    mfpg_plan_cursor cursor = {.client = -1};
    for (ptrdiff_t k = 0; k < plan->clients; k++) {
        mfpg_release r = mfpg_plan_local(plan, k, &cursor);
        if (r.particles != MFPG_PARTICLES_PARAMETERS) return (double)NAN;
        double steps = (double)r.steps, bound = r.sensitivity;
        /* An example's share is 1/(rate n) of the clipped mean, whose norm the clip bounds. */
        if (options->promise.unit == MFPG_UNIT_EXAMPLE) bound *= r.sampling_rate * (double)rows_of(plan, k);
        signal += r.weight * steps * bound;
        noise2 += r.weight * r.weight * steps * r.noise_sd * r.noise_sd;
    }
    if (noise2 == 0.0) return (double)INFINITY;
    return sqrt((double)options->rounds) * signal / sqrt((double)dimension * noise2);
}
