/* Parallel loops: every OpenMP region of the library is behind mfpg_tasks_run. */
#ifndef MFPG_BASE_TASKS_H
#define MFPG_BASE_TASKS_H

#include "mfpg/program.h"

#endif
