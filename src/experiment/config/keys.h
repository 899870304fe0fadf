/* The list of keys (keys.def) as this folder sees it: paths, and the facts under which a key counts. */
#ifndef MFPG_EXPERIMENT_KEYS_H
#define MFPG_EXPERIMENT_KEYS_H

#include <stddef.h>

#include "mfpg/config.h"

/* The facts of a configuration that decide which keys count. */
typedef enum mfpg_config_fact {
    MFPG_FACT_CLASSES = 1 << 0,
    MFPG_FACT_NETWORK = 1 << 1,
    MFPG_FACT_FROM_FILES = 1 << 2,
    MFPG_FACT_BY_COLUMN = 1 << 3,
    MFPG_FACT_BY_CHANCE = 1 << 4,
    MFPG_FACT_BY_DIRICHLET = 1 << 5,
    MFPG_FACT_BY_SHARDS = 1 << 6,
    MFPG_FACT_SYNTHETIC = 1 << 7,
    MFPG_FACT_SHAPED = 1 << 8,
    MFPG_FACT_NOISED = 1 << 9,
    MFPG_FACT_ASSUMED = 1 << 10,
    MFPG_FACT_STOPPED = 1 << 11,
    MFPG_FACT_UPDATES = 1 << 12,
    MFPG_FACT_NO_GAME = 1 << 13, /* noised, but no game */
    MFPG_FACT_GRADIENT = 1 << 14,
    MFPG_FACT_BUDGET = 1 << 15,
    MFPG_FACT_ENTROPIC = 1 << 16,
    MFPG_FACT_GAME = 1 << 17,
    MFPG_FACT_CONSTANT_LOSS = 1 << 18, /* a game without a loss table */
    MFPG_FACT_EACH_ROUND = 1 << 19,
    MFPG_FACT_NOISY = 1 << 20,
    MFPG_FACT_EXPONENTIAL = 1 << 21,
    MFPG_FACT_NOISY_GRADIENT = 1 << 22
} mfpg_config_fact;

ptrdiff_t mfpg_settings_count(void);
const mfpg_option *mfpg_settings_get(ptrdiff_t index); /* NULL past the end */

/* The path's last component. */
const char *mfpg_path_leaf(const char *path);

/* Length of "data" in "data.label.column" and so on: the path without its last component; 0 at the top. */
size_t mfpg_path_parent_length(const char *path);

/* 1 if below is below the path (a section or a key with children). */
int mfpg_path_is_below(const char *path, const char *below);

/* 1 if setting one takes the other's place: a key and its children, or alternatives of one parent. */
int mfpg_settings_exclude(const mfpg_option *a, const mfpg_option *b);

/* The column's name in a path that "data.categories.*" stands for, or NULL. */
const char *mfpg_path_column(const char *path);

enum { MFPG_SIBLINGS = 64, MFPG_SIBLING_SIZE = 32 };

/* The names directly below a section, for messages. */
typedef struct mfpg_siblings {
    char text[MFPG_SIBLINGS][MFPG_SIBLING_SIZE];
    const char *name[MFPG_SIBLINGS]; /* into text */
    ptrdiff_t count;
} mfpg_siblings;

/* Fills out for the section path[0..length); length 0 is the top. The struct must not be moved. */
void mfpg_siblings_collect(const char *path, size_t length, mfpg_siblings *out);

#endif
