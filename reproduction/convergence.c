/* Results along a ladder of populations, and the slope of the power law that fits them. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "convergence.h"

enum { MOST_RUNGS = 64 };

mfpg_status mfpg_check_ladder(
    mfpg_context *ctx, const ptrdiff_t *population, ptrdiff_t rungs, ptrdiff_t repeats) {
    if (!population || rungs < 3 || rungs > MOST_RUNGS)
        return mfpg_fail(ctx, MFPG_ERR_INPUT, "populations: found %td of them; a slope needs from 3 to %d",
            rungs, MOST_RUNGS);
    for (ptrdiff_t i = 0; i < rungs; i++) {
        if (population[i] < 2 || population[i] > 1000000)
            return mfpg_fail(
                ctx, MFPG_ERR_DOMAIN, "populations: found %td; allowed: from 2 to 1000000", population[i]);
        if (i > 0 && population[i] <= population[i - 1])
            return mfpg_fail(ctx, MFPG_ERR_INPUT,
                "populations: %td does not come after %td; they must ascend", population[i],
                population[i - 1]);
    }
    if (repeats < 2 || repeats > 100000)
        return mfpg_fail(ctx, MFPG_ERR_DOMAIN, "repeats: found %td; allowed: from 2 to 100000", repeats);
    return MFPG_OK;
}

mfpg_status mfpg_convergence_create(mfpg_context *ctx, const ptrdiff_t *population, ptrdiff_t rungs,
    const mfpg_line_plan *plans, ptrdiff_t count, ptrdiff_t repeats, mfpg_convergence *out) {
    mfpg_convergence made = {.rungs = rungs, .limit = NAN, .limit_error = NAN};
    int whole = 1;
    made.population = reproduction_alloc(rungs, sizeof *made.population);
    made.line = reproduction_alloc(count, sizeof *made.line);
    if (made.line) made.line_count = count;
    for (ptrdiff_t i = 0; i < made.line_count; i++) {
        mfpg_convergence_line *line = &made.line[i];
        line->name = plans[i].name;
        line->says = plans[i].says;
        line->repeats = plans[i].random ? repeats : 0;
        line->slope = (mfpg_slope){.expected = plans[i].expected, .window = plans[i].window};
        line->value = reproduction_alloc(rungs, sizeof *line->value);
        line->standard_error = reproduction_alloc(rungs, sizeof *line->standard_error);
        whole = whole && line->value && line->standard_error;
    }
    if (!made.population || !made.line || !whole) {
        mfpg_convergence_clear(&made);
        return mfpg_fail_memory(ctx);
    }
    memcpy(made.population, population, (size_t)rungs * sizeof *population);
    for (ptrdiff_t i = 0; i < count; i++)
        for (ptrdiff_t r = 0; r < rungs; r++) made.line[i].value[r] = NAN;
    *out = made;
    return MFPG_OK;
}

void mfpg_convergence_clear(mfpg_convergence *convergence) {
    if (!convergence) return;
    for (ptrdiff_t i = 0; i < convergence->line_count; i++) {
        free(convergence->line[i].value);
        free(convergence->line[i].standard_error);
    }
    free(convergence->line);
    free(convergence->population);
    *convergence = (mfpg_convergence){0};
}

/* The error of the mean of squares, propagated through the root. */
void mfpg_root_mean_square(const double *x, ptrdiff_t count, double *value, double *standard_error) {
    double sum = 0.0, spread = 0.0, n = (double)count;
    for (ptrdiff_t i = 0; i < count; i++) sum += x[i] * x[i];
    double mean = sum / n;
    for (ptrdiff_t i = 0; i < count; i++) spread += (x[i] * x[i] - mean) * (x[i] * x[i] - mean);
    *value = sqrt(mean);
    *standard_error = mean > 0.0 ? sqrt(spread / (n - 1.0) / n) / (2.0 * *value) : 0.0;
}

void mfpg_fit_line(mfpg_convergence *of, ptrdiff_t number) {
    mfpg_convergence_line *line = &of->line[number];
    double usable[MOST_RUNGS];
    for (ptrdiff_t i = line->first; i < of->rungs; i++)
        usable[i - line->first] = line->value[i] >= line->floor ? line->value[i] : (double)NAN;
    line->slope = mfpg_slope_fit(of->population + line->first, usable, of->rungs - line->first,
        line->slope.expected, line->slope.window);
}

mfpg_status mfpg_convergence_write(mfpg_context *ctx, const mfpg_convergence *const *convergence,
    ptrdiff_t count, const char *folder, const char *name) {
    mfpg_table_file *file;
    mfpg_status status =
        mfpg_table_file_open(ctx, folder, name, "line,population,repeats,value,standard_error,fitted", &file);
    if (status != MFPG_OK) return status;
    for (ptrdiff_t i = 0; i < count; i++) {
        const mfpg_convergence *of = convergence[i];
        for (const mfpg_convergence_line *line = of->line; line < of->line + of->line_count; line++)
            for (ptrdiff_t r = 0; r < of->rungs; r++) {
                int fitted = r >= line->first && line->value[r] > 0.0 && line->value[r] >= line->floor;
                mfpg_table_file_row(file, "tiinni", line->name, (int64_t)of->population[r],
                    (int64_t)line->repeats, line->value[r], line->standard_error[r], (int64_t)fitted);
            }
    }
    return mfpg_table_file_close(ctx, file);
}

const char *mfpg_verdict_name(mfpg_verdict verdict) {
    static const char *const names[] = {"-", "holds", "fails", "undecided"};
    return names[verdict];
}

/* Compares the interval of two standard errors with what theory allows: inside, apart, or neither. A fit
 * whose error is not known decides nothing. */
static mfpg_verdict judge(const mfpg_slope *fit) {
    double low = fit->slope - 2.0 * fit->standard_error, high = fit->slope + 2.0 * fit->standard_error;
    double least = fit->expected - fit->window, most = fit->expected + fit->window;
    if (!(low <= high)) return MFPG_VERDICT_UNDECIDED;
    if (low >= least && high <= most) return MFPG_VERDICT_HOLDS;
    return high < least || low > most ? MFPG_VERDICT_FAILS : MFPG_VERDICT_UNDECIDED;
}

mfpg_slope mfpg_slope_fit(
    const ptrdiff_t *population, const double *value, ptrdiff_t count, double expected, double window) {
    mfpg_slope fit = {.slope = NAN, .standard_error = NAN, .expected = expected, .window = window};
    double x_sum = 0.0, y_sum = 0.0, xx = 0.0, xy = 0.0, yy = 0.0;
    for (ptrdiff_t i = 0; i < count; i++) {
        if (!(value[i] > 0.0) || isinf(value[i])) continue;
        fit.points++;
        x_sum += log((double)population[i]);
        y_sum += log(value[i]);
    }
    double points = (double)fit.points, x_mean = x_sum / points, y_mean = y_sum / points;
    for (ptrdiff_t i = 0; i < count; i++) {
        if (!(value[i] > 0.0) || isinf(value[i])) continue;
        double x = log((double)population[i]) - x_mean, y = log(value[i]) - y_mean;
        xx += x * x;
        xy += x * y;
        yy += y * y;
    }
    if (fit.points >= 3 && xx > 0.0) {
        fit.slope = xy / xx;
        double rest = fmax(0.0, yy - fit.slope * xy); /* sum of squares that the line leaves */
        fit.standard_error = sqrt(rest / (points - 2.0) / xx);
    }
    fit.verdict = judge(&fit);
    return fit;
}
