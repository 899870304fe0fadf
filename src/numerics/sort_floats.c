#include "sort_floats.h"

#include <string.h>

#include "float_key.h"

enum { RUN = 16, FEW = 4096, DIGITS = MFPG_KEY_DIGITS, BINS = MFPG_KEY_BINS };

static ptrdiff_t least(ptrdiff_t a, ptrdiff_t b) {
    return a < b ? a : b;
}

static void insert(ptrdiff_t n, float *x) {
    for (ptrdiff_t i = 1; i < n; i++) {
        float moving = x[i];
        ptrdiff_t j = i;
        for (; j > 0 && x[j - 1] > moving; j--) x[j] = x[j - 1];
        x[j] = moving;
    }
}

/* The ascending a[0 .. n) and a[n .. n + m) into one. The choice is arithmetic: a branch would be guessed wrong every other
 * time. */
static void merge(const float *a, ptrdiff_t n, ptrdiff_t m, float *out) {
    const float *b = a + n, *end = b + m, *middle = b;
    while (a < middle && b < end) {
        int second = *b < *a;
        *out++ = second ? *b : *a;
        b += second;
        a += !second;
    }
    while (a < middle) *out++ = *a++;
    while (b < end) *out++ = *b++;
}

/* Up to a few thousand numbers are in order before the counts of digits would pay. */
static void sort_few(ptrdiff_t n, float *x, float *work) {
    float *from = x, *to = work;
    for (ptrdiff_t i = 0; i < n; i += RUN) insert(least(RUN, n - i), x + i);
    for (ptrdiff_t width = RUN; width < n; width *= 2) {
        for (ptrdiff_t i = 0; i < n; i += 2 * width) {
            ptrdiff_t first = least(width, n - i);
            merge(from + i, first, least(width, n - i - first), to + i);
        }
        float *other = from;
        from = to;
        to = other;
    }
    if (from != x) memcpy(x, from, (size_t)n * sizeof *x);
}

static uint32_t digit_of(float x, int digit) {
    return mfpg_key_digit(mfpg_float_key(x), digit);
}

/* Digit by digit from the last one, each pass stable: three passes of 11 bits. */
void mfpg_sort_floats(ptrdiff_t n, float *x, float *work) {
    ptrdiff_t start[DIGITS][BINS] = {{0}};
    if (n <= FEW) {
        sort_few(n, x, work);
        return;
    }
    for (ptrdiff_t i = 0; i < n; i++)
        for (int d = 0; d < DIGITS; d++) start[d][digit_of(x[i], d)]++;
    for (int d = 0; d < DIGITS; d++) {
        ptrdiff_t before = 0;
        for (int b = 0; b < BINS; b++) {
            ptrdiff_t count = start[d][b];
            start[d][b] = before;
            before += count;
        }
    }
    for (int d = 0; d < DIGITS; d++) {
        const float *from = d % 2 ? work : x;
        float *to = d % 2 ? x : work;
        for (ptrdiff_t i = 0; i < n; i++) to[start[d][digit_of(from[i], d)]++] = from[i];
    }
    memcpy(x, work, (size_t)n * sizeof *x);
}
