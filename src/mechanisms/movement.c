#include "movement.h"

#include <math.h>
#include <string.h>

#include "base/grid_noise.h"
#include "base/wide.h"
#include "numerics/linalg/linalg.h"

/* Floats become integers in units of 2^-20 of a step of the grid. */
#define UNIT 0x1p-20

/* Integers of 32 bits are enough if the norm has at most this many units: their squares add up below 2^61. */
#define LARGEST_SHORT 0x1p30

unsigned __int128 mfpg_whole_square(double x) {
    int exponent;
    uint64_t mantissa = (uint64_t)ldexp(frexp(x, &exponent), 53); /* x = mantissa 2^(exponent - 53) */
    unsigned __int128 square = (unsigned __int128)mantissa * mantissa;
    int shift = 2 * (exponent - 53);
    if (shift >= 0) return square << shift;
    return shift > -128 ? square >> -shift : 0;
}

/* ---- what data add, in steps of the grid ---- */

MFPG_WIDE static uint64_t short_integers(
    ptrdiff_t n, double scale, const float *restrict v, double *restrict x) {
    uint64_t squares = 0;
    for (ptrdiff_t i = 0; i < n; i++) {
        int32_t whole = (int32_t)(scale * (double)v[i]); /* towards zero */
        x[i] = (double)whole * UNIT;
        squares += (uint64_t)((int64_t)whole * whole);
    }
    return squares;
}

static unsigned __int128 long_integers(ptrdiff_t n, double scale, const float *v, double *x) {
    unsigned __int128 squares = 0;
    for (ptrdiff_t i = 0; i < n; i++) {
        int64_t whole = (int64_t)(scale * (double)v[i]);
        x[i] = (double)whole * UNIT;
        squares += (unsigned __int128)((__int128)whole * whole);
    }
    return squares;
}

/* The sum's integers as doubles, exact below 2^51; beyond, by the processor's own conversion. */
MFPG_WIDE static void small_sums(ptrdiff_t n, double scale, const int64_t *restrict sum, double *restrict x) {
    const double shift = 0x1.8p52;
    int64_t shift_bits;
    memcpy(&shift_bits, &shift, sizeof shift_bits);
    for (ptrdiff_t i = 0; i < n; i++) {
        int64_t bits = sum[i] + shift_bits;
        double shifted;
        memcpy(&shifted, &bits, sizeof shifted);
        x[i] = scale * (shifted - shift);
    }
}

MFPG_WIDE static uint64_t largest_sum(ptrdiff_t n, const int64_t *sum) {
    uint64_t all = 0;
    for (ptrdiff_t i = 0; i < n; i++) all |= (uint64_t)(sum[i] ^ (sum[i] >> 63));
    return all;
}

static void give_sum(ptrdiff_t n, double scale, const int64_t *sum, double *x) {
    if (largest_sum(n, sum) < (uint64_t)1 << 51)
        small_sums(n, scale, sum, x);
    else
        for (ptrdiff_t i = 0; i < n; i++) x[i] = scale * (double)sum[i];
}

MFPG_WIDE static double sum_of_squares(ptrdiff_t n, const double *x) {
    double s[MFPG_SUM_LANES] = {0.0};
    ptrdiff_t whole = n - n % MFPG_SUM_LANES;
    for (ptrdiff_t j = 0; j < whole; j += MFPG_SUM_LANES)
        for (int i = 0; i < MFPG_SUM_LANES; i++) s[i] += x[j + i] * x[j + i];
    for (ptrdiff_t i = whole; i < n; i++) s[0] += x[i] * x[i];
    return mfpg_lanes_sum(s);
}

MFPG_WIDE static void add_to_total(
    ptrdiff_t n, double step, const double *restrict x, float *restrict total) {
    for (ptrdiff_t i = 0; i < n; i++) total[i] += (float)(step * x[i]);
}

MFPG_WIDE static void way_between(
    ptrdiff_t n, const float *restrict x, const float *restrict y, float *restrict to) {
    for (ptrdiff_t i = 0; i < n; i++) to[i] = x[i] - y[i];
}

/* Weights that one step of the grid is worth: of the client's own state. */
static double step_of(const mfpg_movement *m) {
    return m->share ? m->grid / m->weight : m->grid;
}

static void give(ptrdiff_t first, ptrdiff_t n, double *x, void *arg) {
    mfpg_movement *m = arg;
    double weight = m->share ? m->weight : 1.0;
    if (m->sum) {
        give_sum(n, m->rate * weight / m->grid, m->sum + first, x);
        m->signal2 += sum_of_squares(n, x);
    } else {
        float own[MFPG_GRID_PIECE];
        const float *v = m->displacement ? m->displacement + first : own;
        double scale = m->factor * weight / (m->grid * UNIT);
        if (!m->displacement) way_between(n, m->to + first, m->from + first, own);
        if (m->sensitivity * weight <= LARGEST_SHORT * (m->grid * UNIT))
            m->squares += short_integers(n, scale, v, x);
        else
            m->squares += long_integers(n, scale, v, x);
    }
    if (m->total) add_to_total(n, step_of(m), x, m->total + first);
}

/* ---- where the noised integers go ---- */

/* Every eight are taken out of memory before any goes back, so that the compiler need not know whether to is from. */
MFPG_WIDE static void move_state(
    ptrdiff_t n, const float *from, double step, const double *restrict k, float *to) {
    ptrdiff_t whole = n - n % MFPG_SUM_LANES;
    for (ptrdiff_t j = 0; j < whole; j += MFPG_SUM_LANES) {
        float state[MFPG_SUM_LANES];
        memcpy(state, from + j, sizeof state);
        for (int i = 0; i < MFPG_SUM_LANES; i++) state[i] = (float)((double)state[i] + step * k[j + i]);
        memcpy(to + j, state, sizeof state);
    }
    for (ptrdiff_t i = whole; i < n; i++) to[i] = (float)((double)from[i] + step * k[i]);
}

/* The state's part of a share is rounded to the grid by itself: it depends on the data through earlier noised states alone. */
static void fill_share(const mfpg_movement *m, ptrdiff_t first, ptrdiff_t n, const double *k) {
    int64_t *share = m->share + first;
    const float *from = m->from + first, *origin = m->origin + first;
    double scale = m->weight / m->grid;
    for (ptrdiff_t i = 0; i < n; i++) share[i] = (int64_t)k[i];
    if (from == origin) return;
    for (ptrdiff_t i = 0; i < n; i++) {
        double moved = scale * ((double)from[i] - (double)origin[i]);
        if (fabs(moved) < 0x1p62) share[i] += llrint(moved);
    }
}

static void note_largest(mfpg_movement *m, ptrdiff_t n, const float *to) {
    float largest = mfpg_vector_largest(n, to);
    if (!isnan(m->largest) && !(largest <= m->largest)) m->largest = largest;
}

static void take(ptrdiff_t first, ptrdiff_t n, const double *k, void *arg) {
    mfpg_movement *m = arg;
    if (m->share) fill_share(m, first, n, k);
    move_state(n, m->from + first, step_of(m), k, m->to + first);
    note_largest(m, n, m->to + first);
}

/* ---- without noise ---- */

static void pass_plain(mfpg_movement *m, ptrdiff_t first, ptrdiff_t n) {
    double x[MFPG_GRID_PIECE];
    float own[MFPG_GRID_PIECE], *to = m->to + first;
    const float *from = m->from + first, *v = m->displacement ? m->displacement + first : own;
    if (!m->displacement) way_between(n, to, from, own);
    for (ptrdiff_t i = 0; i < n; i++) x[i] = (double)(float)(m->factor * (double)v[i]);
    m->signal2 += sum_of_squares(n, x);
    if (m->total) add_to_total(n, 1.0, x, m->total + first);
    for (ptrdiff_t i = 0; i < n; i++) to[i] = from[i] + (float)x[i];
    note_largest(m, n, to);
}

int mfpg_movement_pass(mfpg_movement *m, const mfpg_stream *noise, uint64_t vector, ptrdiff_t n) {
    if (m->noise_sd == 0.0) {
        for (ptrdiff_t first = 0; first < n; first += MFPG_GRID_PIECE)
            pass_plain(m, first, n - first < MFPG_GRID_PIECE ? n - first : MFPG_GRID_PIECE);
        return 1;
    }
    double weight = m->share ? m->weight : 1.0, unit = m->grid * UNIT;
    mfpg_grid_noise_visit(
        mfpg_widest_registers(), noise, vector, n, m->noise_sd * weight / m->grid, give, take, m);
    if (m->sum) {
        m->signal2 *= step_of(m) * step_of(m);
        return 1;
    }
    m->signal2 = (double)m->squares * (unit / weight) * (unit / weight);
    return m->squares <= mfpg_whole_square(m->sensitivity * weight / unit);
}
