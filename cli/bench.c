/* mfpg bench: the four cells side by side. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "reproduction/bench_suites.h"
#include "mfpg/experiment.h"

#include "draw.h"
#include "interrupt.h"
#include "options.h"
#include "progress.h"

enum {
    OPTION_SUITE = 's',
    OPTION_TASK = 'k',
    OPTION_SEEDS = 'n',
    OPTION_OUT = 'o',
    OPTION_THREADS = 't',
    OPTION_IMAGES = 'i',
    OPTION_RUNS = 'r'
};

typedef struct settings {
    cli_common common;
    mfpg_bench_options bench;
    int threads;
} settings;

static const struct argp_option options[] = {
    {"suite", OPTION_SUITE, "SUITE,...", 0,
        "Suites, separated by commas: paper, frontier, figures, attack (default: paper,frontier)", 0},
    {"task", OPTION_TASK, "quadratic|logistic|images,...", 0,
        "Tasks, separated by commas (default: all that a suite has; frontier "
        "and attack run images, a long study, only where they are named)",
        0},
    {"images", OPTION_IMAGES, "DIR", 0,
        "Folder of the image task's four files, in the format of MNIST, plain or .gz (default: "
        "Debian's dataset-fashion-mnist)",
        0},
    {"seeds", OPTION_SEEDS, "N", 0,
        "Draws of every cell (default: paper and figures 5, frontier 20, attack 1; images: 1, frontier 5)",
        0},
    {"runs", OPTION_RUNS, "N", 0,
        "Suite attack: runs of each pattern of canaries, both arms together (default 4000 for the "
        "counterexample, 20000 for the paper's settings, 1000 for images)",
        0},
    {"out", OPTION_OUT, "DIR", 0, "Folder of full_benchmark.csv (default: results)", 0},
    {"threads", OPTION_THREADS, "N", 0, "Threads (default: all the machine's); results do not depend on it",
        0},
    {0}};

static int is_seed_count(double value) {
    return value >= 1 && value <= 100000 && value == floor(value);
}

static int is_run_count(double value) {
    return value >= 20 && value <= 2147483646.0 && value == 2.0 * floor(0.5 * value);
}

static error_t parse(int key, char *text, struct argp_state *state) {
    settings *chosen = state->input;
    switch (key) {
    case ARGP_KEY_INIT: state->child_inputs[0] = &chosen->common; return 0;
    case OPTION_SUITE: chosen->bench.suites = text; return 0;
    case OPTION_TASK: chosen->bench.tasks = text; return 0;
    case OPTION_IMAGES: chosen->bench.images = text; return 0;
    case OPTION_SEEDS:
        chosen->bench.seeds =
            (int64_t)cli_number(state, "seeds", text, is_seed_count, "a whole number from 1 to 100000");
        return 0;
    case OPTION_RUNS:
        chosen->bench.runs = (int64_t)cli_number(
            state, "runs", text, is_run_count, "an even whole number from 20 to 2147483646");
        return 0;
    case OPTION_OUT: chosen->bench.folder = text; return 0;
    case OPTION_THREADS: chosen->threads = cli_threads(state, text); return 0;
    case ARGP_KEY_ARG: cli_wrong_argument(state, "'%.60s' is no option", text); return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp_child children[] = {{.argp = &cli_common_argp}, {0}};
static const struct argp argp = {.options = options,
    .parser = parse,
    .doc = "Trains the four cells (dp-sgd, mfep, mapg-dp, mfpg) under the suites' settings, prints the "
           "tables and writes "
           "full_benchmark.csv, one row a training run."
           "\vSuite paper: every number of the paper's table beside ours. Suite frontier: accuracy against "
           "certified epsilon. Suite figures: the data of the paper's five figures, with the gnuplot scripts "
           "that draw them. Suite attack: what an attack proves of the paper's certificates and of ours.",
    .children = children};

static void show_cells(void *user, int64_t done, int64_t total) {
    progress_show(user, done, total, "training runs", total >= 10 && done % (total / 10) == 0);
    if (done == total) progress_end(user); /* the tables follow */
}

/* The figures of the suites; of a task that was not run there is no script. */
static const struct {
    const char *suite, *script;
} figures[] = {{"figures", "figure1.gp"}, {"figures", "figure2.gp"}, {"figures", "figure3.gp"},
    {"figures", "figure4.gp"}, {"figures", "figure5.gp"}, {"attack", "attack.gp"},
    {"attack", "attack-table.gp"}};
enum { FIGURES = sizeof figures / sizeof figures[0] };

static void draw(const mfpg_bench_options *bench) {
    const char *there[FIGURES + 1] = {NULL};
    int count = 0;
    for (int i = 0; i < FIGURES; i++) {
        char path[4200];
        snprintf(path, sizeof path, "%s/%s", bench->folder, figures[i].script);
        if (strstr(bench->suites, figures[i].suite) && access(path, F_OK) == 0)
            there[count++] = figures[i].script;
    }
    if (count > 0 && draw_figures("bench", bench->folder, there))
        fprintf(stderr, "Figures as SVG, PNG and PDF: %s\n", bench->folder);
}

int command_bench(int argc, char **argv) {
    settings chosen = {.bench = mfpg_bench_options_default()};
    chosen.bench.folder = "results";
    cli_parse(&argp, "bench", argc, argv, &chosen);
    mfpg_context *ctx = cli_context(chosen.threads);
    progress bar = progress_start();
    chosen.bench.stop = interrupt_watch();
    chosen.bench.progress = show_cells;
    chosen.bench.progress_user = &bar;
    FILE *tables = chosen.common.json ? stderr : stdout;
    mfpg_status status = mfpg_bench_run(ctx, &chosen.bench, tables);
    progress_end(&bar);
    int code = CLI_DONE;
    if (status != MFPG_OK)
        code = cli_fail(ctx, "bench", status);
    else if (chosen.common.json)
        code = cli_json_print("bench", json_pack("{s:s+, s:s}", "csv", chosen.bench.folder,
                                           "/full_benchmark.csv", "selection", MFPG_SELECTION_NOTE));
    mfpg_context_destroy(ctx);
    code = cli_finish("bench", code);
    if (code == CLI_DONE) draw(&chosen.bench);
    if (code == CLI_DONE && !chosen.common.json)
        fprintf(stderr, "Every training run: %s/full_benchmark.csv\n", chosen.bench.folder);
    return code;
}
