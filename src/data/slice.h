/* Slices of text that somebody else owns. */
#ifndef MFPG_DATA_SLICE_H
#define MFPG_DATA_SLICE_H

#include <stddef.h>

typedef struct mfpg_slice {
    const char *at;
    size_t length;
} mfpg_slice;

mfpg_slice mfpg_slice_of(const char *text);

/* Without blanks, tabs and line ends at both ends. */
mfpg_slice mfpg_slice_trim(mfpg_slice slice);

/* The same bytes. */
int mfpg_slice_equal(mfpg_slice a, mfpg_slice b);

/* Turns control bytes of a text, line ends above all, into blanks: what becomes a name stands on one line. */
void mfpg_text_flatten(char *text, size_t length);

enum { MFPG_SHOWN_SIZE = 64 };

/* The slice as a message shows it: quoted, on one line, cut with "..." where it is long. Returns buffer. */
const char *mfpg_slice_show(mfpg_slice slice, char buffer[MFPG_SHOWN_SIZE]);

#endif
