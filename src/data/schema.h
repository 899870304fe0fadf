/* The role of each column, and its place in each file. */
#ifndef MFPG_DATA_SCHEMA_H
#define MFPG_DATA_SCHEMA_H

#include "mfpg/dataset.h"

#include "table.h"

typedef enum mfpg_role {
    MFPG_ROLE_NUMBER = 0, /* one feature */
    MFPG_ROLE_CATEGORY,   /* one feature for each value except the first */
    MFPG_ROLE_LABEL,
    MFPG_ROLE_CLIENT, /* the partition column */
    MFPG_ROLE_DROPPED
} mfpg_role;

typedef struct mfpg_column {
    mfpg_role role;
    const mfpg_category *category; /* of a category column */
    mfpg_lookup values;            /* for a category: a value's place in its list */
    /* the first feature made from the column, and the number of such features */
    ptrdiff_t feature, width;
} mfpg_column;

/* All zero is an empty schema. */
typedef struct mfpg_schema {
    /* the columns, in the order of the first file, then those that only later files have */
    mfpg_lookup names;
    ptrdiff_t columns, features;
    mfpg_column *column; /* columns */
    ptrdiff_t label;     /* the label's column */
    ptrdiff_t client;    /* the partition column, or -1 */
    int32_t *place;      /* tables x columns: the number of the column in the table; -1: the table lacks it */
} mfpg_schema;

/* Gives every column its role. Files match by column names; errors are a used column that one file lacks, a name in the
 * options that no file has, and a list of categories that is empty or names a value twice. */
mfpg_status mfpg_schema_make(mfpg_context *ctx, const mfpg_data_options *options, const mfpg_table *tables,
    ptrdiff_t count, mfpg_schema *schema);

/* Lists the names of the features: the column's, or "column=value". */
mfpg_status mfpg_schema_name_features(mfpg_context *ctx, const mfpg_schema *schema, char **names);

void mfpg_schema_clear(mfpg_schema *schema);

#endif
