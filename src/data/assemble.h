/* Files into a frame: read, match columns, read every cell by its column's role. */
#ifndef MFPG_DATA_ASSEMBLE_H
#define MFPG_DATA_ASSEMBLE_H

#include "mfpg/context.h"
#include "mfpg/dataset.h"

#include "frame.h"
#include "table.h"

/* Reads the options' files and assembles them. frame is empty on entry; the caller clears it, also after a failure. */
mfpg_status mfpg_frame_read(mfpg_context *ctx, const mfpg_data_options *options, mfpg_frame *frame);

/* Assembles tables: values, labels, places, public bounds, and, by files or by a column, clients. */
mfpg_status mfpg_frame_assemble(mfpg_context *ctx, const mfpg_data_options *options, const mfpg_table *tables,
    ptrdiff_t count, mfpg_frame *frame);

#endif
