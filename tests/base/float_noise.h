/* Noise as it was before values were released on a grid, kept to show what floats betray: a private number plus a float draw, in
 * double, and what is released is that double or the float next to it. Nothing of the library may release numbers so. */
#ifndef MFPG_TESTS_FLOAT_NOISE_H
#define MFPG_TESTS_FLOAT_NOISE_H

#include <math.h>
#include <stddef.h>

#include "mfpg/random.h"

/* released[j] = x[j] + sd z[j] in double; z is room for n draws. */
static inline void double_noise(const mfpg_stream *stream, uint64_t vector, ptrdiff_t n, const double *x,
    double sd, float *z, double *released) {
    mfpg_stream_gaussian(stream, vector, n, z);
    for (ptrdiff_t j = 0; j < n; j++) released[j] = x[j] + sd * (double)z[j];
}

/* The same, rounded to float. */
static inline void float_noise(const mfpg_stream *stream, uint64_t vector, ptrdiff_t n, const double *x,
    double sd, float *z, double *released) {
    double_noise(stream, vector, n, x, sd, z, released);
    for (ptrdiff_t j = 0; j < n; j++) released[j] = (double)(float)released[j];
}

/* Distinguishers: is this number a possible release of x? */

/* Gaps: there is a float draw z with (float)(x + sd z) = released. Rounding is monotone, so that the floats around
 * (released - x)/sd are the only ones to try. */
static inline int possible_float(double released, double x, double sd) {
    float z = (float)((released - x) / sd);
    for (int i = 0; i < 3; i++) z = nextafterf(z, -HUGE_VALF);
    for (int i = 0; i < 7; i++, z = nextafterf(z, HUGE_VALF))
        if ((double)(float)(x + sd * (double)z) == released) return 1;
    return 0;
}

/* Low bits: there is a float draw z with x + sd z = released, all 53 bits of them. */
static inline int possible_double(double released, double x, double sd) {
    float z = (float)((released - x) / sd);
    for (int i = 0; i < 2; i++) z = nextafterf(z, -HUGE_VALF);
    for (int i = 0; i < 5; i++, z = nextafterf(z, HUGE_VALF))
        if (x + sd * (double)z == released) return 1;
    return 0;
}

#endif
