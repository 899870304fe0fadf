/* Files of suite attack: its tables as CSV, and the gnuplot scripts that draw them. */
#include <math.h>
#include <stdlib.h>

#include "base/csv_writer.h"
#include "base/embedded.h"
#include "base/error.h"
#include "base/file.h"
#include "base/number.h"
#include "bench_attack.h"
#include "report/figure_files.h"

enum { CURVE = 121 }; /* points of the exact curve and of the paper's, from 1 to 1000 rounds */

static mfpg_status open_csv(mfpg_context *ctx, const char *folder, const char *name, const char *header,
    mfpg_file *file, mfpg_csv *csv) {
    char *path = mfpg_path_join(folder, name);
    mfpg_status status = path ? mfpg_file_create(ctx, path, file) : mfpg_fail_memory(ctx);
    free(path);
    if (status != MFPG_OK) return status;
    *csv = (mfpg_csv){.stream = file->stream};
    mfpg_csv_header(csv, header);
    return MFPG_OK;
}

/* ---- the counterexample ---- */

static void write_curve(mfpg_csv *csv) {
    double last = 0.0;
    for (int i = 0; i < CURVE; i++) {
        double rounds = round(pow(1000.0, (double)i / (CURVE - 1)));
        if (rounds == last) continue;
        last = rounds;
        mfpg_csv_text(csv, "curve");
        mfpg_csv_number(csv, rounds);
        mfpg_csv_text(csv, "");
        mfpg_csv_number(csv, bench_attack_exact(rounds));
        mfpg_csv_number(csv, bench_attack_paper(rounds));
        for (int k = 0; k < 3; k++) mfpg_csv_text(csv, "");
        mfpg_csv_end_row(csv);
    }
}

static void write_attack(mfpg_csv *csv, const bench_cell *c) {
    mfpg_csv_text(csv, "attack");
    mfpg_csv_number(csv, c->swept);
    mfpg_csv_integer(csv, c->seed);
    mfpg_csv_number(csv, bench_attack_exact(c->swept));
    mfpg_csv_number(csv, c->paper_delta);
    mfpg_csv_number(csv, c->attack.distance_least);
    mfpg_csv_number(csv, c->attack.distance_proved);
    mfpg_csv_number(csv, c->attack.distance);
    mfpg_csv_end_row(csv);
}

static mfpg_status write_example(
    mfpg_context *ctx, const char *folder, const bench_cell *cells, ptrdiff_t count) {
    mfpg_file file;
    mfpg_csv csv;
    mfpg_status status = open_csv(ctx, folder, "attack.csv",
        "kind,rounds,seed,exact,paper,proved_least,proved_most,certified", &file, &csv);
    if (status != MFPG_OK) return status;
    write_curve(&csv);
    for (ptrdiff_t i = 0; i < count; i++)
        if (bench_attack_is_example(&cells[i])) write_attack(&csv, &cells[i]);
    status = mfpg_file_commit(ctx, &file);
    return status == MFPG_OK ? mfpg_embedded_write(ctx, folder, "attack.gp") : status;
}

/* ---- the paper's table ---- */

/* place: where its bars stand, counted from 0 by quantity. */
static void write_setting(mfpg_csv *csv, const bench_cell *c, int place) {
    const bench_claim claim = bench_attack_claim(c);
    mfpg_csv_text(csv, bench_attack_is_entropic(c) ? "distance" : "epsilon");
    mfpg_csv_integer(csv, place);
    mfpg_csv_text(csv, c->task);
    mfpg_csv_text(csv, c->method);
    mfpg_csv_integer(csv, c->seed);
    mfpg_csv_integer(csv, c->attack.runs);
    mfpg_csv_text(csv, claim.printed ? claim.printed : "");
    mfpg_csv_number(csv, claim.formula);
    mfpg_csv_number(csv, claim.proved);
    mfpg_csv_number(csv, claim.proved_gaussian);
    mfpg_csv_number(csv, claim.certified);
    mfpg_csv_end_row(csv);
}

static mfpg_status write_table(
    mfpg_context *ctx, const char *folder, const bench_cell *cells, ptrdiff_t count) {
    mfpg_file file;
    mfpg_csv csv;
    int places[2] = {0, 0};
    mfpg_status status = open_csv(ctx, folder, "attack-table.csv",
        "quantity,place,task,method,seed,runs,printed,formula,proved,proved_gaussian,certified", &file, &csv);
    if (status != MFPG_OK) return status;
    for (ptrdiff_t i = 0; i < count; i++)
        if (!bench_attack_is_example(&cells[i]))
            write_setting(&csv, &cells[i], places[bench_attack_is_entropic(&cells[i])]++);
    status = mfpg_file_commit(ctx, &file);
    return status == MFPG_OK ? mfpg_embedded_write(ctx, folder, "attack-table.gp") : status;
}

mfpg_status bench_attack_write(
    mfpg_context *ctx, const char *folder, const bench_cell *cells, ptrdiff_t count) {
    mfpg_status status = mfpg_embedded_write(ctx, folder, "style.gp");
    if (status == MFPG_OK) status = mfpg_figure_remove(ctx, folder, "attack");
    if (status == MFPG_OK) status = mfpg_figure_remove(ctx, folder, "attack-table");
    if (status == MFPG_OK && bench_attack_is_example(&cells[0]))
        status = write_example(ctx, folder, cells, count);
    return status == MFPG_OK ? write_table(ctx, folder, cells, count) : status;
}
