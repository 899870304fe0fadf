/* Suite paper: the settings of the paper's experiments as far as its text determines them, next to what its
 * table prints. */
#include <math.h>
#include <string.h>

#include "bench.h"

/* Client unit, zero-out, local view, clip 1, eta .01, tau .1, lambda .01 and start at zero are the defaults. */
static const char *task_settings(const char *task) {
    if (strcmp(task, "images") == 0) return "train.rounds=20 evaluate=train evaluate_every=20";
    if (strcmp(task, "quadratic") == 0)
        return "task.model=quadratic data.format=synthetic data.kind=quadratic data.clients=5 data.rows=28 "
               "data.dimension=5 data.test_fraction=0 evaluate=train train.rounds=10";
    return "task.model=logistic data.format=synthetic data.kind=coins data.clients=8 data.rows=100 "
           "data.dimension=20 data.test_rows=2000 evaluate=train train.rounds=15";
}

/* The paper does not give the regulariser of the Sinkhorn projection; these values suit its losses. For the
 * network, the cap of 512 entries would project only the biases, so no cap is set. */
static const char *projection(const char *task) {
    if (strcmp(task, "images") == 0) return "";
    return strcmp(task, "quadratic") == 0 ? "entropic.transport.regularisation=10 entropic.transport.cap=512"
                                          : "entropic.transport.regularisation=1 entropic.transport.cap=512";
}

static const char *method_settings(const char *method) {
    if (strcmp(method, "dp-sgd") == 0) return "noise.action=1 noise.law=classical";
    if (strcmp(method, "mfep") == 0) return "noise.action=1";
    if (strcmp(method, "mapg-dp") == 0)
        return "game.actions=continuous game.curvature=1 game.personalisation=0 game.privacy_power=1";
    return "game.cost=paper game.loss=0.01 game.gradient_norm=1 game.offset=0.01";
}

void bench_set_paper(bench_cell *cell, const bench_images *images) {
    bench_set_all(cell, task_settings(cell->task));
    if (strcmp(cell->task, "images") == 0) bench_set_images(cell, images, 10, 2000);
    bench_set_all(cell, method_settings(cell->method));
    if (bench_is_entropic(cell->method)) bench_set_all(cell, projection(cell->task));
    cell->client_sum = 1;
}

static mfpg_status plan(mfpg_context *ctx, const bench_plan *plan, bench_list *list) {
    for (int m = 0; m < METHODS; m++) {
        for (int64_t seed = 1; seed <= plan->seeds; seed++) {
            bench_cell *cell = bench_add(list, "paper", plan->task, bench_methods[m], seed);
            if (!cell) return mfpg_fail_memory(ctx);
            bench_set_paper(cell, &plan->images);
        }
    }
    return MFPG_OK;
}

/* ---- tables ---- */

typedef enum metric { LOSS, ACCURACY, EPSILON, DELTA } metric;

static const struct {
    const char *task, *method;
    metric metric;
    const char *printed, *verdict, *why;
} claims[] = {
#define CLAIM(task, method, metric, printed, verdict, why) {task, method, metric, printed, verdict, why},
#include "paper_table.def"
#undef CLAIM
};

static const char *printed(const char *task, const char *method, metric which) {
    for (size_t i = 0; i < sizeof claims / sizeof claims[0]; i++)
        if (claims[i].metric == which && strcmp(claims[i].task, task) == 0 &&
            strcmp(claims[i].method, method) == 0)
            return claims[i].printed;
    return NULL;
}

const char *bench_printed_epsilon(const char *task, const char *method) {
    return printed(task, method, EPSILON);
}

const char *bench_printed_delta(const char *task, const char *method) {
    return printed(task, method, DELTA);
}

/* Prints "69.63 ± 2.12" for what varies over seeds, and four digits for the result of a formula. */
static void print_ours(const bench_cell *group, ptrdiff_t count, metric which, FILE *out) {
    static const size_t column[] = {offsetof(bench_cell, loss), offsetof(bench_cell, accuracy),
        offsetof(bench_cell, paper_epsilon), offsetof(bench_cell, paper_delta)};
    bench_mean m = bench_average(group, count, column[which]);
    if (which == LOSS)
        fprintf(out, "%.2f", m.mean);
    else if (which == ACCURACY)
        fprintf(out, "%.3f", m.mean);
    else
        fprintf(out, "%.4g", m.mean);
    if ((which == LOSS || which == ACCURACY) && m.count > 1)
        fprintf(out, which == LOSS ? " ± %.2f" : " ± %.3f", m.error);
}

/* Finds the cells of a task and method, which are consecutive. */
static const bench_cell *find_group(
    const bench_cell *cells, ptrdiff_t count, const char *task, const char *method, ptrdiff_t *size) {
    const bench_cell *first = NULL;
    *size = 0;
    for (ptrdiff_t i = 0; i < count; i++) {
        if (strcmp(cells[i].task, task) != 0 || strcmp(cells[i].method, method) != 0) continue;
        if (!first) first = &cells[i];
        ++*size;
    }
    return first;
}

static void print_claims(const bench_cell *cells, ptrdiff_t count, FILE *out) {
    static const char *const names[] = {"loss", "accuracy", "epsilon", "delta"};
    fprintf(
        out, "| task | method | number | paper | ours | verdict | why |\n|---|---|---|---|---|---|---|\n");
    for (size_t i = 0; i < sizeof claims / sizeof claims[0]; i++) {
        ptrdiff_t size;
        const bench_cell *group = find_group(cells, count, claims[i].task, claims[i].method, &size);
        if (!group) continue;
        fprintf(out, "| %s | %s | %s | %s | ", claims[i].task, claims[i].method, names[claims[i].metric],
            claims[i].printed);
        print_ours(group, size, claims[i].metric, out);
        fprintf(out, " | %s | %s |\n", claims[i].verdict, claims[i].why);
    }
}

static void print_certificates(const bench_cell *cells, ptrdiff_t count, FILE *out) {
    fprintf(out,
        "| task | method | rounds | mean action | largest mu | epsilon zero-out | epsilon replace |\n"
        "|---|---|---|---|---|---|---|\n");
    for (ptrdiff_t i = 0; i < count; i++) {
        const bench_cell *c = &cells[i];
        if (c->seed != 1) continue; /* certificates do not depend on the data */
        fprintf(out, "| %s | %s | %lld | %.4g | %.4f | %.4f | %.4f |\n", c->task, c->method,
            (long long)c->rounds, c->mean_action, mfpg_number_up(c->mu, 4), mfpg_number_up(c->epsilon, 4),
            mfpg_number_up(c->epsilon_replace, 4));
    }
}

static void print(const bench_cell *cells, ptrdiff_t count, FILE *out) {
    ptrdiff_t seeds = 0, of_images = 0;
    for (ptrdiff_t i = 0; i < count; i++) {
        ptrdiff_t *most = strcmp(cells[i].task, "images") == 0 ? &of_images : &seeds;
        if (cells[i].seed > *most) *most = (ptrdiff_t)cells[i].seed;
    }
    fprintf(out, "### The paper's table, and what its text gives\n\nMean ± standard error over ");
    if (seeds > 0) fprintf(out, "%td seed%s%s", seeds, seeds > 1 ? "s" : "", of_images > 0 ? ", " : "");
    if (of_images > 0) fprintf(out, "images %td", of_images);
    fprintf(out, ". Epsilon and delta are the paper's own formulas (order-2 Renyi, strength,\n"
                 "LSI bound): reproductions that certify nothing.\n\n");
    print_claims(cells, count, out);
    fprintf(out, "\n### The same runs, certified\n\n");
    fprintf(out, "Unit client, view local, delta 1e-05, accountant gdp (composition); the largest epsilon of "
                 "a client.\n\n");
    print_certificates(cells, count, out);
    fprintf(out, "\n");
}

const bench_suite bench_suite_paper = {
    .name = "paper",
    .help = "the paper's settings: every number of its table beside ours, and what is certified",
    .seeds = 5,
    .image_seeds = 1,
    .plan = plan,
    .print = print,
};
