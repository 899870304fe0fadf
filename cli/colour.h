/* Colours of what is printed for people: on a terminal only, never where NO_COLOR is set (no-color.org) or TERM is dumb. */
#ifndef MFPG_CLI_COLOUR_H
#define MFPG_CLI_COLOUR_H

#include <stdio.h>

/* 1 where a terminal is at the other end that obeys escape sequences. */
int cli_terminal(FILE *stream);

/* 1 where the stream may carry colours. */
int cli_colours(FILE *stream);

typedef enum colour { COLOUR_ERROR, COLOUR_WARNING, COLOUR_HEADING } colour;

/* What begins a colour on the stream and what ends it; "" where there are none. */
const char *colour_begin(FILE *stream, colour which);
const char *colour_end(FILE *stream);

#endif
