/* mfpg COMMAND: finds the command in commands.def and hands over. */
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "mfpg/names.h"
#include "mfpg/version.h"

#include "colour.h"
#include "interrupt.h"
#include "options.h"

#define COMMAND(name, help) {#name, command_##name, help},
static const struct command {
    const char *name;
    int (*run)(int argc, char **argv);
    const char *help;
} commands[] = {
#include "commands.def"
};

enum { COMMANDS = sizeof commands / sizeof commands[0] };

const char *cli_command_name(ptrdiff_t index) {
    return index >= 0 && index < COMMANDS ? commands[index].name : NULL;
}

const char *cli_command_help(ptrdiff_t index) {
    return index >= 0 && index < COMMANDS ? commands[index].help : NULL;
}

static void print_help(FILE *out) {
    const char *bold = colour_begin(out, COLOUR_HEADING), *plain = colour_end(out), *meaning;
    int code;
    fprintf(out,
        "%sUsage:%s mfpg COMMAND [OPTION...]\nPrivacy games in federated learning.\n\n%sCommands%s\n", bold,
        plain, bold, plain);
    for (int i = 0; i < COMMANDS; i++) fprintf(out, "  %-12s %s\n", commands[i].name, commands[i].help);
    fprintf(out,
        "\n  mfpg COMMAND --help   every option of a command with its unit and default\n"
        "  mfpg --version        the version, and what it was built with\n\n%sExit codes%s\n",
        bold, plain);
    for (ptrdiff_t i = 0; (meaning = cli_exit_meaning(i, &code)); i++)
        fprintf(out, "  %-12d %s\n", code, meaning);
}

/* The version in the first line, then what was built and what it runs with. */
static int print_version(int json) {
    json_t *facts = json ? json_pack("{s:s}", "version", mfpg_version()) : NULL;
    if (!json) printf("mfpg %s\n", mfpg_version());
    for (ptrdiff_t i = 0; mfpg_build_name(i); i++)
        if (json)
            json_object_set_new(facts, mfpg_build_name(i), json_string(mfpg_build_value(i)));
        else
            printf("%-10s %s\n", mfpg_build_name(i), mfpg_build_value(i));
    return json ? cli_json_print("--version", facts) : cli_finish("--version", CLI_DONE);
}

static int refuse_command(const char *word) {
    mfpg_context *ctx = cli_context(1);
    const char *names[COMMANDS];
    for (int i = 0; i < COMMANDS; i++) names[i] = commands[i].name;
    mfpg_status status = mfpg_names_unknown(ctx, "command", word, names, COMMANDS);
    cli_begin_error("");
    fprintf(stderr, "%s; mfpg --help says what each does\n", mfpg_context_message(ctx));
    mfpg_context_destroy(ctx);
    return cli_exit_code(status);
}

static const struct command *find_command(const char *name) {
    for (int i = 0; i < COMMANDS; i++)
        if (strcmp(commands[i].name, name) == 0) return &commands[i];
    return NULL;
}

void cli_describe(const char *name, void (*visit)(void *user, const struct argp *argp), void *user) {
    const struct command *command = find_command(name);
    char *argv[] = {(char *)(uintptr_t)name, NULL};
    if (!command) return;
    cli_describe_next(visit, user);
    command->run(1, argv);
}

static int run_command(const struct command *command, int argc, char **argv) {
    char title[64];
    snprintf(title, sizeof title, "mfpg %s", command->name);
    argv[1] = title; /* argp begins its messages with this */
    if (strcmp(command->name, "run") != 0) cli_group_leave();
    interrupt_ends(title);
    return command->run(argc - 1, argv + 1);
}

/* A closed standard stream must not lend its number to a file that the program opens: whatever is printed would land in
 * that file. Opened for reading, it refuses what is written. */
static void guard_streams(void) {
    int opened;
    do opened = open("/dev/null", O_RDONLY);
    while (opened >= 0 && opened <= STDERR_FILENO);
    if (opened > STDERR_FILENO) close(opened);
    signal(SIGPIPE, SIG_IGN); /* a reader that leaves early ends no training */
    signal(SIGXFSZ, SIG_IGN); /* a limit on the size of files is a full disk, which is told */
}

static int is_help(const char *word) {
    static const char *const words[] = {"--help", "-?", "-h", "help"};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (strcmp(words[i], word) == 0) return 1;
    return 0;
}

/* "mfpg help run" and "mfpg run -h" mean what they say. */
static void understand_help(int argc, char **argv) {
    static char help[] = "--help";
    if (argc == 3 && strcmp(argv[1], "help") == 0) {
        argv[1] = argv[2];
        argv[2] = help;
    }
    if (argc == 3 && is_help(argv[2])) argv[2] = help;
}

int main(int argc, char **argv) {
    guard_streams();
    cli_group_start(&argc, &argv);
    argp_err_exit_status = CLI_WRONG_INPUT;
    if (argc < 2) {
        print_help(stderr);
        return CLI_WRONG_INPUT;
    }
    understand_help(argc, argv);
    if (is_help(argv[1]) && argc == 2) {
        print_help(stdout);
        return cli_finish("--help", CLI_DONE);
    }
    if (strcmp(argv[1], "--version") == 0) {
        return print_version(argc > 2 && strcmp(argv[2], "--json") == 0);
    }
    if (strcmp(argv[1], "version") == 0 || strcmp(argv[1], "-V") == 0 || strcmp(argv[1], "-v") == 0)
        return print_version(0);
    const struct command *command = find_command(argv[1]);
    return command ? run_command(command, argc, argv) : refuse_command(argv[1]);
}
