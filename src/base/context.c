#include "mfpg/context.h"

#include <omp.h>
#include <sodium.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "error.h"
#include "streams.h"

const char *mfpg_status_text(mfpg_status status) {
    static const char *const TEXTS[] = {
        [MFPG_OK] = "done",
        [MFPG_ERR_INPUT] = "the input is wrong",
        [MFPG_ERR_DOMAIN] = "a number is out of range",
        [MFPG_ERR_IO] = "reading or writing failed",
        [MFPG_ERR_MEMORY] = "out of memory",
        [MFPG_ERR_NUMERIC] = "the computation left the range of its numbers",
        [MFPG_ERR_INTERRUPTED] = "interrupted",
    };
    return (unsigned)status < sizeof TEXTS / sizeof TEXTS[0] ? TEXTS[status] : "unknown status";
}

mfpg_context_options mfpg_context_options_default(void) {
    return (mfpg_context_options){0};
}

mfpg_status mfpg_context_create(const mfpg_context_options *options, mfpg_context **out) {
    mfpg_context_options chosen = options ? *options : mfpg_context_options_default();
    const mfpg_group *group = chosen.group;
    if (chosen.threads < 0) return MFPG_ERR_DOMAIN;
    if (group && (group->rank < 0 || group->rank >= group->size || !group->sum || group->most < 0))
        return MFPG_ERR_DOMAIN;
    /* Without this call libsodium falls back to plain C, four times slower, and draws no system randomness. */
    if (sodium_init() < 0) return MFPG_ERR_IO;
    if (!mfpg_chacha20_agrees()) return MFPG_ERR_NUMERIC; /* the noise would differ from what is certified */
    if (chosen.threads == 0) chosen.threads = omp_get_max_threads();
    mfpg_context *ctx = calloc(1, sizeof *ctx);
    if (!ctx) return MFPG_ERR_MEMORY;
    ctx->options = chosen;
    *out = ctx;
    return MFPG_OK;
}

void mfpg_context_destroy(mfpg_context *ctx) {
    free(ctx);
}

const char *mfpg_context_message(const mfpg_context *ctx) {
    return ctx->message;
}

int mfpg_context_threads(const mfpg_context *ctx) {
    return ctx->options.threads;
}

mfpg_status mfpg_fail(mfpg_context *ctx, mfpg_status status, const char *format, ...) {
    if (ctx) {
        va_list args;
        va_start(args, format);
        vsnprintf(ctx->message, sizeof ctx->message, format, args);
        va_end(args);
    }
    return status;
}

mfpg_status mfpg_fail_in(mfpg_context *ctx, mfpg_status status, const char *format, ...) {
    if (!ctx) return status;
    char cause[MFPG_MESSAGE_SIZE];
    memcpy(cause, ctx->message, sizeof cause);
    va_list args;
    va_start(args, format);
    int used = vsnprintf(ctx->message, sizeof ctx->message, format, args);
    va_end(args);
    int room = (int)sizeof ctx->message - 3 - used; /* for the cause after ": " */
    if (used >= 0 && room > 0) snprintf(ctx->message + used, (size_t)room + 3, ": %.*s", room, cause);
    return status;
}

mfpg_status mfpg_fail_behind(mfpg_context *ctx, mfpg_status status, const char *format, ...) {
    if (!ctx) return status;
    size_t used = strlen(ctx->message);
    va_list args;
    va_start(args, format);
    vsnprintf(ctx->message + used, sizeof ctx->message - used, format, args);
    va_end(args);
    return status;
}

mfpg_status mfpg_fail_memory(mfpg_context *ctx) {
    return mfpg_fail(ctx, MFPG_ERR_MEMORY, "out of memory");
}

void mfpg_warn(mfpg_context *ctx, const char *format, ...) {
    if (!ctx || !ctx->options.warn) return;
    char text[MFPG_MESSAGE_SIZE];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    ctx->options.warn(ctx->options.warn_user, text);
}

/* ---- parallel loops: this is the only OpenMP region of the library ---- */

mfpg_status mfpg_tasks_run(mfpg_context *ctx, ptrdiff_t count, mfpg_task task, void *arg) {
    char message[MFPG_MESSAGE_SIZE]; /* of the lowest failing index so far */
    ptrdiff_t bound = count;         /* the lowest failing index: tasks above it need not run */
    mfpg_status failure = MFPG_OK;
    /* Even a single thread runs inside a region, because BLAS uses one thread only there. */
#pragma omp parallel num_threads(ctx->options.threads)
    {
        mfpg_context own = {.options = {.threads = 1}}; /* warnings dropped */
#pragma omp for schedule(dynamic, 1)
        for (ptrdiff_t i = 0; i < count; i++) {
            ptrdiff_t limit;
#pragma omp atomic read
            limit = bound;
            if (i > limit) continue;
            mfpg_status status = task(&own, i, omp_get_thread_num(), arg);
            if (status == MFPG_OK) continue;
#pragma omp critical(mfpg_task_failure)
            if (i < bound) {
                failure = status;
                memcpy(message, own.message, sizeof message);
#pragma omp atomic write
                bound = i;
            }
        }
    }
    if (failure != MFPG_OK) memcpy(ctx->message, message, sizeof ctx->message);
    return failure;
}
