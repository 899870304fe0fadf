/* A run: the rounds, the ledger beside them, and the files at the end. */
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/error.h"
#include "base/file.h"
#include "base/memory.h"
#include "base/ranks.h"
#include "federation/run_folder.h"
#include "internal.h"

static double seconds_now(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* A run folder tells one story. Of several runs that find it empty, the one that makes the ledger has it. */
static mfpg_status find_empty_folder(mfpg_context *ctx, const char *folder) {
    DIR *existing = opendir(folder);
    if (!existing && errno == ENOENT) return mfpg_folder_create(ctx, folder);
    if (!existing) return mfpg_fail(ctx, MFPG_ERR_INPUT, "%s: %s", folder, strerror(errno));
    int entries = 0;
    for (struct dirent *entry = readdir(existing); entry; entry = readdir(existing))
        entries += strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0;
    closedir(existing);
    if (entries == 0) return MFPG_OK;
    return mfpg_fail(
        ctx, MFPG_ERR_INPUT, "%s: the folder is not empty; a run needs a folder of its own (--out)", folder);
}

static mfpg_status write_config(mfpg_context *ctx, const mfpg_experiment *experiment, const char *folder) {
    char *path = mfpg_path_join(folder, "config.yaml");
    if (!path) return mfpg_fail_memory(ctx);
    mfpg_file file;
    mfpg_status status = mfpg_file_create(ctx, path, &file);
    free(path);
    if (status != MFPG_OK) return status;
    status = mfpg_config_write(ctx, experiment->config, file.stream);
    if (status == MFPG_OK) return mfpg_file_commit(ctx, &file);
    mfpg_file_abandon(&file);
    return status;
}

static mfpg_status open_ledger(mfpg_context *ctx, mfpg_experiment *experiment, const char *folder) {
    char *path = mfpg_path_join(folder, "ledger");
    if (!path) return mfpg_fail_memory(ctx);
    mfpg_ledger_header header = {
        .particles = mfpg_mechanism_particles(experiment->mechanisms.of_client[0]),
        .clients = experiment->data->clients,
        .promise = experiment->options.promise,
        .delta = experiment->options.delta,
        .seeded = experiment->key.seeded,
    };
    mfpg_status status = mfpg_ledger_create(ctx, path, &header, &experiment->ledger);
    if (status == MFPG_ERR_IO &&
        access(path, F_OK) == 0) /* made by somebody else: a failed call leaves none */
        status = mfpg_fail(ctx, MFPG_ERR_INPUT,
            "%s: another run has just taken this folder; a run needs a folder of its own (--out)", folder);
    free(path);
    if (status == MFPG_OK) mfpg_federation_keep_ledger(experiment->federation, experiment->ledger);
    return status;
}

static mfpg_status train(mfpg_context *ctx, mfpg_experiment *experiment, const mfpg_run_options *options) {
    int64_t planned = experiment->options.rounds;
    while (experiment->round_count < planned && !experiment->interrupted) {
        mfpg_round_report *report = &experiment->rounds[experiment->round_count];
        double begun = seconds_now();
        int done = 0;
        mfpg_status status = mfpg_federation_round(ctx, experiment->federation, report, &done);
        if (status != MFPG_OK) return status;
        if (done) break;
        experiment->seconds[experiment->round_count++] = seconds_now() - begun;
        if (options->progress) options->progress(options->progress_user, report, planned);
        int stop = options->stop && *options->stop;
        status = mfpg_ranks_any(ctx, &stop);
        if (status != MFPG_OK) return status;
        experiment->interrupted = stop && experiment->round_count < planned;
    }
    return MFPG_OK;
}

static mfpg_status write_results(mfpg_context *ctx, mfpg_experiment *experiment, const char *folder) {
    mfpg_status status = mfpg_run_write_rounds(ctx, folder, experiment->rounds, experiment->round_count);
    if (status == MFPG_OK && experiment->options.free_energy)
        status = mfpg_run_write_free_energy(ctx, folder, mfpg_config_particles(experiment->config),
            experiment->rounds, experiment->round_count);
    if (status == MFPG_OK)
        status = mfpg_run_write_clients(ctx, folder, experiment->federation, experiment->preference);
    if (status == MFPG_OK)
        status = mfpg_run_write_model(ctx, folder, mfpg_federation_model(experiment->federation),
            mfpg_model_parameters(experiment->model));
    if (status == MFPG_OK)
        status = mfpg_run_write_timings(ctx, folder, experiment->seconds, experiment->round_count);
    if (status != MFPG_OK) return status;
    json_t *summary = mfpg_summary_json(ctx, experiment);
    status = summary ? mfpg_run_write_json(ctx, folder, "summary.json", summary) : mfpg_fail_memory(ctx);
    json_decref(summary);
    return status;
}

/* Before the first round, so that no privacy is spent on rounds that cannot be reported. */
static mfpg_status allocate_reports(mfpg_context *ctx, mfpg_experiment *experiment) {
    int64_t rounds = experiment->options.rounds;
    size_t each = sizeof *experiment->rounds + sizeof *experiment->seconds;
    experiment->rounds = mfpg_alloc((ptrdiff_t)rounds, sizeof *experiment->rounds);
    experiment->seconds = mfpg_alloc((ptrdiff_t)rounds, sizeof *experiment->seconds);
    if (experiment->rounds && experiment->seconds) return MFPG_OK;
    free(experiment->rounds);
    free(experiment->seconds);
    experiment->rounds = NULL;
    experiment->seconds = NULL;
    return mfpg_fail(ctx, MFPG_ERR_MEMORY,
        "out of memory: train.rounds: the reports of %lld rounds need %.3g MB, more than there is",
        (long long)rounds, (double)rounds * (double)each / 1e6);
}

/* How far a run came, and which of its files are there: each is whole or absent under its name. Behind the message. */
static mfpg_status tell_what_is_left(
    mfpg_context *ctx, const mfpg_experiment *experiment, const char *folder, mfpg_status status) {
    char cause[MFPG_MESSAGE_SIZE], list[128] = "";
    for (size_t i = 0; i < MFPG_RUN_FILES; i++) {
        char *path = mfpg_path_join(folder, mfpg_run_file(i));
        size_t used = strlen(list);
        struct stat info;
        if (path && stat(path, &info) == 0 && S_ISREG(info.st_mode))
            snprintf(list + used, sizeof list - used, "%s%s", used ? ", " : "", mfpg_run_file(i));
        free(path);
    }
    memcpy(cause, ctx->message, sizeof cause);
    return mfpg_fail(ctx, status, "%.600s; completed: %td of %lld rounds; whole in %.200s: %s", cause,
        experiment->round_count, (long long)experiment->options.rounds, folder, list);
}

/* Everything from the first round to the last file. */
static mfpg_status train_and_write(
    mfpg_context *ctx, mfpg_experiment *experiment, const mfpg_run_options *options, const char *folder) {
    mfpg_status status = train(ctx, experiment, options);
    if (status == MFPG_OK && mfpg_ranks_first(ctx))
        status = mfpg_federation_certify(ctx, experiment->federation);
    if (status == MFPG_OK && folder) status = write_results(ctx, experiment, folder);
    status = mfpg_ranks_agree(ctx, status);
    if (status == MFPG_OK && experiment->interrupted)
        status = mfpg_fail(ctx, MFPG_ERR_INTERRUPTED, "interrupted");
    return status;
}

mfpg_status mfpg_experiment_run(
    mfpg_context *ctx, mfpg_experiment *experiment, const mfpg_run_options *options) {
    const char *folder = mfpg_ranks_first(ctx) ? options->folder : NULL; /* the others write nothing */
    if (experiment->rounds) return mfpg_fail(ctx, MFPG_ERR_INPUT, "an experiment runs once");
    if (experiment->equilibrium.action && !experiment->equilibrium.converged)
        return mfpg_fail(ctx, MFPG_ERR_NUMERIC,
            "the game was not solved: residual %.3g after %d iterations; `mfpg solve` shows the best profile "
            "that "
            "was found",
            experiment->equilibrium.residual, experiment->equilibrium.iterations);
    mfpg_status status = allocate_reports(ctx, experiment);
    if (status == MFPG_OK && folder) status = find_empty_folder(ctx, folder);
    if (status == MFPG_OK && folder) status = open_ledger(ctx, experiment, folder);
    status = mfpg_ranks_agree(ctx, status);
    if (status != MFPG_OK) return status;
    if (folder) status = write_config(ctx, experiment, folder);
    status = mfpg_ranks_agree(ctx, status);
    if (status == MFPG_OK) status = train_and_write(ctx, experiment, options, folder);
    return status == MFPG_OK || !folder ? status : tell_what_is_left(ctx, experiment, folder, status);
}
