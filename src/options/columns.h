/* The columns of the lists of options, for the files that turn such a list into an array. */
#ifndef MFPG_OPTIONS_COLUMNS_H
#define MFPG_OPTIONS_COLUMNS_H

#include <math.h>
#include <stddef.h>

#include "mfpg/option.h"

/* Words: WORDS("a", "b"): these; NAMES(kinds): the names of a list; WORDS_AND(kinds, "a"): both;
 * NAMES_OF takes a function of the index in the place of a list. */
#define NO_WORDS .words = NULL
#define WORDS(...)                                                                                           \
    .words = (const char *const[]) {                                                                         \
        __VA_ARGS__, NULL                                                                                    \
    }
#define NAMES(list)          .kinds = &(list)
#define NAMES_OF(f)          .word = (f)
#define WORDS_AND(list, ...) .words = (const char *const[]){__VA_ARGS__, NULL}, .kinds = &(list)

/* Ranges. */
#define RANGE(a, b, open_a, open_b)                                                                          \
    { a, b, open_a, open_b }
#define ANY               RANGE(-INFINITY, INFINITY, 0, 0)
#define FROM(a)           RANGE(a, INFINITY, 0, 0)
#define ABOVE(a)          RANGE(a, INFINITY, 1, 0)
#define BETWEEN(a, b)     RANGE(a, b, 0, 0)
#define FROM_BELOW(a, b)  RANGE(a, b, 0, 1)
#define ABOVE_UP_TO(a, b) RANGE(a, b, 1, 0)
#define WHOLE_MAX         9007199254740991.0 /* 2^53 - 1: larger whole numbers may not be exact as a double */
#define COUNT_MAX         2147483647.0

/* A field of the struct that the list fills; its type is checked by the compiler. */
#define FIELD(type, member)                                                                                  \
    .offset = offsetof(type, member), .field = _Generic(((type *)0)->member, double: MFPG_HOLDS_NUMBER, ptrdiff_t: MFPG_HOLDS_WHOLE, char: MFPG_HOLDS_CHAR, char *: MFPG_HOLDS_TEXT, const char *: MFPG_HOLDS_TEXT, mfpg_number_list: MFPG_HOLDS_NUMBERS, mfpg_text_list: MFPG_HOLDS_TEXTS, mfpg_numbers: MFPG_HOLDS_SERIES, const char *const *: MFPG_HOLDS_NAMES, const double *: MFPG_HOLDS_VALUES, default: MFPG_HOLDS_INT)

/* Makes a list from an array of options and an array of headings. */
#define OPTION_LIST(options, titles)                                                                         \
    {                                                                                                        \
        .option = options, .count = (ptrdiff_t)(sizeof options / sizeof options[0]), .heading = titles,      \
        .headings = (ptrdiff_t)(sizeof titles / sizeof titles[0])                                            \
    }

#endif
