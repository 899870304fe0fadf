#include "mfpg/context.h"

#include <omp.h>
#include <sodium.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "chacha20.h"
#include "error.h"

mfpg_context_options mfpg_context_options_default(void) {
    return (mfpg_context_options){.threads = 0, .warn = NULL, .warn_user = NULL};
}

mfpg_status mfpg_context_create(const mfpg_context_options *options, mfpg_context **out) {
    mfpg_context_options chosen = options ? *options : mfpg_context_options_default();
    const mfpg_group *group = chosen.group;
    if (chosen.threads < 0) return MFPG_ERR_DOMAIN;
    if (group && (group->rank < 0 || group->rank >= group->size || !group->sum || group->most < 0))
        return MFPG_ERR_DOMAIN;
    /* Without this call libsodium falls back to plain C, four times slower, and draws no system randomness. */
    if (sodium_init() < 0) return MFPG_ERR_IO;
    if (!mfpg_chacha20_agrees()) return MFPG_ERR_NUMERIC; /* noise is not what it is certified to be */
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

mfpg_context mfpg_context_child(void) {
    return (mfpg_context){.options = {.threads = 1}};
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
    int room = (int)sizeof ctx->message - 3 - used; /* for the cause, behind ": " */
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
