/* mfpg report writes a page for one or several runs. */
#include <stdlib.h>
#include <string.h>

#include "mfpg/report.h"

#include "cli.h"

typedef struct settings {
    const char *out;
} settings;

static mfpg_status report(cli_call *call) {
    const settings *chosen = call->options;
    char *page = NULL, figures[CLI_PATH_SIZE];
    for (int i = 0; i < call->arguments; i++) cli_warn_of_checkpoints(call->argument[i]);
    mfpg_status status = mfpg_report_write(
        call->ctx, (const char *const *)call->argument, call->arguments, chosen->out, &page);
    if (status != MFPG_OK) return status;
    snprintf(figures, sizeof figures, "%.*sfigures", (int)(strlen(page) - strlen("report.html")), page);
    int drawn = cli_draw(call, figures, (const char *const[]){"figures.gp", NULL});
    if (call->json) {
        status = cli_json_print(cli_json("report:s figures:s drawn:b", page, figures, drawn));
    } else {
        printf("Written to %s\n", page);
        if (drawn) printf("Figures as SVG, PNG and PDF: %s\n", figures);
    }
    free(page);
    return status;
}

const cli_command command_report = {
    .list = CLI_LIST(CLI_OPTION("out", 'o', PATH, "DIR", out,
        "Folder of report.html, made if need be (default: that of the run; of several runs the working "
        "folder)")),
    .size = sizeof(settings),
    .forms = "RUN...",
    .least = 1,
    .most = MFPG_REPORT_MOST_RUNS,
    .needed = "a run folder is needed",
    .limit = "a page holds no more runs",
    .doc = "Writes report.html, one file that needs no network: what was promised to each client in plain "
           "words, what attacks proved (mfpg audit RUN), the equilibrium, loss, accuracy, epsilon and noise "
           "by round, configuration and assumptions; and its charts into the folder figures, as CSV files "
           "with gnuplot scripts, drawn as SVG, PNG and PDF if gnuplot is installed. RUN is a run folder, or "
           "that of a sweep (seed=1..10), which is shown with bands over its seeds. Several are compared."
           "\vLosses, accuracies and rebuilt examples in it are computed on private data and covered by no "
           "certificate: think before you publish it.",
    .run = report,
};
