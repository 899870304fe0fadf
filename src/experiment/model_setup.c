/* From the task keys to a model. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "internal.h"
#include "models/losses.h"

/* The largest label of a set, or -1 where one is no class. */
static double largest_label(const mfpg_dataset *set) {
    double largest = 0.0;
    for (ptrdiff_t i = 0; i < set->rows; i++) {
        double y = (double)set->y[i];
        if (!(y >= 0.0 && y == floor(y))) return -1.0;
        largest = fmax(largest, y);
    }
    return largest;
}

/* The number of classes, public by declaration or by the largest label; every label must be one. */
static mfpg_status count_classes(mfpg_context *ctx, mfpg_experiment *experiment, ptrdiff_t *classes) {
    int given = !mfpg_config_is(experiment->config, "task.classes", "auto");
    double most = given ? mfpg_config_number(experiment->config, "task.classes") - 1.0 : 65535.0,
           largest = 1.0;
    for (ptrdiff_t k = 0; k < experiment->data->clients; k++) {
        const mfpg_client_data *client = &experiment->data->client[k];
        double train = largest_label(&client->train), test = largest_label(&client->test);
        if (train < 0.0 || test < 0.0 || fmax(train, test) > most)
            return mfpg_fail(ctx, MFPG_ERR_INPUT,
                "client '%s': a label is no whole number from 0 to %g (task.classes)", client->name, most);
        largest = fmax(largest, fmax(train, test));
    }
    *classes = (ptrdiff_t)(given ? most : largest) + 1;
    if (given) return MFPG_OK;
    char value[24];
    snprintf(value, sizeof value, "%td", *classes);
    return mfpg_config_resolve(
        ctx, experiment->config, "task.classes", value, "the largest label and one more");
}

/* The units of the hidden layers; the list is freed by the caller. */
static mfpg_status list_hidden(
    mfpg_context *ctx, const mfpg_experiment *experiment, mfpg_model_options *options, ptrdiff_t **list) {
    const double *units = mfpg_config_numbers(experiment->config, "task.hidden", &options->hidden_layers);
    *list = mfpg_alloc(options->hidden_layers, sizeof **list);
    if (!*list) return mfpg_fail_memory(ctx);
    for (ptrdiff_t l = 0; l < options->hidden_layers; l++) (*list)[l] = (ptrdiff_t)units[l];
    options->hidden = *list;
    return MFPG_OK;
}

/* From zero weights the gradient of a network is zero but for the last biases. */
static mfpg_status resolve_start(mfpg_context *ctx, mfpg_experiment *experiment, int network) {
    if (mfpg_config_is(experiment->config, "train.start", "auto"))
        return mfpg_config_resolve(ctx, experiment->config, "train.start", network ? "he" : "zero",
            network ? "hidden layers do not leave zero" : "the model has no hidden layers");
    if (network && mfpg_config_is(experiment->config, "train.start", "zero"))
        mfpg_warn(ctx, "train.start: zero; hidden layers do not leave zero, so that this network learns no "
                       "more than how common each class is (he starts at random weights)");
    return MFPG_OK;
}

mfpg_status mfpg_setup_model(mfpg_context *ctx, mfpg_experiment *experiment) {
    mfpg_model_options options = {
        .kind = mfpg_config_text(experiment->config, "task.model"),
        .features = experiment->data->features,
    };
    ptrdiff_t *hidden = NULL;
    int facts = mfpg_model_facts(options.kind), network = (facts & MFPG_MODEL_TAKES_HIDDEN) != 0;
    mfpg_status status = resolve_start(ctx, experiment, network);
    if (status == MFPG_OK && (facts & MFPG_MODEL_TAKES_CLASSES))
        status = count_classes(ctx, experiment, &options.classes);
    if (status == MFPG_OK && network) status = list_hidden(ctx, experiment, &options, &hidden);
    if (status == MFPG_OK) status = mfpg_model_create(ctx, &options, &experiment->model);
    free(hidden);
    return status;
}
