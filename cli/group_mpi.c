/* The processes that an MPI launcher started. Written for MPI-3.1. */
#include <fcntl.h>
#include <limits.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "cli.h"

enum { NUMBERS = 1 << 20 }; /* size of a message: MPI counts are ints, and transports limit their buffers */
#define NUMBERS_VARIABLE "MFPG_MPI_NUMBERS"

static int sum(void *user, int64_t *numbers, ptrdiff_t count) {
    (void)user;
    if (count > INT_MAX) return -1;
    return MPI_Allreduce(MPI_IN_PLACE, numbers, (int)count, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD) !=
           MPI_SUCCESS;
}

static mfpg_group group = {.sum = sum, .most = NUMBERS}; /* as global as MPI itself */

/* Reads the numbers per message from the environment, for networks that require fewer or allow more. */
static void read_environment(void) {
    const char *text = getenv(NUMBERS_VARIABLE);
    char *end;
    if (!text) return;
    long long most = strtoll(text, &end, 10);
    if (end != text && *end == 0 && most >= 1 && most <= INT_MAX) {
        group.most = (ptrdiff_t)most;
        return;
    }
    fprintf(stderr, "mfpg: " NUMBERS_VARIABLE ": '%s' is not a whole number from 1 to %d\n", text, INT_MAX);
    exit(CLI_WRONG_INPUT);
}

/* However the program ends, MPI is finalised, because the launcher reports a process that disappears as an
 * error. */
static void finish(void) {
    int finalized = 0;
    MPI_Finalized(&finalized);
    if (!finalized) MPI_Finalize();
}

/* One process speaks for all. */
static void fall_silent(void) {
    int nowhere = open("/dev/null", O_WRONLY);
    if (nowhere < 0) return;
    dup2(nowhere, STDOUT_FILENO);
    dup2(nowhere, STDERR_FILENO);
    close(nowhere);
}

void cli_group_start(int *argc, char ***argv) {
    int level;
    if (MPI_Init_thread(argc, argv, MPI_THREAD_FUNNELED, &level) != MPI_SUCCESS) exit(CLI_FAILED);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_rank(MPI_COMM_WORLD, &group.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &group.size);
    atexit(finish);
    if (group.rank > 0) fall_silent();
    read_environment();
}

const mfpg_group *cli_group(void) {
    return &group;
}

void cli_group_leave(void) {
    if (group.rank > 0) exit(CLI_DONE);
    group.size = 1;
}
