/* Foreign updates made private: the clip is joint, the noise that of the stream, and what is no update is refused. */
#include "fixture.h"

#include "mfpg/privatise.h"

static mfpg_context *ctx;

enum { FLOATS = 300, DOUBLES = 500, ALL = FLOATS + DOUBLES };

/* An update of two arrays, the second of doubles. */
typedef struct update {
    float first[FLOATS];
    double second[DOUBLES];
    mfpg_buffer buffer[2];
} update;

static void point(update *u) {
    u->buffer[0] = (mfpg_buffer){u->first, FLOATS, MFPG_ELEMENT_FLOAT32};
    u->buffer[1] = (mfpg_buffer){u->second, DOUBLES, MFPG_ELEMENT_FLOAT64};
}

static void fill(update *u, double size, uint64_t *random) {
    for (ptrdiff_t i = 0; i < FLOATS; i++) u->first[i] = (float)(size * (next_uniform(random) - 0.5));
    for (ptrdiff_t i = 0; i < DOUBLES; i++) u->second[i] = size * (next_uniform(random) - 0.5);
    point(u);
}

static double entry(const update *u, ptrdiff_t i) {
    return i < FLOATS ? (double)u->first[i] : u->second[i - FLOATS];
}

static double norm_of_update(const update *u) {
    double sum = 0.0;
    for (ptrdiff_t i = 0; i < ALL; i++) sum += entry(u, i) * entry(u, i);
    return sqrt(sum);
}

static mfpg_mechanism *clipper(const char *kind, double clip) {
    mfpg_mechanism_options o = mfpg_mechanism_options_default();
    o.kind = kind;
    o.clip = clip;
    o.clip_at = MFPG_CLIP_UPDATE;
    return make_mechanism(ctx, &o);
}

static mfpg_stream stream_of(uint64_t seed) {
    mfpg_key key = mfpg_key_from_seed(seed);
    return mfpg_stream_open(&key, MFPG_PURPOSE_NOISE, 1, 0);
}

/* ---- what comes out ---- */

/* Clip by the definition, plus the draws of the stream: whatever the size of the update. */
static void test_result_is_the_joint_clip_plus_the_noise_of_the_stream(void **state) {
    (void)state;
    uint64_t random = testing_seed();
    for (int trial = 0; trial < testing_repeats(50); trial++) {
        update u, before;
        double size = pow(10.0, 8.0 * next_uniform(&random) - 4.0), clip = 1.5, z = 0.7;
        float noise[ALL];
        mfpg_release release;
        fill(&u, size, &random);
        before = u;
        mfpg_stream stream = stream_of((uint64_t)trial);
        mfpg_stream_gaussian(&stream, 0, ALL, noise);
        mfpg_mechanism *mechanism = clipper("gaussian", clip);
        CHECK_OK(ctx, mfpg_privatise(ctx, mechanism, multiplier_of(z), &stream, u.buffer, 2, &release));
        double norm = norm_of_update(&before), factor = norm > clip ? clip / norm : 1.0;
        for (ptrdiff_t i = 0; i < ALL; i++) /* the clip leaves up to 2^-21 of itself; a float has 2^-24 */
            check_near(entry(&u, i), factor * entry(&before, i) + z * clip * (double)noise[i], 0x1p-23,
                0x1p-20 * clip, "entry");
        mfpg_mechanism_destroy(mechanism);
    }
}

static void test_release_says_what_was_done(void **state) {
    (void)state;
    uint64_t random = testing_seed();
    const struct {
        const char *kind;
        mfpg_action action;
        double sd; /* by hand: z C; law game 2 C/b; sqrt(2 e tau), tau 0.1 */
    } rows[] = {
        {"gaussian", multiplier_of(3.0), 6.0},
        {"gaussian", budget_of(0.5), 8.0},
        {"entropic", strength_of(5.0), 1.0},
        {"entropic", multiplier_of(0.5), 1.0},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        update u;
        mfpg_release release;
        mfpg_stream stream = stream_of(7);
        mfpg_mechanism *mechanism = clipper(rows[i].kind, 2.0);
        fill(&u, 1.0, &random);
        CHECK_OK(ctx, mfpg_privatise(ctx, mechanism, rows[i].action, &stream, u.buffer, 2, &release));
        check_near(release.noise_sd, rows[i].sd, 1e-15, 0.0, rows[i].kind);
        assert_true(release.sensitivity == 2.0 && release.steps == 1 && release.sampling_rate == 1.0);
        assert_true(release.last_sd == release.noise_sd && release.weight == 1.0);
        assert_int_equal(release.particles, MFPG_PARTICLES_PARAMETERS);
        mfpg_mechanism_destroy(mechanism);
    }
}

/* Zeros divide nothing by zero, and are noised: that a client had nothing to say is not told. */
static void test_zeros_are_noise_alone(void **state) {
    (void)state;
    update u = {0};
    float noise[ALL];
    mfpg_release release;
    mfpg_stream stream = stream_of(11);
    mfpg_mechanism *mechanism = clipper("gaussian", 1.0);
    point(&u);
    mfpg_stream_gaussian(&stream, 0, ALL, noise);
    CHECK_OK(ctx, mfpg_privatise(ctx, mechanism, multiplier_of(1.0), &stream, u.buffer, 2, &release));
    for (ptrdiff_t i = 0; i < ALL; i++) assert_true(entry(&u, i) == (double)noise[i]);
    mfpg_mechanism_destroy(mechanism);
}

/* A draw has 24 digits: what lies below them in a double would be the data's own. */
static void test_doubles_have_the_digits_of_floats(void **state) {
    (void)state;
    uint64_t random = testing_seed();
    update u;
    mfpg_release release;
    mfpg_stream stream = stream_of(13);
    mfpg_mechanism *mechanism = clipper("gaussian", 1.0);
    fill(&u, 1.0, &random);
    CHECK_OK(ctx, mfpg_privatise(ctx, mechanism, multiplier_of(1.0), &stream, u.buffer, 2, &release));
    for (ptrdiff_t i = 0; i < DOUBLES; i++) assert_true((double)(float)u.second[i] == u.second[i]);
    mfpg_mechanism_destroy(mechanism);
}

/* How the numbers are cut into arrays, and of which kind they are, changes nothing. */
static void test_division_into_arrays_changes_no_bit(void **state) {
    (void)state;
    uint64_t random = testing_seed();
    float one[ALL], many[ALL];
    double wide[ALL];
    mfpg_release release;
    mfpg_stream stream = stream_of(17);
    mfpg_mechanism *mechanism = clipper("gaussian", 0.5);
    for (ptrdiff_t i = 0; i < ALL; i++)
        wide[i] = (double)(one[i] = many[i] = (float)(next_uniform(&random) - 0.5));
    mfpg_buffer whole = {one, ALL, MFPG_ELEMENT_FLOAT32}, doubles = {wide, ALL, MFPG_ELEMENT_FLOAT64};
    mfpg_buffer parts[] = {{many, 0, MFPG_ELEMENT_FLOAT32}, {many, 1, MFPG_ELEMENT_FLOAT32},
        {NULL, 0, MFPG_ELEMENT_FLOAT64}, {many + 1, 200, MFPG_ELEMENT_FLOAT32},
        {many + 201, ALL - 201, MFPG_ELEMENT_FLOAT32}, {many, 0, MFPG_ELEMENT_FLOAT64}};
    CHECK_OK(ctx, mfpg_privatise(ctx, mechanism, multiplier_of(1.0), &stream, &whole, 1, &release));
    CHECK_OK(ctx, mfpg_privatise(ctx, mechanism, multiplier_of(1.0), &stream, &doubles, 1, &release));
    CHECK_OK(ctx, mfpg_privatise(ctx, mechanism, multiplier_of(1.0), &stream, parts, 6, &release));
    for (ptrdiff_t i = 0; i < ALL; i++) assert_true(one[i] == many[i] && (double)one[i] == wide[i]);
    mfpg_mechanism_destroy(mechanism);
}

/* Squares of these are no doubles any more, or all zero. */
static void test_extreme_sizes_are_clipped_like_others(void **state) {
    (void)state;
    const double sizes[] = {1e200, 1e308, 1e-200, 4e-324};
    for (size_t i = 0; i < 4; i++) {
        double x[] = {3 * (sizes[i] / 4), sizes[i]}; /* 3 : 4, norm 5 */
        float noise[2];
        mfpg_buffer buffer = {x, 2, MFPG_ELEMENT_FLOAT64};
        mfpg_release release;
        mfpg_stream stream = stream_of(19);
        mfpg_mechanism *mechanism = clipper("gaussian", 1.0);
        mfpg_stream_gaussian(&stream, 0, 2, noise);
        CHECK_OK(ctx, mfpg_privatise(ctx, mechanism, multiplier_of(0x1p-10), &stream, &buffer, 1, &release));
        check_near(x[0], (sizes[i] > 1 ? 0.6 : 0.0) + 0x1p-10 * (double)noise[0], 0.0, 1e-6, "first");
        check_near(x[1], (sizes[i] > 1 ? 0.8 : 0.0) + 0x1p-10 * (double)noise[1], 0.0, 1e-6, "second");
        mfpg_mechanism_destroy(mechanism);
    }
}

/* ---- what is refused ---- */

static void check_refused(const mfpg_mechanism *mechanism, mfpg_action action, update *u, ptrdiff_t count,
    mfpg_status expected, const char *words) {
    update before = *u;
    mfpg_release release = {.noise_sd = -1.0};
    mfpg_stream stream = stream_of(23);
    assert_int_equal(mfpg_privatise(ctx, mechanism, action, &stream, u->buffer, count, &release), expected);
    if (!strstr(mfpg_context_message(ctx), words))
        fail_msg("'%s' does not say '%s'", mfpg_context_message(ctx), words);
    assert_memory_equal(u->first, before.first, sizeof before.first);
    assert_memory_equal(u->second, before.second, sizeof before.second);
    assert_true(release.noise_sd == -1.0);
}

static void test_what_is_not_finite_is_refused_with_its_place(void **state) {
    (void)state;
    uint64_t random = testing_seed();
    mfpg_mechanism *mechanism = clipper("gaussian", 1.0);
    update u;
    fill(&u, 1.0, &random);
    u.first[FLOATS - 1] = NAN;
    check_refused(mechanism, multiplier_of(1.0), &u, 2, MFPG_ERR_INPUT, "array 1 (float32), number 300: NaN");
    fill(&u, 1.0, &random);
    u.second[0] = -(double)INFINITY;
    check_refused(
        mechanism, multiplier_of(1.0), &u, 2, MFPG_ERR_INPUT, "array 2 (float64), number 1: infinity");
    mfpg_mechanism_destroy(mechanism);
}

static void test_update_without_numbers_is_refused(void **state) {
    (void)state;
    mfpg_mechanism *mechanism = clipper("gaussian", 1.0);
    update u = {0};
    check_refused(mechanism, multiplier_of(1.0), &u, 0, MFPG_ERR_INPUT, "nothing to privatise");
    check_refused(mechanism, multiplier_of(1.0), &u, 2, MFPG_ERR_INPUT, "nothing to privatise");
    mfpg_mechanism_destroy(mechanism);
}

static void test_other_mechanisms_and_no_noise_are_refused(void **state) {
    (void)state;
    uint64_t random = testing_seed();
    update u;
    fill(&u, 1.0, &random);
    mfpg_mechanism_options o = mfpg_mechanism_options_default();
    mfpg_mechanism *steps = make_mechanism(ctx, &o), *updates = clipper("gaussian", 1.0),
                   *none = clipper("none", 1.0);
    const mfpg_action no_action = {.control = MFPG_CONTROL_NONE};
    check_refused(steps, multiplier_of(1.0), &u, 2, MFPG_ERR_INPUT, "clip_at update");
    check_refused(none, no_action, &u, 2, MFPG_ERR_INPUT, "clip_at update");
    check_refused(updates, multiplier_of(0.0), &u, 2, MFPG_ERR_DOMAIN, "positive");
    check_refused(updates, multiplier_of((double)NAN), &u, 2, MFPG_ERR_DOMAIN, "positive");
    check_refused(updates, strength_of(1.0), &u, 2, MFPG_ERR_DOMAIN, "takes a budget");
    check_refused(updates, multiplier_of(0x1p-18), &u, 2, MFPG_ERR_DOMAIN, "lost in the rounding");
    mfpg_mechanism_destroy(steps);
    mfpg_mechanism_destroy(updates);
    mfpg_mechanism_destroy(none);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_result_is_the_joint_clip_plus_the_noise_of_the_stream),
        cmocka_unit_test(test_release_says_what_was_done),
        cmocka_unit_test(test_zeros_are_noise_alone),
        cmocka_unit_test(test_doubles_have_the_digits_of_floats),
        cmocka_unit_test(test_division_into_arrays_changes_no_bit),
        cmocka_unit_test(test_extreme_sizes_are_clipped_like_others),
        cmocka_unit_test(test_what_is_not_finite_is_refused_with_its_place),
        cmocka_unit_test(test_update_without_numbers_is_refused),
        cmocka_unit_test(test_other_mechanisms_and_no_noise_are_refused),
    };
    ctx = testing_context(1);
    int failures = cmocka_run_group_tests(tests, NULL, NULL);
    mfpg_context_destroy(ctx);
    return failures;
}
