/* Parallel loops. Every OpenMP region of the library stands behind this one function. */
#ifndef MFPG_BASE_TASKS_H
#define MFPG_BASE_TASKS_H

#include <stddef.h>

#include "mfpg/context.h"

/* One task: index in [0, count), worker in [0, threads). Tasks write only to slots of their own index and to
 * workspaces of their own worker, so their order cannot change a result. ctx is the task's own: its messages count,
 * and a loop started on it runs in this thread alone. */
typedef mfpg_status (*mfpg_task)(mfpg_context *ctx, ptrdiff_t index, int worker, void *arg);

/* Runs the tasks on mfpg_context_threads(ctx) threads. If any fail, the lowest failing index decides status and
 * message, whatever the schedule; tasks above it may not have run. */
mfpg_status mfpg_tasks_run(mfpg_context *ctx, ptrdiff_t count, mfpg_task task, void *arg);

#endif
