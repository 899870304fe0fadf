/* Suite frontier: accuracy against certified epsilon, all methods on one scale. */
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/number.h"
#include "bench.h"

static const char *const methods[] = {"dp-sgd", "mfep", "mapg-dp", "mfpg"};
enum { METHODS = sizeof methods / sizeof methods[0] };

typedef struct setting {
    const char *unit, *view;
    double target;
    int rounds;
    double step, clip;
} setting;

static const setting settings[] = {
#define SETTING(unit, view, target, rounds, step, clip) {unit, view, target, rounds, step, clip},
#include "frontier.def"
#undef SETTING
};
enum { SETTINGS = sizeof settings / sizeof settings[0] };

/* Eight clients of 100 rows, planted labels, 2000 test rows for all; a new draw a seed. |x|^2 <= 20 is what a curvature
 * of 5.25 = (20 + 1)/4 declares; with a target epsilon only ratios between clients count, and they do not depend on it. */
static const char common[] =
    "task.model=logistic data.format=synthetic data.kind=logistic data.clients=8 data.rows=100 "
    "data.dimension=20 data.test_rows=2000 train.weights=equal game.actions=continuous "
    "game.curvature=5.25";

static mfpg_status add_cell(
    mfpg_context *ctx, const setting *s, const char *method, int64_t seed, bench_list *list) {
    bench_cell *cell = bench_add(list, "frontier", "logistic", method, seed);
    if (!cell) return mfpg_fail_memory(ctx);
    int entropic = strcmp(method, "mfep") == 0 || strcmp(method, "mfpg") == 0;
    cell->target_epsilon = s->target;
    bench_set_all(cell, common);
    bench_set(cell, "privacy.unit=%s", s->unit);
    bench_set(cell, "privacy.view=%s", s->view);
    bench_set(cell, "privacy.clip=%g", s->clip);
    bench_set(cell, "noise.target_epsilon=%g", s->target);
    bench_set(cell, "train.rounds=%d", s->rounds);
    bench_set(cell, entropic ? "entropic.step=%g" : "train.learning_rate=%g", s->step);
    if (entropic) bench_set(cell, "entropic.scale=sensitivity");
    return MFPG_OK;
}

static mfpg_status plan(mfpg_context *ctx, const char *task, int64_t seeds, bench_list *list) {
    if (strcmp(task, "logistic") != 0) return MFPG_OK;
    for (int i = 0; i < SETTINGS; i++)
        for (int m = 0; m < METHODS; m++)
            for (int64_t seed = 1; seed <= seeds; seed++) {
                mfpg_status status = add_cell(ctx, &settings[i], methods[m], seed, list);
                if (status != MFPG_OK) return status;
            }
    return MFPG_OK;
}

/* ---- tables: the cells stand as setting x method x seed ---- */

static double accuracy_of(const bench_cell *c) {
    return c->accuracy;
}

/* Settings first .. of one unit and view; returns the number of them. */
static int same_panel(int first) {
    int count = 0;
    while (first + count < SETTINGS && strcmp(settings[first + count].unit, settings[first].unit) == 0 &&
           strcmp(settings[first + count].view, settings[first].view) == 0)
        count++;
    return count;
}

static void print_header(int first, int count, FILE *out) {
    fprintf(out, "#### Unit %s, view %s\n\n| method |", settings[first].unit, settings[first].view);
    for (int i = 0; i < count; i++) fprintf(out, " epsilon %g |", settings[first + i].target);
    fprintf(out, "\n|---|");
    for (int i = 0; i < count; i++) fprintf(out, "---|");
    fprintf(out, "\n");
}

static void print_panel(const bench_cell *cells, ptrdiff_t seeds, int first, int count, FILE *out) {
    print_header(first, count, out);
    for (int m = 0; m < METHODS; m++) {
        fprintf(out, "| %s |", methods[m]);
        for (int i = 0; i < count; i++) {
            const bench_cell *group = cells + ((ptrdiff_t)(first + i) * METHODS + m) * seeds;
            bench_mean a = bench_average(group, seeds, accuracy_of);
            if (seeds > 1)
                fprintf(out, " %.3f ± %.3f |", a.mean, a.error);
            else
                fprintf(out, " %.3f |", a.mean);
        }
        fprintf(out, "\n");
    }
    fprintf(out, "| *rounds, step, clip* |");
    for (int i = 0; i < count; i++) {
        const setting *s = &settings[first + i];
        fprintf(out, " *%d, %g, %g* |", s->rounds, s->step, s->clip);
    }
    fprintf(out, "\n\n");
}

/* What each client of the games was promised; it does not depend on the draw. */
static void print_clients(const bench_cell *cells, ptrdiff_t seeds, FILE *out) {
    fprintf(out, "#### Each client's own epsilon in the games (unit example, view local)\n\n"
                 "| method | target | epsilon of clients 0 to 7, preference rising |\n|---|---|---|\n");
    for (int m = 2; m < METHODS; m++)
        for (int i = 0; i < same_panel(0); i++) {
            const bench_cell *c = cells + ((ptrdiff_t)i * METHODS + m) * seeds;
            fprintf(out, "| %s | %g |", methods[m], c->target_epsilon);
            for (ptrdiff_t k = 0; k < c->clients && k < BENCH_CLIENTS; k++)
                fprintf(out, " %.3f", mfpg_number_up(c->client_epsilon[k], 3));
            fprintf(out, " |\n");
        }
    fprintf(out, "\n");
}

static void print(const bench_cell *cells, ptrdiff_t count, FILE *out) {
    ptrdiff_t seeds = count / (SETTINGS * METHODS);
    fprintf(out, "### Accuracy against certified epsilon\n\n");
    fprintf(out,
        "Logistic regression, 8 clients of 100 rows, 21 parameters; mean test accuracy ± standard error over "
        "%td seeds. "
        "Adjacency\nzero-out, delta 1e-05, accountant gdp. In the games (mapg-dp, mfpg) the largest epsilon "
        "of a client is the "
        "target.\n\n",
        seeds);
    for (int first = 0; first < SETTINGS; first += same_panel(first))
        print_panel(cells, seeds, first, same_panel(first), out);
    print_clients(cells, seeds, out);
}

const bench_suite bench_suite_frontier = {
    .name = "frontier",
    .help = "accuracy against certified epsilon for the four cells, unit example and client, view local and "
            "average",
    .seeds = 20,
    .plan = plan,
    .print = print,
};
