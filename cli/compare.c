/* mfpg compare: two runs side by side. */
#include <stdio.h>
#include <stdlib.h>

#include "mfpg/report.h"

#include "colour.h"
#include "options.h"
#include "run_folder.h"

typedef struct settings {
    cli_common common;
    const char *first, *second;
} settings;

static error_t parse(int key, char *text, struct argp_state *state) {
    settings *chosen = state->input;
    switch (key) {
    case ARGP_KEY_INIT: state->child_inputs[0] = &chosen->common; return 0;
    case ARGP_KEY_ARG:
        if (chosen->second)
            cli_wrong_argument(
                state, "two runs at a time; '%.60s' is a third (mfpg report compares many)", text);
        *(chosen->first ? &chosen->second : &chosen->first) = text;
        return 0;
    case ARGP_KEY_END:
        if (!chosen->second) cli_wrong_argument(state, "two run folders are needed");
        return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp_child children[] = {{.argp = &cli_common_argp}, {0}};
static const struct argp argp = {.parser = parse,
    .args_doc = "RUN RUN",
    .doc =
        "Sets two runs side by side: the keys in which their configurations differ, promises, epsilon of "
        "each client, last "
        "loss and accuracy, equilibrium. RUN is a run folder, or that of a sweep, of which means are shown."
        "\vOn a terminal the better of two numbers is green; NO_COLOR in the environment switches colours "
        "off. Losses and "
        "accuracies are computed on private data and covered by no certificate.",
    .children = children};

int command_compare(int argc, char **argv) {
    settings chosen = {0};
    char *json = NULL;
    cli_parse(&argp, "compare", argc, argv, &chosen);
    mfpg_context *ctx = cli_context(1);
    cli_warn_of_checkpoints(chosen.first);
    cli_warn_of_checkpoints(chosen.second);
    mfpg_status status = chosen.common.json ? mfpg_compare_json(ctx, chosen.first, chosen.second, &json)
                                            : mfpg_compare_print(ctx, chosen.first, chosen.second,
                                                  cli_colours(stdout), stdout);
    if (json) puts(json);
    free(json);
    int code = status == MFPG_OK ? CLI_DONE : cli_fail(ctx, "compare", status);
    mfpg_context_destroy(ctx);
    return cli_finish("compare", code);
}
