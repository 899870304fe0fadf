/* The options of a command as a list, from the argp tables that also parse them and print their help: what completion,
 * manual pages and choices among words are made from.
 *
 * What an argument may be stands in its placeholder, and in args_doc for arguments without an option:
 *     a|b|c            one of these words, which are in lower case
 *     FILE, DIR, COST  in capitals, a kind of thing (the table in complete_kinds.c); most kinds, such as N, are any text
 *     a|b,...          a list, separated by commas */
#ifndef MFPG_CLI_OPTION_TABLE_H
#define MFPG_CLI_OPTION_TABLE_H

#include <argp.h>
#include <stddef.h>

#include "mfpg/option.h"

/* name NULL: a heading, which is doc. argument NULL: the option takes none. All texts are those of the argp tables. */
typedef struct option_row {
    const char *name, *argument, *doc;
    int key, group;
} option_row;

enum { OPTION_ROWS = 128, WORD_SIZE = 64 };

typedef struct option_table {
    option_row row[OPTION_ROWS];
    int count;
} option_table;

/* The options of argp and its children in the order of their groups, headings first; options that every command has from
 * argp itself (--help, --usage) last. */
void option_table_read(const struct argp *argp, option_table *out);

/* The option whose name it is, or which name begins if no other does; NULL for none. */
const option_row *option_table_find(const option_table *table, const char *name, size_t length);
const option_row *option_table_by_key(const option_table *table, int key);

/* A list of the library as argp wants it: a heading before the options of each group, and a row of zeros at the end. */
typedef struct option_rows {
    struct argp_option row[OPTION_ROWS];
    char placeholder[1024]; /* "a|b" of options that take words */
} option_rows;

/* Fills rows, which must not be moved; the key of option number i is first_key + i. */
void option_rows_fill(const mfpg_options *list, int first_key, option_rows *out);

/* Reads what stands behind option number index of the list into its field; 0 if there is no such option. A wrong value ends
 * the program with the library's message. */
int cli_take_option(const struct argp_state *state, mfpg_context *ctx, const mfpg_options *list,
    ptrdiff_t index, const char *text, void *fields);

/* The part number index of a placeholder or a word of args_doc, as "a" of "a|b,..."; 0 past the end. */
int placeholder_part(const char *placeholder, int index, char out[WORD_SIZE]);

/* 1 for a list that is separated by commas. */
int placeholder_is_list(const char *placeholder);

/* 1 where the part is to be typed as it stands, 0 for a kind of thing. */
int part_is_word(const char *part);

#endif
