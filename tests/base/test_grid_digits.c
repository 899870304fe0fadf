/* What digits betray: distinguishers that tell every guess about noised floats right, and nothing about noise on a grid. Every
 * trial is one release of one of two vectors, of which an adversary knows both; what is certified is that its guesses are
 * right with a probability of at most Phi(mu/2). */
#include "testing.h"

#include "base/float_noise.h"
#include "guesses.h"
#include "base/grid_noise.h"
#include "whole_grid.h"

enum { D = 1000, TRIALS = 400 };

typedef int (*possible)(double released, double x, double sd);

typedef struct releases {
    mfpg_context *ctx;
    mfpg_stream stream, coins;
    double x[2][D], sd, out[D];
    float z[D];
} releases;

typedef void (*release)(releases *all, uint64_t trial, const double *x);

static void release_float(releases *all, uint64_t trial, const double *x) {
    float_noise(&all->stream, trial, D, x, all->sd, all->z, all->out);
}

static void release_double(releases *all, uint64_t trial, const double *x) {
    double_noise(&all->stream, trial, D, x, all->sd, all->z, all->out);
}

static void release_on_grid(releases *all, uint64_t trial, const double *x) {
    static int64_t k[D];
    double grid = mfpg_grid_for(all->sd);
    whole_grid_noise(&all->stream, trial, D, x, all->sd, grid, k);
    for (ptrdiff_t j = 0; j < D; j++) all->out[j] = (double)k[j] * grid;
}

/* x[1] is x[0] moved by mu sd in all, a little in every coordinate. */
static void set_up(releases *all, double mu, uint64_t client) {
    mfpg_key key = mfpg_key_from_seed(testing_seed());
    memset(all, 0, sizeof *all);
    all->ctx = testing_context(1);
    all->stream = mfpg_stream_open(&key, MFPG_PURPOSE_TEST, 40, client);
    all->coins = mfpg_stream_open(&key, MFPG_PURPOSE_TEST, 41, client);
    all->sd = 0.37;
    mfpg_stream values = mfpg_stream_open(&key, MFPG_PURPOSE_TEST, 42, client);
    mfpg_stream_uniform(&values, 0, D, all->x[0]);
    for (int j = 0; j < D; j++) {
        all->x[0][j] -= 0.5;
        all->x[1][j] = all->x[0][j] + mu * all->sd / sqrt(D) * (j % 2 ? 1.0 : -1.0);
    }
}

/* The hypothesis under which more of the released numbers are possible; a coin if as many are. `used` numbers are read. */
static int guess(const releases *all, possible test, int used, int coin) {
    int found[2] = {0};
    for (int h = 0; h < 2; h++)
        for (int j = 0; j < used; j++) found[h] += test(all->out[j], all->x[h][j], all->sd);
    return found[0] == found[1] ? coin : found[1] > found[0];
}

/* Right guesses of TRIALS. */
static int right_guesses(releases *all, release make, possible test, int used) {
    int right = 0;
    for (uint64_t t = 0; t < TRIALS; t++) {
        int truth = (int)mfpg_stream_below(&all->coins, 2 * t, 2),
            coin = (int)mfpg_stream_below(&all->coins, 2 * t + 1, 2);
        make(all, t, all->x[truth]);
        right += guess(all, test, used, coin) == truth;
    }
    return right;
}

static void check_broken(releases *all, release make, possible test, int used, double mu, const char *what) {
    check_guesses(right_guesses(all, make, test, used), TRIALS, mu, 1, what);
}

static void check_kept(releases *all, possible test, int used, double mu, const char *what) {
    check_guesses(right_guesses(all, release_on_grid, test, used), TRIALS, mu, 0, what);
}

static const double MU = 0.02;

static void test_gaps_of_floats_tell_every_release_and_none_on_a_grid(void **state) {
    (void)state;
    static releases all;
    set_up(&all, MU, 0);
    check_broken(&all, release_float, possible_float, D, MU, "gaps of floats");
    check_kept(&all, possible_float, D, MU, "gaps on a grid");
    mfpg_context_destroy(all.ctx);
}

/* One number of a double is enough. */
static void test_low_bits_of_doubles_tell_every_release_and_none_on_a_grid(void **state) {
    (void)state;
    static releases all;
    set_up(&all, MU, 1);
    check_broken(&all, release_double, possible_double, 1, MU, "low bits of one double");
    check_broken(&all, release_double, possible_double, D, MU, "low bits of doubles");
    check_kept(&all, possible_double, 1, MU, "low bits of one number on a grid");
    check_kept(&all, possible_double, D, MU, "low bits on a grid");
    mfpg_context_destroy(all.ctx);
}

/* The strongest test of all reads the likelihood of the integers themselves: it gets what is certified and no more. With a larger
 * mu it gets most of it, so that it is one that could. */
static void test_likelihood_of_the_integers_gets_what_is_certified(void **state) {
    (void)state;
    static releases all;
    for (int strong = 0; strong < 2; strong++) {
        double mu = strong ? 2.0 : MU, certified = guesses_certified(mu), grid;
        int right = 0;
        set_up(&all, mu, 2);
        grid = mfpg_grid_for(all.sd);
        for (uint64_t t = 0; t < TRIALS; t++) {
            int truth = (int)mfpg_stream_below(&all.coins, t, 2);
            double score = 0.0, scale = all.sd * sqrt(2.0);
            release_on_grid(&all, t, all.x[truth]);
            for (int j = 0; j < D; j++) {
                double low = all.out[j] - 0.5 * grid, high = all.out[j] + 0.5 * grid, p[2];
                for (int h = 0; h < 2; h++)
                    p[h] = 0.5 * (erfc((low - all.x[h][j]) / scale) - erfc((high - all.x[h][j]) / scale));
                score += log(p[1] / p[0]);
            }
            right += (score > 0.0) == truth;
        }
        assert_true(guesses_proved(right, TRIALS) <= certified);
        /* four standard errors below */
        assert_true(right >= TRIALS * certified - 4.0 * sqrt(TRIALS * certified * (1.0 - certified)));
        mfpg_context_destroy(all.ctx);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_gaps_of_floats_tell_every_release_and_none_on_a_grid),
        cmocka_unit_test(test_low_bits_of_doubles_tell_every_release_and_none_on_a_grid),
        cmocka_unit_test(test_likelihood_of_the_integers_gets_what_is_certified),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
