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

static mfpg_status fail_extra_column(
    mfpg_context *ctx, const mfpg_table *table, const mfpg_table *first, const char *name) {
    const char *nearest = mfpg_names_nearest(name, (const char *const *)first->names.keys, first->columns);
    return mfpg_fail(ctx, MFPG_ERR_INPUT,
        "%s: column \"%s\" is not in %s%s%s%s; data.drop_columns leaves it out", table->path, name,
        first->path, nearest ? " (nearest: \"" : "", nearest ? nearest : "", nearest ? "\")" : "");
}

/* Lists the columns of the first file, then columns of later files that the first lacks (these are either
 * dropped, or the files are of a sparse format). */
static mfpg_status gather_names(mfpg_context *ctx, const mfpg_data_options *options, const mfpg_table *tables,
    ptrdiff_t count, mfpg_schema *schema) {
    for (ptrdiff_t t = 0; t < count; t++) {
        for (ptrdiff_t i = 0; i < tables[t].columns; i++) {
            const char *name = tables[t].names.keys[i];
            ptrdiff_t known = schema->names.count, number;
            number = mfpg_lookup_add(&schema->names, mfpg_slice_of(name));
            if (number < 0) return mfpg_fail_memory(ctx);
            if (number == known && t > 0 && !tables[0].sparse && !is_dropped(options, name))
                return fail_extra_column(ctx, &tables[t], &tables[0], name);
        }
    }
    schema->columns = schema->names.count;
    schema->column = mfpg_alloc(schema->columns, sizeof *schema->column);
    return schema->column ? MFPG_OK : mfpg_fail_memory(ctx);
}

/* Gives the column named by an option its role. A column may be both dropped and the partition column, but
 * the label and a category have no second role. */
static mfpg_status assign(mfpg_context *ctx, const mfpg_table *first, mfpg_schema *schema, const char *option,
    const char *name, mfpg_role role, ptrdiff_t *number) {
    static const char *const words[] = {[MFPG_ROLE_CATEGORY] = "listed twice",
        [MFPG_ROLE_LABEL] = "the label",
        [MFPG_ROLE_CLIENT] = "the partition column",
        [MFPG_ROLE_DROPPED] = "in data.drop_columns"};
    *number = mfpg_lookup_find(&schema->names, mfpg_slice_of(name));
    if (*number < 0) {
        char noun[512];
        snprintf(noun, sizeof noun, "%s of %s", option, first->path);
        return mfpg_names_unknown(ctx, noun, name, (const char *const *)schema->names.keys, schema->columns);
    }
    mfpg_column *column = &schema->column[*number];
    if ((role == MFPG_ROLE_LABEL || role == MFPG_ROLE_CATEGORY) && column->role != MFPG_ROLE_NUMBER)
        return mfpg_fail(ctx, MFPG_ERR_INPUT, "%s: column \"%s\" is %s", option, name, words[column->role]);
    column->role = role;
    return MFPG_OK;
}

static mfpg_status list_values(mfpg_context *ctx, const mfpg_category *category, mfpg_column *column) {
    column->category = category;
    if (category->count < 1)
        return mfpg_fail(
            ctx, MFPG_ERR_INPUT, "data.categories: column \"%s\" has no values", category->column);
    for (ptrdiff_t i = 0; i < category->count; i++) {
        ptrdiff_t number = mfpg_lookup_add(&column->values, mfpg_slice_of(category->values[i]));
        if (number < 0) return mfpg_fail_memory(ctx);
        if (number != i)
            return mfpg_fail(ctx, MFPG_ERR_INPUT, "data.categories: column \"%s\" lists \"%s\" twice",
                category->column, category->values[i]);
    }
    return MFPG_OK;
}

static mfpg_status assign_roles(
    mfpg_context *ctx, const mfpg_data_options *options, const mfpg_table *first, mfpg_schema *schema) {
    ptrdiff_t number;
    mfpg_status status = MFPG_OK;
    for (ptrdiff_t i = 0; i < options->drop_count && status == MFPG_OK; i++)
        status = assign(
            ctx, first, schema, "data.drop_columns", options->drop_columns[i], MFPG_ROLE_DROPPED, &number);
    schema->client = -1;
    if (status == MFPG_OK && options->partition == MFPG_PARTITION_COLUMN)
        status = assign(ctx, first, schema, "data.partition.column", options->partition_column,
            MFPG_ROLE_CLIENT, &schema->client);
    const char *label = options->label_column ? options->label_column : first->names.keys[first->label];
    if (status == MFPG_OK)
        status = assign(ctx, first, schema, "data.label.column", label, MFPG_ROLE_LABEL, &schema->label);
    for (ptrdiff_t i = 0; i < options->category_count && status == MFPG_OK; i++) {
        const mfpg_category *category = &options->categories[i];
        status = assign(ctx, first, schema, "data.categories", category->column, MFPG_ROLE_CATEGORY, &number);
        if (status == MFPG_OK) status = list_values(ctx, category, &schema->column[number]);
    }
    return status;
}

static mfpg_status number_features(mfpg_context *ctx, mfpg_schema *schema) {
    for (ptrdiff_t i = 0; i < schema->columns; i++) {
        mfpg_column *column = &schema->column[i];
        column->feature = schema->features;
        if (column->role == MFPG_ROLE_NUMBER) column->width = 1;
        if (column->role == MFPG_ROLE_CATEGORY) column->width = column->category->count - 1;
        schema->features += column->width;
    }
    if (schema->features > 0) return MFPG_OK;
    return mfpg_fail(ctx, MFPG_ERR_INPUT, "data: no feature column is left next to the label");
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
    mfpg_status status = gather_names(ctx, options, tables, count, schema);
    if (status == MFPG_OK) status = assign_roles(ctx, options, &tables[0], schema);
    if (status == MFPG_OK) status = number_features(ctx, schema);
    if (status == MFPG_OK) status = place_columns(ctx, tables, count, schema);
    return status;
}

mfpg_status mfpg_schema_name_features(mfpg_context *ctx, const mfpg_schema *schema, char **names) {
    for (ptrdiff_t i = 0; i < schema->columns; i++) {
        const mfpg_column *column = &schema->column[i];
        for (ptrdiff_t v = 0; v < column->width; v++) {
            const char *name = schema->names.keys[i];
            const char *value = column->category ? column->category->values[v + 1] : NULL;
            size_t room = strlen(name) + (value ? strlen(value) + 1 : 0) + 1;
            char *made = names[column->feature + v] = mfpg_alloc((ptrdiff_t)room, 1);
            if (!made) return mfpg_fail_memory(ctx);
            snprintf(made, room, "%s%s%s", name, value ? "=" : "", value ? value : "");
        }
    }
    return MFPG_OK;
}

void mfpg_schema_clear(mfpg_schema *schema) {
    for (ptrdiff_t i = 0; schema->column && i < schema->columns; i++)
        mfpg_lookup_clear(&schema->column[i].values);
    mfpg_lookup_clear(&schema->names);
    free(schema->column);
    free(schema->place);
    *schema = (mfpg_schema){0};
}
