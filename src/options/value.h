/* What the library alone asks of options, YAML documents as trees, and values that an option allows: read from a node of a
 * tree or from a command, copied, compared, put into a field. */
#ifndef MFPG_OPTIONS_VALUE_H
#define MFPG_OPTIONS_VALUE_H

#include "mfpg/option.h"

/* Returns the index of the option with that name, or -1. */
ptrdiff_t mfpg_option_find(const mfpg_options *list, const char *name);

/* Returns 1 if the option applies under these facts and costs. */
int mfpg_option_counts(const mfpg_option *option, uint64_t facts, uint64_t costs);

/* Returns 1 if the field of an option holds a value. */
int mfpg_option_is_given(const mfpg_option *option, const void *fields);

/* Writes the first words of an option; returns their number. */
enum { MFPG_OPTION_WORDS = 64 };
ptrdiff_t mfpg_option_words(const mfpg_option *option, const char *words[MFPG_OPTION_WORDS]);

/* ---- YAML: scalars as text, lists, mappings, each with its line. Nothing that lets a short file mean a large or a surprising
 * one is accepted: no anchors, aliases or tags, one document, bounded depth. ---- */

enum { MFPG_YAML_DEPTH = 16, MFPG_YAML_ENTRIES = 4096, MFPG_YAML_LOCATION = 512 };

typedef enum mfpg_yaml_kind { MFPG_YAML_SCALAR = 0, MFPG_YAML_LIST, MFPG_YAML_MAPPING } mfpg_yaml_kind;

typedef struct mfpg_yaml_node {
    mfpg_yaml_kind kind;
    int line;   /* counted from 1; for an entry of a mapping, the line of its key */
    int plain;  /* scalar without quotes */
    char *text; /* scalar: UTF-8 without zero bytes */
    char *name; /* entry of a mapping: its key */
    struct mfpg_yaml_node *child;
    /* number of children, and their capacity; a mapping has at most MFPG_YAML_ENTRIES */
    ptrdiff_t count, room;
} mfpg_yaml_node;

/* The name of the text in messages: a file has lines, an argument has none. */
typedef struct mfpg_yaml_origin {
    const char *name;
    int has_lines;
} mfpg_yaml_origin;

/* Writes "name:line", or only the name; cut to size; returns out. */
char *mfpg_yaml_location(const mfpg_yaml_origin *origin, int line, char out[MFPG_YAML_LOCATION]);

/* Reads text into a tree (mfpg_yaml_clear frees it). MFPG_ERR_INPUT with the location for what is not valid YAML, not
 * accepted, or empty. */
mfpg_status mfpg_yaml_parse(
    mfpg_context *ctx, const mfpg_yaml_origin *origin, const char *text, size_t length, mfpg_yaml_node *root);

/* Frees everything below a node; a zeroed node is allowed. */
void mfpg_yaml_clear(mfpg_yaml_node *node);

/* ---- values ---- */

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
    char **texts;     /* count texts, in one block with the strings */
    ptrdiff_t count;
    mfpg_value_origin origin;
    int layer;    /* number of the load or argument that set the value */
    char *source; /* file:line, argument, or why */
} mfpg_value;

/* Reads one value as the option allows it. where begins messages ("mine.yaml:3: train.rounds", "--steps"); directory is what
 * a path is relative to. Sets kind and content of out only, on success; free with mfpg_value_clear. */
mfpg_status mfpg_value_parse(mfpg_context *ctx, const mfpg_option *option, const char *where,
    const char *directory, const mfpg_yaml_node *node, mfpg_value *out);
mfpg_status mfpg_value_copy(mfpg_context *ctx, const mfpg_value *value, mfpg_value *out);
void mfpg_value_clear(mfpg_value *value);
int mfpg_value_equal(const mfpg_value *a, const mfpg_value *b); /* the same value from any origin */

/* Copies pointers and their texts into one block; NULL if memory runs out. */
char **mfpg_texts_pack(const char *const *texts, ptrdiff_t count);

/* Returns the tree of a value's text: the text unchanged, or YAML if it begins with [ { " or '. */
mfpg_status mfpg_value_tree(
    mfpg_context *ctx, const mfpg_yaml_origin *origin, const char *text, mfpg_yaml_node *out);

#endif
