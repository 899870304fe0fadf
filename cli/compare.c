/* mfpg compare: two runs side by side. */
#include <stdlib.h>

#include "mfpg/report.h"

#include "cli.h"

static mfpg_status compare(cli_call *call) {
    const char *first = call->argument[0], *second = call->argument[1];
    char *json = NULL;
    cli_warn_of_checkpoints(first);
    cli_warn_of_checkpoints(second);
    if (!call->json) return mfpg_compare_print(call->ctx, first, second, cli_colours(stdout), stdout);
    mfpg_status status = mfpg_compare_json(call->ctx, first, second, &json);
    if (json) puts(json);
    free(json);
    return status;
}

const cli_command command_compare = {
    .forms = "RUN RUN",
    .least = 2,
    .most = 2,
    .needed = "two run folders are needed",
    .limit = "two runs at a time (mfpg report compares many)",
    .doc = "Sets two runs side by side: the keys in which their configurations differ, promises, epsilon of "
           "each client, last loss and accuracy, equilibrium. RUN is a run folder, or that of a sweep, of "
           "which means are shown."
           "\vOn a terminal the better of two numbers is green; NO_COLOR in the environment switches colours "
           "off. Losses and accuracies are computed on private data and covered by no certificate.",
    .run = compare,
};
