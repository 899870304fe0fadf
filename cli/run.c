/* mfpg run trains one federation, or one per seed, and prints what was promised to each client. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "mfpg/experiment.h"
#include "mfpg/solution.h"

#include "cli.h"
#include "solve.h"

typedef struct settings {
    const char *out;
    int resume, keys;
    const volatile int *stop; /* the flag of an interruption */
} settings;

/* One finished run. */
typedef struct outcome {
    int64_t seed;
    double loss, accuracy, epsilon;
} outcome;

/* ---- progress ---- */

typedef struct display {
    cli_progress bar;
    int quiet;
} display;

static int append(char *text, size_t size, int used, const char *format, double value) {
    return isnan(value) ? used : used + snprintf(text + used, size - (size_t)used, format, value);
}

static void show_round(void *user, const mfpg_round_report *report, int64_t rounds) {
    display *shown = user;
    char text[160] = "", epsilon[CLI_TEXT_SIZE];
    int used = append(text, sizeof text, 0, "loss %.4f", report->loss);
    used = append(text, sizeof text, used, "  accuracy %.4f", report->accuracy);
    if (report->noise_to_signal > 0.0)
        used = append(text, sizeof text, used, "  noise/signal %.3g", report->noise_to_signal);
    if (report->transport.projections > 0)
        used = append(
            text, sizeof text, used, "  variance kept %.3g", mfpg_transport_mean_ratio(&report->transport));
    snprintf(text + used, sizeof text - (size_t)used, "  epsilon %s", cli_text_up(report->epsilon, epsilon));
    cli_progress_show(&shown->bar, report->round, rounds, text, !shown->quiet);
}

/* Prints the game before the first round to stderr, completely on a terminal and otherwise in one line, with
 * the warnings about it. */
static mfpg_status show_game(mfpg_context *ctx, const mfpg_experiment *experiment, int terminal) {
    mfpg_solution solution;
    mfpg_status status = MFPG_OK;
    char text[1024];
    if (!mfpg_experiment_solution(experiment, &solution)) return MFPG_OK;
    int each_round = mfpg_config_is(mfpg_experiment_config(experiment), "game.update", "each-round");
    if (terminal && !each_round) {
        status = mfpg_solution_print(ctx, &solution, stderr);
    } else {
        mfpg_solution_line(&solution, text, sizeof text);
        fprintf(stderr, "game%s: %s\n",
            each_round
                ? " before the first round, for the public constants (every round chooses actions again)"
                : "",
            text);
    }
    solve_warn(&solution);
    if (terminal && !each_round) fputc('\n', stderr);
    return status;
}

/* ---- folders ---- */

/* Where a run's files go, and which of the folders were created for this run. */
typedef struct target {
    char folder[CLI_PATH_SIZE];
    int made_folder, made_runs;
} target;

/* runs/NAME, runs/NAME-2, ...: a name of the configuration cannot lead out of the folder. */
static void name_folder(const mfpg_config *config, int number, char folder[CLI_PATH_SIZE]) {
    const char *text = mfpg_config_text(config, "name");
    char name[256], suffix[16] = "";
    snprintf(name, sizeof name, "%s", text ? text : "run");
    for (char *at = name; *at; at++)
        if (*at == '/' || (at == name && *at == '.')) *at = '_';
    if (number > 1) snprintf(suffix, sizeof suffix, "-%d", number);
    snprintf(folder, CLI_PATH_SIZE, "runs/%s%s", name, suffix);
}

/* Uses --out, or runs/NAME with the first free number, created at once so that no other run takes it. If a
 * folder cannot be created, the run reports the reason. */
static void choose_folder(const settings *chosen, const mfpg_config *config, target *to) {
    int number = 1;
    if (chosen->out) {
        snprintf(to->folder, CLI_PATH_SIZE, "%s", chosen->out);
        return;
    }
    to->made_runs = mkdir("runs", 0777) == 0;
    do {
        name_folder(config, number++, to->folder);
        to->made_folder = mkdir(to->folder, 0777) == 0;
    } while (!to->made_folder && errno == EEXIST);
}

/* Removes folders into which nothing was written; others remain, because rmdir removes only empty folders. */
static void remove_empty_folders(const target *to) {
    if (to->made_folder) rmdir(to->folder);
    if (to->made_runs) rmdir("runs");
}

/* ---- runs ---- */

static mfpg_status print_run(cli_call *call, const mfpg_experiment *experiment, const char *folder) {
    mfpg_status status;
    char *text = NULL;
    if (!call->json) {
        status = mfpg_experiment_print(call->ctx, experiment, stdout);
        printf("\nWritten to %s; as a page: mfpg report %s\n", folder, folder);
        return status;
    }
    status = mfpg_experiment_summary(call->ctx, experiment, &text);
    if (status == MFPG_OK)
        status = cli_json_print(cli_json_add(json_loads(text, 0, NULL), "folder:s", folder));
    free(text);
    return status;
}

/* Creates a new experiment, or continues the one that was interrupted in the folder. */
static mfpg_status open_experiment(
    cli_call *call, const mfpg_config *config, const char *folder, mfpg_experiment **out) {
    const settings *chosen = call->options;
    if (!chosen->resume) return mfpg_experiment_create(call->ctx, config, out);
    mfpg_status status = mfpg_experiment_resume(call->ctx, folder, config, out);
    if (status == MFPG_OK)
        fprintf(stderr, "Going on with %s after round %lld of %lld\n", folder,
            (long long)mfpg_experiment_resumed_round(*out),
            (long long)mfpg_config_number(mfpg_experiment_config(*out), "train.rounds"));
    return status;
}

/* Returns 1 in the process that creates folders and prints. */
static int speaks(void) {
    const mfpg_group *group = cli_group();
    return !group || group->rank == 0;
}

/* Makes one run; in a sweep it prints only the game, and only the first time. result NULL: no sweep. */
static mfpg_status run_once(
    cli_call *call, const mfpg_config *config, const char *folder, int first, outcome *result) {
    display shown = {.bar = cli_progress_start(), .quiet = result != NULL};
    mfpg_run_options run = {.folder = folder,
        .stop = ((const settings *)call->options)->stop,
        .progress = show_round,
        .progress_user = &shown};
    mfpg_experiment *experiment = NULL;
    mfpg_status status = open_experiment(call, config, folder, &experiment);
    if (status == MFPG_OK && first)
        status =
            mfpg_context_agree(call->ctx, show_game(call->ctx, experiment, !result && shown.bar.terminal));
    if (status == MFPG_OK) status = mfpg_experiment_run(call->ctx, experiment, &run);
    cli_progress_end(&shown.bar);
    if (status == MFPG_OK && !result && speaks()) status = print_run(call, experiment, folder);
    if (status == MFPG_OK && result) {
        mfpg_round_report last = mfpg_experiment_last_round(experiment);
        *result = (outcome){.loss = last.loss, .accuracy = last.accuracy, .epsilon = last.epsilon};
    }
    mfpg_experiment_destroy(experiment);
    return status;
}

/* ---- sweeps: summary of their runs ---- */

typedef struct average {
    double mean, error;
} average;

/* Summarises the numbers at that offset in the results. */
static average average_of(const outcome *results, ptrdiff_t count, size_t offset) {
    double sum = 0.0, squares = 0.0;
    for (ptrdiff_t i = 0; i < count; i++) sum += *(const double *)((const char *)&results[i] + offset);
    double mean = sum / (double)count;
    for (ptrdiff_t i = 0; i < count; i++) {
        double away = *(const double *)((const char *)&results[i] + offset) - mean;
        squares += away * away;
    }
    return (average){mean, count > 1 ? sqrt(squares / (double)(count - 1) / (double)count) : (double)NAN};
}

static json_t *outcome_json(const void *results, ptrdiff_t index) {
    const outcome *o = (const outcome *)results + index;
    return cli_json("seed:i loss:n accuracy:n epsilon:n", o->seed, o->loss, o->accuracy, o->epsilon);
}

static json_t *average_json(average of) {
    return cli_json("mean:n standard_error:n", of.mean, of.error);
}

static void print_average(const char *name, average of) {
    if (isnan(of.mean)) return;
    fprintf(stderr, "%s %.4f", name, of.mean);
    if (!isnan(of.error)) fprintf(stderr, " ± %.4f", of.error);
}

static mfpg_status print_sweep(
    const cli_call *call, const outcome *results, ptrdiff_t count, const char *folder) {
    average loss = average_of(results, count, offsetof(outcome, loss));
    average accuracy = average_of(results, count, offsetof(outcome, accuracy));
    json_t *object;
    if (call->json) {
        object = cli_json("runs:o loss:o accuracy:o folder:s", cli_json_array(count, outcome_json, results),
            average_json(loss), average_json(accuracy), folder);
        return cli_json_print(cli_json_add(object, "selection:s", count > 1 ? MFPG_SELECTION_NOTE : NULL));
    }
    printf("seed,loss,accuracy,epsilon\n");
    for (const outcome *o = results; o < results + count; o++) {
        char epsilon[CLI_TEXT_SIZE];
        printf("%lld,%.6g,%.6g,%s\n", (long long)o->seed, o->loss, o->accuracy,
            cli_text_up(o->epsilon, epsilon));
    }
    print_average("loss", loss);
    print_average(", accuracy", accuracy);
    fprintf(stderr, " (mean ± standard error over %td seeds)\n", count);
    if (count > 1) fprintf(stderr, "Every epsilon is that of one run; %s\n", MFPG_SELECTION_NOTE);
    fprintf(stderr, "Written to %s; as a page: mfpg report %s\n", folder, folder);
    return MFPG_OK;
}

/* The seeds of a sweep. */
typedef struct sweep {
    int asked;
    int64_t first, last;
} sweep;

static mfpg_status run_seeds(cli_call *call, mfpg_config *config, const sweep *seeds, const char *folder) {
    ptrdiff_t count = (ptrdiff_t)(seeds->last - seeds->first) + 1;
    outcome *results = calloc((size_t)count, sizeof *results);
    mfpg_status status = results ? MFPG_OK : MFPG_ERR_MEMORY;
    for (ptrdiff_t i = 0; i < count && status == MFPG_OK; i++) {
        char argument[64], one[CLI_PATH_SIZE + 32];
        long long seed = seeds->first + i;
        snprintf(argument, sizeof argument, "seed=%lld", seed);
        snprintf(one, sizeof one, "%s/seed-%lld", folder, seed);
        status = mfpg_config_set(call->ctx, config, argument);
        if (status == MFPG_OK) status = run_once(call, config, one, i == 0, &results[i]);
        results[i].seed = seed;
        if (status == MFPG_OK) fprintf(stderr, "seed %lld: %s\n", seed, one);
    }
    if (status == MFPG_OK) status = print_sweep(call, results, count, folder);
    free(results);
    return status;
}

/* Applies the arguments; a sweep of seeds is kept apart. */
static mfpg_status apply_arguments(cli_call *call, mfpg_config *config, sweep *seeds) {
    mfpg_status status = MFPG_OK;
    for (int i = 0; i < call->assignments && status == MFPG_OK; i++) {
        int found = 0;
        status = mfpg_config_sweep(call->ctx, call->assignment[i], &found, &seeds->first, &seeds->last);
        if (found) seeds->asked = 1;
        if (status == MFPG_OK && !found) status = mfpg_config_set(call->ctx, config, call->assignment[i]);
    }
    return status;
}

static mfpg_status train(cli_call *call) {
    mfpg_config *config = NULL;
    target to = {0};
    sweep seeds = {0};
    mfpg_status status = mfpg_config_open(call->ctx, call->argument[0], &config);
    if (status == MFPG_OK) status = apply_arguments(call, config, &seeds);
    status = mfpg_context_agree(call->ctx, status); /* each process reads its own */
    if (status == MFPG_OK && speaks()) choose_folder(call->options, config, &to);
    if (status == MFPG_OK)
        status = seeds.asked ? run_seeds(call, config, &seeds, to.folder)
                             : run_once(call, config, to.folder, 1, NULL);
    mfpg_config_destroy(config);
    if (status != MFPG_OK) remove_empty_folders(&to);
    return status;
}

/* ---- --resume ---- */

/* Finds the folder of runs/NAME, runs/NAME-2, ... that holds a checkpoint; refused if none does or several
 * do. */
static mfpg_status find_folder(cli_call *call, const mfpg_config *config, char folder[CLI_PATH_SIZE]) {
    char one[CLI_PATH_SIZE], file[CLI_PATH_SIZE + 16];
    folder[0] = 0;
    for (int number = 1;; number++) {
        name_folder(config, number, one);
        if (number > 1 && !cli_is_folder(one)) break;
        snprintf(file, sizeof file, "%s/checkpoint", one);
        if (access(file, F_OK) != 0) continue;
        if (folder[0])
            return mfpg_fail(call->ctx, MFPG_ERR_INPUT,
                "--resume: %s and %s were both interrupted; name one: mfpg run --resume FOLDER", folder, one);
        snprintf(folder, CLI_PATH_SIZE, "%s", one);
    }
    name_folder(config, 1, one);
    return folder[0] ? MFPG_OK
                     : mfpg_fail(call->ctx, MFPG_ERR_INPUT,
                           "--resume: no interrupted run in %s or %s-2, ...; name its folder: mfpg run "
                           "--resume FOLDER",
                           one, one);
}

/* Finds the named configuration, or that of the run, and the folder of the interrupted run. */
static mfpg_status find_interrupted(cli_call *call, mfpg_config **config, char folder[CLI_PATH_SIZE]) {
    const char *out = ((const settings *)call->options)->out, *name = call->argument[0];
    const char *named = name && cli_is_folder(name) ? name : out;
    sweep seeds = {0};
    if (!name && !named)
        return mfpg_fail(
            call->ctx, MFPG_ERR_INPUT, "--resume: needs the folder of the run: mfpg run --resume FOLDER");
    if (named == name && out && strcmp(out, named) != 0)
        return mfpg_fail(call->ctx, MFPG_ERR_INPUT, "--resume: %s and --out %s are two folders", named, out);
    mfpg_status status = !name || named == name ? mfpg_run_configuration(call->ctx, named, config)
                                                : mfpg_config_open(call->ctx, name, config);
    if (status == MFPG_OK) status = apply_arguments(call, *config, &seeds);
    if (status != MFPG_OK) return status;
    if (seeds.asked)
        return mfpg_fail(call->ctx, MFPG_ERR_INPUT,
            "--resume: a sweep goes on one seed at a time: mfpg run --resume FOLDER/seed-%lld",
            (long long)seeds.first);
    if (!named) return find_folder(call, *config, folder);
    snprintf(folder, CLI_PATH_SIZE, "%s", named);
    return MFPG_OK;
}

/* Only the first process reads folders; it tells the others which run is continued. */
static mfpg_status resume(cli_call *call) {
    mfpg_config *config = NULL;
    char folder[CLI_PATH_SIZE] = "";
    mfpg_status status = speaks() ? find_interrupted(call, &config, folder) : MFPG_OK;
    status = mfpg_context_agree(call->ctx, status);
    if (status == MFPG_OK) status = run_once(call, config, folder, 1, NULL);
    mfpg_config_destroy(config);
    return status;
}

static mfpg_status run(cli_call *call) {
    settings *chosen = call->options;
    chosen->stop = cli_interrupt_watch();
    if (chosen->keys) return mfpg_config_keys_print(call->ctx, stdout);
    if (chosen->resume) return resume(call);
    if (call->arguments > 0) return train(call);
    fputs("The shortest configuration that works, for two CSV files whose last column is a 0/1 label:\n\n"
          "  method: dp-sgd\n"
          "  data: {files: [a.csv, b.csv]}\n\n"
          "Save it as mine.yaml and run: mfpg run mine.yaml\n"
          "The games (mapg-dp, mfpg) also want public bounds of the features: data: {..., scale: {bounds: "
          "FILE}}.\n"
          "Without any file: mfpg run clinics\n"
          "More: mfpg init (every key), mfpg list examples, mfpg run --help\n",
        stderr);
    call->code = CLI_WRONG_INPUT;
    return MFPG_OK;
}

const cli_command command_run = {
    .list = CLI_LIST(CLI_OPTION("out", 'o', PATH, "DIR", out,
                         "Run folder (default runs/NAME, or the first free runs/NAME-2, -3, ...)"),
        CLI_OPTION("resume", 0, FLAG, NULL, resume,
            "Go on with an interrupted run: FOLDER, or that of the configuration in --out or runs; the "
            "result is the same to the last byte"),
        CLI_OPTION("keys", 0, FLAG, NULL, keys, "Print every key with unit, range and default")),
    .size = sizeof(settings),
    .threads = CLI_OPTION_THREADS,
    .forms = "CONFIG.yaml|EXAMPLE [KEY=VALUE...]\n--resume FOLDER",
    .most = 1,
    .doc = "Trains a federation and writes a run folder: config.yaml, ledger, rounds.csv, free_energy.csv "
           "(entropic runs), transport.csv (runs that project their states), clients.csv, summary.json, "
           "model.npy, timings.csv. EXAMPLE is a name of `mfpg list examples`. seed=1..10 runs once a seed. "
           "Without arguments the shortest configuration that works is shown. While it trains, the folder "
           "holds a checkpoint, from which an interrupted run goes on."
           "\vExit codes: 0 done, 1 failed, 2 wrong input, 130 interrupted after a complete round.",
    .run = run,
};
