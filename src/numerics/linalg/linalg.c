#include "linalg.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "base/wide.h"

/* Vector types of gcc and clang, which fix the lane to which every product is added; if registers are
 * narrower, the compiler splits them. */
enum { LANES = 8, ROWS = 4, HALF = LANES / 2 };
typedef float lanes __attribute__((vector_size(LANES * sizeof(float))));
typedef float half_lanes __attribute__((vector_size(HALF * sizeof(float))));

/* *to += entries * factors, lane by lane. */
static inline __attribute__((always_inline)) void add_product(
    lanes *to, const float *entries, const lanes *factors) {
    lanes entry;
    memcpy(&entry, entries, sizeof entry);
    *to += entry * *factors;
}

static inline __attribute__((always_inline)) void fold(half_lanes *to, const lanes *from) {
    half_lanes low = __builtin_shufflevector(*from, *from, 0, 1, 2, 3);
    half_lanes high = __builtin_shufflevector(*from, *from, 4, 5, 6, 7);
    *to = low + high;
}

/* Products of the rows p, q, r and s, of at least LANES columns, with x. The columns left over at the end are taken in
 * one more step over the last LANES columns, where `last` is x without the columns that were counted already. The
 * lanes of a row are added as ((0+4) + (2+6)) + ((1+5) + (3+7)). */
static inline __attribute__((always_inline)) void four_rows(ptrdiff_t cols, const float *p, const float *q,
    const float *r, const float *s, const float *x, const lanes *last, half_lanes *products) {
    lanes of_p = {0}, of_q = {0}, of_r = {0}, of_s = {0}, factors;
    ptrdiff_t whole = cols - cols % LANES;
    for (ptrdiff_t j = 0; j < whole; j += LANES) {
        memcpy(&factors, x + j, sizeof factors);
        add_product(&of_p, p + j, &factors);
        add_product(&of_q, q + j, &factors);
        add_product(&of_r, r + j, &factors);
        add_product(&of_s, s + j, &factors);
    }
    if (whole < cols) {
        add_product(&of_p, p + cols - LANES, last);
        add_product(&of_q, q + cols - LANES, last);
        add_product(&of_r, r + cols - LANES, last);
        add_product(&of_s, s + cols - LANES, last);
    }
    half_lanes a, b, c, d;
    fold(&a, &of_p);
    fold(&b, &of_q);
    fold(&c, &of_r);
    fold(&d, &of_s);
    a = __builtin_shufflevector(a, b, 0, 1, 4, 5) + __builtin_shufflevector(a, b, 2, 3, 6, 7);
    c = __builtin_shufflevector(c, d, 0, 1, 4, 5) + __builtin_shufflevector(c, d, 2, 3, 6, 7);
    *products = __builtin_shufflevector(a, c, 0, 2, 4, 6) + __builtin_shufflevector(a, c, 1, 3, 5, 7);
}

static inline const float *row_of(const float *a, ptrdiff_t cols, const int32_t *list, ptrdiff_t i) {
    return a + (list ? list[i] : i) * cols;
}

static void apply_narrow(ptrdiff_t rows, ptrdiff_t cols, const float *a, const int32_t *list, const float *x,
    float bias, float *y) {
    for (ptrdiff_t i = 0; i < rows; i++) {
        const float *row = row_of(a, cols, list, i);
        float sum = 0.0f;
        for (ptrdiff_t j = 0; j < cols; j++) sum += row[j] * x[j];
        y[i] = sum + bias;
    }
}

MFPG_WIDE_SHORT static void apply_broad(ptrdiff_t rows, ptrdiff_t cols, const float *a, const int32_t *list,
    const float *x, float bias, float *y) {
    lanes last = {0};
    for (ptrdiff_t j = cols - cols % LANES; j < cols; j++) last[j - (cols - LANES)] = x[j];
    for (ptrdiff_t i = 0; i < rows; i += ROWS) {
        ptrdiff_t left = rows - i;
        const float *p = row_of(a, cols, list, i), *q = p, *r = p,
                    *s = p; /* p takes the place of missing rows */
        if (left > 1) q = row_of(a, cols, list, i + 1);
        if (left > 2) r = row_of(a, cols, list, i + 2);
        if (left > 3) s = row_of(a, cols, list, i + 3);
        half_lanes products;
        four_rows(cols, p, q, r, s, x, &last, &products);
        products += bias;
        memcpy(y + i, &products, (size_t)(left < ROWS ? left : ROWS) * sizeof *y);
    }
}

void mfpg_matrix_apply(ptrdiff_t rows, ptrdiff_t cols, const float *a, const int32_t *list, const float *x,
    float bias, float *y) {
    if (cols < LANES)
        apply_narrow(rows, cols, a, list, x, bias, y);
    else
        apply_broad(rows, cols, a, list, x, bias, y);
}

/* Handles four rows per pass, so that y is read and written a quarter as often; rows of factor 0 are
 * skipped. */
MFPG_WIDE_SHORT static void add_transposed(
    ptrdiff_t rows, ptrdiff_t cols, const float *a, const int32_t *list, const float *x, float *restrict y) {
    const float *row[ROWS];
    float factor[ROWS];
    int held = 0;
    for (ptrdiff_t i = 0; i < rows; i++) {
        if (x[i] == 0.0f) continue;
        factor[held] = x[i];
        row[held++] = row_of(a, cols, list, i);
        if (held < ROWS) continue;
        const float *restrict p = row[0], *restrict q = row[1], *restrict r = row[2], *restrict s = row[3];
        for (ptrdiff_t j = 0; j < cols; j++)
            y[j] += (factor[0] * p[j] + factor[1] * q[j]) + (factor[2] * r[j] + factor[3] * s[j]);
        held = 0;
    }
    for (int k = 0; k < held; k++)
        for (ptrdiff_t j = 0; j < cols; j++) y[j] += factor[k] * row[k][j];
}

void mfpg_matrix_add_transposed(
    ptrdiff_t rows, ptrdiff_t cols, const float *a, const int32_t *list, const float *x, float *y) {
    add_transposed(rows, cols, a, list, x, y);
}

MFPG_WIDE_SHORT static void axpy(ptrdiff_t n, float factor, const float *restrict x, float *restrict y) {
    for (ptrdiff_t i = 0; i < n; i++) y[i] += factor * x[i];
}

void mfpg_vector_axpy(ptrdiff_t n, float factor, const float *x, float *y) {
    axpy(n, factor, x, y);
}

MFPG_WIDE static void scale_once(ptrdiff_t n, double by, float *x) {
    for (ptrdiff_t i = 0; i < n; i++) x[i] = (float)((double)x[i] * by);
}

MFPG_WIDE static void scale_float(ptrdiff_t n, float by, float *x) {
    for (ptrdiff_t i = 0; i < n; i++) x[i] *= by;
}

/* The product of two floats is exact in double, so if `by` is a float, the result has the bits of a product
 * of floats. */
void mfpg_vector_scale(ptrdiff_t n, double by, float *x) {
    float narrow = (float)by;
    if ((double)narrow == by)
        scale_float(n, narrow, x);
    else
        scale_once(n, by, x);
}

static const int64_t SMALLEST_NORMAL = (int64_t)(1023 - 126) << 52; /* bits of the double FLT_MIN */

MFPG_WIDE static void scale_normal(ptrdiff_t n, double by, float *x) {
    ptrdiff_t whole = n - n % LANES;
    for (ptrdiff_t j = 0; j < whole; j += LANES) {
        double scaled[LANES];
        int64_t kept[LANES];
        float rounded[LANES];
        int32_t bits[LANES];
        for (int i = 0; i < LANES; i++) scaled[i] = (double)x[j + i] * by;
        memcpy(kept, scaled, sizeof kept); /* magnitudes are ordered as their bits are */
        for (int i = 0; i < LANES; i++) kept[i] = (kept[i] & INT64_MAX) >= SMALLEST_NORMAL ? -1 : 0;
        for (int i = 0; i < LANES; i++) rounded[i] = (float)scaled[i];
        memcpy(bits, rounded, sizeof bits);
        for (int i = 0; i < LANES; i++) bits[i] &= (int32_t)kept[i];
        memcpy(x + j, bits, sizeof bits);
    }
    for (ptrdiff_t i = whole; i < n; i++) {
        double scaled = (double)x[i] * by;
        x[i] = fabs(scaled) < (double)FLT_MIN ? 0.0F : (float)scaled;
    }
}

void mfpg_vector_scale_normal(ptrdiff_t n, double by, float *x) {
    scale_normal(n, by, x);
}

/* Loops of eight over arrays are used because gcc 12 converts vector types two numbers at a time. */
MFPG_WIDE static double dot(ptrdiff_t n, const float *x, const float *y) {
    double s[LANES] = {0};
    ptrdiff_t whole = n - n % LANES;
    for (ptrdiff_t j = 0; j < whole; j += LANES)
        for (int i = 0; i < LANES; i++) s[i] += (double)x[j + i] * (double)y[j + i];
    double sum = mfpg_lanes_sum(s);
    for (ptrdiff_t i = whole; i < n; i++) sum += (double)x[i] * (double)y[i];
    return sum;
}

double mfpg_vector_dot(ptrdiff_t n, const float *x, const float *y) {
    return dot(n, x, y);
}

MFPG_WIDE static void add_differences(ptrdiff_t n, const float *x, const float *y, double *squares) {
    double s[LANES];
    memcpy(s, squares, sizeof s);
    for (ptrdiff_t j = 0; j < n; j += LANES)
        for (int i = 0; i < LANES; i++) {
            double difference = (double)(x[j + i] - y[j + i]);
            s[i] += difference * difference;
        }
    memcpy(squares, s, sizeof s);
}

double mfpg_vector_distance(ptrdiff_t n, const float *x, const float *y) {
    double s[LANES] = {0};
    ptrdiff_t whole = n - n % LANES;
    add_differences(whole, x, y, s);
    double sum = mfpg_lanes_sum(s);
    for (ptrdiff_t i = whole; i < n; i++) sum += (double)(x[i] - y[i]) * (double)(x[i] - y[i]);
    return sqrt(sum);
}

double mfpg_vector_norm(ptrdiff_t n, const float *x) {
    return sqrt(dot(n, x, x));
}

/* Without the sign, floats are ordered like the integers of their bits, NaN last; integers have a vector
 * maximum. */
MFPG_WIDE static int32_t largest_bits(ptrdiff_t n, const float *x) {
    int32_t largest = 0;
    for (ptrdiff_t i = 0; i < n; i++) {
        int32_t bits;
        memcpy(&bits, x + i, sizeof bits);
        bits &= INT32_MAX;
        largest = bits > largest ? bits : largest;
    }
    return largest;
}

float mfpg_vector_largest(ptrdiff_t n, const float *x) {
    int32_t bits = largest_bits(n, x);
    float largest;
    memcpy(&largest, &bits, sizeof largest);
    return largest;
}
