/* The schedule that was asked about, as releases. */
#include <stdlib.h>
#include <string.h>

#include "accountants/accounting.h"
#include "base/error.h"
#include "base/memory.h"
#include "base/number.h"
#include "account_request.h"

/* Adds equal steps, of which nothing is kept where nothing is released, unless they hold the unknown. The norm bound cancels
 * from noise over sensitivity, so 1 stands for the clip. */
static void add(
    account_schedule *schedule, double sensitivity, double sd, double rate, double steps, int unknown) {
    schedule->rate = fmin(schedule->rate, rate);
    if ((steps == 0 || rate == 0) && !unknown) return;
    if (unknown) schedule->unknown = schedule->count;
    schedule->release[schedule->count++] = (mfpg_release){.unit = MFPG_UNIT_EXAMPLE, /* question.h */
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
    int unknown; /* the field that is written ?, or -1 */
} block;

/* One block "q:z:t" at text, up to a comma or the end; the length read, or 0. */
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

static mfpg_status read_blocks(mfpg_context *ctx, const mfpg_question *q, account_schedule *out) {
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

/* A step of the flow moves the state by at most tau S and blurs it with sd sqrt(2 e tau) (theory S2.2): in units of
 * the gradient S and sqrt(2 e / tau), rounded down. */
static void add_entropic(const mfpg_question *q, account_schedule *out) {
    double strength = account_or(q->strength, 1);
    add(out, account_or(q->sensitivity, account_clip(q)),
        mfpg_strength_noise(strength, account_or(q->step, 0.1)), account_or(q->sampling_rate, 1),
        account_or(q->steps, 1), out->unknown == 0);
    if (out->count > 0 && strength > 0)
        out->release[0].action = (mfpg_action){.control = MFPG_CONTROL_STRENGTH, .strength = {strength}};
}

static void add_steps(const mfpg_question *q, account_schedule *out) {
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

mfpg_status account_read_schedule(mfpg_context *ctx, const mfpg_question *q, account_schedule *out) {
    *out = (account_schedule){.unknown = -1, .rate = 1, .several_rates = q->blocks != NULL};
    ptrdiff_t room = 1;
    for (const char *at = q->blocks; at && *at; at++) room += *at == ',';
    out->release = mfpg_alloc(room, sizeof *out->release);
    if (!out->release) return mfpg_fail_memory(ctx);
    if (q->blocks) return read_blocks(ctx, q, out);
    add_steps(q, out);
    return MFPG_OK;
}

void account_schedule_clear(account_schedule *schedule) {
    free(schedule->release);
    *schedule = (account_schedule){.unknown = -1};
}
