#include "sorting.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"

/* ---- floats as integers in the same order, sorted digit by digit: three digits of 11 bits ---- */

enum { RUN = 16, FEW = 4096, DIGITS = 3, BITS = 11, BINS = 1 << BITS };

/* Flips the sign bit and, if it was set, all other bits too; -0 comes just before 0. */
static uint32_t key_of(float x) {
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits ^ (bits >> 31 ? UINT32_MAX : UINT32_C(0x80000000));
}

static uint32_t digit_of(uint32_t key, int digit) {
    return (key >> (BITS * digit)) & (BINS - 1);
}

/* ---- values ---- */

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

/* Merges the ascending a[0 .. n) and a[n .. n + m). The choice is arithmetic, because a branch would be
 * mispredicted half of the time. */
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

/* A few thousand numbers are sorted before counting digits would pay off. */
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

/* Sorts digit by digit from the last one, each pass stable: three passes of 11 bits. */
void mfpg_sort_floats(ptrdiff_t n, float *x, float *work) {
    ptrdiff_t start[DIGITS][BINS] = {{0}};
    if (n <= FEW) {
        sort_few(n, x, work);
        return;
    }
    for (ptrdiff_t i = 0; i < n; i++)
        for (int d = 0; d < DIGITS; d++) start[d][digit_of(key_of(x[i]), d)]++;
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
        for (ptrdiff_t i = 0; i < n; i++) to[start[d][digit_of(key_of(from[i]), d)]++] = from[i];
    }
    memcpy(x, work, (size_t)n * sizeof *x);
}

/* ---- places ---- */

mfpg_status mfpg_order_floats(mfpg_context *ctx, ptrdiff_t n, const float *x, int32_t *order) {
    uint32_t *key = mfpg_alloc(n, sizeof *key);
    int32_t *other = mfpg_alloc(n, sizeof *other);
    const int32_t *from = NULL; /* NULL: as they are */
    mfpg_status status = key && other ? MFPG_OK : mfpg_fail_memory(ctx);
    if (status != MFPG_OK) goto done;
    for (ptrdiff_t i = 0; i < n; i++) key[i] = key_of(x[i] + 0.0f); /* -0 is 0 */
    for (int pass = 0; pass < DIGITS; pass++) {                     /* each is stable */
        int32_t *to = pass % 2 == 0 ? order : other;
        uint32_t next[BINS] = {0}, before = 0; /* the first free place of a digit */
        for (ptrdiff_t i = 0; i < n; i++) next[digit_of(key[i], pass)]++;
        for (int value = 0; value < BINS; value++) {
            uint32_t count = next[value];
            next[value] = before;
            before += count;
        }
        for (ptrdiff_t i = 0; i < n; i++) {
            int32_t place = from ? from[i] : (int32_t)i;
            to[next[digit_of(key[place], pass)]++] = place;
        }
        from = to;
    }
done:
    free(key);
    free(other);
    return status;
}

/* ---- of ordered numbers ---- */

/* Pools 0 .. pools - 1 lie one after the other: value in fit[0 .. pools), length in work. A new number that is below the
 * last pool's mean joins it, and the pool the one before, until the means ascend. The number of poolings is below count. */
ptrdiff_t mfpg_isotonic_fit(ptrdiff_t count, const double *y, double *fit, ptrdiff_t *work) {
    ptrdiff_t pools = 0, pooled = 0;
    for (ptrdiff_t i = 0; i < count; i++) {
        fit[pools] = y[i];
        work[pools++] = 1;
        while (pools > 1 && fit[pools - 2] > fit[pools - 1]) {
            double before = (double)work[pools - 2], last = (double)work[pools - 1];
            fit[pools - 2] += (fit[pools - 1] - fit[pools - 2]) * (last / (before + last));
            work[pools - 2] += work[pools - 1];
            pools--;
        }
    }
    /* Expanded from the end: pool p starts at p or later. */
    for (ptrdiff_t end = count, p = pools; p-- > 0;) {
        double value = fit[p];
        ptrdiff_t length = work[p];
        if (length > 1) pooled += length;
        for (ptrdiff_t i = 0; i < length; i++) fit[--end] = value;
    }
    return pooled;
}

/* Returns the digamma function at a whole number k >= 1: -gamma + 1 + 1/2 + ... + 1/(k-1), for large k by
 * its series. */
static double digamma(ptrdiff_t k) {
    const double euler = 0.57721566490153286061;
    if (k >= 64) { /* the next term, 1/(252 k^6), is below 2^-43 / 252 */
        double x = (double)k, y = 1.0 / (x * x);
        return log(x) - 0.5 / x - y * (1.0 / 12.0 - y / 120.0);
    }
    double sum = -euler;
    for (ptrdiff_t i = 1; i < k; i++) sum += 1.0 / (double)i;
    return sum;
}

/* Vasicek (1976): H = (1/n) sum_i log(n/(2m) (x_(i+m) - x_(i-m))), x_(j) the first or last number beyond the ends. Of uniform
 * numbers the spacing over k of n + 1 gaps has E log = digamma(k) - digamma(n + 1), and k = 2m inside, i + m - 1 at the i-th
 * place from an end: the expectation of H, which is 0 for them, is known and taken off (Wieczorkowski, Grzegorzewski 1999). */
double mfpg_spacing_entropy(ptrdiff_t n, const float *sorted) {
    if (n < 3) return (double)NAN;
    ptrdiff_t m = (ptrdiff_t)(cbrt((double)n) + 0.5), most = (n - 1) / 2;
    if (m > most) m = most;
    double logs = 0.0, expected = (double)(n - 2 * m) * digamma(2 * m);
    for (ptrdiff_t i = 0; i < n; i++) {
        ptrdiff_t low = i > m ? i - m : 0, high = i + m < n ? i + m : n - 1;
        logs += log((double)sorted[high] - (double)sorted[low]);
    }
    for (ptrdiff_t i = m; i < 2 * m; i++) expected += 2.0 * digamma(i);
    return (logs - expected) / (double)n + digamma(n + 1);
}

/* ---- assignment ---- */

/* The path of a new row begins at column 0; rows and columns count from 1, and row 0 means none. */
typedef struct search {
    ptrdiff_t n;
    const double *cost;
    double *row_price, *column_price; /* n + 1: cost - prices is >= 0, and 0 for the assigned pairs */
    double *slack;                    /* n + 1: slack of each column, minimum over the rows reached so far */
    ptrdiff_t *owner;                 /* n + 1: the row that has the column */
    ptrdiff_t *from;                  /* n + 1: the previous column on the path */
    unsigned char *reached;           /* n + 1 */
} search;

/* Assigns a column to one more row: by the cheapest path over assigned columns to a free one. */
static void add_row(search *s, ptrdiff_t row) {
    ptrdiff_t at = 0;
    for (ptrdiff_t j = 0; j <= s->n; j++) {
        s->slack[j] = (double)INFINITY;
        s->reached[j] = 0;
    }
    s->owner[0] = row;
    do {
        ptrdiff_t reaching = s->owner[at], next = 0;
        s->reached[at] = 1;
        for (ptrdiff_t j = 1; j <= s->n; j++) {
            if (s->reached[j]) continue;
            double left =
                s->cost[(reaching - 1) * s->n + j - 1] - s->row_price[reaching] - s->column_price[j];
            if (left < s->slack[j]) {
                s->slack[j] = left;
                s->from[j] = at;
            }
            if (next == 0 || s->slack[j] < s->slack[next]) next = j;
        }
        double by = s->slack[next];
        for (ptrdiff_t j = 0; j <= s->n; j++) { /* prices change, so that `next` can be reached at no cost */
            if (s->reached[j]) {
                s->row_price[s->owner[j]] += by;
                s->column_price[j] -= by;
            } else {
                s->slack[j] -= by;
            }
        }
        at = next;
    } while (s->owner[at] != 0);
    for (; at != 0; at = s->from[at]) s->owner[at] = s->owner[s->from[at]];
}

mfpg_status mfpg_assign(mfpg_context *ctx, ptrdiff_t n, const double *cost, ptrdiff_t *column) {
    mfpg_pool memory = {0};
    search s = {.n = n,
        .cost = cost,
        .row_price = mfpg_pool_alloc(&memory, n + 1, sizeof(double)),
        .column_price = mfpg_pool_alloc(&memory, n + 1, sizeof(double)),
        .slack = mfpg_pool_alloc(&memory, n + 1, sizeof(double)),
        .owner = mfpg_pool_alloc(&memory, n + 1, sizeof(ptrdiff_t)),
        .from = mfpg_pool_alloc(&memory, n + 1, sizeof(ptrdiff_t)),
        .reached = mfpg_pool_alloc(&memory, n + 1, 1)};
    mfpg_status status = memory.failed ? mfpg_fail_memory(ctx) : MFPG_OK;
    for (ptrdiff_t row = 1; row <= n && status == MFPG_OK; row++) add_row(&s, row);
    for (ptrdiff_t j = 1; j <= n && status == MFPG_OK; j++) column[s.owner[j] - 1] = j - 1;
    mfpg_pool_clear(&memory);
    return status;
}
