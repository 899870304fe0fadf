/** Mean-field games of one scalar state in which every player controls its own noise: a backward equation for the value
 *  of a type (Hamilton, Jacobi, Bellman), a forward equation for its law (Fokker, Planck, Kolmogorov), and the path of
 *  the population's mean that ties the types together. The equations are those of section "HJB-FPK characterisation" of
 *  the paper, the forward one in the form of its appendix; docs/continuous.md has them.
 *
 *  A player of type k in state X picks a control e:
 *      dX = b dt + sqrt(2 e) dW,   b = -L'(X) - e X / prior_variance - attraction (X - m(t)),
 *      cost  E int_0^T  l(X) + weight_k c(e)  dt,   c(e) = scale exp(-rate (e - offset)),
 *  where m(t) is the mean of X over the whole population. */
#ifndef MFPG_PDE_H
#define MFPG_PDE_H

#include <stddef.h>
#include <stdint.h>

#include "context.h"
#include "random.h"

/* ---- the model ---- */

/** c_0 + c_1 x + c_2 x^2 + c_3 x^3 + c_4 x^4; every coefficient is finite. */
typedef struct mfpg_pde_polynomial {
    double coefficient[5];
} mfpg_pde_polynomial;

/** curvature x^2 / 2. */
mfpg_pde_polynomial mfpg_pde_quadratic(double curvature);

/** Returns barrier ((x / position)^2 - 1)^2, which has two wells at +-position with a hill of that height
 *  between them. */
mfpg_pde_polynomial mfpg_pde_double_well(double position, double barrier);

/** Exponential running cost on the control: scale exp(-rate (e - offset)), scale >= 0, rate > 0. */
typedef struct mfpg_pde_cost {
    double scale, rate, offset;
} mfpg_pde_cost;

typedef struct mfpg_pde_model {
    mfpg_pde_polynomial potential;    /* L, whose slope drives the state */
    mfpg_pde_polynomial running;      /* l, the cost of a state per unit of time */
    double attraction;                /* strength of the attraction to the mean of the population, >= 0 */
    double prior_variance;            /* > 0; INFINITY: no prior, so that no pull grows with the control */
    double horizon;                   /* T > 0 */
    double start_mean;                /* the law at time 0 is normal and the same for all types */
    double start_variance;            /* > 0 */
    mfpg_pde_cost cost;               /* c */
    double control_low, control_high; /* the controls are this interval, 0 <= low <= high, */
    const double *controls;           /* or these control_count increasing numbers >= 0; NULL: the interval */
    ptrdiff_t control_count;          /* at most 1000 */
    const double *weight;             /* types numbers >= 0 */
    const double *share;              /* one number > 0 per type, with sum 1; NULL: all equal */
    ptrdiff_t types;                  /* 1 to 1000 */
} mfpg_pde_model;

/** Returns the control of [low, high] that minimises weight c(e) + e slope, where slope is M = V_xx - V_x x /
 *  prior_variance: offset + log(rate weight scale / slope) / rate, clamped to the interval. It is high if
 *  slope <= 0 (more noise costs nothing), low if the logarithm's argument is small, and NaN if the slope is
 *  NaN. Equation (epsstar) of the paper; it increases with the weight and decreases with the slope. */
double mfpg_pde_optimal_control(
    const mfpg_pde_cost *cost, double weight, double slope, double low, double high);

/* ---- the equilibrium ---- */

/** How the drift is discretised. Both schemes give a Markov chain on the nodes for any step. */
typedef enum mfpg_pde_scheme {
    /* central differences if the noise is large enough, otherwise upwind (Spalding): second order in the
     * step */
    MFPG_PDE_HYBRID,
    MFPG_PDE_UPWIND /* first order: half the step times the drift is added to the noise */
} mfpg_pde_scheme;

/** How the path of the mean is iterated. */
typedef enum mfpg_pde_method {
    /* Takes full steps while they contract, otherwise Anderson's, and shorter steps from the best path if
     * those increased the residual. After half of the iterations it continues from the best path with
     * fictitious play. */
    MFPG_PDE_AUTO,
    MFPG_PDE_PICARD,    /* the path becomes the mean of the flow of the best responses to it */
    MFPG_PDE_FICTITIOUS /* the path moves 1/(k+1) of the way: slow, but without oscillation */
} mfpg_pde_method;

typedef struct mfpg_pde_options {
    double low, high; /* the domain, closed by reflection */
    ptrdiff_t nodes;  /* 5 to 100001, evenly spaced, including both ends */
    ptrdiff_t steps;  /* of time, 1 to 100000, implicit Euler */
    mfpg_pde_scheme scheme;
    mfpg_pde_method method;
    int iterations;   /* at most, >= 1 */
    double tolerance; /* converged if the path moves by at most this times (high - low) */
} mfpg_pde_options;

/** Returns the defaults: -8 to 8, 401 nodes, 200 steps, hybrid, auto, 200 iterations, tolerance 1e-10.
 *  Controls are known only to 1e-7 (a best response is kept if another gains less than rounding), so paths
 *  fluctuate below 1e-11 of the domain. */
mfpg_pde_options mfpg_pde_options_default(void);

typedef struct mfpg_pde_moments {
    double mean, variance, mean_control;
    double mass; /* 1 to rounding */
    /* E L + eps KL(law | N(0, prior_variance)) + attraction/2 E (X - m)^2 at the mean control eps; for the
     * population, the weighted sum over types. Without a prior, KL is the integral of law log law. */
    double free_energy;
    double paper_mass; /* mass of the law according to the equation printed in the paper, eps Laplace(mu) */
} mfpg_pde_moments;

typedef struct mfpg_pde_solution {
    ptrdiff_t types, steps, nodes;
    double low, step, time_step; /* node i lies at low + i step, time n at n time_step */
    double *mean_path;           /* steps+1: the population's mean m */
    double *value;               /* types x (steps+1) x nodes: the least cost of a player against mean_path */
    /* types x (steps+1) x nodes: the control that is played; row n applies from time n to n+1 */
    double *control;
    double *density;           /* types x (steps+1) x nodes: each row sums to 1 / step */
    mfpg_pde_moments *moments; /* types x (steps+1) */

    int converged, iterations;
    int fictitious; /* 1: Anderson's half was not enough */
    /* max over time of |mean of the flow - path to which it responds|: the consistency gap */
    double residual;
    double cost; /* mean over the population of a player's cost */
    /* Mean over types, by share, of what a player can still gain against mean_path, in the same discrete
     * operators. It is >= 0 up to rounding, and exactly 0 at an equilibrium of these operators. */
    double exploitability;
    double exploitability_largest; /* over types */
    double mass_error;             /* max over types and times of |mass - 1| */
    double least_density;
    int policy_rounds; /* the largest number of rounds of policy iteration in a step of time */
    /* number of steps in which the limit of 50 rounds ended the policy iteration */
    ptrdiff_t policy_unfinished;
    /* Density at the two ends times the law's standard deviation, maximum over types and times: roughly the
     * mass that the ends hold back; 1e-4 changes a variance by 1e-3. */
    double edge_mass;
    double added_noise; /* noise that the scheme adds, as a share of the control, mean over law and time */
    double drift_step;  /* time_step times the mean |db/dx| over the law, maximum over types and times */
} mfpg_pde_solution;

/** Solves for an equilibrium on the grid: policy iteration backward in time, the transposed matrices forward,
 *  and the path of the mean by the method. If it does not converge, that is not an error: the best responses
 *  to the best path and their flow are returned with converged 0 and their exploitability. A grid that is too
 *  coarse is refused with the reason: a step wider than the start's standard deviation, a domain that does
 *  not contain the start (1e-6) or the flow (edge_mass 1e-4), a grid that adds more than half of the
 *  controlled noise, or a time step with drift_step above 1/2.
 *  @param[out] out  set only on success; free it with mfpg_pde_solution_destroy
 *  @return MFPG_OK, MFPG_ERR_DOMAIN, MFPG_ERR_MEMORY. Threads: types run in parallel; the bits do not depend
 *  on their number.
 *  Memory: 4 doubles per type, time and node; at most 2^28 of those. */
mfpg_status mfpg_pde_solve(
    mfpg_context *ctx, const mfpg_pde_model *model, const mfpg_pde_options *options, mfpg_pde_solution **out);

/** The exact values of a type at time t. */
typedef struct mfpg_pde_exact {
    double curvature; /* V_xx, the same everywhere */
    double control;   /* the best control, the same everywhere */
    double mean, variance;
} mfpg_pde_exact;

/** Computes the equilibrium in closed form if both losses are quadratic around 0, there is no prior and
 *  controls are an interval.
 *  @return 1 with out filled (the variance by an integral, to about 1e-8), or 0. The model must be one that
 *  solve accepts. */
int mfpg_pde_closed_form(const mfpg_pde_model *model, ptrdiff_t type, double t, mfpg_pde_exact *out);

/** Frees a solution; NULL is fine. */
void mfpg_pde_solution_destroy(mfpg_pde_solution *solution);

/** Writes value.npy, control.npy and density.npy (float64, types x (steps+1) x nodes), nodes.npy, times.npy
 *  and moments.csv (time,type,weight,share,mean,variance,mean_control,mass,free_energy,paper_mass) to the
 *  folder, which is created if needed. weight and share are the model's. Every file is written completely or
 *  not at all. */
mfpg_status mfpg_pde_solution_write(
    mfpg_context *ctx, const mfpg_pde_solution *solution, const mfpg_pde_model *model, const char *folder);

/* ---- particles whose law the equations describe ---- */

typedef struct mfpg_pde_particles_options {
    ptrdiff_t count; /* number of particles, 1 to 2^31; types get them by share (largest remainder) */
    /* steps of time, a multiple of the solution's if a solution is given; at most 1e7 */
    ptrdiff_t steps;
    uint64_t repeat;      /* draws of different numbers are independent */
    const mfpg_key *key;  /* of the random streams */
    double fixed_control; /* control of all particles if no solution is given */
} mfpg_pde_particles_options;

/** Simulates (Euler-Maruyama) count particles that are attracted to the mean of all of them, each with its
 *  type's control: the solution's (linear between nodes, constant within its steps of time) or the fixed one.
 *  As count grows, their moments tend to those of the law (propagation of chaos); the error falls like
 *  count^-1/2 and like the step of time.
 *  @param[in]  solution  of the same model, or NULL
 *  @param[out] mean, variance  steps+1 numbers each: over all particles, the variance divided by count;
 *  undefined on error
 *  @return MFPG_OK, MFPG_ERR_DOMAIN, MFPG_ERR_MEMORY, MFPG_ERR_NUMERIC if a particle is no longer finite.
 *  Threads: the bits do not depend on their number. */
mfpg_status mfpg_pde_particles(mfpg_context *ctx, const mfpg_pde_model *model,
    const mfpg_pde_solution *solution, const mfpg_pde_particles_options *options, double *mean,
    double *variance);

#endif
