/** Options: the keys of a configuration and the options of commands are lists of the same kind of line. A line says what the
 *  option is called, may be and means, when it counts, and which field its value fills. Parsers, help, manual pages, completion,
 *  Python and the documents read the lists and nothing else: mfpg_config_options (config.h), mfpg_question_options (account.h),
 *  mfpg_solve_options (game_from_options.h). */
#ifndef MFPG_OPTION_H
#define MFPG_OPTION_H

#include <stddef.h>
#include <stdint.h>

#include "context.h"

/** What an option may be, next to its words. */
typedef enum mfpg_option_kind {
    MFPG_OPTION_WORD = 0, /* one of the words, nothing else */
    MFPG_OPTION_NUMBER,   /* a finite number */
    MFPG_OPTION_WHOLE,    /* a whole number of at most 2^53 */
    MFPG_OPTION_TRUTH,    /* true or false */
    MFPG_OPTION_TEXT,     /* a text, whose bytes the range counts */
    MFPG_OPTION_PATH,     /* a file or folder */
    MFPG_OPTION_NUMBERS,  /* a list of numbers, or one number */
    MFPG_OPTION_WHOLES,   /* a list of whole numbers, or one */
    MFPG_OPTION_GRID,     /* numbers in ascending order, each once */
    MFPG_OPTION_TEXTS,    /* a list of texts, or one text; may be empty */
    MFPG_OPTION_SERIES,   /* numbers in a spelling of the option's own */
    MFPG_OPTION_FLAG      /* takes no value */
} mfpg_option_kind;

/** The type of the field that holds an option's value, and what it holds if nothing is given. */
typedef enum mfpg_option_field {
    MFPG_HOLDS_NONE = 0, /* there is no such field */
    MFPG_HOLDS_INT,     /* int or an enumeration: the word's number, -1; or truth, flag and whole number, 0 */
    MFPG_HOLDS_NUMBER,  /* double: NaN */
    MFPG_HOLDS_WHOLE,   /* ptrdiff_t: 0 */
    MFPG_HOLDS_CHAR,    /* char, the text's first: 0 */
    MFPG_HOLDS_TEXT,    /* char *: NULL */
    MFPG_HOLDS_NUMBERS, /* mfpg_number_list */
    MFPG_HOLDS_TEXTS,   /* mfpg_text_list */
    MFPG_HOLDS_SERIES,  /* mfpg_numbers, whose text is owned */
    MFPG_HOLDS_NAMES,   /* const char *const *, borrowed, and a ptrdiff_t with their number */
    MFPG_HOLDS_VALUES   /* const double *, likewise */
} mfpg_option_field;

/** Owned; zeros if not given. */
typedef struct mfpg_number_list {
    double *value; /* count */
    ptrdiff_t count;
} mfpg_number_list;

typedef struct mfpg_text_list {
    char **text; /* count; one block with the texts */
    ptrdiff_t count;
} mfpg_text_list;

/** Numbers in text, or the numbers themselves; neither: not given. */
typedef struct mfpg_numbers {
    const char *text;    /* "0.1,0.3", and what else the option takes */
    const double *value; /* count >= 1; read if text is NULL; borrowed */
    ptrdiff_t count;
} mfpg_numbers;

typedef struct mfpg_range {
    double low, high;
    int open_low, open_high; /* 1: the end itself is excluded */
} mfpg_range;

/** One line of a list. All texts are constants of the program. */
typedef struct mfpg_option {
    int line;         /* in the list's file */
    const char *name; /* "sampling-rate" of a command; "train.rounds", "data.categories.*" of a file */
    char letter;      /* of a command: "-o" is the same option; 0: there is none */
    mfpg_option_kind kind;
    const char *const *words;             /* ends with NULL; or NULL */
    const char *(*word)(ptrdiff_t index); /* further words; or NULL */
    mfpg_range range;                     /* of the number, of every number of a list, of a text's bytes */
    const char *default_value;            /* as YAML; NULL: nothing is set */
    const char *example;                  /* as YAML, if nothing is set by default; else NULL */
    const char *unit;                     /* "" if there is none */
    const char *argument; /* the value's name in a command's help; NULL: the words, or no value */
    /* The option counts if one of these facts holds (0: always) and the cost that is played has one of these (0: with any
     * cost). Each list defines its facts. */
    uint64_t facts, costs;
    const char *used;        /* the same in words, such as "with a game"; "" for always */
    const char *alternative; /* keys of one parent with different alternatives exclude each other; or NULL */
    const char *help;
    mfpg_option_field field;     /* in the struct that the list fills */
    size_t offset, count_offset; /* of the field; of the number of names or values */
    double first; /* of a configuration: what the field holds for the first word; one more for each next */
} mfpg_option;

/** The title of the options from that line of the list's file on. */
typedef struct mfpg_option_heading {
    int line;
    const char *title;
} mfpg_option_heading;

typedef struct mfpg_options {
    const mfpg_option *option;
    ptrdiff_t count;
    const mfpg_option_heading *heading;
    ptrdiff_t headings;
} mfpg_options;

/** Number of the heading of option number index, from 1; 0 if it has none. */
ptrdiff_t mfpg_option_group(const mfpg_options *list, ptrdiff_t index);

/** Its title, or "". */
const char *mfpg_option_section(const mfpg_options *list, ptrdiff_t index);

/** The word number index, or NULL past the end: all that a WORD may be, what else a number or path may be. */
const char *mfpg_option_word(const mfpg_option *option, ptrdiff_t index);

/** What an option may be, in words ("a number above 0 up to 1", "all, or a whole number from 1"). Cut to size; returns out. */
char *mfpg_option_allowed(const mfpg_option *option, char *out, size_t size);

/** Writes "not given" to every field of the struct that the list fills. */
void mfpg_options_begin(const mfpg_options *list, void *fields);

/** Reads the value of a command's option into its field. If it is given again, the later value counts, and texts are added to the
 *  list.
 *  @param[in] value  copied; numbers of a list are separated by commas; NULL for a FLAG
 *  @return MFPG_OK; MFPG_ERR_INPUT with the option (as "--steps"), what was found, what is allowed and the nearest word;
 *  MFPG_ERR_MEMORY. The fields are then unchanged. */
mfpg_status mfpg_option_set(
    mfpg_context *ctx, const mfpg_options *list, const char *name, const char *value, void *fields);

/** Frees what the fields own and writes "not given" to all. */
void mfpg_options_clear(const mfpg_options *list, void *fields);

#endif
