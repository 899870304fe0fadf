/* A run: the rounds, the ledger and the checkpoint beside them, and the files at the end. */
#include <dirent.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/file.h"
#include "base/memory.h"
#include "base/ranks.h"
#include "federation/run_folder.h"
#include "internal.h"

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

static mfpg_status write_text(
    mfpg_context *ctx, const char *folder, const char *name, const char *text, size_t length) {
    mfpg_file file;
    mfpg_status status = mfpg_file_create_in(ctx, folder, name, &file);
    if (status != MFPG_OK) return status;
    fwrite(text, 1, length, file.stream);
    return mfpg_file_commit(ctx, &file);
}

/* config.yaml, which is a part of what the run is. */
static mfpg_status write_config(mfpg_context *ctx, mfpg_experiment *experiment, const char *folder) {
    char *text = NULL;
    size_t length = 0;
    FILE *stream = open_memstream(&text, &length);
    if (!stream) return mfpg_fail_memory(ctx);
    mfpg_status status = mfpg_config_write(ctx, experiment->config, stream);
    if (fclose(stream) != 0 && status == MFPG_OK) status = mfpg_fail_memory(ctx);
    if (status == MFPG_OK) {
        mfpg_experiment_identify(experiment, text, length);
        status = write_text(ctx, folder, "config.yaml", text, length);
    }
    free(text);
    return status;
}

mfpg_ledger_header mfpg_experiment_ledger_header(const mfpg_experiment *experiment) {
    const mfpg_federation_options *o = &experiment->options;
    int budget = isfinite(o->stop_at_epsilon);
    return (mfpg_ledger_header){
        .particles = mfpg_mechanism_particles(experiment->mechanisms.of_client[0]),
        .clients = experiment->data->clients,
        .promise = o->promise,
        .delta = o->delta,
        .seeded = experiment->key.seeded,
        .stop_at_epsilon = budget ? o->stop_at_epsilon : 0.0,
        .filter = !budget     ? MFPG_FILTER_ACCOUNTANT
                  : o->acting ? MFPG_FILTER_GDP
                              : o->filter,
    };
}

static mfpg_status open_ledger(mfpg_context *ctx, mfpg_experiment *experiment, const char *folder) {
    char *path = mfpg_path_join(folder, "ledger");
    if (!path) return mfpg_fail_memory(ctx);
    const mfpg_ledger_header header = mfpg_experiment_ledger_header(experiment);
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
        double begun = mfpg_clock_seconds();
        int done = 0;
        mfpg_status status = mfpg_federation_round(ctx, experiment->federation, report, &done);
        if (status != MFPG_OK) return status;
        if (done) break;
        experiment->seconds[experiment->round_count++] = mfpg_clock_seconds() - begun;
        if (options->progress) options->progress(options->progress_user, report, planned);
        int stop = options->stop && *options->stop;
        status = mfpg_ranks_any(ctx, &stop);
        if (status != MFPG_OK) return status;
        experiment->interrupted = stop && experiment->round_count < planned;
        status = mfpg_ranks_agree(ctx, mfpg_checkpoints_take(ctx, experiment, experiment->interrupted));
        if (status != MFPG_OK) return status;
    }
    return MFPG_OK;
}

static mfpg_status write_results(mfpg_context *ctx, mfpg_experiment *experiment, const char *folder) {
    const int places[] = {MFPG_ROUND_CSV, experiment->options.free_energy ? MFPG_ENERGY_CSV : 0,
        mfpg_experiment_projects(experiment) ? MFPG_TRANSPORT_CSV : 0};
    mfpg_status status = MFPG_OK;
    for (size_t i = 0; i < sizeof places / sizeof places[0] && status == MFPG_OK; i++)
        if (places[i])
            status = mfpg_run_write_rounds(ctx, folder, places[i], mfpg_config_particles(experiment->config),
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

/* 1 where the same run, told to go on, may come further. */
static int can_go_on(const mfpg_experiment *experiment, mfpg_status status) {
    int passing = status == MFPG_ERR_IO || status == MFPG_ERR_MEMORY || status == MFPG_ERR_INTERRUPTED;
    return passing && experiment->checkpoints.path && access(experiment->checkpoints.path, F_OK) == 0;
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
    mfpg_fail(ctx, status, "%.400s; completed: %td of %lld rounds; whole in %.200s: %s", cause,
        experiment->round_count, (long long)experiment->options.rounds, folder, list);
    if (can_go_on(experiment, status))
        mfpg_fail_behind(ctx, status, "; to go on: mfpg run --resume %.200s", folder);
    return status;
}

/* Everything from the first round to the last file. */
static mfpg_status train_and_write(
    mfpg_context *ctx, mfpg_experiment *experiment, const mfpg_run_options *options, const char *folder) {
    mfpg_status status = train(ctx, experiment, options);
    if (status == MFPG_OK && !experiment->interrupted)
        mfpg_loop_state_clear(&experiment->checkpoints.at.loop);
    if (status == MFPG_OK && mfpg_ranks_first(ctx))
        status = mfpg_federation_certify(ctx, experiment->federation);
    if (status == MFPG_OK && folder) status = write_results(ctx, experiment, folder);
    status = mfpg_ranks_agree(ctx, status);
    if (status == MFPG_OK && experiment->interrupted)
        return mfpg_fail(ctx, MFPG_ERR_INTERRUPTED, "interrupted");
    /* A model that left the range of its numbers would do so again. */
    if (status == MFPG_OK || status == MFPG_ERR_NUMERIC) mfpg_checkpoints_erase(experiment);
    return status;
}

/* The folder becomes the run's own, with everything in it that a run has before its first round and checkpoint. */
static mfpg_status begin(mfpg_context *ctx, mfpg_experiment *experiment, const char *folder) {
    mfpg_status status = find_empty_folder(ctx, folder);
    if (status == MFPG_OK) status = open_ledger(ctx, experiment, folder);
    if (status != MFPG_OK) return status;
    status = write_config(ctx, experiment, folder);
    return status == MFPG_OK ? status : tell_what_is_left(ctx, experiment, folder, status);
}

/* The same for one that was interrupted; collective. */
static mfpg_status go_on(mfpg_context *ctx, mfpg_experiment *experiment, const char *folder) {
    mfpg_status status = MFPG_OK;
    if (mfpg_ranks_first(ctx) && (!folder || strcmp(folder, experiment->checkpoints.folder) != 0))
        status = mfpg_fail(
            ctx, MFPG_ERR_INPUT, "a run goes on in its own folder, %s", experiment->checkpoints.folder);
    status = mfpg_ranks_agree(ctx, status);
    return status == MFPG_OK ? mfpg_experiment_go_on(ctx, experiment, folder) : status;
}

/* Everything before the first round that is played. */
static mfpg_status prepare(mfpg_context *ctx, mfpg_experiment *experiment, const char *folder) {
    mfpg_status status = mfpg_ranks_agree(ctx, allocate_reports(ctx, experiment));
    if (status == MFPG_OK) status = mfpg_experiment_compare_ranks(ctx, experiment);
    if (status == MFPG_OK && experiment->checkpoints.folder)
        status = go_on(ctx, experiment, folder);
    else if (status == MFPG_OK)
        status = mfpg_ranks_agree(ctx, folder ? begin(ctx, experiment, folder) : MFPG_OK);
    if (status != MFPG_OK) return status;
    status = mfpg_ranks_agree(ctx, mfpg_checkpoints_begin(ctx, experiment, folder));
    return status == MFPG_OK || !folder ? status : tell_what_is_left(ctx, experiment, folder, status);
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
    mfpg_status status = prepare(ctx, experiment, folder);
    free(experiment->action); /* the federation has them */
    experiment->action = NULL;
    if (status != MFPG_OK) return status;
    status = train_and_write(ctx, experiment, options, folder);
    return status == MFPG_OK || !folder ? status : tell_what_is_left(ctx, experiment, folder, status);
}
