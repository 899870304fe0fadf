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
#include "federation/pool.h"
#include "internal.h"

/* What was fitted on the run's own rows is not in its folder: its publication would be a release. */
static mfpg_status refuse_fitted(mfpg_context *ctx, const mfpg_config *config) {
    int scaled = mfpg_config_is(config, "data.scale", "from-data"),
        filled = mfpg_config_is(config, "data.missing.impute", "mean");
    if (!scaled && !filled) return MFPG_OK;
    return mfpg_fail(ctx, MFPG_ERR_INPUT,
        "%s: was fitted on the run's own rows and is not kept; a model for other files needs %s",
        scaled ? "data.scale: from-data" : "data.missing.impute: mean",
        scaled ? "public bounds" : "complete rows");
}

/* The configuration with one file for its files; the client column of a partition by column stays one. */
static mfpg_status point_to_file(
    mfpg_context *ctx, mfpg_config *config, const char *file, const char *labels) {
    mfpg_status status = MFPG_OK;
    if (mfpg_config_is(config, "data.format", "synthetic"))
        status = mfpg_fail(ctx, MFPG_ERR_INPUT,
            "the run was trained on made-up data (data.format: synthetic), so that no file has its columns; "
            "a "
            "run that was trained on files can be evaluated");
    if (status == MFPG_OK && !mfpg_config_is(config, "data.partition.kind", "column")) {
        status = mfpg_config_set(ctx, config, "data.partition.kind=iid");
        if (status == MFPG_OK) status = mfpg_config_set(ctx, config, "data.partition.clients=1");
    }
    if (status == MFPG_OK) status = mfpg_config_set(ctx, config, "data.dir=.");
    if (status == MFPG_OK) status = mfpg_config_set_path(ctx, config, "data.files", file);
    if (status == MFPG_OK && labels) status = mfpg_config_set_path(ctx, config, "data.labels", labels);
    if (status == MFPG_OK && !labels) status = mfpg_config_set(ctx, config, "data.labels=[]");
    if (status == MFPG_OK) status = mfpg_config_set(ctx, config, "data.first_rows=all");
    if (status == MFPG_OK) status = mfpg_config_set(ctx, config, "data.test_files=[]");
    if (status == MFPG_OK) status = mfpg_config_set(ctx, config, "data.test_labels=[]");
    if (status == MFPG_OK) status = mfpg_config_set(ctx, config, "data.test_fraction=0");
    return status;
}

static mfpg_status evaluate(
    mfpg_context *ctx, mfpg_experiment *experiment, const char *model_path, mfpg_metrics *out) {
    experiment->other_file = 1;
    mfpg_status status = mfpg_setup_data(ctx, experiment);
    if (status == MFPG_OK) status = mfpg_setup_model(ctx, experiment);
    if (status == MFPG_OK)
        status = mfpg_npy_read_vector(
            ctx, model_path, mfpg_model_parameters(experiment->model), &experiment->start);
    if (status != MFPG_OK) return status;
    return mfpg_pool_evaluate(ctx, experiment->data, 1, experiment->model, experiment->start, out);
}

/* Whoever gives the two names in the other order is told. */
static mfpg_status check_folder(mfpg_context *ctx, const char *folder) {
    struct stat info;
    if (stat(folder, &info) != 0) return mfpg_fail(ctx, MFPG_ERR_INPUT, "%s: %s", folder, strerror(errno));
    if (S_ISDIR(info.st_mode)) return MFPG_OK;
    return mfpg_fail(ctx, MFPG_ERR_INPUT,
        "%s: is a file, no run folder; the folder of the run comes first, then the data file", folder);
}

mfpg_status mfpg_evaluate_file(
    mfpg_context *ctx, const char *run_folder, const char *file, const char *labels, mfpg_metrics *out) {
    mfpg_experiment *experiment = mfpg_alloc(1, sizeof *experiment);
    char *config_path = mfpg_path_join(run_folder, "config.yaml"),
         *model_path = mfpg_path_join(run_folder, "model.npy");
    mfpg_status status = experiment && config_path && model_path ? MFPG_OK : mfpg_fail_memory(ctx);
    if (status == MFPG_OK) status = check_folder(ctx, run_folder);
    if (status == MFPG_OK) status = mfpg_config_load(ctx, config_path, &experiment->config);
    if (status == MFPG_OK) status = refuse_fitted(ctx, experiment->config);
    if (status == MFPG_OK) status = point_to_file(ctx, experiment->config, file, labels);
    if (status == MFPG_OK) status = evaluate(ctx, experiment, model_path, out);
    mfpg_experiment_destroy(experiment);
    free(config_path);
    free(model_path);
    return status;
}
