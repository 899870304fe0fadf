/* Names of clients that are files. */
#ifndef MFPG_DATA_CLIENTS_H
#define MFPG_DATA_CLIENTS_H

#include "mfpg/context.h"
#include "mfpg/dataset.h"

#include "frame.h"

/* One client a file, named by the file's stem (the name without folders and the last extension), or by the name in
 * the options where two stems are equal. A file given twice is an error. */
mfpg_status mfpg_clients_name_files(mfpg_context *ctx, const mfpg_data_options *options, mfpg_frame *frame);

#endif
