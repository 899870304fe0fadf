#include "utf8.h"

#include <string.h>

size_t mfpg_utf8_length(const char *text, size_t length) {
    const unsigned char *at = (const unsigned char *)text;
    size_t size = at[0] < 0x80   ? 1
                  : at[0] < 0xC2 ? 0
                  : at[0] < 0xE0 ? 2
                  : at[0] < 0xF0 ? 3
                  : at[0] < 0xF5 ? 4
                                 : 0;
    if (size > length) return 0;
    for (size_t i = 1; i < size; i++)
        if ((at[i] & 0xC0) != 0x80) return 0;
    int outside = (at[0] == 0xE0 && at[1] < 0xA0) || (at[0] == 0xED && at[1] > 0x9F) ||
                  (at[0] == 0xF0 && at[1] < 0x90) || (at[0] == 0xF4 && at[1] > 0x8F);
    return outside ? 0 : size;
}

int mfpg_utf8_is_control(const char *text, size_t length) {
    const unsigned char *at = (const unsigned char *)text;
    if (length == 1) return (*at < 0x20 && *at != '\t' && *at != '\n') || *at == 0x7F;
    return length == 2 && at[0] == 0xC2 && at[1] < 0xA0;
}

/* One character, or the four of "\xNN" in its place; *taken: bytes of the text. Returns the columns. */
static int show(const char *text, size_t *taken, char shown[8]) {
    size_t length = mfpg_utf8_length(text, 4); /* the closing 0 ends every character */
    int plain = length > 0 && !mfpg_utf8_is_control(text, length) && *text != '\t' && *text != '\n';
    if (plain) {
        memcpy(shown, text, length);
        shown[length] = 0;
        *taken = length;
        return 1;
    }
    snprintf(shown, 8, "\\x%02x", (unsigned char)*text);
    *taken = 1;
    return 4;
}

int mfpg_terminal_width(const char *text) {
    char shown[8];
    int width = 0;
    for (size_t taken; *text; text += taken) width += show(text, &taken, shown);
    return width;
}

void mfpg_terminal_text(const char *text, int width, FILE *out) {
    char shown[8];
    int used = 0, cut = mfpg_terminal_width(text) > width, room = cut ? width - 3 : width;
    for (size_t taken; *text; text += taken) {
        int columns = show(text, &taken, shown);
        if (used + columns > room) break;
        fputs(shown, out);
        used += columns;
    }
    if (cut) used += fprintf(out, "...");
    for (; used < width; used++) putc(' ', out);
}
