/* The scaling of a kernel: first the symmetric relaxed iteration in floats, as far as floats go. Then Newton's steps: the
 * residual by a product in doubles, and log u moved by the d of
 *
 *     (I + P) d = 1 - r,    P = diag(u) K diag(u),
 *
 * which floats solve by the same relaxation, since d needs a few digits only. What is left of the residual are those digits
 * of it and its square: two products in doubles are all that is needed. K_ii = 1 gives r_i >= u_i^2, so u <= 1 and K u >= 1 at
 * the solution: no logarithms are needed.
 *
 * Near the solution the errors of log u obey d <- (I - theta (I+P)) d, and P has its spectrum in [0,1], because the kernel is
 * positive semidefinite. For any spectrum in [1,2] the best relaxation with momentum (the heavy ball of Polyak),
 *
 *     s <- 0.0294 s - 0.6863 log r,   log u <- log u + s,
 *
 * contracts by (sqrt 2 - 1)/(sqrt 2 + 1) = 0.172, whatever n and eta: its numbers are 0.172^2 and (2/(sqrt 2 + 1))^2. */
#include <math.h>
#include <stdint.h>
#include <string.h>

#include "base/wide.h"
#include "kernels.h"

static const float KEEP = 0.0294372515f; /* ((sqrt 2 - 1)/(sqrt 2 + 1))^2 */
static const float RATE = 0.6862915f;    /* (2/(sqrt 2 + 1))^2 */

/* tolerance of the row sums, and so of log u: I+P has no eigenvalue below 1 */
static const double TOLERANCE = 1e-9;
static const float ROUGHLY = 1e-5f; /* its square is below the tolerance, and floats reach it */
/* below this, a round with little gain has reached the precision of floats */
static const float NEAR = 1e-2f;
enum {
    MOST_ITERATIONS = 200,
    MOST_ROUGH = 40,   /* rounds of floats at the start */
    MOST_REFINING = 16 /* and of one step; 0.172^16 is nothing */
};

/* ---- logarithm and exponential by additions, products and one division, with the same bits on every
 * machine ---- */

static inline __attribute__((always_inline)) int32_t bits_of(float x) {
    int32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

static inline __attribute__((always_inline)) float float_of(int32_t bits) {
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

/* log x, x > 0 and normal: x = 2^k m with m from sqrt(1/2) to sqrt(2), log m = 2 artanh((m - 1)/(m + 1)), to some 1e-7 of
 * itself near 1. */
static inline __attribute__((always_inline)) float log_of(float x) {
    const int32_t root_half = 0x3f3504f3;
    int32_t bits = bits_of(x) - root_half;
    int32_t k = bits >> 23;
    float m = float_of((bits & 0x7fffff) + root_half);
    float z = (m - 1.0f) / (m + 1.0f), z2 = z * z;
    float series = 2.0f + z2 * (0.66666667f + z2 * (0.4f + z2 * (0.28571429f + z2 * 0.22222222f)));
    return (float)k * 0.69314718f + z * series;
}

/* exp x, |x| < 80: x = k log 2 + r with |r| <= log(2)/2, exp r by its series. */
static inline __attribute__((always_inline)) float exp_of(float x) {
    /* adding this number rounds to an integer, which is then in the low bits */
    const float shift = 0x1.8p23f;
    float shifted = x * 1.44269504f + shift, k = shifted - shift;
    float r = (x - k * 0x1.62ep-1f) - k * 0x1.0bfbe8p-15f; /* log 2 in two parts */
    float high = (1.0f / 24.0f) + r * ((1.0f / 120.0f) + r * (1.0f / 720.0f));
    float p = 1.0f + r * (1.0f + r * (0.5f + r * ((1.0f / 6.0f) + r * high)));
    return p * float_of((int32_t)((uint32_t)(bits_of(shifted) + 127) << 23));
}

/* ---- the loops over points ---- */

typedef struct relaxation {
    float *u;       /* the scaling */
    float *moving;  /* the vector of the next product: u, or u d */
    float *product; /* and what it gave */
    float *step;    /* s */
    float *d;       /* the change of log u, in units of the residual; used for refining only */
    float *aim;     /* the error: 1 - r in units of the residual; used for refining only */
} relaxation;

/* Absolute values are ordered like their bits, with NAN above all numbers. */
static inline __attribute__((always_inline)) int32_t size_bits(float x) {
    return bits_of(x) & 0x7fffffff;
}

/* Makes a step of log u from the product f of u; returns max |r - 1| before it, including NAN. */
MFPG_WIDE static float relax_log(
    ptrdiff_t n, const float *restrict f, float *restrict u, float *restrict v, float *restrict s) {
    int32_t worst = 0;
    for (ptrdiff_t i = 0; i < n; i++) {
        float r = u[i] * f[i];
        int32_t size = size_bits(r - 1.0f);
        worst = size > worst ? size : worst;
        s[i] = KEEP * s[i] - RATE * log_of(r);
        u[i] *= exp_of(s[i]);
        v[i] = u[i];
    }
    return float_of(worst);
}

/* Computes r into row_sum from K u; returns max |r - 1|, including NAN. */
MFPG_WIDE static double worst_row(ptrdiff_t n, const double *restrict u, double *restrict row_sum) {
    int64_t worst = 0, size;
    double out;
    for (ptrdiff_t i = 0; i < n; i++) {
        row_sum[i] *= u[i];
        double error = row_sum[i] - 1.0;
        memcpy(&size, &error, sizeof size);
        size &= INT64_MAX;
        worst = size > worst ? size : worst;
    }
    memcpy(&out, &worst, sizeof out);
    return out;
}

/* Begins to solve (I + P) d = (1 - r)/residual, and makes the first step, which needs no product. */
MFPG_WIDE static void set_aim(ptrdiff_t n, const double *restrict u, const double *restrict row_sum,
    double inverse, const relaxation *at) {
    float *restrict own = at->u, *restrict v = at->moving, *restrict aim = at->aim, *restrict s = at->step,
                    *restrict d = at->d;
    for (ptrdiff_t i = 0; i < n; i++) {
        float wrong = (float)((1.0 - row_sum[i]) * inverse);
        own[i] = (float)u[i];
        aim[i] = wrong;
        s[i] = d[i] = RATE * wrong;
        v[i] = own[i] * d[i];
    }
}

/* Makes a step of d from the product of u d; returns the largest error before it. */
MFPG_WIDE static float relax_linear(ptrdiff_t n, const relaxation *at) {
    const float *restrict u = at->u, *restrict aim = at->aim, *restrict f = at->product;
    float *restrict v = at->moving, *restrict s = at->step, *restrict d = at->d;
    int32_t worst = 0;
    for (ptrdiff_t i = 0; i < n; i++) {
        float wrong = (aim[i] - d[i]) - u[i] * f[i];
        int32_t size = size_bits(wrong);
        worst = size > worst ? size : worst;
        s[i] = KEEP * s[i] + RATE * wrong;
        d[i] += s[i];
        v[i] = u[i] * d[i];
    }
    return float_of(worst);
}

/* The exponential's series suffices: residual d is small, or clamped to the range in which the series is
 * accurate. */
MFPG_WIDE static void move_log(ptrdiff_t n, const float *restrict d, double residual, double *restrict u) {
    for (ptrdiff_t i = 0; i < n; i++) {
        double x = residual * (double)d[i];
        x = x < 1.0 ? x : 1.0;
        x = x > -1.0 ? x : -1.0;
        u[i] *= 1.0 + x * (1.0 + x * (0.5 + x * (1.0 / 6.0 + x * (1.0 / 24.0))));
    }
}

/* ---- the solution ---- */

typedef struct solver {
    mfpg_context *ctx;
    const mfpg_kernel *kernel;
    ptrdiff_t n;
    double *u, *row_sum;
    relaxation at; /* in floats */
    mfpg_sinkhorn_result *result;
} solver;

static mfpg_status product_roughly(solver *s) {
    return s->kernel->weigh_roughly(s->ctx, s->kernel->self, s->at.moving, s->at.product);
}

/* Iterates from u = (K 1)^(-1/2) until row sums are within ROUGHLY of 1, or as near as floats allow. */
static mfpg_status solve_roughly(solver *s) {
    for (ptrdiff_t i = 0; i < s->n; i++) s->at.moving[i] = 1.0f;
    mfpg_status status = product_roughly(s);
    for (ptrdiff_t i = 0; i < s->n && status == MFPG_OK; i++) {
        s->at.u[i] = s->at.moving[i] = 1.0f / sqrtf(s->at.product[i]);
        s->at.step[i] = 0.0f;
    }
    float worst = INFINITY, last;
    for (int round = 0; round < MOST_ROUGH && status == MFPG_OK; round++) {
        status = product_roughly(s);
        s->result->iterations++;
        if (status != MFPG_OK) break;
        last = worst;
        worst = relax_log(s->n, s->at.product, s->at.u, s->at.moving, s->at.step);
        if (worst <= ROUGHLY || (worst < NEAR && worst > 0.5f * last)) break;
    }
    for (ptrdiff_t i = 0; i < s->n; i++) s->u[i] = (double)s->at.u[i];
    return status;
}

/* Computes the row sums of the plan in doubles, and their distance from 1. */
static mfpg_status measure(solver *s) {
    mfpg_status status = s->kernel->weigh(s->ctx, s->kernel->self, s->u, s->row_sum);
    s->result->iterations++;
    if (status == MFPG_OK) s->result->residual = worst_row(s->n, s->u, s->row_sum);
    return status;
}

/* Makes one Newton step, with d in units of the residual. */
static mfpg_status refine(solver *s) {
    double residual = s->result->residual;
    float enough = (float)(0.3 * TOLERANCE / residual);
    mfpg_status status = MFPG_OK;
    set_aim(s->n, s->u, s->row_sum, 1.0 / residual, &s->at);
    for (int round = 0; round < MOST_REFINING && status == MFPG_OK; round++) {
        status = product_roughly(s);
        s->result->iterations++;
        if (status == MFPG_OK && relax_linear(s->n, &s->at) <= enough) break;
    }
    if (status == MFPG_OK) move_log(s->n, s->at.d, residual, s->u);
    return status;
}

mfpg_status mfpg_scaling_solve(mfpg_context *ctx, ptrdiff_t n, const mfpg_kernel *kernel, double *u,
    double *row_sum, float *work, mfpg_sinkhorn_result *result) {
    solver s = {.ctx = ctx,
        .kernel = kernel,
        .n = n,
        .u = u,
        .row_sum = row_sum,
        .at = {work, work + n, work + 2 * n, work + 3 * n, work + 4 * n, work + 5 * n},
        .result = result};
    result->iterations = 0;
    mfpg_status status = solve_roughly(&s);
    if (status == MFPG_OK) status = measure(&s);
    while (status == MFPG_OK && !(result->residual <= TOLERANCE) && result->iterations < MOST_ITERATIONS) {
        status = refine(&s);
        if (status == MFPG_OK) status = measure(&s);
    }
    result->converged = result->residual <= TOLERANCE;
    return status;
}
