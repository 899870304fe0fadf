/* What an option may be, and what it is called: the description of one line, for messages and help. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/names.h"
#include "base/number.h"
#include "mfpg/option.h"

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
    char range[128];
    describe_range(&option->range, range, sizeof range);
    out[0] = 0;
    switch (option->kind) {
    case MFPG_OPTION_WORD:
    case MFPG_OPTION_FLAG: break;
    case MFPG_OPTION_NUMBER: snprintf(out, size, "a number%s", range); break;
    case MFPG_OPTION_WHOLE: snprintf(out, size, "a whole number%s", range); break;
    case MFPG_OPTION_TRUTH: snprintf(out, size, "true, false"); break;
    case MFPG_OPTION_TEXT:
        snprintf(out, size, option->range.high > 1 ? "a text of at most %g bytes" : "one character",
            option->range.high);
        break;
    case MFPG_OPTION_PATH: snprintf(out, size, "the name of a file or folder"); break;
    case MFPG_OPTION_NUMBERS: snprintf(out, size, "a list of numbers%s", range); break;
    case MFPG_OPTION_WHOLES: snprintf(out, size, "a list of whole numbers%s", range); break;
    case MFPG_OPTION_GRID: snprintf(out, size, "a list of ascending numbers%s", range); break;
    case MFPG_OPTION_SERIES: snprintf(out, size, "numbers"); break;
    case MFPG_OPTION_TEXTS: snprintf(out, size, "a list of texts"); break;
    }
}

char *mfpg_option_allowed(const mfpg_option *option, char *out, size_t size) {
    const char *words[64], *word;
    char kind[192];
    ptrdiff_t count = 0;
    if (size == 0) return out;
    while (count < 64 && (word = mfpg_option_word(option, count))) words[count++] = word;
    describe_kind(option, kind, sizeof kind);
    mfpg_names_join(words, count, out, size);
    size_t used = strlen(out);
    snprintf(out + used, size - used, "%s%s", used > 0 && kind[0] ? ", or " : "", kind);
    return out;
}
