#include "lookup.h"

#include <stdlib.h>

#include "base/memory.h"

static uint64_t hash(mfpg_slice text) { /* FNV-1a */
    uint64_t h = 14695981039346656037u;
    for (size_t i = 0; i < text.length; i++) h = (h ^ (unsigned char)text.at[i]) * 1099511628211u;
    return h ^ (h >> 32);
}

/* The slot that holds the text or would take it; slot_room is a power of two and never full. */
static ptrdiff_t slot_of(const mfpg_lookup *lookup, mfpg_slice text) {
    uint64_t mask = (uint64_t)lookup->slot_room - 1, at = hash(text) & mask;
    for (; lookup->slots[at]; at = (at + 1) & mask) {
        uint32_t key = lookup->slots[at] - 1;
        if (mfpg_slice_equal(text, (mfpg_slice){lookup->keys[key], lookup->lengths[key]})) break;
    }
    return (ptrdiff_t)at;
}

ptrdiff_t mfpg_lookup_find(const mfpg_lookup *lookup, mfpg_slice text) {
    return lookup->count == 0 ? -1 : (ptrdiff_t)lookup->slots[slot_of(lookup, text)] - 1;
}

static int grow_keys(mfpg_lookup *lookup) {
    ptrdiff_t room = lookup->key_room ? 2 * lookup->key_room : 16;
    char **keys = mfpg_resize(lookup->keys, room, sizeof *keys);
    if (!keys) return 0;
    lookup->keys = keys;
    size_t *lengths = mfpg_resize(lookup->lengths, room, sizeof *lengths);
    if (!lengths) return 0;
    lookup->lengths = lengths;
    lookup->key_room = room;
    return 1;
}

static int grow_slots(mfpg_lookup *lookup) {
    ptrdiff_t room = lookup->slot_room ? 2 * lookup->slot_room : 32;
    uint32_t *slots = mfpg_alloc(room, sizeof *slots);
    if (!slots) return 0;
    free(lookup->slots);
    lookup->slots = slots;
    lookup->slot_room = room;
    for (ptrdiff_t i = 0; i < lookup->count; i++)
        slots[slot_of(lookup, (mfpg_slice){lookup->keys[i], lookup->lengths[i]})] = (uint32_t)i + 1;
    return 1;
}

ptrdiff_t mfpg_lookup_add(mfpg_lookup *lookup, mfpg_slice text) {
    ptrdiff_t found = mfpg_lookup_find(lookup, text);
    if (found >= 0) return found;
    if (lookup->count == INT32_MAX) return -1;
    if (lookup->count == lookup->key_room && !grow_keys(lookup)) return -1;
    if (2 * (lookup->count + 1) > lookup->slot_room && !grow_slots(lookup)) return -1;
    char *key = mfpg_text_copy(text.at, text.length);
    if (!key) return -1;
    lookup->keys[lookup->count] = key;
    lookup->lengths[lookup->count] = text.length;
    lookup->slots[slot_of(lookup, text)] = (uint32_t)lookup->count + 1;
    return lookup->count++;
}

void mfpg_lookup_clear(mfpg_lookup *lookup) {
    for (ptrdiff_t i = 0; i < lookup->count; i++) free(lookup->keys[i]);
    free(lookup->keys);
    free(lookup->lengths);
    free(lookup->slots);
    *lookup = (mfpg_lookup){0};
}
