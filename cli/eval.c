/* mfpg eval evaluates a trained model on a data file. */
#include <math.h>

#include "mfpg/experiment.h"

#include "cli.h"

typedef struct settings {
    const char *labels;
} settings;

static mfpg_status eval(cli_call *call) {
    const settings *chosen = call->options;
    mfpg_metrics m;
    mfpg_status status =
        mfpg_evaluate_file(call->ctx, call->argument[0], call->argument[1], chosen->labels, &m);
    if (status != MFPG_OK) return status;
    if (call->json)
        return cli_json_print(
            cli_json("loss:n accuracy:n auc:n majority_rate:n rows:i note:s", m.loss, m.accuracy, m.auc,
                m.majority_rate, m.rows, "computed on private data; not covered by any certificate"));
    printf("rows           %td\nloss           %.6g\n", m.rows, m.loss);
    if (!isnan(m.accuracy)) printf("accuracy       %.4f\nmajority rate  %.4f\n", m.accuracy, m.majority_rate);
    if (!isnan(m.auc)) printf("auc            %.4f\n", m.auc);
    return MFPG_OK;
}

const cli_command command_eval = {
    .list = CLI_LIST(CLI_OPTION("labels", 'l', PATH, "FILE", labels,
        "File of labels, for formats that may keep them apart (idx, npy, npz)")),
    .size = sizeof(settings),
    .threads = CLI_ALL_THREADS,
    .forms = "RUN FILE",
    .least = 2,
    .most = 2,
    .needed = "a run folder and a data file are needed",
    .limit = "one file at a time",
    .doc = "Loss, accuracy, area under the ROC curve and majority rate of the model of run folder RUN on the "
           "rows of FILE, which is read as the run's own files were (same format, columns, labels and public "
           "bounds).\vThe numbers are computed on the rows of FILE and covered by no certificate.",
    .run = eval,
};
