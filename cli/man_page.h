/* Manual pages in the language of man(7), from the tables that parse command lines and configurations. */
#ifndef MFPG_CLI_MAN_PAGE_H
#define MFPG_CLI_MAN_PAGE_H

#include <argp.h>

/* The page of a command from its argp tables, of the program, and of the configuration's keys, to stdout. */
void man_page_of_command(const char *command, const char *help, const struct argp *argp);
void man_page_of_program(void);
void man_page_of_configuration(void);

#endif
