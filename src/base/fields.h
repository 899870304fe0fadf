/* Records are written and checked by their tables of fields. A field belongs to a file or object if they
 * share a bit of `places`. */
#ifndef MFPG_BASE_FIELDS_H
#define MFPG_BASE_FIELDS_H

#include <jansson.h>

#include "mfpg/context.h"
#include "mfpg/fields.h"

#include "csv_writer.h"
#include "number.h"

/* A table from its array. */
#define MFPG_FIELDS(record, array)                                                                           \
    { record, array, sizeof(array) / sizeof(array)[0] }

/* CSV: writes the row of names, and a row of values. */
void mfpg_fields_csv_header(mfpg_csv *csv, const mfpg_fields *fields, int places);
void mfpg_fields_csv_row(mfpg_csv *csv, const mfpg_fields *fields, int places, const void *record);

/* Returns the field of that name in those places; NULL if there is none. */
const mfpg_record_field *mfpg_fields_find(const mfpg_fields *fields, int places, const char *name);

/* 1 if the field holds a number. */
int mfpg_field_is_number(const mfpg_record_field *field);

/* Returns a field's number; NAN if it has none. */
double mfpg_field_number(const mfpg_record_field *field, const void *record);

/* Returns a field as it is written in CSV, in `text` or as the field's own text; empty if it has no value. */
const char *mfpg_field_text(const mfpg_record_field *field, const void *record, char text[MFPG_NUMBER_SIZE]);

/* Returns a new object with the fields in their order, or NULL if memory runs out. */
json_t *mfpg_fields_json(const mfpg_fields *fields, int places, const void *record);

/* Fails with MFPG_ERR_INPUT, and a message that begins with `where` and the field's name, unless the object
 * has a value of the right kind for every field of these places. Numbers may be null, "inf", "-inf" if they
 * can be negative, or missing. */
mfpg_status mfpg_fields_check(
    mfpg_context *ctx, const mfpg_fields *fields, int places, const json_t *object, const char *where);

/* Returns a number for JSON: null for NAN, "inf" and "-inf" for infinities. */
json_t *mfpg_json_number(double value);

#endif
