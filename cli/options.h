/* What the commands share: options, exit codes, messages, JSON. */
#ifndef MFPG_CLI_OPTIONS_H
#define MFPG_CLI_OPTIONS_H

#include <argp.h>
#include <jansson.h>
#include <stdio.h>

#include "mfpg/context.h"
#include "mfpg/solution.h"

enum { CLI_DONE = 0, CLI_FAILED = 1, CLI_WRONG_INPUT = 2, CLI_BROKEN_PROMISE = 3, CLI_INTERRUPTED = 130 };

/* The commands themselves. */
#define COMMAND(name, help) int command_##name(int argc, char **argv);
#include "commands.def"
#undef COMMAND

/* Options that every command has; a command names cli_common_argp as a child and hands it a cli_common. */
typedef struct cli_common {
    int json;
} cli_common;
extern const struct argp cli_common_argp;

/* argp_parse without flags; an option that nobody has ends the program with CLI_WRONG_INPUT and the nearest name. Every
 * command calls this before it does anything, and so tells its options where cli_describe asks. */
void cli_parse(const struct argp *argp, const char *command, int argc, char **argv, void *input);

/* Hands the argp tables of a command to visit instead of running it, and ends the program; returns where there is no such
 * command. Completion and manual pages are made in this way. */
void cli_describe(const char *command, void (*visit)(void *user, const struct argp *argp), void *user);

/* The part of it in options.c. */
void cli_describe_next(void (*visit)(void *user, const struct argp *argp), void *user);

/* Names and help of commands.def; NULL past the end. */
const char *cli_command_name(ptrdiff_t index);
const char *cli_command_help(ptrdiff_t index);

/* What the exit codes mean, in rising order; NULL past the end. */
const char *cli_exit_meaning(ptrdiff_t index, int *code);

/* The exit code of a status. */
int cli_exit_code(mfpg_status status);

/* A context whose warnings go to stderr; exits with CLI_FAILED where there is none to be had. threads 0: all. */
mfpg_context *cli_context(int threads);

/* One line to stderr, as the library's warnings are told. */
void cli_warn(const char *text);

/* What makes a game worthless, to stderr. */
void cli_warn_of_game(const mfpg_solution *solution);

/* What the program's processes are to each other: cli/group.c, alone, or cli/group_mpi.c, through MPI. Called once, before
 * anything is printed; the processes but the first fall silent. */
void cli_group_start(int *argc, char ***argv);

/* NULL: this process is alone. */
const mfpg_group *cli_group(void);

/* Only the first process works on from here: the others end, well. For commands that share no work. */
void cli_group_leave(void);

/* Begins a message on stderr: "mfpg COMMAND: ", or "mfpg: " for "". */
void cli_begin_error(const char *command);

/* Prints "mfpg COMMAND: message" of the context to stderr and returns the exit code of the status. */
int cli_fail(const mfpg_context *ctx, const char *command, mfpg_status status);

/* Prints "mfpg COMMAND: message" to stderr and returns CLI_WRONG_INPUT. */
int cli_refuse(const char *command, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Flushes stdout; CLI_FAILED with a message where what was printed did not arrive (a full disk), else code. */
int cli_finish(const char *command, int code);

/* ---- values of options; a wrong one ends the program with CLI_WRONG_INPUT and says what is allowed ---- */

/* A decimal number; allowed(value) decides, and words say what it may be. */
double cli_number(const struct argp_state *state, const char *option, const char *text,
    int (*allowed)(double value), const char *words);

/* The value of --threads. */
int cli_threads(const struct argp_state *state, const char *text);

/* The number of the word among those of the option's placeholder (option_table.h). */
int cli_choice(const struct argp_state *state, int key, const char *text);

/* Ends the program as argp_error does: the message and where help is to be had, and CLI_WRONG_INPUT. */
void cli_wrong_argument(const struct argp_state *state, const char *format, ...)
    __attribute__((format(printf, 2, 3), noreturn));

/* An argument without an option: the first that is no KEY=VALUE is the configuration, the others are KEY=VALUE. */
void cli_take_argument(const struct argp_state *state, char *text, const char **configuration,
    char **arguments, int *argument_count);

/* Reads the whole of text as a finite decimal number (no hexadecimal, no nan, no inf); 1 on success. */
int cli_parse_number(const char *text, double *value);

/* ---- numbers ---- */

/* Six digits, rounded up, so that what is printed is a bound as well; what is above six digits by less than 1e-12 of
 * itself is taken for them. Returns out. */
enum { CLI_TEXT_UP = 32 };
const char *cli_text_up(double value, char out[CLI_TEXT_UP]);

/* The same for positive numbers that may be smaller: rounded down. */
const char *cli_text_down(double value, char out[CLI_TEXT_UP]);

/* ---- JSON ---- */

/* A number; infinity is the text "inf", NaN is null: it never leaves the program. */
json_t *cli_json_number(double value);

/* Prints the object to stdout with a newline, frees it, and returns CLI_DONE or CLI_FAILED with a message. */
int cli_json_print(const char *command, json_t *object);

#endif
