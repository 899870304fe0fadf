/* A trained model on another file. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/error.h"
#include "base/file.h"
#include "base/memory.h"
#include "data/npy.h"
#include "federation/federation_core.h"
#include "internal.h"

/* What was fitted on the run's own rows is not in its folder, because publishing it would be a release. */
static mfpg_status refuse_fitted(mfpg_context *ctx, const mfpg_config *config) {
    int scaled = config->set.fitted_scale;
    if (!scaled && config->set.data.missing != MFPG_MISSING_MEAN) return MFPG_OK;
    return mfpg_fail(ctx, MFPG_ERR_INPUT,
        "%s: was fitted on the run's own rows and is not kept; a model for other files needs %s",
        scaled ? "data.scale: from-data" : "data.missing.impute: mean",
        scaled ? "public bounds" : "complete rows");
}

/* Makes a configuration with one file in place of the run's files; for a partition by column the client
 * column remains. */
static mfpg_status point_to_file(
    mfpg_context *ctx, mfpg_config *config, const char *file, const char *labels) {
    static const char *const changes[] = {"data.partition.kind=iid", "data.partition.clients=1", "data.dir=.",
        "data.first_rows=all", "data.labels=[]", "data.test_files=[]", "data.test_labels=[]",
        "data.test_fraction=0"};
    size_t first = config->set.data.partition == MFPG_PARTITION_COLUMN ? 2 : 0;
    mfpg_status status = MFPG_OK;
    if (strcmp(config->set.data.format, "synthetic") == 0)
        return mfpg_fail(ctx, MFPG_ERR_INPUT,
            "the run was trained on made-up data (data.format: synthetic), so that no file has its columns; "
            "a run that was trained on files can be evaluated");
    for (size_t i = first; i < sizeof changes / sizeof changes[0] && status == MFPG_OK; i++)
        status = mfpg_config_set(ctx, config, changes[i]);
    if (status == MFPG_OK) status = mfpg_config_set_path(ctx, config, "data.files", file);
    if (status == MFPG_OK && labels) status = mfpg_config_set_path(ctx, config, "data.labels", labels);
    return status;
}

static mfpg_status evaluate(
    mfpg_context *ctx, mfpg_config *config, const char *model_path, mfpg_metrics *out) {
    const mfpg_key no_key = {
        0}; /* nothing is drawn: all rows are training rows of one client or of a column's clients */
    mfpg_federated_data *data = NULL;
    mfpg_model *model = NULL;
    float *w = NULL;
    mfpg_status status = mfpg_setup_data(ctx, config, &no_key, 1, &data);
    if (status == MFPG_OK) status = mfpg_setup_model(ctx, config, data, &model);
    if (status == MFPG_OK) status = mfpg_npy_read_vector(ctx, model_path, mfpg_model_parameters(model), &w);
    if (status == MFPG_OK) status = mfpg_pool_evaluate(ctx, data, 1, model, w, out);
    free(w);
    mfpg_model_destroy(model);
    mfpg_federated_data_destroy(data);
    return status;
}

/* Detects that the two names were given in the wrong order. */
static mfpg_status check_folder(mfpg_context *ctx, const char *folder) {
    struct stat info;
    if (stat(folder, &info) != 0) return mfpg_fail(ctx, MFPG_ERR_INPUT, "%s: %s", folder, strerror(errno));
    if (S_ISDIR(info.st_mode)) return MFPG_OK;
    return mfpg_fail(ctx, MFPG_ERR_INPUT,
        "%s: is a file, not a run folder; the folder of the run comes first, then the data file", folder);
}

mfpg_status mfpg_evaluate_file(
    mfpg_context *ctx, const char *run_folder, const char *file, const char *labels, mfpg_metrics *out) {
    mfpg_config *config = NULL;
    char *config_path = mfpg_path_join(run_folder, "config.yaml"),
         *model_path = mfpg_path_join(run_folder, "model.npy");
    mfpg_status status = config_path && model_path ? MFPG_OK : mfpg_fail_memory(ctx);
    if (status == MFPG_OK) status = check_folder(ctx, run_folder);
    if (status == MFPG_OK) status = mfpg_config_load(ctx, config_path, &config);
    if (status == MFPG_OK) status = refuse_fitted(ctx, config);
    if (status == MFPG_OK) status = point_to_file(ctx, config, file, labels);
    if (status == MFPG_OK) status = evaluate(ctx, config, model_path, out);
    mfpg_config_destroy(config);
    free(config_path);
    free(model_path);
    return status;
}
