/* Combines tables into a frame: matches columns, and reads every cell according to its column's role. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/names.h"
#include "frame.h"
#include "readers.h"
#include "schema.h"

enum { MOST_SEEN = 16 };

typedef struct assembly {
    mfpg_context *ctx;
    const mfpg_data_options *options;
    mfpg_schema schema;
    mfpg_frame *frame;
    mfpg_lookup clients; /* values of the partition column */
    mfpg_lookup labels;  /* the first few label texts */
} assembly;

/* ---- labels ---- */

/* Returns a label without surrounding blanks and without one final dot: ">50K." becomes ">50K". */
static mfpg_slice bare_label(mfpg_slice text) {
    text = mfpg_slice_trim(text);
    if (text.length > 1 && text.at[text.length - 1] == '.') text.length--;
    return text;
}

/* Refuses a positive text that occurs in no row if the rows have several other values. If they have one
 * other value, it only warns, because a client may hold one class only. */
static mfpg_status check_positive(const assembly *a) {
    const char *wanted = a->options->positive;
    const char *const *labels = (const char *const *)a->labels.keys;
    ptrdiff_t count = a->labels.count;
    if (count == 0 || mfpg_lookup_find(&a->labels, bare_label(mfpg_slice_of(wanted))) >= 0) return MFPG_OK;
    char list[256];
    mfpg_names_join(labels, count, list, sizeof list);
    mfpg_text_flatten(list, strlen(list));
    if (count == 1) {
        mfpg_warn(
            a->ctx, "data.label.positive: no row has the label \"%s\"; every label is \"%s\"", wanted, list);
        return MFPG_OK;
    }
    const char *nearest = mfpg_names_nearest(wanted, labels, count);
    return mfpg_fail(a->ctx, MFPG_ERR_INPUT,
        "data.label.positive: no row has the label \"%s\"%s%s%s; labels: %s", wanted,
        nearest ? "; did you mean \"" : "", nearest ? nearest : "", nearest ? "\"?" : "", list);
}

/* Returns the first row whose label is value, or -1. */
static ptrdiff_t first_row_with(const mfpg_frame *frame, float value) {
    for (ptrdiff_t i = 0; i < frame->rows; i++)
        if (frame->y[i] == value) return i;
    return -1;
}

mfpg_status mfpg_label_make_binary(mfpg_context *ctx, mfpg_frame *frame) {
    char place[MFPG_PLACE_SIZE], other[MFPG_PLACE_SIZE], number[MFPG_NUMBER_SIZE];
    for (ptrdiff_t i = 0; i < frame->rows; i++) {
        float y = frame->y[i];
        if (y == 0.0f || y == 1.0f || y == -1.0f || (frame->absent[i] && isinf(y))) continue;
        return mfpg_fail(ctx, MFPG_ERR_INPUT,
            "%s: label %s is not 0 or 1 (nor -1 or 1); data.label.positive_above or data.label.positive says "
            "which labels mean 1",
            mfpg_frame_place(frame, i, place), mfpg_number_format((double)y, number));
    }
    ptrdiff_t zero = first_row_with(frame, 0.0f), minus = first_row_with(frame, -1.0f);
    if (minus < 0) return MFPG_OK;
    if (zero >= 0)
        return mfpg_fail(ctx, MFPG_ERR_INPUT,
            "%s: label -1, but %s: label 0; binary labels are 0 and 1, or -1 and 1",
            mfpg_frame_place(frame, minus, place), mfpg_frame_place(frame, zero, other));
    for (ptrdiff_t i = 0; i < frame->rows; i++)
        if (!isinf(frame->y[i])) frame->y[i] = frame->y[i] > 0 ? 1.0f : 0.0f;
    return MFPG_OK;
}

/* ---- cells ---- */

/* A cell that is read, and its column. */
typedef struct cell_place {
    const mfpg_table *table;
    ptrdiff_t row, own; /* own: the table's number of the column */
    const mfpg_column *column;
} cell_place;

static mfpg_status fail_cell(const assembly *a, cell_place at, const char *what) {
    char number[MFPG_NUMBER_SIZE], shown[MFPG_SHOWN_SIZE];
    return mfpg_fail(a->ctx, MFPG_ERR_INPUT, "%s:%u: %scolumn \"%s\": %s %s", at.table->path,
        mfpg_table_line(at.table, at.row), at.column->role == MFPG_ROLE_LABEL ? "label " : "",
        at.table->names.keys[at.own],
        mfpg_slice_show(mfpg_table_text(at.table, at.row, at.own, number), shown), what);
}

/* Handles a missing cell: an error, a row without it (*kept = 0), or NAN for its features. */
static mfpg_status read_missing(const assembly *a, cell_place at, float *x, int *kept) {
    mfpg_role role = at.column->role;
    if (a->options->missing == MFPG_MISSING_DROP) {
        *kept = 0;
        return MFPG_OK;
    }
    if (a->options->missing == MFPG_MISSING_ERROR)
        return fail_cell(a, at, "is a missing value; data.missing says what to do with such rows");
    if (role == MFPG_ROLE_LABEL || role == MFPG_ROLE_CLIENT)
        return fail_cell(a, at, "is a missing value, which no mean can replace in this column");
    for (ptrdiff_t j = 0; j < at.column->width; j++) x[at.column->feature + j] = NAN;
    return MFPG_OK;
}

static mfpg_status read_number(const assembly *a, cell_place at, float *x) {
    double value;
    if (!mfpg_table_number(at.table, at.row, at.own, &value)) {
        char number[MFPG_NUMBER_SIZE];
        mfpg_slice text = mfpg_slice_trim(mfpg_table_text(at.table, at.row, at.own, number));
        return fail_cell(a, at,
            mfpg_is_decimal_comma(text) ? "has a decimal comma, and numbers are read with a point; "
                                          "data.drop_columns leaves the column out"
                                        : "is not a finite number; data.categories lists the values of a "
                                          "text column, data.drop_columns leaves it out");
    }
    *x = (float)value;
    return isfinite(*x) ? MFPG_OK : fail_cell(a, at, "is too large");
}

/* Writes the indicators of all listed values except the first. */
static mfpg_status read_category(const assembly *a, cell_place at, float *indicators) {
    char number[MFPG_NUMBER_SIZE], shown[MFPG_SHOWN_SIZE], allowed[512];
    const mfpg_category *category = at.column->category;
    mfpg_slice text = mfpg_table_text(at.table, at.row, at.own, number);
    ptrdiff_t value = mfpg_lookup_find(&at.column->values, text);
    if (value < 0)
        return mfpg_fail(a->ctx, MFPG_ERR_INPUT,
            "%s:%u: column \"%s\": %s is not in its list of data.categories: %s", at.table->path,
            mfpg_table_line(at.table, at.row), category->column, mfpg_slice_show(text, shown),
            mfpg_names_join(category->values, category->count, allowed, sizeof allowed));
    memset(indicators, 0, (size_t)at.column->width * sizeof *indicators);
    if (value > 0) indicators[value - 1] = 1.0f;
    return MFPG_OK;
}

static mfpg_status read_label(assembly *a, cell_place at, float *label) {
    char number[MFPG_NUMBER_SIZE];
    const mfpg_data_options *options = a->options;
    double value;
    if (options->positive) {
        mfpg_slice text = bare_label(mfpg_table_text(at.table, at.row, at.own, number));
        *label = mfpg_slice_equal(text, bare_label(mfpg_slice_of(options->positive))) ? 1.0f : 0.0f;
        /* After the first few texts, only the positive text is needed. */
        if (a->labels.count >= MOST_SEEN && *label == 0.0f) return MFPG_OK;
        return mfpg_lookup_add(&a->labels, text) < 0 ? mfpg_fail_memory(a->ctx) : MFPG_OK;
    }
    if (!mfpg_table_number(at.table, at.row, at.own, &value))
        return fail_cell(a, at, "is not a finite number; data.label.positive names the text that means 1");
    if (!isnan(options->positive_above)) value = value > options->positive_above ? 1 : 0;
    *label = (float)value;
    return isfinite(*label) ? MFPG_OK : fail_cell(a, at, "is too large");
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
    int missing;
    if (at.table->numbers) {
        float value = at.table->numbers[at.row * at.table->columns + at.own];
        if (at.column->role == MFPG_ROLE_NUMBER) { /* the way of every pixel */
            x[at.column->feature] = value;
            if (isfinite(value)) return MFPG_OK;
        }
        missing = isnan(value);
    } else {
        missing = mfpg_text_is_missing(a->options, mfpg_table_text(at.table, at.row, at.own, NULL));
    }
    if (missing) return read_missing(a, at, x, kept);
    switch (at.column->role) {
    case MFPG_ROLE_NUMBER: return read_number(a, at, x + at.column->feature);
    case MFPG_ROLE_CATEGORY: return read_category(a, at, x + at.column->feature);
    case MFPG_ROLE_LABEL: return read_label(a, at, &frame->y[frame->rows]);
    case MFPG_ROLE_CLIENT: return read_client(a, at, &frame->client[frame->rows]);
    case MFPG_ROLE_DROPPED: break;
    }
    return MFPG_OK;
}

/* ---- rows ---- */

/* Reads the features and the label of a row to the end of the frame. A row without one of them is absent:
 * all its features are zero. Its label is read nevertheless, because a partition by labels must not depend
 * on other cells. */
static mfpg_status read_row(assembly *a, ptrdiff_t t, cell_place at) {
    const mfpg_schema *schema = &a->schema;
    mfpg_frame *frame = a->frame;
    int kept = 1, labelled = 1;
    for (ptrdiff_t i = 0; i < schema->columns; i++) {
        at.column = &schema->column[i];
        at.own = schema->place[t * schema->columns + i];
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

/* A row without a value in the partition column is left out; a row of the common test set belongs to no
 * client. */
static mfpg_status read_tables(assembly *a, const mfpg_table *tables, ptrdiff_t count) {
    const mfpg_schema *schema = &a->schema;
    mfpg_frame *frame = a->frame;
    for (ptrdiff_t t = 0; t < count; t++) {
        int common = t >= a->options->file_count;
        for (ptrdiff_t row = 0; row < tables[t].rows; row++) {
            cell_place at = {.table = &tables[t], .row = row};
            mfpg_status status = MFPG_OK;
            int held = 1;
            if (a->options->partition == MFPG_PARTITION_FILES) frame->client[frame->rows] = (int32_t)t;
            if (schema->client >= 0 && !common) {
                at.column = &schema->column[schema->client];
                at.own = schema->place[t * schema->columns + schema->client];
                status = read_cell(a, at, &held);
            }
            if (status == MFPG_OK && held) status = read_row(a, t, at);
            if (status != MFPG_OK) return status;
            frame->dropped += !held || frame->absent[frame->rows];
            if (!held) continue;
            frame->place[frame->rows] = (mfpg_place){(int32_t)t, mfpg_table_line(&tables[t], row)};
            frame->rows++;
            frame->common += common;
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

/* Bounds that the format itself makes public, such as 0 and 255 for bytes. */
static mfpg_status bound_by_format(
    mfpg_context *ctx, const mfpg_table *tables, ptrdiff_t count, mfpg_frame *frame) {
    double low = tables[0].low, high = tables[0].high;
    for (ptrdiff_t t = 0; t < count; t++)
        if (!(tables[t].low < tables[t].high) || tables[t].low != low || tables[t].high != high)
            return MFPG_OK;
    mfpg_status status = mfpg_frame_allocate_bounds(ctx, frame);
    for (ptrdiff_t j = 0; j < frame->features && status == MFPG_OK; j++) {
        frame->low[j] = low;
        frame->high[j] = high;
    }
    return status;
}

mfpg_status mfpg_frame_assemble(mfpg_context *ctx, const mfpg_data_options *options, const mfpg_table *tables,
    ptrdiff_t count, mfpg_frame *frame) {
    assembly a = {.ctx = ctx, .options = options, .frame = frame};
    mfpg_status status = mfpg_schema_make(ctx, options, tables, count, &a.schema);
    if (status == MFPG_OK) status = make_room(ctx, tables, count, a.schema.features, frame);
    if (status == MFPG_OK) status = mfpg_schema_name_features(ctx, &a.schema, frame->feature_names);
    if (status == MFPG_OK && options->scale == MFPG_SCALE_BOUNDS)
        status = mfpg_bounds_read(ctx, options->bounds_file, &a.schema, frame);
    if (status == MFPG_OK && options->scale == MFPG_SCALE_NONE)
        status = bound_by_format(ctx, tables, count, frame);
    if (status == MFPG_OK) status = read_tables(&a, tables, count);
    if (status == MFPG_OK && options->positive) status = check_positive(&a);
    if (status == MFPG_OK && !memchr(frame->absent, 0, (size_t)(frame->rows - frame->common)))
        status = mfpg_fail(ctx, MFPG_ERR_INPUT, "data: every one of %td rows has a missing value",
            (ptrdiff_t)frame->dropped);
    if (status == MFPG_OK && options->partition == MFPG_PARTITION_COLUMN) {
        for (ptrdiff_t k = 0; k < a.clients.count; k++)
            mfpg_text_flatten(a.clients.keys[k], a.clients.lengths[k]);
        frame->client_names = a.clients.keys;
        frame->named = frame->clients = a.clients.count;
        a.clients.keys = NULL;
        a.clients.count = 0;
    }
    mfpg_schema_clear(&a.schema);
    mfpg_lookup_clear(&a.clients);
    mfpg_lookup_clear(&a.labels);
    return status;
}
