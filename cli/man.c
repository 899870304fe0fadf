/* mfpg man: manual pages, from the tables that parse command lines and configurations. */
#include <stdio.h>
#include <string.h>

#include "mfpg/names.h"

#include "man_page.h"
#include "options.h"

typedef struct settings {
    cli_common common;
    const char *page; /* NULL: the program's */
} settings;

static error_t parse(int key, char *text, struct argp_state *state) {
    settings *chosen = state->input;
    switch (key) {
    case ARGP_KEY_INIT: state->child_inputs[0] = &chosen->common; return 0;
    case ARGP_KEY_ARG:
        if (chosen->page) cli_wrong_argument(state, "one page at a time; '%.60s' is a second", text);
        chosen->page = text;
        return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp_child children[] = {{.argp = &cli_common_argp}, {0}};
static const struct argp argp = {.parser = parse,
    .args_doc = "[COMMAND|config]",
    .doc = "Prints a manual page in the language of man: of COMMAND, of all keys of the configuration "
           "(config), or without an argument of the program."
           "\vInstalled pages are read with man mfpg-run and the like. Without them:\n\n"
           "  mfpg man run | man -l -\n\n"
           "With --json the names of the pages are printed.",
    .children = children};

static int print_names(void) {
    json_t *pages = json_pack("[s, s]", "mfpg.1", "mfpg-config.5");
    for (ptrdiff_t i = 0; cli_command_name(i); i++)
        json_array_append_new(pages, json_sprintf("mfpg-%s.1", cli_command_name(i)));
    return cli_json_print("man", json_pack("{s:o}", "pages", pages));
}

static void print_page(void *user, const struct argp *of) {
    const char *command = user, *help = "";
    for (ptrdiff_t i = 0; cli_command_name(i); i++)
        if (strcmp(cli_command_name(i), command) == 0) help = cli_command_help(i);
    man_page_of_command(command, help, of);
}

static int refuse(const char *page) {
    const char *names[64] = {"config"};
    ptrdiff_t count = 1;
    for (; count < 64 && cli_command_name(count - 1); count++) names[count] = cli_command_name(count - 1);
    mfpg_context *ctx = cli_context(1);
    int code = cli_fail(ctx, "man", mfpg_names_unknown(ctx, "page", page, names, count));
    mfpg_context_destroy(ctx);
    return code;
}

int command_man(int argc, char **argv) {
    settings chosen = {0};
    cli_parse(&argp, "man", argc, argv, &chosen);
    if (chosen.common.json) return print_names();
    if (!chosen.page) {
        man_page_of_program();
    } else if (strcmp(chosen.page, "config") == 0) {
        man_page_of_configuration();
    } else {
        char name[64];
        snprintf(name, sizeof name, "%s", chosen.page);
        cli_describe(name, print_page, name); /* returns for no command */
        return refuse(chosen.page);
    }
    return cli_finish("man", CLI_DONE);
}
