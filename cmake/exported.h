/* Stands before every source file of the library, by an option of the compiler (CMakeLists.txt): what the public headers
 * declare is what the shared library exports. All else is hidden by -fvisibility=hidden, and the headers stay plain C.
 * Files include what they use all the same; nothing here is for them. */
#ifndef MFPG_EXPORTED_H
#define MFPG_EXPORTED_H

#pragma GCC visibility push(default)
#include "mfpg/mfpg.h"
#pragma GCC visibility pop

#endif
