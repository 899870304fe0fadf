/* The rows of all files, or of all synthetic clients, and the steps that turn them into federated data. */
#ifndef MFPG_DATA_FRAME_H
#define MFPG_DATA_FRAME_H

#include "mfpg/dataset.h"

#include "table.h"

/* Where a row was read. */
typedef struct mfpg_place {
    int32_t file;
    uint32_t line;
} mfpg_place;

/* All zero is an empty frame, which owns what it points to. An absent row keeps its place, so that its client, and whether it
 * is a test row, depend on places alone. Its label is INFINITY if it is missing, until the rows are gathered. */
typedef struct mfpg_frame {
    ptrdiff_t rows, features, clients;
    /* number of rows of the common test set, which come last; known before there are clients */
    ptrdiff_t common;
    float *x; /* rows x features; NAN for a missing value until mfpg_frame_scale */
    float *y; /* rows */
    /* one per row: the client's number; `clients` itself for a row of the common test set */
    int32_t *client;
    unsigned char *test;   /* one per row: 1 for a row that is not used in training */
    unsigned char *absent; /* one per row: 1 for a row that misses a value under the rule drop */
    mfpg_place *place;     /* rows, or NULL for synthetic data */
    char **paths;          /* files, as messages show them */
    ptrdiff_t files;       /* 0 for synthetic data */
    char **feature_names;  /* features */
    char **client_names;   /* clients */
    ptrdiff_t named;       /* client_names held */
    double *low, *high;    /* features: public bounds, or NULL */
    double range[2];       /* what they were mapped to */
    int shifted;           /* 1: an affine shift was applied after public bounds */
    double shifted_norm2;  /* bound on |x|^2 after it */
    int64_t dropped;       /* number of absent rows, and of rows left out because their client is unknown */
    int fitted_on_private; /* 1: imputed or scaled by the clients' own rows */
} mfpg_frame;

/* Allocates that many rows (all members that have one entry per row except place) and the array of names. */
mfpg_status mfpg_frame_allocate(mfpg_context *ctx, mfpg_frame *frame, ptrdiff_t rows, ptrdiff_t features);

/* Room for public bounds. */
mfpg_status mfpg_frame_allocate_bounds(mfpg_context *ctx, mfpg_frame *frame);

void mfpg_frame_clear(mfpg_frame *frame);

enum { MFPG_PLACE_SIZE = 512 };

/* Writes "file:line" of a row, or "row n of client k" (both from 0) for synthetic data. Returns buffer. */
const char *mfpg_frame_place(const mfpg_frame *frame, ptrdiff_t row, char buffer[MFPG_PLACE_SIZE]);

/* Names the clients by their numbers. */
mfpg_status mfpg_frame_number_clients(mfpg_context *ctx, mfpg_frame *frame);

/* *start gets the first place of every set: set 2k is what client k trains on, set 2k + 1 its test set, the last one the common
 * test set. *order gets, for every place, the row that belongs there; NULL if all rows are in their places, as synthetic ones
 * are. Both are NULL on entry, and the caller's to free, also after a failure. */
mfpg_status mfpg_frame_find_places(
    mfpg_context *ctx, const mfpg_frame *frame, ptrdiff_t **start, uint32_t **order);

/* ---- the steps, in their order ---- */

/* Fails with MFPG_ERR_INPUT, naming the key, if no data could satisfy the options. */
mfpg_status mfpg_data_options_check(mfpg_context *ctx, const mfpg_data_options *options);

int mfpg_data_is_synthetic(const mfpg_data_options *options);

/* Returns 1 if a range was given for public bounds. */
int mfpg_data_has_range(const mfpg_data_options *options);

/* Fills an empty frame with the options' synthetic data; the rows of the common test set come last. The kind
 * MFPG_SYNTHETIC_CLINICS brings public bounds unless the options scale. The data of a client do not depend on the number of
 * clients. */
mfpg_status mfpg_synthetic_fill(
    mfpg_context *ctx, const mfpg_data_options *options, const mfpg_key *key, mfpg_frame *frame);

/* Reads the options' files into an empty frame; the caller clears it, also after a failure. A file that is named twice, by
 * whatever path or link, is an error: its people would be in two clients, whose certificates count a person once, or be
 * tested on what they were trained on (unless its format holds both sets). */
mfpg_status mfpg_frame_read(mfpg_context *ctx, const mfpg_data_options *options, mfpg_frame *frame);

/* Makes a frame from tables: values, labels, places, public bounds, and the clients if they are given by
 * files or by a column. */
mfpg_status mfpg_frame_assemble(mfpg_context *ctx, const mfpg_data_options *options, const mfpg_table *tables,
    ptrdiff_t count, mfpg_frame *frame);

struct mfpg_schema;

/* Reads the public bounds of all features from a CSV file with the columns column, low and high. Indicators of categories are
 * in [0, 1] unless the file says otherwise. Errors: a feature without bounds, bounds that are not low < high, a column that
 * is given twice or that no data file has; columns that are not features are ignored. schema is NULL for synthetic data. */
mfpg_status mfpg_bounds_read(
    mfpg_context *ctx, const char *path, const struct mfpg_schema *schema, mfpg_frame *frame);

/* Refuses labels unless all are 0 or 1, or all are -1 or 1; the latter become 0 and 1. */
mfpg_status mfpg_label_make_binary(mfpg_context *ctx, mfpg_frame *frame);

/* Assigns the frame's rows to clients according to the options, and names the clients; for a partition by
 * column this is already done. A client without rows is an error that names it. */
mfpg_status mfpg_partition(
    mfpg_context *ctx, const mfpg_data_options *options, const mfpg_key *key, mfpg_frame *frame);

/* Shares of Dirichlet(alpha, ..., alpha), alpha > 0: share k from stream (PARTITION, round, k). They sum to 1 up to
 * rounding. */
void mfpg_dirichlet_draw(const mfpg_key *key, uint64_t round, double alpha, ptrdiff_t count, double *share);

/* Marks floor(fraction x rows) rows of each client, drawn by the client's own stream, as test rows; at least one row
 * of each stays for training. */
mfpg_status mfpg_split(mfpg_context *ctx, double fraction, const mfpg_key *key, mfpg_frame *frame);

/* Fills in missing values, and scales, shifts and shortens the rows according to the options. */
mfpg_status mfpg_frame_scale(mfpg_context *ctx, const mfpg_data_options *options, mfpg_frame *frame);

#endif
