/* What every fuzz target needs: the entry point's name, a context, and bytes under a file name. */
#ifndef MFPG_FUZZ_FUZZ_H
#define MFPG_FUZZ_FUZZ_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "mfpg/context.h"

/* 0 always: every input is worth keeping. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* One thread, warnings unheard. The same for the life of the process. */
static inline mfpg_context *fuzz_context(void) {
    static mfpg_context *ctx;
    mfpg_context_options options = mfpg_context_options_default();
    options.threads = 1;
    if (!ctx && mfpg_context_create(&options, &ctx) != MFPG_OK) abort();
    return ctx;
}

/* A file in memory that holds the bytes; its name is good until the next call with the same slot (0 or 1). */
static inline const char *fuzz_file(int slot, const uint8_t *data, size_t size) {
    static int file[2] = {-1, -1};
    static char name[2][64];
    if (file[slot] < 0) {
        file[slot] = memfd_create("fuzz", 0);
        snprintf(name[slot], sizeof name[slot], "/proc/self/fd/%d", file[slot]);
    }
    if (file[slot] < 0 || ftruncate(file[slot], 0) != 0) abort();
    for (size_t done = 0; done < size;) {
        ssize_t wrote = pwrite(file[slot], data + done, size - done, (off_t)done);
        if (wrote <= 0) abort();
        done += (size_t)wrote;
    }
    return name[slot];
}

/* A status that a caller can only have broken the library to see. */
static inline void fuzz_expect(int holds, const char *what) {
    if (holds) return;
    fprintf(stderr, "fuzz: %s: %s\n", what, mfpg_context_message(fuzz_context()));
    abort();
}

#endif
