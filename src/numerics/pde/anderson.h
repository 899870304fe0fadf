/* Fixed points x = F(x) of vectors by Anderson's mixing. */
#ifndef MFPG_PDE_ANDERSON_H
#define MFPG_PDE_ANDERSON_H

#include <stddef.h>

enum { MFPG_ANDERSON_DEPTH = 5 };

typedef struct mfpg_anderson {
    ptrdiff_t n;
    int held;        /* differences kept, at most MFPG_ANDERSON_DEPTH */
    int started;     /* 1: last_x and last_f are set */
    double *dx, *df; /* MFPG_ANDERSON_DEPTH x n: differences of x, and of f = F(x) - x, newest last */
    double *last_x, *last_f;
    double *basis; /* MFPG_ANDERSON_DEPTH x n: workspace */
    double *block; /* holds all of them */
} mfpg_anderson;

/* 1 on success, 0 where memory ran out. */
int mfpg_anderson_create(ptrdiff_t n, mfpg_anderson *out);
void mfpg_anderson_clear(mfpg_anderson *state);

/* Forgets the differences: what follows begins anew. */
void mfpg_anderson_restart(mfpg_anderson *state);

/* x becomes the next point, given f = F(x) - x. The first one is x + damping f, 0 < damping <= 1. */
void mfpg_anderson_step(mfpg_anderson *state, double damping, double *x, const double *f);

#endif
