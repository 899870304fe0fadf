/* The game whose solution is known: quadratic losses, no prior, controls in an interval. Then V = A(t) x^2/2 + ... with
 * -A' = q - 2 k A, k = kappa + attraction, so that the best control depends on time alone; the attraction drops out of the
 * mean, because the mean is where it points. */
#include <math.h>

#include "mfpg/pde.h"

enum {
    PIECES = 20000
}; /* of the integral in the variance; its kinks, where the control is cut, cost (1/PIECES)^2 */

static int is_quadratic(const mfpg_pde_polynomial *p) {
    return p->coefficient[1] == 0.0 && p->coefficient[3] == 0.0 && p->coefficient[4] == 0.0;
}

typedef struct known {
    const mfpg_pde_model *model;
    double kappa, running, k, weight;
} known;

static double curvature_at(const known *g, double t) {
    double left = g->model->horizon - t;
    return g->k != 0.0 ? g->running * -expm1(-2.0 * g->k * left) / (2.0 * g->k) : g->running * left;
}

static double control_at(const known *g, double t) {
    const mfpg_pde_model *m = g->model;
    return mfpg_pde_optimal_control(&m->cost, g->weight, curvature_at(g, t), m->control_low, m->control_high);
}

/* s' = -2 k s + 2 e(t) by variation of constants. */
static double variance_at(const known *g, double t) {
    double sum = 0.0, width = t / PIECES;
    for (int i = 0; i < PIECES; i++) {
        double at = (i + 0.5) * width;
        sum += 2.0 * control_at(g, at) * exp(-2.0 * g->k * (t - at)) * width;
    }
    return g->model->start_variance * exp(-2.0 * g->k * t) + sum;
}

int mfpg_pde_closed_form(const mfpg_pde_model *model, ptrdiff_t type, double t, mfpg_pde_exact *out) {
    if (!is_quadratic(&model->potential) || !is_quadratic(&model->running) || !isinf(model->prior_variance) ||
        model->controls)
        return 0;
    known g = {.model = model,
        .kappa = 2.0 * model->potential.coefficient[2],
        .running = 2.0 * model->running.coefficient[2],
        .weight = model->weight[type]};
    g.k = g.kappa + model->attraction;
    *out = (mfpg_pde_exact){.curvature = curvature_at(&g, t),
        .control = control_at(&g, t),
        .mean = model->start_mean * exp(-g.kappa * t),
        .variance = variance_at(&g, t)};
    return 1;
}
