/* The results of a solution: the moments of the laws at every time, and the output files. */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/file.h"
#include "base/memory.h"
#include "pde_parts.h"

/* Returns KL(law | N(0, variance)); without a prior the integral of law log law. */
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

/* Returns the mass for the same start and the same controls under the printed equation. */
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

/* ---- files ---- */

/* first, first + step, ... */
static mfpg_status write_axis(
    mfpg_context *ctx, const char *folder, const char *name, double first, double step, ptrdiff_t count) {
    double *axis = mfpg_alloc(count, sizeof *axis);
    if (!axis) return mfpg_fail_memory(ctx);
    for (ptrdiff_t i = 0; i < count; i++) axis[i] = first + (double)i * step;
    mfpg_status status = mfpg_file_write_npy(ctx, folder, name, "<f8", axis, &count, 1);
    free(axis);
    return status;
}

static mfpg_status write_moments(
    mfpg_context *ctx, const char *folder, const mfpg_pde_solution *s, const mfpg_pde_model *model) {
    static const char COLUMNS[] =
        "time,type,weight,share,mean,variance,mean_control,mass,free_energy,paper_mass";
    mfpg_table_file *file;
    mfpg_status status = mfpg_table_file_open(ctx, folder, "moments.csv", COLUMNS, &file);
    if (status != MFPG_OK) return status;
    for (ptrdiff_t row = 0; row < (s->steps + 1) * s->types; row++) {
        ptrdiff_t time = row / s->types, type = row % s->types;
        const mfpg_pde_moments *m = &s->moments[type * (s->steps + 1) + time];
        mfpg_table_file_row(file, "ninnnnnnnn", (double)time * s->time_step, (int64_t)type,
            model->weight[type], model->share ? model->share[type] : 1.0 / (double)s->types, m->mean,
            m->variance, m->mean_control, m->mass, m->free_energy, m->paper_mass);
    }
    return mfpg_table_file_close(ctx, file);
}

mfpg_status mfpg_pde_solution_write(
    mfpg_context *ctx, const mfpg_pde_solution *s, const mfpg_pde_model *model, const char *folder) {
    const ptrdiff_t shape[] = {s->types, s->steps + 1, s->nodes};
    mfpg_status status = mfpg_folder_create(ctx, folder);
    if (status == MFPG_OK) status = mfpg_file_write_npy(ctx, folder, "value.npy", "<f8", s->value, shape, 3);
    if (status == MFPG_OK)
        status = mfpg_file_write_npy(ctx, folder, "control.npy", "<f8", s->control, shape, 3);
    if (status == MFPG_OK)
        status = mfpg_file_write_npy(ctx, folder, "density.npy", "<f8", s->density, shape, 3);
    if (status == MFPG_OK) status = write_axis(ctx, folder, "nodes.npy", s->low, s->step, s->nodes);
    if (status == MFPG_OK) status = write_axis(ctx, folder, "times.npy", 0.0, s->time_step, s->steps + 1);
    if (status == MFPG_OK) status = write_moments(ctx, folder, s, model);
    return status;
}
