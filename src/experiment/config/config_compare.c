/* Whether two configurations say the same. */
#include "config_state.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"

/* The value of a key as YAML, paths absolute, "nothing" where it holds none or does not count; NULL without memory. Free it. */
static char *value_text(const mfpg_config *config, ptrdiff_t index) {
    char *text = NULL;
    size_t size = 0;
    const mfpg_setting *key = mfpg_settings_get(index);
    FILE *stream = open_memstream(&text, &size);
    if (!stream) return NULL;
    if (config->value[index].kind == MFPG_VALUE_NOTHING || !mfpg_config_counts(config, index))
        fputs("nothing", stream);
    else
        mfpg_value_print(&config->value[index], key->form == MFPG_FORM_PATH, stream);
    if (fclose(stream) == 0) return text;
    free(text);
    return NULL;
}

static mfpg_status compare_key(mfpg_context *ctx, const mfpg_config *config, const char *here,
    const mfpg_config *other, const char *there, ptrdiff_t index) {
    char *own = value_text(config, index), *theirs = value_text(other, index);
    mfpg_status status = own && theirs ? MFPG_OK : mfpg_fail_memory(ctx);
    if (status == MFPG_OK && strcmp(own, theirs) != 0)
        status = mfpg_fail(ctx, MFPG_ERR_INPUT, "%s: %.300s in %s, %.300s in %s",
            mfpg_settings_get(index)->path, own, here, theirs, there);
    free(own);
    free(theirs);
    return status;
}

static mfpg_status compare_categories(mfpg_context *ctx, const mfpg_config *config, const char *here,
    const mfpg_config *other, const char *there) {
    int same = config->categories == other->categories;
    for (ptrdiff_t i = 0; same && i < config->categories; i++) {
        const mfpg_category_line *a = &config->category[i], *b = &other->category[i];
        same = strcmp(a->column, b->column) == 0 && mfpg_value_equal(&a->value, &b->value);
    }
    return same ? MFPG_OK
                : mfpg_fail(ctx, MFPG_ERR_INPUT, "data.categories: other columns or values in %s than in %s",
                      here, there);
}

mfpg_status mfpg_config_compare(mfpg_context *ctx, const mfpg_config *config, const char *here,
    const mfpg_config *other, const char *there) {
    mfpg_status status = compare_categories(ctx, config, here, other, there);
    for (ptrdiff_t i = 0; i < mfpg_settings_count() && status == MFPG_OK; i++)
        if (!mfpg_path_column(mfpg_settings_get(i)->path))
            status = compare_key(ctx, config, here, other, there, i);
    return status;
}
