/** Processes that train one federation together. The library has no message passing: the program that starts the
 *  processes provides a sum (mfpg-mpi: MPI_Allreduce), and that is all they ever do together. */
#ifndef MFPG_GROUP_H
#define MFPG_GROUP_H

#include <stddef.h>
#include <stdint.h>

/** Every process of a group makes the same calls in the same order with the same configuration and data; each trains the
 *  clients k with k mod size = rank. Results are the same bits for any size. */
typedef struct mfpg_group {
    int rank, size; /* 0 <= rank < size */
    void *user;     /* handed to sum */
    ptrdiff_t most; /* numbers that sum takes in one call; 0: any number */
    /* numbers[i] becomes the sum over all processes, in two's complement, on each of them; from the thread that called the
     * library. Returns 0, or another number if it failed: the call then fails with MFPG_ERR_IO */
    int (*sum)(void *user, int64_t *numbers, ptrdiff_t count);
} mfpg_group;

#endif
