/* mfpg COMMAND finds the command in commands.def and calls it. */
#include <argp.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "mfpg/names.h"
#include "mfpg/version.h"

#include "cli.h"

#define COMMAND(name, help) {#name, help, &command_##name},
static const struct entry {
    const char *name, *help;
    const cli_command *command;
} commands[] = {
#include "commands.def"
};
#undef COMMAND

enum { COMMANDS = sizeof commands / sizeof commands[0] };

const char *cli_command_name(ptrdiff_t index) {
    return index >= 0 && index < COMMANDS ? commands[index].name : NULL;
}

const char *cli_command_help(ptrdiff_t index) {
    return index >= 0 && index < COMMANDS ? commands[index].help : NULL;
}

const cli_command *cli_command_find(const char *name, const char **help) {
    for (int i = 0; i < COMMANDS; i++) {
        if (strcmp(commands[i].name, name) != 0) continue;
        if (help) *help = commands[i].help;
        return commands[i].command;
    }
    return NULL;
}

static void print_help(FILE *out) {
    const char *bold = cli_colour_begin(out, CLI_BOLD), *plain = cli_colour_end(out), *meaning;
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

/* Prints the version in the first line, then what was built and the libraries in use. */
static mfpg_status print_version(int json) {
    json_t *facts = json ? cli_json("version:s", mfpg_version()) : NULL;
    if (!json) printf("mfpg %s\n", mfpg_version());
    for (ptrdiff_t i = 0; mfpg_build_name(i); i++)
        if (json)
            json_object_set_new(facts, mfpg_build_name(i), json_string(mfpg_build_value(i)));
        else
            printf("%-10s %s\n", mfpg_build_name(i), mfpg_build_value(i));
    return json ? cli_json_print(facts) : MFPG_OK;
}

static int refuse_command(const char *word) {
    mfpg_context *ctx = cli_context(1);
    const char *names[COMMANDS];
    for (int i = 0; i < COMMANDS; i++) names[i] = commands[i].name;
    mfpg_names_unknown(ctx, "command", word, names, COMMANDS);
    cli_error("", "%s; mfpg --help says what each does", mfpg_context_message(ctx));
    mfpg_context_destroy(ctx);
    return CLI_WRONG_INPUT;
}

static int run_command(const char *name, const cli_command *command, int argc, char **argv) {
    char title[64];
    snprintf(title, sizeof title, "mfpg %s", name);
    argv[1] = title; /* argp begins its messages with this */
    if (command != &command_run) cli_group_leave();
    cli_interrupt_ends(title);
    return cli_run(name, command, argc - 1, argv + 1);
}

/* A closed standard stream must not lend its number to a file that the program opens: what is printed would land in that file.
 * Opened for reading, it refuses what is written. */
static void guard_streams(void) {
    int opened;
    do opened = open("/dev/null", O_RDONLY);
    while (opened >= 0 && opened <= STDERR_FILENO);
    if (opened > STDERR_FILENO) close(opened);
    signal(SIGPIPE, SIG_IGN); /* a reader that ends early does not end training */
    signal(SIGXFSZ, SIG_IGN); /* a limit on file sizes is reported like a full disk */
}

static int is_one_of(const char *word, const char *const *words) {
    while (*words && strcmp(*words, word) != 0) words++;
    return *words != NULL;
}

int main(int argc, char **argv) {
    static const char *const helps[] = {"--help", "-?", "-h", "help", NULL};
    static const char *const versions[] = {"--version", "version", "-V", "-v", NULL};
    static char help[] = "--help";
    cli_call call = {.name = "--help"};
    guard_streams();
    cli_group_start(&argc, &argv);
    argp_err_exit_status = CLI_WRONG_INPUT;
    if (argc < 2) {
        print_help(stderr);
        return CLI_WRONG_INPUT;
    }
    if (argc == 3 && strcmp(argv[1], "help") == 0) { /* "mfpg help run" and "mfpg run -h" are accepted */
        argv[1] = argv[2];
        argv[2] = help;
    }
    if (argc == 3 && is_one_of(argv[2], helps)) argv[2] = help;
    if (argc == 2 && is_one_of(argv[1], helps)) {
        print_help(stdout);
        return cli_finish(&call, MFPG_OK);
    }
    if (is_one_of(argv[1], versions)) {
        call.name = "--version";
        return cli_finish(&call, print_version(argc > 2 && strcmp(argv[2], "--json") == 0));
    }
    const cli_command *command = cli_command_find(argv[1], NULL);
    return command ? run_command(argv[1], command, argc, argv) : refuse_command(argv[1]);
}
