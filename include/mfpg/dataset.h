/** Data of a federation: one training and one test set for each client, from files or synthetic.
 *  Features and labels are float, features row-major without a bias column (models add the bias themselves). */
#ifndef MFPG_DATASET_H
#define MFPG_DATASET_H

#include <stddef.h>
#include <stdint.h>

#include "context.h"
#include "random.h"

/** Rows of examples. Owned by the federated data that it is part of; a set made by hand only borrows. An absent row keeps its
 *  place and counts among rows, adds exact zeros to gradients and losses, and is left out of metrics; from files it has zero
 *  features, and its label or, if that is missing, 0. */
typedef struct mfpg_dataset {
    ptrdiff_t rows, features;
    float *x;                    /* rows x features, row-major */
    float *y;                    /* rows; 0/1 for classes, any finite number for regression */
    double *norm2;               /* rows; |x_i|^2 without bias; NULL (very many rows): models compute it */
    const unsigned char *absent; /* rows; 1: counted, but contributes nothing; NULL: no row is absent */
} mfpg_dataset;

typedef struct mfpg_client_data {
    char *name;           /* file stem, column value or number */
    mfpg_dataset train;   /* rows >= 1 */
    mfpg_dataset test;    /* rows >= 0 */
    int64_t dropped_rows; /* absent rows of both, which the row counts include */
} mfpg_client_data;

typedef struct mfpg_federated_data {
    ptrdiff_t clients, features;
    mfpg_client_data *client;
    char **feature_names;     /* features */
    mfpg_dataset common_test; /* a test set of the coordinator; rows 0 if there is none */
    /* Public bound on |x|^2 without bias after scaling by public bounds (an affine shift, a norm), or +INFINITY. */
    double public_norm2;
    int fitted_on_private; /* scaling or imputation was fitted on the clients' own rows */
    int64_t dropped_rows;  /* absent rows of all sets, and rows whose client is missing */
    char fingerprint[65];  /* BLAKE2b of every value, its place and which rows are absent, hexadecimal */
} mfpg_federated_data;

typedef enum mfpg_missing_rule {
    MFPG_MISSING_ERROR = 0,
    MFPG_MISSING_DROP, /* the row keeps its place with features of zero and is marked absent */
    MFPG_MISSING_MEAN
} mfpg_missing_rule;
typedef enum mfpg_scale_rule { MFPG_SCALE_NONE = 0, MFPG_SCALE_BOUNDS, MFPG_SCALE_FROM_DATA } mfpg_scale_rule;
/** Files and iid assign rows by their places alone, and the split into training and test rows follows the places of a client's
 *  rows, absent ones included. Column reads a column, dirichlet and shards read labels: if these are private, one of them moves
 *  other rows, which no certificate counts. */
typedef enum mfpg_partition_kind {
    MFPG_PARTITION_FILES = 0, /* one file a client */
    MFPG_PARTITION_COLUMN,    /* the values of a column are the clients, in order of first appearance */
    MFPG_PARTITION_IID,       /* rows dealt at random, sizes equal up to one */
    MFPG_PARTITION_DIRICHLET, /* for each label, shares of the clients drawn from Dirichlet(alpha) */
    MFPG_PARTITION_SHARDS /* rows sorted by label, cut into shards_per_client x clients runs, dealt at random */
} mfpg_partition_kind;
typedef enum mfpg_synthetic_kind {
    MFPG_SYNTHETIC_QUADRATIC = 0, /* A and b standard normal, independent (b are the labels) */
    MFPG_SYNTHETIC_LINEAR,        /* x ~ N(0,I), y = x.w* + N(0, 0.25) with w* ~ N(0,I) */
    MFPG_SYNTHETIC_LOGISTIC,      /* x ~ N(0,I), y = [x.w* > 0] with w* ~ N(0,I): planted labels */
    MFPG_SYNTHETIC_COINS,         /* x ~ N(0,I), y fair coins independent of x */
    MFPG_SYNTHETIC_CLINICS /* four unequal clinics with named features, planted risk model, public bounds */
} mfpg_synthetic_kind;

/** One text column with its public list of values: 0/1 indicator columns for all values but the first. */
typedef struct mfpg_category {
    const char *column;
    const char *const *values;
    ptrdiff_t count; /* >= 1 */
} mfpg_category;

/** The source of data and what becomes of it. All pointers are borrowed for the call. File names are relative to directory;
 *  bounds_file is taken as it is. */
typedef struct mfpg_data_options {
    const char *format;    /* name in readers.def, or "synthetic" */
    const char *directory; /* NULL: the working directory */
    const char *const *files;
    ptrdiff_t file_count;
    const char *const *labels;     /* a file of labels for each of files; NULL: labels are in the files */
    ptrdiff_t label_file_count;    /* 0 or file_count */
    ptrdiff_t first_rows;          /* rows taken of each of files, from its first on; 0: all */
    const char *const *test_files; /* of the common test set; then no rows of the clients are split off */
    ptrdiff_t test_file_count;
    const char *const *test_labels;  /* as labels, for test_files */
    ptrdiff_t test_label_file_count; /* 0 or test_file_count */
    int header;                      /* 1: the first row names the columns */
    const char *const *columns;      /* names if header is 0; NULL: c1, c2, ... */
    ptrdiff_t column_count;
    char separator;           /* 0: the commonest of , ; and tab in the first line, else runs of blanks */
    const char *label_column; /* NULL: the last column */
    double positive_above;    /* the label is 1 if the value is above it; NAN: no threshold */
    const char *positive;     /* the label is 1 if the text equals it; NULL: none */
    const char *const *drop_columns;
    ptrdiff_t drop_count;
    const mfpg_category *categories;
    ptrdiff_t category_count;
    const char *const *missing_values; /* texts that mean "missing", trimmed; so does an empty cell */
    ptrdiff_t missing_count;
    mfpg_missing_rule missing;
    mfpg_scale_rule scale;
    const char *bounds_file; /* CSV column,low,high, one row a feature */
    double range[2];         /* what public bounds are mapped to: finite, ascending; both 0: [0, 1] */
    const char *affine_file; /* CSV column,scale,shift[,client], applied after scaling; NULL: none */
    double norm;    /* rows are shortened to at most this norm, after everything else; 0: they are not */
    int other_file; /* 1: the files are not those of the run: clients that affine_file names may be absent */
    mfpg_partition_kind partition;
    const char *partition_column;
    ptrdiff_t clients; /* iid, dirichlet, shards, synthetic */
    double alpha;      /* dirichlet, > 0 */
    ptrdiff_t shards_per_client;
    double test_fraction; /* in [0,1): floor(fraction x rows) rows of each client, drawn at random */
    mfpg_synthetic_kind synthetic;
    ptrdiff_t rows;             /* synthetic: rows a client */
    ptrdiff_t dimension;        /* synthetic: features */
    ptrdiff_t common_test_rows; /* synthetic: rows of a common test set; then no rows are split off */
    int binary_labels;          /* 1: labels must be 0/1 (or -1/1, mapped) after label rules */
} mfpg_data_options;

/** CSV with header, separator found, "?", "NA", "NaN" and "nan" missing, missing is an error, no scaling, files, 0.2. */
mfpg_data_options mfpg_data_options_default(void);

/** Reads or makes the data of a federation.
 *  @param[in]  key   decides partition, split and synthetic values
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

/** The bits of that reader; 0 for NULL, "synthetic" and unknown names. */
int mfpg_reader_facts(const char *name);

/** Reader names and help of readers.def; NULL past the end. */
const char *mfpg_reader_name(ptrdiff_t index);
const char *mfpg_reader_help(ptrdiff_t index);

#endif
