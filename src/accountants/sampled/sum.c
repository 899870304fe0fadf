#include "sum.h"

#include <math.h>

#include "base/error.h"
#include "accountants/upward.h"

sampled_sum sampled_sum_empty(const mfpg_accountant_options *options, sampled_steps empty) {
    return (sampled_sum){.adjacency = options->promise.adjacency,
        .credits = options->promise.unit == MFPG_UNIT_EXAMPLE,
        .sampled = empty};
}

void sampled_sum_clear(sampled_sum *sum) {
    sampled_steps_clear(&sum->sampled);
}

int sampled_sum_copy(const sampled_sum *sum, sampled_sum *out) {
    *out = *sum;
    return sampled_steps_copy(&sum->sampled, &out->sampled);
}

/* Adds count steps of one noise. */
static int add_steps(sampled_sum *sum, double rate, double sensitivity, double sd, int64_t count) {
    double reach = divide_up(sensitivity, sd);
    if (count == 0 || reach == 0.0) return 1;
    if (rate < 1.0 && isfinite(reach)) return sampled_steps_add(&sum->sampled, rate, reach, count);
    square_sum_add_times(&sum->unsampled, reach, count);
    return 1;
}

mfpg_status sampled_sum_record(
    mfpg_context *ctx, sampled_sum *sum, const char *name, const mfpg_release *release, int64_t times) {
    double rate = sum->credits ? release->sampling_rate : 1.0, s = release->sensitivity;
    if (rate == 0.0) return MFPG_OK; /* no example takes part: the noise alone is released */
    if (times > INT64_MAX / release->steps)
        return mfpg_fail(ctx, MFPG_ERR_DOMAIN, "accountant %s: more than 2^63 steps", name);
    if (rate != release->sampling_rate || release->last_sd != release->noise_sd) sum->loose = 1;
    double mu = mfpg_release_mu(release, MFPG_ADJACENCY_ZERO_OUT);
    square_sum_add_times(&sum->uncredited, mu, times);
    if (rate == 1.0) { /* to the bit what gdp counts */
        square_sum_add_times(&sum->unsampled, mu, times);
        return MFPG_OK;
    }
    int64_t early = release->last_sd == release->noise_sd ? release->steps : release->steps - 1;
    if (add_steps(sum, rate, s, release->noise_sd, early * times) &&
        add_steps(sum, rate, s, release->last_sd, (release->steps - early) * times))
        return MFPG_OK;
    return mfpg_fail(ctx, MFPG_ERR_MEMORY, "accountant %s: no room for another kind of step", name);
}

double sampled_sum_plain_mu(const sampled_sum *sum, mfpg_adjacency adjacency) {
    double root = square_sum_root_up(&sum->uncredited);
    return adjacency == MFPG_ADJACENCY_REPLACE ? 2.0 * root : root;
}

double sampled_sum_mu(const sampled_sum *sum) {
    return sum->sampled.used > 0 ? (double)INFINITY : sampled_sum_plain_mu(sum, sum->adjacency);
}

int sampled_sum_split(const sampled_sum *sum, square_sum *plain) {
    const sampled_step *kind = sum->sampled.kind;
    int used = sum->sampled.used;
    *plain = sum->unsampled;
    for (; used > 0 && kind[used - 1].rate >= 1.0; used--)
        square_sum_add_times(plain, kind[used - 1].reach, kind[used - 1].count);
    return used;
}

int sampled_sum_covers(const sampled_sum *a, const sampled_sum *b) {
    return a->unsampled.high >= b->unsampled.high && a->uncredited.high >= b->uncredited.high &&
           sampled_steps_cover(&a->sampled, &b->sampled);
}
