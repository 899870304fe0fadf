#include "tasks.h"

#include <omp.h>
#include <string.h>

#include "error.h"

typedef struct outcome {
    ptrdiff_t failed; /* lowest failing index so far, or count */
    mfpg_status status;
    char message[MFPG_MESSAGE_SIZE];
} outcome;

static void record_failure(outcome *worst, ptrdiff_t index, mfpg_status status, const char *message) {
    if (index >= worst->failed) return;
    worst->failed = index;
    worst->status = status;
    memcpy(worst->message, message, MFPG_MESSAGE_SIZE);
}

mfpg_status mfpg_tasks_run(mfpg_context *ctx, ptrdiff_t count, mfpg_task task, void *arg) {
    outcome worst = {.failed = count, .status = MFPG_OK};
    ptrdiff_t bound = count; /* no task above the lowest failure needs to run */
    /* Also a single thread stays inside a region: BLAS there runs on one thread only. */
#pragma omp parallel num_threads(ctx->options.threads)
    {
        mfpg_context own = mfpg_context_child();
#pragma omp for schedule(dynamic, 1)
        for (ptrdiff_t i = 0; i < count; i++) {
            ptrdiff_t limit;
#pragma omp atomic read
            limit = bound;
            if (i > limit) continue;
            mfpg_status status = task(&own, i, omp_get_thread_num(), arg);
            if (status == MFPG_OK) continue;
#pragma omp critical(mfpg_task_failure)
            {
                record_failure(&worst, i, status, own.message);
#pragma omp atomic write
                bound = worst.failed;
            }
        }
    }
    if (worst.status != MFPG_OK) memcpy(ctx->message, worst.message, sizeof ctx->message);
    return worst.status;
}
