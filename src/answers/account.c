/* Answers: by whom, and what they assume. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "accountants/accounting.h"
#include "base/error.h"
#include "base/memory.h"
#include "mfpg/hidden_state.h"
#include "account_request.h"

/* ---- the accountant ---- */

mfpg_accountant_options account_accountant_options(const mfpg_question *q) {
    mfpg_accountant_options made = mfpg_accountant_options_default();
    made.promise.unit = MFPG_UNIT_EXAMPLE;
    made.promise.view = (mfpg_view)q->view;
    made.promise.adjacency = account_adjacency(q);
    made.orders = q->order.value;
    made.order_count = q->order.count;
    made.width = account_or(q->width, made.width);
    made.paper.dimension = account_or(q->dimension, made.paper.dimension);
    made.paper.clients = account_or(q->population, made.paper.clients);
    if (account_given(q->prior_variance)) made.paper.alpha = 1 / q->prior_variance;
    made.paper.variance_penalty = account_or(q->variance_penalty, made.paper.variance_penalty);
    made.paper.gradient_norm = account_or(q->gradient_norm, made.paper.gradient_norm);
    made.paper.step = account_or(q->step, made.paper.step);
    return made;
}

const char *account_accountant_name(const mfpg_question *q, int sampled) {
    if (q->accountant) return q->accountant;
    if (q->order.value) return mfpg_accountant_with(MFPG_ACCOUNTANT_TAKES_ORDERS);
    if (account_given(q->width)) return mfpg_accountant_with(MFPG_ACCOUNTANT_TAKES_WIDTH);
    return mfpg_accountant_default(MFPG_PARTICLES_PARAMETERS, sampled);
}

const char *account_listed_name(const char *name) {
    const char *listed = NULL;
    for (ptrdiff_t i = 0; (listed = mfpg_accountant_name(i)) && strcmp(listed, name) != 0; i++) {
    }
    return listed;
}

void account_fill_gdp(const mfpg_question *q, double mu, mfpg_answer *out) {
    int wants_delta = account_given(q->epsilon);
    out->mu = mu;
    out->epsilon = q->epsilon;
    out->delta = account_delta(q);
    if (wants_delta)
        out->delta = mfpg_gdp_delta(mu, q->epsilon);
    else
        out->epsilon = mfpg_gdp_epsilon(mu, out->delta);
    out->lower = 0;
    out->upper = wants_delta ? out->delta : out->epsilon;
}

/* ---- assumptions ---- */

static void clear_assumptions(mfpg_answer *answer) {
    for (ptrdiff_t i = 0; i < answer->assumptions; i++) free(answer->assumption[i]);
    free(answer->assumption);
    answer->assumption = NULL;
}

void account_assume(mfpg_answer *answer, const char *format, ...) {
    char text[512];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    if (answer->assumptions < 0) return;
    char **longer = mfpg_resize(answer->assumption, answer->assumptions + 1, sizeof *longer);
    if (longer) answer->assumption = longer;
    char *copy = longer ? mfpg_text_copy(text, strlen(text)) : NULL;
    if (copy) {
        answer->assumption[answer->assumptions++] = copy;
        return;
    }
    clear_assumptions(answer);
    answer->assumptions = -1;
}

void account_assume_records(mfpg_answer *answer) {
    account_assume(answer, "every record is noised once, before anything else reads it; what is computed "
                           "from the noised records is free");
    account_assume(answer, "labels are public: not protected; so is how many records there are");
}

static void assume_sampling(mfpg_answer *answer, const account_schedule *schedule) {
    if (schedule->rate >= 1) return;
    if (mfpg_accountant_facts(answer->accountant) & MFPG_ACCOUNTANT_CREDITS_SAMPLING)
        account_assume(answer,
            "Poisson sampling: every %s takes part in a step by a coin of its own, with the sampling rate%s, "
            "and whether it did stays hidden",
            answer->unit, schedule->several_rates ? " of the block" : " given");
    else
        account_assume(answer,
            "sampling rate %g is not credited: accounted as if everything took part in every step",
            schedule->rate);
}

static void assume_contribution(mfpg_answer *answer, const mfpg_question *q) {
    if (account_given(q->sensitivity))
        account_assume(
            answer, "a release moves by at most the sensitivity %g that was given", q->sensitivity);
    else if (account_given(q->mu))
        account_assume(answer, "every step is Gaussian-DP with the mu %g that was given", q->mu);
    else
        account_assume(answer, "every contribution is clipped to norm %g, flattened", account_clip(q));
    if (answer->adjacency && q->adjacency != ACCOUNT_REPLACE)
        account_assume(answer, "whoever is left out still adds its noise; weights and row counts are public");
}

void account_assume_schedule(mfpg_answer *answer, const mfpg_question *q, const account_schedule *schedule) {
    if (!answer->certifies) {
        account_assume(answer, "the paper's formula, for reproduction only: it bounds nothing");
        return;
    }
    account_assume(answer, "noise and number of steps are fixed in advance, or public");
    if (q->view != MFPG_VIEW_LOCAL)
        account_assume(answer, "view %s: charged as if every step were seen%s", answer->view,
            q->view == MFPG_VIEW_FINAL ? "; --assume says what the steps in between forget" : "");
    assume_contribution(answer, q);
    assume_sampling(answer, schedule);
}

/* ---- the answer ---- */

static mfpg_status answer_by_kind(mfpg_context *ctx, const mfpg_question *q, mfpg_answer *out) {
    if (q->kind == MFPG_QUESTION_CALIBRATE) return account_calibrate(ctx, q, out);
    if (q->ledger.text) return account_ledger(ctx, q, out);
    if (q->assume != MFPG_HIDDEN_NONE) return account_last_state(ctx, q, out);
    if (q->particles == MFPG_PARTICLES_DATA) return account_records(ctx, q, out);
    return account_price(ctx, q, out);
}

/* An infinite epsilon, or a delta of 1, promises nothing, whatever it assumes. And an answer that is finite although mu is
 * not credits sampling, which has none. */
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
    clear_assumptions(answer);
    mfpg_ledger_account *ledger = answer->ledger;
    for (int64_t i = 0; ledger && i < ledger->clients; i++) free(ledger->client[i].name);
    for (ptrdiff_t i = 0; ledger && i < ledger->files; i++) free(ledger->file[i].path);
    if (ledger) free(ledger->client);
    if (ledger) free(ledger->file);
    free(ledger);
    *answer = (mfpg_answer){0};
}
