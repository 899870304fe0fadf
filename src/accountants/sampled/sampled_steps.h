/* Poisson-sampled Gaussian steps: the number of steps of each kind, which is all that composition needs, in
 * any order; and what one step reveals. */
#ifndef MFPG_ACCOUNTANTS_SAMPLED_SAMPLED_STEPS_H
#define MFPG_ACCOUNTANTS_SAMPLED_SAMPLED_STEPS_H

#include <stdint.h>

#include "accountants/accountant_ops.h"
#include "accountants/upward.h"

/* ---- kinds ---- */

typedef struct sampled_step {
    double rate;  /* probability with which an example takes part, in (0, 1) */
    double reach; /* zero-out sensitivity divided by noise, finite and positive */
    int64_t count;
} sampled_step;

/* Kinds are kept on a grid with that many bits, with both numbers rounded up, which increases them by a
 * relative 2^-bits. The grid starts fine and is coarsened only if there are more than SAMPLED_STEPS_MOST
 * kinds, so memory stays small, and the result depends on what was added but not on the order. All zeros is
 * an empty list; SAMPLED_STEPS_EXACT is an empty list that keeps numbers unchanged, up to SAMPLED_STEPS_MANY
 * kinds. */
typedef struct sampled_steps {
    sampled_step *kind; /* `used` entries, ascending by rate, then reach; owned */
    int used, room;
    int dropped_bits; /* bits dropped of both numbers together; negative: nothing was rounded */
    int many;         /* 1: up to SAMPLED_STEPS_MANY kinds */
} sampled_steps;

enum { SAMPLED_STEPS_BITS = 40, SAMPLED_STEPS_MOST = 64, SAMPLED_STEPS_MANY = 1024 };
#define SAMPLED_STEPS_EXACT ((sampled_steps){.dropped_bits = -1, .many = 1})

/* Adds count > 0 steps. Returns 1 on success, and 0 if memory or a count ran out: the list can then only be
 * cleared. */
int sampled_steps_add(sampled_steps *steps, double rate, double reach, int64_t count);

/* Makes a copy with separate memory; returns 1 on success. */
int sampled_steps_copy(const sampled_steps *steps, sampled_steps *out);

void sampled_steps_clear(sampled_steps *steps);

/* Returns 1 if a has at least as many steps of every kind as b, and each kind reveals at least as much. */
int sampled_steps_cover(const sampled_steps *a, const sampled_steps *b);

/* ---- the state of accountants that credit sampling: steps by kind, and Gaussian DP of the same steps
 * without credit ---- */

typedef struct sampled_sum {
    mfpg_adjacency adjacency;
    int credits;           /* 1: the unit of the promise is what is sampled */
    int loose;             /* 1: more may be counted than was revealed, so 0 is the only valid lower end */
    square_sum unsampled;  /* sum of mu^2 of the steps without sampling, for zero-out */
    square_sum uncredited; /* sum over all steps, as if none had been sampled */
    sampled_steps sampled; /* owned */
    double width;          /* exact alone: of the options */
    double *orders;        /* only for rdp: the allowed orders, order_count, owned; NULL: all */
    ptrdiff_t order_count;
} sampled_sum;

/* Entries of the accountants' ops. A last step that is also hidden by others' noise keeps its credit: given
 * the earlier steps and everything that the others do, it is a sampled Gaussian step with their independent
 * noise added (theory S2.2). */
mfpg_status sampled_sum_start(mfpg_context *ctx, void *state, const mfpg_accountant_options *options);
void sampled_sum_finish(void *state);
int sampled_sum_copy(const void *state, void *out);
mfpg_status sampled_sum_record(mfpg_context *ctx, void *state, const mfpg_release *release, int64_t times);
/* +INFINITY if sampling was credited, because a sampled step has no mu */
double sampled_sum_mu(const void *state);
int sampled_sum_covers(const void *state, const void *less);

/* mu of everything without credit. */
double sampled_sum_plain_mu(const sampled_sum *sum, mfpg_adjacency adjacency);

/* Returns the kinds with a rate below 1 (coarsening may have raised one to 1). The other kinds are added to
 * *plain, the sum of mu^2 of the steps without sampling. */
int sampled_sum_split(const sampled_sum *sum, square_sum *plain);

/* Returns the same steps under another adjacency, with kinds as in a list of SAMPLED_STEPS_MOST; 1 on
 * success, otherwise *out must be finished as well. */
int sampled_sum_coarse(const sampled_sum *sum, mfpg_adjacency adjacency, sampled_sum *out);

/* ---- one step ---- */

/* The privacy loss of removing the record, and of adding it. With rate q, reach w = 1/z, u standard normal, x = w u -
 * w^2/2, v = q (e^x - 1) and l = log(1 + v): removing has the loss l under the density (1 + v) phi(u), adding the loss -l
 * under phi(u). */
typedef enum loss_direction { LOSS_REMOVE, LOSS_ADD } loss_direction;

/* Returns l and v at u; l is the loss up to its sign; 0 < q <= 1. No digits are lost if v is near -1 or too
 * large for a double. */
static inline double sampled_loss(double rate, double reach, double u, double *v) {
    double x = reach * u - 0.5 * reach * reach;
    *v = rate * expm1(x);
    if (rate == 1.0) return x;
    if (*v > 1e10) return log(rate) + x + log1p((1.0 - rate) / rate * exp(-x));
    return *v < -0.5 ? log((1.0 - rate) + rate * exp(x)) : log1p(*v);
}

/* Returns e^t - 1 - t without cancellation. */
double second_order_exp(double t);

/* Returns (1+v) l - v for removing, v - l for adding, without cancellation; l = log(1 + v). */
double loss_entropy(double v, double l, loss_direction direction);

/* Returns both ends of the curve of a single step in closed form, about 1e-10 of mu apart. rate in (0, 1),
 * reach > 0, epsilon >= 0, delta in (0, 1). */
mfpg_bounds sampled_step_delta(const sampled_step *kind, loss_direction direction, double epsilon);
mfpg_bounds sampled_step_epsilon(const sampled_step *kind, loss_direction direction, double delta);

/* D_order((1-q) N(0, z^2) + q N(1, z^2) || N(0, z^2)) with q = rate and z = 1/reach: what a step reveals, in Renyi terms,
 * of whether one example is there. It is the larger of the two directions, for any dimension and any contribution of
 * norm at most 1 (Mironov, Talwar, Zhang 2019, theorems 4 and 5). Rounded up, by less than 1e-11 of itself if the
 * order is an integer up to 2^14 or the noise is not tiny (quadrature below); order 1 is the Kullback-Leibler limit.
 * rate in [0, 1], reach >= 0, order >= 1 and finite; else +INFINITY. */
double mfpg_sampled_gaussian_rdp(double rate, double reach, double order);

#endif
