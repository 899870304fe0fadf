/* What a configuration holds; for the files of this folder only. */
#ifndef MFPG_EXPERIMENT_CONFIG_STATE_H
#define MFPG_EXPERIMENT_CONFIG_STATE_H

#include "keys.h"
#include "yaml_tree.h"
#include "mfpg/config.h"

enum { MFPG_PATH_SIZE = 320, MFPG_METHOD_SIZE = 96 };

typedef enum mfpg_value_kind {
    MFPG_VALUE_NOTHING = 0,
    MFPG_VALUE_WORD,
    MFPG_VALUE_NUMBER, /* also whole */
    MFPG_VALUE_TRUTH,
    MFPG_VALUE_TEXT, /* also path */
    MFPG_VALUE_NUMBERS,
    MFPG_VALUE_TEXTS
} mfpg_value_kind;

typedef enum mfpg_value_origin {
    MFPG_ORIGIN_DEFAULT = 0,
    MFPG_ORIGIN_FILE,
    MFPG_ORIGIN_ARGUMENT,
    MFPG_ORIGIN_AUTO
} mfpg_value_origin;

typedef struct mfpg_value {
    mfpg_value_kind kind;
    const char *word; /* word: a constant of the program */
    ptrdiff_t choice; /* word: its number */
    double number;    /* number, truth */
    char *text;       /* text; a path is joined with its folder */
    double *numbers;  /* count */
    char **texts;     /* count; one block with what it points to */
    ptrdiff_t count;
    mfpg_value_origin origin;
    int layer;    /* number of the load or argument that set it */
    char *source; /* file:line, argument, or why */
} mfpg_value;

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
};

/* Reads one value as the key allows it. place is the location for messages; directory is what a path is relative to.
 * Sets kind and content of out only, on success; free with mfpg_value_clear. */
mfpg_status mfpg_value_parse(mfpg_context *ctx, const mfpg_setting *key, const char *path, const char *place,
    const char *directory, const mfpg_yaml_node *node, mfpg_value *out);
mfpg_status mfpg_value_copy(mfpg_context *ctx, const mfpg_value *value, mfpg_value *out);
void mfpg_value_clear(mfpg_value *value);
int mfpg_value_equal(const mfpg_value *a, const mfpg_value *b); /* the same value, wherever it comes from */

/* The tree of a value's text: the text as it stands, or YAML where it begins with [ { " or '. */
mfpg_status mfpg_value_tree(
    mfpg_context *ctx, const mfpg_yaml_origin *origin, const char *text, mfpg_yaml_node *out);

/* Puts everything of a tree that stands at path ("": a whole document) into the configuration as one layer. On failure
 * the configuration may be half changed. */
mfpg_status mfpg_config_assign(mfpg_context *ctx, mfpg_config *config, const mfpg_yaml_origin *origin,
    mfpg_value_origin kind, const char *directory, const char *path, const mfpg_yaml_node *tree);

/* Works out the method in force after values changed. */
void mfpg_config_settle(mfpg_config *config);

/* 1 where the key counts under the method, the game and the data in force. */
int mfpg_config_counts(const mfpg_config *config, ptrdiff_t index);

/* Fails with MFPG_ERR_INPUT and "WHERE THE KEY WAS SET: path: ...". */
mfpg_status mfpg_config_fail(mfpg_context *ctx, const mfpg_config *config, const char *path,
    const char *format, ...) __attribute__((format(printf, 4, 5)));

/* One value as YAML on one line: what mfpg_value_parse reads back the same. Paths absolute where asked. */
void mfpg_value_print(const mfpg_value *value, int absolute_path, FILE *out);
void mfpg_text_print(const char *text, FILE *out); /* a text, in double quotes where it needs them */

#endif
