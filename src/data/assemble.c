#include "assemble.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/file.h"
#include "base/memory.h"
#include "base/tasks.h"
#include "bounds.h"
#include "labels.h"
#include "missing.h"
#include "readers.h"
#include "same_file.h"
#include "schema.h"

typedef struct assembly {
    mfpg_context *ctx;
    const mfpg_data_options *options;
    const mfpg_schema *schema;
    mfpg_frame *frame;
    mfpg_lookup clients; /* values of the partition column */
    mfpg_lookup labels;  /* label texts seen */
} assembly;

/* A cell that is to be read, and where its value goes. */
typedef struct cell_place {
    const mfpg_table *table;
    ptrdiff_t row, own; /* own: the table's number of the column */
    const mfpg_column *column;
} cell_place;

static mfpg_status fail_cell(const assembly *a, cell_place at, const char *what) {
    char number[MFPG_NUMBER_SIZE], shown[MFPG_SHOWN_SIZE];
    return mfpg_fail(a->ctx, MFPG_ERR_INPUT, "%s:%u: column \"%s\": %s %s", at.table->path,
        mfpg_table_line(at.table, at.row), at.table->names.keys[at.own],
        mfpg_slice_show(mfpg_table_text(at.table, at.row, at.own, number), shown), what);
}

static int cell_is_missing(const assembly *a, cell_place at) {
    if (at.table->numbers) return isnan(at.table->numbers[at.row * at.table->columns + at.own]);
    return mfpg_text_is_missing(a->options, mfpg_table_text(at.table, at.row, at.own, NULL));
}

/* A missing cell: an error, a row without it (*kept = 0), or NAN for its features. */
static mfpg_status read_missing(assembly *a, cell_place at, float *x, int *kept) {
    mfpg_role role = at.column->role;
    if (a->options->missing == MFPG_MISSING_DROP) {
        *kept = 0;
        return MFPG_OK;
    }
    if (a->options->missing == MFPG_MISSING_ERROR)
        return fail_cell(a, at, "is a missing value; data.missing says what to do with such rows");
    if (role == MFPG_ROLE_LABEL || role == MFPG_ROLE_CLIENT)
        return fail_cell(a, at, "is a missing value, which no mean can replace in this column");
    ptrdiff_t width = role == MFPG_ROLE_NUMBER ? 1 : at.column->category.listed->count - 1;
    for (ptrdiff_t j = 0; j < width; j++) x[at.column->feature + j] = NAN;
    return MFPG_OK;
}

/* 3,5: a number to its reader, and to this program only with a point. */
static int has_decimal_comma(const mfpg_table *table, ptrdiff_t row, ptrdiff_t column) {
    char number[MFPG_NUMBER_SIZE];
    double value;
    mfpg_slice text = mfpg_slice_trim(mfpg_table_text(table, row, column, number));
    const char *comma = memchr(text.at, ',', text.length);
    if (!comma || text.length >= sizeof number) return 0;
    size_t at = (size_t)(comma - text.at);
    memmove(number, text.at, text.length);
    number[at] = '.';
    return mfpg_number_parse(number, text.length, &value);
}

static mfpg_status read_number(const assembly *a, cell_place at, float *x) {
    double value;
    if (!mfpg_table_number(at.table, at.row, at.own, &value))
        return fail_cell(a, at,
            has_decimal_comma(at.table, at.row, at.own) ? "has a decimal comma, and numbers are read with a "
                                                          "point; data.drop_columns leaves the column out"
                                                        : "is not a finite number; data.categories lists the "
                                                          "values of a text column, data.drop_columns "
                                                          "leaves it "
                                                          "out");
    *x = (float)value;
    return isfinite(*x) ? MFPG_OK : fail_cell(a, at, "is too large");
}

static mfpg_status read_client(assembly *a, cell_place at, int32_t *client) {
    char number[MFPG_NUMBER_SIZE];
    mfpg_slice name = mfpg_slice_trim(mfpg_table_text(at.table, at.row, at.own, number));
    ptrdiff_t found = mfpg_lookup_add(&a->clients, name);
    if (found < 0) return mfpg_fail_memory(a->ctx);
    *client = (int32_t)found;
    return MFPG_OK;
}

/* Reads one cell into the row at the end of the frame; *kept becomes 0 if a missing value drops the row. */
static mfpg_status read_cell(assembly *a, cell_place at, int *kept) {
    mfpg_frame *frame = a->frame;
    float *x = frame->x + frame->rows * frame->features;
    if (at.own < 0) { /* a sparse format's absent column */
        x[at.column->feature] = 0;
        return MFPG_OK;
    }
    if (at.table->numbers && at.column->role == MFPG_ROLE_NUMBER) { /* the way of every pixel */
        float value = at.table->numbers[at.row * at.table->columns + at.own];
        x[at.column->feature] = value;
        if (isfinite(value)) return MFPG_OK;
    }
    if (cell_is_missing(a, at)) return read_missing(a, at, x, kept);
    switch (at.column->role) {
    case MFPG_ROLE_NUMBER: return read_number(a, at, x + at.column->feature);
    case MFPG_ROLE_CATEGORY:
        return mfpg_category_read(
            a->ctx, &at.column->category, at.table, at.row, at.own, x + at.column->feature);
    case MFPG_ROLE_LABEL:
        return mfpg_label_read(
            a->ctx, a->options, at.table, at.row, at.own, &a->labels, &frame->y[frame->rows]);
    case MFPG_ROLE_CLIENT: return read_client(a, at, &frame->client[frame->rows]);
    case MFPG_ROLE_DROPPED: break;
    }
    return MFPG_OK;
}

/* Reads whose the row at the end of the frame is; *held becomes 0 if the partition column has no value there. A row of
 * the common test set is nobody's. */
static mfpg_status read_holder(assembly *a, ptrdiff_t t, cell_place at, int *held) {
    const mfpg_schema *schema = a->schema;
    if (schema->client < 0 || t >= a->options->file_count) return MFPG_OK;
    at.column = &schema->column[schema->client];
    at.own = schema->place[t * schema->columns + schema->client];
    return read_cell(a, at, held);
}

/* Reads the features and the label of a row to the end of the frame. A row without one of them is absent: all its
 * features are zero. Its label is read all the same, for what is dealt by labels must not depend on other cells. */
static mfpg_status read_row(assembly *a, ptrdiff_t t, cell_place at) {
    const mfpg_schema *schema = a->schema;
    const int32_t *place = schema->place + t * schema->columns;
    mfpg_frame *frame = a->frame;
    int kept = 1, labelled = 1;
    for (ptrdiff_t i = 0; i < schema->columns; i++) {
        at.column = &schema->column[i];
        at.own = place[i];
        mfpg_status status = MFPG_OK;
        if (at.column->role == MFPG_ROLE_LABEL)
            status = read_cell(a, at, &labelled);
        else if (kept && at.column->role != MFPG_ROLE_CLIENT && at.column->role != MFPG_ROLE_DROPPED)
            status = read_cell(a, at, &kept);
        if (status != MFPG_OK) return status;
    }
    if (!labelled) frame->y[frame->rows] = INFINITY;
    if (kept && labelled) return MFPG_OK;
    frame->absent[frame->rows] = 1;
    memset(frame->x + frame->rows * frame->features, 0, (size_t)frame->features * sizeof *frame->x);
    return MFPG_OK;
}

static mfpg_status read_tables(assembly *a, const mfpg_table *tables, ptrdiff_t count) {
    mfpg_frame *frame = a->frame;
    for (ptrdiff_t t = 0; t < count; t++) {
        for (ptrdiff_t row = 0; row < tables[t].rows; row++) {
            cell_place at = {.table = &tables[t], .row = row};
            int held = 1;
            if (a->options->partition == MFPG_PARTITION_FILES) frame->client[frame->rows] = (int32_t)t;
            mfpg_status status = read_holder(a, t, at, &held);
            if (status == MFPG_OK && held) status = read_row(a, t, at);
            if (status != MFPG_OK) return status;
            frame->dropped += !held || frame->absent[frame->rows];
            if (!held) continue;
            frame->place[frame->rows] = (mfpg_place){(int32_t)t, mfpg_table_line(&tables[t], row)};
            frame->rows++;
            frame->common += t >= a->options->file_count;
        }
    }
    return MFPG_OK;
}

/* Room for the rows of all tables. */
static mfpg_status make_room(
    mfpg_context *ctx, const mfpg_table *tables, ptrdiff_t count, ptrdiff_t features, mfpg_frame *frame) {
    ptrdiff_t rows = 0;
    for (ptrdiff_t t = 0; t < count; t++) {
        if (tables[t].rows > INT32_MAX - rows)
            return mfpg_fail(ctx, MFPG_ERR_INPUT, "%s: more than 2^31-1 rows in all files", tables[t].path);
        rows += tables[t].rows;
    }
    mfpg_status status = mfpg_frame_allocate(ctx, frame, rows, features);
    frame->place = mfpg_alloc(rows, sizeof *frame->place);
    frame->paths = mfpg_alloc(count, sizeof *frame->paths);
    if (status != MFPG_OK || !frame->place || !frame->paths) return mfpg_fail_memory(ctx);
    for (; frame->files < count; frame->files++) {
        const char *path = tables[frame->files].path;
        if (!(frame->paths[frame->files] = mfpg_text_copy(path, strlen(path)))) return mfpg_fail_memory(ctx);
    }
    return MFPG_OK;
}

/* The names of a partition by column pass from the lookup to the frame. */
static void take_clients(assembly *a) {
    for (ptrdiff_t k = 0; k < a->clients.count; k++)
        mfpg_text_flatten(a->clients.keys[k], a->clients.lengths[k]);
    a->frame->client_names = a->clients.keys;
    a->frame->named = a->frame->clients = a->clients.count;
    a->clients.keys = NULL;
    a->clients.count = 0;
}

/* Bounds that the format itself makes public, such as 0 and 255 of bytes, where nobody asked for other scaling. */
static mfpg_status bound_by_format(mfpg_context *ctx, const mfpg_data_options *options,
    const mfpg_table *tables, ptrdiff_t count, mfpg_frame *frame) {
    double low = tables[0].low, high = tables[0].high;
    for (ptrdiff_t t = 0; t < count; t++)
        if (!(tables[t].low < tables[t].high) || tables[t].low != low || tables[t].high != high)
            return MFPG_OK;
    if (options->scale != MFPG_SCALE_NONE) return MFPG_OK;
    frame->low = mfpg_alloc(frame->features, sizeof *frame->low);
    frame->high = mfpg_alloc(frame->features, sizeof *frame->high);
    if (!frame->low || !frame->high) return mfpg_fail_memory(ctx);
    for (ptrdiff_t j = 0; j < frame->features; j++) {
        frame->low[j] = low;
        frame->high[j] = high;
    }
    return MFPG_OK;
}

/* 1 if a client has a row that is not absent. */
static int has_values(const mfpg_frame *frame) {
    return memchr(frame->absent, 0, (size_t)(frame->rows - frame->common)) != NULL;
}

mfpg_status mfpg_frame_assemble(mfpg_context *ctx, const mfpg_data_options *options, const mfpg_table *tables,
    ptrdiff_t count, mfpg_frame *frame) {
    mfpg_schema schema = {0};
    assembly a = {.ctx = ctx, .options = options, .schema = &schema, .frame = frame};
    mfpg_status status = mfpg_schema_make(ctx, options, tables, count, &schema);
    if (status == MFPG_OK) status = make_room(ctx, tables, count, schema.features, frame);
    if (status == MFPG_OK) status = mfpg_schema_name_features(ctx, &schema, frame->feature_names);
    if (status == MFPG_OK && options->scale == MFPG_SCALE_BOUNDS)
        status = mfpg_bounds_read(ctx, options->bounds_file, &schema, frame);
    if (status == MFPG_OK) status = bound_by_format(ctx, options, tables, count, frame);
    if (status == MFPG_OK) status = read_tables(&a, tables, count);
    if (status == MFPG_OK && options->positive) status = mfpg_label_check_positive(ctx, options, &a.labels);
    if (status == MFPG_OK && !has_values(frame))
        status = mfpg_fail(ctx, MFPG_ERR_INPUT, "data: every one of %td rows has a missing value",
            (ptrdiff_t)frame->dropped);
    if (status == MFPG_OK && options->partition == MFPG_PARTITION_COLUMN) take_clients(&a);
    mfpg_schema_clear(&schema);
    mfpg_lookup_clear(&a.clients);
    mfpg_lookup_clear(&a.labels);
    return status;
}

typedef struct reading {
    const mfpg_data_options *options;
    const mfpg_reader_ops *reader;
    mfpg_table *tables;
} reading;

/* Reads a file of the options' folder; a file of labels in whichever format of arrays it is. */
static mfpg_status read_table(mfpg_context *ctx, const reading *r, const char *name, mfpg_table *table) {
    const mfpg_reader_ops *reader = r->reader;
    char *path = mfpg_path_join(r->options->directory, name);
    if (!path) return mfpg_fail_memory(ctx);
    mfpg_status status = mfpg_reader_refuse_foreign(ctx, path);
    if (status == MFPG_OK && table->part == MFPG_PART_LABELS)
        status = mfpg_reader_of_labels(ctx, path, reader, &reader);
    if (status == MFPG_OK) {
        status = reader->read(ctx, path, r->options, table);
        if (status == MFPG_ERR_INPUT) mfpg_reader_explain(ctx, path, reader);
    }
    free(path);
    return status;
}

/* A file of the clients, or behind those one of the common test set. */
static mfpg_status read_file(mfpg_context *ctx, ptrdiff_t index, int worker, void *arg) {
    (void)worker;
    const reading *r = arg;
    const mfpg_data_options *o = r->options;
    int test = index >= o->file_count;
    mfpg_table *table = &r->tables[index], labels = {.part = MFPG_PART_LABELS, .test = test};
    ptrdiff_t within = test ? index - o->file_count : index;
    const char *const *labels_of = test ? o->test_labels : o->labels;
    table->part = labels_of ? MFPG_PART_FEATURES : MFPG_PART_BOTH;
    table->test = test;
    mfpg_status status = read_table(ctx, r, (test ? o->test_files : o->files)[within], table);
    if (status == MFPG_OK && labels_of) status = read_table(ctx, r, labels_of[within], &labels);
    if (status == MFPG_OK && labels_of) status = mfpg_table_add_label(ctx, table, &labels);
    if (!test && o->first_rows > 0 && table->rows > o->first_rows) table->rows = o->first_rows;
    mfpg_table_clear(&labels);
    return status;
}

mfpg_status mfpg_frame_read(mfpg_context *ctx, const mfpg_data_options *options, mfpg_frame *frame) {
    ptrdiff_t files = options->file_count + options->test_file_count;
    reading r = {.options = options, .tables = mfpg_alloc(files, sizeof *r.tables)};
    if (!r.tables) return mfpg_fail_memory(ctx);
    mfpg_status status = mfpg_reader_find(ctx, options->format, &r.reader);
    if (status == MFPG_OK) status = mfpg_data_check_distinct(ctx, options, r.reader->splits);
    if (status == MFPG_OK) status = mfpg_tasks_run(ctx, files, read_file, &r);
    if (status == MFPG_OK) status = mfpg_frame_assemble(ctx, options, r.tables, files, frame);
    for (ptrdiff_t t = 0; t < files; t++) mfpg_table_clear(&r.tables[t]);
    free(r.tables);
    return status;
}
