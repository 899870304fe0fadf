#include "testing.h"

#include "mfpg/random.h"
#include "numerics/linalg/linalg.h"

enum { LONGEST = 70 };

typedef struct system_data {
    float a[LONGEST * LONGEST], x[LONGEST], y[LONGEST];
} system_data;

static void fill(uint64_t number, ptrdiff_t n, float *out) {
    mfpg_key key = mfpg_key_from_seed(testing_seed());
    mfpg_stream stream = mfpg_stream_open(&key, MFPG_PURPOSE_TEST, number, 0);
    mfpg_stream_gaussian(&stream, 0, n, out);
}

/* Sum of terms in double and the bound of a float sum's error: (terms + 1) roundings of the magnitudes' sum. */
static void check_sum(float got, double exact, double magnitude, ptrdiff_t terms, const char *what) {
    check_near((double)got, exact, 0, (double)(terms + 1) * 0x1p-24 * magnitude, what);
}

static void check_products(ptrdiff_t rows, ptrdiff_t cols) {
    static system_data data;
    fill((uint64_t)(rows * 100 + cols), LONGEST * LONGEST, data.a);
    fill(1, LONGEST, data.x);
    mfpg_matrix_apply(rows, cols, data.a, NULL, data.x, 0.75f, data.y);
    for (ptrdiff_t i = 0; i < rows; i++) {
        double exact = 0.75, magnitude = 0.75;
        for (ptrdiff_t j = 0; j < cols; j++) {
            double term = (double)data.a[i * cols + j] * (double)data.x[j];
            exact += term, magnitude += fabs(term);
        }
        check_sum(data.y[i], exact, magnitude, cols + 1, "A x + bias");
    }
    for (ptrdiff_t j = 0; j < cols; j++) data.y[j] = 0.5f;
    mfpg_matrix_add_transposed(rows, cols, data.a, NULL, data.x, data.y);
    for (ptrdiff_t j = 0; j < cols; j++) {
        double exact = 0.5, magnitude = 0.5;
        for (ptrdiff_t i = 0; i < rows; i++) {
            double term = (double)data.a[i * cols + j] * (double)data.x[i];
            exact += term, magnitude += fabs(term);
        }
        check_sum(data.y[j], exact, magnitude, rows + 1, "y + A^T x");
    }
}

static void test_products_match_plain_loops_for_every_shape(void **state) {
    (void)state;
    const ptrdiff_t sizes[] = {0, 1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 20, 33, 64, 69};
    for (size_t r = 0; r < sizeof sizes / sizeof sizes[0]; r++)
        for (size_t c = 0; c < sizeof sizes / sizeof sizes[0]; c++) check_products(sizes[r], sizes[c]);
}

static void test_products_write_their_outputs_only(void **state) {
    (void)state;
    float a[6 * 9], x[9], y[10];
    fill(0, 6 * 9, a);
    fill(1, 9, x);
    for (ptrdiff_t rows = 0; rows <= 6; rows++) {
        for (int i = 0; i < 10; i++) y[i] = 77.0f;
        mfpg_matrix_apply(rows, 9, a, NULL, x, 0.0f, y);
        for (ptrdiff_t i = rows; i < 10; i++) assert_true(y[i] == 77.0f);
    }
    mfpg_matrix_add_transposed(6, 9, a, NULL, x, y);
    assert_true(y[9] == 77.0f);
    for (int j = 0; j < 9; j++) y[j] = 77.0f;
    mfpg_matrix_add_transposed(0, 9, a, NULL, x, y); /* an empty sum */
    for (int j = 0; j < 9; j++) assert_true(y[j] == 77.0f);
}

/* A list of rows gives the bits of a matrix made of these rows. */
static void test_listed_rows_equal_a_matrix_of_them(void **state) {
    (void)state;
    const int32_t list[] = {3, 0, 7, 7, 2, 5};
    float a[8 * 21], b[6 * 21], x[21], listed[21] = {0}, copied[21] = {0};
    fill(0, 8 * 21, a);
    fill(1, 21, x);
    for (ptrdiff_t cols = 5; cols <= 21; cols += 8) {
        for (int i = 0; i < 6; i++) memcpy(b + i * cols, a + list[i] * cols, (size_t)cols * sizeof *b);
        for (ptrdiff_t rows = 0; rows <= 6; rows++) {
            mfpg_matrix_apply(rows, cols, a, list, x, 0.1f, listed);
            mfpg_matrix_apply(rows, cols, b, NULL, x, 0.1f, copied);
            assert_memory_equal(listed, copied, sizeof listed);
            mfpg_matrix_add_transposed(rows, cols, a, list, x, listed);
            mfpg_matrix_add_transposed(rows, cols, b, NULL, x, copied);
            assert_memory_equal(listed, copied, sizeof listed);
        }
    }
}

static void test_rows_of_factor_zero_are_left_out_whatever_they_hold(void **state) {
    (void)state;
    float a[6 * 9], x[6], with[9] = {0}, without[9] = {0};
    const int32_t others[] = {0, 2, 3, 5};
    fill(0, 6 * 9, a);
    fill(1, 6, x);
    x[1] = 0.0f, x[4] = -0.0f;
    for (int j = 0; j < 9; j++) a[9 + j] = NAN, a[4 * 9 + j] = INFINITY;
    const float kept[] = {x[0], x[2], x[3], x[5]};
    mfpg_matrix_add_transposed(6, 9, a, NULL, x, with);
    mfpg_matrix_add_transposed(4, 9, a, others, kept, without);
    assert_memory_equal(with, without, sizeof with);
}

static void test_a_row_has_the_same_product_alone_and_among_others(void **state) {
    (void)state;
    float a[11 * 21], x[21], together[11], alone;
    fill(0, 11 * 21, a);
    fill(1, 21, x);
    for (ptrdiff_t cols = 5; cols <= 21; cols += 8) {
        mfpg_matrix_apply(11, cols, a, NULL, x, 0.1f, together);
        for (int i = 0; i < 11; i++) {
            mfpg_matrix_apply(1, cols, a + i * cols, NULL, x, 0.1f, &alone);
            assert_true(alone == together[i]);
        }
    }
}

static void test_dot_and_axpy_match_plain_loops(void **state) {
    (void)state;
    float x[203], y[203], sum[203];
    for (ptrdiff_t n = 0; n <= 203; n = 2 * n + 1 < 203 ? 2 * n + 1 : n + 1) {
        fill(0, n, x);
        fill(1, n, y);
        double exact = 0, magnitude = 0;
        for (ptrdiff_t i = 0; i < n; i++) {
            sum[i] = y[i];
            exact += (double)x[i] * (double)y[i];
            magnitude += fabs((double)x[i] * (double)y[i]);
        }
        /* products are exact in double; each order of n additions errs by at most n roundings */
        check_near(mfpg_vector_dot(n, x, y), exact, 0, 2.0 * (double)n * 0x1p-53 * magnitude, "dot");
        mfpg_vector_axpy(n, -0.3f, x, sum);
        for (ptrdiff_t i = 0; i < n; i++) {
            volatile float term = -0.3f * x[i];
            assert_true(sum[i] == y[i] + term);
        }
    }
}

static void test_norm_is_right_from_the_smallest_to_the_largest_floats(void **state) {
    (void)state;
    const float large[] = {3e20f, -4e20f}, largest[] = {3.4e38f, 3.4e38f, 3.4e38f, 3.4e38f},
                tiny[] = {0x3p-149f, 0x4p-149f}, half_tiny[] = {6e-8f, 8e-8f}, mixed[] = {1e-30f, 1.0f};
    check_near(
        mfpg_vector_norm(2, large), 5e20, 1e-7, 0, "large"); /* 3e20 as a float errs by 6e-8 of itself */
    check_near(mfpg_vector_norm(4, largest), 2.0 * (double)largest[0], 1e-15, 0, "largest");
    check_near(mfpg_vector_norm(2, tiny), 0x5p-149, 1e-15, 0, "smallest floats");
    check_near(mfpg_vector_norm(2, half_tiny), 1e-7, 1e-7, 0, "smallest 16-bit floats");
    check_near(mfpg_vector_norm(2, mixed), 1.0, 1e-15, 0, "mixed");
    assert_true(mfpg_vector_norm(0, large) == 0.0);
    float zero[50] = {0};
    assert_true(mfpg_vector_norm(50, zero) == 0.0);
}

static void test_largest_is_that_of_the_sizes(void **state) {
    (void)state;
    float x[41] = {0};
    for (int n = 0; n <= 40; n++) {
        for (int i = 0; i < 41; i++) x[i] = (i % 2 ? -1.0F : 1.0F) / (float)(2 + (i * 7) % 41);
        double largest = 0.0;
        for (int i = 0; i < n; i++) largest = fmax(largest, fabs((double)x[i]));
        assert_true((double)mfpg_vector_largest(n, x) == largest);
        if (n == 0) continue;
        x[n / 2] = -0x1p127F;
        assert_true(mfpg_vector_largest(n, x) == 0x1p127F);
        x[n - 1] = -INFINITY;
        assert_true(isinf(mfpg_vector_largest(n, x)));
        x[0] = -NAN;
        assert_true(isnan(mfpg_vector_largest(n, x)));
    }
}

static void test_norm_is_not_finite_exactly_where_an_entry_is_not(void **state) {
    (void)state;
    float x[37];
    const float bad[] = {NAN, INFINITY, -INFINITY};
    for (int at = 0; at < 37; at++) {
        for (int k = 0; k < 3; k++) {
            fill(0, 37, x);
            x[(at + 5) % 37] = 3.4e38f;
            assert_true(isfinite(mfpg_vector_norm(37, x)));
            x[at] = bad[k];
            assert_false(isfinite(mfpg_vector_norm(37, x)));
        }
    }
}

static void test_scaling_rounds_once_and_keeps_no_subnormals(void **state) {
    (void)state;
    const float values[] = {
        1.0f, -3.3f, 1e-38f, -1.2e-38f, 2e-38f, -2.4e-38f, 1e-42f, 3e38f, 0.0f, -0.0f, 1e-30f, 7.7f};
    const double factors[] = {1.0, 0.5, -0.99999994, 1e-9, 1.7, (double)0.3f};
    enum { N = sizeof values / sizeof values[0] };
    for (size_t f = 0; f < sizeof factors / sizeof factors[0]; f++)
        for (ptrdiff_t n = 0; n <= N; n++) {
            float plain[N + 1], normal[N + 1];
            memcpy(plain, values, sizeof values);
            memcpy(normal, values, sizeof values);
            plain[n] = normal[n] = 99.0f; /* behind the end */
            mfpg_vector_scale(n, factors[f], plain);
            mfpg_vector_scale_normal(n, factors[f], normal);
            for (ptrdiff_t i = 0; i < n; i++) {
                double exact = (double)values[i] * factors[f];
                assert_true(plain[i] == (float)exact);
                assert_true(normal[i] == (fabs(exact) < 0x1p-126 ? 0.0f : (float)exact));
            }
            assert_true(plain[n] == 99.0f && normal[n] == 99.0f);
        }
    float nan[9] = {0, 0, 0, NAN, 0, 0, 0, 0, NAN};
    mfpg_vector_scale_normal(9, 0.5, nan);
    assert_true(isnan(nan[3]) && isnan(nan[8]) && nan[2] == 0.0f);
}

static void test_distance_is_the_norm_of_the_difference(void **state) {
    (void)state;
    float x[LONGEST], y[LONGEST], difference[LONGEST];
    fill(31, LONGEST, x);
    fill(32, LONGEST, y);
    for (ptrdiff_t n = 0; n <= LONGEST; n++) {
        double sum = 0.0;
        for (ptrdiff_t i = 0; i < n; i++) {
            difference[i] = x[i] - y[i];
            sum += (double)difference[i] * (double)difference[i];
        }
        check_near(
            mfpg_vector_distance(n, x, y), sqrt(sum), 1e-14, 0, "distance"); /* seventy roundings of double */
        assert_true(mfpg_vector_distance(n, x, y) == mfpg_vector_norm(n, difference));
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_products_match_plain_loops_for_every_shape),
        cmocka_unit_test(test_products_write_their_outputs_only),
        cmocka_unit_test(test_listed_rows_equal_a_matrix_of_them),
        cmocka_unit_test(test_rows_of_factor_zero_are_left_out_whatever_they_hold),
        cmocka_unit_test(test_a_row_has_the_same_product_alone_and_among_others),
        cmocka_unit_test(test_dot_and_axpy_match_plain_loops),
        cmocka_unit_test(test_norm_is_right_from_the_smallest_to_the_largest_floats),
        cmocka_unit_test(test_scaling_rounds_once_and_keeps_no_subnormals),
        cmocka_unit_test(test_distance_is_the_norm_of_the_difference),
        cmocka_unit_test(test_largest_is_that_of_the_sizes),
        cmocka_unit_test(test_norm_is_not_finite_exactly_where_an_entry_is_not),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
