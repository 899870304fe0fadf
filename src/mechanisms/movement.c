#include "movement.h"

#include <math.h>
#include <string.h>

#include "base/grid_noise.h"
#include "base/wide.h"
#include "models/model_ops.h"
#include "numerics/linalg/linalg.h"

/* Floats are converted to integers in units of 2^-20 of a step of the grid. */
#define UNIT 0x1p-20

/* Integers of 32 bits suffice if the norm has at most this many units, because the sum of their squares is
 * then below 2^61. */
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

/* Converts the sum's integers to doubles: exactly below 2^51, and otherwise by the processor's conversion. */
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

static double weight_of(const mfpg_movement *m) {
    return m->share ? m->weight : 1.0;
}

/* Returns one step of the grid of the client's own state, in weight units. */
static double step_of(const mfpg_movement *m) {
    return m->share ? m->grid / m->weight : m->grid;
}

/* Returns 1 if data add a sum of integers, and 0 if they add floats. */
static int is_sum(const mfpg_movement *m) {
    return m->sum || m->sum_floats;
}

/* Returns n integers of the sum from number `first` on; own has room for n. */
static const int64_t *integers_of(const mfpg_movement *m, ptrdiff_t first, ptrdiff_t n, int64_t *own) {
    if (m->sum) return m->sum + first;
    mfpg_block_sum_convert(1, n, m->sum_floats + first, 1, n, own);
    return own;
}

/* Returns the factor that converts a sum to steps of the grid, or floats to units. */
static double scale_of(const mfpg_movement *m) {
    if (is_sum(m)) return m->rate * weight_of(m) / m->grid;
    return m->factor * weight_of(m) / (m->grid * UNIT);
}

static int floats_are_short(const mfpg_movement *m) {
    return m->sensitivity * weight_of(m) <= LARGEST_SHORT * (m->grid * UNIT);
}

static void give(mfpg_movement *m, ptrdiff_t first, ptrdiff_t n, double *x) {
    if (is_sum(m)) {
        int64_t own[MFPG_GRID_SHORT];
        give_sum(n, scale_of(m), integers_of(m, first, n, own), x);
        m->signal2 += sum_of_squares(n, x);
    } else {
        float own[MFPG_GRID_SHORT];
        const float *v = m->displacement ? m->displacement + first : own;
        if (!m->displacement) way_between(n, m->to + first, m->from + first, own);
        if (floats_are_short(m))
            m->squares += short_integers(n, scale_of(m), v, x);
        else
            m->squares += long_integers(n, scale_of(m), v, x);
    }
    if (m->total) add_to_total(n, step_of(m), x, m->total + first);
}

/* ---- the noised integers move the state ---- */

/* Every eight numbers are read before any is written, so that the compiler need not know whether `to` is
 * `from`. */
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

/* The state's part of a share is rounded to the grid separately, because it depends on the data only through
 * earlier noised states. */
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

static void note_largest(mfpg_movement *m, float largest) {
    if (!isnan(m->largest) && !(largest <= m->largest)) m->largest = largest;
}

static void take(mfpg_movement *m, ptrdiff_t first, ptrdiff_t n, const double *k) {
    if (m->share) fill_share(m, first, n, k);
    move_state(n, m->from + first, step_of(m), k, m->to + first);
    note_largest(m, mfpg_vector_largest(n, m->to + first));
}

/* ---- pieces under noise ---- */

/* In double, for all numbers. */
static void move_long(
    mfpg_movement *m, const mfpg_grid_draws *draws, ptrdiff_t first, ptrdiff_t n, const float *z) {
    double x[MFPG_GRID_SHORT], k[MFPG_GRID_SHORT];
    give(m, first, n, x);
    mfpg_grid_round(draws, first, n, z, x, k);
    take(m, first, n, k);
}

/* Nearly all entries are moved in float, eight at a time, with the same bits: step times an integer below
 * 2^22 is a float if step is a power of two, and the sum of two floats is the same whether it is rounded
 * directly or to double first. */
static const double LEAST_SHORT_STEP = 0x1p-126, LARGEST_SHORT_STEP = 0x1p100;

enum { LANES = MFPG_GRID_LANES, HALF = LANES / 2 };
typedef mfpg_grid_floats lanes;
typedef mfpg_grid_mask mask;
typedef double half_lanes __attribute__((vector_size(HALF * sizeof(double))));
typedef int64_t half_integers __attribute__((vector_size(HALF * sizeof(int64_t))));
typedef float half_floats __attribute__((vector_size(HALF * sizeof(float))));

static inline int all_set(const mask *x) {
    int64_t pairs[HALF], all = -1;
    memcpy(pairs, x, sizeof pairs);
    for (int i = 0; i < HALF; i++) all &= pairs[i];
    return all == -1;
}

static inline int all_small(const half_integers *x) {
    int64_t any = 0;
    for (int i = 0; i < HALF; i++) any |= (*x)[i];
    return (uint64_t)any >> 52 == 0;
}

/* Adding and subtracting this number rounds a double below 2^51 to the nearest integer. Its bits, added to
 * an integer below 2^51, are the double that equals the integer plus this number. */
static const double SHIFT = 0x1.8p52;

/* Converts four integers to doubles. The upper twelve bits of beyond become nonzero if one is not below
 * 2^51. */
static inline __attribute__((always_inline)) void four_integers(
    const int64_t *integers, half_lanes *out, half_integers *beyond) {
    int64_t shift_bits;
    half_integers bits;
    memcpy(&shift_bits, &SHIFT, sizeof shift_bits);
    memcpy(&bits, integers, sizeof bits);
    bits += shift_bits;
    *beyond |= bits ^ shift_bits;
    *out = (half_lanes)bits - SHIFT;
}

/* Returns the integers nearest to eight floats. It is a loop because gcc 12 converts vector types two
 * numbers at a time. */
static inline __attribute__((always_inline)) void eight_nearest(
    const float *floats, half_lanes *low, half_lanes *high) {
    double broad[LANES];
    for (int i = 0; i < LANES; i++) broad[i] = (double)floats[i];
    memcpy(low, broad, sizeof *low);
    memcpy(high, broad + HALF, sizeof *high);
    *low = (*low + SHIFT) - SHIFT;
    *high = (*high + SHIFT) - SHIFT;
}

/* Computes the integers k of a sum; returns 0 if they are not certain. Adds the result of sum_of_squares to
 * signal2. */
static inline __attribute__((always_inline)) int round_sum(ptrdiff_t n, double scale, double ratio,
    const int64_t *integers, const float *floats, const float *z, float *k, double *signal2) {
    const float narrow = (float)ratio, most = mfpg_grid_most(ratio);
    half_lanes low_squares = {0}, high_squares = {0}, low, high;
    half_integers beyond = {0};
    mask certain = ~(mask){0};
    for (ptrdiff_t j = 0; j < n; j += LANES) {
        if (integers) {
            four_integers(integers + j, &low, &beyond);
            four_integers(integers + j + HALF, &high, &beyond);
        } else {
            eight_nearest(floats + j, &low, &high);
        }
        low *= scale;
        high *= scale;
        low_squares += low * low;
        high_squares += high * high;
        half_floats low_x = __builtin_convertvector(low, half_floats),
                    high_x = __builtin_convertvector(high, half_floats);
        lanes x = __builtin_shufflevector(low_x, high_x, 0, 1, 2, 3, 4, 5, 6, 7), draws, nearest;
        memcpy(&draws, z + j, sizeof draws);
        mfpg_grid_round_lanes(narrow, most, &x, &draws, &nearest, &certain);
        memcpy(k + j, &nearest, sizeof nearest);
    }
    if (!all_set(&certain) || !all_small(&beyond)) return 0;
    double squares[LANES];
    memcpy(squares, &low_squares, sizeof low_squares);
    memcpy(squares + HALF, &high_squares, sizeof high_squares);
    *signal2 += mfpg_lanes_sum(squares);
    return 1;
}

/* Computes what floats add; returns the sum of the squares of their integers. */
static inline __attribute__((always_inline)) uint64_t give_short_floats(
    ptrdiff_t n, double scale, const float *restrict v, float *restrict x) {
    uint64_t squares = 0;
    for (ptrdiff_t i = 0; i < n; i++) {
        int32_t whole = (int32_t)(scale * (double)v[i]); /* towards zero */
        x[i] = (float)whole * (float)UNIT;
        squares += (uint64_t)((int64_t)whole * whole);
    }
    return squares;
}

static inline __attribute__((always_inline)) int round_floats(
    ptrdiff_t n, double ratio, const float *x, const float *z, float *k) {
    const float narrow = (float)ratio, most = mfpg_grid_most(ratio);
    mask certain = ~(mask){0};
    for (ptrdiff_t j = 0; j < n; j += LANES) {
        lanes of_x, draws, nearest;
        memcpy(&of_x, x + j, sizeof of_x);
        memcpy(&draws, z + j, sizeof draws);
        mfpg_grid_round_lanes(narrow, most, &of_x, &draws, &nearest, &certain);
        memcpy(k + j, &nearest, sizeof nearest);
    }
    return all_set(&certain);
}

/* Sets to = from + step k; to may be from. largest: maximum of the bits of |to|, whose order is that of the
 * numbers, with NaN last. */
static inline __attribute__((always_inline)) void move_floats(
    ptrdiff_t n, const float *from, float step, const float *k, float *to, mask *largest) {
    for (ptrdiff_t j = 0; j < n; j += LANES) {
        lanes state, way;
        memcpy(&state, from + j, sizeof state);
        memcpy(&way, k + j, sizeof way);
        state += step * way;
        mask size = (mask)state & INT32_MAX, larger = size > *largest;
        *largest = (size & larger) | (*largest & ~larger);
        memcpy(to + j, &state, sizeof state);
    }
}

static void add_short_sum(mfpg_movement *m, double scale, double step, ptrdiff_t first, ptrdiff_t n) {
    double x[MFPG_GRID_SHORT];
    int64_t own[MFPG_GRID_SHORT];
    small_sums(n, scale, integers_of(m, first, n, own), x);
    add_to_total(n, step, x, m->total + first);
}

/* n must be a multiple of LANES. Returns 0 without doing anything if float is not precise enough. */
static inline __attribute__((always_inline)) int move_short(mfpg_movement *m, const mfpg_grid_draws *draws,
    double scale, double step, ptrdiff_t first, ptrdiff_t n, const float *z, mask *largest) {
    float x[MFPG_GRID_SHORT], k[MFPG_GRID_SHORT];
    if (is_sum(m)) {
        int certain = m->sum
                          ? round_sum(n, scale, draws->ratio, m->sum + first, NULL, z, k, &m->signal2)
                          : round_sum(n, scale, draws->ratio, NULL, m->sum_floats + first, z, k, &m->signal2);
        if (!certain) return 0;
        if (m->total) add_short_sum(m, scale, step, first, n);
    } else {
        if (!m->displacement)
            for (ptrdiff_t i = 0; i < n; i++) k[i] = m->to[first + i] - m->from[first + i];
        uint64_t squares = give_short_floats(n, scale, m->displacement ? m->displacement + first : k, x);
        if (!round_floats(n, draws->ratio, x, z, k)) return 0;
        m->squares += squares;
    }
    move_floats(n, m->from + first, (float)step, k, m->to + first, largest);
    return 1;
}

/* 1: move_short may try. */
static int is_short(const mfpg_movement *m) {
    int exponent;
    double step = step_of(m);
    if (m->share || frexp(step, &exponent) != 0.5) return 0;
    if (!(step >= LEAST_SHORT_STEP && step <= LARGEST_SHORT_STEP)) return 0;
    return is_sum(m) || (!m->total && floats_are_short(m));
}

MFPG_WIDE static void move_shorts(
    mfpg_movement *m, const mfpg_grid_draws *draws, ptrdiff_t first, ptrdiff_t n, const float *z) {
    const double scale = scale_of(m), step = step_of(m);
    mask largest = {0};
    float sizes[LANES];
    for (ptrdiff_t j = 0; j < n; j += MFPG_GRID_SHORT) {
        ptrdiff_t count = n - j < MFPG_GRID_SHORT ? n - j : MFPG_GRID_SHORT;
        if (count % LANES != 0 || !move_short(m, draws, scale, step, first + j, count, z + j, &largest))
            move_long(m, draws, first + j, count, z + j);
    }
    memcpy(sizes, &largest, sizeof sizes);
    for (int i = 0; i < LANES; i++) note_largest(m, sizes[i]);
}

static void move_piece(
    const mfpg_grid_draws *draws, ptrdiff_t first, ptrdiff_t n, const float *z, void *arg) {
    mfpg_movement *m = arg;
    if (is_short(m)) {
        move_shorts(m, draws, first, n, z);
        return;
    }
    for (ptrdiff_t j = 0; j < n; j += MFPG_GRID_SHORT)
        move_long(m, draws, first + j, n - j < MFPG_GRID_SHORT ? n - j : MFPG_GRID_SHORT, z + j);
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
    note_largest(m, mfpg_vector_largest(n, to));
}

int mfpg_movement_pass(mfpg_movement *m, const mfpg_stream *noise, uint64_t vector, ptrdiff_t n) {
    if (m->noise_sd == 0.0) {
        for (ptrdiff_t first = 0; first < n; first += MFPG_GRID_PIECE)
            pass_plain(m, first, n - first < MFPG_GRID_PIECE ? n - first : MFPG_GRID_PIECE);
        return 1;
    }
    double weight = weight_of(m), unit = m->grid * UNIT;
    mfpg_grid_noise_pass(
        mfpg_widest_registers(), noise, vector, n, m->noise_sd * weight / m->grid, move_piece, m);
    if (is_sum(m)) {
        m->signal2 *= step_of(m) * step_of(m);
        return 1;
    }
    m->signal2 = (double)m->squares * (unit / weight) * (unit / weight);
    return m->squares <= mfpg_whole_square(m->sensitivity * weight / unit);
}
