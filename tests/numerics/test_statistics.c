/* The binomial and chi-square laws, Owen's function and rank sums, by closed forms. */
#include "testing.h"

#include "numerics/special/laws.h"
#include "statistics.h"
#include "numerics/special/normal.h"

/* C(n,k) p^k (1-p)^(n-k) by Pascal's triangle: exact up to some units of the last place for n <= 20. */
static double pascal(int k, int n, double p) {
    double c = 1.0;
    for (int i = 0; i < k; i++) c = c * (n - i) / (i + 1);
    return c * pow(p, k) * pow(1.0 - p, n - k);
}

static void test_binomial_masses_and_tails_are_sums(void **state) {
    (void)state;
    const double places[] = {1e-3, 0.2, 0.5, 0.77, 0.999};
    for (int p = 0; p < 5; p++) {
        for (int n = 1; n <= 20; n++) {
            double upper = 0.0;
            for (int k = n; k >= 0; k--) {
                double mass = pascal(k, n, places[p]);
                upper += mass;
                check_near(mfpg_binomial_mass(k, n, places[p]), mass, 1e-13, 0, "mass");
                check_near(mfpg_binomial_upper_tail(k, n, places[p]), upper, 1e-13, 0, "upper tail");
                check_near(mfpg_binomial_lower_tail(n - k, n, 1.0 - places[p]), upper, 1e-12, 0, "lower");
            }
        }
    }
    assert_true(mfpg_binomial_upper_tail(0, 5, 0.3) == 1.0 && mfpg_binomial_upper_tail(6, 5, 0.3) == 0.0);
    assert_true(mfpg_binomial_lower_tail(-1, 5, 0.3) == 0.0 && mfpg_binomial_lower_tail(5, 5, 0.3) == 1.0);
    assert_true(mfpg_binomial_mass(0, 5, 0.0) == 1.0 && mfpg_binomial_mass(5, 5, 1.0) == 1.0);
}

/* Both tails of 10^6 fair coins at 10 standard deviations are alike, and small. */
static void test_binomial_tails_are_symmetric_and_small_far_out(void **state) {
    (void)state;
    double upper = mfpg_binomial_upper_tail(505000, 1000000, 0.5);
    check_near(mfpg_binomial_lower_tail(495000, 1000000, 0.5), upper, 1e-12, 0, "symmetry");
    /* The normal tail at 9.999 with the correction for continuity; its relative error is about 10^4 / (12 n) here. */
    check_near(upper, mfpg_normal_cdf(-9.999), 3e-3, 0, "normal tail");
}

static void test_binomial_quantile_is_the_smallest(void **state) {
    (void)state;
    for (int n = 1; n <= 30; n++) {
        int64_t k = binomial_quantile(0.95, n, 0.3);
        assert_true(mfpg_binomial_lower_tail(k, n, 0.3) >= 0.95);
        assert_true(mfpg_binomial_lower_tail(k - 1, n, 0.3) < 0.95);
    }
}

/* Without a success the upper bound is 1 - alpha^(1/n), without a failure the lower one is alpha^(1/n). */
static void test_proportion_bounds_have_closed_ends(void **state) {
    (void)state;
    for (int64_t n = 1; n <= 1000000; n *= 10) {
        check_near(mfpg_proportion_upper(0, n, 0.01), -expm1(log(0.01) / (double)n), 1e-10, 0, "upper");
        check_near(mfpg_proportion_lower(n, n, 0.01), exp(log(0.01) / (double)n), 1e-10, 0, "lower");
    }
    assert_true(mfpg_proportion_lower(0, 10, 0.05) == 0.0 && mfpg_proportion_upper(10, 10, 0.05) == 1.0);
    const double wrong[] = {0.0, 1.0, -1.0, (double)NAN};
    for (int i = 0; i < 4; i++) {
        assert_true(mfpg_proportion_lower(3, 10, wrong[i]) == 0.0);
        assert_true(mfpg_proportion_upper(3, 10, wrong[i]) == 1.0);
    }
    assert_true(mfpg_proportion_lower(11, 10, 0.05) == 0.0 && mfpg_proportion_upper(-1, 10, 0.05) == 1.0);
}

/* What the bound promises: at the bound the count was improbable, and rounding went outwards. */
static void test_proportion_bounds_are_rounded_outwards(void **state) {
    (void)state;
    for (int64_t n = 1; n <= 3000; n = 3 * n + 1) {
        for (int64_t k = 0; k <= n; k += 1 + n / 7) {
            double low = mfpg_proportion_lower(k, n, 0.005), high = mfpg_proportion_upper(k, n, 0.005);
            assert_true(low <= (double)k / (double)n && (double)k / (double)n <= high);
            if (k > 0) assert_true(mfpg_binomial_upper_tail(k, n, low) <= 0.005);
            if (k < n) assert_true(mfpg_binomial_lower_tail(k, n, high) <= 0.005);
            check_near(mfpg_proportion_upper(n - k, n, 0.005), 1.0 - low, 1e-9, 0, "mirror");
        }
    }
}

/* Two degrees of freedom are an exponential, one the square of a normal number; four by integration by parts. */
static void test_chi_square_meets_closed_forms(void **state) {
    (void)state;
    const double places[] = {1e-6, 0.1, 1, 3, 10, 60};
    for (int i = 0; i < 6; i++) {
        double x = places[i];
        check_near(chi_square_lower(x, 2), -expm1(-0.5 * x), 1e-13, 0, "2 lower");
        check_near(chi_square_lower(x, 1), erf(sqrt(0.5 * x)), 1e-12, 0, "1 lower");
        check_near(chi_square_lower(x, 4), 1 - exp(-0.5 * x) * (1 + 0.5 * x), 0, 1e-13, "4 lower");
        check_near(chi_square_quantile(chi_square_lower(x, 4), 4), x, x < 40 ? 1e-9 : 0.02, 0, "quantile");
    }
    assert_true(chi_square_lower(-1, 3) == 0 && chi_square_lower(0, 3) == 0);
    assert_true(isnan(chi_square_lower((double)NAN, 3)));
}

static void test_stirling_rest_completes_factorials(void **state) {
    (void)state;
    double factorial = 1.0;
    for (int n = 1; n <= 20; n++) {
        factorial *= n;
        double main_part = sqrt(2 * 3.14159265358979323846 * n) * pow(n / 2.71828182845904523536, n);
        check_near(mfpg_stirling_rest(n), log(factorial / main_part), 0, 3e-14, "Stirling");
    }
}

/* T(h,1) = Phi(h) Phi(-h) / 2, T(0,a) = atan(a) / (2 pi). */
static void test_owen_meets_closed_forms(void **state) {
    (void)state;
    for (double h = 0.0; h < 12; h += 0.37)
        check_near(mfpg_owen(h, 1.0), 0.5 * mfpg_normal_cdf(h) * mfpg_normal_cdf(-h), 1e-13, 0, "T(h,1)");
    check_near(mfpg_owen(0, 0.3), atan(0.3) / (2 * 3.14159265358979323846), 1e-14, 0, "T(0,a)");
}

/* Without a shift the law is that of Mann and Whitney: variance (n0+n1+1)/(12 n0 n1), full separation 1 in (n0+n1 choose n0). */
static void test_rank_sums_without_a_shift_are_combinatorial(void **state) {
    (void)state;
    for (int n0 = 1; n0 <= 9; n0++) {
        for (int n1 = 1; n1 <= 9; n1++) {
            mfpg_rank_sum law = mfpg_rank_sum_law(0, n0, n1);
            check_near(law.mean, 0.5, 1e-14, 0, "mean");
            check_near(law.sd, sqrt((n0 + n1 + 1.0) / (12.0 * n0 * n1)), 1e-11, 0, "sd");
            double ways = 1;
            for (int i = 1; i <= n0; i++) ways = ways * (n1 + i) / i;
            check_near(mfpg_rank_separation(0, n0, n1), 1 / ways, 2e-9, 0, "separation");
        }
    }
    check_near(mfpg_rank_separation(1.7, 1, 1), mfpg_normal_cdf(1.7 / sqrt(2)), 2e-9, 0, "one pair");
}

static void test_rank_share_counts_pairs_and_breaks_ties_by_their_number(void **state) {
    (void)state;
    mfpg_scored x0[] = {{3, 0}, {1, 5}, {1, 7}}, x1[] = {{1, 6}, {2, 0}, {-4, 1}};
    /* (1,6) is above (1,5) alone; 2 above both ones; -4 above nothing. */
    check_near(mfpg_rank_share(x0, 3, x1, 3), 3.0 / 9, 1e-15, 0, "share");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_binomial_masses_and_tails_are_sums),
        cmocka_unit_test(test_binomial_tails_are_symmetric_and_small_far_out),
        cmocka_unit_test(test_binomial_quantile_is_the_smallest),
        cmocka_unit_test(test_proportion_bounds_have_closed_ends),
        cmocka_unit_test(test_proportion_bounds_are_rounded_outwards),
        cmocka_unit_test(test_chi_square_meets_closed_forms),
        cmocka_unit_test(test_stirling_rest_completes_factorials),
        cmocka_unit_test(test_owen_meets_closed_forms),
        cmocka_unit_test(test_rank_sums_without_a_shift_are_combinatorial),
        cmocka_unit_test(test_rank_share_counts_pairs_and_breaks_ties_by_their_number),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
