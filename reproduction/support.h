/* What suites and studies share: memory, and the gnuplot scripts that are written next to tables. */
#ifndef MFPG_REPRODUCTION_SUPPORT_H
#define MFPG_REPRODUCTION_SUPPORT_H

#include "mfpg/program.h"

/* memory.c: zeroed memory for count things of the given size; NULL for a negative count, a product that overflows, or if there is
 * not enough. Free it with free(). */
void *reproduction_alloc(ptrdiff_t count, size_t size);

/* A file that is embedded in the program (cmake/embed.cmake). */
typedef struct reproduction_script {
    const char *name; /* NULL: the end of the list */
    const char *bytes;
    size_t size;
} reproduction_script;

extern const reproduction_script reproduction_scripts[];

/* Writes the script of that name, which must be in the list, into a folder, completely or not at all. */
mfpg_status reproduction_write_script(mfpg_context *ctx, const char *folder, const char *name);

/* Removes a figure that an earlier run has left: its table, its script and its pictures. */
void reproduction_remove_figure(const char *folder, const char *name);

#endif
