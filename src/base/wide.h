/* Hot loops for the processor at hand. */
#ifndef MFPG_BASE_WIDE_H
#define MFPG_BASE_WIDE_H

#include <features.h>

/* Before a static function (clang 14 loses others, and mixes up two of one name, in different files too): it is compiled for
 * AVX2 registers too, and the loader picks by processor. The twins do the same operations on the same elements and nothing is
 * contracted, so they give the same bits; only the time differs. Not under the thread sanitizer, whose start-up code cannot
 * yet run when the loader asks, nor where the C library has no such choice. */
#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define MFPG_WIDE
#endif
#elif defined(__SANITIZE_THREAD__)
#define MFPG_WIDE
#endif

#if !defined(MFPG_WIDE) && defined(__x86_64__) && defined(__GLIBC__)
#define MFPG_WIDE __attribute__((target_clones("avx2", "default")))
#elif !defined(MFPG_WIDE)
#define MFPG_WIDE
#endif

#endif
