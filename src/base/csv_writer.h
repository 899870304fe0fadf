/* The only writer of CSV: RFC 4180 quoting, shortest round-trip numbers, missing values as empty fields. */
#ifndef MFPG_BASE_CSV_WRITER_H
#define MFPG_BASE_CSV_WRITER_H

#include <stdint.h>
#include <stdio.h>

typedef struct mfpg_csv {
    FILE *stream;
    int fields; /* written in the current row */
} mfpg_csv;

void mfpg_csv_text(mfpg_csv *csv, const char *text);
void mfpg_csv_integer(mfpg_csv *csv, int64_t value);
void mfpg_csv_number(mfpg_csv *csv, double value); /* NAN: an empty field; infinity: inf */
void mfpg_csv_end_row(mfpg_csv *csv);

/* Writes a whole row of texts given as "a,b,c" (none of which needs quotes). */
void mfpg_csv_header(mfpg_csv *csv, const char *names);

#endif
