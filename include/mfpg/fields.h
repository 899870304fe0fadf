/** The fields of the records that a run, an audit or a game writes. Each record has one table of fields. Its
 *  CSV files, its JSON object, the checks of both when they are read, its table in Python and its description
 *  (`mfpg list fields`) are made from that table. */
#ifndef MFPG_FIELDS_H
#define MFPG_FIELDS_H

#include <stddef.h>

/** The C type of a field, and how a missing value is written. */
typedef enum mfpg_field_kind {
    MFPG_FIELD_NUMBER = 0, /* double; NAN is written as an empty cell or null, infinity as inf or "inf" */
    MFPG_FIELD_MAGNITUDE,  /* the same, and never negative */
    MFPG_FIELD_COUNT,      /* int64_t or ptrdiff_t, never negative */
    MFPG_FIELD_INDEX,      /* int64_t; below 0: an empty cell, null */
    MFPG_FIELD_TRUTH,      /* int; below 0: "unknown" */
    MFPG_FIELD_TEXT        /* const char *; NULL is written as an empty cell or null */
} mfpg_field_kind;

typedef struct mfpg_record_field {
    const char *name; /* name in files and in Python; "a.b" is key b of the object a in JSON */
    mfpg_field_kind kind;
    int places;       /* bits, defined in the record's header, of the files and objects that have the field */
    ptrdiff_t offset; /* bytes from the beginning of the record */
    const char *help; /* what it is, with its unit */
} mfpg_record_field;

typedef struct mfpg_fields {
    const char *record; /* what has these fields, for people */
    const mfpg_record_field *field;
    ptrdiff_t count;
} mfpg_fields;

/** Bits of `places` that mean the same in every record. */
enum {
    MFPG_FIELD_JSON = 1 << 0,
    MFPG_FIELD_PYTHON = 1 << 1,
    MFPG_FIELD_OPTIONAL = 1 << 2 /* a CSV file can be read without this column */
};

#endif
