/** The keys of a configuration and the options of commands are lists of the same kind of line. A line gives
 *  the name, allowed values and meaning of the option, when it applies, and which field its value fills.
 *  Parsers, help, manual pages, completion, Python and the documents read only these lists:
 *  mfpg_config_options (config.h), mfpg_question_options (account.h), mfpg_solve_options
 *  (game_from_options.h). */
#ifndef MFPG_OPTION_H
#define MFPG_OPTION_H

#include <stddef.h>
#include <stdint.h>

#include "context.h"
#include "names.h"

/** The kind of value of an option, in addition to its words. */
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
    MFPG_OPTION_SERIES,   /* numbers in a notation that is specific to the option */
    MFPG_OPTION_FLAG      /* takes no value */
} mfpg_option_kind;

/** The type of the field that holds an option's value, and what the field holds if the option is not given. */
typedef enum mfpg_option_field {
    MFPG_HOLDS_NONE = 0, /* there is no such field */
    /* int or an enumeration: the index of the word, -1 if not given; truth, flag or whole number, 0 if not
     * given */
    MFPG_HOLDS_INT,
    MFPG_HOLDS_NUMBER,  /* double: NaN */
    MFPG_HOLDS_WHOLE,   /* ptrdiff_t: 0 */
    MFPG_HOLDS_CHAR,    /* char, the text's first: 0 */
    MFPG_HOLDS_TEXT,    /* char *: NULL */
    MFPG_HOLDS_NUMBERS, /* mfpg_number_list */
    MFPG_HOLDS_TEXTS,   /* mfpg_text_list */
    MFPG_HOLDS_SERIES,  /* mfpg_numbers, whose text is owned */
    MFPG_HOLDS_NAMES,   /* const char *const *, borrowed, and a ptrdiff_t with the number of names */
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

/** Numbers as text or as an array; if both are absent, they are not given. */
typedef struct mfpg_numbers {
    const char *text;    /* "0.1,0.3", and what else the option takes */
    const double *value; /* count >= 1 numbers, read if text is NULL; borrowed */
    ptrdiff_t count;
} mfpg_numbers;

typedef struct mfpg_range {
    double low, high;
    int open_low, open_high; /* 1: the end itself is excluded */
} mfpg_range;

/** One line of a list. All texts are constants of the program. */
typedef struct mfpg_option {
    int line;         /* in the list's file */
    const char *name; /* "sampling-rate" for a command; "train.rounds" or "data.categories.*" for a file */
    char letter;      /* for a command: "-o" is the same option; 0: no letter */
    mfpg_option_kind kind;
    const char *const *words;             /* ends with NULL; or NULL */
    const mfpg_kinds *kinds;              /* whose names are further words; or NULL */
    const char *(*word)(ptrdiff_t index); /* further words; or NULL */
    /* range of the number, of every number of a list, or of the length of a text in bytes */
    mfpg_range range;
    const char *default_value; /* as YAML; NULL: nothing is set */
    const char *example;       /* example in YAML if the default is not set; otherwise NULL */
    const char *unit;          /* "" if there is none */
    /* name of the value in a command's help; NULL: the words are shown, or no value exists */
    const char *argument;
    /* The option applies if one of these facts holds (0: always) and the cost in use has one of these bits
     * (0: any cost). Each list defines its own facts. */
    uint64_t facts, costs;
    const char *used; /* the same condition in words, such as "with a game"; "" for always */
    /* keys of one parent that belong to different alternatives exclude each other; or NULL */
    const char *alternative;
    const char *help;
    mfpg_option_field field;     /* in the struct that the list fills */
    size_t offset, count_offset; /* offset of the field, and of its count of names or values */
    /* for a configuration: the value of the field for the first word; each next word is one more */
    double first;
} mfpg_option;

/** The title of the options that begin at that line of the list. */
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

/** Returns the number, from 1, of the heading of the option with that index; 0 if it has none. */
ptrdiff_t mfpg_option_group(const mfpg_options *list, ptrdiff_t index);

/** Its title, or "". */
const char *mfpg_option_section(const mfpg_options *list, ptrdiff_t index);

/** Returns the word with that index, or NULL past the end. For a WORD these are all allowed values; for a
 *  number or path they are allowed in addition. */
const char *mfpg_option_word(const mfpg_option *option, ptrdiff_t index);

/** Writes what is allowed for an option in words ("a number above 0 up to 1", "all, or a whole number from
 *  1"), cut to size; returns out. */
char *mfpg_option_allowed(const mfpg_option *option, char *out, size_t size);

/** Sets every field of the struct that the list fills to "not given". */
void mfpg_options_begin(const mfpg_options *list, void *fields);

/** Reads the value of a command's option into its field. If the option is repeated, the last value applies;
 *  texts are added to the list.
 *  @param[in] value  copied; numbers of a list are separated by commas; NULL for a FLAG
 *  @return MFPG_OK; MFPG_ERR_INPUT with the option (as "--steps"), what was found, what is allowed and the
 *  nearest word; MFPG_ERR_MEMORY. After a failure the fields are unchanged. */
mfpg_status mfpg_option_set(
    mfpg_context *ctx, const mfpg_options *list, const char *name, const char *value, void *fields);

/** Frees what the fields own and sets all of them to "not given". */
void mfpg_options_clear(const mfpg_options *list, void *fields);

#endif
