#include "schema.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/names.h"

static int is_dropped(const mfpg_data_options *options, const char *name) {
    for (ptrdiff_t i = 0; i < options->drop_count; i++)
        if (strcmp(options->drop_columns[i], name) == 0) return 1;
    return 0;
}

static mfpg_status fail_foreign_column(
    mfpg_context *ctx, const mfpg_table *table, const mfpg_table *first, const char *name) {
    const char *nearest = mfpg_names_nearest(name, (const char *const *)first->names.keys, first->columns);
    return mfpg_fail(ctx, MFPG_ERR_INPUT,
        "%s: column \"%s\" is not in %s%s%s%s; data.drop_columns leaves it out", table->path, name,
        first->path, nearest ? " (nearest: \"" : "", nearest ? nearest : "", nearest ? "\")" : "");
}

/* Columns of the first file, then the columns of later files that the first lacks: dropped ones, and all of a sparse
 * format. */
static mfpg_status gather_names(mfpg_context *ctx, const mfpg_data_options *options, const mfpg_table *tables,
    ptrdiff_t count, mfpg_schema *schema) {
    for (ptrdiff_t t = 0; t < count; t++) {
        for (ptrdiff_t i = 0; i < tables[t].columns; i++) {
            const char *name = tables[t].names.keys[i];
            ptrdiff_t known = schema->names.count, number;
            number = mfpg_lookup_add(&schema->names, mfpg_slice_of(name));
            if (number < 0) return mfpg_fail_memory(ctx);
            if (number == known && t > 0 && !tables[0].sparse && !is_dropped(options, name))
                return fail_foreign_column(ctx, &tables[t], &tables[0], name);
        }
    }
    schema->columns = schema->names.count;
    schema->column = mfpg_alloc(schema->columns, sizeof *schema->column);
    return schema->column ? MFPG_OK : mfpg_fail_memory(ctx);
}

/* The number of the column that an option names. */
static mfpg_status find_column(mfpg_context *ctx, const mfpg_table *first, const mfpg_schema *schema,
    const char *option, const char *name, ptrdiff_t *column) {
    *column = mfpg_lookup_find(&schema->names, mfpg_slice_of(name));
    if (*column >= 0) return MFPG_OK;
    char noun[512];
    snprintf(noun, sizeof noun, "%s of %s", option, first->path);
    return mfpg_names_unknown(ctx, noun, name, (const char *const *)schema->names.keys, schema->columns);
}

static mfpg_status fail_role(mfpg_context *ctx, const char *option, const char *name, mfpg_role role) {
    const char *words[] = {[MFPG_ROLE_CATEGORY] = "listed twice",
        [MFPG_ROLE_LABEL] = "the label",
        [MFPG_ROLE_CLIENT] = "the partition column",
        [MFPG_ROLE_DROPPED] = "in data.drop_columns"};
    return mfpg_fail(ctx, MFPG_ERR_INPUT, "%s: column \"%s\" is %s", option, name, words[role]);
}

static mfpg_status assign_label(
    mfpg_context *ctx, const mfpg_data_options *options, const mfpg_table *first, mfpg_schema *schema) {
    const char *name = options->label_column;
    if (!name) name = first->names.keys[first->label];
    mfpg_status status = find_column(ctx, first, schema, "data.label.column", name, &schema->label);
    if (status != MFPG_OK) return status;
    mfpg_column *column = &schema->column[schema->label];
    if (column->role != MFPG_ROLE_NUMBER) return fail_role(ctx, "data.label.column", name, column->role);
    column->role = MFPG_ROLE_LABEL;
    return MFPG_OK;
}

static mfpg_status assign_roles(
    mfpg_context *ctx, const mfpg_data_options *options, const mfpg_table *first, mfpg_schema *schema) {
    ptrdiff_t number;
    mfpg_status status = MFPG_OK;
    for (ptrdiff_t i = 0; i < options->drop_count && status == MFPG_OK; i++) {
        status = find_column(ctx, first, schema, "data.drop_columns", options->drop_columns[i], &number);
        if (status == MFPG_OK) schema->column[number].role = MFPG_ROLE_DROPPED;
    }
    if (status == MFPG_OK && options->partition == MFPG_PARTITION_COLUMN) {
        status = find_column(ctx, first, schema, "data.partition.column", options->partition_column, &number);
        if (status != MFPG_OK) return status;
        schema->column[number].role = MFPG_ROLE_CLIENT; /* dropped or not */
        schema->client = number;
    }
    if (status == MFPG_OK) status = assign_label(ctx, options, first, schema);
    for (ptrdiff_t i = 0; i < options->category_count && status == MFPG_OK; i++) {
        const mfpg_category *listed = &options->categories[i];
        status = find_column(ctx, first, schema, "data.categories", listed->column, &number);
        if (status != MFPG_OK) break;
        mfpg_column *column = &schema->column[number];
        if (column->role != MFPG_ROLE_NUMBER)
            return fail_role(ctx, "data.categories", listed->column, column->role);
        column->role = MFPG_ROLE_CATEGORY;
        status = mfpg_category_open(ctx, listed, &column->category);
    }
    return status;
}

static mfpg_status number_features(mfpg_context *ctx, mfpg_schema *schema) {
    for (ptrdiff_t i = 0; i < schema->columns; i++) {
        mfpg_column *column = &schema->column[i];
        column->feature = schema->features;
        if (column->role == MFPG_ROLE_NUMBER) schema->features++;
        if (column->role == MFPG_ROLE_CATEGORY) schema->features += column->category.listed->count - 1;
    }
    if (schema->features > 0) return MFPG_OK;
    return mfpg_fail(ctx, MFPG_ERR_INPUT, "data: no feature column is left beside the label");
}

/* Finds every used column in every file. */
static mfpg_status place_columns(
    mfpg_context *ctx, const mfpg_table *tables, ptrdiff_t count, mfpg_schema *schema) {
    schema->place = mfpg_alloc(count, (size_t)schema->columns * sizeof *schema->place);
    if (!schema->place) return mfpg_fail_memory(ctx);
    for (ptrdiff_t t = 0; t < count; t++) {
        for (ptrdiff_t i = 0; i < schema->columns; i++) {
            const char *name = schema->names.keys[i];
            ptrdiff_t own = mfpg_lookup_find(&tables[t].names, mfpg_slice_of(name));
            schema->place[t * schema->columns + i] = (int32_t)own;
            mfpg_role role = schema->column[i].role;
            if (own >= 0 || role == MFPG_ROLE_DROPPED || (tables[t].sparse && role == MFPG_ROLE_NUMBER))
                continue;
            return mfpg_fail(ctx, MFPG_ERR_INPUT, "%s: no column \"%s\", which %s has", tables[t].path, name,
                t > 0 ? tables[0].path : "another file");
        }
    }
    return MFPG_OK;
}

mfpg_status mfpg_schema_make(mfpg_context *ctx, const mfpg_data_options *options, const mfpg_table *tables,
    ptrdiff_t count, mfpg_schema *schema) {
    schema->client = -1;
    mfpg_status status = gather_names(ctx, options, tables, count, schema);
    if (status == MFPG_OK) status = assign_roles(ctx, options, &tables[0], schema);
    if (status == MFPG_OK) status = number_features(ctx, schema);
    if (status == MFPG_OK) status = place_columns(ctx, tables, count, schema);
    return status;
}

/* "column=value", or the column alone where value is NULL. */
static char *feature_name(const char *column, const char *value) {
    size_t length = strlen(column) + 1 + (value ? strlen(value) : 0);
    char *name = mfpg_alloc((ptrdiff_t)length + 1, 1);
    if (name) snprintf(name, length + 1, "%s%s%s", column, value ? "=" : "", value ? value : "");
    return name;
}

mfpg_status mfpg_schema_name_features(mfpg_context *ctx, const mfpg_schema *schema, char **names) {
    for (ptrdiff_t i = 0; i < schema->columns; i++) {
        const mfpg_column *column = &schema->column[i];
        const char *name = schema->names.keys[i];
        if (column->role == MFPG_ROLE_NUMBER && !(names[column->feature] = feature_name(name, NULL)))
            return mfpg_fail_memory(ctx);
        if (column->role != MFPG_ROLE_CATEGORY) continue;
        for (ptrdiff_t v = 1; v < column->category.listed->count; v++)
            if (!(names[column->feature + v - 1] = feature_name(name, column->category.listed->values[v])))
                return mfpg_fail_memory(ctx);
    }
    return MFPG_OK;
}

void mfpg_schema_clear(mfpg_schema *schema) {
    for (ptrdiff_t i = 0; schema->column && i < schema->columns; i++)
        mfpg_category_close(&schema->column[i].category);
    mfpg_lookup_clear(&schema->names);
    free(schema->column);
    free(schema->place);
    *schema = (mfpg_schema){0};
}
