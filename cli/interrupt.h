/* Signals that ask the program to end: SIGINT and SIGTERM; for runs SIGUSR1 too, by which batch systems announce the end of the
 * time, and which mpirun hands on without ending the processes a second later. */
#ifndef MFPG_CLI_INTERRUPT_H
#define MFPG_CLI_INTERRUPT_H

/* From now on they end the program at once, with the exit code of an interruption and a line that says so; title, which stays
 * the caller's, begins the line. Signals that are ignored stay so. */
void interrupt_ends(const char *title);

/* Catches them from now on as a flag that long work looks at; a second signal ends the program at once. */
const volatile int *interrupt_watch(void);

#endif
