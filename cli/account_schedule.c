/* The schedule that mfpg account or mfpg calibrate was given, as releases. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "account.h"
#include "options.h"

/* Adds steps equal steps, of which nothing is kept where nothing is released, unless they hold the unknown. The norm bound
 * cancels from noise over sensitivity, so 1 stands for the clip. */
static void add(
    account_schedule *schedule, double sensitivity, double sd, double rate, double steps, int unknown) {
    schedule->rate = fmin(schedule->rate, rate);
    if ((steps == 0 || rate == 0) && !unknown) return;
    if (unknown) schedule->unknown = schedule->count;
    schedule->release[schedule->count++] = (mfpg_release){.steps = (int64_t)steps,
        .sensitivity = sensitivity,
        .noise_sd = sd,
        .last_sd = sd,
        .weight = 1,
        .sampling_rate = rate,
        .action = {.control = MFPG_CONTROL_NONE}};
}

/* ---- blocks ---- */

typedef struct block {
    double field[3]; /* rate, noise, steps */
    int unknown;     /* the field that is written ?, or -1 */
} block;

/* One block "q:z:t" at text, up to a comma or the end; the length read, or 0. */
static size_t read_block(const char *text, int calibrate, block *out) {
    size_t length = strcspn(text, ",");
    char copy[128];
    if (length >= sizeof copy) return 0;
    memcpy(copy, text, length);
    copy[length] = 0;
    *out = (block){.unknown = -1};
    char *at = copy;
    for (int i = 0; i < 3; i++) {
        char *end = at + strcspn(at, ":");
        if ((*end == 0) != (i == 2)) return 0;
        *end = 0;
        if (calibrate && out->unknown < 0 && strcmp(at, "?") == 0) {
            out->field[i] = 1;
            out->unknown = i;
        } else if (!cli_parse_number(at, &out->field[i])) {
            return 0;
        }
        at = end + 1;
    }
    const double *field = out->field;
    return cli_is_rate(field[0]) && cli_is_not_negative(field[1]) && cli_is_steps(field[2]) ? length : 0;
}

static int read_blocks(const account_settings *chosen, account_schedule *out) {
    static const mfpg_solve solves[] = {MFPG_SOLVE_RATE, MFPG_SOLVE_NOISE, MFPG_SOLVE_STEPS};
    double sensitivity = account_or(chosen->sensitivity, 1);
    int calibrate = strcmp(chosen->command, "calibrate") == 0;
    for (const char *at = chosen->blocks;; at++) {
        block found;
        size_t length = read_block(at, calibrate, &found);
        if (length == 0)
            return cli_refuse(chosen->command,
                "--blocks: found '%.60s'; allowed: Q:Z:T,... with Q in [0, 1], Z from 0, T whole%s", at,
                calibrate ? ", and one of all written ?" : "");
        if (found.unknown >= 0 && out->unknown >= 0)
            return cli_refuse(chosen->command, "--blocks: one ? is solved for, not two");
        if (found.unknown >= 0) out->solve = solves[found.unknown];
        add(out, sensitivity, found.field[1], found.field[0], found.field[2], found.unknown >= 0);
        if (found.unknown == 0) out->rate = 0;
        at += length;
        if (*at == 0) return 0;
    }
}

/* ---- one kind of step ---- */

/* A step of the flow moves the state by at most tau S and blurs it with sd sqrt(2 e tau) (theory S2.2): in units of
 * the gradient S and sqrt(2 e / tau), rounded down. */
static void add_entropic(const account_settings *chosen, account_schedule *out) {
    double clip = account_or(chosen->sensitivity, account_or(chosen->clip, 1)),
           strength = account_or(chosen->strength, 1);
    add(out, clip, mfpg_strength_noise(strength, account_or(chosen->step, 0.1)),
        account_or(chosen->sampling_rate, 1), account_or(chosen->steps, 1), out->unknown == 0);
    if (out->count > 0 && strength > 0)
        out->release[0].action = (mfpg_action){.control = MFPG_CONTROL_STRENGTH, .strength = {strength}};
}

static void add_steps(const account_settings *chosen, account_schedule *out) {
    int entropic = account_given(chosen->strength) || chosen->mechanism == ACCOUNT_MECHANISM_ENTROPIC;
    double steps = account_or(chosen->steps, 1);
    if (chosen->solve >= 0) {
        out->unknown = 0;
        out->solve = chosen->solve == ACCOUNT_SOLVE_RATE    ? MFPG_SOLVE_RATE
                     : chosen->solve == ACCOUNT_SOLVE_STEPS ? MFPG_SOLVE_STEPS
                     : entropic                             ? MFPG_SOLVE_STRENGTH
                                                            : MFPG_SOLVE_NOISE;
    }
    if (entropic)
        add_entropic(chosen, out);
    else if (account_given(chosen->mu))
        add(out, chosen->mu, 1, 1, steps, 0);
    else
        add(out, account_or(chosen->sensitivity, 1), account_or(chosen->noise_multiplier, 1),
            account_or(chosen->sampling_rate, 1), steps, out->unknown == 0);
    if (chosen->solve == ACCOUNT_SOLVE_RATE) out->rate = 0;
}

int account_read_schedule(const account_settings *chosen, account_schedule *out) {
    *out = (account_schedule){.unknown = -1, .rate = 1, .several_rates = chosen->blocks != NULL};
    size_t room = 1;
    for (const char *at = chosen->blocks; at && *at; at++) room += *at == ',';
    out->release = malloc(room * sizeof *out->release);
    if (!out->release) {
        cli_refuse(chosen->command, "out of memory");
        return CLI_FAILED;
    }
    if (chosen->blocks) return read_blocks(chosen, out);
    add_steps(chosen, out);
    return 0;
}

void account_schedule_clear(account_schedule *schedule) {
    free(schedule->release);
    *schedule = (account_schedule){.unknown = -1};
}
