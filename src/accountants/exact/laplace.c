#include "loss.h"

#include <float.h>
#include <math.h>

#define WORK 3e8 /* for one answer (loss.h) */

enum { MOST_DOUBLINGS = 64 };

/* The question: epsilon at delta, or delta at epsilon. The field that is not given holds an estimate. */
typedef struct question {
    const loss_sum *sum;
    int for_delta;
    double epsilon, delta, width;
    double work; /* that may still be done */
} question;

/* Returns the point at which the sum itself equals delta; the two ends are searched from there. */
static double root_of(const laplace_curve *of, double delta, double guess) {
    double low = 0.0, high = (double)INFINITY, at = fmax(guess, 0.0);
    for (int i = 0; i < 80; i++) {
        laplace_value here = laplace_curve_at(of, at);
        if (here.delta > delta)
            low = at;
        else
            high = at;
        double step = here.slope > 0.0 && here.delta > 0.0 ? here.delta / here.slope * log(here.delta / delta)
                                                           : (double)NAN;
        double next = at + step;
        if (fabs(step) <= 1e-15 * at || fabs(step) < 1e-300) return at;
        if (!(next > low && next < high)) next = isinf(high) ? 2.0 * at + 1e-9 : 0.5 * (low + high);
        if (next == at) return at;
        at = next;
    }
    return at;
}

/* Returns verified ends: at one the upper bound of the curve is at most delta, at the other the lower bound
 * is at least delta. Because the curve is decreasing, this proves both. */
static mfpg_bounds ends_around(const laplace_curve *of, double delta, double root) {
    laplace_value at = laplace_curve_at(of, root);
    mfpg_bounds out = {0.0, (double)INFINITY};
    if (laplace_curve_at(of, 0.0).upper <= delta) return (mfpg_bounds){0.0, 0.0};
    /* If terms have cancelled, the slope is only noise and can have either sign. */
    double slope = fabs(at.slope), up = 1.01 * fabs(at.upper - delta) / slope + 2e-16 * root,
           down = 1.01 * fabs(delta - at.lower) / slope + 2e-16 * root;
    for (int i = 0; i < MOST_DOUBLINGS && up < 16.0 * (1.0 + root) && isinf(out.upper); i++, up *= 2.0)
        if (laplace_curve_at(of, root + up).upper <= delta) out.upper = root + up;
    for (int i = 0; i < MOST_DOUBLINGS && down < root && out.lower == 0.0; i++, down *= 2.0)
        if (laplace_curve_at(of, root - down).lower >= delta) out.lower = root - down;
    return out;
}

static mfpg_bounds answer_from(const laplace_curve *of, const question *asked) {
    if (!asked->for_delta) return ends_around(of, asked->delta, root_of(of, asked->delta, asked->epsilon));
    laplace_value at = laplace_curve_at(of, asked->epsilon);
    return (mfpg_bounds){at.lower, fmin(1.0, at.upper)};
}

/* Returns the distance of the ends as a multiple of the requested width. */
static double gap_of(const question *asked, mfpg_bounds bounds) {
    double unit = asked->for_delta ? bounds.upper : fmax(1.0, bounds.upper);
    return (bounds.upper - bounds.lower) / unit / asked->width;
}

/* Returns the fictitious noise that widens the answer by a third of what is allowed. It moves delta by tau^2
 * p, where p is about (1 + c) times the slope, and the slope is about c delta. */
static double first_tau2(const question *asked, double c) {
    double width = asked->for_delta ? asked->width / fmax(c, 1.0) : asked->width * fmax(1.0, asked->epsilon);
    return 0.3 * width / (1.0 + c);
}

/* For two steps the terms fall like a power of y, and no bound here can limit the end of the sum. */
static int is_short(const loss_sum *sum) {
    int64_t steps = 0;
    for (int b = 0; b < sum->kinds && steps <= 2; b++)
        steps += sum->kind[b].count < 3 ? sum->kind[b].count : 3;
    return steps <= 2 && sum->gauss == 0.0;
}

/* Evaluates one line, first as it is and then with less and less fictitious noise (with more if that does
 * not fit), and improves best. */
static void answer_on(question *asked, const loss_line *line, mfpg_bounds *best) {
    laplace_curve curve;
    double tau2 = 0.0, log_delta = log(asked->delta);
    int first = is_short(asked->sum);
    if (first) tau2 = first_tau2(asked, line->c);
    for (int i = first; i < 4 && asked->work > 0.0 && gap_of(asked, *best) > 1.0; i++) {
        double share = (i == 0 ? 0.03 : 0.5) * asked->work, left = share;
        int done = laplace_curve_build(asked->sum, line, tau2, asked->epsilon, log_delta, &left, &curve);
        if (done) {
            mfpg_bounds found = answer_from(&curve, asked);
            *best = (mfpg_bounds){fmax(best->lower, found.lower), fmin(best->upper, found.upper)};
        }
        laplace_curve_clear(&curve);
        asked->work -= share - left;
        if (done && i == 0) return;
        double gap = gap_of(asked, *best);
        if (i == 0)
            tau2 = first_tau2(asked, line->c);
        else
            tau2 *= done ? fmin(0.5, 0.6 / gap) : 64.0;
    }
}

/* Returns what each of the small errors may be, as a share of delta: a few hundredths of the allowed error
 * of the answer. */
static double accuracy_for(const question *asked, double c) {
    double share = asked->for_delta ? asked->width : asked->width * fmax(1.0, asked->epsilon) * c;
    return fmin(1e-3, fmax(1e-13, 0.02 * share));
}

static mfpg_bounds enclose(question asked, double c, mfpg_bounds best) {
    for (int i = 0; i < 3 && asked.work > 0.0 && gap_of(&asked, best) > 1.0; i++) {
        loss_line line =
            loss_line_for(asked.sum, c, asked.epsilon, log(asked.delta), accuracy_for(&asked, c));
        mfpg_bounds before = best;
        if (!(line.h > 0.0)) break;
        answer_on(&asked, &line, &best);
        if (best.lower == before.lower && best.upper == before.upper) break;
        /* The line was chosen for an estimate, so it is chosen once more for the result. */
        if (asked.for_delta)
            asked.delta = fmax(best.lower, 1e-3 * best.upper);
        else
            asked.epsilon =
                best.lower > 0.0 ? fmin(0.5 * (best.lower + best.upper), 2.0 * best.lower) : best.upper;
    }
    return best;
}

mfpg_bounds laplace_epsilon(const loss_sum *sum, double delta, double width) {
    mfpg_bounds best = {0.0, loss_sum_most(sum)};
    loss_saddle at = loss_saddle_for(sum, 0, log(delta));
    if (!(at.c > 0.0)) return best;
    best.upper = fmin(best.upper, at.chernoff);
    /* If moments are extremely large, the estimate can be far off. */
    const question asked = {.sum = sum,
        .epsilon = fmin(fmax(0.0, at.epsilon), best.upper),
        .delta = delta,
        .width = width,
        .work = WORK};
    if (at.epsilon < 0.0) at = loss_saddle_for(sum, 1, 0.0);
    return at.c > 0.0 ? enclose(asked, at.c, best) : best;
}

mfpg_bounds laplace_delta(const loss_sum *sum, double epsilon, double width) {
    mfpg_bounds best = {0.0, 1.0};
    if (epsilon >= loss_sum_most(sum)) return (mfpg_bounds){0.0, 0.0};
    loss_saddle at = loss_saddle_for(sum, 1, epsilon);
    if (!(at.c > 0.0)) return best;
    best.upper = fmin(1.0, exp(at.chernoff) * (1.0 + 1e-12) + DBL_TRUE_MIN);
    double guess = exp(fmin(at.log_delta, at.chernoff));
    if (!(guess > 0.0)) return best;
    return enclose((question){sum, 1, epsilon, guess, width, WORK}, at.c, best);
}

double laplace_chernoff(const loss_sum *sum, double delta) {
    loss_saddle at = loss_saddle_for(sum, 0, log(delta));
    double most = loss_sum_most(sum);
    return at.c > 0.0 ? fmin(most, at.chernoff) : most;
}
