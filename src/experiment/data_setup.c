/* From the data keys of a configuration to the data of a federation. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/file.h"
#include "base/memory.h"
#include "internal.h"
#include "models/losses.h"

/* What several keys say together. */
static void set_rules(const mfpg_config *config, mfpg_data_options *options) {
    options->missing = mfpg_config_is(config, "data.missing.impute", "mean") ? MFPG_MISSING_MEAN
                       : mfpg_config_is(config, "data.missing.rows", "drop") ? MFPG_MISSING_DROP
                                                                             : MFPG_MISSING_ERROR;
    options->scale = options->bounds_file                                ? MFPG_SCALE_BOUNDS
                     : mfpg_config_is(config, "data.scale", "from-data") ? MFPG_SCALE_FROM_DATA
                                                                         : MFPG_SCALE_NONE;
}

/* The two ends of data.range, or an error. */
static mfpg_status set_range(mfpg_context *ctx, const mfpg_config *config, mfpg_data_options *options) {
    ptrdiff_t count = 0;
    const double *range = mfpg_config_numbers(config, "data.range", &count);
    if (count == 0) return MFPG_OK;
    if (count != 2)
        return mfpg_fail(ctx, MFPG_ERR_INPUT, "%s: data.range: %td numbers; a low and a high end are needed",
            mfpg_config_source(config, "data.range"), count);
    if (!(range[0] < range[1]))
        return mfpg_fail(ctx, MFPG_ERR_INPUT, "%s: data.range: [%g, %g]; the low end comes first",
            mfpg_config_source(config, "data.range"), range[0], range[1]);
    options->range[0] = range[0];
    options->range[1] = range[1];
    return MFPG_OK;
}

/* 1 where the message is about this file, which is not there. */
static int is_about_absent(mfpg_context *ctx, const char *path) {
    size_t length = strlen(path);
    return strncmp(mfpg_context_message(ctx), path, length) == 0 &&
           mfpg_context_message(ctx)[length] == ':' && access(path, F_OK) != 0 && errno == ENOENT;
}

/* Without data.dir most files that are not found are somewhere else: the message then says how to name the place. */
static void hint_at_folder(mfpg_context *ctx, const mfpg_config *config) {
    const char *keys[] = {"data.files", "data.labels", "data.test_files", "data.test_labels"};
    if (mfpg_config_given(config, "data.dir")) return;
    for (size_t k = 0; k < sizeof keys / sizeof keys[0]; k++) {
        ptrdiff_t count = 0;
        const char *const *names = mfpg_config_texts(config, keys[k], &count);
        for (ptrdiff_t i = 0; i < count; i++) {
            char *path = mfpg_path_join(mfpg_config_text(config, "data.dir"), names[i]);
            int found = path && names[i][0] != '/' && is_about_absent(ctx, path);
            free(path);
            if (!found) continue;
            mfpg_fail_in(ctx, MFPG_ERR_INPUT, "%s: %s", mfpg_config_source(config, keys[k]), keys[k]);
            mfpg_fail_behind(ctx, MFPG_ERR_INPUT, "; data.dir=FOLDER names the folder of the files");
            return;
        }
    }
}

mfpg_status mfpg_setup_data(mfpg_context *ctx, mfpg_experiment *experiment) {
    const mfpg_config *config = experiment->config;
    mfpg_data_options options = mfpg_config_fill(config).data;
    options.other_file = experiment->other_file;
    options.binary_labels =
        (mfpg_model_facts(mfpg_config_text(config, "task.model")) & MFPG_MODEL_BINARY) != 0;
    if (strcmp(options.format, "synthetic") != 0) {
        set_rules(config, &options);
        mfpg_status status = set_range(ctx, config, &options);
        if (status != MFPG_OK) return status;
    }
    ptrdiff_t count = mfpg_config_categories(config);
    mfpg_category *categories = mfpg_alloc(count, sizeof *categories);
    if (!categories) return mfpg_fail_memory(ctx);
    for (ptrdiff_t i = 0; i < count; i++) categories[i] = mfpg_config_category(config, i);
    options.categories = categories;
    options.category_count = count;
    mfpg_status status = mfpg_federated_data_create(ctx, &options, &experiment->key, &experiment->data);
    if (status == MFPG_ERR_INPUT) hint_at_folder(ctx, config);
    free(categories);
    return status;
}
