/* mfpg report: a page of one or several runs. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mfpg/report.h"

#include "draw.h"
#include "options.h"
#include "run_folder.h"

enum { OPTION_OUT = 'o' };

typedef struct settings {
    cli_common common;
    const char *runs[MFPG_REPORT_MOST_RUNS];
    ptrdiff_t count;
    const char *out;
} settings;

static const struct argp_option options[] = {{"out", OPTION_OUT, "DIR", 0,
                                                 "Folder of report.html, made if need be (default: that of "
                                                 "the run; of several runs the working folder)",
                                                 0},
    {0}};

static error_t parse(int key, char *text, struct argp_state *state) {
    settings *chosen = state->input;
    switch (key) {
    case ARGP_KEY_INIT: state->child_inputs[0] = &chosen->common; return 0;
    case OPTION_OUT: chosen->out = text; return 0;
    case ARGP_KEY_ARG:
        if (chosen->count == MFPG_REPORT_MOST_RUNS)
            cli_wrong_argument(state, "at most %d runs fit a page", (int)MFPG_REPORT_MOST_RUNS);
        chosen->runs[chosen->count++] = text;
        return 0;
    case ARGP_KEY_END:
        if (chosen->count == 0) cli_wrong_argument(state, "a run folder is needed");
        return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp_child children[] = {{.argp = &cli_common_argp}, {0}};
static const struct argp argp = {.options = options,
    .parser = parse,
    .args_doc = "RUN...",
    .doc =
        "Writes report.html, one file that needs no network: what was promised to each client in plain "
        "words, what attacks proved (mfpg audit RUN), the equilibrium, loss, accuracy, epsilon and noise by "
        "round, configuration and assumptions; and its charts into the folder figures, as CSV files with "
        "gnuplot scripts, drawn as SVG, PNG and PDF where gnuplot is there. RUN is a run folder, or that of "
        "a sweep (seed=1..10), which is shown with bands over its seeds. Several are compared."
        "\vLosses, accuracies and rebuilt examples in it are computed on private data and covered by no "
        "certificate: think before you publish it.",
    .children = children};

/* Draws the figures beside the page and says where both are. */
static int tell(const settings *chosen, const char *page) {
    char figures[4200];
    snprintf(figures, sizeof figures, "%.*sfigures", (int)(strlen(page) - strlen("report.html")), page);
    int drawn = draw_figures("report", figures, (const char *const[]){"figures.gp", NULL});
    if (chosen->common.json)
        return cli_json_print(
            "report", json_pack("{s:s, s:s, s:b}", "report", page, "figures", figures, "drawn", drawn));
    printf("Written to %s\n", page);
    if (drawn) printf("Figures as SVG, PNG and PDF: %s\n", figures);
    return CLI_DONE;
}

int command_report(int argc, char **argv) {
    settings chosen = {0};
    char *page = NULL;
    cli_parse(&argp, "report", argc, argv, &chosen);
    mfpg_context *ctx = cli_context(1);
    for (ptrdiff_t i = 0; i < chosen.count; i++) cli_warn_of_checkpoints(chosen.runs[i]);
    mfpg_status status = mfpg_report_write(ctx, chosen.runs, chosen.count, chosen.out, &page);
    int code = CLI_DONE;
    if (status != MFPG_OK)
        code = cli_fail(ctx, "report", status);
    else
        code = tell(&chosen, page);
    free(page);
    mfpg_context_destroy(ctx);
    return cli_finish("report", code);
}
