/* Results along a ladder of populations. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "study.h"

enum { MOST_RUNGS = 64 };

mfpg_status mfpg_check_ladder(
    mfpg_context *ctx, const ptrdiff_t *population, ptrdiff_t rungs, ptrdiff_t least, ptrdiff_t most) {
    if (!population || rungs < 3 || rungs > MOST_RUNGS)
        return mfpg_fail(ctx, MFPG_ERR_INPUT, "populations: found %td of them; a slope needs from 3 to %d",
            rungs, MOST_RUNGS);
    for (ptrdiff_t i = 0; i < rungs; i++) {
        if (population[i] < least || population[i] > most)
            return mfpg_fail(ctx, MFPG_ERR_DOMAIN, "populations: found %td; allowed: from %td to %td",
                population[i], least, most);
        if (i > 0 && population[i] <= population[i - 1])
            return mfpg_fail(ctx, MFPG_ERR_INPUT,
                "populations: %td does not come after %td; they must ascend", population[i],
                population[i - 1]);
    }
    return MFPG_OK;
}

mfpg_status mfpg_convergence_create(mfpg_context *ctx, const ptrdiff_t *population, ptrdiff_t rungs,
    const mfpg_line_plan *plans, ptrdiff_t count, ptrdiff_t repeats, mfpg_convergence *out) {
    mfpg_convergence made = {.rungs = rungs, .limit = NAN, .limit_error = NAN};
    int whole = 1;
    made.population = mfpg_alloc(rungs, sizeof *made.population);
    made.line = mfpg_alloc(count, sizeof *made.line);
    if (made.line) made.line_count = count;
    for (ptrdiff_t i = 0; i < made.line_count; i++) {
        mfpg_convergence_line *line = &made.line[i];
        line->name = plans[i].name;
        line->says = plans[i].says;
        line->repeats = plans[i].random ? repeats : 0;
        line->slope = (mfpg_slope){.expected = plans[i].expected, .window = plans[i].window};
        line->value = mfpg_alloc(rungs, sizeof *line->value);
        line->standard_error = mfpg_alloc(rungs, sizeof *line->standard_error);
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

/* The error of the mean of squares, carried through the root. */
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
