/* Answers a question by calling the right part, and decides whether the answer is a certificate. */
#include <stdlib.h>

#include "account_request.h"
#include "base/error.h"

static mfpg_status answer_by_kind(mfpg_context *ctx, const mfpg_question *q, mfpg_answer *out) {
    if (q->kind == MFPG_QUESTION_CALIBRATE) return account_schedule(ctx, q, out);
    if (q->ledger.text) return account_ledger(ctx, q, out);
    if (q->assume != MFPG_HIDDEN_NONE) return account_last_state(ctx, q, out);
    if (q->particles == MFPG_PARTICLES_DATA) return account_records(ctx, q, out);
    return account_schedule(ctx, q, out);
}

/* An infinite epsilon or a delta of 1 promises nothing, whatever is assumed. A finite answer without a
 * finite mu credits sampling, for which mu does not exist. */
static void judge(mfpg_answer *answer) {
    answer->certificate = answer->certifies && isfinite(answer->epsilon) && answer->delta < 1;
    if (isinf(answer->mu) && answer->certificate) answer->mu = (double)NAN;
}

mfpg_status mfpg_question_answer(mfpg_context *ctx, const mfpg_question *question, mfpg_answer *out) {
    mfpg_answer made = {.mu = (double)NAN,
        .rdp = (double)NAN,
        .lower = (double)NAN,
        .upper = (double)NAN,
        .contraction = (double)NAN};
    mfpg_status status = account_check(ctx, question);
    if (status == MFPG_OK) status = answer_by_kind(ctx, question, &made);
    if (status == MFPG_OK && made.assumptions < 0) status = mfpg_fail_memory(ctx);
    if (status != MFPG_OK) {
        mfpg_answer_clear(&made);
        return status;
    }
    judge(&made);
    *out = made;
    return MFPG_OK;
}

void mfpg_answer_clear(mfpg_answer *answer) {
    if (!answer) return;
    for (ptrdiff_t i = 0; i < answer->assumptions; i++) free(answer->assumption[i]);
    free(answer->assumption);
    mfpg_ledger_account *ledger = answer->ledger;
    for (int64_t i = 0; ledger && i < ledger->clients; i++) free(ledger->client[i].name);
    for (ptrdiff_t i = 0; ledger && i < ledger->files; i++) free(ledger->file[i].path);
    if (ledger) free(ledger->client);
    if (ledger) free(ledger->file);
    free(ledger);
    *answer = (mfpg_answer){0};
}
