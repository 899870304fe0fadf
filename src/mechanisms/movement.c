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

MFPG_WIDE static void add_noised(
    ptrdiff_t n, const float *restrict x, double sd, const float *restrict z, float *restrict to) {
    for (ptrdiff_t i = 0; i < n; i++) to[i] = (float)((double)to[i] + (double)x[i] + sd * (double)z[i]);
}

MFPG_WIDE static void add_noised_beside(ptrdiff_t n, const float *restrict from, const float *restrict x,
    double sd, const float *restrict z, float *restrict to) {
    for (ptrdiff_t i = 0; i < n; i++) to[i] = (float)((double)from[i] + (double)x[i] + sd * (double)z[i]);
}

static void note_squares(mfpg_movement *m, ptrdiff_t n, const float *x) {
    ptrdiff_t whole = n - n % LANES;
    add_squares(whole, x, m->squares);
    for (ptrdiff_t i = whole; i < n; i++) m->rest[m->rests++] = (double)x[i] * (double)x[i];
}

void mfpg_movement_pass(mfpg_movement *m, ptrdiff_t first, ptrdiff_t n, const float *z) {
    const float *from = m->from + first;
    float own[MFPG_MOVEMENT_PIECE], *to = m->to + first, *x = own;
    if (m->displacement)
        x = m->displacement + first;
    else
        way_between(n, to, from, x);
    if (m->factor != 1.0) mfpg_vector_scale(n, m->factor, x);
    if (m->total)
        add_to(n, x, m->total + first);
    else
        note_squares(m, n, x);
    if (z && from == to)
        add_noised(n, x, m->noise_sd, z, to);
    else if (z)
        add_noised_beside(n, from, x, m->noise_sd, z, to);
    else if (from == to)
        add_to(n, x, to);
    else
        add_beside(n, from, x, to);
    float largest = mfpg_vector_largest(n, to);
    if (!isnan(m->largest) && !(largest <= m->largest)) m->largest = largest;
}

double mfpg_movement_norm(const mfpg_movement *m) {
    double sum = mfpg_lanes_sum(m->squares);
    for (ptrdiff_t i = 0; i < m->rests; i++) sum += m->rest[i];
    return sqrt(sum);
}
