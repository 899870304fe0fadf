/* The accountants of clients. Most clients release the same thing in every round in which they take part.
 * For them the number of rounds is enough, and their accountant is created only when it is needed. A client
 * whose releases differ has an accountant of its own. */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "federation_core.h"

mfpg_accountant_options mfpg_federation_accountant_options(const mfpg_federation_options *options) {
    mfpg_accountant_options made = mfpg_accountant_options_default();
    made.promise = options->promise;
    made.paper = options->paper;
    return made;
}

int mfpg_federation_usual(const mfpg_federation *f, ptrdiff_t k, spending *out) {
    if (f->client[k].own) return 0;
    int64_t times = f->acting    ? 0 /* while its plan can change: nothing has been released yet */
                    : f->records ? f->records->is_noised[k]
                                 : f->client[k].rounds;
    *out = (spending){k, mfpg_federation_release(f, &f->usual, k), times};
    return 1;
}

static void clear(account_pair *accounts) {
    mfpg_accountant_destroy(accounts->certificate);
    mfpg_accountant_destroy(accounts->paper);
    accounts->certificate = accounts->paper = NULL;
}

static mfpg_status make(
    mfpg_context *ctx, const mfpg_federation_options *o, const spending *of, account_pair *out) {
    const mfpg_accountant_options options = mfpg_federation_accountant_options(o);
    const char *paper = o->paper_accountant;
    account_pair made = {0};
    mfpg_status status = mfpg_accountant_create(ctx, o->accountant, &options, &made.certificate);
    if (status == MFPG_OK && paper) status = mfpg_accountant_create(ctx, paper, &options, &made.paper);
    if (status == MFPG_OK)
        status = mfpg_accountant_record_times(ctx, made.certificate, &of->release, of->times);
    if (status == MFPG_OK && paper)
        status = mfpg_accountant_record_times(ctx, made.paper, &of->release, of->times);
    if (status == MFPG_OK)
        *out = made;
    else
        clear(&made);
    return status;
}

mfpg_status mfpg_account_cursor_set(
    mfpg_context *ctx, const mfpg_federation_options *options, const spending *of, account_cursor *cursor) {
    if (cursor->made.certificate && cursor->of.times == of->times &&
        mfpg_release_equal(&cursor->of.release, &of->release, MFPG_RELEASE_RECORDED))
        return MFPG_OK;
    mfpg_account_cursor_clear(cursor);
    cursor->of = *of;
    return make(ctx, options, of, &cursor->made);
}

const account_pair *mfpg_federation_accounts(
    mfpg_context *ctx, const mfpg_federation *f, ptrdiff_t k, account_cursor *cursor) {
    spending usual;
    if (!mfpg_federation_usual(f, k, &usual)) return f->client[k].own;
    return mfpg_account_cursor_set(ctx, &f->options, &usual, cursor) == MFPG_OK ? &cursor->made : NULL;
}

void mfpg_account_cursor_clear(account_cursor *cursor) {
    clear(&cursor->made);
}

mfpg_status mfpg_federation_record(
    mfpg_context *ctx, mfpg_federation *f, ptrdiff_t k, const mfpg_release *release) {
    client_state *client = &f->client[k];
    spending usual;
    mfpg_status status = MFPG_OK;
    if (mfpg_federation_usual(f, k, &usual)) {
        if (!f->acting && mfpg_release_equal(&usual.release, release, MFPG_RELEASE_RECORDED)) return MFPG_OK;
        account_pair *own = mfpg_alloc(1, sizeof *own);
        if (!own) return mfpg_fail_memory(ctx);
        status = make(ctx, &f->options, &usual, own);
        if (status != MFPG_OK) {
            free(own);
            return status;
        }
        client->own = own;
    }
    status = mfpg_accountant_record(ctx, client->own->certificate, release);
    /* the paper's formulas do not cover choices of actions */
    if (status == MFPG_OK && client->own->paper && !mfpg_release_is_choice(release))
        status = mfpg_accountant_record(ctx, client->own->paper, release);
    return status;
}

mfpg_status mfpg_federation_account(
    mfpg_context *ctx, mfpg_federation *f, mfpg_release_maker release, ptrdiff_t count) {
    mfpg_status status = MFPG_OK;
    /* in these cases the terms are always the usual ones, so nothing must be compared */
    int all_usual = !f->order && !f->records;
    for (ptrdiff_t i = 0; i < count && status == MFPG_OK && !all_usual; i++) {
        mfpg_release own = release(f, i);
        status = mfpg_federation_record(ctx, f, (ptrdiff_t)own.client, &own);
    }
    if (status != MFPG_OK || !f->ledger) return status;
    return mfpg_ledger_append_made(ctx, f->ledger, release, f, count);
}

void mfpg_federation_clear_accounts(mfpg_federation *f) {
    for (ptrdiff_t k = 0; f->client && k < f->clients; k++) {
        if (!f->client[k].own) continue;
        clear(f->client[k].own);
        free(f->client[k].own);
    }
}
