#include "config_state.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"

/* One line without what would end a comment's line. */
static char *one_line(const char *text) {
    char *copy = mfpg_text_copy(text, strlen(text));
    for (char *at = copy; at && *at; at++)
        if ((unsigned char)*at < 0x20) *at = ' ';
    return copy;
}

mfpg_status mfpg_config_resolve(
    mfpg_context *ctx, mfpg_config *config, const char *path, const char *value, const char *why) {
    const mfpg_yaml_origin origin = {"resolved value", 0};
    ptrdiff_t index = mfpg_config_key_find(path);
    mfpg_yaml_node tree = {0};
    mfpg_value resolved = {0};
    if (index < 0 || mfpg_path_column(path))
        return mfpg_fail(ctx, MFPG_ERR_INPUT, "%s: no such key to resolve", path);
    mfpg_status status = mfpg_value_tree(ctx, &origin, value, &tree);
    if (status == MFPG_OK)
        status = mfpg_value_parse(ctx, mfpg_settings_get(index), path, "", &tree, &resolved);
    mfpg_yaml_clear(&tree);
    if (status != MFPG_OK) return status;
    resolved.origin = MFPG_ORIGIN_AUTO;
    resolved.layer = config->value[index].layer;
    size_t room = strlen(why) + sizeof "auto: ";
    char *source = mfpg_alloc((ptrdiff_t)room, 1), *line = one_line(why);
    if (source && line) {
        strcat(strcpy(source, "auto: "), line);
        resolved.source = source;
        mfpg_value_clear(&config->value[index]);
        config->value[index] = resolved;
        mfpg_config_settle(config);
    } else {
        free(source);
        mfpg_value_clear(&resolved);
        status = mfpg_fail_memory(ctx);
    }
    free(line);
    return status;
}
