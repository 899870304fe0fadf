#include "path.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

static const double CONTRACTS = 0.25; /* of the residual: the plain step is quick enough by itself */
static const double LED_AWAY = 4.0;   /* times the least residual */
static const double LEAST_DAMPING = 1.0 / 64.0;
enum { PATIENCE = 8 }; /* turns without a new best */

int mfpg_path_create(ptrdiff_t n, mfpg_pde_method method, double first, mfpg_path_search *out) {
    *out = (mfpg_path_search){.n = n,
        .method = method,
        .least = (double)INFINITY,
        .before = (double)INFINITY,
        .damping = 1.0,
        .block = mfpg_alloc(n, 4 * sizeof(double))};
    if (!out->block || !mfpg_anderson_create(n, &out->anderson)) return 0;
    out->path = out->block;
    out->difference = out->path + n;
    out->best = out->difference + n;
    out->best_difference = out->best + n;
    for (ptrdiff_t i = 0; i < n; i++) out->path[i] = first;
    return 1;
}

void mfpg_path_clear(mfpg_path_search *search) {
    mfpg_anderson_clear(&search->anderson);
    free(search->block);
}

double mfpg_path_residual(mfpg_path_search *s) {
    size_t bytes = (size_t)s->n * sizeof *s->path;
    double residual = 0.0;
    for (ptrdiff_t i = 0; i < s->n; i++) residual = fmax(residual, fabs(s->difference[i]));
    s->stale++;
    if (residual < s->least) {
        s->least = residual;
        s->stale = 0;
        memcpy(s->best, s->path, bytes);
        memcpy(s->best_difference, s->difference, bytes);
    }
    return residual;
}

static void step(mfpg_path_search *s, double share) {
    for (ptrdiff_t i = 0; i < s->n; i++) s->path[i] += share * s->difference[i];
}

static void go_back(mfpg_path_search *s) {
    size_t bytes = (size_t)s->n * sizeof *s->path;
    memcpy(s->path, s->best, bytes);
    memcpy(s->difference, s->best_difference, bytes);
    s->before = (double)INFINITY;
    s->stale = 0;
    mfpg_anderson_restart(&s->anderson);
}

/* Full steps while they contract; secants where they do not; and shorter ones from the best path where those led away,
 * because the replies overshoot (a population that avoids itself) or jump (few controls). */
static void accelerate(mfpg_path_search *s, double residual) {
    if (residual > LED_AWAY * s->least || s->stale >= PATIENCE) {
        go_back(s);
        s->damping = fmax(0.5 * s->damping, LEAST_DAMPING);
    } else if (s->damping == 1.0 && residual <= CONTRACTS * s->before) {
        mfpg_anderson_restart(&s->anderson);
        step(s, 1.0);
        s->before = residual;
        return;
    }
    s->before = residual;
    mfpg_anderson_step(&s->anderson, s->damping, s->path, s->difference);
}

void mfpg_path_next(mfpg_path_search *s, double residual) {
    s->turns++;
    switch (s->method) {
    case MFPG_PDE_AUTO: accelerate(s, residual); break;
    case MFPG_PDE_PICARD: step(s, 1.0); break;
    case MFPG_PDE_FICTITIOUS: step(s, 1.0 / (s->turns + 1.0)); break;
    }
}

void mfpg_path_play(mfpg_path_search *s) {
    s->method = MFPG_PDE_FICTITIOUS;
    s->turns = 0;
    go_back(s);
}
