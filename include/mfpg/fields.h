/** The fields of the records that a run, an audit or a game writes. Each record has one table; its CSV files, its JSON object, the
 *  checks of both when they are read, its table in Python and its description (`mfpg list fields`) come from that table. */
#ifndef MFPG_FIELDS_H
#define MFPG_FIELDS_H

#include <stddef.h>

/** The C type of a field, and how it is written if it has no value. */
typedef enum mfpg_field_kind {
    MFPG_FIELD_NUMBER = 0, /* double; NAN: an empty cell, null. Infinity: inf, "inf" */
    MFPG_FIELD_MAGNITUDE,  /* the same, and never negative */
    MFPG_FIELD_COUNT,      /* int64_t or ptrdiff_t, never negative */
    MFPG_FIELD_INDEX,      /* int64_t; below 0: an empty cell, null */
    MFPG_FIELD_TRUTH,      /* int; below 0: "unknown" */
    MFPG_FIELD_TEXT        /* const char *; NULL: an empty cell, null */
} mfpg_field_kind;

typedef struct mfpg_record_field {
    const char *name; /* in files and in Python; "a.b" in JSON: key b of the object a */
    mfpg_field_kind kind;
    int places;       /* bits that the record's header defines: the files and objects that have the field */
    ptrdiff_t offset; /* bytes from the beginning of the record */
    const char *help; /* what it is, with its unit */
} mfpg_record_field;

typedef struct mfpg_fields {
    const char *record; /* what has these fields, for people */
    const mfpg_record_field *field;
    ptrdiff_t count;
} mfpg_fields;

/** Bits of places that mean the same in every record. */
enum {
    MFPG_FIELD_JSON = 1 << 0,
    MFPG_FIELD_PYTHON = 1 << 1,
    MFPG_FIELD_OPTIONAL = 1 << 2 /* a CSV file without this column can be read */
};

#endif
