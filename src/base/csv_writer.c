#include "csv_writer.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

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
