/* Whether two configurations say the same. */
#include "config_state.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"

static void print_categories(const mfpg_config *config, FILE *out) {
    for (ptrdiff_t i = 0; i < config->categories; i++) {
        fputs(i > 0 ? ", " : "{", out);
        mfpg_text_print(config->category[i].column, out);
        fputs(": ", out);
        mfpg_value_print(&config->category[i].value, 0, out);
    }
    fputs(config->categories > 0 ? "}" : MFPG_NO_VALUE, out);
}

char *mfpg_config_value(const mfpg_config *config, ptrdiff_t index) {
    char *text = NULL;
    size_t size = 0;
    const mfpg_option *key = mfpg_settings_get(index);
    FILE *stream = open_memstream(&text, &size);
    if (!stream) return NULL;
    if (mfpg_path_column(key->name))
        print_categories(config, stream);
    else if (config->value[index].kind == MFPG_VALUE_NOTHING || !mfpg_config_counts(config, index))
        fputs(MFPG_NO_VALUE, stream);
    else
        mfpg_value_print(&config->value[index], key->kind == MFPG_OPTION_PATH, stream);
    if (fclose(stream) == 0) return text;
    free(text);
    return NULL;
}

static mfpg_status compare_key(mfpg_context *ctx, const mfpg_config *config, const char *here,
    const mfpg_config *other, const char *there, ptrdiff_t index) {
    char *own = mfpg_config_value(config, index), *theirs = mfpg_config_value(other, index);
    mfpg_status status = own && theirs ? MFPG_OK : mfpg_fail_memory(ctx);
    if (status == MFPG_OK && strcmp(own, theirs) != 0)
        status = mfpg_fail(ctx, MFPG_ERR_INPUT, "%s: %.300s in %s, %.300s in %s",
            mfpg_settings_get(index)->name, own, here, theirs, there);
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

static mfpg_status compare(mfpg_context *ctx, const mfpg_config *config, const char *here,
    const mfpg_config *other, const char *there, int with_paths) {
    mfpg_status status = compare_categories(ctx, config, here, other, there);
    for (ptrdiff_t i = 0; i < mfpg_settings_count() && status == MFPG_OK; i++) {
        const mfpg_option *key = mfpg_settings_get(i);
        if (!mfpg_path_column(key->name) && (with_paths || key->kind != MFPG_OPTION_PATH))
            status = compare_key(ctx, config, here, other, there, i);
    }
    return status;
}

mfpg_status mfpg_config_compare(mfpg_context *ctx, const mfpg_config *config, const char *here,
    const mfpg_config *other, const char *there) {
    return compare(ctx, config, here, other, there, 1);
}

mfpg_status mfpg_config_compare_values(mfpg_context *ctx, const mfpg_config *config, const char *here,
    const mfpg_config *other, const char *there) {
    return compare(ctx, config, here, other, there, 0);
}
