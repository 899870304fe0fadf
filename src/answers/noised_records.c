/* Prices records that are clipped and noised once (theory S5.2, S5.3). */
#include "base/error.h"
#include "mechanisms/mechanism_ops.h"
#include "mfpg/mechanism.h"
#include "account_request.h"

/* The numbers that price a release of records: the distance of two neighbours, the first map, the noise. */
typedef struct record_push {
    double distance, contraction, noise_sd, steps;
} record_push;

/* The sd is rounded down. */
static mfpg_status fill_push(mfpg_context *ctx, const mfpg_question *q, record_push *out) {
    *out = (record_push){.distance = account_distance(q), .contraction = 1, .steps = account_or(q->steps, 1)};
    if (!account_is_entropic(q)) {
        out->noise_sd = account_noise_sd(q, q->noise_multiplier);
        return MFPG_OK;
    }
    double step = account_or(q->step, 0.1), decay = q->strength / account_or(q->prior_variance, 1);
    double penalty = account_or(q->variance_penalty, 0.01), bound = account_or(q->input_smoothness, 0);
    double stiffness = step * (decay + penalty + bound);
    if (!(stiffness <= 2))
        return mfpg_fail(ctx, MFPG_ERR_INPUT,
            "the flow is unstable: step times (strength/prior-variance + variance-penalty + "
            "input-smoothness) is %g; allowed: up to 2",
            stiffness);
    out->contraction = mfpg_flow_contraction(step, decay, penalty, bound);
    out->noise_sd = sqrt(2 * q->strength * step);
    if (out->noise_sd > 0) out->noise_sd = nextafter(nextafter(out->noise_sd, 0), 0);
    return MFPG_OK;
}

static double mu_of(const mfpg_question *q, const record_push *push) {
    if (push->steps == 0) return 0; /* nothing is released */
    if (q->exogenous)
        return mfpg_data_exogenous_mu(
            push->distance, push->noise_sd, push->contraction, (int64_t)push->steps);
    const mfpg_release release = {.particles = MFPG_PARTICLES_DATA,
        .unit = MFPG_UNIT_EXAMPLE,
        .clipped = MFPG_CLIPPED_RECORDS,
        .steps = 1,
        .sensitivity = push->distance,
        .noise_sd = push->noise_sd,
        .last_sd = push->noise_sd,
        .weight = 1,
        .contraction = push->contraction,
        .sampling_rate = 1};
    return mfpg_data_release_mu(&release, MFPG_ADJACENCY_ZERO_OUT); /* replace is in the distance */
}

static void assume(mfpg_answer *answer, const mfpg_question *q) {
    account_assume_records(answer);
    if (account_given(q->sensitivity))
        account_assume(
            answer, "two neighbours differ by at most the sensitivity %g that was given", q->sensitivity);
    else
        account_assume(answer, "the features of every record are clipped to norm %g", account_clip(q));
    if (!account_is_entropic(q)) return;
    account_assume(answer, "the loss is convex in the features, with a Hessian of at most %g in them, at %s",
        account_or(q->input_smoothness, 0), q->exogenous ? "every model" : "the public first model");
    if (q->exogenous)
        account_assume(answer, "exogenous: only the last state is seen, and the models are public, or "
                               "trained on other people's data "
                               "only and bounded so that the contraction holds at every step");
}

static mfpg_status check_promise(mfpg_context *ctx, const mfpg_question *q) {
    if (q->adjacency == ACCOUNT_ADD || q->adjacency == ACCOUNT_REMOVE)
        return mfpg_fail(ctx, MFPG_ERR_INPUT,
            "--adjacency add and remove do not go with --particles data: how many records there are is "
            "public; take zero-out or replace");
    if (q->unit == MFPG_UNIT_CLIENT && !account_given(q->sensitivity))
        return mfpg_fail(ctx, MFPG_ERR_INPUT,
            "--unit client: the n records of a client move by up to sqrt(n) clips together (2 sqrt(n) for "
            "replace); give that as --sensitivity");
    return MFPG_OK;
}

/* An accountant that is named must exist and accept records, although the answer is computed without it. */
static mfpg_status check_accountant(mfpg_context *ctx, const char *name) {
    mfpg_accountant *accountant = NULL;
    mfpg_status status = mfpg_accountant_create(ctx, name, NULL, &accountant);
    if (status != MFPG_OK) return status;
    mfpg_particles known = mfpg_accountant_particles(accountant);
    mfpg_accountant_destroy(accountant);
    return known == MFPG_PARTICLES_DATA
               ? MFPG_OK
               : mfpg_fail(ctx, MFPG_ERR_INPUT, "accountant %s knows %s only, not --particles data", name,
                     mfpg_particles_name(known));
}

mfpg_status account_records(mfpg_context *ctx, const mfpg_question *q, mfpg_answer *out) {
    const char *name = q->accountant ? q->accountant : mfpg_accountant_default(MFPG_PARTICLES_DATA, 0);
    record_push push;
    mfpg_status status = check_promise(ctx, q);
    if (status == MFPG_OK) status = check_accountant(ctx, name);
    if (status == MFPG_OK) status = fill_push(ctx, q, &push);
    if (status != MFPG_OK) return status;
    account_fill_gdp(q, mu_of(q, &push), out);
    if (!account_is_entropic(q)) out->lower = isinf(out->upper) ? out->upper : out->upper * (1 - 1e-9);
    account_describe(q, name, q->unit == MFPG_UNIT_CLIENT ? MFPG_UNIT_CLIENT : MFPG_UNIT_EXAMPLE,
        q->exogenous ? MFPG_VIEW_FINAL : MFPG_VIEW_LOCAL, out);
    out->particles = MFPG_PARTICLES_DATA;
    out->contraction = push.contraction;
    out->certifies = 1;
    assume(out, q);
    return MFPG_OK;
}
