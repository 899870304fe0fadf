/* What the files of suite attack are made from: which cells are which, what is claimed of them, and what is exact. */
#ifndef MFPG_REPRODUCTION_BENCH_ATTACK_H
#define MFPG_REPRODUCTION_BENCH_ATTACK_H

#include "bench.h"

/* 1: of the counterexample, with cell->swept rounds; 0: a setting of the paper's table. */
int bench_attack_is_example(const bench_cell *cell);

/* The paper bounds the total variation of last models; of the other methods it prints an epsilon. */
int bench_attack_is_entropic(const bench_cell *cell);

/* Total variation in the counterexample after that many rounds: exact, and by the paper's bound. */
double bench_attack_exact(double rounds);
double bench_attack_paper(double rounds);

/* Of N(0, 1) and N(mu, 1). */
double bench_attack_distance(double mu);

/* A setting's claim: total variation, or epsilon. */
typedef struct bench_claim {
    const char *printed;    /* in the paper's table; NULL: nothing */
    double formula;         /* by the paper's formula, here */
    double proved;          /* without any assumption */
    double proved_gaussian; /* for Gaussian noise */
    double certified;
} bench_claim;
bench_claim bench_attack_claim(const bench_cell *cell);

/* attack.csv, attack-table.csv and the scripts that draw them. */
mfpg_status bench_attack_write(
    mfpg_context *ctx, const char *folder, const bench_cell *cells, ptrdiff_t count);

#endif
