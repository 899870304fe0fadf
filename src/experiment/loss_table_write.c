/* A loss table as a file that game.loss_table reads. */
#include <inttypes.h>

#include "mfpg/loss_table.h"

#include "base/csv_writer.h"
#include "base/file.h"
#include "base/number.h"

/* Comment lines start with a bar, which the reader of csv passes over. */
static void write_comments(FILE *out, const mfpg_loss_table *table) {
    char reference[MFPG_NUMBER_SIZE], omega[MFPG_NUMBER_SIZE], moved[MFPG_NUMBER_SIZE];
    fprintf(out, "| Loss of a client against its own action,\n| " MFPG_LOSS_TABLE_NOTE "\n");
    fprintf(out,
        "| %td clients, the last %" PRId64 " rounds, %" PRId64
        " draws of noise a round; everybody else at action %s; personalisation %s\n",
        table->clients, table->rounds, table->draws, mfpg_number_format(table->reference, reference),
        mfpg_number_format(table->personalisation, omega));
    fprintf(out,
        "| loss: measured, pooled where it fell with the own noise (%td actions, by at most %s). Errors are "
        "standard errors;\n"
        "| difference is to the first action, with common random numbers\n",
        table->pooled, mfpg_number_format(table->moved_most, moved));
}

mfpg_status mfpg_loss_table_write(mfpg_context *ctx, const mfpg_loss_table *table, const char *path) {
    mfpg_file file;
    mfpg_status status = mfpg_file_create(ctx, path, &file);
    if (status != MFPG_OK) return status;
    write_comments(file.stream, table);
    mfpg_csv csv = {.stream = file.stream};
    mfpg_csv_header(&csv, "action,loss,measured,standard_error,difference,difference_error,samples,control");
    for (ptrdiff_t j = 0; j < table->count; j++) {
        const mfpg_loss_row *row = &table->row[j];
        mfpg_csv_number(&csv, row->action);
        mfpg_csv_number(&csv, row->loss);
        mfpg_csv_number(&csv, row->measured);
        mfpg_csv_number(&csv, row->standard_error);
        mfpg_csv_number(&csv, row->difference);
        mfpg_csv_number(&csv, row->difference_error);
        mfpg_csv_integer(&csv, table->rounds * table->draws * (int64_t)table->clients);
        mfpg_csv_text(&csv, table->control == MFPG_CONTROL_BUDGET ? "budget" : "strength");
        mfpg_csv_end_row(&csv);
    }
    return mfpg_file_commit(ctx, &file);
}
