/* The rows of all files, or of all synthetic clients, on their way to the federation. */
#ifndef MFPG_DATA_FRAME_H
#define MFPG_DATA_FRAME_H

#include <stddef.h>
#include <stdint.h>

#include "mfpg/context.h"

/* Where a row was read. */
typedef struct mfpg_place {
    int32_t file;
    uint32_t line;
} mfpg_place;

/* All zero is an empty frame; what it points to is its own. An absent row keeps its place, so that whose it is and whether it is
 * a test row depend on places alone. A label that is missing is INFINITY there until the frame is gathered. */
typedef struct mfpg_frame {
    ptrdiff_t rows, features, clients;
    ptrdiff_t common;      /* rows of the common test set, the last ones; read before there are clients */
    float *x;              /* rows x features; NAN stands for a missing value until mfpg_missing_impute */
    float *y;              /* rows */
    int32_t *client;       /* rows: the client's number; clients itself for a row of the common test set */
    unsigned char *test;   /* rows: 1 for a row that no client trains on */
    unsigned char *absent; /* rows: 1 for a row that misses a value under the rule drop */
    mfpg_place *place;     /* rows, or NULL for synthetic data */
    char **paths;          /* files, as messages show them */
    ptrdiff_t files;       /* 0 for synthetic data */
    char **feature_names;  /* features */
    char **client_names;   /* clients, or NULL: their numbers */
    ptrdiff_t named;       /* client_names held */
    double *low, *high;    /* features: public bounds; NULL where there are none */
    double range[2];       /* what they were mapped to */
    int shifted;           /* 1: an affine shift came after public bounds */
    double shifted_norm2;  /* bound on |x|^2 behind it */
    int64_t dropped;       /* absent rows, and rows left out because nobody is known to hold them */
    int fitted_on_private; /* imputed or scaled by the clients' own rows */
} mfpg_frame;

/* Room for that many rows (all members that are one entry a row but place) and the names' array. */
mfpg_status mfpg_frame_allocate(mfpg_context *ctx, mfpg_frame *frame, ptrdiff_t rows, ptrdiff_t features);

void mfpg_frame_clear(mfpg_frame *frame);

enum { MFPG_PLACE_SIZE = 512 };

/* "file:line" of a row, or "row n of client k" (both from 0) for synthetic data. Returns buffer. */
const char *mfpg_frame_place(const mfpg_frame *frame, ptrdiff_t row, char buffer[MFPG_PLACE_SIZE]);

/* The name of a client in messages and results. Returns buffer or the name. */
const char *mfpg_frame_client_name(const mfpg_frame *frame, ptrdiff_t client, char buffer[24]);

/* Rows grouped by client: rows of client k are row[start[k]] .. row[start[k+1]-1] in frame order; group number
 * frame->clients is the common test set. */
typedef struct mfpg_groups {
    ptrdiff_t *start; /* clients + 2 */
    ptrdiff_t *row;   /* rows */
} mfpg_groups;

mfpg_status mfpg_groups_make(mfpg_context *ctx, const mfpg_frame *frame, mfpg_groups *groups);
void mfpg_groups_clear(mfpg_groups *groups);

#endif
