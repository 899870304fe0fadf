#include "names.h"

#include <stdio.h>
#include <string.h>

#include "error.h"

/* Costs of edits; among words at equal distance, a swap of two neighbouring letters is the likelier mistake. */
enum { LONGEST_WORD = 63, EDIT = 4, SWAP = 3 };

/* Returns the cost of the edits that turn a into b: a letter inserted, deleted or changed, or two neighbours
 * swapped. Words longer than LONGEST_WORD are far from everything. */
static int distance(const char *a, const char *b) {
    size_t rows = strlen(a), columns = strlen(b);
    int table[3][LONGEST_WORD + 1]; /* rows i-2, i-1 and i, indexed by i modulo 3 */
    if (rows > LONGEST_WORD || columns > LONGEST_WORD) return EDIT * LONGEST_WORD;
    for (size_t j = 0; j <= columns; j++) table[0][j] = EDIT * (int)j;
    for (size_t i = 1; i <= rows; i++) {
        int *row = table[i % 3], *above = table[(i + 2) % 3], *before = table[(i + 1) % 3];
        row[0] = EDIT * (int)i;
        for (size_t j = 1; j <= columns; j++) {
            row[j] = above[j - 1] + (a[i - 1] != b[j - 1] ? EDIT : 0);
            if (above[j] + EDIT < row[j]) row[j] = above[j] + EDIT;
            if (row[j - 1] + EDIT < row[j]) row[j] = row[j - 1] + EDIT;
            int swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
            if (swapped && before[j - 2] + SWAP < row[j]) row[j] = before[j - 2] + SWAP;
        }
    }
    return table[rows % 3][columns];
}

const char *mfpg_names_nearest(const char *word, const char *const *names, ptrdiff_t count) {
    int allowed = (int)(strlen(word) / 3), best = EDIT * (allowed < 1 ? 1 : allowed) + 1;
    const char *nearest = NULL;
    for (ptrdiff_t i = 0; i < count; i++) {
        int found = distance(word, names[i]);
        if (found < best) {
            best = found;
            nearest = names[i];
        }
    }
    return nearest;
}

char *mfpg_names_join(const char *const *names, ptrdiff_t count, char *out, size_t size) {
    size_t used = 0;
    if (size > 0) out[0] = 0;
    for (ptrdiff_t i = 0; i < count; i++) {
        int wrote = snprintf(out + used, size - used, "%s%s", i ? ", " : "", names[i]);
        if (wrote < 0 || (size_t)wrote >= size - used) {
            if (size > 4) strcpy(out + size - 4, "...");
            break;
        }
        used += (size_t)wrote;
    }
    return out;
}

mfpg_status mfpg_names_unknown(
    mfpg_context *ctx, const char *noun, const char *word, const char *const *names, ptrdiff_t count) {
    char list[MFPG_MESSAGE_SIZE / 2];
    mfpg_names_join(names, count, list, sizeof list);
    if (!word) word = "";
    const char *nearest = mfpg_names_nearest(word, names, count);
    if (!nearest) return mfpg_fail(ctx, MFPG_ERR_INPUT, "unknown %s \"%s\"; allowed: %s", noun, word, list);
    return mfpg_fail(ctx, MFPG_ERR_INPUT, "unknown %s \"%s\", did you mean \"%s\"? Allowed: %s", noun, word,
        nearest, list);
}

/* ---- lists of kinds ---- */

static const char *text_of(const mfpg_kinds *kinds, ptrdiff_t index, int number) {
    return index >= 0 && index < kinds->count ? ((const char *const *)kinds->kind[index])[number] : NULL;
}

const char *mfpg_kind_name(const mfpg_kinds *kinds, ptrdiff_t index) {
    return text_of(kinds, index, 0);
}

const char *mfpg_kind_help(const mfpg_kinds *kinds, ptrdiff_t index) {
    return text_of(kinds, index, 1);
}

const void *mfpg_kind_find(const mfpg_kinds *kinds, const char *name) {
    for (ptrdiff_t i = 0; name && i < kinds->count; i++)
        if (strcmp(name, mfpg_kind_name(kinds, i)) == 0) return kinds->kind[i];
    return NULL;
}

mfpg_status mfpg_kind_unknown(
    mfpg_context *ctx, const char *noun, const char *word, const mfpg_kinds *kinds, const char *more) {
    enum { MOST = 64 };
    const char *names[MOST + 1];
    ptrdiff_t count = 0;
    for (; count < MOST && count < kinds->count; count++) names[count] = mfpg_kind_name(kinds, count);
    if (more) names[count++] = more;
    return mfpg_names_unknown(ctx, noun, word, names, count);
}

/* ---- text of any origin ---- */

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

int mfpg_text_is_utf8(const char *text) {
    for (size_t length; *text; text += length)
        if ((length = mfpg_utf8_length(text, 4)) == 0) return 0; /* the closing 0 ends every character */
    return 1;
}

/* Copies one character, or writes "\xNN" in its place; *taken: bytes of the text. Returns the columns. */
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
