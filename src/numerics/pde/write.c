/* A solution as files. */
#include <stdlib.h>

#include "base/csv_writer.h"
#include "base/error.h"
#include "base/file.h"
#include "base/memory.h"
#include "base/npy_header.h"
#include "mfpg/pde.h"

static mfpg_status write_array(mfpg_context *ctx, const char *folder, const char *name, const double *values,
    const ptrdiff_t *shape, int rank) {
    mfpg_file file;
    mfpg_status status = mfpg_file_create_in(ctx, folder, name, &file);
    if (status != MFPG_OK) return status;
    size_t count = 1;
    for (int i = 0; i < rank; i++) count *= (size_t)shape[i];
    mfpg_npy_write_header(file.stream, "<f8", shape, rank);
    fwrite(values, sizeof *values, count, file.stream);
    return mfpg_file_commit(ctx, &file);
}

/* first, first + step, ... */
static mfpg_status write_axis(
    mfpg_context *ctx, const char *folder, const char *name, double first, double step, ptrdiff_t count) {
    double *axis = mfpg_alloc(count, sizeof *axis);
    if (!axis) return mfpg_fail_memory(ctx);
    for (ptrdiff_t i = 0; i < count; i++) axis[i] = first + (double)i * step;
    mfpg_status status = write_array(ctx, folder, name, axis, &count, 1);
    free(axis);
    return status;
}

static void write_row(
    mfpg_csv *csv, const mfpg_pde_solution *s, const mfpg_pde_model *model, ptrdiff_t type, ptrdiff_t time) {
    const mfpg_pde_moments *m = &s->moments[type * (s->steps + 1) + time];
    const double numbers[] = {m->mean, m->variance, m->mean_control, m->mass, m->free_energy, m->paper_mass};
    mfpg_csv_number(csv, (double)time * s->time_step);
    mfpg_csv_integer(csv, type);
    mfpg_csv_number(csv, model->weight[type]);
    mfpg_csv_number(csv, model->share ? model->share[type] : 1.0 / (double)s->types);
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) mfpg_csv_number(csv, numbers[i]);
    mfpg_csv_end_row(csv);
}

static mfpg_status write_moments(
    mfpg_context *ctx, const char *folder, const mfpg_pde_solution *s, const mfpg_pde_model *model) {
    mfpg_file file;
    mfpg_status status = mfpg_file_create_in(ctx, folder, "moments.csv", &file);
    if (status != MFPG_OK) return status;
    mfpg_csv csv = {.stream = file.stream};
    fputs("time,type,weight,share,mean,variance,mean_control,mass,free_energy,paper_mass\n", file.stream);
    for (ptrdiff_t n = 0; n <= s->steps; n++)
        for (ptrdiff_t k = 0; k < s->types; k++) write_row(&csv, s, model, k, n);
    return mfpg_file_commit(ctx, &file);
}

mfpg_status mfpg_pde_solution_write(
    mfpg_context *ctx, const mfpg_pde_solution *s, const mfpg_pde_model *model, const char *folder) {
    const ptrdiff_t shape[] = {s->types, s->steps + 1, s->nodes};
    mfpg_status status = mfpg_folder_create(ctx, folder);
    if (status == MFPG_OK) status = write_array(ctx, folder, "value.npy", s->value, shape, 3);
    if (status == MFPG_OK) status = write_array(ctx, folder, "control.npy", s->control, shape, 3);
    if (status == MFPG_OK) status = write_array(ctx, folder, "density.npy", s->density, shape, 3);
    if (status == MFPG_OK) status = write_axis(ctx, folder, "nodes.npy", s->low, s->step, s->nodes);
    if (status == MFPG_OK) status = write_axis(ctx, folder, "times.npy", 0.0, s->time_step, s->steps + 1);
    if (status == MFPG_OK) status = write_moments(ctx, folder, s, model);
    return status;
}
