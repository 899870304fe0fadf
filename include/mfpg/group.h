/** Processes that train one federation together. The library has no message passing of its own: the program
 *  that starts the processes provides a sum (mfpg-mpi: MPI_Allreduce), which is the only communication among
 *  them. */
#ifndef MFPG_GROUP_H
#define MFPG_GROUP_H

#include <stddef.h>
#include <stdint.h>

/** Every process of a group makes the same calls in the same order with the same configuration and data. Each
 *  trains the clients k with k mod size = rank. The bits of the results do not depend on size. */
typedef struct mfpg_group {
    int rank, size; /* 0 <= rank < size */
    void *user;     /* handed to sum */
    ptrdiff_t most; /* the most numbers that one call of sum accepts; 0: no limit */
    /* Replaces numbers[i] on each process by the sum over all processes, in two's complement. It is called
     * from the thread that called the library. It returns 0, or another number if it failed; the call of the
     * library then fails with MFPG_ERR_IO */
    int (*sum)(void *user, int64_t *numbers, ptrdiff_t count);
} mfpg_group;

#endif
