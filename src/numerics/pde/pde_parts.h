/* The parts of the continuous game (mfpg/pde.h): checks, the chain of a step, the best response of a node,
 * the two equations. */
#ifndef MFPG_NUMERICS_PDE_PARTS_H
#define MFPG_NUMERICS_PDE_PARTS_H

#include <math.h>

#include "base/memory.h"
#include "mfpg/pde.h"

/* ---- checks ---- */

typedef enum mfpg_pde_range {
    /* the first five kinds are limited to 1e100, so that no product of two numbers of a model is infinite */
    MFPG_PDE_ANY,
    MFPG_PDE_NOT_NEGATIVE,
    MFPG_PDE_POSITIVE,
    MFPG_PDE_PRIOR, /* infinity is allowed */
    MFPG_PDE_ONE_OR_MORE,
    MFPG_PDE_SHARES,
    MFPG_PDE_THOUSAND,
    MFPG_PDE_NODES,
    MFPG_PDE_STEPS,
    MFPG_PDE_PARTICLE_STEPS,
    MFPG_PDE_PARTICLES,
    MFPG_PDE_SCHEMES,
    MFPG_PDE_METHODS,
    MFPG_PDE_ENTRIES
} mfpg_pde_range;

typedef struct mfpg_pde_rule {
    const char *what;
    double value;
    mfpg_pde_range range;
} mfpg_pde_rule;

/* Fails with MFPG_ERR_DOMAIN for the first number out of range: "continuous game: WHAT is VALUE; allowed:
 * WORDS". */
mfpg_status mfpg_pde_check(mfpg_context *ctx, const mfpg_pde_rule *rules, size_t count);
mfpg_status mfpg_pde_refuse(mfpg_context *ctx, const char *what, double value, const char *words);
mfpg_status mfpg_pde_check_model(mfpg_context *ctx, const mfpg_pde_model *model);

/* ---- polynomials and costs ---- */

double mfpg_pde_value(const mfpg_pde_polynomial *p, double x);
double mfpg_pde_slope(const mfpg_pde_polynomial *p, double x);

static inline double mfpg_control_cost(const mfpg_pde_cost *cost, double e) {
    return cost->scale * exp(-cost->rate * (e - cost->offset));
}

/* ---- the generator of the Markov chain on evenly spaced nodes that approximates a diffusion ---- */

typedef struct mfpg_rates {
    double up, down; /* rates to the next and to the previous node, >= 0 */
} mfpg_rates;

/* Returns the noise that the scheme uses for a drift and a control: the control, or more. */
static inline double mfpg_scheme_noise(mfpg_pde_scheme scheme, double h, double drift, double control) {
    double numerical = 0.5 * h * fabs(drift);
    if (scheme == MFPG_PDE_UPWIND) return control + numerical;
    return control > numerical ? control : numerical;
}

/* Both schemes are central differences with enough noise for rates >= 0. Spalding's hybrid adds what lacks and no more,
 * so that the rates are continuous in the control: the least Hamiltonian is attained, which a switch between central and
 * upwind differences that keeps the noise of both would not guarantee. inverse_h is 1/h. */
static inline mfpg_rates mfpg_generator_rates(
    mfpg_pde_scheme scheme, double h, double inverse_h, double drift, double control) {
    double noise = mfpg_scheme_noise(scheme, h, drift, control) * inverse_h * inverse_h;
    double half = 0.5 * drift * inverse_h;
    double up = noise + half, down = noise - half;
    /* if the noise only just outweighs the drift, rounding must not make the other rate negative */
    return (mfpg_rates){up > 0.0 ? up : 0.0, down > 0.0 ? down : 0.0};
}

/* ---- the matrices I - dt A of one implicit step ---- */

/* Row i is (-down_i, 1 + down_i + up_i, -up_i), rates times dt; n numbers each. */
typedef struct mfpg_chain {
    ptrdiff_t n;
    double *up, *down; /* set by the caller, >= 0; the outward rates at the ends are 0 */
    double *pivot;     /* set by factor */
} mfpg_chain;

/* LU without a subtraction: every number is a sum, product or quotient of numbers >= 0, so that solutions of right sides
 * >= 0 are >= 0 and have small relative errors in every entry, whatever the rates. */
void mfpg_chain_factor(mfpg_chain *chain);

/* x <- (I - dt A)^-1 x, and x <- (I - dt A^T)^-1 x, which keeps the sum of x, because the rows of A sum to
 * 0. */
void mfpg_chain_solve(const mfpg_chain *chain, double *x);
void mfpg_chain_solve_transposed(const mfpg_chain *chain, double *x);

/* x <- T^-1 x for any tridiagonal T, row i (low_i, diagonal_i, high_i), without pivoting; diagonal is overwritten. */
void mfpg_tridiagonal_solve(ptrdiff_t n, const double *low, double *diagonal, const double *high, double *x);

/* p <- the mass after one step of the paper's printed equation, eps Laplace(mu). diffusion is dt/h^2; the chain's pivot and
 * the first two arrays of n are workspace. */
void mfpg_flow_printed_step(
    const mfpg_chain *chain, double diffusion, const double *control, double *const further[4], double *p);

/* ---- the best control at one node, which minimises weight c(e) + up(e) (V_{i+1} - V_i) + down(e) (V_{i-1}
 * - V_i) ---- */

typedef struct mfpg_controls {
    mfpg_pde_cost cost;
    double low, high;     /* the interval, */
    const double *values; /* or count values in increasing order; NULL: the interval */
    const double *costs;  /* count: c of each value */
    ptrdiff_t count;
} mfpg_controls;

/* What a node's chain depends on besides the control. */
typedef struct mfpg_node {
    mfpg_pde_scheme scheme;
    double h, inverse_h;
    double drift, pull;  /* the drift is drift - pull e */
    double above, below; /* V_{i+1} - V_i and V_{i-1} - V_i; 0 if that node does not exist */
} mfpg_node;

typedef struct mfpg_reply {
    double control;
    double cost; /* weight c(control) */
} mfpg_reply;

/* Returns up(e) above + down(e) below, the contribution of the chain. */
double mfpg_node_change(const mfpg_node *node, double e);

/* Returns the exact minimiser over the interval, or over the list of values by trying all of them. weight >=
 * 0. */
mfpg_reply mfpg_node_reply(const mfpg_node *node, const mfpg_controls *controls, double weight);

/* ---- a checked model on its grid ---- */

typedef struct mfpg_problem {
    const mfpg_pde_model *model;
    mfpg_pde_options options;
    ptrdiff_t n, steps, types;
    double h, inverse_h, dt;
    mfpg_controls controls;
    double *x;         /* n: the nodes; the arrays below are parts of the same block */
    double *slope;     /* n: L' */
    double *running;   /* n: l */
    double *pull;      /* n: x / prior variance */
    double *start;     /* n: the masses at time 0, sum 1 */
    double *share;     /* types */
    double *costs;     /* control_count: c of each control */
    double *workspace; /* 7 n a type */
} mfpg_problem;

/* Checks the model and computes its tables; model is borrowed. Free with mfpg_problem_clear, also after a
 * failure. */
mfpg_status mfpg_problem_create(
    mfpg_context *ctx, const mfpg_pde_model *model, const mfpg_pde_options *options, mfpg_problem *out);
void mfpg_problem_clear(mfpg_problem *problem);

/* Computes the chain of one step: rates times dt for the policy's controls. */
void mfpg_problem_chain(const mfpg_problem *problem, double mean, const double *control, mfpg_chain *chain);

/* Sets a chain in the workspace of a type, and four further arrays of n. */
mfpg_chain mfpg_problem_workspace(const mfpg_problem *problem, ptrdiff_t type, double *further[4]);

/* ---- the backward equation of one type: (I - dt A(e)) V^n = V^{n+1} + dt (l + weight c(e)), e the best control ---- */

typedef struct mfpg_hjb_report {
    int rounds;           /* most of policy iteration in one step */
    ptrdiff_t unfinished; /* steps in which the cap ended it */
} mfpg_hjb_report;

/* Against a path of the population's mean (steps numbers are read, row n for the step from n to n+1).
 *  control  (steps+1) x n: the best replies; row `steps` is what the terminal value 0 asks for. NULL: they are not kept
 *  warm     1: policy iteration starts from what control holds; 0: every step starts from the reply of the next one
 *  value    (steps+1) x n, written; or NULL, and only start_value is
 *  start_value  n: V at time 0 */
mfpg_hjb_report mfpg_hjb_solve(const mfpg_problem *problem, ptrdiff_t type, const double *path,
    double *control, int warm, double *value, double *start_value);

/* ---- the forward equation of all types together: (I - dt A^T) p^{n+1} = p^n with the same matrices ---- */

typedef struct mfpg_flow_report {
    double edge_mass;   /* density at both ends times the standard deviation, maximum over types */
    double added_noise; /* by the scheme: its mean over law and time */
    double noise;       /* the control's */
    double drift_step;  /* dt times the mean |db/dx| of a type, largest */
} mfpg_flow_report;

/* Masses per node of every type (current: types x n, overwritten) under the policies control (types x (steps+1) x n): each
 * step uses the mean of the population at its beginning, so that no iteration is needed.
 *  path   steps+1: the population's mean, written
 *  cost   types: what a player of the type pays, written
 *  masses types x (steps+1) x n, written; or NULL
 *  report written; or NULL */
void mfpg_flow_run(const mfpg_problem *problem, const double *control, double *path, double *cost,
    double *current, double *masses, mfpg_flow_report *report);

/* Computes solution->moments from control and from density, which holds masses per node here. */
void mfpg_moments_fill(const mfpg_problem *problem, mfpg_pde_solution *solution);

/* ---- fixed points x = F(x) of vectors by Anderson's mixing ---- */

enum { MFPG_ANDERSON_DEPTH = 5 };

typedef struct mfpg_anderson {
    ptrdiff_t n;
    int held;        /* number of differences kept, at most MFPG_ANDERSON_DEPTH; 0 restarts the mixing */
    int started;     /* 1: last_x and last_f are set */
    double *dx, *df; /* MFPG_ANDERSON_DEPTH x n: differences of x, and of f = F(x) - x, newest last */
    double *last_x, *last_f;
    double *basis; /* MFPG_ANDERSON_DEPTH x n: workspace */
} mfpg_anderson;

/* The arrays are the pool's. */
mfpg_anderson mfpg_anderson_start(ptrdiff_t n, mfpg_pool *memory);

/* Replaces x by the next point, given f = F(x) - x. The first one is x + damping f, 0 < damping <= 1. */
void mfpg_anderson_step(mfpg_anderson *state, double damping, double *x, const double *f);

#endif
