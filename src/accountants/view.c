/* How much noise protects a client's last local step when only the average is seen (theory S2.2): the release is the
 * client's own chain plus a constant plus the last noise of everybody in the sum who keeps it secret. */
#include <float.h>
#include <math.h>
#include <stddef.h>

#include "mfpg/accountant.h"

#include "square_sum.h"

/* p_j sd_j, the client's noise in the average; 0 for what protects nobody: colluders, records (their noise stands in no
 * sum), and numbers that are none. */
static double hidden_noise(const mfpg_release *release, const unsigned char *colluder) {
    double noise = release->weight * release->noise_sd;
    if (release->particles != MFPG_PARTICLES_PARAMETERS) return 0.0;
    if (colluder && colluder[release->client]) return 0.0;
    return noise > 0.0 && isfinite(noise) ? noise : 0.0;
}

/* The noise in the sum: of everybody, without the largest term, without the second largest. */
typedef struct hidden_sums {
    square_sum all, without_first, without_second;
    ptrdiff_t first, second; /* where those two stand; -1 for none */
} hidden_sums;

static hidden_sums add_noise(const unsigned char *colluder, const mfpg_release *release, ptrdiff_t count) {
    hidden_sums sums = {.first = -1, .second = -1};
    double first = 0.0, second = 0.0;
    for (ptrdiff_t i = 0; i < count; i++) {
        double noise = hidden_noise(&release[i], colluder);
        if (noise > first) {
            second = first;
            sums.second = sums.first;
            first = noise;
            sums.first = i;
        } else if (noise > second) {
            second = noise;
            sums.second = i;
        }
    }
    for (ptrdiff_t i = 0; i < count; i++) { /* summed anew: subtracting would cancel */
        double noise = hidden_noise(&release[i], colluder);
        square_sum_add(&sums.all, noise);
        if (i != sums.first) square_sum_add(&sums.without_first, noise);
        if (i != sums.second) square_sum_add(&sums.without_second, noise);
    }
    return sums;
}

/* The worst observer of client i is the other participant whose own noise is largest: it can subtract it. */
static double protecting_noise(const hidden_sums *sums, ptrdiff_t i, int participants) {
    const square_sum *sum = &sums->all;
    if (participants) sum = i == sums->first ? &sums->without_second : &sums->without_first;
    return sqrt(sum->high);
}

void mfpg_view_apply(const mfpg_promise *promise, const unsigned char *colluder, int participants,
    mfpg_release *release, ptrdiff_t count) {
    hidden_sums sums = {0};
    int local = promise->view == MFPG_VIEW_LOCAL;
    if (!local) sums = add_noise(colluder, release, count);
    for (ptrdiff_t i = 0; i < count; i++) {
        mfpg_release *own = &release[i];
        own->last_sd = own->noise_sd;
        if (local || hidden_noise(own, colluder) == 0.0)
            continue; /* nothing beyond the local view is claimed */
        /* Rounded down by eight units for the products, the root and the quotient. */
        double whole = protecting_noise(&sums, i, participants) / own->weight * (1.0 - 8.0 * DBL_EPSILON);
        if (whole > own->noise_sd) own->last_sd = fmin(whole, DBL_MAX);
    }
}
