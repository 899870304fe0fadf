#define TESTED_UNIT MFPG_UNIT_EXAMPLE
/* Accountant exact: what it adds to the enclosures of laplace.h, and where peers fail. */
#include "accountants/accounting.h"
#include "accountants/fixture.h"

typedef struct schedule {
    double q, sigma;
    int64_t steps;
} schedule;

static mfpg_accountant *recorded(
    mfpg_context *ctx, const char *name, mfpg_adjacency adjacency, const schedule *block, int blocks) {
    mfpg_accountant_options options = mfpg_accountant_options_default();
    options.promise = (mfpg_promise){MFPG_UNIT_EXAMPLE, adjacency, MFPG_VIEW_LOCAL};
    mfpg_accountant *made = NULL;
    CHECK_OK(ctx, mfpg_accountant_create(ctx, name, &options, &made));
    for (int i = 0; i < blocks; i++) {
        mfpg_release release = release_of(1, block[i].sigma);
        release.sampling_rate = block[i].q;
        CHECK_OK(ctx, mfpg_accountant_record_times(ctx, made, &release, block[i].steps));
    }
    return made;
}

static mfpg_bounds bounds_of(mfpg_context *ctx, const char *name, mfpg_adjacency adjacency,
    const schedule *block, int blocks, double delta) {
    mfpg_accountant *accountant = recorded(ctx, name, adjacency, block, blocks);
    mfpg_bounds found;
    CHECK_OK(ctx, mfpg_accountant_epsilon_bounds(ctx, accountant, delta, &found));
    mfpg_accountant_destroy(accountant);
    return found;
}

/* Inside the enclosure, up to what the reference itself is worth; and the enclosure no wider than asked. */
static void check_encloses(mfpg_bounds found, double value, double worth, const char *what) {
    if (found.lower <= value + worth && found.upper >= value - worth &&
        found.upper - found.lower <= 1e-6 * fmax(1, value))
        return;
    print_error("%s: [%.15g, %.15g] for %.15g\n", what, found.lower, found.upper, value);
    fail();
}

/* source: exact_accountant.md sections 0 and 9, accounting.md "Measured run time", field_failures.md F9. */
static void test_where_peers_fail(void **state) {
    (void)state;
    const struct {
        mfpg_adjacency adjacency;
        schedule block;
        double delta, epsilon, worth;
    } rows[] = {
        {MFPG_ADJACENCY_ZERO_OUT, {1e-6, 1, 1000000}, 1e-6, 0.00368191832864, 1e-14},
        {MFPG_ADJACENCY_ADD, {1e-6, 1, 1000000}, 1e-6, 0.00365847306, 1e-9},
        {MFPG_ADJACENCY_REMOVE, {0.01, 1, 1000}, 1e-12, 3.914298156, 1e-9},
        {MFPG_ADJACENCY_ADD, {0.01, 1, 1000}, 1e-12, 2.325553315, 1e-9},
        {MFPG_ADJACENCY_REMOVE, {0.01, 1, 100000}, 1e-5, 25.57310698652, 1e-11},
        {MFPG_ADJACENCY_REMOVE, {256.0 / 60000, 1.1, 14062}, 1e-5, 2.38159692142, 1e-11},
        {MFPG_ADJACENCY_ZERO_OUT, {0.125, 0.8, 1000}, 1e-6, 56.726, 5e-4},
        {MFPG_ADJACENCY_ZERO_OUT, {0.2, 3, 50}, 1.0 / 48000, 1.96081, 5e-6},
        {MFPG_ADJACENCY_REPLACE, {1, 1, 1}, 1e-5, 9.9973, 5e-5},
        {MFPG_ADJACENCY_ZERO_OUT, {1, 1, 1}, 1e-16, 8.451946, 5e-7},
    };
    mfpg_context *ctx = testing_context(1);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        mfpg_bounds found = bounds_of(ctx, "exact", rows[i].adjacency, &rows[i].block, 1, rows[i].delta);
        check_encloses(found, rows[i].epsilon, rows[i].worth, "row");
    }
    mfpg_context_destroy(ctx);
}

static void test_blocks_compose_in_any_order(void **state) {
    (void)state;
    const schedule forward[] = {{0.1, 3, 200}, {0.05, 2, 300}, {0.01, 0.8, 100}},
                   backward[] = {forward[2], forward[0], forward[1]};
    mfpg_context *ctx = testing_context(1);
    mfpg_bounds a = bounds_of(ctx, "exact", MFPG_ADJACENCY_REMOVE, forward, 3, 1e-5),
                b = bounds_of(ctx, "exact", MFPG_ADJACENCY_REMOVE, backward, 3, 1e-5);
    check_encloses(a, 3.05039646592, 1e-10, "three blocks"); /* source: exact_accountant.md section 0 */
    assert_true(a.lower == b.lower && a.upper == b.upper);   /* kinds are kept in an order of their own */
    mfpg_context_destroy(ctx);
}

/* A sampled run with unsampled steps in it, and kinds that differ in the last bit only: nothing is lost by merging them. */
/* replace: above zero-out, which is its lower end, and by the curve that pld composes. */
static void test_replacing_is_priced_by_its_own_curve(void **state) {
    (void)state;
    const schedule block = {0.01, 1, 1000};
    mfpg_context *ctx = testing_context(1);
    mfpg_bounds replace = bounds_of(ctx, "exact", MFPG_ADJACENCY_REPLACE, &block, 1, 1e-5),
                zero_out = bounds_of(ctx, "exact", MFPG_ADJACENCY_ZERO_OUT, &block, 1, 1e-5),
                pld = bounds_of(ctx, "pld", MFPG_ADJACENCY_REPLACE, &block, 1, 1e-5);
    assert_true(
        replace.lower == zero_out.lower && zero_out.upper < replace.upper && replace.upper <= pld.upper);
    mfpg_context_destroy(ctx);
}

static void test_mixtures_with_gaussian_steps(void **state) {
    (void)state;
    mfpg_context *ctx = testing_context(1);
    const schedule blocks[] = {{0.01, 1, 500}, {1, 20, 10}};
    mfpg_bounds found = bounds_of(ctx, "exact", MFPG_ADJACENCY_REMOVE, blocks, 2, 1e-5);
    check_encloses(found, 1.450112201693241, 1e-7, "A170");
    const schedule plain[] = {{1, 5, 1}, {1, 8, 1}, {1, 10, 4}};
    double mu = sqrt(1 / 25.0 + 1 / 64.0 + 4 / 100.0);
    check_encloses(
        bounds_of(ctx, "exact", MFPG_ADJACENCY_ADD, plain, 3, 1e-5), mfpg_gdp_epsilon(mu, 1e-5), 1e-12, "mu");
    mfpg_context_destroy(ctx);
}

/* Nothing but 0 is a lower end where more was counted than was released: sampling that a client unit does not credit, noise
 * of others, more kinds than are kept apart. The upper end stays below that of rdp. */
static void test_lower_ends_are_not_claimed_where_they_are_not_known(void **state) {
    (void)state;
    mfpg_context *ctx = testing_context(1);
    mfpg_accountant_options options = mfpg_accountant_options_default();
    mfpg_accountant *accountant = NULL;
    mfpg_bounds found;
    mfpg_release release = release_of(1, 2);
    release.sampling_rate = 0.1;
    const mfpg_release of_clients = of_client(release);
    CHECK_OK(ctx, mfpg_accountant_create(ctx, "exact", &options, &accountant)); /* the unit is the client */
    CHECK_OK(ctx, mfpg_accountant_record_times(ctx, accountant, &of_clients, 100));
    CHECK_OK(ctx, mfpg_accountant_epsilon_bounds(ctx, accountant, 1e-5, &found));
    assert_true(found.lower == 0);
    check_near(found.upper, mfpg_gdp_epsilon(5, 1e-5), 1e-12, 0, "without credit");
    mfpg_accountant_destroy(accountant);
    options.promise.unit = MFPG_UNIT_EXAMPLE;
    options.promise.view = MFPG_VIEW_AVERAGE;
    accountant = NULL;
    CHECK_OK(ctx, mfpg_accountant_create(ctx, "exact", &options, &accountant));
    release.last_sd = 3;
    CHECK_OK(ctx, mfpg_accountant_record_times(ctx, accountant, &release, 100));
    CHECK_OK(ctx, mfpg_accountant_epsilon_bounds(ctx, accountant, 1e-5, &found));
    assert_true(found.lower == 0);
    check_encloses((mfpg_bounds){found.upper, found.upper},
        bounds_of(ctx, "exact", MFPG_ADJACENCY_ZERO_OUT, &(schedule){0.1, 3, 100}, 1, 1e-5).upper, 1e-9,
        "last_sd");
    mfpg_accountant_destroy(accountant);
    mfpg_context_destroy(ctx);
}

/* One step with sampling, where both ends are close to the truth. Values: the closed form at 60 digits. */
static void test_ends_of_one_step_hold_to_the_last_digits(void **state) {
    (void)state;
    mfpg_context *ctx = testing_context(1);
    const struct {
        schedule block;
        double epsilon, delta;
    } rows[] = {
        {{0.5, 1.0 / 4, 1}, 8, 0.1708643702724930535},
        {{0.25, 1.0 / 8, 1}, 32, 0.095954879537505301817},
        {{0.5, 1.0 / 16, 1}, 100, 0.47479247456427266621},
        {{0.5, 1.0 / 32, 1}, 512, 0.23945788409766791631},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        mfpg_accountant *accountant = recorded(ctx, "exact", MFPG_ADJACENCY_REMOVE, &rows[i].block, 1);
        mfpg_bounds found;
        CHECK_OK(ctx, mfpg_accountant_delta_bounds(ctx, accountant, rows[i].epsilon, &found));
        assert_true(found.lower <= rows[i].delta && found.upper >= rows[i].delta);
        assert_true(found.upper - found.lower <= 1e-7 * rows[i].delta);
        CHECK_OK(ctx, mfpg_accountant_epsilon_bounds(ctx, accountant, rows[i].delta, &found)); /* and back */
        assert_true(found.lower <= rows[i].epsilon && found.upper >= rows[i].epsilon);
        assert_true(found.upper - found.lower <= 1e-9 * rows[i].epsilon);
        mfpg_accountant_destroy(accountant);
    }
    mfpg_context_destroy(ctx);
}

static schedule random_block(uint64_t *random) {
    schedule block = {random_scale(random, 1e-4, 0.9), random_scale(random, 0.5, 10), 0};
    block.steps = (int64_t)random_scale(random, 10, 1e5);
    return block;
}

/* More steps, a larger rate, less noise, a smaller delta: the number does not fall. exact <= rdp and <= gdp. */
static void test_monotone_and_never_above_the_others(void **state) {
    (void)state;
    uint64_t random = announced_seed();
    mfpg_context *ctx = testing_context(1);
    for (int run = 0; run < testing_repeats(20); run++) {
        schedule block = random_block(&random), more = block;
        double delta = random_scale(&random, 1e-9, 1e-3);
        mfpg_adjacency adjacency = run % 2 ? MFPG_ADJACENCY_ZERO_OUT : MFPG_ADJACENCY_ADD;
        mfpg_bounds base = bounds_of(ctx, "exact", adjacency, &block, 1, delta);
        more.steps += 1 + block.steps / 5;
        assert_true(bounds_of(ctx, "exact", adjacency, &more, 1, delta).upper >= base.lower);
        more = block;
        more.q *= 1.1;
        assert_true(bounds_of(ctx, "exact", adjacency, &more, 1, delta).upper >= base.lower);
        more = block;
        more.sigma *= 0.95;
        assert_true(bounds_of(ctx, "exact", adjacency, &more, 1, delta).upper >= base.lower);
        assert_true(bounds_of(ctx, "exact", adjacency, &block, 1, delta * 0.7).upper >= base.lower);
        assert_true(base.upper <= bounds_of(ctx, "rdp", adjacency, &block, 1, delta).upper + 1e-6);
        assert_true(base.upper <= bounds_of(ctx, "gdp", adjacency, &block, 1, delta).upper);
        assert_true(base.upper - base.lower <= 1e-6 * fmax(1, base.upper));
    }
    mfpg_context_destroy(ctx);
}

/* Costly inputs end soon, in an answer that holds. Each is beyond what an enclosure is promised for. */
static void test_extremes_get_a_sound_answer(void **state) {
    (void)state;
    const struct {
        schedule block;
        double delta;
    } rows[] = {{{1e-7, 0.1, 1000000000}, 1e-15}, {{0.5, 0.01, 1000}, 1e-5}, {{1e-300, 1, 10}, 1e-10},
        {{0.999999, 1000, 1000000000}, 1e-15}, {{1e-3, 1e-9, 5}, 0.5}, {{0.3, 1e12, 7}, 1e-5}};
    mfpg_context *ctx = testing_context(1);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        mfpg_bounds found = bounds_of(ctx, "exact", MFPG_ADJACENCY_ADD, &rows[i].block, 1, rows[i].delta),
                    rdp = bounds_of(ctx, "rdp", MFPG_ADJACENCY_ADD, &rows[i].block, 1, rows[i].delta);
        assert_true(found.lower >= 0 && found.lower <= found.upper && found.upper <= rdp.upper + 1e-6);
    }
    mfpg_context_destroy(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_where_peers_fail),
        cmocka_unit_test(test_blocks_compose_in_any_order),
        cmocka_unit_test(test_replacing_is_priced_by_its_own_curve),
        cmocka_unit_test(test_mixtures_with_gaussian_steps),
        cmocka_unit_test(test_lower_ends_are_not_claimed_where_they_are_not_known),
        cmocka_unit_test(test_ends_of_one_step_hold_to_the_last_digits),
        cmocka_unit_test(test_monotone_and_never_above_the_others),
        cmocka_unit_test(test_extremes_get_a_sound_answer),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
