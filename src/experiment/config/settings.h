/* The content of a configuration: the value of every key with its origin, and the structs that the keys
 * fill. */
#ifndef MFPG_EXPERIMENT_SETTINGS_H
#define MFPG_EXPERIMENT_SETTINGS_H

#include "mfpg/config.h"
#include "mfpg/federation.h"
#include "options/value.h"

/* A method is a mechanism, the players of its game and the accountant that the paper uses for it
 * (methods.def). */
typedef struct mfpg_method {
    /* the name that users type; "MECHANISM+PLAYERS" if the pair has no name of its own */
    const char *name, *help;
    const char *mechanism;        /* name in mechanisms.def */
    mfpg_players players;         /* none: no game */
    const char *paper_accountant; /* name in accountants.def; NULL if the paper has none */
} mfpg_method;

enum { MFPG_CHECKPOINT_AUTO = -2, MFPG_CHECKPOINT_NONE = -1 };

/* The column "field" of keys.def. Texts and lists are borrowed until the configuration changes. */
typedef struct mfpg_settings {
    const char *name;
    ptrdiff_t seed;              /* -1: none */
    int method, players;         /* -1: not given */
    const char *mechanism_given; /* NULL: not given */
    const char *model;
    ptrdiff_t classes;    /* 0: auto */
    const double *hidden; /* hidden_layers */
    ptrdiff_t hidden_layers;
    mfpg_data_options data;
    int fitted_scale;    /* 1: data.scale from-data */
    const double *range; /* range_count */
    ptrdiff_t range_count;
    const char *const *colluders; /* colluder_count */
    ptrdiff_t colluder_count;
    const char *const *dropouts; /* dropout_count */
    ptrdiff_t dropout_count;
    int filter;                                /* -1: auto, else mfpg_filter_kind */
    double action, multiplier, target_epsilon; /* NAN: not given */
    int law;                                   /* -1: auto, else mfpg_noise_law */
    ptrdiff_t local_steps, local_epochs;       /* 0: not given */
    double batch_rate;                         /* NAN: not given */
    ptrdiff_t batch_size;                      /* 0: not given */
    const char *start;                         /* "auto", "zero", "he", or a file */
    ptrdiff_t checkpoint;                      /* or MFPG_CHECKPOINT_AUTO, _NONE */
    const double *preferences;                 /* preference_count */
    ptrdiff_t preference_count;
    double preference_low, preference_high; /* NAN: not given */
    const char *preference_file, *preference_column;
    double privacy_scale, own_cost; /* NAN: auto */
    const char *loss_table;         /* a file, or NULL */
    int each_round;                 /* 1: game.update each-round */
    int particles;                  /* of mechanisms that can noise both */
    mfpg_mechanism_options mechanism;
    mfpg_federation_options federation;
    mfpg_game game; /* curvature, personalisation: NAN for auto */
    mfpg_acting acting;
} mfpg_settings;

typedef struct mfpg_category_line {
    char *column;
    mfpg_value value; /* texts */
} mfpg_category_line;

enum { MFPG_PATH_SIZE = 320, MFPG_METHOD_SIZE = 96 };

struct mfpg_config {
    mfpg_value *value; /* one a key */
    mfpg_category_line *category;
    ptrdiff_t categories;
    char *file;      /* name for messages, or NULL */
    char *directory; /* "" for the working folder */
    int layer;
    mfpg_method method; /* the method in use; its name is NULL if the mechanism or the players are missing */
    char method_name[MFPG_METHOD_SIZE];
    /* facts of the configuration and of the cost in use; they determine which keys apply */
    uint64_t facts, cost_facts;
    /* values of every key; and values of the keys that apply, with the defaults of the options for the rest */
    mfpg_settings all, set;
};

/* The facts of a configuration that determine which keys apply. */
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
    MFPG_FACT_NOISY_GRADIENT = 1 << 22,
    MFPG_FACT_MOMENTUM = 1 << 23, /* of the clients' optimiser */
    MFPG_FACT_SERVER_MOMENTUM = 1 << 24,
    MFPG_FACT_SERVER_MOMENTS = 1 << 25,
    MFPG_FACT_SUMMED = 1 << 26, /* noised parameters in the view average */
    MFPG_FACT_SECURE = 1 << 27  /* with a secure sum */
} mfpg_config_fact;

/* ---- keys.c: the list, and paths ---- */

extern const mfpg_options mfpg_keys;

/* The path's last component. */
const char *mfpg_path_leaf(const char *path);

/* Returns the length of "data" in "data.format", the path without its last component; 0 at the top. */
size_t mfpg_path_parent_length(const char *path);

/* Returns 1 if `below` is below the path (a section or a key with children). */
int mfpg_path_is_below(const char *path, const char *below);

/* Returns 1 if both paths have the same parent. */
int mfpg_path_are_siblings(const char *a, const char *b);

/* Returns 1 if setting one key replaces the other: a key and its children, or alternatives of one parent. */
int mfpg_keys_exclude(const mfpg_option *a, const mfpg_option *b);

/* Returns the column's name in a path that "data.categories.*" matches, or NULL. */
const char *mfpg_path_column(const char *path);

/* ---- settle.c: what follows from the values; a path that is not in the list is a fault of the caller, asserted ---- */

/* Determines the method in use, the keys that apply and the settings; call it after every change of a value. */
void mfpg_config_settle(mfpg_config *config);

/* Returns 1 if the key applies with the present method, game and data. */
int mfpg_config_counts(const mfpg_config *config, ptrdiff_t index);

/* Returns 1 if the key has a value, and 0 if it is unset or another key has replaced it. */
int mfpg_config_has(const mfpg_config *config, const char *path);

/* Returns 1 if a file or an argument set the key. */
int mfpg_config_given(const mfpg_config *config, const char *path);

/* Returns the origin of the value: "FILE:LINE", "argument 'KEY=VALUE'", "default" or "auto: WHY". */
const char *mfpg_config_source(const mfpg_config *config, const char *path);

/* Fails with MFPG_ERR_INPUT; the message is "PATH: ..." after the place where the key was set, or otherwise
 * after the file. */
mfpg_status mfpg_config_fail(mfpg_context *ctx, const mfpg_config *config, const char *path,
    const char *format, ...) __attribute__((format(printf, 4, 5)));

/* ---- config.c ---- */

/* Makes an independent copy, so that values resolved for one run do not affect the next. */
mfpg_status mfpg_config_copy(mfpg_context *ctx, const mfpg_config *config, mfpg_config **out);

/* Replaces an auto (or an unset value) by a value and records why; the key remains "not given". value: YAML,
 * checked like any other; why: one line, such as "logistic: R^2/4". */
mfpg_status mfpg_config_resolve(
    mfpg_context *ctx, mfpg_config *config, const char *path, const char *value, const char *why);
mfpg_status mfpg_config_resolve_number(
    mfpg_context *ctx, mfpg_config *config, const char *path, double value, const char *why);

/* ---- assign.c ---- */

/* Applies everything of a tree to the configuration, at the path ("": a whole document), as one layer. After
 * a failure the configuration may be partly changed. */
mfpg_status mfpg_config_assign(mfpg_context *ctx, mfpg_config *config, const mfpg_yaml_origin *origin,
    mfpg_value_origin kind, const char *directory, const char *path, const mfpg_yaml_node *tree);

/* ---- config_write.c ---- */

/* Returns the value of the key with that index as YAML on one line, with absolute paths; MFPG_NO_VALUE if it
 * has none or does not apply. NULL if memory runs out; otherwise free it. */
#define MFPG_NO_VALUE "nothing"
char *mfpg_config_value(const mfpg_config *config, ptrdiff_t index);

/* Writes only what was given: loading it makes the same configuration, which resolves in the same way. Paths
 * are absolute. The configuration must not be resolved. */
mfpg_status mfpg_config_write_given(mfpg_context *ctx, const mfpg_config *config, FILE *out);

/* Fails with MFPG_ERR_INPUT, the first key whose value differs and both values, if two configurations have
 * different content; the origin of values is ignored. here and there: names of the two ("this
 * configuration", "the run's"). without_paths: keys that name a file or a folder are ignored, because each
 * machine has its own. */
mfpg_status mfpg_config_compare(mfpg_context *ctx, const mfpg_config *config, const char *here,
    const mfpg_config *other, const char *there, int without_paths);

/* Checks the rules that involve several keys (both ends of an interval, what a partition needs, controls of
 * game and mechanism ...). Call it after the last mfpg_config_set. Keys that were given a value of their own
 * but have no effect are named in one warning. */
mfpg_status mfpg_config_check(mfpg_context *ctx, const mfpg_config *config);

#endif
