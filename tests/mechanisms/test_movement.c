/* The pass of a release over the parameters against its definition, entry by entry. */
#include "testing.h"

#include "mechanisms/movement.h"
#include "mfpg/random.h"
#include "numerics/linalg/linalg.h"

enum { LONGEST = 5000 };

typedef struct vectors {
    float from[LONGEST], displacement[LONGEST], total[LONGEST], z[LONGEST], to[LONGEST];
} vectors;

static vectors *fill(ptrdiff_t n) {
    mfpg_key key = mfpg_key_from_seed(testing_seed());
    mfpg_stream stream = mfpg_stream_open(&key, MFPG_PURPOSE_TEST, (uint64_t)n, 0);
    vectors *v = calloc(1, sizeof *v);
    assert_non_null(v);
    mfpg_stream_gaussian(&stream, 0, n, v->from);
    mfpg_stream_gaussian(&stream, 1, n, v->displacement);
    mfpg_stream_gaussian(&stream, 2, n, v->total);
    mfpg_stream_gaussian(&stream, 3, n, v->z);
    return v;
}

/* In pieces of the given length. */
static void pass(mfpg_movement *m, ptrdiff_t n, ptrdiff_t piece, const float *z) {
    for (ptrdiff_t first = 0; first < n; first += piece)
        mfpg_movement_pass(m, first, n - first < piece ? n - first : piece, z ? z + first : NULL);
}

static float moved(float from, float displacement, double sd, const float *z, ptrdiff_t i) {
    volatile float sum = from + displacement; /* rounded to float */
    return z ? (float)((double)from + (double)displacement + sd * (double)z[i]) : sum;
}

/* Every way of calling it gives the defined bits: to a place of its own or in place, with a total or without. */
static void check(ptrdiff_t n, double factor, double sd, int noise, int in_place, int with_total) {
    vectors *v = fill(n), *expected = fill(n);
    double largest = 0.0;
    for (ptrdiff_t i = 0; i < n; i++) {
        expected->displacement[i] = (float)((double)expected->displacement[i] * factor);
        volatile float total = expected->total[i] + expected->displacement[i];
        expected->total[i] = total;
        expected->to[i] = moved(v->from[i], expected->displacement[i], sd, noise ? v->z : NULL, i);
        largest = fmax(largest, fabs((double)expected->to[i]));
    }
    size_t bytes = (size_t)n * sizeof(float);
    float *to = in_place ? v->from : v->to;
    mfpg_movement m = {.from = v->from,
        .displacement = v->displacement,
        .factor = factor,
        .total = with_total ? v->total : NULL,
        .noise_sd = sd,
        .to = to};
    pass(&m, n, 1024, noise ? v->z : NULL);
    assert_memory_equal(to, expected->to, bytes);
    assert_memory_equal(v->displacement, expected->displacement, bytes);
    if (with_total) assert_memory_equal(v->total, expected->total, bytes);
    assert_true(mfpg_movement_norm(&m) == mfpg_vector_norm(n, v->displacement));
    assert_true((double)m.largest == largest);
    free(v);
    free(expected);
}

static void test_every_entry_moves_by_its_definition(void **state) {
    (void)state;
    const ptrdiff_t lengths[] = {0, 1, 7, 8, 9, 1023, 1024, 1031, 4999};
    const double factors[] = {1.0, (double)-0.3f, -0.3}; /* none, a float, a double */
    for (size_t k = 0; k < sizeof lengths / sizeof lengths[0]; k++)
        for (int f = 0; f < 3; f++)
            for (int ways = 0; ways < 8; ways++)
                check(lengths[k], factors[f], 0.7, (ways & 1) != 0, (ways & 2) != 0, (ways & 4) != 0);
}

/* Without a displacement it is what the state has moved by already, rounded to float. */
static void test_a_state_that_has_moved_is_its_own_displacement(void **state) {
    (void)state;
    const ptrdiff_t lengths[] = {1, 8, 2048, 4999};
    for (size_t k = 0; k < sizeof lengths / sizeof lengths[0]; k++) {
        ptrdiff_t n = lengths[k];
        vectors *v = fill(n), *apart = fill(n);
        for (ptrdiff_t i = 0; i < n; i++) {
            volatile float there = v->from[i] + v->displacement[i], way = there - v->from[i];
            v->to[i] = there;
            apart->displacement[i] = way;
        }
        assert_true(mfpg_vector_distance(n, v->to, v->from) == mfpg_vector_norm(n, apart->displacement));
        mfpg_movement own = {.from = v->from, .factor = 0.37, .noise_sd = 1.5, .to = v->to};
        mfpg_movement given = {.from = apart->from,
            .displacement = apart->displacement,
            .factor = 0.37,
            .noise_sd = 1.5,
            .to = apart->to};
        pass(&own, n, MFPG_MOVEMENT_PIECE, v->z);
        pass(&given, n, MFPG_MOVEMENT_PIECE, v->z);
        assert_memory_equal(v->to, apart->to, (size_t)n * sizeof(float));
        assert_true(mfpg_movement_norm(&own) == mfpg_movement_norm(&given));
        free(v);
        free(apart);
    }
}

static void test_what_is_no_number_stays_the_largest(void **state) {
    (void)state;
    vectors *v = fill(4000);
    v->displacement[1500] = NAN;
    mfpg_movement m = {
        .from = v->from, .displacement = v->displacement, .factor = 1.0, .noise_sd = 1.0, .to = v->to};
    mfpg_movement_pass(&m, 0, 1024, v->z);
    assert_true(isfinite(m.largest));
    mfpg_movement_pass(&m, 1024, 1024, v->z + 1024);
    assert_true(isnan(m.largest));
    mfpg_movement_pass(&m, 2048, 1024, v->z + 2048);
    assert_true(isnan(m.largest));
    free(v);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_entry_moves_by_its_definition),
        cmocka_unit_test(test_a_state_that_has_moved_is_its_own_displacement),
        cmocka_unit_test(test_what_is_no_number_stays_the_largest),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
