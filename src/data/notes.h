/* What is unusual about a file, counted by its reader on the way: `mfpg data check` tells it. */
#ifndef MFPG_DATA_NOTES_H
#define MFPG_DATA_NOTES_H

#include <stdint.h>

typedef enum mfpg_note_kind {
    MFPG_NOTE_BYTE_ORDER_MARK = 0,
    MFPG_NOTE_CR_LF,
    MFPG_NOTE_CR_ALONE,
    MFPG_NOTE_NO_LAST_LINE_END,
    MFPG_NOTE_BLANK_LINE,
    MFPG_NOTE_COMMENT_LINE,
    MFPG_NOTE_BLANKS_AT_SEPARATOR,
    MFPG_NOTE_TRAILING_BLANKS,
    MFPG_NOTE_EXPLICIT_ZERO,
    MFPG_NOTE_GZIP,
    MFPG_NOTE_BIG_ENDIAN,
    MFPG_NOTE_COLUMNS_FIRST, /* an array with its first index fastest */
    MFPG_NOTE_LAST_IS_LABEL, /* a file of numbers without labels: the last column counts as one */
    MFPG_NOTES
} mfpg_note_kind;

typedef struct mfpg_notes {
    struct {
        int64_t count;
        uint32_t line; /* where first; 0: the whole file */
    } of[MFPG_NOTES];
    char separator;  /* of a text file */
    char about[240]; /* what a binary file says of itself */
} mfpg_notes;

static inline void mfpg_notes_add(mfpg_notes *notes, mfpg_note_kind kind, uint32_t line) {
    if (notes->of[kind].count++ == 0) notes->of[kind].line = line;
}

#endif
