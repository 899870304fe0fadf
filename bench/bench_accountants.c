/* epsilon of 1000 Poisson-sampled steps: from an empty accountant to the answer. */
#include "bench.h"

#include "mfpg/accountant.h"

typedef struct job {
    mfpg_context *ctx;
    const char *accountant;
    mfpg_accountant_options options;
    mfpg_release step;
    double answer;
} job;

static void epsilon_of(void *arg) {
    job *asked = arg;
    mfpg_accountant *accountant = NULL;
    asked->answer = -1.0;
    if (mfpg_accountant_create(asked->ctx, asked->accountant, &asked->options, &accountant) == MFPG_OK &&
        mfpg_accountant_record_times(asked->ctx, accountant, &asked->step, 1000) == MFPG_OK)
        (void)mfpg_accountant_epsilon(asked->ctx, accountant, 1e-5, &asked->answer);
    mfpg_accountant_destroy(accountant);
}

int main(void) {
    job asked = {.options = mfpg_accountant_options_default()};
    if (mfpg_context_create(NULL, &asked.ctx) != MFPG_OK) return EXIT_FAILURE;
    asked.options.promise.unit = MFPG_UNIT_EXAMPLE;
    asked.step = (mfpg_release){.unit = MFPG_UNIT_EXAMPLE,
        .clipped = MFPG_CLIPPED_EXAMPLES,
        .steps = 1,
        .sensitivity = 1.0,
        .noise_sd = 1.0,
        .last_sd = 1.0,
        .weight = 1.0,
        .sampling_rate = 0.01};
    static const struct {
        const char *work, *accountant;
        mfpg_adjacency adjacency;
    } works[] = {{"rdp_epsilon", "rdp", MFPG_ADJACENCY_ZERO_OUT},
        {"rdp_epsilon_replace", "rdp", MFPG_ADJACENCY_REPLACE},
        {"exact_epsilon", "exact", MFPG_ADJACENCY_ZERO_OUT}, {"pld_epsilon", "pld", MFPG_ADJACENCY_ZERO_OUT},
        {"pld_epsilon_replace", "pld", MFPG_ADJACENCY_REPLACE}};
    int answered = 1;
    for (size_t i = 0; i < sizeof works / sizeof works[0]; i++) {
        asked.accountant = works[i].accountant;
        asked.options.promise.adjacency = works[i].adjacency;
        bench_work(works[i].work, epsilon_of, NULL, &asked, 0, NULL);
        answered = answered && asked.answer > 0.0;
    }
    mfpg_context_destroy(asked.ctx);
    return answered ? EXIT_SUCCESS : EXIT_FAILURE;
}
