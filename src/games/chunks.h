/* Sums over many clients in parallel. Every chunk of clients is one task with a slot of its own, and the slots are added
 * in the order of the clients: the same bits for any number of threads. */
#ifndef MFPG_GAMES_CHUNKS_H
#define MFPG_GAMES_CHUNKS_H

#include <stddef.h>

#include "mfpg/context.h"

enum {
    MFPG_CHUNK = 16384,
    MFPG_BLOCK = 256
}; /* clients a task; clients whose numbers fit the first-level cache */

typedef struct mfpg_chunks {
    mfpg_context *ctx;
    ptrdiff_t clients, count; /* clients >= 1; chunks */
    double *parts;            /* count: one number every 16384 clients */
} mfpg_chunks;

mfpg_status mfpg_chunks_init(mfpg_context *ctx, ptrdiff_t clients, mfpg_chunks *out);
void mfpg_chunks_clear(mfpg_chunks *chunks);

/* What the clients first .. first + count - 1 add; must not fail. */
typedef double (*mfpg_chunk_sum)(const void *arg, ptrdiff_t first, ptrdiff_t count);
double mfpg_chunks_sum(const mfpg_chunks *chunks, mfpg_chunk_sum sum, const void *arg);

/* Calls work for every chunk; it must not fail, and writes to what belongs to its clients or its index alone. */
typedef void (*mfpg_chunk_work)(void *arg, ptrdiff_t index, ptrdiff_t first, ptrdiff_t count);
void mfpg_chunks_run(mfpg_context *ctx, ptrdiff_t clients, mfpg_chunk_work work, void *arg);

/* The sum of up to a chunk of numbers, in lanes by block, so that not many roundings follow one another. */
double mfpg_chunk_add(const double *x, ptrdiff_t count);

static inline ptrdiff_t mfpg_chunks_of(ptrdiff_t clients) {
    return (clients - 1) / MFPG_CHUNK + 1;
}

#endif
