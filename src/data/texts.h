/* Slices of text that someone else owns, and a lookup that numbers texts in order of first appearance. */
#ifndef MFPG_DATA_TEXTS_H
#define MFPG_DATA_TEXTS_H

#include <stddef.h>
#include <stdint.h>

typedef struct mfpg_slice {
    const char *at;
    size_t length;
} mfpg_slice;

mfpg_slice mfpg_slice_of(const char *text);

/* The slice without blanks, tabs and line ends at both ends. */
mfpg_slice mfpg_slice_trim(mfpg_slice slice);

/* 1 if both hold the same bytes. */
int mfpg_slice_equal(mfpg_slice a, mfpg_slice b);

/* Turns control bytes of a text into blanks: a name has one line. */
void mfpg_text_flatten(char *text, size_t length);

enum { MFPG_SHOWN_SIZE = 64 };

/* The slice as a message shows it: quoted, on one line, cut with "..." if it is long. Returns buffer. */
const char *mfpg_slice_show(mfpg_slice slice, char buffer[MFPG_SHOWN_SIZE]);

/* All zero is an empty lookup. Finding and adding take constant time. */
typedef struct mfpg_lookup {
    char **keys; /* count texts, owned */
    ptrdiff_t count;
    ptrdiff_t key_room, slot_room;
    size_t *lengths;
    uint32_t *slots; /* 0: free, else the number of a key plus 1 */
} mfpg_lookup;

/* The text's number, or -1. */
ptrdiff_t mfpg_lookup_find(const mfpg_lookup *lookup, mfpg_slice text);

/* The text's number, which is new if the text is; -1 if memory runs out. */
ptrdiff_t mfpg_lookup_add(mfpg_lookup *lookup, mfpg_slice text);

void mfpg_lookup_clear(mfpg_lookup *lookup);

/* FNV-1a over the bytes, continued from h. */
#define MFPG_HASH_START UINT64_C(14695981039346656037)
uint64_t mfpg_hash_bytes(uint64_t h, const void *bytes, size_t length);

#endif
