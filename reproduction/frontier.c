/* Suite frontier: accuracy against certified epsilon, all methods on one scale. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "bench.h"

typedef struct setting {
    const char *task;
    int clients, rows; /* rows a client */
    const char *unit, *view;
    double target;
    int rounds, batch; /* batch: expected rows of a client's batch; 0: all of them */
    double step, clip;
} setting;

static const setting settings[] = {
#define SETTING(task, clients, rows, unit, view, target, rounds, batch, step, clip)                          \
    {task, clients, rows, unit, view, target, rounds, batch, step, clip},
#include "frontier.def"
#undef SETTING
};
enum { SETTINGS = sizeof settings / sizeof settings[0] };

/* If only the last model is seen, earlier rounds are forgotten through decay. Gaussian steps have no decay
 * and are shown in the average view. */
static int is_final(const setting *s) {
    return strcmp(s->view, "final") == 0;
}

static int takes(const setting *s, int method) {
    return !is_final(s) || bench_is_entropic(bench_methods[method]);
}

/* Number of the first methods that a setting uses. */
static int taken(const setting *s, int first) {
    int count = 0;
    for (int m = 0; m < first; m++) count += takes(s, m);
    return count;
}

/* Each seed has a new draw, planted labels, and 2000 test rows for all. |x|^2 <= 20 is what a curvature of
 * 5.25 = (20 + 1)/4 declares. For a network no curvature is known, and 1 is declared. With a target epsilon
 * only ratios between clients matter, and these do not depend on it. */
static void set_task(bench_cell *cell, const setting *s, const bench_images *images) {
    if (strcmp(s->task, "images") == 0) {
        bench_set_images(cell, images, s->clients, s->clients * s->rows);
        bench_set_all(cell, "data.range=[-0.3,1.2] game.curvature=1 evaluate=none");
        return;
    }
    bench_set_all(cell, "task.model=logistic data.format=synthetic data.kind=logistic data.dimension=20 "
                        "data.test_rows=2000 game.curvature=5.25");
    bench_set(cell, "data.clients=%d", s->clients);
    bench_set(cell, "data.rows=%d", s->rows);
}

static bench_cell *add_cell(const setting *s, const char *suite, int method, int64_t seed,
    const bench_images *images, bench_list *list) {
    bench_cell *cell = bench_add(list, suite, s->task, bench_methods[method], seed);
    if (!cell) return NULL;
    int entropic = bench_is_entropic(bench_methods[method]);
    cell->target_epsilon = s->target;
    set_task(cell, s, images);
    bench_set_all(cell, "train.weights=equal game.actions=continuous");
    bench_set(cell, "privacy.unit=%s", s->unit);
    bench_set(cell, "privacy.view=%s", s->view);
    bench_set(cell, "privacy.clip=%g", s->clip);
    bench_set(cell, "noise.target_epsilon=%g", s->target);
    bench_set(cell, "train.rounds=%d", s->rounds);
    if (s->batch > 0) bench_set(cell, "train.batch.size=%d", s->batch);
    bench_set(cell, entropic ? "entropic.step=%g" : "train.learning_rate=%g", s->step);
    if (entropic) bench_set(cell, "entropic.scale=sensitivity");
    /* rows are shortened, so the smoothness (16 + 1)/4 is a true bound */
    if (is_final(s)) bench_set_all(cell, "privacy.assume=glm data.norm=4 evaluate=none");
    return cell;
}

/* Returns the setting of the logistic task, unit example, view local, whose target is nearest by ratio. */
static setting nearest_setting(double target) {
    const setting *found = NULL;
    for (int i = 0; i < SETTINGS; i++) {
        const setting *s = &settings[i];
        if (strcmp(s->task, "logistic") != 0 || strcmp(s->unit, "example") != 0 ||
            strcmp(s->view, "local") != 0)
            continue;
        if (!found || fabs(log(s->target / target)) < fabs(log(found->target / target))) found = s;
    }
    return *found;
}

bench_cell *bench_add_frontier(
    bench_list *list, const char *suite, const char *method, double target, int64_t seed) {
    setting s = nearest_setting(target);
    int m = 0;
    while (strcmp(bench_methods[m], method) != 0) m++;
    s.target = target;
    return add_cell(&s, suite, m, seed, NULL, list);
}

static mfpg_status plan(mfpg_context *ctx, const bench_plan *plan, bench_list *list) {
    for (int i = 0; i < SETTINGS; i++)
        for (int m = 0; m < METHODS && strcmp(settings[i].task, plan->task) == 0; m++)
            for (int64_t seed = 1; seed <= plan->seeds; seed++) {
                if (!takes(&settings[i], m)) continue;
                if (!add_cell(&settings[i], "frontier", m, seed, &plan->images, list))
                    return mfpg_fail_memory(ctx);
            }
    return MFPG_OK;
}

/* ---- tables: the cells of a task are ordered by setting, method, seed ---- */

static int same_panel(const setting *a, const setting *b) {
    return strcmp(a->task, b->task) == 0 && a->clients == b->clients && a->rows == b->rows &&
           strcmp(a->unit, b->unit) == 0 && strcmp(a->view, b->view) == 0;
}

/* Returns the number of settings, from `first` on, that form one panel. */
static int panel_size(int first) {
    int count = 0;
    while (first + count < SETTINGS && same_panel(&settings[first], &settings[first + count])) count++;
    return count;
}

static void print_header(const setting *panel, int count, const bench_cell *cell, FILE *out) {
    if (strcmp(panel->task, "images") == 0)
        fprintf(out, "#### %td images, %d client%s, unit %s, view %s, accountant %s\n\n| method |",
            cell->rows, panel->clients, panel->clients > 1 ? "s" : "", panel->unit, panel->view,
            cell->promise.accountant);
    else
        fprintf(out, "#### Unit %s, view %s\n\n%s| method |", panel->unit, panel->view,
            is_final(panel) ? "The last model alone is seen: accountant hidden-state, case glm, rows of norm "
                              "at most 4, so that the smoothness is at most\n4.25. Gaussian steps forget "
                              "nothing: dp-sgd and mapg-dp have what they have in view average.\n\n"
                            : "");
    for (int i = 0; i < count; i++) fprintf(out, " epsilon %g |", panel[i].target);
    fprintf(out, "\n|---|");
    for (int i = 0; i < count; i++) fprintf(out, "---|");
    fprintf(out, "\n");
}

static void print_settings(const setting *panel, int count, FILE *out) {
    int sampled = panel->batch > 0;
    fprintf(out, "| *rounds, %sstep, clip* |", sampled ? "batch a client, " : "");
    for (int i = 0; i < count; i++) {
        fprintf(out, " *%d, ", panel[i].rounds);
        if (sampled) fprintf(out, "%d, ", panel[i].batch);
        fprintf(out, "%g, %g* |", panel[i].step, panel[i].clip);
    }
    fprintf(out, "\n\n");
}

static void print_panel(
    const bench_cell *cells, ptrdiff_t seeds, const setting *panel, int count, FILE *out) {
    print_header(panel, count, cells, out);
    ptrdiff_t each = taken(panel, METHODS);
    for (int m = 0; m < METHODS; m++) {
        if (!takes(panel, m)) continue;
        fprintf(out, "| %s |", bench_methods[m]);
        for (int i = 0; i < count; i++) {
            ptrdiff_t first = (i * each + taken(panel, m)) * seeds;
            bench_mean a = bench_average(cells + first, seeds, offsetof(bench_cell, accuracy));
            if (seeds > 1)
                fprintf(out, " %.3f ± %.3f |", a.mean, a.error);
            else
                fprintf(out, " %.3f |", a.mean);
        }
        fprintf(out, "\n");
    }
    print_settings(panel, count, out);
}

/* Prints what was promised to each client of the games in the first panel; it does not depend on the draw. */
static void print_clients(const bench_cell *cells, ptrdiff_t seeds, FILE *out) {
    fprintf(out, "#### Each client's own epsilon in the games (unit example, view local)\n\n"
                 "| method | target | epsilon of clients 0 to 7, preference rising |\n|---|---|---|\n");
    for (int m = 2; m < METHODS; m++)
        for (int i = 0; i < panel_size(0); i++) {
            const bench_cell *c = cells + ((ptrdiff_t)i * METHODS + m) * seeds;
            fprintf(out, "| %s | %g |", bench_methods[m], c->target_epsilon);
            for (ptrdiff_t k = 0; k < c->clients && k < BENCH_CLIENTS; k++)
                fprintf(out, " %.3f", mfpg_number_up(c->client_epsilon[k], 3));
            fprintf(out, " |\n");
        }
    fprintf(out, "\n");
}

static void print_introduction(const char *task, ptrdiff_t seeds, FILE *out) {
    int images = strcmp(task, "images") == 0;
    fprintf(out,
        "### Accuracy against certified epsilon%s\n\n%s; mean test accuracy ± standard error over %td "
        "seed%s. ",
        images ? ", images" : "",
        images ? "Network 784-128-64-10 (109,386 parameters), images dealt at random, 10,000 test images"
               : "Logistic regression, 8 clients of 100 rows, 21 parameters",
        seeds, seeds > 1 ? "s" : "");
    fprintf(out,
        "Adjacency\nzero-out, delta 1e-05%s. In the games (mapg-dp, mfpg) the largest epsilon of a client is "
        "the target.\n\n",
        images ? "" : ", accountant gdp unless another is named");
}

/* ---- privacy as rounds continue (theory S1, S2.3): one noised chain with the paper's constants, from
 * formulas alone ---- */

#define STRENGTH 2.0 /* alpha e = 2 exceeds lambda + G = 1.01, the paper's own condition */
#define STEP     0.1
#define DELTA    1e-5

/* Returns one step of a client's clipped gradient, zero-out, for a generalised linear model with smoothness
 * 1, in weight units. */
static void one_step(mfpg_release *out) {
    const mfpg_paper_bound paper = mfpg_accountant_options_default().paper;
    const mfpg_hidden_assumption assumption = {.kind = MFPG_HIDDEN_GLM,
        .smoothness = 1.0,
        .clipping = MFPG_CLIPPING_EXAMPLE,
        .projection_radius = (double)INFINITY};
    *out = (mfpg_release){.steps = 1,
        .sensitivity = STEP,
        .noise_sd = sqrt(2.0 * STRENGTH * STEP) * (1.0 - 4.0 * DBL_EPSILON),
        .weight = 1.0,
        .sampling_rate = 1.0,
        .hidden_shift = STEP};
    out->last_sd = out->noise_sd;
    mfpg_hidden_contraction(
        NULL, &assumption, STEP, STRENGTH * paper.alpha, paper.variance_penalty, 2, &out->hidden_contraction);
}

/* Returns epsilon of that many steps if only the last state, or every state, is seen; infinity if memory
 * runs out. */
static double epsilon_of(mfpg_view view, const mfpg_release *step, int64_t rounds) {
    mfpg_accountant_options options = mfpg_accountant_options_default();
    mfpg_accountant *accountant = NULL;
    double epsilon = (double)INFINITY;
    options.promise.view = view;
    mfpg_status status = mfpg_accountant_create(NULL, "hidden-state", &options, &accountant);
    if (status == MFPG_OK) status = mfpg_accountant_record_times(NULL, accountant, step, rounds);
    if (status == MFPG_OK) status = mfpg_accountant_epsilon(NULL, accountant, DELTA, &epsilon);
    mfpg_accountant_destroy(accountant);
    return status == MFPG_OK ? epsilon : (double)INFINITY;
}

/* Returns the total variation distance of the two last models (delta at epsilon 0) if the loss is linear and
 * one client's gradient changes from zero to norm 1: theory S1.2 with h = 0, in closed form. */
static double exact_distance(double rounds) {
    double kappa = STRENGTH * mfpg_accountant_options_default().paper.alpha, a = 1.0 - STEP * kappa;
    double gap = STEP * (1.0 - pow(a, rounds)) / (1.0 - a);
    double variance = 2.0 * STRENGTH * STEP * (1.0 - pow(a, 2.0 * rounds)) / (1.0 - a * a);
    return mfpg_gdp_delta(gap / sqrt(variance), 0.0);
}

static void print_rounds(FILE *out) {
    mfpg_release step;
    mfpg_paper_bound paper = mfpg_accountant_options_default().paper;
    one_step(&step);
    paper.dimension = paper.clients = 1.0;
    paper.envelope = 0;
    fprintf(out,
        "#### Privacy as the rounds go on\n\n"
        "One chain of the entropic flow: strength 2, step 0.1, prior variance 1, variance penalty 0.01, clip "
        "1, unit client,\nzero-out, delta 1e-05; for the last model alone, a generalised linear model of "
        "smoothness 1. The distance is the exact\ntotal variation between the last models of two linear "
        "losses; the paper's delta (one dimension, one client) claims to\nbound it.\n\n"
        "| rounds | epsilon, every model seen | epsilon, last model alone | exact distance | the paper's "
        "delta |\n|---|---|---|---|---|\n");
    for (int64_t rounds = 1; rounds <= 1000000; rounds *= 10)
        fprintf(out, "| %lld | %.3f | %.3f | %.4f | %.3g |\n", (long long)rounds,
            mfpg_number_up(epsilon_of(MFPG_VIEW_LOCAL, &step, rounds), 3),
            mfpg_number_up(epsilon_of(MFPG_VIEW_FINAL, &step, rounds), 3), exact_distance((double)rounds),
            mfpg_paper_lsi_delta(&paper, STRENGTH, (double)rounds));
    fprintf(out, "\n");
}

/* Finds the cells of one task, which begin with those of its first setting. Returns their number. */
static ptrdiff_t print_task(const bench_cell *cells, ptrdiff_t count, FILE *out) {
    int first = 0, end;
    ptrdiff_t seeds = 0;
    while (strcmp(settings[first].task, cells->task) != 0) first++;
    for (end = first; end < SETTINGS && strcmp(settings[end].task, cells->task) == 0;) end++;
    while (seeds < count && cells[seeds].seed == seeds + 1) seeds++;
    print_introduction(cells->task, seeds, out);
    const bench_cell *panel = cells;
    for (int size; first < end; first += size) {
        size = panel_size(first);
        print_panel(panel, seeds, &settings[first], size, out);
        panel += (ptrdiff_t)size * taken(&settings[first], METHODS) * seeds;
    }
    if (strcmp(cells->task, "logistic") == 0) {
        print_clients(cells, seeds, out);
        print_rounds(out);
    }
    return panel - cells;
}

static void print(const bench_cell *cells, ptrdiff_t count, FILE *out) {
    for (ptrdiff_t done = 0; done < count;) done += print_task(cells + done, count - done, out);
}

const bench_suite bench_suite_frontier = {
    .name = "frontier",
    .help = "accuracy against certified epsilon for the four cells, unit example and client, view local, "
            "average and final; images only on request",
    .seeds = 20,
    .image_seeds = 5,
    .images_on_request = 1,
    .plan = plan,
    .print = print,
};
