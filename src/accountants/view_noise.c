/* The release consists of the client's own steps, a constant, and the last noise of all clients in the sum
 * that keep it secret (theory S2.2). */
#include "view_noise.h"

#include <float.h>
#include <math.h>

/* Returns p_j sd_j, the client's noise in the average. It is 0 for noise that protects no other client: that
 * of colluders, of records (the sum does not contain it), and NaN or infinite numbers. */
static double hidden_noise(const mfpg_release *release, const unsigned char *colluder) {
    double noise = release->weight * release->noise_sd;
    if (release->particles != MFPG_PARTICLES_PARAMETERS) return 0.0;
    if (colluder && colluder[release->client]) return 0.0;
    return noise > 0.0 && isfinite(noise) ? noise : 0.0;
}

mfpg_view_noise mfpg_view_start(
    const mfpg_promise *promise, const unsigned char *colluder, int participants) {
    return (mfpg_view_noise){.sums = promise->view != MFPG_VIEW_LOCAL,
        .participants = participants,
        .colluder = colluder,
        .first = -1,
        .second = -1};
}

void mfpg_view_rank(mfpg_view_noise *view, const mfpg_release *release) {
    double noise = hidden_noise(release, view->colluder);
    if (noise > view->first_noise) {
        view->second_noise = view->first_noise;
        view->second = view->first;
        view->first_noise = noise;
        view->first = release->client;
    } else if (noise > view->second_noise) {
        view->second_noise = noise;
        view->second = release->client;
    }
}

void mfpg_view_secure(mfpg_view_noise *view, int threshold, int colluders) {
    view->participants = 0; /* whoever takes part and watches is one of the colluders */
    view->threshold = threshold;
    view->colluders = colluders;
}

/* Keeps three sums: over all clients, without the largest term, and without the second largest. Subtracting
 * terms would cancel. */
void mfpg_view_add(mfpg_view_noise *view, const mfpg_release *release) {
    double noise = hidden_noise(release, view->threshold > 0 ? NULL : view->colluder);
    if (view->threshold > 0) {
        view->members++;
        view->share[release->client] =
            (mfpg_sum_share){release->weight, noise > 0.0 ? release->noise_sd : 0.0, release->sensitivity};
        return;
    }
    square_sum_add(&view->all, noise);
    if (release->client != view->first) square_sum_add(&view->without_first, noise);
    if (release->client != view->second) square_sum_add(&view->without_second, noise);
}

double mfpg_view_survived_sd(
    const mfpg_view_noise *view, const mfpg_release *release, const unsigned char *survivors) {
    const mfpg_roster roster = {.count = MFPG_SUM_MOST};
    const mfpg_sum_terms terms = {.threshold = view->threshold,
        .colluders = view->colluders,
        .grid = release->grid,
        .share = view->share};
    if (hidden_noise(release, view->colluder) == 0.0) return release->noise_sd;
    return mfpg_sum_noise(&roster, &terms, (ptrdiff_t)release->client, survivors);
}

double mfpg_view_last_sd(const mfpg_view_noise *view, const mfpg_release *release) {
    if (!view->sums || hidden_noise(release, view->colluder) == 0.0)
        return release->noise_sd; /* nothing is claimed beyond the local view */
    if (view->threshold > 0) return mfpg_view_survived_sd(view, release, NULL);
    /* The worst observer of a client is the other participant with the largest noise, because it can
     * subtract that noise. */
    const square_sum *sum = &view->all;
    if (view->participants)
        sum = release->client == view->first ? &view->without_second : &view->without_first;
    /* The result is rounded down by eight units for the products, the root and the quotient. */
    double whole = sqrt(sum->high) / release->weight * (1.0 - 8.0 * DBL_EPSILON);
    return whole > release->noise_sd ? fmin(whole, DBL_MAX) : release->noise_sd;
}
