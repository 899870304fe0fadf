/* Runs the cells of the chosen suites in parallel, one thread per cell, and prints them in their order. */
#include "bench.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "mfpg/names.h"

#include "support.h"

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

/* ---- one cell ---- */

static mfpg_status read_clients(mfpg_context *ctx, const mfpg_experiment *experiment, bench_cell *cell) {
    int replace = strcmp(cell->promise.adjacency, mfpg_adjacency_name(MFPG_ADJACENCY_REPLACE)) == 0;
    cell->epsilon_min = (double)INFINITY;
    for (ptrdiff_t k = 0; k < cell->clients; k++) {
        mfpg_client_record client;
        mfpg_status status = mfpg_experiment_client_record(ctx, experiment, k, &client);
        if (status != MFPG_OK) return status;
        const mfpg_client_report *c = &client.report;
        cell->rows += client.rows;
        cell->epsilon = fmax(cell->epsilon, c->epsilon);
        cell->epsilon_min = fmin(cell->epsilon_min, c->epsilon);
        cell->epsilon_replace = fmax(cell->epsilon_replace, replace ? c->epsilon : c->epsilon_other);
        cell->epsilon_mean += c->epsilon / (double)cell->clients;
        cell->mu = fmax(cell->mu, c->mu);
        if (k < BENCH_CLIENTS) cell->client_epsilon[k] = c->epsilon;
    }
    return MFPG_OK;
}

/* Accuracy is that on the common test set, if there is one, whichever rows the loss uses. */
static mfpg_status read_results(mfpg_context *ctx, const mfpg_experiment *experiment, bench_cell *cell) {
    mfpg_round_report last = mfpg_experiment_last_round(experiment);
    mfpg_client_record first;
    mfpg_metrics test;
    cell->clients = mfpg_experiment_clients(experiment);
    cell->rounds = last.round;
    cell->loss = last.loss;
    cell->paper_epsilon = last.paper_epsilon;
    cell->paper_delta = last.paper_delta;
    cell->mean_action = last.mean_action;
    mfpg_status status = mfpg_experiment_client_record(ctx, experiment, 0, &first);
    if (status != MFPG_OK) return status;
    cell->promise = first.promised;
    status = read_clients(ctx, experiment, cell);
    if (status == MFPG_OK) status = mfpg_experiment_test_metrics(ctx, experiment, &test);
    if (status == MFPG_OK) cell->accuracy = test.rows > 0 ? test.accuracy : last.accuracy;
    return status;
}

static mfpg_status keep_rounds(mfpg_context *ctx, const mfpg_experiment *experiment, bench_cell *cell) {
    const mfpg_round_report *rounds = mfpg_experiment_rounds(experiment, &cell->report_count);
    cell->report = reproduction_alloc(cell->report_count, sizeof *cell->report);
    if (!cell->report) return mfpg_fail_memory(ctx);
    if (cell->report_count > 0) memcpy(cell->report, rounds, (size_t)cell->report_count * sizeof *rounds);
    return MFPG_OK;
}

static mfpg_status run_experiment(mfpg_context *ctx, const mfpg_config *config, bench_cell *cell) {
    mfpg_experiment *experiment = NULL;
    mfpg_status status = mfpg_experiment_create(ctx, config, &experiment);
    if (status == MFPG_OK && cell->client_sum) status = mfpg_experiment_sum_losses(ctx, experiment);
    if (status == MFPG_OK && cell->attack.runs > 0) status = bench_attack_run(ctx, experiment, cell);
    if (status == MFPG_OK) status = mfpg_experiment_run(ctx, experiment, &(mfpg_run_options){0});
    if (status == MFPG_OK) status = read_results(ctx, experiment, cell);
    if (status == MFPG_OK && cell->keep_rounds) status = keep_rounds(ctx, experiment, cell);
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
    char copy[256], *rest = copy;
    snprintf(copy, sizeof copy, "%s", list);
    for (char *word = strsep(&rest, ","); word; word = strsep(&rest, ",")) {
        int i = 0;
        while (i < count && strcmp(names[i], word) != 0) i++;
        if (i == count) return mfpg_names_unknown(ctx, what, word, names, count);
        chosen[i] = 1;
    }
    return MFPG_OK;
}

/* Plans one task of a suite. Missing images are an error only if the user asked for them. */
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
    mfpg_status status = choose(ctx, "suite", options->suites, names, SUITES, with_suite);
    if (status == MFPG_OK && options->tasks)
        status = choose(ctx, "task", options->tasks, tasks, TASKS, with_task);
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

/* Checks, before hours of work, that the folder can be written to, and which earlier results will be
 * replaced. */
static mfpg_status open_folder(mfpg_context *ctx, const char *folder) {
    char path[4200];
    snprintf(path, sizeof path, "%s/full_benchmark.csv", folder);
    mfpg_status status = mfpg_folder_create(ctx, folder);
    if (status == MFPG_OK && access(folder, W_OK | X_OK) != 0)
        status = mfpg_fail(ctx, MFPG_ERR_IO, "%s: cannot write: %s", path, strerror(errno));
    if (status == MFPG_OK && access(path, F_OK) == 0)
        mfpg_warn(
            ctx, "%s holds the results of an earlier time and will be replaced; --out keeps both", path);
    return status;
}

/* One row a training run. */
static mfpg_status write_cells(mfpg_context *ctx, const char *folder, const bench_list *list) {
    mfpg_table_file *file;
    mfpg_status status = mfpg_table_file_open(ctx, folder, "full_benchmark.csv",
        "suite,task,method,target_epsilon,seed,clients,rows,rounds,unit,adjacency,view,accountant,loss,"
        "loss_kind,accuracy,epsilon,epsilon_min,epsilon_mean,mu,delta,paper_epsilon,paper_delta,mean_action",
        &file);
    if (status != MFPG_OK) return status;
    for (const bench_cell *c = list->cell; c < list->cell + list->count; c++)
        mfpg_table_file_row(file, "tttniiiittttntnnnnnnnnn", c->suite, c->task, c->method, c->target_epsilon,
            c->seed, (int64_t)c->clients, (int64_t)c->rows, c->rounds, c->promise.unit, c->promise.adjacency,
            c->promise.view, c->promise.accountant, c->loss, c->client_sum ? "client-sum" : "mean",
            c->accuracy, c->epsilon, c->epsilon_min, c->epsilon_mean, c->mu, c->promise.delta,
            c->paper_epsilon, c->paper_delta, c->mean_action);
    return mfpg_table_file_close(ctx, file);
}

mfpg_status mfpg_bench_run(mfpg_context *ctx, const mfpg_bench_options *options, FILE *out) {
    bench_list list = {0};
    ptrdiff_t first[SUITES + 1];
    mfpg_status status = plan_suites(ctx, options, &list, first);
    bench_run run = {.list = &list, .options = options};
    if (status == MFPG_OK && options->folder) status = open_folder(ctx, options->folder);
    if (status == MFPG_OK) status = mfpg_tasks_run(ctx, list.count, run_cell, &run);
    if (status == MFPG_OK && options->folder) status = write_cells(ctx, options->folder, &list);
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
