#include "texts.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

mfpg_slice mfpg_slice_of(const char *text) {
    return (mfpg_slice){.at = text, .length = strlen(text)};
}

static int is_space(char c) {
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

mfpg_slice mfpg_slice_trim(mfpg_slice slice) {
    while (slice.length > 0 && is_space(slice.at[0])) {
        slice.at++;
        slice.length--;
    }
    while (slice.length > 0 && is_space(slice.at[slice.length - 1])) slice.length--;
    return slice;
}

int mfpg_slice_equal(mfpg_slice a, mfpg_slice b) {
    return a.length == b.length && memcmp(a.at, b.at, a.length) == 0;
}

void mfpg_text_flatten(char *text, size_t length) {
    for (size_t i = 0; i < length; i++)
        if ((unsigned char)text[i] < 0x20 || text[i] == 0x7F) text[i] = ' ';
}

const char *mfpg_slice_show(mfpg_slice slice, char buffer[MFPG_SHOWN_SIZE]) {
    size_t most = MFPG_SHOWN_SIZE - 6, length = slice.length; /* two quotes, three points, the closing 0 */
    if (length > most) {
        length = most;
        while (length > 0 && ((unsigned char)slice.at[length] & 0xC0) == 0x80)
            length--; /* whole characters */
    }
    buffer[0] = '"';
    memcpy(buffer + 1, slice.at, length);
    mfpg_text_flatten(buffer + 1, length);
    strcpy(buffer + 1 + length, length < slice.length ? "...\"" : "\"");
    return buffer;
}

/* ---- lookup ---- */

uint64_t mfpg_hash_bytes(uint64_t h, const void *bytes, size_t length) {
    const unsigned char *at = bytes;
    for (size_t i = 0; i < length; i++) h = (h ^ at[i]) * UINT64_C(1099511628211);
    return h;
}

/* The slot that holds the text or would take it; slot_room is a power of two and never full. */
static ptrdiff_t slot_of(const mfpg_lookup *lookup, mfpg_slice text) {
    uint64_t mask = (uint64_t)lookup->slot_room - 1,
             h = mfpg_hash_bytes(MFPG_HASH_START, text.at, text.length);
    uint64_t at = (h ^ (h >> 32)) & mask;
    for (; lookup->slots[at]; at = (at + 1) & mask) {
        uint32_t key = lookup->slots[at] - 1;
        if (mfpg_slice_equal(text, (mfpg_slice){lookup->keys[key], lookup->lengths[key]})) break;
    }
    return (ptrdiff_t)at;
}

ptrdiff_t mfpg_lookup_find(const mfpg_lookup *lookup, mfpg_slice text) {
    return lookup->count == 0 ? -1 : (ptrdiff_t)lookup->slots[slot_of(lookup, text)] - 1;
}

/* Room for one more key, and twice as many slots as keys. */
static int grow(mfpg_lookup *lookup) {
    if (lookup->count == lookup->key_room) {
        ptrdiff_t room = lookup->key_room ? 2 * lookup->key_room : 16;
        char **keys = mfpg_resize(lookup->keys, room, sizeof *keys);
        if (keys) lookup->keys = keys;
        size_t *lengths = mfpg_resize(lookup->lengths, room, sizeof *lengths);
        if (lengths) lookup->lengths = lengths;
        if (!keys || !lengths) return 0;
        lookup->key_room = room;
    }
    if (2 * (lookup->count + 1) <= lookup->slot_room) return 1;
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
    char *key = grow(lookup) ? mfpg_text_copy(text.at, text.length) : NULL;
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
