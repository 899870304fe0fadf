/* Products of matrices against sums in long double, at sizes around the edges of tiles and blocks, and what their bits may not
 * depend on. */
#include "testing.h"

#include "numerics/linalg/product.h"

static uint64_t word = 1;

static float next(void) {
    word = word * 6364136223846793005u + 1442695040888963407u;
    return (float)(int32_t)(word >> 32) * 0x1p-31F;
}

static float *filled(ptrdiff_t count) {
    float *out = calloc((size_t)count + 1, sizeof *out);
    for (ptrdiff_t i = 0; i < count; i++) out[i] = next();
    return out;
}

/* One product in all four layouts; every one must agree with the sums, and with each other bit for bit. */
static void check_size(ptrdiff_t rows, ptrdiff_t cols, ptrdiff_t depth) {
    float *a = filled(rows * depth), *b = filled(depth * cols), *c = filled(rows * cols), *first = NULL;
    float *at = calloc((size_t)(rows * depth) + 1, sizeof *at),
          *bt = calloc((size_t)(depth * cols) + 1, sizeof *bt);
    for (ptrdiff_t i = 0; i < rows; i++)
        for (ptrdiff_t k = 0; k < depth; k++) at[k * rows + i] = a[i * depth + k];
    for (ptrdiff_t k = 0; k < depth; k++)
        for (ptrdiff_t j = 0; j < cols; j++) bt[j * depth + k] = b[k * cols + j];
    const mfpg_matrix left[] = {{a, depth, 1}, {at, 1, rows}}, right[] = {{b, cols, 1}, {bt, 1, depth}};
    for (int form = 0; form < 4; form++) {
        float *out = malloc(((size_t)(rows * cols) + 1) * sizeof *out);
        memcpy(out, c, (size_t)(rows * cols) * sizeof *out);
        mfpg_matrix_add_product(rows, cols, depth, left[form / 2], right[form % 2], out);
        for (ptrdiff_t i = 0; i < rows && !first; i++)
            for (ptrdiff_t j = 0; j < cols; j++) {
                long double sum = (long double)c[i * cols + j];
                for (ptrdiff_t k = 0; k < depth; k++)
                    sum += (long double)a[i * depth + k] * (long double)b[k * cols + j];
                /* two roundings a term, of partial sums that stay near sqrt(depth)/3 */
                check_near((double)out[i * cols + j], (double)sum, 0, 1e-6 * (double)(depth + 1),
                    "entry of a product");
            }
        if (first) assert_memory_equal(out, first, (size_t)(rows * cols) * sizeof *out);
        if (first) free(out);
        if (!first) first = out;
    }
    free(a);
    free(b);
    free(c);
    free(at);
    free(bt);
    free(first);
}

static void test_products_equal_their_sums(void **state) {
    (void)state;
    const ptrdiff_t rows[] = {0, 1, 3, 4, 5, 17, 131}, cols[] = {0, 1, 10, 16, 17, 40},
                    depth[] = {0, 1, 7, 255, 256, 257};
    for (int r = 0; r < 7; r++)
        for (int c = 0; c < 6; c++)
            for (int d = 0; d < 6; d++) check_size(rows[r], cols[c], depth[d]);
    check_size(260, 33, 520);
}

/* Every kind of registers that this processor has, all sizes of tiles, A as rows and as columns, whole and cut columns,
 * and the three ways to start: each gives the bits of the chain of multiplications and additions in order of the depth. */
static void check_registers(ptrdiff_t rows, ptrdiff_t cols, ptrdiff_t depth, int turned, int way) {
    enum { ADD, ROW, SCALED };
    float *a = filled(rows * depth), *b = filled(depth * cols), *s = filled(rows * cols);
    float *expected = malloc(((size_t)(rows * cols) + 1) * sizeof *expected), *c = filled(rows * cols);
    ptrdiff_t down = turned ? 1 : depth, across = turned ? rows : 1, s_down = way == ROW ? 0 : cols;
    const float factor = -0.37F;
    for (ptrdiff_t i = 0; i < rows; i++)
        for (ptrdiff_t j = 0; j < cols; j++) {
            volatile float start = s[i * s_down + j], sum = way == SCALED ? 0.0F : start, term;
            for (ptrdiff_t k = 0; k < depth; k++) {
                term = a[i * down + k * across] * b[k * cols + j];
                sum += term;
            }
            term = factor * sum;
            expected[i * cols + j] = way == SCALED ? start + term : sum;
        }
    mfpg_product product = {
        rows, cols, depth, {a, down, across}, {b, cols, 1}, s, s_down, way == SCALED, factor, c};
    for (int r = MFPG_REGISTERS_PLAIN; r <= (int)mfpg_widest_registers(); r++) {
        memset(c, 0x7f, (size_t)(rows * cols) * sizeof *c);
        mfpg_matrix_product_by((mfpg_registers)r, &product);
        assert_memory_equal(c, expected, (size_t)(rows * cols) * sizeof *c);
    }
    free(a);
    free(b);
    free(s);
    free(c);
    free(expected);
}

static void test_all_registers_give_the_bits_of_the_chain(void **state) {
    (void)state;
    const ptrdiff_t cols[] = {1, 16, 35}, depth[] = {0, 1, 64, 65, 200};
    for (ptrdiff_t rows = 1; rows <= 26; rows++)
        for (int c = 0; c < 3; c++)
            for (int d = 0; d < 5; d++)
                for (int way = 0; way < 3; way++) check_registers(rows, cols[c], depth[d], way % 2, way);
    for (int turned = 0; turned < 2; turned++)
        for (int way = 0; way < 3; way++) check_registers(203, 47, 256, turned, way);
    for (ptrdiff_t rows = 37; rows <= 49; rows++)
        for (int way = 0; way < 3; way++) check_registers(rows, 53, 20, way % 2, way);
    check_registers(13, 21, 700, 1, 0);
    check_registers(13, 21, 700, 0, 1);
}

static void test_the_three_products_are_their_definitions(void **state) {
    (void)state;
    enum { ROWS = 19, COLS = 23, DEPTH = 70 };
    float *a = filled(ROWS * DEPTH), *b = filled(DEPTH * COLS), *bias = filled(COLS),
          *s = filled(ROWS * COLS);
    float zero[ROWS * COLS] = {0}, plain[ROWS * COLS], biased[ROWS * COLS], added[ROWS * COLS],
                      scaled[ROWS * COLS];
    mfpg_matrix left = {a, DEPTH, 1}, right = {b, COLS, 1};
    mfpg_matrix_add_product(ROWS, COLS, DEPTH, left, right, zero);
    mfpg_matrix_product(ROWS, COLS, DEPTH, left, right, NULL, plain);
    assert_memory_equal(plain, zero, sizeof zero);
    for (int i = 0; i < ROWS; i++) memcpy(added + i * COLS, bias, COLS * sizeof *bias);
    mfpg_matrix_add_product(ROWS, COLS, DEPTH, left, right, added);
    mfpg_matrix_product(ROWS, COLS, DEPTH, left, right, bias, biased);
    assert_memory_equal(biased, added, sizeof added);
    mfpg_matrix_add_scaled_product(ROWS, COLS, DEPTH, left, right, 0.3F, s, scaled);
    for (int i = 0; i < ROWS * COLS; i++) {
        volatile float term = 0.3F * plain[i];
        assert_true(scaled[i] == s[i] + term);
    }
    mfpg_matrix_add_scaled_product(ROWS, COLS, DEPTH, left, right, 0.3F, s, s);
    assert_memory_equal(s, scaled, sizeof scaled);
    free(a);
    free(b);
    free(bias);
    free(s);
}

/* A row of the product is the same alone as among others, and so is a column; a depth may be cut anywhere. */
static void test_bits_depend_on_row_and_column_alone(void **state) {
    (void)state;
    enum { ROWS = 23, COLS = 37, DEPTH = 300 };
    float *a = filled(ROWS * DEPTH), *b = filled(DEPTH * COLS), whole[ROWS * COLS] = {0},
          cut[ROWS * COLS] = {0};
    mfpg_matrix left = {a, DEPTH, 1}, right = {b, COLS, 1};
    mfpg_matrix_add_product(ROWS, COLS, DEPTH, left, right, whole);
    for (ptrdiff_t i = 0; i < ROWS; i++) {
        float row[COLS] = {0};
        mfpg_matrix_add_product(1, COLS, DEPTH, (mfpg_matrix){a + i * DEPTH, DEPTH, 1}, right, row);
        assert_memory_equal(row, whole + i * COLS, sizeof row);
    }
    for (ptrdiff_t j = 0; j < COLS; j++) {
        float column[ROWS] = {0};
        mfpg_matrix_add_product(ROWS, 1, DEPTH, left, (mfpg_matrix){b + j, COLS, 1}, column);
        for (ptrdiff_t i = 0; i < ROWS; i++) assert_true(column[i] == whole[i * COLS + j]);
    }
    mfpg_matrix_add_product(ROWS, COLS, 123, left, right, cut);
    mfpg_matrix_add_product(ROWS, COLS, DEPTH - 123, (mfpg_matrix){a + 123, DEPTH, 1},
        (mfpg_matrix){b + 123 * COLS, COLS, 1}, cut);
    assert_memory_equal(cut, whole, sizeof whole);
    free(a);
    free(b);
}

/* What is no number stays in its row and its column. */
static void test_a_row_that_is_no_number_spoils_no_other(void **state) {
    (void)state;
    enum { ROWS = 9, COLS = 21, DEPTH = 12 };
    float *a = filled(ROWS * DEPTH), *b = filled(DEPTH * COLS), c[ROWS * COLS] = {0};
    a[5 * DEPTH + 3] = NAN;
    b[7 * COLS + 20] = NAN;
    mfpg_matrix_add_product(ROWS, COLS, DEPTH, (mfpg_matrix){a, DEPTH, 1}, (mfpg_matrix){b, COLS, 1}, c);
    for (int i = 0; i < ROWS; i++)
        for (int j = 0; j < COLS; j++) assert_int_equal(isnan(c[i * COLS + j]), i == 5 || j == 20);
    free(a);
    free(b);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_products_equal_their_sums),
        cmocka_unit_test(test_all_registers_give_the_bits_of_the_chain),
        cmocka_unit_test(test_the_three_products_are_their_definitions),
        cmocka_unit_test(test_bits_depend_on_row_and_column_alone),
        cmocka_unit_test(test_a_row_that_is_no_number_spoils_no_other),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
