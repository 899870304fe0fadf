/* Prices a schedule of releases, or finds the number with which it meets a target. */
#include <stdlib.h>
#include <string.h>

#include "account_request.h"
#include "base/error.h"
#include "base/memory.h"
#include "base/number.h"

typedef struct schedule {
    mfpg_release *release; /* count releases: those that release anything, and the unknown one; owned */
    ptrdiff_t count;
    ptrdiff_t unknown; /* calibrate: index of the release that contains the unknown number */
    mfpg_solve solve;
    double rate;       /* the smallest sampling rate; 0 if the rate is the unknown number */
    int several_rates; /* of blocks */
} schedule;

/* Adds equal steps. Steps that release nothing are dropped unless they contain the unknown. The norm bound
 * cancels in noise over sensitivity, so the clip is set to 1. */
static void add(schedule *to, double sensitivity, double sd, double rate, double steps, int unknown) {
    to->rate = fmin(to->rate, rate);
    if ((steps == 0 || rate == 0) && !unknown) return;
    if (unknown) to->unknown = to->count;
    to->release[to->count++] = (mfpg_release){.unit = MFPG_UNIT_EXAMPLE, /* account_accountant_options */
        .clipped = MFPG_CLIPPED_EXAMPLES,
        .steps = (int64_t)steps,
        .sensitivity = sensitivity,
        .noise_sd = sd,
        .last_sd = sd,
        .weight = 1,
        .sampling_rate = rate,
        .action = {.control = MFPG_CONTROL_NONE}};
}

/* ---- blocks ---- */

typedef struct block {
    double rate, noise, steps;
    int unknown; /* the field that is given as ?, or -1 */
} block;

/* Reads one block "q:z:t" at text, up to a comma or the end; returns the length read, or 0. */
static size_t read_block(const char *text, int calibrate, block *out) {
    double *const field[] = {&out->rate, &out->noise, &out->steps};
    const char *at = text;
    out->unknown = -1;
    for (int i = 0; i < 3; i++) {
        size_t length = strcspn(at, ":,");
        if ((at[length] == ':') != (i < 2)) return 0;
        if (calibrate && out->unknown < 0 && length == 1 && *at == '?') {
            *field[i] = 1;
            out->unknown = i;
        } else if (!mfpg_number_parse(at, length, field[i])) {
            return 0;
        }
        at += length + (i < 2);
    }
    int fits = out->rate >= 0 && out->rate <= 1 && out->noise >= 0 && out->steps >= 0 &&
               out->steps <= 0x1p53 && out->steps == floor(out->steps);
    return fits ? (size_t)(at - text) : 0;
}

static mfpg_status read_blocks(mfpg_context *ctx, const mfpg_question *q, schedule *out) {
    static const mfpg_solve solves[] = {MFPG_SOLVE_RATE, MFPG_SOLVE_NOISE, MFPG_SOLVE_STEPS};
    int calibrate = q->kind == MFPG_QUESTION_CALIBRATE;
    for (const char *at = q->blocks;; at++) {
        block found;
        size_t length = read_block(at, calibrate, &found);
        if (length == 0)
            return mfpg_fail(ctx, MFPG_ERR_INPUT,
                "--blocks: found '%.60s'; allowed: Q:Z:T,... with Q in [0, 1], Z from 0, T whole%s", at,
                calibrate ? ", and one of all written ?" : "");
        if (found.unknown >= 0 && out->unknown >= 0)
            return mfpg_fail(ctx, MFPG_ERR_INPUT, "--blocks: one ? is solved for, not two");
        if (found.unknown >= 0) out->solve = solves[found.unknown];
        add(out, account_or(q->sensitivity, 1), found.noise, found.rate, found.steps, found.unknown >= 0);
        if (found.unknown == 0) out->rate = 0;
        at += length;
        if (*at == 0) break;
    }
    if (calibrate && out->unknown < 0)
        return mfpg_fail(ctx, MFPG_ERR_INPUT,
            "--blocks: found '%.60s'; nothing is written ?, as in 0.1:?:200, so that there is nothing to "
            "solve",
            q->blocks);
    return MFPG_OK;
}

/* ---- one kind of step ---- */

/* A step of the flow moves the state by at most tau S and adds noise of sd sqrt(2 e tau) (theory S2.2): in
 * units of the gradient, S and sqrt(2 e / tau), rounded down. */
static void add_entropic(const mfpg_question *q, schedule *out) {
    double strength = account_or(q->strength, 1);
    add(out, account_or(q->sensitivity, account_clip(q)),
        mfpg_strength_noise(strength, account_or(q->step, 0.1)), account_or(q->sampling_rate, 1),
        account_or(q->steps, 1), out->unknown == 0);
    if (out->count > 0 && strength > 0)
        out->release[0].action = (mfpg_action){.control = MFPG_CONTROL_STRENGTH, .strength = {strength}};
}

static void add_steps(const mfpg_question *q, schedule *out) {
    int entropic = account_is_entropic(q), calibrate = q->kind == MFPG_QUESTION_CALIBRATE;
    double steps = account_or(q->steps, 1);
    if (calibrate) {
        out->unknown = 0;
        out->solve = q->solve == ACCOUNT_RATE    ? MFPG_SOLVE_RATE
                     : q->solve == ACCOUNT_STEPS ? MFPG_SOLVE_STEPS
                     : entropic                  ? MFPG_SOLVE_STRENGTH
                                                 : MFPG_SOLVE_NOISE;
    }
    if (entropic)
        add_entropic(q, out);
    else if (account_given(q->mu))
        add(out, q->mu, 1, 1, steps, 0);
    else
        add(out, account_or(q->sensitivity, 1), account_or(q->noise_multiplier, 1),
            account_or(q->sampling_rate, 1), steps, calibrate);
    if (q->solve == ACCOUNT_RATE) out->rate = 0;
}

/* The unknown number is set to 1. */
static mfpg_status read_schedule(mfpg_context *ctx, const mfpg_question *q, schedule *out) {
    *out = (schedule){.unknown = -1, .rate = 1, .several_rates = q->blocks != NULL};
    ptrdiff_t room = 1;
    for (const char *at = q->blocks; at && *at; at++) room += *at == ',';
    out->release = mfpg_alloc(room, sizeof *out->release);
    if (!out->release) return mfpg_fail_memory(ctx);
    if (q->blocks) return read_blocks(ctx, q, out);
    add_steps(q, out);
    return MFPG_OK;
}

/* ---- what is assumed ---- */

static void assume(mfpg_answer *answer, const mfpg_question *q, const schedule *s) {
    if (!answer->certifies) {
        account_assume(answer, "the paper's formula, for reproduction only: it bounds nothing");
        return;
    }
    account_assume(answer, "noise and number of steps are fixed in advance, or public");
    if (q->view != MFPG_VIEW_LOCAL)
        account_assume(answer, "view %s: charged as if every step were seen%s", answer->view,
            q->view == MFPG_VIEW_FINAL ? "; --assume says what the steps in between forget" : "");
    account_assume_contribution(answer, q);
    if (s->rate >= 1) return;
    if (mfpg_accountant_facts(answer->accountant) & MFPG_ACCOUNTANT_CREDITS_SAMPLING)
        account_assume(answer,
            "Poisson sampling: every %s takes part in a step by a coin of its own, with the sampling rate%s, "
            "and whether it did stays hidden",
            answer->unit, s->several_rates ? " of the block" : " given");
    else
        account_assume(answer,
            "sampling rate %g is not credited: accounted as if everything took part in every step", s->rate);
}

/* Adds a note if the composition cannot be enclosed as tightly as requested. */
static void assume_width(mfpg_answer *out, const mfpg_question *q, double width) {
    double unit = account_given(q->epsilon) ? out->upper : fmax(1, out->upper);
    if (!(mfpg_accountant_facts(out->accountant) & MFPG_ACCOUNTANT_TAKES_WIDTH) || isinf(out->upper)) return;
    if (out->upper - out->lower > width * unit)
        account_assume(out,
            "(the truth may lie below: the two ends are further apart than the width %g asked for)", width);
}

/* ---- what it costs ---- */

/* Computes the ends of the requested number; for a formula that certifies nothing, only the number. */
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

static mfpg_status ask_all(
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

static mfpg_status price(mfpg_context *ctx, const mfpg_question *q, const schedule *s, const char *name,
    const mfpg_accountant_options *options, mfpg_answer *out) {
    mfpg_accountant *accountant = NULL;
    mfpg_status status = mfpg_accountant_create(ctx, name, options, &accountant);
    if (status != MFPG_OK) return status;
    out->certifies = mfpg_accountant_certifies(accountant);
    for (ptrdiff_t i = 0; i < s->count && status == MFPG_OK; i++)
        status = mfpg_accountant_record(ctx, accountant, &s->release[i]);
    if (status == MFPG_OK) status = ask_all(ctx, q, accountant, out);
    mfpg_accountant_destroy(accountant);
    if (out->certifies && q->view != MFPG_VIEW_LOCAL)
        out->lower = 0; /* this is the cost if each step were seen; what the view hides may lower it */
    return status;
}

/* ---- the unknown number of a schedule ---- */

const char *mfpg_solve_name(mfpg_solve solve) {
    switch (solve) {
    case MFPG_SOLVE_NOISE: return "noise_multiplier";
    case MFPG_SOLVE_STRENGTH: return "strength";
    case MFPG_SOLVE_RATE: return "sampling_rate";
    case MFPG_SOLVE_STEPS: return "steps";
    }
    return "";
}

static mfpg_found found_numbers(const mfpg_question *q, const schedule *s, const mfpg_calibration *solved) {
    const mfpg_release *release = &s->release[s->unknown];
    mfpg_found out = {.solved = s->solve,
        .target_epsilon = q->epsilon,
        .noise_multiplier = account_is_entropic(q) ? (double)NAN : release->noise_sd,
        .strength = q->strength,
        .sampling_rate = release->sampling_rate,
        .steps = (double)release->steps,
        .evaluations = solved->evaluations};
    switch (s->solve) {
    case MFPG_SOLVE_NOISE: out.noise_multiplier = solved->value; break;
    case MFPG_SOLVE_STRENGTH: out.strength = solved->value; break;
    case MFPG_SOLVE_RATE: out.sampling_rate = solved->value; break;
    case MFPG_SOLVE_STEPS: out.steps = solved->value; break;
    }
    out.noise_sd = account_noise_sd(q, out.noise_multiplier);
    return out;
}

static mfpg_status calibrate(mfpg_context *ctx, const mfpg_question *q, const schedule *s, const char *name,
    const mfpg_accountant_options *options, mfpg_answer *out) {
    const mfpg_calibration_options asked = {.accountant = name,
        .options = options,
        .epsilon = q->epsilon,
        .delta = account_delta(q),
        .solve = s->solve,
        .schedule = s->release,
        .count = s->count,
        .unknown = s->unknown,
        .step = account_or(q->step, 0.1)};
    mfpg_calibration solved;
    mfpg_status status = mfpg_calibrate(ctx, &asked, &solved);
    if (status != MFPG_OK) return status;
    out->epsilon = out->upper = solved.epsilon.upper;
    out->lower = solved.epsilon.lower;
    out->delta = asked.delta;
    if (!q->order.value) out->mu = solved.mu;
    out->certifies = 1;
    out->found = found_numbers(q, s, &solved);
    return MFPG_OK;
}

/* ---- the answer ---- */

/* Returns the accountant that was named, or the default for this schedule. */
static const char *accountant_name(const mfpg_question *q, int sampled) {
    if (q->accountant) return q->accountant;
    if (q->order.value) return mfpg_accountant_with(MFPG_ACCOUNTANT_TAKES_ORDERS);
    if (account_given(q->width)) return mfpg_accountant_with(MFPG_ACCOUNTANT_TAKES_WIDTH);
    return mfpg_accountant_default(MFPG_PARTICLES_PARAMETERS, sampled);
}

mfpg_status account_schedule(mfpg_context *ctx, const mfpg_question *q, mfpg_answer *out) {
    schedule s;
    mfpg_status status = read_schedule(ctx, q, &s);
    if (status == MFPG_OK) {
        const mfpg_accountant_options options = account_accountant_options(q);
        int sampled = s.rate < 1, example = q->unit < 0 ? sampled : q->unit, calibrates = s.unknown >= 0;
        const char *name = accountant_name(q, sampled);
        account_describe(q, name, example ? MFPG_UNIT_EXAMPLE : MFPG_UNIT_CLIENT, options.promise.view, out);
        status = (calibrates ? calibrate : price)(ctx, q, &s, name, &options, out);
        if (status == MFPG_OK) assume(out, q, &s);
        if (status == MFPG_OK && !calibrates) assume_width(out, q, options.width);
    }
    free(s.release);
    return status;
}
