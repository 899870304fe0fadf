/* Which of some candidates was the client's? One of them, drawn by lot, stands in a batch whose other examples are known; the
 * attacker guesses the one whose clipped gradient is nearest to what it sees, which is the likeliest under Gaussian noise.
 *
 * Of M candidates no attacker is right more often than Phi(Phi^-1(1/M) + mu), mu that of zero-out: against the run without the
 * candidate every guess is a test of level 1/M on average, and the trade-off curve is convex (cf. Hayes, Mahloujifar and Balle 2023). */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "inversion.h"
#include "mfpg/audit_bounds.h"
#include "numerics/linalg/linalg.h"
#include "numerics/special/binomial.h"

typedef struct identification {
    const mfpg_inversion_subject *subject;
    const mfpg_inversion_step *step; /* at hand */
    int level;
    mfpg_inversion_release release;
    ptrdiff_t candidates, parameters, batch, work_size;
    float *clean;  /* candidates x parameters: the gradient of the batch with each, without noise */
    double *half;  /* candidates: half its square */
    float *x, *y;  /* batch x features and batch of every worker */
    float *seen;   /* parameters of every worker */
    float *work;   /* work_size of every worker */
    int32_t *rank; /* trials: of the truth, 1 the best */
} identification;

/* The worker's batch: the known examples and candidate c in the first place. */
static mfpg_dataset batch_with(const identification *d, ptrdiff_t c, int worker) {
    const mfpg_inversion_subject *s = d->subject;
    ptrdiff_t features = s->features;
    const mfpg_dataset batch = {.rows = d->batch,
        .features = features,
        .x = d->x + worker * d->batch * features,
        .y = d->y + worker * d->batch};
    memcpy(batch.x, s->candidates.x + c * features, (size_t)features * sizeof(float));
    batch.y[0] = s->candidates.y[c];
    return batch;
}

static mfpg_status prepare(mfpg_context *ctx, ptrdiff_t c, int worker, void *arg) {
    identification *d = arg;
    const mfpg_dataset batch = batch_with(d, c, worker);
    float *gradient = d->clean + c * d->parameters;
    mfpg_inversion_gradient(d->subject, d->step, &batch, gradient, d->work + worker * d->work_size);
    d->half[c] = 0.5 * mfpg_vector_dot(d->parameters, gradient, gradient);
    if (isfinite(d->half[c])) return MFPG_OK;
    return mfpg_fail(ctx, MFPG_ERR_NUMERIC, "inversion: the gradient of an example is not finite");
}

/* Candidates that look better than the truth count before it; equal ones share it, those of smaller number before. */
static mfpg_status guess(mfpg_context *ctx, ptrdiff_t trial, int worker, void *arg) {
    identification *d = arg;
    const mfpg_inversion_subject *s = d->subject;
    mfpg_stream lots = mfpg_inversion_stream(s, MFPG_INVERSION_TRUTH, d->level, 0);
    mfpg_stream noise = mfpg_inversion_stream(s, MFPG_INVERSION_GUESS, d->level, (uint64_t)trial);
    ptrdiff_t truth = (ptrdiff_t)mfpg_stream_below(&lots, (uint64_t)trial, (uint64_t)d->candidates),
              n = d->parameters;
    float *seen = d->seen + worker * n;
    const mfpg_dataset batch = batch_with(d, truth, worker);
    mfpg_status status = d->release(ctx, s, d->step, &batch, &noise, seen, d->work + worker * d->work_size);
    if (status != MFPG_OK) return status;
    double of_truth = mfpg_vector_dot(n, seen, d->clean + truth * n) - d->half[truth];
    int32_t rank = 1;
    for (ptrdiff_t c = 0; c < d->candidates; c++) {
        if (c == truth) continue;
        double score = mfpg_vector_dot(n, seen, d->clean + c * n) - d->half[c];
        rank += c < truth ? score >= of_truth : score > of_truth;
    }
    d->rank[trial] = rank;
    return MFPG_OK;
}

static int by_size(const void *a, const void *b) {
    const int32_t *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

static void judge(identification *d, double alpha, mfpg_inversion_level *level) {
    int64_t trials = d->subject->options->trials;
    level->correct = 0;
    for (int64_t i = 0; i < trials; i++) level->correct += d->rank[i] == 1;
    qsort(d->rank, (size_t)trials, sizeof *d->rank, by_size);
    level->median_rank = 0.5 * ((double)d->rank[(trials - 1) / 2] + (double)d->rank[trials / 2]);
    level->rate = (double)level->correct / (double)trials;
    level->lower = mfpg_proportion_lower(level->correct, trials, alpha);
    level->cap = mfpg_audit_identification_cap(d->step->mu, d->candidates);
    level->stands = level->lower <= level->cap;
}

static mfpg_status allocate(mfpg_context *ctx, identification *d, int workers) {
    const mfpg_inversion_subject *s = d->subject;
    if (d->candidates > PTRDIFF_MAX / (ptrdiff_t)sizeof(float) / d->parameters) return mfpg_fail_memory(ctx);
    d->clean = mfpg_alloc_floats(d->candidates * d->parameters);
    d->half = mfpg_alloc(d->candidates, sizeof *d->half);
    d->x = mfpg_alloc_floats(workers * d->batch * s->features);
    d->y = mfpg_alloc_floats(workers * d->batch);
    d->seen = mfpg_alloc_floats(workers * d->parameters);
    d->work = mfpg_alloc_floats(workers * d->work_size);
    d->rank = mfpg_alloc((ptrdiff_t)s->options->trials, sizeof *d->rank);
    if (!d->clean || !d->half || !d->x || !d->y || !d->seen || !d->work || !d->rank)
        return mfpg_fail_memory(ctx);
    for (int i = 0; i < workers; i++) {
        memcpy(d->x + i * d->batch * s->features, s->victims.x,
            (size_t)(d->batch * s->features) * sizeof(float));
        memcpy(d->y + i * d->batch, s->victims.y, (size_t)d->batch * sizeof(float));
    }
    return MFPG_OK;
}

mfpg_status mfpg_inversion_identify(mfpg_context *ctx, const mfpg_inversion_subject *subject,
    const mfpg_inversion_step *step, int count, mfpg_inversion_release release, mfpg_inversion_clock *clock,
    mfpg_inversion_level *level) {
    const mfpg_inversion_options *o = subject->options;
    identification d = {.subject = subject,
        .step = step,
        .release = release,
        .candidates = subject->candidates.rows,
        .parameters = subject->parameters,
        .batch = o->batch,
        .work_size = mfpg_inversion_workspace(subject, step, count)};
    mfpg_status status = allocate(ctx, &d, mfpg_context_threads(ctx));
    if (status == MFPG_OK) status = mfpg_tasks_run(ctx, d.candidates, prepare, &d);
    for (d.level = 0; d.level < count && status == MFPG_OK; d.level++) {
        d.step = &step[d.level];
        status = mfpg_inversion_tasks(ctx, o, clock, (ptrdiff_t)o->trials, guess, &d);
        if (status == MFPG_OK) judge(&d, (1.0 - o->confidence) / count, &level[d.level]);
    }
    free(d.clean);
    free(d.half);
    free(d.x);
    free(d.y);
    free(d.seen);
    free(d.work);
    free(d.rank);
    return status;
}
