#include "hjb.h"

#include <float.h>
#include <math.h>
#include <string.h>

/* Policy iteration of one step stops where the value does: the policy itself is the logarithm of a second difference and
 * keeps trembling after the value has settled. */
static const double VALUE_TOLERANCE = 1e-12; /* relative */

typedef struct step {
    const mfpg_problem *problem;
    mfpg_chain chain;
    double weight, mean;    /* of the type; of the population */
    double *control, *cost; /* n: the policy and weight c of it */
    double *before, *value; /* n: V of the round before, V */
} step;

static mfpg_node node_of(const step *s, ptrdiff_t i) {
    const mfpg_problem *p = s->problem;
    const double *v = s->value;
    return (mfpg_node){.scheme = p->options.scheme,
        .h = p->h,
        .inverse_h = p->inverse_h,
        .drift = mfpg_problem_drift(p, i, s->mean),
        .pull = p->pull[i],
        .above = i + 1 < p->n ? v[i + 1] - v[i] : 0.0,
        .below = i > 0 ? v[i - 1] - v[i] : 0.0};
}

/* The old control stays unless the new one is better by more than rounding can feign, or ties would be switched for ever.
 * Returns how many nodes changed. */
static ptrdiff_t improve(step *s) {
    const mfpg_problem *p = s->problem;
    ptrdiff_t changed = 0;
    for (ptrdiff_t i = 0; i < p->n; i++) {
        mfpg_node node = node_of(s, i);
        mfpg_reply reply = mfpg_node_reply(&node, &p->controls, s->weight);
        if (reply.control == s->control[i]) continue;
        double now = s->cost[i] + mfpg_node_change(&node, s->control[i]);
        double then = reply.cost + mfpg_node_change(&node, reply.control);
        double noise = mfpg_scheme_noise(node.scheme, node.h, node.drift - node.pull * reply.control,
                           fmax(reply.control, s->control[i])) *
                       p->inverse_h * p->inverse_h;
        /* V carries a few roundings, and the rates multiply them */
        double margin = 8.0 * DBL_EPSILON * (noise * fabs(s->value[i]) + reply.cost);
        if (!(then < now - margin)) continue;
        s->control[i] = reply.control;
        s->cost[i] = reply.cost;
        changed++;
    }
    return changed;
}

/* One evaluation of the policy: V from V^{n+1}. */
static void evaluate(step *s, const double *next) {
    const mfpg_problem *p = s->problem;
    mfpg_problem_chain(p, s->mean, s->control, &s->chain);
    mfpg_chain_factor(&s->chain);
    for (ptrdiff_t i = 0; i < p->n; i++) s->value[i] = next[i] + p->dt * (p->running[i] + s->cost[i]);
    mfpg_chain_solve(&s->chain, s->value);
}

static int value_settled(const step *s) {
    double change = 0.0, size = 0.0;
    for (ptrdiff_t i = 0; i < s->problem->n; i++) {
        double moved = fabs(s->value[i] - s->before[i]), height = fabs(s->value[i]);
        if (moved > change) change = moved;
        if (height > size) size = height;
    }
    return change <= VALUE_TOLERANCE * size;
}

/* Returns the rounds taken; more than the cap where it ended the iteration. */
static int iterate_policy(step *s, const double *next) {
    size_t bytes = (size_t)s->problem->n * sizeof *next;
    for (int round = 1; round <= MFPG_POLICY_ROUNDS; round++) {
        evaluate(s, next);
        if (round > 1 && value_settled(s)) return round;
        if (improve(s) == 0) return round;
        memcpy(s->before, s->value, bytes);
    }
    evaluate(s, next);
    return MFPG_POLICY_ROUNDS + 1;
}

static void price_policy(step *s) {
    const mfpg_problem *p = s->problem;
    for (ptrdiff_t i = 0; i < p->n; i++)
        s->cost[i] = s->weight * mfpg_control_cost(&p->controls.cost, s->control[i]);
}

/* At the end V = 0, whatever was done: only the cost of the control is left. */
static void reply_to_the_end(const step *s, double *control) {
    for (ptrdiff_t i = 0; i < s->problem->n; i++) {
        mfpg_node node = node_of(s, i);
        control[i] = mfpg_node_reply(&node, &s->problem->controls, s->weight).control;
    }
}

mfpg_hjb_report mfpg_hjb_solve(const mfpg_problem *p, ptrdiff_t type, const double *path, double *control,
    int warm, double *value, double *start_value) {
    double *further[4];
    step s = {.problem = p, .weight = p->model->weight[type], .value = start_value};
    mfpg_hjb_report report = {0};
    size_t bytes = (size_t)p->n * sizeof *value;
    s.chain = mfpg_problem_workspace(p, type, further);
    s.before = further[0];
    s.cost = further[1];
    s.control = further[2];
    double *next = further[3];
    memset(start_value, 0, bytes);
    s.mean = path[p->steps - 1];
    reply_to_the_end(&s, control ? control + p->steps * p->n : s.control);
    if (value) memset(value + p->steps * p->n, 0, bytes);
    for (ptrdiff_t n = p->steps - 1; n >= 0; n--) {
        if (control) s.control = control + n * p->n;
        if (control && !warm) memcpy(s.control, s.control + p->n, bytes);
        s.mean = path[n];
        price_policy(&s);
        memcpy(next, s.value, bytes);
        int rounds = iterate_policy(&s, next);
        if (rounds > MFPG_POLICY_ROUNDS) report.unfinished++;
        report.rounds = rounds > report.rounds ? rounds : report.rounds;
        if (value) memcpy(value + n * p->n, s.value, bytes);
    }
    return report;
}
