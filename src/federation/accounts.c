/* The accountants of clients. Most clients release the same in every round that they take part in: their number of rounds then
 * says what an accountant would hold, and one is made when it is asked. Who releases anything else gets its own. */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "internal.h"

mfpg_accountant_options mfpg_federation_accountant_options(const mfpg_federation_options *options) {
    mfpg_accountant_options made = mfpg_accountant_options_default();
    made.promise = options->promise;
    made.paper = options->paper;
    return made;
}

int mfpg_federation_usual(const mfpg_federation *f, ptrdiff_t k, mfpg_release *release, int64_t *times) {
    if (f->client[k].own) return 0;
    *release = mfpg_federation_release(f, &f->usual, k);
    *times = f->options.acting                     ? 0 /* whose plan changes: nothing was released yet */
             : f->particles == MFPG_PARTICLES_DATA ? mfpg_federation_noised(f, k)
                                                   : f->client[k].rounds;
    return 1;
}

static void clear(account_pair *accounts) {
    mfpg_accountant_destroy(accounts->certificate);
    mfpg_accountant_destroy(accounts->paper);
    accounts->certificate = accounts->paper = NULL;
}

static mfpg_status make(mfpg_context *ctx, const mfpg_federation *f, const mfpg_release *release,
    int64_t times, account_pair *out) {
    const mfpg_accountant_options options = mfpg_federation_accountant_options(&f->options);
    const char *paper = f->options.paper_accountant;
    account_pair made = {0};
    mfpg_status status = mfpg_accountant_create(ctx, f->options.accountant, &options, &made.certificate);
    if (status == MFPG_OK && paper) status = mfpg_accountant_create(ctx, paper, &options, &made.paper);
    if (status == MFPG_OK) status = mfpg_accountant_record_times(ctx, made.certificate, release, times);
    if (status == MFPG_OK && paper) status = mfpg_accountant_record_times(ctx, made.paper, release, times);
    if (status == MFPG_OK)
        *out = made;
    else
        clear(&made);
    return status;
}

const account_pair *mfpg_federation_accounts(
    mfpg_context *ctx, const mfpg_federation *f, ptrdiff_t k, account_cursor *cursor) {
    mfpg_release release;
    int64_t times;
    if (!mfpg_federation_usual(f, k, &release, &times)) return f->client[k].own;
    if (cursor->made.certificate && cursor->times == times &&
        mfpg_release_equal(&cursor->release, &release, MFPG_RELEASE_RECORDED))
        return &cursor->made;
    mfpg_account_cursor_clear(cursor);
    cursor->release = release;
    cursor->times = times;
    return make(ctx, f, &release, times, &cursor->made) == MFPG_OK ? &cursor->made : NULL;
}

void mfpg_account_cursor_clear(account_cursor *cursor) {
    clear(&cursor->made);
}

mfpg_status mfpg_federation_record(
    mfpg_context *ctx, mfpg_federation *f, ptrdiff_t k, const mfpg_release *release) {
    client_state *client = &f->client[k];
    mfpg_release usual;
    int64_t times;
    mfpg_status status = MFPG_OK;
    if (mfpg_federation_usual(f, k, &usual, &times)) {
        if (!f->options.acting && mfpg_release_equal(&usual, release, MFPG_RELEASE_RECORDED)) return MFPG_OK;
        account_pair *own = mfpg_alloc(1, sizeof *own);
        if (!own) return mfpg_fail_memory(ctx);
        status = make(ctx, f, &usual, times, own);
        if (status != MFPG_OK) {
            free(own);
            return status;
        }
        client->own = own;
    }
    status = mfpg_accountant_record(ctx, client->own->certificate, release);
    /* the paper's formulas know nothing of choices */
    if (status == MFPG_OK && client->own->paper && !mfpg_release_is_choice(release))
        status = mfpg_accountant_record(ctx, client->own->paper, release);
    return status;
}

void mfpg_federation_clear_accounts(mfpg_federation *f) {
    for (ptrdiff_t k = 0; f->client && k < f->clients; k++) {
        if (!f->client[k].own) continue;
        clear(f->client[k].own);
        free(f->client[k].own);
    }
}
