/* mfpg solve: what its files share. */
#ifndef MFPG_CLI_SOLVE_H
#define MFPG_CLI_SOLVE_H

#include <math.h>

#include "mfpg/posed_game.h"
#include "mfpg/solution.h"

#include "options.h"

/* ---- options ---- */

/* The fields are those of solve_options.def. */
typedef struct solve_settings {
    cli_common common;
    const char *configuration; /* CONFIG.yaml or the name of an example; NULL: the game is given by options */
    char **arguments;          /* KEY=VALUE */
    int argument_count;
    mfpg_game_options game;
#define GAME_NUMBER(...)
#define GAME_TEXT(...)
#define GAME_WORD(...)
#define GAME_FLAG(...)
#define NUMBER(key, name, field, ...) double field;
#define TEXT(key, name, field, ...)   const char *field;
#define WORD(key, name, field, ...)   int field; /* -1: not given */
#define FLAG(key, name, field, ...)   int field;
#include "solve_options.def"
} solve_settings;

/* What the table of options says that numbers may be. Memory is taken for every client: above 2e8 none of them fits. */
#define SOLVE_POPULATION_WORDS "a whole number from 1 to 200000000"
int solve_is_population(double value);
int solve_is_draws(double value); /* a whole number from 2 */
int solve_is_power(double value); /* 1 or 2 */
int solve_is_number(double value);
int solve_is_repeats(double value); /* whole, from 2 to 100000 */
int solve_is_count(double value);   /* a whole number from 1 to 1e6 */

/* Everything that solve_options.def holds, not given. */
solve_settings solve_settings_none(void);

/* Reads the command line; a wrong one ends the program. */
void solve_parse(int argc, char **argv, solve_settings *chosen);

static inline int solve_given(double value) {
    return !isnan(value);
}
static inline double solve_or(double value, double fallback) {
    return isnan(value) ? fallback : value;
}

/* Is every option that was given also read? 0, or the exit code with a message that says who reads it.
 * mode: NULL for a game by options, "configuration", or the name of a study; cost: the cost, or NULL where none is chosen. A
 * study that plays a cost reads what both read, and its own options. */
int solve_check_options(const solve_settings *chosen, const char *mode, const char *cost);

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

/* 0, or CLI_WRONG_INPUT with a message where the study plays no configuration and one was given. */
int solve_refuse_configuration(const solve_settings *chosen, const char *study);

#define STUDY(name, help) int solve_study_##name(const solve_settings *chosen);
#include "studies.def"
#undef STUDY

#endif
