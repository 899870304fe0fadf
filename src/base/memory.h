/* Memory with checked sizes. Everything the library owns comes from here and goes back through free(). */
#ifndef MFPG_BASE_MEMORY_H
#define MFPG_BASE_MEMORY_H

#include <stddef.h>

/* Zeroed memory for count things of the given size, or NULL: also for a negative count or a product that overflows.
 * A count of 0 yields a valid pointer, so that NULL always means failure. */
void *mfpg_alloc(ptrdiff_t count, size_t size);

/* The same for floats of hot loops, from the start of a cache line on. */
float *mfpg_alloc_floats(ptrdiff_t count);

/* Grows (or makes) an array to count things; the new part is not zeroed. On failure NULL, the old block untouched. */
void *mfpg_resize(void *block, ptrdiff_t count, size_t size);

/* A copy of the first length bytes of text with a closing 0, or NULL. */
char *mfpg_text_copy(const char *text, size_t length);

#endif
