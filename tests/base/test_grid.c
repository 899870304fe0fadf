/* Noised values on a grid: the same integers on every processor and in pieces of every length, and what is refused. */
#include "testing.h"

#include <float.h>

#include "base/grid_noise.h"
#include "whole_grid.h"

enum { MOST = 9000 };

typedef struct run {
    double x[MOST], k[MOST];
    ptrdiff_t next;
} run;

static void give(ptrdiff_t first, ptrdiff_t n, double *x, void *arg) {
    const run *all = arg;
    assert_int_equal(first, all->next);
    assert_true(n > 0 && n <= MFPG_GRID_PIECE);
    assert_int_equal(first % 128, 0);
    memcpy(x, all->x + first, (size_t)n * sizeof *x);
}

static void take(ptrdiff_t first, ptrdiff_t n, const double *k, void *arg) {
    run *all = arg;
    assert_int_equal(first, all->next);
    memcpy(all->k + first, k, (size_t)n * sizeof *k);
    all->next = first + n;
}

static mfpg_stream stream_of(uint64_t client) {
    mfpg_key key = mfpg_key_from_seed(testing_seed());
    return mfpg_stream_open(&key, MFPG_PURPOSE_TEST, 50, client);
}

static const double RATIOS[] = {1.0, 4.0, 16.5, 1000.0, 0x1p14, 20000.0, 0x1p31};

static void fill(run *all, ptrdiff_t n, double size) {
    mfpg_stream values = stream_of(999);
    mfpg_stream_uniform(&values, 0, n, all->x);
    for (ptrdiff_t i = 0; i < n; i++) all->x[i] = size * (all->x[i] - 0.5);
}

static void test_registers_pieces_and_single_draws_give_the_same_integers(void **state) {
    (void)state;
    static run all, single;
    const ptrdiff_t lengths[] = {0, 1, 16, 511, 512, 513, 2047, 2048, 2049, 9000};
    for (uint64_t l = 0; l < 10; l++)
        for (uint64_t r = 0; r < 7; r++) {
            ptrdiff_t n = lengths[l];
            double ratio = RATIOS[r];
            mfpg_stream stream = stream_of(10 * l + r);
            if (ratio > 16.5 && l % 3) continue; /* those take their time */
            fill(&all, n, 3.0 * ratio);
            for (ptrdiff_t j = 0; j < n; j++)
                single.k[j] = mfpg_grid_noise_one(&stream, 7, n, j, all.x[j], ratio);
            for (int registers = MFPG_REGISTERS_PLAIN; registers <= (int)mfpg_widest_registers();
                 registers++) {
                all.next = 0;
                memset(all.k, 0, sizeof all.k);
                mfpg_grid_noise_visit((mfpg_registers)registers, &stream, 7, n, ratio, give, take, &all);
                assert_int_equal(all.next, n);
                for (ptrdiff_t j = 0; j < n; j++)
                    if (all.k[j] != single.k[j]) {
                        print_error(
                            "ratio %g, n %td, draw %td, registers %d: %.17g, alone %.17g (seed %ju)\n", ratio,
                            n, j, registers, all.k[j], single.k[j], (uintmax_t)testing_seed());
                        fail();
                    }
            }
        }
}

typedef struct lanes_check {
    const double *x;
    int64_t certain, entries;
} lanes_check;

static void compare_lanes(
    const mfpg_grid_draws *draws, ptrdiff_t first, ptrdiff_t n, const float *z, void *arg) {
    lanes_check *all = arg;
    float most = mfpg_grid_most(draws->ratio);
    double k[MFPG_GRID_SHORT];
    for (ptrdiff_t j = 0; j + MFPG_GRID_LANES <= n; j += MFPG_GRID_LANES) {
        mfpg_grid_floats x, of_z, nearest;
        mfpg_grid_mask certain = ~(mfpg_grid_mask){0};
        for (int i = 0; i < MFPG_GRID_LANES; i++) {
            x[i] = (float)all->x[first + j + i];
            of_z[i] = z[j + i];
        }
        mfpg_grid_round_lanes((float)draws->ratio, most, &x, &of_z, &nearest, &certain);
        mfpg_grid_round(draws, first + j, MFPG_GRID_LANES, z + j, all->x + first + j, k);
        for (int i = 0; i < MFPG_GRID_LANES; i++) {
            if (certain[i]) assert_true((double)nearest[i] == k[i]);
            all->certain += certain[i] != 0;
            all->entries++;
        }
    }
}

/* What float is certain of is true, at all sizes of x, and it is certain of nearly all where x and ratio are small. */
static void test_lanes_are_certain_of_the_same_integers(void **state) {
    (void)state;
    static run all;
    const double ratios[] = {1.0, 4.0, 16.5, 1000.0, 0x1p14},
                 sizes[] = {0.0, 1.0, 300.0, 0x1p20, 0x1p23, 0x1p40};
    for (uint64_t r = 0; r < 5; r++)
        for (uint64_t s = 0; s < 6; s++) {
            lanes_check check = {.x = all.x};
            mfpg_stream stream = stream_of(300 + 6 * r + s);
            fill(&all, MOST, sizes[s]);
            for (uint64_t v = 0; v < 20; v++)
                mfpg_grid_noise_pass(
                    mfpg_widest_registers(), &stream, v, MOST, ratios[r], compare_lanes, &check);
            assert_true(check.entries == 20 * MOST);
            if (sizes[s] <= 300.0 && ratios[r] < 20.0)
                assert_true(check.certain > check.entries / 1000 * 999);
        }
}

/* source: FNV-1a over the integers that reference_rounded of grid_reference.h gives (MPFR, 200 bits). These numbers must never
 * change. */
static void test_integers_never_change(void **state) {
    (void)state;
    mfpg_key key = mfpg_key_from_seed(1);
    mfpg_stream stream = mfpg_stream_open(&key, MFPG_PURPOSE_NOISE, 0, 0);
    const ptrdiff_t lengths[] = {503, 9000};
    const double ratios[] = {16.0, 0x1p30};
    const uint64_t known[] = {
        0x37aca941355e3296u, 0xc0cd29f7ef3287d5u, 0xec557168e731997du, 0x6899ab7e92682203u};
    static run all;
    for (int i = 0; i < 4; i++) {
        uint64_t hash = 14695981039346656037u;
        for (ptrdiff_t j = 0; j < lengths[i % 2]; j++) all.x[j] = 0.125 * (double)(j % 100);
        all.next = 0;
        mfpg_grid_noise_visit(
            mfpg_widest_registers(), &stream, 2, lengths[i % 2], ratios[i / 2], give, take, &all);
        for (ptrdiff_t j = 0; j < lengths[i % 2]; j++)
            hash = (hash ^ (uint64_t)(int64_t)all.k[j]) * 1099511628211u;
        if (hash != known[i]) print_error("fingerprint %d: 0x%jx\n", i, (uintmax_t)hash);
        assert_true(hash == known[i]);
    }
}

static void test_whole_vectors_count_in_steps_of_the_grid(void **state) {
    (void)state;
    static run all;
    static int64_t k[MOST];
    static double x[MOST];
    mfpg_context *ctx = testing_context(1);
    mfpg_stream stream = stream_of(500);
    const double grid = 0x1p-12, sd = 17.3 * grid;
    fill(&all, MOST, 50.0);
    for (ptrdiff_t j = 0; j < MOST; j++) x[j] = all.x[j] * grid;
    all.next = 0;
    mfpg_grid_noise_visit(mfpg_widest_registers(), &stream, 1, MOST, sd / grid, give, take, &all);
    whole_grid_noise(&stream, 1, MOST, x, sd, grid, k);
    for (ptrdiff_t j = 0; j < MOST; j++) assert_true((double)k[j] == all.k[j]);
    /* as far out as is allowed */
    x[0] = 0x1p49 * grid, x[1] = -0x1p49 * grid;
    whole_grid_noise(&stream, 1, MOST, x, sd, grid, k);
    assert_true(llabs(k[0] - ((int64_t)1 << 49)) < 400 && llabs(k[1] + ((int64_t)1 << 49)) < 400);
    whole_grid_noise(&stream, 1, 0, x, sd, grid, k);
    mfpg_context_destroy(ctx);
}

/* x is any number that is a double: x + Z is rounded, not x. The mean of the integers is x. */
static void test_fractions_of_a_step_count(void **state) {
    (void)state;
    static run all;
    enum { VECTORS = 40 };
    mfpg_stream stream = stream_of(501);
    double sum = 0.0, total = (double)VECTORS * MOST;
    for (ptrdiff_t j = 0; j < MOST; j++) all.x[j] = 0.3;
    for (uint64_t v = 0; v < VECTORS; v++) {
        all.next = 0;
        mfpg_grid_noise_visit(mfpg_widest_registers(), &stream, v, MOST, 4.0, give, take, &all);
        for (ptrdiff_t j = 0; j < MOST; j++) sum += all.k[j];
    }
    check_near(
        sum / total, 0.3, 0, 4.5 * 4.01 / sqrt(total), "mean of the integers"); /* 4.5 standard errors */
}

static void test_default_grid_is_a_sixteenth_of_the_noise_or_finer(void **state) {
    (void)state;
    const double sds[] = {1.0, 0.999999, 3.7, 0x1p-959, 0x1.fffffp-960, 1e300, DBL_MAX, 1e-200};
    for (size_t i = 0; i < sizeof sds / sizeof sds[0]; i++) {
        double grid = mfpg_grid_for(sds[i]);
        assert_true(grid <= sds[i] / 16.0 && 2.0 * grid > sds[i] / 16.0);
        assert_null(mfpg_grid_fault(grid, sds[i], 0.0));
    }
    assert_true(mfpg_grid_for(1.0) == 0.0625 && mfpg_grid_for(0.999999) == 0.03125);
    const double none[] = {0.0, -1.0, 0x1p-961, HUGE_VAL, NAN};
    for (int i = 0; i < 5; i++) assert_true(mfpg_grid_for(none[i]) == 0.0);
}

static void check_fault(double grid, double sd, double sensitivity, const char *part) {
    const char *fault = mfpg_grid_fault(grid, sd, sensitivity);
    if (!fault || !strstr(fault, part))
        print_error("grid %g, sd %g: %s\n", grid, sd, fault ? fault : "no fault");
    assert_non_null(fault);
    assert_non_null(strstr(fault, part));
}

static void test_grids_with_a_fault_are_named(void **state) {
    (void)state;
    check_fault(0.3, 16.0, 1.0, "power of two");
    check_fault(-0.5, 16.0, 1.0, "power of two");
    check_fault(0.0, 16.0, 1.0, "power of two");
    check_fault(NAN, 16.0, 1.0, "power of two");
    check_fault(HUGE_VAL, 16.0, 1.0, "power of two");
    check_fault(0.25, 0.99, 1.0, "coarser");
    check_fault(0.25, NAN, 1.0, "coarser");
    check_fault(0.25, 0.0, 1.0, "coarser");
    check_fault(0.25, -4.0, 1.0, "coarser");
    check_fault(0x1p-45, 1.0001, 0.0, "2^-45 of the noise");
    check_fault(0.25, HUGE_VAL, 0.0, "2^-45 of the noise");
    check_fault(0x1p-40, 1.0, 1.0001, "of the sensitivity");
    check_fault(0x1p-40, 1.0, NAN, "of the sensitivity");
    check_fault(0x1p-40, 1.0, HUGE_VAL, "of the sensitivity");
    assert_null(mfpg_grid_fault(0.25, 1.0, 1.0));
    assert_null(mfpg_grid_fault(0x1p-45, 1.0, 0x1p-5));
    assert_null(mfpg_grid_fault(0x1p-40, 1.0, 1.0));
}

static void test_values_that_no_integer_holds_have_none(void **state) {
    (void)state;
    mfpg_stream stream = stream_of(503);
    const double bad[] = {
        NAN, HUGE_VAL, -HUGE_VAL, nextafter(0x1p49, HUGE_VAL), -nextafter(0x1p49, HUGE_VAL), DBL_MAX};
    for (int i = 0; i < 6; i++) assert_true(isnan(mfpg_grid_noise_one(&stream, 0, 3, 2, bad[i], 16.0)));
}

static void test_release_points_have_names_and_help(void **state) {
    (void)state;
    static const char *const POINTS[][2] = {
#define POINT(id, help) {#id, help},
#include "base/release_points.def"
#undef POINT
    };
    const size_t count = sizeof POINTS / sizeof POINTS[0];
    assert_true(count > 0);
    for (size_t k = 0; k < count; k++) {
        assert_true(strlen(POINTS[k][0]) > 0 && strlen(POINTS[k][1]) > 0);
        for (size_t i = 0; i < k; i++) assert_string_not_equal(POINTS[i][0], POINTS[k][0]);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_registers_pieces_and_single_draws_give_the_same_integers),
        cmocka_unit_test(test_lanes_are_certain_of_the_same_integers),
        cmocka_unit_test(test_integers_never_change),
        cmocka_unit_test(test_whole_vectors_count_in_steps_of_the_grid),
        cmocka_unit_test(test_fractions_of_a_step_count),
        cmocka_unit_test(test_default_grid_is_a_sixteenth_of_the_noise_or_finer),
        cmocka_unit_test(test_grids_with_a_fault_are_named),
        cmocka_unit_test(test_values_that_no_integer_holds_have_none),
        cmocka_unit_test(test_release_points_have_names_and_help),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
