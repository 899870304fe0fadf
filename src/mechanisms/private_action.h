/* Private actions (theory S4): what a client measures on its own data to choose an action, and the two ways
 * to release that choice: by adding noise to the measurements, or by the exponential mechanism over a grid.
 * Either is at most as revealing as a Gaussian mechanism with the parameter mu given here, so that
 * accountants count it as one more step. */
#ifndef MFPG_MECHANISMS_PRIVATE_ACTION_H
#define MFPG_MECHANISMS_PRIVATE_ACTION_H

#include <stddef.h>
#include <stdint.h>

#include "mfpg/mechanism.h"

/* One measurement of a client at a model. It is private: neither the raw number nor a choice based on it
 * alone may leave the client. Absent rows count as the middle of the range of a loss and as a zero gradient.
 * If the client is the unit, a client without rows counts as the middle of both ranges. So zero-out moves a
 * measurement by half as much as replace. What is not finite counts as absent.
 * @param[in] rows  declared public row count, >= 1, the divisor of both means
 * @param     work  mfpg_measure_workspace floats, allocated memory (parts of it are used as another type)
 * Threads: safe with separate work. Memory: allocates nothing. */
double mfpg_measure_loss(const mfpg_model *model, const mfpg_dataset *data, ptrdiff_t rows, double loss_clip,
    const float *w, float *work);
double mfpg_measure_gradient_norm(const mfpg_mechanism *mechanism, const mfpg_model *model,
    const mfpg_dataset *data, ptrdiff_t rows, const float *w, float *work);
ptrdiff_t mfpg_measure_workspace(const mfpg_model *model, ptrdiff_t rows);

/* The largest that each can be. */
mfpg_measurement mfpg_measurement_most(const mfpg_mechanism *mechanism, double loss_clip);

/* Returns the sensitivity of each measurement, including rounding. Replace: loss clip and clip for a client;
 * loss clip/n and 2 clip/n for an example of n rows. Zero-out: half of that. +INFINITY for another
 * adjacency. */
mfpg_measurement mfpg_measurement_change(const mfpg_mechanism *mechanism, const mfpg_model *model,
    ptrdiff_t rows, double loss_clip, mfpg_adjacency adjacency);

/* Returns sqrt((change of the loss/its noise)^2 + (change of the norm/its noise)^2), rounded up: mu of both
 * released together. A part with change 0 is not released, whatever its noise; any other part without noise
 * gives +INFINITY. */
double mfpg_measurement_mu(const mfpg_measurement *change, const mfpg_measurement *noise);

/* Returns the measurement with Gaussian noise of these sd, clipped to [0, most]; the clipping is
 * post-processing of the release.
 * @param[in] stream  of (MEASURE, round, client): vector 0, of length 2 */
mfpg_measurement mfpg_measurement_blur(const mfpg_measurement *measured, const mfpg_measurement *noise,
    const mfpg_measurement *most, const mfpg_stream *stream);

enum { MFPG_CHOICE_MOST = 1024 }; /* maximum number of actions for a private choice */

/* Computes whole weights of the exponential mechanism, P(j) ~ exp(-epsilon U_j/(2 change)): 1 +
 * floor(2^62/count exp(...)), with exponent 0 for the least U. If the U_j of neighbours differ by at most
 * change, these probabilities are epsilon-DP up to less than 2^-60 count^2, and have range epsilon.
 * @param[in]  count   1 to MFPG_CHOICE_MOST
 * @param[in]  change  > 0
 * @param[out] weight  count; a disutility that is not finite has weight 1 */
void mfpg_choice_weights(
    const double *disutility, ptrdiff_t count, double epsilon, double change, uint64_t *weight);

/* Draws the action with these weights, exactly up to 2^-64 per action.
 * @param[in] stream  of (CHOICE, round, client): its whole number 0 */
ptrdiff_t mfpg_choice_draw(const mfpg_stream *stream, const uint64_t *weight, ptrdiff_t count);

/* Returns mu of a choice of that epsilon, 2 Phi^-1(1/(1 + exp(-epsilon/2))), rounded up, including the
 * rounding of weights; +INFINITY for NaN and negative numbers, 0 for 0. */
double mfpg_choice_mu(double epsilon);

#endif
