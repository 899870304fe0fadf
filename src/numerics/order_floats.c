#include "order_floats.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "float_key.h"

/* One stable pass from places (NULL: as they stand) to sorted, where next[digit] is the first free place of a digit. */
static void deal(
    ptrdiff_t n, const uint32_t *key, const int32_t *places, int pass, uint32_t *next, int32_t *sorted) {
    for (ptrdiff_t i = 0; i < n; i++) {
        int32_t place = places ? places[i] : (int32_t)i;
        sorted[next[mfpg_key_digit(key[place], pass)]++] = place;
    }
}

static void first_places(ptrdiff_t n, const uint32_t *key, int pass, uint32_t next[MFPG_KEY_BINS]) {
    uint32_t before = 0;
    memset(next, 0, MFPG_KEY_BINS * sizeof *next);
    for (ptrdiff_t i = 0; i < n; i++) next[mfpg_key_digit(key[i], pass)]++;
    for (int value = 0; value < MFPG_KEY_BINS; value++) {
        uint32_t count = next[value];
        next[value] = before;
        before += count;
    }
}

mfpg_status mfpg_order_floats(mfpg_context *ctx, ptrdiff_t n, const float *x, int32_t *order) {
    uint32_t next[MFPG_KEY_BINS], *key = mfpg_alloc(n, sizeof *key);
    int32_t *other = mfpg_alloc(n, sizeof *other);
    if (!key || !other) {
        free(key);
        free(other);
        return mfpg_fail_memory(ctx);
    }
    for (ptrdiff_t i = 0; i < n; i++) key[i] = mfpg_float_key(x[i] + 0.0f); /* -0 is 0 */
    const int32_t *from = NULL;
    for (int pass = 0; pass < MFPG_KEY_DIGITS; pass++) {
        int32_t *to = pass % 2 == 0 ? order : other;
        first_places(n, key, pass, next);
        deal(n, key, from, pass, next, to);
        from = to;
    }
    free(key);
    free(other);
    return MFPG_OK;
}
