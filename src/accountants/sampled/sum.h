/* What accountants that credit sampling keep: steps by kind, so that a record is cheap and its place in the run does not
 * show, and Gaussian DP of the same steps without any credit. */
#ifndef MFPG_ACCOUNTANTS_SAMPLED_SUM_H
#define MFPG_ACCOUNTANTS_SAMPLED_SUM_H

#include "mfpg/accountant.h"
#include "steps.h"
#include "accountants/square_sum.h"

typedef struct sampled_sum {
    mfpg_adjacency adjacency;
    int credits;           /* 1: the unit is what is sampled */
    int loose;             /* 1: more may be counted than was revealed, so nothing but 0 is a lower end */
    square_sum unsampled;  /* sum of mu^2 of the steps without sampling, zero-out */
    square_sum uncredited; /* of all steps, as if none had been sampled */
    sampled_steps sampled; /* owned */
} sampled_sum;

/* Nothing recorded; empty is a list of kinds, as exact as wanted. */
sampled_sum sampled_sum_empty(const mfpg_accountant_options *options, sampled_steps empty);
void sampled_sum_clear(sampled_sum *sum);

/* A copy with memory of its own; 1 on success. */
int sampled_sum_copy(const sampled_sum *sum, sampled_sum *out);

/* A last step that the noise of others hides as well keeps its credit: given the earlier steps, and whatever the others do, it
 * is a sampled Gaussian step with their independent noise on top (theory S2.2). name is that of the accountant. */
mfpg_status sampled_sum_record(
    mfpg_context *ctx, sampled_sum *sum, const char *name, const mfpg_release *release, int64_t times);

/* mu of everything without credit. */
double sampled_sum_plain_mu(const sampled_sum *sum, mfpg_adjacency adjacency);

/* The same where nothing was credited, else +INFINITY: a sampled step has no mu. */
double sampled_sum_mu(const sampled_sum *sum);

/* Of the kinds, those with a rate below 1: coarsening may have raised one to 1. The others join *plain, the sum of mu^2 of
 * the steps without sampling. */
int sampled_sum_split(const sampled_sum *sum, square_sum *plain);

int sampled_sum_covers(const sampled_sum *a, const sampled_sum *b);

#endif
