/* The number with which a schedule meets a target. */
#include "account_request.h"

const char *mfpg_solve_name(mfpg_solve solve) {
    switch (solve) {
    case MFPG_SOLVE_NOISE: return "noise_multiplier";
    case MFPG_SOLVE_STRENGTH: return "strength";
    case MFPG_SOLVE_RATE: return "sampling_rate";
    case MFPG_SOLVE_STEPS: return "steps";
    }
    return "";
}

static mfpg_found found_numbers(
    const mfpg_question *q, const account_schedule *schedule, const mfpg_calibration *solved) {
    const mfpg_release *release = &schedule->release[schedule->unknown];
    mfpg_found out = {.solved = schedule->solve,
        .target_epsilon = q->epsilon,
        .noise_multiplier = account_is_entropic(q) ? (double)NAN : release->noise_sd,
        .strength = q->strength,
        .sampling_rate = release->sampling_rate,
        .steps = (double)release->steps,
        .evaluations = solved->evaluations};
    switch (schedule->solve) {
    case MFPG_SOLVE_NOISE: out.noise_multiplier = solved->value; break;
    case MFPG_SOLVE_STRENGTH: out.strength = solved->value; break;
    case MFPG_SOLVE_RATE: out.sampling_rate = solved->value; break;
    case MFPG_SOLVE_STEPS: out.steps = solved->value; break;
    }
    /* with a sensitivity the multiplier is the sd itself */
    out.noise_sd = out.noise_multiplier * (account_given(q->sensitivity) ? 1 : account_clip(q));
    return out;
}

static mfpg_status solve(
    mfpg_context *ctx, const mfpg_question *q, const account_schedule *schedule, mfpg_answer *out) {
    int sampled = schedule->rate < 1, example = q->unit < 0 ? sampled : q->unit;
    const mfpg_accountant_options made = account_accountant_options(q);
    const mfpg_calibration_options asked = {.accountant = account_accountant_name(q, sampled),
        .options = &made,
        .epsilon = q->epsilon,
        .delta = account_delta(q),
        .solve = schedule->solve,
        .schedule = schedule->release,
        .count = schedule->count,
        .unknown = schedule->unknown,
        .step = account_or(q->step, 0.1)};
    mfpg_calibration solved;
    mfpg_status status = mfpg_calibrate(ctx, &asked, &solved);
    if (status != MFPG_OK) return status;
    out->epsilon = out->upper = solved.epsilon.upper;
    out->lower = solved.epsilon.lower;
    out->delta = asked.delta;
    if (!q->order.value) out->mu = solved.mu;
    out->accountant = account_listed_name(asked.accountant);
    out->adjacency = account_adjacency_name(q);
    out->unit = mfpg_unit_name(example ? MFPG_UNIT_EXAMPLE : MFPG_UNIT_CLIENT);
    out->view = mfpg_view_name(made.promise.view);
    out->certifies = 1;
    out->found = found_numbers(q, schedule, &solved);
    account_assume_schedule(out, q, schedule);
    return MFPG_OK;
}

mfpg_status account_calibrate(mfpg_context *ctx, const mfpg_question *q, mfpg_answer *out) {
    account_schedule schedule;
    mfpg_status status = account_read_schedule(ctx, q, &schedule);
    if (status == MFPG_OK) status = solve(ctx, q, &schedule, out);
    account_schedule_clear(&schedule);
    return status;
}
