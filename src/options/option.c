/* Describes one line of a list for messages and help: its place, words and range. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/names.h"
#include "base/number.h"
#include "value.h"

ptrdiff_t mfpg_option_find(const mfpg_options *list, const char *name) {
    for (ptrdiff_t i = 0; i < list->count; i++)
        if (strcmp(list->option[i].name, name) == 0) return i;
    return -1;
}

ptrdiff_t mfpg_option_group(const mfpg_options *list, ptrdiff_t index) {
    ptrdiff_t group = 0;
    while (group < list->headings && list->heading[group].line < list->option[index].line) group++;
    return group;
}

const char *mfpg_option_section(const mfpg_options *list, ptrdiff_t index) {
    ptrdiff_t group = mfpg_option_group(list, index);
    return group > 0 ? list->heading[group - 1].title : "";
}

int mfpg_option_counts(const mfpg_option *option, uint64_t facts, uint64_t costs) {
    return (!option->facts || option->facts & facts) && (!option->costs || option->costs & costs);
}

/* ---- words and ranges ---- */

const char *mfpg_option_word(const mfpg_option *option, ptrdiff_t index) {
    ptrdiff_t fixed = 0;
    if (index < 0) return NULL;
    for (; option->words && option->words[fixed]; fixed++)
        if (fixed == index) return option->words[fixed];
    if (option->kinds) return mfpg_kind_name(option->kinds, index - fixed);
    return option->word ? option->word(index - fixed) : NULL;
}

static void describe_range(const mfpg_range *range, char *out, size_t size) {
    char low[MFPG_NUMBER_SIZE + 16] = "", high[MFPG_NUMBER_SIZE + 16] = "";
    int whole = range->high >= 1e6 && isfinite(range->high);
    if (isfinite(range->low))
        snprintf(low, sizeof low, " %s %g", range->open_low ? "above" : "from", range->low);
    if (isfinite(range->high))
        snprintf(high, sizeof high, whole ? " %s %.0f" : " %s %g", range->open_high ? "below" : "up to",
            range->high);
    snprintf(out, size, "%s%s", low, high);
}

static void describe_kind(const mfpg_option *option, char *out, size_t size) {
    /* A number of each kind has a range; other kinds of option have none. */
    static const struct {
        const char *noun;
        int ranged;
    } kinds[] = {
        [MFPG_OPTION_WORD] = {"", 0},
        [MFPG_OPTION_FLAG] = {"", 0},
        [MFPG_OPTION_NUMBER] = {"a number", 1},
        [MFPG_OPTION_WHOLE] = {"a whole number", 1},
        [MFPG_OPTION_TRUTH] = {"true, false", 0},
        [MFPG_OPTION_TEXT] = {"one character", 0},
        [MFPG_OPTION_PATH] = {"the name of a file or folder", 0},
        [MFPG_OPTION_NUMBERS] = {"a list of numbers", 1},
        [MFPG_OPTION_WHOLES] = {"a list of whole numbers", 1},
        [MFPG_OPTION_GRID] = {"a list of ascending numbers", 1},
        [MFPG_OPTION_SERIES] = {"numbers", 0},
        [MFPG_OPTION_TEXTS] = {"a list of texts", 0},
    };
    char range[128];
    describe_range(&option->range, range, sizeof range);
    if (option->kind == MFPG_OPTION_TEXT && option->range.high > 1)
        snprintf(out, size, "a text of at most %g bytes", option->range.high);
    else
        snprintf(out, size, "%s%s", kinds[option->kind].noun, kinds[option->kind].ranged ? range : "");
}

ptrdiff_t mfpg_option_words(const mfpg_option *option, const char *words[MFPG_OPTION_WORDS]) {
    ptrdiff_t count = 0;
    while (count < MFPG_OPTION_WORDS && (words[count] = mfpg_option_word(option, count))) count++;
    return count;
}

char *mfpg_option_allowed(const mfpg_option *option, char *out, size_t size) {
    const char *words[MFPG_OPTION_WORDS];
    char kind[192];
    if (size == 0) return out;
    describe_kind(option, kind, sizeof kind);
    mfpg_names_join(words, mfpg_option_words(option, words), out, size);
    size_t used = strlen(out);
    snprintf(out + used, size - used, "%s%s", used > 0 && kind[0] ? ", or " : "", kind);
    return out;
}
