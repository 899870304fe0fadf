/** The configuration of a federation as an object: every key of one list (path, type, range, unit, default, help), read from
 *  YAML and from KEY=VALUE arguments, checked, and written back whole. */
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

/** Name and help of the methods of methods.def in order; NULL past the end. A method is a mechanism, the players of its game and
 *  the accountant that the paper gives it. Threads: safe. */
const char *mfpg_method_name(ptrdiff_t index);
const char *mfpg_method_help(ptrdiff_t index);

/** Every key, in the order in which a configuration is written. Threads: safe. */
const mfpg_options *mfpg_config_options(void);

/** Number of the key with that path, or -1; "data.categories.NAME" is found for any NAME. */
ptrdiff_t mfpg_config_key_find(const char *path);

/** Prints the list for a terminal: grouped, one key a line with default, what is allowed and help. */
mfpg_status mfpg_config_keys_print(mfpg_context *ctx, FILE *out);

/* ---- making a configuration ---- */

typedef struct mfpg_config mfpg_config;

/** All defaults (the paper's); paths are relative to the working folder. */
mfpg_status mfpg_config_create(mfpg_context *ctx, mfpg_config **out);

/** Reads a YAML file over the defaults. MFPG_ERR_INPUT: "FILE:LINE: key.path: what was found; what is allowed".
 *  Limits: 1 MiB, 16 levels, no anchors, no tags, one document. */
mfpg_status mfpg_config_load(mfpg_context *ctx, const char *path, mfpg_config **out);

/** The same from memory. origin is the name of the text in messages; directory is what paths are relative to (NULL: the working
 *  folder). */
mfpg_status mfpg_config_load_text(mfpg_context *ctx, const char *text, size_t length, const char *origin,
    const char *directory, mfpg_config **out);

/** A file, or else the example of that name (mfpg_examples_list). */
mfpg_status mfpg_config_open(mfpg_context *ctx, const char *name, mfpg_config **out);

/** Frees a configuration; NULL is fine. */
void mfpg_config_destroy(mfpg_config *config);

/** Applies one argument "key.path=VALUE". VALUE is taken literally, or as YAML if it begins with one of [ { " '. A value takes the
 *  place of whatever excludes it: method=none that of a method mapping, game.actions.min that of a list. Errors name the
 *  argument; the configuration is then unchanged. */
mfpg_status mfpg_config_set(mfpg_context *ctx, mfpg_config *config, const char *argument);

/** The same for a key that takes a name of a file or folder. */
mfpg_status mfpg_config_set_path(mfpg_context *ctx, mfpg_config *config, const char *key, const char *name);

/** The rules that span keys (both ends of an interval, what a partition needs, controls of game and mechanism ...); call it
 *  after the last mfpg_config_set. Keys that were given a value of their own but do not count are named in one warning. */
mfpg_status mfpg_config_check(mfpg_context *ctx, const mfpg_config *config);

/** Recognises "seed=A..B", whole numbers with A <= B: *sweep is 1 and first and last are set; 0 for any other argument.
 *  MFPG_ERR_INPUT if the range is not valid, or has more than a million seeds. */
mfpg_status mfpg_config_sweep(
    mfpg_context *ctx, const char *argument, int *sweep, int64_t *first, int64_t *last);

/* ---- asking; a path that is not in the list is a fault of the caller: asserted, then answered as "nothing" ---- */

/** The number, or NAN if nothing or a word is set. */
double mfpg_config_number(const mfpg_config *config, const char *path);

/** The word, text or path (joined with the folder it is relative to), or NULL if nothing or a number is set. Valid until the
 *  configuration changes. */
const char *mfpg_config_text(const mfpg_config *config, const char *path);

/** 1 if the key holds that word. */
int mfpg_config_is(const mfpg_config *config, const char *path, const char *word);

/* ---- writing ---- */

/** Writes the whole configuration as YAML that loads again to the same run: resolved values with "# auto: WHY", paths
 *  absolute, keys that do not count as comments at the end; the same bytes for the same configuration. */
mfpg_status mfpg_config_write(mfpg_context *ctx, const mfpg_config *config, FILE *out);

/** Writes a commented configuration that runs as it is: every key with help, unit, range and default. */
mfpg_status mfpg_config_template(mfpg_context *ctx, FILE *out);

/** The same into a new file; MFPG_ERR_INPUT if the file exists. Never leaves half a file. */
mfpg_status mfpg_config_template_save(mfpg_context *ctx, const char *path);

/** Calls visit once for each example, NAME.yaml in $MFPG_EXAMPLES, in the installed folder or in the source tree, sorted by name;
 *  help is its first comment line or "". Stops at a failure. */
mfpg_status mfpg_examples_list(mfpg_context *ctx,
    mfpg_status (*visit)(void *user, const char *name, const char *help, const char *path), void *user);

#endif
