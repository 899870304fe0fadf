/* What a configuration holds; for the files of this folder only. */
#ifndef MFPG_EXPERIMENT_CONFIG_STATE_H
#define MFPG_EXPERIMENT_CONFIG_STATE_H

#include "keys.h"
#include "mfpg/config.h"
#include "options/value.h"

enum { MFPG_PATH_SIZE = 320, MFPG_METHOD_SIZE = 96 };

typedef struct mfpg_category_line {
    char *column;
    mfpg_value value; /* texts */
} mfpg_category_line;

struct mfpg_config {
    mfpg_value *value; /* one a key */
    mfpg_category_line *category;
    ptrdiff_t categories;
    char *file;      /* name for messages, or NULL */
    char *directory; /* "" for the working folder */
    int layer;
    mfpg_method method;
    char method_name[MFPG_METHOD_SIZE];
    uint64_t facts, cost_facts; /* that hold, and of the cost that is played: they say which keys count */
};

/* Puts everything of a tree that stands at path ("": a whole document) into the configuration as one layer. On failure
 * the configuration may be half changed. */
mfpg_status mfpg_config_assign(mfpg_context *ctx, mfpg_config *config, const mfpg_yaml_origin *origin,
    mfpg_value_origin kind, const char *directory, const char *path, const mfpg_yaml_node *tree);

/* Works out the method in force, and which keys count, after values changed. */
void mfpg_config_settle(mfpg_config *config);

/* The part of it about keys, config_check.c. */
void mfpg_config_find_facts(mfpg_config *config);

/* 1 where the key counts under the method, the game and the data in force. */
int mfpg_config_counts(const mfpg_config *config, ptrdiff_t index);

/* Fails with MFPG_ERR_INPUT and "WHERE THE KEY WAS SET: path: ...". */
mfpg_status mfpg_config_fail(mfpg_context *ctx, const mfpg_config *config, const char *path,
    const char *format, ...) __attribute__((format(printf, 4, 5)));

/* One value as YAML on one line: what mfpg_value_parse reads back the same. Paths absolute where asked. */
void mfpg_value_print(const mfpg_value *value, int absolute_path, FILE *out);
void mfpg_text_print(const char *text, FILE *out); /* a text, in double quotes where it needs them */

#endif
