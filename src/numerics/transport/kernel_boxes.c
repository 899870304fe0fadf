/* Products by boxes, in doubles. */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "kernels.h"

/* In units of h = sqrt(eta) a box is `width` wide; x in box b at s and y in box b - m at t, both in [-1, 1], are
 * width m + (width/2)(s - t) apart, and
 *
 *     exp(-(x - y)^2/eta) = sum_kl C^m_kl T_k(s) T_l(t)  to  e_p = 2 * 1.0865 (sqrt2 width/4)^p / sqrt(p!) (1 + L_p),
 *
 * L_p <= (2/pi) ln p + 1 (Cramer's bound on Hermite functions and Lebesgue's constant). Mirrored points have the same
 * distance, so C^-m_kl = (-1)^(k+l) C^m_kl, which is C^m_lk. */

enum { ORDER = MFPG_BOX_MOST_ORDER, LANES = 4, HALVES = 2 };
#define PART PTRDIFF_MAX
typedef double real;
#include "box_passes.h"

static const double WIDTH = 0.5; /* at most; see box_width */

typedef struct kernel_boxes {
    mfpg_box_layout at;
    mfpg_float_boxes *rough;
    double *moments, *pulls; /* ORDER x columns each: moments of u, and of u t */
    double *near, *far;      /* ORDER x columns each: local expansions */
    double table[REACH + 1][ORDER][ORDER];
} kernel_boxes;

/* ---- the layout of the boxes ---- */

/* The width has twenty bits, so the middles of 2^32 boxes, and their distances, are exact. It is not much
 * larger than the range of the points, because places in a much wider box would be nearly equal and their
 * differences mostly rounding error. */
static double box_width(double range, double eta) {
    int exponent;
    double most = WIDTH * sqrt(eta), all = 1.001 * range;
    double fraction = frexp(range > 0.0 && all < most ? all : most, &exponent);
    return ldexp(floor(fraction * 0x1p20), exponent - 20);
}

/* Returns the box of x. The ends of boxes are exact, and a quotient that was rounded up would give the next
 * box. */
static double index_of(double x, double width) {
    double index = floor(x / width);
    return index * width > x ? index - 1.0 : index;
}

/* Computes the boxes of n ascending points that begin at 0, into out if it is not NULL; *columns becomes the
 * number of their columns. If boxes are smaller than the spacing of doubles, every box holds one number. */
static ptrdiff_t find_boxes(ptrdiff_t n, const double *x, double width, mfpg_box *out, ptrdiff_t *columns) {
    double last = -1.0;
    ptrdiff_t count = 0, place = -1;
    for (ptrdiff_t i = 0, from; i < n;) {
        double index = index_of(x[i], width), end = (index + 1.0) * width;
        for (from = i; i < n && (x[i] < end || x[i] == x[from]); i++) {
        }
        double gap = index - last; /* over which nothing reaches if it is large */
        place = count == 0 ? 0 : place + (gap > REACH + 1 ? REACH + 1 : (ptrdiff_t)gap);
        if (out) out[count] = (mfpg_box){.from = from, .to = i, .place = place};
        count++;
        last = index;
    }
    *columns = place + 1;
    return count;
}

double mfpg_kernel_boxes_cost(ptrdiff_t n, const double *x, double eta) {
    ptrdiff_t columns;
    ptrdiff_t count = find_boxes(n, x, box_width(x[n - 1], eta), NULL, &columns);
    /* measured in the same way: a point's two passes, a box's ends, a column's REACH + 1 tables of ORDER^2 */
    return 23.0 * (double)n + 400.0 * (double)count + 11.0 * ORDER * ORDER * (double)columns;
}

MFPG_WIDE static void set_places(
    ptrdiff_t n, const double *restrict x, double middle, double inverse, double *restrict t) {
    for (ptrdiff_t i = 0; i < n; i++) {
        double place = (x[i] - middle) * inverse;
        place = place < 1.0 ? place : 1.0;
        t[i] = place > -1.0 ? place : -1.0;
    }
}

/* ---- from points to moments ---- */

MFPG_WIDE static void gather_weights(const kernel_boxes *boxes, const double *u) {
    gather_boxes(&boxes->at, boxes->at.t, u, 0, boxes->moments);
}

MFPG_WIDE static void gather_pulls(const kernel_boxes *boxes, const double *u) {
    gather_boxes(&boxes->at, boxes->at.t, u, 1, boxes->pulls);
}

/* ---- from box to box ---- */

/* For LANES columns from c: local += sum over both neighbours m away of their tables, times factor; odd: with the sign of
 * the side they are on. */
static inline __attribute__((always_inline)) void translate_from(double table[ORDER][ORDER],
    const double *moments, ptrdiff_t columns, int m, int odd, lanes local[ORDER]) {
    lanes sum[ORDER], difference[ORDER];
    for (int l = 0; l < ORDER; l++) {
        lanes below, above;
        load(moments + l * columns - m, &below);
        load(moments + l * columns + m, &above);
        sum[l] = below + above;
        difference[l] = below - above;
    }
    for (int k = 0; k < ORDER; k++) {
        lanes total = {0};
        for (int l = 0; l < ORDER; l++)
            total += table[k][l] * ((k + l + odd) % 2 == 0 ? sum[l] : difference[l]);
        local[k] += odd ? (double)(-2 * m) * total : total;
    }
}

/* local = sum over boxes of their tables times the moments; odd: each times the distance 2 m of the middles in half
 * widths, which is what x_j - x_i has besides the places in the boxes. */
static inline __attribute__((always_inline)) void translate_all(
    kernel_boxes *boxes, const double *moments, int odd, double *local) {
    ptrdiff_t columns = boxes->at.columns;
    for (ptrdiff_t c = REACH; c < columns - REACH; c += LANES) {
        lanes sum[ORDER] = {{0}};
        for (int l = 0; l < ORDER && !odd; l++) {
            lanes own;
            load(moments + l * columns + c, &own);
            for (int k = l % 2; k < ORDER; k += 2) sum[k] += boxes->table[0][k][l] * own;
        }
        for (int m = 1; m <= REACH; m++) translate_from(boxes->table[m], moments + c, columns, m, odd, sum);
        for (int k = 0; k < ORDER; k++) memcpy(local + k * columns + c, &sum[k], sizeof sum[k]);
    }
}

MFPG_WIDE static void translate(kernel_boxes *boxes, const double *moments, double *local) {
    translate_all(boxes, moments, 0, local);
}

MFPG_WIDE static void translate_distances(kernel_boxes *boxes, const double *moments, double *local) {
    translate_all(boxes, moments, 1, local);
}

/* ---- from expansions to points ---- */

MFPG_WIDE static void spread(const kernel_boxes *boxes, const double *expansion, double *out) {
    spread_boxes(&boxes->at, boxes->at.t, expansion, out);
}

/* ---- the products ---- */

static mfpg_status weigh(mfpg_context *ctx, void *self, const double *u, double *out) {
    kernel_boxes *boxes = self;
    (void)ctx;
    gather_weights(boxes, u);
    translate(boxes, boxes->moments, boxes->near);
    spread(boxes, boxes->near, out);
    return MFPG_OK;
}

/* x_j - x_i = half (t_j - 2 m - t_i) for x_j in the box m below: of the first two the sums are expansions as of the
 * weights, of the last it is the weight itself. */
static mfpg_status pull(mfpg_context *ctx, void *self, const double *u, double *out, double *work) {
    kernel_boxes *boxes = self;
    weigh(ctx, boxes, u, work);
    gather_pulls(boxes, u);
    translate(boxes, boxes->pulls, boxes->near);
    translate_distances(boxes, boxes->moments, boxes->far);
    for (ptrdiff_t i = 0; i < ORDER * boxes->at.columns; i++) boxes->near[i] += boxes->far[i];
    spread(boxes, boxes->near, out);
    for (ptrdiff_t i = 0; i < boxes->at.n; i++) out[i] = boxes->at.half * (out[i] - boxes->at.t[i] * work[i]);
    return MFPG_OK;
}

static mfpg_status weigh_roughly(mfpg_context *ctx, void *self, const float *u, float *out) {
    kernel_boxes *boxes = self;
    (void)ctx;
    mfpg_float_boxes_weigh(boxes->rough, u, out);
    return MFPG_OK;
}

/* ---- the certificate ---- */

/* Of an entry: e_p of the interpolation, and what double arithmetic adds: the coefficients' and the sums' roundings, each
 * relative to the weights of a box, |T_k| <= 1 and sum_kl |C_kl| is 1.21 at the most (m = 1, full width). For every box, times
 * the sum of U_B over the boxes that it reaches; U_B is moment 0 of the last weights. */
static double error_of(const void *self, const double *u) {
    const kernel_boxes *boxes = self;
    const double *sums = boxes->moments;
    double total = 0.0, worst = 0.0, lebesgue = 2.0 / 3.14159265358979323846 * log(ORDER) + 1.0;
    double interpolation =
        2.0 * 1.0865 * pow(sqrt(2.0) * WIDTH / 4.0, ORDER) / sqrt(tgamma(ORDER + 1.0)) * (1.0 + lebesgue);
    double entry = interpolation + 4.0 * ORDER * ORDER * 0x1p-53;
    for (ptrdiff_t c = REACH; c < boxes->at.columns - REACH; c++) total += sums[c];
    for (const mfpg_box *at = boxes->at.boxes; at < boxes->at.boxes + boxes->at.count; at++) {
        double reached = 0.0, largest = 0.0;
        for (ptrdiff_t c = at->place; c <= at->place + 2 * REACH; c++) reached += sums[c];
        for (ptrdiff_t i = at->from; i < at->to; i++) largest = u[i] <= largest ? largest : u[i];
        worst = fmax(worst, largest * (entry * reached + exp(-MFPG_GAUSSIAN_CUTOFF) * total));
    }
    return worst;
}

/* ---- making ---- */

static void destroy(void *self) {
    kernel_boxes *boxes = self;
    mfpg_float_boxes_destroy(boxes->rough);
    free(boxes->at.boxes);
    free(boxes->at.t);
    free(boxes->moments);
    free(boxes);
}

mfpg_status mfpg_kernel_boxes(mfpg_context *ctx, ptrdiff_t n, const double *x, double eta, mfpg_kernel *out) {
    kernel_boxes *boxes = mfpg_alloc(1, sizeof *boxes);
    if (!boxes) return mfpg_fail_memory(ctx);
    double width = box_width(x[n - 1], eta);
    ptrdiff_t used, size;
    boxes->at = (mfpg_box_layout){.n = n, .half = 0.5 * width};
    boxes->at.count = find_boxes(n, x, width, NULL, &used);
    boxes->at.columns = (used + 15) / 16 * 16 + 2 * REACH;
    size = ORDER * boxes->at.columns;
    boxes->at.boxes = mfpg_alloc(boxes->at.count, sizeof *boxes->at.boxes);
    boxes->at.t = mfpg_alloc(n, sizeof *boxes->at.t);
    boxes->moments = mfpg_alloc(4 * size, sizeof *boxes->moments); /* zeros: empty columns stay so */
    int complete = boxes->at.boxes && boxes->at.t && boxes->moments;
    if (complete) {
        boxes->pulls = boxes->moments + size;
        boxes->near = boxes->pulls + size;
        boxes->far = boxes->near + size;
        find_boxes(n, x, width, boxes->at.boxes, &used);
        for (const mfpg_box *at = boxes->at.boxes; at < boxes->at.boxes + boxes->at.count; at++) {
            double middle = (index_of(x[at->from], width) + 0.5) * width;
            set_places(at->to - at->from, x + at->from, middle, 1.0 / boxes->at.half, boxes->at.t + at->from);
        }
        for (int m = 0; m <= REACH; m++) mfpg_box_table(ORDER, width / sqrt(eta), m, &boxes->table[m][0][0]);
        boxes->rough = mfpg_float_boxes_create(&boxes->at, eta);
        complete = boxes->rough != NULL;
    }
    if (!complete) {
        destroy(boxes);
        return mfpg_fail_memory(ctx);
    }
    *out = (mfpg_kernel){boxes, weigh, weigh_roughly, pull, error_of, destroy};
    return MFPG_OK;
}
