/* How many guesses of an adversary are right, and what that proves. */
#ifndef MFPG_TESTS_GUESSES_H
#define MFPG_TESTS_GUESSES_H

#include "testing.h"

/* P(X >= right) of `trials` with probability p. */
static inline double guesses_at_least(int right, int trials, double p) {
    double sum = 0.0;
    for (int k = right; k <= trials; k++)
        sum += exp(lgamma(trials + 1.0) - lgamma(k + 1.0) - lgamma(trials - k + 1.0) + k * log(p) +
                   (trials - k) * log1p(-p));
    return sum;
}

/* Clopper and Pearson: the share of right guesses is at least this with 99 % confidence. */
static inline double guesses_proved(int right, int trials) {
    double low = 0.0, high = 1.0;
    for (int i = 0; i < 60; i++) {
        double middle = 0.5 * (low + high);
        if (right == 0 || guesses_at_least(right, trials, middle) > 0.01)
            high = middle;
        else
            low = middle;
    }
    return low;
}

/* The largest share that mu-GDP admits for two equally likely neighbours: Phi(mu/2). */
static inline double guesses_certified(double mu) {
    return 0.5 * erfc(-0.5 * mu / sqrt(2.0));
}

/* An attack on the double has to win, far above what is certified; on the product it must not prove more. */
static inline void check_guesses(int right, int trials, double mu, int wins, const char *what) {
    double proved = guesses_proved(right, trials), certified = guesses_certified(mu);
    int holds = wins ? proved > certified + 0.3 : proved <= certified;
    if (!holds)
        print_error(
            "%s: %d of %d right, %.3f proved, %.3f certified\n", what, right, trials, proved, certified);
    assert_true(holds);
}

#endif
