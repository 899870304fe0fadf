/* Numbers texts in order of first appearance, in constant time each. */
#ifndef MFPG_DATA_LOOKUP_H
#define MFPG_DATA_LOOKUP_H

#include <stddef.h>
#include <stdint.h>

#include "slice.h"

/* All zero is an empty lookup. */
typedef struct mfpg_lookup {
    char **keys; /* count texts, owned */
    ptrdiff_t count;
    ptrdiff_t key_room, slot_room;
    size_t *lengths;
    uint32_t *slots; /* 0: free, else the number of a key plus 1 */
} mfpg_lookup;

/* The text's number, or -1. */
ptrdiff_t mfpg_lookup_find(const mfpg_lookup *lookup, mfpg_slice text);

/* The text's number, a new one where it is new; -1 when memory runs out. */
ptrdiff_t mfpg_lookup_add(mfpg_lookup *lookup, mfpg_slice text);

void mfpg_lookup_clear(mfpg_lookup *lookup);

#endif
