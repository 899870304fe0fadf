/* Runs the cells of the chosen suites in parallel, one thread a cell, and prints them in their order. */
#include "bench.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/file.h"
#include "base/memory.h"
#include "base/names.h"
#include "base/tasks.h"
#include "experiment/internal.h"

#define ENTRY(name) extern const bench_suite bench_suite_##name;
#include "suites.def"
#undef ENTRY

static const bench_suite *const suites[] = {
#define ENTRY(name) &bench_suite_##name,
#include "suites.def"
#undef ENTRY
};

enum { SUITES = sizeof suites / sizeof suites[0] };

static const char *const tasks[] = {"quadratic", "logistic", "images"};
enum { TASKS = sizeof tasks / sizeof tasks[0] };

const char *mfpg_suite_name(ptrdiff_t index) {
    return index >= 0 && index < SUITES ? suites[index]->name : NULL;
}

const char *mfpg_suite_help(ptrdiff_t index) {
    return index >= 0 && index < SUITES ? suites[index]->help : NULL;
}

mfpg_bench_options mfpg_bench_options_default(void) {
    return (mfpg_bench_options){.suites = "paper,frontier"};
}

/* ---- the list of cells ---- */

bench_cell *bench_add(
    bench_list *list, const char *suite, const char *task, const char *method, int64_t seed) {
    if (list->count == list->room) {
        ptrdiff_t room = list->room ? 2 * list->room : 64;
        bench_cell *larger = mfpg_resize(list->cell, room, sizeof *larger);
        if (!larger) return NULL;
        list->cell = larger;
        list->room = room;
    }
    bench_cell *cell = &list->cell[list->count++];
    *cell = (bench_cell){
        .suite = suite, .task = task, .method = method, .seed = seed, .target_epsilon = (double)NAN};
    bench_set(cell, "method=%s", method);
    bench_set(cell, "seed=%lld", (long long)seed);
    return cell;
}

void bench_set(bench_cell *cell, const char *format, ...) {
    va_list args;
    va_start(args, format);
    if (cell->setting_count < BENCH_SETTINGS)
        vsnprintf(cell->settings[cell->setting_count++], sizeof cell->settings[0], format, args);
    va_end(args);
}

void bench_set_all(bench_cell *cell, const char *settings) {
    while (*settings) {
        size_t length = strcspn(settings, " ");
        if (length > 0) bench_set(cell, "%.*s", (int)length, settings);
        settings += length + (settings[length] == ' ');
    }
}

/* ---- one cell ---- */

static mfpg_status read_clients(mfpg_context *ctx, const mfpg_experiment *experiment, bench_cell *cell) {
    int replace = experiment->options.promise.adjacency == MFPG_ADJACENCY_REPLACE;
    cell->epsilon_min = (double)INFINITY;
    for (ptrdiff_t k = 0; k < cell->clients; k++) {
        mfpg_client_report c;
        mfpg_status status = mfpg_experiment_client(ctx, experiment, k, &c);
        if (status != MFPG_OK) return status;
        cell->epsilon = fmax(cell->epsilon, c.epsilon);
        cell->epsilon_min = fmin(cell->epsilon_min, c.epsilon);
        cell->epsilon_replace = fmax(cell->epsilon_replace, replace ? c.epsilon : c.epsilon_other);
        cell->epsilon_mean += c.epsilon / (double)cell->clients;
        cell->mu = fmax(cell->mu, c.mu);
        if (k < BENCH_CLIENTS) cell->client_epsilon[k] = c.epsilon;
    }
    return MFPG_OK;
}

/* Accuracy comes from the common test set where there is one, whatever rows the loss is of. */
static mfpg_status read_accuracy(mfpg_context *ctx, const mfpg_experiment *experiment, bench_cell *cell) {
    const mfpg_dataset *test = &experiment->data->common_test;
    if (test->rows == 0) return MFPG_OK;
    mfpg_metrics metrics;
    mfpg_status status = mfpg_model_evaluate(
        ctx, experiment->model, mfpg_federation_model(experiment->federation), test, &metrics);
    cell->accuracy = metrics.accuracy;
    return status;
}

static mfpg_status read_results(mfpg_context *ctx, const mfpg_experiment *experiment, bench_cell *cell) {
    mfpg_round_report last = mfpg_experiment_last_round(experiment);
    cell->clients = experiment->data->clients;
    cell->rows = 0;
    for (ptrdiff_t k = 0; k < cell->clients; k++) cell->rows += experiment->data->client[k].train.rows;
    cell->rounds = last.round;
    cell->promise = experiment->options.promise;
    cell->accountant = experiment->options.accountant;
    cell->delta = experiment->options.delta;
    cell->loss = last.loss;
    cell->accuracy = last.accuracy;
    cell->paper_epsilon = last.paper_epsilon;
    cell->paper_delta = last.paper_delta;
    cell->mean_action = last.mean_action;
    mfpg_status status = read_clients(ctx, experiment, cell);
    return status == MFPG_OK ? read_accuracy(ctx, experiment, cell) : status;
}

static void keep_round(void *user, const mfpg_round_report *report, int64_t rounds) {
    bench_cell *cell = user;
    (void)rounds;
    cell->report[cell->report_count++] = *report;
}

static mfpg_status run_experiment(mfpg_context *ctx, const mfpg_config *config, bench_cell *cell) {
    mfpg_experiment *experiment = NULL;
    mfpg_run_options run = {.progress = cell->keep_rounds ? keep_round : NULL, .progress_user = cell};
    mfpg_status status = mfpg_experiment_create(ctx, config, &experiment);
    if (status == MFPG_OK && cell->client_sum) status = mfpg_experiment_sum_losses(ctx, experiment);
    if (status == MFPG_OK && cell->keep_rounds) {
        cell->report = mfpg_alloc((ptrdiff_t)experiment->options.rounds, sizeof *cell->report);
        if (!cell->report) status = mfpg_fail_memory(ctx);
    }
    if (status == MFPG_OK && cell->attack.runs > 0) status = bench_attack_run(ctx, experiment, cell);
    if (status == MFPG_OK) status = mfpg_experiment_run(ctx, experiment, &run);
    if (status == MFPG_OK) status = read_results(ctx, experiment, cell);
    mfpg_experiment_destroy(experiment);
    return status;
}

typedef struct bench_run {
    bench_list *list;
    const mfpg_bench_options *options;
    int64_t done;
} bench_run;

static mfpg_status run_cell(mfpg_context *ctx, ptrdiff_t index, int worker, void *arg) {
    (void)worker;
    bench_run *run = arg;
    bench_cell *cell = &run->list->cell[index];
    if (run->options->stop && *run->options->stop)
        return mfpg_fail(ctx, MFPG_ERR_INTERRUPTED, "interrupted; no table was printed and no file written");
    cell->stop = run->options->stop;
    mfpg_config *config = NULL;
    mfpg_status status = mfpg_config_create(ctx, &config);
    if (status == MFPG_OK && cell->data_folder)
        status = mfpg_config_set_path(ctx, config, "data.dir", cell->data_folder);
    for (int i = 0; i < cell->setting_count && status == MFPG_OK; i++)
        status = mfpg_config_set(ctx, config, cell->settings[i]);
    if (status == MFPG_OK) status = run_experiment(ctx, config, cell);
    mfpg_config_destroy(config);
    if (status != MFPG_OK)
        return mfpg_fail_in(ctx, status, "%s, %s, %s, seed %lld", cell->suite, cell->task, cell->method,
            (long long)cell->seed);
#pragma omp critical(mfpg_bench_progress)
    {
        run->done++;
        if (run->options->progress)
            run->options->progress(run->options->progress_user, run->done, run->list->count);
    }
    return MFPG_OK;
}

/* ---- choosing suites and tasks ---- */

/* Marks the names of a comma-separated list; errors name what is unknown. */
static mfpg_status choose(mfpg_context *ctx, const char *what, const char *list, const char *const *names,
    int count, unsigned char *chosen) {
    char copy[256], *rest = copy, allowed[256];
    snprintf(copy, sizeof copy, "%s", list);
    for (char *word = strsep(&rest, ","); word; word = strsep(&rest, ",")) {
        int i = 0;
        while (i < count && strcmp(names[i], word) != 0) i++;
        if (i < count) {
            chosen[i] = 1;
            continue;
        }
        const char *nearest = mfpg_names_nearest(word, names, count);
        return mfpg_fail(ctx, MFPG_ERR_INPUT, "%s: there is no '%s'; allowed: %s%s%s%s", what, word,
            mfpg_names_join(names, count, allowed, sizeof allowed), nearest ? "; did you mean '" : "",
            nearest ? nearest : "", nearest ? "'?" : "");
    }
    return MFPG_OK;
}

/* One task of a suite. Images that are not there are an error where somebody asked for them. */
static mfpg_status plan_task(mfpg_context *ctx, const bench_suite *suite, const char *task,
    const mfpg_bench_options *options, bench_list *list) {
    bench_plan plan = {.task = task, .seeds = suite->seeds, .runs = options->runs};
    if (strcmp(task, "images") == 0) {
        if (suite->images_on_request && !options->tasks) return MFPG_OK;
        plan.seeds = suite->image_seeds;
        plan.images = bench_images_find(options->images);
        if (!plan.images.suffix && (options->tasks || options->images))
            return bench_images_fail(ctx, &plan.images);
        if (!plan.images.suffix) {
            mfpg_warn(ctx,
                "task images is left out: %s does not hold its files (Debian: dataset-fashion-mnist)",
                plan.images.folder);
            return MFPG_OK;
        }
    }
    if (options->seeds > 0) plan.seeds = options->seeds;
    return suite->plan(ctx, &plan, list);
}

static mfpg_status plan_suites(
    mfpg_context *ctx, const mfpg_bench_options *options, bench_list *list, ptrdiff_t *first) {
    const char *names[SUITES];
    unsigned char with_suite[SUITES] = {0}, with_task[TASKS] = {0};
    for (int i = 0; i < SUITES; i++) names[i] = suites[i]->name;
    mfpg_status status = choose(ctx, "--suite", options->suites, names, SUITES, with_suite);
    if (status == MFPG_OK && options->tasks)
        status = choose(ctx, "--task", options->tasks, tasks, TASKS, with_task);
    for (int i = 0; i < SUITES && status == MFPG_OK; i++) {
        first[i] = list->count;
        for (int t = 0; t < TASKS && status == MFPG_OK; t++)
            if (with_suite[i] && (!options->tasks || with_task[t]))
                status = plan_task(ctx, suites[i], tasks[t], options, list);
    }
    first[SUITES] = list->count;
    if (status == MFPG_OK && list->count == 0)
        status = mfpg_fail(ctx, MFPG_ERR_INPUT, "the chosen suites have none of the chosen tasks");
    return status;
}

/* A folder that cannot be written in is told before hours of work, as are earlier results that will be replaced. */
static mfpg_status open_folder(mfpg_context *ctx, const char *folder) {
    char *path = mfpg_path_join(folder, "full_benchmark.csv");
    mfpg_status status = path ? mfpg_folder_create(ctx, folder) : mfpg_fail_memory(ctx);
    if (status == MFPG_OK && access(folder, W_OK | X_OK) != 0)
        status = mfpg_fail(ctx, MFPG_ERR_IO, "%s: cannot write: %s", path, strerror(errno));
    if (status == MFPG_OK && access(path, F_OK) == 0)
        mfpg_warn(
            ctx, "%s holds the results of an earlier time and will be replaced; --out keeps both", path);
    free(path);
    return status;
}

mfpg_status mfpg_bench_run(mfpg_context *ctx, const mfpg_bench_options *options, FILE *out) {
    bench_list list = {0};
    ptrdiff_t first[SUITES + 1];
    mfpg_status status = plan_suites(ctx, options, &list, first);
    bench_run run = {.list = &list, .options = options};
    if (status == MFPG_OK && options->folder) status = open_folder(ctx, options->folder);
    if (status == MFPG_OK) status = mfpg_tasks_run(ctx, list.count, run_cell, &run);
    if (status == MFPG_OK && options->folder) status = bench_write_csv(ctx, options->folder, &list);
    for (int i = 0; i < SUITES && status == MFPG_OK && options->folder; i++)
        if (first[i + 1] > first[i] && suites[i]->write)
            status = suites[i]->write(ctx, options->folder, list.cell + first[i], first[i + 1] - first[i]);
    if (status == MFPG_OK && list.count > 1)
        fprintf(out, "Every epsilon is that of one run; %s.\n\n", MFPG_SELECTION_NOTE);
    for (int i = 0; i < SUITES && status == MFPG_OK; i++)
        if (first[i + 1] > first[i]) suites[i]->print(list.cell + first[i], first[i + 1] - first[i], out);
    for (ptrdiff_t i = 0; i < list.count; i++) free(list.cell[i].report);
    free(list.cell);
    return status;
}

bench_mean bench_average(const bench_cell *first, ptrdiff_t count, double (*column)(const bench_cell *cell)) {
    double sum = 0.0, squares = 0.0;
    for (ptrdiff_t i = 0; i < count; i++) sum += column(&first[i]);
    double mean = sum / (double)count;
    for (ptrdiff_t i = 0; i < count; i++) squares += (column(&first[i]) - mean) * (column(&first[i]) - mean);
    double error = count > 1 ? sqrt(squares / (double)(count - 1) / (double)count) : (double)NAN;
    return (bench_mean){.mean = mean, .error = error, .count = count};
}
