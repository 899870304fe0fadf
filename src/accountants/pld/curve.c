/* The masses of every kind of step, tilted by e^(s loss), are transformed, raised to their powers, multiplied and transformed
 * back: the tilted law of the composed loss on a circle of n points, of which
 *     delta(epsilon) = P(infinite) + e^(K - s epsilon) sum over x > 0 of mass(epsilon + x) e^(-s x) (1 - e^-x),   K = sum T log_scale.
 * The tilt makes the noise of the transform relative to the tail that is asked for, not to 1. Everything that is wrong by
 * rounding is bounded and added:
 *   - masses and their sums: rounded up when they are made (cells.c);
 *   - a transform is off by at most e = eta sum of masses in each entry, so its T-th power by |f|^T ((1 + e/|f|)^T - 1), to which
 *     the roundings of logarithm, angle and product are added; in the 2-norm these errors come back through the inverse
 *     unchanged, and that transform's own error joins them; by Cauchy and Schwarz they move the sum above by at most
 *     their 2-norm times that of its weights;
 *   - what lies above the window is wrapped to its lower end, where it counts too little: by Chernoff's bound with the
 *     tilt s + t, from sums of the same masses, it is at most e^(K(s+t) - (s+t) top), which is added. What is wrapped into
 *     the range that counts only adds. Below the window the bound is 1;
 *   - losses may lie above their grid points by a known amount, by which epsilon is lowered before it is looked up. */
#include "pld.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

#include "base/memory.h"
#include "numerics/linalg/linalg.h"

#define ULP     0x1p-53
#define NOTHING (-1000.0) /* the logarithm of a factor that makes an entry permanently 0 */
#define STEPS   0x1p53

enum { BLOCK = 64 };

/* The product of powers so far, for the entries 0 ... n/2. */
typedef struct product {
    double *size;  /* log of the modulus */
    double *bound; /* log of an upper bound of modulus + error */
    double *angle;
    double *work; /* n numbers, of the curve: the masses of one kind, and finally the result */
    mfpg_fft *fft;
    mfpg_pool memory;
} product;

static void product_clear(product *p) {
    mfpg_pool_clear(&p->memory);
    mfpg_fft_destroy(p->fft);
}

static int product_start(product *p, ptrdiff_t n, double *work) {
    *p = (product){.work = work, .fft = mfpg_fft_create(n)};
    p->size = mfpg_pool_alloc(&p->memory, n / 2 + 1, sizeof *p->size);
    p->bound = mfpg_pool_alloc(&p->memory, n / 2 + 1, sizeof *p->bound);
    p->angle = mfpg_pool_alloc(&p->memory, n / 2 + 1, sizeof *p->angle);
    if (work && p->fft && !p->memory.failed) return 1;
    product_clear(p);
    return 0;
}

/* Returns the entry j of a packed transform. */
static void entry(const double *packed, ptrdiff_t j, ptrdiff_t n, double *re, double *im) {
    int ends = j == 0 || j == n / 2;
    *re = ends ? packed[j == 0 ? 0 : 1] : packed[2 * j];
    *im = ends ? 0.0 : packed[2 * j + 1];
}

/* Multiplies by the count-th power of (the masses in work divided by their sum). */
static void product_power(product *p, ptrdiff_t n, double count, double sum) {
    double off = mfpg_fft_error(n) * sum, log_sum = log(sum);
    for (ptrdiff_t j = 0; j <= n / 2; j++) {
        if (p->bound[j] < NOTHING) continue;
        double re, im;
        entry(p->work, j, n, &re, &im);
        double modulus = hypot(re, im), angle = atan2(im, re), size = count * (log(modulus) - log_sum);
        p->size[j] += size;
        p->angle[j] += remainder(count * angle, 2.0 * M_PI);
        double rounding = ULP * (count * (16.0 + 4.0 * fabs(angle)) + 16.0);
        double raised = count * (log(modulus + off) - log_sum);
        p->bound[j] += raised + 8.0 * ULP * fabs(raised) + rounding;
    }
}

/* Copies the product into work and transforms it back; returns the 2-norm of the error. */
static double product_finish(product *p, ptrdiff_t n, int kinds) {
    double square = 0.0, error_square = 0.0;
    for (ptrdiff_t j = 0; j <= n / 2; j++) {
        int ends = j == 0 || j == n / 2;
        double size = p->size[j], bound = p->bound[j], times = ends ? 1.0 : 2.0;
        int lost = !(size > -700.0) || bound < NOTHING;
        double modulus = lost ? 0.0 : exp(size), error = exp(fmax(bound, NOTHING));
        if (!lost) error = modulus * (expm1(bound - size) + ULP * (16.0 + 4.0 * kinds + fabs(size)));
        if (ends) {
            p->work[j == 0 ? 0 : 1] = modulus * cos(p->angle[j]);
        } else {
            p->work[2 * j] = modulus * cos(p->angle[j]);
            p->work[2 * j + 1] = modulus * sin(p->angle[j]);
        }
        square += times * modulus * modulus;
        error_square += times * error * error;
    }
    mfpg_fft_inverse(p->fft, p->work);
    double norm = sqrt(square / (double)n), error_norm = sqrt(error_square / (double)n);
    return (error_norm + mfpg_fft_error(n) * (norm + error_norm)) * (1.0 + (double)n * ULP);
}

/* Composes all kinds, one after the other, and sums what the curve keeps of them in addition to masses. */
static void compose(const pld_mechanism *mechanism, pld_side side, pld_curve *curve, product *p) {
    ptrdiff_t n = curve->set.n;
    double further = 0.0, further_size = 0.0;
    int kinds = pld_kinds(mechanism);
    for (int i = 0; i < kinds; i++) {
        sampled_step kind = pld_kind(mechanism, side, i);
        double count = (double)kind.count;
        pld_spread spread;
        for (ptrdiff_t k = 0; k < n; k++) p->work[k] = 0.0;
        pld_cells_fold(&curve->set, &kind, side, i, p->work, &spread);
        mfpg_fft_forward(p->fft, p->work);
        product_power(p, n, count, spread.sum);
        double log_scale = spread.log_scale + log(spread.sum), more = spread.log_scale + spread.log_further;
        curve->log_scale += count * log_scale;
        curve->size += count * (fabs(spread.log_scale) + fabs(log(spread.sum)) + 1.0);
        further += count * (more + log(spread.further));
        further_size += count * (fabs(more) + fabs(spread.log_scale) + fabs(log(spread.further)) + 1.0);
        curve->offset += count * spread.offset;
        curve->shift += count * (spread.blur + 4.0 * ULP * kinds * fabs(spread.offset));
        curve->infinite += count * spread.infinite * (1.0 + 8.0 * ULP * kinds);
    }
    double tilt = curve->set.tilt + curve->set.more_tilt;
    curve->first = (int64_t)floor((curve->set.low - curve->offset) / curve->set.h);
    double top = (double)(curve->first + n) * curve->set.h;
    double exponent = further - tilt * top;
    exponent += 8.0 * ULP * (further_size * kinds + fabs(tilt * top) + 1.0);
    curve->infinite += exp(exponent) * (1.0 + 8.0 * ULP) + DBL_TRUE_MIN;
    curve->shift += 4.0 * ULP * (fabs((double)curve->first) + (double)n) * curve->set.h;
    curve->noise = product_finish(p, n, kinds);
}

static int countable(const pld_mechanism *mechanism) {
    for (int i = 0; i < mechanism->used; i++)
        if ((double)mechanism->sampled[i].count >= STEPS) return 0;
    return pld_kinds(mechanism) > 0 && mechanism->used < PLD_KINDS && isfinite(mechanism->mu);
}

mfpg_status pld_curve_create(const pld_mechanism *mechanism, pld_side side, pld_aim aim, pld_curve **out) {
    *out = NULL;
    if (!countable(mechanism)) return MFPG_OK;
    pld_curve *curve = mfpg_alloc(1, sizeof *curve);
    if (!curve) return MFPG_ERR_MEMORY;
    int found = pld_set_up(mechanism, side, aim, &curve->set);
    product p;
    if (found > 0) curve->mass = mfpg_alloc(curve->set.n, sizeof *curve->mass);
    if (found <= 0 || !product_start(&p, curve->set.n, curve->mass)) {
        pld_curve_destroy(curve);
        return found == 0 ? MFPG_OK : MFPG_ERR_MEMORY;
    }
    compose(mechanism, side, curve, &p);
    product_clear(&p);
    curve->low = curve->offset + curve->shift + (double)(curve->first + 1) * curve->set.h;
    curve->high = curve->offset + curve->shift + (double)(curve->first + curve->set.n + 1) * curve->set.h;
    *out = curve;
    return MFPG_OK;
}

void pld_curve_destroy(pld_curve *curve) {
    if (curve) free(curve->mass);
    free(curve);
}

/* ---- what it says ---- */

typedef struct sums {
    double total, squares; /* sums of mass times weight, and of squared weights */
} sums;

/* Adds the points k ... k + count - 1, count <= BLOCK, the first of which is x >= 0 above epsilon. The
 * weight at x + y is e^(-s x) e^(-s y) (1 - e^-x + e^-x (1 - e^-y)), in which nothing cancels. */
static void add_block(const pld_curve *curve, const double *fall, const double *rise, int64_t k, int count,
    double x, sums *out) {
    double front = exp(-curve->set.tilt * x), base = -expm1(-x), rest = exp(-x);
    for (int j = 0; j < count; j++) {
        double weight = front * fall[j] * (base + rest * rise[j]);
        out->total += fmax(0.0, curve->mass[(k + j) & (curve->set.n - 1)]) * weight;
        out->squares += weight * weight;
    }
}

double pld_curve_delta(const pld_curve *curve, double epsilon) {
    const pld_setting *set = &curve->set;
    double at = (epsilon - curve->shift) - curve->offset;
    at -= 4.0 * ULP * (fabs(epsilon) + fabs(curve->offset) + fabs(at));
    double place = floor(at / set->h) + 1.0, s = set->tilt;
    if (!(place >= (double)curve->first)) return 1.0;
    if (!(place < (double)(curve->first + set->n))) return curve->infinite;
    double fall[BLOCK], rise[BLOCK];
    for (int j = 0; j < BLOCK; j++) {
        fall[j] = exp(-s * set->h * j);
        rise[j] = -expm1(-set->h * j);
    }
    sums sum = {0};
    int64_t end = curve->first + set->n;
    for (int64_t k = (int64_t)place; k < end; k += BLOCK) {
        double x = fmax(0.0, set->h * (double)k - at);
        if (s * x > 800.0) break; /* all further weights are 0 as doubles */
        add_block(curve, fall, rise, k, (int)(end - k < BLOCK ? end - k : BLOCK), x, &sum);
    }
    double exponent = curve->log_scale - s * at;
    double rounding =
        8.0 * ULP * (curve->size * PLD_KINDS + fabs(s * at) + s * fabs(at) + (double)set->n + 64.0);
    double main = (sum.total + curve->noise * sqrt(sum.squares)) * exp(exponent) * (1.0 + 2.0 * rounding);
    return main + curve->infinite + DBL_TRUE_MIN;
}
