/** Who plays a game: the preferences of a population, given by one text or by a column of a file. */
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
    double first, second; /* the value; low and high; median and sd of the logarithm */
    double *list;         /* count, owned; NULL for the others */
    ptrdiff_t count;
} mfpg_population;

/** Reads "0.5", "0.5,0.8,1.2", "0.5:1.5" (even), "uniform:0.5:1.5" or "lognormal:1:0.4" (median and sd of the logarithm).
 *  @return MFPG_OK with out filled (free it with mfpg_population_clear), MFPG_ERR_INPUT with what was found and what is
 *  allowed, MFPG_ERR_MEMORY; out is then empty. */
mfpg_status mfpg_population_parse(mfpg_context *ctx, const char *text, mfpg_population *out);

/** A list from a CSV file with one row a client; column NULL: its only one. Status likewise, with file and line; also
 *  MFPG_ERR_IO. */
mfpg_status mfpg_population_read(
    mfpg_context *ctx, const char *path, const char *column, mfpg_population *out);

void mfpg_population_clear(mfpg_population *population);

/** The preferences of so many clients. Of a law these are its quantiles at (k - 1/2)/N, k = 1 .. N: the N points that lie
 *  nearest to the law (least Wasserstein distance on the line is that of equal shares, each stood for by its middle), so
 *  that means converge like 1/N and not, as with random draws, like 1/sqrt N.
 *  @return MFPG_OK, MFPG_ERR_INPUT if a list has another length, MFPG_ERR_DOMAIN if a quantile leaves the range of
 *  positive numbers */
mfpg_status mfpg_population_fill(
    mfpg_context *ctx, const mfpg_population *population, ptrdiff_t clients, double *out);

/** The value below which a share p in (0, 1) of a law's types lies: uniform, lognormal, or evenly spaced, which counts as
 *  the uniform law. NAN for one value and for a list. */
double mfpg_population_quantile(const mfpg_population *population, double p);

#endif
