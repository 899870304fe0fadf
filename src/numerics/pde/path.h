/* The search for the path that is the mean of the flow of the replies to it: which path to try next. */
#ifndef MFPG_PDE_PATH_H
#define MFPG_PDE_PATH_H

#include "anderson.h"
#include "mfpg/pde.h"

typedef struct mfpg_path_search {
    mfpg_pde_method method; /* auto ends as fictitious */
    ptrdiff_t n;
    double *path;            /* n: what is replied to */
    double *difference;      /* n: mean of the flow of the replies minus path, set by the caller */
    double *best;            /* n: the path of the least residual so far, */
    double *best_difference; /* n: its difference, */
    double least;            /* and its residual */
    double before;           /* the residual of the turn before */
    double damping;          /* share of the difference that is gone, 1 unless that led away */
    int turns;               /* of the method */
    int stale;               /* turns since the best */
    mfpg_anderson anderson;
    double *block;
} mfpg_path_search;

/* 1 on success, 0 where memory ran out. Every path starts at first. */
int mfpg_path_create(ptrdiff_t n, mfpg_pde_method method, double first, mfpg_path_search *out);
void mfpg_path_clear(mfpg_path_search *search);

/* The largest difference, which is also noted as the best where it is. */
double mfpg_path_residual(mfpg_path_search *search);

/* Sets path to what is tried next. */
void mfpg_path_next(mfpg_path_search *search, double residual);

/* From here on fictitious play, beginning at the best path. */
void mfpg_path_play(mfpg_path_search *search);

#endif
