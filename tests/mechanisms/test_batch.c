/* Poisson batches: independent coins of one declared rate, not a count of rows drawn without replacement. */
#include "models/fixture.h"

#include "mechanisms/mechanism_ops.h"

static mfpg_stream stream_of(uint64_t round, uint64_t client) {
    mfpg_key key = mfpg_key_from_seed(testing_seed());
    return mfpg_stream_open(&key, MFPG_PURPOSE_BATCH, round, client);
}

/* N = 10, q = 0.3: each row in 0.3 of the batches, each pair in 0.09, coins uncorrelated, sizes of variance N q (1-q).
 * Limits are five standard errors: one false alarm in 3e4 runs over the 56 checks. */
static void test_rows_are_drawn_independently(void **state) {
    (void)state;
    enum { N = 10, DRAWS = 10000 };
    const double q = 0.3;
    mfpg_stream stream = stream_of(1, 0);
    int32_t rows[N];
    double together[N][N] = {{0}}, sizes = 0.0, squares = 0.0;
    for (int draw = 0; draw < DRAWS; draw++) {
        ptrdiff_t count = mfpg_batch_draw(&stream, draw, N, q, rows);
        for (ptrdiff_t a = 0; a < count; a++) {
            assert_true(rows[a] >= 0 && rows[a] < N && (a == 0 || rows[a] > rows[a - 1]));
            for (ptrdiff_t b = 0; b < count; b++) together[rows[a]][rows[b]] += 1.0 / DRAWS;
        }
        sizes += (double)count / DRAWS;
        squares += (double)(count * count) / DRAWS;
    }
    double pair = q * q;
    for (int i = 0; i < N; i++) {
        check_near(together[i][i], q, 0.0, 5.0 * sqrt(q * (1.0 - q) / DRAWS), "a row's share");
        for (int j = 0; j < i; j++) {
            check_near(together[i][j], pair, 0.0, 5.0 * sqrt(pair * (1.0 - pair) / DRAWS), "a pair's share");
            double covariance = together[i][j] - together[i][i] * together[j][j];
            check_near(covariance, 0.0, 0.0, 5.0 * q * (1.0 - q) / sqrt(DRAWS), "covariance");
        }
    }
    double variance =
        N * q * (1.0 - q); /* the variance of a nearly normal variance estimate: 2 v^2 / draws */
    check_near(
        squares - sizes * sizes, variance, 0.0, 5.0 * variance * sqrt(2.0 / DRAWS), "variance of sizes");
}

static void test_rate_holds_across_chunks(void **state) {
    (void)state;
    enum { N = 1000 };
    int32_t rows[N];
    mfpg_stream stream = stream_of(2, 7);
    double total = 0.0;
    for (int draw = 0; draw < 100; draw++) total += (double)mfpg_batch_draw(&stream, draw, N, 0.05, rows);
    check_near(total, 5000.0, 0.0, 5.0 * sqrt(100.0 * N * 0.05 * 0.95), "rows in all batches");
}

static void test_batches_repeat_and_differ(void **state) {
    (void)state;
    enum { N = 200 };
    int32_t first[N], other[N];
    mfpg_stream stream = stream_of(3, 4), client = stream_of(3, 5), round = stream_of(4, 4);
    ptrdiff_t count = mfpg_batch_draw(&stream, 2, N, 0.5, first);
    assert_int_equal(mfpg_batch_draw(&stream, 2, N, 0.5, other), count);
    assert_memory_equal(first, other, (size_t)count * sizeof(int32_t));
    const mfpg_stream *others[] = {&stream, &client, &round};
    for (int k = 0; k < 3; k++) {
        ptrdiff_t size = mfpg_batch_draw(others[k], k == 0 ? 3 : 2, N, 0.5, other);
        assert_true(size != count || memcmp(first, other, (size_t)count * sizeof(int32_t)) != 0);
    }
    /* a row's coin does not depend on how many rows there are */
    ptrdiff_t fewer = mfpg_batch_draw(&stream, 2, N - 50, 0.5, other);
    assert_true(fewer < count);
    assert_memory_equal(first, other, (size_t)fewer * sizeof(int32_t));
}

/* Coins of one step are no shifted copy of another's: the rows i + shift of step s and i of step s + 1 meet by chance. */
static void test_steps_share_no_coins(void **state) {
    (void)state;
    enum { N = 4000 };
    const double q = 0.3;
    static int32_t rows[N];
    static unsigned char taken[3][N];
    mfpg_stream stream = stream_of(6, 0);
    memset(taken, 0, sizeof taken);
    for (int step = 0; step < 3; step++) {
        ptrdiff_t count = mfpg_batch_draw(&stream, step, N, q, rows);
        for (ptrdiff_t i = 0; i < count; i++) taken[step][rows[i]] = 1;
    }
    for (int later = 1; later < 3; later++) {
        for (int shift = -2; shift <= 2; shift++) {
            double met = 0.0, chances = 0.0;
            for (int i = 2; i < N - 2; i++) {
                met += taken[0][i + shift] && taken[later][i];
                chances += 1.0;
            }
            check_near(
                met / chances, q * q, 0.0, 5.0 * sqrt(q * q * (1.0 - q * q) / chances), "rows in both");
        }
    }
}

static void test_tiny_rates_give_empty_batches(void **state) {
    (void)state;
    int32_t rows[4];
    mfpg_stream stream = stream_of(5, 0);
    for (int step = 0; step < 3; step++) assert_int_equal(mfpg_batch_draw(&stream, step, 4, 1e-6, rows), 0);
    assert_int_equal(mfpg_batch_draw(&stream, 0, 0, 0.5, rows), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rows_are_drawn_independently),
        cmocka_unit_test(test_rate_holds_across_chunks),
        cmocka_unit_test(test_batches_repeat_and_differ),
        cmocka_unit_test(test_steps_share_no_coins),
        cmocka_unit_test(test_tiny_rates_give_empty_batches),
    };
    print_message("seed %" PRIu64 "\n", testing_seed());
    return cmocka_run_group_tests(tests, NULL, NULL);
}
