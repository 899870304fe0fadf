/* A program of its own that uses the installed library: it trains four made-up clinics for a few rounds and prints
 * what each of them was promised. Built by the CMakeLists.txt beside it, or by
 *
 *     cc -std=c17 train.c $(pkg-config --cflags --libs mfpg) -o train
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <mfpg/experiment.h>
#include <mfpg/version.h>

static const char configuration[] = "seed: 1\n"
                                    "method: mfpg\n"
                                    "data: {format: synthetic, kind: clinics}\n"
                                    "privacy: {unit: example}\n"
                                    "noise: {target_epsilon: 2}\n"
                                    "train: {rounds: 5}\n"
                                    "game: {actions: continuous}\n";

static mfpg_status print_promises(mfpg_context *ctx, const mfpg_experiment *experiment) {
    mfpg_status status = MFPG_OK;
    for (ptrdiff_t i = 0; i < mfpg_experiment_clients(experiment) && status == MFPG_OK; i++) {
        mfpg_client_report client;
        status = mfpg_experiment_client(ctx, experiment, i, &client);
        if (status == MFPG_OK)
            printf("%s: action %.4f, epsilon %.4f after %d rounds\n",
                mfpg_experiment_client_name(experiment, i), client.action_value, client.epsilon,
                (int)client.rounds);
    }
    return status;
}

static mfpg_status train(mfpg_context *ctx) {
    const mfpg_run_options in_memory = {.folder = NULL}; /* nothing is written */
    mfpg_config *config = NULL;
    mfpg_experiment *experiment = NULL;
    mfpg_status status =
        mfpg_config_load_text(ctx, configuration, strlen(configuration), "train.c", NULL, &config);
    if (status == MFPG_OK) status = mfpg_experiment_create(ctx, config, &experiment);
    if (status == MFPG_OK) status = mfpg_experiment_run(ctx, experiment, &in_memory);
    if (status == MFPG_OK) status = print_promises(ctx, experiment);
    mfpg_experiment_destroy(experiment);
    mfpg_config_destroy(config);
    return status;
}

int main(void) {
    mfpg_context *ctx = NULL;
    if (mfpg_context_create(NULL, &ctx) != MFPG_OK) return EXIT_FAILURE;
    printf("compiled with mfpg %s, running with %s\n", MFPG_VERSION, mfpg_version());
    mfpg_status status = train(ctx);
    if (status != MFPG_OK) fprintf(stderr, "train: %s\n", mfpg_context_message(ctx));
    mfpg_context_destroy(ctx);
    return status == MFPG_OK ? EXIT_SUCCESS : EXIT_FAILURE;
}
