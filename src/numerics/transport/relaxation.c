#include "relaxation.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

#include "base/wide.h"

static const float KEEP = 0.0294372515f; /* ((sqrt 2 - 1)/(sqrt 2 + 1))^2 */
static const float RATE = 0.6862915f;    /* (2/(sqrt 2 + 1))^2 */

/* ---- logarithm and exponential, by additions, products and one division: the same bits everywhere ---- */

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
    const float shift = 0x1.8p23f; /* adding it rounds to a whole number, which stands in the low bits */
    float shifted = x * 1.44269504f + shift, k = shifted - shift;
    float r = (x - k * 0x1.62ep-1f) - k * 0x1.0bfbe8p-15f; /* log 2 in two parts */
    float high = (1.0f / 24.0f) + r * ((1.0f / 120.0f) + r * (1.0f / 720.0f));
    float p = 1.0f + r * (1.0f + r * (0.5f + r * ((1.0f / 6.0f) + r * high)));
    return p * float_of((int32_t)((uint32_t)(bits_of(shifted) + 127) << 23));
}

/* ---- */

void mfpg_relaxation_divide(mfpg_relaxation *at, ptrdiff_t n, float *work) {
    *at = (mfpg_relaxation){.n = n,
        .u = work,
        .moving = work + n,
        .product = work + 2 * n,
        .step = work + 3 * n,
        .d = work + 4 * n,
        .aim = work + 5 * n};
}

void mfpg_relaxation_begin(mfpg_relaxation *at) {
    for (ptrdiff_t i = 0; i < at->n; i++) at->moving[i] = 1.0f;
}

void mfpg_relaxation_start(mfpg_relaxation *at) {
    for (ptrdiff_t i = 0; i < at->n; i++) {
        at->u[i] = at->moving[i] = 1.0f / sqrtf(at->product[i]);
        at->step[i] = 0.0f;
    }
}

/* Sizes compare like their bits, and a NAN is above all numbers. */
static inline __attribute__((always_inline)) int32_t size_bits(float x) {
    return bits_of(x) & 0x7fffffff;
}

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

float mfpg_relaxation_scale(mfpg_relaxation *at) {
    return relax_log(at->n, at->product, at->u, at->moving, at->step);
}

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

double mfpg_relaxation_residual(ptrdiff_t n, const double *u, double *row_sum) {
    return worst_row(n, u, row_sum);
}

MFPG_WIDE static void set_aim(ptrdiff_t n, const double *restrict u, const double *restrict row_sum,
    double inverse, const mfpg_relaxation *at) {
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

void mfpg_relaxation_aim(mfpg_relaxation *at, const double *u, const double *row_sum, double residual) {
    set_aim(at->n, u, row_sum, 1.0 / residual, at);
}

MFPG_WIDE static float relax_linear(ptrdiff_t n, const mfpg_relaxation *at) {
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

float mfpg_relaxation_step(mfpg_relaxation *at) {
    return relax_linear(at->n, at);
}

/* The exponential's series: residual d is small, or cut to where the series is still one of an exponential. */
MFPG_WIDE static void move_log(ptrdiff_t n, const float *restrict d, double residual, double *restrict u) {
    for (ptrdiff_t i = 0; i < n; i++) {
        double x = residual * (double)d[i];
        x = x < 1.0 ? x : 1.0;
        x = x > -1.0 ? x : -1.0;
        u[i] *= 1.0 + x * (1.0 + x * (0.5 + x * (1.0 / 6.0 + x * (1.0 / 24.0))));
    }
}

void mfpg_relaxation_move(const mfpg_relaxation *at, double residual, double *u) {
    move_log(at->n, at->d, residual, u);
}
