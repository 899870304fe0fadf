#include "flow.h"

#include <math.h>
#include <string.h>

static double mean_of(const mfpg_problem *p, const double *mass) {
    double sum = 0.0;
    for (ptrdiff_t i = 0; i < p->n; i++) sum += p->x[i] * mass[i];
    return sum;
}

static double deviation_of(const mfpg_problem *p, const double *mass) {
    double mean = mean_of(p, mass), sum = 0.0;
    for (ptrdiff_t i = 0; i < p->n; i++) sum += mass[i] * (p->x[i] - mean) * (p->x[i] - mean);
    return sqrt(sum);
}

static double population_mean(const mfpg_problem *p, const double *current) {
    double sum = 0.0;
    for (ptrdiff_t k = 0; k < p->types; k++) sum += p->share[k] * mean_of(p, current + k * p->n);
    return sum;
}

/* Duality: V^n p^n = (V^{n+1} + dt f) p^{n+1} for the transposed matrix, so that the sums below add up to what the
 * backward equation of the same policy says. */
static double step_cost(const mfpg_problem *p, double weight, const double *control, const double *mass) {
    double sum = 0.0;
    for (ptrdiff_t i = 0; i < p->n; i++) {
        if (mass[i] == 0.0) continue;
        sum += mass[i] * (p->running[i] + weight * mfpg_control_cost(&p->controls.cost, control[i]));
    }
    return p->dt * sum;
}

/* How fast neighbouring drifts differ, where the mass is. */
static void observe(const mfpg_problem *p, ptrdiff_t type, double mean, const double *control,
    const double *mass, mfpg_flow_report *report) {
    double added = 0.0, noise = 0.0, rate = 0.0, before = 0.0;
    for (ptrdiff_t i = 0; i < p->n; i++) {
        double drift = mfpg_problem_drift(p, i, mean) - p->pull[i] * control[i];
        added += mass[i] * (mfpg_scheme_noise(p->options.scheme, p->h, drift, control[i]) - control[i]);
        noise += mass[i] * control[i];
        if (i > 0) rate += 0.5 * (mass[i] + mass[i - 1]) * fabs(drift - before) / p->h;
        before = drift;
    }
    report->added_noise += p->share[type] * p->dt * added;
    report->noise += p->share[type] * p->dt * noise;
    report->drift_step = fmax(report->drift_step, p->dt * rate);
    double density = (mass[0] + mass[p->n - 1]) / p->h;
    report->edge_mass = fmax(report->edge_mass, density * deviation_of(p, mass));
}

void mfpg_flow_run(const mfpg_problem *p, const double *control, double *path, double *cost, double *current,
    double *masses, mfpg_flow_report *report) {
    double *further[4];
    mfpg_chain chain = mfpg_problem_workspace(p, 0, further);
    size_t bytes = (size_t)p->n * sizeof *current;
    ptrdiff_t row = (p->steps + 1) * p->n;
    if (report) *report = (mfpg_flow_report){0};
    for (ptrdiff_t k = 0; k < p->types; k++) {
        cost[k] = 0.0;
        memcpy(current + k * p->n, p->start, bytes);
        if (masses) memcpy(masses + k * row, p->start, bytes);
    }
    for (ptrdiff_t n = 0; n < p->steps; n++) {
        path[n] = population_mean(p, current);
        for (ptrdiff_t k = 0; k < p->types; k++) {
            const double *policy = control + k * row + n * p->n;
            double *mass = current + k * p->n;
            if (report) observe(p, k, path[n], policy, mass, report);
            mfpg_problem_chain(p, path[n], policy, &chain);
            mfpg_chain_factor(&chain);
            mfpg_chain_solve_transposed(&chain, mass);
            cost[k] += step_cost(p, p->model->weight[k], policy, mass);
            if (masses) memcpy(masses + k * row + (n + 1) * p->n, mass, bytes);
        }
    }
    path[p->steps] = population_mean(p, current);
}

/* Row i of the adjoint takes Laplace(eps p) = eps_{i-1} p_{i-1} - 2 eps_i p_i + eps_{i+1} p_{i+1}; the printed equation
 * takes eps_i (p_{i-1} - 2 p_i + p_{i+1}). At the ends both reflect. diffusion is dt/h^2. */
void mfpg_flow_printed_step(
    const mfpg_chain *chain, double diffusion, const double *control, double *const further[4], double *p) {
    double *low = further[0], *diagonal = chain->pivot, *high = further[1];
    for (ptrdiff_t i = 0; i < chain->n; i++) {
        diagonal[i] = 1.0 + chain->up[i] + chain->down[i];
        low[i] = i > 0 ? -chain->up[i - 1] - diffusion * (control[i] - control[i - 1]) : 0.0;
        high[i] = i + 1 < chain->n ? -chain->down[i + 1] - diffusion * (control[i] - control[i + 1]) : 0.0;
    }
    mfpg_tridiagonal_solve(chain->n, low, diagonal, high, p);
}
