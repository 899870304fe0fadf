/* mfpg run --resume: which folder is meant. */
#ifndef MFPG_CLI_RUN_RESUME_H
#define MFPG_CLI_RUN_RESUME_H

#include <stddef.h>

/* 1 where the argument is a folder, and so no configuration. */
int resume_is_folder(const char *argument);

/* Of runs/NAME, runs/NAME-2, ... the one that holds a checkpoint, into folder[size]. Returns 0, or the exit code where none
 * does or several do, which is then explained. */
int resume_find_folder(const char *name, char *folder, size_t size);

#endif
