/* What can follow on a command line: commands, options, their values, keys of the configuration and theirs. The scripts of
 * cli/completion.c put these candidates before the shell's user. */
#ifndef MFPG_CLI_COMPLETE_H
#define MFPG_CLI_COMPLETE_H

#include <argp.h>

#include "mfpg/context.h"

/* Prints to stdout the candidates for the last of count words, of which the first is the program, one a line:
 *     WORD<TAB>HELP       a word; one that ends in = . , or / is not complete yet
 *     :files PATTERN      and names of files that match, such as *.yaml
 *     :folders            and names of folders
 *     :message TEXT       nothing to choose from; what is allowed
 * Where the word holds a "=", the candidates stand behind its first one. Of a command line that is wrong nothing is known. */
void complete_words(mfpg_context *ctx, char *const *words, int count);

/* ---- kinds of things: complete_kinds.c ---- */

/* What has been typed of the thing. */
typedef struct fragment {
    mfpg_context *ctx;
    const char *text; /* "" for nothing */
    const char *list; /* the complete entries before it where a list is typed, "a,b,"; else "" */
} fragment;

/* Prints a word and its help where the word begins with what was typed; suffix ("", "=") is put behind it. */
void complete_offer(const fragment *typed, const char *word, const char *suffix, const char *help);

/* What a placeholder stands for: the words and kinds that are parted by |. */
void complete_placeholder(mfpg_context *ctx, const char *placeholder, const char *text);

/* Keys of the configuration up to their next dot, and values of one key. */
void complete_keys(const fragment *typed);
void complete_value(mfpg_context *ctx, const char *key, size_t key_length, const char *text);

#endif
