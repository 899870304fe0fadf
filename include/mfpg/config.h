/** The configuration of a federation as an object: every key of the one table (path, type, range, unit, default, help),
 *  read from YAML and from KEY=VALUE arguments, checked, asked by path, resolved, and written back whole. */
#ifndef MFPG_CONFIG_H
#define MFPG_CONFIG_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "context.h"
#include "dataset.h"
#include "game.h"
#include "option.h"
#include "release.h"

/* ---- methods: a method is a mechanism, the players of its game and the accountant the paper gives it ---- */

typedef struct mfpg_method {
    const char *name;      /* as users type it; "MECHANISM+PLAYERS" where the pair has no name of its own */
    const char *mechanism; /* name in mechanisms.def */
    mfpg_players players;  /* none: no game */
    const char *paper_accountant; /* name in accountants.def; NULL: the paper has none */
    const char *help;
} mfpg_method;

/** The named methods of methods.def in order; NULL past the end. Threads: safe. */
const mfpg_method *mfpg_method_get(ptrdiff_t index);
const char *mfpg_method_name(ptrdiff_t index);
const char *mfpg_method_help(ptrdiff_t index);

/* ---- the list of keys ---- */

/** Every key, in the order in which a configuration is written. Threads: safe. */
const mfpg_options *mfpg_config_options(void);

/** Number of the key with that path, or -1; "data.categories.NAME" is found for any NAME. */
ptrdiff_t mfpg_config_key_find(const char *path);

/** Prints the table for a terminal: grouped, one key a line with default, what is allowed and help. */
mfpg_status mfpg_config_keys_print(mfpg_context *ctx, FILE *out);

/* ---- making a configuration ---- */

typedef struct mfpg_config mfpg_config;

/** All defaults (the paper's); paths are relative to the working folder. */
mfpg_status mfpg_config_create(mfpg_context *ctx, mfpg_config **out);

/** Reads a YAML file over the defaults. MFPG_ERR_INPUT: "FILE:LINE: key.path: what was found; what is allowed".
 *  Limits: 1 MiB, 16 levels, no anchors, no tags, one document. */
mfpg_status mfpg_config_load(mfpg_context *ctx, const char *path, mfpg_config **out);

/** The same from memory. origin stands in messages for the file's name; directory is what paths are relative to
 *  (NULL: the working folder). */
mfpg_status mfpg_config_load_text(mfpg_context *ctx, const char *text, size_t length, const char *origin,
    const char *directory, mfpg_config **out);

/** A file, or else the example of that name (mfpg_example_path). */
mfpg_status mfpg_config_open(mfpg_context *ctx, const char *name, mfpg_config **out);

/** An independent copy, so that what one run resolves does not stay for the next. */
mfpg_status mfpg_config_copy(mfpg_context *ctx, const mfpg_config *config, mfpg_config **out);

/** Frees a configuration; NULL is fine. */
void mfpg_config_destroy(mfpg_config *config);

/** Applies one argument "key.path=VALUE". VALUE is taken as it stands, or as a YAML value where it begins with one of
 *  [ { " '. A value takes the place of whatever excludes it: method=none that of a method mapping, game.actions.min
 *  that of a list. Errors name the argument; the configuration is then unchanged. */
mfpg_status mfpg_config_set(mfpg_context *ctx, mfpg_config *config, const char *argument);

/** The same for a key that takes a name of a file or folder. */
mfpg_status mfpg_config_set_path(mfpg_context *ctx, mfpg_config *config, const char *key, const char *name);

/** The rules that span keys (both ends of an interval, what a partition needs, controls of game and mechanism ...);
 *  call it after the last mfpg_config_set. Keys that were given a value of their own but do not count are
 *  named in one warning. */
mfpg_status mfpg_config_check(mfpg_context *ctx, const mfpg_config *config);

/** Recognises "seed=A..B", whole numbers with A <= B: *sweep is 1 and first and last are set; 0 for any other
 *  argument. MFPG_ERR_INPUT for a range that is none, or of more than a million seeds. */
mfpg_status mfpg_config_sweep(
    mfpg_context *ctx, const char *argument, int *sweep, int64_t *first, int64_t *last);

/* ---- asking; a path that is not in the table is a fault of the caller: asserted, then answered as "nothing" ---- */

/** The number, or NAN where nothing or a word is set. */
double mfpg_config_number(const mfpg_config *config, const char *path);

/** The whole number, or -1 where nothing or a word is set (no key has negative whole numbers). */
int64_t mfpg_config_whole(const mfpg_config *config, const char *path);

/** 1 for true, else 0. */
int mfpg_config_truth(const mfpg_config *config, const char *path);

/** The word, text or path (joined with the folder it is relative to), or NULL where nothing or a number is set.
 *  Valid until the configuration changes. */
const char *mfpg_config_text(const mfpg_config *config, const char *path);

/** 1 where the key holds that word. */
int mfpg_config_is(const mfpg_config *config, const char *path, const char *word);

/** The number of the word in the order of mfpg_option_word, or -1 where no word is set. The words of unit,
 *  adjacency, view, clip_at, missing.rows, partition.kind, kind, scale (entropic) and players stand in the order of
 *  their enums. */
ptrdiff_t mfpg_config_choice(const mfpg_config *config, const char *path);

/** The list and its length; NULL and 0 where none is set. Valid until the configuration changes. */
const double *mfpg_config_numbers(const mfpg_config *config, const char *path, ptrdiff_t *count);
const char *const *mfpg_config_texts(const mfpg_config *config, const char *path, ptrdiff_t *count);

/** The lines of data.categories. */
ptrdiff_t mfpg_config_categories(const mfpg_config *config);
mfpg_category mfpg_config_category(const mfpg_config *config, ptrdiff_t index);

/** The value of key number index as YAML on one line, paths absolute; MFPG_NO_VALUE where it holds none or does not count.
 *  NULL when memory runs out; else free it. */
#define MFPG_NO_VALUE "nothing"
char *mfpg_config_value(const mfpg_config *config, ptrdiff_t index);

/** 1 where the key holds anything; 0 where it is unset or another key has taken its place. */
int mfpg_config_has(const mfpg_config *config, const char *path);

/** 1 where a file or an argument set the key. */
int mfpg_config_given(const mfpg_config *config, const char *path);

/** Where the value comes from: "FILE:LINE", "argument 'KEY=VALUE'", "default" or "auto: WHY". */
const char *mfpg_config_source(const mfpg_config *config, const char *path);

/** The method in force; name NULL where method.mechanism or method.players is missing. */
mfpg_method mfpg_config_method(const mfpg_config *config);

/** The cost model in force: game.cost, or for auto the one of the mechanism's name. */
const char *mfpg_config_cost(const mfpg_config *config);

/** What the run noises: data with mechanism input, and with entropic where entropic.particles says so. */
mfpg_particles mfpg_config_particles(const mfpg_config *config);

/* ---- resolving and writing ---- */

/** Puts a value in the place of an auto (or of nothing) and notes why; the key stays "not given".
 *  @param[in] value  as YAML, checked like any other  @param[in] why  one line, such as "logistic: R^2/4" */
mfpg_status mfpg_config_resolve(
    mfpg_context *ctx, mfpg_config *config, const char *path, const char *value, const char *why);

/** Writes the whole configuration as YAML that loads again to the same run: resolved values with "# auto: WHY", paths
 *  absolute, keys that do not count as comments at the end; the same bytes for the same configuration. */
mfpg_status mfpg_config_write(mfpg_context *ctx, const mfpg_config *config, FILE *out);

/** Writes what was given and nothing else: loading it makes the same configuration, which resolves in the same way. Paths
 *  absolute. Of a configuration that is not resolved. */
mfpg_status mfpg_config_write_given(mfpg_context *ctx, const mfpg_config *config, FILE *out);

/** MFPG_ERR_INPUT with the first key whose value differs and both values, where two configurations do not say the same,
 *  wherever their values come from. here and there: what the two are called ("this configuration", "the run's"). */
mfpg_status mfpg_config_compare(mfpg_context *ctx, const mfpg_config *config, const char *here,
    const mfpg_config *other, const char *there);

/** The same, but for the keys that name a file or a folder: each machine has its own. */
mfpg_status mfpg_config_compare_values(mfpg_context *ctx, const mfpg_config *config, const char *here,
    const mfpg_config *other, const char *there);

/** Writes a commented configuration that runs as it is: every key with help, unit, range and default. */
mfpg_status mfpg_config_template(mfpg_context *ctx, FILE *out);

/** The same into a new file; MFPG_ERR_INPUT where the file exists. Never leaves half a file. */
mfpg_status mfpg_config_template_save(mfpg_context *ctx, const char *path);

/* ---- examples: NAME.yaml in $MFPG_EXAMPLES, then in the installed folder, then in the source tree ---- */

/** Path of an example (free it). MFPG_ERR_INPUT with the names that exist and the nearest. */
mfpg_status mfpg_example_path(mfpg_context *ctx, const char *name, char **path);

/** Calls visit once for each example, by name; help is its first comment line or "". Stops at a failure. */
mfpg_status mfpg_examples_list(mfpg_context *ctx,
    mfpg_status (*visit)(void *user, const char *name, const char *help, const char *path), void *user);

#endif
