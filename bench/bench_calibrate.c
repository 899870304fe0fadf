/* The noise of a long run of Poisson-sampled steps for a target epsilon, by the exact accountant, and by Renyi DP beside it:
 * 256 of 60,000 examples a step, 60 epochs. The answers are checked to meet the target. */
#include "bench.h"

#include "mfpg/calibration.h"

typedef struct job {
    mfpg_context *ctx;
    mfpg_calibration_options asked;
    mfpg_calibration found;
    mfpg_status status;
} job;

static void calibrate(void *arg) {
    job *j = arg;
    j->status = mfpg_calibrate(j->ctx, &j->asked, &j->found);
}

int main(void) {
    const char *const accountants[] = {"exact", "rdp"};
    const double targets[] = {1.0, 3.0, 8.0};
    const mfpg_release schedule = {.unit = MFPG_UNIT_EXAMPLE,
        .clipped = MFPG_CLIPPED_EXAMPLES,
        .steps = 14062,
        .sensitivity = 1.0,
        .weight = 1.0,
        .sampling_rate = 256.0 / 60000.0};
    mfpg_accountant_options options = mfpg_accountant_options_default();
    options.promise.unit = MFPG_UNIT_EXAMPLE;
    job j = {.asked = {.options = &options, .delta = 1e-5, .schedule = &schedule, .count = 1}};
    int sound = mfpg_context_create(NULL, &j.ctx) == MFPG_OK;
    for (int a = 0; a < 2 && sound; a++)
        for (int t = 0; t < 3 && sound; t++) {
            char work[64];
            j.asked.accountant = accountants[a];
            j.asked.epsilon = targets[t];
            if (t == 0)
                snprintf(work, sizeof work, "calibrate_%s", accountants[a]);
            else
                snprintf(work, sizeof work, "calibrate_%s_epsilon_%g", accountants[a], targets[t]);
            bench_work(work, calibrate, NULL, &j, 0, NULL);
            sound = j.status == MFPG_OK && j.found.epsilon.upper <= targets[t];
            if (!sound) fprintf(stderr, "%s: %s\n", work, mfpg_context_message(j.ctx));
        }
    mfpg_context_destroy(j.ctx);
    return sound ? EXIT_SUCCESS : EXIT_FAILURE;
}
