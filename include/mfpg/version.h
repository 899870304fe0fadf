/** The version of the library at compile time and at run time, and what the library was built with.
 *  The build reads the version only from here. While MAJOR is 0, a new MINOR is a new interface: programs
 *  must be recompiled, and the shared library has a new name. */
#ifndef MFPG_VERSION_H
#define MFPG_VERSION_H

#include <stddef.h>

#define MFPG_VERSION       "0.1.0"
#define MFPG_VERSION_MAJOR 0
#define MFPG_VERSION_MINOR 1
#define MFPG_VERSION_PATCH 0

/** Returns the version of the library that runs, "MAJOR.MINOR.PATCH"; MFPG_VERSION is that of the headers.
 *  Threads: safe. */
const char *mfpg_version(void);

/** Returns what the library was built with and what it found on this machine, one fact per index ("compiler",
 *  "GNU 12.2.0"): compiler, kind of build and flags, threads, vector registers, and the libraries it uses.
 *  NULL past the end. Threads: safe. */
const char *mfpg_build_name(ptrdiff_t index);
const char *mfpg_build_value(ptrdiff_t index);

#endif
