/* What the tests of the accountants share: releases, a random number, and the law of theory S1.2 as an oracle. */
#ifndef MFPG_TESTS_ACCOUNTANTS_FIXTURE_H
#define MFPG_TESTS_ACCOUNTANTS_FIXTURE_H

#include "testing.h"

#include "mfpg/accountant.h"

/* The unit of a program's releases: that of its accountants. */
#ifndef TESTED_UNIT
#define TESTED_UNIT MFPG_UNIT_CLIENT
#endif

/* A release of one step without sampling in the local view. */
static inline mfpg_release release_of(double sensitivity, double noise_sd) {
    return (mfpg_release){.unit = TESTED_UNIT,
        .clipped = TESTED_UNIT == MFPG_UNIT_EXAMPLE ? MFPG_CLIPPED_EXAMPLES : MFPG_CLIPPED_UPDATE,
        .steps = 1,
        .sensitivity = sensitivity,
        .noise_sd = noise_sd,
        .last_sd = noise_sd,
        .weight = 1.0,
        .sampling_rate = 1.0};
}

/* The same of a client, whatever the program's unit. */
static inline mfpg_release of_client(mfpg_release release) {
    release.unit = MFPG_UNIT_CLIENT;
    release.clipped = MFPG_CLIPPED_UPDATE;
    return release;
}

/* The same with an entropic strength, as every accountant accepts it. */
static inline mfpg_release entropic_release(double sensitivity, double noise_sd, double strength) {
    mfpg_release release = release_of(sensitivity, noise_sd);
    release.action = (mfpg_action){.control = MFPG_CONTROL_STRENGTH, .strength = {strength}};
    return release;
}

/* One step that every row enters with probability q. */
static inline mfpg_release sampled(double q, double sigma) {
    mfpg_release release = release_of(1.0, sigma);
    release.sampling_rate = q;
    return release;
}

static inline double epsilon_of(mfpg_context *ctx, const mfpg_accountant *accountant, double delta) {
    double epsilon = -1.0;
    CHECK_OK(ctx, mfpg_accountant_epsilon(ctx, accountant, delta, &epsilon));
    return epsilon;
}

/* SplitMix64; the seed is printed by the test that starts it. */
static inline double random_unit(uint64_t *random) {
    uint64_t z = *random += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return (double)((z ^ (z >> 31)) >> 11) * 0x1p-53;
}

static inline double random_between(uint64_t *random, double low, double high) {
    return low + (high - low) * random_unit(random);
}

/* Evenly in the logarithm. */
static inline double random_scale(uint64_t *random, double low, double high) {
    return exp(random_between(random, log(low), log(high)));
}

static inline uint64_t announced_seed(void) {
    uint64_t seed = testing_seed();
    print_message("seed %llu (set MFPG_TEST_SEED to repeat)\n", (unsigned long long)seed);
    return seed;
}

/* The run of theory S1.1: one coordinate, drift tau (g + kap x + lam (x - xbar)), noise sd sqrt(2 e tau), start 0. */
typedef struct linear_run {
    double tau, e, sig2, h, lam;
    int center; /* 1: xbar is the mean of the same run */
    double dgrad;
} linear_run;

/* mu_K by the recursion of mean gap and variance, step by step: nothing of the closed form of S1.2 is used. */
static inline double exact_mu_of(const linear_run *run, int steps) {
    double kap = run->e / run->sig2, gap = 0.0, variance = 0.0;
    double a_mean = 1.0 - run->tau * (run->h + kap);
    double a_var = a_mean - (run->center ? run->tau * run->lam : 0.0);
    for (int k = 0; k < steps; k++) {
        gap = a_mean * gap + run->tau * run->dgrad;
        variance = a_var * a_var * variance + 2.0 * run->e * run->tau;
    }
    return gap / sqrt(variance);
}

#endif
