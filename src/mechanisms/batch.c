#include "batch.h"

enum { CHUNK = 64 };

ptrdiff_t mfpg_batch_draw(
    const mfpg_stream *stream, int64_t step, ptrdiff_t rows, double rate, int32_t *out) {
    double coin[CHUNK];
    ptrdiff_t count = 0;
    for (ptrdiff_t first = 0; first < rows; first += CHUNK) {
        ptrdiff_t here = rows - first < CHUNK ? rows - first : CHUNK;
        mfpg_stream_uniform(stream, ((uint64_t)step << 31) + (uint64_t)first, here, coin);
        for (ptrdiff_t i = 0; i < here; i++) {
            out[count] = (int32_t)(first + i); /* always written, kept where the coin says so */
            count += coin[i] < rate;
        }
    }
    return count;
}
