/* The study: both attacks on every batch at every level of noise, the similarity of their pictures, and the
 * guesses among candidates. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "inversion.h"
#include "numerics/sorting.h"
#include "numerics/linalg/linalg.h"

struct mfpg_inversion {
    mfpg_inversion_summary summary;
    mfpg_inversion_level *level; /* levels */
    /* features each, in [0, 1] */
    float *original; /* examples */
    float *mean;     /* one */
    /* levels x examples found by the closed form and by optimisation; NULL if that attack was skipped */
    float *found[2];
    mfpg_pool memory; /* of all of these */
};

/* What one worker needs. */
typedef struct worker {
    float *gradient, *step_work, *optimise_work, *guessed; /* guessed: batch x features */
    double *rows_work;                                     /* with what follows in it */
    double *found;                                         /* batch x features */
    double *x, *y;                                         /* features */
    double *cost;                                          /* batch x batch */
    ptrdiff_t *match;                                      /* batch */
    int *count;                                            /* rows of the first layer */
} worker;

typedef struct study {
    const mfpg_inversion_subject *subject;
    mfpg_inversion_release release;
    mfpg_inversion_step *step;
    int levels, workers;
    ptrdiff_t batches;
    worker *worker;
    mfpg_inversion *result;
    mfpg_likeness *likeness[2];        /* levels x examples: similarity of what was found */
    double *norm, *factor, *exclusive; /* examples, examples, batches */
    double *room;                      /* examples */
    mfpg_pool memory;                  /* of all but the result */
    mfpg_inversion_clock clock;
} study;

/* ---- memory ---- */

static float *floats(mfpg_pool *memory, ptrdiff_t count) {
    return mfpg_pool_own(memory, mfpg_alloc_floats(count));
}

static void allocate_worker(study *s, worker *w) {
    const mfpg_inversion_subject *subject = s->subject;
    ptrdiff_t batch = subject->options->batch, features = subject->features, size = batch * features;
    ptrdiff_t rows_work = mfpg_inversion_rows_workspace(subject);
    w->gradient = floats(&s->memory, subject->parameters);
    w->step_work = floats(&s->memory, mfpg_inversion_workspace(subject, s->step, s->levels));
    w->optimise_work = floats(&s->memory, mfpg_inversion_optimise_workspace(subject));
    w->guessed = floats(&s->memory, size);
    w->rows_work =
        mfpg_pool_alloc(&s->memory, rows_work + size + 2 * features + batch * batch, sizeof(double));
    w->match = mfpg_pool_alloc(&s->memory, batch, sizeof(ptrdiff_t));
    w->count = mfpg_pool_alloc(&s->memory, subject->layer.units, sizeof(int));
    if (!w->rows_work) return;
    w->found = w->rows_work + rows_work;
    w->x = w->found + size;
    w->y = w->x + features;
    w->cost = w->y + features;
}

static mfpg_status allocate(mfpg_context *ctx, study *s) {
    ptrdiff_t features = s->subject->features, examples = s->subject->victims.rows,
              all = s->levels * examples;
    int attacks = s->subject->options->iterations > 0 ? 2 : 1;
    mfpg_inversion *r = s->result = mfpg_alloc(1, sizeof *s->result);
    if (!r || all > PTRDIFF_MAX / (ptrdiff_t)sizeof(double) / features) return mfpg_fail_memory(ctx);
    for (int kind = 0; kind < attacks; kind++) {
        r->found[kind] = floats(&r->memory, all * features);
        s->likeness[kind] = mfpg_pool_alloc(&s->memory, all, sizeof *s->likeness[kind]);
    }
    r->level = mfpg_pool_alloc(&r->memory, s->levels, sizeof *r->level);
    r->original = floats(&r->memory, examples * features);
    r->mean = floats(&r->memory, features);
    s->workers = mfpg_context_threads(ctx);
    s->worker = mfpg_pool_alloc(&s->memory, s->workers, sizeof *s->worker);
    s->norm = mfpg_pool_alloc(&s->memory, examples, sizeof *s->norm);
    s->factor = mfpg_pool_alloc(&s->memory, examples, sizeof *s->factor);
    s->exclusive = mfpg_pool_alloc(&s->memory, s->batches, sizeof *s->exclusive);
    s->room = mfpg_pool_alloc(&s->memory, examples, sizeof *s->room);
    for (int i = 0; i < s->workers && !s->memory.failed; i++) allocate_worker(s, &s->worker[i]);
    return s->memory.failed || r->memory.failed ? mfpg_fail_memory(ctx) : MFPG_OK;
}

/* ---- similarity of two pictures ---- */

enum { WINDOW = 11 };
static const double WINDOW_SD = 1.5;

/* Moments of two weighted sets of entries; weights sum to 1. */
typedef struct moments {
    double x, y, xx, yy, xy;
} moments;

static void add_entry(moments *m, double weight, double x, double y) {
    m->x += weight * x;
    m->y += weight * y;
    m->xx += weight * x * x;
    m->yy += weight * y * y;
    m->xy += weight * x * y;
}

/* (0.01 L)^2 and (0.03 L)^2 with the range L = 1. */
static double similarity(const moments *m) {
    const double of_means = 1e-4, of_variances = 9e-4;
    double vx = m->xx - m->x * m->x, vy = m->yy - m->y * m->y, covariance = m->xy - m->x * m->y;
    return (2.0 * m->x * m->y + of_means) * (2.0 * covariance + of_variances) /
           ((m->x * m->x + m->y * m->y + of_means) * (vx + vy + of_variances));
}

double mfpg_picture_psnr(ptrdiff_t n, const double *x, const double *y) {
    const double most = 100.0;
    double sum = 0.0;
    for (ptrdiff_t i = 0; i < n; i++) sum += (x[i] - y[i]) * (x[i] - y[i]);
    double value = -10.0 * log10(sum / (double)n);
    return value < most ? value : sum >= 0.0 ? most : (double)NAN;
}

static double similarity_at(ptrdiff_t width, const double *x, const double *y, const double weight[WINDOW]) {
    moments m = {0};
    for (int r = 0; r < WINDOW; r++)
        for (int c = 0; c < WINDOW; c++)
            add_entry(&m, weight[r] * weight[c], x[r * width + c], y[r * width + c]);
    return similarity(&m);
}

double mfpg_picture_ssim(ptrdiff_t width, ptrdiff_t height, const double *x, const double *y) {
    double weight[WINDOW], all = 0.0, sum = 0.0;
    if (width < WINDOW || height < WINDOW) {
        moments m = {0};
        for (ptrdiff_t i = 0; i < width * height; i++)
            add_entry(&m, 1.0 / (double)(width * height), x[i], y[i]);
        return similarity(&m);
    }
    for (int i = 0; i < WINDOW; i++) { /* one-dimensional weights, whose products are those of the window */
        double z = (i - WINDOW / 2) / WINDOW_SD;
        all += weight[i] = exp(-0.5 * z * z);
    }
    for (int i = 0; i < WINDOW; i++) weight[i] /= all;
    ptrdiff_t down = height - WINDOW + 1, across = width - WINDOW + 1;
    for (ptrdiff_t r = 0; r < down; r++)
        for (ptrdiff_t c = 0; c < across; c++)
            sum += similarity_at(width, x + r * width + c, y + r * width + c, weight);
    return sum / (double)(down * across);
}

double mfpg_picture_pearson(ptrdiff_t n, const double *x, const double *y) {
    double mx = 0.0, my = 0.0, xx = 0.0, yy = 0.0, xy = 0.0;
    for (ptrdiff_t i = 0; i < n; i++) {
        mx += x[i] / (double)n;
        my += y[i] / (double)n;
    }
    for (ptrdiff_t i = 0; i < n; i++) {
        xx += (x[i] - mx) * (x[i] - mx);
        yy += (y[i] - my) * (y[i] - my);
        xy += (x[i] - mx) * (y[i] - my);
    }
    double product = sqrt(xx) * sqrt(yy);
    return product > 0.0 ? fmax(-1.0, fmin(xy / product, 1.0)) : 0.0;
}

/* Maps from the box of the features to [0, 1]; values outside are clamped. NaN becomes 0. */
static double in_box(const mfpg_inversion_subject *s, double value) {
    double unit = (value - s->low) / (s->high - s->low);
    return unit > 0.0 ? fmin(unit, 1.0) : 0.0;
}

static mfpg_likeness likeness(const mfpg_inversion_subject *s, const double *x, const double *y) {
    ptrdiff_t n = s->features, width = s->options->width > 0 ? s->options->width : n;
    return (mfpg_likeness){.psnr = mfpg_picture_psnr(n, x, y),
        .ssim = mfpg_picture_ssim(width, n / width, x, y),
        .pearson = mfpg_picture_pearson(n, x, y)};
}

static void unit_row(const mfpg_inversion_subject *s, const float *row, double *out) {
    for (ptrdiff_t j = 0; j < s->features; j++) out[j] = in_box(s, (double)row[j]);
}

/* Examples of a batch are found in any order, so every example is compared with the one that the cheapest
 * assignment gives it. w->found is in the box [0, 1]; kind is that of the attack. */
static mfpg_status match(mfpg_context *ctx, const study *s, worker *w, int kind, int level, ptrdiff_t first) {
    const mfpg_inversion_subject *subject = s->subject;
    ptrdiff_t batch = subject->options->batch, features = subject->features;
    mfpg_likeness *out = s->likeness[kind] + level * subject->victims.rows;
    float *picture = s->result->found[kind] + level * subject->victims.rows * features;
    for (ptrdiff_t a = 0; a < batch; a++) {
        unit_row(subject, subject->victims.x + (first + a) * features, w->x);
        for (ptrdiff_t b = 0; b < batch; b++) {
            double sum = 0.0;
            for (ptrdiff_t j = 0; j < features; j++) {
                double difference = w->x[j] - w->found[b * features + j];
                sum += difference * difference;
            }
            w->cost[a * batch + b] = sum;
        }
    }
    mfpg_status status = mfpg_assign(ctx, batch, w->cost, w->match);
    for (ptrdiff_t a = 0; a < batch && status == MFPG_OK; a++) {
        const double *found = w->found + w->match[a] * features;
        unit_row(subject, subject->victims.x + (first + a) * features, w->x);
        out[first + a] = likeness(subject, w->x, found);
        for (ptrdiff_t j = 0; j < features; j++) picture[(first + a) * features + j] = (float)found[j];
    }
    return status;
}

/* ---- one batch at one level ---- */

static mfpg_dataset batch_at(const mfpg_inversion_subject *s, ptrdiff_t first) {
    return (mfpg_dataset){.rows = s->options->batch,
        .features = s->features,
        .x = s->victims.x + first * s->features,
        .y = s->victims.y + first};
}

static mfpg_status attack(mfpg_context *ctx, ptrdiff_t index, int worker_number, void *arg) {
    study *s = arg;
    worker *w = &s->worker[worker_number];
    const mfpg_inversion_subject *subject = s->subject;
    int level = (int)(index / s->batches);
    ptrdiff_t batch = subject->options->batch, size = batch * subject->features;
    ptrdiff_t first = index % s->batches * batch;
    const mfpg_dataset data = batch_at(subject, first);
    const mfpg_stream noise = mfpg_inversion_stream(subject, MFPG_INVERSION_NOISE, level, (uint64_t)first),
                      start = mfpg_inversion_stream(subject, MFPG_INVERSION_START, level, (uint64_t)first);
    mfpg_status status = s->release(ctx, subject, &s->step[level], &data, &noise, w->gradient, w->step_work);
    if (status != MFPG_OK) return status;
    mfpg_inversion_rows(subject, w->gradient, s->step[level].sd, batch, w->found, w->rows_work);
    for (ptrdiff_t i = 0; i < size; i++) w->found[i] = in_box(subject, w->found[i]);
    status = match(ctx, s, w, 0, level, first);
    if (status != MFPG_OK || !s->result->found[1]) return status;
    float read = batch == 1 ? mfpg_inversion_label(subject, w->gradient) : NAN;
    const float *label = isnan(read) ? subject->victims.y + first : &read;
    mfpg_inversion_optimise(
        subject, &s->step[level], w->gradient, label, batch, &start, w->guessed, w->optimise_work);
    for (ptrdiff_t i = 0; i < size; i++) w->found[i] = in_box(subject, (double)w->guessed[i]);
    return match(ctx, s, w, 1, level, first);
}

/* ---- the attacked step ---- */

/* Computes the norm of each example's gradient, the factor of the clip (unit client: that of the batch), and
 * the rows that belong to one example alone. */
static mfpg_status look_at(mfpg_context *ctx, ptrdiff_t index, int worker_number, void *arg) {
    study *s = arg;
    worker *w = &s->worker[worker_number];
    const mfpg_inversion_subject *subject = s->subject;
    const mfpg_inversion_step *step = &s->step[0];
    ptrdiff_t batch = subject->options->batch, first = index * batch, n = subject->parameters;
    const mfpg_dataset all = batch_at(subject, first);
    s->exclusive[index] =
        (double)mfpg_inversion_exclusive_rows(subject, &all, w->gradient, w->step_work, w->count);
    mfpg_model_gradient(subject->model, subject->w, &all, NULL, 0, (double)batch, w->gradient, w->step_work);
    double of_batch =
        mfpg_vector_norm(n, w->gradient) * (step->kind == MFPG_INVERSION_UPDATE ? step->rate : 1.0);
    for (ptrdiff_t i = 0; i < batch; i++) {
        mfpg_dataset one = all;
        one.rows = 1;
        one.x += i * all.features;
        one.y += i;
        mfpg_model_gradient(subject->model, subject->w, &one, NULL, 0, 1.0, w->gradient, w->step_work);
        double norm = mfpg_vector_norm(n, w->gradient),
               clipped = step->kind == MFPG_INVERSION_EXAMPLES ? norm : of_batch;
        if (!isfinite(norm))
            return mfpg_fail(ctx, MFPG_ERR_NUMERIC, "inversion: the gradient of an example is not finite");
        s->norm[first + i] = norm;
        s->factor[first + i] = clipped > step->clip ? step->clip / clipped : 1.0;
    }
    return MFPG_OK;
}

/* ---- the summary ---- */

static int by_size(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static mfpg_extent range_of(ptrdiff_t count, double *value) {
    qsort(value, (size_t)count, sizeof *value, by_size);
    return (mfpg_extent){.least = value[0],
        .median = 0.5 * (value[(count - 1) / 2] + value[count / 2]),
        .most = value[count - 1]};
}

/* room: count doubles. */
static mfpg_likeness_pair likeness_pair(ptrdiff_t count, const mfpg_likeness *of, double *room) {
    mfpg_extent range[3];
    for (int kind = 0; kind < 3; kind++) {
        for (ptrdiff_t i = 0; i < count; i++)
            room[i] = kind == 0 ? of[i].psnr : kind == 1 ? of[i].ssim : of[i].pearson;
        range[kind] = range_of(count, room);
    }
    return (mfpg_likeness_pair){.median = {range[0].median, range[1].median, range[2].median},
        .best = {range[0].most, range[1].most, range[2].most}};
}

/* Scores the mean of the known examples that are not victims, and a random one, as if an attack had found
 * them. s->likeness[0] is used as memory. */
static void chance_levels(study *s, mfpg_inversion_summary *out) {
    const mfpg_inversion_subject *subject = s->subject;
    worker *w = &s->worker[0];
    ptrdiff_t all = subject->victims.rows, features = subject->features;
    for (int other = 0; other < 2; other++) {
        for (ptrdiff_t i = 0; i < all; i++) {
            unit_row(subject, subject->victims.x + i * features, w->x);
            unit_row(subject, other ? subject->other + i * features : subject->mean, w->y);
            s->likeness[0][i] = likeness(subject, w->x, w->y);
        }
        *(other ? &out->other : &out->mean) = likeness_pair(all, s->likeness[0], s->room);
    }
}

static void summarise(study *s) {
    const mfpg_inversion_subject *subject = s->subject;
    const mfpg_inversion_options *o = subject->options;
    mfpg_inversion *r = s->result;
    const mfpg_likeness nothing = {NAN, NAN, NAN};
    ptrdiff_t all = subject->victims.rows, features = subject->features;
    for (int l = 0; l < s->levels; l++) {
        mfpg_inversion_level *level = &r->level[l];
        level->mu = s->step[l].mu;
        level->noise_sd = s->step[l].sd;
        level->clip = s->step[l].clip;
        level->configured = l == s->levels - 1;
        level->closed_form = likeness_pair(all, s->likeness[0] + l * all, s->room);
        level->optimisation = (mfpg_likeness_pair){nothing, nothing};
        if (r->found[1]) level->optimisation = likeness_pair(all, s->likeness[1] + l * all, s->room);
    }
    r->summary = (mfpg_inversion_summary){.client = subject->client,
        .examples = all,
        .batch = o->batch,
        .candidates = subject->candidates.rows,
        .trials = o->trials,
        .levels = s->levels,
        .width = o->width,
        .height = o->width > 0 ? features / o->width : 0,
        .features = features,
        .low = subject->low,
        .high = subject->high,
        .labels_known = o->batch > 1 || subject->model->classes == 0,
        .gradient_norm = range_of(all, s->norm),
        .clip_factor = range_of(all, s->factor),
        .rows = subject->layer.units,
        .exclusive_rows = range_of(s->batches, s->exclusive),
        .stands = 1};
    for (int l = 0; l < s->levels; l++) r->summary.stands &= r->level[l].stands;
    chance_levels(s, &r->summary);
    for (ptrdiff_t i = 0; i < all * features; i++)
        r->original[i] = (float)in_box(subject, (double)subject->victims.x[i]);
    for (ptrdiff_t j = 0; j < features; j++) r->mean[j] = (float)in_box(subject, (double)subject->mean[j]);
}

mfpg_status mfpg_inversion_create_by(mfpg_context *ctx, const mfpg_inversion_subject *subject,
    mfpg_inversion_release release, mfpg_inversion **out) {
    const mfpg_inversion_options *o = subject->options;
    study s = {.subject = subject, .release = release, .batches = subject->victims.rows / o->batch};
    s.step = mfpg_pool_alloc(&s.memory, o->levels, sizeof *s.step);
    if (!s.step) return mfpg_fail_memory(ctx);
    mfpg_status status = mfpg_inversion_steps_create(ctx, subject, s.step, &s.levels);
    s.clock.total = (int64_t)s.levels * (s.batches + mfpg_inversion_guesses(o)) + s.batches;
    if (status == MFPG_OK) status = allocate(ctx, &s);
    if (status == MFPG_OK) status = mfpg_inversion_tasks(ctx, o, &s.clock, s.batches, look_at, &s);
    if (status == MFPG_OK)
        status =
            mfpg_inversion_identify(ctx, subject, s.step, s.levels, s.release, &s.clock, s.result->level);
    if (status == MFPG_OK) status = mfpg_inversion_tasks(ctx, o, &s.clock, s.levels * s.batches, attack, &s);
    if (status == MFPG_OK) {
        summarise(&s);
        *out = s.result;
    } else {
        mfpg_inversion_destroy(s.result);
    }
    mfpg_inversion_steps_clear(s.step, s.levels);
    mfpg_pool_clear(&s.memory);
    return status;
}

mfpg_status mfpg_inversion_create(mfpg_context *ctx, const mfpg_inversion_options *options,
    const mfpg_federated_data *data, const mfpg_model *model, const mfpg_mechanism *const *mechanism,
    const mfpg_action *action, const float *w, mfpg_inversion **out) {
    mfpg_inversion_subject subject;
    mfpg_status status =
        mfpg_inversion_subject_create(ctx, options, data, model, mechanism, action, w, &subject);
    if (status != MFPG_OK) return status;
    status = mfpg_inversion_create_by(ctx, &subject, mfpg_inversion_release_step, out);
    mfpg_inversion_subject_clear(&subject);
    return status;
}

void mfpg_inversion_destroy(mfpg_inversion *inversion) {
    if (!inversion) return;
    mfpg_pool_clear(&inversion->memory);
    free(inversion);
}

mfpg_inversion_summary mfpg_inversion_summarise(const mfpg_inversion *inversion) {
    return inversion->summary;
}

mfpg_inversion_level mfpg_inversion_at(const mfpg_inversion *inversion, int level) {
    return inversion->level[level];
}

const float *mfpg_inversion_picture_of(
    const mfpg_inversion *inversion, mfpg_inversion_picture kind, int level, ptrdiff_t example) {
    const mfpg_inversion_summary *s = &inversion->summary;
    if (level < 0 || level >= s->levels || example < 0 || example >= s->examples) return NULL;
    ptrdiff_t at = example * s->features, of_level = level * s->examples * s->features + at;
    if (kind == MFPG_PICTURE_ORIGINAL) return inversion->original + at;
    if (kind == MFPG_PICTURE_MEAN) return inversion->mean;
    const float *found = inversion->found[kind == MFPG_PICTURE_OPTIMISATION];
    return found ? found + of_level : NULL;
}
