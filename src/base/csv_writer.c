#include "csv_writer.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "error.h"
#include "file.h"
#include "memory.h"
#include "number.h"

static void begin_field(mfpg_csv *csv) {
    if (csv->fields++ > 0) fputc(',', csv->stream);
}

void mfpg_csv_text(mfpg_csv *csv, const char *text) {
    begin_field(csv);
    if (!strpbrk(text, ",\"\r\n")) {
        fputs(text, csv->stream);
        return;
    }
    fputc('"', csv->stream);
    for (const char *at = text; *at; at++) {
        if (*at == '"') fputc('"', csv->stream);
        fputc(*at, csv->stream);
    }
    fputc('"', csv->stream);
}

void mfpg_csv_integer(mfpg_csv *csv, int64_t value) {
    begin_field(csv);
    fprintf(csv->stream, "%" PRId64, value);
}

void mfpg_csv_number(mfpg_csv *csv, double value) {
    char text[MFPG_NUMBER_SIZE];
    begin_field(csv);
    if (!isnan(value)) fputs(mfpg_number_format(value, text), csv->stream);
}

void mfpg_csv_end_row(mfpg_csv *csv) {
    fputc('\n', csv->stream);
    csv->fields = 0;
}

void mfpg_csv_header(mfpg_csv *csv, const char *names) {
    fputs(names, csv->stream);
    mfpg_csv_end_row(csv);
}

struct mfpg_table_file {
    mfpg_file file;
    mfpg_csv csv;
};

mfpg_status mfpg_table_file_open(
    mfpg_context *ctx, const char *folder, const char *name, const char *columns, mfpg_table_file **out) {
    mfpg_table_file *made = mfpg_alloc(1, sizeof *made);
    if (!made) return mfpg_fail_memory(ctx);
    mfpg_status status = folder ? mfpg_file_create_in(ctx, folder, name, &made->file)
                                : mfpg_file_create(ctx, name, &made->file);
    if (status != MFPG_OK) {
        free(made);
        return status;
    }
    made->csv.stream = made->file.stream;
    mfpg_csv_header(&made->csv, columns);
    *out = made;
    return MFPG_OK;
}

void mfpg_table_file_row(mfpg_table_file *file, const char *kinds, ...) {
    va_list cells;
    va_start(cells, kinds);
    for (; *kinds; kinds++) {
        if (*kinds == 't') {
            const char *text = va_arg(cells, const char *);
            mfpg_csv_text(&file->csv, text ? text : "");
        } else if (*kinds == 'i') {
            mfpg_csv_integer(&file->csv, va_arg(cells, int64_t));
        } else {
            mfpg_csv_number(&file->csv, va_arg(cells, double));
        }
    }
    va_end(cells);
    mfpg_csv_end_row(&file->csv);
}

mfpg_status mfpg_table_file_close(mfpg_context *ctx, mfpg_table_file *file) {
    mfpg_status status = mfpg_file_commit(ctx, &file->file);
    free(file);
    return status;
}
