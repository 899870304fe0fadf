#include "control.h"

#include <math.h>

double mfpg_control_cost(const mfpg_pde_cost *cost, double e) {
    return cost->scale * exp(-cost->rate * (e - cost->offset));
}

/* Equation (epsstar) of the paper: -rate weight c(e) + slope = 0. */
double mfpg_pde_optimal_control(
    const mfpg_pde_cost *cost, double weight, double slope, double low, double high) {
    if (isnan(slope) || isnan(weight)) return (double)NAN;
    if (slope <= 0.0) return high;
    /* weight 0: log 0 = -infinity, so low; the quotient is taken apart lest it overflow */
    double e = cost->offset + (log(cost->rate * weight * cost->scale) - log(slope)) / cost->rate;
    return e <= low ? low : e >= high ? high : e;
}

double mfpg_node_change(const mfpg_node *node, double e) {
    mfpg_rates rates =
        mfpg_generator_rates(node->scheme, node->h, node->inverse_h, node->drift - node->pull * e, e);
    return rates.up * node->above + rates.down * node->below;
}

/* Keeps a place inside the interval where the chain's rates change their formula, in increasing order. */
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
    /* e - |b(e)| h/2 is concave: where it is >= 0 at both ends the differences are central in between */
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

/* Discretise first, then minimise: between two breaks the chain's part is linear in e and the cost convex, so that the
 * closed form, cut to the piece, is exact. */
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
