/* Continues an interrupted run: everything is built again, compared with the identity of the run, and set to
 * its checkpoint. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <sodium.h>

#include "base/error.h"
#include "base/file.h"
#include "base/memory.h"
#include "base/ranks.h"
#include "federation/run_folder.h"
#include "internal.h"

enum { CONFIG_LIMIT = 1 << 24 };

/* ---- the folder ---- */

/* Returns 1 for a regular file; a link to one does not count. */
static int is_file(const char *path) {
    struct stat info;
    return lstat(path, &info) == 0 && S_ISREG(info.st_mode);
}

/* Sets *yes to whether the summary of the folder says that its run is complete. If the summary cannot be
 * read, the answer is no. */
static mfpg_status ask_complete(mfpg_context *ctx, const char *folder, int *yes) {
    json_error_t fault = {0};
    char *path = mfpg_path_join(folder, "summary.json");
    if (!path) return mfpg_fail_memory(ctx);
    json_t *summary = json_load_file(path, 0, &fault);
    const char *status = json_string_value(json_object_get(summary, "status"));
    *yes = status && strcmp(status, "complete") == 0;
    int full = !summary && (json_error_code(&fault) == json_error_out_of_memory || !fault.text[0]);
    json_decref(summary);
    free(path);
    return full ? mfpg_fail_memory(ctx) : MFPG_OK;
}

/* Why there is nothing to resume. */
static mfpg_status fail_without_checkpoint(mfpg_context *ctx, const char *folder) {
    struct stat info;
    if (stat(folder, &info) != 0)
        return mfpg_fail(ctx, MFPG_ERR_INPUT, "%s: %s; there is no run to resume", folder, strerror(errno));
    if (!S_ISDIR(info.st_mode)) return mfpg_fail(ctx, MFPG_ERR_INPUT, "%s: not a run folder", folder);
    if (access(folder, X_OK) != 0) return mfpg_fail(ctx, MFPG_ERR_INPUT, "%s: %s", folder, strerror(errno));
    int complete = 0;
    mfpg_status status = ask_complete(ctx, folder, &complete);
    if (status != MFPG_OK) return status;
    if (complete)
        return mfpg_fail(
            ctx, MFPG_ERR_INPUT, "%s: the run in it is complete; there is nothing to resume", folder);
    char *ledger = mfpg_path_join(folder, mfpg_run_file(0));
    if (!ledger) return mfpg_fail_memory(ctx);
    int has_ledger = is_file(ledger);
    free(ledger);
    if (!has_ledger)
        return mfpg_fail(
            ctx, MFPG_ERR_INPUT, "%s: not a run folder: it has neither a checkpoint nor a ledger", folder);
    return mfpg_fail(ctx, MFPG_ERR_INPUT,
        "%s: there is no checkpoint: the run ended before its first one, or failed for good, or "
        "train.checkpoint is none. It cannot go on; what its ledger lists stays released",
        folder);
}

static mfpg_status read_checkpoint(mfpg_context *ctx, const char *folder, mfpg_checkpoint *out) {
    char *path = mfpg_path_join(folder, MFPG_CHECKPOINT);
    if (!path) return mfpg_fail_memory(ctx);
    if (!is_file(path)) {
        free(path);
        return fail_without_checkpoint(ctx, folder);
    }
    mfpg_status status = mfpg_checkpoint_read(ctx, path, out);
    if (status == MFPG_ERR_INPUT)
        mfpg_fail_behind(
            ctx, status, "; the run cannot go on from it, and what its ledger lists stays released");
    free(path);
    return status;
}

/* ---- before the experiment is built ---- */

/* Loads the configuration as it was given, with the name that its file had given it. */
static mfpg_status load_given(
    mfpg_context *ctx, const char *folder, const mfpg_checkpoint *checkpoint, mfpg_config **out) {
    const char *text = checkpoint->identity.config;
    char *path = mfpg_path_join(folder, MFPG_CHECKPOINT);
    mfpg_status status =
        path ? mfpg_config_load_text(ctx, text, strlen(text), path, NULL, out) : mfpg_fail_memory(ctx);
    free(path);
    return status;
}

mfpg_status mfpg_run_configuration(mfpg_context *ctx, const char *folder, mfpg_config **out) {
    mfpg_checkpoint checkpoint = {0};
    mfpg_status status = read_checkpoint(ctx, folder, &checkpoint);
    if (status == MFPG_OK) status = load_given(ctx, folder, &checkpoint, out);
    mfpg_checkpoint_clear(&checkpoint);
    return status;
}

/* Builds the experiment whose run in that folder ("" except on the first rank) left the checkpoint; config
 * is what the user claims it to be, or NULL. */
static mfpg_status build(mfpg_context *ctx, const char *folder, const mfpg_config *config,
    const mfpg_checkpoint *checkpoint, mfpg_experiment **out) {
    mfpg_config *given = NULL;
    char *name = mfpg_text_copy(folder, strlen(folder));
    mfpg_status status = name ? load_given(ctx, folder, checkpoint, &given) : mfpg_fail_memory(ctx);
    if (status == MFPG_OK && config && folder[0]) {
        status = mfpg_config_compare(ctx, config, "this configuration", given, "that of the run", 0);
        if (status == MFPG_ERR_INPUT)
            mfpg_fail_in(ctx, status, "%s: cannot go on with another configuration", folder);
    }
    status = mfpg_ranks_agree(ctx, status);
    if (status == MFPG_OK) {
        status =
            mfpg_experiment_build(ctx, mfpg_config_check(ctx, given), given, &checkpoint->identity.key, out);
        given = NULL; /* the experiment has it */
    }
    if (status == MFPG_OK) {
        run_checkpoints *own = &(*out)->checkpoints;
        own->folder = name;
        own->resumed_round = checkpoint->loop.round;
        memcpy(own->resumed, checkpoint->told.checksum, sizeof own->resumed);
        return MFPG_OK;
    }
    mfpg_config_destroy(given);
    free(name);
    return status;
}

mfpg_status mfpg_experiment_resume(
    mfpg_context *ctx, const char *folder, const mfpg_config *config, mfpg_experiment **out) {
    mfpg_checkpoint checkpoint = {0};
    int first = mfpg_ranks_first(ctx);
    if (!first) folder = ""; /* and no other process needs it */
    mfpg_status status = mfpg_ranks_agree(ctx, first ? read_checkpoint(ctx, folder, &checkpoint) : MFPG_OK);
    if (status == MFPG_OK) status = mfpg_checkpoint_hand_out(ctx, MFPG_CHECKPOINT, &checkpoint);
    if (status == MFPG_OK) status = build(ctx, folder, config, &checkpoint, out);
    mfpg_checkpoint_clear(&checkpoint);
    return status;
}

int64_t mfpg_experiment_resumed_round(const mfpg_experiment *experiment) {
    return experiment->checkpoints.folder ? experiment->checkpoints.resumed_round : -1;
}

/* ---- before the first repeated round ---- */

static int differs(const unsigned char a[MFPG_DIGEST_SIZE], const unsigned char b[MFPG_DIGEST_SIZE]) {
    return memcmp(a, b, MFPG_DIGEST_SIZE) != 0;
}

/* Fails and names the key of the run's config.yaml whose value is not the resolved one, if there is such a
 * key. */
static mfpg_status fail_config(mfpg_context *ctx, const mfpg_experiment *e, const char *path) {
    mfpg_config *now = NULL;
    mfpg_status status = mfpg_config_load(ctx, path, &now);
    if (status == MFPG_OK)
        status = mfpg_config_compare(ctx, now, "the file", e->config, "the run that it is of", 0);
    mfpg_config_destroy(now);
    if (status == MFPG_ERR_INPUT) return mfpg_fail_in(ctx, status, "%s: was changed", path);
    if (status != MFPG_OK) return status;
    return mfpg_fail(ctx, MFPG_ERR_INPUT, "%s: was changed since the run began", path);
}

/* Adds the present content of config.yaml to the experiment's identity, which must equal that of the run. */
static mfpg_status check_identity(
    mfpg_context *ctx, mfpg_experiment *e, const char *folder, const mfpg_run_identity *run) {
    const mfpg_run_identity *own = &e->checkpoints.at.identity;
    char *path = mfpg_path_join(folder, "config.yaml"), *text = NULL;
    size_t length = 0;
    mfpg_status status =
        path ? mfpg_file_read(ctx, path, CONFIG_LIMIT, &text, &length) : mfpg_fail_memory(ctx);
    if (status == MFPG_OK) {
        mfpg_experiment_identify(e, text, length);
        if (differs(own->written, run->written)) {
            status = fail_config(ctx, e, path);
        } else {
            status = mfpg_compare_identities(ctx, own, run, "the", "that the run began with");
            if (status == MFPG_OK && (own->key.seeded != run->key.seeded ||
                                         memcmp(own->key.bytes, run->key.bytes, sizeof own->key.bytes) != 0))
                status = mfpg_fail(ctx, MFPG_ERR_INPUT, "the checkpoint's key is not that of the seed");
            if (status != MFPG_OK) mfpg_fail_in(ctx, status, "%s", folder);
        }
    }
    free(text);
    free(path);
    return status;
}

static mfpg_status check_ledger(
    mfpg_context *ctx, const mfpg_experiment *e, const char *path, const mfpg_ledger_end *expected) {
    const mfpg_ledger_end end = mfpg_ledger_tell(e->ledger).repeated;
    if (end.lines == expected->lines && strcmp(end.chain, expected->chain) == 0) return MFPG_OK;
    return mfpg_fail(ctx, MFPG_ERR_INPUT,
        "%s: has %lld lines up to round %lld, the checkpoint was written after %lld, or others: lines were "
        "removed or replaced",
        path, (long long)end.lines, (long long)e->checkpoints.resumed_round, (long long)expected->lines);
}

static mfpg_status restore(mfpg_context *ctx, mfpg_experiment *e, const char *ledger, mfpg_checkpoint *c) {
    mfpg_status status =
        mfpg_federation_restore(ctx, e->federation, &c->loop, ledger, mfpg_announcements_know, &c->told);
    if (status != MFPG_OK) return status;
    e->round_count = (ptrdiff_t)c->loop.round;
    memcpy(e->rounds, c->rounds, (size_t)e->round_count * sizeof *e->rounds);
    memcpy(e->seconds, c->seconds, (size_t)e->round_count * sizeof *e->seconds);
    if (!mfpg_ranks_first(ctx)) return MFPG_OK; /* which tells nobody */
    e->checkpoints.at.told = c->told;           /* and what is in it */
    c->told = (mfpg_announcements){0};
    return MFPG_OK;
}

/* Removes results, because they cover fewer rounds than the ledger will list. */
static void remove_results(const char *folder) {
    for (size_t i = MFPG_RUN_FILES; i > 2; i--) { /* the summary first; ledger and configuration stay */
        char *path = mfpg_path_join(folder, mfpg_run_file(i - 1));
        if (path) unlink(path);
        free(path);
    }
}

/* On the first rank: opens the ledger, and checks that ledger, checkpoint, configuration and experiment
 * belong to one run. */
static mfpg_status open_folder(
    mfpg_context *ctx, mfpg_experiment *e, const char *folder, const char *ledger, mfpg_checkpoint *c) {
    const mfpg_ledger_header header = mfpg_experiment_ledger_header(e);
    /* Only one process can have a run's ledger open; a later one is refused. */
    mfpg_status status =
        ledger ? mfpg_ledger_resume(ctx, ledger, &header, e->checkpoints.resumed_round + 1, &e->ledger)
               : mfpg_fail_memory(ctx);
    if (status == MFPG_OK) status = read_checkpoint(ctx, folder, c);
    if (status == MFPG_OK && differs(c->told.checksum, e->checkpoints.resumed))
        status = mfpg_fail(ctx, MFPG_ERR_INPUT, "%s: another process has just gone on with it", folder);
    if (status == MFPG_OK) status = check_ledger(ctx, e, ledger, &c->ledger);
    return status == MFPG_OK ? check_identity(ctx, e, folder, &c->identity) : status;
}

mfpg_status mfpg_experiment_go_on(mfpg_context *ctx, mfpg_experiment *e, const char *folder) {
    mfpg_checkpoint checkpoint = {0};
    char *path = folder ? mfpg_path_join(folder, mfpg_run_file(0)) : NULL;
    mfpg_status status =
        mfpg_ranks_agree(ctx, folder ? open_folder(ctx, e, folder, path, &checkpoint) : MFPG_OK);
    if (status == MFPG_OK) status = mfpg_checkpoint_hand_out(ctx, MFPG_CHECKPOINT, &checkpoint);
    if (status == MFPG_OK) {
        status = restore(ctx, e, path, &checkpoint);
        if (status == MFPG_ERR_INPUT && folder)
            mfpg_fail_in(ctx, status, "%s: the checkpoint does not fit the run", folder);
    }
    if (status == MFPG_OK && folder) {
        remove_results(folder);
        mfpg_federation_keep_ledger(e->federation, e->ledger);
    }
    mfpg_checkpoint_clear(&checkpoint);
    free(path);
    return status;
}
