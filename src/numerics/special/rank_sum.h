/* How two samples of normal numbers with standard deviation 1 and means 0 and shift >= 0 stand to each other: U is the share of
 * pairs (one of n0, one of n1) in which the second is larger (Mann and Whitney). */
#ifndef MFPG_NUMERICS_RANK_SUM_H
#define MFPG_NUMERICS_RANK_SUM_H

#include <stddef.h>
#include <stdint.h>

typedef struct mfpg_rank_sum {
    double mean; /* Phi(shift / sqrt 2) */
    double sd;   /* rounded up by 1e-12 of itself */
} mfpg_rank_sum;

mfpg_rank_sum mfpg_rank_sum_law(double shift, double n0, double n1);

/* P(U = 1), rounded up: the integral of n0 phi(z) Phi(z)^(n0-1) Phi(shift-z)^n1. n0, n1 >= 1. */
double mfpg_rank_separation(double shift, double n0, double n1);

/* A score with a random number that decides between equal ones: the law above has no ties. */
typedef struct mfpg_scored {
    double score; /* no NaN */
    uint64_t tie;
} mfpg_scored;

/* Ascending, for qsort. */
int mfpg_scored_compare(const void *a, const void *b);

/* U of two samples, n0, n1 >= 1, which are sorted here. */
double mfpg_rank_share(mfpg_scored *x0, ptrdiff_t n0, mfpg_scored *x1, ptrdiff_t n1);

/* Owen's function T(h, a) for 0 <= a <= 1. */
double mfpg_owen(double h, double a);

#endif
