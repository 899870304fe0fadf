/* Variants of hot loops for different processors. Every variant does the same operations on the same
 * elements without contraction, so all give the same bits; only the time differs. */
#ifndef MFPG_BASE_WIDE_H
#define MFPG_BASE_WIDE_H

#include <features.h>

/* Before a static function (clang 14 loses others, and mixes up two of one name, in different files too): it is compiled for
 * AVX2 and AVX-512 registers too, and the loader picks by processor. MFPG_WIDE_SHORT: for AVX2 only; loops of a few dozen
 * rounds lose more by what is left over of sixteen than they gain. Not under the thread sanitizer, whose start-up code cannot
 * yet run when the loader asks, nor if the C library has no such choice. */
#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define MFPG_WIDE
#define MFPG_WIDE_SHORT
#endif
#elif defined(__SANITIZE_THREAD__)
#define MFPG_WIDE
#define MFPG_WIDE_SHORT
#endif

#if !defined(MFPG_WIDE) && defined(__x86_64__) && defined(__GLIBC__)
#define MFPG_WIDE       __attribute__((target_clones("avx512f", "avx2", "default")))
#define MFPG_WIDE_SHORT __attribute__((target_clones("avx2", "default")))
#elif !defined(MFPG_WIDE)
#define MFPG_WIDE
#define MFPG_WIDE_SHORT
#endif

/* For loops that need another form with wider registers or other instructions: this precedes one function
 * per form, and mfpg_widest_registers() selects one. */
#if defined(__x86_64__)
#define MFPG_FOR_AVX2   __attribute__((target("avx2,fma")))
#define MFPG_FOR_AVX512 __attribute__((target("avx2,fma,avx512f,avx512vl")))
#else
#define MFPG_FOR_AVX2
#define MFPG_FOR_AVX512
#endif

/* Precedes a loop of at most 24 iterations, known at compile time, over arrays that should become registers. */
#if defined(__clang__)
#define MFPG_UNROLL _Pragma("clang loop unroll(full)")
#else
#define MFPG_UNROLL _Pragma("GCC unroll 24")
#endif

/* In ascending order: a processor that has one has all before it. */
typedef enum mfpg_registers {
    MFPG_REGISTERS_PLAIN,
    MFPG_REGISTERS_AVX2,  /* 16 of eight floats; fused multiplications */
    MFPG_REGISTERS_AVX512 /* 32, of eight floats or of 16; rotations */
} mfpg_registers;

static inline mfpg_registers mfpg_widest_registers(void) {
#if defined(__x86_64__)
    if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma")) return MFPG_REGISTERS_PLAIN;
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl")) return MFPG_REGISTERS_AVX512;
    return MFPG_REGISTERS_AVX2;
#else
    return MFPG_REGISTERS_PLAIN;
#endif
}

#endif
