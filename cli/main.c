/* mfpg COMMAND: finds the command in commands.def and hands over. */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "mfpg/names.h"
#include "mfpg/version.h"

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

static void print_help(FILE *out) {
    fputs("Usage: mfpg COMMAND [OPTION...]\n"
          "Privacy games in federated learning.\n\n",
        out);
    for (int i = 0; i < COMMANDS; i++) fprintf(out, "  %-12s %s\n", commands[i].name, commands[i].help);
    fputs("\n  mfpg COMMAND --help   every option of a command with its unit and default\n"
          "  mfpg --version        the version, and what it was built with\n\n"
          "Exit codes: 0 done, 1 failed while running, 2 the input is wrong,\n"
          "130 interrupted.\n",
        out);
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
    fprintf(stderr, "mfpg: %s\n", mfpg_context_message(ctx));
    mfpg_context_destroy(ctx);
    return cli_exit_code(status);
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

int main(int argc, char **argv) {
    guard_streams();
    cli_group_start(&argc, &argv);
    argp_err_exit_status = CLI_WRONG_INPUT;
    if (argc < 2) {
        print_help(stderr);
        return CLI_WRONG_INPUT;
    }
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-?") == 0) {
        print_help(stdout);
        return cli_finish("--help", CLI_DONE);
    }
    if (strcmp(argv[1], "--version") == 0) {
        return print_version(argc > 2 && strcmp(argv[2], "--json") == 0);
    }
    for (int i = 0; i < COMMANDS; i++)
        if (strcmp(commands[i].name, argv[1]) == 0) return run_command(&commands[i], argc, argv);
    return refuse_command(argv[1]);
}
