/* The pieces of a model: losses, the best control in closed form, and the game whose solution is known. */
#include "pde_parts.h"

mfpg_pde_polynomial mfpg_pde_quadratic(double curvature) {
    return (mfpg_pde_polynomial){{0.0, 0.0, 0.5 * curvature}};
}

mfpg_pde_polynomial mfpg_pde_double_well(double position, double barrier) {
    double inverse = 1.0 / (position * position);
    return (mfpg_pde_polynomial){{barrier, 0.0, -2.0 * barrier * inverse, 0.0, barrier * inverse * inverse}};
}

double mfpg_pde_value(const mfpg_pde_polynomial *p, double x) {
    const double *c = p->coefficient;
    return c[0] + x * (c[1] + x * (c[2] + x * (c[3] + x * c[4])));
}

double mfpg_pde_slope(const mfpg_pde_polynomial *p, double x) {
    const double *c = p->coefficient;
    return c[1] + x * (2.0 * c[2] + x * (3.0 * c[3] + x * 4.0 * c[4]));
}

mfpg_pde_options mfpg_pde_options_default(void) {
    return (mfpg_pde_options){.low = -8.0,
        .high = 8.0,
        .nodes = 401,
        .steps = 200,
        .scheme = MFPG_PDE_HYBRID,
        .method = MFPG_PDE_AUTO,
        .iterations = 200,
        .tolerance = 1e-10};
}

/* Equation (epsstar) of the paper: -rate weight c(e) + slope = 0. */
double mfpg_pde_optimal_control(
    const mfpg_pde_cost *cost, double weight, double slope, double low, double high) {
    if (isnan(slope) || isnan(weight)) return (double)NAN;
    if (slope <= 0.0) return high;
    /* weight 0: log 0 = -infinity, so low; the logarithm of the quotient is split because the quotient could
     * overflow */
    double e = cost->offset + (log(cost->rate * weight * cost->scale) - log(slope)) / cost->rate;
    return e <= low ? low : e >= high ? high : e;
}

/* ---- the closed form: quadratic losses, no prior, controls in an interval ----
 *
 * Then V = A(t) x^2/2 + ... with -A' = q - 2 k A, k = kappa + attraction, so that the best control depends on time alone;
 * the attraction drops out of the mean, because it points to the mean. */

/* Of the integral in the variance; its kinks, where the control is cut, cost (1/PIECES)^2. */
enum { PIECES = 20000 };

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
