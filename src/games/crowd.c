/* Passes over the clients of a fixed point: who stands on which side of which step. */
#include <math.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/wide.h"
#include "fixed_point.h"

enum { AT_ONCE = 64 }; /* steps whose counts a chunk keeps on the stack at a time */

static int stands_below(const mfpg_crowd *crowd, ptrdiff_t step, double ratio, double s) {
    if (isinf(crowd->product[step])) return 1;
    double at = mfpg_passing_at(crowd, step, ratio);
    return crowd->slope > 0.0 ? at <= s : at > s;
}

static double of_bits(uint64_t bits) {
    double x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

/* Rounding is monotone, so the side changes once as R rises; the doubles from 0 up are ordered like their bits. */
double mfpg_crowd_limit(const mfpg_crowd *crowd, ptrdiff_t step, double s) {
    uint64_t low = 0, high = UINT64_C(0x7ff0000000000000); /* infinity */
    if (stands_below(crowd, step, of_bits(high - 1), s)) return INFINITY;
    high -= 1;
    while (high - low > 1) {
        uint64_t middle = low + (high - low) / 2;
        if (stands_below(crowd, step, of_bits(middle), s))
            low = middle;
        else
            high = middle;
    }
    return of_bits(low);
}

MFPG_WIDE static ptrdiff_t count_at_most(const double *x, ptrdiff_t count, double limit) {
    int64_t found = 0;
    for (ptrdiff_t i = 0; i < count; i++) found += x[i] <= limit;
    return (ptrdiff_t)found;
}

/* Sum of sqrt x over low < x <= high, in four lanes. */
MFPG_WIDE static double sum_roots(const double *x, ptrdiff_t count, double low, double high) {
    double root[MFPG_BLOCK], lane[4] = {0};
    for (ptrdiff_t i = 0; i < count; i++) {
        double r = sqrt(x[i]);
        int inside = (x[i] > low) & (x[i] <= high);
        root[i] = inside ? r : 0.0;
    }
    for (ptrdiff_t i = count; i % 4; i++) root[i] = 0.0;
    for (ptrdiff_t i = 0; i < count; i += 4)
        for (int j = 0; j < 4; j++) lane[j] += root[i + j];
    return (lane[0] + lane[1]) + (lane[2] + lane[3]);
}

typedef struct stand_job {
    const mfpg_crowd *crowd;
    double limit[AT_ONCE];
    ptrdiff_t steps;         /* of these */
    int roots;               /* wanted */
    atomic_ptrdiff_t *below; /* steps; sums of whole numbers, in any order the same */
} stand_job;

static double stand_chunk(const void *arg, ptrdiff_t first, ptrdiff_t count) {
    const stand_job *job = arg;
    ptrdiff_t below[AT_ONCE] = {0};
    double ratio[MFPG_BLOCK], roots = 0.0;
    for (ptrdiff_t i = 0; i < count; i += MFPG_BLOCK) {
        ptrdiff_t n = count - i < MFPG_BLOCK ? count - i : MFPG_BLOCK;
        job->crowd->ratios(job->crowd->play, first + i, n, ratio);
        for (ptrdiff_t j = 0; j < job->steps; j++) below[j] += count_at_most(ratio, n, job->limit[j]);
        if (job->roots) roots += sum_roots(ratio, n, job->limit[0], job->limit[1]);
    }
    for (ptrdiff_t j = 0; j < job->steps; j++) atomic_fetch_add(&job->below[j], below[j]);
    return roots;
}

void mfpg_crowd_stand(const mfpg_crowd *crowd, double s, mfpg_standing *out) {
    int roots = !crowd->play->game->actions.grid;
    out->roots = 0.0;
    for (ptrdiff_t first = 0; first < crowd->steps; first += AT_ONCE) {
        atomic_ptrdiff_t below[AT_ONCE] = {0};
        stand_job job = {.crowd = crowd, .roots = roots, .below = below};
        job.steps = crowd->steps - first < AT_ONCE ? crowd->steps - first : AT_ONCE;
        for (ptrdiff_t j = 0; j < job.steps; j++) job.limit[j] = mfpg_crowd_limit(crowd, first + j, s);
        double sum = mfpg_chunks_sum(&crowd->play->chunks, stand_chunk, &job);
        if (roots) out->roots = sum;
        for (ptrdiff_t j = 0; j < job.steps; j++) out->below[first + j] = atomic_load(&below[j]);
    }
}

typedef struct list_job {
    const mfpg_crowd *crowd;
    ptrdiff_t step;
    double low, high; /* ratios that pass: above low, at most high */
    mfpg_passing *out;
    atomic_ptrdiff_t next;
} list_job;

static void list_chunk(void *arg, ptrdiff_t index, ptrdiff_t first, ptrdiff_t count) {
    list_job *job = arg;
    double ratio[MFPG_BLOCK];
    (void)index;
    for (ptrdiff_t i = 0; i < count; i += MFPG_BLOCK) {
        ptrdiff_t n = count - i < MFPG_BLOCK ? count - i : MFPG_BLOCK;
        job->crowd->ratios(job->crowd->play, first + i, n, ratio);
        if (count_at_most(ratio, n, job->low) == count_at_most(ratio, n, job->high)) continue;
        for (ptrdiff_t j = 0; j < n; j++) {
            if (!(ratio[j] > job->low && ratio[j] <= job->high)) continue;
            job->out[atomic_fetch_add(&job->next, 1)] =
                (mfpg_passing){mfpg_passing_at(job->crowd, job->step, ratio[j]), sqrt(ratio[j]), job->step};
        }
    }
}

/* By position; equal positions by step and root, so that the order in which threads found them is forgotten. */
static int by_position(const void *a, const void *b) {
    const mfpg_passing *x = a, *y = b;
    if (x->at != y->at) return x->at > y->at ? 1 : -1;
    if (x->step != y->step) return x->step > y->step ? 1 : -1;
    return (x->root > y->root) - (x->root < y->root);
}

void mfpg_crowd_list(const mfpg_crowd *crowd, double low, double high, ptrdiff_t count, mfpg_passing *out) {
    list_job job = {.crowd = crowd, .out = out};
    for (job.step = 0; job.step < crowd->steps; job.step++) {
        double a = mfpg_crowd_limit(crowd, job.step, low), b = mfpg_crowd_limit(crowd, job.step, high);
        job.low = fmin(a, b);
        job.high = fmax(a, b);
        if (a != b) mfpg_chunks_run(crowd->play->chunks.ctx, crowd->play->game->clients, list_chunk, &job);
    }
    qsort(out, (size_t)count, sizeof *out, by_position);
}
