#include "moments.h"

#include <math.h>
#include <string.h>

/* KL(law | N(0, variance)); without a prior the integral of law log law. */
static double divergence(const mfpg_problem *p, const double *mass) {
    static const double LOG_2PI = 1.8378770664093454836;
    double variance = p->model->prior_variance, sum = 0.0;
    for (ptrdiff_t i = 0; i < p->n; i++) {
        if (!(mass[i] > 0.0)) continue; /* x log x tends to 0 */
        double log_prior =
            isinf(variance) ? 0.0 : -0.5 * (LOG_2PI + log(variance) + p->x[i] * p->x[i] / variance);
        sum += mass[i] * (log(mass[i] / p->h) - log_prior);
    }
    return sum;
}

static mfpg_pde_moments moments_of(
    const mfpg_problem *p, const double *mass, const double *control, double population_mean) {
    mfpg_pde_moments m = {0};
    double loss = 0.0, around = 0.0;
    for (ptrdiff_t i = 0; i < p->n; i++) {
        m.mass += mass[i];
        m.mean += mass[i] * p->x[i];
        m.mean_control += mass[i] * control[i];
        loss += mass[i] * mfpg_pde_value(&p->model->potential, p->x[i]);
    }
    for (ptrdiff_t i = 0; i < p->n; i++) {
        double own = p->x[i] - m.mean, away = p->x[i] - population_mean;
        m.variance += mass[i] * own * own;
        around += mass[i] * away * away;
    }
    m.free_energy = loss + m.mean_control * divergence(p, mass) + 0.5 * p->model->attraction * around;
    return m;
}

/* The mass of the same start under the same controls by the printed equation. */
static void follow_printed(const mfpg_problem *p, mfpg_pde_solution *s, ptrdiff_t type, double *mass) {
    double *further[4];
    mfpg_chain chain = mfpg_problem_workspace(p, 0, further);
    memcpy(mass, p->start, (size_t)p->n * sizeof *mass);
    for (ptrdiff_t n = 0; n <= s->steps; n++) {
        double sum = 0.0;
        for (ptrdiff_t i = 0; i < p->n; i++) sum += mass[i];
        s->moments[type * (s->steps + 1) + n].paper_mass = sum;
        if (n == s->steps) return;
        const double *control = s->control + (type * (s->steps + 1) + n) * p->n;
        mfpg_problem_chain(p, s->mean_path[n], control, &chain);
        mfpg_flow_printed_step(&chain, p->dt / (p->h * p->h), control, further, mass);
    }
}

void mfpg_moments_fill(const mfpg_problem *p, mfpg_pde_solution *s) {
    double *further[4];
    mfpg_problem_workspace(p, 0, further);
    for (ptrdiff_t k = 0; k < s->types; k++) {
        for (ptrdiff_t n = 0; n <= s->steps; n++) {
            ptrdiff_t row = k * (s->steps + 1) + n;
            s->moments[row] =
                moments_of(p, s->density + row * p->n, s->control + row * p->n, s->mean_path[n]);
            s->mass_error = fmax(s->mass_error, fabs(s->moments[row].mass - 1.0));
        }
        follow_printed(p, s, k, further[3]);
    }
}
