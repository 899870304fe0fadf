#include "categories.h"

#include <string.h>

#include "base/error.h"
#include "base/names.h"

mfpg_status mfpg_category_open(
    mfpg_context *ctx, const mfpg_category *listed, mfpg_category_values *category) {
    if (listed->count < 1)
        return mfpg_fail(ctx, MFPG_ERR_INPUT, "data.categories: column \"%s\" has no values", listed->column);
    category->listed = listed;
    for (ptrdiff_t i = 0; i < listed->count; i++) {
        ptrdiff_t number = mfpg_lookup_add(&category->numbers, mfpg_slice_of(listed->values[i]));
        if (number < 0) return mfpg_fail_memory(ctx);
        if (number != i)
            return mfpg_fail(ctx, MFPG_ERR_INPUT, "data.categories: column \"%s\" lists \"%s\" twice",
                listed->column, listed->values[i]);
    }
    return MFPG_OK;
}

void mfpg_category_close(mfpg_category_values *category) {
    mfpg_lookup_clear(&category->numbers);
    category->listed = NULL;
}

mfpg_status mfpg_category_read(mfpg_context *ctx, const mfpg_category_values *category,
    const mfpg_table *table, ptrdiff_t row, ptrdiff_t column, float *indicators) {
    char number[MFPG_NUMBER_SIZE], shown[MFPG_SHOWN_SIZE], allowed[512];
    const mfpg_category *listed = category->listed;
    mfpg_slice text = mfpg_table_text(table, row, column, number);
    ptrdiff_t value = mfpg_lookup_find(&category->numbers, text);
    if (value < 0)
        return mfpg_fail(ctx, MFPG_ERR_INPUT,
            "%s:%u: column \"%s\": %s is not in its list of data.categories: %s", table->path,
            mfpg_table_line(table, row), listed->column, mfpg_slice_show(text, shown),
            mfpg_names_join(listed->values, listed->count, allowed, sizeof allowed));
    memset(indicators, 0, (size_t)(listed->count - 1) * sizeof *indicators);
    if (value > 0) indicators[value - 1] = 1.0f;
    return MFPG_OK;
}
