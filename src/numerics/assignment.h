/* The cheapest one-to-one assignment of rows to columns. */
#ifndef MFPG_NUMERICS_ASSIGNMENT_H
#define MFPG_NUMERICS_ASSIGNMENT_H

#include <stddef.h>

#include "mfpg/context.h"

/* column[i]: the column of row i, a permutation of 0 .. n-1 with the smallest sum of cost[i * n + column[i]]; of several, one
 * that depends on the costs alone. Costs are finite. Shortest augmenting paths with potentials (Kuhn 1955, Munkres 1957),
 * n^3 steps. MFPG_ERR_MEMORY only. */
mfpg_status mfpg_assign(mfpg_context *ctx, ptrdiff_t n, const double *cost, ptrdiff_t *column);

#endif
