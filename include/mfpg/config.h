/** The configuration of a federation as an object. One list defines every key (path, type, range, unit,
 *  default, help). Keys are read from YAML and from KEY=VALUE arguments, checked, and written back
 *  completely. */
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

/** methods.def: a method names a mechanism, the players of its game and the accountant that the paper uses
 *  for it. */
extern const mfpg_kinds mfpg_methods;

/** Returns the list of all keys, in the order in which a configuration is written. Threads: safe. */
const mfpg_options *mfpg_config_options(void);

/** Returns the index of the key with that path, or -1; "data.categories.NAME" is found for any NAME. */
ptrdiff_t mfpg_config_key_find(const char *path);

/** Prints the list of keys for a terminal: grouped, with one key per line, its default, what is allowed and
 *  its help. */
mfpg_status mfpg_config_keys_print(mfpg_context *ctx, FILE *out);

/* ---- making a configuration ---- */

typedef struct mfpg_config mfpg_config;

/** Creates a configuration with all defaults (the paper's); paths are relative to the working folder. */
mfpg_status mfpg_config_create(mfpg_context *ctx, mfpg_config **out);

/** Reads a YAML file over the defaults. MFPG_ERR_INPUT: "FILE:LINE: key.path: what was found; what is allowed".
 *  Limits: 1 MiB, 16 levels, no anchors, no tags, one document. */
mfpg_status mfpg_config_load(mfpg_context *ctx, const char *path, mfpg_config **out);

/** Reads YAML from memory in the same way. origin is the name of the text in messages; directory is the
 *  folder to which paths are relative (NULL: the working folder). */
mfpg_status mfpg_config_load_text(mfpg_context *ctx, const char *text, size_t length, const char *origin,
    const char *directory, mfpg_config **out);

/** Opens a file or, if no such file exists, the example of that name (mfpg_examples_list). */
mfpg_status mfpg_config_open(mfpg_context *ctx, const char *name, mfpg_config **out);

/** Frees a configuration; NULL is fine. */
void mfpg_config_destroy(mfpg_config *config);

/** Applies one argument "key.path=VALUE". VALUE is taken literally, or as YAML if it begins with one of [ { "
 *  '. A value replaces the values that it excludes: method=none replaces a method mapping, game.actions.min
 *  replaces a list. Errors name the argument and leave the configuration unchanged. */
mfpg_status mfpg_config_set(mfpg_context *ctx, mfpg_config *config, const char *argument);

/** Does the same for a key whose value is the name of a file or folder. */
mfpg_status mfpg_config_set_path(mfpg_context *ctx, mfpg_config *config, const char *key, const char *name);

/** Recognises "seed=A..B", whole numbers with A <= B: *sweep is 1 and first and last are set; 0 for any other argument.
 *  MFPG_ERR_INPUT if the range is not valid, or has more than a million seeds. */
mfpg_status mfpg_config_sweep(
    mfpg_context *ctx, const char *argument, int *sweep, int64_t *first, int64_t *last);

/* ---- reading values: a path that is not in the list is a caller's mistake; it is asserted, and otherwise
 * treated as not set ---- */

/** Returns the number, or NAN if a word or nothing is set. */
double mfpg_config_number(const mfpg_config *config, const char *path);

/** Returns the word, text or path (joined with the folder to which it is relative), or NULL if a number or
 *  nothing is set. The result is valid until the configuration changes. */
const char *mfpg_config_text(const mfpg_config *config, const char *path);

/** 1 if the key holds that word. */
int mfpg_config_is(const mfpg_config *config, const char *path, const char *word);

/* ---- writing ---- */

/** Writes the whole configuration as YAML that loads again to the same run: resolved values are marked "#
 *  auto: WHY", paths are absolute, and keys without effect are comments at the end. The same configuration
 *  gives the same bytes. */
mfpg_status mfpg_config_write(mfpg_context *ctx, const mfpg_config *config, FILE *out);

/** Writes a commented configuration that can be run unchanged: every key with its help, unit, range and
 *  default. */
mfpg_status mfpg_config_template(mfpg_context *ctx, FILE *out);

/** Does the same into a new file; MFPG_ERR_INPUT if the file exists. A failure leaves no partial file. */
mfpg_status mfpg_config_template_save(mfpg_context *ctx, const char *path);

/** Calls visit once for each example, in order of name. An example is NAME.yaml in $MFPG_EXAMPLES, in the
 *  installed folder or in the source tree; its help is its first comment line or "". Stops at a failure. */
mfpg_status mfpg_examples_list(mfpg_context *ctx,
    mfpg_status (*visit)(void *user, const char *name, const char *help, const char *path), void *user);

#endif
