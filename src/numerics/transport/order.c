#include "order.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"

/* Three passes over digits of eleven bits, least significant first, each stable. */
enum { DIGIT = 11, DIGITS = 3, VALUES = 1 << DIGIT };

/* Unsigned numbers in the order of the floats: the sign bit turned, and all bits of a negative number. */
static uint32_t key_of(float x) {
    float positive_zero = x + 0.0f;
    uint32_t bits;
    memcpy(&bits, &positive_zero, sizeof bits);
    return bits & 0x80000000u ? ~bits : bits | 0x80000000u;
}

static uint32_t digit_of(uint32_t key, int pass) {
    return (key >> (DIGIT * pass)) & (VALUES - 1);
}

/* One pass from places (NULL: as they stand) to sorted, where next[digit] is the first free place of a digit. */
static void deal(
    ptrdiff_t n, const uint32_t *key, const int32_t *places, int pass, uint32_t *next, int32_t *sorted) {
    for (ptrdiff_t i = 0; i < n; i++) {
        int32_t place = places ? places[i] : (int32_t)i;
        sorted[next[digit_of(key[place], pass)]++] = place;
    }
}

static void first_places(ptrdiff_t n, const uint32_t *key, int pass, uint32_t next[VALUES]) {
    uint32_t before = 0;
    memset(next, 0, VALUES * sizeof *next);
    for (ptrdiff_t i = 0; i < n; i++) next[digit_of(key[i], pass)]++;
    for (int value = 0; value < VALUES; value++) {
        uint32_t count = next[value];
        next[value] = before;
        before += count;
    }
}

mfpg_status mfpg_order_floats(mfpg_context *ctx, ptrdiff_t n, const float *x, int32_t *order) {
    uint32_t next[VALUES], *key = mfpg_alloc(n, sizeof *key);
    int32_t *other = mfpg_alloc(n, sizeof *other);
    if (!key || !other) {
        free(key);
        free(other);
        return mfpg_fail_memory(ctx);
    }
    for (ptrdiff_t i = 0; i < n; i++) key[i] = key_of(x[i]);
    const int32_t *from = NULL;
    for (int pass = 0; pass < DIGITS; pass++) {
        int32_t *to = pass % 2 == 0 ? order : other;
        first_places(n, key, pass, next);
        deal(n, key, from, pass, next, to);
        from = to;
    }
    free(key);
    free(other);
    return MFPG_OK;
}
