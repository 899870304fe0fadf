/* The studies' numbers as CSV files. */
#include <math.h>

#include "base/csv_writer.h"
#include "base/file.h"
#include "games.h"

static void write_line(mfpg_csv *csv, const mfpg_convergence *of, const mfpg_convergence_line *line) {
    for (ptrdiff_t i = 0; i < of->rungs; i++) {
        mfpg_csv_text(csv, line->name);
        mfpg_csv_integer(csv, of->population[i]);
        mfpg_csv_integer(csv, line->repeats);
        mfpg_csv_number(csv, line->value[i]);
        mfpg_csv_number(csv, line->standard_error[i]);
        mfpg_csv_integer(csv, i >= line->first && line->value[i] > 0.0 && line->value[i] >= line->floor);
        mfpg_csv_end_row(csv);
    }
}

mfpg_status mfpg_convergence_write(
    mfpg_context *ctx, const mfpg_convergence *const *convergence, ptrdiff_t count, const char *path) {
    mfpg_file file;
    mfpg_status status = mfpg_file_create(ctx, path, &file);
    if (status != MFPG_OK) return status;
    mfpg_csv csv = {.stream = file.stream};
    mfpg_csv_header(&csv, "line,population,repeats,value,standard_error,fitted");
    for (ptrdiff_t i = 0; i < count; i++)
        for (ptrdiff_t l = 0; l < convergence[i]->line_count; l++)
            write_line(&csv, convergence[i], &convergence[i]->line[l]);
    return mfpg_file_commit(ctx, &file);
}

static void write_panel(mfpg_csv *csv, const char *panel, const char *reading, const double *x,
    const double *value, const double *error, ptrdiff_t count) {
    for (ptrdiff_t i = 0; i < count; i++) {
        mfpg_csv_text(csv, panel);
        mfpg_csv_text(csv, reading);
        mfpg_csv_number(csv, x[i]);
        mfpg_csv_number(csv, value[i]);
        mfpg_csv_number(csv, error[i]);
        mfpg_csv_end_row(csv);
    }
}

mfpg_status mfpg_figure_write(mfpg_context *ctx, const mfpg_figure *figure, const char *path) {
    mfpg_file file;
    mfpg_status status = mfpg_file_create(ctx, path, &file);
    if (status != MFPG_OK) return status;
    mfpg_csv csv = {.stream = file.stream};
    mfpg_csv_header(&csv, "panel,reading,x,value,standard_error");
    for (ptrdiff_t i = 0; i < figure->reading_count; i++) {
        const mfpg_panels *p = &figure->panels[i];
        const char *name = p->reading.name;
        ptrdiff_t points = figure->beta_count;
        write_panel(&csv, "mean", name, figure->beta, p->mean, p->mean_error, points);
        write_panel(&csv, "delta", name, figure->beta, p->delta, p->delta_error, points);
        write_panel(&csv, "delta_at_mean", name, figure->beta, p->at_mean, p->at_mean_error, points);
        write_panel(&csv, "privacy", name, figure->beta, p->privacy, p->privacy_error, points);
        write_panel(
            &csv, "histogram", name, mfpg_reading_action, p->count, p->count_error, MFPG_READING_ACTIONS);
    }
    return mfpg_file_commit(ctx, &file);
}
