/* Builds the data of a federation and the model that they train from a configuration. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/file.h"
#include "base/memory.h"
#include "internal.h"

/* ---- data ---- */

static mfpg_status set_range(mfpg_context *ctx, const mfpg_config *config, mfpg_data_options *options) {
    const double *range = config->set.range;
    if (!range) return MFPG_OK;
    if (config->set.range_count != 2)
        return mfpg_config_fail(ctx, config, "data.range", "%td numbers; a low and a high end are needed",
            config->set.range_count);
    if (!(range[0] < range[1]))
        return mfpg_config_fail(
            ctx, config, "data.range", "[%g, %g]; the low end comes first", range[0], range[1]);
    options->range[0] = range[0];
    options->range[1] = range[1];
    return MFPG_OK;
}

/* Returns 1 if the message is about this file and the file does not exist. */
static int is_about_absent(mfpg_context *ctx, const char *path) {
    size_t length = strlen(path);
    return strncmp(mfpg_context_message(ctx), path, length) == 0 &&
           mfpg_context_message(ctx)[length] == ':' && access(path, F_OK) != 0 && errno == ENOENT;
}

/* If data.dir is not set and a file is not found, it is probably in another folder: the message then says
 * how to name the folder. */
static void hint_at_folder(mfpg_context *ctx, const mfpg_config *config) {
    const mfpg_data_options *o = &config->set.data;
    const struct {
        const char *key;
        const char *const *names;
        ptrdiff_t count;
    } lists[] = {{"data.files", o->files, o->file_count}, {"data.labels", o->labels, o->label_file_count},
        {"data.test_files", o->test_files, o->test_file_count},
        {"data.test_labels", o->test_labels, o->test_label_file_count}};
    if (mfpg_config_given(config, "data.dir")) return;
    for (size_t l = 0; l < sizeof lists / sizeof lists[0]; l++)
        for (ptrdiff_t i = 0; i < lists[l].count; i++) {
            const char *name = lists[l].names[i];
            char *path = mfpg_path_join(o->directory, name);
            int found = path && name[0] != '/' && is_about_absent(ctx, path);
            free(path);
            if (!found) continue;
            mfpg_fail_in(
                ctx, MFPG_ERR_INPUT, "%s: %s", mfpg_config_source(config, lists[l].key), lists[l].key);
            mfpg_fail_behind(ctx, MFPG_ERR_INPUT, "; data.dir=FOLDER names the folder of the files");
            return;
        }
}

mfpg_status mfpg_setup_data(mfpg_context *ctx, const mfpg_config *config, const mfpg_key *key, int other_file,
    mfpg_federated_data **out) {
    mfpg_data_options options = config->set.data;
    options.other_file = other_file;
    options.binary_labels = (mfpg_model_facts(config->set.model) & MFPG_MODEL_BINARY) != 0;
    options.scale = options.bounds_file        ? MFPG_SCALE_BOUNDS
                    : config->set.fitted_scale ? MFPG_SCALE_FROM_DATA
                                               : MFPG_SCALE_NONE;
    mfpg_status status = set_range(ctx, config, &options);
    if (status != MFPG_OK) return status;
    mfpg_category *categories = mfpg_alloc(config->categories, sizeof *categories);
    if (!categories) return mfpg_fail_memory(ctx);
    for (ptrdiff_t i = 0; i < config->categories; i++) {
        const mfpg_category_line *line = &config->category[i];
        categories[i] =
            (mfpg_category){line->column, (const char *const *)line->value.texts, line->value.count};
    }
    options.categories = categories;
    options.category_count = config->categories;
    status = mfpg_federated_data_create(ctx, &options, key, out);
    if (status == MFPG_ERR_INPUT) hint_at_folder(ctx, config);
    free(categories);
    return status;
}

/* ---- the model ---- */

/* Returns the largest label of a set, or -1 if a label is not a class. */
static double largest_label(const mfpg_dataset *set) {
    double largest = 0.0;
    for (ptrdiff_t i = 0; i < set->rows; i++) {
        double y = (double)set->y[i];
        if (!(y >= 0.0 && y == floor(y))) return -1.0;
        largest = fmax(largest, y);
    }
    return largest;
}

/* Determines the number of classes, from the public declaration or from the largest label; every label must
 * be a class. */
static mfpg_status count_classes(
    mfpg_context *ctx, mfpg_config *config, const mfpg_federated_data *data, ptrdiff_t *classes) {
    ptrdiff_t given = config->set.classes;
    double most = given > 0 ? (double)given - 1.0 : 65535.0, largest = 1.0;
    for (ptrdiff_t k = 0; k < data->clients; k++) {
        const mfpg_client_data *client = &data->client[k];
        double train = largest_label(&client->train), test = largest_label(&client->test);
        if (train < 0.0 || test < 0.0 || fmax(train, test) > most)
            return mfpg_fail(ctx, MFPG_ERR_INPUT,
                "client '%s': a label is not a whole number from 0 to %g (task.classes)", client->name, most);
        largest = fmax(largest, fmax(train, test));
    }
    *classes = given > 0 ? given : (ptrdiff_t)largest + 1;
    if (given > 0) return MFPG_OK;
    return mfpg_config_resolve_number(
        ctx, config, "task.classes", (double)*classes, "the largest label and one more");
}

/* With zero weights the gradient of a network is zero except for the last biases. */
static mfpg_status resolve_start(mfpg_context *ctx, mfpg_config *config, int network) {
    if (strcmp(config->set.start, "auto") == 0)
        return mfpg_config_resolve(ctx, config, "train.start", network ? "he" : "zero",
            network ? "hidden layers do not leave zero" : "the model has no hidden layers");
    if (network && strcmp(config->set.start, "zero") == 0)
        mfpg_warn(ctx, "train.start: zero; hidden layers do not leave zero, so that this network learns no "
                       "more than how common each class is (he starts at random weights)");
    return MFPG_OK;
}

mfpg_status mfpg_setup_model(
    mfpg_context *ctx, mfpg_config *config, const mfpg_federated_data *data, mfpg_model **out) {
    mfpg_model_options options = {.kind = config->set.model, .features = data->features};
    int facts = mfpg_model_facts(options.kind), network = (facts & MFPG_MODEL_TAKES_HIDDEN) != 0;
    ptrdiff_t *units = NULL;
    mfpg_status status = resolve_start(ctx, config, network);
    if (status == MFPG_OK && (facts & MFPG_MODEL_TAKES_CLASSES))
        status = count_classes(ctx, config, data, &options.classes);
    if (status == MFPG_OK && network) {
        options.hidden_layers = config->set.hidden_layers;
        options.hidden = units = mfpg_alloc(options.hidden_layers, sizeof *units);
        if (!units) return mfpg_fail_memory(ctx);
        for (ptrdiff_t l = 0; l < options.hidden_layers; l++) units[l] = (ptrdiff_t)config->set.hidden[l];
    }
    if (status == MFPG_OK) status = mfpg_model_create(ctx, &options, out);
    free(units);
    return status;
}

double mfpg_public_curvature(const mfpg_experiment *e, double *norm2) {
    *norm2 = e->data->public_norm2 + (mfpg_model_parameters(e->model) > e->data->features); /* the bias */
    return mfpg_model_curvature(e->model, *norm2);
}
