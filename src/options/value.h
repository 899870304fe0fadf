/* A value that an option allows: read from a node of YAML or from what was typed, copied, compared, put into a field. */
#ifndef MFPG_OPTIONS_VALUE_H
#define MFPG_OPTIONS_VALUE_H

#include "mfpg/option.h"
#include "yaml_tree.h"

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

/* Reads one value as the option allows it. where begins messages ("mine.yaml:3: train.rounds", "--steps"); directory is what
 * a path is relative to. Sets kind and content of out only, on success; free with mfpg_value_clear. */
mfpg_status mfpg_value_parse(mfpg_context *ctx, const mfpg_option *option, const char *where,
    const char *directory, const mfpg_yaml_node *node, mfpg_value *out);
mfpg_status mfpg_value_copy(mfpg_context *ctx, const mfpg_value *value, mfpg_value *out);
void mfpg_value_clear(mfpg_value *value);
int mfpg_value_equal(const mfpg_value *a, const mfpg_value *b); /* the same value from any origin */

/* Pointers and the texts behind them in one block; NULL if memory runs out. */
char **mfpg_texts_pack(const char *const *texts, ptrdiff_t count);

/* The tree of a value's text: the text as it is, or YAML if it begins with [ { " or '. */
mfpg_status mfpg_value_tree(
    mfpg_context *ctx, const mfpg_yaml_origin *origin, const char *text, mfpg_yaml_node *out);

#endif
