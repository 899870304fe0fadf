/* What the commands share: their descriptions and how they are called, messages, JSON, the terminal,
 * signals, run folders. */
#ifndef MFPG_CLI_H
#define MFPG_CLI_H

#include <jansson.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "mfpg/config.h"
#include "mfpg/option.h"
#include "mfpg/program.h"

/* ---- commands ---- */

enum { CLI_DONE = 0, CLI_FAILED = 1, CLI_WRONG_INPUT = 2, CLI_BROKEN_PROMISE = 3, CLI_INTERRUPTED = 130 };

/* What a command was called with. */
typedef struct cli_call {
    const char *name; /* of the command */
    mfpg_context *ctx;
    void *options; /* the struct that the options filled */
    int json;
    ptrdiff_t threads; /* of --threads; 0: not given */
    const char *given; /* [i] is 1 if option i of the command's list was given */
    char **argument;   /* those that are not KEY=VALUE */
    int arguments;
    char **assignment; /* KEY=VALUE, of a command that takes them */
    int assignments;
    int code; /* the exit code if no call fails; CLI_DONE unless the command sets another one */
} cli_call;

/* A command of commands.def. Its help, manual page and completion come from this table too. What an argument may be is said by
 * words in forms, and by the placeholders of options that take a text:
 *     a|b|c            one of these words, which are in lower case
 *     FILE, DIR, COST  in capitals, a kind of thing (completion.c); most kinds, such as N, are any text
 *     a|b,...          a list, separated by commas */
typedef struct cli_command {
    const mfpg_options *list;             /* the options; NULL: list_of or none */
    const mfpg_options *(*list_of)(void); /* the same from the library */
    size_t size;                          /* of the struct that the options fill */
    void *(*begin)(mfpg_context
            *ctx); /* makes that struct; NULL: nothing is given in it. NULL is returned if memory runs out */
    void (*end)(void *options); /* frees it; NULL: mfpg_options_clear and free */
    enum { CLI_ONE_THREAD = 0, CLI_ALL_THREADS, CLI_OPTION_THREADS } threads;
    const char *forms;  /* the arguments, one form a line; KEY=VALUE in it: such arguments are kept apart */
    int least, most;    /* number of arguments */
    const char *needed; /* the message for too few */
    const char *limit;  /* the end of the message about too many arguments: "one file at a time" */
    const char *doc;    /* text of the help; what follows \v is printed after the options */
    mfpg_status (*run)(cli_call *call);
} cli_command;

#define COMMAND(name, help) extern const cli_command command_##name;
#include "commands.def"
#undef COMMAND

/* Lines of a command's list; the struct that they fill is called settings. The arguments after the help are
 * further members. */
#define CLI_FIELD(member)                                                                                    \
    .offset = offsetof(settings, member),                                                                    \
    .field = _Generic(((settings *)0)->member,                                                               \
        double: MFPG_HOLDS_NUMBER,                                                                           \
        ptrdiff_t: MFPG_HOLDS_WHOLE,                                                                         \
        uint64_t: MFPG_HOLDS_WHOLE,                                                                          \
        const char *: MFPG_HOLDS_TEXT,                                                                       \
        char *: MFPG_HOLDS_TEXT,                                                                             \
        default: MFPG_HOLDS_INT)
#define CLI_OPTION(title, key, form, placeholder, member, ...)                                               \
    {                                                                                                        \
        .name = title, .letter = key, .kind = MFPG_OPTION_##form, .argument = placeholder,                   \
        CLI_FIELD(member), .help = __VA_ARGS__                                                               \
    }
#define CLI_WHOLE(title, key, least, most, member, ...)                                                      \
    CLI_OPTION(title, key, WHOLE, "N", member, __VA_ARGS__, .range = {least, most, 0, 0})
#define CLI_LIST(...)                                                                                        \
    (&(const mfpg_options){.option = (const mfpg_option[]){__VA_ARGS__},                                     \
        .count = (ptrdiff_t)(sizeof((const mfpg_option[]){__VA_ARGS__}) / sizeof(mfpg_option))})

/* Return name, help and table of commands.def; NULL past the end or for an unknown name. */
const char *cli_command_name(ptrdiff_t index);
const char *cli_command_help(ptrdiff_t index);
const cli_command *cli_command_find(const char *name, const char **help);

/* Returns the options of the command's own list, followed by the common options; NULL past the end. */
const mfpg_option *cli_command_option(const cli_command *command, ptrdiff_t index);

/* Returns the title of the option's group: "" for none, NULL for a common option. */
const char *cli_command_section(const cli_command *command, ptrdiff_t index);

/* A file of cli/pages, which is embedded in the program. */
typedef struct cli_embedded {
    const char *name, *bytes; /* with a closing 0 */
    size_t size;
} cli_embedded;
extern const cli_embedded cli_pages[];

/* The text of the page of that name. */
const char *cli_page(const char *name);

/* Reads the command line, runs the command and returns the exit code. An invalid line ends the program with
 * CLI_WRONG_INPUT, what is allowed, and the nearest name. */
int cli_run(const char *name, const cli_command *command, int argc, char **argv);

/* Opens the configuration that the first argument names, with the changes of KEY=VALUE. */
mfpg_status cli_open_config(cli_call *call, mfpg_config **out);
mfpg_status cli_assign(cli_call *call, mfpg_config *config);

/* ---- messages ---- */

/* Returns the meaning of the exit codes, in ascending order; NULL past the end. */
const char *cli_exit_meaning(ptrdiff_t index, int *code);

/* The exit code of a status. */
int cli_exit_code(mfpg_status status);

/* Creates a context whose warnings go to stderr; exits with CLI_FAILED if that fails. threads 0: all. */
mfpg_context *cli_context(int threads);

/* Prints one line to stderr in the form of the library's warnings. */
void cli_warn(const char *text);

/* Prints "mfpg NAME: " and the message to stderr; the name may be "". */
void cli_error(const char *name, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Prints the context's message if the status is an error, and flushes stdout. Returns the exit code; it is
 * CLI_FAILED, with a message, if the output could not be written (a full disk). */
int cli_finish(const cli_call *call, mfpg_status status);

/* ---- numbers and JSON ---- */

/* Reads the whole of text as a finite decimal number (no hexadecimal, no nan, no inf); 1 on success. */
int cli_parse_number(const char *text, double *value);

/* Returns the value, or the default if it is NAN (not given). */
double cli_or(double value, double fallback);

/* Six digits, rounded up, so that what is printed is a bound as well; a value above six digits by less than 1e-12 of itself
 * counts as them. Returns out. cli_text_down rounds down positive numbers that may be smaller. */
enum { CLI_TEXT_SIZE = 32 };
const char *cli_text_up(double value, char out[CLI_TEXT_SIZE]);
const char *cli_text_down(double value, char out[CLI_TEXT_SIZE]);

/* A number for JSON: infinity is the text "inf", NAN is null. A text: NULL is null, and in names of files that are not UTF-8 a "?"
 * replaces each byte above 127. */
json_t *cli_json_number(double value);
json_t *cli_json_text(const char *text);

/* An object of "name:kind" pairs separated by blanks, whose values follow in their order. A kind in capitals leaves the pair out if
 * the value is null, 0 or "". Kinds:
 *     n  double                       i  int64_t or ptrdiff_t; an int must be cast
 *     s  const char *; NULL: null     b  int
 *     o  json_t *, which the object then owns; NULL: memory ran out
 * Returns NULL if memory runs out. cli_json_add writes the same into an object, which may be NULL already. */
json_t *cli_json(const char *fields, ...);
json_t *cli_json_add(json_t *object, const char *fields, ...);

/* Returns an array of count values, made by a function or from numbers; NULL if memory runs out. */
json_t *cli_json_array(ptrdiff_t count, json_t *(*one)(const void *user, ptrdiff_t index), const void *user);
json_t *cli_json_numbers(const double *values, ptrdiff_t count);

/* Prints the object to stdout with a line end and frees it. */
mfpg_status cli_json_print(json_t *object);

/* ---- the terminal ---- */

/* Returns 1 if the stream is a terminal that supports escape sequences. */
int cli_terminal(FILE *stream);

/* Returns 1 if the stream may carry colours: a terminal, unless NO_COLOR is set (no-color.org). */
int cli_colours(FILE *stream);

/* Return what begins and what ends a colour on the stream; "" if it carries none. */
typedef enum cli_colour { CLI_RED, CLI_YELLOW, CLI_BOLD } cli_colour;
const char *cli_colour_begin(FILE *stream, cli_colour which);
const char *cli_colour_end(FILE *stream);

/* How long work shows its progress on stderr: on a terminal by a bar with the remaining time, elsewhere by
 * one line per step. */
typedef struct cli_progress {
    double begun; /* seconds of a monotonic clock */
    int terminal; /* stderr is one */
    int shown;    /* a bar is on the last line */
} cli_progress;

cli_progress cli_progress_start(void);

/* Shows that done of total steps are complete, and a text. Without a terminal the line is printed only if
 * line is 1. */
void cli_progress_show(cli_progress *bar, int64_t done, int64_t total, const char *text, int line);

/* Ends the line of the bar, so that other messages begin on a new line. */
void cli_progress_end(cli_progress *bar);

/* ---- signals that request the end of the program: SIGINT, SIGTERM and SIGHUP ---- */

/* After this call these signals end the program at once, with the exit code of an interruption and a line
 * that says so and begins with title. Signals that are ignored remain ignored. */
void cli_interrupt_ends(const char *title);

/* From now on they, and SIGUSR1, set a flag that long work looks at; a second signal ends the program at once. Batch systems
 * announce the end of the time by SIGUSR1, which mpirun hands on without ending the processes a second later. */
const volatile int *cli_interrupt_watch(void);

/* ---- processes: group.c for a single process, or group_mpi.c ---- */

/* Called once before anything is printed; all processes except the first become silent. */
void cli_group_start(int *argc, char ***argv);

/* NULL: this process is alone. */
const mfpg_group *cli_group(void);

/* Only the first process continues after this call; the others end with CLI_DONE. For commands that are not
 * distributed. */
void cli_group_leave(void);

/* ---- folders ---- */

enum { CLI_PATH_SIZE = 4200 };

/* 1 if the name is a folder. */
int cli_is_folder(const char *name);

/* Returns 1 if the name is a folder that contains the config.yaml of a run or a sweep's folder seed-N. */
int cli_is_run_folder(const char *name);

/* Opens the configuration of the run in the folder; refuses a sweep, which has several. */
mfpg_status cli_config_of_run(cli_call *call, const char *folder, mfpg_config **out);

/* A run folder may come from anywhere: refused if writing the file into it would follow a symbolic link. */
mfpg_status cli_may_write_into_run(cli_call *call, const char *folder, const char *name);

/* Fails unless files can be written into the folder, or into the nearest existing folder above it. Called
 * before long work, whose result would otherwise be lost. */
mfpg_status cli_may_write_folder(cli_call *call, const char *folder);

/* Warns of each checkpoint that remains in the folder of a run or of a sweep: one line with its path. */
void cli_warn_of_checkpoints(const char *folder);

/* Runs gnuplot in a folder on its scripts, a list of names ending with NULL. Returns 1 if all were drawn.
 * Returns 0 with a message to stderr if gnuplot is not installed or failed; a missing figure does not make
 * the command fail. */
int cli_draw(const cli_call *call, const char *folder, const char *const *names);

#endif
