/* Simulates particles by Euler-Maruyama; the forward equation is their limit. */
#include <stdlib.h>

#include "base/error.h"
#include "base/memory.h"
#include "pde_parts.h"

enum {
    BLOCK = 512, /* number of particles that share a stream; sums are added block by block */
    PARALLEL_BLOCKS = 16
};

typedef struct cloud {
    const mfpg_pde_model *model;
    const mfpg_pde_solution *solution; /* or NULL */
    const mfpg_pde_particles_options *options;
    ptrdiff_t blocks, width; /* width: of a vector of draws */
    double dt, mean;         /* mean of the last step */
    ptrdiff_t step;          /* number of the current step; -1 is the start */
    double *x;               /* count; the arrays below are parts of the same block */
    double *sum, *square;    /* one per block: sums of x minus the last step's mean, and of its square */
    ptrdiff_t *first;        /* types+1: the first particle of each type */
} cloud;

/* Shares times count, rounded down; the remaining particles go to the largest remainders, earlier types
 * first. */
static mfpg_status assign_types(mfpg_context *ctx, const cloud *c) {
    const mfpg_pde_model *m = c->model;
    ptrdiff_t left = c->options->count;
    double *remainder = mfpg_alloc(m->types, sizeof *remainder);
    if (!remainder) return mfpg_fail_memory(ctx);
    for (ptrdiff_t k = 0; k < m->types; k++) {
        double due = (m->share ? m->share[k] : 1.0 / (double)m->types) * (double)c->options->count;
        ptrdiff_t whole = (ptrdiff_t)floor(due);
        if (whole > left) whole = left; /* shares sum to 1 only to rounding */
        c->first[k + 1] = whole;
        remainder[k] = due - (double)whole;
        left -= whole;
    }
    for (; left > 0; left--) {
        ptrdiff_t best = 0;
        for (ptrdiff_t k = 1; k < m->types; k++)
            if (remainder[k] > remainder[best]) best = k;
        c->first[best + 1]++;
        remainder[best] -= 1.0;
    }
    for (ptrdiff_t k = 0; k < m->types; k++) c->first[k + 1] += c->first[k];
    free(remainder);
    return MFPG_OK;
}

/* Returns the type's control at x: linear between nodes, and outside that of the nearest end. */
static double control_at(const mfpg_pde_solution *s, const double *row, double x) {
    double place = (x - s->low) / s->step, last = (double)(s->nodes - 1);
    if (!(place > 0.0)) return row[0];
    if (place >= last) return row[s->nodes - 1];
    ptrdiff_t i = (ptrdiff_t)place;
    double part = place - (double)i;
    return row[i] + part * (row[i + 1] - row[i]);
}

static double moved(const cloud *c, const double *row, double x, double draw) {
    const mfpg_pde_model *m = c->model;
    double e = row ? control_at(c->solution, row, x) : c->options->fixed_control;
    double drift =
        -mfpg_pde_slope(&m->potential, x) - e * x / m->prior_variance - m->attraction * (x - c->mean);
    return x + c->dt * drift + sqrt(2.0 * e * c->dt) * draw;
}

static const double *control_row(const cloud *c, ptrdiff_t type) {
    const mfpg_pde_solution *s = c->solution;
    if (!s) return NULL;
    ptrdiff_t row = c->step * s->steps / c->options->steps;
    return s->control + (type * (s->steps + 1) + row) * s->nodes;
}

/* Makes a block's step: its draws are vector number step+1 of the block's stream. */
static mfpg_status move_block(mfpg_context *ctx, ptrdiff_t block, int worker, void *arg) {
    cloud *c = arg;
    float draw[BLOCK];
    ptrdiff_t from = block * BLOCK, to = from + BLOCK, type = 0;
    mfpg_stream stream =
        mfpg_stream_open(c->options->key, MFPG_PURPOSE_PARTICLE, c->options->repeat, (uint64_t)block);
    (void)worker;
    if (to > c->options->count) to = c->options->count;
    mfpg_stream_gaussian(&stream, (uint64_t)(c->step + 1), c->width, draw);
    double sum = 0.0, square = 0.0;
    for (ptrdiff_t i = from; i < to;) {
        while (c->first[type + 1] <= i) type++;
        ptrdiff_t end = c->first[type + 1] < to ? c->first[type + 1] : to;
        const double *row = c->step < 0 ? NULL : control_row(c, type);
        for (; i < end; i++) {
            double z = (double)draw[i - from];
            c->x[i] = c->step < 0 ? c->model->start_mean + sqrt(c->model->start_variance) * z
                                  : moved(c, row, c->x[i], z);
            sum += c->x[i] - c->mean;
            square += (c->x[i] - c->mean) * (c->x[i] - c->mean);
        }
    }
    c->sum[block] = sum;
    c->square[block] = square;
    if (isfinite(square)) return MFPG_OK;
    return mfpg_fail(ctx, MFPG_ERR_NUMERIC,
        "particles: one left the range of numbers in step %td of %td; take more steps", c->step + 1,
        c->options->steps);
}

static mfpg_status check(mfpg_context *ctx, const mfpg_pde_model *model, const mfpg_pde_solution *s,
    const mfpg_pde_particles_options *o) {
    const mfpg_pde_rule rules[] = {{"the number of particles", (double)o->count, MFPG_PDE_PARTICLES},
        {"the particles' number of steps", (double)o->steps, MFPG_PDE_PARTICLE_STEPS},
        {"the particles' control", s ? 0.0 : o->fixed_control, MFPG_PDE_NOT_NEGATIVE}};
    mfpg_status status = mfpg_pde_check_model(ctx, model);
    if (status == MFPG_OK) status = mfpg_pde_check(ctx, rules, 3);
    if (status == MFPG_OK && s && s->types != model->types)
        return mfpg_pde_refuse(ctx, "the solution's number of types", (double)s->types, "the model's");
    if (status == MFPG_OK && s && o->steps % s->steps != 0)
        return mfpg_pde_refuse(
            ctx, "the particles' number of steps", (double)o->steps, "a multiple of the solution's");
    return status;
}

static mfpg_status run(mfpg_context *ctx, cloud *c, double *mean, double *variance) {
    for (c->step = -1; c->step < c->options->steps; c->step++) {
        mfpg_status status = MFPG_OK;
        if (c->blocks >= PARALLEL_BLOCKS)
            status = mfpg_tasks_run(ctx, c->blocks, move_block, c);
        else /* for a few blocks, one thread is faster than waking several */
            for (ptrdiff_t block = 0; block < c->blocks && status == MFPG_OK; block++)
                status = move_block(ctx, block, 0, c);
        if (status != MFPG_OK) return status;
        double count = (double)c->options->count, shift = 0.0, squares = 0.0;
        for (ptrdiff_t block = 0; block < c->blocks; block++) {
            shift += c->sum[block];
            squares += c->square[block];
        }
        shift /= count;
        c->mean += shift;
        mean[c->step + 1] = c->mean;
        variance[c->step + 1] = fmax(squares / count - shift * shift, 0.0);
    }
    return MFPG_OK;
}

mfpg_status mfpg_pde_particles(mfpg_context *ctx, const mfpg_pde_model *model,
    const mfpg_pde_solution *solution, const mfpg_pde_particles_options *options, double *mean,
    double *variance) {
    mfpg_status status = check(ctx, model, solution, options);
    if (status != MFPG_OK) return status;
    cloud c = {.model = model,
        .solution = solution,
        .options = options,
        .blocks = (options->count + BLOCK - 1) / BLOCK,
        .width = options->count < BLOCK ? options->count : BLOCK,
        .dt = model->horizon / (double)options->steps,
        .mean = model->start_mean};
    c.x = mfpg_alloc(options->count + 2 * c.blocks, sizeof *c.x);
    c.first = mfpg_alloc(model->types + 1, sizeof *c.first);
    c.sum = c.x ? c.x + options->count : NULL;
    c.square = c.x ? c.sum + c.blocks : NULL;
    status = c.x && c.first ? assign_types(ctx, &c) : mfpg_fail_memory(ctx);
    if (status == MFPG_OK) status = run(ctx, &c, mean, variance);
    free(c.x);
    free(c.first);
    return status;
}
