/* full_benchmark.csv: one row a training run. */
#include <stdlib.h>

#include "base/csv_writer.h"
#include "base/error.h"
#include "base/file.h"
#include "bench.h"

static void write_cell(mfpg_csv *csv, const bench_cell *c) {
    mfpg_csv_text(csv, c->suite);
    mfpg_csv_text(csv, c->task);
    mfpg_csv_text(csv, c->method);
    mfpg_csv_number(csv, c->target_epsilon);
    mfpg_csv_integer(csv, c->seed);
    mfpg_csv_integer(csv, c->clients);
    mfpg_csv_integer(csv, c->rows);
    mfpg_csv_integer(csv, c->rounds);
    mfpg_csv_text(csv, mfpg_unit_name(c->promise.unit));
    mfpg_csv_text(csv, mfpg_adjacency_name(c->promise.adjacency));
    mfpg_csv_text(csv, mfpg_view_name(c->promise.view));
    mfpg_csv_text(csv, c->accountant);
    mfpg_csv_number(csv, c->loss);
    mfpg_csv_text(csv, c->client_sum ? "client-sum" : "mean");
    mfpg_csv_number(csv, c->accuracy);
    mfpg_csv_number(csv, c->epsilon);
    mfpg_csv_number(csv, c->epsilon_min);
    mfpg_csv_number(csv, c->epsilon_mean);
    mfpg_csv_number(csv, c->mu);
    mfpg_csv_number(csv, c->delta);
    mfpg_csv_number(csv, c->paper_epsilon);
    mfpg_csv_number(csv, c->paper_delta);
    mfpg_csv_number(csv, c->mean_action);
    mfpg_csv_end_row(csv);
}

mfpg_status bench_write_csv(mfpg_context *ctx, const char *folder, const bench_list *list) {
    mfpg_file file;
    mfpg_status status = mfpg_file_create_in(ctx, folder, "full_benchmark.csv", &file);
    if (status != MFPG_OK) return status;
    mfpg_csv csv = {.stream = file.stream};
    mfpg_csv_header(&csv,
        "suite,task,method,target_epsilon,seed,clients,rows,rounds,unit,adjacency,view,accountant,loss,"
        "loss_kind,accuracy,epsilon,epsilon_min,epsilon_mean,mu,delta,paper_epsilon,paper_delta,mean_action");
    for (ptrdiff_t i = 0; i < list->count; i++) write_cell(&csv, &list->cell[i]);
    return mfpg_file_commit(ctx, &file);
}
