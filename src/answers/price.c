/* What a schedule costs. */
#include <string.h>

#include "accountants/accounting.h"
#include "base/error.h"
#include "account_request.h"

/* The ends of the number that is asked for; of a formula that certifies nothing, the number alone. */
static mfpg_status ask(
    mfpg_context *ctx, const mfpg_question *q, const mfpg_accountant *accountant, mfpg_answer *out) {
    int wants_delta = account_given(q->epsilon);
    double *number = wants_delta ? &out->delta : &out->epsilon;
    if (!out->certifies)
        return wants_delta ? mfpg_accountant_delta(ctx, accountant, q->epsilon, number)
                           : mfpg_accountant_epsilon(ctx, accountant, out->delta, number);
    mfpg_bounds ends;
    mfpg_status status = wants_delta ? mfpg_accountant_delta_bounds(ctx, accountant, q->epsilon, &ends)
                                     : mfpg_accountant_epsilon_bounds(ctx, accountant, out->delta, &ends);
    *number = out->upper = ends.upper;
    out->lower = ends.lower;
    return status;
}

static mfpg_status solve(
    mfpg_context *ctx, const mfpg_question *q, const mfpg_accountant *accountant, mfpg_answer *out) {
    int facts = mfpg_accountant_facts(out->accountant);
    if ((facts & MFPG_ACCOUNTANT_TAKES_DELTA) && account_given(q->epsilon))
        return mfpg_fail(ctx, MFPG_ERR_INPUT, "%s has no delta of its own; give --delta", out->accountant);
    if (out->certifies && !q->order.value) out->mu = mfpg_accountant_mu(accountant);
    if (q->order.count == 1) out->rdp = mfpg_accountant_renyi(accountant, q->order.value[0]);
    out->epsilon = q->epsilon;
    out->delta = account_delta(q);
    mfpg_status status = ask(ctx, q, accountant, out);
    if (status == MFPG_OK && (facts & MFPG_ACCOUNTANT_BOUNDS_DISTANCE) && !account_given(q->epsilon))
        status = mfpg_accountant_delta(ctx, accountant, out->epsilon, &out->delta); /* the paper's pair */
    return status;
}

/* Where the composition cannot be enclosed as closely as asked, the answer says so. */
static void say_wide(const mfpg_question *q, double width, mfpg_answer *out) {
    double unit = account_given(q->epsilon) ? out->upper : fmax(1, out->upper);
    if (!(mfpg_accountant_facts(out->accountant) & MFPG_ACCOUNTANT_TAKES_WIDTH) || isinf(out->upper)) return;
    if (out->upper - out->lower > width * unit)
        account_assume(out,
            "(the truth may lie below: the two ends are further apart than the width %g asked for)", width);
}

static mfpg_status record_all(
    mfpg_context *ctx, mfpg_accountant *accountant, const account_schedule *schedule) {
    mfpg_status status = MFPG_OK;
    for (ptrdiff_t i = 0; i < schedule->count && status == MFPG_OK; i++)
        status = mfpg_accountant_record(ctx, accountant, &schedule->release[i]);
    return status;
}

static mfpg_status price(
    mfpg_context *ctx, const mfpg_question *q, const account_schedule *schedule, mfpg_answer *out) {
    const mfpg_accountant_options made = account_accountant_options(q);
    int sampled = schedule->rate < 1, example = q->unit < 0 ? sampled : q->unit;
    const char *name = account_accountant_name(q, sampled);
    mfpg_accountant *accountant = NULL;
    mfpg_status status = mfpg_accountant_create(ctx, name, &made, &accountant);
    if (status != MFPG_OK) return status;
    out->accountant = account_listed_name(name);
    out->adjacency = account_adjacency_name(q);
    out->unit = mfpg_unit_name(example ? MFPG_UNIT_EXAMPLE : MFPG_UNIT_CLIENT);
    out->view = mfpg_view_name(made.promise.view);
    out->certifies = mfpg_accountant_certifies(accountant);
    status = record_all(ctx, accountant, schedule);
    if (status == MFPG_OK) status = solve(ctx, q, accountant, out);
    mfpg_accountant_destroy(accountant);
    if (status != MFPG_OK) return status;
    if (out->certifies && made.promise.view != MFPG_VIEW_LOCAL)
        out->lower = 0; /* of the steps, if each were seen; what that view hides may be worth more */
    account_assume_schedule(out, q, schedule);
    say_wide(q, made.width, out);
    return MFPG_OK;
}

mfpg_status account_price(mfpg_context *ctx, const mfpg_question *q, mfpg_answer *out) {
    account_schedule schedule;
    mfpg_status status = account_read_schedule(ctx, q, &schedule);
    if (status == MFPG_OK) status = price(ctx, q, &schedule, out);
    account_schedule_clear(&schedule);
    return status;
}
