/* Suite figures: the data of the paper's five figures, with the gnuplot scripts next to the CSV files.
 * Figures 1 to 3 are the paper's runs round by round; figure 4 is the equilibrium under several readings of
 * the best response; figure 5 varies privacy, once by each method's own number as the paper does, once by
 * what is certified. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"
#include "studies.h"
#include "support.h"

enum { EQUILIBRIUM = 4, FRONTIER = 5, FIGURES = 5 };

/* The paper's range, and points of it. */
static const double sweep[] = {0.1, 0.2, 0.5, 1.0, 2.0, 5.0};
enum { POINTS = sizeof sweep / sizeof sweep[0] };

/* ---- cells ---- */

static int figure_of(const char *task) {
    return strcmp(task, "quadratic") == 0 ? 1 : strcmp(task, "logistic") == 0 ? 2 : 3;
}

/* The paper's settings, evaluated after every round. */
static mfpg_status plan_rounds(mfpg_context *ctx, const bench_plan *plan, bench_list *list) {
    for (int m = 0; m < METHODS; m++)
        for (int64_t seed = 1; seed <= plan->seeds; seed++) {
            bench_cell *cell = bench_add(list, "figures", plan->task, bench_methods[m], seed);
            if (!cell) return mfpg_fail_memory(ctx);
            bench_set_paper(cell, &plan->images);
            bench_set_all(cell, "evaluate_every=1");
            cell->figure = figure_of(plan->task);
            cell->keep_rounds = 1;
        }
    return MFPG_OK;
}

static int is_game(const char *method) {
    return strcmp(method, "mapg-dp") == 0 || strcmp(method, "mfpg") == 0;
}

/* The number is a budget for two methods and a strength for the others, under the same letter. Labels are
 * learnable; all else is as in the paper. A game is given only that action, so its number is of the same
 * kind. */
static mfpg_status plan_own_numbers(mfpg_context *ctx, const bench_plan *plan, bench_list *list) {
    for (int m = 0; m < METHODS; m++)
        for (int i = 0; i < POINTS; i++)
            for (int64_t seed = 1; seed <= plan->seeds; seed++) {
                bench_cell *cell = bench_add(list, "figures", plan->task, bench_methods[m], seed);
                if (!cell) return mfpg_fail_memory(ctx);
                bench_set_paper(cell, &plan->images);
                bench_set_all(cell, "data.kind=logistic");
                bench_set(
                    cell, is_game(bench_methods[m]) ? "game.actions=[%g]" : "noise.action=%g", sweep[i]);
                cell->figure = FRONTIER;
                cell->swept = sweep[i];
            }
    return MFPG_OK;
}

static mfpg_status plan_certified(mfpg_context *ctx, const bench_plan *plan, bench_list *list) {
    for (int m = 0; m < METHODS; m++)
        for (int i = 0; i < POINTS; i++)
            for (int64_t seed = 1; seed <= plan->seeds; seed++) {
                bench_cell *cell = bench_add_frontier(list, "figures", bench_methods[m], sweep[i], seed);
                if (!cell) return mfpg_fail_memory(ctx);
                cell->figure = FRONTIER;
                cell->swept = sweep[i];
            }
    return MFPG_OK;
}

static mfpg_status plan(mfpg_context *ctx, const bench_plan *plan, bench_list *list) {
    mfpg_status status = plan_rounds(ctx, plan, list);
    if (status != MFPG_OK || strcmp(plan->task, "logistic") != 0) return status;
    status = plan_own_numbers(ctx, plan, list);
    return status == MFPG_OK ? plan_certified(ctx, plan, list) : status;
}

/* ---- groups: the seeds of one point, which are consecutive ---- */

static int same_group(const bench_cell *a, const bench_cell *b) {
    return a->figure == b->figure && strcmp(a->method, b->method) == 0 && a->swept == b->swept &&
           isnan(a->target_epsilon) == isnan(b->target_epsilon);
}

static ptrdiff_t group_size(const bench_cell *cells, ptrdiff_t count) {
    ptrdiff_t size = 1;
    while (size < count && same_group(&cells[0], &cells[size])) size++;
    return size;
}

/* ---- CSV files ---- */

static void write_rounds(mfpg_table_file *file, const bench_cell *group, ptrdiff_t count) {
    for (ptrdiff_t t = 0; t < group->report_count; t++) {
        bench_mean loss = bench_average_round(group, count, t, offsetof(mfpg_round_report, loss)),
                   accuracy = bench_average_round(group, count, t, offsetof(mfpg_round_report, accuracy));
        const mfpg_round_report *r = &group->report[t];
        mfpg_table_file_row(file, "tiinnnnnnn", group->method, r->round, (int64_t)count, loss.mean,
            loss.error, accuracy.mean, accuracy.error, r->epsilon, r->paper_epsilon, r->paper_delta);
    }
}

static void write_point(mfpg_table_file *file, const bench_cell *group, ptrdiff_t count) {
    bench_mean accuracy = bench_average(group, count, offsetof(bench_cell, accuracy));
    mfpg_table_file_row(file, "ttninnn", isnan(group->target_epsilon) ? "own" : "certified", group->method,
        group->swept, (int64_t)count, accuracy.mean, accuracy.error, group->epsilon);
}

/* The figure's groups, in the order of plan. */
static mfpg_status write_trained(mfpg_context *ctx, const char *folder, const char *name, int figure,
    const bench_cell *cells, ptrdiff_t count) {
    mfpg_table_file *file;
    mfpg_status status = mfpg_table_file_open(ctx, folder, name,
        figure == FRONTIER
            ? "panel,method,x,runs,accuracy,accuracy_error,epsilon"
            : "method,round,runs,loss,loss_error,accuracy,accuracy_error,epsilon,paper_epsilon,paper_delta",
        &file);
    if (status != MFPG_OK) return status;
    for (ptrdiff_t i = 0; i < count;) {
        ptrdiff_t size = group_size(cells + i, count - i);
        if (cells[i].figure == figure)
            (figure == FRONTIER ? write_point : write_rounds)(file, cells + i, size);
        i += size;
    }
    return mfpg_table_file_close(ctx, file);
}

static mfpg_status write_equilibrium(mfpg_context *ctx, const char *folder, const char *name) {
    mfpg_figure figure;
    mfpg_status status = mfpg_study_figure(ctx, NULL, 0, NULL, &figure);
    if (status != MFPG_OK) return status;
    status = mfpg_figure_write(ctx, &figure, folder, name);
    mfpg_figure_clear(&figure);
    return status;
}

static int has_figure(int figure, const bench_cell *cells, ptrdiff_t count) {
    for (ptrdiff_t i = 0; i < count; i++)
        if (cells[i].figure == figure) return 1;
    return figure == EQUILIBRIUM; /* nothing is trained for it */
}

/* If a figure's task was not run, the figure that an earlier run left is removed with its pictures. */
static mfpg_status write_figure(
    mfpg_context *ctx, const char *folder, int figure, const bench_cell *cells, ptrdiff_t count) {
    char name[32], table[40], script[40];
    snprintf(name, sizeof name, "figure%d", figure);
    snprintf(table, sizeof table, "%s.csv", name);
    snprintf(script, sizeof script, "%s.gp", name);
    reproduction_remove_figure(folder, name);
    if (!has_figure(figure, cells, count)) return MFPG_OK;
    mfpg_status status = figure == EQUILIBRIUM ? write_equilibrium(ctx, folder, table)
                                               : write_trained(ctx, folder, table, figure, cells, count);
    return status == MFPG_OK ? reproduction_write_script(ctx, folder, script) : status;
}

static mfpg_status write(mfpg_context *ctx, const char *folder, const bench_cell *cells, ptrdiff_t count) {
    mfpg_status status = reproduction_write_script(ctx, folder, "style.gp");
    if (status == MFPG_OK) status = reproduction_write_script(ctx, folder, "rounds.gp");
    for (int figure = 1; figure <= FIGURES && status == MFPG_OK; figure++)
        status = write_figure(ctx, folder, figure, cells, count);
    return status;
}

/* ---- tables ---- */

static void print_certified(const bench_cell *cells, ptrdiff_t count, FILE *out) {
    const char *last = NULL;
    fprintf(out, "| method |");
    for (int i = 0; i < POINTS; i++) fprintf(out, " epsilon %g |", sweep[i]);
    fprintf(out, "\n|---|%s", "---|---|---|---|---|---|");
    for (ptrdiff_t i = 0; i < count;) {
        ptrdiff_t size = group_size(cells + i, count - i);
        if (cells[i].figure == FRONTIER && !isnan(cells[i].target_epsilon)) {
            bench_mean accuracy = bench_average(cells + i, size, offsetof(bench_cell, accuracy));
            if (last != cells[i].method) fprintf(out, "\n| %s |", last = cells[i].method);
            fprintf(out, " %.3f |", accuracy.mean);
        }
        i += size;
    }
    fprintf(out, "\n\n");
}

static void print(const bench_cell *cells, ptrdiff_t count, FILE *out) {
    fprintf(out, "### The paper's figures\n\n");
    for (int figure = 1; figure <= FIGURES; figure++)
        fprintf(out, "- figure %d: %s\n", figure,
            has_figure(figure, cells, count) ? (figure == EQUILIBRIUM ? "solved" : "trained")
                                             : "left out, its task was not run");
    fprintf(out, "\n");
    if (!has_figure(FRONTIER, cells, count)) return;
    fprintf(out, "Figure 5 on one scale: accuracy at a certified epsilon, mean over the seeds (unit example, "
                 "view local).\n\n");
    print_certified(cells, count, out);
}

const bench_suite bench_suite_figures = {
    .name = "figures",
    .help = "the data of the paper's five figures and the gnuplot scripts that draw them",
    .seeds = 5,
    .image_seeds = 1,
    .plan = plan,
    .print = print,
    .write = write,
};
