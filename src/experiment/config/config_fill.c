#include "config_fields.h"
#include "config_state.h"

static void put(const mfpg_option *key, const mfpg_value *value, mfpg_config_fields *fields) {
    void *field = (char *)fields + key->offset;
    ptrdiff_t *count = (ptrdiff_t *)(void *)((char *)fields + key->count_offset);
    int word = value->kind == MFPG_VALUE_WORD;
    switch (key->field) {
    case MFPG_HOLDS_INT: *(int *)field = word ? (int)value->choice : value->number != 0; break;
    case MFPG_HOLDS_NUMBER: *(double *)field = word ? 0.0 : value->number; break;
    case MFPG_HOLDS_WHOLE: *(ptrdiff_t *)field = word ? 0 : (ptrdiff_t)value->number; break;
    case MFPG_HOLDS_CHAR: *(char *)field = (char)(word ? 0 : value->text[0]); break;
    case MFPG_HOLDS_TEXT: *(const char **)field = word ? value->word : value->text; break;
    case MFPG_HOLDS_NAMES:
        *(const char *const **)field = value->count > 0 ? (const char *const *)value->texts : NULL;
        *count = value->count;
        break;
    default: break;
    }
}

mfpg_config_fields mfpg_config_fill(const mfpg_config *config) {
    mfpg_config_fields fields = {.data = mfpg_data_options_default(),
        .mechanism = mfpg_mechanism_options_default(),
        .federation = mfpg_federation_options_default(),
        .game = mfpg_game_default()};
    for (ptrdiff_t i = 0; i < mfpg_settings_count(); i++)
        if (config->value[i].kind != MFPG_VALUE_NOTHING && mfpg_config_counts(config, i))
            put(mfpg_settings_get(i), &config->value[i], &fields);
    return fields;
}
