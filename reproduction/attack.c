/* Suite attack: the paper's certificates and ours, both attacked. First comes the counterexample to the
 * paper's bound of its entropic methods, round by round (theory S1: everything in it is Gaussian, so the
 * exact total variation is known); then the settings of the paper's own table. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"
#include "support.h"

static const int lengths[] = {10, 30, 50, 100, 300, 1000};
enum { LENGTHS = sizeof lengths / sizeof lengths[0] };

/* A run of the network costs a thousand times as much as one of the others. */
enum { EXAMPLE_RUNS = 4000, TABLE_RUNS = 20000, IMAGE_RUNS = 1000 };

/* ---- cells ---- */

static int is_example(const bench_cell *cell) {
    return cell->swept > 0.0;
}

/* examples/counterexample.yaml, with other numbers of rounds. */
static mfpg_status plan_example(mfpg_context *ctx, const bench_plan *plan, bench_list *list) {
    for (int i = 0; i < LENGTHS; i++)
        for (int64_t seed = 1; seed <= plan->seeds; seed++) {
            bench_cell *cell = bench_add(list, "attack", plan->task, "mfep", seed);
            if (!cell) return mfpg_fail_memory(ctx);
            bench_set_all(cell,
                "task.model=quadratic data.format=synthetic data.kind=quadratic data.clients=5 "
                "data.rows=1 data.dimension=1 data.test_fraction=0 evaluate=train");
            bench_set_all(cell, "privacy.unit=client privacy.adjacency=replace privacy.view=final "
                                "privacy.clip=1 privacy.assume=convex privacy.smoothness=0 noise.action=2");
            bench_set(cell, "train.rounds=%d", lengths[i]);
            cell->swept = lengths[i];
            cell->attack.runs = plan->runs > 0 ? plan->runs : EXAMPLE_RUNS;
        }
    return MFPG_OK;
}

/* The paper's bound of the entropic methods is on last models, with one of five clients exchanged. Its
 * projection, whose strength the paper does not give, is left out: it could only hide something. The epsilon
 * of the other methods is about every update. */
static mfpg_status plan_table(mfpg_context *ctx, const bench_plan *plan, bench_list *list) {
    int images = strcmp(plan->task, "images") == 0;
    for (int m = 0; m < METHODS; m++)
        for (int64_t seed = 1; seed <= plan->seeds; seed++) {
            if (!bench_printed_epsilon(plan->task, bench_methods[m])) continue; /* the paper leaves it out */
            bench_cell *cell = bench_add(list, "attack", plan->task, bench_methods[m], seed);
            if (!cell) return mfpg_fail_memory(ctx);
            bench_set_paper(cell, &plan->images);
            if (bench_is_entropic(cell->method))
                bench_set_all(
                    cell, "entropic.transport.regularisation=0 privacy.view=final privacy.adjacency=replace");
            cell->attack.runs = plan->runs > 0 ? plan->runs : images ? IMAGE_RUNS : TABLE_RUNS;
        }
    return MFPG_OK;
}

static mfpg_status plan(mfpg_context *ctx, const bench_plan *plan, bench_list *list) {
    mfpg_status status = strcmp(plan->task, "quadratic") == 0 ? plan_example(ctx, plan, list) : MFPG_OK;
    return status == MFPG_OK ? plan_table(ctx, plan, list) : status;
}

/* ---- the attack ---- */

static void add_client(const mfpg_audit_client *c, bench_attack *sums) {
    sums->mu = fmax(sums->mu, c->mu);
    sums->mu_proved = fmax(sums->mu_proved, c->mu_lower);
    sums->epsilon = fmax(sums->epsilon, c->epsilon);
    sums->epsilon_proved = fmax(sums->epsilon_proved, c->epsilon_lower);
    sums->epsilon_direct = fmax(sums->epsilon_direct, c->epsilon_lower_direct);
    sums->distance = fmax(sums->distance, c->distance);
    sums->distance_proved = fmax(sums->distance_proved, c->tv_lower);
    sums->distance_least = fmin(sums->distance_least, c->tv_lower);
    sums->broken += !c->stands;
}

mfpg_status bench_attack_run(mfpg_context *ctx, const mfpg_experiment *experiment, bench_cell *cell) {
    mfpg_audit_options options = mfpg_audit_options_default();
    ptrdiff_t clients = mfpg_experiment_clients(experiment);
    mfpg_audit_client *client = reproduction_alloc(clients, sizeof *client);
    options.runs = cell->attack.runs;
    options.seed = (uint64_t)cell->seed;
    options.stop = cell->stop;
    mfpg_status status =
        client ? mfpg_experiment_audit(ctx, experiment, &options, client, NULL) : mfpg_fail_memory(ctx);
    cell->attack.distance_least = INFINITY;
    for (ptrdiff_t k = 0; k < clients && status == MFPG_OK; k++) add_client(&client[k], &cell->attack);
    free(client);
    return status;
}

/* ---- the exact value, and the claim ---- */

#define STEP     0.1
#define STRENGTH 2.0
#define CLIENTS  5.0

/* Theory S1.2 with h = 0 and the noise of every client in the mean: the last models of two runs that differ in one client's gradient
 * are normal with one variance. */
static double exact_distance(double rounds) {
    double a = 1.0 - STEP * STRENGTH, gap = STEP * (2.0 / CLIENTS) * (1.0 - pow(a, rounds)) / (1.0 - a);
    double variance = 2.0 * STRENGTH * STEP / CLIENTS * (1.0 - pow(a, 2.0 * rounds)) / (1.0 - a * a);
    return erf(gap / sqrt(variance) / (2.0 * sqrt(2.0))); /* 2 Phi(mu/2) - 1 */
}

static double paper_distance(double rounds) {
    mfpg_paper_bound paper = mfpg_accountant_options_default().paper;
    paper.dimension = 1.0;
    paper.clients = CLIENTS;
    paper.step = STEP;
    return fmin(mfpg_paper_lsi_delta(&paper, STRENGTH, rounds), 1.0);
}

static double distance_of(double mu) {
    return erf(mu / (2.0 * sqrt(2.0)));
}

/* ---- tables ---- */

/* The claim in a setting: a total variation, or an epsilon. */
typedef struct attack_claim {
    const char *printed;    /* in the paper's table; NULL: nothing */
    double formula;         /* by the paper's formula, here */
    double proved;          /* without any assumption */
    double proved_gaussian; /* for Gaussian noise */
    double certified;
} attack_claim;

static attack_claim claim_of(const bench_cell *c) {
    const bench_attack *a = &c->attack;
    if (bench_is_entropic(c->method))
        return (attack_claim){.printed = bench_printed_delta(c->task, c->method),
            .formula = c->paper_delta,
            .proved = a->distance_proved,
            .proved_gaussian = distance_of(a->mu_proved),
            .certified = a->distance};
    return (attack_claim){.printed = bench_printed_epsilon(c->task, c->method),
        .formula = c->paper_epsilon,
        .proved = a->epsilon_direct,
        .proved_gaussian = a->epsilon_proved,
        .certified = a->epsilon};
}

static double down(double value, int decimals) {
    return fmax(-mfpg_number_up(-value, decimals), 0.0);
}

static const char *verdict_of(const bench_cell *c) {
    return c->attack.broken > 0 ? "BROKEN" : "stands";
}

/* Returns which proof, if any, exceeds the claim. */
static const char *refutation(double claimed, double proved, double proved_gaussian) {
    return proved > claimed            ? "refuted"
           : proved_gaussian > claimed ? "refuted (Gaussian noise)"
                                       : "not refuted";
}

static void print_example(const bench_cell *cells, ptrdiff_t count, FILE *out) {
    fprintf(out,
        "### The paper's bound under attack\n\n"
        "Example counterexample: five clients, one parameter, a linear loss, strength 2; unit client, "
        "replace, the last model alone.\nTotal variation between the last models of two runs that differ in "
        "one client: exact, by the paper's bound, proved by an attack\nof %lld runs (least and most of the "
        "clients; a row holds with probability 0.99), and promised by our certificate.\n\n"
        "| rounds | exact | the paper's bound | proved | our certificate |\n|---|---|---|---|---|\n",
        (long long)cells[0].attack.runs);
    for (ptrdiff_t i = 0; i < count; i++) {
        const bench_cell *c = &cells[i];
        const bench_attack *a = &c->attack;
        if (!is_example(c)) continue;
        fprintf(out, "| %.0f | %.4f | %.3g, %s | %.4f to %.4f | %.4f, %s |\n", c->swept,
            exact_distance(c->swept), c->paper_delta, refutation(c->paper_delta, a->distance_proved, 0.0),
            down(a->distance_least, 4), down(a->distance_proved, 4), mfpg_number_up(a->distance, 4),
            verdict_of(c));
    }
    fprintf(out, "\n");
}

/* A number printed in the paper, and whether it was refuted. */
static void print_printed(const char *text, double proved, double proved_gaussian, FILE *out) {
    char *end;
    double claimed = text ? strtod(text, &end) : 0.0;
    if (!text || end == text || *end)
        fprintf(out, "| ");
    else
        fprintf(out, "| %s, %s ", text, refutation(claimed, proved, proved_gaussian));
}

static void print_setting(const bench_cell *c, FILE *out) {
    attack_claim claim = claim_of(c);
    fprintf(out, "| %s | %s | %s ", c->task, c->method,
        bench_is_entropic(c->method) ? "total variation, final, replace" : "epsilon, local, zero-out");
    print_printed(claim.printed, claim.proved, claim.proved_gaussian, out);
    fprintf(out, "| %.4g, %s | %.4f | %.4f | %.4f, %s |\n", claim.formula,
        refutation(claim.formula, claim.proved, claim.proved_gaussian), down(claim.proved, 4),
        down(claim.proved_gaussian, 4), mfpg_number_up(claim.certified, 4), verdict_of(c));
}

static void print_table(const bench_cell *cells, ptrdiff_t count, FILE *out) {
    fprintf(out, "### The paper's table under attack\n\n"
                 "The paper's settings, unit client; the most that was proved of a client and the most that "
                 "is promised to one. Of the entropic methods the\npaper's delta claims to bound the total "
                 "variation between last models (replace); of the others its epsilon is one of every "
                 "update\n(zero-out, delta 1e-05). Its projections are left out. Runs of each pattern: ");
    ptrdiff_t first = 0;
    while (first < count && is_example(&cells[first])) first++;
    fprintf(out, "%lld", (long long)cells[first].attack.runs);
    if (cells[count - 1].attack.runs != cells[first].attack.runs)
        fprintf(out, ", images %lld", (long long)cells[count - 1].attack.runs);
    fprintf(out, ".\n\n| task | method | what is bounded | the paper prints | its formula | proved | proved "
                 "for Gaussian noise | our certificate |\n|---|---|---|---|---|---|---|---|\n");
    for (ptrdiff_t i = first; i < count; i++)
        if (!is_example(&cells[i])) print_setting(&cells[i], out);
    fprintf(out, "\n");
}

static void print(const bench_cell *cells, ptrdiff_t count, FILE *out) {
    if (is_example(&cells[0])) print_example(cells, count, out);
    print_table(cells, count, out);
}

/* ---- files: the tables as CSV, and the gnuplot scripts that draw them ---- */

enum { CURVE = 121 }; /* number of points of the exact curve and of the paper's, from 1 to 1000 rounds */

static mfpg_status write_example(
    mfpg_context *ctx, const char *folder, const bench_cell *cells, ptrdiff_t count) {
    mfpg_table_file *file;
    mfpg_status status = mfpg_table_file_open(
        ctx, folder, "attack.csv", "kind,rounds,seed,exact,paper,proved_least,proved_most,certified", &file);
    if (status != MFPG_OK) return status;
    double last = 0.0;
    for (int i = 0; i < CURVE; i++) {
        double rounds = round(pow(1000.0, (double)i / (CURVE - 1)));
        if (rounds == last) continue;
        last = rounds;
        mfpg_table_file_row(file, "tntnnttt", "curve", rounds, NULL, exact_distance(rounds),
            paper_distance(rounds), NULL, NULL, NULL);
    }
    for (const bench_cell *c = cells; c < cells + count; c++)
        if (is_example(c))
            mfpg_table_file_row(file, "tninnnnn", "attack", c->swept, c->seed, exact_distance(c->swept),
                c->paper_delta, c->attack.distance_least, c->attack.distance_proved, c->attack.distance);
    status = mfpg_table_file_close(ctx, file);
    return status == MFPG_OK ? reproduction_write_script(ctx, folder, "attack.gp") : status;
}

/* place: the position of a setting's bars, counted from 0 by quantity. */
static mfpg_status write_table(
    mfpg_context *ctx, const char *folder, const bench_cell *cells, ptrdiff_t count) {
    mfpg_table_file *file;
    int64_t place[2] = {0, 0};
    mfpg_status status = mfpg_table_file_open(ctx, folder, "attack-table.csv",
        "quantity,place,task,method,seed,runs,printed,formula,proved,proved_gaussian,certified", &file);
    if (status != MFPG_OK) return status;
    for (const bench_cell *c = cells; c < cells + count; c++) {
        if (is_example(c)) continue;
        const attack_claim claim = claim_of(c);
        mfpg_table_file_row(file, "tittiitnnnn", bench_is_entropic(c->method) ? "distance" : "epsilon",
            place[bench_is_entropic(c->method)]++, c->task, c->method, c->seed, c->attack.runs, claim.printed,
            claim.formula, claim.proved, claim.proved_gaussian, claim.certified);
    }
    status = mfpg_table_file_close(ctx, file);
    return status == MFPG_OK ? reproduction_write_script(ctx, folder, "attack-table.gp") : status;
}

static mfpg_status write(mfpg_context *ctx, const char *folder, const bench_cell *cells, ptrdiff_t count) {
    reproduction_remove_figure(folder, "attack");
    reproduction_remove_figure(folder, "attack-table");
    mfpg_status status = reproduction_write_script(ctx, folder, "style.gp");
    if (status == MFPG_OK && is_example(&cells[0])) status = write_example(ctx, folder, cells, count);
    return status == MFPG_OK ? write_table(ctx, folder, cells, count) : status;
}

const bench_suite bench_suite_attack = {
    .name = "attack",
    .help =
        "the paper's certificates and ours under attack: the counterexample, and the settings of its table",
    .seeds = 1,
    .image_seeds = 1,
    .images_on_request = 1,
    .plan = plan,
    .print = print,
    .write = write,
};
