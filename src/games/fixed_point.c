/* Fixed points of the averaged best response: counts of clients by step, and the search by bisection. */
#include <math.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/wide.h"
#include "fixed_point.h"

/* ---- passes over the clients: counts on either side of each step ---- */

enum { AT_ONCE = 64 }; /* number of steps whose counts a chunk keeps on the stack at a time */

static int is_below(const mfpg_steps *steps, ptrdiff_t step, double ratio, double s) {
    if (isinf(steps->product[step])) return 1;
    double at = mfpg_passage_at(steps, step, ratio);
    return steps->slope > 0.0 ? at <= s : at > s;
}

static double of_bits(uint64_t bits) {
    double x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

/* Rounding is monotone, so the side changes only once as R rises; the doubles from 0 up are ordered like
 * their bits. */
double mfpg_step_limit(const mfpg_steps *steps, ptrdiff_t step, double s) {
    uint64_t low = 0, high = UINT64_C(0x7ff0000000000000); /* infinity */
    if (is_below(steps, step, of_bits(high - 1), s)) return INFINITY;
    high -= 1;
    while (high - low > 1) {
        uint64_t middle = low + (high - low) / 2;
        if (is_below(steps, step, of_bits(middle), s))
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

/* Returns the sum of sqrt x over low < x <= high, in four lanes. */
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

typedef struct count_job {
    const mfpg_steps *steps;
    double limit[AT_ONCE];
    ptrdiff_t count;         /* of these */
    int roots;               /* wanted */
    atomic_ptrdiff_t *below; /* one per step; sums of integers, which are the same in any order */
} count_job;

static double count_chunk(const void *arg, ptrdiff_t first, ptrdiff_t count) {
    const count_job *job = arg;
    ptrdiff_t below[AT_ONCE] = {0};
    double ratio[MFPG_BLOCK], roots = 0.0;
    for (ptrdiff_t i = 0; i < count; i += MFPG_BLOCK) {
        ptrdiff_t n = count - i < MFPG_BLOCK ? count - i : MFPG_BLOCK;
        job->steps->ratios(job->steps->play, first + i, n, ratio);
        for (ptrdiff_t j = 0; j < job->count; j++) below[j] += count_at_most(ratio, n, job->limit[j]);
        if (job->roots) roots += sum_roots(ratio, n, job->limit[0], job->limit[1]);
    }
    for (ptrdiff_t j = 0; j < job->count; j++) atomic_fetch_add(&job->below[j], below[j]);
    return roots;
}

void mfpg_steps_count(const mfpg_steps *steps, double s, mfpg_step_counts *out) {
    int roots = !steps->play->game->actions.grid;
    out->roots = 0.0;
    for (ptrdiff_t first = 0; first < steps->count; first += AT_ONCE) {
        atomic_ptrdiff_t below[AT_ONCE] = {0};
        count_job job = {.steps = steps, .roots = roots, .below = below};
        job.count = steps->count - first < AT_ONCE ? steps->count - first : AT_ONCE;
        for (ptrdiff_t j = 0; j < job.count; j++) job.limit[j] = mfpg_step_limit(steps, first + j, s);
        double sum = mfpg_chunks_sum(&steps->play->chunks, count_chunk, &job);
        if (roots) out->roots = sum;
        for (ptrdiff_t j = 0; j < job.count; j++) out->below[first + j] = atomic_load(&below[j]);
    }
}

typedef struct list_job {
    const mfpg_steps *steps;
    ptrdiff_t step;
    double low, high; /* ratios in the range: above low, at most high */
    mfpg_passage *out;
    atomic_ptrdiff_t next;
} list_job;

static void list_block(void *arg, ptrdiff_t chunk, ptrdiff_t first, ptrdiff_t count) {
    list_job *job = arg;
    double ratio[MFPG_BLOCK];
    (void)chunk;
    job->steps->ratios(job->steps->play, first, count, ratio);
    if (count_at_most(ratio, count, job->low) == count_at_most(ratio, count, job->high)) return;
    for (ptrdiff_t i = 0; i < count; i++)
        if (ratio[i] > job->low && ratio[i] <= job->high)
            job->out[atomic_fetch_add(&job->next, 1)] =
                (mfpg_passage){mfpg_passage_at(job->steps, job->step, ratio[i]), sqrt(ratio[i]), job->step};
}

/* Orders by position, and equal positions by step and root, so that the order in which threads found them
 * does not matter. */
static int by_position(const void *a, const void *b) {
    const mfpg_passage *x = a, *y = b;
    if (x->at != y->at) return x->at > y->at ? 1 : -1;
    if (x->step != y->step) return x->step > y->step ? 1 : -1;
    return (x->root > y->root) - (x->root < y->root);
}

static void list_passages(
    const mfpg_steps *steps, double low, double high, ptrdiff_t count, mfpg_passage *out) {
    list_job job = {.steps = steps, .out = out};
    for (job.step = 0; job.step < steps->count; job.step++) {
        double a = mfpg_step_limit(steps, job.step, low), b = mfpg_step_limit(steps, job.step, high);
        job.low = fmin(a, b);
        job.high = fmax(a, b);
        if (a != b) mfpg_blocks_run(&steps->play->chunks, list_block, &job);
    }
    qsort(out, (size_t)count, sizeof *out, by_position);
}

/* ---- the search ---- */

/* most passages that are sorted at once; bisections of a range of doubles */
enum { LISTED = 65536, DEPTH = 66 };

/* The brackets that remain are consecutive; each except the last was split off the one above it. */
typedef struct search {
    const mfpg_steps *steps;
    mfpg_landings *landings;
    /* [0]: at the lower end of the first bracket; [1]: scratch; then a stack of upper ends */
    mfpg_step_counts at[DEPTH + 2];
    double end[DEPTH + 2];
    int top; /* index in the stack of the upper end of the first bracket */
    int passes;
    ptrdiff_t *counts; /* what at[] points into */
    mfpg_passage *passage;
} search;

/* Returns the number of passages, or the number that is sorted at once if that is smaller. */
static ptrdiff_t listed(const mfpg_steps *steps) {
    ptrdiff_t clients = steps->play->game->clients;
    if (steps->count == 0) return 0;
    return clients > LISTED / steps->count ? LISTED : clients * steps->count;
}

static void count_at(search *s, int slot, double where) {
    s->end[slot] = where;
    mfpg_steps_count(s->steps, where, &s->at[slot]);
    s->passes++;
}

static void copy(search *s, int to, int from) {
    s->at[to].roots = s->at[from].roots;
    memcpy(s->at[to].below, s->at[from].below, (size_t)s->steps->count * sizeof *s->at[to].below);
}

/* On (low, high] all answers, including mixed ones, are between the means at the two ends. */
static int can_hold_one(const search *s) {
    double low = s->end[0], high = s->end[s->top], a = s->steps->mean(s->steps, &s->at[0], low),
           b = s->steps->mean(s->steps, &s->at[s->top], high);
    return fmin(a, b) <= high && fmax(a, b) >= low;
}

static ptrdiff_t passages(const search *s) {
    ptrdiff_t count = 0;
    for (ptrdiff_t i = 0; i < s->steps->count; i++) {
        ptrdiff_t moved = s->at[s->top].below[i] - s->at[0].below[i];
        count += moved < 0 ? -moved : moved;
    }
    return count;
}

/* Returns the double in the middle between two positive doubles; low itself if there is none. */
static double middle(double low, double high) {
    uint64_t a, b;
    memcpy(&a, &low, sizeof a);
    memcpy(&b, &high, sizeof b);
    return of_bits(a + (b - a) / 2);
}

static void walk(search *s, ptrdiff_t count) {
    mfpg_bracket bracket = {s->end[0], s->end[s->top], &s->at[0], &s->at[s->top], NULL, count};
    if (count <= listed(s->steps)) {
        if (count > 0) list_passages(s->steps, bracket.low, bracket.high, count, s->passage);
        s->passes += count > 0;
        bracket.passage = s->passage;
    }
    copy(s, 1, 0);
    s->steps->walk(s->steps, &bracket, &s->at[1], s->landings);
}

mfpg_status mfpg_fixed_points_find(mfpg_context *ctx, const mfpg_steps *steps, double low, double high,
    mfpg_landings *landings, int *passes) {
    search s = {.steps = steps, .landings = landings};
    mfpg_status status = MFPG_OK;
    if (steps->count > PTRDIFF_MAX / (DEPTH + 2)) return mfpg_fail_memory(ctx);
    s.counts = mfpg_alloc((DEPTH + 2) * steps->count, sizeof *s.counts);
    s.passage = mfpg_alloc(listed(steps), sizeof *s.passage);
    if (!s.counts || !s.passage) {
        status = mfpg_fail_memory(ctx);
        goto done;
    }
    for (int i = 0; i < DEPTH + 2; i++) s.at[i].below = s.counts + i * steps->count;
    count_at(&s, 0, low);
    count_at(&s, s.top = 2, high);
    while (s.top >= 2 && !landings->more && !(landings->one && landings->count)) {
        ptrdiff_t count = passages(&s);
        double half = middle(s.end[0], s.end[s.top]);
        int possible = can_hold_one(&s);
        if (possible && count > listed(steps) && half != s.end[0]) {
            count_at(&s, ++s.top, half);
            continue;
        }
        if (possible) walk(&s, count);
        s.end[0] = s.end[s.top]; /* the first bracket is complete: the next one begins at its end */
        copy(&s, 0, s.top);
        s.top--;
    }
    *passes = s.passes;
done:
    free(s.counts);
    free(s.passage);
    return status;
}

/* If a bracket ends on a fixed point, the next one begins on it. */
void mfpg_landings_add(mfpg_landings *landings, mfpg_landing found) {
    /* positions closer than this cannot be distinguished, because the means are rounded */
    const double same = 0x1p-44;
    if (landings->count > 0) {
        const mfpg_landing *last = &landings->at[landings->count - 1];
        if (last->mixes == found.mixes && fabs(found.mean - last->mean) <= same * found.mean) return;
    }
    if (landings->one && landings->count) return;
    if (landings->count == MFPG_FIXED_POINTS_MOST)
        landings->more = 1;
    else
        landings->at[landings->count++] = found;
}

mfpg_status mfpg_field_fill(
    mfpg_context *ctx, const mfpg_landings *landings, mfpg_field *field, mfpg_report *report) {
    field->fixed_point = mfpg_alloc(landings->count, sizeof *field->fixed_point);
    if (!field->fixed_point) return mfpg_fail_memory(ctx);
    for (ptrdiff_t i = 0; i < landings->count; i++)
        field->fixed_point[i] = (mfpg_fixed_point){landings->at[i].mean, landings->at[i].mixes};
    field->fixed_point_count = landings->count;
    field->fixed_point_more = landings->more;
    field->mean = landings->at[0].mean;
    report->converged = 1;
    report->unique = landings->count == 1 && !landings->more;
    report->selection = report->unique ? MFPG_CHOSEN_ONLY : MFPG_CHOSEN_SMALLEST;
    return MFPG_OK;
}
