/* How many sampled Gaussian steps of which kind were released: all that composition needs, whatever their order. */
#ifndef MFPG_ACCOUNTANTS_SAMPLED_STEPS_H
#define MFPG_ACCOUNTANTS_SAMPLED_STEPS_H

#include <stdint.h>

typedef struct sampled_step {
    double rate;  /* probability that an example takes part, in (0, 1) */
    double reach; /* zero-out sensitivity over noise, finite and positive */
    int64_t count;
} sampled_step;

/* Kinds are kept on a grid of so many bits, both numbers rounded up, which costs about 2^-bits of themselves. The grid
 * starts fine and is coarsened only when there are more than SAMPLED_STEPS_MOST kinds, so that memory stays small and what is
 * kept depends on what was added but not on its order. All zeros is empty; SAMPLED_STEPS_EXACT is empty and keeps numbers as
 * they are, up to SAMPLED_STEPS_MANY kinds. */
typedef struct sampled_steps {
    sampled_step *kind; /* used, ascending by rate, then reach; owned */
    int used, room;
    int dropped_bits; /* of both numbers together; negative: nothing was rounded */
    int many;         /* 1: up to SAMPLED_STEPS_MANY kinds */
} sampled_steps;

enum { SAMPLED_STEPS_BITS = 40, SAMPLED_STEPS_MOST = 64, SAMPLED_STEPS_MANY = 1024 };
#define SAMPLED_STEPS_EXACT ((sampled_steps){.dropped_bits = -1, .many = 1})

/* Adds count > 0 steps. 1 on success; 0 where memory or a count ran out: the list is then
 * good for nothing but to be cleared. */
int sampled_steps_add(sampled_steps *steps, double rate, double reach, int64_t count);

/* A copy with memory of its own; 1 on success. */
int sampled_steps_copy(const sampled_steps *steps, sampled_steps *out);

void sampled_steps_clear(sampled_steps *steps);

/* 1 where a has at least as many steps of every kind as b, and its kinds are no less revealing one by one. */
int sampled_steps_cover(const sampled_steps *a, const sampled_steps *b);

#endif
