/* ActionUpdate of Algorithm 1 if actions are chosen in every round: members measure their loss and gradient
 * norm at the broadcast model, the choice is released and paid for, and the update that follows uses it
 * (theory S4). */
#include "adaptive_actions.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/ranks.h"
#include "federation_core.h"
#include "games/game_internal.h"
#include "mechanisms/private_action.h"
#include "base/grid_noise.h"

const char *mfpg_selection_name(mfpg_selection selection) {
    switch (selection) {
    case MFPG_SELECTION_NONE: return "none";
    case MFPG_SELECTION_NOISY: return "noisy";
    case MFPG_SELECTION_EXPONENTIAL: return "exponential";
    }
    return "unknown selection";
}

/* ---- rules ---- */

_Static_assert(MFPG_CHOICE_MOST == 1024, "as the sentence below says");

static int is_positive(double value) {
    return value > 0.0 && isfinite(value);
}

/* What a selection needs. */
static mfpg_acting_option selection_fault(const mfpg_acting *acting, const char **why) {
    int measures = mfpg_cost_measures(acting->game->cost);
    *why = "it must be a finite number above 0";
    if (!is_positive(acting->loss_clip)) return MFPG_ACTING_LOSS_CLIP;
    switch (acting->selection) {
    case MFPG_SELECTION_NONE: return MFPG_ACTING_RIGHT;
    case MFPG_SELECTION_NOISY:
        *why = "selection noisy needs a finite number above 0 for each measurement that the cost reads";
        if ((measures & MFPG_MEASURES_LOSS) && !is_positive(acting->noise.loss))
            return MFPG_ACTING_LOSS_NOISE;
        if ((measures & MFPG_MEASURES_GRADIENT) && !is_positive(acting->noise.gradient_norm))
            return MFPG_ACTING_GRADIENT_NOISE;
        return MFPG_ACTING_RIGHT;
    case MFPG_SELECTION_EXPONENTIAL:
        *why = "selection exponential draws from a list of actions, at most 1024; give one";
        if (!acting->game->actions.grid || acting->game->actions.count > MFPG_CHOICE_MOST)
            return MFPG_ACTING_ACTIONS;
        *why = "selection exponential needs a finite number above 0";
        return is_positive(acting->epsilon) ? MFPG_ACTING_RIGHT : MFPG_ACTING_EPSILON;
    }
    *why = "it is an unknown selection";
    return MFPG_ACTING_SELECTION;
}

/* Checks the options that a certificate of adaptive actions requires. */
static mfpg_acting_option promise_fault(const mfpg_federation_options *o, const char **why) {
    int raw = o->acting->selection == MFPG_SELECTION_NONE;
    *why = "actions chosen each round depend on the models along the way, which view final hides; allowed: "
           "local, average";
    if (o->promise.view == MFPG_VIEW_FINAL) return MFPG_ACTING_VIEW;
    *why = "weights inverse-noise depend on the noise, which each round chooses; allowed: equal, examples";
    if (o->weights == MFPG_WEIGHTS_INVERSE_NOISE) return MFPG_ACTING_WEIGHTS;
    *why = "with actions chosen each round the certificate is the budget of a Gaussian-DP filter; allowed: "
           "auto, gdp";
    if (!(mfpg_accountant_facts(o->accountant) & MFPG_ACCOUNTANT_SUMS_SQUARES)) return MFPG_ACTING_ACCOUNTANT;
    if (o->filter != MFPG_FILTER_GDP) return MFPG_ACTING_FILTER;
    *why = raw ? "selection none releases raw private numbers, which no budget covers; allowed: none, or "
                 "selection noisy or exponential"
               : "actions chosen each round depend on earlier outputs, so that only a budget that is fixed "
                 "beforehand can be certified; give one";
    return raw == !isfinite(o->stop_at_epsilon) ? MFPG_ACTING_RIGHT : MFPG_ACTING_BUDGET;
}

mfpg_acting_option mfpg_acting_fault(
    const mfpg_federation_options *options, mfpg_particles particles, const char **why) {
    const mfpg_game *game = options->acting->game;
    *why = "records are noised once, before there is anything to measure; allowed: once";
    if (particles != MFPG_PARTICLES_PARAMETERS) return MFPG_ACTING_PARTICLES;
    *why = "the cost of the game reads nothing that clients measure, so that it would choose the same every "
           "round; allowed: once, or cost measured or paper";
    if (!mfpg_cost_measures(game->cost)) return MFPG_ACTING_COST;
    mfpg_acting_option fault = promise_fault(options, why);
    if (fault != MFPG_ACTING_RIGHT) return fault;
    *why =
        "a noised loss can be 0, whose best response is endless; allowed: a list, or min and max, that is a "
        "minimum above 0 and a finite maximum";
    if (!game->actions.grid && !(game->actions.low > 0.0 && isfinite(game->actions.high)))
        return MFPG_ACTING_ACTIONS;
    return selection_fault(options->acting, why);
}

/* ---- before the first round ---- */

/* Checks that the noise of each measurement that the cost reads fits its grid, whatever the measured value. */
static mfpg_status check_noises(mfpg_context *ctx, const mfpg_federation *f) {
    const mfpg_acting *acting = f->options.acting;
    int measures = mfpg_cost_measures(acting->game->cost);
    double gradient = 0.0;
    for (ptrdiff_t k = 0; k < f->clients; k++)
        gradient = fmax(gradient, mfpg_measurement_most(f->mechanism[k], acting->loss_clip).gradient_norm);
    const struct {
        const char *what;
        int read;
        double noise, most;
    } measured[] = {{"loss", measures & MFPG_MEASURES_LOSS, acting->noise.loss, acting->loss_clip},
        {"gradient norm", measures & MFPG_MEASURES_GRADIENT, acting->noise.gradient_norm, gradient}};
    for (int i = 0; i < 2 && acting->selection == MFPG_SELECTION_NOISY; i++) {
        double noise = measured[i].noise;
        const char *fault =
            measured[i].read ? mfpg_grid_fault(mfpg_grid_for(noise), noise, measured[i].most) : NULL;
        if (fault)
            return mfpg_fail(
                ctx, MFPG_ERR_DOMAIN, "noise of the measured %s is %g: %s", measured[i].what, noise, fault);
    }
    return MFPG_OK;
}

static mfpg_status check_options(mfpg_context *ctx, const mfpg_federation *f) {
    static const char *const names[] = {"", "particles", "cost of the game", "view", "weights", "accountant",
        "filter", "stop_at_epsilon", "actions", "selection", "loss clip", "noise of the measured loss",
        "noise of the measured gradient norm", "epsilon of a choice"};
    const mfpg_game *game = f->options.acting->game;
    const char *why;
    mfpg_acting_option fault = mfpg_acting_fault(&f->options, f->particles, &why);
    if (fault != MFPG_ACTING_RIGHT)
        return mfpg_fail(ctx, MFPG_ERR_INPUT, "actions chosen each round: %s: %s", names[fault], why);
    if (game->clients != f->clients)
        return mfpg_fail(
            ctx, MFPG_ERR_INPUT, "a game of %td clients cannot choose for %td", game->clients, f->clients);
    return check_noises(ctx, f);
}

static mfpg_action strength(double value) {
    return (mfpg_action){.control = MFPG_CONTROL_STRENGTH, .strength = {value}};
}

/* Checks that the client's mechanism accepts every action that may be chosen (of an interval, both ends). */
static mfpg_status check_actions(mfpg_context *ctx, const mfpg_federation *f) {
    const mfpg_action_set *set = &f->options.acting->game->actions;
    const double ends[] = {set->low, set->high};
    const double *value = set->grid ? set->grid : ends;
    ptrdiff_t count = set->grid ? set->count : 2;
    mfpg_status status = MFPG_OK;
    for (ptrdiff_t k = 0; k < f->clients && status == MFPG_OK; k++) {
        for (ptrdiff_t j = 0; j < count && status == MFPG_OK; j++) {
            mfpg_release unused;
            status = mfpg_mechanism_release(
                ctx, f->mechanism[k], strength(value[j]), f->data->client[k].train.rows, &unused);
        }
        if (status != MFPG_OK) return mfpg_fail_in(ctx, status, "client '%s'", f->data->client[k].name);
    }
    return status;
}

/* Returns the sensitivity of each measurement of client k that the cost reads. */
static mfpg_measurement change_of(const mfpg_federation *f, ptrdiff_t k, mfpg_adjacency adjacency) {
    const mfpg_acting *acting = f->options.acting;
    int measures = mfpg_cost_measures(acting->game->cost);
    mfpg_measurement change = mfpg_measurement_change(
        f->mechanism[k], f->model, f->data->client[k].train.rows, acting->loss_clip, adjacency);
    if (!(measures & MFPG_MEASURES_LOSS)) change.loss = 0.0;
    if (!(measures & MFPG_MEASURES_GRADIENT)) change.gradient_norm = 0.0;
    return change;
}

/* Writes to out the sensitivity of the disutilities under one adjacency; the arrays of measurements are used
 * as scratch. */
static mfpg_status find_changes(
    mfpg_context *ctx, const mfpg_federation *f, mfpg_adjacency adjacency, double *out) {
    const mfpg_acting *acting = f->options.acting;
    const adaptive_actions *a = f->acting;
    double most = 0.0;
    for (ptrdiff_t k = 0; k < f->clients; k++) {
        mfpg_measurement change = change_of(f, k, adjacency);
        a->loss[k] = change.loss;
        a->gradient[k] = change.gradient_norm;
        most = fmax(most, mfpg_measurement_most(f->mechanism[k], acting->loss_clip).gradient_norm);
    }
    mfpg_status status =
        mfpg_game_disutility_changes(ctx, acting->game, a->loss, acting->loss_clip, a->gradient, most, out);
    for (ptrdiff_t k = 0; k < f->clients && status == MFPG_OK; k++)
        if (!(out[k] > 0.0 && isfinite(out[k])))
            status = mfpg_fail(ctx, MFPG_ERR_INPUT,
                "client '%s': its disutilities leave the range of numbers, so nothing bounds how far "
                "its data move them",
                f->data->client[k].name);
    return status;
}

/* A choice by the exponential mechanism has range epsilon under the promised adjacency, and epsilon times
 * the ratio of the two sensitivities under the other one. A release holds one zero-out number, and replace
 * doubles it. Because mu is concave in epsilon, this number must be large enough to cover both adjacencies. */
static mfpg_status price_draws(mfpg_context *ctx, mfpg_federation *f) {
    adaptive_actions *a = f->acting;
    double epsilon = f->options.acting->epsilon, *replace = mfpg_alloc(f->clients, sizeof *replace);
    if (!replace) return mfpg_fail_memory(ctx);
    int replaces = f->options.promise.adjacency == MFPG_ADJACENCY_REPLACE;
    mfpg_status status = find_changes(ctx, f, MFPG_ADJACENCY_REPLACE, replace);
    if (status == MFPG_OK) status = find_changes(ctx, f, MFPG_ADJACENCY_ZERO_OUT, a->change);
    for (ptrdiff_t k = 0; k < f->clients && status == MFPG_OK; k++) {
        double promised = replaces ? replace[k] : a->change[k];
        double absent = mfpg_choice_mu(epsilon * (a->change[k] / promised) * (1.0 + 0x1p-50)),
               replaced = mfpg_choice_mu(epsilon * (replace[k] / promised) * (1.0 + 0x1p-50));
        a->price[k].sensitivity = fmax(absent, 0.5 * replaced);
        a->change[k] = promised;
    }
    free(replace);
    return status;
}

/* Makes the release that stands for a choice of each client: one more Gaussian step, protected by its own
 * noise only and part of no average. */
static mfpg_status price_choices(mfpg_context *ctx, mfpg_federation *f) {
    const mfpg_acting *acting = f->options.acting;
    for (ptrdiff_t k = 0; k < f->clients; k++) {
        mfpg_measurement change = change_of(f, k, MFPG_ADJACENCY_ZERO_OUT);
        double noise = acting->selection == MFPG_SELECTION_NONE ? 0.0 : 1.0;
        f->acting->price[k] = (mfpg_release){.client = k,
            .unit = f->options.promise.unit,
            .clipped = MFPG_CLIPPED_MEASUREMENTS,
            .grid = mfpg_grid_for(noise),
            .steps = 1,
            .sensitivity = 1.0,
            .noise_sd = noise,
            .last_sd = noise,
            .contraction = 1.0,
            .sampling_rate = 1.0};
        if (acting->selection == MFPG_SELECTION_NOISY)
            f->acting->price[k].sensitivity = mfpg_measurement_mu(&change, &acting->noise);
    }
    return acting->selection == MFPG_SELECTION_EXPONENTIAL ? price_draws(ctx, f) : MFPG_OK;
}

static mfpg_status allocate(mfpg_context *ctx, mfpg_federation *f) {
    ptrdiff_t n = f->clients, count = f->options.acting->game->actions.count;
    adaptive_actions *a = f->acting = mfpg_pool_own(&f->kept, mfpg_alloc(1, sizeof *a));
    if (!a) return mfpg_fail_memory(ctx);
    a->loss = mfpg_pool_own(&f->kept, mfpg_alloc(n, sizeof *a->loss));
    a->gradient = mfpg_pool_own(&f->kept, mfpg_alloc(n, sizeof *a->gradient));
    a->price = mfpg_pool_own(&f->kept, mfpg_alloc(n, sizeof *a->price));
    a->chose = mfpg_pool_own(&f->kept, mfpg_alloc(n, sizeof *a->chose));
    if (f->options.acting->selection == MFPG_SELECTION_EXPONENTIAL) {
        a->change = mfpg_pool_own(&f->kept, mfpg_alloc(n, sizeof *a->change));
        a->disutility = mfpg_pool_own(&f->kept, mfpg_alloc(n, sizeof *a->disutility * (size_t)count));
    }
    return f->kept.failed ? mfpg_fail_memory(ctx) : MFPG_OK;
}

static mfpg_status begin(mfpg_context *ctx, mfpg_federation *f) {
    if (!f->options.acting) return MFPG_OK;
    mfpg_status status = check_options(ctx, f);
    if (status == MFPG_OK) status = check_actions(ctx, f);
    if (status == MFPG_OK) status = allocate(ctx, f);
    if (status == MFPG_OK) status = price_choices(ctx, f);
    if (status != MFPG_OK) return status;
    adaptive_actions *a = f->acting;
    a->game = *f->options.acting->game;
    for (ptrdiff_t k = 0; k < f->clients; k++) { /* until something is measured */
        a->loss[k] = a->game.loss;
        a->gradient[k] = a->game.gradient_norm;
    }
    a->game.measured_loss = a->loss;
    a->game.measured_gradient = a->gradient;
    return MFPG_OK;
}

/* ---- a round ---- */

static mfpg_release choice_at(void *user, ptrdiff_t i) {
    const mfpg_federation *f = user;
    mfpg_release choice = f->acting->price[f->order[i]];
    choice.round = f->round + 1;
    return choice;
}

static mfpg_status measure_member(mfpg_context *ctx, ptrdiff_t member, int worker, void *arg) {
    (void)ctx;
    mfpg_federation *f = arg;
    const mfpg_acting *acting = f->options.acting;
    ptrdiff_t k = f->order[member];
    const mfpg_dataset *data = &f->data->client[k].train;
    int measures = mfpg_cost_measures(acting->game->cost);
    if (!mfpg_federation_owns(f, k)) return MFPG_OK;
    float *work = f->worker[worker].scratch;
    mfpg_measurement measured = {0}; /* measurements that the cost does not read are not made */
    if (measures & MFPG_MEASURES_LOSS)
        measured.loss = mfpg_measure_loss(f->model, data, data->rows, acting->loss_clip, f->w, work);
    if (measures & MFPG_MEASURES_GRADIENT)
        measured.gradient_norm =
            mfpg_measure_gradient_norm(f->mechanism[k], f->model, data, data->rows, f->w, work);
    if (acting->selection == MFPG_SELECTION_NOISY) {
        mfpg_measurement most = mfpg_measurement_most(f->mechanism[k], acting->loss_clip);
        mfpg_stream noise = mfpg_stream_open(&f->key, MFPG_PURPOSE_MEASURE, (uint64_t)f->round, (uint64_t)k);
        measured = mfpg_measurement_blur(&measured, &acting->noise, &most, &noise);
    }
    f->acting->loss[k] = measured.loss;
    f->acting->gradient[k] = measured.gradient_norm;
    return MFPG_OK;
}

static void exchange_measurement(mfpg_federation *f, ptrdiff_t k, int64_t words[2], int tell) {
    if (tell) {
        memcpy(&words[0], &f->acting->loss[k], sizeof *words);
        memcpy(&words[1], &f->acting->gradient[k], sizeof *words);
    } else {
        memcpy(&f->acting->loss[k], &words[0], sizeof *words);
        memcpy(&f->acting->gradient[k], &words[1], sizeof *words);
    }
}

static mfpg_status draw_actions(mfpg_context *ctx, mfpg_federation *f, ptrdiff_t members) {
    adaptive_actions *a = f->acting;
    const mfpg_action_set *set = &a->game.actions;
    uint64_t weight[MFPG_CHOICE_MOST];
    mfpg_status status = mfpg_game_disutilities(ctx, &a->game, a->disutility);
    for (ptrdiff_t i = 0; i < members && status == MFPG_OK; i++) {
        ptrdiff_t k = f->order[i];
        mfpg_stream ticket = mfpg_stream_open(&f->key, MFPG_PURPOSE_CHOICE, (uint64_t)f->round, (uint64_t)k);
        mfpg_choice_weights(
            a->disutility + k * set->count, set->count, f->options.acting->epsilon, a->change[k], weight);
        mfpg_action action = strength(set->grid[mfpg_choice_draw(&ticket, weight, set->count)]);
        status = mfpg_plan_change(ctx, f->plan, k, action);
    }
    return status;
}

static mfpg_status best_responses(mfpg_context *ctx, mfpg_federation *f, ptrdiff_t members) {
    mfpg_equilibrium solution;
    mfpg_status status = mfpg_game_solve(ctx, &f->acting->game, &solution);
    for (ptrdiff_t i = 0; i < members && status == MFPG_OK; i++)
        status = mfpg_plan_change(ctx, f->plan, f->order[i], strength(solution.action[f->order[i]]));
    mfpg_equilibrium_clear(&solution);
    return status;
}

mfpg_status mfpg_federation_act(mfpg_context *ctx, mfpg_federation *f, ptrdiff_t *members) {
    if (!f->acting) return MFPG_OK;
    if (isfinite(f->options.stop_at_epsilon))
        *members = mfpg_federation_keep_affordable(ctx, f, choice_at, f, *members);
    mfpg_status status = mfpg_federation_charge(ctx, f, choice_at, f, *members);
    if (status != MFPG_OK || *members == 0) return status;
    status = mfpg_ranks_agree(ctx, mfpg_tasks_run(ctx, *members, measure_member, f));
    if (status == MFPG_OK) status = mfpg_federation_exchange(ctx, f, *members, exchange_measurement);
    if (status == MFPG_OK) {
        status = mfpg_federation_announce_choices(ctx, f, *members);
        /* accountants and the ledger record the choices before any action becomes visible */
        if (status == MFPG_OK) status = mfpg_federation_account(ctx, f, choice_at, *members);
        status = mfpg_ranks_agree(ctx, status);
    }
    if (status == MFPG_OK)
        status = f->options.acting->selection == MFPG_SELECTION_EXPONENTIAL
                     ? draw_actions(ctx, f, *members)
                     : best_responses(ctx, f, *members);
    return status;
}

/* ---- from round to round ---- */

typedef struct saved_action {
    double strength, loss, gradient; /* the action and the last measurements */
} saved_action;

static int64_t bytes(const mfpg_federation *f) {
    return f->acting ? (int64_t)f->clients * (int64_t)sizeof(saved_action) : 0;
}

static void save(const mfpg_federation *f, void *to) {
    saved_action *saved = to;
    for (ptrdiff_t k = 0; k < f->clients; k++) {
        mfpg_action action = mfpg_plan_action(f->plan, k);
        saved[k] = (saved_action){mfpg_action_value(&action), f->acting->loss[k], f->acting->gradient[k]};
    }
}

static mfpg_status restore(mfpg_context *ctx, mfpg_federation *f, const void *from) {
    const saved_action *saved = from;
    mfpg_status status = MFPG_OK;
    for (ptrdiff_t k = 0; k < f->clients && status == MFPG_OK; k++) {
        if (!isfinite(saved[k].loss) || !isfinite(saved[k].gradient))
            return mfpg_fail(ctx, MFPG_ERR_INPUT, "client '%s': a measurement that is not finite",
                f->data->client[k].name);
        f->acting->loss[k] = saved[k].loss;
        f->acting->gradient[k] = saved[k].gradient;
        if (f->acting->chose[k]) /* the plan refuses an action that the mechanism does not accept */
            status = mfpg_plan_change(ctx, f->plan, k, strength(saved[k].strength));
    }
    return status;
}

const federation_part mfpg_part_actions = {.begin = begin, .bytes = bytes, .save = save, .restore = restore};
