/* SIGINT and SIGTERM as a flag that long work looks at; a second signal ends the program at once. */
#ifndef MFPG_CLI_INTERRUPT_H
#define MFPG_CLI_INTERRUPT_H

/* Catches the signals from now on. */
const volatile int *interrupt_watch(void);

#endif
