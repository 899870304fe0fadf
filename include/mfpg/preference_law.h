/** The preferences of the population that plays a game, given by one text or by a column of a file. */
#ifndef MFPG_POPULATION_H
#define MFPG_POPULATION_H

#include <stddef.h>

#include "context.h"

typedef enum mfpg_spread {
    MFPG_SPREAD_ALIKE = 0, /* one value for everybody */
    MFPG_SPREAD_LIST,      /* one value a client */
    MFPG_SPREAD_EVEN,      /* evenly spaced, both ends included */
    MFPG_SPREAD_UNIFORM,   /* mid-quantiles of a law: see mfpg_population_fill */
    MFPG_SPREAD_LOGNORMAL
} mfpg_spread;

typedef struct mfpg_population {
    mfpg_spread spread;
    double first, second; /* the value; or low and high; or median and sd of the logarithm */
    double *list;         /* count, owned; NULL for the others */
    ptrdiff_t count;
} mfpg_population;

/** Reads "0.5", "0.5,0.8,1.2", "0.5:1.5" (evenly spaced), "uniform:0.5:1.5" or "lognormal:1:0.4" (median and
 *  sd of the logarithm).
 *  @return MFPG_OK with out filled (free it with mfpg_population_clear), MFPG_ERR_INPUT with what was found
 *  and what is allowed, MFPG_ERR_MEMORY; after a failure out is empty. */
mfpg_status mfpg_population_parse(mfpg_context *ctx, const char *text, mfpg_population *out);

void mfpg_population_clear(mfpg_population *population);

/** Fills in the preferences of so many clients. A law gives its quantiles at (k - 1/2)/N, k = 1 .. N. These
 *  are the N equally weighted points nearest to the law (each is the middle of an equal share, which
 *  minimises the Wasserstein distance on the line). Means therefore converge like 1/N, not like 1/sqrt N as
 *  with random draws.
 *  @return MFPG_OK, MFPG_ERR_INPUT if a list has another length, MFPG_ERR_DOMAIN if a quantile leaves the
 *  range of positive numbers */
mfpg_status mfpg_population_fill(
    mfpg_context *ctx, const mfpg_population *population, ptrdiff_t clients, double *out);

/** Returns the value below which a share p in (0, 1) of a law's types lies; the law is uniform, lognormal, or
 *  evenly spaced, which counts as uniform. NAN for one value and for a list. */
double mfpg_population_quantile(const mfpg_population *population, double p);

#endif
