#include "check.h"

#include <math.h>

#include "base/error.h"
#include "base/number.h"

enum { MOST_TYPES = 1000, MOST_CONTROLS = 1000, LEAST_NODES = 5, MOST_NODES = 100001, MOST_STEPS = 100000 };
static const double MOST_ENTRIES = 268435456.0; /* 2^28 of a field: 2 GiB */
static const double LARGEST = 1e100; /* so that no product of two numbers of the model is infinite */

mfpg_status mfpg_pde_refuse(mfpg_context *ctx, const char *what, double value, const char *words) {
    char text[MFPG_NUMBER_SIZE];
    return mfpg_fail(ctx, MFPG_ERR_DOMAIN, "continuous game: %s is %s; allowed: %s", what,
        mfpg_number_format(value, text), words);
}

static int is_positive(double value) {
    return value > 0.0 && value <= LARGEST;
}

static int is_not_negative(double value) {
    return value >= 0.0 && value <= LARGEST;
}

static int is_finite(double value) {
    return value >= -LARGEST && value <= LARGEST;
}

static int is_positive_or_infinite(double value) {
    return value > 0.0;
}

typedef struct rule {
    const char *what;
    double value;
    int (*allowed)(double value);
    const char *words;
} rule;

static mfpg_status check_rules(mfpg_context *ctx, const rule *rules, int count) {
    for (int i = 0; i < count; i++)
        if (!rules[i].allowed(rules[i].value))
            return mfpg_pde_refuse(ctx, rules[i].what, rules[i].value, rules[i].words);
    return MFPG_OK;
}

static const char POSITIVE[] = "a number above 0", NOT_NEGATIVE[] = "a number from 0 on",
                  FINITE[] = "a number";

static mfpg_status check_polynomial(mfpg_context *ctx, const char *what, const mfpg_pde_polynomial *p) {
    for (int k = 0; k < 5; k++)
        if (!is_finite(p->coefficient[k])) return mfpg_pde_refuse(ctx, what, p->coefficient[k], FINITE);
    return MFPG_OK;
}

static mfpg_status check_controls(mfpg_context *ctx, const mfpg_pde_model *m) {
    if (!m->controls) {
        const rule rules[] = {{"the least control", m->control_low, is_not_negative, NOT_NEGATIVE},
            {"the largest control", m->control_high, is_not_negative, NOT_NEGATIVE}};
        mfpg_status status = check_rules(ctx, rules, 2);
        if (status == MFPG_OK && !(m->control_low <= m->control_high))
            status = mfpg_pde_refuse(
                ctx, "the largest control", m->control_high, "no less than the least control");
        return status;
    }
    if (m->control_count < 1 || m->control_count > MOST_CONTROLS)
        return mfpg_pde_refuse(ctx, "the number of controls", (double)m->control_count, "1 to 1000");
    for (ptrdiff_t k = 0; k < m->control_count; k++) {
        if (!is_not_negative(m->controls[k]))
            return mfpg_pde_refuse(ctx, "a control", m->controls[k], NOT_NEGATIVE);
        if (k > 0 && !(m->controls[k] > m->controls[k - 1]))
            return mfpg_pde_refuse(
                ctx, "a control", m->controls[k], "increasing numbers, none of them twice");
    }
    return MFPG_OK;
}

static mfpg_status check_types(mfpg_context *ctx, const mfpg_pde_model *m) {
    double sum = 0.0;
    if (m->types < 1 || m->types > MOST_TYPES)
        return mfpg_pde_refuse(ctx, "the number of types", (double)m->types, "1 to 1000");
    for (ptrdiff_t k = 0; k < m->types; k++) {
        if (!is_not_negative(m->weight[k]))
            return mfpg_pde_refuse(ctx, "a type's weight", m->weight[k], NOT_NEGATIVE);
        if (m->share && !is_positive(m->share[k]))
            return mfpg_pde_refuse(ctx, "a type's share", m->share[k], POSITIVE);
        sum += m->share ? m->share[k] : 0.0;
    }
    if (m->share && !(fabs(sum - 1.0) <= 1e-9))
        return mfpg_pde_refuse(ctx, "the sum of the types' shares", sum, "1");
    return MFPG_OK;
}

mfpg_status mfpg_pde_check_model(mfpg_context *ctx, const mfpg_pde_model *m) {
    const rule rules[] = {{"the attraction to the mean", m->attraction, is_not_negative, NOT_NEGATIVE},
        {"the prior's variance", m->prior_variance, is_positive_or_infinite, "a number above 0, or infinity"},
        {"the horizon", m->horizon, is_positive, POSITIVE},
        {"the mean at the start", m->start_mean, is_finite, FINITE},
        {"the variance at the start", m->start_variance, is_positive, POSITIVE},
        {"the scale of the control's cost", m->cost.scale, is_not_negative, NOT_NEGATIVE},
        {"the rate of the control's cost", m->cost.rate, is_positive, POSITIVE},
        {"the offset of the control's cost", m->cost.offset, is_finite, FINITE}};
    mfpg_status status = check_polynomial(ctx, "a coefficient of the loss", &m->potential);
    if (status == MFPG_OK) status = check_polynomial(ctx, "a coefficient of the running loss", &m->running);
    if (status == MFPG_OK) status = check_rules(ctx, rules, (int)(sizeof rules / sizeof *rules));
    if (status == MFPG_OK) status = check_controls(ctx, m);
    if (status == MFPG_OK) status = check_types(ctx, m);
    double low = m->controls ? m->controls[0] : m->control_low;
    if (status == MFPG_OK && !isfinite(mfpg_control_cost(&m->cost, low)))
        status = mfpg_pde_refuse(ctx, "the cost of the least control", (double)INFINITY, "a finite number");
    return status;
}

mfpg_status mfpg_pde_check_grid(mfpg_context *ctx, double low, double high, ptrdiff_t nodes, double horizon) {
    const rule rules[] = {{"the lower end of the domain", low, is_finite, FINITE},
        {"the upper end of the domain", high, is_finite, FINITE},
        {"the horizon", horizon, is_positive, POSITIVE}};
    mfpg_status status = check_rules(ctx, rules, 3);
    if (status == MFPG_OK && !(low < high))
        status = mfpg_pde_refuse(ctx, "the upper end of the domain", high, "more than the lower end");
    if (status == MFPG_OK && (nodes < LEAST_NODES || nodes > MOST_NODES))
        status = mfpg_pde_refuse(ctx, "the number of nodes", (double)nodes, "5 to 100001");
    return status;
}

mfpg_status mfpg_pde_check_options(
    mfpg_context *ctx, const mfpg_pde_model *model, const mfpg_pde_options *o) {
    mfpg_status status = mfpg_pde_check_grid(ctx, o->low, o->high, o->nodes, model->horizon);
    if (status != MFPG_OK) return status;
    if (o->steps < 1 || o->steps > MOST_STEPS)
        return mfpg_pde_refuse(ctx, "the number of steps of time", (double)o->steps, "1 to 100000");
    if (o->iterations < 1)
        return mfpg_pde_refuse(ctx, "the number of iterations", o->iterations, "1 or more");
    if (!is_positive(o->tolerance)) return mfpg_pde_refuse(ctx, "the tolerance", o->tolerance, POSITIVE);
    if (o->scheme != MFPG_PDE_HYBRID && o->scheme != MFPG_PDE_UPWIND)
        return mfpg_pde_refuse(ctx, "the scheme", (double)o->scheme, "hybrid or upwind");
    if (o->method < MFPG_PDE_AUTO || o->method > MFPG_PDE_FICTITIOUS)
        return mfpg_pde_refuse(ctx, "the method", (double)o->method, "auto, picard or fictitious");
    double entries = (double)model->types * ((double)o->steps + 1.0) * (double)o->nodes;
    if (entries > MOST_ENTRIES)
        return mfpg_pde_refuse(
            ctx, "types times (steps + 1) times nodes", entries, "at most 2^28 = 268435456");
    return MFPG_OK;
}
