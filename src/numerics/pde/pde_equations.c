/* One step of time on the chain, the best response at a node, and the backward and the forward equation,
 * which use both. */
#include <float.h>
#include <string.h>

#include "pde_parts.h"

/* ---- the chain of a step ---- */

/* What is left of row i when column i-1 has been eliminated is (kept_i + up_i, -up_i), where kept_i = 1 + down_i times
 * kept_{i-1} / pivot_{i-1}: the row sums stay positive and are carried along in place of being found as differences (the
 * idea of Grassmann, Taksar and Heyman for Markov chains). */
void mfpg_chain_factor(mfpg_chain *chain) {
    double kept = 1.0;
    chain->pivot[0] = kept + chain->up[0];
    for (ptrdiff_t i = 1; i < chain->n; i++) {
        kept = 1.0 + chain->down[i] * (kept / chain->pivot[i - 1]);
        chain->pivot[i] = kept + chain->up[i];
    }
}

void mfpg_chain_solve(const mfpg_chain *chain, double *x) {
    const double *up = chain->up, *down = chain->down, *pivot = chain->pivot;
    ptrdiff_t n = chain->n;
    x[0] /= pivot[0];
    for (ptrdiff_t i = 1; i < n; i++) x[i] = (x[i] + down[i] * x[i - 1]) / pivot[i];
    for (ptrdiff_t i = n - 2; i >= 0; i--) x[i] += up[i] / pivot[i] * x[i + 1];
}

void mfpg_chain_solve_transposed(const mfpg_chain *chain, double *x) {
    const double *up = chain->up, *down = chain->down, *pivot = chain->pivot;
    ptrdiff_t n = chain->n;
    for (ptrdiff_t i = 1; i < n; i++) x[i] += up[i - 1] / pivot[i - 1] * x[i - 1];
    x[n - 1] /= pivot[n - 1];
    for (ptrdiff_t i = n - 2; i >= 0; i--) x[i] = (x[i] + down[i + 1] * x[i + 1]) / pivot[i];
}

void mfpg_tridiagonal_solve(ptrdiff_t n, const double *low, double *diagonal, const double *high, double *x) {
    for (ptrdiff_t i = 1; i < n; i++) {
        double factor = low[i] / diagonal[i - 1];
        diagonal[i] -= factor * high[i - 1];
        x[i] -= factor * x[i - 1];
    }
    x[n - 1] /= diagonal[n - 1];
    for (ptrdiff_t i = n - 2; i >= 0; i--) x[i] = (x[i] - high[i] * x[i + 1]) / diagonal[i];
}

/* Returns the drift at node i without the part that the control scales, towards a population with that mean. */
static double drift_at(const mfpg_problem *p, ptrdiff_t i, double mean) {
    return -p->slope[i] - p->model->attraction * (p->x[i] - mean);
}

void mfpg_problem_chain(const mfpg_problem *p, double mean, const double *control, mfpg_chain *chain) {
    for (ptrdiff_t i = 0; i < p->n; i++) {
        double drift = drift_at(p, i, mean) - p->pull[i] * control[i];
        mfpg_rates rates = mfpg_generator_rates(p->options.scheme, p->h, p->inverse_h, drift, control[i]);
        chain->up[i] = p->dt * rates.up;
        chain->down[i] = p->dt * rates.down;
    }
    chain->up[p->n - 1] = 0.0; /* reflection: nothing leaves */
    chain->down[0] = 0.0;
}

mfpg_chain mfpg_problem_workspace(const mfpg_problem *p, ptrdiff_t type, double *further[4]) {
    double *at = p->workspace + 7 * p->n * type;
    for (int k = 0; k < 4; k++) further[k] = at + (3 + k) * p->n;
    return (mfpg_chain){.n = p->n, .up = at, .down = at + p->n, .pivot = at + 2 * p->n};
}

/* ---- the best control at a node ---- */

double mfpg_node_change(const mfpg_node *node, double e) {
    mfpg_rates rates =
        mfpg_generator_rates(node->scheme, node->h, node->inverse_h, node->drift - node->pull * e, e);
    return rates.up * node->above + rates.down * node->below;
}

/* Inserts a point inside the interval at which the chain's rates change their formula, in increasing order. */
static int insert_break(double e, double low, double high, double *breaks, int count) {
    if (!(e > low && e < high)) return count;
    int i = count;
    for (; i > 0 && breaks[i - 1] > e; i--) breaks[i] = breaks[i - 1];
    breaks[i] = e;
    return count + 1;
}

/* Places in (low, high) between which the rates are linear in e: where the drift b(e) = drift - pull e changes its sign
 * (at most 1), and for the hybrid where |b(e)| h / 2 = e (at most 2). */
static int find_breaks(const mfpg_node *node, double low, double high, double breaks[3]) {
    double half = 0.5 * node->h, at_low = node->drift - node->pull * low,
           at_high = node->drift - node->pull * high;
    /* e - |b(e)| h/2 is concave: if it is >= 0 at both ends, the differences are central in between */
    if (node->scheme == MFPG_PDE_HYBRID && half * fabs(at_low) <= low && half * fabs(at_high) <= high)
        return 0;
    int count = 0;
    if ((at_low < 0.0) != (at_high < 0.0))
        count = insert_break(node->drift / node->pull, low, high, breaks, count);
    if (node->scheme == MFPG_PDE_HYBRID) {
        count = insert_break(half * node->drift / (1.0 + half * node->pull), low, high, breaks, count);
        count = insert_break(-half * node->drift / (1.0 - half * node->pull), low, high, breaks, count);
    }
    return count;
}

/* Discretises first and minimises then: between two breaks the chain's part is linear in e and the cost
 * convex, so the closed form, clamped to the piece, is exact. */
static mfpg_reply reply_on_interval(const mfpg_node *node, const mfpg_controls *controls, double weight) {
    double ends[5] = {controls->low}, best = (double)INFINITY;
    int pieces = 1 + find_breaks(node, controls->low, controls->high, ends + 1);
    ends[pieces] = controls->high;
    mfpg_reply reply = {controls->low, weight * mfpg_control_cost(&controls->cost, controls->low)};
    if (controls->low == controls->high) return reply;
    double left = mfpg_node_change(node, ends[0]);
    for (int i = 0; i < pieces; i++) {
        double right = mfpg_node_change(node, ends[i + 1]), width = ends[i + 1] - ends[i];
        double slope = (right - left) / width;
        double e = mfpg_pde_optimal_control(&controls->cost, weight, slope, ends[i], ends[i + 1]);
        double cost = weight * mfpg_control_cost(&controls->cost, e);
        double total = cost + left + slope * (e - ends[i]);
        if (total < best) {
            best = total;
            reply = (mfpg_reply){e, cost};
        }
        left = right;
    }
    return reply;
}

mfpg_reply mfpg_node_reply(const mfpg_node *node, const mfpg_controls *controls, double weight) {
    if (!controls->values) return reply_on_interval(node, controls, weight);
    mfpg_reply reply = {controls->values[0], weight * controls->costs[0]};
    double best = (double)INFINITY;
    for (ptrdiff_t k = 0; k < controls->count; k++) {
        double cost = weight * controls->costs[k];
        double total = cost + mfpg_node_change(node, controls->values[k]);
        if (!(total < best)) continue;
        best = total;
        reply = (mfpg_reply){controls->values[k], cost};
    }
    return reply;
}

/* ---- backward ---- */

enum { MOST_ROUNDS = 50 }; /* of policy iteration */

/* Policy iteration of one step stops when the value does not change any more. The policy depends on the
 * logarithm of a second difference and continues to fluctuate after the value has settled. */
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
        .drift = drift_at(p, i, s->mean),
        .pull = p->pull[i],
        .above = i + 1 < p->n ? v[i + 1] - v[i] : 0.0,
        .below = i > 0 ? v[i - 1] - v[i] : 0.0};
}

/* A control is replaced only if the new one is better by more than rounding errors, because ties would
 * otherwise be switched for ever. Returns how many nodes changed. */
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
        /* V carries a few rounding errors, and the rates multiply them */
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

/* Returns the number of rounds; more than the limit if that ended the iteration. */
static int iterate_policy(step *s, const double *next) {
    size_t bytes = (size_t)s->problem->n * sizeof *next;
    for (int round = 1; round <= MOST_ROUNDS; round++) {
        double change = 0.0, size = 0.0;
        evaluate(s, next);
        for (ptrdiff_t i = 0; round > 1 && i < s->problem->n; i++) {
            double moved = fabs(s->value[i] - s->before[i]), height = fabs(s->value[i]);
            if (moved > change) change = moved;
            if (height > size) size = height;
        }
        if (round > 1 && change <= VALUE_TOLERANCE * size) return round;
        if (improve(s) == 0) return round;
        memcpy(s->before, s->value, bytes);
    }
    evaluate(s, next);
    return MOST_ROUNDS + 1;
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
    for (ptrdiff_t i = 0; i < p->n; i++) { /* at the end V = 0, and only the cost of the control remains */
        mfpg_node node = node_of(&s, i);
        double *last = control ? control + p->steps * p->n : s.control;
        last[i] = mfpg_node_reply(&node, &p->controls, s.weight).control;
    }
    if (value) memset(value + p->steps * p->n, 0, bytes);
    for (ptrdiff_t n = p->steps - 1; n >= 0; n--) {
        if (control) s.control = control + n * p->n;
        if (control && !warm) memcpy(s.control, s.control + p->n, bytes);
        s.mean = path[n];
        for (ptrdiff_t i = 0; i < p->n; i++)
            s.cost[i] = s.weight * mfpg_control_cost(&p->controls.cost, s.control[i]);
        memcpy(next, s.value, bytes);
        int rounds = iterate_policy(&s, next);
        if (rounds > MOST_ROUNDS) report.unfinished++;
        report.rounds = rounds > report.rounds ? rounds : report.rounds;
        if (value) memcpy(value + n * p->n, s.value, bytes);
    }
    return report;
}

/* ---- forward ---- */

static double mean_of(const mfpg_problem *p, const double *mass) {
    double sum = 0.0;
    for (ptrdiff_t i = 0; i < p->n; i++) sum += p->x[i] * mass[i];
    return sum;
}

static double population_mean(const mfpg_problem *p, const double *current) {
    double sum = 0.0;
    for (ptrdiff_t k = 0; k < p->types; k++) sum += p->share[k] * mean_of(p, current + k * p->n);
    return sum;
}

/* Duality: V^n p^n = (V^{n+1} + dt f) p^{n+1} for the transposed matrix, so that the sums below add up to what the
 * backward equation of the same policy says. */
static double step_cost(const mfpg_problem *p, double weight, const double *control, const double *mass) {
    double sum = 0.0;
    for (ptrdiff_t i = 0; i < p->n; i++) {
        if (mass[i] == 0.0) continue;
        sum += mass[i] * (p->running[i] + weight * mfpg_control_cost(&p->controls.cost, control[i]));
    }
    return p->dt * sum;
}

/* The noise that the scheme adds, the largest difference of neighbouring drifts, and the mass at the ends. */
static void observe(const mfpg_problem *p, ptrdiff_t type, double mean, const double *control,
    const double *mass, mfpg_flow_report *report) {
    double added = 0.0, noise = 0.0, rate = 0.0, before = 0.0, own_mean = mean_of(p, mass), variance = 0.0;
    for (ptrdiff_t i = 0; i < p->n; i++) {
        double drift = drift_at(p, i, mean) - p->pull[i] * control[i];
        added += mass[i] * (mfpg_scheme_noise(p->options.scheme, p->h, drift, control[i]) - control[i]);
        noise += mass[i] * control[i];
        variance += mass[i] * (p->x[i] - own_mean) * (p->x[i] - own_mean);
        if (i > 0) rate += 0.5 * (mass[i] + mass[i - 1]) * fabs(drift - before) / p->h;
        before = drift;
    }
    report->added_noise += p->share[type] * p->dt * added;
    report->noise += p->share[type] * p->dt * noise;
    report->drift_step = fmax(report->drift_step, p->dt * rate);
    double density = (mass[0] + mass[p->n - 1]) / p->h;
    report->edge_mass = fmax(report->edge_mass, density * sqrt(variance));
}

void mfpg_flow_run(const mfpg_problem *p, const double *control, double *path, double *cost, double *current,
    double *masses, mfpg_flow_report *report) {
    double *further[4];
    mfpg_chain chain = mfpg_problem_workspace(p, 0, further);
    size_t bytes = (size_t)p->n * sizeof *current;
    ptrdiff_t row = (p->steps + 1) * p->n;
    if (report) *report = (mfpg_flow_report){0};
    for (ptrdiff_t k = 0; k < p->types; k++) {
        cost[k] = 0.0;
        memcpy(current + k * p->n, p->start, bytes);
        if (masses) memcpy(masses + k * row, p->start, bytes);
    }
    for (ptrdiff_t n = 0; n < p->steps; n++) {
        path[n] = population_mean(p, current);
        for (ptrdiff_t k = 0; k < p->types; k++) {
            const double *policy = control + k * row + n * p->n;
            double *mass = current + k * p->n;
            if (report) observe(p, k, path[n], policy, mass, report);
            mfpg_problem_chain(p, path[n], policy, &chain);
            mfpg_chain_factor(&chain);
            mfpg_chain_solve_transposed(&chain, mass);
            cost[k] += step_cost(p, p->model->weight[k], policy, mass);
            if (masses) memcpy(masses + k * row + (n + 1) * p->n, mass, bytes);
        }
    }
    path[p->steps] = population_mean(p, current);
}

/* Row i of the adjoint takes Laplace(eps p) = eps_{i-1} p_{i-1} - 2 eps_i p_i + eps_{i+1} p_{i+1}; the printed equation
 * takes eps_i (p_{i-1} - 2 p_i + p_{i+1}). At the ends both reflect. diffusion is dt/h^2. */
void mfpg_flow_printed_step(
    const mfpg_chain *chain, double diffusion, const double *control, double *const further[4], double *p) {
    double *low = further[0], *diagonal = chain->pivot, *high = further[1];
    for (ptrdiff_t i = 0; i < chain->n; i++) {
        diagonal[i] = 1.0 + chain->up[i] + chain->down[i];
        low[i] = i > 0 ? -chain->up[i - 1] - diffusion * (control[i] - control[i - 1]) : 0.0;
        high[i] = i + 1 < chain->n ? -chain->down[i + 1] - diffusion * (control[i] - control[i + 1]) : 0.0;
    }
    mfpg_tridiagonal_solve(chain->n, low, diagonal, high, p);
}
