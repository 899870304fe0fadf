/* Attacks on the last digits of what a client of a run lets out: the adversary knows everything but which of two neighbouring data sets
 * was used. Against noise in floats, kept here as a double of the program as it was, it is right nearly always; against the program
 * never more often than certified. */
#include "fixture.h"

#include "base/float_noise.h"
#include "guesses.h"
#include "mechanisms/mechanism_ops.h"
#include "mechanisms/private_action.h"
#include "models/losses.h"

enum { ROWS = 12, FEATURES = 200, D = FEATURES + 1, TRIALS = 200 };

typedef struct scene {
    mfpg_context *ctx;
    mfpg_model *model;
    mfpg_mechanism *mechanism;
    mfpg_release release;
    mfpg_dataset data[2]; /* neighbours */
    float w[D], moved[2][D], out[D];
    float *work;
    mfpg_key key;
    mfpg_stream coins;
} scene;

/* What data add to the model under either hypothesis: the clipped step, as floats. */
static void know_both(scene *s, const mfpg_mechanism_options *o) {
    for (int h = 0; h < 2; h++) {
        int64_t nonfinite = 0;
        mfpg_model_gradient(s->model, s->w, &s->data[h], NULL, 0, ROWS, s->moved[h], s->work);
        double factor = mfpg_clip_joint_factor(D, s->moved[h], o->clip, -o->learning_rate, &nonfinite);
        for (int i = 0; i < D; i++) s->moved[h][i] = (float)(factor * (double)s->moved[h][i]);
    }
}

/* Unit client: the neighbour has other rows. */
static void begin(scene *s, double multiplier) {
    uint64_t random = testing_seed();
    mfpg_mechanism_options options = mfpg_mechanism_options_default();
    memset(s, 0, sizeof *s);
    s->ctx = testing_context(1);
    s->key = mfpg_key_from_seed(testing_seed());
    s->coins = mfpg_stream_open(&s->key, MFPG_PURPOSE_TEST, 0, 99);
    s->model = make_model(s->ctx, "logistic", FEATURES);
    s->mechanism = make_mechanism(s->ctx, &options);
    s->release = release_of(s->ctx, s->mechanism, multiplier_of(multiplier), ROWS);
    s->work = make_floats(mfpg_mechanism_workspace(s->mechanism, s->model, ROWS));
    for (int h = 0; h < 2; h++) s->data[h] = make_dataset(ROWS, FEATURES, 1, &random);
    for (int i = 0; i < D; i++) s->w[i] = (float)(0.01 * next_normal(&random));
    know_both(s, &options);
}

static void end(scene *s) {
    free_dataset(&s->data[0]);
    free_dataset(&s->data[1]);
    mfpg_mechanism_destroy(s->mechanism);
    mfpg_model_destroy(s->model);
    free(s->work);
    mfpg_context_destroy(s->ctx);
}

typedef void (*release)(scene *s, const mfpg_stream *noise, int truth);

static void release_product(scene *s, const mfpg_stream *noise, int truth) {
    const mfpg_local_round round = {
        .data = &s->data[truth], .rows = ROWS, .release = &s->release, .noise = noise, .batch = noise};
    CHECK_OK(
        s->ctx, mfpg_mechanism_update(s->ctx, s->mechanism, s->model, &round, s->w, s->out, s->work, NULL));
}

/* State, displacement and noise added in double and rounded to float once. */
static void release_floats(scene *s, const mfpg_stream *noise, int truth) {
    float z[D];
    mfpg_stream_gaussian(noise, 0, D, z);
    for (int i = 0; i < D; i++)
        s->out[i] =
            (float)((double)s->w[i] + (double)s->moved[truth][i] + s->release.noise_sd * (double)z[i]);
}

static int right_guesses(scene *s, release make) {
    int right = 0;
    for (uint64_t t = 0; t < TRIALS; t++) {
        int truth = (int)mfpg_stream_below(&s->coins, 2 * t, 2), found[2] = {0};
        mfpg_stream noise = mfpg_stream_open(&s->key, MFPG_PURPOSE_NOISE, 0, t);
        make(s, &noise, truth);
        for (int h = 0; h < 2; h++)
            for (int i = 0; i < D; i++)
                found[h] += possible_float(
                    (double)s->out[i], (double)s->w[i] + (double)s->moved[h][i], s->release.noise_sd);
        int guess =
            found[0] == found[1] ? (int)mfpg_stream_below(&s->coins, 2 * t + 1, 2) : found[1] > found[0];
        right += guess == truth;
    }
    return right;
}

/* One round at a noise multiplier of 50: mu is 1/50 (the neighbour under replace: 1/25). */
static void test_a_round_of_training_lets_no_digit_out(void **state) {
    (void)state;
    static scene s;
    begin(&s, 50.0);
    double mu = mu_of(&s.release, MFPG_ADJACENCY_REPLACE);
    check_guesses(right_guesses(&s, release_floats), TRIALS, mu, 1, "a round in floats");
    check_guesses(right_guesses(&s, release_product), TRIALS, mu, 0, "a round on the grid");
    end(&s);
}

/* The measured loss of each-round games: one cell of one row changes by 0.001, and the noised number is known to its last digit, from
 * the action that answers to it. */
static void test_a_noised_measurement_lets_no_digit_out(void **state) {
    (void)state;
    static scene s;
    begin(&s, 50.0);
    const mfpg_measurement noise = {0.5, 0.0}, most = {1e3, 1.0};
    double loss[2];
    for (int h = 0; h < 2; h++) {
        loss[h] = mfpg_measure_loss(s.model, &s.data[0], ROWS, 4.0, s.w, s.work);
        s.data[0].x[3] += 0.001F;
    }
    assert_true(loss[0] != loss[1]);
    double mu = fabs(loss[1] - loss[0]) / noise.loss;
    for (int product = 0; product < 2; product++) {
        int right = 0;
        for (uint64_t t = 0; t < TRIALS; t++) {
            int truth = (int)mfpg_stream_below(&s.coins, 2 * t, 2);
            mfpg_stream stream = mfpg_stream_open(&s.key, MFPG_PURPOSE_MEASURE, 0, t);
            const mfpg_measurement measured = {loss[truth], 0.0};
            float z[2];
            mfpg_stream_gaussian(&stream, 0, 2, z);
            double released = product ? mfpg_measurement_blur(&measured, &noise, &most, &stream).loss
                                      : loss[truth] + noise.loss * (double)z[0];
            int found[2] = {possible_double(released, loss[0], noise.loss),
                possible_double(released, loss[1], noise.loss)};
            int guess =
                found[0] == found[1] ? (int)mfpg_stream_below(&s.coins, 2 * t + 1, 2) : found[1] > found[0];
            right += guess == truth;
        }
        check_guesses(right, TRIALS, mu, !product, product ? "a measurement on the grid" : "a noised double");
    }
    end(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_round_of_training_lets_no_digit_out),
        cmocka_unit_test(test_a_noised_measurement_lets_no_digit_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
