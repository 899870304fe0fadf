/* The pass of a release over the parameters against its definition, entry by entry. */
#include "testing.h"

#include "mechanisms/movement.h"
#include "base/grid_noise.h"
#include "mfpg/random.h"
#include "numerics/linalg/linalg.h"
#include "whole_grid.h"

enum { LONGEST = 5000 };

typedef struct vectors {
    float from[LONGEST], displacement[LONGEST], total[LONGEST], origin[LONGEST], to[LONGEST];
    int64_t sum[LONGEST], share[LONGEST];
    double x[LONGEST];  /* what data add, in units of the weights */
    int64_t k[LONGEST]; /* the noised integers */
} vectors;

static mfpg_stream stream_of(uint64_t round) {
    mfpg_key key = mfpg_key_from_seed(testing_seed());
    return mfpg_stream_open(&key, MFPG_PURPOSE_TEST, round, 0);
}

static vectors *fill(ptrdiff_t n) {
    mfpg_stream stream = stream_of((uint64_t)n);
    vectors *v = calloc(1, sizeof *v);
    assert_non_null(v);
    mfpg_stream_gaussian(&stream, 0, n, v->from);
    mfpg_stream_gaussian(&stream, 1, n, v->displacement);
    mfpg_stream_gaussian(&stream, 2, n, v->total);
    mfpg_stream_gaussian(&stream, 3, n, v->origin);
    for (ptrdiff_t i = 0; i < n; i++) v->sum[i] = (int64_t)((double)v->displacement[i] * 0x1p40);
    return v;
}

/* Without noise: floats are added, the product rounded to float once. */
static void test_without_noise_floats_are_added(void **state) {
    (void)state;
    const ptrdiff_t lengths[] = {0, 1, 7, 8, 9, 1023, 2048, 2049, 4999};
    for (size_t k = 0; k < sizeof lengths / sizeof lengths[0]; k++)
        for (int in_place = 0; in_place < 2; in_place++) {
            ptrdiff_t n = lengths[k];
            vectors *v = fill(n), *expected = fill(n);
            double largest = 0.0, squares = 0.0;
            for (ptrdiff_t i = 0; i < n; i++) {
                float way = (float)((double)expected->displacement[i] * -0.3);
                volatile float sum = expected->from[i] + way, total = expected->total[i] + way;
                expected->to[i] = sum;
                expected->total[i] = total;
                largest = fmax(largest, fabs((double)sum));
                squares += (double)way * (double)way;
            }
            float *to = in_place ? v->from : v->to;
            mfpg_movement m = {.from = v->from,
                .displacement = v->displacement,
                .factor = -0.3,
                .total = v->total,
                .to = to};
            assert_true(mfpg_movement_pass(&m, NULL, 0, n));
            assert_memory_equal(to, expected->to, (size_t)n * sizeof *to);
            assert_memory_equal(v->total, expected->total, (size_t)n * sizeof *to);
            assert_true((double)m.largest == largest);
            check_near(m.signal2, squares, 1e-12 * squares, 0, "squares");
            free(v);
            free(expected);
        }
}

typedef enum data_kind { FLOATS, MOVED, SUM, SUM_FLOATS } data_kind;

/* Under noise, by the definition: integers towards zero in units of grid 2^-20, or the sum's, and the integers of
 * mfpg_grid_noise. weight 0: on a grid of its own. */
static void check_noised(
    ptrdiff_t n, data_kind kind, double grid, double factor, double weight, int in_place, int with_total) {
    const double sd = 0.7, rate = kind == SUM_FLOATS ? -0.3 * 0x1p-23 : -0.3 * 0x1p-40;
    vectors *v = fill(n), *expected = fill(n);
    mfpg_context *ctx = testing_context(1);
    mfpg_stream noise = stream_of(77);
    double share = weight > 0.0 ? weight : 1.0, squares = 0.0;
    float *to = in_place ? v->from : v->to;
    for (ptrdiff_t i = 0; i < n; i++) {
        float way = v->displacement[i];
        if (kind == SUM_FLOATS) {
            v->displacement[i] *= 0x1p23f;
            v->sum[i] = llrint((double)v->displacement[i]);
        }
        if (kind == MOVED) {
            volatile float there = v->from[i] + v->displacement[i], moved = there - v->from[i];
            v->to[i] = there;
            way = moved;
        }
        double whole = trunc(factor * share / (grid * 0x1p-20) * (double)way) * 0x1p-20;
        expected->x[i] = (kind >= SUM ? rate * share / grid * (double)v->sum[i] : whole) * grid;
        squares += expected->x[i] * expected->x[i] / share / share;
        expected->total[i] += (float)(grid / share * (expected->x[i] / grid));
    }
    whole_grid_noise(&noise, 3, n, expected->x, share * sd, grid, expected->k);
    for (ptrdiff_t i = 0; i < n; i++) {
        double base = nearbyint(weight / grid * ((double)v->from[i] - (double)v->origin[i]));
        expected->share[i] = expected->k[i] + (int64_t)base;
        expected->to[i] = (float)((double)v->from[i] + grid / share * (double)expected->k[i]);
    }
    mfpg_movement m = {.from = v->from,
        .displacement = kind == FLOATS ? v->displacement : NULL,
        .factor = factor,
        .sum = kind == SUM ? v->sum : NULL,
        .sum_floats = kind == SUM_FLOATS ? v->displacement : NULL,
        .rate = rate,
        .noise_sd = sd,
        .grid = grid,
        .sensitivity = 1e3,
        .total = with_total ? v->total : NULL,
        .weight = weight,
        .origin = v->origin,
        .share = weight > 0.0 ? v->share : NULL,
        .to = to};
    assert_true(mfpg_movement_pass(&m, &noise, 3, n));
    assert_memory_equal(to, expected->to, (size_t)n * sizeof *to);
    if (with_total) assert_memory_equal(v->total, expected->total, (size_t)n * sizeof *v->total);
    if (weight > 0.0) assert_memory_equal(v->share, expected->share, (size_t)n * sizeof *v->share);
    check_near(m.signal2, squares, 1e-9 * squares, 0, "squares");
    mfpg_context_destroy(ctx);
    free(v);
    free(expected);
}

/* A grid of 2^-24 makes the integers longer than 32 bits. */
static void test_noised_entries_move_by_their_definition(void **state) {
    (void)state;
    const ptrdiff_t lengths[] = {0, 1, 9, 128, 2049, 4999};
    const double grids[] = {0x1p-3, 0x1p-5, 0x1p-12, 0x1p-24}, weights[] = {0.0, 0.37};
    for (size_t l = 0; l < sizeof lengths / sizeof lengths[0]; l++)
        for (int g = 0; g < 4; g++)
            for (int w = 0; w < 2; w++) {
                if (weights[w] > 0.0 && g == 0) continue; /* coarser than a quarter of a share's noise */
                for (int in_place = 0; in_place < 2; in_place++) {
                    int with_total = (l + (size_t)in_place) % 2 == 0;
                    check_noised(lengths[l], FLOATS, grids[g], -0.3, weights[w], in_place, with_total);
                    check_noised(lengths[l], SUM, grids[g], 1.0, weights[w], in_place, with_total);
                    check_noised(lengths[l], SUM_FLOATS, grids[g], 1.0, weights[w], in_place, with_total);
                }
                check_noised(lengths[l], MOVED, grids[g], 0.37, weights[w], 0, 0);
            }
}

/* Some integers do not fit a double that is shifted, and some numbers are too large to be rounded in float. */
static void test_large_sums_move_as_small_ones(void **state) {
    (void)state;
    enum { N = 1024 };
    mfpg_context *ctx = testing_context(1);
    mfpg_stream noise = stream_of(78);
    const double grid = 0x1p-5, rates[] = {0x1p-60, 0x1p-40};
    for (int r = 0; r < 2; r++) {
        vectors *v = fill(N);
        for (ptrdiff_t i = 0; i < N; i += 100) v->sum[i] *= (int64_t)1 << (10 + i % 7);
        for (ptrdiff_t i = 0; i < N; i++) v->x[i] = rates[r] * (double)v->sum[i];
        whole_grid_noise(&noise, 0, N, v->x, 0.7, grid, v->k);
        mfpg_movement m = {
            .from = v->from, .sum = v->sum, .rate = rates[r], .noise_sd = 0.7, .grid = grid, .to = v->to};
        assert_true(mfpg_movement_pass(&m, &noise, 0, N));
        float largest = 0.0f;
        for (ptrdiff_t i = 0; i < N; i++) {
            assert_true(v->to[i] == (float)((double)v->from[i] + grid * (double)v->k[i]));
            largest = fmaxf(largest, fabsf(v->to[i]));
        }
        assert_true(m.largest == largest);
        free(v);
    }
    mfpg_context_destroy(ctx);
}

/* The integers' norm is verified: one unit more than the sensitivity allows is refused, whatever the size of the integers. */
static void test_a_norm_above_the_sensitivity_is_refused(void **state) {
    (void)state;
    mfpg_stream noise = stream_of(5);
    const double grids[] = {0x1p-3, 0x1p-40};
    for (int g = 0; g < 2; g++) {
        float from[2] = {0}, to[2], way[2] = {0.6f, -0.8f};
        double norm = hypot((double)0.6f, (double)0.8f);
        mfpg_movement m = {
            .from = from, .displacement = way, .factor = 1.0, .noise_sd = 1.0, .grid = grids[g], .to = to};
        m.sensitivity = norm * (1.0 + 1e-5);
        assert_true(mfpg_movement_pass(&m, &noise, 0, 2));
        m.squares = 0;
        m.sensitivity = norm * (1.0 - 1e-5);
        assert_false(mfpg_movement_pass(&m, &noise, 0, 2));
    }
}

static void test_whole_squares_are_rounded_down(void **state) {
    (void)state;
    assert_true(mfpg_whole_square(0.0) == 0 && mfpg_whole_square(0.99) == 0 && mfpg_whole_square(1.0) == 1);
    assert_true(mfpg_whole_square(1.5) == 2 && mfpg_whole_square(0x1p-600) == 0);
    assert_true(mfpg_whole_square(0x1.8p40) == (unsigned __int128)9 << 78);
    assert_true(mfpg_whole_square(0x1p61) == (unsigned __int128)1 << 122);
    mfpg_stream stream = stream_of(9);
    for (uint64_t i = 0; i < 1000; i++) { /* (n + 1/2)^2 = n^2 + n + 1/4 */
        uint64_t n = mfpg_stream_below(&stream, i, (uint64_t)1 << 50);
        assert_true(mfpg_whole_square((double)n + 0.5) == (unsigned __int128)n * n + n);
    }
}

static void test_what_is_no_number_stays_the_largest(void **state) {
    (void)state;
    vectors *v = fill(4000);
    mfpg_stream noise = stream_of(1);
    v->from[1500] = NAN;
    mfpg_movement m = {.from = v->from,
        .displacement = v->displacement,
        .factor = 1.0,
        .noise_sd = 1.0,
        .grid = 0x1p-4,
        .sensitivity = 1e3,
        .to = v->to};
    assert_true(mfpg_movement_pass(&m, &noise, 0, 1500));
    assert_true(isfinite(m.largest));
    assert_true(mfpg_movement_pass(&m, &noise, 0, 4000));
    assert_true(isnan(m.largest));
    free(v);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_without_noise_floats_are_added),
        cmocka_unit_test(test_noised_entries_move_by_their_definition),
        cmocka_unit_test(test_large_sums_move_as_small_ones),
        cmocka_unit_test(test_a_norm_above_the_sensitivity_is_refused),
        cmocka_unit_test(test_whole_squares_are_rounded_down),
        cmocka_unit_test(test_what_is_no_number_stays_the_largest),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
