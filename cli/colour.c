#include "colour.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int cli_terminal(FILE *stream) {
    const char *terminal = getenv("TERM");
    return isatty(fileno(stream)) && terminal && *terminal && strcmp(terminal, "dumb") != 0;
}

int cli_colours(FILE *stream) {
    const char *refused = getenv("NO_COLOR");
    return !(refused && *refused) && cli_terminal(stream);
}

const char *colour_begin(FILE *stream, colour which) {
    static const char *const sequences[] = {
        [COLOUR_ERROR] = "\033[1;31m", [COLOUR_WARNING] = "\033[1;33m", [COLOUR_HEADING] = "\033[1m"};
    return cli_colours(stream) ? sequences[which] : "";
}

const char *colour_end(FILE *stream) {
    return cli_colours(stream) ? "\033[0m" : "";
}
