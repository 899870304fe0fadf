/* The backward equation of one type: (I - dt A(e)) V^n = V^{n+1} + dt (l + weight c(e)), e the best control. */
#ifndef MFPG_PDE_HJB_H
#define MFPG_PDE_HJB_H

#include "problem.h"

typedef struct mfpg_hjb_report {
    int rounds;           /* most of policy iteration in one step */
    ptrdiff_t unfinished; /* steps in which the cap ended it */
} mfpg_hjb_report;

enum { MFPG_POLICY_ROUNDS = 50 };

/* Against a path of the population's mean (steps numbers are read, row n for the step from n to n+1).
 *  control  (steps+1) x n: the best replies; row `steps` is what the terminal value 0 asks for. NULL: they are not kept
 *  warm     1: policy iteration starts from what control holds; 0: every step starts from the reply of the next one
 *  value    (steps+1) x n, written; or NULL, and only start_value is
 *  start_value  n: V at time 0 */
mfpg_hjb_report mfpg_hjb_solve(const mfpg_problem *problem, ptrdiff_t type, const double *path,
    double *control, int warm, double *value, double *start_value);

#endif
