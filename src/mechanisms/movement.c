#include "movement.h"

#include <math.h>
#include <string.h>

#include "base/wide.h"
#include "numerics/linalg/linalg.h"

enum { LANES = MFPG_SUM_LANES };

/* Plain loops, one thing each: what they share is in the nearest cache. */

MFPG_WIDE static void add_squares(ptrdiff_t n, const float *restrict x, double *restrict squares) {
    double s[LANES];
    memcpy(s, squares, sizeof s);
    for (ptrdiff_t j = 0; j < n; j += LANES)
        for (int i = 0; i < LANES; i++) s[i] += (double)x[j + i] * (double)x[j + i];
    memcpy(squares, s, sizeof s);
}

MFPG_WIDE static void add_to(ptrdiff_t n, const float *restrict x, float *restrict to) {
    for (ptrdiff_t i = 0; i < n; i++) to[i] += x[i];
}

MFPG_WIDE static void way_between(
    ptrdiff_t n, const float *restrict x, const float *restrict y, float *restrict to) {
    for (ptrdiff_t i = 0; i < n; i++) to[i] = x[i] - y[i];
}

MFPG_WIDE static void add_beside(
    ptrdiff_t n, const float *restrict from, const float *restrict x, float *restrict to) {
    for (ptrdiff_t i = 0; i < n; i++) to[i] = from[i] + x[i];
}

/* Adds what is noised and the squares of x on one way, because what takes time is turning floats into doubles and back.
 * n is a multiple of LANES; to may be from. Every eight are taken out of memory before any goes back, so that the compiler
 * need not know which arrays are one. */
MFPG_WIDE static void add_noised(
    ptrdiff_t n, const float *from, const float *x, double sd, const float *z, float *to, double *squares) {
    double s[LANES];
    memcpy(s, squares, sizeof s);
    for (ptrdiff_t j = 0; j < n; j += LANES) {
        float state[LANES], way[LANES], draw[LANES], sum[LANES];
        double wide[LANES];
        memcpy(state, from + j, sizeof state);
        memcpy(way, x + j, sizeof way);
        memcpy(draw, z + j, sizeof draw);
        for (int i = 0; i < LANES; i++) wide[i] = (double)way[i];
        for (int i = 0; i < LANES; i++) s[i] += wide[i] * wide[i];
        for (int i = 0; i < LANES; i++) sum[i] = (float)((double)state[i] + wide[i] + sd * (double)draw[i]);
        memcpy(to + j, sum, sizeof sum);
    }
    memcpy(squares, s, sizeof s);
}

static void note_rest(mfpg_movement *m, ptrdiff_t n, const float *x) {
    for (ptrdiff_t i = 0; i < n; i++) m->rest[m->rests++] = (double)x[i] * (double)x[i];
}

static void pass_noised(
    mfpg_movement *m, ptrdiff_t n, const float *from, const float *x, const float *z, float *to) {
    ptrdiff_t whole = n - n % LANES;
    add_noised(whole, from, x, m->noise_sd, z, to, m->squares);
    for (ptrdiff_t i = whole; i < n; i++)
        to[i] = (float)((double)from[i] + (double)x[i] + m->noise_sd * (double)z[i]);
    note_rest(m, n - whole, x + whole);
}

static void pass_plain(mfpg_movement *m, ptrdiff_t n, const float *from, const float *x, float *to) {
    ptrdiff_t whole = n - n % LANES;
    add_squares(whole, x, m->squares);
    note_rest(m, n - whole, x + whole);
    if (from == to)
        add_to(n, x, to);
    else
        add_beside(n, from, x, to);
}

void mfpg_movement_pass(mfpg_movement *m, ptrdiff_t first, ptrdiff_t n, const float *z) {
    const float *from = m->from + first;
    float own[MFPG_MOVEMENT_PIECE], *to = m->to + first, *x = own;
    if (m->displacement)
        x = m->displacement + first;
    else
        way_between(n, to, from, x);
    if (m->factor != 1.0) mfpg_vector_scale(n, m->factor, x);
    if (m->total) add_to(n, x, m->total + first);
    if (z)
        pass_noised(m, n, from, x, z, to);
    else
        pass_plain(m, n, from, x, to);
    float largest = mfpg_vector_largest(n, to);
    if (!isnan(m->largest) && !(largest <= m->largest)) m->largest = largest;
}

double mfpg_movement_norm(const mfpg_movement *m) {
    double sum = mfpg_lanes_sum(m->squares);
    for (ptrdiff_t i = 0; i < m->rests; i++) sum += m->rest[i];
    return sqrt(sum);
}
