/* Every release point of the table (src/base/release_points.def): something is released at each, and what leaves is whole steps of
 * its grid; without a case here, a new release point fails. */
#include "fixture.h"
#include "local_round.h"

#include "mfpg/privatise.h"
#include "mechanisms/mechanism_ops.h"
#include "mechanisms/private_action.h"
#include "models/losses.h"

enum { ROWS = 24, FEATURES = 5, D = FEATURES + 1 };

typedef struct scene {
    mfpg_context *ctx;
    mfpg_model *model;
    mfpg_dataset data;
    mfpg_stream noise;
    float w[D], out[D], *work;
} scene;

static scene begin(void) {
    uint64_t random = testing_seed();
    mfpg_key key = mfpg_key_from_seed(testing_seed());
    scene s = {.ctx = testing_context(1), .noise = mfpg_stream_open(&key, MFPG_PURPOSE_TEST, 0, 0)};
    s.model = make_model(s.ctx, "logistic", FEATURES);
    s.data = make_dataset(ROWS, FEATURES, 1, &random);
    s.work = make_floats(1 << 12);
    return s;
}

static void end(scene *s) {
    mfpg_model_destroy(s->model);
    free_dataset(&s->data);
    free(s->work);
    mfpg_context_destroy(s->ctx);
}

/* All are multiples of the grid, they are not all the same, and the odd ones show that no coarser grid is meant. */
static void check_on_grid(ptrdiff_t n, const float *x, double grid, const char *point) {
    int odd = 0, distinct = 0;
    for (ptrdiff_t i = 0; i < n; i++) {
        double steps = (double)x[i] / grid;
        if (steps != nearbyint(steps))
            fail_msg("%s: %.17g is %.17g steps of %.3g", point, (double)x[i], steps, grid);
        odd |= fmod(steps, 2.0) != 0.0;
        distinct |= x[i] != x[0];
    }
    if (!odd || !distinct) fail_msg("%s: no noise to be seen", point);
}

/* Updates and local steps start from a model of zeros, so that float(w + grid k) is grid k. */
static void update_at(scene *s, const char *kind, mfpg_clip_at clip_at, int64_t steps, const char *point) {
    mfpg_mechanism_options options = mfpg_mechanism_options_default();
    options.kind = kind;
    options.clip_at = clip_at;
    options.local_steps = steps;
    mfpg_mechanism *mechanism = make_mechanism(s->ctx, &options);
    mfpg_release release = release_of(s->ctx, mechanism, multiplier_of(1.0), ROWS);
    const mfpg_local_round round = {
        .data = &s->data, .rows = ROWS, .release = &release, .noise = &s->noise, .batch = &s->noise};
    CHECK_OK(s->ctx, mfpg_mechanism_update(s->ctx, mechanism, s->model, &round, s->w, s->out, s->work, NULL));
    check_on_grid(D, s->out, release.grid, point);
    mfpg_mechanism_destroy(mechanism);
}

static void release_update(scene *s) {
    update_at(s, "gaussian", MFPG_CLIP_UPDATE, 3, "update");
    update_at(
        s, "entropic", MFPG_CLIP_UPDATE, 3, "update"); /* the flow's own terms are 0 at a model of zeros */
}

/* Of several steps the entropic flow shrinks what the first released, which is post-processing: one step shows its grid. */
static void release_steps(scene *s) {
    update_at(s, "gaussian", MFPG_CLIP_STEP, 3, "steps");
    update_at(s, "entropic", MFPG_CLIP_STEP, 1, "steps");
}

/* A share is integers by its type; the grid is what its weight makes of the noise, and the sum of two clients' shares is the sum of
 * what they moved by. */
static void release_share(scene *s) {
    mfpg_mechanism_options options = mfpg_mechanism_options_default();
    mfpg_mechanism *mechanism = make_mechanism(s->ctx, &options);
    mfpg_release release = release_of(s->ctx, mechanism, multiplier_of(1.0), ROWS);
    int64_t share[D];
    release.weight = 0.25;
    release.grid = mfpg_grid_for(0.25 * release.noise_sd);
    const mfpg_local_round round = {.data = &s->data,
        .rows = ROWS,
        .release = &release,
        .noise = &s->noise,
        .batch = &s->noise,
        .share = share};
    CHECK_OK(s->ctx, mfpg_mechanism_update(s->ctx, mechanism, s->model, &round, s->w, s->out, s->work, NULL));
    for (int i = 0; i < D; i++) assert_true(s->out[i] == (float)(release.grid / 0.25 * (double)share[i]));
    check_on_grid(D, s->out, release.grid / 0.25, "share");
    mfpg_mechanism_destroy(mechanism);
}

static void push_records(scene *s, const char *kind, int flow, const char *point) {
    mfpg_mechanism_options options = mfpg_mechanism_options_default();
    float x[ROWS * FEATURES];
    double norm2[ROWS];
    mfpg_dataset noised = {.rows = ROWS, .features = FEATURES, .x = x, .y = s->data.y, .norm2 = norm2};
    options.kind = kind;
    options.particles = MFPG_PARTICLES_DATA;
    options.promise.unit = MFPG_UNIT_EXAMPLE;
    options.input_smoothness = mfpg_model_input_smoothness(s->model, s->w);
    mfpg_mechanism *mechanism = make_mechanism(s->ctx, &options);
    mfpg_release release = release_of(s->ctx, mechanism, multiplier_of(1.0), ROWS);
    mfpg_local_round round = {
        .data = &s->data, .rows = ROWS, .release = &release, .noise = &s->noise, .batch = &s->noise};
    CHECK_OK(s->ctx, mfpg_mechanism_push(s->ctx, mechanism, s->model, &round, s->w, &noised, s->work, NULL));
    if (flow) {
        mfpg_stream later = s->noise;
        later.client++;
        round.noise = &later;
        CHECK_OK(s->ctx, mfpg_mechanism_update_records(
                             s->ctx, mechanism, s->model, &noised, 0, &round, s->w, s->out, s->work, NULL));
    }
    check_on_grid(ROWS * FEATURES, x, release.grid, point);
    mfpg_mechanism_destroy(mechanism);
}

static void release_records(scene *s) {
    push_records(s, "input", 0, "records");
    push_records(s, "entropic", 0, "records");
}

static void release_flow(scene *s) {
    push_records(s, "entropic", 1, "flow");
}

static void release_measurement(scene *s) {
    const mfpg_measurement measured = {0.123456789, 0.987654321}, noise = {0.3, 0.05}, most = {1e9, 1e9};
    float loss[64], norm[64];
    int seen = 0;
    for (uint64_t i = 0; seen < 64; i++) {
        mfpg_stream stream = s->noise;
        stream.client = i;
        mfpg_measurement noised = mfpg_measurement_blur(&measured, &noise, &most, &stream);
        if (noised.loss == 0.0 || noised.gradient_norm == 0.0) continue; /* cut at the end of the range */
        loss[seen] = (float)noised.loss;
        norm[seen++] = (float)noised.gradient_norm;
    }
    check_on_grid(64, loss, mfpg_grid_for(0.3), "measurement");
    check_on_grid(64, norm, mfpg_grid_for(0.05), "measurement");
}

static void release_privatise(scene *s) {
    mfpg_mechanism_options options = mfpg_mechanism_options_default();
    options.clip_at = MFPG_CLIP_UPDATE;
    mfpg_mechanism *mechanism = make_mechanism(s->ctx, &options);
    mfpg_release release = release_of(s->ctx, mechanism, multiplier_of(1.0), 1);
    float update[40];
    mfpg_buffer buffer = {update, 40, MFPG_ELEMENT_FLOAT32};
    int zeroed = -1;
    for (int i = 0; i < 40; i++) update[i] = (float)(i + 1) / 7.0F;
    CHECK_OK(s->ctx, mfpg_privatise(s->ctx, mechanism, &release, &s->noise, &buffer, 1, &zeroed));
    assert_int_equal(zeroed, 0);
    check_on_grid(40, update, release.grid, "privatise");
    mfpg_mechanism_destroy(mechanism);
}

static void test_every_release_point_is_on_its_grid(void **state) {
    (void)state;
    static const struct {
        const char *name;
        void (*release)(scene *s);
    } CASES[] = {
        {"update", release_update},
        {"steps", release_steps},
        {"share", release_share},
        {"records", release_records},
        {"flow", release_flow},
        {"measurement", release_measurement},
        {"privatise", release_privatise},
    };
    const size_t cases = sizeof CASES / sizeof CASES[0];
    static const char *const POINTS[] = {
#define POINT(id, help) #id,
#include "base/release_points.def"
#undef POINT
    };
    const size_t points = sizeof POINTS / sizeof POINTS[0];
    for (size_t i = 0; i < points; i++) {
        size_t c = 0;
        while (c < cases && strcmp(CASES[c].name, POINTS[i]) != 0) c++;
        if (c == cases) fail_msg("release point %s has no case in this test", POINTS[i]);
        scene s = begin();
        CASES[c].release(&s);
        end(&s);
    }
    assert_int_equal(points, cases);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_every_release_point_is_on_its_grid)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
