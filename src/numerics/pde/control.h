/* The best control at one node: the least of weight c(e) + up(e) (V_{i+1} - V_i) + down(e) (V_{i-1} - V_i). */
#ifndef MFPG_PDE_CONTROL_H
#define MFPG_PDE_CONTROL_H

#include "generator.h"

/* What may be played, and what it costs. */
typedef struct mfpg_controls {
    mfpg_pde_cost cost;
    double low, high;     /* the interval, */
    const double *values; /* or count values in increasing order; NULL: the interval */
    const double *costs;  /* count: c of each value */
    ptrdiff_t count;
} mfpg_controls;

/* What a node's chain depends on beside the control. */
typedef struct mfpg_node {
    mfpg_pde_scheme scheme;
    double h, inverse_h;
    double drift, pull;  /* the drift is drift - pull e */
    double above, below; /* V_{i+1} - V_i and V_{i-1} - V_i; 0 where there is no such node */
} mfpg_node;

typedef struct mfpg_reply {
    double control;
    double cost; /* weight c(control) */
} mfpg_reply;

/* c(e), the exponential cost. */
double mfpg_control_cost(const mfpg_pde_cost *cost, double e);

/* up(e) above + down(e) below: the part that the chain contributes. */
double mfpg_node_change(const mfpg_node *node, double e);

/* The exact minimiser over the interval, or over the values by trying all of them. weight >= 0. */
mfpg_reply mfpg_node_reply(const mfpg_node *node, const mfpg_controls *controls, double weight);

#endif
