/* Mechanisms and their neighbours for tests. */
#ifndef MFPG_TESTS_MECHANISMS_FIXTURE_H
#define MFPG_TESTS_MECHANISMS_FIXTURE_H

#include "mechanisms/mechanism_ops.h"
#include "models/fixture.h"

#include "base/grid_noise.h"
#include "mfpg/mechanism.h"

static inline mfpg_mechanism *make_mechanism(mfpg_context *ctx, const mfpg_mechanism_options *options) {
    mfpg_mechanism *mechanism = NULL;
    CHECK_OK(ctx, mfpg_mechanism_create(ctx, options, &mechanism));
    return mechanism;
}

static inline mfpg_action budget_of(double value) {
    return (mfpg_action){.control = MFPG_CONTROL_BUDGET, .budget = {.value = value}};
}

static inline mfpg_action strength_of(double value) {
    return (mfpg_action){.control = MFPG_CONTROL_STRENGTH, .strength = {.value = value}};
}

static inline mfpg_action multiplier_of(double value) {
    return (mfpg_action){.control = MFPG_CONTROL_MULTIPLIER, .multiplier = value};
}

/* An action that every mechanism of that control accepts; NONE for none. */
static inline mfpg_action multiplier_for(const mfpg_mechanism *mechanism, double value) {
    if (mfpg_mechanism_control(mechanism) == MFPG_CONTROL_NONE)
        return (mfpg_action){.control = MFPG_CONTROL_NONE};
    return multiplier_of(value);
}

static inline mfpg_release release_of(
    mfpg_context *ctx, const mfpg_mechanism *mechanism, mfpg_action action, ptrdiff_t rows) {
    mfpg_release release;
    CHECK_OK(ctx, mfpg_mechanism_release(ctx, mechanism, action, rows, &release));
    return release;
}

/* The same mechanism with a grid so fine that what it releases is data plus float noise, to a float's precision: what checks an
 * algorithm by its formulas. Destroys the given one. */
static inline mfpg_mechanism *on_fine_grid(mfpg_context *ctx, const mfpg_mechanism_options *options,
    mfpg_action action, ptrdiff_t rows, mfpg_mechanism *mechanism) {
    double sd = release_of(ctx, mechanism, action, rows).noise_sd;
    mfpg_mechanism_options fine = *options;
    if (sd == 0.0) return mechanism;
    fine.grid = ldexp(mfpg_grid_for(sd), -22);
    mfpg_mechanism_destroy(mechanism);
    return make_mechanism(ctx, &fine);
}

/* Gaussian-DP parameter of a release by the definition: sqrt(steps) shift / sd, the shift doubled for replace. */
static inline double mu_of(const mfpg_release *release, mfpg_adjacency adjacency) {
    double shift = adjacency == MFPG_ADJACENCY_REPLACE ? 2.0 * release->sensitivity : release->sensitivity;
    return sqrt((double)release->steps) * shift / release->noise_sd;
}

/* 1 where the options make a mechanism that noises what they name. */
static inline int noises(const mfpg_mechanism_options *options) {
    mfpg_context *ctx = testing_context(1);
    mfpg_mechanism *mechanism = NULL;
    int does = mfpg_mechanism_create(ctx, options, &mechanism) == MFPG_OK &&
               mfpg_mechanism_particles(mechanism) == options->particles;
    mfpg_mechanism_destroy(mechanism);
    mfpg_context_destroy(ctx);
    return does;
}

/* Every combination of the options that change units, laws and scales, for every mechanism that noises parameters, or data;
 * example with the clip at the update is left out. Calls visit and returns how many there were. */
typedef void (*visit_options)(const mfpg_mechanism_options *options, void *user);

static inline int each_setting_of(mfpg_particles particles, visit_options visit, void *user) {
    int count = 0;
    for (ptrdiff_t kind = 0; mfpg_kind_name(&mfpg_mechanisms, kind); kind++) {
        for (int bits = 0; bits < 64; bits++) {
            mfpg_mechanism_options options = mfpg_mechanism_options_default();
            options.kind = mfpg_kind_name(&mfpg_mechanisms, kind);
            options.particles = particles;
            if (particles == MFPG_PARTICLES_DATA) options.prior_variance = 1e3; /* keeps loud flows stable */
            options.promise.unit = bits & 1 ? MFPG_UNIT_EXAMPLE : MFPG_UNIT_CLIENT;
            options.promise.adjacency = bits & 2 ? MFPG_ADJACENCY_REPLACE : MFPG_ADJACENCY_ZERO_OUT;
            options.law = bits & 4 ? MFPG_LAW_CLASSICAL : MFPG_LAW_GAME;
            options.scale = bits & 8 ? MFPG_SCALE_SENSITIVITY : MFPG_SCALE_ABSOLUTE;
            options.clip_at = bits & 16 ? MFPG_CLIP_UPDATE : MFPG_CLIP_STEP;
            options.batch_rate = bits & 32 ? 0.4 : 1.0;
            options.clip = 0.7;
            options.local_steps = 3;
            if (options.promise.unit == MFPG_UNIT_EXAMPLE && options.clip_at == MFPG_CLIP_UPDATE) continue;
            if (!noises(&options)) continue;
            visit(&options, user);
            count++;
        }
    }
    return count;
}

static inline int each_setting(visit_options visit, void *user) {
    return each_setting_of(MFPG_PARTICLES_PARAMETERS, visit, user);
}

#endif
