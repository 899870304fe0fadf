/** Which version of the library this is, when a program is compiled and when it runs, and what the library was built with.
 *  The build takes the version from here and nowhere else. While MAJOR is 0, another MINOR is another interface: programs
 *  must be compiled again, and the shared library has another name. */
#ifndef MFPG_VERSION_H
#define MFPG_VERSION_H

#include <stddef.h>

#define MFPG_VERSION       "0.1.0"
#define MFPG_VERSION_MAJOR 0
#define MFPG_VERSION_MINOR 1
#define MFPG_VERSION_PATCH 0

/** The version of the library that runs, "MAJOR.MINOR.PATCH"; MFPG_VERSION is that of the headers. Threads: safe. */
const char *mfpg_version(void);

/** What the library was built with and what it found here, one fact an index ("compiler", "GNU 12.2.0"): compiler, kind of
 *  build and flags, threads, vector registers, and the libraries it runs with. NULL past the end. Threads: safe. */
const char *mfpg_build_name(ptrdiff_t index);
const char *mfpg_build_value(ptrdiff_t index);

#endif
