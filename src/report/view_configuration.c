/* The configuration of a run: every key that counts, with its unit and meaning. */
#include <stdlib.h>
#include <string.h>

#include "experiment/config/settings.h"
#include "view.h"

static void add_key(view *v, const mfpg_option *key, const char *value, json_t *list) {
    json_t *entry = view_add(v, list, json_object());
    view_put(v, entry, "path", view_text(key->name));
    view_put(v, entry, "value", view_text(value));
    view_put(v, entry, "unit", view_text(key->unit));
    view_put(v, entry, "help", view_text(key->help));
}

void view_configuration(view *v, const run_set *set, json_t *out) {
    const run_record *run = &set->run[0];
    json_t *list = view_new_list(v, out, "configuration");
    const mfpg_options *keys = mfpg_config_options();
    for (ptrdiff_t i = 0; i < keys->count; i++) {
        char *value = mfpg_config_value(run->config, i);
        if (!value) v->failed = 1;
        if (value && strcmp(value, MFPG_NO_VALUE) != 0) add_key(v, &keys->option[i], value, list);
        free(value);
    }
    view_put(v, out, "file", view_text(run->config_text));
}
