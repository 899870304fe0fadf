#include "messages.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "mfpg/program.h"

/* Noise of fewer steps of the grid is not counted: the sum of rounded vectors is then no longer as private as the rounded
 * sum (docs/theory.md). */
static const double LEAST_STEPS = 4.0;

static int is_power_of_two(double x) {
    int exponent;
    return isfinite(x) && x > 0.0 && frexp(x, &exponent) == 0.5;
}

static mfpg_status check_share(
    mfpg_context *ctx, const mfpg_roster *roster, const mfpg_sum_share *share, ptrdiff_t i) {
    const char *name = roster->entry[i].name;
    if (!(share->weight >= 0.0 && share->weight <= 1.0))
        return mfpg_fail(
            ctx, MFPG_ERR_INPUT, "the weight of '%s' must be from 0 to 1, and is %g", name, share->weight);
    if (!(share->noise_sd >= 0.0 && isfinite(share->noise_sd)))
        return mfpg_fail(
            ctx, MFPG_ERR_INPUT, "the noise of '%s' must be 0 or more, and is %g", name, share->noise_sd);
    if (!((share->clip > 0.0 || (share->weight == 0.0 && share->clip == 0.0)) && isfinite(share->clip)))
        return mfpg_fail(
            ctx, MFPG_ERR_INPUT, "the clip of '%s' must be above 0, and is %g", name, share->clip);
    return MFPG_OK;
}

static mfpg_status check_threshold(mfpg_context *ctx, const mfpg_sum_terms *terms, ptrdiff_t members) {
    if (members < MFPG_SUM_LEAST)
        return mfpg_fail(ctx, MFPG_ERR_INPUT,
            "a secure sum needs at least %d clients with a weight above 0, and has %td", MFPG_SUM_LEAST,
            members);
    if (terms->colluders < 0 || terms->colluders > members - 1)
        return mfpg_fail(ctx, MFPG_ERR_INPUT,
            "colluders must be from 0 to %td, fewer than the %td clients, and are %d", members - 1, members,
            terms->colluders);
    const ptrdiff_t least = (members + terms->colluders) / 2 + 1;
    if (terms->threshold < least || terms->threshold > members)
        return mfpg_fail(ctx, MFPG_ERR_INPUT,
            "the threshold must be from %td to %td, more than half of %td clients and %d colluders, and is "
            "%d",
            least, members, members, terms->colluders, terms->threshold);
    return MFPG_OK;
}

mfpg_status mfpg_sum_check(mfpg_context *ctx, const mfpg_roster *roster, const mfpg_sum_terms *terms) {
    ptrdiff_t members = 0;
    if (terms->round < 1 || terms->attempt < 1)
        return mfpg_fail(ctx, MFPG_ERR_INPUT, "round and attempt are counted from 1");
    if (terms->bits < 2 || terms->bits > 64)
        return mfpg_fail(ctx, MFPG_ERR_INPUT, "bits must be from 2 to 64, and are %d", terms->bits);
    if (terms->dimension < 1 || terms->dimension > INT32_MAX)
        return mfpg_fail(ctx, MFPG_ERR_INPUT, "the dimension must be from 1 to 2^31 - 1");
    if (!is_power_of_two(terms->grid))
        return mfpg_fail(ctx, MFPG_ERR_INPUT, "the grid must be a power of two, and is %g", terms->grid);
    for (ptrdiff_t i = 0; i < roster->count; i++) {
        mfpg_status status = check_share(ctx, roster, &terms->share[i], i);
        if (status != MFPG_OK) return status;
        members += terms->share[i].weight > 0.0;
    }
    return check_threshold(ctx, terms, members);
}

mfpg_sum_set mfpg_sum_members(const mfpg_roster *roster, const mfpg_sum_terms *terms) {
    mfpg_sum_set members = {0};
    for (ptrdiff_t i = 0; i < roster->count; i++)
        if (terms->share[i].weight > 0.0) mfpg_sum_insert(&members, i);
    return members;
}

double mfpg_sum_reach(const mfpg_roster *roster, const mfpg_sum_terms *terms, const mfpg_sum_set *survivors) {
    double clips = 0.0, variance = 0.0, count = 0.0;
    for (ptrdiff_t i = 0; i < roster->count; i++) {
        const mfpg_sum_share *share = &terms->share[i];
        if (share->weight <= 0.0 || (survivors && !mfpg_sum_has(survivors, i))) continue;
        const double steps = share->weight * share->noise_sd / terms->grid;
        clips += share->weight * share->clip;
        variance += steps * steps;
        count += 1.0;
    }
    return (clips / terms->grid + 9.0 * sqrt(variance) + count) * (1.0 + 1e-12);
}

int mfpg_sum_bits(const mfpg_roster *roster, const mfpg_sum_terms *terms) {
    const double reach = mfpg_sum_reach(roster, terms, NULL);
    for (int bits = 2; bits <= 64; bits++)
        if (ldexp(1.0, bits - 1) > reach) return bits;
    return 0;
}

static int ascending(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* p_i s_i, or 0 if it is not counted. Numbers below DBL_MIN have lost digits. */
static double counted(const mfpg_sum_terms *terms, ptrdiff_t i) {
    const double noise = terms->share[i].weight * terms->share[i].noise_sd;
    return noise >= fmax(LEAST_STEPS * terms->grid, DBL_MIN) ? noise : 0.0;
}

double mfpg_sum_noise(const mfpg_roster *roster, const mfpg_sum_terms *terms, ptrdiff_t member,
    const unsigned char *survivors) {
    /* in units of the member's own share, so that no square of a small number is rounded up */
    const double own = counted(terms, member), least = terms->share[member].noise_sd;
    double noise[MFPG_SUM_MOST], variance = 1.0;
    ptrdiff_t others = 0;
    if (own == 0.0) return least;
    if (survivors && !survivors[member]) survivors = NULL;
    for (ptrdiff_t i = 0; i < roster->count; i++)
        if (i != member && terms->share[i].weight > 0.0 && (!survivors || survivors[i]))
            noise[others++] = counted(terms, i) / own;
    qsort(noise, (size_t)others, sizeof *noise, ascending);
    const ptrdiff_t honest = (survivors ? others + 1 : terms->threshold) - terms->colluders - 1;
    for (ptrdiff_t j = 0; j < honest; j++) variance += noise[j] * noise[j];
    /* Each of at most 510 roundings is off by 2^-53 of a positive sum. */
    const double whole = least * sqrt(variance) * (1.0 - 512 * DBL_EPSILON);
    return isfinite(whole) ? fmax(whole, least) : least;
}
