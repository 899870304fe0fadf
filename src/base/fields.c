#include "fields.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "error.h"

_Static_assert(sizeof(ptrdiff_t) == sizeof(int64_t), "a count is an int64_t or a ptrdiff_t");

/* ---- values ---- */

static const void *value_at(const mfpg_record_field *field, const void *record) {
    return (const char *)record + field->offset;
}

static double real_of(const mfpg_record_field *field, const void *record) {
    return *(const double *)value_at(field, record);
}

static int64_t integer_of(const mfpg_record_field *field, const void *record) {
    int64_t value;
    memcpy(&value, value_at(field, record), sizeof value); /* an int64_t or a ptrdiff_t */
    return value;
}

static int truth_of(const mfpg_record_field *field, const void *record) {
    return *(const int *)value_at(field, record);
}

static const char *text_of(const mfpg_record_field *field, const void *record) {
    return *(const char *const *)value_at(field, record);
}

const mfpg_record_field *mfpg_fields_find(const mfpg_fields *fields, int places, const char *name) {
    for (const mfpg_record_field *f = fields->field; f < fields->field + fields->count; f++)
        if ((f->places & places) && strcmp(f->name, name) == 0) return f;
    return NULL;
}

int mfpg_field_is_number(const mfpg_record_field *field) {
    return field->kind != MFPG_FIELD_TEXT && field->kind != MFPG_FIELD_TRUTH;
}

double mfpg_field_number(const mfpg_record_field *field, const void *record) {
    switch (field->kind) {
    case MFPG_FIELD_NUMBER:
    case MFPG_FIELD_MAGNITUDE: return real_of(field, record);
    case MFPG_FIELD_COUNT: return (double)integer_of(field, record);
    case MFPG_FIELD_INDEX:
        return integer_of(field, record) < 0 ? (double)NAN : (double)integer_of(field, record);
    default: return NAN;
    }
}

const char *mfpg_field_text(const mfpg_record_field *field, const void *record, char text[MFPG_NUMBER_SIZE]) {
    if (field->kind == MFPG_FIELD_TEXT) return text_of(field, record) ? text_of(field, record) : "";
    if (field->kind == MFPG_FIELD_TRUTH) {
        snprintf(text, MFPG_NUMBER_SIZE, "%d", truth_of(field, record));
    } else if (isnan(mfpg_field_number(field, record))) {
        text[0] = 0;
    } else if (field->kind == MFPG_FIELD_COUNT || field->kind == MFPG_FIELD_INDEX) {
        snprintf(text, MFPG_NUMBER_SIZE, "%" PRId64, integer_of(field, record));
    } else {
        mfpg_number_format(real_of(field, record), text);
    }
    return text;
}

/* ---- CSV ---- */

void mfpg_fields_csv_header(mfpg_csv *csv, const mfpg_fields *fields, int places) {
    for (const mfpg_record_field *f = fields->field; f < fields->field + fields->count; f++)
        if (f->places & places) mfpg_csv_text(csv, f->name);
    mfpg_csv_end_row(csv);
}

void mfpg_fields_csv_row(mfpg_csv *csv, const mfpg_fields *fields, int places, const void *record) {
    char text[MFPG_NUMBER_SIZE];
    for (const mfpg_record_field *f = fields->field; f < fields->field + fields->count; f++)
        if (f->places & places) mfpg_csv_text(csv, mfpg_field_text(f, record, text));
    mfpg_csv_end_row(csv);
}

/* ---- JSON ---- */

json_t *mfpg_json_number(double value) {
    if (isnan(value)) return json_null();
    if (isinf(value)) return json_string(value > 0 ? "inf" : "-inf");
    return json_real(value);
}

static json_t *value_json(const mfpg_record_field *field, const void *record) {
    switch (field->kind) {
    case MFPG_FIELD_NUMBER:
    case MFPG_FIELD_MAGNITUDE: return mfpg_json_number(real_of(field, record));
    case MFPG_FIELD_COUNT: return json_integer(integer_of(field, record));
    case MFPG_FIELD_INDEX:
        return integer_of(field, record) < 0 ? json_null() : json_integer(integer_of(field, record));
    case MFPG_FIELD_TRUTH:
        return truth_of(field, record) < 0 ? json_string("unknown") : json_boolean(truth_of(field, record));
    default: return text_of(field, record) ? json_string(text_of(field, record)) : json_null();
    }
}

/* Sets "a.b" as key b of the object a, which is created if it does not exist. Takes ownership of the value. */
static int set_path(json_t *object, const char *path, json_t *value) {
    char key[64];
    const char *dot = strchr(path, '.');
    if (!dot) return json_object_set_new(object, path, value);
    snprintf(key, sizeof key, "%.*s", (int)(dot - path), path);
    if (!json_object_get(object, key)) json_object_set_new(object, key, json_object());
    return json_object_set_new(json_object_get(object, key), dot + 1, value);
}

json_t *mfpg_fields_json(const mfpg_fields *fields, int places, const void *record) {
    json_t *object = json_object();
    int failed = !object;
    for (const mfpg_record_field *f = fields->field; f < fields->field + fields->count && !failed; f++)
        if (f->places & places) failed = set_path(object, f->name, value_json(f, record)) != 0;
    if (!failed) return object;
    json_decref(object);
    return NULL;
}

/* ---- checks ---- */

static int is_number(const json_t *value, int negative) {
    if (!value || json_is_null(value)) return 1;
    if (json_is_string(value))
        return strcmp(json_string_value(value), "inf") == 0 ||
               (negative && strcmp(json_string_value(value), "-inf") == 0);
    return json_is_number(value) && (negative || json_number_value(value) >= 0.0);
}

/* Returns what a value must be if it is not; NULL if it is valid. */
static const char *fault_of(const mfpg_record_field *field, const json_t *value) {
    switch (field->kind) {
    case MFPG_FIELD_NUMBER: return is_number(value, 1) ? NULL : "a number";
    case MFPG_FIELD_TRUTH: return json_is_boolean(value) ? NULL : "true or false";
    case MFPG_FIELD_TEXT: return json_is_string(value) ? NULL : "a text";
    default: return is_number(value, 0) ? NULL : "a number from 0";
    }
}

mfpg_status mfpg_fields_check(
    mfpg_context *ctx, const mfpg_fields *fields, int places, const json_t *object, const char *where) {
    for (const mfpg_record_field *f = fields->field; f < fields->field + fields->count; f++) {
        const char *want = f->places & places ? fault_of(f, json_object_get(object, f->name)) : NULL;
        if (want) return mfpg_fail(ctx, MFPG_ERR_INPUT, "%s%s: missing, or not %s", where, f->name, want);
    }
    return MFPG_OK;
}
