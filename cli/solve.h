/* mfpg solve: what its files share. */
#ifndef MFPG_CLI_SOLVE_H
#define MFPG_CLI_SOLVE_H

#include <math.h>

#include "mfpg/game_from_options.h"
#include "mfpg/solution.h"

#include "options.h"

/* ---- options ---- */

typedef struct solve_settings {
    cli_common common;
    const char *configuration; /* CONFIG.yaml or the name of an example; NULL: the game is given by options */
    char **arguments;          /* KEY=VALUE */
    int argument_count;
    mfpg_solve_request asked;
} solve_settings;

static inline int solve_given(double value) {
    return !isnan(value);
}
static inline double solve_or(double value, double fallback) {
    return isnan(value) ? fallback : value;
}

/* mfpg_game_pose of the options that are given, all of which the cost reads: 0, or the exit code with a message. */
int solve_pose(mfpg_context *ctx, const solve_settings *chosen, mfpg_posed_game *out);

/* ---- the answer ---- */

/* Prints the solution as asked for, writes the file of --out, and returns the exit code: CLI_FAILED where it did not
 * converge. */
int solve_print(mfpg_context *ctx, const solve_settings *chosen, const mfpg_solution *solution);

/* ---- studies ---- */

/* Names and help of studies.def; NULL past the end. */
const char *solve_name_of_study(ptrdiff_t index);
const char *solve_help_of_study(ptrdiff_t index);

/* The options that were given are read by the study, and whether it takes a configuration was looked at. */
#define STUDY(name, reader, help) int solve_study_##name(const solve_settings *chosen);
#include "studies.def"
#undef STUDY

#endif
