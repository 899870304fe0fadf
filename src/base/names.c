#include "names.h"

#include <stdio.h>
#include <string.h>

#include "error.h"

enum { LONGEST_WORD = 63 };

static int smallest(int a, int b, int c) {
    int least = a < b ? a : b;
    return least < c ? least : c;
}

/* Levenshtein distance by one row; words longer than LONGEST_WORD are far from everything. */
static int distance(const char *a, const char *b) {
    size_t rows = strlen(a), columns = strlen(b);
    int row[LONGEST_WORD + 1];
    if (rows > LONGEST_WORD || columns > LONGEST_WORD) return LONGEST_WORD;
    for (size_t j = 0; j <= columns; j++) row[j] = (int)j;
    for (size_t i = 1; i <= rows; i++) {
        int diagonal = row[0];
        row[0] = (int)i;
        for (size_t j = 1; j <= columns; j++) {
            int above = row[j];
            row[j] = smallest(above + 1, row[j - 1] + 1, diagonal + (a[i - 1] != b[j - 1]));
            diagonal = above;
        }
    }
    return row[columns];
}

const char *mfpg_names_nearest(const char *word, const char *const *names, ptrdiff_t count) {
    int allowed = (int)(strlen(word) / 3), best = allowed < 1 ? 2 : allowed + 1;
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
