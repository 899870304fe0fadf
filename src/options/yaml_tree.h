/* A YAML document as a small tree: scalars as text, lists, mappings, each with its line. Nothing that lets a short file
 * mean a large or a surprising one is accepted: no anchors, aliases or tags, one document, bounded depth. */
#ifndef MFPG_OPTIONS_YAML_TREE_H
#define MFPG_OPTIONS_YAML_TREE_H

#include <stddef.h>

#include "mfpg/context.h"

enum { MFPG_YAML_DEPTH = 16, MFPG_YAML_ENTRIES = 4096, MFPG_YAML_LOCATION = 512 };

typedef enum mfpg_yaml_kind { MFPG_YAML_SCALAR = 0, MFPG_YAML_LIST, MFPG_YAML_MAPPING } mfpg_yaml_kind;

typedef struct mfpg_yaml_node {
    mfpg_yaml_kind kind;
    int line;   /* counted from 1; of a mapping's entry that of its key */
    int plain;  /* scalar without quotes */
    char *text; /* scalar: UTF-8 without zero bytes */
    char *name; /* entry of a mapping: its key */
    struct mfpg_yaml_node *child;
    ptrdiff_t count, room; /* of child; a mapping has at most MFPG_YAML_ENTRIES */
} mfpg_yaml_node;

/* What messages call the text: a file has lines, an argument has none. */
typedef struct mfpg_yaml_origin {
    const char *name;
    int has_lines;
} mfpg_yaml_origin;

/* Writes "name:line", or the name alone; cut to size; returns out. */
char *mfpg_yaml_location(const mfpg_yaml_origin *origin, int line, char out[MFPG_YAML_LOCATION]);

/* Reads text into a tree (mfpg_yaml_clear frees it). MFPG_ERR_INPUT with the location for what is not valid YAML, not
 * accepted, or empty. */
mfpg_status mfpg_yaml_parse(
    mfpg_context *ctx, const mfpg_yaml_origin *origin, const char *text, size_t length, mfpg_yaml_node *root);

/* Frees everything below a node; harmless on a zeroed one. */
void mfpg_yaml_clear(mfpg_yaml_node *node);

#endif
