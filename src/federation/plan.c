/* The plan of a round in which all clients take part, from public numbers alone: what each client will
 * release, its share of the average, and how well the view hides it. */
#include "plan.h"

#include <math.h>
#include <stdlib.h>

#include "accountants/view_noise.h"
#include "base/error.h"
#include "base/memory.h"
#include "base/release_parts.h"
#include "distinct.h"
#include "base/grid_noise.h"

static const plan_class *class_of(const mfpg_plan *plan, ptrdiff_t k) {
    return &plan->class[plan->class_of[k]];
}

static ptrdiff_t rows_of(const mfpg_plan *plan, ptrdiff_t k) {
    return plan->data->client[k].train.rows;
}

static const char *name_of(const mfpg_plan *plan, ptrdiff_t k) {
    return plan->data->client[k].name;
}

mfpg_action mfpg_plan_action(const mfpg_plan *plan, ptrdiff_t k) {
    const plan_class *class = class_of(plan, k);
    mfpg_action action = {.control = class->control};
    if (action.control == MFPG_CONTROL_BUDGET) action.budget.value = class->value;
    if (action.control == MFPG_CONTROL_STRENGTH) action.strength.value = class->value;
    if (action.control == MFPG_CONTROL_MULTIPLIER) action.multiplier = class->value;
    return action;
}

mfpg_release mfpg_plan_local(const mfpg_plan *plan, ptrdiff_t k) {
    mfpg_release release = class_of(plan, k)->release;
    release.client = k;
    return release;
}

/* Adds to a release what the view says of it. */
static mfpg_release seen_by(const mfpg_view_noise *view, mfpg_release release) {
    release.last_sd = mfpg_view_last_sd(view, &release);
    if (view->threshold == 0 || !view->sums) return release;
    release.attempt = 1;
    release.members = view->members;
    release.threshold = view->threshold;
    release.colluders = view->colluders;
    return release;
}

mfpg_release mfpg_plan_release(const mfpg_plan *plan, ptrdiff_t k) {
    return seen_by(&plan->view, mfpg_plan_local(plan, k));
}

int mfpg_plan_sum_threshold(const mfpg_plan *plan, ptrdiff_t members, ptrdiff_t named) {
    const mfpg_sum_options *sum = &plan->options->sum;
    ptrdiff_t both = members + sum->colluders + named, t = sum->threshold ? sum->threshold : both / 2 + 1;
    int fits = plan->clients <= MFPG_SUM_MOST && members >= MFPG_SUM_LEAST && t <= members && 2 * t > both;
    return fits ? (int)t : 0;
}

/* Starts the view of a round of the members order[0 .. count). The protocol does not know who is named as a colluder:
 * with its help the server can do what it can with any other, so the sum has c and the named members as colluders. */
static mfpg_view_noise start_view(const mfpg_plan *plan, const ptrdiff_t *order, ptrdiff_t count) {
    const mfpg_federation_options *o = plan->options;
    mfpg_view_noise view = mfpg_view_start(&o->promise, o->colluder, o->participants);
    ptrdiff_t named = 0;
    if (!o->sum.simulate) return view;
    for (ptrdiff_t i = 0; i < count && o->colluder; i++) named += o->colluder[order ? order[i] : i];
    mfpg_view_secure(&view, mfpg_plan_sum_threshold(plan, count, named), (int)(o->sum.colluders + named));
    view.sums = view.threshold > 0; /* otherwise nothing is summed */
    return view;
}

/* ---- making one ---- */

/* Returns the number to which p_k is proportional. */
static double raw_weight(const mfpg_plan *plan, const mfpg_release *release) {
    switch (plan->options->weights) {
    case MFPG_WEIGHTS_EQUAL: return 1.0;
    case MFPG_WEIGHTS_INVERSE_NOISE:
        return 1.0 / ((double)release->steps * release->noise_sd * release->noise_sd);
    case MFPG_WEIGHTS_EXAMPLES: break;
    }
    return (double)rows_of(plan, (ptrdiff_t)release->client);
}

/* Computes the release and the number to which its weight is proportional. The record holds the strength e
 * of the noise sqrt(2 e tau) itself, whatever the unit of the action, because the paper's formulas are about
 * e. */
static mfpg_status make_class(
    mfpg_context *ctx, const mfpg_plan *plan, ptrdiff_t k, mfpg_action action, plan_class *out) {
    mfpg_release *release = &out->release;
    int by_noise = plan->options->weights == MFPG_WEIGHTS_INVERSE_NOISE;
    *out = (plan_class){.control = action.control, .value = mfpg_action_value(&action)};
    mfpg_status status = mfpg_mechanism_release(ctx, plan->mechanism[k], action, rows_of(plan, k), release);
    if (status != MFPG_OK) return mfpg_fail_in(ctx, status, "client '%s'", name_of(plan, k));
    if (mfpg_mechanism_control(plan->mechanism[k]) == MFPG_CONTROL_STRENGTH) {
        double e = release->noise_sd * release->noise_sd / (2.0 * plan->options->paper.step);
        release->action = (mfpg_action){.control = MFPG_CONTROL_STRENGTH, .strength = {e}};
    }
    release->client = k;
    release->weight = raw_weight(plan, release);
    if (by_noise && release->particles == MFPG_PARTICLES_DATA)
        return mfpg_fail(ctx, MFPG_ERR_INPUT,
            "train.weights: inverse-noise; the noise of client '%s' is in its records, not in its updates",
            name_of(plan, k));
    if (release->weight > 0.0 && isfinite(release->weight)) return MFPG_OK;
    return mfpg_fail(ctx, MFPG_ERR_INPUT,
        "train.weights: inverse-noise needs noise in every client's updates; client '%s' has none",
        name_of(plan, k));
}

/* A client and its action, whose class is to be found. */
typedef struct planned_client {
    const mfpg_plan *plan;
    ptrdiff_t k;
    mfpg_action action;
} planned_client;

static int is_of_class(const void *user, int32_t number) {
    const planned_client *client = user;
    const mfpg_plan *plan = client->plan;
    const plan_class *class = &plan->class[number];
    ptrdiff_t example = (ptrdiff_t) class->release.client;
    return plan->mechanism[example] == plan->mechanism[client->k] &&
           rows_of(plan, example) == rows_of(plan, client->k) && class->control == client->action.control &&
           (class->control == MFPG_CONTROL_NONE || class->value == mfpg_action_value(&client->action));
}

static uint64_t hash_of(const planned_client *client) {
    const mfpg_release key = {.steps = rows_of(client->plan, client->k), .action = client->action};
    return mfpg_release_hash(&key, MFPG_RELEASE_ALL) +
           (uint64_t)(uintptr_t)client->plan->mechanism[client->k];
}

static mfpg_status plan_clients(mfpg_context *ctx, const mfpg_action *action, mfpg_plan *plan) {
    mfpg_distinct distinct = {0};
    ptrdiff_t room = 0;
    mfpg_status status = MFPG_OK;
    for (ptrdiff_t k = 0; k < plan->clients && status == MFPG_OK; k++) {
        const planned_client client = {plan, k, action[k]};
        int32_t fresh = plan->class_of[k] = (int32_t)plan->classes;
        if (rows_of(plan, k) < 1)
            status = mfpg_fail(ctx, MFPG_ERR_INPUT, "client '%s' has no rows to train on", name_of(plan, k));
        else if (k > 0 && !plan->options->acting && is_of_class(&client, plan->class_of[k - 1]))
            plan->class_of[k] = plan->class_of[k - 1]; /* neighbours often are alike */
        else if (!plan->options->acting)
            status = mfpg_distinct_find(
                ctx, &distinct, hash_of(&client), is_of_class, &client, fresh, &plan->class_of[k]);
        if (status == MFPG_OK && plan->class_of[k] == fresh) {
            plan_class *class = mfpg_room_for_one(plan->class, plan->classes, &room, sizeof *class);
            plan->class = class ? class : plan->class;
            status =
                class ? make_class(ctx, plan, k, action[k], &class[plan->classes++]) : mfpg_fail_memory(ctx);
        }
        if (status == MFPG_OK) plan->weights += class_of(plan, k)->release.weight;
    }
    mfpg_distinct_clear(&distinct);
    plan_class *fitting = status == MFPG_OK ? mfpg_resize(plan->class, plan->classes, sizeof *fitting) : NULL;
    if (fitting) plan->class = fitting;
    for (ptrdiff_t i = 0; i < plan->classes; i++) plan->class[i].release.weight /= plan->weights;
    return status;
}

/* Returns the smallest noise of a share of such a class. If actions are chosen in each round, it is the
 * smallest over all actions that may be chosen, because the grid must not depend on choices made from
 * private measurements. */
static mfpg_status least_share(
    mfpg_context *ctx, const mfpg_plan *plan, const mfpg_release *release, double *least) {
    ptrdiff_t k = (ptrdiff_t)release->client;
    double share = release->weight * release->noise_sd;
    mfpg_status status = MFPG_OK;
    if (plan->options->acting) {
        const mfpg_action_set *set = &plan->options->acting->game->actions;
        mfpg_release smallest;
        mfpg_action action = {
            .control = MFPG_CONTROL_STRENGTH, .strength = {set->grid ? set->grid[0] : set->low}};
        for (ptrdiff_t j = 1; set->grid && j < set->count; j++)
            action.strength.value = fmin(action.strength.value, set->grid[j]);
        status = mfpg_mechanism_release(ctx, plan->mechanism[k], action, rows_of(plan, k), &smallest);
        share = fmin(share, release->weight * smallest.noise_sd);
    }
    *least = fmin(*least, share);
    return status;
}

static void set_grid(mfpg_plan *plan, double grid) {
    plan->grid = grid;
    for (ptrdiff_t i = 0; i < plan->classes; i++) plan->class[i].release.grid = grid;
}

/* Chooses one grid for the sums of all rounds before the first round: the largest power of two up to a
 * sixteenth of the smallest noise of a share. If a round has fewer members, they have larger weights and
 * therefore more noise. Views that see updates, records, and updates without noise have no shares. */
static mfpg_status choose_grid(mfpg_context *ctx, mfpg_plan *plan) {
    double least = (double)INFINITY;
    if (plan->options->promise.view == MFPG_VIEW_LOCAL) return MFPG_OK;
    for (ptrdiff_t i = 0; i < plan->classes; i++) {
        const mfpg_release *release = &plan->class[i].release;
        if (release->particles != MFPG_PARTICLES_PARAMETERS || !(release->noise_sd > 0.0)) return MFPG_OK;
        mfpg_status status = least_share(ctx, plan, release, &least);
        if (status != MFPG_OK) return status;
    }
    double grid = plan->options->grid > 0.0 ? plan->options->grid : mfpg_grid_for(least);
    for (ptrdiff_t i = 0; i < plan->classes; i++) {
        const mfpg_release *release = &plan->class[i].release;
        double noise = release->weight * release->noise_sd;
        const char *fault = mfpg_grid_fault(grid, noise, release->weight * release->sensitivity);
        if (!fault && !(grid <= 0.25 * least)) fault = "the grid is coarser than a quarter of the noise";
        if (fault)
            return mfpg_fail(ctx, MFPG_ERR_INPUT,
                "noise.grid: client '%s': %s: %g, and noise of %.3g in its share of the sum; view local can "
                "do with less",
                name_of(plan, (ptrdiff_t)release->client), fault, grid, noise);
    }
    set_grid(plan, grid);
    return MFPG_OK;
}

/* Rounding is not a Lipschitz map: two hidden states that are rounded can move apart by up to the grid times
 * sqrt(d) per step (S2.3 with rounded states). These grids make that 2^-30 of the noise, which
 * mfpg_plan_hide has charged. */
mfpg_status mfpg_plan_refine_grid(mfpg_context *ctx, mfpg_plan *plan, ptrdiff_t dimension) {
    if (plan->options->hidden == MFPG_HIDDEN_NONE || plan->grid == 0.0) return MFPG_OK;
    double least = (double)INFINITY;
    for (ptrdiff_t i = 0; i < plan->classes; i++)
        least = fmin(least, plan->class[i].release.weight * plan->class[i].release.noise_sd);
    double finest =
        16.0 * mfpg_grid_for(0x1p-30 * least / sqrt((double)dimension)); /* the power of two below */
    set_grid(plan, fmin(plan->grid, finest));
    plan->inner_grid = plan->grid;
    for (ptrdiff_t i = 0; i < plan->classes; i++) {
        const mfpg_release *release = &plan->class[i].release;
        const char *fault = mfpg_grid_fault(plan->grid, release->noise_sd, release->sensitivity);
        if (fault)
            return mfpg_fail(ctx, MFPG_ERR_INPUT,
                "privacy.assume: hidden states of %td numbers need a grid of %.3g, and client '%s' cannot "
                "use it: %s; more noise, equal weights or privacy.assume none help",
                dimension, plan->grid, name_of(plan, (ptrdiff_t)release->client), fault);
    }
    return MFPG_OK;
}

/* Computes what the view grants each client of the others' noise. If cohorts are drawn, or clients drop out of a sum that
 * does not reckon with it, the others' noise cannot be relied on beforehand. The plan then keeps the local view, which is an upper bound for the
 * average view, and each round's actual cohort is accounted with its own view. */
static void grant_noise(mfpg_plan *plan) {
    const mfpg_federation_options *o = plan->options;
    mfpg_view_noise view = start_view(plan, NULL, plan->clients);
    for (ptrdiff_t k = 0; k < plan->clients; k++) {
        mfpg_release release = mfpg_plan_local(plan, k);
        mfpg_view_rank(&view, &release);
    }
    int missed = o->sum.dropouts > 0 && !o->sum.simulate;
    view.sums = view.sums && o->clients_per_round == 0 && o->client_rate >= 1.0 && !plan->projects && !missed;
    for (ptrdiff_t k = 0; k < plan->clients && view.sums; k++) {
        mfpg_release release = mfpg_plan_local(plan, k);
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
    for (ptrdiff_t k = 0; k < plan->clients; k++)
        plan->projects = plan->projects || mfpg_mechanism_projects(mechanism[k]);
    plan->class_of = mfpg_alloc(plan->clients, sizeof *plan->class_of);
    mfpg_status status = plan->class_of ? MFPG_OK : mfpg_fail_memory(ctx);
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
    free(plan->class_of);
    free(plan->class);
    free(plan);
}

mfpg_status mfpg_plan_change(mfpg_context *ctx, mfpg_plan *plan, ptrdiff_t k, mfpg_action action) {
    plan_class *class = &plan->class[plan->class_of[k]], changed;
    mfpg_status status = make_class(ctx, plan, k, action, &changed);
    if (status != MFPG_OK) return status;
    changed.release.weight /= plan->weights;
    if (plan->grid > 0.0) changed.release.grid = plan->grid;
    *class = changed;
    return MFPG_OK;
}

/* ---- a round ---- */

round_terms mfpg_plan_terms(
    const mfpg_plan *plan, const ptrdiff_t *order, ptrdiff_t count, const unsigned char *dropped) {
    mfpg_view_noise view = start_view(plan, order, count);
    round_terms terms = {.view = view};
    terms.view.sums = 0; /* the noises that are added up are those of the members themselves */
    for (ptrdiff_t i = 0; i < count; i++)
        terms.weights += class_of(plan, order ? order[i] : i)->release.weight;
    if (!view.sums || plan->projects) return terms;
    for (int pass = 0; pass < 2; pass++)
        for (ptrdiff_t i = 0; i < count; i++) {
            ptrdiff_t k = order ? order[i] : i;
            if (dropped && dropped[k] && view.threshold == 0) continue;
            mfpg_release own = mfpg_plan_release_on(plan, &terms, k);
            if (pass == 0)
                mfpg_view_rank(&view, &own);
            else
                mfpg_view_add(&view, &own);
        }
    terms.view = view;
    return terms;
}

mfpg_release mfpg_plan_release_on(const mfpg_plan *plan, const round_terms *terms, ptrdiff_t k) {
    mfpg_release release = mfpg_plan_local(plan, k);
    release.weight = release.weight / terms->weights;
    return seen_by(&terms->view, release);
}

/* ---- what it tells ---- */

double mfpg_plan_signal_to_noise(const mfpg_plan *plan, ptrdiff_t dimension) {
    const mfpg_federation_options *options = plan->options;
    double signal = 0.0, noise2 = 0.0;
    for (ptrdiff_t k = 0; k < plan->clients; k++) {
        mfpg_release r = mfpg_plan_local(plan, k);
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
