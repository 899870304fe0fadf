/* What processes that train together have in common, looked at before the first round: each has read its own configuration and
 * its own copy of the data, and an older copy on one machine would train other clients than the ledger and the certificates
 * speak of. */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/ranks.h"
#include "internal.h"

static mfpg_status load(mfpg_context *ctx, const char *text, size_t length, mfpg_config **out) {
    return mfpg_config_load_text(ctx, text, length, "configuration", NULL, out);
}

/* The configurations as they were given, before any of it was resolved by data. */
static mfpg_status compare_texts(mfpg_context *ctx, const char *given, const char *first, size_t length) {
    mfpg_config *own = NULL, *other = NULL;
    mfpg_status status = load(ctx, given, strlen(given), &own);
    if (status == MFPG_OK) status = load(ctx, first, length, &other);
    if (status == MFPG_OK)
        status =
            mfpg_config_compare_values(ctx, own, "its configuration", other, "that of the first process");
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

static mfpg_status compare_identities(
    mfpg_context *ctx, const mfpg_run_identity *own, const mfpg_run_identity *first) {
    if (memcmp(own->data, first->data, MFPG_DIGEST_SIZE) != 0)
        return mfpg_fail(ctx, MFPG_ERR_INPUT,
            "its data are not those of the first process: other rows, values, or an order of their own "
            "(data.dir, data.files)");
    if (memcmp(own->model, first->model, MFPG_DIGEST_SIZE) != 0)
        return mfpg_fail(
            ctx, MFPG_ERR_INPUT, "its first model is not that of the first process (train.start)");
    if (memcmp(own->plan, first->plan, MFPG_DIGEST_SIZE) != 0)
        return mfpg_fail(ctx, MFPG_ERR_INPUT,
            "its game, actions, noise or weights are not those of the first process: a file that the "
            "configuration names differs");
    return MFPG_OK;
}

mfpg_status mfpg_experiment_compare_ranks(mfpg_context *ctx, mfpg_experiment *e) {
    if (mfpg_ranks_size(ctx) == 1) return MFPG_OK;
    mfpg_experiment_identify(e, "", 0);
    const mfpg_run_identity *own = &e->checkpoints.at.identity;
    mfpg_run_identity first = {0};
    mfpg_status status = compare_configurations(ctx, e);
    if (status != MFPG_OK) return status;
    if (mfpg_ranks_first(ctx)) {
        memcpy(first.data, own->data, sizeof first.data);
        memcpy(first.model, own->model, sizeof first.model);
        memcpy(first.plan, own->plan, sizeof first.plan);
    }
    status = mfpg_ranks_hand_out(ctx, &first, sizeof first);
    return status == MFPG_OK ? mfpg_ranks_agree(ctx, compare_identities(ctx, own, &first)) : status;
}
