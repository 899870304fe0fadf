/* Which options of data go together. */
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "frame.h"

mfpg_data_options mfpg_data_options_default(void) {
    static const char *const missing[] = {"?", "NA", "NaN", "nan"};
    return (mfpg_data_options){
        .format = "csv",
        .header = 1,
        .positive_above = (double)NAN,
        .missing_values = missing,
        .missing_count = sizeof missing / sizeof missing[0],
        .test_fraction = 0.2,
    };
}

int mfpg_data_is_synthetic(const mfpg_data_options *options) {
    return strcmp(options->format, "synthetic") == 0;
}

int mfpg_data_has_range(const mfpg_data_options *options) {
    return options->range[0] != 0.0 || options->range[1] != 0.0;
}

static mfpg_status fail_key(mfpg_context *ctx, const char *key, const char *what) {
    return mfpg_fail(ctx, MFPG_ERR_INPUT, "data.%s: %s", key, what);
}

/* Counts of rows and clients are 32-bit numbers inside the library. */
static mfpg_status check_count(mfpg_context *ctx, const char *key, ptrdiff_t count) {
    if (count >= 1 && count < INT32_MAX) return MFPG_OK;
    return mfpg_fail(ctx, MFPG_ERR_INPUT, "data.%s: %td is not between 1 and 2^31-2", key, count);
}

/* Checks the options for data from files and for synthetic data. */
static mfpg_status check_common(mfpg_context *ctx, const mfpg_data_options *options) {
    char number[MFPG_NUMBER_SIZE];
    /* the square, and every sum of squares, is then finite */
    if (!(options->norm >= 0 && options->norm <= 1e18))
        return mfpg_fail(ctx, MFPG_ERR_INPUT, "data.norm: %s is not from 0 to 1e18",
            mfpg_number_format(options->norm, number));
    if (!(options->test_fraction >= 0 && options->test_fraction < 1))
        return mfpg_fail(ctx, MFPG_ERR_INPUT, "data.test_fraction: %s is not in [0, 1)",
            mfpg_number_format(options->test_fraction, number));
    if (options->scale < MFPG_SCALE_NONE || options->scale > MFPG_SCALE_FROM_DATA)
        return fail_key(ctx, "scale", "unknown rule");
    if (options->scale == MFPG_SCALE_BOUNDS && !options->bounds_file)
        return fail_key(ctx, "scale", "scaling by bounds needs a bounds file");
    if (mfpg_data_has_range(options) && !(isfinite(options->range[0]) && isfinite(options->range[1]) &&
                                            options->range[0] < options->range[1]))
        return fail_key(ctx, "range", "two finite numbers, the lower one first, are needed");
    if (options->scale != MFPG_SCALE_BOUNDS && options->bounds_file)
        return fail_key(ctx, "scale", "a bounds file is given, but scaling is not by bounds");
    return MFPG_OK;
}

static mfpg_status check_synthetic(mfpg_context *ctx, const mfpg_data_options *options) {
    mfpg_status status = MFPG_OK;
    if (options->partition != MFPG_PARTITION_FILES)
        return fail_key(ctx, "partition", "synthetic data come with their clients");
    if (options->file_count > 0 || options->test_file_count > 0)
        return fail_key(ctx, "files", "synthetic data are not read from files");
    if (options->synthetic < MFPG_SYNTHETIC_QUADRATIC || options->synthetic > MFPG_SYNTHETIC_CLINICS)
        return fail_key(ctx, "kind", "unknown kind of synthetic data");
    if (options->common_test_rows != 0)
        status = check_count(ctx, "common_test_rows", options->common_test_rows);
    if (status != MFPG_OK || options->synthetic == MFPG_SYNTHETIC_CLINICS) return status;
    if (status == MFPG_OK) status = check_count(ctx, "clients", options->clients);
    if (status == MFPG_OK) status = check_count(ctx, "rows", options->rows);
    if (status == MFPG_OK) status = check_count(ctx, "dimension", options->dimension);
    if (status == MFPG_OK && options->rows > (INT32_MAX - 1 - options->common_test_rows) / options->clients)
        status = fail_key(ctx, "rows", "more than 2^31-2 rows in all");
    return status;
}

static mfpg_status check_partition(mfpg_context *ctx, const mfpg_data_options *options) {
    mfpg_partition_kind kind = options->partition;
    if (kind < MFPG_PARTITION_FILES || kind > MFPG_PARTITION_SHARDS)
        return fail_key(ctx, "partition.kind", "unknown partition");
    if (kind == MFPG_PARTITION_COLUMN && !options->partition_column)
        return fail_key(ctx, "partition.column", "is needed");
    if (kind <= MFPG_PARTITION_COLUMN) return MFPG_OK;
    mfpg_status status = check_count(ctx, "partition.clients", options->clients);
    if (status == MFPG_OK && kind == MFPG_PARTITION_SHARDS)
        status = check_count(ctx, "partition.shards_per_client", options->shards_per_client);
    if (status == MFPG_OK && kind == MFPG_PARTITION_DIRICHLET &&
        !(options->alpha > 0 && isfinite(options->alpha)))
        status = fail_key(ctx, "partition.alpha", "must be a number above 0");
    return status;
}

static int separator_is_possible(char separator) {
    return separator == 0 || separator == '\t' ||
           (separator >= ' ' && separator < 0x7F && !strchr("\"'.+-_0123456789", separator) &&
               !((separator | 0x20) >= 'a' && (separator | 0x20) <= 'z'));
}

/* Checks that there are files, and a file of labels for each of them or for none. */
static mfpg_status check_names(mfpg_context *ctx, const char *key, const char *const *files, ptrdiff_t count,
    const char *const *labels, ptrdiff_t label_count) {
    for (ptrdiff_t i = 0; i < count; i++)
        if (!files[i] || !files[i][0])
            return mfpg_fail(ctx, MFPG_ERR_INPUT, "data.%sfiles: a file's name is empty", key);
    if (label_count == (labels ? count : 0)) return MFPG_OK;
    return mfpg_fail(ctx, MFPG_ERR_INPUT,
        "data.%slabels: %td files of labels for %td files; one each is needed", key, label_count, count);
}

static mfpg_status check_files(mfpg_context *ctx, const mfpg_data_options *o) {
    if (o->file_count < 1) return fail_key(ctx, "files", "no file is given");
    mfpg_status status = check_names(ctx, "", o->files, o->file_count, o->labels, o->label_file_count);
    if (status == MFPG_OK)
        status = check_names(
            ctx, "test_", o->test_files, o->test_file_count, o->test_labels, o->test_label_file_count);
    if (status != MFPG_OK) return status;
    if (o->first_rows != 0 && check_count(ctx, "first_rows", o->first_rows) != MFPG_OK) return MFPG_ERR_INPUT;
    if (o->header && o->columns)
        return fail_key(ctx, "columns", "the header names the columns already (data.header: true)");
    if (!separator_is_possible(o->separator))
        return fail_key(ctx, "separator", "letters, digits, quotes, points and signs cannot separate values");
    if (o->positive && !isnan(o->positive_above))
        return fail_key(ctx, "label", "positive and positive_above exclude each other");
    if (!isnan(o->positive_above) && !isfinite(o->positive_above))
        return fail_key(ctx, "label.positive_above", "must be finite");
    if (o->missing < MFPG_MISSING_ERROR || o->missing > MFPG_MISSING_MEAN)
        return fail_key(ctx, "missing", "unknown rule");
    if (o->common_test_rows != 0)
        return fail_key(ctx, "common_test_rows", "only synthetic data have a common test set");
    return MFPG_OK;
}

mfpg_status mfpg_data_options_check(mfpg_context *ctx, const mfpg_data_options *options) {
    if (!options->format) return fail_key(ctx, "format", "is needed");
    mfpg_status status = check_common(ctx, options);
    if (status != MFPG_OK) return status;
    if (mfpg_data_is_synthetic(options)) return check_synthetic(ctx, options);
    status = check_files(ctx, options);
    return status == MFPG_OK ? check_partition(ctx, options) : status;
}
