/* A run: its folder and ledger, the rounds with their checkpoints, and the files at the end. */
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
#include "mechanisms/mechanism_ops.h"
#include "internal.h"
#include "mfpg/program.h"

/* ---- the folder ---- */

/* A run folder belongs to one run. If several runs find it empty, the one that creates the ledger gets it. */
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

/* Writes config.yaml, which is part of the run's identity. */
static mfpg_status write_config(mfpg_context *ctx, mfpg_experiment *e, const char *folder) {
    char *text = NULL;
    size_t length = 0;
    FILE *stream = open_memstream(&text, &length);
    if (!stream) return mfpg_fail_memory(ctx);
    mfpg_status status = mfpg_config_write(ctx, e->config, stream);
    if (fclose(stream) != 0 && status == MFPG_OK) status = mfpg_fail_memory(ctx);
    if (status == MFPG_OK) {
        mfpg_experiment_identify(e, text, length);
        status = mfpg_file_write(ctx, folder, "config.yaml", text, length);
    }
    free(text);
    return status;
}

static mfpg_status open_ledger(mfpg_context *ctx, mfpg_experiment *e, const char *folder) {
    char *path = mfpg_path_join(folder, "ledger");
    if (!path) return mfpg_fail_memory(ctx);
    const mfpg_ledger_header header = mfpg_experiment_ledger_header(e);
    mfpg_status status = mfpg_ledger_create(ctx, path, &header, &e->ledger);
    if (status == MFPG_ERR_IO &&
        access(path, F_OK) == 0) /* another process created it, because a failed call leaves none */
        status = mfpg_fail(ctx, MFPG_ERR_INPUT,
            "%s: another run has just taken this folder; a run needs a folder of its own (--out)", folder);
    free(path);
    if (status == MFPG_OK) mfpg_federation_keep_ledger(e->federation, e->ledger);
    return status;
}

/* ---- what processes that train together must have in common. Each has read its own configuration and its
 * own copy of the data; with an older copy on one machine it would train other clients than those in the
 * ledger and the certificates ---- */

/* Compares the configurations as they were given, before values were resolved from data. */
static mfpg_status compare_texts(mfpg_context *ctx, const char *given, const char *first, size_t length) {
    mfpg_config *own = NULL, *other = NULL;
    mfpg_status status = mfpg_config_load_text(ctx, given, strlen(given), "configuration", NULL, &own);
    if (status == MFPG_OK) status = mfpg_config_load_text(ctx, first, length, "configuration", NULL, &other);
    if (status == MFPG_OK)
        status = mfpg_config_compare(ctx, own, "its configuration", other, "that of the first process", 1);
    mfpg_config_destroy(own);
    mfpg_config_destroy(other);
    return status;
}

static mfpg_status compare_configurations(mfpg_context *ctx, const mfpg_experiment *e) {
    char *given = e->checkpoints.given, *text = given;
    size_t length = strlen(given);
    mfpg_status status = mfpg_ranks_hand_out_block(ctx, &text, &length);
    if (status != MFPG_OK) return status;
    if (text != given) {
        status = compare_texts(ctx, given, text, length);
        free(text);
    }
    return mfpg_ranks_agree(ctx, status);
}

static mfpg_status compare_ranks(mfpg_context *ctx, mfpg_experiment *e) {
    if (mfpg_ranks_size(ctx) == 1) return MFPG_OK;
    mfpg_experiment_identify(e, "", 0);
    const mfpg_run_identity *own = &e->checkpoints.at.identity;
    mfpg_run_identity first = {0};
    mfpg_status status = compare_configurations(ctx, e);
    if (status != MFPG_OK) return status;
    if (mfpg_ranks_first(ctx)) { /* neither the key nor the configuration leaves the process */
        memcpy(first.data, own->data, sizeof first.data);
        memcpy(first.model, own->model, sizeof first.model);
        memcpy(first.plan, own->plan, sizeof first.plan);
    }
    status = mfpg_ranks_hand_out(ctx, &first, sizeof first);
    return status == MFPG_OK ? mfpg_ranks_agree(ctx,
                                   mfpg_compare_identities(ctx, own, &first, "its", "of the first process"))
                             : status;
}

/* ---- the rounds ---- */

static mfpg_status train(mfpg_context *ctx, mfpg_experiment *e, const mfpg_run_options *options) {
    int64_t planned = e->options.rounds;
    while (e->round_count < planned && !e->interrupted) {
        mfpg_round_report *report = &e->rounds[e->round_count];
        double begun = mfpg_clock_seconds();
        int done = 0;
        mfpg_status status = mfpg_federation_round(ctx, e->federation, report, &done);
        if (status != MFPG_OK) return status;
        if (done) break;
        if (e->sum_cost) e->sum_cost[e->round_count] = mfpg_federation_sum_cost(e->federation);
        e->seconds[e->round_count++] = mfpg_clock_seconds() - begun;
        if (options->progress) options->progress(options->progress_user, report, planned);
        int stop = options->stop && *options->stop;
        status = mfpg_ranks_any(ctx, &stop);
        if (status != MFPG_OK) return status;
        e->interrupted = stop && e->round_count < planned;
        status = mfpg_ranks_agree(ctx, mfpg_checkpoints_take(ctx, e, e->interrupted));
        if (status != MFPG_OK) return status;
    }
    return MFPG_OK;
}

static mfpg_status write_results(mfpg_context *ctx, mfpg_experiment *e, const char *folder) {
    const int places[] = {MFPG_ROUND_CSV, e->options.free_energy ? MFPG_ENERGY_CSV : 0,
        mfpg_experiment_projects(e) ? MFPG_TRANSPORT_CSV : 0};
    mfpg_status status = MFPG_OK;
    for (size_t i = 0; i < sizeof places / sizeof places[0] && status == MFPG_OK; i++)
        if (places[i])
            status = mfpg_run_write_rounds(
                ctx, folder, places[i], e->config->set.mechanism.particles, e->rounds, e->round_count);
    if (status == MFPG_OK) status = mfpg_run_write_clients(ctx, folder, e->federation, e->preference);
    if (status == MFPG_OK)
        status = mfpg_run_write_model(
            ctx, folder, mfpg_federation_model(e->federation), mfpg_model_parameters(e->model));
    if (status == MFPG_OK)
        status = mfpg_run_write_timings(ctx, folder, e->seconds, e->sum_cost, e->round_count);
    if (status != MFPG_OK) return status;
    json_t *summary = mfpg_summary_json(ctx, e);
    status = summary ? mfpg_run_write_json(ctx, folder, "summary.json", summary) : mfpg_fail_memory(ctx);
    json_decref(summary);
    return status;
}

/* Allocates before the first round, so that no privacy is spent on rounds that cannot be reported. */
static mfpg_status allocate_reports(mfpg_context *ctx, mfpg_experiment *e) {
    int64_t rounds = e->options.rounds;
    size_t each = sizeof *e->rounds + sizeof *e->seconds;
    e->rounds = mfpg_alloc((ptrdiff_t)rounds, sizeof *e->rounds);
    e->seconds = mfpg_alloc((ptrdiff_t)rounds, sizeof *e->seconds);
    int simulates = e->options.sum.simulate;
    if (simulates) e->sum_cost = mfpg_alloc((ptrdiff_t)rounds, sizeof *e->sum_cost);
    if (e->rounds && e->seconds && (e->sum_cost || !simulates)) return MFPG_OK;
    free(e->rounds);
    free(e->seconds);
    free(e->sum_cost);
    e->rounds = NULL;
    e->seconds = NULL;
    e->sum_cost = NULL;
    return mfpg_fail(ctx, MFPG_ERR_MEMORY,
        "out of memory: train.rounds: the reports of %lld rounds need %.3g MB, more than there is",
        (long long)rounds, (double)rounds * (double)each / 1e6);
}

/* Appends to the message how many rounds are complete, which files exist (each is complete or absent), and
 * how to resume the run if that may help. */
static mfpg_status tell_what_is_left(
    mfpg_context *ctx, const mfpg_experiment *e, const char *folder, mfpg_status status) {
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
        e->round_count, (long long)e->options.rounds, folder, list);
    int passing = status == MFPG_ERR_IO || status == MFPG_ERR_MEMORY || status == MFPG_ERR_INTERRUPTED;
    if (passing && e->checkpoints.path && access(e->checkpoints.path, F_OK) == 0)
        mfpg_fail_behind(ctx, status, "; to go on: mfpg run --resume %.200s", folder);
    return status;
}

/* Does everything from the first round to the last file. */
static mfpg_status train_and_write(
    mfpg_context *ctx, mfpg_experiment *e, const mfpg_run_options *options, const char *folder) {
    mfpg_status status = train(ctx, e, options);
    if (status == MFPG_OK && !e->interrupted) mfpg_loop_state_clear(&e->checkpoints.at.loop);
    if (status == MFPG_OK && mfpg_ranks_first(ctx)) status = mfpg_federation_certify(ctx, e->federation);
    if (status == MFPG_OK && folder) status = write_results(ctx, e, folder);
    status = mfpg_ranks_agree(ctx, status);
    if (status == MFPG_OK && e->interrupted) return mfpg_fail(ctx, MFPG_ERR_INTERRUPTED, "interrupted");
    /* If a model left the range of its numbers, it would do so again after resuming, so the checkpoint is
     * erased. */
    if (status == MFPG_OK || status == MFPG_ERR_NUMERIC) mfpg_checkpoints_erase(e);
    return status;
}

/* Creates the folder with everything that a run has before its first round, including the checkpoint. */
static mfpg_status begin(mfpg_context *ctx, mfpg_experiment *e, const char *folder) {
    mfpg_status status = find_empty_folder(ctx, folder);
    if (status == MFPG_OK) status = open_ledger(ctx, e, folder);
    if (status != MFPG_OK) return status;
    status = write_config(ctx, e, folder);
    return status == MFPG_OK ? status : tell_what_is_left(ctx, e, folder, status);
}

/* Does everything before the first round that is played. */
static mfpg_status prepare(mfpg_context *ctx, mfpg_experiment *e, const char *folder) {
    mfpg_status status = mfpg_ranks_agree(ctx, allocate_reports(ctx, e));
    if (status == MFPG_OK) status = compare_ranks(ctx, e);
    const char *own = e->checkpoints.folder; /* folder of a run that is continued, otherwise NULL */
    if (status == MFPG_OK && !own) status = mfpg_ranks_agree(ctx, folder ? begin(ctx, e, folder) : MFPG_OK);
    if (status == MFPG_OK && own) {
        if (mfpg_ranks_first(ctx) && (!folder || strcmp(folder, own) != 0))
            status = mfpg_fail(ctx, MFPG_ERR_INPUT, "a run goes on in its own folder, %s", own);
        status = mfpg_ranks_agree(ctx, status);
        if (status == MFPG_OK) status = mfpg_experiment_go_on(ctx, e, folder);
    }
    if (status != MFPG_OK) return status;
    status = mfpg_ranks_agree(ctx, mfpg_checkpoints_begin(ctx, e, folder));
    return status == MFPG_OK || !folder ? status : tell_what_is_left(ctx, e, folder, status);
}

mfpg_status mfpg_experiment_run(mfpg_context *ctx, mfpg_experiment *e, const mfpg_run_options *options) {
    const char *folder = mfpg_ranks_first(ctx) ? options->folder : NULL; /* the others write nothing */
    if (e->rounds) return mfpg_fail(ctx, MFPG_ERR_INPUT, "an experiment runs once");
    mfpg_status status =
        mfpg_experiment_check_solved(ctx, e, "`mfpg solve` shows the best profile that was found");
    if (status != MFPG_OK) return status;
    status = prepare(ctx, e, folder);
    free(e->action); /* the federation has them */
    e->action = NULL;
    if (status != MFPG_OK) return status;
    status = train_and_write(ctx, e, options, folder);
    return status == MFPG_OK || !folder ? status : tell_what_is_left(ctx, e, folder, status);
}
