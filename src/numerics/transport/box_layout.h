/* Where the boxes of a cloud are, and the kernel between two of them as a table. */
#ifndef MFPG_NUMERICS_BOX_LAYOUT_H
#define MFPG_NUMERICS_BOX_LAYOUT_H

#include <stddef.h>

/* In boxes; further ones are beyond the cutoff: MFPG_GAUSSIAN_CUTOFF = 36 is 6 units of sqrt(eta), and a box at most half a
 * one. */
enum { MFPG_BOX_REACH = 12, MFPG_BOX_MOST_ORDER = 12 };

typedef struct mfpg_box {
    ptrdiff_t from, to; /* its points */
    ptrdiff_t
        place; /* its column in the expansions; empty boxes between have columns too, but at most REACH + 1 */
} mfpg_box;

typedef struct mfpg_box_layout {
    ptrdiff_t n, count;
    ptrdiff_t columns; /* with REACH empty ones at both ends, a multiple of 16 between */
    double half;       /* of a box's width, in the units of x */
    mfpg_box *boxes;   /* count */
    double *t;         /* n: place of every point in its box, in [-1, 1] */
} mfpg_box_layout;

/* Chebyshev coefficients C_kl, order x order, of the kernel between two boxes of that width (in units of sqrt(eta)) m apart:
 * exp(-(width m + (width/2)(s - t))^2) = sum_kl C_kl T_k(s) T_l(t). Both symmetries hold to the bit. */
void mfpg_box_table(int order, double width, int m, double *table);

#endif
