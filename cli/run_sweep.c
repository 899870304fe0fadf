#include "run_sweep.h"

#include <math.h>
#include <stdio.h>

#include "mfpg/experiment.h"

#include "options.h"

static void average(
    const outcome *results, ptrdiff_t count, double (*column)(const outcome *), double *mean, double *error) {
    double sum = 0.0, squares = 0.0;
    for (ptrdiff_t i = 0; i < count; i++) sum += column(&results[i]);
    *mean = sum / (double)count;
    for (ptrdiff_t i = 0; i < count; i++)
        squares += (column(&results[i]) - *mean) * (column(&results[i]) - *mean);
    *error = count > 1 ? sqrt(squares / (double)(count - 1) / (double)count) : (double)NAN;
}

static double loss_of(const outcome *o) {
    return o->loss;
}
static double accuracy_of(const outcome *o) {
    return o->accuracy;
}

static void print_text(const outcome *results, ptrdiff_t count, const char *folder) {
    double mean, error;
    char epsilon[CLI_TEXT_UP];
    printf("seed,loss,accuracy,epsilon\n");
    for (ptrdiff_t i = 0; i < count; i++)
        printf("%lld,%.6g,%.6g,%s\n", (long long)results[i].seed, results[i].loss, results[i].accuracy,
            cli_text_up(results[i].epsilon, epsilon));
    average(results, count, loss_of, &mean, &error);
    fprintf(stderr, "loss %.4f", mean);
    if (!isnan(error)) fprintf(stderr, " ± %.4f", error);
    average(results, count, accuracy_of, &mean, &error);
    if (!isnan(mean)) fprintf(stderr, ", accuracy %.4f", mean);
    if (!isnan(mean) && !isnan(error)) fprintf(stderr, " ± %.4f", error);
    fprintf(stderr, " (mean ± standard error over %td seeds)\n", count);
    if (count > 1) fprintf(stderr, "Every epsilon is that of one run; %s\n", MFPG_SELECTION_NOTE);
    fprintf(stderr, "Written to %s; as a page: mfpg report %s\n", folder, folder);
}

static void print_json(const outcome *results, ptrdiff_t count, const char *folder) {
    json_t *runs = json_array();
    double loss, loss_error, accuracy, accuracy_error;
    for (ptrdiff_t i = 0; i < count; i++)
        json_array_append_new(
            runs, json_pack("{s:I, s:o, s:o, s:o}", "seed", (json_int_t)results[i].seed, "loss",
                      cli_json_number(results[i].loss), "accuracy", cli_json_number(results[i].accuracy),
                      "epsilon", cli_json_number(results[i].epsilon)));
    average(results, count, loss_of, &loss, &loss_error);
    average(results, count, accuracy_of, &accuracy, &accuracy_error);
    cli_json_print(
        "run", json_pack("{s:o, s:{s:o, s:o}, s:{s:o, s:o}, s:s, s:s?}", "runs", runs, "loss", "mean",
                   cli_json_number(loss), "standard_error", cli_json_number(loss_error), "accuracy", "mean",
                   cli_json_number(accuracy), "standard_error", cli_json_number(accuracy_error), "folder",
                   folder, "selection", count > 1 ? MFPG_SELECTION_NOTE : NULL));
}

void run_print_sweep(const outcome *results, ptrdiff_t count, const char *folder, int json) {
    if (json)
        print_json(results, count, folder);
    else
        print_text(results, count, folder);
}
