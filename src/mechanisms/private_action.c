/* What a client measures to choose an action, the sensitivity of these measurements, and the choice (theory
 * S4). */
#include "private_action.h"

#include <math.h>

#include "base/grid_noise.h"
#include "base/streams.h"
#include "models/losses.h"
#include "numerics/linalg/linalg.h"
#include "numerics/special/normal.h"
#include "mechanism_ops.h"

enum { ALIGNMENT = 16 }; /* parts of the workspace begin at multiples of this many floats */

/* Returns how far the loss of one example may move beyond loss clip/n, relative to half of that. The sum of
 * units is exact. Computing a mean from it in double takes three roundings of 2^-53, of numbers of at most
 * loss clip/2, loss clip/2 and loss clip. For two runs this is 2^-51 loss clip, which is n 2^-50 of loss
 * clip/(2 n). Twice that also covers the rounding of the bound itself. */
static double loss_rounding(double n) {
    return 1.0 + 0x1p-49 * n;
}

/* The same for the norm of the mean gradient, relative to clip/n. rho is that of the sum. The root, rounded
 * down to a whole unit, can move by one more unit, at most 2^-29 clip/n. It is converted to a double,
 * multiplied and divided: three roundings of 2^-53, of numbers of at most clip (larger ones are cut), which
 * is 6 times 2^-53 clip over two runs. */
static double gradient_rounding(const mfpg_model *model, double n) {
    return 1.0 + mfpg_model_sum_rounding(model) + 0x1p-29 + 0x1p-49 * n;
}

static ptrdiff_t aligned(ptrdiff_t count) {
    return (count + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
}

/* Space for a sum in whole numbers of the size of two floats, or for a gradient, and for the model's own
 * workspace. */
ptrdiff_t mfpg_measure_workspace(const mfpg_model *model, ptrdiff_t rows) {
    return 2 * aligned(mfpg_model_parameters(model)) + mfpg_model_workspace(model, rows);
}

static int unit_is_example(const mfpg_mechanism *mechanism) {
    return mechanism->options.promise.unit == MFPG_UNIT_EXAMPLE;
}

/* Returns the largest whole number whose square is at most `square`, which is below 2^124. Newton's method
 * decreases from above until it is reached. */
static uint64_t root_down(unsigned __int128 square) {
    if (square == 0) return 0;
    uint64_t root = (uint64_t)(sqrt((double)square) * (1.0 + 0x1p-50)) + 1;
    for (;;) {
        uint64_t next = (root + (uint64_t)(square / root)) / 2;
        if (next >= root) return root;
        root = next;
    }
}

/* Returns the norm of the mean over the declared rows of the examples' clipped gradients. The sum's 2-norm
 * is below 2^62 units (mfpg_model_clipped_sum), so the sum of squares is below 2^124 and exact. */
static double norm_of_clipped_mean(const mfpg_model *model, const mfpg_dataset *data, ptrdiff_t rows,
    double clip, const float *w, float *work) {
    ptrdiff_t n = mfpg_model_parameters(model);
    int64_t *sum = (int64_t *)(void *)work;
    double unit = mfpg_model_sum_unit(clip, rows > data->rows ? rows : data->rows);
    unsigned __int128 squares = 0;
    mfpg_model_clipped_sum(model, w, data, NULL, 0, clip, unit, sum, work + 2 * aligned(n));
    for (ptrdiff_t i = 0; i < n; i++) {
        uint64_t size = sum[i] < 0 ? (uint64_t)-sum[i] : (uint64_t)sum[i];
        squares += (unsigned __int128)size * size;
    }
    return (double)root_down(squares) * unit / (double)rows;
}

/* Returns the norm of the client's gradient, clipped as a whole, which is the gradient that its update uses. */
static double norm_of_client(
    const mfpg_model *model, const mfpg_dataset *data, ptrdiff_t rows, const float *w, float *work) {
    ptrdiff_t n = mfpg_model_parameters(model);
    double divisor = mfpg_model_sums_rows(model) ? 1.0 : (double)rows;
    mfpg_model_gradient(model, w, data, NULL, 0, divisor, work, work + aligned(n));
    double norm = mfpg_vector_norm(n, work);
    return isfinite(norm) ? norm : 0.0;
}

double mfpg_measure_gradient_norm(const mfpg_mechanism *mechanism, const mfpg_model *model,
    const mfpg_dataset *data, ptrdiff_t rows, const float *w, float *work) {
    double clip = mechanism->options.clip, norm = 0.5 * clip;
    if (unit_is_example(mechanism))
        norm = norm_of_clipped_mean(model, data, rows, clip, w, work);
    else if (data->rows > 0)
        norm = norm_of_client(model, data, rows, w, work);
    return fmin(norm, clip);
}

/* Every row counts by the distance of its loss from the middle, in whole units; absent rows count zero. */
double mfpg_measure_loss(const mfpg_model *model, const mfpg_dataset *data, ptrdiff_t rows, double loss_clip,
    const float *w, float *work) {
    double unit = mfpg_model_sum_unit(loss_clip, rows > data->rows ? rows : data->rows);
    int64_t middle = mfpg_model_clipped_loss_most(loss_clip, unit) / 2;
    int64_t sum = mfpg_model_clipped_loss(model, w, data, loss_clip, unit, work) - data->rows * middle;
    double mean = 0.5 * loss_clip + (double)sum * unit / (double)rows;
    return fmin(fmax(mean, 0.0), loss_clip);
}

mfpg_measurement mfpg_measurement_most(const mfpg_mechanism *mechanism, double loss_clip) {
    return (mfpg_measurement){loss_clip, mechanism->options.clip};
}

mfpg_measurement mfpg_measurement_change(const mfpg_mechanism *mechanism, const mfpg_model *model,
    ptrdiff_t rows, double loss_clip, mfpg_adjacency adjacency) {
    double clip = mechanism->options.clip, n = (double)rows;
    mfpg_measurement replace = unit_is_example(mechanism)
                                   ? (mfpg_measurement){loss_clip / n * loss_rounding(n),
                                         2.0 * clip / n * gradient_rounding(model, n)}
                                   : (mfpg_measurement){loss_clip, clip};
    switch (adjacency) {
    case MFPG_ADJACENCY_REPLACE: return replace;
    case MFPG_ADJACENCY_ZERO_OUT: return (mfpg_measurement){0.5 * replace.loss, 0.5 * replace.gradient_norm};
    case MFPG_ADJACENCY_ADD:
    case MFPG_ADJACENCY_REMOVE: break;
    }
    return (mfpg_measurement){(double)INFINITY, (double)INFINITY};
}

/* Returns change/noise, rounded up; 0 for what is not released. */
static double ratio_up(double change, double noise) {
    if (change == 0.0) return 0.0;
    return change > 0.0 && noise > 0.0 ? change / noise * (1.0 + 0x1p-51) : (double)INFINITY;
}

double mfpg_measurement_mu(const mfpg_measurement *change, const mfpg_measurement *noise) {
    double loss = ratio_up(change->loss, noise->loss),
           norm = ratio_up(change->gradient_norm, noise->gradient_norm);
    return hypot(loss, norm) * (1.0 + 0x1p-50);
}

/* Adds draw j of the stream's vector of two, on the grid of its own noise; returns 0 for what is not
 * released. */
static double noised(const mfpg_stream *stream, ptrdiff_t j, double value, double sd, double most) {
    double grid = mfpg_grid_for(sd);
    if (grid == 0.0) return 0.0;
    return fmin(fmax(mfpg_grid_noise_one(stream, 0, 2, j, value / grid, sd / grid) * grid, 0.0), most);
}

mfpg_measurement mfpg_measurement_blur(const mfpg_measurement *measured, const mfpg_measurement *noise,
    const mfpg_measurement *most, const mfpg_stream *stream) {
    return (mfpg_measurement){
        .loss = noised(stream, 0, measured->loss, noise->loss, most->loss),
        .gradient_norm =
            noised(stream, 1, measured->gradient_norm, noise->gradient_norm, most->gradient_norm),
    };
}

/* ---- the exponential mechanism over a grid of actions (theory S4), drawn with whole numbers: a probability
 * that underflowed to zero in floating point would reveal the data that caused it ---- */

static double least_of(const double *disutility, ptrdiff_t count) {
    double least = (double)INFINITY;
    for (ptrdiff_t j = 0; j < count; j++)
        if (disutility[j] < least) least = disutility[j];
    return least;
}

void mfpg_choice_weights(
    const double *disutility, ptrdiff_t count, double epsilon, double change, uint64_t *weight) {
    double least = least_of(disutility, count), unit = floor(0x1p62 / (double)count);
    double rate = epsilon / (2.0 * change);
    for (ptrdiff_t j = 0; j < count; j++) {
        double share = exp(-rate * (disutility[j] - least));
        weight[j] = 1 + (isfinite(disutility[j]) && share > 0.0 ? (uint64_t)(share * unit) : 0);
    }
}

ptrdiff_t mfpg_choice_draw(const mfpg_stream *stream, const uint64_t *weight, ptrdiff_t count) {
    uint64_t total = 0;
    for (ptrdiff_t j = 0; j < count; j++) total += weight[j];
    uint64_t ticket = mfpg_stream_below(stream, 0, total);
    ptrdiff_t chosen = 0;
    while (chosen + 1 < count && ticket >= weight[chosen]) ticket -= weight[chosen++];
    return chosen;
}

/* With q = 1/(1 + exp(epsilon/2)), the smaller of the two probabilities, mu = -2 Phi^-1(q), computed with a
 * q that is a few roundings too small. Exponents of weights above 1 have size at most 43 and errors of a few
 * roundings in each of two neighbouring runs, which is less than 2^-40 of epsilon. */
double mfpg_choice_mu(double epsilon) {
    if (epsilon == 0.0) return 0.0;
    if (!(epsilon > 0.0)) return (double)INFINITY;
    double less = exp(-0.5 * (epsilon + 0x1p-40)); /* for large epsilon exp(epsilon/2) would overflow */
    double q = less / (1.0 + less) * (1.0 - 0x1p-48);
    return q > 0.0 ? -2.0 * mfpg_normal_quantile(q) * (1.0 + 0x1p-48) : (double)INFINITY;
}
