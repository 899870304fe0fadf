/* One process, alone. */
#include "cli.h"

void cli_group_start(int *argc, char ***argv) {
    (void)argc, (void)argv;
}

const mfpg_group *cli_group(void) {
    return NULL;
}

void cli_group_leave(void) {}
