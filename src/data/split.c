#include <math.h>
#include <stdlib.h>

#include "base/error.h"
#include "base/memory.h"
#include "partition.h"

mfpg_status mfpg_split(mfpg_context *ctx, double fraction, const mfpg_key *key, mfpg_frame *frame) {
    mfpg_groups groups = {0};
    mfpg_status status = mfpg_groups_make(ctx, frame, &groups);
    ptrdiff_t most = 0;
    for (ptrdiff_t k = 0; status == MFPG_OK && k < frame->clients; k++)
        if (groups.start[k + 1] - groups.start[k] > most) most = groups.start[k + 1] - groups.start[k];
    ptrdiff_t *order = mfpg_alloc(most, sizeof *order);
    if (status == MFPG_OK && !order) status = mfpg_fail_memory(ctx);
    for (ptrdiff_t k = 0; status == MFPG_OK && k < frame->clients; k++) {
        const ptrdiff_t *row = groups.row + groups.start[k];
        ptrdiff_t rows = groups.start[k + 1] - groups.start[k];
        /* Less than rows: also in floating point, fraction < 1 times a whole number is less than the number. */
        ptrdiff_t tests = (ptrdiff_t)floor(fraction * (double)rows);
        if (tests == 0) continue;
        mfpg_stream stream = mfpg_stream_open(key, MFPG_PURPOSE_SPLIT, 0, (uint64_t)k);
        mfpg_stream_permutation(&stream, rows, order);
        for (ptrdiff_t i = 0; i < tests; i++) frame->test[row[order[i]]] = 1;
    }
    mfpg_groups_clear(&groups);
    free(order);
    return status;
}
