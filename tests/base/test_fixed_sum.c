#include "testing.h"

#include "base/ranks.h"
#include "base/streams.h"
#include "mfpg/program.h"
#include "mfpg/random.h"

enum { CLIENTS = 40, ENTRIES = 301 };

typedef struct updates {
    double weight[CLIENTS];
    float x[CLIENTS][ENTRIES];
} updates;

static mfpg_stream test_stream(uint64_t round) {
    mfpg_key key = mfpg_key_from_seed(testing_seed());
    return mfpg_stream_open(&key, MFPG_PURPOSE_TEST, round, 0);
}

/* Gaussian updates, those of every fifth client large enough for the wide rounding. */
static updates *random_updates(void) {
    mfpg_stream stream = test_stream(0), weights = test_stream(1);
    updates *all = malloc(sizeof *all);
    assert_non_null(all);
    mfpg_stream_uniform(&weights, 0, CLIENTS, all->weight);
    for (int k = 0; k < CLIENTS; k++) {
        mfpg_stream_gaussian(&stream, (uint64_t)k, ENTRIES, all->x[k]);
        for (int i = 0; i < ENTRIES; i++) all->x[k][i] *= k % 5 ? 1.0f : 5000.0f;
        if (k % 3 == 0) all->weight[k] = -all->weight[k];
    }
    return all;
}

static void add_in_order(mfpg_context *ctx, const updates *all, const ptrdiff_t *order, mfpg_fixed_sum *sum) {
    for (int k = 0; k < CLIENTS; k++)
        CHECK_OK(ctx, mfpg_fixed_sum_add(ctx, sum, all->weight[order[k]], all->x[order[k]]));
}

static void check_same_bits(const mfpg_fixed_sum *a, const mfpg_fixed_sum *b) {
    assert_int_equal(a->count, b->count);
    assert_int_equal(a->bound, b->bound);
    assert_memory_equal(a->units, b->units, (size_t)a->count * sizeof *a->units);
}

static void test_any_order_and_any_split_give_the_same_bits(void **state) {
    (void)state;
    mfpg_context *ctx = testing_context(1);
    updates *all = random_updates();
    mfpg_fixed_sum sum, other, part[3];
    ptrdiff_t order[CLIENTS];
    mfpg_stream shuffles = test_stream(2);
    for (int k = 0; k < CLIENTS; k++) order[k] = k;
    CHECK_OK(ctx, mfpg_fixed_sum_init(ctx, ENTRIES, &sum));
    CHECK_OK(ctx, mfpg_fixed_sum_init(ctx, ENTRIES, &other));
    for (int p = 0; p < 3; p++) CHECK_OK(ctx, mfpg_fixed_sum_init(ctx, ENTRIES, &part[p]));
    add_in_order(ctx, all, order, &sum);
    for (uint64_t shuffle = 0; shuffle < 20; shuffle++) {
        shuffles.client = shuffle;
        mfpg_stream_permutation(&shuffles, CLIENTS, order);
        mfpg_fixed_sum_reset(&other);
        add_in_order(ctx, all, order, &other);
        check_same_bits(&sum, &other);
        for (int p = 0; p < 3; p++) mfpg_fixed_sum_reset(&part[p]);
        for (int k = 0; k < CLIENTS; k++) /* unequal parts */
            CHECK_OK(
                ctx, mfpg_fixed_sum_add(ctx, &part[k * k % 7 % 3], all->weight[order[k]], all->x[order[k]]));
        CHECK_OK(ctx, mfpg_fixed_sum_merge(ctx, &part[2], &part[0]));
        CHECK_OK(ctx, mfpg_fixed_sum_merge(ctx, &part[2], &part[1]));
        check_same_bits(&sum, &part[2]);
    }
    for (int p = 0; p < 3; p++) mfpg_fixed_sum_clear(&part[p]);
    mfpg_fixed_sum_clear(&sum);
    mfpg_fixed_sum_clear(&other);
    free(all);
    mfpg_context_destroy(ctx);
}

typedef struct round_job {
    const updates *all;
    mfpg_fixed_sum of_worker[4];
} round_job;

static mfpg_status add_client(mfpg_context *ctx, ptrdiff_t index, int worker, void *arg) {
    round_job *job = arg;
    return mfpg_fixed_sum_add(ctx, &job->of_worker[worker], job->all->weight[index], job->all->x[index]);
}

static void test_sums_of_workers_merge_to_the_same_bits_for_any_threads(void **state) {
    (void)state;
    updates *all = random_updates();
    mfpg_fixed_sum alone = {0};
    for (int threads = 1; threads <= 4; threads++) {
        mfpg_context *ctx = testing_context(threads);
        round_job job = {.all = all};
        for (int w = 0; w < threads; w++) CHECK_OK(ctx, mfpg_fixed_sum_init(ctx, ENTRIES, &job.of_worker[w]));
        CHECK_OK(ctx, mfpg_tasks_run(ctx, CLIENTS, add_client, &job));
        for (int w = 1; w < threads; w++) {
            CHECK_OK(ctx, mfpg_fixed_sum_merge(ctx, &job.of_worker[0], &job.of_worker[w]));
            mfpg_fixed_sum_clear(&job.of_worker[w]);
        }
        if (threads == 1) {
            alone = job.of_worker[0];
        } else {
            check_same_bits(&alone, &job.of_worker[0]);
            mfpg_fixed_sum_clear(&job.of_worker[0]);
        }
        mfpg_context_destroy(ctx);
    }
    mfpg_fixed_sum_clear(&alone);
    free(all);
}

static void read_doubles(const mfpg_fixed_sum *sum, double *out) {
    for (ptrdiff_t i = 0; i < sum->count; i++) out[i] = (double)sum->units[i] * MFPG_FIXED_SUM_UNIT;
}

static void test_sum_is_the_exact_sum_to_half_a_unit_a_term(void **state) {
    (void)state;
    mfpg_context *ctx = testing_context(1);
    updates *all = random_updates();
    ptrdiff_t order[CLIENTS];
    for (int k = 0; k < CLIENTS; k++) order[k] = k;
    mfpg_fixed_sum sum;
    double got[ENTRIES];
    float rounded[ENTRIES];
    CHECK_OK(ctx, mfpg_fixed_sum_init(ctx, ENTRIES, &sum));
    add_in_order(ctx, all, order, &sum);
    read_doubles(&sum, got);
    mfpg_fixed_sum_read_float(&sum, rounded);
    for (int i = 0; i < ENTRIES; i++) {
        long double exact = 0;
        for (int k = 0; k < CLIENTS; k++) exact += (long double)all->weight[k] * (long double)all->x[k][i];
        /* half a unit a term, and the rounding of weight * x and of the reading: 2^-53 of the sum of magnitudes */
        double rounding = 2 * 0x1p-53 * (double)sum.bound * MFPG_FIXED_SUM_UNIT;
        check_near(got[i], (double)exact, 0, 0.5 * CLIENTS * MFPG_FIXED_SUM_UNIT + rounding, "sum");
        assert_true(rounded[i] == (float)got[i]);
    }
    mfpg_fixed_sum_clear(&sum);
    free(all);
    mfpg_context_destroy(ctx);
}

static void test_terms_round_to_the_nearest_unit_on_both_ways(void **state) {
    (void)state;
    mfpg_context *ctx = testing_context(1);
    mfpg_fixed_sum sum;
    const double unit = MFPG_FIXED_SUM_UNIT;
    /* weight and entry; a term of 3000 shares the vector in the second pass and forces the wide rounding */
    const double terms[] = {0.49, 0.5, 0.51, 1.5, 2.5, -0.49, -0.5, -0.51, -1.5, -2.5};
    const int64_t nearest[] = {0, 0, 1, 2, 2, 0, 0, -1, -2, -2};
    CHECK_OK(ctx, mfpg_fixed_sum_init(ctx, 2, &sum));
    for (int large = 0; large < 2; large++) {
        for (int k = 0; k < 10; k++) {
            float x[2] = {1, large ? (float)(3000 / fabs(terms[k]) / unit) : 0};
            mfpg_fixed_sum_reset(&sum);
            CHECK_OK(ctx, mfpg_fixed_sum_add(ctx, &sum, terms[k] * unit, x));
            assert_int_equal(sum.units[0], nearest[k]);
        }
    }
    mfpg_fixed_sum_clear(&sum);
    mfpg_context_destroy(ctx);
}

static void check_refused(
    mfpg_context *ctx, mfpg_fixed_sum *sum, double weight, const float *x, const char *says) {
    int64_t before[3], bound = sum->bound;
    memcpy(before, sum->units, sizeof before);
    assert_int_equal(mfpg_fixed_sum_add(ctx, sum, weight, x), MFPG_ERR_NUMERIC);
    if (!strstr(mfpg_context_message(ctx), says)) {
        print_error("message \"%s\" does not say \"%s\"\n", mfpg_context_message(ctx), says);
        fail();
    }
    assert_memory_equal(before, sum->units, sizeof before);
    assert_int_equal(bound, sum->bound);
}

static void test_what_is_not_finite_or_out_of_range_is_refused_by_name(void **state) {
    (void)state;
    mfpg_context *ctx = testing_context(1);
    mfpg_fixed_sum sum, other;
    CHECK_OK(ctx, mfpg_fixed_sum_init(ctx, 3, &sum));
    CHECK_OK(ctx, mfpg_fixed_sum_init(ctx, 3, &other));
    const float good[3] = {1, -2, 3};
    CHECK_OK(ctx, mfpg_fixed_sum_add(ctx, &sum, 0.5, good));
    check_refused(ctx, &sum, 1.0, (float[]){1, NAN, INFINITY}, "entry 1");
    check_refused(ctx, &sum, 1.0, (float[]){1, 2, -INFINITY}, "entry 2");
    check_refused(ctx, &sum, 0.0, (float[]){NAN, 2, 3}, "entry 0");
    check_refused(ctx, &sum, (double)NAN, good, "weight");
    check_refused(ctx, &sum, (double)INFINITY, good, "weight");
    check_refused(ctx, &sum, 1.0, (float[]){1, -1e20f, 3}, "entry 1");
    check_refused(ctx, &sum, -1e300, good, "entry 2");
    check_refused(ctx, &sum, 1.0, (float[]){0, 0, 0x1p22f}, "entry 2");
    /* up to the limit exactly, and no step further */
    CHECK_OK(ctx, mfpg_fixed_sum_add(ctx, &sum, 1.0, (float[]){0, 0, 0x1p22f - 1.5f}));
    check_refused(ctx, &sum, MFPG_FIXED_SUM_UNIT, (float[]){1, 0, 0}, "entry 0");
    CHECK_OK(ctx, mfpg_fixed_sum_add(ctx, &sum, 0.1 * MFPG_FIXED_SUM_UNIT, good));
    CHECK_OK(ctx, mfpg_fixed_sum_add(ctx, &other, -MFPG_FIXED_SUM_UNIT, good));
    assert_int_equal(mfpg_fixed_sum_merge(ctx, &sum, &other), MFPG_ERR_NUMERIC);
    mfpg_fixed_sum_clear(&sum);
    mfpg_fixed_sum_clear(&sum);
    mfpg_fixed_sum_clear(&other);
    mfpg_context_destroy(ctx);
}

static void test_sums_at_the_limit_do_not_overflow(void **state) {
    (void)state;
    mfpg_context *ctx = testing_context(1);
    mfpg_fixed_sum sum;
    double got[2];
    CHECK_OK(ctx, mfpg_fixed_sum_init(ctx, 2, &sum));
    for (int k = 0; k < 1024; k++)
        CHECK_OK(
            ctx, mfpg_fixed_sum_add(ctx, &sum, k % 2 ? 1.0 : -1.0, (float[]){k % 2 ? 4096 : -4096, 4096}));
    read_doubles(&sum, got);
    assert_true(got[0] == MFPG_FIXED_SUM_LIMIT && got[1] == 0);
    mfpg_fixed_sum_clear(&sum);
    mfpg_context_destroy(ctx);
}

static void test_empty_sums_and_absurd_sizes_are_handled(void **state) {
    (void)state;
    mfpg_context *ctx = testing_context(1);
    mfpg_fixed_sum sum;
    const float nothing = 0;
    CHECK_OK(ctx, mfpg_fixed_sum_init(ctx, 0, &sum));
    CHECK_OK(ctx, mfpg_fixed_sum_add(ctx, &sum, 1e308, &nothing));
    mfpg_fixed_sum_clear(&sum);
    assert_int_equal(mfpg_fixed_sum_init(ctx, -1, &sum), MFPG_ERR_MEMORY);
    assert_int_equal(mfpg_fixed_sum_init(ctx, PTRDIFF_MAX, &sum), MFPG_ERR_MEMORY);
    assert_null(sum.units);
    mfpg_context_destroy(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_any_order_and_any_split_give_the_same_bits),
        cmocka_unit_test(test_sums_of_workers_merge_to_the_same_bits_for_any_threads),
        cmocka_unit_test(test_sum_is_the_exact_sum_to_half_a_unit_a_term),
        cmocka_unit_test(test_terms_round_to_the_nearest_unit_on_both_ways),
        cmocka_unit_test(test_what_is_not_finite_or_out_of_range_is_refused_by_name),
        cmocka_unit_test(test_sums_at_the_limit_do_not_overflow),
        cmocka_unit_test(test_empty_sums_and_absurd_sizes_are_handled),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
