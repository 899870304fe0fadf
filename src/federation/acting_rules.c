#include "acting_rules.h"

#include <math.h>

#include "mechanisms/private_action.h"
#include "accountants/accounting.h"

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

/* What a certificate of adaptive actions needs. */
static mfpg_acting_option promise_fault(const mfpg_federation_options *o, const char **why) {
    int raw = o->acting->selection == MFPG_SELECTION_NONE;
    *why = "actions chosen each round depend on the models along the way, which view final hides; allowed: "
           "local, average";
    if (o->promise.view == MFPG_VIEW_FINAL) return MFPG_ACTING_VIEW;
    *why =
        "weights inverse-noise depend on the noise, which each round chooses anew; allowed: equal, examples";
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
