/* mfpg eval: a trained model on a data file. */
#include <math.h>
#include <stdio.h>

#include "mfpg/experiment.h"

#include "options.h"

enum { OPTION_LABELS = 'l' };

typedef struct settings {
    cli_common common;
    const char *run, *file, *labels;
} settings;

static const struct argp_option options[] = {
    {"labels", OPTION_LABELS, "FILE", 0,
        "File of labels, for formats that may keep them apart (idx, npy, npz)", 0},
    {0}};

static error_t parse(int key, char *text, struct argp_state *state) {
    settings *chosen = state->input;
    switch (key) {
    case ARGP_KEY_INIT: state->child_inputs[0] = &chosen->common; return 0;
    case OPTION_LABELS: chosen->labels = text; return 0;
    case ARGP_KEY_ARG:
        if (chosen->file) cli_wrong_argument(state, "one file at a time; '%.60s' is a third name", text);
        *(chosen->run ? &chosen->file : &chosen->run) = text;
        return 0;
    case ARGP_KEY_END:
        if (!chosen->file) cli_wrong_argument(state, "a run folder and a data file are needed");
        return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp_child children[] = {{.argp = &cli_common_argp}, {0}};
static const struct argp argp = {.options = options,
    .parser = parse,
    .args_doc = "RUN FILE",
    .doc = "Loss, accuracy, area under the ROC curve and majority rate of the model of run folder RUN on the "
           "rows of FILE, "
           "which is read as the run's own files were (same format, columns, labels and public bounds)."
           "\vThe numbers are computed on the rows of FILE and covered by no certificate.",
    .children = children};

static int print_json(const mfpg_metrics *m) {
    return cli_json_print(
        "eval", json_pack("{s:o, s:o, s:o, s:o, s:I, s:s}", "loss", cli_json_number(m->loss), "accuracy",
                    cli_json_number(m->accuracy), "auc", cli_json_number(m->auc), "majority_rate",
                    cli_json_number(m->majority_rate), "rows", (json_int_t)m->rows, "note",
                    "computed on private data; not covered by any certificate"));
}

static int print_text(const mfpg_metrics *m) {
    printf("rows           %td\nloss           %.6g\n", m->rows, m->loss);
    if (!isnan(m->accuracy))
        printf("accuracy       %.4f\nmajority rate  %.4f\n", m->accuracy, m->majority_rate);
    if (!isnan(m->auc)) printf("auc            %.4f\n", m->auc);
    return cli_finish("eval", CLI_DONE);
}

int command_eval(int argc, char **argv) {
    settings chosen = {0};
    cli_parse(&argp, "eval", argc, argv, &chosen);
    mfpg_context *ctx = cli_context(0);
    mfpg_metrics metrics;
    mfpg_status status = mfpg_evaluate_file(ctx, chosen.run, chosen.file, chosen.labels, &metrics);
    int code = status != MFPG_OK    ? cli_fail(ctx, "eval", status)
               : chosen.common.json ? print_json(&metrics)
                                    : print_text(&metrics);
    mfpg_context_destroy(ctx);
    return code;
}
