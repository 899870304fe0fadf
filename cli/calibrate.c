/* mfpg calibrate: the noise, sampling rate or number of steps with which a schedule meets a target. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "account.h"
#include "options.h"

/* Groups 1 and 3 have their headings from account_children. */
static const struct argp_option options[] = {{"solve", KEY_SOLVE, "noise|rate|steps", 0,
                                                 "noise: the least noise multiplier, or strength (default); "
                                                 "rate: the largest sampling rate; steps: the "
                                                 "most steps",
                                                 1},
    {"epsilon", KEY_EPSILON, "E", 0, "the target", 3},
    {"delta", KEY_DELTA, "D", 0, "the delta of the target (default 1e-5)", 3}, {0}};

/* No line of the examples is longer than a line of the help, which would break it. */
static const struct argp argp = {.options = options,
    .parser = account_parse,
    .doc = "Prints what meets a target epsilon: the noise, sampling rate or number of steps."
           "\vThe answer never costs more than the target, and is within a millionth of the exact one "
           "(steps: exact). Examples:\n\n"
           "  mfpg calibrate --epsilon 1 --delta 1e-5 \\\n"
           "    --sampling-rate 0.01 --steps 1000\n"
           "  mfpg calibrate --epsilon 10 --clip 1 --adjacency replace\n"
           "  mfpg calibrate --epsilon 3 --solve steps \\\n"
           "    --noise-multiplier 1 --sampling-rate 0.01\n"
           "  mfpg calibrate --epsilon 3 --solve rate \\\n"
           "    --noise-multiplier 1 --steps 1000\n"
           "  mfpg calibrate --epsilon 3 --blocks '0.1:3:200,0.05:?:300'\n"
           "  mfpg calibrate --epsilon 2 --mechanism entropic --steps 10\n",
    .children = account_children};

/* ---- which options go together ---- */

static int check_mechanism(const account_settings *chosen, int entropic) {
    int noise_solved = chosen->solve < 0 || chosen->solve == ACCOUNT_SOLVE_NOISE;
    const char *noise = entropic ? "strength" : "noise-multiplier";
    double given = entropic ? chosen->strength : chosen->noise_multiplier;
    if (chosen->mechanism == ACCOUNT_MECHANISM_GAUSSIAN && account_given(chosen->strength))
        return cli_refuse("calibrate", "--strength belongs to --mechanism entropic");
    if (entropic && account_given(chosen->noise_multiplier))
        return cli_refuse("calibrate", "--noise-multiplier belongs to --mechanism gaussian");
    if (noise_solved && account_given(given))
        return cli_refuse(
            "calibrate", "--%s is what is solved; --solve rate and --solve steps take it", noise);
    if (!noise_solved && !account_given(given))
        return cli_refuse("calibrate", "--solve %s needs --%s",
            chosen->solve == ACCOUNT_SOLVE_RATE ? "rate" : "steps", noise);
    return 0;
}

/* What is solved in blocks is the number that is written ?. */
static int check_blocks(const account_settings *chosen) {
    static const char *const others[] = {"noise-multiplier", "strength", NULL};
    if (chosen->solve >= 0)
        return cli_refuse("calibrate", "--blocks and --solve exclude each other; write ? for what is solved");
    if (chosen->mechanism == ACCOUNT_MECHANISM_ENTROPIC)
        return cli_refuse("calibrate", "--blocks belongs to --mechanism gaussian");
    return account_exclude(chosen, "blocks", others);
}

static int check_settings(const account_settings *chosen) {
    int entropic = account_given(chosen->strength) || chosen->mechanism == ACCOUNT_MECHANISM_ENTROPIC;
    if (!account_given(chosen->epsilon)) return cli_refuse("calibrate", "no target; give --epsilon");
    int code = chosen->blocks ? check_blocks(chosen) : check_mechanism(chosen, entropic);
    if (!code && chosen->solve == ACCOUNT_SOLVE_RATE && account_given(chosen->sampling_rate))
        code = cli_refuse("calibrate", "--sampling-rate is what --solve rate finds");
    if (!code && chosen->solve == ACCOUNT_SOLVE_STEPS && account_given(chosen->steps))
        code = cli_refuse("calibrate", "--steps is what --solve steps finds");
    if (!code && chosen->steps == 0)
        code = cli_refuse("calibrate", "--steps 0 releases nothing, whatever the noise");
    if (!code && chosen->accountant && strcmp(chosen->accountant, "hidden-state") == 0)
        code = cli_refuse("calibrate",
            "--accountant hidden-state needs --view final and --assume, which mfpg account takes");
    return code ? code : account_check_promise(chosen);
}

/* ---- the answer ---- */

/* The schedule's numbers, as they go back into mfpg account; NaN where there is none. */
typedef struct numbers {
    double noise_multiplier, noise_sd, strength, sampling_rate, steps;
} numbers;

static void fill_numbers(
    const account_settings *chosen, const account_schedule *schedule, double value, numbers *out) {
    const mfpg_release *release = &schedule->release[schedule->unknown];
    int entropic = schedule->solve == MFPG_SOLVE_STRENGTH || account_given(chosen->strength);
    *out = (numbers){.noise_multiplier = release->noise_sd,
        .strength = chosen->strength,
        .sampling_rate = release->sampling_rate,
        .steps = (double)release->steps};
    if (schedule->solve == MFPG_SOLVE_NOISE) out->noise_multiplier = value;
    if (schedule->solve == MFPG_SOLVE_STRENGTH) out->strength = value;
    if (schedule->solve == MFPG_SOLVE_RATE) out->sampling_rate = value;
    if (schedule->solve == MFPG_SOLVE_STEPS) out->steps = value;
    if (entropic) out->noise_multiplier = (double)NAN;
    /* with a sensitivity the multiplier is the sd itself */
    out->noise_sd =
        out->noise_multiplier * (account_given(chosen->sensitivity) ? 1 : account_or(chosen->clip, 1));
}

static const char *solved_name(mfpg_solve solve) {
    switch (solve) {
    case MFPG_SOLVE_NOISE: return "noise_multiplier";
    case MFPG_SOLVE_STRENGTH: return "strength";
    case MFPG_SOLVE_RATE: return "sampling_rate";
    case MFPG_SOLVE_STEPS: return "steps";
    }
    return "";
}

static int print_json(const account_settings *chosen, const account_schedule *schedule, const numbers *found,
    account_answer *answer, int evaluations) {
    json_t *object = account_json(answer);
    json_object_set_new(object, "solved", json_string(solved_name(schedule->solve)));
    json_object_set_new(object, "target_epsilon", cli_json_number(chosen->epsilon));
    json_object_set_new(object, "noise_multiplier", cli_json_number(found->noise_multiplier));
    json_object_set_new(object, "noise_sd", cli_json_number(found->noise_sd));
    if (account_given(found->strength))
        json_object_set_new(object, "strength", cli_json_number(found->strength));
    json_object_set_new(object, "sampling_rate", cli_json_number(found->sampling_rate));
    json_object_set_new(object, "steps",
        isfinite(found->steps) ? json_integer((json_int_t)found->steps) : cli_json_number(found->steps));
    json_object_set_new(object, "evaluations", json_integer(evaluations));
    return cli_json_print("calibrate", object);
}

/* Six digits, on the side that costs less. */
static void print_text(const account_schedule *schedule, const numbers *found, account_answer *answer) {
    char text[CLI_TEXT_UP];
    switch (schedule->solve) {
    case MFPG_SOLVE_NOISE:
        printf("%-16s %s\n", "noise multiplier", cli_text_up(found->noise_multiplier, text));
        printf("%-16s %s\n\n", "noise sd", cli_text_up(found->noise_sd, text));
        break;
    case MFPG_SOLVE_STRENGTH: printf("%-16s %s\n\n", "strength", cli_text_up(found->strength, text)); break;
    case MFPG_SOLVE_RATE:
        printf("%-16s %s\n\n", "sampling rate", cli_text_down(found->sampling_rate, text));
        break;
    case MFPG_SOLVE_STEPS: printf("%-16s %.0f\n\n", "steps", found->steps); break;
    }
    account_print(answer);
}

static int print(const account_settings *chosen, const account_schedule *schedule,
    const mfpg_calibration *found, account_answer *answer) {
    numbers all;
    fill_numbers(chosen, schedule, found->value, &all);
    if (chosen->common.json) return print_json(chosen, schedule, &all, answer, found->evaluations);
    print_text(schedule, &all, answer);
    return cli_finish("calibrate", CLI_DONE);
}

static int solve(mfpg_context *ctx, const account_settings *chosen, const account_schedule *schedule) {
    int sampled = schedule->rate < 1, example = chosen->unit < 0 ? sampled : chosen->unit;
    const mfpg_accountant_options made = account_accountant_options(chosen);
    const mfpg_calibration_options asked = {.accountant = account_accountant_name(chosen, sampled),
        .options = &made,
        .epsilon = chosen->epsilon,
        .delta = account_or(chosen->delta, ACCOUNT_DELTA),
        .solve = schedule->solve,
        .schedule = schedule->release,
        .count = schedule->count,
        .unknown = schedule->unknown,
        .step = account_or(chosen->step, 0.1)};
    mfpg_calibration found;
    mfpg_status status = mfpg_calibrate(ctx, &asked, &found);
    if (status != MFPG_OK) return cli_fail(ctx, "calibrate", status);
    account_answer answer = {.epsilon = found.epsilon.upper,
        .delta = asked.delta,
        .mu = chosen->order ? (double)NAN : found.mu,
        .rdp = (double)NAN,
        .lower = found.epsilon.lower,
        .upper = found.epsilon.upper,
        .accountant = asked.accountant,
        .adjacency = account_adjacency_name(chosen),
        .unit = mfpg_unit_name(example ? MFPG_UNIT_EXAMPLE : MFPG_UNIT_CLIENT),
        .view = mfpg_view_name(made.promise.view),
        .certificate = 1};
    account_assume_schedule(&answer, chosen, schedule);
    return print(chosen, schedule, &found, &answer);
}

static int calibrate(const account_settings *chosen) {
    account_schedule schedule = {0};
    int code = check_settings(chosen);
    if (code) return code;
    code = account_read_schedule(chosen, &schedule);
    if (!code && schedule.unknown < 0)
        code = cli_refuse("calibrate",
            "--blocks: found '%.60s'; nothing is written ?, as in 0.1:?:200, so that there is nothing to "
            "solve",
            chosen->blocks);
    if (!code) {
        mfpg_context *ctx = cli_context(1);
        code = solve(ctx, chosen, &schedule);
        mfpg_context_destroy(ctx);
    }
    account_schedule_clear(&schedule);
    return code;
}

int command_calibrate(int argc, char **argv) {
    account_settings chosen = account_settings_none("calibrate");
    cli_parse(&argp, "calibrate", argc, argv, &chosen);
    if (!chosen.blocks && chosen.solve < 0) chosen.solve = ACCOUNT_SOLVE_NOISE;
    int code = calibrate(&chosen);
    free(chosen.order);
    return code;
}
