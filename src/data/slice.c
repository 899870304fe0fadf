#include "slice.h"

#include <string.h>

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

static int is_control(char c) {
    return (unsigned char)c < 0x20 || c == 0x7F;
}

void mfpg_text_flatten(char *text, size_t length) {
    for (size_t i = 0; i < length; i++)
        if (is_control(text[i])) text[i] = ' ';
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
