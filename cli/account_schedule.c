/* The schedule that mfpg account was given, as releases. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "account.h"
#include "options.h"

double account_or(double value, double fallback) {
    return isnan(value) ? fallback : value;
}

/* Adds steps equal steps. The norm bound cancels from noise over sensitivity, so 1 stands for the clip. */
static mfpg_status record(mfpg_context *ctx, mfpg_accountant *accountant, double sensitivity, double sd,
    double rate, double steps, mfpg_action action) {
    if (steps == 0 || rate == 0) return MFPG_OK; /* nothing is released */
    const mfpg_release release = {.steps = (int64_t)steps,
        .sensitivity = sensitivity,
        .noise_sd = sd,
        .last_sd = sd,
        .weight = 1,
        .sampling_rate = rate,
        .action = action};
    return mfpg_accountant_record(ctx, accountant, &release);
}

/* A step of the flow moves the state by at most tau S and blurs it with sd sqrt(2 e tau) (theory S2.2): in units of
 * the gradient S and sqrt(2 e / tau). The sd is rounded down. */
static mfpg_status record_entropic(
    mfpg_context *ctx, mfpg_accountant *accountant, const account_settings *chosen) {
    double clip = account_or(chosen->sensitivity, account_or(chosen->clip, 1));
    double sd = sqrt(2 * chosen->strength / account_or(chosen->step, 0.1));
    mfpg_action action = {.control = MFPG_CONTROL_NONE};
    if (chosen->strength > 0)
        action = (mfpg_action){.control = MFPG_CONTROL_STRENGTH, .strength = {chosen->strength}};
    if (sd > 0) sd = nextafter(nextafter(sd, 0), 0);
    return record(ctx, accountant, clip, sd, account_or(chosen->sampling_rate, 1),
        account_or(chosen->steps, 1), action);
}

/* One block "q:z:t" at text, up to a comma or the end; the length read, or 0. */
static size_t read_block(const char *text, double field[3]) {
    size_t length = strcspn(text, ",");
    char copy[128];
    if (length >= sizeof copy) return 0;
    memcpy(copy, text, length);
    copy[length] = 0;
    char *at = copy;
    for (int i = 0; i < 3; i++) {
        char *end = at + strcspn(at, ":");
        if ((*end == 0) != (i == 2)) return 0;
        *end = 0;
        if (!cli_parse_number(at, &field[i])) return 0;
        at = end + 1;
    }
    return cli_is_rate(field[0]) && cli_is_not_negative(field[1]) && cli_is_steps(field[2]) ? length : 0;
}

/* Records every block; *rate becomes the smallest sampling rate. Returns 0 or the exit code. */
static int record_blocks(
    mfpg_context *ctx, mfpg_accountant *accountant, const account_settings *chosen, double *rate) {
    double sensitivity = account_or(chosen->sensitivity, 1), field[3];
    for (const char *at = chosen->blocks;; at++) {
        size_t length = read_block(at, field);
        if (length == 0)
            return cli_refuse("account",
                "--blocks: found '%.60s'; allowed: Q:Z:T,... with Q in [0, 1], Z from 0, T whole", at);
        mfpg_status status = record(ctx, accountant, sensitivity, field[1], field[0], field[2],
            (mfpg_action){.control = MFPG_CONTROL_NONE});
        if (status != MFPG_OK) return cli_fail(ctx, "account", status);
        *rate = fmin(*rate, field[0]);
        at += length;
        if (*at == 0) return 0;
    }
}

int account_record_schedule(
    mfpg_context *ctx, mfpg_accountant *accountant, const account_settings *chosen, double *rate) {
    const mfpg_action none = {.control = MFPG_CONTROL_NONE};
    double steps = account_or(chosen->steps, 1);
    mfpg_status status;
    *rate = account_or(chosen->sampling_rate, 1);
    if (chosen->blocks) return record_blocks(ctx, accountant, chosen, rate);
    if (!isnan(chosen->strength))
        status = record_entropic(ctx, accountant, chosen);
    else if (!isnan(chosen->mu))
        status = record(ctx, accountant, chosen->mu, 1, 1, steps, none);
    else
        status = record(ctx, accountant, account_or(chosen->sensitivity, 1), chosen->noise_multiplier, *rate,
            steps, none);
    return status == MFPG_OK ? 0 : cli_fail(ctx, "account", status);
}

double account_smallest_rate(const account_settings *chosen) {
    double rate = account_or(chosen->sampling_rate, 1), field[3];
    for (const char *at = chosen->blocks; at && *at;) {
        size_t length = read_block(at, field);
        if (length == 0) return 1;
        rate = fmin(rate, field[0]);
        at += length + (at[length] == ',');
    }
    return rate;
}

void account_read_orders(const struct argp_state *state, const char *text, account_settings *chosen) {
    free(chosen->order);
    chosen->order_count = 0;
    chosen->order = malloc((strlen(text) + 1) * sizeof *chosen->order); /* no more orders than letters */
    if (!chosen->order) argp_failure(state, CLI_FAILED, 0, "out of memory");
    for (const char *at = text; chosen->order; at++) {
        size_t length = strcspn(at, ",");
        char copy[64] = "";
        double order = 0;
        if (length < sizeof copy) memcpy(copy, at, length);
        if (!cli_parse_number(copy, &order) || !(order >= 1))
            argp_error(
                state, "--order: found '%.60s'; allowed: A,B,... with every order a number from 1", at);
        chosen->order[chosen->order_count++] = order;
        at += length;
        if (*at == 0) return;
    }
}
