/* The paper's equilibrium figure (fig:exp4) under every reading of its formulas (reproduction 3), and which
 * of the paper's statements hold under which reading. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "mfpg/random.h"
#include "readings.h"

/* Streams of the study; those of the limit study are numbered by population instead. */
enum { STREAM_GRADIENT = 1 << 28, STREAM_SETTING = 1 << 29 };

const char *const mfpg_sweep_name[MFPG_SWEEPS] = {"mean", "delta", "delta_at_mean", "privacy"};

mfpg_figure_options mfpg_figure_options_default(void) {
    return (mfpg_figure_options){.clients = 20,
        .beta_low = 0.1,
        .beta_high = 10.0,
        .beta_count = 25,
        .spread_low = 0.5,
        .spread_high = 1.5,
        .draws = 200,
        .settings = 20000,
        .seed = 1};
}

/* ---- what is allowed ---- */

static mfpg_status check_whole(
    mfpg_context *ctx, const char *what, ptrdiff_t value, ptrdiff_t least, ptrdiff_t most) {
    if (value >= least && value <= most) return MFPG_OK;
    return mfpg_fail(
        ctx, MFPG_ERR_DOMAIN, "%s: found %td; allowed: from %td to %td", what, value, least, most);
}

static mfpg_status check_range(mfpg_context *ctx, const char *what, double low, double high) {
    if (low > 0.0 && high > low && isfinite(high)) return MFPG_OK;
    return mfpg_fail(ctx, MFPG_ERR_DOMAIN, "%s: found %g to %g; allowed: two positive numbers that ascend",
        what, low, high);
}

static mfpg_status check_options(mfpg_context *ctx, const mfpg_figure_options *options) {
    mfpg_status status = check_whole(ctx, "clients", options->clients, 2, 100000);
    if (!status) status = check_whole(ctx, "points of the sweep", options->beta_count, 2, MFPG_MOST_BETAS);
    if (!status) status = check_whole(ctx, "draws", options->draws, 1, 100000);
    if (!status) status = check_whole(ctx, "settings", options->settings, 1, 10000000);
    if (!status) status = check_range(ctx, "beta of the sweep", options->beta_low, options->beta_high);
    if (!status)
        status = check_range(ctx, "beta of the histogram", options->spread_low, options->spread_high);
    return status;
}

static int is_positive(double x) {
    return x > 0.0 && isfinite(x);
}

static int is_not_negative(double x) {
    return x >= 0.0 && isfinite(x);
}

static mfpg_status check_reading(mfpg_context *ctx, const mfpg_reading *reading) {
    const mfpg_paper_bound *bound = &reading->bound;
    const char *wrong = NULL;
    if (!is_positive(reading->loss)) wrong = "loss must be positive";
    if (!is_not_negative(reading->offset)) wrong = "offset must not be negative";
    if (!is_not_negative(reading->interaction)) wrong = "interaction must not be negative";
    if (reading->privacy_form == MFPG_READING_PRIVACY_RECIPROCAL && !is_positive(reading->privacy_scale))
        wrong = "privacy scale must be positive";
    if (reading->interaction != 0.0 && (reading->loss_form != MFPG_READING_LOSS_PROPORTIONAL ||
                                           reading->privacy_form != MFPG_READING_PRIVACY_RECIPROCAL))
        wrong = "interaction belongs to a proportional loss with a reciprocal privacy term";
    if (!(reading->gradient_spread >= 0.0 && reading->gradient_spread < 1.0))
        wrong = "gradient spread must be from 0 to below 1";
    if (!is_positive(bound->dimension) || !is_positive(bound->clients) || !is_positive(bound->alpha) ||
        !is_positive(bound->step) || !is_positive(reading->rounds))
        wrong = "dimension, clients, alpha, step and rounds must be positive";
    if (!is_not_negative(bound->variance_penalty) || !is_not_negative(bound->gradient_norm))
        wrong = "variance penalty and gradient norm must not be negative";
    if (!wrong) return MFPG_OK;
    return mfpg_fail(ctx, MFPG_ERR_DOMAIN, "reading %s: %s", reading->name ? reading->name : "?", wrong);
}

/* ---- one draw of one reading ---- */

/* The results of every draw; arrays of draws x their width. */
typedef struct reading_study {
    const mfpg_reading *reading;
    const mfpg_figure_options *options;
    const double *beta;         /* the sweep */
    ptrdiff_t number;           /* of the reading */
    double *sweep[MFPG_SWEEPS]; /* x beta_count each; one block */
    reading_solution *spread;   /* x 1 */
    reading_answer *answer;     /* x statements */
    double *exploitability;     /* x 1 */
} reading_study;

static ptrdiff_t statement_count(void) {
    ptrdiff_t count = 0;
    while (mfpg_statement_get(count)) count++;
    return count;
}

/* Computes the G_k of a draw, and their mean. */
static double draw_gradients(const reading_study *study, ptrdiff_t draw, double *gradient) {
    ptrdiff_t clients = study->options->clients;
    double centre = study->reading->bound.gradient_norm, spread = study->reading->gradient_spread, sum = 0.0;
    mfpg_key key = mfpg_key_from_seed(study->options->seed);
    mfpg_stream stream = mfpg_stream_open(
        &key, MFPG_PURPOSE_TEST, (uint64_t)(STREAM_GRADIENT + study->number), (uint64_t)draw);
    mfpg_stream_uniform(&stream, 0, clients, gradient);
    for (ptrdiff_t k = 0; k < clients; k++) {
        gradient[k] = centre * (1.0 + spread * (2.0 * gradient[k] - 1.0));
        sum += gradient[k];
    }
    return spread > 0.0 ? sum / (double)clients : centre;
}

static void fill(double *array, ptrdiff_t count, double value) {
    for (ptrdiff_t k = 0; k < count; k++) array[k] = value;
}

/* Along the sweep all clients have the same beta. */
static mfpg_status sweep(mfpg_context *ctx, const reading_study *study, ptrdiff_t draw, reading_crowd *crowd,
    double *beta, reading_evidence *evidence) {
    ptrdiff_t points = study->options->beta_count, first = draw * points;
    mfpg_status status = MFPG_OK;
    for (ptrdiff_t i = 0; i < points && !status; i++) {
        reading_solution solved;
        fill(beta, crowd->clients, study->beta[i]);
        status = mfpg_reading_solve(ctx, crowd, &solved);
        if (status) break;
        const double found[MFPG_SWEEPS] = {[MFPG_SWEEP_MEAN] = solved.mean,
            [MFPG_SWEEP_DELTA] = solved.delta,
            [MFPG_SWEEP_AT_MEAN] = mfpg_reading_delta(study->reading, solved.mean, evidence->gradient),
            [MFPG_SWEEP_PRIVACY] = solved.privacy};
        for (int s = 0; s < MFPG_SWEEPS; s++) study->sweep[s][first + i] = found[s];
        study->exploitability[draw] = fmax(study->exploitability[draw], solved.exploitability);
        evidence->mixed_populations += solved.mixes;
        evidence->iterations = fmax(evidence->iterations, mfpg_reading_iterations(crowd));
    }
    for (int s = 0; s < MFPG_SWEEPS; s++) evidence->sweep[s] = study->sweep[s] + first;
    return status;
}

/* The population of the histogram. */
static mfpg_status solve_spread(mfpg_context *ctx, const reading_study *study, ptrdiff_t draw,
    reading_crowd *crowd, double *beta, reading_evidence *evidence) {
    const mfpg_figure_options *options = study->options;
    for (ptrdiff_t k = 0; k < crowd->clients; k++)
        beta[k] = options->spread_low +
                  (options->spread_high - options->spread_low) * (double)k / (double)(crowd->clients - 1);
    mfpg_status status = mfpg_reading_solve(ctx, crowd, &evidence->spread);
    if (status) return status;
    study->spread[draw] = evidence->spread;
    study->exploitability[draw] = fmax(study->exploitability[draw], evidence->spread.exploitability);
    evidence->mixed_populations += evidence->spread.mixes;
    evidence->iterations = fmax(evidence->iterations, mfpg_reading_iterations(crowd));
    mfpg_reading sharper = *study->reading;
    reading_crowd on_sharper = *crowd;
    reading_solution solved;
    sharper.loss *= 4.0;
    on_sharper.reading = &sharper;
    status = mfpg_reading_solve(ctx, &on_sharper, &solved);
    if (!status) evidence->sharper_change = solved.mean - evidence->spread.mean;
    return status;
}

static mfpg_status study_draw(mfpg_context *ctx, ptrdiff_t draw, int worker, void *arg) {
    const reading_study *study = arg;
    ptrdiff_t clients = study->options->clients, statements = statement_count();
    reading_evidence evidence = {.reading = study->reading, .options = study->options};
    (void)worker;
    double *block = reproduction_alloc(2 * clients, sizeof *block);
    if (!block) return mfpg_fail_memory(ctx);
    double *beta = block, *gradient = block + clients;
    reading_crowd crowd = {.reading = study->reading, .clients = clients, .beta = beta, .gradient = gradient};
    evidence.gradient = draw_gradients(study, draw, gradient);
    mfpg_status status = sweep(ctx, study, draw, &crowd, beta, &evidence);
    if (!status) status = solve_spread(ctx, study, draw, &crowd, beta, &evidence);
    for (ptrdiff_t i = 0; i < statements && !status; i++)
        study->answer[draw * statements + i] = mfpg_statement_judge(i, &evidence);
    free(block);
    return status;
}

/* ---- what the draws say together ---- */

/* Computes mean and standard error of `draws` numbers that are `stride` apart. */
static double average(const double *first, ptrdiff_t draws, ptrdiff_t stride, double *error) {
    double sum = 0.0, squares = 0.0, n = (double)draws;
    for (ptrdiff_t i = 0; i < draws; i++) sum += first[i * stride];
    double mean = sum / n;
    for (ptrdiff_t i = 0; i < draws; i++) squares += (first[i * stride] - mean) * (first[i * stride] - mean);
    *error = draws > 1 ? sqrt(squares / (n - 1.0) / n) : 0.0;
    return mean;
}

static mfpg_finding find(const reading_answer *answer, ptrdiff_t draws, ptrdiff_t stride) {
    mfpg_finding found = {.number = NAN};
    if (!answer->applies) return found;
    double holds = 0.0, sum = 0.0;
    for (ptrdiff_t i = 0; i < draws; i++) {
        holds += answer[i * stride].holds;
        sum += answer[i * stride].number;
    }
    found.share = holds / (double)draws;
    found.number = sum / (double)draws;
    found.verdict = found.share >= 0.95   ? MFPG_VERDICT_HOLDS
                    : found.share <= 0.05 ? MFPG_VERDICT_FAILS
                                          : MFPG_VERDICT_UNDECIDED;
    return found;
}

static void summarise(const reading_study *study, ptrdiff_t draws, mfpg_panels *out) {
    ptrdiff_t points = study->options->beta_count, statements = statement_count();
    ptrdiff_t stride = (ptrdiff_t)(sizeof *study->spread / sizeof(double));
    for (int s = 0; s < MFPG_SWEEPS; s++)
        for (ptrdiff_t i = 0; i < points; i++)
            out->sweep[s][i] = average(study->sweep[s] + i, draws, points, &out->sweep_error[s][i]);
    for (int i = 0; i < MFPG_READING_ACTIONS; i++)
        out->count[i] = average(&study->spread->count[i], draws, stride, &out->count_error[i]);
    out->spread_mean = average(&study->spread->mean, draws, stride, &out->spread_mean_error);
    for (ptrdiff_t i = 0; i < draws; i++)
        out->exploitability = fmax(out->exploitability, study->exploitability[i]);
    for (ptrdiff_t i = 0; i < statements; i++) out->finding[i] = find(study->answer + i, draws, statements);
}

static mfpg_status create_panels(
    mfpg_context *ctx, const mfpg_reading *reading, ptrdiff_t draws, ptrdiff_t points, mfpg_panels *out) {
    out->reading = *reading;
    out->draws = draws;
    double *block = reproduction_alloc(2 * MFPG_SWEEPS * points, sizeof *block);
    out->sweep[0] = block;
    out->finding = reproduction_alloc(statement_count(), sizeof *out->finding);
    if (!block || !out->finding) return mfpg_fail_memory(ctx);
    for (int s = 0; s < MFPG_SWEEPS; s++) {
        out->sweep[s] = block + 2 * s * points;
        out->sweep_error[s] = out->sweep[s] + points;
    }
    return MFPG_OK;
}

static mfpg_status study_reading(mfpg_context *ctx, const mfpg_reading *reading, ptrdiff_t number,
    const mfpg_figure_options *options, const double *beta, mfpg_panels *out) {
    ptrdiff_t draws = reading->gradient_spread > 0.0 ? options->draws : 1;
    ptrdiff_t points = options->beta_count, statements = statement_count();
    reading_study study = {.reading = reading, .options = options, .beta = beta, .number = number};
    mfpg_status status = create_panels(ctx, reading, draws, points, out);
    if (!status) {
        study.sweep[0] = reproduction_alloc(MFPG_SWEEPS * draws * points, sizeof(double)); /* at most 4e8 */
        study.spread = reproduction_alloc(draws, sizeof *study.spread);
        study.answer = reproduction_alloc(draws * statements, sizeof *study.answer);
        study.exploitability = reproduction_alloc(draws, sizeof(double));
        if (!study.sweep[0] || !study.spread || !study.answer || !study.exploitability)
            status = mfpg_fail_memory(ctx);
    }
    if (!status) {
        for (int s = 1; s < MFPG_SWEEPS; s++) study.sweep[s] = study.sweep[s - 1] + draws * points;
        status = mfpg_tasks_run(ctx, draws, study_draw, &study);
    }
    if (!status) summarise(&study, draws, out);
    free(study.sweep[0]);
    free(study.spread);
    free(study.answer);
    free(study.exploitability);
    return status;
}

/* ---- the whole figure ---- */

void mfpg_figure_clear(mfpg_figure *figure) {
    if (!figure) return;
    for (ptrdiff_t i = 0; figure->panels && i < figure->reading_count; i++) {
        free(figure->panels[i].sweep[0]);
        free(figure->panels[i].finding);
    }
    free(figure->panels);
    free(figure->corner);
    free(figure->beta);
    *figure = (mfpg_figure){0};
}

static mfpg_status build(mfpg_context *ctx, const mfpg_reading *const *readings,
    const mfpg_figure_options *options, mfpg_figure *made) {
    made->beta = reproduction_alloc(made->beta_count, sizeof *made->beta);
    made->panels = reproduction_alloc(made->reading_count, sizeof *made->panels);
    made->corner = reproduction_alloc(made->reading_count, sizeof *made->corner);
    if (!made->beta || !made->panels || !made->corner) return mfpg_fail_memory(ctx);
    double ratio = log(options->beta_high / options->beta_low) / (double)(made->beta_count - 1);
    for (ptrdiff_t i = 0; i < made->beta_count; i++)
        made->beta[i] = options->beta_low * exp(ratio * (double)i);
    made->beta[made->beta_count - 1] = options->beta_high;
    mfpg_status status = MFPG_OK;
    for (ptrdiff_t i = 0; i < made->reading_count && !status; i++) {
        status = study_reading(ctx, readings[i], i, options, made->beta, &made->panels[i]);
        if (status || readings[i]->interaction != 0.0) continue; /* there the answer depends on the mean */
        status = mfpg_study_corner(
            ctx, readings[i], options->settings, options->seed, &made->corner[made->corner_count]);
        if (!status) made->corner_count++;
    }
    return status;
}

mfpg_status mfpg_study_figure(mfpg_context *ctx, const mfpg_reading *readings, ptrdiff_t count,
    const mfpg_figure_options *options, mfpg_figure *out) {
    enum { MOST = 64 };
    const mfpg_reading *chosen[MOST];
    mfpg_figure_options usual = mfpg_figure_options_default();
    if (!options) options = &usual;
    if (!readings)
        for (count = 0; mfpg_reading_get(count);) count++;
    mfpg_status status = check_whole(ctx, "readings", count, 1, MOST);
    if (!status) status = check_options(ctx, options);
    for (ptrdiff_t i = 0; i < count && !status; i++) {
        chosen[i] = readings ? &readings[i] : mfpg_reading_get(i);
        status = check_reading(ctx, chosen[i]);
    }
    if (status) return status;
    mfpg_figure made = {
        .beta_count = options->beta_count, .reading_count = count, .statement_count = statement_count()};
    status = build(ctx, chosen, options, &made);
    if (status)
        mfpg_figure_clear(&made);
    else
        *out = made;
    return status;
}

/* ---- the corner ---- */

/* In equal ratios from low to high. */
static double ratio_between(double u, double low, double high) {
    return low * pow(high / low, u);
}

static int by_value(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Sets every constant of both forms, and a set of five strengths, from 16 uniform numbers. */
static void draw_setting(const double *u, mfpg_reading *reading, double *beta, double *action) {
    reading->loss = ratio_between(u[0], 1e-4, 1e2);
    reading->offset = ratio_between(u[1], 1e-4, 1.0);
    reading->privacy_scale = ratio_between(u[2], 1e-2, 1e2);
    reading->bound.dimension = ceil(ratio_between(u[3], 1.0, 1e4));
    reading->bound.clients = ceil(ratio_between(u[4], 1.0, 1e4));
    reading->bound.alpha = ratio_between(u[5], 0.1, 10.0);
    reading->bound.variance_penalty = u[6];
    reading->bound.gradient_norm = 2.0 * u[7];
    reading->bound.step = ratio_between(u[8], 1e-2, 1.0);
    reading->rounds = ceil(ratio_between(u[9], 1.0, 100.0));
    *beta = ratio_between(u[10], 1e-2, 1e2);
    for (int i = 0; i < MFPG_READING_ACTIONS; i++) action[i] = 0.01 + 4.99 * u[11 + i];
    qsort(action, MFPG_READING_ACTIONS, sizeof *action, by_value);
}

static int largest_is_best(const mfpg_reading *reading, double beta, const double *action) {
    enum { LAST = MFPG_READING_ACTIONS - 1 };
    double gradient = reading->bound.gradient_norm, mean = action[2];
    double at_largest = mfpg_reading_own_cost(reading, action[LAST], mean, beta, gradient);
    for (int i = 0; i < LAST; i++)
        if (!(mfpg_reading_own_cost(reading, action[i], mean, beta, gradient) > at_largest)) return 0;
    return 1;
}

mfpg_status mfpg_study_corner(
    mfpg_context *ctx, const mfpg_reading *reading, ptrdiff_t settings, uint64_t seed, mfpg_corner *out) {
    mfpg_status status = check_reading(ctx, reading);
    if (!status) status = check_whole(ctx, "settings", settings, 1, 10000000);
    if (status) return status;
    *out = (mfpg_corner){.reading = reading->name, .settings = settings};
    mfpg_key key = mfpg_key_from_seed(seed);
    for (ptrdiff_t i = 0; i < settings; i++) {
        double u[16], action[MFPG_READING_ACTIONS], beta;
        mfpg_reading drawn = *reading;
        mfpg_stream stream = mfpg_stream_open(&key, MFPG_PURPOSE_TEST, STREAM_SETTING, (uint64_t)i);
        mfpg_stream_uniform(&stream, 0, 16, u);
        draw_setting(u, &drawn, &beta, action);
        out->at_largest += largest_is_best(&drawn, beta, action);
    }
    return MFPG_OK;
}

static void write_panel(mfpg_table_file *file, const char *panel, const char *reading, const double *x,
    const double *value, const double *error, ptrdiff_t count) {
    for (ptrdiff_t i = 0; i < count; i++)
        mfpg_table_file_row(file, "ttnnn", panel, reading, x[i], value[i], error[i]);
}

mfpg_status mfpg_figure_write(
    mfpg_context *ctx, const mfpg_figure *figure, const char *folder, const char *name) {
    mfpg_table_file *file;
    mfpg_status status =
        mfpg_table_file_open(ctx, folder, name, "panel,reading,x,value,standard_error", &file);
    if (status != MFPG_OK) return status;
    for (ptrdiff_t i = 0; i < figure->reading_count; i++) {
        const mfpg_panels *p = &figure->panels[i];
        const char *reading = p->reading.name;
        for (int s = 0; s < MFPG_SWEEPS; s++)
            write_panel(file, mfpg_sweep_name[s], reading, figure->beta, p->sweep[s], p->sweep_error[s],
                figure->beta_count);
        write_panel(
            file, "histogram", reading, mfpg_reading_action, p->count, p->count_error, MFPG_READING_ACTIONS);
    }
    return mfpg_table_file_close(ctx, file);
}
