/* Which options go together. What does not is refused, not ignored: nobody should believe that it did something. */
#include <string.h>

#include "accountants/accounting.h"
#include "base/error.h"
#include "mfpg/hidden_state.h"
#include "account_request.h"

static mfpg_status exclude(
    mfpg_context *ctx, const mfpg_question *q, const char *owner, const char *const *names) {
    const char *other = account_first_given(q, names);
    return other ? mfpg_fail(ctx, MFPG_ERR_INPUT, "--%s and --%s exclude each other; give one", owner, other)
                 : MFPG_OK;
}

static int has_fact(const mfpg_question *q, int fact) {
    return (mfpg_accountant_facts(q->accountant) & fact) != 0;
}

/* ---- both kinds of question ---- */

static mfpg_status check_promise(mfpg_context *ctx, const mfpg_question *q) {
    static const char *const of_blocks[] = {"steps", "sampling-rate", NULL};
    static const char *const of_sensitivity[] = {"clip", "adjacency", NULL};
    mfpg_status status = MFPG_OK;
    if (q->blocks) status = exclude(ctx, q, "blocks", of_blocks);
    if (status == MFPG_OK && account_given(q->sensitivity))
        status = exclude(ctx, q, "sensitivity", of_sensitivity);
    if (status != MFPG_OK) return status;
    if (account_given(q->step) && !account_is_entropic(q))
        return mfpg_fail(ctx, MFPG_ERR_INPUT, "--step belongs to --mechanism entropic");
    if (q->order.value && q->accountant && !has_fact(q, MFPG_ACCOUNTANT_TAKES_ORDERS))
        return mfpg_fail(ctx, MFPG_ERR_INPUT, "--order belongs to --accountant rdp");
    if (account_given(q->width) &&
        (q->order.value || (q->accountant && !has_fact(q, MFPG_ACCOUNTANT_TAKES_WIDTH))))
        return mfpg_fail(ctx, MFPG_ERR_INPUT, "--width belongs to --accountant exact");
    return MFPG_OK;
}

/* ---- account: of a ledger ---- */

static mfpg_status check_ledger(mfpg_context *ctx, const mfpg_question *q) {
    static const char *const others[] = {"noise-multiplier", "strength", "step", "mu", "steps",
        "sampling-rate", "clip", "sensitivity", "width", "dimension", "population", "prior-variance",
        "variance-penalty", "gradient-norm", "input-smoothness", "smoothness", "strong-convexity",
        "projection-radius", NULL};
    static const char *const never[] = {
        "mechanism", "blocks", "order", "unit", "particles", "exogenous", NULL};
    if (q->view || q->assume || has_fact(q, MFPG_ACCOUNTANT_CREDITS_FORGETTING))
        return mfpg_fail(ctx, MFPG_ERR_INPUT,
            "--ledger has a view of its own, and no credit for hidden states is given from a ledger: it does "
            "not hold what was assumed of the loss");
    if (account_first_given(q, never))
        return mfpg_fail(ctx, MFPG_ERR_INPUT,
            "--ledger goes with --accountant, --delta, --epsilon, --adjacency and --json only");
    if (q->adjacency == ACCOUNT_ADD || q->adjacency == ACCOUNT_REMOVE)
        return mfpg_fail(ctx, MFPG_ERR_INPUT,
            "--adjacency: found '%s'; with --ledger allowed: zero-out, replace",
            mfpg_adjacency_name(account_adjacency(q)));
    return exclude(ctx, q, "ledger", others);
}

/* ---- account: of a schedule ---- */

static mfpg_status check_mechanism(mfpg_context *ctx, const mfpg_question *q) {
    int entropic = account_given(q->strength);
    int sources = account_given(q->noise_multiplier) + entropic + account_given(q->mu) + (q->blocks != NULL);
    if (sources == 0)
        return mfpg_fail(ctx, MFPG_ERR_INPUT,
            "nothing to account for; give one of --noise-multiplier, --strength, --mu, --blocks, --ledger");
    if (sources > 1)
        return mfpg_fail(ctx, MFPG_ERR_INPUT,
            "--noise-multiplier, --strength, --mu and --blocks exclude each other; give one");
    if (q->mechanism == ACCOUNT_ENTROPIC && !entropic)
        return mfpg_fail(ctx, MFPG_ERR_INPUT, "--mechanism entropic needs --strength");
    if (q->mechanism == ACCOUNT_GAUSSIAN && entropic)
        return mfpg_fail(ctx, MFPG_ERR_INPUT, "--strength belongs to --mechanism entropic");
    return MFPG_OK;
}

/* What only noised records have, and what they do not have. */
static mfpg_status check_particles(mfpg_context *ctx, const mfpg_question *q) {
    static const char *const of_data[] = {"input-smoothness", "exogenous", NULL};
    static const char *const not_of_data[] = {
        "sampling-rate", "mu", "width", "dimension", "population", "gradient-norm", "blocks", "order", NULL};
    static const char *const of_flow[] = {
        "exogenous", "steps", "input-smoothness", "prior-variance", "variance-penalty", NULL};
    int data = q->particles == MFPG_PARTICLES_DATA;
    const char *wrong = account_first_given(q, data ? not_of_data : of_data);
    if (wrong && !data) return mfpg_fail(ctx, MFPG_ERR_INPUT, "--%s belongs to --particles data", wrong);
    if (wrong)
        return mfpg_fail(
            ctx, MFPG_ERR_INPUT, "--%s does not go with --particles data, which are noised once", wrong);
    if (!data || account_given(q->strength)) return MFPG_OK;
    wrong = account_first_given(q, of_flow);
    return wrong
               ? mfpg_fail(ctx, MFPG_ERR_INPUT,
                     "--%s belongs to --mechanism entropic; Gaussian noise on the records is drawn once, and "
                     "nothing that follows costs anything",
                     wrong)
               : MFPG_OK;
}

static mfpg_status check_no_assumption(mfpg_context *ctx, const mfpg_question *q) {
    static const char *const of_assumption[] = {"smoothness", "strong-convexity", "projection-radius", NULL};
    const char *number = account_first_given(q, of_assumption);
    if (number) return mfpg_fail(ctx, MFPG_ERR_INPUT, "--%s belongs to --assume", number);
    if (has_fact(q, MFPG_ACCOUNTANT_CREDITS_FORGETTING))
        return mfpg_fail(ctx, MFPG_ERR_INPUT, "--accountant hidden-state needs --view final and --assume");
    return MFPG_OK;
}

static mfpg_status check_assumption(mfpg_context *ctx, const mfpg_question *q) {
    static const char *const not_hidden[] = {
        "noise-multiplier", "mu", "width", "input-smoothness", "blocks", "order", NULL};
    const char *other = account_first_given(q, not_hidden);
    if (q->view != MFPG_VIEW_FINAL)
        return mfpg_fail(
            ctx, MFPG_ERR_INPUT, "--assume needs --view final: states that are seen are not hidden");
    if (other || !account_given(q->strength))
        return mfpg_fail(ctx, MFPG_ERR_INPUT, "--assume goes with --mechanism entropic and --strength%s%s",
            other ? ", not with --" : "", other ? other : "");
    if (q->accountant && !has_fact(q, MFPG_ACCOUNTANT_CREDITS_FORGETTING))
        return mfpg_fail(ctx, MFPG_ERR_INPUT,
            "--assume is priced by accountant hidden-state; --accountant %s knows no view", q->accountant);
    if (!account_given(q->smoothness))
        return mfpg_fail(ctx, MFPG_ERR_INPUT,
            "--assume %s needs --smoothness, a public bound on the Hessian's norm",
            mfpg_hidden_case_name(q->assume));
    if (account_or(q->strong_convexity, 0) > q->smoothness)
        return mfpg_fail(ctx, MFPG_ERR_INPUT,
            "--strong-convexity: found %g; allowed: a number from 0 up to --smoothness, which is %g",
            q->strong_convexity, q->smoothness);
    return MFPG_OK;
}

static mfpg_status check_view(mfpg_context *ctx, const mfpg_question *q) {
    if (q->particles == MFPG_PARTICLES_DATA && (q->view || q->assume))
        return mfpg_fail(ctx, MFPG_ERR_INPUT,
            "--%s is about parameters; of noised records --exogenous says that the last state alone is seen",
            q->assume ? "assume" : "view");
    return q->assume == MFPG_HIDDEN_NONE ? check_no_assumption(ctx, q) : check_assumption(ctx, q);
}

static mfpg_status check_account(mfpg_context *ctx, const mfpg_question *q) {
    static const char *const of_mu[] = {"clip", "sensitivity", "sampling-rate", "adjacency", NULL};
    static const char *const of_delta[] = {"epsilon", NULL};
    mfpg_status status = check_mechanism(ctx, q);
    if (status == MFPG_OK) status = check_particles(ctx, q);
    if (status == MFPG_OK && account_given(q->mu)) status = exclude(ctx, q, "mu", of_mu);
    if (status == MFPG_OK) status = check_promise(ctx, q);
    if (status == MFPG_OK) status = check_view(ctx, q);
    if (status == MFPG_OK && account_given(q->delta)) status = exclude(ctx, q, "delta", of_delta);
    return status;
}

/* ---- calibrate ---- */

/* What is solved in blocks is the number that is written ?. */
static mfpg_status check_solved_blocks(mfpg_context *ctx, const mfpg_question *q) {
    static const char *const others[] = {"noise-multiplier", "strength", NULL};
    if (q->solve >= 0)
        return mfpg_fail(
            ctx, MFPG_ERR_INPUT, "--blocks and --solve exclude each other; write ? for what is solved");
    if (q->mechanism == ACCOUNT_ENTROPIC)
        return mfpg_fail(ctx, MFPG_ERR_INPUT, "--blocks belongs to --mechanism gaussian");
    return exclude(ctx, q, "blocks", others);
}

static mfpg_status check_solved(mfpg_context *ctx, const mfpg_question *q) {
    int entropic = account_is_entropic(q), noise_solved = q->solve <= ACCOUNT_NOISE;
    const char *noise = entropic ? "strength" : "noise-multiplier";
    double given = entropic ? q->strength : q->noise_multiplier;
    if (q->mechanism == ACCOUNT_GAUSSIAN && account_given(q->strength))
        return mfpg_fail(ctx, MFPG_ERR_INPUT, "--strength belongs to --mechanism entropic");
    if (entropic && account_given(q->noise_multiplier))
        return mfpg_fail(ctx, MFPG_ERR_INPUT, "--noise-multiplier belongs to --mechanism gaussian");
    if (noise_solved && account_given(given))
        return mfpg_fail(
            ctx, MFPG_ERR_INPUT, "--%s is what is solved; --solve rate and --solve steps take it", noise);
    if (!noise_solved && !account_given(given))
        return mfpg_fail(
            ctx, MFPG_ERR_INPUT, "--solve %s needs --%s", q->solve == ACCOUNT_RATE ? "rate" : "steps", noise);
    if (q->solve == ACCOUNT_RATE && account_given(q->sampling_rate))
        return mfpg_fail(ctx, MFPG_ERR_INPUT, "--sampling-rate is what --solve rate finds");
    if (q->solve == ACCOUNT_STEPS && account_given(q->steps))
        return mfpg_fail(ctx, MFPG_ERR_INPUT, "--steps is what --solve steps finds");
    return MFPG_OK;
}

static mfpg_status check_calibrate(mfpg_context *ctx, const mfpg_question *q) {
    if (!account_given(q->epsilon)) return mfpg_fail(ctx, MFPG_ERR_INPUT, "no target; give --epsilon");
    mfpg_status status = q->blocks ? check_solved_blocks(ctx, q) : check_solved(ctx, q);
    if (status != MFPG_OK) return status;
    if (q->steps == 0)
        return mfpg_fail(ctx, MFPG_ERR_INPUT, "--steps 0 releases nothing, whatever the noise");
    if (has_fact(q, MFPG_ACCOUNTANT_CREDITS_FORGETTING))
        return mfpg_fail(ctx, MFPG_ERR_INPUT,
            "--accountant hidden-state needs --view final and --assume, which mfpg account takes");
    return check_promise(ctx, q);
}

mfpg_status account_check(mfpg_context *ctx, const mfpg_question *q) {
    if (q->kind == MFPG_QUESTION_CALIBRATE) return check_calibrate(ctx, q);
    return q->ledger.text ? check_ledger(ctx, q) : check_account(ctx, q);
}
