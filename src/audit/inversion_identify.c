/* Identification: one of some candidates, drawn at random, is in a batch whose other examples are known. The
 * attacker guesses the candidate whose clipped gradient is nearest to what it sees, which is the most likely
 * one under Gaussian noise.
 *
 * With M candidates no attacker is correct more often than Phi(Phi^-1(1/M) + mu), where mu is that of
 * zero-out. The reason: against the run without the candidate, every guess is a test of level 1/M on
 * average, and the trade-off curve is convex (cf. Hayes, Mahloujifar and Balle 2023). */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/streams.h"
#include "inversion.h"
#include "audit_bounds.h"
#include "numerics/linalg/linalg.h"
#include "numerics/special/laws.h"

enum { TOGETHER = 8 }; /* trials */

typedef struct identification {
    const mfpg_inversion_subject *subject;
    const mfpg_inversion_step *step; /* of the level */
    int level;
    mfpg_inversion_release release;
    ptrdiff_t candidates, parameters, batch, work_size;
    float *clean;  /* candidates x parameters: the gradient of the batch with each candidate, without noise */
    double *half;  /* candidates: half its square */
    float *x, *y;  /* batch x features numbers, and batch labels, for every worker */
    float *seen;   /* TOGETHER x parameters of every worker */
    double *score; /* TOGETHER x candidates of every worker */
    float *work;   /* work_size of every worker */
    int32_t *rank; /* one per trial: the rank of the true candidate, 1 is best */
    mfpg_pool memory;
} identification;

/* Returns the worker's batch: candidate c in the first place and then the known examples. */
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

static ptrdiff_t truth_of(const identification *d, ptrdiff_t trial) {
    mfpg_stream lots = mfpg_inversion_stream(d->subject, MFPG_INVERSION_TRUTH, d->level, 0);
    return (ptrdiff_t)mfpg_stream_below(&lots, (uint64_t)trial, (uint64_t)d->candidates);
}

/* Candidates that score better than the true one are ranked before it; among equal scores, those of smaller
 * number are. */
static int32_t rank_of(const identification *d, ptrdiff_t truth, const double *score) {
    int32_t rank = 1;
    for (ptrdiff_t c = 0; c < d->candidates; c++)
        rank += c < truth ? score[c] >= score[truth] : c > truth && score[c] > score[truth];
    return rank;
}

/* Makes trial number index x TOGETHER and the following ones: all of them score a candidate while it is in
 * the cache. */
static mfpg_status guess(mfpg_context *ctx, ptrdiff_t index, int worker, void *arg) {
    identification *d = arg;
    ptrdiff_t n = d->parameters, first = index * TOGETHER,
              left = (ptrdiff_t)d->subject->options->trials - first;
    ptrdiff_t count = left < TOGETHER ? left : TOGETHER;
    float *seen = d->seen + worker * TOGETHER * n;
    double *score = d->score + worker * TOGETHER * d->candidates;
    for (ptrdiff_t t = 0; t < count; t++) {
        mfpg_stream noise =
            mfpg_inversion_stream(d->subject, MFPG_INVERSION_GUESS, d->level, (uint64_t)(first + t));
        const mfpg_dataset batch = batch_with(d, truth_of(d, first + t), worker);
        mfpg_status status = d->release(
            ctx, d->subject, d->step, &batch, &noise, seen + t * n, d->work + worker * d->work_size);
        if (status != MFPG_OK) return status;
    }
    for (ptrdiff_t c = 0; c < d->candidates; c++)
        for (ptrdiff_t t = 0; t < count; t++)
            score[t * d->candidates + c] = mfpg_vector_dot(n, seen + t * n, d->clean + c * n) - d->half[c];
    for (ptrdiff_t t = 0; t < count; t++)
        d->rank[first + t] = rank_of(d, truth_of(d, first + t), score + t * d->candidates);
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
    level->cap = mfpg_identification_cap(d->step->mu, d->candidates);
    level->stands = level->lower <= level->cap;
}

static mfpg_status allocate(mfpg_context *ctx, identification *d, int workers) {
    const mfpg_inversion_subject *s = d->subject;
    if (d->candidates > PTRDIFF_MAX / (ptrdiff_t)sizeof(float) / d->parameters) return mfpg_fail_memory(ctx);
    d->clean = mfpg_pool_own(&d->memory, mfpg_alloc_floats(d->candidates * d->parameters));
    d->half = mfpg_pool_alloc(&d->memory, d->candidates, sizeof *d->half);
    d->x = mfpg_pool_own(&d->memory, mfpg_alloc_floats(workers * d->batch * s->features));
    d->y = mfpg_pool_own(&d->memory, mfpg_alloc_floats(workers * d->batch));
    d->seen = mfpg_pool_own(&d->memory, mfpg_alloc_floats(workers * TOGETHER * d->parameters));
    d->score = mfpg_pool_alloc(&d->memory, workers * TOGETHER * d->candidates, sizeof *d->score);
    d->work = mfpg_pool_own(&d->memory, mfpg_alloc_floats(workers * d->work_size));
    d->rank = mfpg_pool_alloc(&d->memory, (ptrdiff_t)s->options->trials, sizeof *d->rank);
    if (d->memory.failed) return mfpg_fail_memory(ctx);
    for (int i = 0; i < workers; i++) {
        memcpy(d->x + i * d->batch * s->features, s->victims.x,
            (size_t)(d->batch * s->features) * sizeof(float));
        memcpy(d->y + i * d->batch, s->victims.y, (size_t)d->batch * sizeof(float));
    }
    return MFPG_OK;
}

ptrdiff_t mfpg_inversion_guesses(const mfpg_inversion_options *options) {
    return (ptrdiff_t)(options->trials + TOGETHER - 1) / TOGETHER;
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
        status = mfpg_inversion_tasks(ctx, o, clock, mfpg_inversion_guesses(o), guess, &d);
        if (status == MFPG_OK) judge(&d, (1.0 - o->confidence) / count, &level[d.level]);
    }
    mfpg_pool_clear(&d.memory);
    return status;
}
