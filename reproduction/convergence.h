/* What the files of the studies share. */
#ifndef MFPG_REPRODUCTION_CONVERGENCE_H
#define MFPG_REPRODUCTION_CONVERGENCE_H

#include "studies.h"
#include "support.h"

/* Creates a line of the study, with all values NAN. names: text that lives as long as the program. */
typedef struct mfpg_line_plan {
    const char *name, *says;
    double expected, window;
    int random; /* 1: it has repeats */
} mfpg_line_plan;

/* Allocates the arrays of a result with the given ladder. */
mfpg_status mfpg_convergence_create(mfpg_context *ctx, const ptrdiff_t *population, ptrdiff_t rungs,
    const mfpg_line_plan *plans, ptrdiff_t count, ptrdiff_t repeats, mfpg_convergence *out);

/* Fits the slope of a line to its values from rung `first` on that are not below its floor. */
void mfpg_fit_line(mfpg_convergence *of, ptrdiff_t number);

/* Computes the root mean square of count numbers and its standard error over them. */
void mfpg_root_mean_square(const double *x, ptrdiff_t count, double *value, double *standard_error);

/* Checks that a ladder ascends within [2, 1000000] and has 3 .. 64 rungs, and the number of repeats. */
mfpg_status mfpg_check_ladder(
    mfpg_context *ctx, const ptrdiff_t *population, ptrdiff_t rungs, ptrdiff_t repeats);

#endif
