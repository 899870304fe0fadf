/* Rows to clients. */
#ifndef MFPG_DATA_PARTITION_H
#define MFPG_DATA_PARTITION_H

#include "mfpg/context.h"
#include "mfpg/dataset.h"
#include "mfpg/random.h"

#include "frame.h"

/* Deals the frame's rows to clients as the options say, and names the clients; by column it has been done. A client
 * without rows is an error that names it. */
mfpg_status mfpg_partition(
    mfpg_context *ctx, const mfpg_data_options *options, const mfpg_key *key, mfpg_frame *frame);

/* Marks floor(fraction x rows) rows of each client, drawn by the client's own stream, as test rows; at least one row
 * of each stays for training. */
mfpg_status mfpg_split(mfpg_context *ctx, double fraction, const mfpg_key *key, mfpg_frame *frame);

/* Shares of Dirichlet(alpha, ..., alpha), alpha > 0: share k from stream (PARTITION, round, k). They sum to 1 up to
 * rounding. */
void mfpg_dirichlet_draw(const mfpg_key *key, uint64_t round, double alpha, ptrdiff_t count, double *share);

#endif
