/* The law of noised values on a grid: counts of integers against the normal law's probabilities, tails apart. Twenty million draws;
 * four hundred million with MFPG_TEST_SCALE=20. */
#include "testing.h"

#include "base/grid_noise.h"

enum { CELLS = 16384, LEAST_EXPECTED = 20 };

typedef struct counting {
    double x, middle, ratio;
    double counts[CELLS], beyond[2]; /* below -5 and above 5 standard deviations */
} counting;

static void give(ptrdiff_t first, ptrdiff_t n, double *x, void *arg) {
    const counting *all = arg;
    (void)first;
    for (ptrdiff_t i = 0; i < n; i++) x[i] = all->x;
}

static void take(ptrdiff_t first, ptrdiff_t n, const double *k, void *arg) {
    counting *all = arg;
    (void)first;
    for (ptrdiff_t i = 0; i < n; i++) {
        double off = k[i] - all->middle;
        if (fabs(off) > 5.0 * all->ratio)
            all->beyond[off > 0.0]++;
        else
            all->counts[(ptrdiff_t)off + CELLS / 2]++;
    }
}

/* P(a < s Z < b), by the tail on its own side so that no digits are lost. */
static double probability(double a, double b, double s) {
    const double scale = s * sqrt(2.0);
    if (a > 0.0) return 0.5 * (erfc(a / scale) - erfc(b / scale));
    if (b < 0.0) return 0.5 * (erfc(-b / scale) - erfc(-a / scale));
    return 0.5 * (erf(b / scale) - erf(a / scale));
}

/* Standard normal quantile of chi-square's probability (Wilson and Hilferty). */
static double deviate_of(double chi, double degrees) {
    double spread = 2.0 / (9.0 * degrees);
    return (cbrt(chi / degrees) - (1.0 - spread)) / sqrt(spread);
}

/* The probability of a Poisson count at least as far out as this one, doubled. */
static double poisson_p(double count, double mean) {
    double below = 0.0, at = exp(-mean);
    for (double k = 0.0; k < count; k++) {
        below += at;
        at *= mean / (k + 1.0);
    }
    double low = below + at, high = 1.0 - below;
    return fmin(1.0, 2.0 * fmin(low, high));
}

/* 4.9 standard deviations: a chance of 5e-7 each, of one in a hundred thousand for all cases of a run with another seed. */
static void check_counts(const counting *all, double draws) {
    double chi = 0.0, degrees = -1.0, count = 0.0, expected = 0.0;
    const double x = all->x - all->middle, s = all->ratio, last = floor(5.0 * s);
    for (double k = -last; k <= last; k++) {
        count += all->counts[(ptrdiff_t)k + CELLS / 2];
        expected += draws * probability(k - 0.5 - x, k + 0.5 - x, s);
        if (expected < LEAST_EXPECTED && k < last) continue; /* small cells are one with the next */
        chi += (count - expected) * (count - expected) / expected;
        degrees += 1.0;
        count = expected = 0.0;
    }
    double deviate = deviate_of(chi, degrees);
    double low = draws * probability(-HUGE_VAL, -last - 0.5 - x, s),
           high = draws * probability(last + 0.5 - x, HUGE_VAL, s);
    double low_p = poisson_p(all->beyond[0], low), high_p = poisson_p(all->beyond[1], high);
    if (getenv("MFPG_TEST_SCALE"))
        print_message(
            "s %g x %g: chi-square %.1f with %.0f degrees, p %.4f; tails %.0f of %.2f and %.0f of %.2f\n", s,
            all->x, chi, degrees, 0.5 * erfc(deviate / sqrt(2.0)), all->beyond[0], low, all->beyond[1], high);
    if (fabs(deviate) > 4.9 || low_p < 5e-7 || high_p < 5e-7)
        print_error("s %g, x %g: chi-square %.1f with %.0f degrees; tails %g of %g and %g of %g (seed %ju)\n",
            s, all->x, chi, degrees, all->beyond[0], low, all->beyond[1], high, (uintmax_t)testing_seed());
    assert_true(fabs(deviate) <= 4.9);
    assert_true(low_p >= 5e-7 && high_p >= 5e-7);
}

static void count_case(double ratio, double x, uint64_t client, double draws) {
    static counting all;
    mfpg_key key = mfpg_key_from_seed(testing_seed());
    mfpg_stream stream = mfpg_stream_open(&key, MFPG_PURPOSE_TEST, 30, client);
    const ptrdiff_t length = client % 2 ? 500 : 100000; /* both layouts */
    memset(&all, 0, sizeof all);
    all.x = x, all.middle = floor(x), all.ratio = ratio;
    for (double made = 0.0; made < draws; made += (double)length)
        mfpg_grid_noise_visit(mfpg_widest_registers(), &stream, (uint64_t)(made / (double)length), length,
            ratio, give, take, &all);
    check_counts(&all, draws);
}

static void test_counts_are_those_of_the_rounded_normal_law(void **state) {
    (void)state;
    const double ratios[] = {4.0, 16.0, 64.0, 1000.0}, xs[] = {0.0, 0.25, 0.5, 0.499999, 7.3};
    const double draws = 1e5 * testing_repeats(10);
    for (uint64_t r = 0; r < 4; r++)
        for (uint64_t i = 0; i < 5; i++) count_case(ratios[r], xs[i], 5 * r + i, draws);
}

/* What the test must be able to see: the same draws against a law whose standard deviation is 1 % larger fail by far. */
static void test_counts_tell_another_law(void **state) {
    (void)state;
    static counting all;
    mfpg_key key = mfpg_key_from_seed(testing_seed());
    mfpg_stream stream = mfpg_stream_open(&key, MFPG_PURPOSE_TEST, 31, 0);
    all.ratio = 16.0;
    mfpg_grid_noise_visit(mfpg_widest_registers(), &stream, 0, 1000000, 16.0, give, take, &all);
    double chi = 0.0, cells = 0.0;
    for (double k = -40.0; k <= 40.0; k++, cells++) {
        double expected = 1e6 * probability(k - 0.5, k + 0.5, 16.16);
        double off = all.counts[(ptrdiff_t)k + CELLS / 2] - expected;
        chi += off * off / expected;
    }
    assert_true(deviate_of(chi, cells) > 6.0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_counts_are_those_of_the_rounded_normal_law),
        cmocka_unit_test(test_counts_tell_another_law),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
