#include "testing.h"

#include "numerics/linalg/linalg.h"

/* SplitMix64. */
static double random_unit(uint64_t *random) {
    uint64_t z = *random += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return (double)((z ^ (z >> 31)) >> 11) * 0x1p-53;
}

/* Numbers of very different sizes, half of the time with both signs. */
static void fill(uint64_t *random, ptrdiff_t n, double *out) {
    int both_signs = random_unit(random) < 0.5;
    double spread = 20.0 * random_unit(random);
    for (ptrdiff_t k = 0; k < n; k++) {
        out[k] = exp(-spread * random_unit(random));
        if (both_signs && random_unit(random) < 0.5) out[k] = -out[k];
    }
}

static double *copied(const double *from, ptrdiff_t n) {
    double *copy = malloc((size_t)n * sizeof *copy);
    assert_non_null(copy);
    memcpy(copy, from, (size_t)n * sizeof *copy);
    return copy;
}

/* The definition, in long double: X_j of the packed layout at 2j, 2j+1. */
static void naive(const double *x, ptrdiff_t n, long double *out) {
    for (ptrdiff_t j = 0; j <= n / 2; j++) {
        long double re = 0.0L, im = 0.0L;
        for (ptrdiff_t k = 0; k < n; k++) {
            long double angle = 2.0L * acosl(-1.0L) * (long double)(j * k % n) / (long double)n;
            re += (long double)x[k] * cosl(angle);
            im -= (long double)x[k] * sinl(angle);
        }
        if (j == 0) out[0] = re;
        if (j == n / 2) out[1] = re;
        if (j == 0 || j == n / 2) continue;
        out[2 * j] = re;
        out[2 * j + 1] = im;
    }
}

/* Both bounds that mfpg_fft_error states, against long double (64 bits, whose own error is 2^-11 of theirs). */
static void test_the_stated_bounds_hold_against_the_definition(void **state) {
    (void)state;
    uint64_t random = testing_seed();
    print_message("seed %llu\n", (unsigned long long)random);
    double worst = 0.0;
    for (ptrdiff_t n = 4; n <= 512; n *= 2) {
        mfpg_fft *fft = mfpg_fft_create(n);
        assert_non_null(fft);
        for (int run = 0; run < testing_repeats(4); run++) {
            double x[512];
            long double exact[514];
            fill(&random, n, x);
            naive(x, n, exact);
            double one_norm = 0.0, square = 0.0, off = 0.0, largest = 0.0;
            for (ptrdiff_t k = 0; k < n; k++) one_norm += fabs(x[k]);
            mfpg_fft_forward(fft, x);
            for (ptrdiff_t j = 0; j <= n / 2; j++) {
                int ends = j == 0 || j == n / 2, at = (int)(j == n / 2 ? 1 : 2 * j);
                double re = (double)exact[at], im = ends ? 0.0 : (double)exact[at + 1];
                double error_re = (double)(x[at] - exact[at]),
                       error_im = ends ? 0.0 : (double)(x[at + 1] - exact[at + 1]);
                double error = hypot(error_re, error_im);
                largest = fmax(largest, error);
                off += (ends ? 1.0 : 2.0) * error * error;
                square += (ends ? 1.0 : 2.0) * (re * re + im * im);
            }
            assert_true(largest <= mfpg_fft_error(n) * one_norm);
            assert_true(sqrt(off) <= mfpg_fft_error(n) * sqrt(square));
            worst = fmax(worst, sqrt(off / square) / mfpg_fft_error(n));
        }
        mfpg_fft_destroy(fft);
    }
    assert_true(worst > 1e-3); /* the bound is one of this transform and not of anything */
}

/* There and back, also where the parts are larger than what is done pass by pass. */
static void test_the_inverse_comes_back_within_its_bound(void **state) {
    (void)state;
    uint64_t random = testing_seed();
    for (ptrdiff_t n = 4; n <= 1 << 15; n *= 2) {
        mfpg_fft *fft = mfpg_fft_create(n);
        double *x = malloc((size_t)n * sizeof *x);
        assert_true(fft && x);
        fill(&random, n, x);
        double *again = copied(x, n);
        mfpg_fft_forward(fft, again);
        mfpg_fft_inverse(fft, again);
        double off = 0.0, square = 0.0;
        for (ptrdiff_t k = 0; k < n; k++) {
            off += (again[k] - x[k]) * (again[k] - x[k]);
            square += x[k] * x[k];
        }
        assert_true(sqrt(off) <= 2.001 * mfpg_fft_error(n) * sqrt(square));
        free(again);
        free(x);
        mfpg_fft_destroy(fft);
    }
}

/* sum |x_k|^2 = sum |X_j|^2 / n. */
static void test_parseval(void **state) {
    (void)state;
    uint64_t random = testing_seed();
    const ptrdiff_t n = 1 << 14;
    mfpg_fft *fft = mfpg_fft_create(n);
    double *x = malloc((size_t)n * sizeof *x), before = 0.0, after = 0.0;
    assert_true(fft && x);
    fill(&random, n, x);
    for (ptrdiff_t k = 0; k < n; k++) before += x[k] * x[k];
    mfpg_fft_forward(fft, x);
    after = x[0] * x[0] + x[1] * x[1];
    for (ptrdiff_t j = 2; j < n; j++) after += 2.0 * x[j] * x[j];
    /* twice the relative error of the norm, and that of the two sums of n rounded squares */
    check_near(after / (double)n, before, 2.0 * mfpg_fft_error(n) + 4e-16 * (double)n, 0.0, "Parseval");
    free(x);
    mfpg_fft_destroy(fft);
}

/* The product of transforms is the transform of the cyclic convolution. */
static void test_products_are_convolutions(void **state) {
    (void)state;
    enum { N = 64 };
    uint64_t random = testing_seed();
    mfpg_fft *fft = mfpg_fft_create(N);
    double a[N], b[N], direct[N] = {0}, size = 0.0;
    assert_non_null(fft);
    fill(&random, N, a);
    fill(&random, N, b);
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) {
            direct[(i + j) % N] += a[i] * b[j];
            size += fabs(a[i] * b[j]);
        }
    mfpg_fft_forward(fft, a);
    mfpg_fft_forward(fft, b);
    a[0] *= b[0];
    a[1] *= b[1];
    for (int j = 2; j < N; j += 2) {
        double re = a[j] * b[j] - a[j + 1] * b[j + 1], im = a[j] * b[j + 1] + a[j + 1] * b[j];
        a[j] = re;
        a[j + 1] = im;
    }
    mfpg_fft_inverse(fft, a);
    for (int i = 0; i < N; i++) check_near(a[i], direct[i], 0.0, 4.0 * mfpg_fft_error(N) * size, "entry");
    mfpg_fft_destroy(fft);
}

static void test_other_lengths_are_refused(void **state) {
    (void)state;
    for (ptrdiff_t n = -1; n < 4; n++) assert_null(mfpg_fft_create(n));
    assert_null(mfpg_fft_create(12));
    assert_null(mfpg_fft_create(PTRDIFF_MAX));
    mfpg_fft_destroy(NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_stated_bounds_hold_against_the_definition),
        cmocka_unit_test(test_the_inverse_comes_back_within_its_bound),
        cmocka_unit_test(test_parseval),
        cmocka_unit_test(test_products_are_convolutions),
        cmocka_unit_test(test_other_lengths_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
