/* mfpg bench: the four cells side by side. */
#include <math.h>
#include <string.h>
#include <unistd.h>

#include "reproduction/bench_suites.h"
#include "mfpg/experiment.h"

#include "cli.h"

typedef mfpg_bench_options settings;

static void show_cells(void *user, int64_t done, int64_t total) {
    cli_progress_show(user, done, total, "training runs", total >= 10 && done % (total / 10) == 0);
    if (done == total) cli_progress_end(user); /* the tables follow */
}

/* The figures of the suites; if a task was not run, its script does not exist. */
static const struct {
    const char *suite, *script;
} figures[] = {{"figures", "figure1.gp"}, {"figures", "figure2.gp"}, {"figures", "figure3.gp"},
    {"figures", "figure4.gp"}, {"figures", "figure5.gp"}, {"attack", "attack.gp"},
    {"attack", "attack-table.gp"}};
enum { FIGURES = sizeof figures / sizeof figures[0] };

static void draw(const cli_call *call, const mfpg_bench_options *bench) {
    const char *there[FIGURES + 1] = {NULL};
    int count = 0;
    for (int i = 0; i < FIGURES; i++) {
        char path[CLI_PATH_SIZE];
        snprintf(path, sizeof path, "%s/%s", bench->folder, figures[i].script);
        if (strstr(bench->suites, figures[i].suite) && access(path, F_OK) == 0)
            there[count++] = figures[i].script;
    }
    if (count > 0 && cli_draw(call, bench->folder, there))
        fprintf(stderr, "Figures as SVG, PNG and PDF: %s\n", bench->folder);
}

static mfpg_status bench(cli_call *call) {
    settings options = *(const settings *)call->options;
    cli_progress bar = cli_progress_start();
    if (options.runs % 2 != 0)
        return mfpg_fail(call->ctx, MFPG_ERR_INPUT,
            "--runs: found '%lld'; allowed: an even whole number from 20 to 2147483646",
            (long long)options.runs);
    if (!options.suites) options.suites = mfpg_bench_options_default().suites;
    if (!options.folder) options.folder = "results";
    options.stop = cli_interrupt_watch();
    options.progress = show_cells;
    options.progress_user = &bar;
    mfpg_status status = mfpg_bench_run(call->ctx, &options, call->json ? stderr : stdout);
    cli_progress_end(&bar);
    if (status == MFPG_OK && call->json)
        status = cli_json_print(cli_json(
            "csv:o selection:s", json_sprintf("%s/full_benchmark.csv", options.folder), MFPG_SELECTION_NOTE));
    if (status != MFPG_OK || fflush(stdout) != 0) return status;
    draw(call, &options);
    if (!call->json) fprintf(stderr, "Every training run: %s/full_benchmark.csv\n", options.folder);
    return status;
}

const cli_command command_bench = {
    .list = CLI_LIST(
        CLI_OPTION("suite", 's', TEXT, "SUITE,...", suites,
            "Suites, separated by commas: paper, frontier, figures, attack (default: paper,frontier)"),
        CLI_OPTION("task", 'k', TEXT, "quadratic|logistic|images,...", tasks,
            "Tasks, separated by commas (default: all that a suite has; frontier and attack run images, a "
            "long study, only if they are named)"),
        CLI_OPTION("images", 'i', PATH, "DIR", images,
            "Folder of the image task's four files, in the format of MNIST, plain or .gz (default: Debian's "
            "dataset-fashion-mnist)"),
        CLI_WHOLE("seeds", 'n', 1, 100000, seeds,
            "Draws of every cell (default: paper and figures 5, frontier 20, attack 1; images: 1, frontier "
            "5)"),
        CLI_WHOLE("runs", 'r', 20, 2147483646, runs,
            "Suite attack: runs of each pattern of canaries, both arms together (default 4000 for the "
            "counterexample, 20000 for the paper's settings, 1000 for images)"),
        CLI_OPTION("out", 'o', PATH, "DIR", folder, "Folder of full_benchmark.csv (default: results)")),
    .size = sizeof(settings),
    .threads = CLI_OPTION_THREADS,
    .doc = "Trains the four cells (dp-sgd, mfep, mapg-dp, mfpg) under the suites' settings, prints the "
           "tables and writes full_benchmark.csv, one row a training run."
           "\vSuite paper: every number of the paper's table next to ours. Suite frontier: accuracy against "
           "certified epsilon. Suite figures: the data of the paper's five figures, with the gnuplot scripts "
           "that draw them. Suite attack: what an attack proves of the paper's certificates and of ours.",
    .run = bench,
};
