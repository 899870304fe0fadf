/* mfpg calibrate: the noise, sampling rate or number of steps with which a schedule meets a target. */
#include <math.h>
#include <stdio.h>

#include "account.h"
#include "options.h"

/* No line of the examples is longer than a line of the help, which would break it. */
static const char doc[] =
    "Prints what meets a target epsilon: the noise, sampling rate or number of steps."
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
    "  mfpg calibrate --epsilon 2 --mechanism entropic --steps 10\n";

static int print_json(const mfpg_answer *answer) {
    const mfpg_found *found = &answer->found;
    json_t *object = account_json(answer);
    json_object_set_new(object, "solved", json_string(mfpg_solve_name(found->solved)));
    json_object_set_new(object, "target_epsilon", cli_json_number(found->target_epsilon));
    json_object_set_new(object, "noise_multiplier", cli_json_number(found->noise_multiplier));
    json_object_set_new(object, "noise_sd", cli_json_number(found->noise_sd));
    if (!isnan(found->strength)) json_object_set_new(object, "strength", cli_json_number(found->strength));
    json_object_set_new(object, "sampling_rate", cli_json_number(found->sampling_rate));
    json_object_set_new(object, "steps",
        isfinite(found->steps) ? json_integer((json_int_t)found->steps) : cli_json_number(found->steps));
    json_object_set_new(object, "evaluations", json_integer(found->evaluations));
    return cli_json_print("calibrate", object);
}

/* Six digits, on the side that costs less. */
static int print(const mfpg_answer *answer, int json) {
    const mfpg_found *found = &answer->found;
    char text[CLI_TEXT_UP];
    if (json) return print_json(answer);
    switch (found->solved) {
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
    return cli_finish("calibrate", CLI_DONE);
}

int command_calibrate(int argc, char **argv) {
    return account_command(MFPG_QUESTION_CALIBRATE, "calibrate", doc, argc, argv, print);
}
