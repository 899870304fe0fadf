/** The data of a federation: one training set and one test set for each client, read from files or synthetic.
 *  Features and labels are floats; features are row-major without a bias column (models add the bias
 *  themselves). */
#ifndef MFPG_DATASET_H
#define MFPG_DATASET_H

#include <stddef.h>
#include <stdint.h>

#include "context.h"
#include "names.h"
#include "random.h"

/** Rows of examples. The federated data own their sets; a set that a caller builds borrows its arrays. An
 *  absent row keeps its place and is counted in rows, adds exact zeros to gradients and losses, and is left
 *  out of metrics. An absent row from a file has zero features, and its label or, if the label is missing, 0. */
typedef struct mfpg_dataset {
    ptrdiff_t rows, features;
    float *x; /* rows x features, row-major */
    float *y; /* labels, one per row; 0/1 for classes, any finite number for regression */
    /* |x_i|^2 without bias, one per row; NULL (for very many rows): models compute it */
    double *norm2;
    /* one per row; 1: the row is counted but contributes nothing; NULL: no row is absent */
    const unsigned char *absent;
} mfpg_dataset;

typedef struct mfpg_client_data {
    char *name;           /* file stem, column value or number */
    mfpg_dataset train;   /* rows >= 1 */
    mfpg_dataset test;    /* rows >= 0 */
    int64_t dropped_rows; /* absent rows of both sets, which the row counts include */
} mfpg_client_data;

typedef struct mfpg_federated_data {
    ptrdiff_t clients, features;
    mfpg_client_data *client;
    char **feature_names;     /* features */
    mfpg_dataset common_test; /* a test set of the coordinator; it has 0 rows if there is none */
    /* A public bound on |x|^2 without bias after scaling by public bounds (an affine shift or a norm), or
     * +INFINITY. */
    double public_norm2;
    int fitted_on_private; /* 1 if scaling or imputation was fitted to the clients' own rows */
    int64_t dropped_rows;  /* absent rows of all sets, and rows whose client is missing */
    char fingerprint[65];  /* hexadecimal BLAKE2b of every value, of its place and of which rows are absent */
} mfpg_federated_data;

typedef enum mfpg_missing_rule {
    MFPG_MISSING_ERROR = 0,
    MFPG_MISSING_DROP, /* the row keeps its place with features of zero and is marked absent */
    MFPG_MISSING_MEAN
} mfpg_missing_rule;
typedef enum mfpg_scale_rule { MFPG_SCALE_NONE = 0, MFPG_SCALE_BOUNDS, MFPG_SCALE_FROM_DATA } mfpg_scale_rule;
/** How rows are assigned to clients. Files and iid assign rows by their position alone, and the split into
 *  training and test rows depends on the positions of a client's rows, including absent ones. Column reads a
 *  column, and dirichlet and shards read labels: if these are private, changing one of them moves other rows
 *  too, which no certificate covers. */
typedef enum mfpg_partition_kind {
    MFPG_PARTITION_FILES = 0, /* one file a client */
    /* the values of a column are the clients, in the order in which they first appear */
    MFPG_PARTITION_COLUMN,
    MFPG_PARTITION_IID,       /* rows are dealt at random; sizes differ by at most one */
    MFPG_PARTITION_DIRICHLET, /* for each label, shares of the clients drawn from Dirichlet(alpha) */
    /* rows are sorted by label, cut into shards_per_client x clients runs, and dealt at random */
    MFPG_PARTITION_SHARDS
} mfpg_partition_kind;
typedef enum mfpg_synthetic_kind {
    MFPG_SYNTHETIC_QUADRATIC = 0, /* A and b standard normal, independent (b are the labels) */
    MFPG_SYNTHETIC_LINEAR,        /* x ~ N(0,I), y = x.w* + N(0, 0.25) with w* ~ N(0,I) */
    MFPG_SYNTHETIC_LOGISTIC,      /* x ~ N(0,I), y = [x.w* > 0] with w* ~ N(0,I): planted labels */
    MFPG_SYNTHETIC_COINS,         /* x ~ N(0,I), y fair coins independent of x */
    MFPG_SYNTHETIC_CLINICS /* four unequal clinics with named features, planted risk model, public bounds */
} mfpg_synthetic_kind;

/** One text column with its public list of values: all values but the first become 0/1 indicator columns. */
typedef struct mfpg_category {
    const char *column;
    const char *const *values;
    ptrdiff_t count; /* >= 1 */
} mfpg_category;

/** The source of the data and how the data are processed. All pointers are borrowed for the call. File names
 *  are relative to directory, but bounds_file is used unchanged. */
typedef struct mfpg_data_options {
    const char *format;    /* name in readers.def, or "synthetic" */
    const char *directory; /* NULL: the working directory */
    const char *const *files;
    ptrdiff_t file_count;
    /* a file of labels for each entry of files; NULL: the labels are in the files */
    const char *const *labels;
    ptrdiff_t label_file_count; /* 0 or file_count */
    ptrdiff_t first_rows;       /* number of rows used from the start of each file; 0: all */
    /* files of the common test set; if given, no rows of the clients are split off */
    const char *const *test_files;
    ptrdiff_t test_file_count;
    const char *const *test_labels;  /* as labels, for test_files */
    ptrdiff_t test_label_file_count; /* 0 or test_file_count */
    int header;                      /* 1: the first row names the columns */
    const char *const *columns;      /* names of the columns if header is 0; NULL: c1, c2, ... */
    ptrdiff_t column_count;
    /* 0: the most frequent of , ; and tab in the first line, or else runs of blanks */
    char separator;
    const char *label_column; /* NULL: the last column */
    double positive_above;    /* the label is 1 if the value is above this; NAN: no threshold */
    const char *positive;     /* the label is 1 if the text equals this; NULL: none */
    const char *const *drop_columns;
    ptrdiff_t drop_count;
    const mfpg_category *categories;
    ptrdiff_t category_count;
    /* texts that mean "missing" after trimming; an empty cell means it too */
    const char *const *missing_values;
    ptrdiff_t missing_count;
    mfpg_missing_rule missing;
    mfpg_scale_rule scale;
    const char *bounds_file; /* CSV column,low,high, one row a feature */
    /* the interval to which public bounds are mapped: finite, ascending; both 0: [0, 1] */
    double range[2];
    const char *affine_file; /* CSV column,scale,shift[,client], applied after scaling; NULL: none */
    double norm; /* rows are shortened to at most this norm, as the last step; 0: they are not shortened */
    /* 1: the files are not those of the run, so clients that affine_file names may be absent */
    int other_file;
    mfpg_partition_kind partition;
    const char *partition_column;
    ptrdiff_t clients; /* iid, dirichlet, shards, synthetic */
    double alpha;      /* dirichlet, > 0 */
    ptrdiff_t shards_per_client;
    /* in [0,1): floor(fraction x rows) rows of each client are drawn at random for its test set */
    double test_fraction;
    mfpg_synthetic_kind synthetic;
    ptrdiff_t rows;             /* synthetic: rows a client */
    ptrdiff_t dimension;        /* synthetic: features */
    ptrdiff_t common_test_rows; /* synthetic: rows of a common test set; if not 0, no rows are split off */
    int binary_labels;          /* 1: labels must be 0/1 (or -1/1, which is mapped) after the label rules */
} mfpg_data_options;

/** Returns the defaults: CSV with header, detected separator; "?", "NA", "NaN" and "nan" mean missing, and a
 *  missing value is an error; no scaling, partition files, test fraction 0.2. */
mfpg_data_options mfpg_data_options_default(void);

/** Reads or generates the data of a federation.
 *  @param[in]  key   determines partition, split and synthetic values
 *  @param[out] out   free with mfpg_federated_data_destroy; set only on success
 *  @return MFPG_OK; MFPG_ERR_INPUT with file, line and column of the fault; MFPG_ERR_MEMORY; MFPG_ERR_IO.
 *  Limits: files up to 1 GiB, 2^31-1 rows, 65,535 columns, a row of 16 MiB. */
mfpg_status mfpg_federated_data_create(
    mfpg_context *ctx, const mfpg_data_options *options, const mfpg_key *key, mfpg_federated_data **out);

/** Frees the data; NULL is fine. */
void mfpg_federated_data_destroy(mfpg_federated_data *data);

/** Facts about a reader, as bits. */
enum {
    MFPG_READER_ARRAYS = 1,          /* files of numbers alone, without lines */
    MFPG_READER_INFERS_FEATURES = 2, /* the number of features depends on the values of all rows */
    MFPG_READER_PICTURES = 4         /* a row usually is a picture */
};

/** Returns the bits of that reader; 0 for NULL, "synthetic" and unknown names. */
int mfpg_reader_facts(const char *name);

extern const mfpg_kinds mfpg_readers; /**< readers.def */

#endif
