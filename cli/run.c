/* mfpg run: trains one federation, or one a seed, and tells what each client was promised. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "mfpg/experiment.h"

#include "interrupt.h"
#include "options.h"
#include "progress.h"
#include "run_resume.h"
#include "run_sweep.h"

enum { OPTION_OUT = 'o', OPTION_THREADS = 't', OPTION_KEYS = 0x2000, OPTION_RESUME, PATH_SIZE = 4096 };

typedef struct settings {
    cli_common common;
    const char *configuration;
    char **arguments; /* KEY=VALUE */
    int argument_count;
    const char *out;
    int threads;
    int keys;
    int resume;
} settings;

static const struct argp_option options[] = {
    {"out", OPTION_OUT, "DIR", 0, "Run folder (default runs/NAME, or the first free runs/NAME-2, -3, ...)",
        0},
    {"threads", OPTION_THREADS, "N", 0, "Threads (default: all the machine's); results do not depend on it",
        0},
    {"resume", OPTION_RESUME, 0, 0,
        "Go on with an interrupted run: FOLDER, or that of the configuration in --out or runs; the result is "
        "the same to "
        "the last byte",
        0},
    {"keys", OPTION_KEYS, 0, 0, "Print every key with unit, range and default", 0}, {0}};

static error_t parse(int key, char *text, struct argp_state *state) {
    settings *chosen = state->input;
    switch (key) {
    case ARGP_KEY_INIT: state->child_inputs[0] = &chosen->common; return 0;
    case OPTION_OUT: chosen->out = text; return 0;
    case OPTION_THREADS: chosen->threads = cli_threads(state, text); return 0;
    case OPTION_KEYS: chosen->keys = 1; return 0;
    case OPTION_RESUME: chosen->resume = 1; return 0;
    case ARGP_KEY_ARG:
        cli_take_argument(state, text, &chosen->configuration, chosen->arguments, &chosen->argument_count);
        return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp_child children[] = {{.argp = &cli_common_argp}, {0}};
static const struct argp argp = {.options = options,
    .parser = parse,
    .args_doc = "CONFIG.yaml|EXAMPLE [KEY=VALUE...]\n--resume FOLDER",
    .doc = "Trains a federation and writes a run folder: config.yaml, ledger, rounds.csv, free_energy.csv "
           "(entropic runs), transport.csv (runs that project their states), clients.csv, summary.json, "
           "model.npy, timings.csv. EXAMPLE is a name of `mfpg "
           "list examples`. seed=1..10 runs once a seed. "
           "Without "
           "arguments the shortest configuration that works is shown. While it trains, the folder holds a "
           "checkpoint, "
           "from which an interrupted run goes on."
           "\vExit codes: 0 done, 1 failed, 2 wrong input, 130 interrupted after a complete round.",
    .children = children};

/* ---- progress ---- */

typedef struct display {
    progress bar;
    int quiet;
} display;

static int append(char *text, size_t size, int used, const char *format, double value) {
    return isnan(value) ? used : used + snprintf(text + used, size - (size_t)used, format, value);
}

static void show_round(void *user, const mfpg_round_report *report, int64_t rounds) {
    display *shown = user;
    char text[160] = "", epsilon[CLI_TEXT_UP];
    int used = append(text, sizeof text, 0, "loss %.4f", report->loss);
    used = append(text, sizeof text, used, "  accuracy %.4f", report->accuracy);
    if (report->noise_to_signal > 0.0)
        used = append(text, sizeof text, used, "  noise/signal %.3g", report->noise_to_signal);
    if (report->transport.projections > 0)
        used = append(
            text, sizeof text, used, "  variance kept %.3g", mfpg_transport_mean_ratio(&report->transport));
    snprintf(text + used, sizeof text - (size_t)used, "  epsilon %s", cli_text_up(report->epsilon, epsilon));
    progress_show(&shown->bar, report->round, rounds, text, !shown->quiet);
}

/* The game before the first round, to stderr: on a terminal all of it, else one line; and what makes it worthless. */
static mfpg_status show_game(mfpg_context *ctx, const mfpg_experiment *experiment, int terminal) {
    mfpg_solution solution;
    char text[1024];
    if (!mfpg_experiment_solution(experiment, &solution)) return MFPG_OK;
    int anew = mfpg_config_is(mfpg_experiment_config(experiment), "game.update", "each-round");
    if (terminal && !anew) {
        mfpg_status status = mfpg_solution_print(ctx, &solution, stderr);
        cli_warn_of_game(&solution);
        fputc('\n', stderr);
        return status;
    }
    mfpg_solution_line(&solution, text, sizeof text);
    fprintf(stderr, "game%s: %s\n",
        anew ? " before the first round, for the public constants (actions are then chosen anew)" : "", text);
    cli_warn_of_game(&solution);
    return MFPG_OK;
}

/* ---- folders ---- */

/* Where a run's files go, and what of it was made for this run. */
typedef struct target {
    char folder[PATH_SIZE];
    int made_folder, made_runs;
} target;

/* What runs of the configuration are called in runs: a name is no way out of it. */
static void name_folder(const mfpg_config *config, char name[256]) {
    const char *text = mfpg_config_text(config, "name");
    snprintf(name, 256, "%s", text ? text : "run");
    for (char *at = name; *at; at++)
        if (*at == '/' || (at == name && *at == '.')) *at = '_';
}

/* --out, or runs/NAME with the first number that is free, made at once so that no other run takes it too. A folder that
 * cannot be made is left to the run, which says why. */
static void choose_folder(const settings *chosen, const mfpg_config *config, target *to) {
    char name[256];
    if (chosen->out) {
        snprintf(to->folder, PATH_SIZE, "%s", chosen->out);
        return;
    }
    name_folder(config, name);
    to->made_runs = mkdir("runs", 0777) == 0;
    snprintf(to->folder, PATH_SIZE, "runs/%s", name);
    for (int number = 2; !(to->made_folder = mkdir(to->folder, 0777) == 0) && errno == EEXIST; number++)
        snprintf(to->folder, PATH_SIZE, "runs/%s-%d", name, number);
}

/* Folders that nothing was written into; others stay, since rmdir takes empty ones only. */
static void remove_empty_folders(const target *to) {
    if (to->made_folder) rmdir(to->folder);
    if (to->made_runs) rmdir("runs");
}

/* ---- runs ---- */

static mfpg_status print_run(
    mfpg_context *ctx, const settings *chosen, const mfpg_experiment *experiment, const char *folder) {
    if (!chosen->common.json) {
        mfpg_status status = mfpg_experiment_print(ctx, experiment, stdout);
        printf("\nWritten to %s; as a page: mfpg report %s\n", folder, folder);
        return status;
    }
    char *text = NULL;
    mfpg_status status = mfpg_experiment_summary(ctx, experiment, &text);
    json_t *object = status == MFPG_OK ? json_loads(text, 0, NULL) : NULL;
    if (object) json_object_set_new(object, "folder", json_string(folder));
    if (status == MFPG_OK) cli_json_print("run", object);
    free(text);
    return status;
}

/* A new experiment, or the one that was interrupted in the folder. */
static mfpg_status open_experiment(mfpg_context *ctx, const settings *chosen, const mfpg_config *config,
    const char *folder, mfpg_experiment **out) {
    if (!chosen->resume) return mfpg_experiment_create(ctx, config, out);
    mfpg_status status = mfpg_experiment_resume(ctx, folder, config, out);
    if (status == MFPG_OK)
        fprintf(stderr, "Going on with %s after round %lld of %lld\n", folder,
            (long long)mfpg_experiment_resumed_round(*out),
            (long long)mfpg_config_number(mfpg_experiment_config(*out), "train.rounds"));
    return status;
}

/* 1 in the process that makes folders and prints. */
static int speaks(void) {
    const mfpg_group *group = cli_group();
    return !group || group->rank == 0;
}

static mfpg_status run_once(mfpg_context *ctx, const settings *chosen, const mfpg_config *config,
    const char *folder, const volatile int *stop, int print, int show, outcome *result) {
    display shown = {.bar = progress_start(), .quiet = !print};
    mfpg_run_options run = {.folder = folder, .stop = stop, .progress = show_round, .progress_user = &shown};
    mfpg_experiment *experiment = NULL;
    mfpg_status status = open_experiment(ctx, chosen, config, folder, &experiment);
    if (status == MFPG_OK && show)
        status = mfpg_context_agree(ctx, show_game(ctx, experiment, print && shown.bar.terminal));
    if (status == MFPG_OK) status = mfpg_experiment_run(ctx, experiment, &run);
    progress_end(&shown.bar);
    if (status == MFPG_OK && print && speaks()) status = print_run(ctx, chosen, experiment, folder);
    if (status == MFPG_OK) {
        mfpg_round_report last = mfpg_experiment_last_round(experiment);
        *result = (outcome){.loss = last.loss, .accuracy = last.accuracy, .epsilon = last.epsilon};
    }
    mfpg_experiment_destroy(experiment);
    return status;
}

static mfpg_status run_seeds(mfpg_context *ctx, const settings *chosen, mfpg_config *config, int64_t first,
    int64_t last, const char *folder, const volatile int *stop) {
    ptrdiff_t count = (ptrdiff_t)(last - first) + 1;
    outcome *results = calloc((size_t)count, sizeof *results);
    mfpg_status status = results ? MFPG_OK : MFPG_ERR_MEMORY;
    for (ptrdiff_t i = 0; i < count && status == MFPG_OK; i++) {
        char argument[64], one[PATH_SIZE + 32];
        snprintf(argument, sizeof argument, "seed=%lld", (long long)(first + i));
        snprintf(one, sizeof one, "%s/seed-%lld", folder, (long long)(first + i));
        status = mfpg_config_set(ctx, config, argument);
        if (status == MFPG_OK) status = run_once(ctx, chosen, config, one, stop, 0, i == 0, &results[i]);
        results[i].seed = first + i;
        if (status == MFPG_OK) fprintf(stderr, "seed %lld: %s\n", (long long)(first + i), one);
    }
    if (status == MFPG_OK) run_print_sweep(results, count, folder, chosen->common.json);
    free(results);
    return status;
}

/* Applies the arguments; a sweep of seeds is kept apart. */
static mfpg_status apply_arguments(mfpg_context *ctx, const settings *chosen, mfpg_config *config, int *sweep,
    int64_t *first, int64_t *last) {
    mfpg_status status = MFPG_OK;
    *sweep = 0;
    for (int i = 0; i < chosen->argument_count && status == MFPG_OK; i++) {
        int found = 0;
        status = mfpg_config_sweep(ctx, chosen->arguments[i], &found, first, last);
        if (found) *sweep = 1;
        if (status == MFPG_OK && !found) status = mfpg_config_set(ctx, config, chosen->arguments[i]);
    }
    return status;
}

static int run(mfpg_context *ctx, const settings *chosen) {
    const volatile int *stop = interrupt_watch();
    mfpg_config *config = NULL;
    target to = {0};
    int sweep = 0;
    int64_t first = 0, last = 0;
    outcome result;
    mfpg_status status = mfpg_config_open(ctx, chosen->configuration, &config);
    if (status == MFPG_OK) status = apply_arguments(ctx, chosen, config, &sweep, &first, &last);
    status = mfpg_context_agree(ctx, status); /* each process reads its own */
    if (status == MFPG_OK && speaks()) choose_folder(chosen, config, &to);
    if (status == MFPG_OK)
        status = sweep ? run_seeds(ctx, chosen, config, first, last, to.folder, stop)
                       : run_once(ctx, chosen, config, to.folder, stop, 1, 1, &result);
    mfpg_config_destroy(config);
    if (status != MFPG_OK) remove_empty_folders(&to);
    return status == MFPG_OK ? cli_finish("run", CLI_DONE) : cli_fail(ctx, "run", status);
}

/* ---- --resume ---- */

/* The folder that the command line names; "" where it names a configuration alone. */
static const char *named_folder(const settings *chosen) {
    if (chosen->configuration && resume_is_folder(chosen->configuration)) return chosen->configuration;
    return chosen->out ? chosen->out : "";
}

/* What the configuration has to say, and where its interrupted run is; 0, or the exit code of what was found wrong. */
static int find_run(mfpg_context *ctx, const settings *chosen, const char *named, mfpg_config *config,
    char folder[PATH_SIZE]) {
    char name[256];
    int sweep = 0;
    int64_t first = 0, last = 0;
    mfpg_status status = apply_arguments(ctx, chosen, config, &sweep, &first, &last);
    if (status != MFPG_OK) return cli_fail(ctx, "run", status);
    if (sweep)
        return cli_refuse("run",
            "--resume: a sweep goes on one seed at a time: mfpg run --resume FOLDER/seed-%lld",
            (long long)first);
    name_folder(config, name);
    snprintf(folder, PATH_SIZE, "%s", named);
    return named[0] ? 0 : resume_find_folder(name, folder, PATH_SIZE);
}

/* The same, with the configuration that is named, or that of the run. */
static int find_interrupted(
    mfpg_context *ctx, const settings *chosen, mfpg_config **config, char folder[PATH_SIZE]) {
    const char *named = named_folder(chosen);
    if (!chosen->configuration && !named[0])
        return cli_refuse("run", "--resume: needs the folder of the run: mfpg run --resume FOLDER");
    if (named == chosen->configuration && chosen->out && strcmp(chosen->out, named) != 0)
        return cli_refuse("run", "--resume: %s and --out %s are two folders", named, chosen->out);
    mfpg_status status = !chosen->configuration || named == chosen->configuration
                             ? mfpg_run_configuration(ctx, named, config)
                             : mfpg_config_open(ctx, chosen->configuration, config);
    return status == MFPG_OK ? find_run(ctx, chosen, named, *config, folder) : cli_fail(ctx, "run", status);
}

/* The first process alone looks at folders; the others learn from it what goes on. */
static int resume(mfpg_context *ctx, const settings *chosen) {
    const volatile int *stop = interrupt_watch();
    mfpg_config *config = NULL;
    char folder[PATH_SIZE] = "";
    outcome result;
    int code = speaks() ? find_interrupted(ctx, chosen, &config, folder) : 0;
    mfpg_status status = mfpg_context_agree(ctx, code == 0            ? MFPG_OK
                                                 : code == CLI_FAILED ? MFPG_ERR_IO
                                                                      : MFPG_ERR_INPUT);
    if (status == MFPG_OK) {
        status = run_once(ctx, chosen, config, folder, stop, 1, 1, &result);
        code = status == MFPG_OK ? cli_finish("run", CLI_DONE) : cli_fail(ctx, "run", status);
    }
    mfpg_config_destroy(config);
    return status == MFPG_OK || code ? code : cli_exit_code(status);
}

static int show_shortest(void) {
    fputs("The shortest configuration that works, for two CSV files whose last column is a 0/1 label:\n\n"
          "  method: dp-sgd\n"
          "  data: {files: [a.csv, b.csv]}\n\n"
          "Save it as mine.yaml and run: mfpg run mine.yaml\n"
          "The games (mapg-dp, mfpg) also want public bounds of the features: data: {..., scale: {bounds: "
          "FILE}}.\n"
          "Without any file: mfpg run clinics\n"
          "More: mfpg init (every key), mfpg list examples, mfpg run --help\n",
        stderr);
    return CLI_WRONG_INPUT;
}

int command_run(int argc, char **argv) {
    settings chosen = {.arguments = calloc((size_t)argc, sizeof(char *))};
    if (!chosen.arguments) return CLI_FAILED;
    cli_parse(&argp, "run", argc, argv, &chosen);
    mfpg_context *ctx = cli_context(chosen.threads);
    int code;
    if (chosen.keys)
        code = mfpg_config_keys_print(ctx, stdout) == MFPG_OK ? cli_finish("run", CLI_DONE) : CLI_FAILED;
    else if (chosen.resume)
        code = resume(ctx, &chosen);
    else
        code = chosen.configuration ? run(ctx, &chosen) : show_shortest();
    mfpg_context_destroy(ctx);
    free(chosen.arguments);
    return code;
}
