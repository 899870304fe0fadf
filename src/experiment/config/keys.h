/* The table of keys (keys.def) as the rest of the experiment folder sees it. */
#ifndef MFPG_EXPERIMENT_KEYS_H
#define MFPG_EXPERIMENT_KEYS_H

#include <stddef.h>

#include "mfpg/config.h"

/* The conditions under which a key counts: WHEN(identifier, words behind "used"). */
#define MFPG_WHENS(WHEN)                                                                                     \
    WHEN(ALWAYS, "")                                                                                         \
    WHEN(CLASSES, "with models softmax and mlp")                                                             \
    WHEN(NETWORK, "with model mlp")                                                                          \
    WHEN(FROM_FILES, "for data from files")                                                                  \
    WHEN(BY_COLUMN, "with partition kind column")                                                            \
    WHEN(BY_CHANCE, "with partition kind iid, dirichlet or shards")                                          \
    WHEN(BY_DIRICHLET, "with partition kind dirichlet")                                                      \
    WHEN(BY_SHARDS, "with partition kind shards")                                                            \
    WHEN(SYNTHETIC, "with format synthetic")                                                                 \
    WHEN(SHAPED, "with format synthetic of a kind other than clinics")                                       \
    WHEN(NOISED, "by private methods")                                                                       \
    WHEN(ASSUMED, "with privacy.assume")                                                                     \
    WHEN(STOPPED, "with privacy.stop_at_epsilon")                                                            \
    WHEN(UPDATES, "where parameters are noised")                                                             \
    WHEN(NO_GAME, "by private methods without a game")                                                       \
    WHEN(GRADIENT, "by mechanisms gaussian, input and none, and by entropic over data")                      \
    WHEN(BUDGET, "by mechanisms gaussian and input")                                                         \
    WHEN(ENTROPIC, "by mechanism entropic")                                                                  \
    WHEN(GAME, "with a game")                                                                                \
    WHEN(OWN_NOISE, "with a game of cost gaussian or entropic")                                              \
    WHEN(SCALED_LOSS, "with a game of cost entropic, interaction or measured")                               \
    WHEN(GAUSSIAN_COST, "with a game of cost gaussian or measured-budget")                                   \
    WHEN(TABLE_COST, "with a game of cost measured or measured-budget")                                      \
    WHEN(PERSONAL_COST, "with a game of cost gaussian or entropic, and where a loss table is made")          \
    WHEN(ENTROPIC_COST, "with a game of cost entropic")                                                      \
    WHEN(INTERACTION_COST, "with a game of cost interaction")                                                \
    WHEN(PAPER_COST, "with a game of cost paper")                                                            \
    WHEN(STRENGTH_COST, "with a game of cost entropic or interaction")                                       \
    WHEN(LOSS_COST, "with a game of cost paper or measured")                                                 \
    WHEN(EACH_ROUND, "with game.update each-round")                                                          \
    WHEN(NOISY, "with game.update each-round and selection noisy")                                           \
    WHEN(NOISY_GRADIENT, "with game.update each-round, selection noisy and cost paper")                      \
    WHEN(EXPONENTIAL, "with game.update each-round and selection exponential")

#define MFPG_WHEN_ENUM(identifier, words) MFPG_WHEN_##identifier,
typedef enum mfpg_when { MFPG_WHENS(MFPG_WHEN_ENUM) MFPG_WHEN_COUNT } mfpg_when;
#undef MFPG_WHEN_ENUM

typedef struct mfpg_range {
    double low, high;
    int open_low, open_high; /* 1: the end itself is excluded */
} mfpg_range;

typedef struct mfpg_setting {
    const char *path;
    mfpg_form form;
    const char *const *words;             /* ends with NULL; or NULL */
    const char *(*name)(ptrdiff_t index); /* further words; or NULL */
    mfpg_range range;
    const char *default_value, *example;
    const char *unit;
    mfpg_when when;
    const char *alternative; /* or NULL */
    const char *help;
} mfpg_setting;

ptrdiff_t mfpg_settings_count(void);
const mfpg_setting *mfpg_settings_get(ptrdiff_t index); /* NULL past the end */

/* The path's last component. */
const char *mfpg_path_leaf(const char *path);

/* Length of "data" in "data.label.column" and so on: the path without its last component; 0 at the top. */
size_t mfpg_path_parent_length(const char *path);

/* 1 where key is below the path (a section or a key with children). */
int mfpg_path_is_below(const char *path, const char *below);

/* 1 where setting one takes the other's place: a key and its children, or alternatives of one parent. */
int mfpg_settings_exclude(const mfpg_setting *a, const mfpg_setting *b);

/* The column's name in a path that "data.categories.*" stands for, or NULL. */
const char *mfpg_path_column(const char *path);

/* The word number index of a key, or NULL. */
const char *mfpg_setting_word(const mfpg_setting *key, ptrdiff_t index);

/* What the key may be, in words. */
char *mfpg_setting_allowed(const mfpg_setting *key, char *out, size_t size);

int mfpg_range_holds(const mfpg_range *range, double value); /* 0 also for NaN */

/* The words behind "used" of a condition. */
const char *mfpg_when_words(mfpg_when when);

/* The title of a top-level section, or "". */
const char *mfpg_section_title(const char *path, size_t length);

enum { MFPG_SIBLINGS = 64, MFPG_SIBLING_SIZE = 32 };

/* The names that stand directly below a section, for messages. */
typedef struct mfpg_siblings {
    char text[MFPG_SIBLINGS][MFPG_SIBLING_SIZE];
    const char *name[MFPG_SIBLINGS]; /* into text */
    ptrdiff_t count;
} mfpg_siblings;

/* Fills out for the section path[0..length); length 0 is the top. The struct must not be moved. */
void mfpg_siblings_collect(const char *path, size_t length, mfpg_siblings *out);

#endif
