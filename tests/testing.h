/* What every test program includes: cmocka, checks with context, the reference data, and the seed of property tests. */
#ifndef MFPG_TESTING_H
#define MFPG_TESTING_H

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "mfpg/context.h"

/* 1 under a sanitizer, which keeps what is freed, or a shadow of everything: what a process holds says nothing then. */
#if defined __SANITIZE_ADDRESS__ || defined __SANITIZE_THREAD__
#define TESTING_SANITIZED 1
#elif defined __has_feature
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || __has_feature(memory_sanitizer)
#define TESTING_SANITIZED 1
#endif
#endif
#ifndef TESTING_SANITIZED
#define TESTING_SANITIZED 0
#endif

/* A context for tests, freed by cmocka's checks of the caller (mfpg_context_destroy). */
static inline mfpg_context *testing_context(int threads) {
    mfpg_context *ctx = NULL;
    mfpg_context_options options = mfpg_context_options_default();
    options.threads = threads;
    assert_int_equal(mfpg_context_create(&options, &ctx), MFPG_OK);
    return ctx;
}

/* |a - b| <= relative * |b| + absolute, printing both where not. */
static inline void check_near(double a, double b, double relative, double absolute, const char *what) {
    if (a == b) return; /* also both infinite */
    if (fabs(a - b) <= relative * fabs(b) + absolute) return;
    print_error("%s: got %.17g, expected %.17g, difference %.3g\n", what, a, b, a - b);
    fail();
}

#define CHECK_OK(ctx, call)                                                                                  \
    do {                                                                                                     \
        mfpg_status check_status_ = (call);                                                                  \
        if (check_status_ != MFPG_OK) {                                                                      \
            print_error("%s: %s (%s)\n", #call, mfpg_status_text(check_status_), mfpg_context_message(ctx)); \
            fail();                                                                                          \
        }                                                                                                    \
    } while (0)

/* The folder of reference data (MFPG_SHARED, default ../shared beside the source tree), or NULL where it is absent. */
static inline const char *testing_shared(void) {
    static char path[4096];
    const char *named = getenv("MFPG_SHARED");
    snprintf(path, sizeof path, "%s", named && *named ? named : MFPG_SOURCE_DIR "/../shared");
    char probe[4200];
    snprintf(probe, sizeof probe, "%s/data/README.md", path);
    FILE *file = fopen(probe, "r");
    if (!file) return NULL;
    fclose(file);
    return path;
}

/* Skips the running test with a message where the reference data are absent; use as `const char *shared = need_shared();`. */
static inline const char *need_shared(void) {
    const char *shared = testing_shared();
    if (!shared) {
        print_message("SKIPPED: no reference data; set MFPG_SHARED to their folder\n");
        skip();
    }
    return shared;
}

/* Seed of property tests: MFPG_TEST_SEED or a fixed one; printed by the test on failure. */
static inline uint64_t testing_seed(void) {
    const char *text = getenv("MFPG_TEST_SEED");
    return text ? strtoull(text, NULL, 10) : 20261128u;
}

/* Repetitions of a property test, scaled by MFPG_TEST_SCALE (default 1). */
static inline int testing_repeats(int usual) {
    const char *text = getenv("MFPG_TEST_SCALE");
    double scale = text ? strtod(text, NULL) : 1.0;
    int repeats = (int)(usual * scale);
    return repeats > 1 ? repeats : 1;
}

#endif
